/* The operation of /v1/contacts. */
#include "api/compute/steps.h"

#include "api/dispatch/cost.h"
#include "api/routes/operations.h"

static bool find(const struct api_call *call)
{
	struct api_finding finding = {.mesh = NULL};
	const bool ok = api_job_run(call, &api_finding_steps, NULL, &finding);
	api_finding_release(&finding);
	return ok;
}

/* clang-format off */
const struct api_operation api_post_contacts = {
	.handler = find, .refuses_url_query = true, .is_large = api_cost_of_body,
	.requests = API_OBJECTS(&api_contacts_request), .answers = API_OBJECTS(&api_contacts_answer), .is_timed = true,
	.id = "findContacts", .tag = "contacts", .summary = "Pairs of a mesh that are closer than a distance",
	.description = "The member collisions of the answer is what /v1/evaluate takes. The same request always returns the"
		" same bytes, so repeating it is safe.",
	.examples = API_EXAMPLES(
		{"two_triangles", "2D: two triangles, tip to tip",
		 "{'dim': 2, 'positions': [[0, 0], [1, 0], [0.5, 1], [0.5, 1.125], [1, 2], [0, 2]], 'distance': 0.25,"
		 " 'mesh': {'edges': [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]]}, 'outputs': ['collisions', 'distances']}",
		 "{'n_vertices': 6, 'n_collisions': 1, 'min_distance': 0.125, 'collisions': {'vertex_vertex': {'vertices': [[2,"
		 " 3]], 'weight': [4.0]}, 'edge_vertex': {'vertices': [], 'weight': []}, 'plane_vertex': {'vertices': [],"
		 " 'weight': [], 'plane_normal': [], 'plane_origin': []}}, 'distances': {'vertex_vertex': [0.125],"
		 " 'edge_vertex': [], 'plane_vertex': []}}", 200},
		{"repeated_index", "A face that has a vertex twice",
		 "{'dim': 3, 'positions': [[0, 0, 0], [1, 0, 0], [0, 1, 0]], 'distance': 0.25, 'mesh': {'faces': [[0, 1, 1]]}}",
		 "{'type': '/errors/repeated_vertex', 'code': 'repeated_vertex', 'title': 'Unprocessable Content', 'status': 422,"
		 " 'detail': 'face 0: vertex 1 appears twice', 'errors': [{'pointer': '/mesh/faces/0', 'detail':"
		 " 'face 0: vertex 1 appears twice'}]}", 422}),
};
/* clang-format on */

/* The operations of /v1/evaluate, also for a set. */
#include "api/compute/steps.h"

#include "api/dispatch/cost.h"
#include "api/routes/operations.h"
#include "api/routes/sets.h"

static bool evaluate(const struct api_call *call)
{
	return api_run(call, &api_evaluate, NULL);
}

/* clang-format off */
const struct api_operation api_post_evaluate = {
	.handler = evaluate, .refuses_url_query = true, .is_large = api_cost_of_body,
	.requests = API_OBJECTS(&api_request), .answers = API_OBJECTS(&api_answer), .is_timed = true, .id = "evaluate",
	.tag = "evaluation", .summary = "Potential, gradient, Hessian and values per contact of a batch",
	.description = "The same request always returns the same bytes, at any load and number of threads, so repeating it"
	               " is safe. The schema does not express that a group with derived geometry requires positions, one"
	               " without normal_force requires barrier, and one without coefficients or eps_v requires them in"
	               " friction.",
	.examples = API_EXAMPLES(
		{"sliding_vertex", "A vertex on a floor, at half of eps_v",
			"{" API_ONE_VERTEX ", 'outputs': ['potential', 'gradient', 'collisions'],"
		 " 'collision_outputs': ['status', 'slip_ratio', 'tangential_velocity']}",
		 "{'n_vertices': 1, 'n_collisions': 1, 'potential': 1.08333333333333, 'gradient': [3.0, 0.0, 0.0],"
		 " 'collisions': {'plane_vertex': {'tangential_velocity': [[0.25, 0.0]], 'status': [0], 'slip_ratio': [0.5]}}}", 200},
		{"peak", "The transition peak: the largest force is exactly mu_s times the normal force",
		 "{'dim': 3, 'velocities': [[0.75, 0, 0]], 'friction': {'eps_v': 1, 'mu_s': 0.5, 'mu_k': 0.25,"
		 " 'mu_transition': 'peak'}, 'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 0, 1],"
		 " 'normal_force': 8}}, 'outputs': ['potential', 'gradient']}",
		 "{'n_vertices': 1, 'n_collisions': 1, 'potential': 1.25, 'gradient': [4.0, 0.0, 0.0]}", 200},
		{"hessian_in_rows",
		 "2D, a vertex on an edge with given geometry; the Hessian's upper triangle in compressed rows",
		 "{'dim': 2, 'velocities': [[0.5, 0], [0, 0], [0, 0]], 'friction': {'eps_v': 1, 'mu_s': 0.5, 'mu_k': 0.25},"
		 " 'collisions': {'edge_vertex': {'vertices': [[0, 1, 2]], 'normal_force': 8, 'closest_point': [0.5],"
		 " 'tangent_basis': [[1], [0]]}}, 'outputs': ['hessian'], 'hessian': {'format': 'csr', 'triangle': 'upper'}}",
		 "{'n_vertices': 3, 'n_collisions': 1, 'hessian': {'format': 'csr', 'shape': [6, 6], 'indptr': [0, 6, 11, 15,"
		" 18, 20, 21], 'indices': [0, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 2, 3, 4, 5, 3, 4, 5, 4, 5, 5], 'data': [0.75, 0.0,"
		" -0.375, 0.0, -0.375, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1875, 0.0, 0.1875, 0.0, 0.0, 0.0, 0.0, 0.1875, 0.0,"
		" 0.0]}}", 200},
		{"no_such_vertex", "An index that is out of range",
		 "{'dim': 3, 'velocities': [[0, 0, 0], [0, 0, 0]], 'friction': {'eps_v': 0.001, 'mu': 0.5}, 'collisions':"
		 " {'plane_vertex': {'vertices': [0, 912], 'plane_normal': [0, 0, 1], 'normal_force': 9.81}}}",
		 "{'type': '/errors/index_out_of_range', 'code': 'index_out_of_range', 'title': 'Unprocessable Content',"
		 " 'status': 422, 'detail': '912 is not a vertex: there are 2, and indices start at 0',"
		 " 'errors': [{'pointer': '/collisions/plane_vertex/vertices/1',"
		 " 'detail': '912 is not a vertex: there are 2, and indices start at 0'}]}", 422}),
};
const struct api_operation api_post_set_evaluate = {
	.handler = evaluate, .refuses_url_query = true, .is_large = api_set_query_is_large,
	.requests = API_OBJECTS(&api_set_query), .answers = API_OBJECTS(&api_answer), .is_timed = true,
	.id = "evaluateSet", .tag = "sets", .summary = "Potential, gradient, Hessian and values per contact of a set",
	.description = "Returns the same bytes as /v1/evaluate for the set's document and this request combined.",
	.examples = API_EXAMPLES(
		{"sliding_vertex", "Only velocities and outputs",
		 "{'velocities': [[0.25, 0, 0]], 'outputs': ['potential', 'gradient']}", NULL, 200}),
};
/* clang-format on */

#include "api/umbridge/bridge_ask.h"

/* Lengths are in metres, forces in newtons. Vertices 0 to 7 form the lower block, a cube 4 mm above the floor, bottom
 * first. 8 to 15 form the upper one, 3 mm above it and turned: one of its four lower corners is nearest to a
 * corner, two are above the face, and one is nearest to an edge. The bodies are the same blocks, in contact at two
 * points each. */
/* clang-format off */
static const char scene[] =
	"{\"dim\": 3,"
	" \"positions\": ["
	"[0, 0, 0.004], [1, 0, 0.004], [1, 1, 0.004], [0, 1, 0.004],"
	" [0, 0, 1.004], [1, 0, 1.004], [1, 1, 1.004], [0, 1, 1.004],"
	" [1.002, 1.001, 1.007], [0.33, 1.197, 1.007], [0.0374, 0.1938, 1.007], [0.7094, -0.0022, 1.007],"
	" [1.002, 1.001, 1.607], [0.33, 1.197, 1.607], [0.0374, 0.1938, 1.607], [0.7094, -0.0022, 1.607]],"
	" \"body_positions\": [[0.5, 0.5, 0.504], [0.5197, 0.5974, 1.307]],"
	" \"friction\": {\"eps_v\": 0.01, \"mu_s\": 0.5, \"mu_k\": 0.3},"
	" \"barrier\": {\"dhat\": 0.01, \"stiffness\": 1e6},"
	" \"collisions\": {"
	"\"vertex_vertex\": {\"vertices\": [[8, 6]]},"
	" \"edge_vertex\": {\"vertices\": [[11, 4, 5]]},"
	" \"edge_edge\": {\"vertices\": [[9, 10, 6, 7]]},"
	" \"face_vertex\": {\"vertices\": [[10, 4, 6, 7]]},"
	" \"plane_vertex\": {\"vertices\": [0, 1, 2, 3], \"plane_normal\": [0, 0, 1], \"plane_origin\": [0, 0, 0]},"
	" \"body_body\": {\"bodies\": [[1, 0], [1, 0]], \"point\": [[0.7, 0.9, 1.0055], [0.4, 0.3, 1.0055]],"
	" \"normal\": [0, 0, 1], \"normal_force\": [6, 4], \"spin_radius\": 0.05},"
	" \"body_world\": {\"bodies\": [0, 0], \"point\": [[0.1, 0.5, 0.002], [0.9, 0.5, 0.002]],"
	" \"normal\": [0, 0, 1], \"normal_force\": [12, 14], \"roll_radius\": 0.01}}}";
/* clang-format on */

const struct api_set_facts api_scene_facts = {
	.dim = 3,
	.n_vertices = 16,
	.n_bodies = 2,
	.has_bodies = true,
};

bool api_scene_read(struct api_pool *pool, struct api_document *document, struct api_fault *fault)
{
	struct api_text_fault text;
	return api_document_read_pooled(pool, scene, sizeof(scene) - 1, document, &text) || api_fault_text(fault, &text);
}

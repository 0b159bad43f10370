/* Contacts of small meshes, written down by hand. */
#include "tests/property/counted_memory.h"
#include "tests/unit/core/find/two_triangles.h"

enum { MOST = 64 };

/* A mesh with its positions, and what is looked for. */
struct small {
	double positions[3 * MOST];
	struct fric_surface surface;
	struct fric_finding finding;
};

static struct fric_found *find_in(const struct fric_context *context, const struct small *s)
{
	struct fric_mesh *mesh;
	struct fric_found *found;
	struct fric_error error;
	assert_ok(fric_mesh_create(context, &s->surface, &mesh, &error));
	assert_ok(fric_find(context, mesh, s->positions, &s->finding, &found, &error));
	fric_mesh_free(mesh);
	return found;
}

/* Asserts the stencils of a type. */
#define assert_stencils(found, type, ...) \
	check_stencils(found, type, (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}), __LINE__)
static void check_stencils(const struct fric_found *found, enum fric_type type, const int32_t *expected, size_t bytes,
                           int line)
{
	const struct fric_found_group g = fric_found_of(found, type);
	const size_t n = g.n * (size_t)fric_stencil_size(type);
	bool same = n * sizeof(*expected) == bytes;
	for (size_t i = 0; i < n && same; i++)
		same = g.vertices[i] == expected[i];
	if (same)
		return;
	print_error("%s has %zu contacts:", fric_type_name(type), g.n);
	for (size_t i = 0; i < n; i++)
		print_error(" %d", g.vertices[i]);
	print_error("\n");
	_fail(__FILE__, line);
}

static void assert_none(const struct fric_found *found, enum fric_type type)
{
	assert_int_equal(fric_found_of(found, type).n, 0);
}

static struct small two_triangles(double height)
{
	return (struct small){.positions = {TWO_TRIANGLES(height)},
	                      .surface = {.dim = 3, .n_vertices = 6, .n_faces = 2, .faces = two_faces},
	                      .finding = {.distance = 0.5, .merge = true}};
}

static void test_face_and_vertex(void **state)
{
	(void)state;
	const struct small s = two_triangles(0.25);
	struct fric_found *found = find_in(&serial, &s);
	assert_stencils(found, FRIC_FACE_VERTEX, 3, 0, 2, 1);
	assert_none(found, FRIC_EDGE_EDGE);
	assert_none(found, FRIC_EDGE_VERTEX);
	assert_none(found, FRIC_VERTEX_VERTEX);
	assert_none(found, FRIC_PLANE_VERTEX);
	assert_bits(fric_found_of(found, FRIC_FACE_VERTEX).weight[0], 1);
	assert_bits(fric_found_of(found, FRIC_FACE_VERTEX).distance[0], 0.25);
	assert_bits(fric_found_min_distance(found), 0.25);
	fric_found_free(found);
}

/* The limit is excluded; min_distance is added to distance. */
static void test_limit(void **state)
{
	(void)state;
	struct small s = two_triangles(0.5);
	struct fric_found *found = find_in(&serial, &s);
	assert_none(found, FRIC_FACE_VERTEX);
	assert_true(fric_found_min_distance(found) == INFINITY);
	fric_found_free(found);
	s.finding.min_distance = 0x1p-40;
	found = find_in(&serial, &s);
	assert_int_equal(fric_found_of(found, FRIC_FACE_VERTEX).n, 1);
	fric_found_free(found);
}

/* The same faces, turned and exchanged: the first rows stand. */
static void test_equal_faces(void **state)
{
	static const int32_t faces[] = {0, 2, 1, 5, 3, 4, 1, 0, 2, 4, 5, 3, 2, 1, 0};
	static const int32_t edges[] = {2, 0, 0, 1, 3, 5};
	(void)state;
	struct small s = two_triangles(0.25);
	s.surface.faces = faces;
	s.surface.n_faces = 5;
	s.surface.edges = edges;
	s.surface.n_edges = 3;
	struct fric_found *found = find_in(&serial, &s);
	assert_stencils(found, FRIC_FACE_VERTEX, 3, 0, 2, 1);
	assert_bits(fric_found_of(found, FRIC_FACE_VERTEX).weight[0], 1);
	fric_found_free(found);
}

/* Touching contacts have distance 0. */
static void test_touching(void **state)
{
	(void)state;
	const struct small s = two_triangles(0);
	struct fric_found *found = find_in(&serial, &s);
	assert_stencils(found, FRIC_FACE_VERTEX, 3, 0, 2, 1);
	assert_bits(fric_found_of(found, FRIC_FACE_VERTEX).distance[0], 0);
	assert_bits(fric_found_min_distance(found), 0);
	fric_found_free(found);
}

/* Two edges that cross, two that are parallel, and the mollifier. */
static void test_rods(void **state)
{
	static const int32_t edges[] = {1, 0, 3, 2, 5, 4};
	(void)state;
	struct small s = {.positions = {0, 0, 0, 2, 0, 0, 1, -1, 0.25, 1, 1, 0.25, 0.5, 0, -0.125, 2.5, 0, -0.125},
	                  .surface = {.dim = 3, .n_vertices = 6, .n_edges = 3, .edges = edges},
	                  .finding = {.distance = 0.3, .merge = true}};
	struct fric_found *found = find_in(&serial, &s);
	assert_stencils(found, FRIC_EDGE_EDGE, 0, 1, 2, 3, 0, 1, 4, 5);
	const struct fric_found_group g = fric_found_of(found, FRIC_EDGE_EDGE);
	assert_bits(g.mollifier[0], 0);
	assert_near(g.mollifier[1], 16e-3, 1e-17);
	assert_bits(g.distance[0], 0.25);
	assert_bits(g.distance[1], 0.125);
	fric_found_free(found);
	s.finding.merge = false;
	s.finding.distance = 0.375 + 0x1p-30;
	found = find_in(&serial, &s);
	assert_stencils(found, FRIC_EDGE_EDGE, 0, 1, 2, 3, 0, 1, 4, 5, 2, 3, 4, 5);
	for (size_t i = 0; i < 3; i++)
		assert_near(fric_found_of(found, FRIC_EDGE_EDGE).mollifier[i], 16e-3, 1e-17);
	fric_found_free(found);
}

/* A corner that is near a vertex is one contact for all pairs there. */
static void test_merged(void **state)
{
	static const int32_t faces[] = {0, 1, 2, 3, 4, 5};
	(void)state;
	struct small s = {.positions = {0, 0, 0, -2, 1, 0, -2, -1, 0, 0.25, 0, 0, 2.25, 1, 0, 2.25, -1, 0},
	                  .surface = {.dim = 3, .n_vertices = 6, .n_faces = 2, .faces = faces},
	                  .finding = {.distance = 0.5, .merge = true}};
	struct fric_found *found = find_in(&serial, &s);
	assert_stencils(found, FRIC_VERTEX_VERTEX, 0, 3);
	/* each vertex with the other face, and two edges here with two edges there, none of them parallel enough */
	const double weight = fric_found_of(found, FRIC_VERTEX_VERTEX).weight[0];
	const size_t n_parallel = fric_found_of(found, FRIC_EDGE_EDGE).n;
	assert_int_equal(n_parallel, 2); /* 0 1 and 3 5 are parallel, 0 2 and 3 4, too */
	assert_bits(weight, 2 + 2);
	assert_none(found, FRIC_FACE_VERTEX);
	fric_found_free(found);
}

static void test_particles(void **state)
{
	static const int32_t edges[] = {0, 1}, particles[] = {4, 2, 3, 2};
	(void)state;
	struct small s = {
		.positions = {0, 0, 0, 2, 0, 0, 1, 0, 0.25, 1, 0.125, 0.25, 5, 5, 5},
		.surface = {.dim = 3, .n_vertices = 5, .n_edges = 1, .edges = edges, .n_particles = 4, .particles = particles},
		.finding = {.distance = 0.26, .merge = true}};
	struct fric_found *found = find_in(&serial, &s);
	assert_stencils(found, FRIC_VERTEX_VERTEX, 2, 3);
	assert_stencils(found, FRIC_EDGE_VERTEX, 2, 0, 1);
	fric_found_free(found);
}

static void test_plane(void **state)
{
	static const double normals[] = {0, 0, 2, 0, 0, -1}, origins[] = {0, 0, 0, 0, 0, 1};
	static const int32_t fixed[] = {1, 5};
	(void)state;
	struct small s = two_triangles(0.75);
	s.surface.n_planes = 2;
	s.surface.plane_normals = normals;
	s.surface.plane_origins = origins;
	s.surface.n_fixed = 2;
	s.surface.fixed = fixed;
	struct fric_found *found = find_in(&serial, &s);
	const struct fric_found_group g = fric_found_of(found, FRIC_PLANE_VERTEX);
	assert_stencils(found, FRIC_PLANE_VERTEX, 0, 2, 3);
	assert_int_equal(g.plane[0], 0);
	assert_int_equal(g.plane[2], 1);
	assert_bits(g.distance[2], 0.25);
	fric_found_free(found);
}

/* Labels that ignore each other, and fixed vertices. */
static void test_ignored(void **state)
{
	static const int32_t body[] = {7, 7, 7, 3, 3, 3}, other[] = {7, 7, 5, 3, 3, 3};
	static const int32_t pairs[] = {1, 1, 3, 7}, fixed[] = {0, 1, 2, 3}, itself[] = {3, 3, 7, 7};
	(void)state;
	struct small s = two_triangles(0.25);
	s.surface.body = body;
	s.surface.ignored = pairs;
	s.surface.n_ignored = 2;
	struct fric_found *found = find_in(&serial, &s);
	assert_none(found, FRIC_FACE_VERTEX);
	fric_found_free(found);
	s.surface.ignored = itself;
	found = find_in(&serial, &s);
	assert_int_equal(fric_found_of(found, FRIC_FACE_VERTEX).n, 1);
	fric_found_free(found);
	s.surface.ignored = pairs;
	s.surface.body = other; /* vertex 2 may touch */
	found = find_in(&serial, &s);
	assert_int_equal(fric_found_of(found, FRIC_FACE_VERTEX).n, 1);
	fric_found_free(found);
	s.surface.n_ignored = 0;
	s.surface.fixed = fixed;
	s.surface.n_fixed = 3;
	found = find_in(&serial, &s);
	assert_int_equal(fric_found_of(found, FRIC_FACE_VERTEX).n, 1);
	fric_found_free(found);
	s.surface.n_fixed = 4;
	found = find_in(&serial, &s);
	assert_none(found, FRIC_FACE_VERTEX);
	fric_found_free(found);
}

static void test_flat(void **state)
{
	static const int32_t edges[] = {1, 0, 2, 3};
	static const double normal[] = {0, 1}, origin[] = {0, -1};
	(void)state;
	struct small s = {.positions = {0, 0, 4, 0, 1, 0.25, 1, 2},
	                  .surface = {.dim = 2,
	                              .n_vertices = 4,
	                              .n_edges = 2,
	                              .edges = edges,
	                              .n_planes = 1,
	                              .plane_normals = normal,
	                              .plane_origins = origin},
	                  .finding = {.distance = 1.0625, .weighting = FRIC_WEIGHT_AREA, .merge = true}};
	struct fric_found *found = find_in(&serial, &s);
	assert_stencils(found, FRIC_VERTEX_VERTEX, 0, 2);
	assert_stencils(found, FRIC_EDGE_VERTEX, 2, 0, 1);
	assert_stencils(found, FRIC_PLANE_VERTEX, 0, 1);
	assert_bits(fric_found_of(found, FRIC_EDGE_VERTEX).weight[0], 1.75 / 4);
	assert_bits(fric_found_of(found, FRIC_VERTEX_VERTEX).weight[0], 4 / 4.0);
	assert_bits(fric_found_of(found, FRIC_PLANE_VERTEX).weight[0], 2);
	fric_found_free(found);
}

static void test_areas(void **state)
{
	(void)state;
	struct small s = two_triangles(0.25);
	const double rest[] = {0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 0, 3, 0, 0, 0, 4, 0};
	s.surface.rest_positions = rest;
	s.finding.weighting = FRIC_WEIGHT_AREA;
	struct fric_found *found = find_in(&serial, &s);
	assert_near(fric_found_of(found, FRIC_FACE_VERTEX).weight[0], 6. / 3 / 4, 1e-16);
	fric_found_free(found);
	s.finding.distance = 2;
	s.finding.merge = false;
	found = find_in(&serial, &s);
	const struct fric_found_group g = fric_found_of(found, FRIC_EDGE_EDGE);
	assert_true(g.n > 0);
	for (size_t i = 0; i < g.n; i++)
		assert_near(g.weight[i], (8. / 3 + 6. / 3) / 4, 1e-15);
	fric_found_free(found);
}

/* Pairs of the caller, some of them twice. */
static void test_candidates(void **state)
{
	static const int32_t faces[] = {3, 2, 1, 0, 3, 0, 2, 1, 4, 0, 1, 2}, edges[] = {4, 3, 1, 0, 0, 1, 3, 4};
	static const int32_t planes[] = {0, 3, 0, 3};
	static const double normals[] = {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1},
						origins[] = {0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	(void)state;
	const struct small s = two_triangles(0.25);
	struct fric_found *found;
	struct fric_error error;
	struct fric_group groups[FRIC_N_VERTEX_TYPES] = {{0}};
	groups[FRIC_FACE_VERTEX] = (struct fric_group){.n = 3, .vertices = faces};
	groups[FRIC_EDGE_EDGE] = (struct fric_group){.n = 2, .vertices = edges};
	groups[FRIC_PLANE_VERTEX] =
		(struct fric_group){.n = 4, .vertices = planes, .plane_normal = {normals, 3}, .plane_origin = {origins, 3}};
	struct fric_finding finding = {.distance = 0.5, .merge = true};
	assert_ok(fric_find_candidates(&serial, 3, 6, s.positions, groups, &finding, &found, &error));
	assert_stencils(found, FRIC_FACE_VERTEX, 3, 2, 1, 0);
	assert_bits(fric_found_of(found, FRIC_FACE_VERTEX).weight[0], 1);
	assert_none(found, FRIC_EDGE_EDGE);
	assert_stencils(found, FRIC_PLANE_VERTEX, 0, 3);
	assert_int_equal(fric_found_of(found, FRIC_PLANE_VERTEX).plane[0], 1);
	assert_int_equal(fric_found_of(found, FRIC_PLANE_VERTEX).plane[1], 1);
	fric_found_free(found);
	finding.merge = false;
	finding.distance = 2;
	assert_ok(fric_find_candidates(&serial, 3, 6, s.positions, groups, &finding, &found, &error));
	assert_stencils(found, FRIC_EDGE_EDGE, 0, 1, 3, 4);
	assert_stencils(found, FRIC_FACE_VERTEX, 3, 2, 1, 0, 4, 0, 1, 2);
	fric_found_free(found);
}

/* A face of no area, and an edge of no length. */
static void test_degenerate(void **state)
{
	static const int32_t faces[] = {0, 1, 2, 3, 4, 5};
	(void)state;
	struct small s = {.positions = {0, 0, 0, 2, 0, 0, 4, 0, 0, 1, 0, 0.25, 1, 0, 0.25, 1, 0, 0.25},
	                  .surface = {.dim = 3, .n_vertices = 6, .n_faces = 2, .faces = faces},
	                  .finding = {.distance = 0.3, .merge = true}};
	struct fric_found *found = find_in(&serial, &s);
	assert_none(found, FRIC_FACE_VERTEX);
	assert_none(found, FRIC_EDGE_EDGE);
	assert_none(found, FRIC_VERTEX_VERTEX);
	const struct fric_found_group g = fric_found_of(found, FRIC_EDGE_VERTEX);
	assert_true(g.n > 0);
	for (size_t i = 0; i < g.n; i++)
		assert_bits(g.distance[i], 0.25);
	fric_found_free(found);
}

static void test_sizes(void **state)
{
	(void)state;
	for (int exponent = -1072; exponent <= 960;
	     exponent += exponent < -960 ? 16 : 60) { /* the least double is 2^-1074 */
		struct small s = two_triangles(0.25);
		for (int i = 0; i < 18; i++)
			s.positions[i] = ldexp(s.positions[i], exponent);
		s.finding.distance = ldexp(0.5, exponent);
		struct fric_found *found = find_in(&serial, &s);
		assert_stencils(found, FRIC_FACE_VERTEX, 3, 0, 2, 1);
		assert_bits(fric_found_min_distance(found), ldexp(0.25, exponent));
		fric_found_free(found);
	}
}

/* Points in one place: every two of them are a pair. */
static void test_most(void **state)
{
	enum { N = 200, PAIRS = N * (N - 1) / 2 };
	static double positions[3 * N];
	static int32_t particles[N];
	(void)state;
	for (int i = 0; i < N; i++)
		particles[i] = i;
	const struct fric_surface surface = {.dim = 3, .n_vertices = N, .n_particles = N, .particles = particles};
	for (int n_threads = 1; n_threads <= 8; n_threads++) {
		struct counted_memory counted = {.left = -1};
		const struct fric_memory memory = memory_of(&counted);
		const struct fric_context context = {.n_threads = n_threads, .parallel_from = 1, .memory = &memory};
		struct fric_mesh *mesh;
		struct fric_found *found;
		struct fric_error error;
		assert_ok(fric_mesh_create(&context, &surface, &mesh, &error));
		for (int way = 0; way < 2; way++) {
			struct fric_finding finding = {.distance = 1, .merge = way, .most = PAIRS};
			assert_ok(fric_find(&context, mesh, positions, &finding, &found, &error));
			assert_int_equal(fric_found_of(found, FRIC_VERTEX_VERTEX).n, PAIRS);
			fric_found_free(found);
			finding.most = PAIRS - 1;
			assert_code(fric_find(&context, mesh, positions, &finding, &found, &error), FRIC_E_TOO_MANY);
			assert_true(error.code == FRIC_E_TOO_MANY && error.contact < 0);
			assert_null(found);
		}
		fric_mesh_free(mesh);
		assert_all_given_back(&counted);
	}
}

/* Finding ends as soon as there are too many: memory for all of them is not needed. */
static void test_most_at_once(void **state)
{
	enum { N = 2000, MOST_PAIRS = 10000, BLOCKS = 64 };
	static double positions[3 * N];
	static int32_t particles[N];
	(void)state;
	for (int i = 0; i < N; i++)
		particles[i] = i;
	const struct fric_surface surface = {.dim = 3, .n_vertices = N, .n_particles = N, .particles = particles};
	const struct fric_finding finding = {.distance = 1, .merge = true, .most = MOST_PAIRS};
	for (int n_threads = 1; n_threads <= 2; n_threads++) {
		struct counted_memory counted = {.left = BLOCKS}; /* the pairs would take 2000 */
		const struct fric_memory memory = memory_of(&counted);
		const struct fric_context context = {.n_threads = n_threads, .parallel_from = 1, .memory = &memory};
		struct fric_mesh *mesh;
		struct fric_found *found;
		struct fric_error error;
		assert_ok(fric_mesh_create(&context, &surface, &mesh, &error));
		assert_code(fric_find(&context, mesh, positions, &finding, &found, &error), FRIC_E_TOO_MANY);
		fric_mesh_free(mesh);
		assert_all_given_back(&counted);
	}
}

static void test_not_finite(void **state)
{
	(void)state;
	struct small s = two_triangles(0.25);
	struct fric_mesh *mesh;
	struct fric_found *found;
	struct fric_error error;
	assert_ok(fric_mesh_create(&serial, &s.surface, &mesh, &error));
	s.positions[3] = 1.5e308;
	s.positions[0] = -1.5e308;
	assert_code(fric_find(&serial, mesh, s.positions, &s.finding, &found, &error), FRIC_E_NOT_FINITE);
	assert_null(found);
	assert_true(error.contact < 0);
	fric_mesh_free(mesh);
}

/* Every allocation may fail, and nothing is kept. */
static void test_memory(void **state)
{
	static const double normals[] = {0, 0, 2, 0, 0, -1}, origins[] = {0, 0, 0, 0, 0, 1};
	static const int32_t body[] = {7, 7, 7, 3, 3, 3}, pairs[] = {1, 1, 3, 4};
	(void)state;
	struct small s = two_triangles(0.25);
	s.surface.n_planes = 2;
	s.surface.plane_normals = normals;
	s.surface.plane_origins = origins;
	s.surface.body = body;
	s.surface.ignored = pairs;
	s.surface.n_ignored = 2;
	s.surface.rest_positions = s.positions;
	s.finding.weighting = FRIC_WEIGHT_AREA;
	enum fric_code code = FRIC_E_MEMORY;
	for (long left = 0; code == FRIC_E_MEMORY; left++) {
		struct counted_memory counted = {.left = left};
		const struct fric_memory memory = memory_of(&counted);
		const struct fric_context context = {.n_threads = 2, .parallel_from = 1, .memory = &memory};
		struct fric_mesh *mesh;
		struct fric_found *found = NULL;
		struct fric_error error;
		code = fric_mesh_create(&context, &s.surface, &mesh, &error);
		if (code == FRIC_OK)
			code = fric_find(&context, mesh, s.positions, &s.finding, &found, &error);
		assert_true(code == FRIC_OK || (code == FRIC_E_MEMORY && error.code == code));
		assert_true((code == FRIC_OK) == (found != NULL));
		fric_found_free(found);
		fric_mesh_free(mesh);
		assert_all_given_back(&counted);
		assert_true(left < 500);
	}
}

static void test_stopped(void **state)
{
	const fric_flag stop = true;
	const struct fric_context context = {.n_threads = 1, .stop = &stop};
	(void)state;
	const struct small s = two_triangles(0.25);
	struct fric_mesh *mesh;
	struct fric_found *found;
	struct fric_error error;
	assert_code(fric_mesh_create(&context, &s.surface, &mesh, &error), FRIC_E_STOPPED);
	assert_null(mesh);
	assert_ok(fric_mesh_create(&serial, &s.surface, &mesh, &error));
	assert_code(fric_find(&context, mesh, s.positions, &s.finding, &found, &error), FRIC_E_STOPPED);
	assert_null(found);
	fric_mesh_free(mesh);
	struct fric_group groups[FRIC_N_VERTEX_TYPES] = {{0}};
	static const int32_t faces[] = {3, 2, 1, 0};
	groups[FRIC_FACE_VERTEX] = (struct fric_group){.n = 1, .vertices = faces};
	assert_code(fric_find_candidates(&context, 3, 6, s.positions, groups, &s.finding, &found, &error), FRIC_E_STOPPED);
	assert_null(found);
}

/* A mesh without anything. */
static void test_empty(void **state)
{
	(void)state;
	const struct small s = {.surface = {.dim = 3}, .finding = {.distance = 1, .merge = true}};
	struct fric_found *found = find_in(&serial, &s);
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		assert_none(found, type);
	fric_found_free(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_face_and_vertex),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_equal_faces),
		cmocka_unit_test(test_touching),
		cmocka_unit_test(test_rods),
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_particles),
		cmocka_unit_test(test_plane),
		cmocka_unit_test(test_ignored),
		cmocka_unit_test(test_flat),
		cmocka_unit_test(test_areas),
		cmocka_unit_test(test_candidates),
		cmocka_unit_test(test_degenerate),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_most),
		cmocka_unit_test(test_most_at_once),
		cmocka_unit_test(test_not_finite),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

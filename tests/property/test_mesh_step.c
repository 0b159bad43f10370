/* The longest step of random meshes is the least of what their pairs allow, each by itself. */
#include "core/geometry/features.h"
#include "core/geometry/travel.h"
#include "tests/property/meshes.h"
#include "tests/share.h"

static double keep_of(struct rng *rng)
{
	return coin(rng) ? 0.1 : uniform(rng, 0.001, 0.9);
}

/* A pair's stencil in canonical order. */
static struct mesh_pair canonical(const struct mesh_pair *pair)
{
	struct mesh_pair c = {.type = pair->type};
	if (pair->type == FRIC_PLANE_VERTEX)
		return *pair;
	const struct feature whole = fricp_feature_of(pair->type, (1u << fric_stencil_size(pair->type)) - 1, pair->v);
	for (int k = 0; k < fric_stencil_size(pair->type); k++)
		c.v[k] = pair->v[whole.member[k]];
	return c;
}

static int compare(const void *x, const void *y)
{
	const struct mesh_pair *a = x, *b = y;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		if (a->v[k] != b->v[k])
			return a->v[k] < b->v[k] ? -1 : 1;
	return 0;
}

static struct travel travel_of(const struct random_mesh *m, const double *direction, double dmin, double keep,
                               const struct mesh_pair *pair)
{
	const size_t dim = (size_t)m->surface.dim;
	const bool plane = pair->type == FRIC_PLANE_VERTEX;
	struct travel t = {.type = pair->type, .dim = m->surface.dim, .dmin = dmin, .keep = keep};
	for (int k = 0; k < fric_stencil_size(pair->type); k++) {
		t.from[k] = m->positions + (size_t)pair->v[k + plane] * dim;
		t.direction[k] = direction + (size_t)pair->v[k + plane] * dim;
	}
	for (size_t d = 0; d < dim && plane; d++) {
		t.normal[d] = m->normals[(size_t)pair->v[0] * dim + d];
		t.origin[d] = m->origins[(size_t)pair->v[0] * dim + d];
	}
	return t;
}

/* The least step of all pairs, and the first pair that allows it or penetrates. */
static enum fric_code expected_step(const struct random_mesh *m, const double *direction, double dmin, double keep,
                                    double *least, struct mesh_pair *limit)
{
	size_t n;
	struct mesh_pair *pairs = pairs_of(&m->surface, &n);
	enum fric_code code = FRIC_OK;
	*least = 1;
	*limit = (struct mesh_pair){.v = {-1}};
	for (size_t i = 0; i < n; i++)
		pairs[i] = canonical(&pairs[i]);
	qsort(pairs, n, sizeof(*pairs), compare);
	for (size_t i = 0; i < n && code == FRIC_OK; i++) {
		const struct travel t = travel_of(m, direction, dmin, keep, &pairs[i]);
		double step;
		code = fricp_travel(&t, 1, &step);
		if (code != FRIC_OK || step < *least) {
			*limit = pairs[i];
			*least = code == FRIC_OK ? step : *least;
		}
	}
	free(pairs);
	return code;
}

static void assert_limit(const struct fric_mesh_step *step, const struct mesh_pair *expected)
{
	if (expected->v[0] < 0) {
		assert_true(step->vertices[0] < 0);
		return;
	}
	const bool plane = expected->type == FRIC_PLANE_VERTEX;
	assert_int_equal(step->group, expected->type);
	if (plane)
		assert_int_equal(step->plane, expected->v[0]);
	for (int k = 0; k < fric_stencil_size(expected->type); k++)
		assert_int_equal(step->vertices[k], expected->v[k + plane]);
}

/* Motions of all sizes: of each vertex, of its part of the mesh, and of all. */
static void random_motion(const struct random_mesh *m, struct rng *rng, double *direction)
{
	enum { PARTS = 4 };
	const double size = pow(10, uniform(rng, -4, coin(rng) ? 1 : 12)), all = coin(rng) ? uniform(rng, -100, 100) : 0;
	const double alone = coin(rng) ? 1 : coin(rng) ? 0 : 1e-3;
	const size_t dim = (size_t)m->surface.dim, still = below(rng, 4), n = m->surface.n_vertices;
	double parts[PARTS][3];
	for (int i = 0; i < 3 * PARTS; i++)
		parts[i / 3][i % 3] = alone == 1 || coin(rng) ? 0 : uniform(rng, -size, size);
	for (size_t i = 0; i < n * dim; i++)
		direction[i] = all + parts[i / dim * PARTS / n][i % dim] +
		               (below(rng, 4) < still ? 0 : alone * uniform(rng, -size, size));
}

static void test_all_pairs(void **state)
{
	static struct random_mesh m;
	struct rng rng = {2521};
	size_t of_type[FRIC_N_VERTEX_TYPES] = {0}, n_free = 0, n_penetrating = 0;
	(void)state;
	const int step_of_scenes = step_in_share(7, 11); /* no divisors of the numbers below */
	for (int i = 0; i < 480; i += step_of_scenes) {
		double direction[3 * MESH_VERTICES], expected;
		struct mesh_pair limit;
		random_mesh(&m, &rng, 2 + (i % 4 > 0), (enum mesh_kind)(i / 4 % MESH_KINDS), 2 + below(&rng, 24));
		random_motion(&m, &rng, direction);
		const double keep = keep_of(&rng), dmin = coin(&rng) ? 0 : uniform(&rng, 0, 1e-3);
		const enum fric_code code = expected_step(&m, direction, dmin, keep, &expected, &limit);
		for (int threads = 1; threads <= 3; threads++) {
			static const char *const kernels[] = {"baseline", "avx2", "avx512"};
			const struct fric_context context = {
				.n_threads = threads, .parallel_from = 1, .kernels = fric_kernels_find(kernels[threads - 1])};
			struct fric_mesh *mesh;
			struct fric_mesh_step step;
			struct fric_error error;
			assert_ok(fric_mesh_create(&context, &m.surface, &mesh, &error));
			assert_code(fric_mesh_longest_step(&context, mesh, m.positions, direction, dmin, keep, &step, &error),
			            code);
			assert_limit(&step, &limit);
			if (code == FRIC_OK)
				assert_bits(step.step, expected);
			fric_mesh_free(mesh);
		}
		n_penetrating += code != FRIC_OK;
		n_free += code == FRIC_OK && limit.v[0] < 0;
		of_type[limit.type] += code == FRIC_OK && limit.v[0] >= 0;
	}
	assert_true(n_penetrating > 10 / (size_t)step_of_scenes && n_free > 10 / (size_t)step_of_scenes);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		assert_true(of_type[type] > 3 / (size_t)step_of_scenes || type == FRIC_VERTEX_VERTEX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_pairs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

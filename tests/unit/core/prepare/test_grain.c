/* Bases along a grain: their direction for every type of contact and any size, and refused inputs. */
#include "core/geometry/geometry.h"
#include "tests/property/scene.h"
#include "tests/unit/core/batches.h"

static long double dot(const long double a[3], const long double b[3])
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const long double a[3], const long double b[3], long double c[3])
{
	for (int i = 0; i < 3; i++)
		c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void between(const double *from, const double *to, long double out[3])
{
	for (int i = 0; i < 3; i++)
		out[i] = (long double)to[i] - from[i];
}

/* The normal of a stencil, as the contract defines it. */
static void normal_of(enum fric_type type, const double *const p[4], long double n[3])
{
	long double e[3], f[3];
	if (type == FRIC_VERTEX_VERTEX) {
		between(p[0], p[1], n);
	} else if (type == FRIC_EDGE_VERTEX) { /* the component of p - e0 across the edge */
		between(p[1], p[2], e);
		between(p[1], p[0], n);
		const long double along = dot(n, e) / dot(e, e);
		for (int i = 0; i < 3; i++)
			n[i] -= along * e[i];
	} else {
		const bool edges = type == FRIC_EDGE_EDGE;
		between(p[edges ? 0 : 1], p[edges ? 1 : 2], e);
		between(p[edges ? 2 : 1], p[3], f);
		cross(e, f, n);
	}
}

/* [g - (g.n)n, n x that], normalised. */
static void expect_basis(const double normal[3], const long double *stencil_normal, const double grain[3],
                         double tolerance, const double basis[6])
{
	long double n[3], g[3] = {grain[0], grain[1], grain[2]}, second[3];
	for (int i = 0; i < 3; i++)
		n[i] = normal ? normal[i] : stencil_normal[i];
	const long double length = sqrtl(dot(n, n));
	for (int i = 0; i < 3; i++)
		n[i] /= length;
	const long double along = dot(g, n);
	for (int i = 0; i < 3; i++)
		g[i] -= along * n[i];
	const long double across = sqrtl(dot(g, g));
	for (int i = 0; i < 3; i++)
		g[i] /= across;
	cross(n, g, second);
	for (int i = 0; i < 3; i++) {
		assert_near(basis[2 * i], g[i], tolerance);
		assert_near(basis[2 * i + 1], second[i], tolerance);
	}
}

static void test_planes(void **state)
{
	struct rng rng = {11};
	(void)state;
	for (int i = 0; i < 1000; i++) {
		double n[3], g[3], basis[6];
		for (int d = 0; d < 3; d++)
			n[d] = uniform(&rng, -1, 1), g[d] = uniform(&rng, -1, 1);
		assert_ok(fricp_grain_basis(n, g, basis));
		expect_basis(n, NULL, g, 4e-16, basis);
	}
}

static void test_by_hand(void **state)
{
	double basis[6];
	(void)state;
	assert_ok(fricp_grain_basis((double[]){0, 0, 5}, (double[]){3, 4, 7}, basis));
	assert_all_near(basis, ((double[]){0.6, -0.8, 0.8, 0.6, 0, 0}), 6, 1e-16);
}

static void test_stencils(void **state)
{
	struct rng rng = {12};
	(void)state;
	for (int i = 0; i < 2000; i++) {
		const enum fric_type type = (enum fric_type)(i % 4);
		double x[4][3], g[3], basis[6];
		const double *p[4];
		long double n[3];
		for (int k = 0; k < 4; k++)
			for (int d = 0; d < 3; d++)
				x[k][d] = uniform(&rng, -1, 1), p[k] = x[k];
		for (int d = 0; d < 3; d++)
			g[d] = uniform(&rng, -1, 1);
		normal_of(type, p, n);
		assert_ok(fricp_stencil_grain(type, p, g, basis));
		expect_basis(NULL, n, g, 1e-15, basis);
	}
}

/* Edges within 1e-7 rad of each other, and a grain within 1e-9 of the normal: no digit is lost. */
static void test_nearly_degenerate(void **state)
{
	const double tilt = 0x1p-24, little = 0x1p-30;
	const double x[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {1, tilt, 1}}, *const p[4] = {x[0], x[1], x[2], x[3]};
	const double grain[3] = {little, -little, 3};
	double basis[6];
	(void)state;
	assert_ok(fricp_stencil_grain(FRIC_EDGE_EDGE, p, grain, basis));
	assert_all_near(basis, ((double[]){M_SQRT1_2, M_SQRT1_2, -M_SQRT1_2, M_SQRT1_2, 0, 0}), 6, 2e-16);
	const double over[4][3] = {{0.5, 0x1p-20, 0}, {0, 0, 0}, {1, 0, 0}}, *const q[4] = {over[0], over[1], over[2]};
	assert_ok(fricp_stencil_grain(FRIC_EDGE_VERTEX, q, (double[]){little, 3, little}, basis));
	assert_all_near(basis, ((double[]){M_SQRT1_2, M_SQRT1_2, 0, 0, M_SQRT1_2, -M_SQRT1_2}), 6, 2e-16);
}

static void test_sizes(void **state)
{
	double basis[6], other[6];
	const double n[3] = {1, 2, 3}, g[3] = {-2, 1, 0.5};
	(void)state;
	assert_ok(fricp_grain_basis(n, g, basis));
	for (int e = -1000; e <= 1000; e += 250) {
		assert_ok(fricp_grain_basis((double[]){ldexp(n[0], e), ldexp(n[1], e), ldexp(n[2], e)},
		                            (double[]){ldexp(g[0], -e), ldexp(g[1], -e), ldexp(g[2], -e)}, other));
		assert_all_bits(other, basis, 6);
	}
}

static void test_along_the_normal(void **state)
{
	double basis[6];
	const double n[3] = {0, 0, 1e200};
	(void)state;
	assert_code(fricp_grain_basis(n, (double[]){0, 0, -3}, basis), FRIC_E_GRAIN_ALONG_NORMAL);
	assert_code(fricp_grain_basis(n, (double[]){0.99e-12, 0, 1}, basis), FRIC_E_GRAIN_ALONG_NORMAL);
	assert_ok(fricp_grain_basis(n, (double[]){1.01e-12, 0, 1}, basis));
	assert_all_near(basis, ((double[]){1, 0, 0, 1, 0, 0}), 6, 0);
}

/* ---- through fric_prepare ---- */

/* Batches of all types with grains per contact, through every kernel. */
static void test_batches(void **state)
{
	static const char *const names[] = {"scalar", "baseline", "avx2", "avx512"};
	struct rng rng = {13};
	struct scene s;
	(void)state;
	struct options o = {.dim = 3, .n_each = 70, .n_vertices = 300, .source = FRIC_MU_SCALAR, .grain = true};
	scene_create(&s, &rng, o);
	for (int k = 0; k < 4; k++) {
		const struct fric_context context = {.n_threads = 1, .kernels = fric_kernels_find(names[k])};
		struct fric_contacts *c;
		struct fric_error error;
		double basis[70 * 6];
		if (!context.kernels)
			continue;
		assert_ok(fric_prepare(&context, &s.batch, &c, &error));
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
			const struct fric_group *g = &s.batch.groups[type];
			const size_t size = (size_t)fric_stencil_size(type);
			assert_ok(
				fric_contact_output(&context, c, query(s.velocities), type, FRIC_OUT_TANGENT_BASIS, basis, &error));
			for (size_t i = 0; i < g->n; i++) {
				const double *p[4] = {0};
				long double n[3] = {0};
				for (size_t j = 0; j < size; j++)
					p[j] = s.batch.positions + 3 * g->vertices[i * size + j];
				if (type != FRIC_PLANE_VERTEX)
					normal_of(type, p, n);
				expect_basis(type == FRIC_PLANE_VERTEX ? g->plane_normal.data + 3 * i : NULL, n, g->grain.data + 3 * i,
				             1e-14, basis + 6 * i);
			}
		}
		fric_contacts_free(c);
	}
	scene_free(&s);
}

/* Faults of the geometry are reported first, then those of the grain, then those of the distance. */
static void test_faults(void **state)
{
	static const double positions[9] = {1, 2, 3, 1, 2, 3, 0, 0, 1}, up[3] = {0, 0, 2}, ahead[3] = {1, 0, 0};
	static const int32_t pairs[4] = {0, 2, 0, 1}, over[1] = {0};
	struct fric_batch batch = {.dim = 3, .n_vertices = 3, .positions = positions};
	struct fric_contacts *c;
	struct fric_error error;
	const double v[9] = {1, 1, 1};
	double basis[12];
	(void)state;
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 1, .mu_k = 1};
	batch.barrier = (struct fric_barrier){.dhat = 1, .stiffness = 1, .dmin = 4}; /* all are penetrations */
	batch.groups[FRIC_VERTEX_VERTEX] = (struct fric_group){.n = 2, .vertices = pairs, .grain = one_value(ahead)};
	batch.groups[FRIC_PLANE_VERTEX] = (struct fric_group){
		.n = 1, .vertices = over, .plane_normal = one_value(up), .plane_origin = one_value(up), .grain = one_value(up)};
	assert_code(fric_prepare(&serial, &batch, &c, &error), FRIC_E_PENETRATION);
	assert_int_equal(error.contact, 0);
	batch.skip_degenerate = true;
	assert_ok(fric_prepare(&serial, &batch, &c, &error));
	assert_code(fric_skipped(c, FRIC_VERTEX_VERTEX, 0), FRIC_E_PENETRATION);
	assert_code(fric_skipped(c, FRIC_VERTEX_VERTEX, 1), FRIC_E_COINCIDENT_VERTICES);
	assert_code(fric_skipped(c, FRIC_PLANE_VERTEX, 0), FRIC_E_GRAIN_ALONG_NORMAL);
	assert_ok(fric_contact_output(&serial, c, query(v), FRIC_PLANE_VERTEX, FRIC_OUT_TANGENT_BASIS, basis, &error));
	assert_all_near(basis, ((double[6]){0}), 6, 0);
	fric_contacts_free(c);
	batch.skip_degenerate = false;
	batch.groups[FRIC_VERTEX_VERTEX].n = 0;
	assert_code(fric_prepare(&serial, &batch, &c, &error), FRIC_E_GRAIN_ALONG_NORMAL);
	assert_int_equal(error.group, FRIC_PLANE_VERTEX);
	assert_string_equal(fric_reason(error.code), "grain_along_normal");
}

/* Ellipses turn with the grain, so the same slip meets another coefficient. */
static void test_ellipses_turn(void **state)
{
	static const double ellipse[2] = {0.8, 0.2};
	static const int32_t vertex = 0;
	struct fric_batch batch = floor_batch(&vertex, 1, 1);
	struct fric_error error;
	const double v[3] = {0, 2, 0};
	const double grains[2][3] = {{0, 1, 9}, {1, 0, -5}}, expected[2] = {0.8, 0.2};
	(void)state;
	batch.groups[FRIC_PLANE_VERTEX].mu_s_aniso = batch.groups[FRIC_PLANE_VERTEX].mu_k_aniso = one_value(ellipse);
	for (int i = 0; i < 2; i++) {
		batch.groups[FRIC_PLANE_VERTEX].grain = one_value(grains[i]);
		struct fric_contacts *c = prepared(&batch);
		struct fric_state *made;
		double force[3];
		assert_ok(fric_state_create(&serial, c, v, &made, &error));
		const struct fric_query q = {.velocities = v, .state = made};
		assert_ok(fric_contact_output(&serial, c, &q, FRIC_PLANE_VERTEX, FRIC_OUT_FRICTION_FORCE, force, &error));
		assert_all_near(force, ((double[]){0, -2 * expected[i], 0}), 3, 1e-15);
		fric_state_free(made);
		fric_contacts_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),       cmocka_unit_test(test_planes),
		cmocka_unit_test(test_stencils),      cmocka_unit_test(test_nearly_degenerate),
		cmocka_unit_test(test_sizes),         cmocka_unit_test(test_along_the_normal),
		cmocka_unit_test(test_batches),       cmocka_unit_test(test_faults),
		cmocka_unit_test(test_ellipses_turn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

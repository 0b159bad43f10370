#include "core/assemble/hessian.h"

#include "core/fric_mollifier.h"
#include "tests/property/hessians.h"
#include "tests/unit/core/batches.h"

static const int32_t vertices[3] = {0, 1, 2};

static enum fric_code inner_code(const struct fric_batch *batch, const double *v, enum fric_projection projection,
                                 double *inner, struct fric_error *error)
{
	struct fric_contacts *c = prepared(batch);
	const enum fric_code code = fric_hessian_inner(&serial, c, query(v), projection, inner, error);
	fric_contacts_free(c);
	return code;
}

static void inner_of(const struct fric_batch *batch, const double *v, enum fric_projection projection, double *inner)
{
	struct fric_error error;
	assert_ok(inner_code(batch, v, projection, inner, &error));
}

/* Expects the matrix across I + (along - across) u^ u^T, with both factors from the scalar functions. */
static void check_inner(const double *inner, double ux, double uy, double s, double mu_s, double mu_k,
                        enum fric_transition t)
{
	const double y = hypot(ux, uy);
	const double along = s * fric_smooth_mu_f2(y, mu_s, mu_k, 1, t);
	const double across = s * fric_smooth_mu_f1_over_x(y, mu_s, mu_k, 1, t);
	const double x0 = y > 0 ? ux / y : 1, x1 = y > 0 ? uy / y : 0;
	assert_near(inner[0], across + (along - across) * x0 * x0, 4e-15);
	assert_near(inner[1], (along - across) * x0 * x1, 4e-15);
	assert_near(inner[2], across + (along - across) * x1 * x1, 4e-15);
}

static void test_inner(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(vertices, 3, 3);
	const double v[9] = {0, 0, 7, 0.3, -0.4, 1, -6, 8, 0};
	for (int t = 0; t < 2; t++) {
		double inner[9];
		batch.friction.law.transition = t ? FRIC_QUADRATIC : FRIC_CUBIC;
		batch.friction.mu_s = 0.8;
		batch.friction.mu_k = 0.3;
		inner_of(&batch, v, FRIC_PROJECT_NONE, inner);
		for (int i = 0; i < 3; i++)
			check_inner(inner + 3 * i, v[3 * i], v[3 * i + 1], 2, 0.8, 0.3, batch.friction.law.transition);
	}
}

static void test_at_rest(void **state)
{
	(void)state;
	const struct fric_batch batch = floor_batch(vertices, 3, 3);
	const double v[9] = {0, 0, 7, 1e-300, 1e-310, 0, -0.0, 0, 0};
	double inner[9];
	inner_of(&batch, v, FRIC_PROJECT_NONE, inner);
	for (int i = 0; i < 9; i++) /* 2 s mu_s / eps_v */
		assert_near(inner[i], i % 3 == 1 ? 0 : 2, 0);
}

/* Along the slip the Hessian is zero for |u| >= eps_v. */
static void test_sliding(void **state)
{
	(void)state;
	const struct fric_batch batch = floor_batch(vertices, 3, 3);
	const double v[9] = {1, 0, 0, 0, 4, 0, 1e200, 0, 0};
	double inner[9];
	inner_of(&batch, v, FRIC_PROJECT_NONE, inner);
	assert_all_near(inner, ((double[]){0, 0, 1, 0.25, 0, 0, 0, 0, 1e-200}), 9, 0);
}

static void test_velocity_scaling(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(vertices, 1, 1);
	const double aniso[2] = {2, 0.5}, v[3] = {0.15, -0.8, 0};
	double inner[3], plain[3];
	inner_of(&batch, (double[]){0.3, -0.4, 0}, FRIC_PROJECT_NONE, plain);
	batch.groups[FRIC_PLANE_VERTEX].mu_aniso = one_value(aniso);
	inner_of(&batch, v, FRIC_PROJECT_NONE, inner);
	assert_near(inner[0], 4 * plain[0], 4e-15);
	assert_near(inner[1], plain[1], 4e-15);
	assert_near(inner[2], 0.25 * plain[2], 4e-15);
}

/* A falling coefficient makes the curvature along the slip negative. */
static void test_projection(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(vertices, 2, 2);
	const double v[6] = {0.8, 0, 0, 0, 0.8, 0}, weights[] = {1, -1};
	double none[6], clamp[6], magnitude[6];
	batch.friction.mu_s = 1;
	batch.friction.mu_k = 0.1;
	batch.groups[FRIC_PLANE_VERTEX].weight = (struct fric_values){weights, 1};
	inner_of(&batch, v, FRIC_PROJECT_NONE, none);
	inner_of(&batch, v, FRIC_PROJECT_CLAMP, clamp);
	inner_of(&batch, v, FRIC_PROJECT_ABS, magnitude);
	assert_true(none[0] < -0.1 && none[2] > 0.1 && none[3] < -0.1 && none[5] > 0.1);
	for (int i = 0; i < 6; i++) {
		assert_near(clamp[i], fmax(none[i], 0), 0);
		assert_near(magnitude[i], fabs(none[i]), 0);
	}
}

static void test_two_dimensions(void **state)
{
	(void)state;
	const double up[2] = {0, 3}, v[6] = {0.5, 1, 0, 0, -2, 0}, aniso = 0.5;
	struct fric_batch batch = floor_batch(vertices, 3, 3);
	double inner[3];
	batch.dim = 2;
	batch.groups[FRIC_PLANE_VERTEX].plane_normal = one_value(up);
	inner_of(&batch, v, FRIC_PROJECT_NONE, inner);
	assert_all_near(inner, ((double[]){1, 2, 0}), 3, 1e-15);
	batch.groups[FRIC_PLANE_VERTEX].mu_aniso = one_value(&aniso);
	inner_of(&batch, v, FRIC_PROJECT_NONE, inner);
	assert_all_near(inner, ((double[]){0.375, 0.5, 0}), 3, 1e-15);
}

static void test_overflow(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(vertices, 3, 3);
	const double eps[] = {1, 1e-150, 1e-150}, force[] = {1, 1e-100, 1e200}, v[9] = {0};
	double inner[9];
	struct fric_error error;
	batch.groups[FRIC_PLANE_VERTEX].eps_v = (struct fric_values){eps, 1};
	batch.groups[FRIC_PLANE_VERTEX].normal_force = (struct fric_values){force, 1};
	for (enum fric_projection p = FRIC_PROJECT_NONE; p <= FRIC_PROJECT_ABS; p++) {
		assert_code(inner_code(&batch, v, p, inner, &error), FRIC_E_NOT_FINITE);
		assert_int_equal(error.group, FRIC_PLANE_VERTEX);
		assert_int_equal(error.contact, 2);
	}
}

/* Near eps_v without kinetic friction, the eigenvalue is minus infinity along the slip and moderate across it. A clamp
 * turns the former into zero. */
static void test_overflow_along_alone(void **state)
{
	(void)state;
	const double force[2] = {1e11, 1e80}, eps[2] = {1e-300, 1e-231};
	for (int i = 0; i < 2; i++)
		for (enum fric_projection p = FRIC_PROJECT_NONE; p <= FRIC_PROJECT_ABS; p++) {
			struct fric_batch batch = floor_batch(vertices, 1, 1);
			const double v[3] = {0.999 * eps[i], 0, 0};
			double inner[3];
			struct fric_error error;
			batch.friction = (struct fric_friction){.eps_v = eps[i], .source = FRIC_MU_SCALAR, .mu_s = 1};
			batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&force[i]);
			assert_code(inner_code(&batch, v, p, inner, &error), FRIC_E_NOT_FINITE);
		}
}

/* Just below eps_v the eigenvalue along the slip is small; the eigenvalue across it fits a double until mu_aniso scales
 * it. */
static void test_overflow_across_alone(void **state)
{
	(void)state;
	const double aniso[2] = {9e29, 9e29}, v[3] = {1e-250 * (1 - 1e-12) / aniso[0], 0, 0}, force = 1;
	struct fric_batch batch = floor_batch(vertices, 1, 1);
	double inner[3];
	struct fric_error error;
	batch.friction.eps_v = 1e-250;
	batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&force);
	batch.groups[FRIC_PLANE_VERTEX].mu_aniso = one_value(aniso);
	assert_int_equal(inner_code(&batch, v, FRIC_PROJECT_NONE, inner, &error), FRIC_E_NOT_FINITE);
}

/* Eigenvalues that overflow or lose digits as doubles, although their products with mu_aniso^2 fit. */
static void test_eigenvalues_before_scaling(void **state)
{
	static const double cases[][4] = {/* eps_v, force, mu_aniso, expected */
	                                  {1e298, 1e-20, 1e27, 1e-264},
	                                  {1e300, 1e-30, 1e50, 1e-230},
	                                  {1e-300, 1e30, 1e-90, 1e150}};
	(void)state;
	for (int i = 0; i < 3; i++)
		for (enum fric_projection p = FRIC_PROJECT_NONE; p <= FRIC_PROJECT_ABS; p++) {
			const double *at = cases[i], aniso[2] = {at[2], at[2]}, v[3] = {0};
			struct fric_batch batch = floor_batch(vertices, 1, 1);
			double inner[3];
			struct fric_error error;
			batch.friction.eps_v = at[0];
			batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&at[1]);
			batch.groups[FRIC_PLANE_VERTEX].mu_aniso = one_value(aniso);
			assert_ok(inner_code(&batch, v, p, inner, &error));
			assert_near(inner[0] / at[3], 1, 1e-14);
			assert_near(inner[2] / at[3], 1, 1e-14);
		}
}

/* In 2D there is no direction across the slip, so mu s/|u| is absent and the Hessian is 0 while sliding. */
static void test_no_overflow_across_in_2d(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(vertices, 1, 1);
	const double up[2] = {0, 1}, force = 1e200, v[2] = {1e-149, 0};
	double inner = NAN;
	struct fric_error error;
	batch.dim = 2;
	batch.friction.eps_v = 1e-150;
	batch.groups[FRIC_PLANE_VERTEX].plane_normal = one_value(up);
	batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&force);
	assert_ok(inner_code(&batch, v, FRIC_PROJECT_NONE, &inner, &error));
	assert_near(inner, 0, 0);
}

/* s, mu and |u| / eps_v are small or large together: the eigenvalue is a double, but not every intermediate product. */
static void test_eigenvalue_of_small_factors(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(vertices, 1, 1);
	const int exponents[] = {-299, -310, -398, -480}, ratios[] = {398, 299, 200};
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 3; j++) {
			const double force = ldexp(1, exponents[i]), v[3] = {ldexp(1, ratios[j] - 900), 0, 0};
			double inner[3];
			batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&force);
			batch.friction.mu_s = batch.friction.mu_k = force;
			batch.friction.eps_v = 0x1p-900;
			inner_of(&batch, v, FRIC_PROJECT_NONE, inner);
			assert_bits(inner[2], ldexp(1, 2 * exponents[i] - ratios[j] + 900));
		}
}

static void test_core_block(void **state)
{
	(void)state;
	struct rng rng = {12};
	for (int i = 0; i < 200; i++)
		for (int dim = 2; dim <= 3; dim++) {
			double basis[6], a[3], block[9];
			double *columns[6];
			const int m = dim - 1;
			for (int e = 0; e < 3; e++)
				a[e] = uniform(&rng, -1, 1);
			random_basis(&rng, dim, basis);
			for (int e = 0; e < dim * m; e++)
				columns[e] = &basis[e];
			struct fric_contacts c = {.dim = dim, .n = 1};
			memcpy(c.tangent_basis, columns, sizeof(double *) * (size_t)(dim * m));
			fricp_core_block(&c, a, 0, block);
			for (int r = 0; r < dim; r++)
				for (int s = 0; s < dim; s++) {
					const double *p = basis + r * m, *q = basis + s * m;
					double expected = p[0] * a[0] * q[0];
					if (dim == 3)
						expected += (p[0] * q[1] + p[1] * q[0]) * a[1] + p[1] * a[2] * q[1];
					assert_near(block[dim * r + s], expected, 1e-15);
					assert_bits(block[dim * r + s], block[dim * s + r]);
				}
		}
}

/* The rows of a basis may differ in size by any factor. */
static void test_core_block_of_any_basis(void **state)
{
	(void)state;
	double basis[6] = {0x1p-500, 0, 0x1p500, 0, 0, 0x1p-600}, a[3] = {0x1p-1000, 0, 0x1p-900}, block[9];
	struct fric_contacts c = {.dim = 3, .n = 1};
	for (int e = 0; e < 6; e++)
		c.tangent_basis[e] = &basis[e];
	fricp_core_block(&c, a, 0, block);
	assert_all_bits(block, ((double[]){0, 0x1p-1000, 0, 0x1p-1000, 1, 0, 0, 0, 0}), 9);
	c.dim = 2;
	c.tangent_basis[1] = &basis[2];
	fricp_core_block(&c, a, 0, block);
	assert_all_bits(block, ((double[]){0, 0x1p-1000, 0x1p-1000, 1}), 4);
}

/* Every entry of A has an effect, also if the basis is so large that kernels leave the contact to the careful form. */
static void test_core_block_of_a_large_basis(void **state)
{
	(void)state;
	double basis[6] = {4, -1, 2, 8, -0.5, 16};
	const double a[3] = {3, -2, 5};
	struct fric_contacts c = {.dim = 3, .n = 1};
	for (int e = 0; e < 6; e++)
		c.tangent_basis[e] = &basis[e];
	for (int part = 0; part < 3; part++) {
		double alone[3] = {0}, block[9];
		alone[part] = a[part];
		fricp_core_block(&c, alone, 0, block);
		for (int r = 0; r < 3; r++)
			for (int s = 0; s < 3; s++) {
				const double x = basis[2 * r], y = basis[2 * r + 1], z = basis[2 * s], w = basis[2 * s + 1];
				assert_bits(block[3 * r + s] + 0.0,
				            alone[0] * x * z + alone[1] * (x * w + y * z) + alone[2] * y * w + 0.0);
			}
	}
}

/* One contact's inner matrix overflows, and another one's weight. The one with the lower number is named. */
static void test_faults_of_factors(void **state)
{
	(void)state;
	static const int32_t stencils[8] = {0, 1, 2, 3, 0, 1, 2, 3};
	static const double basis[6] = {1, 0, 0, 1, 0, 0}, v[12] = {0};
	for (int far = 0; far < 2; far++) {
		struct fric_batch batch = {.dim = 3, .n_vertices = 4};
		double points[4] = {0}, forces[2] = {1, 1}, weights[8], inner[6], bases[12];
		const struct fric_factors factors = {.weights[FRIC_FACE_VERTEX] = weights,
		                                     .inner[FRIC_FACE_VERTEX] = inner,
		                                     .tangent_basis[FRIC_FACE_VERTEX] = bases};
		struct fric_error error;
		points[2 * far] = points[2 * far + 1] = -1.7e308;
		forces[!far] = 1e300;
		batch.friction = (struct fric_friction){.eps_v = 1e-100, .source = FRIC_MU_SCALAR, .mu_s = 1};
		batch.groups[FRIC_FACE_VERTEX] = (struct fric_group){.n = 2,
		                                                     .vertices = stencils,
		                                                     .normal_force = {forces, 1},
		                                                     .tangent_basis = {basis, 0},
		                                                     .closest_point = {points, 2}};
		struct fric_contacts *c = prepared(&batch);
		assert_code(fric_hessian_factors(&serial, c, query(v), FRIC_PROJECT_NONE, &factors, &error), FRIC_E_NOT_FINITE);
		assert_int_equal(error.group, FRIC_FACE_VERTEX);
		assert_int_equal(error.contact, 0);
		fric_contacts_free(c);
	}
}

static void test_stencil_weights(void **state)
{
	(void)state;
	const struct fric_batch batch = corner_batch();
	struct fric_contacts *c = prepared(&batch);
	const double expected[FRIC_N_VERTEX_TYPES][4] = {
		{1, -1}, {1, -0.75, -0.25}, {0.75, 0.25, -0.75, -0.25}, {1, -0.25, -0.25, -0.5}, {1}};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		double w[4];
		assert_int_equal(
			fric_stencil_weights(&serial, c, type, w, &(struct fric_error){FRIC_OK, FRIC_VERTEX_VERTEX, 0}), FRIC_OK);
		assert_all_bits(w, expected[type], (size_t)fric_stencil_size(type));
	}
	fric_contacts_free(c);
}

/* One edge_vertex contact with stencil 2, 0, 1: rows and columns are in the order of the stencil. */
static void test_order_of_triplets(void **state)
{
	(void)state;
	struct fric_batch batch = corner_batch();
	double v[24], inner[3], values[81], block[9];
	int32_t rows[81], cols[81];
	struct fric_error error;
	for (int i = 0; i < 24; i++)
		v[i] = sin(i);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		batch.groups[type].n = type == FRIC_EDGE_VERTEX;
	struct fric_contacts *c = prepared(&batch);
	const double w[] = {1, -0.75, -0.25};
	assert_ok(fric_hessian_inner(&serial, c, query(v), FRIC_PROJECT_NONE, inner, &error));
	fricp_core_block(c, inner, 0, block);
	assert_int_equal(fric_n_triplets(c, FRIC_FULL), 81);
	assert_ok(fric_hessian_triplets(&serial, c, inner, FRIC_FULL, rows, cols, values, &error));
	for (int r = 0; r < 9; r++)
		for (int s = 0; s < 9; s++) {
			const int at = 9 * r + s;
			assert_int_equal(rows[at], corner_stencils[FRIC_EDGE_VERTEX][r / 3] * 3 + r % 3);
			assert_int_equal(cols[at], corner_stencils[FRIC_EDGE_VERTEX][s / 3] * 3 + s % 3);
			assert_near(values[at], w[r / 3] * w[s / 3] * block[3 * (r % 3) + s % 3], 1e-16);
		}
	fric_contacts_free(c);
}

/* A triangle is the full list without the entries outside the triangle, in the same order. */
static void test_triangles(void **state)
{
	(void)state;
	const struct fric_batch batch = corner_batch();
	struct fric_contacts *c = prepared(&batch);
	double v[24];
	for (int i = 0; i < 24; i++)
		v[i] = cos(i * i);
	double *inner = inner_matrices(&serial, c, v, FRIC_PROJECT_NONE);
	enum { FULL = 9 + 36 + 81 + 144 + 144 };
	static int32_t rows[3][FULL], cols[3][FULL];
	static double values[3][FULL];
	struct fric_error error;
	for (enum fric_triangle t = FRIC_FULL; t <= FRIC_LOWER; t++)
		assert_ok(fric_hessian_triplets(&serial, c, inner, t, rows[t], cols[t], values[t], &error));
	assert_int_equal(fric_n_triplets(c, FRIC_FULL), FULL);
	for (enum fric_triangle t = FRIC_UPPER; t <= FRIC_LOWER; t++) {
		size_t at = 0;
		for (size_t i = 0; i < FULL; i++) {
			if (t == FRIC_UPPER ? rows[0][i] > cols[0][i] : rows[0][i] < cols[0][i])
				continue;
			assert_int_equal(rows[t][at], rows[0][i]);
			assert_int_equal(cols[t][at], cols[0][i]);
			assert_bits(values[t][at], values[0][i]);
			at++;
		}
		assert_int_equal(at, fric_n_triplets(c, t));
	}
	free(inner);
	fric_contacts_free(c);
}

/* Rows and columns depend neither on skipping nor on velocities. */
static void test_pattern_of_triplets(void **state)
{
	(void)state;
	struct fric_batch batch = corner_batch();
	enum { FULL = 9 + 36 + 81 + 144 + 144 };
	static int32_t rows[2][FULL], cols[2][FULL];
	static double values[2][FULL];
	static const double same_place[24], v[24] = {1};
	struct fric_error error;
	batch.skip_degenerate = true;
	for (int i = 0; i < 2; i++) {
		if (i == 1)
			batch.positions = same_place;
		struct fric_contacts *c = prepared(&batch);
		double *inner = inner_matrices(&serial, c, v, FRIC_PROJECT_NONE);
		assert_int_equal(fric_n_skipped(c), i == 1 ? 4 : 0);
		assert_int_equal(fric_n_triplets(c, FRIC_FULL), FULL);
		assert_ok(fric_hessian_triplets(&serial, c, inner, FRIC_FULL, rows[i], cols[i], values[i], &error));
		free(inner);
		fric_contacts_free(c);
	}
	assert_memory_equal(rows[0], rows[1], sizeof(rows[0]));
	assert_memory_equal(cols[0], cols[1], sizeof(cols[0]));
	for (int i = 0; i < FULL - 9; i++)
		assert_near(values[1][i], 0, 0);
}

static void test_overflow_of_triplets(void **state)
{
	(void)state;
	struct fric_batch batch = corner_batch();
	double basis[6] = {1e200, 0, 0, 1, 0, 0}, v[24] = {0}, inner[15] = {0};
	const size_t most = 9 + 36 + 81 + 144 + 144;
	struct fric_error error;
	int32_t *rows = calloc(most, sizeof(int32_t)), *cols = calloc(most, sizeof(int32_t));
	double *values = calloc(most, sizeof(double));
	batch.groups[FRIC_VERTEX_VERTEX].tangent_basis = one_value(basis); /* not orthonormal, which is allowed */
	struct fric_contacts *c = prepared(&batch);
	assert_ok(fric_hessian_inner(&serial, c, query(v), FRIC_PROJECT_NONE, inner, &error));
	assert_code(fric_hessian_triplets(&serial, c, inner, FRIC_FULL, rows, cols, values, &error), FRIC_E_NOT_FINITE);
	assert_int_equal(error.group, FRIC_VERTEX_VERTEX);
	assert_int_equal(error.contact, 0);
	atomic_bool stop = true;
	const struct fric_context stopping = {.n_threads = 1, .stop = &stop};
	assert_code(fric_hessian_triplets(&stopping, c, inner, FRIC_FULL, rows, cols, values, &error), FRIC_E_STOPPED);
	assert_code(fric_hessian_inner(&stopping, c, query(v), FRIC_PROJECT_NONE, inner, &error), FRIC_E_STOPPED);
	const struct fric_factors factors = {0}; /* not written to */
	assert_code(fric_hessian_factors(&stopping, c, query(v), FRIC_PROJECT_NONE, &factors, &error), FRIC_E_STOPPED);
	fric_contacts_free(c);
	free(rows);
	free(cols);
	free(values);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inner),
		cmocka_unit_test(test_at_rest),
		cmocka_unit_test(test_sliding),
		cmocka_unit_test(test_velocity_scaling),
		cmocka_unit_test(test_projection),
		cmocka_unit_test(test_two_dimensions),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_overflow_along_alone),
		cmocka_unit_test(test_overflow_across_alone),
		cmocka_unit_test(test_eigenvalues_before_scaling),
		cmocka_unit_test(test_no_overflow_across_in_2d),
		cmocka_unit_test(test_eigenvalue_of_small_factors),
		cmocka_unit_test(test_core_block),
		cmocka_unit_test(test_core_block_of_any_basis),
		cmocka_unit_test(test_core_block_of_a_large_basis),
		cmocka_unit_test(test_faults_of_factors),
		cmocka_unit_test(test_stencil_weights),
		cmocka_unit_test(test_order_of_triplets),
		cmocka_unit_test(test_triangles),
		cmocka_unit_test(test_pattern_of_triplets),
		cmocka_unit_test(test_overflow_of_triplets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Compares the Hessian times vectors with the matrix in rows, and with values by hand. */
#include "core/kernels/kernels.h"
#include "tests/property/scene.h"
#include "tests/share.h"
#include "tests/unit/core/batches.h"

static const int32_t two[2] = {0, 1};

/* Products of the rows of the csr Hessian with a vector, and the sums of their absolute terms. */
static void multiply(const struct fric_pattern *pattern, const double *data, const double *x, double *out, double *size)
{
	const int64_t *indptr = fric_pattern_indptr(pattern);
	const int32_t *indices = fric_pattern_indices(pattern);
	for (size_t row = 0; row < fric_pattern_n_rows(pattern); row++) {
		out[row] = size[row] = 0;
		for (int64_t e = indptr[row]; e < indptr[row + 1]; e++) {
			out[row] += data[e] * x[indices[e]];
			size[row] += fabs(data[e] * x[indices[e]]);
		}
	}
}

enum { MANY = 77 }; /* the seed of a large scene */

/* Many contacts on few vertices in random order, so that forces are deferred; or with stencils of nearby vertices. */
static void make_scene(uint64_t seed, int dim, struct scene *s)
{
	struct rng rng = {seed};
	struct options o = random_options(&rng, dim);
	o.n_each = seed == MANY ? 4000 : 150 + below(&rng, 60);
	o.n_vertices = 3000;
	o.reach = seed % 2 ? 30 : 0;
	o.transition = (enum fric_transition)below(&rng, 3);
	scene_create(s, &rng, o);
}

/* The contacts go round a ring of vertices several times; some spans have nearby vertices, others distant ones. */
static void make_long_scene(uint64_t seed, struct scene *s)
{
	struct rng rng = {seed};
	struct options o = random_options(&rng, 3);
	o.n_each = 900;
	o.n_vertices = 14000;
	o.reach = seed % 4 == 1 ? 40 : 5000;
	scene_create(s, &rng, o);
}

static double *random_vectors(struct scene *s, uint64_t seed, size_t n)
{
	struct rng rng = {seed + 99};
	return random_reals(s, &rng, n * scene_ndof(s), -1, 1);
}

static void compare_with_csr(uint64_t seed, int dim, enum fric_projection projection, size_t n_vectors)
{
	struct scene s;
	struct fric_error error;
	struct fric_pattern *pattern;
	make_scene(seed, dim, &s);
	const size_t n = scene_ndof(&s);
	const double *x = random_vectors(&s, seed, n_vectors);
	struct fric_contacts *c = prepared(&s.batch);
	assert_ok(fric_pattern_create(&serial, c, FRIC_FULL, &pattern, &error));
	double *inner = scene_memory(&s, 3 * fric_n_contacts(c), sizeof(double)),
		   *data = scene_memory(&s, fric_pattern_n_entries(pattern), sizeof(double)),
		   *products = scene_memory(&s, n * n_vectors, sizeof(double)), *row = scene_memory(&s, n, sizeof(double)),
		   *size = scene_memory(&s, n, sizeof(double));
	assert_ok(fric_hessian_inner(&serial, c, query(s.velocities), projection, inner, &error));
	assert_ok(fric_hessian_csr(&serial, c, inner, pattern, data, &error));
	assert_ok(fric_hessian_products(&serial, c, query(s.velocities), projection, n_vectors, x, products, &error));
	for (size_t l = 0; l < n_vectors; l++) {
		multiply(pattern, data, x + l * n, row, size);
		double largest = 0; /* entries of the matrix may be small because of cancellation */
		for (size_t i = 0; i < n; i++)
			largest = fmax(largest, size[i]);
		assert_all_near(products + l * n, row, n, 1e-13 * largest);
	}
	fric_pattern_free(pattern);
	fric_contacts_free(c);
	scene_free(&s);
}

static void test_as_the_matrix(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 24; seed++)
		compare_with_csr(seed, seed % 4 ? 3 : 2, (enum fric_projection)(seed % 3), 1 + seed % 9);
}

/* The bits are the same in every form and on any number of threads, with or without a schedule. */
static void compare_forms(uint64_t seed, double size)
{
	static const char *const names[] = {"scalar", "baseline", "avx2", "avx512"};
	enum { N_VECTORS = 11 }; /* eight vectors at once, and three one after the other */
	struct scene s;
	if (seed % 2)
		make_long_scene(seed, &s);
	else
		make_scene(seed, 3, &s);
	const size_t n = scene_ndof(&s) * N_VECTORS;
	double *x = random_vectors(&s, seed, N_VECTORS), *expected = scene_memory(&s, n, sizeof(double)),
		   *products = scene_memory(&s, n, sizeof(double));
	for (size_t i = 0; i < n; i += 7)
		x[i] *= size;
	struct fric_contacts *c = prepared(&s.batch);
	for (int k = 0; k < 4; k++)
		for (int n_threads = 1; n_threads <= 8 && fric_kernels_find(names[k]); n_threads += step_sanitized(3)) {
			const struct fric_context context = {
				.n_threads = n_threads, .parallel_from = 1, .kernels = fric_kernels_find(names[k])};
			struct fric_schedule *schedule = NULL;
			struct fric_error error;
			if (n_threads % 2)
				assert_ok(fric_schedule_create(&context, c, &schedule, &error));
			const struct fric_query asked = {.velocities = s.velocities, .schedule = schedule};
			memset(products, 0x5a, n * sizeof(double));
			assert_ok(fric_hessian_products(&context, c, &asked, FRIC_PROJECT_CLAMP, N_VECTORS, x, products, &error));
			if (k == 0 && n_threads == 1)
				memcpy(expected, products, n * sizeof(double));
			assert_all_bits(products, expected, n);
			fric_schedule_free(schedule);
		}
	fric_contacts_free(c);
	scene_free(&s);
}

static void test_forms_agree(void **state)
{
	(void)state;
	for (int i = 0; i < 16; i += step_in_share(5, 5)) /* 5 changes both */
		compare_forms(1 + (uint64_t)i / 4, (const double[]){1, 0, 1e-300, 1e250}[i % 4]);
}

/* A vertex at rest on the floor: 2 mu lambda / eps_v in the plane, zero along the normal. */
static void test_by_hand(void **state)
{
	(void)state;
	const struct fric_batch batch = floor_batch(two, 1, 2);
	const double zero[6] = {0}, x[] = {1, 2, 3, 4, 5, 6, 0, 0, 1, 1, 1, 1};
	double products[12];
	struct fric_error error;
	struct fric_contacts *c = prepared(&batch);
	assert_ok(fric_hessian_products(&serial, c, query(zero), FRIC_PROJECT_NONE, 2, x, products, &error));
	assert_all_near(products, ((double[]){2, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), 12, 0);
	assert_ok(fric_hessian_products(&serial, c, query(zero), FRIC_PROJECT_NONE, 0, NULL, NULL, &error));
	fric_contacts_free(c);
}

/* x . H x is not negative after projection, and x . H y equals y . H x. */
static void test_semidefinite_and_symmetric(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct scene s;
		struct fric_error error;
		make_scene(seed, seed % 3 ? 3 : 2, &s);
		const size_t n = scene_ndof(&s);
		const double *x = random_vectors(&s, seed, 2);
		double *h = scene_memory(&s, 2 * n, sizeof(double)), xhx = 0, xhy = 0, yhx = 0, size = 0;
		struct fric_contacts *c = prepared(&s.batch);
		const enum fric_projection projection = seed % 2 ? FRIC_PROJECT_CLAMP : FRIC_PROJECT_ABS;
		assert_ok(fric_hessian_products(&serial, c, query(s.velocities), projection, 2, x, h, &error));
		for (size_t i = 0; i < n; i++) {
			xhx += x[i] * h[i];
			xhy += x[i] * h[n + i];
			yhx += x[n + i] * h[i];
			size += fabs(x[i] * h[i]) + fabs(x[i] * h[n + i]) + fabs(x[n + i] * h[i]);
		}
		assert_true(xhx >= -1e-13 * size);
		assert_near(xhy, yhx, 1e-13 * size);
		fric_contacts_free(c);
		scene_free(&s);
	}
}

static void test_overflow(void **state)
{
	(void)state;
	const int32_t same[3] = {0, 1, 1};
	const struct fric_batch batch = floor_batch(same, 3, 2);
	const double zero[6] = {0}, huge = 0x1p1023, fine[6] = {huge / 2}, one[6] = {0, 0, 0, huge, 0, 0},
				 sum[6] = {0, 0, 0, huge / 2};
	double products[6];
	struct fric_error error;
	struct fric_contacts *c = prepared(&batch);
	assert_ok(fric_hessian_products(&serial, c, query(zero), FRIC_PROJECT_NONE, 1, fine, products, &error));
	assert_bits(products[0], huge);
	assert_code(fric_hessian_products(&serial, c, query(zero), FRIC_PROJECT_NONE, 1, one, products, &error),
	            FRIC_E_NOT_FINITE);
	assert_int_equal(error.contact, 1);
	assert_code(fric_hessian_products(&serial, c, query(zero), FRIC_PROJECT_NONE, 1, sum, products, &error),
	            FRIC_E_NOT_FINITE);
	assert_int_equal(error.contact, -1);
	fric_contacts_free(c);
}

/* A skipped contact has no force, even where its relative velocity overflows. */
static void test_skipped(void **state)
{
	(void)state;
	const double same[6] = {1, 1, 1, 1, 1, 1}, zero[6] = {0}, x[6] = {0x1.8p1023, 0, 0, -0x1.8p1023, 1, 2};
	double products[6];
	struct fric_error error;
	struct fric_batch batch = {.dim = 3, .n_vertices = 2, .positions = same, .skip_degenerate = true};
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5};
	batch.groups[FRIC_VERTEX_VERTEX] = (struct fric_group){.n = 1, .vertices = two, .normal_force = {&force_of_two, 0}};
	struct fric_contacts *c = prepared(&batch);
	assert_ok(fric_hessian_products(&serial, c, query(zero), FRIC_PROJECT_NONE, 1, x, products, &error));
	assert_all_near(products, zero, 6, 0);
	fric_contacts_free(c);
}

/* Basis entries may have any size: no intermediate result underflows if the product fits. */
static void check_extreme_basis(int dim)
{
	const double basis[6] = {0x1p-600, 0, 0, dim == 3 ? 0x1p-600 : 0, 0, 0}, force = 0x1p+500, eps_v = 0x1p-500,
				 zero[6] = {0}, x[6] = {0x1p-600, 0, 7};
	double products[6];
	struct fric_error error;
	struct fric_batch batch = floor_batch(two, 1, 2);
	batch.dim = dim;
	batch.groups[FRIC_PLANE_VERTEX].tangent_basis = (struct fric_values){basis, (size_t)(dim * (dim - 1))};
	batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&force);
	batch.groups[FRIC_PLANE_VERTEX].eps_v = one_value(&eps_v);
	struct fric_contacts *c = prepared(&batch);
	assert_ok(fric_hessian_products(&serial, c, query(zero), FRIC_PROJECT_NONE, 1, x, products, &error));
	assert_near(products[0], ldexp(1, 1000 - 1200 - 600), ldexp(1, -850));
	fric_contacts_free(c);
}

static void test_extreme_basis(void **state)
{
	(void)state;
	check_extreme_basis(2);
	check_extreme_basis(3);
}

/* There are more spans than are processed together: each vector continues where it stopped. */
static void test_many_spans(void **state)
{
	(void)state;
	compare_with_csr(MANY, 3, FRIC_PROJECT_NONE, 2);
}

static void test_stop(void **state)
{
	(void)state;
	struct scene s;
	struct fric_error error;
	atomic_bool stop = true;
	make_scene(1, 3, &s);
	struct fric_contacts *c = prepared(&s.batch);
	double *x = random_vectors(&s, 1, 1), *h = scene_memory(&s, scene_ndof(&s), sizeof(double));
	const struct fric_context stopped = {.n_threads = 1, .stop = &stop};
	assert_code(fric_hessian_products(&stopped, c, query(s.velocities), FRIC_PROJECT_NONE, 1, x, h, &error),
	            FRIC_E_STOPPED);
	fric_contacts_free(c);
	scene_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_the_matrix), cmocka_unit_test(test_forms_agree),
		cmocka_unit_test(test_by_hand),       cmocka_unit_test(test_semidefinite_and_symmetric),
		cmocka_unit_test(test_overflow),      cmocka_unit_test(test_skipped),
		cmocka_unit_test(test_extreme_basis), cmocka_unit_test(test_many_spans),
		cmocka_unit_test(test_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

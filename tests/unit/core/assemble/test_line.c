/* Compares potential and slope along a line with fric_evaluate at its points, with differences, and with values by
 * hand. */
#include "core/kernels/kernels.h"
#include "tests/property/scene.h"
#include "tests/share.h"
#include "tests/unit/core/batches.h"

static const int32_t two[2] = {0, 1};

enum { MOST = 40 };

struct result {
	enum fric_code code;
	struct fric_error error;
	double potential[MOST], slope[MOST];
};

static struct result line_of(const struct fric_batch *batch, const double *velocities, const double *direction,
                             size_t n_steps, const double *steps)
{
	struct result r;
	struct fric_contacts *c = prepared(batch);
	r.code = fric_line(&serial, c, query(velocities), direction, n_steps, steps, r.potential, r.slope, &r.error);
	fric_contacts_free(c);
	return r;
}

/* mu lambda = 1, eps_v = 1. At the steps the vertex slides, sticks, is at rest, slides backwards, and slides faster. */
static void test_by_hand(void **state)
{
	(void)state;
	const struct fric_batch batch = floor_batch(two, 1, 2);
	const double steps[] = {0, 1.5, 2, 3, -1};
	const struct result r = line_of(&batch, (double[]){0, 2, 7, 0, 0, 0}, (double[]){0, -1, 100, 5, 5, 5}, 5, steps);
	assert_ok(r.code);
	const double z = 0.5, below = 1 / 3. + z * z - z * z * z / 3;
	assert_all_near(r.potential, ((double[]){2, below, 1 / 3., 1, 3}), 5, 2e-15);
	assert_all_near(r.slope, ((double[]){-1, -0.75, 0, 1, -1}), 5, 2e-15);
}

static void test_no_steps(void **state)
{
	(void)state;
	const struct fric_batch batch = floor_batch(two, 1, 2);
	const double zero[6] = {0};
	assert_ok(line_of(&batch, zero, zero, 0, NULL).code);
}

static void test_no_contacts(void **state)
{
	(void)state;
	const struct fric_batch batch = {.dim = 2, .n_vertices = 1};
	const double steps[] = {-3, 1e300}, zero[2] = {0};
	const struct result r = line_of(&batch, zero, (double[]){1, 2}, 2, steps);
	assert_ok(r.code);
	assert_all_bits(r.potential, zero, 2);
	assert_all_bits(r.slope, zero, 2);
}

/* Expected potential and slope at a point of a line, from an evaluation at the rounded velocities there. */
static void at_point(const struct fric_context *context, const struct scene *s, const struct fric_contacts *c,
                     const struct fric_state *state, const double *direction, double t, double *potential,
                     double *slope)
{
	const size_t n = s->batch.n_vertices * (size_t)s->batch.dim;
	double *v = malloc((n + 1) * sizeof(*v)), *gradient = malloc((n + 1) * sizeof(*gradient));
	struct fric_error error;
	for (size_t i = 0; i < n; i++)
		v[i] = s->velocities[i] + t * direction[i];
	const struct fric_query there = {.velocities = v, .state = state};
	assert_ok(fric_evaluate(context, c, &there, potential, gradient, &error));
	*slope = 0;
	for (size_t i = 0; i < n; i++)
		*slope += gradient[i] * direction[i];
	free(v);
	free(gradient);
}

/* Dyadic numbers with few digits, for which v + t d is exact. */
static void coarsen(double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = ldexp(rint(ldexp(x[i], 16)), -16);
}

static void scene_on_line(uint64_t seed, int dim, struct scene *s, double **direction)
{
	struct rng rng = {seed};
	struct options o = random_options(&rng, dim);
	o.n_each = 70 + below(&rng, 30);
	o.n_vertices = 200;
	o.transition = (enum fric_transition)below(&rng, 3);
	scene_create(s, &rng, o);
	const size_t n = s->batch.n_vertices * (size_t)dim;
	*direction = random_reals(s, &rng, n, -1, 1);
	coarsen(s->velocities, n);
	coarsen(*direction, n);
}

static const double some_steps[] = {0, 0.5, -0.25, 1, 2, -8, 0.0009765625};
enum { N_STEPS = sizeof(some_steps) / sizeof(some_steps[0]) };

static void compare_with_evaluate(uint64_t seed, int dim)
{
	struct scene s;
	struct fric_error error;
	struct fric_state *state;
	double *direction, potential[N_STEPS], slope[N_STEPS];
	scene_on_line(seed, dim, &s, &direction);
	struct fric_contacts *c = prepared(&s.batch);
	assert_ok(fric_state_create(&serial, c, s.lagged, &state, &error));
	const struct fric_query asked = {.velocities = s.velocities, .state = state};
	assert_ok(fric_line(&serial, c, &asked, direction, N_STEPS, some_steps, potential, slope, &error));
	double largest = 0;
	for (int pass = 0; pass < 2; pass++)
		for (size_t k = 0; k < N_STEPS; k++) {
			double there, slope_there;
			at_point(&serial, &s, c, state, direction, some_steps[k], &there, &slope_there);
			largest = fmax(largest, fmax(fabs(there), fabs(slope_there)));
			if (pass == 1) {
				assert_near(potential[k], there, 1e-13 * largest);
				assert_near(slope[k], slope_there, 1e-12 * largest);
			}
			if (k == 0)
				assert_bits(potential[k], there);
		}
	fric_state_free(state);
	fric_contacts_free(c);
	scene_free(&s);
}

static void test_points_of_the_line(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++)
		compare_with_evaluate(seed, seed % 3 ? 3 : 2);
}

/* Sums have the same bits in every form and on any number of threads, whatever the velocities and the steps. */
static void compare_forms(uint64_t seed, double size, const double *steps, size_t n)
{
	static const char *const names[] = {"scalar", "baseline", "avx2", "avx512"};
	struct scene s;
	double *direction, expected[2][MOST], got[2][MOST];
	enum fric_code expected_code = FRIC_OK;
	scene_on_line(seed, 3, &s, &direction);
	struct rng rng = {seed};
	for (size_t i = 0; i < 3 * s.batch.n_vertices; i++) {
		s.velocities[i] *= below(&rng, 9) ? 1 : size;
		direction[i] = below(&rng, 5) ? direction[i] : below(&rng, 2) ? -s.velocities[i] : size;
	}
	struct fric_contacts *c = prepared(&s.batch);
	for (int k = 0; k < 4; k++)
		for (int n_threads = 1; n_threads <= 8 && fric_kernels_find(names[k]); n_threads += 7) {
			const struct fric_context context = {
				.n_threads = n_threads, .parallel_from = 1, .kernels = fric_kernels_find(names[k])};
			struct fric_error error;
			const bool first = k == 0 && n_threads == 1;
			const enum fric_code code =
				fric_line(&context, c, query(s.velocities), direction, n, steps, got[0], got[1], &error);
			const bool may_overflow = n == 10 && (s.options.viscous > 0 || s.options.own_viscous); /* (1e100 x)^2 */
			if (first)
				memcpy(expected, got, sizeof(got)), expected_code = code;
			assert_code(code, expected_code);
			assert_true(code == FRIC_OK || (code == FRIC_E_NOT_FINITE && may_overflow));
			if (code != FRIC_OK)
				continue;
			assert_all_bits(got[0], expected[0], n);
			assert_all_bits(got[1], expected[1], n);
		}
	fric_contacts_free(c);
	scene_free(&s);
}

static void test_forms_agree(void **state)
{
	(void)state;
	const double steps[] = {0, 1, -1, 0.5, 1e-3, 3, 1e100, 1e-100, -1e-300, 1};
	for (uint64_t seed = 1; seed <= 10; seed += (uint64_t)step_sanitized(3))
		for (int size = 0; size < 6; size++)
			for (size_t n = 5; n <= 10; n += 5)
				compare_forms(seed, (const double[]){0, 1, 1e-200, 1e-308, 1e30, 1e150}[size], steps, n);
}

/* Contacts on a floor, all with the same law, in every form. */
static void floor_in_every_form(const double *v, const double *d, double eps_v, size_t n, const double *steps,
                                size_t n_steps, double out[2][MOST])
{
	static const char *const names[] = {"scalar", "baseline", "avx2", "avx512"};
	int32_t *vertices = malloc(n * sizeof(*vertices));
	for (size_t i = 0; i < n; i++)
		vertices[i] = (int32_t)i;
	struct fric_batch batch = floor_batch(vertices, n, n);
	batch.friction.eps_v = eps_v;
	batch.friction.mu_k = 0.3;
	struct fric_contacts *c = prepared(&batch);
	for (int k = 0; k < 4; k++) {
		const struct fric_context context = {.n_threads = 1, .kernels = fric_kernels_find(names[k])};
		struct fric_error error;
		double got[2][MOST];
		if (!context.kernels)
			continue;
		assert_ok(fric_line(&context, c, query(v), d, n_steps, steps, got[0], got[1], &error));
		for (int i = 0; i < 2; i++) {
			if (k == 0)
				memcpy(out[i], got[i], n_steps * sizeof(double));
			assert_all_bits(got[i], out[i], n_steps);
		}
	}
	fric_contacts_free(c);
	free(vertices);
}

/* Steps that end within rounding of eps_v, or where start and direction cancel up to rounding. They are tested one by
 * one, because an ulp of one term would be lost in a sum. */
static void test_on_the_edge(void **state)
{
	(void)state;
	enum { N = 1 };
	double v[3 * N], d[3 * N], out[2][MOST];
	const double steps[] = {0, -1 / 3.};
	for (int round = 0; round < 3000; round++) {
		for (int i = 0; i < N; i++) {
			const double angle = round * N + i;
			v[3 * i] = cos(angle), v[3 * i + 1] = sin(angle), v[3 * i + 2] = 0;
			for (int k = 0; k < 3; k++)
				d[3 * i + k] = 3 * v[3 * i + k];
		}
		floor_in_every_form(v, d, 1, N, steps, 2, out);
		assert_near(out[0][0], 0.6 * N, 1e-12);
	}
}

/* A step so small that adding it to the velocities changes nothing still has a slope. */
static void test_a_tiny_step(void **state)
{
	(void)state;
	enum { N = 64 };
	double v[3 * N] = {0}, d[3 * N] = {0}, out[2][MOST];
	const double steps[] = {1e-300};
	for (int i = 0; i < N; i++)
		d[3 * i] = 1e40;
	floor_in_every_form(v, d, 1e100, N, steps, 1, out);
	assert_true(out[1][0] > 0);
}

/* A direction much smaller than a rounding of eps_v matters if the step is correspondingly large. */
static void test_a_tiny_direction(void **state)
{
	(void)state;
	const struct fric_batch batch = floor_batch(two, 2, 2);
	const double t = 0x1p1023, direction[] = {3 * 0x1p-1024, 4 * 0x1p-1024, 0, 0, 0, 0};
	const struct result r = line_of(&batch, (double[6]){0}, direction, 1, &t);
	assert_ok(r.code);
	assert_near(r.potential[0], 2.5 + 1 / 3., 1e-15);
	assert_near(r.slope[0] * 0x1p1023, 2.5, 1e-14);
}

/* The line passes exactly through rest, where the slip is zero. */
static void test_cancellation(void **state)
{
	(void)state;
	const struct fric_batch batch = floor_batch(two, 2, 2);
	const double v[] = {3, -1, 0, 0.1, 0.7, 0}, d[] = {-3, 1, 0, -0.1, -0.7, 0}, one = 1;
	const struct result r = line_of(&batch, v, d, 1, &one);
	assert_ok(r.code);
	assert_near(r.potential[0], 2 / 3., 1e-15);
	assert_bits(fabs(r.slope[0]), 0);
}

static void test_overflow(void **state)
{
	(void)state;
	const struct fric_batch batch = floor_batch(two, 2, 2);
	const double huge = 0x1.8p1023, steps[] = {0, 1, 0x1p1023};
	struct result r = line_of(&batch, (double[]){0, 0, 0, huge, 0, 0}, (double[]){0, 0, 0, huge, 0, 0}, 2, steps);
	assert_code(r.code, FRIC_E_NOT_FINITE);
	assert_code(r.error.group, FRIC_PLANE_VERTEX);
	assert_int_equal(r.error.contact, 1);
	r = line_of(&batch, (double[6]){0}, (double[]){0, 4, 0, 4, 0, 0}, 3, steps);
	assert_code(r.code, FRIC_E_NOT_FINITE);
	assert_int_equal(r.error.contact, 0);
	r = line_of(&batch, (double[]){huge, 0, 0, huge, 0, 0}, (double[6]){0}, 1, steps);
	assert_code(r.code, FRIC_E_NOT_FINITE); /* each fits, but their sum does not */
	assert_int_equal(r.error.contact, -1);
	r = line_of(&batch, (double[]){4, 0, 0, 4, 0, 0}, (double[]){huge, 0, 0, huge, 0, 0}, 1, steps);
	assert_code(r.code, FRIC_E_NOT_FINITE); /* here the sum of the slopes overflows */
	assert_int_equal(r.error.contact, -1);
	r = line_of(&batch, (double[]){0, 0, 0, huge, huge, 0}, (double[]){huge, huge, 0, 0, 0, 0}, 2, steps);
	assert_code(r.code, FRIC_E_NOT_FINITE); /* contact 1 overflows at step 0, contact 0 at step 1 */
	assert_int_equal(r.error.contact, 0);
}

/* A skipped contact contributes nothing, whatever its velocity. */
static void test_skipped(void **state)
{
	(void)state;
	const double same[6] = {1, 1, 1, 1, 1, 1}, steps[] = {0, 1, 7};
	struct fric_batch batch = {.dim = 3, .n_vertices = 2, .positions = same, .skip_degenerate = true};
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5};
	batch.groups[FRIC_VERTEX_VERTEX] = (struct fric_group){.n = 1, .vertices = two, .normal_force = {&force_of_two, 0}};
	const struct result r =
		line_of(&batch, (double[]){0x1.8p1023, 0, 0, -0x1.8p1023, 0, 0}, (double[]){1, 2, 3, 4, 5, 6}, 3, steps);
	const double zero[3] = {0};
	assert_ok(r.code);
	assert_all_bits(r.potential, zero, 3);
	assert_all_near(r.slope, zero, 3, 0);
}

static void test_stop(void **state)
{
	(void)state;
	struct scene s;
	double *direction, potential, slope, one = 1;
	struct fric_error error;
	atomic_bool stop = true;
	scene_on_line(1, 3, &s, &direction);
	struct fric_contacts *c = prepared(&s.batch);
	const struct fric_context stopped = {.n_threads = 1, .stop = &stop};
	assert_code(fric_line(&stopped, c, query(s.velocities), direction, 1, &one, &potential, &slope, &error),
	            FRIC_E_STOPPED);
	fric_contacts_free(c);
	scene_free(&s);
}

/* Memory that raises the stop flag when it hands out a large block, and counts how much of it is written afterwards. */
struct stopping_memory {
	atomic_bool stop;
	size_t written;
};

static void *take_and_stop(void *pool, size_t bytes)
{
	struct stopping_memory *m = pool;
	char *block = malloc(bytes);
	memset(block, 0x5a, bytes);
	if (bytes > 8 << 20)
		atomic_store(&m->stop, true);
	return block;
}

static void give_and_count(void *pool, void *block, size_t bytes)
{
	struct stopping_memory *m = pool;
	for (size_t i = 0; i < bytes && bytes > 8 << 20; i++)
		m->written += ((char *)block)[i] != 0x5a;
	free(block);
}

/* The sums take 64 MB: once the flag is raised, no thread works through them. */
static void test_stopped_before_the_sums(void **state)
{
	(void)state;
	enum { N = 256 * 64, STEPS = 16000 };
	int32_t *vertices = calloc(N, sizeof(*vertices));
	double *steps = calloc(3 * STEPS, sizeof(*steps));
	const struct fric_batch batch = floor_batch(vertices, N, 1);
	struct fric_contacts *c = prepared(&batch);
	struct stopping_memory m = {.written = 0};
	const struct fric_memory memory = {take_and_stop, give_and_count, &m};
	const struct fric_context context = {.n_threads = 1, .stop = &m.stop, .memory = &memory};
	const double v[3] = {1, 2, 3};
	struct fric_error error;
	assert_code(fric_line(&context, c, query(v), v, STEPS, steps, steps + STEPS, steps + 2 * STEPS, &error),
	            FRIC_E_STOPPED);
	assert_true(atomic_load(&m.stop));
	assert_true(m.written <= 1 << 20);
	fric_contacts_free(c);
	free(vertices);
	free(steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_stopped_before_the_sums),
		cmocka_unit_test(test_no_steps),
		cmocka_unit_test(test_no_contacts),
		cmocka_unit_test(test_points_of_the_line),
		cmocka_unit_test(test_forms_agree),
		cmocka_unit_test(test_on_the_edge),
		cmocka_unit_test(test_a_tiny_step),
		cmocka_unit_test(test_a_tiny_direction),
		cmocka_unit_test(test_cancellation),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_skipped),
		cmocka_unit_test(test_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

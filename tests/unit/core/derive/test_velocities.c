/* Compares fric_jvp along velocities alone with the gradient of fric_evaluate and the product of
 * fric_hessian_products. */
#include "core/kernels/kernels.h"
#include "tests/property/scene.h"
#include "tests/share.h"
#include "tests/unit/core/batches.h"

/* Spans have every length. Contacts are in the order of the vertices or, for even seeds, in random order, with many or
 * few per vertex. */
static void make_scene(uint64_t seed, struct scene *s)
{
	struct rng rng = {seed};
	struct options o = random_options(&rng, seed % 5 ? 3 : 2);
	o.n_each = seed % 3 ? 1 + below(&rng, 140) : 700 + below(&rng, 200);
	o.n_vertices = seed % 3 ? 4 + below(&rng, 150) : 3000;
	o.reach = seed % 2 ? 4 + below(&rng, o.n_vertices < 30 ? 1 : 26) : 0;
	scene_create(s, &rng, o);
}

/* Expected results of a scene along a tangent: [n] each. */
struct expected {
	double potential, *gradient, *product;
	double derivative, size; /* gradient . tangent, and the sum of its absolute terms */
};

static struct expected expected_of(struct scene *s, const struct fric_contacts *c, const double *tangent)
{
	const size_t n = scene_ndof(s);
	const struct fric_query *asked = scene_query(c, s->velocities);
	struct expected e = {.gradient = scene_memory(s, n, sizeof(double)), .product = scene_memory(s, n, sizeof(double))};
	struct fric_error error;
	assert_ok(fric_evaluate(&serial, c, asked, &e.potential, e.gradient, &error));
	assert_ok(fric_hessian_products(&serial, c, asked, FRIC_PROJECT_NONE, 1, tangent, e.product, &error));
	for (size_t i = 0; i < n; i++) {
		e.derivative += e.gradient[i] * tangent[i];
		e.size += fabs(e.gradient[i] * tangent[i]);
	}
	return e;
}

static double largest_of(const double *x, size_t n)
{
	double largest = 0;
	for (size_t i = 0; i < n; i++)
		largest = fmax(largest, fabs(x[i]));
	return largest;
}

/* Without the potential, laws compute only what the gradient needs. */
static void check_gradient_alone(struct scene *s, const struct fric_contacts *c, const struct expected *e)
{
	double *alone = scene_memory(s, scene_ndof(s), sizeof(double));
	struct fric_error error;
	assert_ok(fric_evaluate(&serial, c, scene_query(c, s->velocities), NULL, alone, &error));
	assert_all_bits(alone, e->gradient, scene_ndof(s));
}

/* In every form and on any number of threads, results have the same bits as the first. */
static void check_forms(struct scene *s, const struct fric_contacts *c, double *tangent, const struct expected *e)
{
	static const char *const names[] = {"scalar", "baseline", "avx2", "avx512"};
	const size_t n = scene_ndof(s);
	const struct fric_derivation derivation = {
		.batch = &s->batch, .contacts = c, .query = scene_query(c, s->velocities), .slip_velocities = s->lagged};
	const struct fric_differential along = {.fields = {[FRIC_WRT_VELOCITIES] = tangent}};
	double *gradient = scene_memory(s, n, sizeof(double)), *product = scene_memory(s, n, sizeof(double));
	double *first = scene_memory(s, n + 1, sizeof(double)), potential, derivative;
	const double scale = largest_of(e->product, n);
	for (int k = 0; k < 12; k++) {
		const struct fric_context context = {
			.n_threads = 1 + k % 3, .parallel_from = 1, .kernels = fric_kernels_find(names[k / 3])};
		struct fric_error error;
		if (!context.kernels)
			continue;
		memset(product, 0x5a, n * sizeof(double));
		assert_ok(fric_jvp(&context, &derivation, &along, &potential, gradient, &derivative, product, &error));
		if (k == 0) {
			memcpy(first, product, n * sizeof(double));
			first[n] = derivative;
		}
		assert_bits(potential, e->potential);
		assert_all_bits(gradient, e->gradient, n);
		assert_all_bits(product, first, n);
		assert_all_near(product, e->product, n, 1e-13 * scale);
		assert_bits(derivative, first[n]);
		assert_near(derivative, e->derivative, 1e-12 * e->size);
	}
}

static void test_evaluation_and_product(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 90; seed += (uint64_t)step_sanitized(11)) { /* no divisor of the numbers above */
		struct scene s;
		struct rng rng = {seed + 1000};
		make_scene(seed, &s);
		struct fric_contacts *c = scene_contacts(&serial, &s);
		double *tangent = random_reals(&s, &rng, scene_ndof(&s), -1, 1);
		for (size_t i = 0; i < scene_ndof(&s); i++)
			tangent[i] *= (const double[]){1, 0, 1e-290, 1e200}[seed % 7 < 4 ? 0 : seed % 7 - 3];
		const struct expected e = expected_of(&s, c, tangent);
		check_gradient_alone(&s, c, &e);
		check_forms(&s, c, tangent, &e);
		scene_contacts_free(c);
		scene_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_evaluation_and_product),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

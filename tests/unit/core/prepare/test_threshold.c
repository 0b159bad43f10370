/* Whether a contact slides depends only on its slip and eps_v, not on how their ratio is rounded. */
#include "tests/share.h"
#include "tests/unit/core/check.h"

enum { N = 16 };

__extension__ typedef unsigned __int128 wide;

static const char *const names[] = {"scalar", "avx512", "avx2", "baseline"};

/* N vertices on floors, all with the same slip. */
struct floors {
	int dim;
	double slip[2], eps_v;
	enum fric_transition transition;
};

struct results {
	double potential, gradient[3 * N], inner[3 * N], status[N];
};

static void evaluate(const struct floors *f, const struct fric_kernels *kernels, struct results *r)
{
	const struct fric_context context = {.n_threads = 1, .kernels = kernels};
	const double basis[6] = {1, 0, 0, 1, 0, 0}, flat[2] = {1, 0}, force = 1;
	struct fric_batch batch = {.dim = f->dim, .n_vertices = N};
	struct fric_contacts *c;
	struct fric_error error;
	double velocities[3 * N] = {0};
	int32_t vertices[N];
	for (int32_t i = 0; i < N; i++) {
		vertices[i] = i;
		memcpy(velocities + i * f->dim, f->slip, sizeof(double) * (size_t)(f->dim - 1));
	}
	batch.friction =
		(struct fric_friction){{.transition = f->transition}, f->eps_v, FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.25};
	batch.groups[FRIC_PLANE_VERTEX] = (struct fric_group){
		.n = N, .vertices = vertices, .normal_force = {&force, 0}, .tangent_basis = {f->dim == 3 ? basis : flat, 0}};
	memset(r, 0, sizeof(*r));
	assert_ok(fric_prepare(&context, &batch, &c, &error));
	assert_ok(fric_evaluate(&context, c, query(velocities), &r->potential, r->gradient, &error));
	assert_ok(fric_hessian_inner(&context, c, query(velocities), FRIC_PROJECT_NONE, r->inner, &error));
	assert_ok(
		fric_contact_output(&context, c, query(velocities), FRIC_PLANE_VERTEX, FRIC_OUT_STATUS, r->status, &error));
	fric_contacts_free(c);
}

/* Results of the scalar form, after checking that all kernels return the same bits. */
static struct results agreed(const struct floors *f)
{
	struct results plain, r;
	evaluate(f, fric_kernels_find("scalar"), &plain);
	for (size_t k = 1; k < sizeof(names) / sizeof(names[0]); k++)
		if (fric_kernels_find(names[k])) {
			evaluate(f, fric_kernels_find(names[k]), &r);
			assert_all_bits(&r.potential, &plain.potential, sizeof(r) / sizeof(double));
		}
	return plain;
}

/* The slip is along the first column, so a00 is the eigenvalue along the slip. */
static void check_on_axis(const struct floors *f, bool slides)
{
	const struct results r = agreed(f);
	assert_bits(r.status[0], slides ? 1 : 0);
	if (slides)
		assert_bits(r.inner[0], 0);
	if (f->slip[0] == f->eps_v) {
		assert_bits(r.gradient[0], 0.25);
		assert_near(r.potential, N * 0.25 * f->eps_v, N * ulp(f->eps_v));
	}
}

static void test_at_eps_v(void **state)
{
	(void)state;
	for (int n = 1; n < 600; n += step_in_share(2, 7))
		for (int dim = 2; dim <= 3; dim++)
			for (enum fric_transition t = FRIC_CUBIC; t <= FRIC_QUADRATIC; t++) {
				const double below = nextafter(n, 0), above = nextafter(n, 1e9);
				check_on_axis(&(struct floors){dim, {n, 0}, n, t}, true);
				check_on_axis(&(struct floors){dim, {below, 0}, n, t}, false);
				check_on_axis(&(struct floors){dim, {above, 0}, n, t}, true);
			}
}

/* eps_v is so small or so large that kernels leave the contact to long double. */
static void test_at_extreme_eps_v(void **state)
{
	(void)state;
	for (int n = 1; n < 600; n += step_in_share(2, 7))
		for (int exponent = -1020; exponent <= 1010; exponent += 2030)
			for (int dim = 2; dim <= 3; dim++) {
				const double e = ldexp(n, exponent);
				check_on_axis(&(struct floors){dim, {e, 0}, e, FRIC_CUBIC}, true);
				check_on_axis(&(struct floors){dim, {nextafter(e, 0), 0}, e, FRIC_CUBIC}, false);
			}
}

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 12;
}

static wide square(uint64_t x)
{
	return (wide)x * x;
}

/* Components are integers below 2^52, whose squares decide exactly; eps_v is the double closest to the length of the
 * slip. */
static void test_near_eps_v(void **state)
{
	(void)state;
	uint64_t random = 1;
	for (int i = 0; i < 2000; i += step_in_share(3, 7)) {
		const uint64_t x = next(&random), y = next(&random) >> (i % 40);
		const uint64_t nearest = (uint64_t)llrintl(hypotl((long double)x, (long double)y));
		for (uint64_t e = nearest - 1; e <= nearest + 1; e++) {
			const struct floors f = {3, {(double)x, -(double)y}, (double)e, i % 2 ? FRIC_CUBIC : FRIC_QUADRATIC};
			const struct results r = agreed(&f);
			assert_bits(r.status[0], square(x) + square(y) >= square(e) ? 1 : 0);
			assert_near(hypot(r.gradient[0], r.gradient[1]), 0.25, 1e-15);
		}
	}
}

/* Slips exactly at the threshold, with two nonzero components. */
static void test_at_pythagorean_eps_v(void **state)
{
	(void)state;
	for (int m = 2; m < 60; m++)
		for (int n = 1; n < m; n++) {
			const double scale = n % 2 ? 3 : 1.0 / 1024, e = (m * m + n * n) * scale;
			const struct floors f = {3, {(m * m - n * n) * scale, 2 * m * n * scale}, e, FRIC_CUBIC};
			assert_bits(agreed(&f).status[0], 1);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_eps_v),
		cmocka_unit_test(test_at_extreme_eps_v),
		cmocka_unit_test(test_near_eps_v),
		cmocka_unit_test(test_at_pythagorean_eps_v),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

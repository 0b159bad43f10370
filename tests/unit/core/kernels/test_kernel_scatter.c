/* Gamma's transpose on every instruction set: whole, and part by part. */
#include "core/kernels/kernels.h"
#include "core/motion/scatter.h"
#include "tests/unit/core/motion/two.h"

static const char *const names[] = {"avx512", "avx2", "baseline"};

static void fill(double gradient[N_VERTICES * 3])
{
	for (int i = 0; i < N_VERTICES * 3; i++)
		gradient[i] = 100;
}

/* Sums of the part [first, last). */
static void scatter(const struct gamma *gamma, const struct two *t, int32_t first, int32_t last, double *gradient)
{
	struct scatter s = {&t->contacts, gamma, NULL, gradient, false, first, last, first, NULL};
	double forces[3][FRIC_SPAN] = {{0}};
	for (int d = 0; d < 3; d++)
		for (int i = 0; i < 2; i++)
			forces[d][i] = integers[3 * i + d + 1];
	fricp_scatter_reach(&s, t->span);
	fricp_scatter_columns(&s, t->span, forces[0]);
	assert_true(fricp_scatter_close(&s));
}

/* A part changes its own vertices alone, as the plain form does; both parts together give the whole. */
static void check_parts(const struct gamma *gamma, enum fric_type type, int32_t border)
{
	struct two t;
	double expected[N_VERTICES * 3], gradient[N_VERTICES * 3];
	make_two(&t, 3, type, 0.25, 0.5);
	scatter(NULL, &t, 0, N_VERTICES, expected);
	fill(gradient);
	scatter(gamma, &t, 0, border, gradient);
	assert_all_bits(gradient, expected, (size_t)(border * 3));
	for (int i = border * 3; i < N_VERTICES * 3; i++)
		assert_bits(gradient[i], 100);
	scatter(gamma, &t, border, N_VERTICES, gradient);
	assert_all_bits(gradient, expected, (size_t)(N_VERTICES * 3));
	scatter(gamma, &t, 0, N_VERTICES, gradient);
	assert_all_bits(gradient, expected, (size_t)(N_VERTICES * 3));
}

static void test_every_kernel(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		const struct fric_kernels *kernels = fric_kernels_find(names[k]);
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES && kernels; type++)
			for (int32_t border = 1; border < N_VERTICES; border++)
				check_parts(kernels->gamma, type, border);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_kernel)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

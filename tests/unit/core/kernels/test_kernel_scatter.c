/* Compares the transpose of Gamma on every instruction set with the plain form. */
#include "core/kernels/kernels.h"
#include "core/order/scatter.h"
#include "tests/unit/core/motion/two.h"

static const char *const names[] = {"avx512", "avx2", "baseline"};

static void scatter(const struct gamma *gamma, const struct two *t, double *gradient)
{
	const struct scatter s = {
		.context = &serial, .contacts = &t->contacts, .gamma = gamma, .sums = gradient, .width = 3, .apart = 1};
	const struct part all = {0, 0, 1};
	double forces[3][FRIC_SPAN] = {{0}};
	for (int d = 0; d < 3; d++)
		for (int i = 0; i < 2; i++)
			forces[d][i] = integers[3 * i + d + 1];
	fricp_scatter_reach(&s, all, 0);
	fricp_scatter_columns(&s, 0, forces[0]);
}

static void check(const struct gamma *gamma, enum fric_type type)
{
	struct two t;
	double expected[N_VERTICES * 3], gradient[N_VERTICES * 3];
	make_two(&t, 3, type, 0.25, 0.5);
	scatter(NULL, &t, expected);
	for (int i = 0; i < N_VERTICES * 3; i++)
		gradient[i] = 100;
	scatter(gamma, &t, gradient);
	assert_all_bits(gradient, expected, N_VERTICES * 3);
}

static void test_every_kernel(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		const struct fric_kernels *kernels = fric_kernels_find(names[k]);
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES && kernels; type++)
			check(kernels->gamma, type);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_kernel)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

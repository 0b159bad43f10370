/* The kernels' way of adding forces at vertices: whole, and part by part. */
#include "core/kernels/kernels.h"
#include "core/motion/scatter.h"
#include "tests/unit/core/motion/two.h"

static const char *const names[] = {"avx512", "avx2", "baseline"};

static void fill(double gradient[N_VERTICES * 3])
{
	for (int i = 0; i < N_VERTICES * 3; i++)
		gradient[i] = 100;
}

static void make_forces(struct workspace *work, struct two *t, double plain[N_VERTICES * 3])
{
	work->n = 2;
	for (int d = 0; d < 3; d++)
		for (int i = 0; i < 2; i++)
			work->force[d][i] = integers[3 * i + d + 1];
	fill(plain);
	fricp_scatter_columns(&t->contacts, t->span,
	                      (const double *const[]){work->force[0], work->force[1], work->force[2]}, plain);
}

/* A part changes its own vertices alone, as the plain form does; both parts together give the whole. */
static void check_parts(const struct fric_kernels *kernels, enum fric_type type, int32_t border)
{
	struct two t;
	struct workspace work = {0};
	double expected[N_VERTICES * 3], gradient[N_VERTICES * 3];
	make_two(&t, 3, type, 0.25, 0.5);
	make_forces(&work, &t, expected);
	fill(gradient);
	kernels->scatter_part(&t.contacts, type, 0, &work, 0, border, gradient);
	assert_all_bits(gradient, expected, (size_t)(border * 3));
	for (int i = border * 3; i < N_VERTICES * 3; i++)
		assert_bits(gradient[i], 100);
	kernels->scatter_part(&t.contacts, type, 0, &work, border, N_VERTICES, gradient);
	assert_all_bits(gradient, expected, (size_t)(N_VERTICES * 3));
}

static void check_whole(const struct fric_kernels *kernels, enum fric_type type)
{
	struct two t;
	struct workspace work = {0};
	double expected[N_VERTICES * 3], gradient[N_VERTICES * 3];
	make_two(&t, 3, type, 0.25, 0.5);
	make_forces(&work, &t, expected);
	fill(gradient);
	kernels->scatter(&t.contacts, type, 0, &work, gradient);
	assert_all_bits(gradient, expected, (size_t)(N_VERTICES * 3));
}

static void test_every_kernel(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		const struct fric_kernels *kernels = fric_kernels_find(names[k]);
		for (enum fric_type type = 0; type < FRIC_N_TYPES && kernels; type++) {
			check_whole(kernels, type);
			for (int32_t border = 1; border < N_VERTICES; border++)
				check_parts(kernels, type, border);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_kernel)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

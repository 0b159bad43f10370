/* Forces at vertices: the transpose of the relative velocity, from columns, from rows, and part by part. */
#include "core/motion/scatter.h"

#include "core/motion/stencil.h"
#include "tests/unit/core/motion/two.h"

static const double forces[2 * 3] = {2, -3, 5, -7, 11, 13}; /* rows; in 2D four of them */

static void fill(double gradient[N_VERTICES * 3])
{
	for (int i = 0; i < N_VERTICES * 3; i++)
		gradient[i] = 100;
}

static void scatter(const struct two *t, double gradient[N_VERTICES * 3])
{
	const int dim = t->contacts.dim;
	double columns[3][2] = {{0}};
	for (int i = 0; i < 2; i++)
		for (int d = 0; d < dim; d++)
			columns[d][i] = forces[i * dim + d];
	fill(gradient);
	fricp_scatter_columns(&t->contacts, t->span, (const double *const[]){columns[0], columns[1], columns[2]}, gradient);
}

/* g . v = sum of f . (Gamma v), and what was there stays. */
static void check_transpose(int dim, enum fric_type type)
{
	struct two t;
	double gradient[N_VERTICES * 3], relative[3], at_vertices = 0, at_contacts = 0;
	make_two(&t, dim, type, 0.25, 0.5);
	scatter(&t, gradient);
	for (int i = 0; i < N_VERTICES * dim; i++)
		at_vertices += (gradient[i] - 100) * integers[i];
	for (size_t i = 0; i < 2; i++) {
		relative_velocity(&t.contacts, type, i, integers, relative);
		for (int d = 0; d < dim; d++)
			at_contacts += forces[(int)i * dim + d] * relative[d];
	}
	assert_true(at_vertices == at_contacts);
	for (int i = 0; i < dim; i++)
		assert_bits(gradient[i], 100); /* vertex 0 has no contact */
}

static void check_rows(int dim, enum fric_type type)
{
	struct two t;
	double expected[N_VERTICES * 3], gradient[N_VERTICES * 3];
	make_two(&t, dim, type, 0.25, 0.5);
	scatter(&t, expected);
	fill(gradient);
	fricp_scatter_rows(&t.contacts, t.span, forces, gradient);
	assert_all_bits(gradient, expected, (size_t)(N_VERTICES * dim));
}

/* Each part changes its own vertices alone; together they give the whole. */
static void check_parts(int dim, enum fric_type type, int32_t border)
{
	struct two t;
	double expected[N_VERTICES * 3], gradient[N_VERTICES * 3];
	make_two(&t, dim, type, 0.25, 0.5);
	scatter(&t, expected);
	fill(gradient);
	fricp_scatter_rows_part(&t.contacts, t.span, forces, border, N_VERTICES, gradient);
	for (int i = 0; i < border * dim; i++)
		assert_bits(gradient[i], 100);
	assert_all_bits(gradient + border * dim, expected + border * dim, (size_t)((N_VERTICES - border) * dim));
	fricp_scatter_rows_part(&t.contacts, t.span, forces, 0, border, gradient);
	assert_all_bits(gradient, expected, (size_t)(N_VERTICES * dim));
}

static void test_scatter(void **state)
{
	(void)state;
	for (int dim = 2; dim <= 3; dim++)
		for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
			check_transpose(dim, type);
			check_rows(dim, type);
			for (int32_t border = 1; border < N_VERTICES; border++)
				check_parts(dim, type, border);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_scatter)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Forces at vertices: the transpose of the relative velocity, from columns, from rows, and part by part. */
#include "core/motion/scatter.h"

#include <math.h>

#include "core/motion/stencil.h"
#include "tests/unit/core/motion/two.h"

static const double forces[2 * 3] = {2, -3, 5, -7, 11, 13}; /* rows; in 2D four of them */

/* Sums of the part [first, last); what lies outside stays 100. */
static void scatter(const struct two *t, int32_t first, int32_t last, bool rows, double gradient[N_VERTICES * 3])
{
	struct scatter s = {&t->contacts, NULL, integers, gradient, false, first, last, first, NULL};
	const int dim = t->contacts.dim;
	double columns[3][FRIC_SPAN] = {{0}};
	for (int i = 0; i < 2 * dim; i++)
		columns[i % dim][i / dim] = forces[i];
	fricp_scatter_reach(&s, t->span);
	if (rows)
		fricp_scatter_rows(&s, t->span, forces);
	else
		fricp_scatter_columns(&s, t->span, columns[0]);
	assert_true(fricp_scatter_close(&s));
}

static void fill(double gradient[N_VERTICES * 3])
{
	for (int i = 0; i < N_VERTICES * 3; i++)
		gradient[i] = 100;
}

static void scatter_all(const struct two *t, double gradient[N_VERTICES * 3])
{
	fill(gradient);
	scatter(t, 0, N_VERTICES, false, gradient);
}

/* g . v = sum of f . (Gamma v) */
static void check_transpose(int dim, enum fric_type type)
{
	struct two t;
	double gradient[N_VERTICES * 3], relative[3], at_vertices = 0, at_contacts = 0;
	make_two(&t, dim, type, 0.25, 0.5);
	scatter_all(&t, gradient);
	for (int i = 0; i < N_VERTICES * dim; i++)
		at_vertices += gradient[i] * integers[i];
	for (size_t i = 0; i < 2; i++) {
		relative_velocity(&t.contacts, type, i, integers, relative);
		for (int d = 0; d < dim; d++)
			at_contacts += forces[(int)i * dim + d] * relative[d];
	}
	assert_true(at_vertices == at_contacts);
	for (int i = 0; i < dim; i++)
		assert_bits(gradient[i], 0); /* vertex 0 has no contact */
}

static void check_rows(int dim, enum fric_type type)
{
	struct two t;
	double expected[N_VERTICES * 3], gradient[N_VERTICES * 3];
	make_two(&t, dim, type, 0.25, 0.5);
	scatter_all(&t, expected);
	fill(gradient);
	scatter(&t, 0, N_VERTICES, true, gradient);
	assert_all_bits(gradient, expected, (size_t)(N_VERTICES * dim));
}

/* Each part changes its own vertices alone; together they give the whole. */
static void check_parts(int dim, enum fric_type type, int32_t border, bool rows)
{
	struct two t;
	double expected[N_VERTICES * 3], gradient[N_VERTICES * 3];
	make_two(&t, dim, type, 0.25, 0.5);
	scatter_all(&t, expected);
	fill(gradient);
	scatter(&t, border, N_VERTICES, rows, gradient);
	for (int i = 0; i < border * dim; i++)
		assert_bits(gradient[i], 100);
	assert_all_bits(gradient + border * dim, expected + border * dim, (size_t)((N_VERTICES - border) * dim));
	scatter(&t, 0, border, rows, gradient);
	assert_all_bits(gradient, expected, (size_t)(N_VERTICES * dim));
}

static void test_scatter(void **state)
{
	(void)state;
	for (int dim = 2; dim <= 3; dim++)
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
			check_transpose(dim, type);
			check_rows(dim, type);
			for (int32_t border = 1; border < N_VERTICES; border++) {
				check_parts(dim, type, border, false);
				check_parts(dim, type, border, true);
			}
		}
}

/* A vertex is set to zero once, before anything is added there. */
static void test_reaching_again_keeps_the_sums(void **state)
{
	(void)state;
	struct two t;
	double once[N_VERTICES * 3], twice[N_VERTICES * 3];
	make_two(&t, 3, FRIC_FACE_VERTEX, 0.25, 0.5);
	struct scatter s = {&t.contacts, NULL, NULL, twice, false, 0, N_VERTICES, 0, NULL};
	scatter_all(&t, once);
	for (int i = 0; i < 2; i++) {
		fricp_scatter_reach(&s, t.span);
		fricp_scatter_rows(&s, t.span, forces);
	}
	assert_true(fricp_scatter_close(&s));
	for (int i = 0; i < N_VERTICES * 3; i++)
		assert_bits(twice[i], 2 * once[i]);
}

/* Each sum in turn. Those of ordinary contacts are not looked at. */
static void test_sums_that_are_not_finite(void **state)
{
	(void)state;
	const double bad[] = {INFINITY, -INFINITY, NAN};
	struct two t;
	double gradient[N_VERTICES * 3];
	make_two(&t, 3, FRIC_FACE_VERTEX, 0.25, 0.5);
	for (int i = 0; i < N_VERTICES * 3; i++) {
		struct scatter s = {&t.contacts, NULL, NULL, gradient, false, 0, N_VERTICES, 0, NULL};
		scatter_all(&t, gradient);
		gradient[i] = bad[i % 3];
		s.opened = N_VERTICES;
		s.ordinary = false;
		assert_false(fricp_scatter_close(&s));
		s.ordinary = true;
		assert_true(fricp_scatter_close(&s));
	}
}

/* Vertices that no contact touches, of which there may be millions, are left alone once nobody wants the sums; what
 * they hold then is not judged. */
static void test_a_raised_flag_ends_zeros(void **state)
{
	(void)state;
	atomic_bool stop = true;
	const struct fric_context stopped = {.n_threads = 1, .stop = &stop};
	struct two t;
	double gradient[N_VERTICES * 3];
	make_two(&t, 3, FRIC_FACE_VERTEX, 0.25, 0.5);
	for (int i = 0; i < N_VERTICES * 3; i++)
		gradient[i] = INFINITY;
	struct scatter s = {.contacts = &t.contacts, .gradient = gradient, .last = N_VERTICES, .context = &stopped};
	assert_true(fricp_scatter_close(&s));
	for (int i = 0; i < N_VERTICES * 3; i++)
		assert_true(isinf(gradient[i]));
	atomic_store(&stop, false);
	s.opened = 0;
	assert_true(fricp_scatter_close(&s));
	for (int i = 0; i < N_VERTICES * 3; i++)
		assert_bits(gradient[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scatter), cmocka_unit_test(test_reaching_again_keeps_the_sums),
		cmocka_unit_test(test_a_raised_flag_ends_zeros), cmocka_unit_test(test_sums_that_are_not_finite)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

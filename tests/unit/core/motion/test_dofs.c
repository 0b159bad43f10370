/* DOFs are numbered vertex by vertex, and within a vertex axis by axis. */
#include "core/motion/dofs.h"

#include "tests/unit/core/motion/two.h"

static void test_vertices_follow_each_other(void **state)
{
	(void)state;
	for (int dim = 2; dim <= 3; dim++) {
		assert_int_equal(n_vertex_dofs(dim), dim);
		assert_int_equal(vertex_dof(dim, 0), 0);
		for (size_t v = 0; v < N_VERTICES; v++)
			assert_int_equal(vertex_dof(dim, v + 1), vertex_dof(dim, v) + (size_t)dim);
	}
	assert_true(vertex_dof(3, INT32_MAX) == 6442450941);
}

/* Each member's DOFs are those of its vertex, all below n_dofs. */
static void check_members(int dim, enum fric_type type)
{
	struct two t;
	make_two(&t, dim, type, 0.25, 0.5);
	assert_int_equal(n_dofs(&t.contacts), N_VERTICES * dim);
	for (size_t i = 0; i < 2; i++)
		for (int k = 0; k < FRIC_MAX_STENCIL; k++) {
			assert_int_equal(member_dof(&t.contacts, dim, type, k, i), t.vertices[k][i] * dim);
			assert_true(member_dof(&t.contacts, dim, type, k, i) + (size_t)n_member_dofs(dim, type) <=
			            n_dofs(&t.contacts));
		}
}

static void test_members(void **state)
{
	(void)state;
	for (int dim = 2; dim <= 3; dim++)
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
			assert_int_equal(n_member_dofs(dim, type), dim);
			check_members(dim, type);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_vertices_follow_each_other),
	                                   cmocka_unit_test(test_members)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

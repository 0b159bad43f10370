/* The differences and weights of a stencil are consistent. */
#include "core/motion/stencil.h"

#include "tests/unit/core/motion/two.h"

static void test_size(void **state)
{
	(void)state;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		assert_int_equal(stencil_size_of(type), fric_stencil_size(type));
}

/* A common motion of all vertices causes no slip, except against the world. */
static void test_weights_add_up(void **state)
{
	(void)state;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		double w[FRIC_MAX_STENCIL] = {0};
		stencil_weights(type, 0.25, 0.5, w);
		assert_bits((w[0] + w[1]) + (w[2] + w[3]), faces_world(type));
		for (int k = fric_stencil_size(type); k < FRIC_MAX_STENCIL; k++)
			assert_bits(w[k], 0);
	}
}

/* The weights as written in docs/physics.md: 1 - a and a, 1 - b and b, 1 - a - b. */
static void test_weights_of_each_type(void **state)
{
	(void)state;
	const double expected[FRIC_N_VERTEX_TYPES][FRIC_MAX_STENCIL] = {
		{1, -1, 7, 7}, {1, -0.75, -0.25, 7}, {0.75, 0.25, -0.5, -0.5}, {1, -0.25, -0.25, -0.5}, {1, 7, 7, 7}};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		double w[FRIC_MAX_STENCIL] = {7, 7, 7, 7};
		stencil_weights(type, 0.25, 0.5, w);
		assert_all_bits(w, expected[type], FRIC_MAX_STENCIL);
	}
}

/* The weight for a coordinate of zero has a sign: -0 if the member is on the second side. */
static void test_weights_of_zero(void **state)
{
	(void)state;
	const double expected[FRIC_MAX_STENCIL] = {1, 0, -1, -0.0};
	double w[FRIC_MAX_STENCIL];
	stencil_weights(FRIC_EDGE_EDGE, 0, 0, w);
	assert_all_bits(w, expected, FRIC_MAX_STENCIL);
}

/* The rows of both contacts of a type; the second contact may be skipped. */
static void check_rows(enum fric_type type, bool skips)
{
	struct two t;
	uint8_t skipped[2] = {FRIC_OK, skips ? FRIC_E_PARALLEL_EDGES : FRIC_OK};
	const size_t k = (size_t)fric_stencil_size(type);
	double rows[2 * FRIC_MAX_STENCIL + 1] = {[2 * FRIC_MAX_STENCIL] = 7};
	make_two(&t, 3, type, 0.25, 0.5);
	t.contacts.skipped = skipped;
	rows[2 * k] = 7;
	weight_rows(&t.contacts, type, 0, 2, rows);
	for (size_t i = 0; i < 2; i++) {
		double w[FRIC_MAX_STENCIL] = {0}, nothing[FRIC_MAX_STENCIL] = {0};
		contact_weights(&t.contacts, type, i, w);
		assert_all_bits(rows + i * k, skipped[i] ? nothing : w, k);
	}
	assert_bits(rows[2 * k], 7);
}

static void test_rows_of_weights(void **state)
{
	(void)state;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		check_rows(type, false);
		check_rows(type, true);
	}
}

static void check_relative(int dim, enum fric_type type)
{
	struct two t;
	double relative[3], w[FRIC_MAX_STENCIL] = {0};
	make_two(&t, dim, type, 0.25, 0.5);
	relative_velocity(&t.contacts, type, 0, integers, relative);
	stencil_weights(type, 0.25, 0.5, w);
	for (int d = 0; d < dim; d++) {
		double sum = 0;
		for (int k = 0; k < fric_stencil_size(type); k++)
			sum += w[k] * integers[t.vertices[k][0] * dim + d];
		assert_true(relative[d] == sum);
	}
}

static void test_relative_velocity_is_the_weighted_sum(void **state)
{
	(void)state;
	for (int dim = 2; dim <= 3; dim++)
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
			check_relative(dim, type);
}

/* The result is exactly zero whatever the closest point. With rounded weights it would not be. */
static void test_equal_velocities_give_zero(void **state)
{
	(void)state;
	double velocities[N_VERTICES * 3], relative[3];
	for (int i = 0; i < N_VERTICES * 3; i++)
		velocities[i] = 0.7;
	for (enum fric_type type = 0; type < FRIC_PLANE_VERTEX; type++) {
		struct two t;
		make_two(&t, 3, type, 0.1, 1.0 / 3);
		relative_velocity(&t.contacts, type, 0, velocities, relative);
		for (int d = 0; d < 3; d++)
			assert_true(relative[d] == 0);
	}
}

static void test_infinite_weights(void **state)
{
	(void)state;
	double a[] = {0.25, -1e308, -1.7e308, -1.7e308}, b[] = {0.5, 1e308, -1.7e308, -1.7e308};
	struct fric_contacts c = {.dim = 3, .n = 4, .closest_point = {a, b}};
	assert_int_equal(find_infinite_weight(&c, FRIC_FACE_VERTEX, 0, 4), 2);
	assert_int_equal(find_infinite_weight(&c, FRIC_FACE_VERTEX, 3, 4), 3);
	assert_int_equal(find_infinite_weight(&c, FRIC_FACE_VERTEX, 0, 2), 2);
	assert_int_equal(find_infinite_weight(&c, FRIC_EDGE_EDGE, 0, 4), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_weights_add_up),
		cmocka_unit_test(test_weights_of_each_type),
		cmocka_unit_test(test_weights_of_zero),
		cmocka_unit_test(test_rows_of_weights),
		cmocka_unit_test(test_relative_velocity_is_the_weighted_sum),
		cmocka_unit_test(test_equal_velocities_give_zero),
		cmocka_unit_test(test_infinite_weights),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

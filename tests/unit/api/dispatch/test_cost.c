/* The estimated cost grows with each part of the work. */
#include "api/dispatch/cost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MANY = 1000000 };

static void anything_makes_a_request_large(void **state)
{
	(void)state;
	const struct api_work nothing = {.contact_ns = API_COST_SUMS, .prints_text = true};
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		struct api_work work = nothing;
		work.n_contacts[type] = MANY;
		assert_true(api_work_is_large(&work));
	}
	struct api_work vertices = nothing, bodies = nothing, document = nothing, numbers = nothing, nodes = nothing;
	vertices.n_vertices = bodies.n_bodies = document.document_bytes = MANY;
	numbers.n_numbers = nodes.n_nodes = MANY;
	assert_false(api_work_is_large(&nothing));
	assert_true(api_work_is_large(&vertices) && api_work_is_large(&bodies) && api_work_is_large(&document));
	assert_true(api_work_is_large(&numbers) && api_work_is_large(&nodes));
}

static void everything_adds_up(void **state)
{
	(void)state;
	struct api_work work = {.contact_ns = API_COST_SUMS};
	struct fric_batch batch = {.n_vertices = 5, .n_bodies = 7};
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		batch.groups[type].n = type + 1;
	api_work_add_batch(&work, &batch);
	const uint64_t once = api_work_ns(&work);
	api_work_add_batch(&work, &batch);
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		assert_int_equal(work.n_contacts[type], 2 * (type + 1));
	assert_int_equal(work.n_vertices, 10);
	assert_int_equal(work.n_bodies, 14);
	assert_int_equal(api_work_ns(&work), 2 * once);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(anything_makes_a_request_large),
		cmocka_unit_test(everything_adds_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The estimated cost grows with each part of the work. */
#include "api/dispatch/cost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/sets/set.h"

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

/* A set costs as much as the batch that it was made from, and its document is read in addition. */
static void a_set_costs_as_much_as_its_batch(void **state)
{
	(void)state;
	static const double up[3] = {0, 0, 1}, force = 1, points[9] = {0};
	static const int32_t vertices[2] = {1, 2}, bodies[3] = {0, 1, 2};
	const struct fric_context context = {.n_threads = 1};
	const struct fric_values normal = {up, 0}, one = {&force, 0};
	struct fric_batch batch = {.dim = 3, .n_vertices = 50, .n_bodies = 3, .body_positions = points};
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 1, .mu_k = 1};
	batch.groups[FRIC_PLANE_VERTEX] =
		(struct fric_group){.n = 2, .vertices = vertices, .normal_force = one, .plane_normal = normal};
	batch.groups[FRIC_BODY_WORLD] =
		(struct fric_group){.n = 3, .vertices = bodies, .normal_force = one, .normal = normal, .point = normal};
	struct api_set set = {.facts = {.dim = 3, .n_vertices = 50, .n_bodies = 3}, .document = {.n = 1000}};
	struct fric_error error;
	assert_int_equal(fric_prepare(&context, &batch, &set.contacts, &error), FRIC_OK);

	struct api_work of_batch = {0}, of_set = {0}, of_document = {0};
	api_work_add_batch(&of_batch, &batch);
	api_work_add_set(&of_set, &set);
	assert_memory_equal(&of_set, &of_batch, sizeof of_set);
	api_work_add_document(&of_document, &set);
	assert_int_equal(of_document.contact_ns, API_COST_SUMS);
	assert_int_equal(of_document.document_bytes, 1000);
	of_document.contact_ns = of_document.document_bytes = 0;
	assert_memory_equal(&of_document, &of_batch, sizeof of_set);
	fric_contacts_free(set.contacts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(anything_makes_a_request_large),
		cmocka_unit_test(everything_adds_up),
		cmocka_unit_test(a_set_costs_as_much_as_its_batch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

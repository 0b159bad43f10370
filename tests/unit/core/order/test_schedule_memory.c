/* Each allocation for a schedule fails in turn. AddressSanitizer reports memory that is leaked after a failure. */
#include <stdlib.h>

static int n_before_failure; /* number of allocations that still succeed */

static void *failing_malloc(size_t size)
{
	return n_before_failure-- == 0 ? NULL : malloc(size);
}

static void *failing_aligned_alloc(size_t alignment, size_t size)
{
	return n_before_failure-- == 0 ? NULL : aligned_alloc(alignment, size);
}

#define malloc failing_malloc
#define aligned_alloc failing_aligned_alloc
#include "core/order/schedule.c"
#undef malloc
#undef aligned_alloc

#include "tests/unit/core/batches.h"

static const struct fric_context two = {.n_threads = 2, .parallel_from = 1};

static void test_create(void **state)
{
	(void)state;
	const struct fric_batch batch = corner_batch();
	struct fric_contacts *c = prepared(&batch);
	struct fric_schedule *made;
	struct fric_error error;
	for (int n = 0; n < 3; n++) {
		n_before_failure = n;
		assert_code(fric_schedule_create(&two, c, &made, &error), FRIC_E_MEMORY);
		assert_code(error.code, FRIC_E_MEMORY);
		assert_null(made);
	}
	n_before_failure = 3;
	assert_ok(fric_schedule_create(&two, c, &made, &error));
	assert_non_null(made);
	fric_schedule_free(made);
	fric_contacts_free(c);
}

/* A query without a schedule. */
static void test_evaluate(void **state)
{
	(void)state;
	const struct fric_batch batch = corner_batch();
	struct fric_contacts *c = prepared(&batch);
	const double v[24] = {1};
	double gradient[24];
	struct fric_error error;
	n_before_failure = 0;
	assert_code(fric_evaluate(&two, c, query(v), NULL, gradient, &error), FRIC_E_MEMORY);
	assert_int_equal(error.contact, -1);
	assert_ok(fric_evaluate(&two, c, query(v), NULL, gradient, &error));
	fric_contacts_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_create), cmocka_unit_test(test_evaluate)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

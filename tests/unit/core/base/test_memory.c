/* Every allocation fails in turn. The sources are included here with their allocators replaced, so the library's
 * objects of these files are not linked. AddressSanitizer reports memory that is leaked after a failure. */
#include <stdlib.h>

static int n_before_failure; /* number of allocations that still succeed */

static int fails(void)
{
	return n_before_failure-- == 0;
}

static void *failing_malloc(size_t size)
{
	return fails() ? NULL : malloc(size);
}

static void *failing_calloc(size_t n, size_t size)
{
	return fails() ? NULL : calloc(n, size);
}

static void *failing_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : aligned_alloc(alignment, size);
}

#define malloc failing_malloc
#define calloc failing_calloc
#define aligned_alloc failing_aligned_alloc
#include "core/assemble/pattern.c"
#include "core/assemble/evaluate.c"
#include "core/contacts/layout.c"
#define allocate allocate_state
#include "core/prepare/state.c"
#undef allocate
#undef malloc
#undef calloc
#undef aligned_alloc

#include "tests/unit/core/batches.h"

enum { PLENTY = 1000 };

static struct fric_contacts *corner_contacts(void)
{
	const struct fric_batch batch = corner_batch();
	n_before_failure = PLENTY;
	return prepared(&batch);
}

static void test_sizes_that_wrap(void **state)
{
	(void)state;
	n_before_failure = PLENTY;
	assert_null(memory_from_system(SIZE_MAX));
	assert_null(memory_from_system(SIZE_MAX - FRIC_HUGE_PAGE / 2));
	assert_int_equal(n_before_failure, PLENTY); /* refused before calling an allocator */
	void *block = memory_from_system(1);
	assert_non_null(block);
	free(block);
}

static void test_prepare(void **state)
{
	(void)state;
	const struct fric_batch batch = corner_batch();
	for (int n = 0;; n++) {
		struct fric_contacts *c;
		struct fric_error error;
		n_before_failure = n;
		const enum fric_code code = fric_prepare(&serial, &batch, &c, &error);
		if (code == FRIC_OK) {
			fric_contacts_free(c);
			assert_true(n >= 2);
			return;
		}
		assert_code(code, FRIC_E_MEMORY);
		assert_code(error.code, FRIC_E_MEMORY);
		assert_int_equal(error.contact, -1);
		assert_null(c);
	}
}

static void test_evaluate(void **state)
{
	(void)state;
	struct fric_contacts *c = corner_contacts();
	const double v[24] = {0};
	double potential, gradient[24];
	struct fric_error error;
	enum fric_code code = FRIC_E_MEMORY;
	int n = -1;
	while (code == FRIC_E_MEMORY) {
		n_before_failure = ++n;
		code = fric_evaluate(&serial, c, query(v), &potential, gradient, &error);
		assert_code(error.code, FRIC_E_MEMORY);
	}
	assert_ok(code);
	assert_true(n >= 1);
	fric_contacts_free(c);
}

static void test_state(void **state)
{
	(void)state;
	static const double ellipse[2] = {1, 2}, v[24] = {0};
	struct fric_batch batch = corner_batch();
	struct fric_state *made;
	struct fric_error error;
	enum fric_code code = FRIC_E_MEMORY;
	int n = -1;
	batch.groups[FRIC_EDGE_EDGE].mu_s_aniso = one_value(ellipse);
	n_before_failure = PLENTY;
	struct fric_contacts *c = prepared(&batch);
	while (code == FRIC_E_MEMORY) {
		n_before_failure = ++n;
		code = fric_state_create(&serial, c, v, &made, &error);
		assert_true(code == FRIC_OK || made == NULL);
		assert_code(error.code, FRIC_E_MEMORY);
		assert_int_equal(error.contact, -1);
	}
	assert_ok(code);
	assert_int_equal(n, 2);
	fric_state_free(made);
	fric_contacts_free(c);
}

static void test_pattern(void **state)
{
	(void)state;
	struct fric_contacts *c = corner_contacts();
	struct fric_pattern *p;
	struct fric_error error;
	enum fric_code code = FRIC_E_MEMORY;
	int n = -1;
	while (code == FRIC_E_MEMORY) {
		n_before_failure = ++n;
		code = fric_pattern_create(&serial, c, FRIC_FULL, &p, &error);
		assert_true(code == FRIC_OK || p == NULL);
		assert_code(error.code, FRIC_E_MEMORY);
	}
	assert_ok(code);
	assert_true(n >= 4);
	fric_pattern_free(p);
	fric_contacts_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes_that_wrap), cmocka_unit_test(test_prepare),
	                                   cmocka_unit_test(test_evaluate), cmocka_unit_test(test_state),
	                                   cmocka_unit_test(test_pattern)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

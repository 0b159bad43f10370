/* The division of contacts into spans. */
#include "core/contacts/span.h"

#include "tests/unit/core/check.h"

/* Groups that end within spans and chunks, an empty group, and one that fills whole chunks. */
static const struct fric_contacts cut = {.n = 5000, .start = {0, 100, 100, 100 + FRIC_SPAN, 4 * FRIC_CHUNK, 5000}};

static void test_spans_of_a_chunk(void **state)
{
	(void)state;
	const struct span expected[] = {{FRIC_VERTEX_VERTEX, 64, 0},
	                                {FRIC_VERTEX_VERTEX, 36, 64},
	                                {FRIC_EDGE_EDGE, 64, 100},
	                                {FRIC_FACE_VERTEX, 64, 164}};
	size_t at = 0;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct span span = next_span(&cut, at, FRIC_CHUNK);
		assert_int_equal(span.type, expected[i].type);
		assert_int_equal(span.begin, expected[i].begin);
		assert_int_equal(span.n, expected[i].n);
		at += span.n;
	}
	assert_int_equal(next_span(&cut, 164, 170).n, 6);
	assert_int_equal(next_span(&cut, 100, 150).n, 50);
}

/* No span crosses a group or a chunk, and each has its own slot, in order. */
static void test_slots(void **state)
{
	(void)state;
	size_t at = 0, n_slots = 0;
	while (at < cut.n) {
		const struct span span = span_at(&cut, at);
		assert_int_equal(span.begin, at);
		assert_in_range(span.n, 1, FRIC_SPAN);
		assert_int_equal(contact_type(&cut, at + span.n - 1), span.type);
		assert_int_equal((at + span.n - 1) / FRIC_CHUNK, at / FRIC_CHUNK);
		assert_true(span_slot(span) >= n_slots);
		n_slots = span_slot(span) + 1;
		at += span.n;
	}
	assert_int_equal(at, cut.n);
	assert_true(n_slots <= span_slots(cut.n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_spans_of_a_chunk), cmocka_unit_test(test_slots)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

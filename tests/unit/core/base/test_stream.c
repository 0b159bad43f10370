#include "core/base/stream.h"

#include "tests/unit/core/check.h"

enum { ROOM = 8192 };

static void fill(char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)(1 + i % 101);
}

/* All n bytes have arrived at `at`, and nothing around them has changed. */
static void check_room(const char *room, size_t at, const char *expected, size_t n)
{
	char untouched[ROOM];
	memset(untouched, 0x5a, sizeof(untouched));
	assert_memory_equal(room + at, expected, n);
	assert_memory_equal(room, untouched, at);
	assert_memory_equal(room + at + n, untouched, ROOM - at - n);
}

/* Source and destination may be at any position in a cache line. */
static void test_every_place(void **state)
{
	(void)state;
	enum { MOST = 300 };
	_Alignas(STREAM_LINE) char room[ROOM];
	char from[MOST + 16];
	fill(from, sizeof(from));
	for (size_t shift = 0; shift < STREAM_LINE; shift++)
		for (size_t skipped = 0; skipped < 16; skipped += 5)
			for (size_t n = 0; n <= MOST; n += 1 + n / 70) {
				memset(room, 0x5a, sizeof(room));
				stream_bytes(room + shift, from + skipped, n);
				stream_end();
				check_room(room, shift, from + skipped, n);
			}
}

/* Bytes written beyond the end of a delivery are ignored if the stage has room for them. */
static void deliver(struct stage *stage, const char *from, size_t n, size_t surplus)
{
	char *place = stage_place(stage);
	memcpy(place, from, n);
	memset(place + n, 0x33, surplus);
	stage_deliver(stage, n);
}

static void test_stages_begin_anywhere(void **state)
{
	(void)state;
	static const size_t sizes[] = {0, 1, 4, 63, 64, 65, 200, 8, 0, 300, 128, 1900, 3, 1936, 700};
	_Alignas(STREAM_LINE) char room[ROOM];
	char from[ROOM];
	struct stage stage;
	fill(from, sizeof(from));
	for (size_t shift = 0; shift < 2 * STREAM_LINE; shift++)
		for (size_t n_deliveries = 0; n_deliveries <= sizeof(sizes) / sizeof(sizes[0]); n_deliveries++) {
			size_t n = 0;
			memset(room, 0x5a, sizeof(room));
			stage_open(&stage, room + shift);
			for (size_t i = 0; i < n_deliveries && shift + n + sizes[i] <= ROOM; n += sizes[i++])
				deliver(&stage, from + n, sizes[i], 48);
			stage_close(&stage);
			stream_end();
			check_room(room, shift, from, n);
		}
}

/* Deliveries of the maximum size, and cache lines shared by two stages. */
static void test_neighbours(void **state)
{
	(void)state;
	enum { EACH = STAGE_MOST };
	_Alignas(STREAM_LINE) static char room[3 * EACH], from[3 * EACH];
	struct stage stages[3];
	fill(from, sizeof(from));
	const size_t begins[4] = {0, EACH - 7, 2 * EACH - 31, 3 * EACH - 100};
	for (int s = 0; s < 3; s++) {
		stage_open(&stages[s], room + begins[s]);
		deliver(&stages[s], from + begins[s], begins[s + 1] - begins[s], 0);
	}
	for (int s = 2; s >= 0; s--)
		stage_close(&stages[s]);
	stream_end();
	assert_memory_equal(room, from, begins[3]);
	for (size_t i = begins[3]; i < sizeof(room); i++)
		assert_int_equal(room[i], 0);
}

static void test_sizes_that_are_streamed(void **state)
{
	(void)state;
	const struct fric_context usual = {0}, low = {.stream_from = 10};
	assert_false(streams(&usual, 1000, 1000));
	assert_false(streams(&low, 10, 1000));
#ifdef __SSE2__
	assert_true(streams(&usual, 1001, 1000));
	assert_true(streams(&low, 11, 1000));
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_place),
		cmocka_unit_test(test_stages_begin_anywhere),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_sizes_that_are_streamed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "core/stream.h"

#include "tests/unit/core/check.h"

/* To and from any place in a line; nothing around it changes. */
static void test_every_place(void **state)
{
	(void)state;
	enum { MOST = 70, ROOM = 90 };
	_Alignas(64) char room[ROOM * sizeof(double) + 64];
	double from[MOST + 8];
	for (int i = 0; i < MOST + 8; i++)
		from[i] = i + 0.5;
	for (size_t shift = 0; shift < 64; shift += sizeof(double))
		for (size_t skipped = 0; skipped < 3; skipped++)
			for (size_t n = 0; n <= MOST; n++) {
				memset(room, 0x5a, sizeof(room));
				stream_doubles((double *)(void *)(room + shift), from + skipped, n);
				stream_end();
				for (size_t i = 0; i < sizeof(room); i++)
					if (i < shift || i >= shift + n * sizeof(double))
						assert_int_equal(room[i], 0x5a);
				assert_memory_equal(room + shift, from + skipped, n * sizeof(double));
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_place)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

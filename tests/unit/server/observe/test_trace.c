#include "server/observe/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"

static void test_valid(void **state)
{
	(void)state;
	static const struct {
		const char *value;
		bool sampled;
	} cases[] = {
		{"00-" TRACE "-" PARENT "-01", true},
		{"00-" TRACE "-" PARENT "-00", false},
		{"00-" TRACE "-" PARENT "-fe", false}, /* unknown flags are not passed on */
		{"00-" TRACE "-" PARENT "-03", true},
		{"01-" TRACE "-" PARENT "-01", true}, /* later versions begin like this one */
		{"cc-" TRACE "-" PARENT "-01-what-comes-then", true},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct srv_trace trace;
		assert_true(srv_trace_read(cases[i].value, &trace));
		assert_string_equal(trace.trace_id, TRACE);
		assert_string_equal(trace.parent_id, PARENT);
		assert_int_equal(trace.sampled, cases[i].sampled);
		assert_int_equal(strspn(trace.span_id, "0123456789abcdef"), SRV_SPAN_ID);
		assert_string_not_equal(trace.span_id, PARENT);
	}
}

static void test_invalid(void **state)
{
	(void)state;
	static const char *const values[] = {
		NULL,
		"",
		"0",
		"00",
		"00-",
		"00-" TRACE,
		"00-" TRACE "-" PARENT,
		"00-" TRACE "-" PARENT "-",
		"00-" TRACE "-" PARENT "-0",
		"00-" TRACE "-" PARENT "-011",
		"00-" TRACE "-" PARENT "-01-",
		"00-" TRACE "-" PARENT "-01-more",
		"00-" TRACE "-" PARENT "-01 ",
		" 00-" TRACE "-" PARENT "-01",
		"ff-" TRACE "-" PARENT "-01",
		"cc-" TRACE "-" PARENT "-01.",
		"0x-" TRACE "-" PARENT "-01",
		"00-00000000000000000000000000000000-" PARENT "-01",
		"00-" TRACE "-0000000000000000-01",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-" PARENT "-01",
		"00-" TRACE "-00F067AA0BA902B7-01",
		"00-" TRACE "-" PARENT "-0g",
		"00-" TRACE "-" PARENT "-0A",
		"00_" TRACE "-" PARENT "-01",
		"00-" TRACE "_" PARENT "-01",
		"00-" TRACE "-" PARENT "_01",
		"00-4bf92f3577b34da6a3ce929d0e0e473-" PARENT "-010",
		"00-" TRACE "-" PARENT "-01,00-" TRACE "-" PARENT "-01",
		"00-\xff"
		"bf92f3577b34da6a3ce929d0e0e4736-" PARENT "-01",
	};
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		struct srv_trace trace;
		memset(&trace, 'x', sizeof trace);
		if (srv_trace_read(values[i], &trace))
			fail_msg("accepted: '%s'", values[i]);
		assert_string_equal(trace.trace_id, "");
		assert_string_equal(trace.span_id, "");
	}
}

static void test_written(void **state)
{
	(void)state;
	char text[SRV_TRACEPARENT + 1], expected[SRV_TRACEPARENT + 1];
	for (int sampled = 0; sampled < 2; sampled++) {
		struct srv_trace trace, again;
		snprintf(text, sizeof text, "00-" TRACE "-" PARENT "-%s", sampled ? "01" : "00");
		assert_true(srv_trace_read(text, &trace));
		srv_trace_write(&trace, text);
		snprintf(expected, sizeof expected, "00-" TRACE "-%s-%s", trace.span_id, sampled ? "01" : "00");
		assert_string_equal(text, expected);
		assert_true(srv_trace_read(text, &again));
		assert_string_equal(again.parent_id, trace.span_id);
		assert_string_not_equal(again.span_id, trace.span_id);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

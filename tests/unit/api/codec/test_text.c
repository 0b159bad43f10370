/* Positions of faults in a text, and stopping. */
#include "api/codec/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/base/account.h"

static void texts_tell_line_and_column(void **unused)
{
	(void)unused;
	struct api_fault fault = {0}, large = {0};
	const struct api_text_fault text = {
		.code = API_E_MALFORMED_JSON, .status = 400, .offset = 9, .line = 3, .column = 5, .detail = "malformed"};
	const struct api_text_fault values = {.code = API_E_TOO_MANY_VALUES, .status = 413, .detail = "too many"};
	assert_false(api_fault_text(&fault, &text));
	assert_int_equal(fault.status, 400);
	assert_string_equal(fault.errors[0].pointer, "");
	assert_non_null(strstr(fault.errors[0].detail, "line 3"));
	assert_non_null(strstr(fault.errors[0].detail, "column 5"));
	api_fault_text(&large, &values);
	assert_true(large.status == 413 && large.n_errors == 0);
}

static void a_value_at_fault_is_a_second_place(void **unused)
{
	(void)unused;
	struct api_fault fault = {0};
	const struct api_text_fault text = {.code = API_E_NAN_IN_JSON,
	                                    .status = 400,
	                                    .line = 1,
	                                    .column = 2,
	                                    .detail = "NaN is not JSON",
	                                    .pointer = "/a/0"};
	assert_false(api_fault_text(&fault, &text));
	assert_int_equal(fault.n_errors, 2);
	assert_string_equal(fault.errors[0].pointer, "");
	assert_string_equal(fault.errors[1].pointer, "/a/0");
	assert_string_equal(fault.errors[1].detail, fault.errors[0].detail);
}

static void the_place_of_a_fault_is_kept(void **unused)
{
	(void)unused;
	static const char bytes[] = "[1, x]";
	struct api_text_fault fault = {0};
	struct api_text text = {.begin = bytes, .end = bytes + strlen(bytes), .fault = &fault};
	assert_false(api_text_fail(&text, API_E_MALFORMED_JSON, bytes + 4, "a value expected"));
	assert_true(fault.status == 400 && fault.offset == 4);
	assert_string_equal(fault.detail, "a value expected");
	assert_false(api_text_refuse(&text, API_E_TOO_MANY_VALUES, bytes, "more than %d values", 7));
	assert_true(fault.status == 413 && fault.offset == 0);
	assert_string_equal(fault.detail, "more than 7 values");
}

static void looks_ahead_as_far_as_a_token_is_long(void **unused)
{
	(void)unused;
	static char bytes[2 * (2 * API_LOOK_BYTES + API_MAX_TOKEN)];
	struct api_text_fault fault = {0};
	struct api_text text = {.begin = bytes, .end = bytes + sizeof(bytes), .fault = &fault};
	assert_true(api_text_look(&text, bytes));
	assert_int_equal(text.look - bytes, API_LOOK_BYTES);
	assert_int_equal(text.reach - bytes, 2 * API_LOOK_BYTES + API_MAX_TOKEN);
	assert_true(api_text_look(&text, text.end - 5));
	assert_true(text.look == text.end && text.reach == text.end);
}

static void a_stop_ends_reading_and_stays(void **unused)
{
	(void)unused;
	static const char bytes[] = "[1]";
	const atomic_bool stop = true;
	struct api_account account;
	struct api_text_fault fault = {0};
	struct api_text text = {.begin = bytes, .end = bytes + 3, .fault = &fault};
	api_account_open(&account, NULL, &stop, 0);
	assert_false(api_text_look(&text, bytes));
	assert_int_equal(fault.status, 503);
	assert_false(api_text_fail(&text, API_E_MALFORMED_JSON, bytes, "later"));
	assert_int_equal(fault.status, 503);
	api_account_close(&account);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_tell_line_and_column),    cmocka_unit_test(a_value_at_fault_is_a_second_place),
		cmocka_unit_test(the_place_of_a_fault_is_kept),  cmocka_unit_test(looks_ahead_as_far_as_a_token_is_long),
		cmocka_unit_test(a_stop_ends_reading_and_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

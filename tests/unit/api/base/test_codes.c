/* The list of error codes. */
#include "api/base/codes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void names_are_plain_and_differ(void **unused)
{
	(void)unused;
	for (enum api_code code = API_NO_CODE + 1; code < API_N_CODES; code++) {
		const char *name = api_code_name(code);
		assert_true(*name && strspn(name, "abcdefghijklmnopqrstuvwxyz_") == strlen(name));
		assert_string_equal(api_code_names[code - 1], name);
		for (enum api_code other = API_NO_CODE + 1; other < code; other++)
			assert_string_not_equal(name, api_code_name(other));
	}
	assert_null(api_code_names[API_N_CODES - 1]);
}

static void statuses_ascend(void **unused)
{
	(void)unused;
	int before = 400;
	for (enum api_code code = API_NO_CODE + 1; code < API_N_CODES; code++) {
		const int status = api_code_status(code);
		assert_true(status >= before && status < 600);
		const enum api_code first = api_code_of_status(status);
		assert_int_equal(api_code_status(first), status);
		assert_true(first <= code);
		before = status;
	}
	assert_int_equal(api_code_of_status(200), API_NO_CODE);
}

static void invalid_codes_have_status_500(void **unused)
{
	(void)unused;
	static const int none[] = {API_NO_CODE, API_N_CODES, -1, 422};
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(api_code_status((enum api_code)none[i]), 500);
		assert_string_equal(api_code_name((enum api_code)none[i]), "internal_error");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_plain_and_differ),
		cmocka_unit_test(statuses_ascend),
		cmocka_unit_test(invalid_codes_have_status_500),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "api/base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void knows_utf8(void **unused)
{
	(void)unused;
	assert_true(api_is_utf8("") && api_is_utf8("plain") && api_is_utf8("\xc3\xa9\xf0\x9f\x98\x80"));
	static const char *const broken[] = {"\xff", "a\xc3",       "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
	                                     "\x80", "\xe0\x80\x80"};
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		assert_false(api_is_utf8(broken[i]));
}

static void replaces_invalid_utf8(void **unused)
{
	(void)unused;
	static const struct {
		const char *text, *mended;
	} cases[] = {
		{"", ""},
		{"caf\xc3\xa9", "caf\xc3\xa9"},
		{"caf\xc3", "caf?"},
		{"\xff"
	     "a",
	     "?a"},
		{"\xe2\x82", "?"},
		{"\x80\x80"
	     "b",
	     "?b"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[16];
		strcpy(text, cases[i].text);
		api_mend_utf8(text);
		assert_string_equal(text, cases[i].mended);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(knows_utf8), cmocka_unit_test(replaces_invalid_utf8)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

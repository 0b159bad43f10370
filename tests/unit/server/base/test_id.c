#include "server/base/id.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_ids(void **state)
{
	(void)state;
	char text[SRV_MAX_ID + 2];
	memset(text, 'a', sizeof text);
	text[SRV_MAX_ID + 1] = '\0';
	assert_false(srv_sane_id(text));
	text[SRV_MAX_ID] = '\0';
	assert_true(srv_sane_id(text));
	assert_true(srv_sane_id("Az09._-:/+=@"));
	assert_false(srv_sane_id(""));
	assert_false(srv_sane_id("a b"));
	assert_false(srv_sane_id("a\"b"));
	assert_false(srv_sane_id("\xc3\xa9"));
	char first[SRV_MAX_ID + 1], second[SRV_MAX_ID + 1];
	srv_new_id(first);
	srv_new_id(second);
	assert_int_equal(strspn(first, "0123456789abcdef"), 32);
	assert_int_equal(strlen(first), 32);
	assert_string_not_equal(first, second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_ids)};
	return cmocka_run_group_tests_name("id", tests, NULL, NULL);
}

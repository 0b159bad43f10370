/* The files compiled into the program. */
#include "api/pages/assets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void has_whole_files(void **unused)
{
	(void)unused;
	const struct api_asset *page = api_asset_find("/");
	assert_non_null(page);
	char file[1 << 16];
	FILE *in = popen("scripts/strip_web web/index.html", "r");
	assert_non_null(in);
	const size_t n = fread(file, 1, sizeof file, in);
	assert_int_equal(pclose(in), 0);
	assert_int_equal(page->end - page->bytes, n);
	assert_memory_equal(page->bytes, file, n);
}

static void finds_exact_paths(void **unused)
{
	(void)unused;
	static const char *const nowhere[] = {"", "/index.html", "/explorer/", "/explorer/explorer.js/",
	                                      "explorer/explorer.js"};
	assert_non_null(api_asset_find("/explorer/explorer.js"));
	for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++)
		assert_null(api_asset_find(nowhere[i]));
}

static void tags_tell_bytes_apart(void **unused)
{
	(void)unused;
	static const char abc[] = "abc";
	char whole[API_ETAG], part[API_ETAG], none[API_ETAG];
	api_asset_tag(&(struct api_asset){"", "", abc, abc + 3}, whole);
	api_asset_tag(&(struct api_asset){"", "", abc, abc + 2}, part);
	api_asset_tag(&(struct api_asset){"", "", abc, abc}, none);
	assert_string_equal(whole, "\"e71fa2190541574b\""); /* as published for FNV-1a of "abc" */
	assert_string_not_equal(whole, part);
	assert_string_equal(none, "\"cbf29ce484222325\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_whole_files),
		cmocka_unit_test(finds_exact_paths),
		cmocka_unit_test(tags_tell_bytes_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

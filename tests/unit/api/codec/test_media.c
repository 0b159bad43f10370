/* Media types in Content-Type and Accept. */
#include "api/codec/media.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char json[] = "application/json";

static void compares_types(void **unused)
{
	(void)unused;
	static const struct {
		const char *header;
		bool is;
	} cases[] = {
		{"application/json", true},
		{"Application/JSON", true},
		{" application/json ", true},
		{"application/json;charset=utf-8", true},
		{"application/json ; charset=\"utf-8\"", true},
		{"application/json;", true},
		{"\tapplication/json\t;x", true},
		{"application/jsonx", false},
		{"application/jso", false},
		{"application/problem+json", false},
		{"json", false},
		{"", false},
		{";", false},
		{"*/*", false},
		{"application/*", false},
		{"application /json", false},
		{"text/plain;application/json", false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (api_media_is(cases[i].header, json) != cases[i].is)
			fail_msg("\"%s\"", cases[i].header);
	assert_false(api_media_is(NULL, json));
}

static void weighs_accept(void **unused)
{
	(void)unused;
	static const struct {
		const char *accept;
		double quality;
	} cases[] = {
		{"application/json", 1},
		{"APPLICATION/json", 1},
		{"*/*", 1},
		{"application/*", 1},
		{"text/html", 0},
		{"text/*", 0},
		{"application/json;q=0.5", 0.5},
		{"application/json; q=0.5", 0.5},
		{"application/json;Q=0.25", 0.25},
		{"application/json;q=0", 0},
		{"application/json;q=0.000", 0},
		{"application/json;charset=utf-8;q=0.7", 0.7},
		{"*/*;q=0.1, application/json", 1},
		{"application/json;q=0.2, */*", 0.2},
		{"*/*, application/json;q=0", 0},
		{"application/*;q=0.3,*/*;q=0.9", 0.3},
		{"*/*;q=0.9,application/*;q=0.3", 0.3},
		{"text/html, application/xml;q=0.9, */*;q=0.8", 0.8},
		{" text/html ,\tapplication/json ; q=0.4 ", 0.4},
		{"application/jso", 0},
		{"application/jsonx", 0},
		{"applicatio/*", 0},
		{"application/**", 0},
		{"application/j", 0},
		{"*", 0},
		{"*/json", 0},
		{",,application/json,", 1},
		{"application/json;q=5", 1},
		{"application/json;q=1e9", 1},
		{"application/json;q=-1", 0},
		{"application/json;q=nan", 0},
		{"application/json;q=x", 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (api_media_quality(cases[i].accept, json) != cases[i].quality)
			fail_msg("\"%s\": %g", cases[i].accept, api_media_quality(cases[i].accept, json));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compares_types),
		cmocka_unit_test(weighs_accept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

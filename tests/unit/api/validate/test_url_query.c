/* Reading queries as documents. */
#include "api/validate/url_query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct api_rule all[] = {{.name = "y", .kind = API_REALS},
                                      {.name = "mu", .kind = API_REALS},
                                      {.name = "other", .kind = API_REALS, .types = 2},
                                      {.name = "word", .kind = API_WORD},
                                      {.name = "flag", .kind = API_BOOL}};
static const struct api_object rules = {.rules = all, .n_rules = 5, .type = 0};

/* A query under test, freed whether it was read or not. */
struct url_query {
	struct api_arena arena;
	struct api_document document;
	struct api_fault fault;
	bool ok;
};

static struct url_query read_url_query(const char *text)
{
	struct url_query q = {0};
	q.ok = api_url_query_document(text, &rules, &q.arena, &q.document, &q.fault);
	assert_int_equal(q.ok, q.fault.status == 0);
	return q;
}

static void free_url_query(struct url_query *q)
{
	json_decref(q->document.root);
	api_arena_free(&q->arena);
}

static const struct api_array *array_of(const struct url_query *q, const char *name)
{
	return api_document_array(&q->document, json_object_get(q->document.root, name));
}

static void decodes_escapes(void **unused)
{
	(void)unused;
	static const struct {
		const char *text, *decoded;
	} cases[] = {
		{"", ""},
		{"plain", "plain"},
		{"%41", "A"},
		{"a%2Fb%2fc", "a/b/c"},
		{"%25%32%35", "%25"},
		{"%C3%a9", "\xc3\xa9"},
		{"1+2", "1+2"},
		{"%", NULL},
		{"%4", NULL},
		{"%zz", NULL},
		{"%4z", NULL},
		{"%z4", NULL},
		{"x%00", NULL},
		{"%-1", NULL},
		{"% 1", NULL},
		{"%%41", NULL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[32];
		strcpy(text, cases[i].text);
		assert_int_equal(api_percent_decode(text), cases[i].decoded != NULL);
		if (cases[i].decoded)
			assert_string_equal(text, cases[i].decoded);
	}
}

static void reads_numbers_words_and_lists(void **unused)
{
	(void)unused;
	struct url_query q = read_url_query("y=1&mu=0.5,-2e3,+4&word=cubic&flag=true");
	assert_true(q.ok);
	const struct api_array *y = array_of(&q, "y"), *mu = array_of(&q, "mu");
	assert_true(y->rank == 1 && y->shape[0] == 1 && y->n == 1 && *(const double *)y->data == 1);
	assert_true(mu->rank == 1 && mu->n == 3 && mu->shape[0] == 3);
	assert_memory_equal(mu->data, ((const double[]){0.5, -2000, 4}), 3 * sizeof(double));
	assert_string_equal(json_string_value(json_object_get(q.document.root, "word")), "cubic");
	assert_true(json_is_true(json_object_get(q.document.root, "flag")));
	free_url_query(&q);
}

static void one_number_is_a_list_only_for_the_first_parameter(void **unused)
{
	(void)unused;
	struct url_query q = read_url_query("mu=3&y=4");
	assert_true(q.ok);
	assert_int_equal(array_of(&q, "mu")->rank, 0);
	assert_int_equal(array_of(&q, "y")->rank, 1);
	free_url_query(&q);
}

static void decodes_before_it_compares_but_after_it_splits(void **unused)
{
	(void)unused;
	struct url_query q = read_url_query("%79=1%2C2&word=a%26b%3Dc");
	assert_true(q.ok);
	assert_int_equal(array_of(&q, "y")->n, 2);
	assert_string_equal(json_string_value(json_object_get(q.document.root, "word")), "a&b=c");
	free_url_query(&q);
}

static void skips_empty_parameters(void **unused)
{
	(void)unused;
	static const char *const texts[] = {"", "&", "&&&"};
	for (size_t i = 0; i < 3; i++) {
		struct url_query q = read_url_query(texts[i]);
		assert_true(q.ok);
		assert_int_equal(json_object_size(q.document.root), 0);
		free_url_query(&q);
	}
}

/* Unknown names must be kept, so that the validation reports them. */
static void keeps_unknown_parameters(void **unused)
{
	(void)unused;
	struct url_query q = read_url_query("nu=1,x&=2&%C3%A9");
	assert_true(q.ok);
	assert_string_equal(json_string_value(json_object_get(q.document.root, "nu")), "1,x");
	assert_string_equal(json_string_value(json_object_get(q.document.root, "")), "2");
	assert_non_null(json_object_get(q.document.root, "\xc3\xa9"));
	free_url_query(&q);
}

static void names_the_place_of_a_fault(void **unused)
{
	(void)unused;
	static const struct {
		const char *text;
		int status;
		const char *pointer;
	} cases[] = {
		{"y=", 422, "/y/0"},
		{"y", 422, "/y/0"},
		{"y=a", 422, "/y/0"},
		{"y=1,", 422, "/y/1"},
		{"y=,1", 422, "/y/0"},
		{"y=1,,2", 422, "/y/1"},
		{"y=1 ", 422, "/y/0"},
		{"y=01", 422, "/y/0"},
		{"y=1.", 422, "/y/0"},
		{"y=.5", 422, "/y/0"},
		{"y=++1", 422, "/y/0"},
		{"y=+-1", 422, "/y/0"},
		{"y=+", 422, "/y/0"},
		{"y=nan", 422, "/y/0"},
		{"y=inf", 422, "/y/0"},
		{"y=0x1", 422, "/y/0"},
		{"y=1e999", 422, "/y/0"},
		{"y=1,2,-1e999", 422, "/y/2"},
		{"mu=1,x", 422, "/mu/1"},
		{"y=1&y=1", 422, "/y"},
		{"nu=1&nu=1", 422, "/nu"},
		{"y=1&%79=1", 422, "/y"},
		{"a/b=1&a/b=1", 422, "/a~1b"},
		{"y=%", 400, ""},
		{"y=%zz", 400, ""},
		{"%4=1", 400, ""},
		{"y=1%00", 400, ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct url_query q = read_url_query(cases[i].text);
		if (q.ok)
			fail_msg("%s is accepted", cases[i].text);
		assert_int_equal(q.fault.status, cases[i].status);
		assert_int_equal(q.fault.n_errors, 1);
		assert_string_equal(q.fault.errors[0].pointer, cases[i].pointer);
		free_url_query(&q);
	}
}

static void refuses_what_is_no_utf8(void **unused)
{
	(void)unused;
	static const char *const texts[] = {"word=%FF", "%FF=1", "word=%C3", "nu=%ED%A0%80", "y=%FF"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct url_query q = read_url_query(texts[i]);
		assert_false(q.ok);
		assert_true(q.fault.status == 422 || q.fault.status == 400);
		free_url_query(&q);
	}
}

static void reads_long_lists(void **unused)
{
	(void)unused;
	enum { N = 20000 };
	static char text[2 * N + 8] = "y=";
	for (size_t i = 0; i < N; i++)
		memcpy(text + 2 + 2 * i, "7,", 2);
	text[2 + 2 * N - 1] = '\0';
	struct url_query q = read_url_query(text);
	assert_true(q.ok);
	assert_int_equal(array_of(&q, "y")->n, N);
	assert_true(((const double *)array_of(&q, "y")->data)[N - 1] == 7);
	free_url_query(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_escapes),
		cmocka_unit_test(reads_numbers_words_and_lists),
		cmocka_unit_test(one_number_is_a_list_only_for_the_first_parameter),
		cmocka_unit_test(decodes_before_it_compares_but_after_it_splits),
		cmocka_unit_test(skips_empty_parameters),
		cmocka_unit_test(keeps_unknown_parameters),
		cmocka_unit_test(names_the_place_of_a_fault),
		cmocka_unit_test(refuses_what_is_no_utf8),
		cmocka_unit_test(reads_long_lists),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

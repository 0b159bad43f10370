/* Faults and their rendering as problem+json. */
#include "api/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

static const struct api_path root;

/* The problem parsed as JSON; the caller drops the reference. */
static json_t *problem_of(struct api_response *response)
{
	assert_string_equal(response->content_type, "application/problem+json");
	assert_non_null(response->body);
	json_t *problem = json_loadb(response->body, response->body_bytes, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(problem);
	assert_int_equal(json_integer_value(json_object_get(problem, "status")), response->status);
	assert_true(json_is_string(json_object_get(problem, "type")));
	assert_string_equal(json_string_value(json_object_get(problem, "title")), api_status_title(response->status));
	assert_true(json_is_string(json_object_get(problem, "detail")));
	assert_true(json_is_array(json_object_get(problem, "errors")));
	api_response_free(response);
	return problem;
}

static json_t *render(const struct api_fault *fault)
{
	struct api_response response = {0};
	api_fault_response(fault, NULL, &response);
	return problem_of(&response);
}

static const char *error_member(const json_t *problem, size_t i, const char *name)
{
	return json_string_value(json_object_get(json_array_get(json_object_get(problem, "errors"), i), name));
}

static void points(void **unused)
{
	(void)unused;
	static const struct {
		const char *key, *pointer;
	} cases[] = {
		{"mu", "/outer/mu/7"},  {"a/b", "/outer/a~1b/7"},      {"a~b", "/outer/a~0b/7"},
		{"~1", "/outer/~01/7"}, {"/", "/outer/~1/7"},          {"", "/outer//7"},
		{" ", "/outer/ /7"},    {"\"\\\n", "/outer/\"\\\n/7"}, {"\xc3\xa9", "/outer/\xc3\xa9/7"},
		{"%s", "/outer/%s/7"},  {"0", "/outer/0/7"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct api_fault fault = {0};
		const struct api_path outer = {&root, "outer", 0}, key = {&outer, cases[i].key, 0}, index = {&key, NULL, 7};
		assert_false(api_fault_at(&fault, API_E_WRONG_TYPE, &index, "wrong"));
		json_t *problem = render(&fault);
		assert_string_equal(error_member(problem, 0, "pointer"), cases[i].pointer);
		json_decref(problem);
	}
}

static void points_to_the_root(void **unused)
{
	(void)unused;
	struct api_fault fault = {0};
	api_fault_at(&fault, API_E_MALFORMED_JSON, &root, "wrong");
	assert_string_equal(fault.errors[0].pointer, "");
	assert_int_equal(fault.n_errors, 1);
}

static void points_to_large_indices(void **unused)
{
	(void)unused;
	struct api_fault fault = {0};
	const struct api_path index = {&root, NULL, SIZE_MAX};
	api_fault_at(&fault, API_E_WRONG_TYPE, &index, "wrong");
	assert_string_equal(fault.errors[0].pointer, "/18446744073709551615");
}

/* Half a key would point to another place, or end within a character. */
static void a_key_that_does_not_fit_is_left_out_whole(void **unused)
{
	(void)unused;
	char key[API_MAX_POINTER + 8];
	for (size_t n = API_MAX_POINTER - 12; n < sizeof(key); n++) {
		struct api_fault fault = {0};
		memset(key, '~', n);
		key[n] = '\0';
		const struct api_path outer = {&root, "outer", 0}, inner = {&outer, key, 0}, below = {&inner, "below", 0};
		api_fault_at(&fault, API_E_WRONG_TYPE, &below, "wrong");
		assert_string_equal(fault.errors[0].pointer, "/outer");
		json_decref(render(&fault));
	}
	for (size_t n = API_MAX_POINTER - 12; n < sizeof(key); n++) {
		struct api_fault fault = {0};
		memset(key, 'k', n);
		key[n] = '\0';
		const struct api_path outer = {&root, "outer", 0}, inner = {&outer, key, 0};
		api_fault_at(&fault, API_E_WRONG_TYPE, &inner, "wrong");
		assert_true(strlen(fault.errors[0].pointer) == strlen("/outer/") + n ||
		            !strcmp(fault.errors[0].pointer, "/outer"));
	}
}

/* The longest pointer leaves room only for the terminating zero; with one more character, the last key is left out. */
static void the_longest_pointer_is_whole(void **unused)
{
	(void)unused;
	enum { LONGEST = API_MAX_POINTER - 1 };
	char key[API_MAX_POINTER + 1];
	for (size_t more = 0; more < 2; more++) {
		const size_t n = LONGEST - strlen("/outer/") + more;
		struct api_fault fault = {0};
		memset(&fault.errors, 'x', sizeof fault.errors);
		memset(key, 'k', n);
		key[n] = '\0';
		const struct api_path outer = {&root, "outer", 0}, inner = {&outer, key, 0};
		api_fault_at(&fault, API_E_WRONG_TYPE, &inner, "wrong");
		assert_int_equal(strlen(fault.errors[0].pointer), more ? strlen("/outer") : LONGEST);
		json_decref(render(&fault));
	}
}

/* Messages are cut at fixed lengths, at their ends and at "%.200s" in their middle, but never within a character. */
static void messages_are_valid_utf8_wherever_they_are_cut(void **unused)
{
	(void)unused;
	static const char *const characters[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9d\x9c\x87"};
	for (size_t c = 0; c < 3; c++)
		for (size_t before = 190; before < 204; before++) {
			char key[API_MAX_DETAIL * 2] = "";
			memset(key, 'x', before);
			for (size_t at = before; at + 5 < sizeof(key); at += strlen(characters[c]))
				strcpy(key + at, characters[c]);
			struct api_fault fault = {0}, whole = {0};
			api_fault_at(&fault, API_E_WRONG_TYPE, &root, "unknown field \"%.200s\", and more", key);
			api_fault_at(&fault, API_E_WRONG_TYPE, &root, "%s", key);
			api_fault_set(&whole, API_E_UNKNOWN_PATH, "nothing at \"%.200s\"", key);
			json_t *problem = render(&fault);
			assert_int_equal(json_array_size(json_object_get(problem, "errors")), 2);
			assert_non_null(strstr(error_member(problem, 0, "detail"), "xxxx"));
			assert_non_null(strstr(error_member(problem, 0, "detail"), "and more"));
			json_decref(problem);
			json_decref(render(&whole));
		}
}

static void foreign_bytes_do_not_empty_a_problem(void **unused)
{
	(void)unused;
	static const char *const bytes[] = {
		"\xff", "a\xffz", "\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80\x80\x80\x80\x80", "\xc0\xaf"};
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		struct api_fault fault = {0}, whole = {0};
		const struct api_path place = {&root, bytes[i], 0};
		api_fault_at(&fault, API_E_WRONG_TYPE, &place, "\"%s\" is wrong", bytes[i]);
		api_fault_set(&whole, API_E_UNKNOWN_PATH, "there is nothing at \"%s\"", bytes[i]);
		json_t *problem = render(&fault);
		assert_int_equal(json_array_size(json_object_get(problem, "errors")), 1);
		json_decref(problem);
		problem = render(&whole);
		assert_non_null(strstr(json_string_value(json_object_get(problem, "detail")), "there is nothing at"));
		json_decref(problem);
	}
}

static void control_characters_survive(void **unused)
{
	(void)unused;
	struct api_fault fault = {0};
	api_fault_set(&fault, API_E_UNKNOWN_PATH, "%s", "a\"b\\c\n\x01\x7f");
	json_t *problem = render(&fault);
	assert_string_equal(json_string_value(json_object_get(problem, "detail")), "a\"b\\c\n\x01\x7f");
	json_decref(problem);
}

static void errors_of_one_status(void **unused)
{
	(void)unused;
	struct api_fault fault = {0};
	const struct api_path a = {&root, "a", 0}, b = {&root, "b", 0}, c = {&root, "c", 0};
	api_fault_at(&fault, API_E_WRONG_TYPE, &a, "first");
	api_fault_at(&fault, API_E_MALFORMED_JSON, &c, "of another kind");
	api_fault_set(&fault, API_E_OUT_OF_MEMORY, "too late");
	api_fault_at(&fault, API_E_NOT_FINITE, &b, "second");
	assert_int_equal(fault.status, 422);
	json_t *problem = render(&fault);
	assert_int_equal(json_array_size(json_object_get(problem, "errors")), 2);
	assert_string_equal(error_member(problem, 0, "pointer"), "/a");
	assert_string_equal(error_member(problem, 1, "pointer"), "/b");
	assert_string_equal(error_member(problem, 1, "detail"), "second");
	assert_string_equal(json_string_value(json_object_get(problem, "detail")), "first");
	assert_string_equal(json_string_value(json_object_get(problem, "code")), "wrong_type");
	json_decref(problem);
}

static void there_is_room_for_so_many(void **unused)
{
	(void)unused;
	struct api_fault fault = {0};
	for (size_t i = 0; i < 2 * API_MAX_ERRORS; i++) {
		const struct api_path entry = {&root, NULL, i};
		assert_int_equal(api_fault_is_full(&fault), i >= API_MAX_ERRORS);
		api_fault_at(&fault, API_E_NOT_FINITE, &entry, "%zu", i);
	}
	json_t *problem = render(&fault);
	assert_int_equal(json_array_size(json_object_get(problem, "errors")), API_MAX_ERRORS);
	assert_string_equal(error_member(problem, API_MAX_ERRORS - 1, "pointer"), "/15");
	json_decref(problem);
}

static void codes_are_types(void **unused)
{
	(void)unused;
	for (enum api_code code = API_NO_CODE + 1; code < API_N_CODES; code++) {
		struct api_response response;
		char type[64];
		api_problem(code, NULL, &response);
		json_t *problem = problem_of(&response);
		snprintf(type, sizeof(type), "/errors/%s", api_code_name(code));
		assert_string_equal(json_string_value(json_object_get(problem, "type")), type);
		assert_string_equal(json_string_value(json_object_get(problem, "code")), api_code_name(code));
		json_decref(problem);
	}
}

static void faults_without_a_place_have_no_errors(void **unused)
{
	(void)unused;
	struct api_fault fault = {0};
	assert_false(api_fault_set(&fault, API_E_BODY_TOO_LONG, "longer than %d", 7));
	json_t *problem = render(&fault);
	assert_int_equal(json_array_size(json_object_get(problem, "errors")), 0);
	assert_string_equal(json_string_value(json_object_get(problem, "detail")), "longer than 7");
	json_decref(problem);
}

static void contacts_are_named(void **unused)
{
	(void)unused;
	for (enum fric_code code = FRIC_E_NOT_FINITE; code <= FRIC_E_NEGATIVE_COEFFICIENT; code++) {
		struct api_fault fault = {0};
		const struct fric_error error = {code, FRIC_FACE_VERTEX, 12345678901};
		assert_false(api_fault_core(&fault, &error));
		assert_int_equal(fault.status, 422);
		assert_string_equal(fault.errors[0].pointer, "/collisions/face_vertex/vertices/12345678901");
		assert_non_null(strstr(fault.errors[0].detail, fric_reason(code)));
		assert_string_equal(api_code_name(fault.code), code == FRIC_E_NOT_FINITE ? "overflow" : fric_reason(code));
		json_decref(render(&fault));
	}
}

static void sums_name_no_contact(void **unused)
{
	(void)unused;
	struct api_fault fault = {0};
	api_fault_core(&fault, &(struct fric_error){FRIC_E_NOT_FINITE, FRIC_VERTEX_VERTEX, -1});
	assert_int_equal(fault.status, 422);
	assert_string_equal(fault.errors[0].pointer, "/collisions");
}

static void lack_of_memory_is_a_503(void **unused)
{
	(void)unused;
	static const enum fric_code codes[] = {FRIC_E_MEMORY, FRIC_E_STOPPED};
	for (size_t i = 0; i < 2; i++) {
		struct api_fault fault = {0};
		struct api_response response = {0};
		api_fault_core(&fault, &(struct fric_error){codes[i], FRIC_VERTEX_VERTEX, -1});
		assert_int_equal(fault.status, 503);
		api_fault_response(&fault, "id-1", &response);
		assert_int_equal(response.n_headers, 1);
		assert_string_equal(response.headers[0].name, "Retry-After");
		json_t *problem = problem_of(&response);
		assert_string_equal(json_string_value(json_object_get(problem, "request_id")), "id-1");
		json_decref(problem);
	}
}

static void the_request_id_is_named_in_500s_only(void **unused)
{
	(void)unused;
	struct api_fault fault = {0};
	struct api_response response = {0};
	api_fault_set(&fault, API_E_UNKNOWN_PATH, "nothing there");
	api_fault_response(&fault, "id-2", &response);
	json_t *problem = problem_of(&response);
	assert_null(json_object_get(problem, "request_id"));
	json_decref(problem);
}

static void problems_of_the_server(void **unused)
{
	(void)unused;
	for (enum api_code code = API_NO_CODE + 1; code < API_N_CODES; code++)
		for (int with_detail = 0; with_detail < 2; with_detail++) {
			struct api_response response;
			memset(&response, 0xAB, sizeof(response)); /* random previous contents */
			const int status = api_code_status(code);
			api_problem(code, with_detail ? "why" : NULL, &response);
			assert_int_equal(response.status, status);
			assert_int_equal(response.n_headers, status == 503);
			assert_string_not_equal(api_status_title(status), "Error");
			json_t *problem = problem_of(&response);
			const char *detail = json_string_value(json_object_get(problem, "detail"));
			assert_string_equal(detail, with_detail ? "why" : api_status_title(status));
			json_decref(problem);
		}
	assert_non_null(api_status_title(799));
}

static void headers_have_an_end(void **unused)
{
	(void)unused;
	struct api_response response = {0};
	char value[400];
	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	for (int i = 0; i < API_MAX_HEADERS + 2; i++)
		api_response_add_header(&response, "X-Long", value);
	assert_int_equal(response.n_headers, API_MAX_HEADERS);
	assert_int_equal(strlen(response.headers[API_MAX_HEADERS - 1].value), 255);
	api_response_free(&response);
	api_response_free(&response);
}

static void faults_of_the_service_have_an_id(void **unused)
{
	(void)unused;
	for (int status = 422; status < 504; status++) {
		const struct api_fault fault = {.status = status};
		struct api_response response = {0};
		api_fault_response(&fault, "id-1", &response);
		json_t *problem = problem_of(&response);
		const char *id = json_string_value(json_object_get(problem, "request_id"));
		assert_true(status < 500 ? !id : id && !strcmp(id, "id-1"));
		json_decref(problem);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points),
		cmocka_unit_test(points_to_the_root),
		cmocka_unit_test(points_to_large_indices),
		cmocka_unit_test(a_key_that_does_not_fit_is_left_out_whole),
		cmocka_unit_test(the_longest_pointer_is_whole),
		cmocka_unit_test(messages_are_valid_utf8_wherever_they_are_cut),
		cmocka_unit_test(foreign_bytes_do_not_empty_a_problem),
		cmocka_unit_test(control_characters_survive),
		cmocka_unit_test(codes_are_types),
		cmocka_unit_test(errors_of_one_status),
		cmocka_unit_test(there_is_room_for_so_many),
		cmocka_unit_test(faults_without_a_place_have_no_errors),
		cmocka_unit_test(contacts_are_named),
		cmocka_unit_test(faults_of_the_service_have_an_id),
		cmocka_unit_test(sums_name_no_contact),
		cmocka_unit_test(lack_of_memory_is_a_503),
		cmocka_unit_test(the_request_id_is_named_in_500s_only),
		cmocka_unit_test(problems_of_the_server),
		cmocka_unit_test(headers_have_an_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Completing answers. */
#include "api/dispatch/answer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/problem.h"

static const double reals[] = {1, -2.5, 1e300, -0.0, 5e-324, 6};
static const int32_t integers[] = {0, -7, INT32_MAX};

/* An answer under construction. */
struct answer {
	struct api_arena arena;
	struct api_render render;
	struct api_fault fault;
	struct api_response response;
};

static json_t *begin(struct answer *a)
{
	*a = (struct answer){0};
	assert_true(api_render_start(&a->render, &a->arena));
	return a->render.document.root;
}

static bool end(struct answer *a, size_t max_bytes)
{
	const bool ok = api_answer_print(&a->render, API_JSON, max_bytes, &a->fault, &a->response);
	assert_null(a->render.document.root);
	assert_null(a->render.document.arrays);
	api_arena_free(&a->arena);
	return ok;
}

static void is_printed_as(struct answer *a, const char *expected)
{
	assert_true(end(a, 1 << 20));
	assert_int_equal(a->response.status, 200);
	assert_string_equal(a->response.content_type, "application/json");
	assert_int_equal(a->response.body_bytes, strlen(expected));
	assert_memory_equal(a->response.body, expected, strlen(expected));
	api_response_free(&a->response);
}

static void prints_scalars(void **unused)
{
	(void)unused;
	struct answer a;
	json_t *root = begin(&a);
	api_render_integer(&a.render, root, "n", 0);
	api_render_integer(&a.render, root, "large", INT64_MIN);
	api_render_number(&a.render, root, "potential", 3);
	api_render_number(&a.render, root, "tiny", -5e-324);
	api_render_add(&a.render, root, "word", json_string("1 [2] \"3\""));
	is_printed_as(
		&a, "{\"n\":0,\"large\":-9223372036854775808,\"potential\":3.0,\"tiny\":-5e-324,\"word\":\"1 [2] \\\"3\\\"\"}");
}

static void prints_shapes(void **unused)
{
	(void)unused;
	struct answer a;
	json_t *root = begin(&a);
	api_render_add(&a.render, root, "flat", api_render_array(&a.render, API_F64, reals, 4, 0, 0));
	api_render_add(&a.render, root, "rows", api_render_array(&a.render, API_F64, reals, 3, 2, 0));
	api_render_add(&a.render, root, "columns", api_render_array(&a.render, API_F64, reals, 3, 1, 0));
	api_render_add(&a.render, root, "matrices", api_render_array(&a.render, API_F64, reals, 1, 3, 2));
	api_render_add(&a.render, root, "integers", api_render_array(&a.render, API_I32, integers, 3, 0, 0));
	is_printed_as(&a, "{\"flat\":[1.0,-2.5,1e+300,-0.0],\"rows\":[[1.0,-2.5],[1e+300,-0.0],[5e-324,6.0]],"
	                  "\"columns\":[[1.0],[-2.5],[1e+300]],\"matrices\":[[[1.0,-2.5],[1e+300,-0.0],[5e-324,6.0]]],"
	                  "\"integers\":[0,-7,2147483647]}");
}

static void prints_empty_arrays(void **unused)
{
	(void)unused;
	struct answer a;
	json_t *root = begin(&a);
	api_render_add(&a.render, root, "a", api_render_array(&a.render, API_F64, reals, 0, 0, 0));
	api_render_add(&a.render, root, "b", api_render_array(&a.render, API_I32, integers, 0, 4, 0));
	api_render_add(&a.render, root, "c", api_render_array(&a.render, API_F64, reals, 0, 3, 2));
	is_printed_as(&a, "{\"a\":[],\"b\":[],\"c\":[]}");
}

static void prints_inner_objects_and_lists(void **unused)
{
	(void)unused;
	struct answer a;
	json_t *root = begin(&a), *inner = json_object(), *list = json_array();
	api_render_add(&a.render, root, "inner", inner);
	api_render_integer(&a.render, inner, "index", 3);
	api_render_add(&a.render, root, "list", list);
	is_printed_as(&a, "{\"inner\":{\"index\":3},\"list\":[]}");
}

/* The list of arrays grows while there are already marks into it. */
static void holds_many_arrays(void **unused)
{
	(void)unused;
	enum { N = 1000 };
	struct answer a;
	json_t *root = begin(&a);
	char name[16];
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "k%d", i);
		api_render_integer(&a.render, root, name, i);
	}
	assert_true(end(&a, 1 << 20));
	json_t *read = json_loadb(a.response.body, a.response.body_bytes, 0, NULL);
	assert_non_null(read);
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "k%d", i);
		assert_int_equal(json_integer_value(json_object_get(read, name)), i);
	}
	json_decref(read);
	api_response_free(&a.response);
}

static void a_failure_sticks(void **unused)
{
	(void)unused;
	struct answer a;
	json_t *root = begin(&a);
	api_render_add(&a.render, root, "gone", api_render_array(&a.render, API_F64, NULL, 3, 0, 0));
	assert_true(a.render.failed);
	api_render_integer(&a.render, root, "n", 1);
	assert_false(end(&a, 1 << 20));
	assert_int_equal(a.fault.status, 503);
	assert_null(a.response.body);
	assert_int_equal(a.response.body_bytes, 0);
}

static void an_answer_has_a_longest_length(void **unused)
{
	(void)unused;
	static const char text[] = "{\"a\":[1.0,-2.5,1e+300]}";
	for (size_t max_bytes = 0; max_bytes < sizeof(text) + 2; max_bytes++) {
		struct answer a;
		json_t *root = begin(&a);
		api_render_add(&a.render, root, "a", api_render_array(&a.render, API_F64, reals, 3, 0, 0));
		const bool fits = max_bytes >= sizeof(text) - 1;
		assert_int_equal(end(&a, max_bytes), fits);
		assert_int_equal(a.fault.status, fits ? 0 : 413);
		assert_int_equal(a.response.body != NULL, fits);
		api_response_free(&a.response);
	}
}

/* A long response may wait for its reader. It is counted as its own length, without the room that was reserved for it
 * and without the memory of the computation. */
static void is_charged_with_what_is_there(void **unused)
{
	enum { N = 1 << 20 };
	(void)unused;
	for (int format = API_JSON; format <= API_FRAME; format++) {
		struct api_budget budget = {.most_bytes = 1 << 30};
		struct api_pool *pool = api_pool_create(1 << 30, &budget);
		struct answer a = {.arena = {.pool = pool}};
		assert_true(api_render_start(&a.render, &a.arena));
		double *zeros = api_arena_array(&a.arena, N, sizeof(*zeros));
		assert_non_null(api_arena_array(&a.arena, 4 * N, sizeof(double)));
		memset(zeros, 0, N * sizeof(*zeros));
		api_render_add(&a.render, a.render.document.root, "a", api_render_array(&a.render, API_F64, zeros, N, 0, 0));
		assert_true(api_answer_print(&a.render, (enum api_format)format, 1 << 30, &a.fault, &a.response));
		api_arena_free(&a.arena);
		assert_in_range(atomic_load(&budget.used_bytes), a.response.body_bytes, 3 * a.response.body_bytes / 2);
		api_response_free(&a.response);
		assert_int_equal(atomic_load(&budget.used_bytes), 0);
		api_pool_free(pool);
	}
}

static void abandoning_is_harmless(void **unused)
{
	(void)unused;
	struct answer a;
	struct api_render nothing = {0};
	begin(&a);
	api_render_abandon(&a.render);
	api_render_abandon(&a.render);
	api_render_abandon(&nothing);
	api_arena_free(&a.arena);
}

/* An internal error, with the request's id; the response contains none of the numbers. */
static void refuses_what_is_not_finite(void **unused)
{
	(void)unused;
	static const double bad[] = {INFINITY, -INFINITY, NAN};
	static double numbers[40000];
	static const size_t sizes[] = {0, 1, 40, 40000};
	for (size_t i = 0; i < 12; i++)
		for (enum api_format format = API_JSON; format <= API_FRAME; format++) {
			struct answer a;
			const size_t n = sizes[i / 3];
			json_t *root = begin(&a);
			a.render.document.n_threads = 2;
			numbers[n ? n - 1 : 0] = bad[i % 3];
			if (n)
				api_render_add(&a.render, root, "a", api_render_array(&a.render, API_F64, numbers, n, 0, 0));
			else
				api_render_number(&a.render, root, "a", numbers[0]);
			assert_false(api_answer_print(&a.render, format, 1 << 20, &a.fault, &a.response));
			assert_int_equal(a.fault.status, 500);
			assert_null(a.response.body);
			numbers[n ? n - 1 : 0] = 0;
			api_fault_response(&a.fault, "that-one", &a.response);
			assert_int_equal(a.response.status, 500);
			assert_non_null(strstr(a.response.body, "\"request_id\":\"that-one\""));
			api_response_free(&a.response);
			api_arena_free(&a.arena);
		}
}

static void compares_tags(void **unused)
{
	(void)unused;
	static const char tag[] = "\"0123456789abcdef\"";
	static const char *const known[] = {"\"0123456789abcdef\"", "W/\"0123456789abcdef\"", "\"x\", \"0123456789abcdef\"",
	                                    "*", "\t*"};
	static const char *const unknown[] = {"", "\"0123456789abcdee\"", "0123456789abcdef", "\"*\"", "**", "x *"};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		assert_true(api_tag_is_known(known[i], tag));
	for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
		assert_false(api_tag_is_known(unknown[i], tag));
	assert_false(api_tag_is_known(NULL, tag));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_scalars),
		cmocka_unit_test(prints_shapes),
		cmocka_unit_test(prints_empty_arrays),
		cmocka_unit_test(prints_inner_objects_and_lists),
		cmocka_unit_test(holds_many_arrays),
		cmocka_unit_test(a_failure_sticks),
		cmocka_unit_test(an_answer_has_a_longest_length),
		cmocka_unit_test(is_charged_with_what_is_there),
		cmocka_unit_test(abandoning_is_harmless),
		cmocka_unit_test(refuses_what_is_not_finite),
		cmocka_unit_test(compares_tags),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

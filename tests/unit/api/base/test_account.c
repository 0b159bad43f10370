/* Accounting: a request's memory is taken from the budget in steps, and every byte is counted exactly once,
 * including jansson's trees. */
#include "api/base/account.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <cmocka.h>

#include "api/api.h"
#include "api/codec/document.h"
#include "api/base/json_memory.h"

enum { FIRST = API_ACCOUNT_FIRST, STEP = API_ACCOUNT_STEP, MB = 1 << 20 };

static struct api_budget budget;

static int set_up(void **unused)
{
	(void)unused;
	budget.most_bytes = 64 * MB;
	budget.used_bytes = 0;
	return 0;
}

static int tear_down(void **unused)
{
	(void)unused;
	return api_account_current || budget.used_bytes ? -1 : 0;
}

static void takes_in_steps(void **unused)
{
	(void)unused;
	struct api_account account;
	api_account_open(&account, &budget, NULL, 0);
	assert_int_equal(budget.used_bytes, FIRST);
	assert_true(api_account_take(&budget, FIRST));
	assert_int_equal(budget.used_bytes, FIRST);
	for (int i = 0; i < STEP / 64; i++) {
		assert_true(api_account_take(&budget, 64));
		assert_int_equal(budget.used_bytes, FIRST + STEP);
	}
	assert_true(api_account_take(&budget, 1));
	assert_int_equal(budget.used_bytes, FIRST + 2 * STEP);
	assert_true(api_account_take(&budget, 10 * MB));
	api_account_give(&budget, 10 * MB);
	assert_true(budget.used_bytes <= 4 * STEP);
	api_account_give(&budget, STEP + 1);
	assert_true(budget.used_bytes <= FIRST + 2 * STEP);
	api_account_give(&budget, FIRST);
	api_account_close(&account);
}

/* The last bytes of a budget can be used as well. */
static void takes_what_is_left(void **unused)
{
	(void)unused;
	struct api_account account;
	budget.most_bytes = STEP + 100;
	api_account_open(&account, &budget, NULL, 0);
	assert_true(api_account_take(&budget, STEP));
	assert_true(api_account_take(&budget, 60));
	assert_true(api_account_take(&budget, 40));
	assert_false(account.never_fits);
	assert_false(api_account_take(&budget, 1));
	assert_true(account.never_fits);
	api_account_give(&budget, STEP + 100);
	api_account_close(&account);
}

/* Other requests may end and return memory, but the request's own memory stays in use. */
static void tells_now_from_never(void **unused)
{
	(void)unused;
	const struct {
		size_t others, held, wanted;
		bool fits, never;
	} cases[] = {
		{0, 0, 64 * MB, true, false},     {0, 0, 64 * MB + 1, false, true}, {MB, 0, 63 * MB, true, false},
		{MB, 0, 64 * MB, false, false},   {0, MB, 63 * MB, true, false},    {0, MB, 63 * MB + 1, false, true},
		{MB, MB, 63 * MB, false, false},  {MB, MB, 64 * MB, false, true},   {0, 0, SIZE_MAX, false, true},
		{0, MB, SIZE_MAX, false, true},   {64 * MB, 0, FIRST, true, false}, {64 * MB, 0, FIRST + 1, false, false},
		{80 * MB, 0, FIRST, true, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct api_account account;
		budget.used_bytes = cases[i].others + cases[i].held;
		api_account_open(&account, &budget, NULL, cases[i].held);
		assert_int_equal(api_account_take(&budget, cases[i].wanted), cases[i].fits);
		assert_int_equal(account.never_fits, cases[i].never);
		if (cases[i].fits)
			api_account_give(&budget, cases[i].wanted);
		api_account_close(&account);
		assert_int_equal(budget.used_bytes, cases[i].others + cases[i].held);
	}
	budget.used_bytes = 0;
}

static void blocks_of_another_budget_are_not_counted(void **unused)
{
	(void)unused;
	struct api_budget other = {.most_bytes = 1000};
	struct api_account account;
	api_account_open(&account, &budget, NULL, 0);
	assert_true(api_account_take(&other, 1000));
	assert_false(api_account_take(&other, 1));
	assert_true(api_account_take(NULL, SIZE_MAX));
	api_account_give(NULL, SIZE_MAX);
	assert_int_equal(other.used_bytes, 1000);
	assert_int_equal(budget.used_bytes, FIRST);
	assert_false(account.never_fits);
	api_account_close(&account);
	api_account_give(&other, 1000);
	assert_int_equal(other.used_bytes, 0);
}

struct block {
	struct api_pool *pool;
	void *bytes;
	size_t n;
};

static void *give(void *argument)
{
	struct block *block = argument;
	api_pool_give(block->pool, block->bytes, block->n);
	return NULL;
}

/* As in a response: allocated by the thread that computes, freed later by another one. */
static void blocks_outlive_the_account(void **unused)
{
	(void)unused;
	static const size_t sizes[] = {1, 1000, API_POOL_LEAST - 1, API_POOL_LEAST, 3 * MB};
	struct api_pool *pool = api_pool_create(16 * MB, &budget);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct api_account account;
		pthread_t thread;
		api_account_open(&account, &budget, NULL, 0);
		struct block block = {pool, api_pool_take(pool, sizes[i]), sizes[i]};
		void *resized = api_pool_resize(pool, api_pool_take(pool, 100), 100, sizes[i]);
		api_pool_give(pool, resized, sizes[i]);
		api_account_close(&account);
		assert_true(budget.used_bytes >= sizes[i] && budget.used_bytes < sizes[i] + sizes[i] / 4 + 200);
		assert_int_equal(pthread_create(&thread, NULL, give, &block), 0);
		pthread_join(thread, NULL);
		assert_int_equal(budget.used_bytes, 0);
	}
	api_pool_free(pool);
}

/* ---- trees ---- */

static void nodes_hold_what_they_should(void **unused)
{
	(void)unused;
	enum { N = 3000 };
	struct api_pool *pool = api_pool_create(16 * MB, &budget);
	unsigned char *nodes[N];
	for (int with_pool = 0; with_pool < 2; with_pool++) {
		struct api_account account;
		struct api_json_memory trees;
		api_account_open(&account, with_pool ? &budget : NULL, NULL, 0);
		api_json_memory_open(&trees, with_pool ? pool : NULL);
		for (int round = 0; round < 3; round++) {
			for (size_t i = 0; i < N; i++) {
				const size_t n = i * 37 % 611;
				nodes[i] = api_json_memory_take(n);
				assert_true(nodes[i] && (uintptr_t)nodes[i] % 16 == 0);
				memset(nodes[i], (int)i, n);
			}
			for (size_t i = 0; i < N; i++)
				for (size_t at = 0; at < i * 37 % 611; at++)
					assert_int_equal(nodes[i][at], (unsigned char)i);
			for (size_t i = 0; i < N; i++)
				api_json_memory_give(nodes[(i * 7) % N]);
		}
		assert_true(!with_pool || budget.used_bytes > 0);
		assert_null(api_json_memory_take(SIZE_MAX));
		api_json_memory_close(&trees);
		api_account_close(&account);
		assert_int_equal(budget.used_bytes, 0);
	}
	api_pool_free(pool);
}

/* Trees that were made outside of requests, with malloc. */
static void trees_of_others_stay(void **unused)
{
	(void)unused;
	struct api_account account;
	struct api_json_memory trees;
	json_t *before = json_pack("{s:[i,i,s]}", "a", 1, 2, "text");
	api_account_open(&account, &budget, NULL, 0);
	api_json_memory_open(&trees, NULL);
	json_decref(json_pack("{s:[i,i,s]}", "a", 1, 2, "text"));
	json_decref(before);
	api_json_memory_close(&trees);
	api_account_close(&account);
	assert_int_equal(budget.used_bytes, 0);
}

static void a_raised_flag_ends_trees(void **unused)
{
	(void)unused;
	struct api_account account;
	struct api_json_memory trees;
	atomic_bool stop = false;
	json_t *list;
	api_account_open(&account, &budget, &stop, 0);
	api_json_memory_open(&trees, NULL);
	list = json_array();
	assert_int_equal(json_array_append_new(list, json_string("before")), 0);
	atomic_store(&stop, true);
	int n = 0;
	while (json_array_append_new(list, json_object()) == 0)
		assert_true(++n < 1000);
	json_decref(list);
	api_json_memory_close(&trees);
	api_account_close(&account);
}

/* Everything before the flag is raised is complete; everything after it is untouched. */
static void a_raised_flag_ends_zeros_and_copies(void **unused)
{
	(void)unused;
	enum { BYTES = 5000001 };
	struct api_account account;
	atomic_bool stop = false;
	char *from = malloc(BYTES), *to = malloc(BYTES), *zeros = calloc(1, BYTES);
	for (size_t i = 0; i < BYTES; i++)
		from[i] = (char)(i % 251);
	api_account_open(&account, &budget, &stop, 0);
	assert_true(api_account_copy(to, from, BYTES));
	assert_memory_equal(to, from, BYTES);
	assert_true(api_account_zero(to, BYTES));
	assert_memory_equal(to, zeros, BYTES);
	atomic_store(&stop, true);
	assert_false(api_account_copy(to, from, BYTES));
	assert_memory_equal(to, zeros, BYTES);
	assert_true(api_account_copy(to, from, 0));
	api_account_close(&account);
	assert_true(api_account_copy(to, from, BYTES));
	assert_memory_equal(to, from, BYTES);
	atomic_store(&stop, true);
	api_account_open(&account, &budget, &stop, 0);
	assert_false(api_account_zero(to, BYTES));
	assert_memory_equal(to, from, BYTES);
	api_account_close(&account);
	free(from);
	free(to);
	free(zeros);
}

/* Reading a text under an account counts all memory that it takes, with either reader. */
static void documents_count(void **unused)
{
	(void)unused;
	enum { N = 50000 };
	static const struct {
		const char *unit;
		size_t least; /* at least the bytes of jansson's structs and our headers in its tree */
	} units[] = {{"{},", 190}, {"\"word\",", 50}, {"\"\\u00e9\",", 50}, {"7,", 150}, {"[],", 150}};
	struct api_pool *pool = api_pool_create(0, &budget);
	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		char *text = malloc(N * strlen(units[u].unit) + 5), *p = stpcpy(text, "[\"\",");
		for (int i = 0; i < N; i++)
			p = stpcpy(p, units[u].unit);
		p[-1] = ']';
		struct api_account account;
		struct api_json_memory trees;
		struct api_document d;
		struct api_text_fault fault;
		api_account_open(&account, &budget, NULL, 0);
		api_json_memory_open(&trees, pool);
		assert_true(api_document_read_pooled(pool, text, (size_t)(p - text), &d, &fault));
		if (budget.used_bytes < N * units[u].least)
			fail_msg("%s: %zu bytes", units[u].unit, budget.used_bytes);
		api_document_free(&d);
		api_json_memory_close(&trees);
		api_account_close(&account);
		assert_int_equal(budget.used_bytes, 0);
		free(text);
	}
	api_pool_free(pool);
}

/* ---- requests ---- */

/* @return a request with n_vertices vertices, malloc'd */
static char *request_with(int n_vertices)
{
	char *text = malloc((size_t)n_vertices * 8 + 300), *end = stpcpy(text, "{\"dim\":2,\"velocities\":[[0.5,0]");
	for (int i = 1; i < n_vertices; i++)
		end = stpcpy(end, ",[0,0]");
	strcpy(end, "],\"friction\":{\"mu\":1,\"eps_v\":1},\"outputs\":[\"gradient\"],"
	            "\"collisions\":{\"plane_vertex\":{\"vertices\":[0],\"normal_force\":1,\"plane_normal\":[0,1]}}}");
	return text;
}

/* @return the response to a request when the budget is exhausted, partly by the request's own body */
static struct api_response ask_when_full(struct api_pool *pool, const char *body, size_t held)
{
	const struct api_service service = {.n_threads = 1, .max_json_bytes = MB, .max_answer_bytes = MB, .pool = pool};
	const struct api_request request = {
		.method = "POST", .target = "/v1/evaluate", .body = body, .body_bytes = strlen(body), .body_held = held};
	struct api_response response;
	budget.used_bytes = 64 * MB;
	api_handle(&service, &request, &response);
	return response;
}

/* A probe, a refusal, a single contact: requests that need almost no memory succeed even if others use all of it. */
static void small_requests_are_answered_when_all_is_taken(void **unused)
{
	(void)unused;
	struct api_pool *pool = api_pool_create(MB, &budget);
	char *text = request_with(1);
	struct api_response response = ask_when_full(pool, text, 0);
	assert_int_equal(response.status, 200);
	api_response_free(&response);
	assert_int_equal(budget.used_bytes, 64 * MB);
	budget.used_bytes = 0;
	free(text);
	api_pool_free(pool);
}

/* A body that is already counted leaves less for the rest. Then the request never fits, not only at the moment. */
static void a_body_counts_as_the_requests_own(void **unused)
{
	(void)unused;
	struct api_pool *pool = api_pool_create(MB, &budget);
	char *text = request_with(5000);
	for (int own = 0; own < 2; own++) {
		struct api_response response = ask_when_full(pool, text, own ? 64 * MB : 0);
		assert_int_equal(response.status, own ? 413 : 503);
		assert_non_null(strstr(response.body, own ? "limit of 67108864 bytes" : "not enough memory"));
		api_response_free(&response);
		assert_int_equal(budget.used_bytes, 64 * MB);
	}
	budget.used_bytes = 0;
	free(text);
	api_pool_free(pool);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(takes_in_steps),
		TEST(takes_what_is_left),
		TEST(tells_now_from_never),
		TEST(blocks_of_another_budget_are_not_counted),
		TEST(blocks_outlive_the_account),
		TEST(nodes_hold_what_they_should),
		TEST(trees_of_others_stay),
		TEST(a_raised_flag_ends_trees),
		TEST(a_raised_flag_ends_zeros_and_copies),
		TEST(documents_count),
		TEST(a_body_counts_as_the_requests_own),
		TEST(small_requests_are_answered_when_all_is_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

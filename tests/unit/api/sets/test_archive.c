/* Stored documents: a document that is read back passes the same checks, gives the same batch, bit for bit, and does
 * not use the original body. Every allocation fails in turn, including those of merging. */
#include "api/sets/archive.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/base/account.h"
#include "api/codec/frame.h"
#include "api/sets/merge.h"
#include "api/validate/query.h"
#include "tests/fuzz/compare.h"
#include "tests/fuzz/parts.h"

/* ---- scarce memory: the linker replaces malloc and related functions, jansson has a hook ---- */

static long allocations_left = LONG_MAX; /* until one fails */
static long n_live;

void *__real_malloc(size_t bytes);
void *__real_realloc(void *block, size_t bytes);
int __real_posix_memalign(void **block, size_t alignment, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *block);

static void *count(void *block)
{
	n_live += block != NULL;
	return block;
}

static bool may_allocate(void)
{
	return allocations_left == LONG_MAX || allocations_left-- != 0;
}

void *__wrap_malloc(size_t bytes)
{
	return may_allocate() ? count(__real_malloc(bytes)) : NULL;
}

void *__wrap_realloc(void *block, size_t bytes)
{
	if (!may_allocate())
		return NULL;
	void *moved = __real_realloc(block, bytes);
	n_live += !block && moved;
	return moved;
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t bytes)
{
	const int error = may_allocate() ? __real_posix_memalign(block, alignment, bytes) : ENOMEM;
	n_live += error == 0;
	return error;
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	return may_allocate() ? count(__real_aligned_alloc(alignment, bytes)) : NULL;
}

void __wrap_free(void *block)
{
	n_live -= block != NULL;
	__real_free(block);
}

static int use_scarce_memory(void **unused)
{
	(void)unused;
	json_set_alloc_funcs(__wrap_malloc, __wrap_free);
	return 0;
}

/* ---- documents ---- */

/* Texts are written with ' instead of ". */
static char *quoted(const char *text)
{
	char *copy = malloc(strlen(text) + 1);
	strcpy(copy, text);
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	return copy;
}

static void read_text(const char *text, struct api_document *document)
{
	struct api_text_fault fault;
	char *copy = quoted(text);
	if (!api_document_read_pooled(NULL, copy, strlen(copy), document, &fault))
		fail_msg("%s: %s", text, fault.detail);
	free(copy);
}

static void write(struct api_document *document, struct api_archive *rest)
{
	struct api_arena arena = {0};
	struct api_fault fault = {0};
	if (!api_archive_write(document, &arena, rest, &fault))
		fail_msg("%s", fault.detail);
	api_arena_free(&arena);
}

static void read_rest(const struct api_archive *rest, struct api_arena *arena, struct api_document *document)
{
	struct api_fault fault = {0};
	if (!api_archive_read(rest, arena, document, &fault))
		fail_msg("%s", fault.errors[0].detail);
}

/* A set's document that was checked, and its batch. */
struct checked {
	struct api_arena arena;
	struct api_fault fault;
	struct api_lagged lagged;
	struct api_lagged_velocities lagged_velocities;
	struct api_set_facts facts;
};

static bool check(const struct api_document *document, struct checked *c)
{
	*c = (struct checked){0};
	struct api_check check = {.document = document, .arena = &c->arena, .fault = &c->fault};
	return api_check_set(&check, &c->lagged, &c->lagged_velocities, &c->facts);
}

static void same(const struct checked *a, const struct checked *b)
{
	const size_t bytes = a->facts.n_vertices * a->facts.dim * sizeof(double);
	fuzz_same_batches(&a->lagged.batch, &b->lagged.batch);
	assert_memory_equal(a->lagged.has_group, b->lagged.has_group, sizeof(a->lagged.has_group));
	assert_int_equal(a->lagged_velocities.vertices != NULL, b->lagged_velocities.vertices != NULL);
	if (a->lagged_velocities.vertices && bytes)
		assert_memory_equal(a->lagged_velocities.vertices, b->lagged_velocities.vertices, bytes);
}

/* Writes a document that passes, reads it back and compares; then once more with the result. */
static void check_rest(struct api_document *document, const struct checked *before)
{
	struct api_archive rest = {0}, again = {0};
	struct api_arena arena = {0};
	struct api_document read;
	struct checked after;
	write(document, &rest);
	for (int i = 0; i < 2; i++) {
		read_rest(i ? &again : &rest, &arena, &read);
		if (!check(&read, &after))
			fail_msg("%s: %s", after.fault.errors[0].pointer, after.fault.errors[0].detail);
		same(before, &after);
		api_arena_free(&after.arena);
		if (i == 0)
			write(&read, &again);
		api_document_free(&read);
	}
	assert_int_equal(rest.n, again.n);
	api_archive_free(&rest);
	api_archive_free(&again);
	assert_null(rest.bytes);
	api_arena_free(&arena);
}

#define PLANE(vertices) \
	"'collisions': {'plane_vertex': {'vertices': " vertices ", 'plane_normal': [[0, 0, 1]], 'normal_force': 2e0," \
	" 'eps_v': 1, 'mu': 0.5}}"

static const char *const documents[] = {
	"{'dim': 3, 'n_vertices': 3, " PLANE("[0, 2]") "}",
	"{'dim': 3, 'n_vertices': -0, " PLANE("[]") "}",
	"{'dim': 3, 'n_vertices': 2147483, " PLANE("[0, 2147482]") "}",
	"{'dim': 3, 'n_vertices': 3, " PLANE("[-0, 2]") "}", /* a valid index */
	"{'dim': 3, 'positions': [0, -0, -0.0, 1, 2, 3], " PLANE("[1]") "}",
	"{'dim': 3, 'positions': [[2147483647, 2147483648, -2147483648], [-2147483649, 9007199254740993, 1e300]], " PLANE(
		"[0, 1]") "}",
	"{'dim': 3, 'positions': [2147483647, 2147483648, -2147483648, -2147483649, 9007199254740992, 1"
	"00000000000000000000], 'lagged_velocities': [[1e3, 1000, 5e-324], [0.1, 1, 2]], 'on_degenerate': 'skip', " PLANE(
		"[0, 1]") "}",
	"{'dim': 2, 'positions': [], 'collisions': {'edge_vertex': {'vertices': []}, 'vertex_vertex': {'vertices': []}}}",
	"{'dim': 3, 'positions': [], 'collisions': {'edge_edge': {'vertices': [], 'tangent_basis': [[[1, 0], [0, 1], [0, 0]]],"
	" 'closest_point': [[0, 0.5]]}}}",
	"{'dim': 2, 'friction': {'eps_v': 1, 'materials': {'vertex_material': [0, 1], 'plane_material': 1,"
	" 'mu': [[0, 1], [1, 2]]}}, 'collisions': {'plane_vertex': {'vertices': [1], 'normal_force': [1.5],"
	" 'tangent_basis': [[[0.6], [0.8]]]}}}",
	"{'dim': 2, 'friction': {'eps_v': 1, 'vertex_mu_s': [0.5, 1], 'vertex_mu_k': [0, 1], 'blend': 'max'},"
	" 'barrier': {'dhat': 1, 'stiffness': 1000, 'dmin': 0}, 'positions': [[0, 0], [1, 1]], 'collisions': {'vertex_vertex':"
	" {'vertices': [[0, 1]]}}}",
};

static void texts(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
		struct api_document document;
		struct checked before;
		read_text(documents[i], &document);
		if (!check(&document, &before))
			fail_msg("%s: %s %s", documents[i], before.fault.errors[0].pointer, before.fault.errors[0].detail);
		check_rest(&document, &before);
		api_document_free(&document);
		api_arena_free(&before.arena);
	}
}

/* Integers take 4 bytes each; the block contains the document, and the arrays at multiples of 64. */
static void integers_are_small(void **unused)
{
	struct api_archive rest = {0};
	struct api_document document, read;
	struct api_arena arena = {0};
	(void)unused;
	read_text("{'a':[0,1.0,2147483647,-2147483648],'b':[0.5],'c':7,'d':[0,2147483648],'e':[0,-0],'f':[]}", &document);
	write(&document, &rest);
	api_document_free(&document);
	read_rest(&rest, &arena, &read);
	static const struct {
		const char *name;
		enum api_dtype dtype;
		int rank;
		bool binary;
	} expected[] = {{"a", API_I32, 1, true},  {"b", API_F64, 1, false}, {"c", API_I32, 0, true},
	                {"d", API_F64, 1, false}, {"e", API_F64, 1, false}, {"f", API_F64, 1, false}};
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct api_array *array = api_document_array(&read, json_object_get(read.root, expected[i].name));
		assert_int_equal(array->dtype, expected[i].dtype);
		assert_int_equal(array->rank, expected[i].rank);
		assert_int_equal(array->binary, expected[i].binary);
		assert_int_equal(array->first_non_integer, array->n);
	}
	const struct api_array *e = api_document_array(&read, json_object_get(read.root, "e"));
	assert_true(signbit(((const double *)e->data)[1]));
	api_document_free(&read);
	api_arena_free(&arena);
	api_archive_free(&rest);
}

/* Longer than the span that is converted at a time; the last number decides. */
static void long_arrays(void **unused)
{
	enum { N = 200000 };
	static const char *const last[] = {"7", "-0", "0.5", "2147483648"};
	(void)unused;
	for (size_t k = 0; k < sizeof(last) / sizeof(last[0]); k++) {
		struct api_archive rest = {0};
		struct api_document document, read;
		struct api_arena arena = {0};
		char *text = malloc(16 * N), *end = text + sprintf(text, "{'a':[");
		for (int i = 0; i < N; i++)
			end += sprintf(end, "%d,", i % 2 ? i : -i);
		sprintf(end, "%s]}", last[k]);
		read_text(text, &document);
		free(text);
		write(&document, &rest);
		api_document_free(&document);
		read_rest(&rest, &arena, &read);
		const struct api_array *a = api_document_array(&read, json_object_get(read.root, "a"));
		assert_true(a->n == N + 1 && (a->dtype == API_I32) == (k == 0));
		for (int i = 1; i < N; i++)
			if (fuzz_value(a, (size_t)i) != (i % 2 ? i : -i))
				fail_msg("%d: %g", i, fuzz_value(a, (size_t)i));
		const double value = fuzz_value(a, N), expected = strtod(last[k], NULL);
		assert_memory_equal(&value, &expected, sizeof(value));
		api_document_free(&read);
		api_arena_free(&arena);
		api_archive_free(&rest);
	}
}

/* Lists may contain arrays, and objects that contain arrays. */
static void lists(void **unused)
{
	static const char text[] = "{'a':[[1,2],'x',{'b':[3.5,'y']},[],null,true],'c':'\\u00e4\\u0001\\'\\\\'}";
	struct api_archive rest = {0};
	struct api_document document, read;
	struct api_arena arena = {0};
	(void)unused;
	read_text(text, &document);
	write(&document, &rest);
	api_document_free(&document);
	read_text(text, &document);
	read_rest(&rest, &arena, &read);
	fuzz_same_documents(&document, &read);
	api_document_free(&read);
	api_document_free(&document);
	api_arena_free(&arena);
	api_archive_free(&rest);
}

/* ---- frames ---- */

enum { HEAD = 512, TAIL = 256 };

/* All dtypes, at odd offsets of a body that is then overwritten. */
static void frames(void **unused)
{
	static const char text[] =
		"{\"dim\":{\"dtype\":\"u32\",\"shape\":[],\"offset\":0},\"n_vertices\":2,\"positions\":{\"dtype\":\"f32\",\"shape\":"
		"[2,3],\"offset\":8},\"lagged_velocities\":{\"dtype\":\"f64\",\"shape\":[6],\"offset\":32},\"collisions\":"
		"{\"vertex_vertex\":{\"vertices\":{\"dtype\":\"i64\",\"shape\":[1,2],\"offset\":80},\"normal_force\":{\"dtype\":"
		"\"i32\",\"shape\":[1],\"offset\":96},\"mu\":1,\"eps_v\":0.5},\"edge_edge\":{\"vertices\":{\"dtype\":\"u32\","
		"\"shape\":[0,4],\"offset\":0},\"mu\":{\"dtype\":\"f64\",\"shape\":[0,1,2,3,4],\"offset\":0}}}}";
	static const uint32_t dim = 3;
	static const float positions[6] = {0.1f, 0, 0, 1, 2, 3};
	static const double velocities[6] = {0.1, -0.0, 5e-324, 1e300, 0, 1};
	static const int64_t vertices[2] = {1, 0};
	static const int32_t force = 5;
	const uint64_t length = HEAD - 8;
	char *block = aligned_alloc(64, HEAD + TAIL);
	(void)unused;
	assert_true(sizeof(text) < HEAD - 8);
	for (int shift = 0; shift < 2; shift++) {
		struct api_arena arena = {0};
		struct api_document document;
		struct api_fault fault = {0};
		struct checked before;
		char *body = block + 3 * shift;
		memset(body, ' ', HEAD);
		memcpy(body, &length, 8);
		memcpy(body + 8, text, sizeof(text) - 1);
		memcpy(body + HEAD, &dim, sizeof(dim));
		memcpy(body + HEAD + 8, positions, sizeof(positions));
		memcpy(body + HEAD + 32, velocities, sizeof(velocities));
		memcpy(body + HEAD + 80, vertices, sizeof(vertices));
		memcpy(body + HEAD + 96, &force, sizeof(force));
		if (!api_frame_read(&(struct api_part){body, HEAD + 100}, 1, SIZE_MAX, &arena, &document, &fault))
			fail_msg("%s", fault.errors[0].detail);
		if (!check(&document, &before))
			fail_msg("%s: %s", before.fault.errors[0].pointer, before.fault.errors[0].detail);
		assert_true(before.lagged_velocities.vertices[1] == 0 && before.lagged.batch.positions[3] == 1);
		struct api_archive rest = {0};
		struct api_document read;
		struct checked after;
		write(&document, &rest);
		read_rest(&rest, &arena, &read);
		assert_true(check(&read, &after));
		same(&before, &after);
		api_document_free(&document);
		memset(block, 0xFF, HEAD + TAIL);
		assert_true(after.lagged_velocities.vertices[3] == 1e300 && after.lagged.batch.positions[0] == (double)0.1f);
		assert_true(after.lagged.batch.groups[FRIC_VERTEX_VERTEX].vertices[0] == 1);
		api_document_free(&read);
		api_arena_free(&after.arena);
		api_arena_free(&before.arena);
		api_arena_free(&arena);
		api_archive_free(&rest);
	}
	free(block);
}

/* ---- patches of stored documents ---- */

static void patches(void **unused)
{
	static const struct {
		const char *document, *patch, *result;
	} cases[] = {
		{"{'dim': 3, 'n_vertices': 3, " PLANE("[0, 2]") "}",
	     "{'positions': [1, 2, 3, 4, 5, 6, 7, 8, 9], 'on_degenerate': 'skip', 'n_vertices': null}",
	     "{'dim': 3, 'positions': [[1, 2, 3], [4, 5, 6], [7, 8, 9]], 'on_degenerate': 'skip', " PLANE("[0, 2]") "}"},
		{"{'dim': 3, 'n_vertices': 3, 'barrier': {'dhat': 1, 'stiffness': 2}, " PLANE("[-0, 2]") "}",
	     "{'barrier': {'dhat': 0.25}, 'collisions': {'plane_vertex': {'normal_force': [1, 2.5]}}}",
	     "{'dim': 3, 'n_vertices': 3, 'barrier': {'dhat': 0.25, 'stiffness': 2}, 'collisions': {'plane_vertex': {"
	     "'vertices': [0, 2], 'plane_normal': [0, 0, 1], 'normal_force': [1, 2.5], 'eps_v': 1, 'mu': 0.5}}}"},
		{"{'dim': 3, 'n_vertices': 3, 'barrier': {'dhat': 1, 'stiffness': 2}, " PLANE("[0, 2]") "}",
	     "{'barrier': null, 'n_vertices': 4, 'collisions': {'vertex_vertex': {'vertices': []}}}",
	     "{'dim': 3, 'n_vertices': 4, 'collisions': {'vertex_vertex': {'vertices': []}, 'plane_vertex': {"
	     "'vertices': [0, 2], 'plane_normal': [0, 0, 1], 'normal_force': 2, 'eps_v': 1, 'mu': 0.5}}}"},
	};
	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct api_document document, patch, result;
		struct api_arena arena = {0};
		struct api_archive rest = {0};
		struct api_fault fault = {0};
		struct checked merged, expected;
		read_text(cases[i].document, &document);
		write(&document, &rest);
		api_document_free(&document);
		read_rest(&rest, &arena, &document);
		read_text(cases[i].patch, &patch);
		read_text(cases[i].result, &result);
		assert_true(api_merge(&document, &patch, &fault));
		if (!check(&document, &merged))
			fail_msg("%s: %s", merged.fault.errors[0].pointer, merged.fault.errors[0].detail);
		assert_true(check(&result, &expected));
		same(&expected, &merged);
		check_rest(&document, &merged);
		api_document_free(&document);
		api_document_free(&patch);
		api_document_free(&result);
		api_arena_free(&merged.arena);
		api_arena_free(&expected.arena);
		api_arena_free(&arena);
		api_archive_free(&rest);
	}
}

/* ---- without memory ---- */

/* Writes, reads, merges, writes, until a step fails. */
static bool run(struct api_document *document, struct api_document *patch, struct api_fault *fault)
{
	struct api_arena arena = {0};
	struct api_archive rest = {0}, second = {0};
	struct api_document read = {0};
	const bool ok = api_archive_write(document, &arena, &rest, fault) &&
	                api_archive_read(&rest, &arena, &read, fault) && api_merge(&read, patch, fault) &&
	                api_archive_write(&read, &arena, &second, fault);
	assert_true(ok == (second.bytes != NULL));
	api_document_free(&read);
	api_arena_free(&arena);
	api_archive_free(&rest);
	api_archive_free(&second);
	return ok;
}

static void every_allocation_fails(void **unused)
{
	bool ok = false;
	int n_failed = 0;
	(void)unused;
	for (; !ok && n_failed < 1000; n_failed++) {
		struct api_document document, patch;
		struct api_fault fault = {0};
		const long before = n_live;
		read_text(documents[9], &document);
		read_text("{'friction': {'eps_v': 2, 'materials': {'mu': [[0.5, 1], [1, 3]]}, 'new': {'a': {'b': [1]}}},"
		          " 'more': [1, 2], 'barrier': {'dhat': 1}}",
		          &patch);
		allocations_left = n_failed;
		ok = run(&document, &patch, &fault);
		allocations_left = LONG_MAX;
		assert_int_equal(fault.code, ok ? API_NO_CODE : API_E_OUT_OF_MEMORY);
		api_document_free(&document);
		api_document_free(&patch);
		assert_int_equal(n_live, before);
	}
	assert_in_range(n_failed, 50, 999);
}

static void a_raised_flag_ends_it(void **unused)
{
	static const atomic_bool stop = true;
	struct api_account account;
	struct api_arena arena = {0};
	struct api_archive rest = {0};
	struct api_document document;
	struct api_fault fault = {0};
	(void)unused;
	read_text(documents[0], &document);
	api_account_open(&account, NULL, &stop, 0);
	assert_false(api_archive_write(&document, &arena, &rest, &fault));
	api_account_close(&account);
	assert_int_equal(fault.code, API_E_STOPPED);
	assert_null(rest.bytes);
	api_document_free(&document);
	api_arena_free(&arena);
}

/* ---- the requests of tests/cases that pass as documents, without the fields of a query ---- */

static int n_documents;

static void check_case(const char *text, size_t bytes)
{
	struct api_document document;
	struct api_text_fault fault;
	struct checked before;
	if (!api_document_read_pooled(NULL, text, bytes, &document, &fault))
		return;
	for (int i = 0; i < api_set_query.n_rules && json_is_object(document.root); i++)
		if (api_rule_applies(&api_set_query.rules[i], &api_set_query) &&
		    !api_rule_applies(&api_set_query.rules[i], &api_set_document))
			json_object_del(document.root, api_set_query.rules[i].name);
	if (check(&document, &before)) {
		check_rest(&document, &before);
		n_documents++;
	}
	api_arena_free(&before.arena);
	api_document_free(&document);
}

static int visit(const char *path, const struct stat *about, int type, struct FTW *where)
{
	if (type != FTW_F || strncmp(path + where->base, "request.", 8) != 0)
		return 0;
	char *text = malloc((size_t)about->st_size + 1);
	FILE *file = fopen(path, "rb");
	assert_true(text && file && fread(text, 1, (size_t)about->st_size, file) == (size_t)about->st_size);
	fclose(file);
	check_case(text, (size_t)about->st_size);
	free(text);
	return 0;
}

static void cases(void **unused)
{
	(void)unused;
	assert_int_equal(nftw("tests/cases", visit, 16, 0), 0);
	assert_true(n_documents > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(integers_are_small),
		cmocka_unit_test(long_arrays),
		cmocka_unit_test(lists),
		cmocka_unit_test(frames),
		cmocka_unit_test(patches),
		cmocka_unit_test(every_allocation_fails),
		cmocka_unit_test(a_raised_flag_ends_it),
		cmocka_unit_test(cases),
	};
	return cmocka_run_group_tests(tests, use_scarce_memory, NULL);
}

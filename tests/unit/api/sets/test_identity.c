/* Versions of sets, tags of their stencils, and their names. The expected values are from Python's xxhash:
 *   def h(x): return xxhash.xxh3_128(x).digest()
 *   body:     xxhash.xxh3_128(b"body json " + h(body)).hexdigest()
 *   patch:    xxhash.xxh3_128(b"patch json " + before + h(body)).hexdigest()
 *   stencils: xxhash.xxh3_128(b"stencils " + dim + n_vertices + for each type n + h(vertices)).hexdigest(),
 *             numbers as struct.pack("<Q") has them, vertices as "<i" */
#include "api/sets/identity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/fric.h"

static const char dim_3[] = "{\"dim\":3}", no_barrier[] = "{\"barrier\":null}";

static void test_bodies(void **state)
{
	char version[API_VERSION_BYTES];
	(void)state;
	api_version_of_body(API_JSON, &(struct api_part){"", 0}, 1, version);
	assert_string_equal(version, "265438279ed49392fe092a98eb84bfb1");
	api_version_of_body(API_JSON, &(struct api_part){NULL, 0}, 1, version);
	assert_string_equal(version, "265438279ed49392fe092a98eb84bfb1");
	api_version_of_body(API_JSON, &(struct api_part){dim_3, 9}, 1, version);
	assert_string_equal(version, "4c3af456c3d477aab3ea8bf511562dfa");
	api_version_of_body(API_FRAME, &(struct api_part){dim_3, 9}, 1, version);
	assert_string_equal(version, "1643cdb691cd3d567353e666247a5e13");
	const struct api_part parts[] = {{dim_3, 4}, {NULL, 0}, {dim_3 + 4, 5}};
	api_version_of_body(API_JSON, parts, 3, version);
	assert_string_equal(version, "4c3af456c3d477aab3ea8bf511562dfa");
	api_version_of_body(API_JSON, parts, 0, version);
	assert_string_equal(version, "265438279ed49392fe092a98eb84bfb1");
}

/* The result does not depend on the address of the body. */
static void test_long_body(void **state)
{
	enum { N = 100000 };
	unsigned char *bytes = malloc(N + 1);
	char version[API_VERSION_BYTES];
	(void)state;
	for (int shift = 0; shift < 2; shift++) {
		for (int i = 0; i < N; i++)
			bytes[i + shift] = (unsigned char)(i * 7 + i / 256);
		api_version_of_body(API_FRAME, &(struct api_part){bytes + shift, N}, 1, version);
		assert_string_equal(version, "e5124760bf435745e74e256b6a9a2f35");
	}
	bytes[N / 2] ^= 1;
	api_version_of_body(API_FRAME, &(struct api_part){bytes + 1, N}, 1, version);
	assert_string_not_equal(version, "e5124760bf435745e74e256b6a9a2f35");
	free(bytes);
}

static void test_patches(void **state)
{
	char version[API_VERSION_BYTES];
	(void)state;
	api_version_of_patch("4c3af456c3d477aab3ea8bf511562dfa", API_JSON, &(struct api_part){no_barrier, 16}, 1, version);
	assert_string_equal(version, "5c62f2554e018e16fe2527d6e599b28c");
	api_version_of_patch("4c3af456c3d477aab3ea8bf511562dfa", API_FRAME, &(struct api_part){no_barrier, 16}, 1, version);
	assert_string_equal(version, "da0659792772def2f6572660f152a456");
	api_version_of_patch("4c3af456c3d477aab3ea8bf511562dfb", API_JSON, &(struct api_part){no_barrier, 16}, 1, version);
	assert_string_not_equal(version, "5c62f2554e018e16fe2527d6e599b28c");
}

static const int32_t pairs[] = {0, 1, 7, 8}, other_pairs[] = {0, 1, 7, 6}, edges[] = {0, 1, 2, 3}, planes[] = {5};

static struct fric_batch batch_of_three(void)
{
	struct fric_batch batch = {.dim = 3, .n_vertices = 9};
	batch.groups[FRIC_VERTEX_VERTEX] = (struct fric_group){.n = 2, .vertices = pairs};
	batch.groups[FRIC_EDGE_EDGE] = (struct fric_group){.n = 1, .vertices = edges};
	batch.groups[FRIC_PLANE_VERTEX] = (struct fric_group){.n = 1, .vertices = planes};
	return batch;
}

static void test_stencils(void **state)
{
	const struct fric_batch none = {.dim = 2}, some = batch_of_three();
	char version[API_VERSION_BYTES];
	(void)state;
	api_stencils_identify(&none, version);
	assert_string_equal(version, "b6867ade23c8d264235afaedfada056c");
	api_stencils_identify(&some, version);
	assert_string_equal(version, "1e542967a250a05fb0748cdaf327a99f");
}

static void differs(const struct fric_batch *batch, bool expected)
{
	char version[API_VERSION_BYTES];
	api_stencils_identify(batch, version);
	assert_int_equal(strcmp(version, "1e542967a250a05fb0748cdaf327a99f") != 0, expected);
}

/* The dimension, the number of vertices and the stencils, and nothing else. */
static void test_stencils_alone_determine_the_tag(void **state)
{
	static const double numbers[27] = {1};
	struct fric_batch batch = batch_of_three();
	(void)state;
	batch.positions = numbers;
	batch.barrier.dhat = 1;
	batch.skip_degenerate = true;
	batch.groups[FRIC_EDGE_EDGE].normal_force.data = numbers;
	differs(&batch, false);
	batch.dim = 2;
	differs(&batch, true);
	batch = batch_of_three();
	batch.n_vertices = 10;
	differs(&batch, true);
	batch = batch_of_three();
	batch.groups[FRIC_VERTEX_VERTEX].vertices = other_pairs;
	differs(&batch, true);
	batch = batch_of_three();
	batch.groups[FRIC_PLANE_VERTEX].n = 0;
	differs(&batch, true);
	batch = batch_of_three();
	batch.groups[FRIC_FACE_VERTEX] = batch.groups[FRIC_EDGE_EDGE];
	batch.groups[FRIC_EDGE_EDGE] = (struct fric_group){0};
	differs(&batch, true);
}

static void test_names(void **state)
{
	static const char *const good[] = {"a",
	                                   "run-17.step-3",
	                                   "...",
	                                   ".a",
	                                   "..a",
	                                   "a..",
	                                   "~_-.",
	                                   "0",
	                                   "123e4567-e89b-12d3-a456-426614174000",
	                                   "ABCXYZabcxyz0189"};
	static const char *const bad[] = {"",    ".",   "..",  "a b", "a/b", "a%20", "\xc3\xa4",
	                                  "a\n", "a+b", "a@b", "a`",  "a[",  "a{",   "a:"};
	char name[66] = "";
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(api_is_set_name(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(api_is_set_name(bad[i]));
	memset(name, 'a', 64);
	assert_true(api_is_set_name(name));
	name[64] = 'a';
	assert_false(api_is_set_name(name));
}

static void test_valid_versions(void **state)
{
	static const char *const bad[] = {"",
	                                  "*",
	                                  "4c3af456c3d477aab3ea8bf511562df",
	                                  "4c3af456c3d477aab3ea8bf511562dfa0",
	                                  "4c3af456c3d477aab3ea8bf511562dfa ",
	                                  "4C3AF456C3D477AAB3EA8BF511562DFA",
	                                  "4c3af456c3d477aab3ea8bf511562dfg",
	                                  "4c3af456c3d477aa-3ea8bf511562dfa"};
	(void)state;
	assert_true(api_is_version("4c3af456c3d477aab3ea8bf511562dfa"));
	assert_true(api_is_version("00000000000000000000000000000000"));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(api_is_version(bad[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bodies),         cmocka_unit_test(test_long_body),
		cmocka_unit_test(test_valid_versions), cmocka_unit_test(test_patches),
		cmocka_unit_test(test_stencils),       cmocka_unit_test(test_stencils_alone_determine_the_tag),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

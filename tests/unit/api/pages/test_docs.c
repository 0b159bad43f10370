/* The documentation that is compiled into the program, and its decompression. */
#include "api/pages/docs.h"
#include "api/pages/inflate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* "abcabcabcabcabcabcabc!", as gzip -n stores it (level 0), and with fixed codes (level 9). */
static const char text[] = "abcabcabcabcabcabcabc!";
#define HEADER "\x1f\x8b\x08\0\0\0\0\0\0\x03"
#define TRAILER "\xc2\x64\x42\xb9\x16\0\0\0"
static const char stored[] = HEADER "\x01\x16\0\xe9\xff"
									"abcabcabcabcabcabcabc!" TRAILER;
static const char fixed[] = HEADER "\x4b\x4c\x4a\x4e\xc4\x40\x8a\x00" TRAILER;

static void reads_stored_and_fixed_blocks(void **unused)
{
	(void)unused;
	char out[sizeof text - 1];
	assert_true(api_inflate(stored, sizeof stored - 1, out, sizeof out));
	assert_memory_equal(out, text, sizeof out);
	memset(out, 0, sizeof out);
	assert_true(api_inflate(fixed, sizeof fixed - 1, out, sizeof out));
	assert_memory_equal(out, text, sizeof out);
}

static void refuses_other_lengths(void **unused)
{
	(void)unused;
	char out[sizeof text];
	assert_false(api_inflate(stored, sizeof stored - 1, out, sizeof text - 2));
	assert_false(api_inflate(stored, sizeof stored - 1, out, sizeof text));
	assert_false(api_inflate(fixed, sizeof fixed - 1, out, sizeof text - 2));
	assert_false(api_inflate(fixed, sizeof fixed - 1, out, sizeof text));
	assert_false(api_inflate(stored, 17, out, sizeof text - 1));
	for (size_t n = 18; n < sizeof stored - 1; n++)
		assert_false(api_inflate(stored, n, out, sizeof text - 1));
}

static void refuses_broken_blocks(void **unused)
{
	(void)unused;
	static const char reserved[] = HEADER "\x07" TRAILER;
	/* a match before any literal: 3 bytes at distance 1 */
	static const char early[] = HEADER "\x03\x02\0" TRAILER;
	char out[sizeof text - 1];
	assert_false(api_inflate(reserved, sizeof reserved - 1, out, sizeof out));
	assert_false(api_inflate(early, sizeof early - 1, out, sizeof out));
}

/* No read or write leaves its array, whatever the bytes are: they end where AddressSanitizer sees it. */
static void survives_any_bytes(void **unused)
{
	(void)unused;
	struct api_doc doc;
	if (!api_doc_at(0, &doc))
		skip();
	srand(1);
	for (int i = 0; i < 200; i++) {
		char *in = malloc(doc.n_gzip), *out = malloc(doc.bytes);
		assert_true(in && out);
		memcpy(in, doc.gzip, doc.n_gzip);
		for (int k = 0; k < 3; k++)
			in[10 + (size_t)rand() % (doc.n_gzip - 10)] = (char)rand();
		api_inflate(in, doc.n_gzip, out, doc.bytes);
		free(in);
		free(out);
	}
}

static void has_whole_files(void **unused)
{
	(void)unused;
	struct api_doc doc;
	bool found = false;
	for (int i = 0; api_doc_at(i, &doc); i++) {
		char *page = malloc(doc.bytes + 1), *file = malloc(doc.bytes + 1);
		assert_true(page && file);
		assert_true(api_inflate(doc.gzip, doc.n_gzip, page, doc.bytes));
		if (!strcmp(doc.path, "site.css")) {
			FILE *in = fopen("docs/site/site.css", "rb");
			assert_non_null(in);
			assert_int_equal(fread(file, 1, doc.bytes + 1, in), doc.bytes);
			fclose(in);
			assert_memory_equal(page, file, doc.bytes);
			found = true;
		}
		free(page);
		free(file);
	}
	if (!api_doc_at(0, &doc))
		skip(); /* this build has no pages */
	assert_true(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_stored_and_fixed_blocks),
		cmocka_unit_test(refuses_other_lengths),
		cmocka_unit_test(refuses_broken_blocks),
		cmocka_unit_test(survives_any_bytes),
		cmocka_unit_test(has_whole_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

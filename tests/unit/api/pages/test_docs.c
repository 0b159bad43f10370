/* The documentation that is compiled into the program. */
#include "api/pages/docs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void has_whole_files(void **unused)
{
	(void)unused;
	struct api_doc doc;
	bool found = false;
	for (int i = 0; api_doc_at(i, &doc); i++) {
		char *page = malloc(doc.bytes + 1), *file = malloc(doc.bytes + 1);
		assert_true(page && file);
		assert_true(api_doc_decompress(&doc, page));
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
	const struct CMUnitTest tests[] = {cmocka_unit_test(has_whole_files)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

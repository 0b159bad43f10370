/**
 * The pages of the documentation, which scripts/site has packed into one file.
 */
#ifndef API_DOCS_H
#define API_DOCS_H

#include <stdbool.h>
#include <stddef.h>

/* A file; all members are static. */
struct api_doc {
	const char *path;     /* below /docs/ */
	const char *type;     /* Content-Type */
	const char *gzip;     /* [n_gzip] the file, compressed */
	size_t n_gzip, bytes; /* bytes: of the file */
};

/* Sets file i. @return false if there are fewer */
bool api_doc_at(int i, struct api_doc *doc);

/* @param text  [doc->bytes] set to the file's bytes. @return false when out of memory */
bool api_doc_decompress(const struct api_doc *doc, char *text);

#endif

/**
 * Identifiers of sets: the version is derived from the bytes that were sent, the pattern's tag from the stencils. They
 * are 128 bits of XXH3, the same on every machine, printed as 32 hexadecimal digits. A caller can fool only itself, so
 * no key is needed.
 */
#ifndef API_IDENTITY_H
#define API_IDENTITY_H

#include <stddef.h>

#include "api/api.h"

enum { API_VERSION_BYTES = 33 };

/* Computes the version of a set that was sent as a whole. @param parts  [n_parts] the body as received, without the
 * request's head. Its division into parts does not matter */
void api_version_of_body(enum api_format format, const struct api_part *parts, size_t n_parts,
                         char version[API_VERSION_BYTES]);
/* Computes the version that results from patching another one. @param before  the version that is patched; only its 32
 * bytes are hashed */
void api_version_of_patch(const char *before, enum api_format format, const struct api_part *parts, size_t n_parts,
                          char version[API_VERSION_BYTES]);

/* Whether a text has the form of a version: 32 hexadecimal digits, in lower case. */
bool api_is_version(const char *text);

struct fric_batch;
/* Sets an identifier that is equal for all batches with the same dimension, numbers of vertices and bodies, and
 * stencils. */
void api_stencils_identify(const struct fric_batch *batch, char version[API_VERSION_BYTES]);

/* Whether a name consists of 1 to 64 of A-Z a-z 0-9 . _ ~ - and is neither "." nor "..". */
bool api_is_set_name(const char *name);

#endif

/**
 * What identifies a set: its version follows from what was sent, its pattern's tag from the stencils. 128 bits of XXH3,
 * the same on every machine, as 32 hexadecimal digits. A caller can fool only itself, so no key is needed.
 */
#ifndef API_IDENTITY_H
#define API_IDENTITY_H

#include <stddef.h>

#include "api/api.h"

enum { API_VERSION_BYTES = 33 };

/* Of a set that came whole. @param body  [bytes] as it came, without the head */
void api_version_of_body(enum api_format format, const void *body, size_t bytes, char version[API_VERSION_BYTES]);
/* Of what a patch makes of a version. @param before  the version that it changes; only 32 bytes of it count */
void api_version_of_patch(const char *before, enum api_format format, const void *body, size_t bytes,
                          char version[API_VERSION_BYTES]);

/* Whether a set may have such a version: 32 hexadecimal digits, of which a-f are small. */
bool api_is_version(const char *text);

struct fric_batch;
/* The same for all batches with the same dimension, numbers of vertices and bodies, and stencils. */
void api_stencils_identify(const struct fric_batch *batch, char version[API_VERSION_BYTES]);

/* 1 to 64 of A-Z a-z 0-9 . _ ~ -, and not "." or "..". */
bool api_is_set_name(const char *name);

#endif

/**
 * An answer under construction: a tree with marks, and the arrays that they stand for.
 */
#ifndef API_RENDER_H
#define API_RENDER_H

#include "api/base/arena.h"
#include "api/codec/document.h"

struct fric_pattern;

/* failed is sticky: set when memory ran out, looked at once at the end. */
struct api_render {
	struct api_document document;
	size_t capacity;
	struct api_arena *arena;      /* of scalars, and where data that is not borrowed for longer than the answer has to be */
	struct fric_pattern *pattern; /* owned, for the arrays that are part of it; NULL if there is none */
	bool failed;
};

bool api_render_start(struct api_render *render, struct api_arena *arena);
void api_render_number(struct api_render *render, json_t *object, const char *name, double value);
void api_render_integer(struct api_render *render, json_t *object, const char *name, int64_t value);
/* A mark for the array; shape is [n] and up to two more lengths, 0 = none. */
json_t *api_render_array(struct api_render *render, enum api_dtype dtype, const void *data, size_t n, size_t inner,
                         size_t innermost);
/**
 * Adds value (reference taken over, NULL marks failure) to an object, or to a list.
 * @return value, for what goes into it; NULL after a failure, when it is gone. May then be added to: that fails, too.
 */
json_t *api_render_add(struct api_render *render, json_t *object, const char *name, json_t *value);
json_t *api_render_append(struct api_render *render, json_t *list, json_t *value);
/* Frees a tree that will not be printed, and the pattern; harmless on one that was never started. */
void api_render_abandon(struct api_render *render);

#endif

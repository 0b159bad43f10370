/**
 * An answer under construction: a tree with marks, and the arrays that the marks stand for.
 */
#ifndef API_RENDER_H
#define API_RENDER_H

#include "api/base/arena.h"
#include "api/codec/document.h"

/* An owner of memory that contains arrays of the answer, and the function that releases it. */
struct api_lent {
	void *what; /* or NULL */
	void (*give_back)(void *what);
};

enum { API_MOST_LENT = 2 };

/* `failed` is sticky: it is set when memory runs out, and checked once at the end. */
struct api_render {
	struct api_document document;
	size_t capacity;
	struct api_arena *arena;             /* holds scalars, and array data that does not belong to an owner below */
	struct api_lent lent[API_MOST_LENT]; /* owners of array data that lies elsewhere */
	bool failed;
};

bool api_render_start(struct api_render *render, struct api_arena *arena);
void api_render_number(struct api_render *render, json_t *object, const char *name, double value);
void api_render_integer(struct api_render *render, json_t *object, const char *name, int64_t value);
/* A mark for the array; its shape is [n] and up to two more lengths; 0 means none. */
json_t *api_render_array(struct api_render *render, enum api_dtype dtype, const void *data, size_t n, size_t inner,
                         size_t innermost);
/* Notes that the array of a new mark, or NULL, is finite: core has checked it, and a frame need not read it again.
 * @return node */
json_t *api_render_finite(struct api_render *render, json_t *node);
/**
 * Adds value to an object or a list. Takes over the reference; NULL marks a failure.
 * @return value, so that members can be added to it; NULL after a failure, with value freed. Adding to NULL also fails.
 */
json_t *api_render_add(struct api_render *render, json_t *object, const char *name, json_t *value);
json_t *api_render_append(struct api_render *render, json_t *list, json_t *value);
/* Transfers ownership of `what` to the answer, which gives it back at its end. */
void api_render_lend(struct api_render *render, void *what, void (*give_back)(void *what));
/* Releases everything that was lent. @param lent  [API_MOST_LENT] */
void api_lent_return(struct api_lent *lent);
/* Frees a tree that will not be printed, and releases what was lent. Has no effect on an answer that was not begun. */
void api_render_abandon(struct api_render *render);

#endif

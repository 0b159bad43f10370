/**
 * An answer under construction: a tree with marks, and the arrays that they stand for.
 */
#ifndef API_RENDER_H
#define API_RENDER_H

#include "api/base/arena.h"
#include "api/codec/document.h"

/* Something that arrays of the answer are part of, and how it is given back. */
struct api_lent {
	void *what; /* or NULL */
	void (*give_back)(void *what);
};

enum { API_MOST_LENT = 2 };

/* failed is sticky: set when memory runs out, checked once at the end. */
struct api_render {
	struct api_document document;
	size_t capacity;
	struct api_arena *arena;             /* of scalars; data that does not outlive the answer has to be in it */
	struct api_lent lent[API_MOST_LENT]; /* or in these */
	bool failed;
};

bool api_render_start(struct api_render *render, struct api_arena *arena);
void api_render_number(struct api_render *render, json_t *object, const char *name, double value);
void api_render_integer(struct api_render *render, json_t *object, const char *name, int64_t value);
/* A mark for the array; shape is [n] and up to two more lengths, 0 = none. */
json_t *api_render_array(struct api_render *render, enum api_dtype dtype, const void *data, size_t n, size_t inner,
                         size_t innermost);
/**
 * Adds value (whose reference is taken over; NULL marks a failure) to an object, or to a list.
 * @return value, so that members can be added to it; NULL after a failure, when it has been freed. Adding to NULL
 * fails, too.
 */
json_t *api_render_add(struct api_render *render, json_t *object, const char *name, json_t *value);
json_t *api_render_append(struct api_render *render, json_t *list, json_t *value);
/* Lends it to the answer, which gives it back at its end. */
void api_render_lend(struct api_render *render, void *what, void (*give_back)(void *what));
/* Gives back what was lent, if anything. @param lent  [API_MOST_LENT] */
void api_lent_return(struct api_lent *lent);
/* Frees a tree that will not be printed, and gives back what was lent; harmless on one that was never started. */
void api_render_abandon(struct api_render *render);

#endif

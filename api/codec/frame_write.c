#include "api/codec/frame_write.h"

#include <stdlib.h>
#include <string.h>

#include "api/base/account.h"
#include "api/base/pool.h"
#include "api/codec/frame.h"
#include "api/codec/print_array.h"

static const char zeros[FRAME_STEP];

struct writer {
	struct api_render *render;
	struct api_part *parts; /* the first one is reserved for the head */
	size_t n_parts;
	size_t tail_bytes;
	enum api_written failure; /* API_WRITE_NO_MEMORY unless set otherwise */
};

static bool is_binary(const struct api_array *array)
{
	return array->rank > 0 && array->n >= API_LEAST_BINARY;
}

static bool fits_i32(const int64_t *data, size_t n)
{
	uint64_t beyond = 0;
	for (size_t i = 0; i < n; i++)
		beyond |= (uint64_t)data[i] + 0x80000000u;
	return beyond >> 32 == 0;
}

/* Converts to i32 if all numbers fit. */
static bool narrow(struct api_render *render, struct api_array *array)
{
	const int64_t *data = array->data;
	if (array->dtype != API_I64 || !fits_i32(data, array->n))
		return true;
	int32_t *copy = api_arena_array(render->arena, array->n, sizeof(*copy));
	if (!copy)
		return false;
	for (size_t i = 0; i < array->n; i++)
		copy[i] = (int32_t)data[i];
	array->dtype = API_I32;
	array->data = copy;
	return true;
}

/* Appends the array to the tail. @return its offset */
static size_t append(struct writer *w, const struct api_array *array)
{
	const size_t offset = frame_round_up(w->tail_bytes), bytes = array->n * api_dtype_bytes(array->dtype);
	if (offset > w->tail_bytes)
		w->parts[w->n_parts++] = (struct api_part){zeros, offset - w->tail_bytes};
	w->parts[w->n_parts++] = (struct api_part){array->data, bytes};
	w->tail_bytes = offset + bytes;
	return offset;
}

/* Makes the reference to an array of the tail; NULL after a failure. */
static json_t *reference(struct writer *w, struct api_array array)
{
	struct api_render *render = w->render;
	int64_t *shape = api_arena_array(render->arena, API_MAX_RANK, sizeof(*shape));
	json_t *object = json_object();
	const bool finite = api_array_is_finite(&array, render->document.n_threads);
	if (!finite && !api_account_is_stopped())
		w->failure = API_NOT_FINITE;
	if (!shape || !object || !finite || !narrow(render, &array)) {
		json_decref(object);
		return NULL;
	}
	for (int i = 0; i < array.rank; i++)
		shape[i] = (int64_t)array.shape[i];
	api_render_add(render, object, "dtype", json_string(api_dtype_name(array.dtype)));
	api_render_add(render, object, "shape", api_render_array(render, API_I64, shape, (size_t)array.rank, 0, 0));
	api_render_integer(render, object, "offset", (int64_t)append(w, &array));
	return object;
}

/* Replaces the marks of large arrays below an object with references. The arrays are emptied, so that no room is
 * reserved for them in the text. */
static void refer(struct writer *w, json_t *object)
{
	for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i)) {
		json_t *value = json_object_iter_value(i);
		const struct api_array *array = api_document_array(&w->render->document, value);
		if (!array) {
			refer(w, value); /* objects inside an array have no arrays of their own */
		} else if (is_binary(array)) {
			const size_t mark = (size_t)json_integer_value(value);
			w->render->failed |= json_object_iter_set_new(object, i, reference(w, *array)) != 0;
			w->render->document.arrays[mark] = (struct api_array){0};
		}
	}
}

static bool reserve_parts(struct writer *w)
{
	const struct api_document *d = &w->render->document;
	size_t n = 1;
	for (size_t k = 0; k < d->n_arrays; k++)
		n += is_binary(&d->arrays[k]) ? 2 : 0;
	w->parts = malloc(n * sizeof(*w->parts));
	w->n_parts = 1;
	return w->parts;
}

/* Adds the length before the text and the padding after it. */
static bool wrap(struct api_pool *pool, const char *text, size_t text_bytes, struct api_frame *frame)
{
	const size_t bytes = frame_round_up(FRAME_LENGTH_BYTES + text_bytes);
	const uint64_t length = bytes - FRAME_LENGTH_BYTES;
	frame->head = api_pool_take(pool, bytes);
	frame->head_bytes = bytes;
	if (!frame->head)
		return false;
	memset(frame->head, ' ', bytes);
	memcpy(frame->head, &length, FRAME_LENGTH_BYTES);
	memcpy(frame->head + FRAME_LENGTH_BYTES, text, text_bytes);
	return true;
}

/* Assembles the parts, once all except the head are complete. */
static enum api_written finish(struct writer *w, size_t max_bytes, struct api_frame *frame)
{
	struct api_buffer text = {.pool = w->render->arena->pool};
	const enum api_written written = api_document_write_json(&w->render->document, max_bytes, &text);
	if (written != API_WRITTEN)
		return written;
	const bool wrapped = wrap(text.pool, text.data, text.bytes, frame);
	api_buffer_free(&text);
	if (!wrapped)
		return API_WRITE_NO_MEMORY;
	frame->bytes = frame->head_bytes + w->tail_bytes;
	w->parts[0] = (struct api_part){frame->head, frame->head_bytes};
	return frame->bytes > max_bytes ? API_TOO_LONG : API_WRITTEN;
}

enum api_written api_frame_write(struct api_render *render, size_t max_bytes, struct api_frame *frame)
{
	struct writer w = {.render = render, .failure = API_WRITE_NO_MEMORY};
	*frame = (struct api_frame){0};
	if (!reserve_parts(&w))
		return API_WRITE_NO_MEMORY;
	refer(&w, render->document.root);
	const enum api_written written = render->failed ? w.failure : finish(&w, max_bytes, frame);
	frame->parts = w.parts;
	frame->n_parts = w.n_parts;
	if (written != API_WRITTEN)
		api_frame_free(render, frame);
	return written;
}

void api_frame_free(struct api_render *render, struct api_frame *frame)
{
	api_pool_give(render->arena->pool, frame->head, frame->head_bytes);
	free(frame->parts);
	*frame = (struct api_frame){0};
}

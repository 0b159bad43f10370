#include "api/frame.h"

#include <stdlib.h>
#include <string.h>

#include "api/render.h"

enum { LENGTH_BYTES = 8, STEP = 64 };

static const char zeros[STEP];

struct writer {
	struct api_render *render;
	struct api_part *parts; /* the first one is left for the head */
	size_t n_parts;
	size_t tail_bytes;
};

static size_t round_up(size_t n)
{
	return (n + STEP - 1) / STEP * STEP;
}

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

/* i32 where they fit. */
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

/* The array goes behind the others. @return its offset */
static size_t append(struct writer *w, const struct api_array *array)
{
	const size_t offset = round_up(w->tail_bytes), bytes = array->n * api_dtype_bytes(array->dtype);
	if (offset > w->tail_bytes)
		w->parts[w->n_parts++] = (struct api_part){zeros, offset - w->tail_bytes};
	w->parts[w->n_parts++] = (struct api_part){array->data, bytes};
	w->tail_bytes = offset + bytes;
	return offset;
}

/* What stands in the document for an array of the tail; NULL after a failure. */
static json_t *reference(struct writer *w, struct api_array array)
{
	struct api_render *render = w->render;
	int64_t *shape = api_arena_array(render->arena, API_MAX_RANK, sizeof(*shape));
	json_t *object = json_object();
	if (!shape || !object || !narrow(render, &array)) {
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

/* Replaces the marks of large arrays below an object. */
static void refer(struct writer *w, json_t *object)
{
	for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i)) {
		json_t *value = json_object_iter_value(i);
		const struct api_array *array = api_document_array(&w->render->document, value);
		if (!array)
			refer(w, value); /* arrays of the tree hold objects without arrays */
		else if (is_binary(array) && json_object_iter_set_new(object, i, reference(w, *array)))
			w->render->failed = true;
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

/* The text with its length before it and padding behind it. */
static char *wrap(const char *text, size_t text_bytes, size_t *head_bytes)
{
	*head_bytes = round_up(LENGTH_BYTES + text_bytes);
	const uint64_t length = *head_bytes - LENGTH_BYTES;
	char *head = malloc(*head_bytes);
	if (!head)
		return NULL;
	memset(head, ' ', *head_bytes);
	memcpy(head, &length, LENGTH_BYTES);
	memcpy(head + LENGTH_BYTES, text, text_bytes);
	return head;
}

/* The parts but for the first, and the document: what is left to do is to put them together. */
static bool finish(struct writer *w, size_t max_bytes, struct api_frame *frame)
{
	struct api_buffer text = {0};
	size_t head_bytes = 0;
	enum api_written written = api_document_write_json(&w->render->document, max_bytes, &text);
	frame->bytes = written == API_TOO_LONG ? max_bytes + 1 : 0;
	if (written != API_WRITTEN)
		return false;
	frame->head = wrap(text.data, text.bytes, &head_bytes);
	api_buffer_free(&text);
	frame->bytes = frame->head ? head_bytes + w->tail_bytes : 0;
	if (!frame->head || frame->bytes > max_bytes)
		return false;
	w->parts[0] = (struct api_part){frame->head, head_bytes};
	frame->parts = w->parts;
	frame->n_parts = w->n_parts;
	return true;
}

bool api_frame_write(struct api_render *render, size_t max_bytes, struct api_frame *frame)
{
	struct writer w = {.render = render};
	*frame = (struct api_frame){0};
	if (!reserve_parts(&w))
		return false;
	refer(&w, render->document.root);
	if (!render->failed && finish(&w, max_bytes, frame))
		return true;
	free(frame->head);
	free(w.parts);
	return false;
}

#include "api/codec/render.h"

#include <stdlib.h>
#include <string.h>

#include "api/codec/frame.h"

enum { LONGEST_JOINED = 64 << 10 };

bool api_render_start(struct api_render *render, struct api_arena *arena)
{
	*render = (struct api_render){.arena = arena, .document.root = json_object()};
	render->failed = !render->document.root;
	return !render->failed;
}

static json_t *added(struct api_render *render, json_t *value, int failure)
{
	render->failed |= failure != 0;
	return failure ? NULL : value;
}

json_t *api_render_add(struct api_render *render, json_t *object, const char *name, json_t *value)
{
	return added(render, value, json_object_set_new_nocheck(object, name, value)); /* names are our own, in ASCII */
}

json_t *api_render_append(struct api_render *render, json_t *list, json_t *value)
{
	return added(render, value, json_array_append_new(list, value));
}

static bool reserve(struct api_render *render)
{
	struct api_document *d = &render->document;
	if (d->n_arrays < render->capacity)
		return true;
	const size_t capacity = render->capacity ? 2 * render->capacity : 8;
	struct api_array *arrays = api_pool_resize(render->arena->pool, d->arrays, d->arrays_bytes, capacity * sizeof(*arrays));
	if (!arrays)
		return false;
	d->arrays = arrays;
	d->arrays_bytes = capacity * sizeof(*arrays);
	d->pool = render->arena->pool;
	render->capacity = capacity;
	return true;
}

static json_t *mark(struct api_render *render, const struct api_array *array)
{
	if (!array->data || !reserve(render)) {
		render->failed = true;
		return NULL;
	}
	render->document.arrays[render->document.n_arrays] = *array;
	return json_integer((json_int_t)render->document.n_arrays++);
}

json_t *api_render_array(struct api_render *render, enum api_dtype dtype, const void *data, size_t n, size_t inner,
                         size_t innermost)
{
	struct api_array array = {.dtype = dtype, .rank = 1, .shape = {n, inner, innermost}, .n = n, .data = data};
	if (inner)
		array.rank++, array.n *= inner;
	if (innermost)
		array.rank++, array.n *= innermost;
	return mark(render, &array);
}

static void render_scalar(struct api_render *render, json_t *object, const char *name, enum api_dtype dtype,
                          const void *value)
{
	const struct api_array scalar = {.dtype = dtype, .n = 1, .data = value};
	api_render_add(render, object, name, mark(render, &scalar));
}

void api_render_number(struct api_render *render, json_t *object, const char *name, double value)
{
	double *copy = api_arena_array(render->arena, 1, sizeof(*copy));
	if (copy)
		*copy = value;
	render_scalar(render, object, name, API_F64, copy);
}

void api_render_integer(struct api_render *render, json_t *object, const char *name, int64_t value)
{
	int64_t *copy = api_arena_array(render->arena, 1, sizeof(*copy));
	if (copy)
		*copy = value;
	render_scalar(render, object, name, API_I64, copy);
}

/* A body could not be written. */
static bool refuse(enum api_written why, size_t max_bytes, struct api_fault *fault)
{
	if (why == API_TOO_LONG)
		return api_fault_set(fault, 413, "the answer would be longer than the limit of %zu bytes", max_bytes);
	if (why == API_NOT_FINITE)
		return api_fault_set(fault, 500, "a number of the answer is not finite; please report this with the request's id");
	return api_fault_no_memory(fault);
}

static bool print_json(struct api_render *render, size_t max_bytes, struct api_fault *fault,
                       struct api_response *response)
{
	struct api_buffer text = {.pool = render->arena->pool};
	enum api_written written = api_document_write_json(&render->document, max_bytes, &text);
	if (written != API_WRITTEN)
		return refuse(written, max_bytes, fault);
	response->body = text.data;
	response->body_bytes = text.bytes;
	response->body_capacity = text.capacity;
	response->pool = text.pool;
	return true;
}

/* What the parts of an answer point into. */
struct kept {
	struct api_arena arena;
	struct fric_pattern *pattern;
};

static void release(void *owner)
{
	struct kept *kept = owner;
	api_arena_free(&kept->arena);
	fric_pattern_free(kept->pattern);
	free(kept);
}

static bool keep_parts(struct api_render *render, const struct api_frame *frame, struct api_response *response)
{
	struct kept *kept = malloc(sizeof(*kept));
	if (!kept)
		return false;
	*kept = (struct kept){*render->arena, render->pattern};
	*render->arena = (struct api_arena){.pool = kept->arena.pool};
	render->pattern = NULL;
	response->owner = kept;
	response->release = release;
	response->body = frame->head;
	response->body_capacity = frame->head_bytes;
	response->pool = kept->arena.pool;
	response->parts = frame->parts;
	response->n_parts = (int)frame->n_parts;
	return true;
}

static bool join_parts(struct api_render *render, struct api_frame *frame, struct api_response *response)
{
	char *end = api_pool_take(render->arena->pool, frame->bytes);
	if (!end)
		return false;
	response->body = end;
	response->body_capacity = frame->bytes;
	response->pool = render->arena->pool;
	for (size_t i = 0; i < frame->n_parts; end += frame->parts[i++].n)
		memcpy(end, frame->parts[i].bytes, frame->parts[i].n);
	api_frame_free(render, frame);
	return true;
}

/* A short frame is worth more in one piece: it leaves in one packet, and the arrays need not wait for it. */
static bool print_frame(struct api_render *render, size_t max_bytes, struct api_fault *fault,
                        struct api_response *response)
{
	struct api_frame frame;
	const enum api_written written = api_frame_write(render, max_bytes, &frame);
	if (written != API_WRITTEN)
		return refuse(written, max_bytes, fault);
	const size_t bytes = frame.bytes;
	const bool whole = bytes <= LONGEST_JOINED || frame.n_parts > API_MAX_PARTS;
	if (whole ? join_parts(render, &frame, response) : keep_parts(render, &frame, response)) {
		response->body_bytes = bytes;
		return true;
	}
	api_frame_free(render, &frame);
	return api_fault_no_memory(fault);
}

bool api_render_finish(struct api_render *render, enum api_format format, size_t max_bytes, struct api_fault *fault,
                       struct api_response *response)
{
	bool ok = !render->failed || api_fault_no_memory(fault);
	ok = ok && (format == API_FRAME ? print_frame : print_json)(render, max_bytes, fault, response);
	if (ok) {
		response->status = 200;
		response->content_type = api_format_type(format);
	}
	api_render_abandon(render);
	return ok;
}

void api_render_abandon(struct api_render *render)
{
	json_decref(render->document.root);
	api_pool_give(render->document.pool, render->document.arrays, render->document.arrays_bytes);
	fric_pattern_free(render->pattern);
	render->document = (struct api_document){0};
	render->pattern = NULL;
}

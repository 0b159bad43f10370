#include "api/render.h"

#include <stdlib.h>

bool api_render_start(struct api_render *render, struct api_arena *arena)
{
	*render = (struct api_render){.arena = arena, .document.root = json_object()};
	render->failed = !render->document.root;
	return !render->failed;
}

void api_render_add(struct api_render *render, json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value))
		render->failed = true;
}

static bool reserve(struct api_render *render)
{
	struct api_document *d = &render->document;
	if (d->n_arrays < render->capacity)
		return true;
	const size_t capacity = render->capacity ? 2 * render->capacity : 32;
	struct api_array *arrays = realloc(d->arrays, capacity * sizeof(*arrays));
	if (!arrays)
		return false;
	d->arrays = arrays;
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

static bool print(struct api_render *render, size_t max_bytes, struct api_fault *fault, struct api_response *response)
{
	struct api_buffer text = {.pool = render->arena->pool};
	enum api_written written = API_WRITE_NO_MEMORY;
	if (!render->failed)
		written = api_document_write_json(&render->document, max_bytes, &text);
	if (written == API_WRITTEN) {
		response->status = 200;
		response->content_type = "application/json";
		response->body = text.data;
		response->body_bytes = text.bytes;
		response->body_capacity = text.capacity;
		response->pool = text.pool;
		return true;
	}
	if (written == API_TOO_LONG)
		return api_fault_set(fault, 413, "the answer would be longer than the limit of %zu bytes", max_bytes);
	return api_fault_set(fault, 503, "not enough memory for this request now");
}

bool api_render_finish(struct api_render *render, size_t max_bytes, struct api_fault *fault,
                       struct api_response *response)
{
	const bool ok = print(render, max_bytes, fault, response);
	api_render_abandon(render);
	return ok;
}

void api_render_abandon(struct api_render *render)
{
	json_decref(render->document.root);
	free(render->document.arrays);
	render->document = (struct api_document){0};
}

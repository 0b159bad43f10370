#include "api/codec/render.h"

#include "api/base/pool.h"

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
	return added(render, value, json_object_set_new_nocheck(object, name, value)); /* names are our own ASCII text */
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
	struct api_array *arrays =
		api_pool_resize(render->arena->pool, d->arrays, d->arrays_bytes, capacity * sizeof(*arrays));
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

json_t *api_render_finite(struct api_render *render, json_t *node)
{
	if (node)
		render->document.arrays[json_integer_value(node)].finite = true;
	return node;
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

void api_render_lend(struct api_render *render, void *what, void (*give_back)(void *what))
{
	struct api_lent *lent = render->lent;
	while (lent->what)
		lent++;
	*lent = (struct api_lent){what, give_back};
}

void api_lent_return(struct api_lent *lent)
{
	for (int i = 0; i < API_MOST_LENT; i++) {
		if (lent[i].what)
			lent[i].give_back(lent[i].what);
		lent[i].what = NULL;
	}
}

void api_render_abandon(struct api_render *render)
{
	json_decref(render->document.root);
	api_pool_give(render->document.pool, render->document.arrays, render->document.arrays_bytes);
	api_lent_return(render->lent);
	render->document = (struct api_document){0};
}

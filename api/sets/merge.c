#include "api/sets/merge.h"

#include <string.h>

#include "api/base/account.h"
#include "api/base/pool.h"

/* Renumbers marks: a patch's mark k becomes the mark n_before + k of the merged document. */
static void shift_marks(json_t *node, json_int_t n_before)
{
	const char *key;
	json_t *value;
	if (json_is_integer(node))
		json_integer_set(node, json_integer_value(node) + n_before);
	json_object_foreach(node, key, value) {
		shift_marks(value, n_before);
	}
	for (size_t i = 0; i < json_array_size(node); i++)
		shift_marks(json_array_get(node, i), n_before);
}

static bool add_arrays(struct api_document *document, const struct api_document *patch)
{
	const size_t bytes = (document->n_arrays + patch->n_arrays) * sizeof(*document->arrays);
	if (patch->n_arrays == 0)
		return true;
	struct api_array *arrays = api_pool_resize(document->pool, document->arrays, document->arrays_bytes, bytes);
	if (!arrays)
		return false;
	memcpy(arrays + document->n_arrays, patch->arrays, patch->n_arrays * sizeof(*arrays));
	document->arrays = arrays;
	document->arrays_bytes = bytes;
	document->n_arrays += patch->n_arrays;
	return true;
}

static json_t *merged(json_t *target, json_t *patch);

static bool merge_member(json_t *object, const char *key, json_t *patch)
{
	if (json_is_null(patch)) {
		json_object_del(object, key); /* fails harmlessly if it is absent */
		return true;
	}
	json_t *value = merged(json_object_get(object, key), patch);
	return value && !json_object_set_new_nocheck(object, key, value);
}

/**
 * MergePatch of RFC 7396, section 2. An object is changed in place.
 * @param target  NULL: nothing to merge into
 * @return a new reference; NULL when out of memory, or if the request was stopped
 */
static json_t *merged(json_t *target, json_t *patch)
{
	const char *key;
	json_t *value;
	if (!json_is_object(patch))
		return json_incref(patch);
	json_t *object = json_is_object(target) ? json_incref(target) : json_object();
	json_object_foreach(patch, key, value)
		if (api_account_is_stopped() || !object || !merge_member(object, key, value)) {
			json_decref(object);
			return NULL;
		}
	return object;
}

bool api_merge(struct api_document *document, struct api_document *patch, struct api_fault *fault)
{
	const json_int_t n_before = (json_int_t)document->n_arrays;
	if (!add_arrays(document, patch))
		return api_fault_no_memory(fault);
	shift_marks(patch->root, n_before);
	json_t *root = merged(document->root, patch->root);
	if (!root)
		return api_account_is_stopped() ? api_fault_stopped(fault) : api_fault_no_memory(fault);
	json_decref(document->root);
	document->root = root;
	return true;
}

/* The member of an object that is an object itself, made if it is absent. @return NULL when out of memory */
static json_t *inner_object(json_t *object, const char *name)
{
	json_t *inner = json_object_get(object, name);
	return inner || json_object_set_new(object, name, json_object()) ? inner : json_object_get(object, name);
}

bool api_patch_add(struct api_document *patch, const char *group, const char *name, const double *values, size_t n,
                   size_t width, struct api_fault *fault)
{
	struct api_array array = {.dtype = API_F64, .rank = 2, .shape = {n, width}, .n = n * width, .data = values};
	const struct api_document one = {.arrays = &array, .n_arrays = 1};
	const json_int_t mark = (json_int_t)patch->n_arrays;
	json_t *object = inner_object(inner_object(patch->root, "collisions"), group);
	return (add_arrays(patch, &one) && !json_object_set_new(object, name, json_integer(mark))) ||
	       api_fault_no_memory(fault);
}

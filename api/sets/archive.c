#include "api/sets/archive.h"

#include <string.h>

#include "api/base/account.h"
#include "api/codec/frame.h"

enum { SPAN = 1 << 16 }; /* numbers between two checks of the stop flag */

/* An array and its offset in the tail. */
struct placed {
	const struct api_array *array;
	enum api_dtype dtype; /* the stored type */
	size_t offset;
};

struct writer {
	const struct api_document *document;
	struct placed *placed; /* [document->n_arrays] */
	size_t n_placed, tail_bytes;
};

static size_t span_end(size_t begin, size_t n)
{
	return n - begin < SPAN ? n : begin + SPAN;
}

/* Sets the fault of a failed allocation in a tree, which may be a lack of memory or a stopped request. @return false */
static bool no_memory(struct api_fault *fault)
{
	return api_account_is_stopped() ? api_fault_stopped(fault) : api_fault_no_memory(fault);
}

/* ---- arrays ---- */

/* Whether every number equals an i32, including its sign. */
static bool fit_i32(const double *x, size_t n)
{
	if (!api_reals_are_within(x, n, INT32_MIN, INT32_MAX))
		return false; /* converting this number would be undefined */
	bool fit = true;
	for (size_t i = 0; i < n; i++)
		fit &= x[i] == (double)(int32_t)x[i] && !(x[i] == 0 && __builtin_signbit(x[i]));
	return fit;
}

/* Chooses i32 for integers, which then take half the memory, and as indices can be used in place. Empty lists keep
 * their type. */
static enum api_dtype stored_dtype(const struct api_array *array)
{
	if (array->dtype != API_F64 || array->n == 0)
		return array->dtype;
	for (size_t i = 0; i < array->n; i = span_end(i, array->n))
		if (api_account_is_stopped() || !fit_i32((const double *)array->data + i, span_end(i, array->n) - i))
			return API_F64;
	return API_I32;
}

static void store_span(const struct placed *placed, size_t begin, size_t n, char *tail)
{
	const struct api_array *array = placed->array;
	const size_t bytes = api_dtype_bytes(placed->dtype);
	char *to = tail + placed->offset + begin * bytes;
	if (placed->dtype == array->dtype) {
		memcpy(to, (const char *)array->data + begin * bytes, n * bytes);
		return;
	}
	for (size_t i = 0; i < n; i++)
		((int32_t *)(void *)to)[i] = (int32_t)((const double *)array->data)[begin + i];
}

static bool store(const struct placed *placed, char *tail, struct api_fault *fault)
{
	const size_t n = placed->array->n;
	for (size_t i = 0; i < n; i = span_end(i, n)) {
		if (api_account_is_stopped())
			return api_fault_stopped(fault);
		store_span(placed, i, span_end(i, n) - i, tail);
	}
	return true;
}

/* ---- the document ---- */

/* An array with more levels than its shape records must be empty, because it passed the checks. */
static json_t *shape_of(const struct api_array *array)
{
	json_t *shape = json_array();
	int failure = 0;
	for (int i = 0; i < array->rank; i++)
		failure |= json_array_append_new(shape, json_integer(i < API_MAX_RANK ? (json_int_t)array->shape[i] : 0));
	if (!failure)
		return shape;
	json_decref(shape);
	return NULL;
}

/* The reference to a stored array; NULL when out of memory. */
static json_t *reference(const struct placed *placed)
{
	json_t *object = json_object();
	if (!json_object_set_new(object, "dtype", json_string(api_dtype_name(placed->dtype))) &&
	    !json_object_set_new(object, "shape", shape_of(placed->array)) &&
	    !json_object_set_new(object, "offset", json_integer((json_int_t)placed->offset)))
		return object;
	json_decref(object);
	return NULL;
}

static json_t *place(struct writer *w, const struct api_array *array)
{
	struct placed *placed = &w->placed[w->n_placed++];
	*placed = (struct placed){array, stored_dtype(array), frame_round_up(w->tail_bytes)};
	w->tail_bytes = placed->offset + array->n * api_dtype_bytes(placed->dtype);
	return reference(placed);
}

/* Replaces the marks below a node with references. @return false when out of memory */
static bool refer(struct writer *w, json_t *node)
{
	for (void *i = json_object_iter(node); i; i = json_object_iter_next(node, i)) {
		const struct api_array *array = api_document_array(w->document, json_object_iter_value(i));
		if (array ? json_object_iter_set_new(node, i, place(w, array)) : !refer(w, json_object_iter_value(i)))
			return false;
	}
	for (size_t i = 0; i < json_array_size(node); i++) {
		const struct api_array *array = api_document_array(w->document, json_array_get(node, i));
		if (array ? json_array_set_new(node, i, place(w, array)) : !refer(w, json_array_get(node, i)))
			return false;
	}
	return true;
}

/* ---- the stored block ---- */

static bool fill(const struct writer *w, size_t text_bytes, size_t head_bytes, struct api_archive *archive,
                 struct api_fault *fault)
{
	const uint64_t length = head_bytes - FRAME_LENGTH_BYTES;
	memset(archive->bytes, ' ', head_bytes);
	memcpy(archive->bytes, &length, FRAME_LENGTH_BYTES);
	if (json_dumpb(w->document->root, archive->bytes + FRAME_LENGTH_BYTES, text_bytes, JSON_COMPACT) != text_bytes)
		return no_memory(fault);
	for (size_t i = 0; i < w->n_placed; i++)
		if (!store(&w->placed[i], archive->bytes + head_bytes, fault))
			return false;
	return true;
}

static bool write_block(const struct writer *w, struct api_archive *archive, struct api_fault *fault)
{
	const size_t text_bytes = json_dumpb(w->document->root, NULL, 0, JSON_COMPACT),
				 head_bytes = frame_round_up(FRAME_LENGTH_BYTES + text_bytes);
	archive->n = head_bytes + w->tail_bytes;
	archive->bytes = text_bytes ? api_pool_take(archive->pool, archive->n) : NULL;
	if (!archive->bytes)
		return no_memory(fault);
	if (fill(w, text_bytes, head_bytes, archive, fault))
		return true;
	api_archive_free(archive);
	return false;
}

bool api_archive_write(struct api_document *document, struct api_arena *arena, struct api_archive *archive,
                       struct api_fault *fault)
{
	struct writer w = {.document = document,
	                   .placed = api_arena_array(arena, document->n_arrays, sizeof(struct placed))};
	if (!w.placed || !refer(&w, document->root))
		return no_memory(fault);
	return write_block(&w, archive, fault);
}

/**
 * Doubles are read back as if the text had contained integers: as reals they are the same, and those that passed as
 * indices were integers in some form, such as -0. All are finite, because they passed the checks.
 */
bool api_archive_read(const struct api_archive *archive, struct api_arena *arena, struct api_document *document,
                      struct api_fault *fault)
{
	const struct api_part whole = {archive->bytes, archive->n};
	if (!api_frame_read(&whole, 1, SIZE_MAX, arena, document, fault))
		return false;
	for (size_t k = 0; k < document->n_arrays; k++) {
		struct api_array *array = &document->arrays[k];
		if (array->binary && array->dtype == API_F64) {
			array->binary = false;
			array->first_non_integer = array->n;
		}
	}
	return true;
}

void api_archive_free(struct api_archive *archive)
{
	api_pool_give(archive->pool, archive->bytes, archive->n);
	archive->bytes = NULL;
	archive->n = 0;
}

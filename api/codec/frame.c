#include "api/codec/frame.h"

#include <stdlib.h>
#include <string.h>

#include "api/base/account.h"
#include "api/codec/hint.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays of a frame are used where they are");

enum { ALIGNMENT = 8, LEAST_COUNTED = 1000 };
#define MOST_EXACT 9007199254740992.0 /* 2^53: sizes in a document are doubles */

/* A range of the tail. */
struct stretch {
	size_t offset, bytes;
	size_t mark; /* mark of the range's array; ascending in document order */
};

struct reader {
	struct api_part first;        /* the bytes of the tail in the same part as the document */
	const struct api_part *parts; /* parts of the frame */
	size_t tail_bytes;
	size_t at, begin; /* a part of the tail, and its offset there */
	struct api_arena *arena;
	struct api_document *document;
	struct stretch *stretches;
	size_t n_stretches, capacity; /* capacity: in stretches; the arrays have room for as many references in
	                               * addition to lifted arrays */
	size_t n_lifted;
	struct api_fault *fault;
};

static bool no_memory(struct reader *r)
{
	api_fault_no_memory(r->fault);
	return false; /* a literal, so that the static analyser sees it */
}

static bool wrong(struct reader *r, const struct api_path *path, const char *detail)
{
	return api_fault_at(r->fault, API_E_MALFORMED_FRAME, path, "%s", detail);
}

/* ---- one reference ---- */

static bool is_member(const char *key)
{
	return !strcmp(key, "dtype") || !strcmp(key, "shape") || !strcmp(key, "offset");
}

static bool is_reference(json_t *node)
{
	const char *key;
	json_t *value;
	if (!json_is_object(node) || json_object_size(node) == 0)
		return false;
	if (json_object_get(node, "dtype"))
		return true;
	json_object_foreach(node, key, value)
		if (!is_member(key))
			return false;
	return true;
}

static bool check_members(struct reader *r, json_t *node, const struct api_path *path)
{
	const char *key;
	json_t *value;
	json_object_foreach(node, key, value)
		if (!is_member(key))
			return api_fault_at(r->fault, API_E_MALFORMED_FRAME, path,
			                    "a reference has only \"dtype\", \"shape\" and \"offset\", not \"%.200s\"", key);
	return json_object_size(node) == 3 ||
	       wrong(r, path, "a reference needs all of \"dtype\", \"shape\" and \"offset\"");
}

static bool read_dtype(struct reader *r, const json_t *node, const struct api_path *path, enum api_dtype *dtype)
{
	if (json_is_string(node))
		for (enum api_dtype d = API_F64; d <= API_I64; d++)
			if (!strcmp(json_string_value(node), api_dtype_name(d))) {
				*dtype = d;
				return true;
			}
	return wrong(r, path, "\"dtype\" must be f64, f32, i32, u32 or i64");
}

static bool is_size(double value)
{
	return value >= 0 && value <= MOST_EXACT;
}

/* Reads the lengths and their product n; SIZE_MAX if it is larger than any tail. */
static bool read_shape(struct reader *r, const json_t *node, const struct api_path *path, struct api_array *array)
{
	const struct api_array *shape = api_document_array(r->document, node);
	if (!shape || shape->ragged || shape->rank != 1 || shape->first_non_integer < shape->n)
		return wrong(r, path, "\"shape\" must be a list of integers");
	const double *length = shape->data;
	bool empty = false;
	array->n = 1;
	for (size_t i = 0; i < shape->n; i++) {
		if (!is_size(length[i]))
			return wrong(r, path, "a length in \"shape\" is not a valid count");
		if (i < API_MAX_RANK)
			array->shape[i] = (size_t)length[i];
		empty |= length[i] == 0;
		if (!empty && __builtin_mul_overflow(array->n, (size_t)length[i], &array->n))
			array->n = SIZE_MAX;
	}
	array->n = empty ? 0 : array->n;
	array->rank = shape->n <= API_MAX_RANK ? (int)shape->n : API_MAX_RANK + 1;
	return true;
}

static bool read_offset(struct reader *r, const json_t *node, const struct api_path *path, size_t *offset)
{
	const struct api_array *number = api_document_array(r->document, node);
	const double *value = number ? number->data : NULL;
	if (!number || number->rank != 0 || number->first_non_integer == 0 || !is_size(*value))
		return wrong(r, path, "\"offset\" must be a non-negative integer");
	*offset = (size_t)*value;
	return *offset % ALIGNMENT == 0 || wrong(r, path, "\"offset\" must be a multiple of 8");
}

/* ---- the tail ---- */

static struct api_part part_of(const struct reader *r, size_t i)
{
	return i == 0 ? r->first : r->parts[i];
}

/* Moves to the part that contains the byte at an offset. Offsets of references mostly ascend, so it is close. */
static void seek(struct reader *r, size_t offset)
{
	while (offset < r->begin)
		r->begin -= part_of(r, --r->at).n;
	while (offset - r->begin >= part_of(r, r->at).n)
		r->begin += part_of(r, r->at++).n;
}

/* Copies bytes of the tail, which may lie in several parts. @return false if the request was stopped meanwhile */
static bool gather(struct reader *r, size_t offset, size_t bytes, char *copy)
{
	for (size_t n; bytes > 0; offset += n, copy += n, bytes -= n) {
		seek(r, offset);
		const struct api_part part = part_of(r, r->at);
		const size_t within = offset - r->begin, rest = part.n - within;
		n = bytes < rest ? bytes : rest;
		api_account_copy_body(copy, (const char *)part.bytes + within, n);
	}
	return !api_account_is_stopped();
}

/* The bytes of the tail, if they lie in one part and are aligned there; NULL otherwise. */
static const void *in_place(struct reader *r, size_t offset, size_t bytes)
{
	seek(r, offset);
	const struct api_part part = part_of(r, r->at);
	const char *data = (const char *)part.bytes + (offset - r->begin);
	return (uintptr_t)data % ALIGNMENT == 0 && bytes <= part.n - (offset - r->begin) ? data : NULL;
}

static bool place(struct reader *r, const struct api_path *path, size_t offset, struct api_array *array)
{
	static const double nothing[1];
	const size_t size = api_dtype_bytes(array->dtype);
	if (offset > r->tail_bytes || array->n > (r->tail_bytes - offset) / size)
		return api_fault_at(r->fault, API_E_MALFORMED_FRAME, path,
		                    "the array extends beyond the tail, which has %zu bytes", r->tail_bytes);
	array->data = array->n ? in_place(r, offset, array->n * size) : nothing;
	if (array->data)
		return true;
	void *copy = api_arena_array(r->arena, array->n, size);
	if (!copy)
		return no_memory(r);
	array->data = copy;
	return gather(r, offset, array->n * size, copy) || no_memory(r);
}

static bool reserve(struct reader *r)
{
	if (r->n_stretches < r->capacity)
		return true;
	const size_t capacity = r->capacity ? 2 * r->capacity : 32;
	struct api_document *d = r->document;
	const size_t bytes = capacity * sizeof(*r->stretches), arrays_bytes = (r->n_lifted + capacity) * sizeof(*d->arrays);
	struct stretch *stretches = api_pool_resize(d->pool, r->stretches, r->capacity * sizeof(*stretches), bytes);
	if (!stretches)
		return no_memory(r);
	r->stretches = stretches;
	r->capacity = capacity;
	struct api_array *arrays = api_pool_resize(d->pool, d->arrays, d->arrays_bytes, arrays_bytes);
	if (!arrays)
		return no_memory(r);
	d->arrays = arrays;
	d->arrays_bytes = arrays_bytes;
	return true;
}

static bool read_reference(struct reader *r, json_t *node, const struct api_path *path)
{
	struct api_array array = {.binary = true};
	size_t offset = 0;
	if (!check_members(r, node, path) || !read_dtype(r, json_object_get(node, "dtype"), path, &array.dtype) ||
	    !read_shape(r, json_object_get(node, "shape"), path, &array) ||
	    !read_offset(r, json_object_get(node, "offset"), path, &offset) || !place(r, path, offset, &array) ||
	    !reserve(r))
		return false;
	array.first_non_integer = array.dtype == API_F64 || array.dtype == API_F32 ? 0 : array.n;
	const size_t mark = r->document->n_arrays++, bytes = array.n * api_dtype_bytes(array.dtype);
	r->document->arrays[mark] = array;
	r->stretches[r->n_stretches++] = (struct stretch){offset, bytes, mark};
	return true;
}

/* ---- all references ---- */

/* Sets *mark to the node's replacement, or to NULL if the node stays. */
static bool resolve(struct reader *r, json_t *node, const struct api_path *path, json_t **mark);

static bool resolve_members(struct reader *r, json_t *object, const struct api_path *path)
{
	for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i)) {
		const struct api_path member = {path, json_object_iter_key(i), 0};
		json_t *mark;
		if (!resolve(r, json_object_iter_value(i), &member, &mark))
			return false;
		if (mark && json_object_iter_set_new(object, i, mark))
			return no_memory(r);
	}
	return true;
}

static bool resolve_entries(struct reader *r, json_t *array, const struct api_path *path)
{
	for (size_t i = 0; i < json_array_size(array); i++) {
		const struct api_path entry = {path, NULL, i};
		json_t *mark;
		if (!resolve(r, json_array_get(array, i), &entry, &mark))
			return false;
		if (mark && json_array_set_new(array, i, mark))
			return no_memory(r);
	}
	return true;
}

static bool resolve(struct reader *r, json_t *node, const struct api_path *path, json_t **mark)
{
	*mark = NULL;
	if (api_account_is_stopped())
		return api_fault_stopped(r->fault);
	if (json_is_array(node))
		return resolve_entries(r, node, path);
	if (!json_is_object(node))
		return true;
	if (!is_reference(node))
		return resolve_members(r, node, path);
	if (!read_reference(r, node, path))
		return false;
	*mark = json_integer((json_int_t)r->document->n_arrays - 1);
	return *mark || no_memory(r);
}

static int by_offset(const void *a, const void *b)
{
	const struct stretch *s = a, *t = b;
	return s->offset != t->offset ? s->offset < t->offset ? -1 : 1 : s->mark < t->mark ? -1 : s->mark > t->mark;
}

/* Points the fault at the place of the mark in the tree. @return whether it was found below node */
static bool fault_at_mark(struct reader *r, const json_t *node, const struct api_path *path, size_t mark)
{
	const char *key;
	json_t *value;
	if (json_is_integer(node) && (size_t)json_integer_value(node) == mark)
		return !wrong(r, path, "the array overlaps another one in the tail");
	json_object_foreach((json_t *)(uintptr_t)node, key, value) {
		const struct api_path member = {path, key, 0};
		if (fault_at_mark(r, value, &member, mark))
			return true;
	}
	for (size_t i = 0; i < json_array_size(node); i++) {
		const struct api_path entry = {path, NULL, i};
		if (fault_at_mark(r, json_array_get(node, i), &entry, mark))
			return true;
	}
	return false;
}

/* qsort allocates a copy of the array without an account, so the same amount is taken from the budget meanwhile. */
static bool sort(struct reader *r)
{
	const size_t bytes = r->n_stretches * sizeof(*r->stretches);
	void *counted = r->n_stretches > LEAST_COUNTED ? api_pool_take(r->document->pool, bytes) : NULL;
	if (r->n_stretches > LEAST_COUNTED && !counted)
		return false;
	if (r->n_stretches)
		qsort(r->stretches, r->n_stretches, sizeof(*r->stretches), by_offset);
	api_pool_give(r->document->pool, counted, bytes);
	return true;
}

static bool check_overlaps(struct reader *r, const struct api_path *root)
{
	const struct stretch *before = NULL;
	if (!sort(r))
		return no_memory(r);
	for (size_t i = 0; i < r->n_stretches; i++) {
		const struct stretch *s = &r->stretches[i];
		if (s->bytes == 0)
			continue;
		if (before && before->offset + before->bytes > s->offset) {
			fault_at_mark(r, r->document->root, root, s->mark > before->mark ? s->mark : before->mark);
			return false;
		}
		before = s;
	}
	return true;
}

/* ---- the container ---- */

/* Explains a body sent as a frame whose first bytes are not a length. Read as a length, text exceeds all limits. So do
 * gzip's bytes, unless the compressor leaves out the time, as many libraries do; then the number is not a length that a
 * padded document can have. */
static bool explain_body(const char *body, size_t bytes, struct api_fault *fault)
{
	const struct api_path root = {0};
	const uint64_t longest = (uint64_t)1 << 40, gzip_without_time = 0x088b1f;
	uint64_t n = 0;
	memcpy(&n, body, bytes < FRAME_LENGTH_BYTES ? bytes : FRAME_LENGTH_BYTES);
	if (bytes >= FRAME_LENGTH_BYTES && n <= longest && n != gzip_without_time)
		return true;
	const char *hint = api_hint_of_body(body, bytes);
	if (!hint && api_looks_like_json(body, bytes))
		hint = "the body is JSON text; its Content-Type is application/json";
	else if (!hint && bytes >= FRAME_LENGTH_BYTES && __builtin_bswap64(n) <= bytes - FRAME_LENGTH_BYTES)
		hint = "the length at the start is big-endian; it must be little-endian";
	else if (!hint && bytes > FRAME_LENGTH_BYTES && body[4] == '{')
		hint = "the length at the start has 4 bytes; it must have 8";
	return !hint || api_fault_at(fault, API_E_NOT_A_FRAME, &root, "%s", hint);
}

/* @param part   the frame's first part
 * @param bytes  length of the whole frame */
static bool check_length(const struct api_part *part, size_t bytes, size_t max_document_bytes, size_t *length,
                         struct api_fault *fault)
{
	const struct api_path root = {0};
	uint64_t n = 0;
	if (!explain_body(part->bytes, part->n, fault))
		return false;
	if (bytes < FRAME_LENGTH_BYTES)
		return api_fault_at(fault, API_E_MALFORMED_FRAME, &root,
		                    "a frame starts with 8 bytes that state the length of its document");
	memcpy(&n, part->bytes, FRAME_LENGTH_BYTES);
	if (n > bytes - FRAME_LENGTH_BYTES)
		return api_fault_at(fault, API_E_MALFORMED_FRAME, &root,
		                    "the document would take %llu bytes, but only %zu follow its length", (unsigned long long)n,
		                    bytes - FRAME_LENGTH_BYTES);
	if ((FRAME_LENGTH_BYTES + n) % FRAME_STEP)
		return api_fault_at(fault, API_E_MALFORMED_FRAME, &root,
		                    "the document must be padded with spaces until its length plus 8 is a multiple of 64; the"
		                    " length is %llu",
		                    (unsigned long long)n);
	*length = (size_t)n;
	return n <= max_document_bytes ||
	       api_fault_set(fault, API_E_BODY_TOO_LONG,
	                     "the frame's document of %zu bytes is longer than the limit of %zu bytes", *length,
	                     max_document_bytes);
}

bool api_frame_begins_whole(const struct api_part *part)
{
	uint64_t n = 0;
	if (part->n < FRAME_LENGTH_BYTES)
		return false;
	memcpy(&n, part->bytes, FRAME_LENGTH_BYTES);
	return n <= part->n - FRAME_LENGTH_BYTES;
}

static bool resolve_root(struct reader *r)
{
	const struct api_path root = {0};
	json_t *mark;
	if (!resolve(r, r->document->root, &root, &mark))
		return false;
	if (mark) {
		json_decref(r->document->root);
		r->document->root = mark;
	}
	return check_overlaps(r, &root);
}

bool api_frame_read(const struct api_part *parts, size_t n_parts, size_t max_document_bytes, struct api_arena *arena,
                    struct api_document *document, struct api_fault *fault)
{
	struct api_text_fault text;
	const char *body = parts->bytes;
	size_t length = 0, bytes = 0;
	for (size_t i = 0; i < n_parts; i++)
		bytes += parts[i].n;
	if (!check_length(parts, bytes, max_document_bytes, &length, fault))
		return false;
	if (!api_document_read_pooled(arena->pool, body + FRAME_LENGTH_BYTES, length, document, &text))
		return api_fault_text(fault, &text);
	const size_t head = FRAME_LENGTH_BYTES + length;
	struct reader r = {.first = {body + head, parts->n - head},
	                   .parts = parts,
	                   .tail_bytes = bytes - head,
	                   .arena = arena,
	                   .document = document,
	                   .n_lifted = document->n_arrays,
	                   .fault = fault};
	const bool ok = resolve_root(&r);
	api_pool_give(document->pool, r.stretches, r.capacity * sizeof(*r.stretches));
	if (!ok)
		api_document_free(document);
	return ok;
}

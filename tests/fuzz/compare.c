#include "tests/fuzz/compare.h"

#include "tests/fuzz/fuzz.h"

/* ---- two trees ---- */

static void same_members(const json_t *a, const json_t *b)
{
	/* jansson's iterators take non-const objects. */
	json_t *x = (json_t *)(uintptr_t)a, *y = (json_t *)(uintptr_t)b;
	void *i = json_object_iter(x), *j = json_object_iter(y);
	for (; i && j; i = json_object_iter_next(x, i), j = json_object_iter_next(y, j)) {
		FUZZ_CHECK(!strcmp(json_object_iter_key(i), json_object_iter_key(j)), "%s", json_object_iter_key(i));
		fuzz_same_trees(json_object_iter_value(i), json_object_iter_value(j));
	}
	FUZZ_CHECK(!i && !j, "objects of different size");
}

void fuzz_same_trees(const json_t *a, const json_t *b)
{
	FUZZ_CHECK(json_typeof(a) == json_typeof(b), "types %d and %d", (int)json_typeof(a), (int)json_typeof(b));
	if (json_is_object(a)) {
		same_members(a, b);
	} else if (json_is_array(a)) {
		FUZZ_CHECK(json_array_size(a) == json_array_size(b), "arrays of different size");
		for (size_t i = 0; i < json_array_size(a); i++)
			fuzz_same_trees(json_array_get(a, i), json_array_get(b, i));
	} else {
		FUZZ_CHECK(json_equal(a, b), "different values");
	}
}

/* ---- a document and jansson's tree ---- */

/* Depth of a nested array of numbers; -1 for anything else. */
static int nest_depth(const json_t *node)
{
	if (json_is_number(node))
		return 0;
	if (!json_is_array(node))
		return -1;
	int depth = 0;
	for (size_t i = 0; i < json_array_size(node); i++) {
		const int inner = nest_depth(json_array_get(node, i));
		if (inner < 0)
			return -1;
		depth = inner > depth ? inner : depth;
	}
	return depth + 1;
}

/* Whether every entry of a nested array has the shape of the first entry at its level. */
static bool is_regular(const json_t *node, const json_t *first)
{
	if (!json_is_array(node) || !json_is_array(first))
		return !json_is_array(node) && !json_is_array(first);
	if (json_array_size(node) != json_array_size(first))
		return false;
	for (size_t i = 0; i < json_array_size(node); i++)
		if (!is_regular(json_array_get(node, i), json_array_get(first, 0)))
			return false;
	return true;
}

static size_t count_numbers(const json_t *node)
{
	size_t n = json_is_number(node);
	for (size_t i = 0; i < json_array_size(node); i++)
		n += count_numbers(json_array_get(node, i));
	return n;
}

static void same_rows(const struct api_array *array, const json_t *expected, int level, size_t *i)
{
	if (level == array->rank) {
		const double value = json_real_value(expected);
		FUZZ_CHECK(json_is_real(expected), "a row of more than %d levels", array->rank);
		FUZZ_CHECK(!memcmp((const double *)array->data + *i, &value, sizeof(value)), "entry %zu is not %.17g", *i,
		           value);
		++*i;
		return;
	}
	FUZZ_CHECK(json_array_size(expected) == array->shape[level], "%zu rows", json_array_size(expected));
	for (size_t row = 0; row < array->shape[level]; row++)
		same_rows(array, json_array_get(expected, row), level + 1, i);
}

static void leads_to_an_entry(const struct api_array *array, const json_t *node)
{
	FUZZ_CHECK(array->ragged_depth >= 1 && array->ragged_depth <= API_MAX_RANK, "%d", array->ragged_depth);
	for (int i = 0; i < array->ragged_depth; i++)
		node = json_array_get(node, array->ragged_path[i]);
	FUZZ_CHECK(node, "the path of a ragged array leads nowhere");
}

static void same_array(const struct api_array *array, const json_t *expected)
{
	size_t i = 0;
	const int depth = nest_depth(expected);
	FUZZ_CHECK(depth >= 0 && depth <= API_MAX_RANK, "lifted at depth %d", depth);
	FUZZ_CHECK(array->n == count_numbers(expected), "%zu numbers", array->n);
	FUZZ_CHECK(array->dtype == API_F64 && !array->binary, "no text's array");
	FUZZ_CHECK(array->data && (uintptr_t)array->data % 8 == 0, "not aligned");
	FUZZ_CHECK(array->ragged == !is_regular(expected, expected), "ragged is %d", array->ragged);
	if (array->ragged) {
		leads_to_an_entry(array, expected);
		return;
	}
	FUZZ_CHECK(array->rank == depth, "rank %d, not %d", array->rank, depth);
	same_rows(array, expected, 0, &i);
}

static void same_node(const struct api_document *document, const json_t *node, const json_t *expected);

static void same_container(const struct api_document *document, const json_t *node, const json_t *expected)
{
	for (size_t i = 0; i < json_array_size(node); i++)
		same_node(document, json_array_get(node, i), json_array_get(expected, i));
	json_t *x = (json_t *)(uintptr_t)node, *y = (json_t *)(uintptr_t)expected;
	void *i = json_object_iter(x), *j = json_object_iter(y);
	for (; i && j; i = json_object_iter_next(x, i), j = json_object_iter_next(y, j)) {
		FUZZ_CHECK(!strcmp(json_object_iter_key(i), json_object_iter_key(j)), "%s", json_object_iter_key(i));
		same_node(document, json_object_iter_value(i), json_object_iter_value(j));
	}
	FUZZ_CHECK(!i && !j, "objects of different size");
}

static void same_node(const struct api_document *document, const json_t *node, const json_t *expected)
{
	const struct api_array *array = api_document_array(document, node);
	if (array) {
		same_array(array, expected);
		return;
	}
	FUZZ_CHECK(json_typeof(node) == json_typeof(expected) && !json_is_number(node), "type %d", (int)json_typeof(node));
	if (json_is_array(node)) {
		const int depth = nest_depth(expected);
		FUZZ_CHECK(depth < 0 || depth > API_MAX_RANK || json_array_size(node) == 0, "not lifted at depth %d", depth);
		FUZZ_CHECK(json_array_size(node) == json_array_size(expected), "arrays of different size");
	}
	if (json_is_array(node) || json_is_object(node))
		same_container(document, node, expected);
	else
		FUZZ_CHECK(json_equal(node, expected), "different values");
}

void fuzz_same_as_jansson(const struct api_document *document, const json_t *expected)
{
	same_node(document, document->root, expected);
}

/* ---- integers and reals ---- */

/* Adds to *i the number of integers before the first real in a nested array. @return whether there is a real */
static bool first_real(const json_t *node, size_t *i)
{
	if (json_is_real(node))
		return true;
	*i += json_is_integer(node);
	for (size_t k = 0; k < json_array_size(node); k++)
		if (first_real(json_array_get(node, k), i))
			return true;
	return false;
}

static void same_integers(const struct api_document *document, const json_t *node, const json_t *expected)
{
	const struct api_array *array = api_document_array(document, node);
	const char *key;
	json_t *value;
	if (array) {
		size_t i = 0;
		first_real(expected, &i);
		FUZZ_CHECK(array->first_non_integer == i, "first real at %zu, not %zu", array->first_non_integer, i);
		return;
	}
	for (size_t i = 0; i < json_array_size(node); i++)
		same_integers(document, json_array_get(node, i), json_array_get(expected, i));
	json_object_foreach((json_t *)(uintptr_t)node, key, value)
		same_integers(document, value, json_object_get(expected, key));
}

void fuzz_same_integers(const struct api_document *document, const json_t *expected)
{
	same_integers(document, document->root, expected);
}

/* ---- two documents ---- */

double fuzz_value(const struct api_array *array, size_t i)
{
	switch (array->dtype) {
	case API_F32: return (double)((const float *)array->data)[i];
	case API_I32: return ((const int32_t *)array->data)[i];
	case API_U32: return ((const uint32_t *)array->data)[i];
	case API_I64: return (double)((const int64_t *)array->data)[i];
	case API_F64: break;
	}
	return ((const double *)array->data)[i];
}

/* An empty array keeps its complete shape in a frame; in JSON text the shape ends at the innermost brackets. */
static void same_shapes(const struct api_array *a, const struct api_array *b)
{
	FUZZ_CHECK(!a->ragged && !b->ragged && a->n == b->n, "%zu and %zu numbers", a->n, b->n);
	FUZZ_CHECK(a->n == 0 || a->rank == b->rank, "ranks %d and %d", a->rank, b->rank);
	for (int i = 0; i < a->rank && i < b->rank; i++)
		FUZZ_CHECK(a->shape[i] == b->shape[i], "lengths %zu and %zu", a->shape[i], b->shape[i]);
}

static void same_arrays(const struct api_array *a, const struct api_array *b)
{
	same_shapes(a, b);
	for (size_t i = 0; i < a->n; i++) {
		const double x = fuzz_value(a, i), y = fuzz_value(b, i);
		FUZZ_CHECK(!memcmp(&x, &y, sizeof(x)), "entry %zu: %.17g and %.17g", i, x, y);
	}
}

static void same_nodes(const struct api_document *a, const json_t *x, const struct api_document *b, const json_t *y)
{
	const struct api_array *p = api_document_array(a, x), *q = api_document_array(b, y);
	const char *key;
	json_t *value;
	FUZZ_CHECK(!p == !q, "an array here, none there");
	if (p) {
		same_arrays(p, q);
		return;
	}
	FUZZ_CHECK(json_typeof(x) == json_typeof(y), "types %d and %d", (int)json_typeof(x), (int)json_typeof(y));
	FUZZ_CHECK(json_object_size(x) == json_object_size(y), "objects of different size");
	FUZZ_CHECK(json_array_size(x) == json_array_size(y), "arrays of different size");
	json_object_foreach((json_t *)(uintptr_t)x, key, value) {
		FUZZ_CHECK(json_object_get(y, key), "%s is missing", key);
		same_nodes(a, value, b, json_object_get(y, key));
	}
	for (size_t i = 0; i < json_array_size(x); i++)
		same_nodes(a, json_array_get(x, i), b, json_array_get(y, i));
	if (!json_is_object(x) && !json_is_array(x))
		FUZZ_CHECK(json_equal(x, y), "different values");
}

void fuzz_same_documents(const struct api_document *a, const struct api_document *b)
{
	same_nodes(a, a->root, b, b->root);
}

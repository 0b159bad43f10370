/* Compares the reading of a frame's container and references with a second, slow implementation. Input: a byte of
 * flags, then the body, or (bit 0) the document up to a 0xFF byte and the tail, from which the body is assembled here
 * because random bytes hardly ever have the right length. Bits 1 to 3: misalignment of the body. A body whose document is
 * whole is also read in parts. */
#include "api/codec/frame.h"

#include "tests/fuzz/compare.h"
#include "tests/fuzz/fuzz.h"

enum { ASSEMBLED = 1, STEP = 64, MOST_DOCUMENT = 4096, MOST_REFERENCES = 256, MOST_PARTS = 24 };

/* ---- expected references ---- */

struct expected {
	const char *tail;
	size_t tail_bytes;
	struct {
		size_t begin, end;
	} stretches[MOST_REFERENCES];
	size_t n;
	bool unsure; /* the document has more references than this struct can store */
};

static bool is_reference(const json_t *node)
{
	static const char *const names[] = {"dtype", "shape", "offset"};
	size_t known = 0;
	for (int i = 0; i < 3; i++)
		known += json_object_get(node, names[i]) != NULL;
	return json_is_object(node) && known > 0 && (json_object_get(node, "dtype") || known == json_object_size(node));
}

static int dtype_of(const json_t *node)
{
	const json_t *dtype = json_object_get(node, "dtype");
	for (int d = API_F64; d <= API_I64; d++)
		if (json_is_string(dtype) && !strcmp(json_string_value(dtype), api_dtype_name((enum api_dtype)d)))
			return d;
	return -1;
}

/* Sizes in a document are read as doubles, which are exact up to 2^53. */
static bool is_size(const json_t *node)
{
	return json_is_integer(node) && json_integer_value(node) >= 0 &&
	       (double)json_integer_value(node) <= 9007199254740992.0;
}

/* Computes the number of entries, or a huge number if that overflows. */
static bool count_of(const json_t *shape, size_t *n)
{
	bool empty = false;
	if (!json_is_array(shape))
		return false;
	*n = 1;
	for (size_t i = 0; i < json_array_size(shape); i++) {
		const json_t *length = json_array_get(shape, i);
		if (!is_size(length))
			return false;
		const size_t k = (size_t)json_integer_value(length);
		empty = empty || k == 0;
		*n = k && *n > SIZE_MAX / 2 / k ? SIZE_MAX / 2 : *n * (k ? k : 1);
	}
	*n = empty ? 0 : *n;
	return true;
}

/* Whether the reference is valid by itself; records its range of the tail. */
static bool is_sound(struct expected *e, const json_t *node)
{
	const json_t *offset = json_object_get(node, "offset");
	const int dtype = dtype_of(node);
	size_t n;
	if (json_object_size(node) != 3 || dtype < 0 || !count_of(json_object_get(node, "shape"), &n) || !is_size(offset))
		return false;
	const size_t begin = (size_t)json_integer_value(offset), size = api_dtype_bytes((enum api_dtype)dtype);
	if (begin % 8 || begin > e->tail_bytes || n > (e->tail_bytes - begin) / size)
		return false;
	e->unsure |= e->n == MOST_REFERENCES;
	if (n && !e->unsure) {
		e->stretches[e->n].begin = begin;
		e->stretches[e->n++].end = begin + n * size;
	}
	return true;
}

static bool are_sound(struct expected *e, const json_t *node)
{
	const char *key;
	json_t *value;
	if (is_reference(node))
		return is_sound(e, node);
	json_object_foreach((json_t *)(uintptr_t)node, key, value)
		if (!are_sound(e, value))
			return false;
	for (size_t i = 0; i < json_array_size(node); i++)
		if (!are_sound(e, json_array_get(node, i)))
			return false;
	return true;
}

static bool are_apart(const struct expected *e)
{
	for (size_t i = 0; i < e->n; i++)
		for (size_t j = 0; j < i; j++)
			if (e->stretches[i].begin < e->stretches[j].end && e->stretches[j].begin < e->stretches[i].end)
				return false;
	return true;
}

/* ---- comparison ---- */

static void same_reference(const struct expected *e, const struct api_array *array, const json_t *node)
{
	const json_t *shape = json_object_get(node, "shape");
	const size_t rank = json_array_size(shape);
	size_t n = 0;
	count_of(shape, &n);
	FUZZ_CHECK(!array->ragged && (int)array->dtype == dtype_of(node) && array->n == n, "%zu", array->n);
	FUZZ_CHECK((size_t)array->rank == (rank > API_MAX_RANK ? API_MAX_RANK + 1 : rank), "rank %d", array->rank);
	for (size_t i = 0; i < rank && i < API_MAX_RANK; i++)
		FUZZ_CHECK((double)array->shape[i] == (double)json_integer_value(json_array_get(shape, i)), "length %zu", i);
	const char *begin = e->tail + json_integer_value(json_object_get(node, "offset"));
	FUZZ_CHECK((uintptr_t)array->data % 8 == 0, "not aligned");
	FUZZ_CHECK(n == 0 || !memcmp(array->data, begin, n * api_dtype_bytes(array->dtype)), "other bytes");
}

static void same_node(const struct expected *e, const struct api_document *document, const json_t *node,
                      const json_t *expected)
{
	const struct api_array *array = api_document_array(document, node);
	const char *key;
	json_t *value;
	FUZZ_CHECK(is_reference(expected) == (array && array->binary), "a reference missed or invented");
	if (array && array->binary)
		same_reference(e, array, expected);
	if (array)
		return;
	FUZZ_CHECK(json_typeof(node) == json_typeof(expected), "type %d", (int)json_typeof(node));
	FUZZ_CHECK(json_object_size(node) == json_object_size(expected), "objects of different size");
	FUZZ_CHECK(json_array_size(node) == json_array_size(expected), "arrays of different size");
	json_object_foreach((json_t *)(uintptr_t)node, key, value)
		same_node(e, document, value, json_object_get(expected, key));
	for (size_t i = 0; i < json_array_size(node); i++)
		same_node(e, document, json_array_get(node, i), json_array_get(expected, i));
}

/* ---- one input ---- */

/* Without a document a pointer has no target, so it must be empty. */
static void check_fault(const struct api_fault *fault, bool document)
{
	FUZZ_CHECK(fault->status == 400 || (fault->status == 413 && !fault->n_errors), "%d", fault->status);
	FUZZ_CHECK(fault->status == 413 || fault->n_errors == 1 || fault->code == API_E_NAN_IN_JSON, "%d errors",
	           fault->n_errors);
	if (fault->status == 400)
		FUZZ_CHECK(fault->errors[0].detail[0], "no words");
	if (fault->status == 400 && !document)
		FUZZ_CHECK(!fault->errors[0].pointer[0], "%s", fault->errors[0].pointer);
}

static bool is_container(const char *body, size_t bytes, size_t *length)
{
	uint64_t n = 0;
	if (bytes < 8)
		return false;
	memcpy(&n, body, 8);
	*length = (size_t)n;
	return n <= bytes - 8 && (n + 8) % STEP == 0 && n <= MOST_DOCUMENT;
}

/* Cuts the tail into parts whose lengths depend on its bytes, mostly multiples of 8. Each is a copy of exactly its size. */
static size_t cut(const char *body, size_t bytes, size_t head, struct api_part parts[MOST_PARTS])
{
	size_t n_parts = 0;
	uint64_t state = bytes;
	for (size_t begin = 0, end; begin < bytes || n_parts == 0; begin = end) {
		state = state * 6364136223846793005u + (uint8_t)body[begin < bytes ? begin : 0] + 1;
		const size_t step = (size_t)(state >> 40) % 5 * 8 + (state >> 60 == 0 ? 3 : 0);
		end = (n_parts ? begin : head) + step;
		end = end > bytes || n_parts == MOST_PARTS - 1 ? bytes : end;
		char *copy = end > begin ? malloc(end - begin) : NULL;
		FUZZ_CHECK(copy || end == begin, "out of memory");
		if (copy)
			memcpy(copy, body + begin, end - begin);
		parts[n_parts++] = (struct api_part){copy, end - begin};
	}
	return n_parts;
}

/* In parts the frame has the same arrays, or the same fault. */
static void check_parts(const struct expected *e, const json_t *tree, const char *body, size_t bytes, size_t head,
                        const struct api_fault *expected)
{
	static struct api_fault fault;
	struct api_part parts[MOST_PARTS];
	struct api_arena arena = {0};
	struct api_document document;
	const size_t n_parts = cut(body, bytes, head, parts);
	api_fault_clear(&fault);
	const bool accepted = api_frame_read(parts, n_parts, MOST_DOCUMENT, &arena, &document, &fault);
	FUZZ_CHECK(accepted == !expected->status, "%s", accepted ? expected->errors[0].detail : fault.errors[0].detail);
	if (accepted && tree)
		same_node(e, &document, document.root, tree);
	if (accepted)
		api_document_free(&document);
	else
		FUZZ_CHECK(fault.code == expected->code && fault.n_errors == expected->n_errors &&
		               (!fault.n_errors || (!strcmp(fault.errors[0].detail, expected->errors[0].detail) &&
		                                    !strcmp(fault.errors[0].pointer, expected->errors[0].pointer))),
		           "%s", fault.errors[0].detail);
	for (size_t i = 0; i < n_parts; i++)
		free((void *)(uintptr_t)parts[i].bytes);
	api_arena_free(&arena);
}

static void check(const char *body, size_t bytes)
{
	static struct api_fault fault;
	struct api_arena arena = {0};
	struct api_document document;
	size_t length = 0;
	const bool container = is_container(body, bytes, &length);
	const bool readable = container && !memchr(body + 8, 0, length);
	const size_t head = container ? 8 + length : bytes;
	json_error_t error = {0};
	json_t *tree = readable ? json_loadb(body + 8, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error) : NULL;
	const bool too_big = readable && !tree && strstr(error.text, "integer");
	struct expected e = {.tail = body + head, .tail_bytes = bytes - head};
	const bool sound = tree && are_sound(&e, tree) && are_apart(&e);
	api_fault_clear(&fault);
	const bool accepted = api_frame_read(&(struct api_part){body, bytes}, 1, MOST_DOCUMENT, &arena, &document, &fault);
	FUZZ_CHECK(accepted == sound || too_big || e.unsure, "%s", accepted ? "accepted" : fault.errors[0].detail);
	if (accepted && tree)
		same_node(&e, &document, document.root, tree);
	if (accepted)
		api_document_free(&document);
	else
		check_fault(&fault, tree || too_big);
	if (container)
		check_parts(&e, tree, body, bytes, head, &fault);
	json_decref(tree);
	api_arena_free(&arena);
}

static size_t assemble(struct fuzz_input *input, char *body)
{
	const uint8_t *mark = memchr(input->at, 0xFF, fuzz_left(input));
	const uint8_t *text_end = mark ? mark : input->end, *tail = mark ? mark + 1 : input->end;
	const size_t text = (size_t)(text_end - input->at), head = (8 + text + STEP - 1) / STEP * STEP;
	const uint64_t length = head - 8;
	memset(body, ' ', head);
	memcpy(body, &length, 8);
	if (text)
		memcpy(body + 8, input->at, text);
	if (tail < input->end)
		memcpy(body + head, tail, (size_t)(input->end - tail));
	return head + (size_t)(input->end - tail);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, data + size};
	const uint8_t flags = fuzz_byte(&input);
	const size_t shift = flags >> 1 & 7, bytes = fuzz_left(&input);
	char *space = malloc(bytes + 2 * STEP);
	FUZZ_CHECK(space, "out of memory");
	size_t n = bytes;
	if (flags & ASSEMBLED)
		n = assemble(&input, space);
	else if (n)
		memcpy(space, input.at, n);
	char *body = malloc(shift + n + 1);
	FUZZ_CHECK(body, "out of memory");
	memcpy(body + shift, space, n);
	free(space);
	body = realloc(body, shift + n ? shift + n : 1); /* exact, so that the sanitizer detects overruns */
	FUZZ_CHECK(body, "out of memory");
	check(body + shift, n);
	free(body);
	return 0;
}

#include "api/codec/document.h"

#include "api/base/account.h"
#include "api/base/pool.h"
#include "api/codec/hint.h"
#include "api/codec/lift.h"
#include "api/codec/skeleton.h"

#include <stdio.h>
#include <string.h>

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Counts characters by their first bytes; continuation bytes of UTF-8 are 10xxxxxx. */
static void locate_between(const char *text, size_t begin, size_t end, struct api_text_fault *fault)
{
	for (size_t i = begin; i < end; i++) {
		if (text[i] == '\n') {
			fault->line++;
			fault->column = 1;
		} else if (((unsigned char)text[i] & 0xC0) != 0x80) {
			fault->column++;
		}
	}
}

static void locate(const char *text, struct api_text_fault *fault)
{
	fault->line = fault->column = 1;
	for (size_t i = 0; i < fault->offset && !api_account_is_stopped(); i += API_LOOK_BYTES)
		locate_between(text, i, smaller(i + API_LOOK_BYTES, fault->offset), fault);
}

/* A stopped request counts as blank, because the outcome is the same. */
static bool is_blank(const char *text, const char *end)
{
	const char *p = text;
	while (p < end && !api_account_is_stopped()) {
		const char *pause = p + smaller((size_t)(end - p), API_LOOK_BYTES);
		p = api_skip_blanks(p, pause);
		if (p < pause)
			return false;
	}
	return true;
}

/* The length of the token that jansson reports as the culprit, which ends at `position`; 0 if it reports none. */
static size_t token_bytes(const struct api_lift *lift, const json_error_t *error, size_t position)
{
	const char *near = strstr(error->text, " near '");
	if (!near || json_error_code(error) == json_error_invalid_utf8)
		return 0;
	near += strlen(" near '");
	size_t n = strlen(near);
	if (n == 0 || n - 1 > position || memcmp(lift->skeleton.data + position - (n - 1), near, n - 1) != 0)
		return 0;
	return n - 1;
}

/* Uses jansson's message, unless it mentions jansson's flags or our marks. */
static void describe(const json_error_t *error, bool at_mark, char *detail, size_t detail_bytes)
{
	const char *words = error->text;
	switch (json_error_code(error)) {
	case json_error_stack_overflow:
		snprintf(detail, detail_bytes, "nesting deeper than %d", JSON_PARSER_MAX_DEPTH);
		return;
	case json_error_null_character:
	case json_error_null_byte_in_key: words = "a string contains \\u0000"; break;
	case json_error_end_of_input_expected: words = "text follows the end of the value"; break;
	default: break;
	}
	snprintf(detail, detail_bytes, "%s", words);
	char *near = strstr(detail, " near '");
	if (at_mark && near)
		snprintf(near, detail_bytes - (size_t)(near - detail), "%s", " before a number or an array");
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Whether jansson ran out of memory. It then reports nothing, or complains about a valid string. */
static bool lacked_memory(const struct api_lift *lift, const json_error_t *error, size_t position)
{
	if (error->text[0] == '\0')
		return true;
	if (!starts_with(error->text, "invalid token") && !starts_with(error->text, "string or '}' expected"))
		return false;
	return position > 0 && lift->skeleton.data[position - 1] == '"';
}

/* Reports jansson's error, unless the lifting pass has stopped at an earlier one, where the skeleton ends. */
static void judge(struct api_lift *lift, const json_error_t *error, bool whole)
{
	/* jansson counts in int. Beyond INT_MAX the position is wrong, but still inside the skeleton. */
	size_t position = (size_t)(unsigned)error->position;
	if (position > lift->skeleton.bytes)
		position = lift->skeleton.bytes;
	if (lacked_memory(lift, error, position)) {
		api_text_fail(&lift->values.text, API_E_OUT_OF_MEMORY, NULL, "out of memory");
		return;
	}
	if (!whole && position == lift->skeleton.bytes)
		return;
	position -= token_bytes(lift, error, position);
	size_t offset = api_lift_text_offset(lift, position);
	lift->values.text.fault->code = API_E_MALFORMED_JSON;
	lift->values.text.fault->status = 400;
	lift->values.text.fault->offset = offset;
	bool at_mark = position < lift->skeleton.bytes && api_starts_number(lift->skeleton.data[position]);
	describe(error, at_mark, lift->values.text.fault->detail, sizeof lift->values.text.fault->detail);
}

/* The part of a skeleton that jansson has not read yet. */
struct source {
	const char *p, *end;
};

/* Feeds jansson in small portions, so that it ends soon after the request was stopped. */
static size_t feed(void *buffer, size_t most, void *closure)
{
	struct source *source = closure;
	const size_t n = api_account_is_stopped() ? 0 : smaller(most, (size_t)(source->end - source->p));
	memcpy(buffer, source->p, n);
	source->p += n;
	return n;
}

static json_t *ask_jansson(const struct api_lift *lift, json_error_t *error)
{
	struct source source = {lift->skeleton.data, lift->skeleton.data + lift->skeleton.bytes};
	return json_load_callback(feed, &source, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, error);
}

/* whole: whether the pass reached the end of the text; otherwise *fault has the reason */
static json_t *parse(struct api_lift *lift, bool whole)
{
	json_error_t error;
	json_t *root = whole ? api_skeleton_read(lift->skeleton.data, lift->skeleton.bytes) : NULL;
	if (!root)
		root = ask_jansson(lift, &error);
	if (root && whole)
		return root;
	if (!root)
		judge(lift, &error, whole);
	json_decref(root);
	return NULL;
}

static void hand_over(struct api_lift *lift, json_t *root, struct api_document *document)
{
	*document = (struct api_document){
		.root = root,
		.arrays = lift->arrays,
		.n_arrays = lift->n_arrays,
		.memory = lift->values.data,
		.memory_bytes = lift->values.capacity * sizeof *lift->values.data,
		.arrays_bytes = lift->arrays_capacity * sizeof *lift->arrays,
		.pool = lift->values.pool,
	};
	lift->arrays = NULL;
	lift->values.data = NULL;
}

static bool read_text(struct api_pool *pool, int most_rank, const char *text, size_t bytes,
                      struct api_document *document, struct api_text_fault *fault)
{
	static const char nothing[1];
	if (bytes == 0)
		text = nothing;
	struct api_lift lift = {
		.values = {.text = {.begin = text, .end = text + bytes, .fault = fault}, .pool = pool, .most_rank = most_rank}};
	*fault = (struct api_text_fault){0};
	json_t *root = NULL;
	if (is_blank(text, lift.values.text.end)) {
		api_text_fail(&lift.values.text, API_E_EMPTY_BODY, lift.values.text.end, "the body is empty");
	} else {
		bool whole = api_lift_text(&lift);
		if (fault->status != 503)
			root = parse(&lift, whole);
	}
	if (root)
		hand_over(&lift, root, document);
	else
		locate(text, fault);
	if (!root && fault->status == 400)
		api_hint_add(text, bytes, fault);
	if (!root && api_account_is_stopped())
		*fault = (struct api_text_fault){.code = API_E_STOPPED, .status = 503, .detail = "stopped"};
	api_lift_free(&lift);
	return root;
}

bool api_document_read_pooled(struct api_pool *pool, const char *text, size_t bytes, struct api_document *document,
                              struct api_text_fault *fault)
{
	return read_text(pool, API_MAX_RANK, text, bytes, document, fault);
}

bool api_document_read_rows(struct api_pool *pool, const char *text, size_t bytes, struct api_document *document,
                            struct api_text_fault *fault)
{
	return read_text(pool, 1, text, bytes, document, fault);
}

void api_document_free(struct api_document *document)
{
	json_decref(document->root);
	api_pool_give(document->pool, document->arrays, document->arrays_bytes);
	api_pool_give(document->pool, document->memory, document->memory_bytes);
	*document = (struct api_document){0};
}

const struct api_array *api_document_array(const struct api_document *document, const json_t *node)
{
	if (!json_is_integer(node))
		return NULL;
	json_int_t k = json_integer_value(node);
	return k >= 0 && (size_t)k < document->n_arrays ? &document->arrays[k] : NULL;
}

#include "tests/fuzz/judge.h"

#include <math.h>

#include "api/dispatch/format.h"
#include "api/codec/frame.h"
#include "api/codec/media.h"
#include "tests/fuzz/compare.h"
#include "tests/fuzz/fuzz.h"

char *fuzz_body(const struct api_response *response)
{
	char *whole = malloc(response->body_bytes + 1), *end = whole;
	FUZZ_CHECK(whole && (response->body || response->parts || !response->body_bytes), "no body");
	if (response->parts) {
		FUZZ_CHECK(response->n_parts > 0 && response->n_parts <= API_MAX_PARTS, "%d parts", response->n_parts);
		for (int i = 0; i < response->n_parts; end += response->parts[i++].n)
			memcpy(end, response->parts[i].bytes, response->parts[i].n);
		FUZZ_CHECK((size_t)(end - whole) == response->body_bytes, "parts of %td bytes", end - whole);
	} else if (response->body_bytes) {
		memcpy(whole, response->body, response->body_bytes);
	}
	whole[response->body_bytes] = '\0';
	return whole;
}

void fuzz_read_body(const struct api_response *response, const char *body, struct api_arena *arena,
                    struct api_document *document)
{
	static struct api_fault fault;
	struct api_text_fault text;
	api_fault_clear(&fault);
	if (!strcmp(response->content_type, api_media_frame))
		FUZZ_CHECK(api_frame_read(&(struct api_part){body, response->body_bytes}, 1, SIZE_MAX, arena, document, &fault),
		           "%s", fault.errors[0].detail);
	else
		FUZZ_CHECK(api_document_read_pooled(NULL, body, response->body_bytes, document, &text), "%s", text.detail);
}

void fuzz_same_answers(const struct api_response *a, const char *body_a, const struct api_response *b,
                       const char *body_b)
{
	FUZZ_CHECK(a->status == b->status, "%d and %d", a->status, b->status);
	FUZZ_CHECK(!strcmp(a->content_type, b->content_type), "%s and %s", a->content_type, b->content_type);
	FUZZ_CHECK(a->body_bytes == b->body_bytes && !memcmp(body_a, body_b, a->body_bytes), "\n%s\n%s", body_a, body_b);
}

/* ---- pointers ---- */

/* Unescapes the next token of a pointer. @return the rest of the pointer */
static const char *next_token(const char *pointer, char *token)
{
	FUZZ_CHECK(*pointer == '/', "\"%s\" is not a JSON Pointer", pointer);
	for (pointer++; *pointer && *pointer != '/'; pointer++) {
		if (*pointer == '~')
			FUZZ_CHECK(pointer[1] == '0' || pointer[1] == '1', "a broken escape: %s", pointer);
		*token++ = *pointer != '~' ? *pointer : *++pointer == '0' ? '~' : '/';
	}
	*token = '\0';
	return pointer;
}

static bool is_index(const char *token, size_t limit)
{
	char *end;
	const unsigned long long i = strtoull(token, &end, 10);
	return *token >= '0' && *token <= '9' && !*end && (*token != '0' || !token[1]) && i < limit;
}

/* Follows the rest of a pointer through the levels of an array. */
static bool leads_into(const struct api_array *array, const char *pointer)
{
	char token[API_MAX_POINTER];
	for (int level = 0; *pointer; level++) {
		pointer = next_token(pointer, token);
		if (!array->ragged && (level >= array->rank || level >= API_MAX_RANK || !is_index(token, array->shape[level])))
			return false;
	}
	return true;
}

/* Whether the pointer leads to a value, or to the object that lacks it. */
static bool leads_somewhere(const struct api_document *document, const char *pointer)
{
	const json_t *node = document->root;
	char token[API_MAX_POINTER];
	while (*pointer) {
		const struct api_array *array = api_document_array(document, node);
		if (array)
			return leads_into(array, pointer);
		pointer = next_token(pointer, token);
		if (json_is_object(node) && !json_object_get(node, token))
			return !*pointer;
		if (json_is_array(node) && !is_index(token, json_array_size(node)))
			return false;
		if (!json_is_object(node) && !json_is_array(node))
			return false;
		node = json_is_object(node) ? json_object_get(node, token) : json_array_get(node, strtoull(token, NULL, 10));
	}
	return true;
}

/* ---- problems ---- */

static bool has_words(const json_t *problem, const char *name)
{
	return json_is_string(json_object_get(problem, name)) && json_string_length(json_object_get(problem, name)) > 0;
}

static const char *header_of(const struct api_response *response, const char *name)
{
	for (int i = 0; i < response->n_headers; i++)
		if (!strcmp(response->headers[i].name, name))
			return response->headers[i].value;
	return NULL;
}

/* The operation if errors point into the body, else NULL. Errors of a patch point into the patched document. */
static const struct api_operation *reads_body(const struct api_request *request)
{
	struct api_match match;
	api_match(request->target, &match);
	const struct api_operation *operation = match.route ? api_operation_of(match.route, request->method) : NULL;
	return operation && operation->requests && strcmp(request->method, "PATCH") != 0 && !*match.url_query ? operation
	                                                                                                      : NULL;
}

/* The document made from a query no longer exists here; pointers must name one of its parameters, or an entry. */
static void check_pointers(const struct api_service *service, const struct api_request *request, const json_t *errors)
{
	static struct api_fault fault;
	struct api_arena arena = {0};
	struct api_document document = {0};
	struct api_formats formats = {API_JSON, API_JSON};
	struct api_request with_formats = *request;
	char token[API_MAX_POINTER];
	with_formats.formats = &formats;
	const struct api_operation *operation = reads_body(request);
	api_fault_clear(&fault);
	const bool judged = operation && api_formats_judge(request, operation, &formats, &fault);
	const bool readable = judged && api_format_read(service, &with_formats, &arena, &document, &fault);
	for (size_t i = 0; i < json_array_size(errors); i++) {
		const char *pointer = json_string_value(json_object_get(json_array_get(errors, i), "pointer"));
		FUZZ_CHECK(pointer && has_words(json_array_get(errors, i), "detail"), "error %zu is not complete", i);
		FUZZ_CHECK(!readable || leads_somewhere(&document, pointer), "%s leads nowhere", pointer);
		for (const char *p = pointer; *p;)
			p = next_token(p, token);
	}
	if (readable)
		api_document_free(&document);
	api_arena_free(&arena);
}

static void judge_problem(const struct api_service *service, const struct api_request *request,
                          const struct api_response *response, const char *body)
{
	json_error_t error;
	json_t *problem = json_loadb(body, response->body_bytes, JSON_REJECT_DUPLICATES, &error);
	FUZZ_CHECK(problem, "%s: %s", error.text, body);
	const json_t *errors = json_object_get(problem, "errors");
	FUZZ_CHECK(!strcmp(response->content_type, "application/problem+json"), "%s", response->content_type);
	FUZZ_CHECK(has_words(problem, "type") && has_words(problem, "title") && has_words(problem, "detail"), "%s", body);
	FUZZ_CHECK(json_integer_value(json_object_get(problem, "status")) == response->status, "%s", body);
	FUZZ_CHECK(json_is_array(errors) && (response->status != 422 || json_array_size(errors) > 0), "%s", body);
	FUZZ_CHECK((response->status == 405) == (header_of(response, "Allow") != NULL), "Allow");
	FUZZ_CHECK((response->status == 503) == (header_of(response, "Retry-After") != NULL), "Retry-After");
	check_pointers(service, request, errors);
	json_decref(problem);
}

/* A fault in the form of UM-Bridge, with exactly its members. */
static void judge_failure(const struct api_request *request, const struct api_response *response, const char *body)
{
	static const char *const types[] = {"InvalidInput", "ModelNotFound", "UnsupportedFeature", "InvalidOutput"};
	struct api_match match;
	json_t *root = json_loadb(body, response->body_bytes, JSON_REJECT_DUPLICATES, NULL),
		   *failure = json_object_get(root, "error");
	const char *type = json_string_value(json_object_get(failure, "type"));
	bool known = false;
	api_match(request->target, &match);
	FUZZ_CHECK(match.route && match.route->failure, "%s has no failures: %s", request->target, body);
	for (size_t i = 0; type && i < sizeof(types) / sizeof(types[0]); i++)
		known = known || !strcmp(type, types[i]);
	FUZZ_CHECK(known && response->status == (strcmp(type, "InvalidOutput") ? 400 : 500), "%d %s", response->status,
	           body);
	FUZZ_CHECK(json_object_size(root) == 1 && json_object_size(failure) == 2 && has_words(failure, "message"), "%s",
	           body);
	json_decref(root);
}

/* ---- responses ---- */

static size_t length_of(const struct api_document *document, const json_t *object, const char *name)
{
	const struct api_array *array = api_document_array(document, json_object_get(object, name));
	FUZZ_CHECK(array && !array->ragged, "no array %s", name);
	return array->n;
}

static double number_of(const struct api_document *document, const json_t *object, const char *name)
{
	const struct api_array *array = api_document_array(document, json_object_get(object, name));
	FUZZ_CHECK(array && array->rank == 0, "no number %s", name);
	return fuzz_value(array, 0);
}

static void check_range(const struct api_document *document, const json_t *object, const char *name, double limit)
{
	const struct api_array *array = api_document_array(document, json_object_get(object, name));
	for (size_t i = 0; i < array->n; i++) {
		const double value = fuzz_value(array, i);
		FUZZ_CHECK(value >= 0 && value < limit, "%s/%zu is %g", name, i, value);
	}
}

/* Requires ordered rows, with ascending columns in each. @param n_rows  of entries, or of blocks of `numbers` numbers
 * each */
static void check_rows(const struct api_document *document, const json_t *hessian, double n_rows, size_t numbers)
{
	const struct api_array *begin = api_document_array(document, json_object_get(hessian, "indptr")),
						   *indices = api_document_array(document, json_object_get(hessian, "indices"));
	const size_t n = length_of(document, hessian, "data") / numbers;
	if (!begin && !indices)
		return; /* values only */
	FUZZ_CHECK(length_of(document, hessian, "indices") == n, "%zu values", n);
	FUZZ_CHECK((double)length_of(document, hessian, "indptr") == n_rows + 1, "%zu rows", begin->n);
	check_range(document, hessian, "indices", n_rows);
	check_range(document, hessian, "indptr", (double)n + 1);
	FUZZ_CHECK(fuzz_value(begin, 0) == 0 && fuzz_value(begin, begin->n - 1) == (double)n, "rows do not hold all");
	for (size_t row = 0; row + 1 < begin->n; row++) {
		FUZZ_CHECK(fuzz_value(begin, row) <= fuzz_value(begin, row + 1), "row %zu", row);
		for (size_t i = (size_t)fuzz_value(begin, row) + 1; i < (size_t)fuzz_value(begin, row + 1); i++)
			FUZZ_CHECK(fuzz_value(indices, i - 1) < fuzz_value(indices, i), "entry %zu", i);
	}
}

static void check_hessian(const struct api_document *document, const json_t *hessian, double ndof, double n_vertices)
{
	const char *format = json_string_value(json_object_get(hessian, "format"));
	const size_t dim = ndof > 0 ? (size_t)(ndof / n_vertices) : 2;
	FUZZ_CHECK(format, "no format");
	if (!strcmp(format, "csr"))
		check_rows(document, hessian, ndof, 1);
	if (!strcmp(format, "bsr"))
		check_rows(document, hessian, n_vertices, dim * dim);
	if (strcmp(format, "triplets") != 0 || !json_object_get(hessian, "rows"))
		return;
	const size_t n = length_of(document, hessian, "values");
	FUZZ_CHECK(length_of(document, hessian, "rows") == n && length_of(document, hessian, "cols") == n, "%zu values", n);
	check_range(document, hessian, "rows", ndof);
	check_range(document, hessian, "cols", ndof);
}

static void check_evaluation(const struct api_document *document)
{
	const json_t *root = document->root, *gradient = json_object_get(root, "gradient"),
				 *hessian = json_object_get(root, "hessian");
	const double n_vertices = number_of(document, root, "n_vertices"),
				 ndof = gradient ? (double)length_of(document, root, "gradient") : 0;
	FUZZ_CHECK(!gradient || ndof == 2 * n_vertices || ndof == 3 * n_vertices, "%g of %g vertices", ndof, n_vertices);
	FUZZ_CHECK(number_of(document, root, "n_collisions") >= 0, "contacts");
	if (hessian && gradient)
		check_hessian(document, hessian, ndof, n_vertices);
}

/* The service's derivatives must agree for every request. */
static void check_check(const struct api_document *document)
{
	const json_t *root = document->root, *worst = json_object_get(root, "worst");
	FUZZ_CHECK((number_of(document, root, "n_collisions") == 0) == json_is_null(worst), "worst");
	FUZZ_CHECK(json_is_true(json_object_get(root, "agrees")), "%s of %s %g differs by %g",
	           json_string_value(json_object_get(worst, "quantity")),
	           json_string_value(json_object_get(worst, "group")), number_of(document, worst, "index"),
	           number_of(document, worst, "relative_difference"));
}

/* The container: padding, the position of every array, no bytes after the last one. */
static void check_container(const char *body, size_t bytes)
{
	uint64_t length;
	FUZZ_CHECK(bytes >= 64, "%zu bytes", bytes);
	memcpy(&length, body, sizeof(length));
	FUZZ_CHECK(length <= bytes - 8 && (length + 8) % 64 == 0, "a document of %llu bytes", (unsigned long long)length);
	json_t *root = json_loadb(body + 8, (size_t)length, JSON_REJECT_DUPLICATES, NULL);
	FUZZ_CHECK(json_is_object(root), "no document");
	json_decref(root);
}

static void judge_success(const struct api_request *request, const struct api_response *response, const char *body)
{
	struct api_arena arena = {0};
	struct api_document document;
	const bool frame = !strcmp(response->content_type, api_media_frame);
	FUZZ_CHECK(frame || !strcmp(response->content_type, api_media_json), "%s", response->content_type);
	if (frame)
		check_container(body, response->body_bytes);
	fuzz_read_body(response, body, &arena, &document);
	for (size_t k = 0; k < document.n_arrays; k++)
		for (size_t i = 0; i < document.arrays[k].n; i++)
			FUZZ_CHECK(isfinite(fuzz_value(&document.arrays[k], i)), "a number is not finite");
	if (!strncmp(request->target, "/v1/evaluate", strlen("/v1/evaluate")))
		check_evaluation(&document);
	if (!strncmp(request->target, "/v1/check", strlen("/v1/check")))
		check_check(&document);
	api_document_free(&document);
	api_arena_free(&arena);
}

/* Whether the response is one of the explorer's files. */
static bool is_file(const struct api_response *response)
{
	return strstr(response->content_type, "charset=utf-8") && header_of(response, "ETag");
}

static void check_printable(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		FUZZ_CHECK((unsigned char)text[i] >= ' ', "byte %d at %zu", text[i], i);
}

/* A service is unavailable for stopped requests, and for sets if it keeps none. */
static bool may_be_unavailable(const struct api_service *service, const struct api_request *request, const char *body)
{
	return (request->stop && *request->stop) || (!service->sets && strstr(body, "\"code\":\"sets_full\""));
}

void fuzz_judge(const struct api_service *service, const struct api_request *request,
                const struct api_response *response, const char *body)
{
	static const int statuses[] = {200, 400, 404, 405, 406, 413, 414, 415, 422, 503};
	const bool is_json = response->content_type && !strcmp(response->content_type, api_media_json);
	bool known = is_json && response->status == 500;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		known = known || response->status == statuses[i];
	FUZZ_CHECK(known, "status %d: %s", response->status, body);
	FUZZ_CHECK(response->status != 503 || may_be_unavailable(service, request, body), "%s", body);
	FUZZ_CHECK(response->content_type && response->body_bytes > 0, "no body");
	for (int i = 0; i < response->n_headers; i++)
		check_printable(response->headers[i].value, strlen(response->headers[i].value));
	if (response->status == 200 && is_file(response))
		return;
	if (response->status != 200 || is_json)
		check_printable(body, response->body_bytes);
	if (response->status == 200)
		judge_success(request, response, body);
	else if (is_json)
		judge_failure(request, response, body);
	else
		judge_problem(service, request, response, body);
}

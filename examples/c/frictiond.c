#include "frictiond.h"
#include <curl/curl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "frames are little-endian: swap the bytes of the numbers here"
#endif

#define FRAME "application/vnd.frictiond.frame"

struct frictiond {
	CURL *curl;
	char *url, *authorization;
	int retries;
	long timeout;
	char words[CURL_ERROR_SIZE], request_id[136];
};

struct text {
	char *bytes;
	size_t n, capacity;
};

static bool fail(struct frictiond_error *error, const char *format, ...)
{
	va_list values;
	*error = (struct frictiond_error){0};
	va_start(values, format);
	vsnprintf(error->detail, sizeof error->detail, format, values);
	va_end(values);
	return false;
}

static char *join(const char *one, const char *two)
{
	const size_t n = strlen(one), m = strlen(two) + 1;
	char *both = malloc(n + m);
	if (both) {
		memcpy(both, one, n);
		memcpy(both + n, two, m);
	}
	return both;
}

struct frictiond *frictiond_open(const char *url, const char *token)
{
	struct frictiond *service = calloc(1, sizeof *service);
	if (!service)
		return NULL;
	service->retries = 5;
	service->timeout = 300;
	service->curl = curl_easy_init();
	service->url = join(url, "");
	if (service->url && *url && url[strlen(url) - 1] == '/')
		service->url[strlen(url) - 1] = '\0';
	service->authorization = token ? join("Authorization: Bearer ", token) : NULL;
	if (!service->curl || !service->url || (token && !service->authorization)) {
		frictiond_close(service);
		return NULL;
	}
	return service;
}

void frictiond_close(struct frictiond *service)
{
	if (!service)
		return;
	curl_easy_cleanup(service->curl);
	free(service->url);
	free(service->authorization);
	free(service);
}

void frictiond_set(struct frictiond *service, int retries, long timeout)
{
	service->retries = retries;
	service->timeout = timeout;
}

/* -- one exchange -- */

static bool grow(void **bytes, size_t *capacity, size_t needed)
{
	if (needed <= *capacity)
		return true;
	const size_t larger = needed < 4096 ? 4096 : needed + needed / 2;
	void *moved = realloc(*bytes, larger);
	if (!moved)
		return false;
	*bytes = moved;
	*capacity = larger;
	return true;
}

static size_t take_body(char *bytes, size_t size, size_t n, void *target)
{
	struct text *body = target;
	if (!grow((void **)&body->bytes, &body->capacity, body->n + size * n))
		return 0;
	memcpy(body->bytes + body->n, bytes, size * n);
	body->n += size * n;
	return size * n;
}

/* A line of the head is not terminated by a zero. */
static size_t take_head(char *line, size_t size, size_t n, void *target)
{
	static const char name[] = "X-Request-Id:";
	struct frictiond *service = target;
	size_t first = sizeof name - 1, end = size * n;
	if (end <= first || strncasecmp(line, name, first) != 0)
		return size * n;
	while (first < end && line[first] == ' ')
		first++;
	while (end > first && (line[end - 1] == '\r' || line[end - 1] == '\n'))
		end--;
	snprintf(service->request_id, sizeof service->request_id, "%.*s", (int)(end - first), line + first);
	return size * n;
}

static struct curl_slist *headers(const struct frictiond *service, const char *content_type)
{
	struct curl_slist *list = curl_slist_append(NULL, "Expect:"), *longer = list;
	if (longer && content_type)
		longer = curl_slist_append(list, content_type);
	if (longer && service->authorization)
		longer = curl_slist_append(list, service->authorization);
	if (!longer)
		curl_slist_free_all(list);
	return longer ? list : NULL;
}

/* Tries once. No body means GET. */
static CURLcode exchange(struct frictiond *service, const char *url, struct curl_slist *list, const char *body,
                         size_t n_bytes, struct text *answer)
{
	CURL *curl = service->curl;
	answer->n = 0;
	service->words[0] = service->request_id[0] = '\0';
	curl_easy_reset(curl); /* keeps the connection */
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L); /* signals and threads do not mix */
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, service->timeout);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, service->words);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_head);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, service);
	if (body) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n_bytes);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	}
	return curl_easy_perform(curl);
}

/* As long as the service asks, or else a little longer each time, but at most 10 s. */
static void wait_before(struct frictiond *service, int attempt)
{
	curl_off_t after = 0;
	double seconds = 0.1 * (double)(1L << (attempt < 10 ? attempt : 10));
	curl_easy_getinfo(service->curl, CURLINFO_RETRY_AFTER, &after);
	if ((double)after > seconds)
		seconds = (double)after;
	if (seconds > 10)
		seconds = 10;
	struct timespec pause = {.tv_sec = (time_t)seconds};
	pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
	nanosleep(&pause, NULL);
}

static bool is_lost(CURLcode code)
{
	return code == CURLE_COULDNT_CONNECT || code == CURLE_PARTIAL_FILE || code == CURLE_GOT_NOTHING ||
	       code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR;
}

static bool is_busy(long status)
{
	return status == 429 || (status >= 502 && status <= 504);
}

static bool refused(const struct frictiond *service, long status, const struct text *body,
                    struct frictiond_error *error)
{
	json_t *problem = body->n ? json_loadb(body->bytes, body->n, 0, NULL)
	                          : NULL; /* NULL if the answer is a proxy's page */
	const char *detail = json_string_value(json_object_get(problem, "detail"));
	const json_t *first = json_array_get(json_object_get(problem, "errors"), 0);
	const char *pointer = json_string_value(json_object_get(first, "pointer"));
	fail(error, "%s", detail ? detail : "the answer is not from frictiond");
	error->status = status;
	snprintf(error->pointer, sizeof error->pointer, "%s", pointer ? pointer : "");
	snprintf(error->request_id, sizeof error->request_id, "%s", service->request_id);
	json_decref(problem);
	return false;
}

/* Unless the answer is 200, sets *error and returns false. The caller frees answer->bytes in any case. */
static bool ask(struct frictiond *service, const char *path, const char *content_type, const char *body, size_t n_bytes,
                struct text *answer, struct frictiond_error *error)
{
	char *url = join(service->url, path);
	struct curl_slist *list = headers(service, content_type);
	CURLcode code = CURLE_OUT_OF_MEMORY;
	long status = 0;
	for (int attempt = 0; url && list; attempt++) {
		code = exchange(service, url, list, body, n_bytes, answer);
		curl_easy_getinfo(service->curl, CURLINFO_RESPONSE_CODE, &status);
		if (!(code ? is_lost(code) : is_busy(status)) || attempt >= service->retries)
			break;
		wait_before(service, attempt);
	}
	free(url);
	curl_slist_free_all(list);
	if (code)
		return fail(error, "no answer from %s: %s%s", service->url,
		            service->words[0] ? service->words : curl_easy_strerror(code),
		            code == CURLE_COULDNT_CONNECT ? "; is it running?" : "");
	return status == 200 || refused(service, status, answer, error);
}

/* -- JSON -- */

static json_t *parse(const struct text *text, struct frictiond_error *error)
{
	json_error_t reason;
	json_t *document = json_loadb(text->bytes ? text->bytes : "", text->n, 0, &reason);
	if (!document)
		fail(error, "the answer is not JSON: %s", reason.text);
	return document;
}

static json_t *talk(struct frictiond *service, const char *path, const json_t *document, struct frictiond_error *error)
{
	struct text answer = {0};
	json_t *parsed = NULL;
	char *body = document ? json_dumps(document, JSON_COMPACT) : NULL; /* 17 digits reproduce every double */
	const char *type = document ? "Content-Type: application/json" : NULL;
	if (document && !body)
		fail(error, "the document cannot be written as JSON");
	else if (ask(service, path, type, body, body ? strlen(body) : 0, &answer, error))
		parsed = parse(&answer, error);
	free(body);
	free(answer.bytes);
	return parsed;
}

json_t *frictiond_evaluate(struct frictiond *service, const json_t *batch, struct frictiond_error *error)
{
	return talk(service, "/v1/evaluate", batch, error);
}

json_t *frictiond_check(struct frictiond *service, const json_t *batch, struct frictiond_error *error)
{
	return talk(service, "/v1/check", batch, error);
}

json_t *frictiond_function(struct frictiond *service, const char *name, const json_t *parameters,
                           struct frictiond_error *error)
{
	char *path = join("/v1/functions/", name);
	json_t *answer = path ? talk(service, path, parameters, error) : NULL;
	if (!path)
		fail(error, "out of memory");
	free(path);
	return answer;
}

json_t *frictiond_get(struct frictiond *service, const char *path, struct frictiond_error *error)
{
	return talk(service, path, NULL, error);
}

/* -- frames: docs/frame.md -- */

static json_t *add(struct frictiond_frame *frame, const char *dtype, const void *numbers, size_t size, size_t rows,
                   size_t columns)
{
	const size_t offset = (frame->n_bytes + 63) / 64 * 64, n = rows * (columns ? columns : 1);
	if (!grow((void **)&frame->tail, &frame->capacity, offset + n * size))
		return NULL;
	memset(frame->tail + frame->n_bytes, 0, offset - frame->n_bytes);
	if (n)
		memcpy(frame->tail + offset, numbers, n * size);
	frame->n_bytes = offset + n * size;
	json_t *shape = json_pack("[I]", (json_int_t)rows);
	if (columns)
		json_array_append_new(shape, json_integer((json_int_t)columns));
	return json_pack("{s:s, s:o, s:I}", "dtype", dtype, "shape", shape, "offset", (json_int_t)offset);
}

json_t *frictiond_frame_f64(struct frictiond_frame *frame, const double *numbers, size_t rows, size_t columns)
{
	return add(frame, "f64", numbers, sizeof *numbers, rows, columns);
}

json_t *frictiond_frame_i32(struct frictiond_frame *frame, const int32_t *numbers, size_t rows, size_t columns)
{
	return add(frame, "i32", numbers, sizeof *numbers, rows, columns);
}

void frictiond_frame_free(struct frictiond_frame *frame)
{
	free(frame->tail);
	*frame = (struct frictiond_frame){0};
}

/* The length of the document, the document, spaces up to a multiple of 64, the tail. NULL: out of memory. */
static char *assemble(const char *text, const struct frictiond_frame *frame, size_t *n_bytes)
{
	const size_t length = strlen(text), head = (8 + length + 63) / 64 * 64;
	const uint64_t header_bytes = head - 8;
	char *bytes = malloc(head + frame->n_bytes);
	if (!bytes)
		return NULL;
	memcpy(bytes, &header_bytes, 8);
	memcpy(bytes + 8, text, length);
	memset(bytes + 8 + length, ' ', head - 8 - length);
	if (frame->n_bytes)
		memcpy(bytes + head, frame->tail, frame->n_bytes);
	*n_bytes = head + frame->n_bytes;
	return bytes;
}

/* Takes ownership of the body. */
static int take_frame(struct text *body, struct frictiond_answer *answer, struct frictiond_error *error)
{
	uint64_t header_bytes;
	if (body->n < 8 || (memcpy(&header_bytes, body->bytes, 8), header_bytes > body->n - 8)) {
		fail(error, "the answer is not a frame");
		return -1;
	}
	const struct text document = {.bytes = body->bytes + 8, .n = (size_t)header_bytes};
	answer->document = parse(&document, error);
	if (!answer->document)
		return -1;
	answer->body = body->bytes;
	answer->n_bytes = body->n;
	*body = (struct text){0};
	return 0;
}

int frictiond_evaluate_frame(struct frictiond *service, const json_t *document, const struct frictiond_frame *frame,
                             struct frictiond_answer *answer, struct frictiond_error *error)
{
	struct text body = {0};
	size_t n_bytes = 0;
	int result = -1;
	char *text = json_dumps(document, JSON_COMPACT);
	char *request = text ? assemble(text, frame, &n_bytes) : NULL;
	*answer = (struct frictiond_answer){0};
	if (!request)
		fail(error, "out of memory, or the document is not valid");
	else if (ask(service, "/v1/evaluate", "Content-Type: " FRAME, request, n_bytes, &body, error))
		result = take_frame(&body, answer, error);
	free(text);
	free(request);
	free(body.bytes);
	return result;
}

void frictiond_answer_free(struct frictiond_answer *answer)
{
	json_decref(answer->document);
	free(answer->body);
	*answer = (struct frictiond_answer){0};
}

/* -- arrays of answers -- */

static const json_t *shape_of(const json_t *array)
{
	return json_object_get(array, "shape");
}

size_t frictiond_count(const json_t *array)
{
	const json_t *shape = shape_of(array);
	size_t n = shape ? 1 : 0;
	for (size_t i = 0; i < json_array_size(shape); i++)
		n *= (size_t)json_integer_value(json_array_get(shape, i));
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *entry = json_array_get(array, i);
		n += json_is_number(entry) ? 1 : frictiond_count(entry);
	}
	return n;
}

/* The position of an array in the tail; NULL if its dtype is another one or it leaves the tail. */
static const void *place_of(const struct frictiond_answer *answer, const json_t *array, const char *dtype,
                            size_t n_bytes)
{
	const char *is = json_string_value(json_object_get(array, "dtype"));
	const json_int_t offset = json_integer_value(json_object_get(array, "offset"));
	uint64_t header_bytes;
	if (!answer || !answer->body || !is || strcmp(is, dtype) != 0 || offset < 0)
		return NULL;
	memcpy(&header_bytes, answer->body, 8);
	const size_t tail_bytes = answer->n_bytes - 8 - (size_t)header_bytes;
	if ((size_t)offset > tail_bytes || n_bytes > tail_bytes - (size_t)offset)
		return NULL;
	return answer->body + 8 + header_bytes + offset;
}

static int copy(const struct frictiond_answer *answer, const json_t *array, const char *dtype, void *numbers,
                size_t n_bytes)
{
	const void *place = place_of(answer, array, dtype, n_bytes);
	if (!place)
		return -1;
	memcpy(numbers, place, n_bytes);
	return 0;
}

static double *flatten_f64(const json_t *array, double *next, bool *fits)
{
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *entry = json_array_get(array, i);
		if (json_is_array(entry)) {
			next = flatten_f64(entry, next, fits);
			continue;
		}
		*fits = *fits && json_is_real(entry); /* as strict as for arrays in the tail */
		*next++ = json_real_value(entry);
	}
	return next;
}

int frictiond_read_f64(const struct frictiond_answer *answer, const json_t *array, double *numbers, size_t n)
{
	bool fits = true;
	if (frictiond_count(array) != n || n == 0)
		return array && n == 0 && frictiond_count(array) == 0 ? 0 : -1;
	if (shape_of(array))
		return copy(answer, array, "f64", numbers, n * sizeof *numbers);
	flatten_f64(array, numbers, &fits);
	return fits ? 0 : -1;
}

static int32_t *flatten_i32(const json_t *array, int32_t *next, bool *fits)
{
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *entry = json_array_get(array, i);
		const json_int_t number = json_integer_value(entry);
		if (json_is_array(entry)) {
			next = flatten_i32(entry, next, fits);
			continue;
		}
		*fits = *fits && json_is_integer(entry) && number >= INT32_MIN && number <= INT32_MAX;
		*next++ = (int32_t)number;
	}
	return next;
}

int frictiond_read_i32(const struct frictiond_answer *answer, const json_t *array, int32_t *numbers, size_t n)
{
	bool fits = true;
	if (frictiond_count(array) != n || n == 0)
		return array && n == 0 && frictiond_count(array) == 0 ? 0 : -1;
	if (shape_of(array))
		return copy(answer, array, "i32", numbers, n * sizeof *numbers);
	flatten_i32(array, numbers, &fits);
	return fits ? 0 : -1;
}

/* SPDX-License-Identifier: MIT */
#include "frictiond_http.h"
#include <curl/curl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "frames are little-endian: swap the bytes of the numbers here"
#endif

#define FRAME "application/vnd.frictiond.frame"
#define JSON "application/json"

struct frictiond_http {
	CURL *curl;
	char *url, *authorization;
	const char *socket; /* the path of an http+unix:// URL, or NULL */
	int retries;
	long timeout;
	char words[CURL_ERROR_SIZE], request_id[136];
};

struct text {
	char *bytes;
	size_t n, capacity;
};

static bool fail(struct frictiond_http_error *error, const char *format, ...)
{
	va_list values;
	*error = (struct frictiond_http_error){0};
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

static const char *socket_of(const char *url)
{
	static const char scheme[] = "http+unix://";
	return strncmp(url, scheme, sizeof scheme - 1) == 0 ? url + sizeof scheme - 1 : NULL;
}

struct frictiond_http *frictiond_http_open(const char *url, const char *token)
{
	struct frictiond_http *service = calloc(1, sizeof *service);
	if (!service)
		return NULL;
	service->retries = 5;
	service->timeout = 300;
	service->curl = curl_easy_init();
	service->url = join(url, "");
	if (service->url && *url && url[strlen(url) - 1] == '/')
		service->url[strlen(url) - 1] = '\0';
	service->socket = service->url ? socket_of(service->url) : NULL;
	service->authorization = token ? join("Authorization: Bearer ", token) : NULL;
	if (!service->curl || !service->url || (token && !service->authorization)) {
		frictiond_http_close(service);
		return NULL;
	}
	return service;
}

void frictiond_http_close(struct frictiond_http *service)
{
	if (!service)
		return;
	curl_easy_cleanup(service->curl);
	free(service->url);
	free(service->authorization);
	free(service);
}

void frictiond_http_set(struct frictiond_http *service, int retries, long timeout)
{
	service->retries = retries;
	service->timeout = timeout;
}

/* -- one request -- */

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
	struct frictiond_http *service = target;
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

/* A request. content_type and version are whole header lines, or NULL. */
struct request {
	const char *method, *path, *content_type, *version, *body;
	size_t n_bytes;
};

static struct curl_slist *headers(const struct frictiond_http *service, const struct request *request)
{
	struct curl_slist *list = curl_slist_append(NULL, "Expect:"), *longer = list;
	if (longer && request->content_type)
		longer = curl_slist_append(list, request->content_type);
	if (longer && request->version)
		longer = curl_slist_append(list, request->version);
	if (longer && service->authorization)
		longer = curl_slist_append(list, service->authorization);
	if (!longer)
		curl_slist_free_all(list);
	return longer ? list : NULL;
}

/* Tries once. */
static CURLcode exchange(struct frictiond_http *service, const char *url, struct curl_slist *list,
                         const struct request *request, struct text *answer)
{
	CURL *curl = service->curl;
	answer->n = 0;
	service->words[0] = service->request_id[0] = '\0';
	curl_easy_reset(curl); /* keeps the connection */
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, service->socket);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L); /* libcurl's signals are unsafe with threads */
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, service->timeout);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, service->words);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_head);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, service);
	if (request->body) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->n_bytes);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
	}
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
	return curl_easy_perform(curl);
}

/* The time that the service states, or else a little longer each time, but at most 10 s. */
static void wait_before(struct frictiond_http *service, int attempt)
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

static bool refused(const struct frictiond_http *service, long status, const struct text *body,
                    struct frictiond_http_error *error)
{
	json_t *problem = body->n ? json_loadb(body->bytes, body->n, 0, NULL)
	                          : NULL; /* NULL if the answer is a proxy's page */
	const char *detail = json_string_value(json_object_get(problem, "detail"));
	const json_t *first = json_array_get(json_object_get(problem, "errors"), 0);
	const char *pointer = json_string_value(json_object_get(first, "pointer"));
	const char *code = json_string_value(json_object_get(problem, "code"));
	fail(error, "%s", detail ? detail : "the answer is not from frictiond");
	error->status = status;
	snprintf(error->pointer, sizeof error->pointer, "%s", pointer ? pointer : "");
	snprintf(error->code, sizeof error->code, "%s", code ? code : "");
	snprintf(error->request_id, sizeof error->request_id, "%s", service->request_id);
	json_decref(problem);
	return false;
}

/* Unless the answer is 200, 201 or 204, sets *error and returns false. The caller frees answer->bytes in any case. */
static bool ask(struct frictiond_http *service, const struct request *request, struct text *answer,
                struct frictiond_http_error *error)
{
	char *url = join(service->socket ? "http://localhost" : service->url, request->path);
	struct curl_slist *list = headers(service, request);
	CURLcode code = CURLE_OUT_OF_MEMORY;
	long status = 0;
	for (int attempt = 0; url && list; attempt++) {
		code = exchange(service, url, list, request, answer);
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
	return status == 200 || status == 201 || status == 204 || refused(service, status, answer, error);
}

/* -- JSON -- */

static json_t *parse(const struct text *text, struct frictiond_http_error *error)
{
	json_error_t reason;
	json_t *document = json_loadb(text->bytes ? text->bytes : "", text->n, 0, &reason);
	if (!document)
		fail(error, "the answer is not JSON: %s", reason.text);
	return document;
}

static json_t *talk(struct frictiond_http *service, const char *path, const json_t *document,
                    struct frictiond_http_error *error)
{
	struct text answer = {0};
	json_t *parsed = NULL;
	char *body = document ? json_dumps(document, JSON_COMPACT) : NULL; /* 17 digits reproduce every double */
	const struct request request = {.method = document ? "POST" : "GET",
	                                .path = path,
	                                .content_type = document ? "Content-Type: " JSON : NULL,
	                                .body = body,
	                                .n_bytes = body ? strlen(body) : 0};
	if (document && !body)
		fail(error, "the document cannot be written as JSON");
	else if (ask(service, &request, &answer, error))
		parsed = parse(&answer, error);
	free(body);
	free(answer.bytes);
	return parsed;
}

json_t *frictiond_http_evaluate(struct frictiond_http *service, const json_t *batch, struct frictiond_http_error *error)
{
	return talk(service, "/v1/evaluate", batch, error);
}

json_t *frictiond_http_check(struct frictiond_http *service, const json_t *batch, struct frictiond_http_error *error)
{
	return talk(service, "/v1/check", batch, error);
}

json_t *frictiond_http_jvp(struct frictiond_http *service, const json_t *batch, struct frictiond_http_error *error)
{
	return talk(service, "/v1/jvp", batch, error);
}

json_t *frictiond_http_vjp(struct frictiond_http *service, const json_t *batch, struct frictiond_http_error *error)
{
	return talk(service, "/v1/vjp", batch, error);
}

json_t *frictiond_http_function(struct frictiond_http *service, const char *name, const json_t *parameters,
                                struct frictiond_http_error *error)
{
	char *path = join("/v1/functions/", name);
	json_t *answer = path ? talk(service, path, parameters, error) : NULL;
	if (!path)
		fail(error, "out of memory");
	free(path);
	return answer;
}

json_t *frictiond_http_get(struct frictiond_http *service, const char *path, struct frictiond_http_error *error)
{
	return talk(service, path, NULL, error);
}

/* -- frames: docs/frame.md -- */

static json_t *add(struct frictiond_http_frame *frame, const char *dtype, const void *numbers, size_t size, size_t rows,
                   size_t columns)
{
	const size_t offset = (frame->n_bytes + 63) / 64 * 64, n = rows * (columns ? columns : 1);
	if (!grow((void **)&frame->tail, &frame->capacity, offset + n * size))
		return NULL;
	if (offset > frame->n_bytes)
		memset(frame->tail + frame->n_bytes, 0, offset - frame->n_bytes);
	if (n)
		memcpy(frame->tail + offset, numbers, n * size);
	frame->n_bytes = offset + n * size;
	json_t *shape = json_pack("[I]", (json_int_t)rows);
	if (columns)
		json_array_append_new(shape, json_integer((json_int_t)columns));
	return json_pack("{s:s, s:o, s:I}", "dtype", dtype, "shape", shape, "offset", (json_int_t)offset);
}

json_t *frictiond_http_frame_f64(struct frictiond_http_frame *frame, const double *numbers, size_t rows, size_t columns)
{
	return add(frame, "f64", numbers, sizeof *numbers, rows, columns);
}

json_t *frictiond_http_frame_i32(struct frictiond_http_frame *frame, const int32_t *numbers, size_t rows,
                                 size_t columns)
{
	return add(frame, "i32", numbers, sizeof *numbers, rows, columns);
}

void frictiond_http_frame_free(struct frictiond_http_frame *frame)
{
	free(frame->tail);
	*frame = (struct frictiond_http_frame){0};
}

/* The length of the document, the document, spaces up to a multiple of 64, the tail. NULL: out of memory. */
static char *assemble(const char *text, const struct frictiond_http_frame *frame, size_t *n_bytes)
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
static int take_frame(struct text *body, struct frictiond_http_answer *answer, struct frictiond_http_error *error)
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

/* A request with a document, as a frame. NULL: out of memory, or the document is not valid. */
static char *body_of(const json_t *document, const struct frictiond_http_frame *frame, size_t *n_bytes)
{
	static const struct frictiond_http_frame none = {0};
	char *text = json_dumps(document, JSON_COMPACT);
	char *body = text ? assemble(text, frame ? frame : &none, n_bytes) : NULL;
	free(text);
	return body;
}

static int ask_for_frame(struct frictiond_http *service, const struct request *request,
                         struct frictiond_http_answer *answer, struct frictiond_http_error *error)
{
	struct text body = {0};
	const int result = ask(service, request, &body, error) ? take_frame(&body, answer, error) : -1;
	free(body.bytes);
	return result;
}

static int talk_frame(struct frictiond_http *service, const char *path, const json_t *document,
                      const struct frictiond_http_frame *frame, struct frictiond_http_answer *answer,
                      struct frictiond_http_error *error)
{
	struct request request = {.method = "POST", .path = path, .content_type = "Content-Type: " FRAME};
	char *body = body_of(document, frame, &request.n_bytes);
	int result = -1;
	*answer = (struct frictiond_http_answer){0};
	request.body = body;
	if (!body)
		fail(error, "out of memory, or the document is not valid");
	else
		result = ask_for_frame(service, &request, answer, error);
	free(body);
	return result;
}

int frictiond_http_evaluate_frame(struct frictiond_http *service, const json_t *document,
                                  const struct frictiond_http_frame *frame, struct frictiond_http_answer *answer,
                                  struct frictiond_http_error *error)
{
	return talk_frame(service, "/v1/evaluate", document, frame, answer, error);
}

int frictiond_http_jvp_frame(struct frictiond_http *service, const json_t *document,
                             const struct frictiond_http_frame *frame, struct frictiond_http_answer *answer,
                             struct frictiond_http_error *error)
{
	return talk_frame(service, "/v1/jvp", document, frame, answer, error);
}

int frictiond_http_vjp_frame(struct frictiond_http *service, const json_t *document,
                             const struct frictiond_http_frame *frame, struct frictiond_http_answer *answer,
                             struct frictiond_http_error *error)
{
	return talk_frame(service, "/v1/vjp", document, frame, answer, error);
}

void frictiond_http_answer_free(struct frictiond_http_answer *answer)
{
	json_decref(answer->document);
	free(answer->body);
	*answer = (struct frictiond_http_answer){0};
}

/* -- arrays of responses -- */

static const json_t *shape_of(const json_t *array)
{
	return json_object_get(array, "shape");
}

size_t frictiond_http_count(const json_t *array)
{
	const json_t *shape = shape_of(array);
	size_t n = shape ? 1 : 0;
	for (size_t i = 0; i < json_array_size(shape); i++)
		n *= (size_t)json_integer_value(json_array_get(shape, i));
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *entry = json_array_get(array, i);
		n += json_is_number(entry) ? 1 : frictiond_http_count(entry);
	}
	return n;
}

/* The position of an array in the tail; NULL if it has another dtype or exceeds the tail. */
static const void *place_of(const struct frictiond_http_answer *answer, const json_t *array, const char *dtype,
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

static int copy(const struct frictiond_http_answer *answer, const json_t *array, const char *dtype, void *numbers,
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

int frictiond_http_read_f64(const struct frictiond_http_answer *answer, const json_t *array, double *numbers, size_t n)
{
	bool fits = true;
	if (frictiond_http_count(array) != n || n == 0)
		return array && n == 0 && frictiond_http_count(array) == 0 ? 0 : -1;
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

int frictiond_http_read_i32(const struct frictiond_http_answer *answer, const json_t *array, int32_t *numbers, size_t n)
{
	bool fits = true;
	if (frictiond_http_count(array) != n || n == 0)
		return array && n == 0 && frictiond_http_count(array) == 0 ? 0 : -1;
	if (shape_of(array))
		return copy(answer, array, "i32", numbers, n * sizeof *numbers);
	flatten_i32(array, numbers, &fits);
	return fits ? 0 : -1;
}

/* -- collision sets -- */

struct frictiond_http_set {
	struct frictiond_http *service;
	char *name, *path, *version; /* version: a whole header line */
	json_t *document;
	struct frictiond_http_frame frame; /* arrays that the document's references point to */
};

static char *path_of(struct frictiond_http *service, const char *name)
{
	char *escaped = curl_easy_escape(service->curl, name, 0);
	char *path = escaped ? join("/v1/sets/", escaped) : NULL;
	curl_free(escaped);
	return path;
}

static char *random_name(void)
{
	unsigned char bytes[16] = {0};
	char name[33];
	if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
		return NULL;
	for (int i = 0; i < 16; i++)
		snprintf(name + 2 * i, 3, "%02x", bytes[i]);
	return join(name, "");
}

/* The response body states the version. */
static bool take_version(struct frictiond_http_set *set, const struct text *answer, struct frictiond_http_error *error)
{
	json_t *info = parse(answer, error);
	const char *version = json_string_value(json_object_get(info, "version"));
	char *line = version ? join("If-Collision-Set-Version: ", version) : NULL;
	if (info && !line)
		fail(error, version ? "out of memory" : "the answer is not about a set");
	json_decref(info);
	if (!line)
		return false;
	free(set->version);
	set->version = line;
	return true;
}

static bool send_set(struct frictiond_http_set *set, const char *method, const char *version, const json_t *document,
                     const struct frictiond_http_frame *frame, struct frictiond_http_error *error)
{
	struct text answer = {0};
	struct request request = {
		.method = method, .path = set->path, .content_type = "Content-Type: " FRAME, .version = version};
	char *body = body_of(document, frame, &request.n_bytes);
	request.body = body;
	const bool ok = body ? ask(set->service, &request, &answer, error) && take_version(set, &answer, error)
	                     : fail(error, "out of memory, or the document is not valid");
	free(body);
	free(answer.bytes);
	return ok;
}

static bool put(struct frictiond_http_set *set, struct frictiond_http_error *error)
{
	return send_set(set, "PUT", NULL, set->document, &set->frame, error);
}

/* Whether another PUT resolves the error. */
static bool is_lost_set(const struct frictiond_http_error *error)
{
	return strcmp(error->code, "unknown_set") == 0 || strcmp(error->code, "set_changed") == 0;
}

static void free_set(struct frictiond_http_set *set)
{
	free(set->name);
	free(set->path);
	free(set->version);
	json_decref(set->document);
	frictiond_http_frame_free(&set->frame);
	free(set);
}

/* Copies the numbers of a reference, or a whole value, from one frame to another. NULL: out of memory. */
static json_t *carry(const json_t *value, const struct frictiond_http_frame *from, struct frictiond_http_frame *to);

static json_t *carry_members(const json_t *object, const struct frictiond_http_frame *from,
                             struct frictiond_http_frame *to)
{
	json_t *moved = json_object();
	const char *name;
	json_t *member;
	json_object_foreach((json_t *)object, name, member) {
		if (json_object_set_new(moved, name, carry(member, from, to)) == 0)
			continue;
		json_decref(moved);
		return NULL;
	}
	return moved;
}

static size_t size_of(const char *dtype)
{
	return strcmp(dtype, "f64") == 0 || strcmp(dtype, "i64") == 0 ? 8 : 4;
}

static json_t *carry(const json_t *value, const struct frictiond_http_frame *from, struct frictiond_http_frame *to)
{
	const char *dtype = json_string_value(json_object_get(value, "dtype"));
	const json_t *shape = shape_of(value);
	const size_t offset = (size_t)json_integer_value(json_object_get(value, "offset"));
	if (!json_is_object(value))
		return json_deep_copy(value);
	if (!dtype || !shape || !from)
		return carry_members(value, from, to);
	const size_t size = size_of(dtype), n = frictiond_http_count(value);
	if (offset > from->n_bytes || n > (from->n_bytes - offset) / size)
		return NULL;
	json_t *moved = add(to, dtype, from->tail + offset, size, n, 0);
	if (moved && json_object_set_new(moved, "shape", json_deep_copy(shape)) == 0)
		return moved;
	json_decref(moved);
	return NULL;
}

/* Merges a patch (RFC 7396). A reference is replaced as a whole, like an array. */
static bool merge(json_t *target, const json_t *patch)
{
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)patch, name, value) {
		json_t *old = json_object_get(target, name);
		const bool nested = json_is_object(value) && !shape_of(value);
		if (json_is_null(value))
			json_object_del(target, name);
		else if (!nested && json_object_set_new(target, name, json_deep_copy(value)) != 0)
			return false;
		else if (nested && (!json_is_object(old) || shape_of(old)) &&
		         json_object_set_new(target, name, json_object()) != 0)
			return false;
		if (nested && !merge(json_object_get(target, name), value))
			return false;
	}
	return true;
}

struct frictiond_http_set *frictiond_http_set_open(struct frictiond_http *service, const char *name,
                                                   const json_t *document, const struct frictiond_http_frame *frame,
                                                   struct frictiond_http_error *error)
{
	struct frictiond_http_set *set = calloc(1, sizeof *set);
	if (!set) {
		fail(error, "out of memory");
		return NULL;
	}
	set->service = service;
	set->name = name ? join(name, "") : random_name();
	set->path = set->name ? path_of(service, set->name) : NULL;
	set->document = carry(document, frame, &set->frame);
	if (!set->path || !set->document)
		fail(error, "out of memory, or a reference leaves the frame");
	else if (put(set, error))
		return set;
	free_set(set);
	return NULL;
}

void frictiond_http_set_close(struct frictiond_http_set *set)
{
	struct frictiond_http_error error;
	struct text answer = {0};
	if (!set)
		return;
	const struct request request = {.method = "DELETE", .path = set->path, .version = set->version};
	ask(set->service, &request, &answer, &error);
	free(answer.bytes);
	free_set(set);
}

const char *frictiond_http_set_name(const struct frictiond_http_set *set)
{
	return set->name;
}

/* Sends a request about a set. If the set was lost, puts it again and repeats the request, at most twice. */
static int ask_set(struct frictiond_http_set *set, struct request *request, struct frictiond_http_answer *answer,
                   struct frictiond_http_error *error)
{
	for (int attempt = 0;; attempt++) {
		request->version = set->version;
		if (ask_for_frame(set->service, request, answer, error) == 0)
			return 0;
		if (!is_lost_set(error) || attempt == 2 || !put(set, error))
			return -1;
	}
}

static int query(struct frictiond_http_set *set, const char *which, const json_t *document,
                 const struct frictiond_http_frame *frame, struct frictiond_http_answer *answer,
                 struct frictiond_http_error *error)
{
	struct request request = {.method = "POST", .content_type = "Content-Type: " FRAME};
	char *path = join(set->path, which), *body = body_of(document, frame, &request.n_bytes);
	int result = -1;
	*answer = (struct frictiond_http_answer){0};
	request.path = path;
	request.body = body;
	if (!path || !body)
		fail(error, "out of memory, or the document is not valid");
	else
		result = ask_set(set, &request, answer, error);
	free(path);
	free(body);
	return result;
}

int frictiond_http_set_evaluate(struct frictiond_http_set *set, const json_t *document,
                                const struct frictiond_http_frame *frame, struct frictiond_http_answer *answer,
                                struct frictiond_http_error *error)
{
	return query(set, "/evaluate", document, frame, answer, error);
}

int frictiond_http_set_check(struct frictiond_http_set *set, const json_t *document,
                             const struct frictiond_http_frame *frame, struct frictiond_http_answer *answer,
                             struct frictiond_http_error *error)
{
	return query(set, "/check", document, frame, answer, error);
}

int frictiond_http_set_jvp(struct frictiond_http_set *set, const json_t *document,
                           const struct frictiond_http_frame *frame, struct frictiond_http_answer *answer,
                           struct frictiond_http_error *error)
{
	return query(set, "/jvp", document, frame, answer, error);
}

int frictiond_http_set_vjp(struct frictiond_http_set *set, const json_t *document,
                           const struct frictiond_http_frame *frame, struct frictiond_http_answer *answer,
                           struct frictiond_http_error *error)
{
	return query(set, "/vjp", document, frame, answer, error);
}

int frictiond_http_set_pattern(struct frictiond_http_set *set, const char *format, const char *triangle,
                               struct frictiond_http_answer *answer, struct frictiond_http_error *error)
{
	char query[128];
	snprintf(query, sizeof query, "/pattern?format=%s&triangle=%s", format, triangle);
	char *path = join(set->path, query);
	struct request request = {.method = "GET", .path = path, .content_type = "Accept: " FRAME};
	*answer = (struct frictiond_http_answer){0};
	const int result = path ? ask_set(set, &request, answer, error) : -1;
	if (!path)
		fail(error, "out of memory");
	free(path);
	return result;
}

/* The merged document with a tail of its own, which omits arrays that the patch has replaced. */
static bool merged(const struct frictiond_http_set *set, const json_t *fields, const struct frictiond_http_frame *frame,
                   struct frictiond_http_set *after)
{
	struct frictiond_http_frame both = {0};
	json_t *one = carry(set->document, &set->frame, &both), *two = carry(fields, frame, &both);
	if (one && two && merge(one, two))
		after->document = carry(one, &both, &after->frame);
	json_decref(one);
	json_decref(two);
	frictiond_http_frame_free(&both);
	return after->document;
}

static void exchange_documents(struct frictiond_http_set *one, struct frictiond_http_set *two)
{
	const struct frictiond_http_set kept = *one;
	one->document = two->document;
	one->frame = two->frame;
	two->document = kept.document;
	two->frame = kept.frame;
}

int frictiond_http_set_patch(struct frictiond_http_set *set, const json_t *fields,
                             const struct frictiond_http_frame *frame, struct frictiond_http_error *error)
{
	struct frictiond_http_set after = {0};
	bool ok = merged(set, fields, frame, &after) || fail(error, "out of memory, or a reference leaves the frame");
	if (ok) {
		exchange_documents(set, &after);
		ok = send_set(set, "PATCH", set->version, fields, frame, error) || (is_lost_set(error) && put(set, error));
		if (!ok)
			exchange_documents(set, &after);
	}
	json_decref(after.document);
	frictiond_http_frame_free(&after.frame);
	return ok ? 0 : -1;
}

/* Patches one group's anchors. @return false if memory runs out, or if they are not numbers */
static bool carry_anchor(json_t *fields, const char *name, const struct frictiond_http_answer *answer,
                         const json_t *anchor, double ratio, struct frictiond_http_frame *frame)
{
	const size_t n = frictiond_http_count(anchor);
	double *numbers = calloc(n + 1, sizeof *numbers);
	const bool is_read = numbers && frictiond_http_read_f64(answer, anchor, numbers, n) == 0;
	for (size_t i = 0; is_read && i < n; i++)
		numbers[i] *= ratio;
	json_t *carried = is_read ? frictiond_http_frame_f64(frame, numbers, n, 0) : NULL;
	free(numbers);
	return carried && json_object_set_new(fields, name, json_pack("{s:o}", "anchor", carried)) == 0;
}

int frictiond_http_set_carry(struct frictiond_http_set *set, const struct frictiond_http_answer *answer, double ratio,
                             struct frictiond_http_error *error)
{
	struct frictiond_http_frame frame = {0};
	json_t *groups = json_object_get(answer->document, "collisions"), *fields = json_object(), *group;
	const char *name;
	bool ok = fields != NULL;
	json_object_foreach(groups, name, group) {
		const json_t *anchor = json_object_get(group, "anchor");
		ok = ok && (!anchor || carry_anchor(fields, name, answer, anchor, ratio, &frame));
	}
	if (!ok)
		fail(error, "out of memory, or the anchors are not numbers");
	else if (json_object_size(fields) == 0)
		ok = fail(error, "the answer has no anchors: ask for outputs collisions, collision_outputs anchor");
	json_t *patch = json_pack("{s:o}", "collisions", fields);
	ok = ok && frictiond_http_set_patch(set, patch, &frame, error) == 0;
	json_decref(patch);
	frictiond_http_frame_free(&frame);
	return ok ? 0 : -1;
}

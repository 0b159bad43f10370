/* libfrictiond.so: services within the process that uses them. */
#include "api/frictiond.h"

#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/api.h"
#include "api/base/pool.h"
#include "api/base/resources.h"
#include "api/sets/store.h"
#include "core/fric.h"

_Static_assert(sizeof(struct frictiond_piece) == sizeof(struct api_part) &&
                   offsetof(struct frictiond_piece, n) == offsetof(struct api_part, n),
               "pieces are parts");

#define M ((uint64_t)1 << 20)
#define G ((uint64_t)1 << 30)

struct frictiond {
	struct api_service api;
	struct api_budget budget;
	int64_t idle_ms;
	unsigned generation;        /* generation of the process that created it */
	atomic_int n_holders;       /* number of holders: its creator, calls and answers */
	atomic_int n_large;         /* number of large calls under way */
	_Atomic int64_t trimmed_ms; /* time of the last search for idle memory */
};

/* ---- forks ---- */

/* The number of forks between the process that loaded this library and this one. */
static unsigned generation;

/* Whether this thread called fork. OpenMP still counts on its team, whose threads do not exist in the child: a parallel
 * region of this thread would wait for them forever. */
static _Thread_local bool has_lost_team __attribute__((tls_model("initial-exec")));

static void begin_child(void)
{
	generation++;
	has_lost_team = true;
}

__attribute__((constructor)) static void notice_forks(void)
{
	pthread_atfork(NULL, NULL, begin_child);
}

/* ---- options ---- */

/* X(member, default, least, most); defaults of 0 depend on the machine or on other options. */
/* clang-format off */
#define OPTIONS(X) \
	X(threads, 0, 1, 1024) \
	X(max_json_bytes, 256 * M, 1, 64 * G) \
	X(max_frame_bytes, G, 1, 64 * G) \
	X(max_answer_bytes, 4 * G, 1, 1024 * G) \
	X(max_contacts, 10000000, 1, 1000000000) \
	X(max_vertices, 50000000, 1, 1000000000) \
	X(memory_bytes, 0, 16 * M, 1024 * G) \
	X(pool_bytes, 0, 1, 1024 * G) \
	X(idle_seconds, 5, 1, 86400) \
	X(sets, 1024, 1, 65536) \
	X(sets_per_caller, 0, 1, 65536) \
	X(set_bytes, 0, 1, 1024 * G) \
	X(set_bytes_per_caller, 0, 1, 1024 * G) \
	X(set_idle_seconds, 900, 1, 86400)
/* clang-format on */

/* Copies a struct of the caller's version, which may be shorter, or longer if all further members are 0. */
static bool take(void *copy, size_t size, const void *given, size_t given_size)
{
	const char *bytes = given;
	if (given_size < sizeof(size_t))
		return false;
	for (size_t i = size; i < given_size; i++)
		if (bytes[i])
			return false;
	memset(copy, 0, size);
	memcpy(copy, given, given_size < size ? given_size : size);
	return true;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t automatic_memory(void)
{
	const uint64_t bytes = smaller((uint64_t)api_available_memory() / 4 * 3, 1024 * G);
	return bytes > 16 * M ? bytes : 16 * M;
}

static void settle(struct frictiond_options *o)
{
#define SETTLE(member, otherwise, least, most) o->member = o->member ? o->member : (otherwise);
	OPTIONS(SETTLE)
	o->threads = o->threads ? o->threads : (uint64_t)api_available_cpus();
	o->memory_bytes = o->memory_bytes ? o->memory_bytes : automatic_memory();
	o->pool_bytes = o->pool_bytes ? o->pool_bytes : smaller(o->memory_bytes / 4, G);
	o->sets_per_caller = o->sets_per_caller ? o->sets_per_caller : o->sets;
	o->set_bytes = o->set_bytes ? o->set_bytes : o->memory_bytes / 2;
	o->set_bytes_per_caller = o->set_bytes_per_caller ? o->set_bytes_per_caller : o->set_bytes;
}

static bool are_in_range(const struct frictiond_options *o)
{
	bool ok = o->set_bytes <= o->memory_bytes && o->set_bytes_per_caller <= o->set_bytes &&
	          o->sets_per_caller <= o->sets;
#define CHECK(member, otherwise, least, most) ok &= o->member >= (least) && o->member <= (most);
	OPTIONS(CHECK)
	return ok;
}

/* ---- services ---- */

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool open_memory(struct frictiond *service, const struct frictiond_options *o)
{
	service->budget.most_bytes = o->memory_bytes;
	service->api.pool = api_pool_create(o->pool_bytes, &service->budget);
	const struct api_sets_limits limits = {
		.bytes = o->set_bytes,
		.bytes_per_caller = o->set_bytes_per_caller,
		.n = o->sets,
		.n_per_caller = o->sets_per_caller,
		.idle_seconds = (long long)o->set_idle_seconds,
		.pool = service->api.pool,
	};
	service->api.sets = service->api.pool ? api_sets_create(&limits, now_ms) : NULL;
	return service->api.sets;
}

static void close_memory(struct frictiond *service)
{
	api_sets_free(service->api.sets);
	api_pool_free(service->api.pool);
	free(service);
}

static void release(struct frictiond *service)
{
	if (atomic_fetch_sub(&service->n_holders, 1) == 1)
		close_memory(service);
}

static void initialize(struct frictiond *service, const struct frictiond_options *o)
{
	*service = (struct frictiond){
		.api = {.n_threads = (int)o->threads,
	            .max_json_bytes = o->max_json_bytes,
	            .max_frame_bytes = o->max_frame_bytes,
	            .max_answer_bytes = o->max_answer_bytes,
	            .max_contacts = o->max_contacts,
	            .max_vertices = o->max_vertices},
		.idle_ms = 1000 * (int64_t)o->idle_seconds,
		.generation = generation,
	};
	atomic_init(&service->n_holders, 1);
	atomic_init(&service->n_large, 0);
	atomic_init(&service->trimmed_ms, now_ms());
}

enum frictiond_code frictiond_create(const struct frictiond_options *options, struct frictiond **service)
{
	struct frictiond_options o = {.size = sizeof(o)};
	if (!service)
		return FRICTIOND_E_ARGUMENT;
	*service = NULL;
	if (options && !take(&o, sizeof(o), options, options->size))
		return FRICTIOND_E_ARGUMENT;
	settle(&o);
	if (!are_in_range(&o))
		return FRICTIOND_E_ARGUMENT;
	struct frictiond *created = malloc(sizeof(*created));
	if (!created)
		return FRICTIOND_E_MEMORY;
	initialize(created, &o);
	const bool has_kernels = api_choose_kernels(&created->api, o.kernels ? o.kernels : "best");
	if (!has_kernels || !open_memory(created, &o)) {
		close_memory(created);
		return has_kernels ? FRICTIOND_E_MEMORY : FRICTIOND_E_KERNELS;
	}
	*service = created;
	return FRICTIOND_OK;
}

void frictiond_destroy(struct frictiond *service)
{
	if (service && service->generation == generation)
		release(service);
}

size_t frictiond_memory(const struct frictiond *service)
{
	return service ? atomic_load(&service->budget.used_bytes) : 0;
}

static size_t trim(struct frictiond *service, int64_t idle_ms)
{
	api_sets_expire(service->api.sets);
	return api_pool_trim(service->api.pool, idle_ms);
}

size_t frictiond_trim(struct frictiond *service)
{
	return service && service->generation == generation ? trim(service, 0) : 0;
}

/* Trims at most once a second. Call it after a request, so that memory released just before stays warm. */
static void trim_sometimes(struct frictiond *service)
{
	const int64_t now = now_ms();
	int64_t last = atomic_load_explicit(&service->trimmed_ms, memory_order_relaxed);
	if (now - last >= 1000 && atomic_compare_exchange_strong(&service->trimmed_ms, &last, now))
		trim(service, service->idle_ms);
}

/* ---- requests ---- */

static bool read_body(const struct frictiond_request *given, struct api_request *request)
{
	const struct frictiond_piece *pieces = given->pieces;
	size_t bytes = 0;
	if (!pieces && given->n_pieces)
		return false;
	for (size_t i = 0; i < given->n_pieces; i++)
		if ((!pieces[i].bytes && pieces[i].n) || __builtin_add_overflow(bytes, pieces[i].n, &bytes))
			return false;
	request->body_bytes = bytes;
	if (given->n_pieces > 1)
		request->parts = (const struct api_part *)(const void *)pieces;
	else
		request->body = bytes ? pieces->bytes : "";
	request->n_parts = given->n_pieces;
	return true;
}

static bool read_request(const struct frictiond_request *given, struct api_request *request)
{
	*request = (struct api_request){
		.method = given->method,
		.target = given->target,
		.content_type = given->content_type,
		.accept = given->accept,
		.if_none_match = given->if_none_match,
		.if_match = given->if_match,
		.if_unmodified_since = given->if_unmodified_since,
		.if_version = given->if_collision_set_version,
		.request_id = given->request_id,
		.caller = given->caller,
		.stop = given->stop,
	};
	return given->method && given->target && (!given->caller || strlen(given->caller) < API_CALLER_BYTES) &&
	       read_body(given, request);
}

/* ---- computing ---- */

/* Large calls at the same time divide the threads among themselves. */
static void handle_large(struct frictiond *service, const struct api_request *request, struct api_response *response)
{
	struct api_service view = service->api;
	const int n_large = atomic_fetch_add(&service->n_large, 1) + 1;
	view.n_threads = has_lost_team || view.n_threads < n_large ? 1 : view.n_threads / n_large;
	api_handle(&view, request, response);
	atomic_fetch_sub(&service->n_large, 1);
}

static void handle_small(const struct frictiond *service, const struct api_request *request,
                         struct api_response *response)
{
	struct api_service view = service->api;
	view.n_threads = 1;
	api_handle(&view, request, response);
}

static void handle(struct frictiond *service, const struct api_request *request, struct api_response *response)
{
	struct api_request view = *request;
	struct api_match match;
	api_match(request->target, &match);
	view.match = &match;
	const long long bytes = request->body_bytes < INT64_MAX ? (long long)request->body_bytes : INT64_MAX;
	const struct api_admission admission = api_admit(&service->api, &view, bytes, false, response);
	if (!admission.accepted)
		return;
	view.formats = &admission.formats;
	if (!admission.computes)
		api_handle(&service->api, &view, response);
	else if (api_is_large(&service->api, &view))
		handle_large(service, &view, response);
	else
		handle_small(service, &view, response);
}

/* ---- answers ---- */

/* An answer, with everything that its public struct points to. */
struct answer {
	struct frictiond_answer public;
	struct frictiond *service;
	struct frictiond_header headers[API_MAX_HEADERS];
	struct frictiond_piece whole;
	struct api_response response;
};

static bool is_bare(const struct api_request *request, const struct api_response *response)
{
	return strcmp(request->method, "HEAD") == 0 || response->status == 204 || response->status == 304;
}

static void list_headers(struct answer *answer)
{
	const struct api_response *response = &answer->response;
	for (int i = 0; i < response->n_headers; i++)
		answer->headers[i] = (struct frictiond_header){response->headers[i].name, response->headers[i].value};
	answer->public.headers = answer->headers;
	answer->public.n_headers = (size_t)response->n_headers;
}

static void list_pieces(struct answer *answer)
{
	const struct api_response *response = &answer->response;
	answer->whole = (struct frictiond_piece){response->body, response->body_bytes};
	answer->public.pieces = response->parts ? (const struct frictiond_piece *)(const void *)response->parts
	                                        : &answer->whole;
	answer->public.n_pieces = response->parts ? (size_t)response->n_parts : response->body_bytes > 0;
}

static void fill_in(struct answer *answer, const struct api_request *request)
{
	struct api_response *response = &answer->response;
	answer->public = (struct frictiond_answer){
		.size = sizeof(answer->public),
		.content_type = response->content_type,
		.body_bytes = response->body_bytes,
		.copied_bytes = response->copied_bytes,
		.status = response->status,
	};
	list_headers(answer);
	if (is_bare(request, response))
		api_response_free(response);
	else
		list_pieces(answer);
}

enum frictiond_code frictiond_call(struct frictiond *service, const struct frictiond_request *given,
                                   struct frictiond_answer **out)
{
	struct frictiond_request copy;
	struct api_request request;
	fenv_t environment;
	if (!out)
		return FRICTIOND_E_ARGUMENT;
	*out = NULL;
	if (!service || !given || !take(&copy, sizeof(copy), given, given->size) || !read_request(&copy, &request))
		return FRICTIOND_E_ARGUMENT;
	if (service->generation != generation)
		return FRICTIOND_E_FORKED;
	struct answer *answer = malloc(sizeof(*answer));
	if (!answer)
		return FRICTIOND_E_MEMORY;
	atomic_fetch_add(&service->n_holders, 1);
	answer->service = service;
	/* The caller may trap overflows or flush subnormal numbers to zero; both would change results. */
	fegetenv(&environment);
	fesetenv(FE_DFL_ENV);
	handle(service, &request, &answer->response);
	fesetenv(&environment);
	fill_in(answer, &request);
	trim_sometimes(service);
	*out = &answer->public;
	return FRICTIOND_OK;
}

void frictiond_answer_free(struct frictiond_answer *public)
{
	struct answer *answer = (struct answer *)(void *)public;
	if (!answer || answer->service->generation != generation)
		return;
	api_response_free(&answer->response);
	release(answer->service);
	free(answer);
}

/* ---- about the library ---- */

const char *frictiond_version(void)
{
	return FRICTIOND_VERSION;
}

const char *frictiond_reason(enum frictiond_code code)
{
	switch (code) {
	case FRICTIOND_OK: return "no error";
	case FRICTIOND_E_MEMORY: return "out of memory";
	case FRICTIOND_E_ARGUMENT: return "an argument is missing or out of range";
	case FRICTIOND_E_KERNELS: return "this processor has no such kernels";
	case FRICTIOND_E_FORKED: return "the service was created before a fork; create another one in this process";
	}
	return "unknown code";
}

/**
 * The HTTP API without sockets: (method, target, headers, body) in, (status, headers, body) out.
 * Everything here may be called from several threads at once on one service.
 */
#ifndef API_H
#define API_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/base/codes.h"

struct api_pool;
struct api_sets;

/* The limits of the service and how it computes; set once before the first request, read-only afterwards. */
struct api_service {
	int n_threads;                     /* threads of a large evaluation, >= 1 */
	size_t max_json_bytes;             /* longest JSON body, and longest document in a frame */
	size_t max_frame_bytes;            /* longest frame */
	size_t max_answer_bytes;           /* longest answer */
	size_t max_contacts, max_vertices; /* of a request; 0: no limit but what can be counted */
	bool defers; /* large requests: this service is for those that serve connections, see api_handle */
	const struct fric_kernels *kernels; /* inner loops; NULL: the best of this processor */
	struct api_sets *sets;              /* collision sets, outliving all requests; NULL: none are kept */
	struct api_pool *pool;              /* of warm memory, outliving all responses; NULL: malloc */
	const char *description; /* api_describe's text, outliving all responses; NULL: printed on every request */
	size_t description_bytes;
};

/**
 * The service in OpenAPI 3.1: GET /openapi.json. The same service gives the same bytes.
 * @param bytes  set to the length
 * @return malloc'd text, NUL-terminated; NULL when out of memory
 */
char *api_describe(const struct api_service *service, size_t *bytes);

/* Sets the inner loops by name: best, avx512, avx2, baseline, scalar. @return false if this processor has none of that name */
bool api_choose_kernels(struct api_service *service, const char *name);

/* JSON, or a frame (docs/frame.md): a document can travel in either. */
enum api_format { API_JSON, API_FRAME };

struct api_formats {
	enum api_format body, answer;
};

enum { API_PATH_BYTES = 640, API_NAME_BYTES = 128, API_MAX_NAMES = 2 };

/* Where a request's target leads. Found once, as soon as the target is there; it stays with the request to its end. */
struct api_match {
	const struct api_table *table; /* where it was looked up */
	const struct api_route *route; /* its row (contract/route.h); NULL: there is nothing */
	const char *query;             /* as it came, "" if there is none; borrowed from the target */
	bool is_broken;                /* a broken %-escape, or a name that is too long or not UTF-8: then there is nothing
	                                * either, whatever the row */
	bool is_plain; /* the fixed part of the row's path came without escapes. Others are answered just as well,
	                                * but only what is plain is open, or counted under the row's name */
	char path[API_PATH_BYTES];                 /* decoded; cut where it is longer than any that leads somewhere */
	char names[API_MAX_NAMES][API_NAME_BYTES]; /* what stands for the row's {names}, UTF-8 unless broken */
};

/* @param target  as in struct api_request */
void api_match(const char *target, struct api_match *match);

/* A request as the server has it. Everything is borrowed for the duration of the call. Absent headers are NULL. */
struct api_request {
	const char *method; /* "GET" */
	const char *target; /* raw, percent-encoded: "/v1/functions/smooth_mu?y=1" */
	const char *content_type;
	const char *accept;
	const char *if_none_match;
	const char *if_match, *if_unmodified_since; /* refused about sets */
	const char *if_version;                     /* If-Collision-Set-Version */
	const char *request_id;                     /* already chosen by the server; named in 500s */
	const char *caller;                         /* the name of its token; NULL: it showed none */
	const struct api_match *match;     /* of the target; NULL: not looked up yet, and looked up for each call */
	const struct api_formats *formats; /* by api_admit; NULL: not judged yet */
	const char *body;
	size_t body_bytes;
	size_t body_held;        /* what the body has taken from the pool's budget; 0 if it does not count */
	const atomic_bool *stop; /* NULL, or raised when the answer is no longer wanted, which makes it a 503 soon */
	bool was_deferred;       /* api_handle has seen it before, and deferred it */
};

enum { API_MAX_HEADERS = 10, API_MAX_PARTS = 256 };

/* A stretch of an answer's body. */
struct api_part {
	const void *bytes;
	size_t n;
};

/* The steps of an evaluation, as in Server-Timing. */
enum api_phase { API_DECODE, API_PREPARE, API_EVALUATE, API_ENCODE, API_N_PHASES };

/* What an evaluation took, for metrics. All zero for other requests. */
struct api_measure {
	int n_phases; /* how many phases were begun, in the order above; the last one may have
	                                         * failed */
	int64_t phase_nanoseconds[API_N_PHASES];
	size_t n_contacts; /* of an evaluation that was answered */
};

/* The answer; its strings and body belong to it until api_response_free. */
struct api_response {
	int status;
	const char *content_type;
	struct {
		const char *name; /* static */
		char value[256];
	} headers[API_MAX_HEADERS]; /* besides Content-Type: Allow, Retry-After, Server-Timing, those of pages */
	int n_headers;
	char *body;           /* or NULL; the whole body, unless there are parts */
	size_t body_capacity; /* private, like pool: how the body is given back */
	struct api_pool *pool;
	size_t body_bytes;      /* of the whole body, in either form */
	struct api_part *parts; /* malloc'd: the body in pieces, to be sent one after the other; NULL: in one */
	int n_parts;            /* up to API_MAX_PARTS, none of them empty */
	void *owner;            /* owns what the parts point to, until release(owner); release is NULL if there is no
	                          * owner */
	void (*release)(void *owner);
	struct api_measure measure;
};

/* What a request may do, judged from its head before any of its body is read. */
struct api_admission {
	bool accepted;         /* false: the response is filled in, the body must not be handed over */
	bool computes;         /* may take long (evaluate, check, functions); false: answered at once */
	size_t max_body_bytes; /* limit while the body is read; beyond it: API_E_BODY_TOO_LONG */
	struct api_formats formats;
};

/**
 * First look: unknown path, wrong method, wrong media types, missing or announced excessive length.
 * @param request          body ignored
 * @param announced_bytes  Content-Length, or -1 if there is none
 * @param chunked          the body comes with Transfer-Encoding: chunked
 * @param response         filled in only if the request is not accepted
 */
struct api_admission api_admit(const struct api_service *service, const struct api_request *request,
                               long long announced_bytes, bool chunked, struct api_response *response);

/**
 * Whether a request that computes will certainly take so long (beyond about 150 us) that it must not be computed on a
 * thread that serves connections. Judged by the length of its body and the set that its path names: nothing is decoded.
 */
bool api_is_large(const struct api_service *service, const struct api_request *request);

/**
 * The whole request, accepted before. Always fills in a response. HEAD gets the body of GET, and 304 that of 200: the
 * server leaves it out, and sends its length. All memory that grows with the request counts against the pool's budget:
 * beyond it 503, or 413 if the request would not fit even alone. Afterwards only the response's own counts, until it is
 * freed.
 * @return false, with an empty response, if the service defers and the request turned out to be large once it was decoded:
 *         nothing has changed, and the request is to be handled again (was_deferred) by a service that does not defer
 */
bool api_handle(const struct api_service *service, const struct api_request *request, struct api_response *response);

/* A problem (RFC 9457) that the server itself has found: 408, 413, 503 … with an optional detail. */
void api_problem(enum api_code code, const char *detail, struct api_response *response);

/* value is copied (truncated at 255 bytes); name must be static. Ignored when the response has API_MAX_HEADERS already. */
void api_response_add_header(struct api_response *response, const char *name, const char *value);
/* Its body; status and headers stay, and it may get another body. */
void api_response_free(struct api_response *response);
/* Makes uninitialised memory an empty response; the calls above do the same. */
void api_response_clear(struct api_response *response);

#endif

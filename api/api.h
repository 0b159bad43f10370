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

#include "api/base/pool.h"

/* What the service promises and how it computes; set once before the first request, read-only afterwards. */
struct api_service {
	int n_threads;             /* threads of a large evaluation, >= 1 */
	size_t max_json_bytes;     /* longest JSON body, and longest document in a frame */
	size_t max_frame_bytes;    /* longest frame */
	size_t max_answer_bytes;   /* longest answer */
	size_t max_contacts, max_vertices; /* of a request; 0: no limit but that of counting */
	const struct fric_kernels *kernels; /* inner loops; NULL: the best of this processor */
	struct api_pool *pool;     /* of warm memory, outliving all responses; NULL: malloc */
	const char *description;   /* what api_openapi_print gives for it, outliving all responses; NULL: printed on every request */
	size_t description_bytes;
};

/* Sets the inner loops by name: best, avx512, avx2, baseline, scalar. @return false if this processor has none of that name */
bool api_choose_kernels(struct api_service *service, const char *name);

/* Whether there is a resource at this path, decoded and without a query. */
bool api_has_path(const char *path);

/* A request as the server has it; everything is borrowed for the duration of the call. Absent headers are NULL. */
struct api_request {
	const char *method;       /* "GET" */
	const char *target;       /* raw, percent-encoded: "/v1/functions/smooth_mu?y=1" */
	const char *content_type;
	const char *accept;
	const char *if_none_match;
	const char *request_id;   /* already chosen by the server; named in 500s */
	const char *body;
	size_t body_bytes;
	size_t body_held;         /* what of the pool's budget the body has taken: 0 if it does not count */
	const atomic_bool *stop;  /* NULL, or raised when the answer is no longer wanted: 503 soon after that */
};

enum { API_MAX_HEADERS = 8, API_MAX_PARTS = 256 };

/* A stretch of an answer's body. */
struct api_part {
	const void *bytes;
	size_t n;
};

/* The steps of an evaluation, as in Server-Timing. */
enum api_phase { API_DECODE, API_PREPARE, API_EVALUATE, API_ENCODE, API_N_PHASES };

/* What an evaluation was, for those who keep count of them. All zero for other requests. */
struct api_measure {
	int n_phases;                           /* how many were begun, in the order above; the last one may have failed */
	int64_t phase_nanoseconds[API_N_PHASES];
	size_t n_contacts;                      /* of an evaluation that was answered */
};

/* The answer; its strings and body belong to it until api_response_free. */
struct api_response {
	int status;
	const char *content_type;
	struct {
		const char *name; /* static */
		char value[256];
	} headers[API_MAX_HEADERS];  /* beside Content-Type: Allow, Retry-After, Server-Timing, those of pages */
	int n_headers;
	char *body;              /* or NULL; the whole body, unless there are parts */
	size_t body_capacity;    /* private, as pool: where the body goes back to */
	struct api_pool *pool;
	size_t body_bytes;       /* of the whole body, in either form */
	struct api_part *parts;  /* malloc'd: the body in pieces that are to be sent one after the other; NULL: in one */
	int n_parts;             /* up to API_MAX_PARTS, none of them empty */
	void *owner;             /* of what parts point to, until release(owner); release is NULL if there is none */
	void (*release)(void *owner);
	struct api_measure measure;
};

/* What a request may do, judged from its line and headers before a byte of its body is read. */
struct api_admission {
	bool accepted;          /* false: the response is filled in, the body must not be handed over */
	bool computes;          /* may take long (evaluate, functions); false: answers at once */
	size_t max_body_bytes;  /* ceiling while the body is read; over it: api_problem(413) */
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
 * Whether a request that computes, body and all, will take so long (beyond about 100 us) that it must not be computed on
 * a thread that serves connections. An estimate from what it carries and asks for; looks at no more than 64 KiB.
 */
bool api_is_large(const struct api_request *request);

/**
 * The whole request, accepted before. Always fills in a response. HEAD gets the body of GET, and 304 that of 200: the
 * server leaves it out and tells its length.
 * All memory that grows with the request counts against the pool's budget: over it 503, or 413 if the request would not
 * fit alone. Afterwards the response's own is left, until it is freed.
 */
void api_handle(const struct api_service *service, const struct api_request *request, struct api_response *response);

/* A problem (RFC 9457) that the server itself has found: 408, 413, 503 … with an optional detail. */
void api_problem(int status, const char *detail, struct api_response *response);

/* value is copied (truncated at 255 bytes); name must be static. Ignored when the response has API_MAX_HEADERS already. */
void api_response_add_header(struct api_response *response, const char *name, const char *value);
void api_response_free(struct api_response *response);
/* An empty response in memory that holds none; the calls above do the same. */
void api_response_clear(struct api_response *response);

#endif

/**
 * The HTTP API without sockets: (method, target, headers, body) in, (status, headers, body) out.
 * All functions may be called from several threads at once on one service.
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

/* The limits of the service, and the settings of its computations. Set before the first request, read-only
 * afterwards. */
struct api_service {
	int n_threads;                      /* threads of a large evaluation, >= 1 */
	size_t max_json_bytes;              /* longest JSON body, and longest document in a frame */
	size_t max_frame_bytes;             /* longest frame */
	size_t max_answer_bytes;            /* longest answer */
	size_t max_contacts, max_vertices;  /* per request; 0: no limit other than the integer types */
	bool defers;                        /* runs on threads that serve connections: api_handle defers large requests */
	const struct fric_kernels *kernels; /* inner loops; NULL: the fastest that this processor supports */
	struct api_sets *sets;              /* collision sets, which outlive all requests; NULL: none are kept */
	struct api_pool *pool;              /* pool of warm memory, which outlives all responses; NULL: malloc */
	_Atomic(char *) *description;       /* keeps the text of api_describe from the first request for it; the owner frees
	                                     * it after all responses; NULL: printed for every request */
};

/**
 * Describes the service in OpenAPI 3.1, for GET /openapi.json. The same service gives the same bytes.
 * @param bytes  set to the length
 * @return malloc'd text, NUL-terminated; NULL when out of memory
 */
char *api_describe(const struct api_service *service, size_t *bytes);

/* Selects the inner loops by name: best, avx512, avx2, baseline, scalar.
 * @return false for an unknown name, or if this processor lacks the instructions */
bool api_choose_kernels(struct api_service *service, const char *name);

/* A document is sent as JSON or as a frame (docs/frame.md). */
enum api_format { API_JSON, API_FRAME };

struct api_formats {
	enum api_format body, answer;
};

enum { API_PATH_BYTES = 640, API_NAME_BYTES = 128, API_MAX_NAMES = 2 };

/* The row of the table of routes that matches a target. It is looked up once, as soon as the target is known, and kept
 * until the request ends. */
struct api_match {
	const struct api_table *table; /* the table that contains the row */
	const struct api_route *route; /* the row (contract/route.h); NULL: no row matches */
	const char *url_query;         /* undecoded, "" if there is none; borrowed from the target */
	bool is_broken; /* has a broken %-escape, or a name that is too long or not UTF-8; any row then gives 404 */
	bool is_plain;  /* the fixed part of the row's path came without escapes. Escaped forms are served as well, but
	                 * only plain ones are exempt from tokens and counted under the row's name */
	char path[API_PATH_BYTES];                 /* decoded; truncated where it is longer than any path of the table */
	char names[API_MAX_NAMES][API_NAME_BYTES]; /* the values of the row's {names}, UTF-8 unless is_broken */
};

/* Looks up a target.
 * @param target  as in struct api_request */
void api_match(const char *target, struct api_match *match);

/* A contiguous piece of a body. */
struct api_part {
	const void *bytes;
	size_t n;
};

/* A request as the server received it. Everything is borrowed for the duration of the call. Absent headers are NULL. */
struct api_request {
	const char *method; /* such as "GET" */
	const char *target; /* raw, percent-encoded: "/v1/functions/smooth_mu?y=1" */
	const char *content_type;
	const char *accept, *accept_encoding;
	const char *if_none_match;
	const char *if_match, *if_unmodified_since; /* refused for sets */
	const char *if_version;                     /* value of If-Collision-Set-Version */
	const char *request_id;                     /* chosen by the server; quoted in problems with status 500 */
	const char *caller;                         /* name of the caller's token; NULL: there was no token */
	const struct api_match *match;              /* the target's row; NULL: looked up again in each call */
	const struct api_formats *formats;          /* set by api_admit; NULL: not determined yet */
	const char *body;                           /* the whole body; NULL if it is in parts */
	size_t body_bytes;                          /* length of the whole body, in either form */
	const struct api_part *parts;               /* [n_parts] consecutive pieces of the body; joined first, unless the
	                                             * body is a frame whose first part contains the document */
	size_t n_parts;
	size_t body_held;        /* bytes of the body that the pool's budget already counts; may be 0 */
	const atomic_bool *stop; /* may be NULL; raised when the client no longer waits: the request then soon ends with
	                          * 503 */
	bool was_deferred;       /* whether api_handle has already deferred it */
};

enum { API_MAX_HEADERS = 10, API_MAX_PARTS = 256 };

/* The steps of an evaluation, as listed in Server-Timing. */
enum api_phase { API_DECODE, API_PREPARE, API_EVALUATE, API_ENCODE, API_N_PHASES };

/* Times and size of an evaluation, for metrics. All zero for other requests. */
struct api_measure {
	int n_phases; /* phases begun, in the order above; the last one may have failed */
	int64_t phase_nanoseconds[API_N_PHASES];
	size_t n_contacts; /* contacts of a successful evaluation */
};

/* The response. It owns its strings and its body until api_response_free. */
struct api_response {
	int status;
	const char *content_type;
	struct {
		const char *name; /* a static string */
		char value[256];
	} headers[API_MAX_HEADERS]; /* besides Content-Type: Allow, Retry-After, Server-Timing, headers of pages */
	int n_headers;
	char *body;           /* the whole body; NULL if there is none, or if it is in parts */
	size_t body_capacity; /* private, like pool: needed to free the body */
	struct api_pool *pool;
	size_t body_bytes;      /* length of the whole body, in either form */
	struct api_part *parts; /* malloc'd pieces of the body, sent one after the other; NULL: the body is in one piece */
	int n_parts;            /* at most API_MAX_PARTS, none of them empty */
	void *owner; /* owns the memory of the parts until release(owner) is called; release is NULL if there is no owner */
	void (*release)(void *owner);
	struct api_measure measure;
	size_t copied_bytes; /* bytes of the request body that were copied: joined parts, and unaligned arrays of a frame */
};

/* The verdict on a request's head, before any of its body is read. */
struct api_admission {
	bool accepted;         /* false: the response is filled in, and the body must not be passed on */
	bool computes;         /* may take long (evaluate, check, functions); false: handled at once */
	size_t max_body_bytes; /* limit while the body is read; a longer one gets API_E_BODY_TOO_LONG */
	struct api_formats formats;
};

/**
 * Judges the head: unknown path, wrong method, wrong media types, missing or excessive Content-Length.
 * @param request          its body is ignored
 * @param announced_bytes  Content-Length, or -1 if there is none
 * @param chunked          the body comes with Transfer-Encoding: chunked
 * @param response         filled in only if the request is not accepted
 */
struct api_admission api_admit(const struct api_service *service, const struct api_request *request,
                               long long announced_bytes, bool chunked, struct api_response *response);

/**
 * Whether a request will certainly take so long (more than about 150 us) that it must not be computed on a thread that
 * serves connections. Estimated from the length of its body and the set named in its path; nothing is decoded.
 */
bool api_is_large(const struct api_service *service, const struct api_request *request);

/**
 * Handles a whole request that api_admit has accepted. Always fills in a response. A response to HEAD has the body of
 * GET, and a 304 has the body of the 200; the server sends only its length. All memory that grows with the request
 * counts against the pool's budget. A request beyond the budget gets 503, or 413 if it would not fit even alone. After
 * the call only the response's memory counts, until it is freed.
 * @return false, with an empty response, if the service defers and the decoded request turned out to be large: nothing
 *         has changed, and the request must be handled again (was_deferred) by a service that does not defer
 */
bool api_handle(const struct api_service *service, const struct api_request *request, struct api_response *response);

/* Makes a response of a problem (RFC 9457) that the server itself has detected, such as 408, 413 or 503, with an
 * optional detail. */
void api_problem(enum api_code code, const char *detail, struct api_response *response);

/* Adds a header. value is copied (truncated at 255 bytes); name must be static. Does nothing if the response already
 * has API_MAX_HEADERS. */
void api_response_add_header(struct api_response *response, const char *name, const char *value);
/* Frees the body. Status and headers stay, and the response may get another body. */
void api_response_free(struct api_response *response);
/* Turns uninitialised memory into an empty response; the calls above begin with this. */
void api_response_clear(struct api_response *response);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * libfrictiond: the service without a socket. One call takes the method, path, headers and body of a request, and
 * returns the status, headers and body of the answer. Routes, fields, codes and bytes are as described in docs/api.md,
 * except that /metrics, which reports on the server, does not exist. The library starts no threads besides OpenMP's,
 * installs no signal handlers, prints nothing, and keeps no state outside its services. It contains private copies of
 * the libraries that it uses.
 *
 * Every function may be called from any thread at any time, on one service or on many. docs/local.md is a guide.
 *
 * Growth. Later versions append members to structs and values to enums, and a new member that is 0 keeps the previous
 * behaviour. Options and requests begin with their size, so programs compiled with this header work with every later
 * libfrictiond.so.FRICTIOND_ABI: zero-initialise them, set `size` to sizeof, and set other members by name.
 */
#ifndef FRICTIOND_H
#define FRICTIOND_H

#include <stddef.h>
#include <stdint.h>

/* A flag of one byte that one thread sets while others read it: std::atomic<bool>, in C atomic_bool. */
#ifdef __cplusplus
#include <atomic>
typedef std::atomic<bool> frictiond_flag;
static_assert(sizeof(frictiond_flag) == sizeof(bool) && alignof(frictiond_flag) == alignof(bool) &&
                  ATOMIC_BOOL_LOCK_FREE == 2,
              "the library, which is written in C, sees a flag as one byte");
extern "C" {
#else
#include <stdatomic.h>
#include <stdbool.h>
typedef _Atomic(bool) frictiond_flag;
#endif

#define FRICTIOND_VERSION "0.1.0"
#define FRICTIOND_ABI 1 /* the shared library is libfrictiond.so.1 */

/* The version of the library, such as "0.1.0". It may be newer than the header. */
const char *frictiond_version(void);

/* Why a function of this library failed. A fault in a request is not such a failure: there is an answer, whose status
 * states it. */
enum frictiond_code {
	FRICTIOND_OK = 0,
	FRICTIOND_E_MEMORY,   /* an allocation failed */
	FRICTIOND_E_ARGUMENT, /* a pointer is NULL that must not be, a struct has the wrong size, or an option is out of
	                       * range */
	FRICTIOND_E_KERNELS,  /* the option `kernels` is unknown, or this processor lacks the instructions */
	FRICTIOND_E_FORKED,   /* the service was created before this process was forked */
};

/* Describes a code in a sentence. @return static text */
const char *frictiond_reason(enum frictiond_code code);

/* ---- services ---- */

/* A service. It owns limits, collision sets and memory that is kept warm. */
struct frictiond;

/* 0 or NULL selects the default, which is the same as for the server's option of that name (docs/options.md). */
struct frictiond_options {
	size_t size;               /* sizeof(struct frictiond_options) */
	uint64_t threads;          /* threads of large evaluations, shared by all calls at the same time */
	uint64_t max_json_bytes;   /* longest JSON text; longest document of a frame */
	uint64_t max_frame_bytes;  /* longest frame */
	uint64_t max_answer_bytes; /* longest body of an answer */
	uint64_t max_contacts;     /* in a request */
	uint64_t max_vertices;
	uint64_t memory_bytes; /* limit for all requests, answers and collision sets together; request bodies belong to the
	                        * caller and do not count. Default: 3/4 of the machine's or the container's memory */
	uint64_t pool_bytes;   /* memory kept warm between calls, in addition to memory_bytes */
	uint64_t idle_seconds; /* how long memory is kept warm */
	uint64_t sets;         /* number of collision sets, of all callers */
	uint64_t sets_per_caller;
	uint64_t set_bytes; /* memory of all collision sets, part of memory_bytes */
	uint64_t set_bytes_per_caller;
	uint64_t set_idle_seconds; /* how long a collision set is kept after its last use */
	const char *kernels;       /* inner loops: best, avx512, avx2, baseline, scalar */
};

/**
 * Creates a service. Defaults depend on the processors and the memory that this process may use.
 * @param options  NULL: the defaults
 * @param service  set to the service, to be released with frictiond_destroy; NULL after an error
 */
enum frictiond_code frictiond_create(const struct frictiond_options *options, struct frictiond **service);

/**
 * Destroys a service and its collision sets as soon as the calls under way have ended and all answers have been freed.
 * Has no effect on NULL, or in a fork of the process that created the service.
 */
void frictiond_destroy(struct frictiond *service);

/* The part of memory_bytes that is in use, by calls under way, answers not yet freed, and collision sets. */
size_t frictiond_memory(const struct frictiond *service);

/**
 * Drops collision sets that have been idle for too long, and returns all idle memory to the system. At most once a
 * second, frictiond_call does the same for memory that has been idle for idle_seconds; without calls, nothing is freed.
 * @return bytes returned
 */
size_t frictiond_trim(struct frictiond *service);

/* ---- calls ---- */

/* Contiguous bytes. */
struct frictiond_piece {
	const void *bytes;
	size_t n;
};

struct frictiond_header {
	const char *name, *value;
};

/* A request. Everything is borrowed for the duration of the call and is not modified. A header that is NULL is
 * absent. */
struct frictiond_request {
	size_t size;               /* sizeof(struct frictiond_request) */
	const char *method;        /* "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD" */
	const char *target;        /* path and query, percent-encoded: "/v1/functions/smooth_mu?y=1" */
	const char *content_type;  /* NULL: application/json */
	const char *accept;        /* NULL: the format of the request */
	const char *if_none_match; /* If-None-Match */
	const char *if_match, *if_unmodified_since;
	const char *if_collision_set_version; /* If-Collision-Set-Version */
	const char *request_id;               /* quoted in problems with status 500 */
	const char *caller; /* name of the caller that owns the collision sets, shorter than 128 bytes; NULL stands for a
	                     * caller without a name */
	/* [n_pieces] consecutive pieces of the body. An array of a frame is used in place if it is aligned to 8 bytes and
	 * lies within one piece; otherwise it is copied. If there are several pieces, the first one should contain the
	 * frame's length and document. A JSON text in several pieces is copied. */
	const struct frictiond_piece *pieces;
	size_t n_pieces;
	/* If another thread sets this flag, the call soon ends with 503 and the code "stopped". May be NULL. */
	const frictiond_flag *stop;
};

/* An answer. It stays valid until it is freed, even after frictiond_destroy. */
struct frictiond_answer {
	size_t size;                            /* size of this struct in the version of the library */
	const char *content_type;               /* NULL: no body */
	const struct frictiond_header *headers; /* [n_headers] in addition to Content-Type and Content-Length */
	size_t n_headers;
	/* [n_pieces] consecutive pieces of the body. The arrays of a long frame stay where they were computed: the first
	 * piece contains length and document, and no array extends over two pieces. Arrays are aligned for their
	 * numbers. */
	const struct frictiond_piece *pieces;
	size_t n_pieces;
	size_t body_bytes;     /* length of the body; for HEAD, of the body that GET would return */
	uint64_t copied_bytes; /* bytes of the request's body that were copied; 0 if all its arrays were used in place */
	int32_t status;        /* 200 … 503 */
};

/**
 * Handles a request. Small requests take microseconds. Large ones open OpenMP regions on the calling thread, and divide
 * the service's threads among themselves. The bytes of answers do not depend on the number of threads.
 * @param answer  set to the answer, to be freed with frictiond_answer_free; NULL after an error
 * @return FRICTIOND_OK if there is an answer, whatever its status
 */
enum frictiond_code frictiond_call(struct frictiond *service, const struct frictiond_request *request,
                                   struct frictiond_answer **answer);

/* Frees an answer. Has no effect on NULL, or in a fork of the process that made the answer. */
void frictiond_answer_free(struct frictiond_answer *answer);

#ifdef __cplusplus
}
#endif

#endif

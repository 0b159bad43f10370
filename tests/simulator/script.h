/** The requests that a client will send, made from random numbers, and the responses that it may expect. */
#ifndef SIMULATOR_SCRIPT_H
#define SIMULATOR_SCRIPT_H

#include "tests/simulator/chance.h"

#include <stdbool.h>
#include <stddef.h>

enum { SCRIPT_BYTES = 96 << 10, SCRIPT_REQUESTS = 6, SCRIPT_ID = 24 };

/* Kinds of requests that read a set. */
enum script_asks { SCRIPT_DESCRIPTION, SCRIPT_EVALUATION, SCRIPT_PATTERN, SCRIPT_N_ASKS };

/* Properties of a request that the expected response depends on. */
enum trait {
	CLOSES = 1, /* the connection closes after the response */
	MAY_CLOSE = 2,
	NAMELESS = 4,    /* the service cannot read the head, and so not the request id */
	BARE = 8,        /* HEAD: no body, whatever Content-Length announces */
	UNFINISHED = 16, /* never sent in full */
	ANY_STATUS = 32, /* large body: 413 and 503 are allowed too */
	HAS_ORIGIN = 64,
	HAS_TRACE = 128,
	NOT_DRAINING = 256,   /* 503 while draining, although it is not a POST */
	LAST = 512,           /* the client announces the end, and would lose the response by sending more */
	TELLS_VERSION = 1024, /* on a set: the body of a 200 must match the version in the head */
};

struct asked {
	const char *name;         /* name of this kind of request, for the trace */
	size_t at, head_end, end; /* offsets in the script */
	int status;               /* expected status if nothing fails */
	unsigned traits;
	const char *body; /* expected body; NULL: unknown */
	size_t body_bytes;
	int also[2];           /* also allowed, because another client may have put or deleted the set */
	enum script_asks asks; /* with TELLS_VERSION: how the set is read */
	bool waits;            /* whether it waits for 100 Continue at head_end */
	char id[SCRIPT_ID];
};

struct script {
	char bytes[SCRIPT_BYTES];
	size_t n;
	struct asked asked[SCRIPT_REQUESTS];
	size_t n_asked;
};

/* Settings of the service on which responses depend. */
struct script_world {
	bool asks_tokens;
	size_t max_json_bytes;
};

/* Constraints on the last request. */
enum script_end {
	SCRIPT_ANY,
	SCRIPT_LONG,   /* one with a long response */
	SCRIPT_UNSENT, /* never sent in full, and perhaps long enough for a minute at a byte a second */
};

/* Computes the known responses. Call before any script. */
bool scripts_start(void);

/* The expected response from a set of this version; NULL: no such version. */
const char *script_answer_of(enum script_asks asks, const char *version, size_t version_bytes, size_t *n);

/* @param client  makes request ids unique */
void script_make(struct script *script, const struct script_world *world, enum script_end end, size_t client,
                 struct chance *chance);

#endif

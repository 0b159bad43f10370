/** What a client is going to say, made from chance, and what it may expect to hear. */
#ifndef SIMULATOR_SCRIPT_H
#define SIMULATOR_SCRIPT_H

#include "tests/simulator/chance.h"

#include <stdbool.h>
#include <stddef.h>

enum { SCRIPT_BYTES = 96 << 10, SCRIPT_REQUESTS = 6, SCRIPT_ID = 24 };

/* What is asked of a set. */
enum script_asks { SCRIPT_DESCRIPTION, SCRIPT_EVALUATION, SCRIPT_PATTERN, SCRIPT_N_ASKS };

/* What is known of a request beforehand. */
enum trait {
	CLOSES = 1, /* the connection ends after the answer */
	MAY_CLOSE = 2,
	NAMELESS = 4,    /* the service cannot read the head, and so not the id in it */
	BARE = 8,        /* HEAD: the answer has no body, whatever its length says */
	UNFINISHED = 16, /* not all of it will be sent */
	ANY_STATUS = 32, /* of a large body: also 413, 503 */
	HAS_ORIGIN = 64,
	HAS_TRACE = 128,
	NOT_DRAINING = 256,   /* 503 while draining, although it is no POST */
	LAST = 512,           /* the client itself says that it is: it loses the answer if it goes on */
	TELLS_VERSION = 1024, /* of a set: the body of 200 goes with the version in the head */
};

struct asked {
	const char *name;         /* of its kind, for the trace */
	size_t at, head_end, end; /* bytes of the script */
	int status;               /* of the answer if nothing goes wrong */
	unsigned traits;
	const char *body; /* of that answer; NULL: not known */
	size_t body_bytes;
	int also[2];           /* other statuses: another client may have put or deleted the set */
	enum script_asks asks; /* a set, with TELLS_VERSION */
	bool waits;            /* for 100 Continue at head_end */
	char id[SCRIPT_ID];
};

struct script {
	char bytes[SCRIPT_BYTES];
	size_t n;
	struct asked asked[SCRIPT_REQUESTS];
	size_t n_asked;
};

/* What the answers of the service depend on. */
struct script_world {
	bool asks_tokens;
	size_t max_json_bytes;
};

/* What the last request is. */
enum script_end {
	SCRIPT_ANY,
	SCRIPT_LONG,   /* one with a long answer */
	SCRIPT_UNSENT, /* one that is never sent in full, and may be long enough for a minute at a byte a second */
};

/* Computes the answers that are known. Before any script. */
bool scripts_start(void);

/* What a set of this version is answered; NULL: there is no such version. */
const char *script_answer_of(enum script_asks asks, const char *version, size_t version_bytes, size_t *n);

/* @param client  makes ids differ */
void script_make(struct script *script, const struct script_world *world, enum script_end end, size_t client,
                 struct chance *chance);

#endif

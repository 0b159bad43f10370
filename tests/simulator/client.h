/** One client: it says what its script says, in pieces that the schedule chooses, and judges what it hears. */
#ifndef SIMULATOR_CLIENT_H
#define SIMULATOR_CLIENT_H

#include "tests/simulator/script.h"
#include "tests/simulator/sockets.h"

enum {
	CLIENT_HEARS = 2 << 20, /* more than the longest answers, /openapi.json, to all requests of a client */
	CLIENT_FAULT = 256
};

/* What may have kept the service from answering as it would have. */
enum excuse {
	NO_MEMORY = 1,   /* or no descriptor: something was refused that it asked for */
	TIME_PASSED = 2, /* more than a connection or a request has */
	DRAINED = 4,
	LIMITED = 8,        /* others had what there is of connections, places in the queue, or memory */
	STOPPED = 16,       /* it was closed while this was under way */
	SECOND_PASSED = 32, /* after the client had said its last: the service gives it a second then */
};

struct client {
	struct link *link; /* NULL: not connected (any more) */
	struct script script;
	size_t n_sent; /* bytes of the script */
	char heard[CLIENT_HEARS];
	size_t n_heard, n_judged; /* bytes, and of them those that were looked at */
	size_t n_answered;
	struct client_answer {
		char id[48];
		int status;
	} answers[SCRIPT_REQUESTS]; /* of the first n_answered requests: as they came */
	bool continues;             /* 100 Continue was heard for the request under way */
	bool has_ended;             /* it sends nothing any more */
	bool has_left;              /* it closed the connection */
	bool is_told_close;         /* an answer said that the connection closes */
	bool hears_end;             /* the service has closed its sending side, or the connection */
	bool drips, sips;           /* sends, reads slowly when all others are done */
	unsigned excuses;
	char fault[CLIENT_FAULT]; /* empty: none so far */
};

void client_connect(struct client *client, struct link *link);
/* Whether there is more to be said now; not before a 100 Continue that it waits for. */
size_t client_may_say(const struct client *client);
void client_say(struct client *client, size_t most);
/* Reads at most so much, and judges. */
void client_hear(struct client *client, size_t most);
void client_end(struct client *client);
void client_leave(struct client *client, bool abruptly);
/* All that it asked is answered, or the connection is over. */
bool client_is_served(const struct client *client);
/* Nothing more will come: was what came enough? */
void client_conclude(struct client *client);
/* When the service has seen the end of all connections: are the answers that came on record, once? */
void client_check_records(struct client *client);

#endif

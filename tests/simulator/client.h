/** One client: it sends its script in pieces chosen by the schedule, and judges the responses. */
#ifndef SIMULATOR_CLIENT_H
#define SIMULATOR_CLIENT_H

#include "tests/simulator/script.h"
#include "tests/simulator/sockets.h"

enum {
	CLIENT_HEARS = 2 << 20, /* more than all responses to one client, even if each is the longest, /openapi.json */
	CLIENT_FAULT = 256
};

/* Circumstances that excuse the service from the expected response. */
enum excuse {
	NO_MEMORY = 1,   /* memory or a descriptor was refused to the service */
	TIME_PASSED = 2, /* longer than the time limit of a connection or a request */
	DRAINED = 4,
	LIMITED = 8,        /* other clients may have exhausted connections, places in the queue, or memory */
	STOPPED = 16,       /* the service was closed during the request */
	SECOND_PASSED = 32, /* a second passed after the client's end of stream, after which the service may close */
};

struct client {
	struct link *link; /* NULL: not connected yet, or no longer */
	struct script script;
	size_t n_sent; /* bytes of the script */
	char heard[CLIENT_HEARS];
	size_t n_heard, n_judged; /* bytes received; bytes judged */
	size_t n_answered;
	struct client_answer {
		char id[48];
		int status;
	} answers[SCRIPT_REQUESTS]; /* to the first n_answered requests */
	bool continues;             /* the current request has received 100 Continue */
	bool has_ended;             /* it has shut down its sending side */
	bool has_left;              /* it closed the connection */
	bool is_told_close;         /* a response announced that the connection closes */
	bool hears_end;             /* the service has closed its sending side, or the connection */
	bool drips, sips;           /* sends, or reads, slowly once all other clients are done */
	unsigned excuses;
	char fault[CLIENT_FAULT]; /* empty: none */
};

void client_connect(struct client *client, struct link *link);
/* Number of bytes that may be sent now; a client that waits for 100 Continue stops before the body. */
size_t client_may_say(const struct client *client);
void client_say(struct client *client, size_t most);
/* Reads at most `most` bytes and judges them. */
void client_hear(struct client *client, size_t most);
void client_end(struct client *client);
void client_leave(struct client *client, bool abruptly);
/* Whether every request has its response, or the connection is over. */
bool client_is_served(const struct client *client);
/* Checks, once nothing more can arrive, that no response is missing. */
void client_conclude(struct client *client);
/* Checks, once the service has seen the end of all connections, that each response was recorded exactly once. */
void client_check_records(struct client *client);

#endif

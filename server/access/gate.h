/**
 * Decides which requests are let in, only from the head and in this order: the host name by which the service is
 * called, the web page that sends the request, the token. Web pages matter because a page can run in the browser of a
 * user who reaches a service that the page's author does not. Requests over a Unix-domain socket are let in: the
 * permissions of its file restrict who may connect, and no page can. Judging is safe from any thread, also during a
 * reload.
 */
#ifndef SERVER_GATE_H
#define SERVER_GATE_H

#include "api/contract/route.h"
#include "server/access/tokens.h"
#include "server/base/head.h"
#include "server/listen/peer.h"
#include "server/observe/metrics.h"

#include <stdio.h>

enum { SRV_GATE_HEADERS = 6, SRV_GATE_TEXT = 384 };

/* All strings are borrowed; NULL: not set. */
struct srv_gate_settings {
	const char *tokens;             /* path */
	const char *tls_cert, *tls_key; /* paths; both or neither */
	const char *allow_origin;       /* as for srv_cors_is_list */
	const char *allow_host;         /* as for srv_hosts_is_list */
	long long anonymous;            /* 0, or 1: clients need no token */
};

struct srv_gate {
	const struct srv_gate_settings *settings; /* borrowed */
	struct srv_tokens *tokens;                /* NULL: clients need no token */
	const char *host;                         /* the configured listening address; borrowed */
	bool on_loopback;
	char methods[API_ALLOW_BYTES]; /* the methods of all routes, for Access-Control-Allow-Methods */
};

/* The gate's decision on a request. */
struct srv_entry {
	int status; /* 0: let in; 204: a preflight, whose response has no body; 421, 403, 401: refused */
	enum srv_rejection rejection;
	const char *culprit; /* points into the request's head, or NULL; a host or an origin ... */
	size_t culprit_bytes;
	const char *detail;             /* ... and its fault, static */
	bool tried;                     /* the request carried an unknown token */
	char token[SRV_TOKEN_NAME + 1]; /* the caller if there are tokens: name of its token, or its user over a
	                                 * Unix-domain socket; else empty */
};

struct srv_gate_header {
	const char *name, *value; /* static, or borrowed from the request's head */
};

/* Whether the TLS files come as a pair and the lists are valid. @param err  receives the fault */
bool srv_gate_settings_are_sound(const struct srv_gate_settings *settings, FILE *err);

/**
 * Reads the files that the settings name: tokens, certificate and key. Warnings go to the log.
 * @param err  receives the fault
 */
bool srv_gate_open(struct srv_gate *gate, const struct srv_gate_settings *settings, FILE *err);
/**
 * Checks the address on which the server is about to listen.
 * @param host  the address or name, as configured; borrowed
 * @param err   receives the reason for a refusal; a warning goes to the log
 * @return whether the server may listen there
 */
bool srv_gate_suits(struct srv_gate *gate, const char *host, bool on_loopback, FILE *err);
/* Reads the files again. A file with a fault is logged, and its previous contents stay in effect. */
void srv_gate_reload(const struct srv_gate *gate);
void srv_gate_close(struct srv_gate *gate);

/**
 * @param peer    address of the client; NULL: unknown
 * @param target  as received; an absolute one names the host
 * @param match   the route of the target, which decides what is open
 */
void srv_gate_judge(const struct srv_gate *gate, const struct srv_peer *peer, const struct srv_head *head,
                    const char *target, const struct api_match *match, struct srv_entry *entry);
/* Writes the refusal as a sentence for the client. */
void srv_gate_explain(const struct srv_entry *entry, char text[SRV_GATE_TEXT]);

/* The headers that the gate adds to the response. @return their number */
int srv_gate_headers(const struct srv_gate *gate, const struct srv_head *head, const struct srv_entry *entry,
                     struct srv_gate_header headers[SRV_GATE_HEADERS]);

#endif

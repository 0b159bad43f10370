/**
 * Which requests are let in, judged by the head alone and in this order: by which name the service is called, for which
 * web page, with which token. Web pages matter because one can run in the browser of a user who reaches a service that
 * the author of the page does not. What comes through a Unix-domain socket is let in: the permissions of its file say
 * who may connect, and no page can. Judging is safe from any thread, also during a reload.
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

/* All texts are borrowed; NULL: not given. */
struct srv_gate_settings {
	const char *tokens;             /* a file */
	const char *tls_cert, *tls_key; /* files; both or neither */
	const char *allow_origin;       /* as for srv_cors_is_list */
	const char *allow_host;         /* as for srv_hosts_is_list */
	long long anonymous;            /* 0, or 1: everybody may ask */
};

struct srv_gate {
	const struct srv_gate_settings *settings; /* borrowed */
	struct srv_tokens *tokens;                /* NULL: everybody may ask */
	const char *host;                         /* where it listens, as it was given; borrowed */
	bool on_loopback;
	char methods[API_ALLOW_BYTES]; /* of all routes, for pages that ask */
};

/* What the gate decides on a request. */
struct srv_entry {
	int status; /* 0: let in; 204: a preflight, answered by its headers alone; 421, 403, 401 */
	enum srv_rejection rejection;
	const char *culprit; /* of the request's head, or NULL; a host or an origin ... */
	size_t culprit_bytes;
	const char *detail;             /* ... and what is wrong with it, static */
	bool tried;                     /* a token that is not known was presented */
	char token[SRV_TOKEN_NAME + 1]; /* whose request it is, where there are tokens: the name of the one that was
	                                 * presented and is known, or over a Unix-domain socket the user; or empty */
};

struct srv_gate_header {
	const char *name, *value; /* static, or of the request's head */
};

/* Whether both files of TLS are given or neither, and the lists are lists. @param err  where the culprit is named */
bool srv_gate_settings_are_sound(const struct srv_gate_settings *settings, FILE *err);

/**
 * Reads what the settings name: tokens, certificate and key. Warnings go to the log.
 * @param err  where a fault is named
 */
bool srv_gate_open(struct srv_gate *gate, const struct srv_gate_settings *settings, FILE *err);
/**
 * Tells the gate where the server is about to listen.
 * @param host  the address or name, as it was given; borrowed
 * @param err   where a refusal is explained; a warning goes to the log
 * @return whether it may
 */
bool srv_gate_suits(struct srv_gate *gate, const char *host, bool on_loopback, FILE *err);
/* Reads the files again. What has a fault stays as it was, and the log says so. */
void srv_gate_reload(const struct srv_gate *gate);
void srv_gate_close(struct srv_gate *gate);

/**
 * @param peer    where it comes from; NULL: not known
 * @param target  as it came: it may say by which name the service is called
 * @param match   where it leads: its row says what is open
 */
void srv_gate_judge(const struct srv_gate *gate, const struct srv_peer *peer, const struct srv_head *head,
                    const char *target, const struct api_match *match, struct srv_entry *entry);
/* The refusal in a sentence for the client. */
void srv_gate_explain(const struct srv_entry *entry, char text[SRV_GATE_TEXT]);

/* The headers that the gate adds to the answer. @return how many */
int srv_gate_headers(const struct srv_gate *gate, const struct srv_head *head, const struct srv_entry *entry,
                     struct srv_gate_header headers[SRV_GATE_HEADERS]);

#endif

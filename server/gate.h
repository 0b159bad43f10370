/**
 * Who may ask: bearer tokens, and the web pages that may read answers. Decided from a request's head alone.
 * Judging is safe from any thread, also beside a reload.
 */
#ifndef SERVER_GATE_H
#define SERVER_GATE_H

#include "head.h"
#include "options.h"
#include "tokens.h"

#include <stdio.h>

enum { SRV_GATE_HEADERS = 6 };

struct srv_gate {
	struct srv_tokens *tokens;         /* NULL: everybody may ask */
	const struct srv_options *options; /* borrowed */
};

/* What the gate says to one request; strings are static. */
struct srv_entry {
	int status;         /* 0: come in; 204: a preflight, answered by its headers alone; 401 */
	const char *detail; /* of the 401 */
	bool tried;         /* with a token that is not known */
	char token[SRV_TOKEN_NAME + 1]; /* the name of the token that was presented and is known, or empty */
};

struct srv_gate_header {
	const char *name, *value; /* static, or of the request's head */
};

/**
 * Reads what the options name: tokens, certificate and key. Warnings go to the log.
 * @param err  where a fault is named
 */
bool srv_gate_open(struct srv_gate *gate, const struct srv_options *options, FILE *err);
/**
 * Whether the server may listen where it is told to.
 * @param err  where a refusal is explained; a warning goes to the log
 */
bool srv_gate_suits(const struct srv_gate *gate, bool on_loopback, FILE *err);
/* Reads it again. What has a fault stays as it was, and the log says so. */
void srv_gate_reload(const struct srv_gate *gate);
void srv_gate_close(struct srv_gate *gate);

void srv_gate_judge(const struct srv_gate *gate, const struct srv_head *head, struct srv_entry *entry);

/* The headers that an answer to this request needs on this account. @return how many */
int srv_gate_headers(const struct srv_gate *gate, const struct srv_head *head, const struct srv_entry *entry,
                     struct srv_gate_header headers[SRV_GATE_HEADERS]);

#endif

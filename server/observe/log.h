/**
 * The log on standard error: one line per event, written in one piece, as logfmt or JSON. Never payloads, never
 * queries, never tokens. Whatever bytes a client sends, a line stays one line, and JSON stays JSON.
 *
 * Safe from any thread, and no thread ever waits for a reader: where a line cannot be written at once (a full pipe, a
 * stopped terminal, a full disk, no reader) it is dropped and counted, and the next line that can be written says so.
 */
#ifndef SERVER_LOG_H
#define SERVER_LOG_H

#include "api/api.h"

#include <stddef.h>

enum srv_level { SRV_ERROR, SRV_WARNING, SRV_INFO, SRV_DEBUG };
enum srv_log_format { SRV_LOGFMT, SRV_JSON };

struct srv_trace;

/* What one line of the access log says; all is borrowed. Strings that are NULL are left out, except the first three,
 * which become -. */
struct srv_access {
	const char *request_id, *method, *target; /* of the target, only what precedes the query is written */
	const char *route;      /* as in the metrics; this, client, rejected and aborted are never a client's words */
	const char *client;     /* the address of the other end of the connection */
	int status;             /* 0: no answer was sent */
	size_t bytes_in;        /* of the body */
	size_t bytes_out;       /* of the body */
	long long microseconds; /* from the first line of the request to the last byte of the answer */
	long long waited_microseconds;     /* of these, in the queue; -1: was not in it */
	const struct api_measure *measure; /* NULL, or of an evaluation */
	const struct srv_trace *trace;     /* NULL: none */
	const char *token;                 /* the name of the token that was presented */
	const char *rejected;              /* why the request was rejected */
	const char *aborted;               /* why the exchange ended early */
};

/* Call once, before other threads start; until then: SRV_INFO, logfmt. Lines above the level are dropped. */
void srv_log_start(enum srv_level level, enum srv_log_format format);
void srv_log(enum srv_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* 5xx at level error, everything else at level info. */
void srv_log_access(const struct srv_access *access);

/* Lines that could not be written so far. */
unsigned long long srv_log_dropped(void);

#endif

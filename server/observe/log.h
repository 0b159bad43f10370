/**
 * The log on standard error: one line per event, written in one piece, as logfmt or JSON. It never contains payloads,
 * queries or tokens. No bytes from a client can split a line or make JSON invalid.
 *
 * Safe from any thread, and no thread ever waits for a reader: a line that cannot be written at once (a full pipe, a
 * stopped terminal, a full disk, no reader) is dropped and counted, and the next line that can be written reports the
 * count.
 */
#ifndef SERVER_LOG_H
#define SERVER_LOG_H

#include "api/api.h"

#include <stddef.h>
#include <stdint.h>

enum srv_level { SRV_ERROR, SRV_WARNING, SRV_INFO, SRV_DEBUG };
enum srv_log_format { SRV_LOGFMT, SRV_JSON };

/* Why the server rejected a request or a connection. Faults of the request itself are not listed here. */
enum srv_rejection {
	SRV_NOT_REJECTED,
	SRV_REJECTED_QUEUE_FULL,
	SRV_REJECTED_MEMORY,       /* no memory for the body, or to compute the request */
	SRV_REJECTED_DRAINING,     /* arrived or was still queued while the server was stopping */
	SRV_REJECTED_CONNECTIONS,  /* too many connections */
	SRV_REJECTED_DEADLINE,     /* was not computed in time */
	SRV_REJECTED_SLOW,         /* did not arrive in time */
	SRV_REJECTED_NOT_TAKEN,    /* the client did not read the response in time */
	SRV_REJECTED_UNAUTHORIZED, /* no token, or an unknown one */
	SRV_REJECTED_FORBIDDEN,    /* sent by a web page that may not use the service */
	SRV_REJECTED_MISDIRECTED,  /* named a host that is not the service's */
	SRV_N_REJECTIONS
};

/* A completed request. */
struct srv_outcome {
	const struct api_match *match; /* route of the target */
	enum srv_rejection rejection;
	int status;                        /* 0: no response was sent */
	int64_t nanoseconds;               /* from the first line of the request to the last byte of the response */
	int64_t waited_nanoseconds;        /* time in the queue, included in nanoseconds; -1: never queued */
	size_t bytes_in, bytes_out;        /* body sizes */
	const struct api_measure *measure; /* NULL: nothing was evaluated */
};

struct srv_trace;

/* Contents of a line in the access log; all pointers are borrowed. NULL strings are omitted, except the first three,
 * which become -. */
struct srv_access {
	const char *request_id, *method, *target; /* target: written without its query */
	const char *route;  /* label of the metrics; clients choose neither this nor client, rejected and aborted */
	const char *client; /* address of the peer */
	struct srv_outcome outcome;
	const struct srv_trace *trace; /* NULL: none */
	const char *token;             /* name of the token that the request carried */
	const char *rejected;          /* reason of a rejection */
	const char *aborted;           /* reason for an early end */
};

/* Call once, before other threads start; the defaults are SRV_INFO and logfmt. Lines above the level are dropped. */
void srv_log_start(enum srv_level level, enum srv_log_format format);
void srv_log(enum srv_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Logs 5xx at level error, everything else at level info. */
void srv_log_access(const struct srv_access *access);

/* Number of lines dropped so far. */
unsigned long long srv_log_dropped(void);

#endif

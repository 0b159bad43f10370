/**
 * The log on standard error: one logfmt line per event, written in one piece. Never payloads, never queries.
 * Safe from any thread.
 */
#ifndef SERVER_LOG_H
#define SERVER_LOG_H

#include <stddef.h>

enum srv_level { SRV_ERROR, SRV_WARNING, SRV_INFO, SRV_DEBUG };

/* What one line of the access log says; strings are borrowed and may be NULL (printed as -). */
struct srv_access {
	const char *request_id, *method, *path;
	int status;          /* 0: no answer was sent */
	size_t bytes_in;     /* of the body */
	size_t bytes_out;    /* of the body */
	long long microseconds; /* from the first line of the request to the last byte of the answer */
	const char *token;   /* the name of the token that was presented; NULL or empty: left out */
	const char *aborted; /* NULL, or why the exchange ended early */
};

/* Lines above this level are dropped. Call once, before other threads start. Default: SRV_INFO. */
void srv_log_set_level(enum srv_level level);
void srv_log(enum srv_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* 5xx at level error, everything else at level info. */
void srv_log_access(const struct srv_access *access);

#endif

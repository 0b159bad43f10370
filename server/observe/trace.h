/**
 * W3C Trace Context: the place of a request in a trace that the client records. The service adds one span and calls no
 * other service, so it merely logs the ids and returns its own.
 */
#ifndef SERVER_TRACE_H
#define SERVER_TRACE_H

#include <stdbool.h>

enum { SRV_TRACE_ID = 32, SRV_SPAN_ID = 16, SRV_TRACEPARENT = 55 };

/* Lowercase hexadecimal digits. All zero: the request is not part of a trace. */
struct srv_trace {
	char trace_id[SRV_TRACE_ID + 1];
	char parent_id[SRV_SPAN_ID + 1]; /* the client's span */
	char span_id[SRV_SPAN_ID + 1];   /* this service's span, random */
	bool sampled;
};

/**
 * Reads a traceparent header and creates the span.
 * @param value  NULL if absent
 * @return false if it is not valid (Trace Context, 3.2 and 4.3); the request is then not part of a trace
 */
bool srv_trace_read(const char *value, struct srv_trace *trace);

/* Writes the value of the header traceresponse: 00-TRACE-SPAN-FLAGS. */
void srv_trace_write(const struct srv_trace *trace, char text[SRV_TRACEPARENT + 1]);

#endif

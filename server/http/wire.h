/**
 * Filters the bytes of HTTP/1.1 requests on their way from a client to the HTTP library, and removes everything that a
 * proxy and the library could interpret differently (request smuggling). Framing and grammar follow
 * RFC 9112 strictly: lines end in CR LF, there is at most one Content-Length, of digits, and chunked is the only
 * transfer coding.
 *
 * A head is held back until it is complete and sound, so that the library never sees half of one. The bytes that pass
 * are normalised: no space after a value, no chunk extensions, no trailers, no empty lines before a request, no cookies
 * (a browser sends the cookies of all services on a host, and the library would parse them).
 *
 * A message with a fault is replaced: by a harmless head if the fault is in its head, or by an early end of its chunks
 * if the fault is in these. The message is then answered with srv_wire_fault(); nothing passes after it.
 */
#ifndef SERVER_WIRE_H
#define SERVER_WIRE_H

#include "api/base/codes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SRV_WIRE_TARGET = 8 << 10, /* longest target; beyond it: 414 */
	SRV_WIRE_HEAD = 20 << 10,  /* longest head, and longest trailers; beyond it: 431 */
	SRV_WIRE_FIELDS = 280,     /* most header lines and query parameters together; more get 431 */
	SRV_WIRE_ARGUMENTS = 64,   /* most query parameters; more get 414 */
	SRV_WIRE_COOKIE = 8 << 10, /* longest Cookie line; beyond it: 431 */
	SRV_WIRE_CHUNK_LINE = 256, /* longest chunk-size line */
	SRV_WIRE_EXTRA = 64,       /* most bytes that a replacement adds */
};

enum srv_wire_state {
	SRV_WIRE_REQUEST_LINE,
	SRV_WIRE_FIELD,
	SRV_WIRE_BODY, /* with a Content-Length */
	SRV_WIRE_CHUNK_SIZE,
	SRV_WIRE_CHUNK_DATA,
	SRV_WIRE_CHUNK_END, /* expects the CR LF after the data */
	SRV_WIRE_TRAILER,
	SRV_WIRE_OVER, /* after a fault: all further input is dropped */
};

struct srv_wire {
	enum srv_wire_state state;
	uint64_t left;     /* bytes of the body or chunk still to come */
	size_t n_messages; /* heads passed on or replaced so far */
	size_t unit;       /* bytes of the current part of the message: head, chunk line or trailers */
	size_t line;       /* bytes of the current line */
	bool after_cr;
	/* State of the current head: */
	bool old; /* HTTP/1.0 */
	unsigned n_fields, n_host, n_length, n_coding;
	uint64_t length;
	enum api_code code; /* API_NO_CODE, or the fault */
	bool replaced;      /* the fault was in the head, which was replaced */
	const char *detail;
};

/* Collects filtered bytes: [0, ready) may go to the library, [ready, n) belong to an incomplete head or line. */
struct srv_wire_out {
	char *bytes;
	size_t ready, n;
};

void srv_wire_open(struct srv_wire *wire);

/**
 * @param in   [n] from the client, in order
 * @param out  keeps the incomplete part between calls; must have room for n + SRV_WIRE_EXTRA bytes after out->n
 */
void srv_wire_filter(struct srv_wire *wire, const char *in, size_t n, struct srv_wire_out *out);

/* The number of coming bytes that need no filtering: the rest of a body or chunk, if nothing is held back. */
uint64_t srv_wire_clear(const struct srv_wire *wire, const struct srv_wire_out *out);
/* Reports that n bytes, at most srv_wire_clear() - 1, have bypassed the filter. */
void srv_wire_pass(struct srv_wire *wire, size_t n);

/* Ends a head or chunk under way with a fault found elsewhere, such as slowness. Does nothing within a body of
 * announced length, nor after a fault. out needs room for SRV_WIRE_EXTRA bytes. */
void srv_wire_fail(struct srv_wire *wire, enum api_code code, const char *detail, struct srv_wire_out *out);

/* The number of the message under way, 1 for the first of the connection; 0: none. */
size_t srv_wire_under_way(const struct srv_wire *wire);

/**
 * @param message  1 for the first of the connection
 * @param detail   set to a sentence for the client if there is a fault
 * @return the error with which this message must be answered and the connection closed; API_NO_CODE: none
 */
enum api_code srv_wire_fault(const struct srv_wire *wire, size_t message, const char **detail);
/* Whether this message's head was replaced, so that its method, target and headers are not the client's. */
bool srv_wire_replaced(const struct srv_wire *wire, size_t message);

#endif

/**
 * Filters the bytes of HTTP/1.1 requests on their way from a client to the HTTP library, so that nothing passes that
 * two programs in a row could read differently (request smuggling). Framing and grammar are those of RFC 9112, taken
 * strictly: lines end in CR LF, there is at most one Content-Length, of digits, and chunked is the only transfer
 * coding.
 *
 * A head is held back until it is complete and sound, so that the library never sees half of one. What passes is
 * normalised: no space after a value, no chunk extensions, no trailers, no empty lines before a request, no cookies (a
 * browser sends those of every service on a host, and the library would parse them).
 *
 * A message with a fault is replaced: by a harmless head if the fault is in its head, by an early end of its chunks if
 * it is there. The message is then answered with srv_wire_fault(); nothing passes after it.
 */
#ifndef SERVER_WIRE_H
#define SERVER_WIRE_H

#include "api/base/codes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SRV_WIRE_TARGET = 8 << 10, /* longest target; over it: 414 */
	SRV_WIRE_HEAD = 20 << 10,  /* longest head, and trailers; over it: 431 */
	SRV_WIRE_FIELDS = 280,     /* most header lines and arguments of a query together; over it: 431 */
	SRV_WIRE_ARGUMENTS = 64,   /* most arguments of a query; over it: 414 */
	SRV_WIRE_COOKIE = 8 << 10, /* longest line of cookies; over it: 431 */
	SRV_WIRE_CHUNK_LINE = 256, /* longest line with the size of a chunk */
	SRV_WIRE_EXTRA = 64,       /* what a replacement adds at most */
};

enum srv_wire_state {
	SRV_WIRE_REQUEST_LINE,
	SRV_WIRE_FIELD,
	SRV_WIRE_BODY, /* as long as Content-Length said */
	SRV_WIRE_CHUNK_SIZE,
	SRV_WIRE_CHUNK_DATA,
	SRV_WIRE_CHUNK_END, /* the CR LF after the data */
	SRV_WIRE_TRAILER,
	SRV_WIRE_OVER, /* a fault: whatever comes is dropped */
};

struct srv_wire {
	enum srv_wire_state state;
	uint64_t left;     /* of a body or a chunk */
	size_t n_messages; /* whose heads have been let through or replaced */
	size_t unit;       /* bytes of the message's part under way: head, chunk line, trailers */
	size_t line;       /* bytes of the line under way */
	bool after_cr;
	/* Of the head under way: */
	bool old; /* HTTP/1.0 */
	unsigned n_fields, n_host, n_length, n_coding;
	uint64_t length;
	enum api_code code; /* of the fault */
	bool replaced;      /* the head of the message with the fault */
	const char *detail;
};

/* Where filtered bytes gather: [0, ready) may go to the library, [ready, n) are part of a head or line under way. */
struct srv_wire_out {
	char *bytes;
	size_t ready, n;
};

void srv_wire_open(struct srv_wire *wire);

/**
 * @param in   [n] from the client, in order
 * @param out  kept between calls with what is under way; must have room for n + SRV_WIRE_EXTRA bytes after out->n
 */
void srv_wire_filter(struct srv_wire *wire, const char *in, size_t n, struct srv_wire_out *out);

/* How many bytes from here on need not be looked at: the rest of a body or chunk, if nothing is held back. */
uint64_t srv_wire_clear(const struct srv_wire *wire, const struct srv_wire_out *out);
/* n of them, at most srv_wire_clear() - 1, have bypassed the filter. */
void srv_wire_pass(struct srv_wire *wire, size_t n);

/* Ends a head or chunk that is under way with a fault found elsewhere, such as slowness. Does nothing within a body of
 * announced length, nor after a fault. out needs room for SRV_WIRE_EXTRA bytes. */
void srv_wire_fail(struct srv_wire *wire, enum api_code code, const char *detail, struct srv_wire_out *out);

/* The message that has begun and not ended, 1 for the first of the connection; 0: none. */
size_t srv_wire_under_way(const struct srv_wire *wire);

/**
 * @param message  1 for the first of the connection
 * @param detail   set to a sentence for the client if there is a fault
 * @return what to answer this message with, after which the connection ends; API_NO_CODE if nothing is wrong with it
 */
enum api_code srv_wire_fault(const struct srv_wire *wire, size_t message, const char **detail);
/* Whether the head of this message was replaced: its method, target and headers are not the client's. */
bool srv_wire_replaced(const struct srv_wire *wire, size_t message);

#endif

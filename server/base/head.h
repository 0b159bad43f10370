/**
 * The parts of a request's head that the server reads itself. wire.h has already checked the syntax.
 */
#ifndef SERVER_HEAD_H
#define SERVER_HEAD_H

#include "api/base/codes.h"

#include <stdbool.h>
#include <stddef.h>

/* Headers: X(member with the value, name). Pages cannot forge Sec-Fetch-*. */
#define SRV_HEADERS(X) \
	X(content_length, "Content-Length") \
	X(transfer_encoding, "Transfer-Encoding") \
	X(content_encoding, "Content-Encoding") \
	X(content_type, "Content-Type") \
	X(accept, "Accept") \
	X(accept_encoding, "Accept-Encoding") \
	X(expect, "Expect") \
	X(request_id, "X-Request-Id") \
	X(traceparent, "traceparent") \
	X(if_none_match, "If-None-Match") \
	X(if_match, "If-Match") \
	X(if_unmodified_since, "If-Unmodified-Since") \
	X(if_version, "If-Collision-Set-Version") \
	X(authorization, "Authorization") \
	X(origin, "Origin") \
	X(preflight, "Access-Control-Request-Method") \
	X(host, "Host") \
	X(fetch_site, "Sec-Fetch-Site") \
	X(fetch_mode, "Sec-Fetch-Mode") \
	X(fetch_dest, "Sec-Fetch-Dest")

/* Values are borrowed; NULL: the field is absent. If a field occurs several times, the first counts. */
struct srv_head {
	const char *method, *target;
	char accepts[1024]; /* several Accept lines, joined */
	char version[80];   /* If-Collision-Set-Version without trailing spaces, if short enough to be a version */
#define SRV_HEADER(member, name) \
	const char *member; \
	int n_##member;
	SRV_HEADERS(SRV_HEADER)
#undef SRV_HEADER
};

/* Adds one header line; lines come in the order of arrival. */
void srv_head_add(struct srv_head *head, const char *name, const char *value);

/**
 * Finds the first reason to refuse a request with these headers.
 * @param detail  set to a sentence for the client
 * @return API_NO_CODE if there is no reason
 */
enum api_code srv_head_fault(const struct srv_head *head, const char **detail);

/* Content-Length, or -1 if absent. A length beyond long long becomes LLONG_MAX. */
long long srv_head_announced(const struct srv_head *head);
bool srv_head_chunked(const struct srv_head *head);
/* Whether the client waits for a 100 before it sends the body. */
bool srv_head_expects_continue(const struct srv_head *head);

/* The origin-form within a target: "/path?x" for "http://host/path?x"; any other target is returned unchanged. */
const char *srv_origin_form(const char *target);
/**
 * The name by which the client calls the service: the authority of an absolute target, else Host (RFC 9112, 3.2.2).
 * @param target  as received, because the head keeps only the origin-form
 * @return [*n], or NULL, which only HTTP/1.0 allows
 */
const char *srv_head_authority(const struct srv_head *head, const char *target, size_t *n);

#endif

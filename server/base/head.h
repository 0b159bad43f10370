/**
 * What the server itself has to know of a request's head, which is sound: wire.h has made sure of that.
 */
#ifndef SERVER_HEAD_H
#define SERVER_HEAD_H

#include "api/base/codes.h"

#include <stdbool.h>
#include <stddef.h>

/* Values are borrowed, NULL if absent, and the first of several. */
struct srv_head {
	const char *method, *target;
	const char *content_length, *transfer_encoding, *content_encoding;
	char accepts[1024]; /* several Accept lines, joined */
	const char *content_type, *accept, *expect, *request_id, *traceparent;
	const char *if_none_match, *if_match, *if_unmodified_since;
	const char *if_version; /* If-Collision-Set-Version */
	char version[80];       /* its value, if it may be a version: without the spaces at its end */
	const char *authorization, *origin, *preflight; /* preflight: Access-Control-Request-Method */
	const char *host;
	const char *fetch_site, *fetch_mode, *fetch_dest; /* Sec-Fetch-..., which pages cannot forge */
	int n_content_length, n_transfer_encoding, n_content_encoding;
	int n_content_type, n_accept, n_expect, n_request_id, n_traceparent;
	int n_if_none_match, n_if_match, n_if_unmodified_since, n_if_version;
	int n_authorization, n_origin, n_preflight;
	int n_host;
	int n_fetch_site, n_fetch_mode, n_fetch_dest;
};

/* One header line, in the order of arrival. */
void srv_head_add(struct srv_head *head, const char *name, const char *value);

/**
 * The first reason to refuse a request with these headers.
 * @param detail  set to a sentence for the client
 * @return API_NO_CODE if there is no reason
 */
enum api_code srv_head_fault(const struct srv_head *head, const char **detail);

/* Content-Length, or -1 if there is none. A length beyond long long counts as LLONG_MAX. */
long long srv_head_announced(const struct srv_head *head);
bool srv_head_chunked(const struct srv_head *head);
/* The client waits for a 100 before it sends the body. */
bool srv_head_expects_continue(const struct srv_head *head);

/* The part of a target that is an origin-form: of "http://host/path?x" "/path?x"; anything else stays as it is. */
const char *srv_origin_form(const char *target);
/**
 * What the client calls the service: the authority of an absolute target, else Host (RFC 9112, 3.2.2).
 * @param target  as it came; the head has its origin-form
 * @return [*n], or NULL: HTTP/1.0 has neither
 */
const char *srv_head_authority(const struct srv_head *head, const char *target, size_t *n);

#endif

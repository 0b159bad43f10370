/**
 * The parts of a request's head that the server reads itself. wire.h has already checked the syntax.
 */
#ifndef SERVER_HEAD_H
#define SERVER_HEAD_H

#include "api/base/codes.h"

#include <stdbool.h>
#include <stddef.h>

/* Values are borrowed, NULL if absent; of several the first counts. */
struct srv_head {
	const char *method, *target;
	const char *content_length, *transfer_encoding, *content_encoding;
	char accepts[1024]; /* several Accept lines, joined */
	const char *content_type, *accept, *expect, *request_id, *traceparent;
	const char *if_none_match, *if_match, *if_unmodified_since;
	const char *if_version; /* If-Collision-Set-Version */
	char version[80];       /* its value without trailing spaces, if short enough to be a version */
	const char *authorization, *origin, *preflight; /* preflight: Access-Control-Request-Method */
	const char *host;
	const char *fetch_site, *fetch_mode, *fetch_dest; /* Sec-Fetch-*, which pages cannot forge */
	int n_content_length, n_transfer_encoding, n_content_encoding;
	int n_content_type, n_accept, n_expect, n_request_id, n_traceparent;
	int n_if_none_match, n_if_match, n_if_unmodified_since, n_if_version;
	int n_authorization, n_origin, n_preflight;
	int n_host;
	int n_fetch_site, n_fetch_mode, n_fetch_dest;
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

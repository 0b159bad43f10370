/**
 * By which names a service may be called: what Host says, or an absolute target before its path. A page whose name was
 * made to resolve to this machine's address (DNS rebinding) calls the service by that name, and the browser takes the
 * service for the page's own.
 */
#ifndef SERVER_HOSTS_H
#define SERVER_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

struct srv_host {
	const char *name; /* borrowed; an IPv6 address in its brackets */
	size_t bytes;     /* of the name */
	int port;         /* -1: none was given */
};

/**
 * Reads a name or an address, with a port or without.
 * @param text  [n]
 * @return false if it is neither
 */
bool srv_host_read(const char *text, size_t n, struct srv_host *host);

/* The same name in any case, with or without a final dot, or the same IPv6 address in any spelling. */
bool srv_hosts_are_same(const struct srv_host *a, const struct srv_host *b);

/* localhost, 127.0.0.0/8 as four decimal numbers (also mapped into IPv6), or ::1; no name to which somebody else could
 * give an address. */
bool srv_host_is_loopback(const struct srv_host *host);

/**
 * Whether this is a list: names and addresses, IPv6 in brackets, each with a port or without, separated by commas.
 * @param culprit  set to the first entry that is neither, of *n characters
 */
bool srv_hosts_is_list(const char *hosts, const char **culprit, int *n);

/* An entry without a port allows every port; a host without one has that of its scheme, which is perhaps https, with a
 * proxy in front. */
bool srv_hosts_allow(const char *hosts, const struct srv_host *host, bool tls);

/* The next entry of a list with commas or spaces between entries; *list moves past it. @return false at the end */
bool srv_list_next(const char **list, const char **entry, size_t *n);

#endif

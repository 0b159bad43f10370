/**
 * The names by which clients call the service, from Host or an absolute target. In a DNS rebinding attack a page's own
 * name is made to resolve to this machine, and the browser treats the service as part of the page's site; checking the
 * name stops that.
 */
#ifndef SERVER_HOSTS_H
#define SERVER_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

struct srv_host {
	const char *name; /* borrowed; an IPv6 address keeps its brackets */
	size_t bytes;     /* length of name */
	int port;         /* -1: none */
};

/**
 * Parses a name or an address, with or without a port.
 * @param text  [n]
 * @return false if it is neither
 */
bool srv_host_read(const char *text, size_t n, struct srv_host *host);

/* Compares names regardless of case and of a final dot, and IPv6 addresses regardless of spelling. */
bool srv_hosts_are_same(const struct srv_host *a, const struct srv_host *b);

/* Whether a host is localhost, 127.0.0.0/8 as four decimal numbers (also IPv4-mapped), or ::1: names that nobody else
 * can point to another address. */
bool srv_host_is_loopback(const struct srv_host *host);

/**
 * Whether the text is a list: names and addresses, IPv6 in brackets, each with or without a port, separated by commas.
 * @param culprit  set to the first entry that is neither, of *n characters
 */
bool srv_hosts_is_list(const char *hosts, const char **culprit, int *n);

/* An entry without a port allows every port. A host without a port has its scheme's default, which behind a proxy may
 * be the default of https. */
bool srv_hosts_allow(const char *hosts, const struct srv_host *host, bool tls);

/* Takes the next entry of a list separated by commas or spaces and moves *list past it. @return false at the end */
bool srv_list_next(const char **list, const char **entry, size_t *n);
/* Whether a list has entries, all of which is_entry accepts. @param culprit, n  as for srv_hosts_is_list */
bool srv_list_is_of(bool (*is_entry)(const char *text, size_t n), const char *list, const char **culprit, int *n);

#endif

/** The sockets at which the server listens. */
#ifndef SERVER_LISTENERS_H
#define SERVER_LISTENERS_H

#include "server/listen/listen.h"
#include "server/listen/unix_socket.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum { SRV_MOST_LISTENERS = 16, SRV_HOST_BYTES = 1026 /* NI_MAXHOST, and a zero */ };

struct srv_listener {
	int fd;
	bool is_unix, listens;
	char host[SRV_HOST_BYTES]; /* where, as it was given; of a Unix-domain socket the path */
	int port;
	struct srv_socket_file file; /* made for it by this process */
};

/* All zero: none. */
struct srv_listeners {
	int n;
	struct srv_listener list[SRV_MOST_LISTENERS];
};

/**
 * Takes what another process has handed over (activation.h), which listens already. To be called first.
 * @param err  where a fault is named
 * @return false if something of it is no such socket
 */
bool srv_listeners_take_over(struct srv_listeners *listeners, FILE *err);
/**
 * One socket of TCP more, which does not listen yet. @param host, port, fault  as of srv_bind; port is not set
 * @return false with a fault
 */
bool srv_listeners_bind(struct srv_listeners *listeners, const char *host, int port, struct srv_listen_fault *fault);
/* One Unix-domain socket more, which listens. @param path, mode, fault  as of srv_unix_listen */
bool srv_listeners_add_unix(struct srv_listeners *listeners, const char *path, mode_t mode,
                            struct srv_listen_fault *fault);
/* From now on all of them listen, those handed over as before. @param culprit  set on failure */
bool srv_listeners_listen(const struct srv_listeners *listeners, const struct srv_listener **culprit,
                          struct srv_listen_fault *fault);

/* The socket of TCP that the most can reach: the first beyond loopback, or the first; NULL: there is none. */
const struct srv_listener *srv_listeners_open_most(const struct srv_listeners *listeners);
bool srv_listeners_have_unix(const struct srv_listeners *listeners);
/* The one at this path, or of this port; NULL: there is none. */
const struct srv_listener *srv_listeners_at(const struct srv_listeners *listeners, const char *path);
const struct srv_listener *srv_listeners_of_port(const struct srv_listeners *listeners, int port);

/* The lines that say where: TCP first. @param tls  of TCP */
void srv_listeners_announce(const struct srv_listeners *listeners, bool tls, FILE *out);

/* Removes the files that were made for them, where they are still the same, and closes all. Again: nothing. */
void srv_listeners_close(struct srv_listeners *listeners);

#endif

/** The sockets at which the server listens. */
#ifndef SERVER_LISTENERS_H
#define SERVER_LISTENERS_H

#include "server/listen/listen.h"
#include "server/listen/unix_socket.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum { SRV_MOST_LISTENERS = 16, SRV_HOST_BYTES = 1026 /* SRV_HOST_BYTES: NI_MAXHOST and a NUL */ };

struct srv_listener {
	int fd;
	bool is_unix, listens;
	char host[SRV_HOST_BYTES]; /* host as configured; for a Unix-domain socket the path */
	int port;
	struct srv_socket_file file; /* if created by this process */
};

/* All members are zero if there are no sockets. */
struct srv_listeners {
	int n;
	struct srv_listener list[SRV_MOST_LISTENERS];
};

/**
 * Adopts the sockets passed in (activation.h), which already listen. Call first.
 * @param err  receives the fault
 * @return false if one of them is not such a socket
 */
bool srv_listeners_take_over(struct srv_listeners *listeners, FILE *err);
/**
 * Adds a TCP socket, which does not listen yet. @param host, port, fault  as for srv_bind; port is not set
 * @return false after a fault
 */
bool srv_listeners_bind(struct srv_listeners *listeners, const char *host, int port, struct srv_listen_fault *fault);
/* Adds a Unix-domain socket, which already listens. @param path, mode, fault  as for srv_unix_listen */
bool srv_listeners_add_unix(struct srv_listeners *listeners, const char *path, mode_t mode,
                            struct srv_listen_fault *fault);
/* Makes every socket listen. @param culprit  set on failure */
bool srv_listeners_listen(const struct srv_listeners *listeners, const struct srv_listener **culprit,
                          struct srv_listen_fault *fault);

/* The most widely reachable TCP socket: the first one that is not on loopback, else the first one; NULL if there is
 * none. */
const struct srv_listener *srv_listeners_open_most(const struct srv_listeners *listeners);
bool srv_listeners_have_unix(const struct srv_listeners *listeners);
/* The socket at this path, or with this port; NULL if there is none. */
const struct srv_listener *srv_listeners_at(const struct srv_listeners *listeners, const char *path);
const struct srv_listener *srv_listeners_of_port(const struct srv_listeners *listeners, int port);

/* Prints one line per socket, TCP first. @param tls  whether TCP uses TLS */
void srv_listeners_announce(const struct srv_listeners *listeners, bool tls, FILE *out);

/* Closes all sockets, and removes the files that this process created unless they were replaced. Repeated calls do
 * nothing. */
void srv_listeners_close(struct srv_listeners *listeners);

#endif

/**
 * Connections between scripted clients and the service, over real socket pairs. Replaces accept, recv, send, dup, close
 * and their like, so that the schedule decides how much passes at a time, and what fails.
 */
#ifndef SIMULATOR_SOCKETS_H
#define SIMULATOR_SOCKETS_H

#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* One connection. */
struct link {
	int client; /* the client's end, -1: closed */
	int n_ends; /* descriptors by which the service refers to its own end */
	struct sockaddr_in address;
	size_t window;            /* most bytes that may be sent to the client before it reads them */
	size_t unread;            /* bytes sent to the client and not read yet */
	size_t credit;            /* bytes that the service can still receive in this round */
	size_t send_most;         /* most bytes per send of the library */
	bool reset;               /* by the client: no more data passes in either direction */
	bool is_cut;              /* by the service: data that the client has not read is dropped */
	gnutls_session_t session; /* the client's, with TLS */
	bool greeted, parted;     /* handshake complete; close_notify sent by the client */
	bool is_real;             /* a connection of the system, for which only `client` is used */
	bool clipped;             /* a response sent past the library exceeded the window */
};

/* Refuses the service's next n descriptors. */
void sockets_refuse_files(size_t n);

/* The service's listening socket. */
int sockets_listen(void);
void sockets_unlisten(void);
/* Number of connections that the service has not accepted yet. */
size_t sockets_n_waiting(void);

/* Connects a client; the service accepts in a later round. @return NULL if the table is full or descriptors run out */
struct link *sockets_connect(unsigned address);
/* As sockets_connect, over a real connection to a loopback port. */
struct link *sockets_connect_to(int port);
/* Makes the client use TLS; its handshake proceeds whenever it sends or receives. @return false if memory runs out */
bool sockets_client_encrypt(struct link *link);
/* Call after the client has closed its end, and the service all of its own. */
void sockets_forget(struct link *link);

/* @return as send() */
ssize_t sockets_client_send(struct link *link, const char *bytes, size_t n);
/* @return as recv() */
ssize_t sockets_client_receive(struct link *link, char *bytes, size_t n);
void sockets_client_end(struct link *link);
/* @param abruptly  by a reset, which overtakes everything */
void sockets_client_close(struct link *link, bool abruptly);

/* Visits every connection that is open on the service's side. */
void sockets_each(void (*visit)(struct link *link));

/* The result of poll() at this moment. */
int sockets_poll(struct pollfd *fds, nfds_t n);
/* Number of the service's open connection descriptors. */
size_t sockets_n_ends(void);
/* Number of events that may have made a descriptor ready. */
size_t sockets_n_events(void);
/* Number of bytes that the service has received and sent so far. */
size_t sockets_n_moved(void);
/* Number of attempts to close a descriptor that was not open. */
size_t sockets_n_wrong(void);

#endif

/**
 * Connections between scripted clients and the service: real pairs of sockets. accept, recv, send, dup, close and their like
 * are replaced, so that the schedule decides how much goes through at a time, and what breaks.
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
	int n_ends; /* descriptors that the service has of its own end */
	struct sockaddr_in address;
	size_t window;            /* bytes that may be on their way to the client, who has not read them yet */
	size_t unread;            /* that are */
	size_t credit;            /* bytes that the service can still receive in this turn */
	size_t send_most;         /* at one time, of the library's sends */
	bool reset;               /* by the client: nothing more can be received or sent */
	bool is_cut;              /* by the service: what the client has not read is dropped */
	gnutls_session_t session; /* the client's, under TLS */
	bool greeted, parted;     /* its handshake is over; it has said that it sends nothing any more */
	bool is_real;             /* all of the above but `client` is the system's */
	bool clipped;             /* an answer past the library did not fit the window */
};

/* The next n descriptors that the service asks for are not to be had. */
void sockets_refuse_files(size_t n);

/* What the service takes for its listening socket. */
int sockets_listen(void);
void sockets_unlisten(void);
/* Connections that the service has not accepted yet. */
size_t sockets_n_waiting(void);

/* A client connects; the service accepts when it looks. @return NULL if there is no room or no file */
struct link *sockets_connect(unsigned address);
/* The same with a connection of the system's, to a port of loopback. */
struct link *sockets_connect_to(int port);
/* The client speaks TLS; its handshake goes on whenever it sends or receives. @return false without memory */
bool sockets_client_encrypt(struct link *link);
/* After the client has closed its end, and the service all of its own. */
void sockets_forget(struct link *link);

/* @return as send() */
ssize_t sockets_client_send(struct link *link, const char *bytes, size_t n);
/* @return as recv() */
ssize_t sockets_client_receive(struct link *link, char *bytes, size_t n);
void sockets_client_end(struct link *link);
/* @param abruptly  with a reset, which overtakes everything */
void sockets_client_close(struct link *link, bool abruptly);

/* For each that is open on both sides or on the service's. */
void sockets_each(void (*visit)(struct link *link));

/* What poll() would say right now. */
int sockets_poll(struct pollfd *fds, nfds_t n);
/* Descriptors of connections that the service has open. */
size_t sockets_n_ends(void);
/* What may have made a descriptor ready that was not. */
size_t sockets_n_events(void);
/* Bytes that the service has received and sent so far. */
size_t sockets_n_moved(void);
/* Descriptors that were closed and were not open. */
size_t sockets_n_wrong(void);

#endif

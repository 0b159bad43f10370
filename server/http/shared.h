/**
 * What the files of this wing share, which alone knows libmicrohttpd.
 *
 * http.c starts and stops. daemon.c sets the library up. connection.c has connections from accept to close; what
 * arrives passes through the filter of a reader (reader.h) before the library sees it. request.c has the library's
 * callbacks, and carries exchanges. answer.c sends answers, through the library or past it.
 */
#ifndef SERVER_SHARED_H
#define SERVER_SHARED_H

#include "server/exchange/exchange.h"
#include "server/http/acceptor.h"
#include "server/http/addresses.h"
#include "server/http/reader.h"
#include "server/listen/listeners.h"
#include "server/listen/peer.h"
#include "server/work/watch.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <sys/socket.h>

struct connection;

struct srv_http {
	struct srv_server server;
	struct MHD_Daemon *daemon;
	struct MHD_Daemon *unix_daemon; /* of Unix-domain sockets, in the clear beside TLS; NULL: `daemon` has them */
	struct srv_acceptor *acceptor;  /* NULL: connections are added by hand */
	struct srv_addresses *addresses;
	struct srv_watch *watch;         /* of TLS handshakes, and of answers until they are taken */
	struct srv_listeners *listeners; /* NULL: none */
	bool is_tls;                     /* over TCP */
	size_t most_connections;
	long long receive_seconds, send_seconds;
};

/* From accept to close, even if the library forgets it. Owner of its reader. Opened by the acceptor's thread alone. */
struct connection {
	struct srv_reader *reader;
	struct srv_watched watched;
	struct srv_peer peer;
	bool is_tls;
	struct request *request; /* under way, or NULL; freed with the connection at the latest */
	size_t n_requests;       /* so far; the one under way is the last of them */
	long long quiet_ms;      /* since when no request has been under way; of srv_clock_ms */
};

/* Carries an exchange. */
struct request {
	struct srv_exchange exchange; /* first */
	struct srv_http *http;
	struct MHD_Connection *connection;
	struct connection *own;
	bool lingers;  /* the client may still be sending when the answer is out */
	bool ended;    /* the client has closed its sending side */
	char target[]; /* as it came */
};

#endif

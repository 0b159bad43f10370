/**
 * Shared by the files of this wing, the only one that depends on libmicrohttpd.
 *
 * http.c starts and stops. daemon.c sets up the library. connection.c manages connections from accept to close; input
 * passes through the filter of a reader (reader.h) before the library sees it. request.c has the library's callbacks,
 * and carries exchanges. answer.c sends responses, through the library or past it.
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
#include <sys/socket.h>

struct connection;

struct srv_http {
	struct srv_server server;
	struct MHD_Daemon *daemon;
	struct MHD_Daemon *unix_daemon; /* for Unix-domain sockets, which use no TLS; NULL: `daemon` serves them too */
	struct srv_acceptor *acceptor;  /* NULL: srv_http_add adds connections */
	struct srv_addresses *addresses;
	struct srv_watch *watch;         /* time limits of TLS handshakes and of sending responses */
	struct srv_listeners *listeners; /* NULL: none */
	bool is_tls;                     /* for TCP */
	size_t most_connections;
	long long receive_seconds, send_seconds;
};

/* Lives from accept to close, even if the library loses track of it. Owns its reader. Only the acceptor's thread opens
 * connections. */
struct connection {
	struct srv_reader *reader;
	struct srv_watched watched;
	struct srv_peer peer;
	bool is_tls;
	struct request *request; /* under way, or NULL; freed with the connection at the latest */
	size_t n_requests;       /* including the one under way */
	long long quiet_ms;      /* when the last request ended, by srv_clock_ms */
};

/* A request of the library; it carries an exchange. */
struct request {
	struct srv_exchange exchange; /* must be the first member: converted to and from srv_exchange */
	struct srv_http *http;
	struct MHD_Connection *connection;
	struct connection *own;
	bool lingers;  /* the client may still be sending after the response */
	bool ended;    /* the client has closed its sending side */
	char target[]; /* as received */
};

#endif

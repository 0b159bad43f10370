/** Connections from accept to close, in the table of their readers. */
#ifndef SERVER_CONNECTION_H
#define SERVER_CONNECTION_H

#include "server/http/shared.h"

#include <gnutls/gnutls.h>

/* After the library has stopped. */
void srv_connections_stop(struct srv_http *http);

/* A connection more, which is entered in the table or sent away. On one thread, the acceptor's. */
void srv_connections_add(struct srv_http *http, int fd, const struct sockaddr *address, socklen_t bytes);

/* The library begins to serve a connection. @return NULL: it is none of ours, and is closed */
struct connection *srv_connection_open(const struct srv_http *http, struct MHD_Connection *connection);
/* A request more. */
void srv_connection_begin_request(const struct srv_http *http, struct MHD_Connection *connection,
                                  struct connection *own);
/* The library closes it; no request is under way there. Frees own. */
void srv_connection_close(struct srv_http *http, struct connection *own);

/* NULL: in the clear */
gnutls_session_t srv_session_of(const struct connection *own, struct MHD_Connection *connection);
/* How long a connection may be silent before the library closes it; 0: for ever. */
void srv_set_patience(struct MHD_Connection *connection, unsigned seconds);
unsigned srv_idle_seconds(const struct srv_http *http);

#endif

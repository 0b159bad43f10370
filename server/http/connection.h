/** Connections from accept to close, in the table that they share with their readers. */
#ifndef SERVER_CONNECTION_H
#define SERVER_CONNECTION_H

#include "server/http/shared.h"

#include <gnutls/gnutls.h>

/* Closes the connections that remain in the table. Call it after the library has stopped. */
void srv_connections_stop(struct srv_http *http);

/* Enters a new connection in the table or sends it away. Call it on the acceptor's thread only. */
void srv_connections_add(struct srv_http *http, int fd, const struct sockaddr *address, socklen_t bytes);

/* Called when the library has begun to serve a connection. @return NULL if the connection is not in the table; it is
 * then closed */
struct connection *srv_connection_open(const struct srv_http *http, struct MHD_Connection *connection);
/* Called when another request has begun. */
void srv_connection_begin_request(const struct srv_http *http, struct MHD_Connection *connection,
                                  struct connection *own);
/* Called when the library closes a connection on which no request is under way. Frees own. */
void srv_connection_close(struct srv_http *http, struct connection *own);

/* @return NULL without TLS */
gnutls_session_t srv_session_of(const struct connection *own, struct MHD_Connection *connection);
/* Sets how long a connection may be idle before the library closes it; 0: no limit. */
void srv_set_patience(struct MHD_Connection *connection, unsigned seconds);
unsigned srv_idle_seconds(const struct srv_http *http);

#endif

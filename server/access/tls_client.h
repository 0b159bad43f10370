/**
 * Client side of TLS, for requests of this program to itself (health.h, selftest.h). Certificates are not verified: the
 * peer is this same program, and nothing secret is sent.
 */
#ifndef SERVER_TLS_CLIENT_H
#define SERVER_TLS_CLIENT_H

#include <gnutls/gnutls.h>
#include <stdbool.h>

/* A closed client has all members zero. */
struct srv_tls_client {
	gnutls_session_t session; /* NULL: none */
	gnutls_certificate_credentials_t credentials;
};

/**
 * Prepares a session; the caller performs the handshake.
 * @param fd     connected; stays the caller's
 * @param flags  GNUTLS_NONBLOCK, or 0
 * @return false if memory runs out; call srv_tls_client_close in either case
 */
bool srv_tls_client_open(struct srv_tls_client *client, int fd, unsigned flags);
void srv_tls_client_close(struct srv_tls_client *client);

#endif

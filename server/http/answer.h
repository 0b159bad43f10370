/** Sends responses, through the library or past it. */
#ifndef SERVER_HTTP_ANSWER_H
#define SERVER_HTTP_ANSWER_H

#include "server/http/shared.h"

#include <gnutls/gnutls.h>

/* Hands the whole response to the library. Call it after SRV_ANSWER. */
enum MHD_Result srv_answer(struct request *request);
/**
 * Sends a response past the library, which accepts none in the middle of a body and closes the connection, without
 * calling back, after an unreadable head or chunk or after a silent client's time limit. The response must fit into any
 * socket buffer. Earlier responses on this connection are complete by then. Call it after SRV_SAY.
 * @param fd       of the connection
 * @param session  NULL: without TLS
 */
void srv_answer_past_library(struct srv_exchange *exchange, int fd, gnutls_session_t session);

#endif

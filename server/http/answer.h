/** Sending answers: through the library, or past it. */
#ifndef SERVER_HTTP_ANSWER_H
#define SERVER_HTTP_ANSWER_H

#include "server/http/shared.h"

#include <gnutls/gnutls.h>

/* Hands the answer over to the library, body and all. After SRV_ANSWER */
enum MHD_Result srv_answer(struct request *request);
/**
 * The library takes no answer in the middle of a body, and has none for a head or a chunk that it cannot read or for a
 * client that went silent: it closes. So such an answer, short enough for any socket buffer, goes out past it. Earlier
 * answers on this connection are complete by then. After SRV_SAY
 * @param fd       the connection's
 * @param session  NULL: in the clear
 */
void srv_answer_past_library(struct srv_exchange *exchange, int fd, gnutls_session_t session);

#endif

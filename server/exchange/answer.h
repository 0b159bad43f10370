/** The answer of an exchange: made by the steps, taken by the carrier. */
#ifndef SERVER_EXCHANGE_ANSWER_H
#define SERVER_EXCHANGE_ANSWER_H

#include "server/exchange/exchange.h"

/* ---- for the steps ---- */

/* Makes room for an answer in place of an earlier one. @return false without memory: the exchange is mute */
bool srv_make_answer(struct srv_exchange *exchange);
void srv_drop_answer(struct srv_exchange *exchange);
/* The same for an answer to what is not computed: the exchange is decided. */
bool srv_decide(struct srv_exchange *exchange);
/* The answer is a problem, and decided. detail is copied. */
void srv_refuse(struct srv_exchange *exchange, enum api_code code, const char *detail);

/* ---- for the carrier, too ---- */

/* The answer is a problem of the server's, not of what the request asks for. detail is copied. */
void srv_exchange_reject(struct srv_exchange *exchange, enum srv_rejection why, enum api_code code, const char *detail);
void srv_exchange_reject_late(struct srv_exchange *exchange);

/* All headers of an answer except those that frame it. Borrows from exchange and response. */
enum { SRV_ANSWER_HEADERS = API_MAX_HEADERS + SRV_GATE_HEADERS + 4 };
struct srv_answer_headers {
	struct srv_gate_header list[SRV_ANSWER_HEADERS];
	int n;
	char traceresponse[SRV_TRACEPARENT + 1];
};
void srv_exchange_headers(const struct srv_exchange *exchange, const struct api_response *response,
                          struct srv_answer_headers *headers);

/* The answer, as it will be on record. The caller frees it, by api_response_free and free. After SRV_ANSWER */
struct api_response *srv_exchange_take_answer(struct srv_exchange *exchange);
/* exchange->response has been sent. After SRV_SAY. @param whole  to the last byte */
void srv_exchange_said(struct srv_exchange *exchange, bool whole);
/* The carrier has answered by itself. @return false if there is an answer already, which stays */
bool srv_exchange_was_answered(struct srv_exchange *exchange, int status);
/* HEAD, 204 and 304: the answer may tell the length of a body, but has none. */
bool srv_exchange_is_bare(const struct srv_exchange *exchange, const struct api_response *response);

#endif

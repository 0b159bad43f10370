/** The response of an exchange: made by the steps, taken by the carrier. */
#ifndef SERVER_EXCHANGE_ANSWER_H
#define SERVER_EXCHANGE_ANSWER_H

#include "server/exchange/exchange.h"

/* ---- for the steps ---- */

/* Allocates a response in place of an earlier one. @return false if memory runs out; then no response can be sent */
bool srv_make_answer(struct srv_exchange *exchange);
void srv_drop_answer(struct srv_exchange *exchange);
/* As srv_make_answer, and moves the exchange to DECIDED: for responses that are not computed. */
bool srv_decide(struct srv_exchange *exchange);
/* Makes a problem response and moves the exchange to DECIDED. detail is copied. */
void srv_refuse(struct srv_exchange *exchange, enum api_code code, const char *detail);

/* ---- also for the carrier ---- */

/* As srv_refuse, for a problem of the server rather than of the request. detail is copied. */
void srv_exchange_reject(struct srv_exchange *exchange, enum srv_rejection why, enum api_code code, const char *detail);
void srv_exchange_reject_late(struct srv_exchange *exchange);

/* All headers of a response except those that frame it. Borrows from exchange and response. */
enum { SRV_ANSWER_HEADERS = API_MAX_HEADERS + SRV_GATE_HEADERS + 4 };
struct srv_answer_headers {
	struct srv_gate_header list[SRV_ANSWER_HEADERS];
	int n;
	char traceresponse[SRV_TRACEPARENT + 1];
};
void srv_exchange_headers(const struct srv_exchange *exchange, const struct api_response *response,
                          struct srv_answer_headers *headers);

/* Takes the response, and notes its values for the record. The caller frees it, by api_response_free and free. Call it
 * after SRV_ANSWER. */
struct api_response *srv_exchange_take_answer(struct srv_exchange *exchange);
/* Reports that exchange->response has been sent. Call it after SRV_SAY. @param whole  every byte was sent */
void srv_exchange_said(struct srv_exchange *exchange, bool whole);
/* Reports that the carrier has sent a response of its own. @return false if there already is a response, which stays */
bool srv_exchange_was_answered(struct srv_exchange *exchange, int status);
/* Whether the response has no body, although it may announce a length: for HEAD, 204 and 304. */
bool srv_exchange_is_bare(const struct srv_exchange *exchange, const struct api_response *response);

#endif

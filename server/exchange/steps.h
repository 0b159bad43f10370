/**
 * The steps of an exchange in the order in which a carrier takes them: judge, receive (any number of times), finish
 * (twice if queued), end.
 */
#ifndef SERVER_STEPS_H
#define SERVER_STEPS_H

#include "server/exchange/exchange.h"

/* The carrier's next action. */
enum srv_next {
	SRV_READ,   /* continue reading */
	SRV_WAIT,   /* do nothing: the exchange is suspended, and may already have been resumed */
	SRV_ANSWER, /* take the response by srv_exchange_take_answer and send it */
	SRV_SAY,    /* send exchange->response in the middle of the request, call srv_exchange_said, and close */
	SRV_BREAK,  /* close without a response */
};

/* A fault that the carrier found in a request. */
struct srv_fault {
	enum api_code code; /* API_NO_CODE: none */
	const char *detail; /* static */
	bool hides_head;    /* the head was replaced, so it is not the client's */
};

/**
 * Reports the complete head, whose lines are in exchange->head.
 * @return SRV_READ, SRV_ANSWER or SRV_BREAK
 */
enum srv_next srv_exchange_judge(struct srv_exchange *exchange, const struct srv_fault *fault);
/**
 * Reports a piece of the body.
 * @param late  the request's time limit has expired
 * @return SRV_READ, SRV_SAY or SRV_BREAK
 */
enum srv_next srv_exchange_receive(struct srv_exchange *exchange, const char *bytes, size_t n, bool late);
/**
 * Reports the end of the request, or that resume has been called.
 * @return SRV_ANSWER, SRV_WAIT or SRV_BREAK
 */
enum srv_next srv_exchange_finish(struct srv_exchange *exchange, const struct srv_fault *fault);
/* Reports that the carrier has stopped waiting for the client. @return SRV_SAY, or SRV_BREAK if there is nothing to
 * send */
enum srv_next srv_exchange_time_out(struct srv_exchange *exchange);

/**
 * Ends the exchange: records it and frees its memory. Do not call it between SRV_WAIT and resume.
 * @param aborted  reason for an early end, or NULL
 */
void srv_exchange_end(struct srv_exchange *exchange, const char *aborted);

#endif

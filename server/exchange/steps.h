/**
 * The steps of an exchange, as its carrier takes them: judge, receive ..., finish (twice if it was queued), end.
 */
#ifndef SERVER_STEPS_H
#define SERVER_STEPS_H

#include "server/exchange/exchange.h"

/* What the carrier does next. */
enum srv_next {
	SRV_READ,   /* reads on */
	SRV_WAIT,   /* nothing: the exchange is suspended, and may have been resumed already */
	SRV_ANSWER, /* takes the answer by srv_exchange_take_answer and sends it */
	SRV_SAY,    /* sends exchange->response in the middle of the request, srv_exchange_said, and closes */
	SRV_BREAK,  /* closes without a word */
};

/* What the carrier has found wrong with a request. */
struct srv_fault {
	enum api_code code; /* API_NO_CODE: nothing */
	const char *detail; /* static */
	bool hides_head;    /* the head is not the client's */
};

/**
 * The head has arrived: exchange->head has the header lines.
 * @return SRV_READ, SRV_ANSWER or SRV_BREAK
 */
enum srv_next srv_exchange_judge(struct srv_exchange *exchange, const struct srv_fault *fault);
/**
 * A piece of the body has arrived.
 * @param late  the request has had all its time
 * @return SRV_READ, SRV_SAY or SRV_BREAK
 */
enum srv_next srv_exchange_receive(struct srv_exchange *exchange, const char *bytes, size_t n, bool late);
/**
 * The whole request has arrived, or resume has been called.
 * @return SRV_ANSWER, SRV_WAIT or SRV_BREAK
 */
enum srv_next srv_exchange_finish(struct srv_exchange *exchange, const struct srv_fault *fault);
/* The carrier no longer waits for the client. @return SRV_SAY, or SRV_BREAK where nothing is left to be said */
enum srv_next srv_exchange_time_out(struct srv_exchange *exchange);

/**
 * The exchange is over: it goes on record, and what it has is freed. Not between SRV_WAIT and resume.
 * @param aborted  why it ended early, or NULL
 */
void srv_exchange_end(struct srv_exchange *exchange, const char *aborted);

#endif

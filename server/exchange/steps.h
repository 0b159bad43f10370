/** What the files of an exchange share: exchange.c tells the story, these are its steps. */
#ifndef SERVER_STEPS_H
#define SERVER_STEPS_H

#include "server/exchange/exchange.h"

/* ---- exchange.c ---- */

/* The one place where the state changes. */
void srv_exchange_move(struct srv_exchange *exchange, enum srv_state state);

/* ---- answer.c ---- */

/* Room for an answer in place of what there was. @return false without memory: the exchange is mute */
bool srv_make_answer(struct srv_exchange *exchange);
void srv_drop_answer(struct srv_exchange *exchange);
/* The same for an answer to what has not been computed. */
bool srv_decide(struct srv_exchange *exchange);
/* Decides on a problem. detail is copied. */
void srv_refuse(struct srv_exchange *exchange, int status, const char *detail);

/* ---- judge.c ---- */

/* Decides on the answer if the request is refused, or needs no more, by its head alone. */
void srv_judge(struct srv_exchange *exchange);

/* ---- compute.c ---- */

/* What the api has to know of a request; borrows from it. */
struct api_request srv_api_view(const struct srv_exchange *exchange);
/* The queue has no place for a body that need not come. */
void srv_refuse_if_full(struct srv_exchange *exchange);
/**
 * Computes the answer to a whole request, or decides that there is no place for it; its body is freed.
 * @return false: it is queued, and by now may be gone
 */
bool srv_compute(struct srv_exchange *exchange);

/* ---- record.c ---- */

/* In the log and in the metrics. @param aborted  why the exchange ended early, or NULL */
void srv_record(const struct srv_exchange *exchange, const char *aborted);

#endif

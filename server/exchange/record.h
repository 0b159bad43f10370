/** Puts an exchange on record: in the log and in the metrics. */
#ifndef SERVER_RECORD_H
#define SERVER_RECORD_H

#include "server/exchange/exchange.h"

/* @param aborted  why it ended early, or NULL */
void srv_record(const struct srv_exchange *exchange, const char *aborted);

#endif

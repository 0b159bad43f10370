/** The service under simulation: all of it but for main.c, served by the calling thread (threads.h has the others). */
#ifndef SIMULATOR_SERVICE_H
#define SIMULATOR_SERVICE_H

#include "tests/simulator/chance.h"
#include "tests/simulator/sockets.h"

#include "server/settings/options.h"

#include <stdbool.h>
#include <stddef.h>

enum { SERVICE_TURN_BYTES = 16 << 10 };

/* What one simulated service may do, made from a number. */
struct service_kind {
	struct srv_options options;
	bool asks_tokens, tls;
};

void service_kind_make(struct service_kind *kind, uint64_t number);
/* From now on every kind serves https. @return false if there can be no certificate */
bool service_use_tls(void);

/* Everything that has to be back where it was when all connections are closed. */
struct service_counts {
	size_t n_connections, n_under_way, n_waiting;
	size_t budget_bytes, queue_bytes, pool_bytes, idle_bytes;
};

/* @return false if it cannot be started, which is a fault of the simulator's */
bool service_start(const struct service_kind *kind);
/* The same with the library's threads, on a port of loopback. @param port  set to it */
bool service_start_threads(const struct service_kind *kind, int *port);
/**
 * Ready sockets are looked at once.
 * @param chance  how little may be received; NULL: all that there is
 * @return false if the library has failed
 */
bool service_turn(struct chance *chance);
struct service_counts service_counts(void);
/* What clients have left. */
void service_forget_sets(void);
/* As after SIGTERM; then, when the time of draining is over, as before the end of main. */
void service_drain(void);
/* As after SIGHUP. */
void service_reload(void);
bool service_is_idle(void);
size_t service_n_idle_calls(void);
void service_close(void);
void service_stop(void);

/* What the service logs, apart from requests, is printed from now on. */
void service_say_log(void);

/* Requests that the service has on record so far, and of them those with this id and status. */
size_t service_n_recorded(const char *id, int status);
void service_forget_records(void);
/* Whether the metrics have counted every request that has ever been on record, and no other. */
bool service_metrics_agree(void);

/* Large requests go through the queue; this says which are large. @param one_in  0: what the api says */
void service_make_large(size_t one_in);
#endif

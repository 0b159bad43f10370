/** The service under simulation: everything but main.c, run by the calling thread (threads.h simulates the others). */
#ifndef SIMULATOR_SERVICE_H
#define SIMULATOR_SERVICE_H

#include "tests/simulator/chance.h"
#include "tests/simulator/sockets.h"

#include "server/settings/options.h"

#include <stdbool.h>
#include <stddef.h>

enum { SERVICE_TURN_BYTES = 16 << 10 };

/* Settings of a simulated service, derived from a number. */
struct service_kind {
	struct srv_options options;
	bool asks_tokens, tls;
};

void service_kind_make(struct service_kind *kind, uint64_t number);
/* Makes every further service use TLS. @return false if no certificate can be made */
bool service_use_tls(void);

/* Counts that must return to their initial values once all connections are closed. */
struct service_counts {
	size_t n_connections, n_under_way, n_waiting;
	size_t budget_bytes, queue_bytes, pool_bytes, idle_bytes;
};

/* @return false if the service cannot be started, which is the simulator's fault */
bool service_start(const struct service_kind *kind);
/* As service_start, with the library's threads and a loopback port. @param port  set to the port */
bool service_start_threads(const struct service_kind *kind, int *port);
/**
 * Serves every ready socket once.
 * @param chance  limits how much can be received; NULL: no limit
 * @return false if the library failed
 */
bool service_turn(struct chance *chance);
struct service_counts service_counts(void);
/* Removes the sets that clients have left behind. */
void service_forget_sets(void);
/* Acts as SIGTERM does: starts to drain. service_close then does what main does when the drain time is over. */
void service_drain(void);
/* Acts as SIGHUP does. */
void service_reload(void);
bool service_is_idle(void);
size_t service_n_idle_calls(void);
void service_close(void);
void service_stop(void);

/* From now on prints the service's log, apart from requests. */
void service_say_log(void);

/* Number of recorded requests with this id and status. */
size_t service_n_recorded(const char *id, int status);
void service_forget_records(void);
/* Whether the metrics have counted exactly the requests that were recorded. */
bool service_metrics_agree(void);

/* Makes one in `one_in` requests large, so that it is queued. @param one_in  0: the api decides */
void service_make_large(size_t one_in);
#endif

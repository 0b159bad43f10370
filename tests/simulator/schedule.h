/** Schedules made from seeds: a few clients, the service's threads, the clock, and failures, in a chosen order. */
#ifndef SIMULATOR_SCHEDULE_H
#define SIMULATOR_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Call before any schedule. @param tls  whether connections use TLS. @return false if the service cannot be started */
bool schedules_start(bool tls);
/**
 * Runs one schedule. The service is left by the previous one as if freshly started, which is checked.
 * @return NULL, or the fault, valid until the next call
 */
const char *schedule_run(uint64_t seed);
/* Prints the events of the last schedule, and what its clients sent and received. */
void schedule_print(void);
/* @return NULL, or a description of the leak */
const char *schedules_stop(void);

#endif

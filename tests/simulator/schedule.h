/** What happens in which order, made from a seed: a few clients, the service's threads, the clock, and what breaks. */
#ifndef SIMULATOR_SCHEDULE_H
#define SIMULATOR_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before any schedule. @param tls  of connections under TLS. @return false if the service cannot be started */
bool schedules_start(bool tls);
/**
 * Runs one, with the service in the state that the one before left it in, which is that of a fresh one or a fault.
 * @return NULL, or what went wrong, until the next one
 */
const char *schedule_run(uint64_t seed);
/* What happened in the last one, and what its clients said and heard. */
void schedule_print(void);
/* @return NULL, or what was not given back */
const char *schedules_stop(void);

#endif

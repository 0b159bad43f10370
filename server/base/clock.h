/**
 * The monotonic clock, by which everything in the server waits.
 */
#ifndef SERVER_CLOCK_H
#define SERVER_CLOCK_H

#include <pthread.h>
#include <time.h>

enum { SRV_CLOCK_TICK_MS = 10 }; /* of the kernel, at most; usually 4 */

/* Up to a tick behind, and read in a few nanoseconds: for time limits, which may thus be met a tick too early. */
long long srv_clock_ms(void);
/* Exact: for what is measured. */
long long srv_clock_us(void);

/* A condition whose time limits are on this clock. */
void srv_clock_init_condition(pthread_cond_t *condition);
/* The time limit of such a condition, that long from now. ms >= 0 */
struct timespec srv_clock_after(long long ms);

#endif

/**
 * The monotonic clock, on which everything in the server waits.
 */
#ifndef SERVER_CLOCK_H
#define SERVER_CLOCK_H

#include <pthread.h>
#include <time.h>

/* Up to a tick of the kernel behind (some 4 ms), and read in a few nanoseconds: for time limits. */
long long srv_clock_ms(void);
/* Exact: for what is measured. */
long long srv_clock_us(void);

/* A condition whose time limits are on this clock. */
void srv_clock_init_condition(pthread_cond_t *condition);
/* The time limit of such a condition, that long from now. ms >= 0 */
struct timespec srv_clock_after(long long ms);

#endif

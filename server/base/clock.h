/**
 * The monotonic clock, used for all waiting in the server.
 */
#ifndef SERVER_CLOCK_H
#define SERVER_CLOCK_H

#include <pthread.h>
#include <time.h>

enum { SRV_CLOCK_TICK_MS = 10 }; /* upper bound of the kernel's tick, which is usually 4 ms */

/* The time, up to one tick behind but read in a few nanoseconds. It is for time limits, which may therefore expire a
 * tick early. */
long long srv_clock_ms(void);
/* The exact time, for measurements. */
long long srv_clock_us(void);

/* Initialises a condition variable whose timed waits use this clock. */
void srv_clock_init_condition(pthread_cond_t *condition);
/* The absolute time `ms` milliseconds from now, for such a condition. ms >= 0 */
struct timespec srv_clock_after(long long ms);
/* Waits for a condition that srv_clock_init_condition made, at most this long. */
void srv_clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, long long ms);

#endif

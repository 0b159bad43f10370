/**
 * The clock of the simulated service, which stands still until the schedule advances it. Replaces all functions of the
 * C library that read the time.
 */
#ifndef SIMULATOR_CLOCK_H
#define SIMULATOR_CLOCK_H

/* Starts the simulated clock. Until then, and in epoll mode, the system's clock is used. */
void clock_start(void);
long long clock_now_ns(void);
void clock_pass_ns(long long ns);
/* Sets back the time of day; the monotonic clock is unaffected. */
void clock_set_back_ns(long long ns);
/* The system's time, for the program itself. */
double clock_real_seconds(void);

#endif

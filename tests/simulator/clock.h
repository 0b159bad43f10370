/**
 * The clock of the simulated service: it stands still until the schedule moves it. All functions of the C library that
 * tell the time are replaced.
 */
#ifndef SIMULATOR_CLOCK_H
#define SIMULATOR_CLOCK_H

/* From now on; before that, and for the epoll mode, it is the system's. */
void clock_start(void);
long long clock_now_ns(void);
void clock_pass_ns(long long ns);
/* Sets the time of day back; the monotonic clock does not notice. */
void clock_set_back_ns(long long ns);
/* Of the system, for the program itself. */
double clock_real_seconds(void);

#endif

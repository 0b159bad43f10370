/**
 * Runs the service's threads one at a time on the program's only thread: each has a stack and runs until it waits, or
 * until the schedule interrupts it where a lock is taken or released. The schedule chooses the next one to run. The
 * thread that serves connections is the simulator's own; it runs the others when it has to wait for them.
 */
#ifndef SIMULATOR_THREADS_H
#define SIMULATOR_THREADS_H

#include "tests/simulator/chance.h"

/* Starts to simulate threads. */
void threads_start(struct chance *chance);
/* Interrupts a thread at one in this many lock operations; 0, the default: never. */
void threads_preempt(size_t one_in);

/* Disables interruptions until called with false. */
void threads_hold(bool hold);

/* Runs a runnable thread until it waits or is interrupted. @return false if all threads wait */
bool threads_run(void);

#endif

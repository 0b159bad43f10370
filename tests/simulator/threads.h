/**
 * The service's threads, one at a time, on the one thread of this program: each has a stack and runs until it waits, or until
 * the schedule interrupts it where a lock is taken or given back. The schedule decides which of them runs when. The thread
 * that serves connections is the simulator's own; it runs the others when it has to wait for them.
 */
#ifndef SIMULATOR_THREADS_H
#define SIMULATOR_THREADS_H

#include "tests/simulator/chance.h"

/* From now on threads are simulated. */
void threads_start(struct chance *chance);
/* One in so many locks is a place to be interrupted; 0, as in the beginning: none. */
void threads_preempt(size_t one_in);

/* What happens until the opposite is said is not interrupted. */
void threads_hold(bool hold);

/* Runs one that can run, for a moment. @return false if all wait */
bool threads_run(void);

#endif

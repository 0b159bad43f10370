/**
 * Starts the threads of large evaluations before the first of these. libgomp starts the threads that a region lacks
 * when it is opened, and ends the process if one cannot be started. It keeps them for the thread that opened the region
 * as long as every region of that thread has the same size, or one thread, for which no region is opened
 * (core/base/parallel.h).
 */
#ifndef SERVER_TEAM_H
#define SERVER_TEAM_H

#include "server/work/admission.h"

/**
 * Starts the team of the calling thread: as many as are wanted or, where a limit forbids that, as can be had.
 * @param wanted  threads, the calling one among them; >= 1
 * @param spare   how many more must be left to be started
 * @return threads of the team, >= 1; 0: not even the spare ones can be started, or there is no memory
 */
int srv_team_start(int wanted, int spare);
/* The same for the worker of an admission that has no job yet. */
int srv_team_start_for(struct srv_admission *admission, int wanted, int spare);

#endif

/**
 * Starts the threads of large evaluations before the first evaluation. libgomp starts missing threads when a region is
 * opened, and ends the process if that fails. It keeps them for the thread that opened the region as long as every
 * region of that thread has the same size, or has a single thread, for which no region is opened
 * (core/base/parallel.h).
 */
#ifndef SERVER_TEAM_H
#define SERVER_TEAM_H

#include "server/work/admission.h"

/**
 * Starts the team of the calling thread: as many threads as wanted, or as many as a limit permits.
 * @param wanted  threads, including the calling one; >= 1
 * @param spare   number of further threads that must still be possible
 * @return threads of the team, >= 1; 0: not even the spare ones can be started, or memory runs out
 */
int srv_team_start(int wanted, int spare);
/* As srv_team_start, for the worker of an admission that has no job yet. */
int srv_team_start_for(struct srv_admission *admission, int wanted, int spare);

#endif

/**
 * The threads of large evaluations, before the first of them. libgomp starts what threads a region lacks when it is opened,
 * and ends the process where one cannot be had. It keeps them for the thread that opened the region as long as every region
 * of that thread wants as many, or one alone, for which none is opened (core/base/parallel.h).
 */
#ifndef SERVER_TEAM_H
#define SERVER_TEAM_H

#include "server/work/admission.h"

/**
 * Starts the team of the calling thread: as many as are wanted or, where a limit forbids that, as can be had.
 * @param wanted  threads, the calling one among them; >= 1
 * @param spare   how many more must be left to be started
 * @return threads of the team, >= 1; 0: not even those to spare can be had, or no memory
 */
int srv_team_start(int wanted, int spare);
/* The same for the worker of an admission that has no job yet. */
int srv_team_start_for(struct srv_admission *admission, int wanted, int spare);

#endif

/**
 * The service as in production: on threads of the library's that wait with epoll, for clients on real sockets that send and
 * read in pieces. Seeds decide what is said; nothing decides what happens when.
 */
#ifndef SIMULATOR_EPOLL_H
#define SIMULATOR_EPOLL_H

#include <stdbool.h>
#include <stdint.h>

/* @return false if the service cannot be started */
bool epoll_start(void);
/* @return NULL, or what went wrong, until the next one */
const char *epoll_run(uint64_t seed);
void epoll_stop(void);

#endif

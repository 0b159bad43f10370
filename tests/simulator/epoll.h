/**
 * The service as in production: the library's threads wait with epoll, for clients on real sockets that send and read
 * in pieces. Seeds determine the requests, but not the timing.
 */
#ifndef SIMULATOR_EPOLL_H
#define SIMULATOR_EPOLL_H

#include <stdbool.h>
#include <stdint.h>

/* @return false if the service cannot be started */
bool epoll_start(void);
/* @return NULL, or the fault, valid until the next call */
const char *epoll_run(uint64_t seed);
void epoll_stop(void);

#endif

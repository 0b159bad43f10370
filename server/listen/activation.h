/** Sockets that the process which starts this one hands over: socket activation, as systemd does it (sd_listen_fds(3)). */
#ifndef SERVER_ACTIVATION_H
#define SERVER_ACTIVATION_H

enum { SRV_FIRST_HANDED_OVER = 3 }; /* its descriptor; the others follow */

/**
 * How many there are, by the environment, which says so once: it is cleared. What is meant for another process does not
 * count.
 * @return -1: the environment has no number where one belongs
 */
int srv_handed_over(void);

#endif

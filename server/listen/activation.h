/** Socket activation as in systemd (sd_listen_fds(3)): the starting process passes in open sockets. */
#ifndef SERVER_ACTIVATION_H
#define SERVER_ACTIVATION_H

enum { SRV_FIRST_HANDED_OVER = 3 }; /* the first descriptor; the others follow */

/**
 * Counts the sockets passed in, according to the environment, and clears its variables. Those meant for another process
 * do not count.
 * @return -1: LISTEN_FDS is not a number
 */
int srv_handed_over(void);

#endif

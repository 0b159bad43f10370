/** Unix-domain sockets and their files. */
#ifndef SERVER_UNIX_SOCKET_H
#define SERVER_UNIX_SOCKET_H

#include "server/listen/listen.h"

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

enum { SRV_MOST_PATH = sizeof((struct sockaddr_un *)0)->sun_path - 1 /* bytes */ };

/* The file of a socket that this process has made. */
struct srv_socket_file {
	const char *path; /* borrowed; NULL: none */
	dev_t device;
	ino_t inode;
};

/* @return false: the path is longer than SRV_MOST_PATH */
bool srv_unix_address(const char *path, struct sockaddr_un *address);

/**
 * A socket at a path that listens, non-blocking. The file has its permissions from the first moment. What a process
 * left there that is gone is replaced, a socket at which one listens is not, and nothing else ever. Of several
 * processes that try at one time one succeeds. Changes the umask for a moment: to be called while there is one thread.
 * @param path   borrowed by `file`
 * @param mode   permissions of the file, of 0777: connecting takes write permission
 * @param fault  set on failure
 * @return the socket, or -1
 */
int srv_unix_listen(const char *path, mode_t mode, struct srv_socket_file *file, struct srv_listen_fault *fault);

/* Removes the file if it is still the one that was made. To be called while the socket listens: nobody replaces it
 * then. */
void srv_unix_remove(const struct srv_socket_file *file);

#endif

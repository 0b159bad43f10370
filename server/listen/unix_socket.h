/** Unix-domain sockets and their files. */
#ifndef SERVER_UNIX_SOCKET_H
#define SERVER_UNIX_SOCKET_H

#include "server/listen/listen.h"

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

enum { SRV_MOST_PATH = sizeof((struct sockaddr_un *)0)->sun_path - 1 /* bytes */ };

/* The file of a socket that this process has created. */
struct srv_socket_file {
	const char *path; /* borrowed; NULL: none */
	dev_t device;
	ino_t inode;
};

/* @return false if the path is longer than SRV_MOST_PATH */
bool srv_unix_address(const char *path, struct sockaddr_un *address);

/**
 * Opens a non-blocking socket that listens at a path. The file has its permissions from the first moment. Replaces a
 * socket file on which no process listens any more, and nothing else. Of several processes that try at the same time
 * exactly one succeeds. Changes the umask for a moment, so the process must be single-threaded.
 * @param path   borrowed by `file`
 * @param mode   permissions of the file, within 0777: connecting requires write permission
 * @param fault  set on failure
 * @return the socket, or -1
 */
int srv_unix_listen(const char *path, mode_t mode, struct srv_socket_file *file, struct srv_listen_fault *fault);

/* Removes the file unless it has been replaced. Call it while the socket listens, because then nobody replaces the
 * file. */
void srv_unix_remove(const struct srv_socket_file *file);

#endif

#include "server/listen/unix_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_TRIES = 500, LOCK_PAUSE_US = 10000 };

bool srv_unix_address(const char *path, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	const size_t n = strlen(path);
	if (n <= SRV_MOST_PATH)
		memcpy(address->sun_path, path, n);
	return n <= SRV_MOST_PATH;
}

static bool refuse(struct srv_listen_fault *fault, const char *text, int error)
{
	*fault = (struct srv_listen_fault){text ? text : strerror(error), error};
	return false;
}

/* ---- one process at a time ---- */

static int open_directory(const char *path)
{
	char directory[SRV_MOST_PATH + 1];
	const char *slash = strrchr(path, '/');
	const size_t n = slash ? (size_t)(slash - path) : 0;
	memcpy(directory, path, n);
	directory[n] = '\0';
	return open(!slash ? "." : n == 0 ? "/" : directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Without the lock, another process could take this one's file for stale between bind and listen. A lock on the
 * directory leaves nothing behind, even if the process is killed, and is held for less than a millisecond. File systems
 * without locks get no such protection. */
static bool lock(int directory, struct srv_listen_fault *fault)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(directory, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR))
			return true;
		usleep(LOCK_PAUSE_US);
	}
	return refuse(fault, "its directory stays locked by another process", EWOULDBLOCK);
}

/* ---- an existing file ---- */

/* @return 0: a process listens there; otherwise the error */
static int error_of_connecting(const struct sockaddr_un *address)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	const bool takes = connect(fd, (const void *)address, sizeof *address) == 0 || errno == EAGAIN; /* queue full */
	const int error = takes ? 0 : errno;
	close(fd);
	return error;
}

static bool remove_stale(const struct sockaddr_un *address, struct srv_listen_fault *fault)
{
	const int error = error_of_connecting(address);
	if (error == 0)
		return refuse(fault, "another process listens there", EADDRINUSE);
	if (error != ECONNREFUSED)
		return refuse(fault, NULL, error);
	return unlink(address->sun_path) == 0 || refuse(fault, NULL, errno);
}

static bool make_room(const struct sockaddr_un *address, struct srv_listen_fault *fault)
{
	struct stat found;
	if (lstat(address->sun_path, &found) != 0)
		return errno == ENOENT || refuse(fault, NULL, errno);
	if (!S_ISSOCK(found.st_mode))
		return refuse(fault, "there is a file that is not a socket", EEXIST);
	return remove_stale(address, fault);
}

/* ---- a new file ---- */

/* Uses umask instead of chmod after bind, which would leave the file too permissive for a moment. */
static bool bind_with_mode(int fd, const struct sockaddr_un *address, mode_t mode)
{
	const mode_t before = umask(~mode & 0777);
	const int failure = bind(fd, (const void *)address, sizeof *address), error = errno;
	umask(before);
	errno = error;
	return failure == 0;
}

static bool note_file(const char *path, struct srv_socket_file *file)
{
	struct stat made;
	if (lstat(path, &made) != 0)
		return false;
	*file = (struct srv_socket_file){path, made.st_dev, made.st_ino};
	return true;
}

static bool listen_at(int fd, const struct sockaddr_un *address, mode_t mode, const char *path,
                      struct srv_socket_file *file, struct srv_listen_fault *fault)
{
	return (fd >= 0 && bind_with_mode(fd, address, mode) && note_file(path, file) && listen(fd, SOMAXCONN) == 0) ||
	       refuse(fault, NULL, errno);
}

static int make(const struct sockaddr_un *address, mode_t mode, const char *path, struct srv_socket_file *file,
                struct srv_listen_fault *fault)
{
	if (!make_room(address, fault))
		return -1;
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (listen_at(fd, address, mode, path, file, fault))
		return fd;
	srv_unix_remove(file);
	if (fd >= 0)
		close(fd);
	return -1;
}

int srv_unix_listen(const char *path, mode_t mode, struct srv_socket_file *file, struct srv_listen_fault *fault)
{
	struct sockaddr_un address;
	*file = (struct srv_socket_file){0};
	if (!srv_unix_address(path, &address)) {
		refuse(fault, NULL, ENAMETOOLONG);
		return -1;
	}
	const int directory = open_directory(path);
	if (directory < 0) {
		refuse(fault, NULL, errno);
		return -1;
	}
	const int fd = lock(directory, fault) ? make(&address, mode, path, file, fault) : -1;
	close(directory);
	return fd;
}

/* The inode number cannot be reused while the socket exists. */
void srv_unix_remove(const struct srv_socket_file *file)
{
	struct stat found;
	if (file->path && lstat(file->path, &found) == 0 && S_ISSOCK(found.st_mode) && found.st_dev == file->device &&
	    found.st_ino == file->inode)
		unlink(file->path);
}

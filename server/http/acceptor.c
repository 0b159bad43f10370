#include "server/http/acceptor.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { PAUSE_MS = 10 };

struct srv_acceptor {
	pthread_t thread;
	struct srv_acceptor_target target;
	int stop_fd; /* readable once srv_acceptor_stop is called */
	int n;
	int listen_fds[SRV_ACCEPTOR_MOST]; /* [n] */
};

/* Waits for a connection, or merely pauses after descriptors or memory ran out. @return false when it is time to
 * stop */
static bool await(const struct srv_acceptor *acceptor, bool pauses)
{
	struct pollfd fds[1 + SRV_ACCEPTOR_MOST] = {{.fd = acceptor->stop_fd, .events = POLLIN}};
	for (int i = 0; i < acceptor->n; i++)
		fds[1 + i] = (struct pollfd){.fd = acceptor->listen_fds[i], .events = POLLIN};
	poll(fds, pauses ? 1 : 1 + (nfds_t)acceptor->n, pauses ? PAUSE_MS : -1);
	return fds[0].revents == 0;
}

/* After most failures the next connection can be accepted at once. Without descriptors or memory the thread must pause,
 * because poll would return immediately. */
static bool lacks_means(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* Accepts one connection if one is pending. @return 0, or the error */
static int take_one(const struct srv_acceptor_target *target, int listen_fd)
{
	struct sockaddr_storage address;
	socklen_t bytes = sizeof address;
	const int fd = accept4(listen_fd, (struct sockaddr *)&address, &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return errno;
	target->add(target->closure, fd, (struct sockaddr *)&address, bytes);
	return 0;
}

/* Accepts all pending connections, one from each socket in turn, so that a busy socket does not starve another. @return
 * false if descriptors or memory ran out */
static bool take_all(const struct srv_acceptor *acceptor)
{
	for (bool more = true; more;) {
		more = false;
		for (int i = 0; i < acceptor->n; i++) {
			const int error = take_one(&acceptor->target, acceptor->listen_fds[i]);
			if (lacks_means(error))
				return false;
			more |= error == 0;
		}
	}
	return true;
}

static void *serve(void *argument)
{
	const struct srv_acceptor *acceptor = argument;
	for (bool pauses = false; await(acceptor, pauses);)
		pauses = !take_all(acceptor);
	return NULL;
}

struct srv_acceptor *srv_acceptor_start(const int *listen_fds, int n, const struct srv_acceptor_target *target)
{
	struct srv_acceptor *acceptor = malloc(sizeof *acceptor);
	if (!acceptor)
		return NULL;
	*acceptor = (struct srv_acceptor){.target = *target, .n = n};
	memcpy(acceptor->listen_fds, listen_fds, (size_t)n * sizeof *listen_fds);
	acceptor->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (acceptor->stop_fd >= 0 && pthread_create(&acceptor->thread, NULL, serve, acceptor) == 0)
		return acceptor;
	if (acceptor->stop_fd >= 0)
		close(acceptor->stop_fd);
	free(acceptor);
	return NULL;
}

void srv_acceptor_stop(struct srv_acceptor *acceptor)
{
	if (!acceptor)
		return;
	eventfd_write(acceptor->stop_fd, 1);
	pthread_join(acceptor->thread, NULL);
	close(acceptor->stop_fd);
	free(acceptor);
}

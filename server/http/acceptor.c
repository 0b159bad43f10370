#include "server/http/acceptor.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { PAUSE_MS = 10 };

struct srv_acceptor {
	pthread_t thread;
	struct srv_acceptor_target target;
	int listen_fd;
	int stop_fd; /* readable when it is time to stop */
};

/* Waits until there is a connection or, after files or memory for one were missing, for a moment. False when it is time
 * to stop. */
static bool await(const struct srv_acceptor *acceptor, bool pauses)
{
	struct pollfd fds[2] = {{.fd = acceptor->stop_fd, .events = POLLIN}, {.fd = acceptor->listen_fd, .events = POLLIN}};
	poll(fds, pauses ? 1 : 2, pauses ? PAUSE_MS : -1);
	return fds[0].revents == 0;
}

/* After the failure of one connection the next can be taken; without files or memory it has to wait, for poll would
 * return at once. */
static bool lacks_means(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* Takes all connections that wait. False if something has to become free before the next. */
static bool take_all(const struct srv_acceptor *acceptor)
{
	const struct srv_acceptor_target *target = &acceptor->target;
	for (;;) {
		struct sockaddr_storage address;
		socklen_t bytes = sizeof address;
		int fd = accept4(acceptor->listen_fd, (struct sockaddr *)&address, &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			return !lacks_means(errno);
		target->add(target->closure, fd, (struct sockaddr *)&address, bytes);
	}
}

static void *serve(void *argument)
{
	const struct srv_acceptor *acceptor = argument;
	for (bool pauses = false; await(acceptor, pauses);)
		pauses = !take_all(acceptor);
	return NULL;
}

struct srv_acceptor *srv_acceptor_start(int listen_fd, const struct srv_acceptor_target *target)
{
	struct srv_acceptor *acceptor = malloc(sizeof *acceptor);
	if (!acceptor)
		return NULL;
	*acceptor = (struct srv_acceptor){.target = *target, .listen_fd = listen_fd};
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

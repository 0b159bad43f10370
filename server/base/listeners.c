#include "server/base/listeners.h"

#include <string.h>
#include <unistd.h>

/* Takes fd. */
static struct srv_listener *add(struct srv_listeners *listeners, int fd, const char *host)
{
	struct srv_listener *listener = &listeners->list[listeners->n++];
	*listener = (struct srv_listener){.fd = fd};
	snprintf(listener->host, sizeof listener->host, "%s", host);
	return listener;
}

bool srv_listeners_bind(struct srv_listeners *listeners, const char *host, int port, struct srv_listen_fault *fault)
{
	const int fd = srv_bind(host, &port, fault);
	if (fd >= 0)
		add(listeners, fd, host)->port = port;
	return fd >= 0;
}

bool srv_listeners_add_unix(struct srv_listeners *listeners, const char *path, mode_t mode,
                            struct srv_listen_fault *fault)
{
	struct srv_socket_file file;
	const int fd = srv_unix_listen(path, mode, &file, fault);
	if (fd < 0)
		return false;
	struct srv_listener *listener = add(listeners, fd, path);
	listener->is_unix = true;
	listener->file = file;
	return true;
}

bool srv_listeners_listen(const struct srv_listeners *listeners, const struct srv_listener **culprit,
                          struct srv_listen_fault *fault)
{
	for (int i = 0; i < listeners->n; i++) {
		*culprit = &listeners->list[i];
		if (!srv_listen((*culprit)->fd, fault))
			return false;
	}
	return true;
}

const struct srv_listener *srv_listeners_open_most(const struct srv_listeners *listeners)
{
	const struct srv_listener *first = NULL;
	for (int i = listeners->n - 1; i >= 0; i--) {
		const struct srv_listener *listener = &listeners->list[i];
		if (!listener->is_unix && (!first || srv_is_on_loopback(first->fd) || !srv_is_on_loopback(listener->fd)))
			first = listener;
	}
	return first;
}

bool srv_listeners_have_unix(const struct srv_listeners *listeners)
{
	bool have = false;
	for (int i = 0; i < listeners->n; i++)
		have |= listeners->list[i].is_unix;
	return have;
}

const struct srv_listener *srv_listeners_at(const struct srv_listeners *listeners, const char *path)
{
	for (int i = 0; i < listeners->n; i++)
		if (listeners->list[i].is_unix && strcmp(listeners->list[i].host, path) == 0)
			return &listeners->list[i];
	return NULL;
}

static void announce(const struct srv_listener *listener, bool tls, FILE *out)
{
	const char *host = listener->host, *colon = strchr(host, ':');
	if (listener->is_unix)
		fprintf(out, "frictiond listening on http+unix://%s\n", host);
	else
		fprintf(out, "frictiond listening on http%s://%s%s%s:%d\n", tls ? "s" : "", colon ? "[" : "", host,
		        colon ? "]" : "", listener->port);
}

void srv_listeners_announce(const struct srv_listeners *listeners, bool tls, FILE *out)
{
	for (int unix_ones = 0; unix_ones <= 1; unix_ones++)
		for (int i = 0; i < listeners->n; i++)
			if (listeners->list[i].is_unix == unix_ones)
				announce(&listeners->list[i], tls, out);
	fflush(out);
}

void srv_listeners_close(struct srv_listeners *listeners)
{
	for (int i = 0; i < listeners->n; i++) {
		if (listeners->list[i].is_unix)
			srv_unix_remove(&listeners->list[i].file);
		close(listeners->list[i].fd);
	}
	listeners->n = 0;
}

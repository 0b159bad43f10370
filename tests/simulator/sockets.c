#undef _FORTIFY_SOURCE
#include "tests/simulator/sockets.h"

#include "tests/simulator/real.h"

#include <errno.h>
#include <stdint.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_FILES = 1024, MOST_LINKS = 16, MOST_PIECES = 64 };

static struct link links[MOST_LINKS];
static struct link *by_fd[MOST_FILES]; /* indexed by the service's descriptors */
static struct {
	struct link *link;
	int fd;
} waiting[MOST_LINKS]; /* pending connections */
static size_t n_waiting, n_ends, n_wrong, n_moved, n_events;
static int listen_fd = -1;
static size_t n_refused; /* descriptors still to be refused */

/* The connection of one of the service's descriptors, or NULL. */
static struct link *link_of(int fd)
{
	return fd >= 0 && fd < MOST_FILES ? by_fd[fd] : NULL;
}

size_t sockets_n_ends(void)
{
	return n_ends;
}

size_t sockets_n_events(void)
{
	return n_events;
}

size_t sockets_n_moved(void)
{
	return n_moved;
}

size_t sockets_n_wrong(void)
{
	return n_wrong;
}

static void have_end(int fd, struct link *link)
{
	by_fd[fd] = link;
	link->n_ends++;
	n_ends++;
}

/* ---- client side ---- */

int sockets_listen(void)
{
	return listen_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void sockets_refuse_files(size_t n)
{
	n_refused = n;
}

size_t sockets_n_waiting(void)
{
	return n_waiting;
}

static bool is_refused(void)
{
	if (n_refused == 0)
		return false;
	n_refused--;
	errno = EMFILE;
	return true;
}

void sockets_unlisten(void)
{
	while (n_waiting > 0)
		close(waiting[--n_waiting].fd);
	close(listen_fd);
	listen_fd = -1;
}

void sockets_each(void (*visit)(struct link *link))
{
	for (size_t i = 0; i < MOST_LINKS; i++)
		if (links[i].n_ends > 0)
			visit(&links[i]);
}

static struct link *find_room(void)
{
	for (size_t i = 0; i < MOST_LINKS; i++)
		if (links[i].window == 0)
			return &links[i];
	return NULL;
}

struct link *sockets_connect(unsigned address)
{
	struct link *link = find_room();
	int fds[2];
	const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
	if (!link || n_waiting == MOST_LINKS || socketpair(AF_UNIX, type, 0, fds) != 0)
		return NULL;
	*link = (struct link){.client = fds[0], .window = 64 << 10, .send_most = (size_t)-1};
	link->address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(40000)};
	link->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + address);
	have_end(fds[1], link);
	waiting[n_waiting].link = link;
	waiting[n_waiting++].fd = fds[1];
	eventfd_write(listen_fd, 1);
	return link;
}

struct link *sockets_connect_to(int port)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct link *link = find_room();
	const int fd = link ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1, on = 1;
	if (fd < 0 || connect(fd, (const void *)&address, sizeof address) != 0)
		return NULL;
	REAL(setsockopt)(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	*link = (struct link){.client = fd, .window = 1, .is_real = true};
	return link;
}

void sockets_forget(struct link *link)
{
	link->window = 0;
}

static ssize_t fail(int error)
{
	errno = error;
	return -1;
}

static ssize_t send_bytes(const struct link *link, const void *bytes, size_t n)
{
	n_events++;
	return REAL(send)(link->client, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static ssize_t receive_bytes(struct link *link, void *bytes, size_t n)
{
	if (link->is_cut) /* as after the reset that SO_LINGER makes of a close */
		return 0;
	const ssize_t got = REAL(recvfrom)(link->client, bytes, n, MSG_DONTWAIT, NULL, NULL);
	if (got > 0)
		link->unread -= (size_t)got;
	return got;
}

/* ---- TLS, whose transport sees only the descriptor ---- */

static struct link *link_of_client(gnutls_transport_ptr_t number)
{
	for (size_t i = 0; i < MOST_LINKS; i++)
		if (links[i].window && links[i].client == (int)(intptr_t)number)
			return &links[i];
	return NULL;
}

static ssize_t push(gnutls_transport_ptr_t number, const void *bytes, size_t n)
{
	return send_bytes(link_of_client(number), bytes, n);
}

static ssize_t pull(gnutls_transport_ptr_t number, void *bytes, size_t n)
{
	return receive_bytes(link_of_client(number), bytes, n);
}

bool sockets_client_encrypt(struct link *link)
{
	static gnutls_certificate_credentials_t credentials;
	if (!credentials && gnutls_certificate_allocate_credentials(&credentials) != 0)
		return false;
	if (gnutls_init(&link->session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS) != 0)
		return false;
	gnutls_set_default_priority(link->session);
	gnutls_credentials_set(link->session, GNUTLS_CRD_CERTIFICATE, credentials);
	gnutls_transport_set_int(link->session, link->client);
	gnutls_transport_set_push_function(link->session, push);
	gnutls_transport_set_pull_function(link->session, pull);
	return true;
}

/* @return whether the handshake is complete; otherwise errno is set */
static bool greet(struct link *link)
{
	const int code = link->greeted ? 0 : gnutls_handshake(link->session);
	link->greeted = code == 0;
	errno = gnutls_error_is_fatal(code) ? ECONNRESET : EAGAIN;
	return link->greeted;
}

static ssize_t as_errno(ssize_t result)
{
	return result >= 0 ? result : fail(gnutls_error_is_fatal((int)result) ? ECONNRESET : EAGAIN);
}

ssize_t sockets_client_send(struct link *link, const char *bytes, size_t n)
{
	if (!link->session)
		return send_bytes(link, bytes, n);
	return greet(link) ? as_errno(gnutls_record_send(link->session, bytes, n)) : -1;
}

ssize_t sockets_client_receive(struct link *link, char *bytes, size_t n)
{
	if (!link->session)
		return receive_bytes(link, bytes, n);
	return greet(link) ? as_errno(gnutls_record_recv(link->session, bytes, n)) : -1;
}

void sockets_client_end(struct link *link)
{
	n_events++;
	link->parted = link->greeted;
	if (link->greeted)
		gnutls_bye(link->session, GNUTLS_SHUT_WR);
	shutdown(link->client, SHUT_WR);
}

void sockets_client_close(struct link *link, bool abruptly)
{
	n_events++;
	const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
	link->reset |= abruptly;
	if (link->is_real && abruptly)
		REAL(setsockopt)(link->client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	if (link->session)
		gnutls_deinit(link->session);
	link->session = NULL;
	REAL(close)(link->client);
	link->client = -1;
	link->unread = 0;
}

/* ---- replacements of the C library's functions, for the service's ends ---- */

int accept4(int fd, __SOCKADDR_ARG address, socklen_t *restrict n, int flags)
{
	eventfd_t count;
	if (fd != listen_fd)
		return REAL(accept4)(fd, address, n, flags);
	if (n_waiting == 0) {
		eventfd_read(listen_fd, &count);
		errno = EAGAIN;
		return -1;
	}
	if (is_refused())
		return -1;
	const int accepted = waiting[0].fd;
	memcpy(address.__sockaddr__, &waiting[0].link->address, sizeof(struct sockaddr_in));
	*n = sizeof(struct sockaddr_in);
	memmove(waiting, waiting + 1, --n_waiting * sizeof waiting[0]);
	return accepted;
}

ssize_t recvfrom(int fd, void *restrict bytes, size_t n, int flags, __SOCKADDR_ARG from, socklen_t *restrict size)
{
	struct link *link = link_of(fd);
	if (!link)
		return REAL(recvfrom)(fd, bytes, n, flags, from, size);
	if (link->reset)
		return fail(ECONNRESET);
	if (flags == MSG_DONTWAIT) /* another thread reads from lingering connections */
		return REAL(recvfrom)(fd, bytes, n, flags, NULL, NULL);
	if (link->credit == 0)
		return fail(EAGAIN);
	const size_t most = n < link->credit ? n : link->credit;
	const ssize_t got = REAL(recvfrom)(fd, bytes, most, flags | MSG_DONTWAIT, NULL, NULL);
	if (got > 0 && !(flags & MSG_PEEK)) {
		link->credit -= (size_t)got;
		n_moved += (size_t)got;
	}
	return got;
}

/* Number of bytes, at most n, that can be sent now. */
static size_t room(struct link *link, size_t n, int flags)
{
	const size_t free_bytes = link->is_cut ? n : link->window > link->unread ? link->window - link->unread : 0;
	const bool past_library = flags & MSG_DONTWAIT;
	size_t most = past_library || link->send_most > free_bytes ? free_bytes : link->send_most;
	link->clipped |= past_library && most < n;
	return n < most ? n : most;
}

static ssize_t count_sent(struct link *link, ssize_t sent)
{
	if (sent > 0) {
		link->unread += (size_t)sent;
		n_moved += (size_t)sent;
	}
	return sent;
}

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
	struct link *link = link_of(fd);
	if (!link)
		return REAL(send)(fd, bytes, n, flags);
	if (link->reset)
		return fail(ECONNRESET);
	const size_t may = room(link, n, flags);
	return may == 0 && n > 0 ? fail(EAGAIN) : count_sent(link, REAL(send)(fd, bytes, may, flags | MSG_DONTWAIT));
}

static size_t trim(struct iovec *pieces, size_t n_pieces, size_t most)
{
	size_t n = 0;
	for (; n < n_pieces && most > 0; n++) {
		if (pieces[n].iov_len > most)
			pieces[n].iov_len = most;
		most -= pieces[n].iov_len;
	}
	return n;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct link *link = link_of(fd);
	if (!link)
		return REAL(sendmsg)(fd, message, flags);
	if (link->reset)
		return fail(ECONNRESET);
	const size_t may = room(link, (size_t)-1 >> 1, flags);
	struct iovec pieces[MOST_PIECES];
	const size_t n = message->msg_iovlen < MOST_PIECES ? message->msg_iovlen : MOST_PIECES;
	memcpy(pieces, message->msg_iov, n * sizeof pieces[0]);
	const struct msghdr less = {.msg_iov = pieces, .msg_iovlen = trim(pieces, n, may)};
	return may == 0 ? fail(EAGAIN) : count_sent(link, REAL(sendmsg)(fd, &less, flags | MSG_DONTWAIT));
}

/* A socket pair has no TCP options, and cannot be closed by a reset. */
int setsockopt(int fd, int level, int option, const void *value, socklen_t n)
{
	struct link *link = link_of(fd);
	if (!link)
		return REAL(setsockopt)(fd, level, option, value, n);
	link->is_cut |= level == SOL_SOCKET && option == SO_LINGER;
	return 0;
}

/* Counted because this is how one thread wakes another from poll. */
int eventfd_write(int fd, eventfd_t value)
{
	n_events++;
	return REAL(eventfd_write)(fd, value);
}

int dup(int fd)
{
	struct link *link = link_of(fd);
	if (link && is_refused())
		return -1;
	const int copy = REAL(dup)(fd);
	if (copy >= 0 && link)
		have_end(copy, link);
	return copy;
}

/* As in TCP, closing with unread input causes a reset, and the other side loses what it has not read. A TLS
 * close_notify does not count as unread input: a client that sends one before it has the response takes that risk. */
static void let_go(struct link *link, int fd)
{
	char byte;
	by_fd[fd] = NULL;
	link->n_ends--;
	n_ends--;
	if (link->n_ends == 0 && !link->parted && REAL(recvfrom)(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT, NULL, NULL) > 0)
		link->is_cut = true;
}

int close(int fd)
{
	struct link *link = link_of(fd);
	if (link)
		let_go(link, fd);
	const int error = REAL(close)(fd);
	n_wrong += error != 0;
	return error;
}

int sockets_poll(struct pollfd *fds, nfds_t n)
{
	int ready = 0;
	REAL(poll)(fds, n, 0);
	for (nfds_t i = 0; i < n; i++) {
		const struct link *link = link_of(fds[i].fd);
		if (link && link->reset)
			fds[i].revents |= POLLERR | POLLHUP | (fds[i].events & (POLLIN | POLLOUT));
		ready += fds[i].revents != 0;
	}
	return ready;
}

/* ---- select, which the library calls once in each round ---- */

static int list(const fd_set *read, const fd_set *write, int n_files, struct pollfd fds[FD_SETSIZE])
{
	int n = 0;
	for (int fd = 0; fd < n_files; fd++) {
		const int events = (FD_ISSET(fd, read) ? POLLIN : 0) | (FD_ISSET(fd, write) ? POLLOUT : 0);
		if (events)
			fds[n++] = (struct pollfd){.fd = fd, .events = (short)events};
	}
	return n;
}

/* Reports every connection as readable, because select cannot see what the reader holds (epoll's flags and TLS's
 * pending bytes can). A read that finds nothing is harmless. */
static bool is_readable(const struct pollfd *fd, const struct link *link)
{
	return (fd->events & POLLIN) && (link || (fd->revents & (POLLIN | POLLHUP | POLLERR)));
}

static bool is_writable(const struct pollfd *fd, const struct link *link)
{
	const bool has_room = !link || link->reset || link->is_cut || link->client < 0 || link->unread < link->window;
	return (fd->events & POLLOUT) && (fd->revents & (POLLOUT | POLLHUP | POLLERR)) && has_room;
}

int select(int n_files, fd_set *restrict read, fd_set *restrict write, fd_set *restrict except,
           struct timeval *restrict patience)
{
	struct pollfd fds[FD_SETSIZE];
	if (n_ends == 0 && listen_fd < 0)
		return REAL(select)(n_files, read, write, except, patience);
	const int n = list(read, write, n_files, fds);
	int n_ready = 0;
	memset(read, 0, sizeof *read);
	memset(write, 0, sizeof *write);
	memset(except, 0, sizeof *except);
	sockets_poll(fds, (nfds_t)n);
	for (int i = 0; i < n; i++) {
		const struct link *link = link_of(fds[i].fd);
		const bool readable = is_readable(&fds[i], link), writable = is_writable(&fds[i], link);
		if (readable)
			FD_SET(fds[i].fd, read);
		if (writable)
			FD_SET(fds[i].fd, write);
		n_ready += readable + writable;
	}
	return n_ready;
}

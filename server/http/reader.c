#undef _FORTIFY_SOURCE /* fortified headers would define the functions below inline */
#include "server/http/reader.h"

#include "server/base/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

struct srv_reader {
	struct srv_wire wire;
	int fd;
	void *owner;
	bool tls, ended;
	bool keeps_end;          /* see srv_reader_keep_end */
	bool greeted;            /* the TLS handshake is over */
	size_t n_unheard;        /* bytes of TLS received since the last byte of HTTP */
	char *held;              /* [out.n] filtered but not yet returned; NULL if there are none */
	struct srv_wire_out out; /* state of `held` */
	long long patience_ms;
	long long began_ms; /* start of message n_began */
	size_t n_began;
};

enum {
	MOST_HELD = SRV_READER_MOST + SRV_WIRE_HEAD + SRV_WIRE_EXTRA,
	MOST_FILES = 1 << 20,
	LEAST_READ = 1 << 10,
	MOST_UNHEARD = 32 << 10, /* a handshake takes about 2 kB, a record 18 kB */
};

/* Buffers of one read. Each thread that reads allocates them, because static thread-local memory would be reserved for
 * every thread. */
struct workspace {
	char arrived[SRV_READER_MOST];
	char filtered[MOST_HELD + SRV_READER_MOST + SRV_WIRE_EXTRA];
};

static pthread_key_t workspaces; /* frees the workspace when its thread ends */
static _Thread_local struct workspace *own_workspace;

static _Atomic(struct srv_reader *) *readers;
static size_t n_readers;

/* @return NULL if memory runs out */
static struct workspace *workspace(void)
{
	if (own_workspace)
		return own_workspace;
	struct workspace *fresh = malloc(sizeof *fresh);
	if (!fresh || pthread_setspecific(workspaces, fresh) != 0) {
		free(fresh);
		return NULL;
	}
	return own_workspace = fresh;
}

/* The table covers every descriptor below the soft limit, so a huge limit is lowered first. */
bool srv_readers_start(void)
{
	struct rlimit limit;
	if (readers)
		return true;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || pthread_key_create(&workspaces, free) != 0)
		return false;
	if (limit.rlim_cur > MOST_FILES) {
		limit.rlim_cur = MOST_FILES;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	n_readers = (size_t)limit.rlim_cur;
	readers = calloc(n_readers, sizeof *readers);
	return readers;
}

size_t srv_readers_most(void)
{
	return n_readers;
}

struct srv_reader *srv_reader_open(int fd, bool tls, long long seconds, void *owner)
{
	struct srv_reader *reader = (size_t)fd < n_readers ? calloc(1, sizeof *reader) : NULL;
	if (!reader)
		return NULL;
	srv_wire_open(&reader->wire);
	reader->fd = fd;
	reader->owner = owner;
	reader->tls = tls;
	reader->patience_ms = seconds * 1000;
	atomic_store(&readers[fd], reader);
	return reader;
}

void srv_reader_close(struct srv_reader *reader)
{
	atomic_store(&readers[reader->fd], NULL);
	free(reader->held);
	free(reader);
}

static struct srv_reader *reader_of(int fd)
{
	return fd >= 0 && (size_t)fd < n_readers ? atomic_load(&readers[fd]) : NULL;
}

void *srv_reader_owner(int fd)
{
	const struct srv_reader *reader = reader_of(fd);
	return reader ? reader->owner : NULL;
}

enum api_code srv_reader_fault(const struct srv_reader *reader, size_t message, const char **detail)
{
	return srv_wire_fault(&reader->wire, message, detail);
}

bool srv_reader_replaced(const struct srv_reader *reader, size_t message)
{
	return srv_wire_replaced(&reader->wire, message);
}

bool srv_reader_holds_head(const struct srv_reader *reader)
{
	return reader->wire.n_messages < reader->n_began;
}

bool srv_reader_ended(const struct srv_reader *reader)
{
	return reader->ended;
}

void srv_reader_keep_end(struct srv_reader *reader, bool keep)
{
	reader->keeps_end = keep;
}

bool srv_reader_is_late(const struct srv_reader *reader)
{
	const size_t message = srv_wire_under_way(&reader->wire);
	return message && message == reader->n_began && srv_clock_ms() - reader->began_ms > reader->patience_ms;
}

/* A message's time limit counts from its first byte, even if the rest keeps arriving. */
static void watch_clock(struct srv_reader *reader, struct srv_wire_out *out)
{
	const size_t message = srv_wire_under_way(&reader->wire);
	if (message && message != reader->n_began) {
		reader->n_began = message;
		reader->began_ms = srv_clock_ms();
	} else if (srv_reader_is_late(reader)) {
		srv_wire_fail(&reader->wire, API_E_REQUEST_TIMEOUT, "The request did not arrive in time.", out);
	}
}

typedef ssize_t source(struct srv_reader *reader, void *session, char *bytes, size_t n);

/* Fills `out` until `wanted` bytes are ready or the source is empty. Reads little more than that, to hold little for a
 * client that sends without reading its responses. @return result of the last read */
static ssize_t gather(struct srv_reader *reader, source *read, void *session, char arrived[SRV_READER_MOST],
                      size_t wanted, struct srv_wire_out *out)
{
	ssize_t got = 1;
	while (got > 0 && out->ready < wanted && reader->wire.state != SRV_WIRE_OVER) {
		const size_t missing = wanted - out->ready;
		got = read(reader, session, arrived, missing > LEAST_READ ? missing : LEAST_READ);
		if (got > 0)
			srv_wire_filter(&reader->wire, arrived, (size_t)got, out);
	}
	watch_clock(reader, out);
	if (got == 0)
		reader->ended = true;
	return got;
}

/* Keeps the contents of `out` beyond the first `taken` bytes. @return false if memory runs out */
static bool hold(struct srv_reader *reader, const struct srv_wire_out *out, size_t taken)
{
	char *held = NULL;
	const size_t n = out->n - taken;
	if (n > 0 && !(held = malloc(n)))
		return false;
	if (n > 0)
		memcpy(held, out->bytes + taken, n);
	free(reader->held);
	reader->held = held;
	reader->out = (struct srv_wire_out){NULL, out->ready - taken, n};
	return true;
}

/* Whether the stream ended together with the last bytes. Checked now because the library may never read again
 * (request.c, look_for_end), except under TLS. */
static bool ends_here(const struct srv_reader *reader)
{
	char byte;
	return !reader->tls && recvfrom(reader->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT, NULL, NULL) == 0;
}

static ssize_t lack_memory(const struct srv_reader *reader)
{
	errno = ENOMEM;
	return reader->tls ? GNUTLS_E_MEMORY_ERROR : -1;
}

static ssize_t read_through_filter(struct srv_reader *reader, source *read, void *session, char *bytes, size_t n)
{
	struct workspace *space = workspace();
	if (!space)
		return lack_memory(reader);
	struct srv_wire_out out = {space->filtered, reader->out.ready, reader->out.n};
	if (reader->held)
		memcpy(space->filtered, reader->held, out.n);
	const ssize_t got = gather(reader, read, session, space->arrived, n < SRV_READER_MOST ? n : SRV_READER_MOST, &out);
	const int error = errno;
	const size_t taken = out.ready < n ? out.ready : n;
	memcpy(bytes, space->filtered, taken);
	if (!hold(reader, &out, taken))
		return lack_memory(reader);
	errno = got > 0 ? EAGAIN : error;
	return taken > 0 ? (ssize_t)taken : got <= 0 ? got : reader->tls ? GNUTLS_E_AGAIN : -1;
}

static ssize_t read_filtered(struct srv_reader *reader, source *read, void *session, char *bytes, size_t n)
{
	if (srv_wire_clear(&reader->wire, &reader->out) > n) {
		const ssize_t got = read(reader, session, bytes, n);
		if (got > 0)
			srv_wire_pass(&reader->wire, (size_t)got);
		reader->ended |= got == 0 || (got > 0 && (size_t)got < n && ends_here(reader));
		return got;
	}
	return read_through_filter(reader, read, session, bytes, n);
}

static ssize_t told(const struct srv_reader *reader, ssize_t got)
{
	if (got != 0 || !reader->keeps_end)
		return got;
	errno = EAGAIN;
	return reader->tls ? GNUTLS_E_AGAIN : -1;
}

static ssize_t from_socket(struct srv_reader *reader, void *session, char *bytes, size_t n)
{
	(void)session;
	return recvfrom(reader->fd, bytes, n, 0, NULL, NULL);
}

/* GnuTLS buffers a handshake message of up to 16 MiB until it is complete. So input ends for a client that keeps
 * sending without completing a record. */
static ssize_t from_socket_of_tls(struct srv_reader *reader, char *bytes, size_t n)
{
	const ssize_t got = reader->n_unheard <= MOST_UNHEARD ? recvfrom(reader->fd, bytes, n, 0, NULL, NULL) : 0;
	if (got > 0)
		reader->n_unheard += (size_t)got;
	return got;
}

/* Overrides recv for the library and for GnuTLS. recv() is specified as recvfrom() without an address. */
ssize_t recv(int fd, void *bytes, size_t n, int flags)
{
	struct srv_reader *reader = reader_of(fd);
	if (!reader || flags)
		return recvfrom(fd, bytes, n, flags, NULL, NULL);
	if (reader->tls)
		return from_socket_of_tls(reader, bytes, n);
	return told(reader, read_filtered(reader, from_socket, NULL, bytes, n));
}

/* Looks up GnuTLS's own function of this name, once. */
static void *real(_Atomic(void *) *known, const char *name)
{
	void *found = atomic_load(known);
	if (!found) {
		found = dlsym(RTLD_NEXT, name);
		atomic_store(known, found);
	}
	return found;
}

static ssize_t from_tls(struct srv_reader *reader, void *session, char *bytes, size_t n)
{
	static _Atomic(void *) known;
	ssize_t (*call)(void *, void *, size_t);
	*(void **)(void *)&call = real(&known, "gnutls_record_recv");
	const ssize_t got = call ? call(session, bytes, n) : GNUTLS_E_INTERNAL_ERROR;
	if (got > 0 && reader)
		reader->n_unheard = 0;
	return got;
}

/* Overrides GnuTLS's function for the library. */
ssize_t gnutls_record_recv(gnutls_session_t session, void *bytes, size_t n)
{
	struct srv_reader *reader = reader_of(gnutls_transport_get_int(session));
	if (reader)
		reader->greeted = true;
	return reader ? told(reader, read_filtered(reader, from_tls, session, bytes, n))
	              : from_tls(NULL, session, bytes, n);
}

/* Overrides GnuTLS's function for the library, which does not poll the socket while this is positive. */
size_t gnutls_record_check_pending(gnutls_session_t session)
{
	static _Atomic(void *) known;
	size_t (*call)(gnutls_session_t);
	const struct srv_reader *reader = reader_of(gnutls_transport_get_int(session));
	*(void **)(void *)&call = real(&known, "gnutls_record_check_pending");
	return (call ? call(session) : 0) + (reader ? reader->out.ready : 0);
}

/* Overrides GnuTLS's function for the library, which calls it before it closes the descriptor but sends no
 * close_notify; without one a client could not distinguish the end from a truncation (RFC 9112, 9.8). */
void gnutls_deinit(gnutls_session_t session)
{
	static _Atomic(void *) known;
	void (*call)(gnutls_session_t);
	const struct srv_reader *reader = reader_of(gnutls_transport_get_int(session));
	*(void **)(void *)&call = real(&known, "gnutls_deinit");
	if (reader && reader->greeted)
		gnutls_bye(session, GNUTLS_SHUT_WR);
	if (call)
		call(session);
}

/* Overrides epoll_wait() for the library. When libmicrohttpd 0.9.75 gets as many events as it asked for (128), it waits
 * for more before it serves any, with its whole time limit: exactly 128 requests at once would all wait for another
 * event, or be closed as idle. So it gets one fewer; the next call returns the rest. */
int epoll_wait(int epoll_fd, struct epoll_event *events, int most, int milliseconds)
{
	return epoll_pwait(epoll_fd, events, most > 1 ? most - 1 : most, milliseconds, NULL);
}

typedef void function(void);

const char *srv_readers_missing(void)
{
	static const struct {
		const char *name;
		function *own;
	} all[] = {
		{"recv", (function *)recv},
		{"gnutls_record_recv", (function *)gnutls_record_recv},
		{"gnutls_record_check_pending", (function *)gnutls_record_check_pending},
		{"gnutls_deinit", (function *)gnutls_deinit},
		{"epoll_wait", (function *)epoll_wait},
	};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		function *found;
		*(void **)(void *)&found = dlsym(RTLD_DEFAULT, all[i].name);
		if (found != all[i].own)
			return all[i].name;
	}
	return NULL;
}

#include "http_internal.h"

#include "linger.h"

#include <stdlib.h>
#include <unistd.h>

enum { IDLE_SECONDS = 60 }; /* between requests */

struct connection {
	struct srv_reader *reader;
	struct srv_watched *watched; /* under TLS, until the first request */
	size_t n_requests;
};

int srv_socket_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

static const struct sockaddr *client_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
}

void srv_set_patience(struct MHD_Connection *connection, unsigned seconds)
{
	MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

/* Silence is never longer than what a whole request may take. */
unsigned srv_idle_seconds(const struct srv_http *http)
{
	return http->receive_seconds < IDLE_SECONDS ? (unsigned)http->receive_seconds : IDLE_SECONDS;
}

/* ---- an answer to what is not, or not yet, a request of the library's ---- */

static void open_unseen(struct request *request, struct srv_http *http, const struct sockaddr *client)
{
	*request = (struct request){.http = http, .target = "-", .head.method = "-", .client = client};
	clock_gettime(CLOCK_MONOTONIC, &request->began);
	srv_new_id(request->id);
}

static void close_unseen(struct request *request, const char *aborted)
{
	srv_record(request, aborted);
	srv_drop_answer(request);
}

/* The library closes a silent connection, and knows nothing of the head that has begun to arrive there. A TLS session
 * is over by now. */
static void say_late(struct srv_http *http, struct MHD_Connection *connection)
{
	const int fd = srv_socket_of(connection);
	struct request request;
	open_unseen(&request, http, client_of(connection));
	srv_reject_late(&request);
	srv_answer_past_library(&request, fd);
	srv_linger(dup(fd));
	close_unseen(&request, "timeout");
}

/* In place of a connection: one answer, whatever will be asked. */
static void send_away(struct srv_http *http, int fd, const struct sockaddr *address, int status, const char *detail)
{
	struct request request;
	open_unseen(&request, http, address);
	srv_reject(&request, SRV_REJECTED_CONNECTIONS, status, detail);
	srv_answer_past_library(&request, fd);
	srv_linger(fd);
	close_unseen(&request, NULL);
}

/* ---- accepting ---- */

static void forget(struct srv_http *http, const struct sockaddr *address)
{
	srv_addresses_remove(http->addresses, address);
	atomic_fetch_sub(&http->n_connections, 1);
}

bool srv_has_room(void *closure)
{
	const struct srv_http *http = closure;
	return atomic_load(&http->n_connections) < http->most_connections + SRV_SPARE_CONNECTIONS;
}

/* The library gives connections to its threads in turn, by the number of the file. */
void srv_add_connection(void *closure, int fd, const struct sockaddr *address, socklen_t bytes)
{
	struct srv_http *http = closure;
	if (atomic_load(&http->n_connections) >= http->most_connections) {
		send_away(http, fd, address, 503, "There are as many connections as the server takes; try again soon.");
	} else if (!srv_addresses_add(http->addresses, address)) {
		send_away(http, fd, address, 429, "There are as many connections from this address as the server takes.");
	} else {
		atomic_fetch_add(&http->n_connections, 1);
		if (MHD_add_connection(http->daemon, fd, address, bytes) != MHD_YES) /* which has closed fd */
			forget(http, address);
	}
}

/* ---- from the first byte to the last ---- */

/* A connection that libmicrohttpd 0.9.75 gives up in the middle of a TLS handshake is never closed, and keeps a CPU
 * busy. So the library has no patience that could end then; what is late finds the end of its input instead. */
static bool watch(const struct srv_http *http, struct MHD_Connection *connection, struct connection *own, int fd)
{
	if (!http->watch)
		return true;
	srv_set_patience(connection, 0);
	own->watched = srv_watch_add(http->watch, fd);
	return own->watched;
}

static void end_watch(const struct srv_http *http, struct connection *own)
{
	srv_watch_remove(http->watch, own->watched);
	own->watched = NULL;
}

static struct connection *open_connection(const struct srv_http *http, struct MHD_Connection *connection)
{
	const int fd = srv_socket_of(connection);
	struct connection *own = calloc(1, sizeof *own);
	if (own)
		own->reader = srv_reader_open(fd, http->is_tls, http->receive_seconds);
	if (own && !own->reader) {
		free(own);
		own = NULL;
	}
	if (!own || !watch(http, connection, own, fd))
		shutdown(fd, SHUT_RDWR);
	return own;
}

bool srv_introduce(struct request *request)
{
	struct MHD_Connection *connection = request->connection;
	struct connection *own = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	if (!own)
		return false;
	request->client = client_of(connection);
	request->reader = own->reader;
	request->ordinal = ++own->n_requests;
	if (own->watched) {
		end_watch(request->http, own);
		srv_set_patience(connection, srv_idle_seconds(request->http));
	}
	return true;
}

static void close_connection(struct srv_http *http, struct MHD_Connection *connection, struct connection *own)
{
	forget(http, client_of(connection));
	if (!own)
		return;
	if (srv_reader_holds_head(own->reader) && !srv_reader_ended(own->reader))
		say_late(http, connection);
	end_watch(http, own);
	srv_reader_close(own->reader);
	free(own);
}

void srv_on_connection(void *http, struct MHD_Connection *connection, void **context,
                       enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = open_connection(http, connection);
	} else {
		close_connection(http, connection, *context);
		*context = NULL;
	}
}

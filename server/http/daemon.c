#include "server/http/daemon.h"

#include "server/access/certificate.h"
#include "server/base/descriptors.h"
#include "server/http/connection.h"
#include "server/http/request.h"
#include "server/observe/log.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SPARE_CONNECTIONS = 32 }; /* no longer in the table, but not yet closed by the library */
enum {
	CONNECTION_MEMORY = 40 << 10, /* for head and body in transit; no read is longer */
	RECORD = 64,                  /* the library's overhead per header line or argument */
	OWN_HEAD = 2 << 10,           /* upper bound on the head of a response */
};
_Static_assert((int)CONNECTION_MEMORY <= (int)SRV_READER_MOST, "no read is longer than the reader's buffer");
/* Little more than necessary: the library clears the whole block for every request, which slows down small requests
 * once it exceeds the first-level cache. A response in parts also needs room for their list, which the longest possible
 * head does not leave. */
_Static_assert((int)CONNECTION_MEMORY >= (int)SRV_WIRE_HEAD + (int)SRV_WIRE_FIELDS * (int)RECORD + (int)OWN_HEAD,
               "the longest head fits, and the head of its answer beside it");
_Static_assert((int)CONNECTION_MEMORY + (int)SRV_WIRE_HEAD + 4096 <= (int)SRV_CONNECTION_BYTES,
               "room for the library's memory, a head that is held back, and the record of the connection");

static void on_message(void *http, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

static void on_message(void *http, const char *format, va_list arguments)
{
	char text[512];
	(void)http;
	vsnprintf(text, sizeof text, format, arguments);
	text[strcspn(text, "\n")] = '\0';
	srv_log(SRV_DEBUG, "microhttpd: %s", text);
}

/* Chooses options that depend on mode, TLS and the number of threads. */
static void choose(const struct srv_options *options, enum srv_http_mode mode, bool tls, struct MHD_OptionItem items[4])
{
	int n = 0;
	if (mode == SRV_HTTP_THREADS && options->io_threads > 1)
		items[n++] = (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)options->io_threads, NULL};
	if (tls) {
		items[n++] =
			(struct MHD_OptionItem){MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, (void *)(uintptr_t)srv_certificate_hand_out};
		items[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)SRV_TLS_PRIORITIES};
	}
	items[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
}

/* The library divides its limit among its threads, and a thread that reaches its share hangs, because it returns with a
 * lock held. The acceptor enforces the limit instead, and each share is large enough for all connections. */
static unsigned beyond_reach(const struct srv_options *options)
{
	return (unsigned)((options->connections + SPARE_CONNECTIONS) * options->io_threads);
}

/* With epoll, libmicrohttpd 0.9.75 polls incessantly for the rest of a TLS handshake, so a single silent client would
 * keep a CPU busy. */
static unsigned waits_by(enum srv_http_mode mode, bool tls)
{
	if (mode == SRV_HTTP_ROUNDS)
		return MHD_NO_FLAG; /* select, without blocking */
	return tls ? MHD_USE_POLL_INTERNAL_THREAD : MHD_USE_EPOLL_INTERNAL_THREAD;
}

/* Without TURBO the library shuts down the sending side before srv_on_completed can send the reason. */
static unsigned flags_of(enum srv_http_mode mode, bool tls)
{
	return MHD_USE_SUSPEND_RESUME | MHD_USE_ERROR_LOG | MHD_USE_TURBO | MHD_USE_NO_LISTEN_SOCKET | waits_by(mode, tls) |
	       (tls ? MHD_USE_TLS : MHD_NO_FLAG);
}

struct MHD_Daemon *srv_daemon_start(struct srv_http *http, const struct srv_options *options, enum srv_http_mode mode,
                                    bool tls)
{
	struct MHD_OptionItem items[4];
	choose(options, mode, tls, items);
	/* clang-format off */
	return MHD_start_daemon(flags_of(mode, tls), 0, NULL, NULL, srv_on_request, http,
	                        MHD_OPTION_EXTERNAL_LOGGER, on_message, http,
	                        MHD_OPTION_URI_LOG_CALLBACK, srv_on_target, http,
	                        MHD_OPTION_NOTIFY_COMPLETED, srv_on_completed, http,
	                        MHD_OPTION_NOTIFY_CONNECTION, srv_on_connection, http,
	                        MHD_OPTION_CONNECTION_LIMIT, beyond_reach(options),
	                        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
	                        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)srv_idle_seconds(http),
	                        MHD_OPTION_ARRAY, items, MHD_OPTION_END);
	/* clang-format on */
}

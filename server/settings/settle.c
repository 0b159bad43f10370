#include "server/settings/settle.h"

#include "api/base/resources.h"
#include "server/base/descriptors.h"
#include "server/listen/unix_socket.h"

#include <string.h>

#define M (1LL << 20)
#define G (1LL << 30)

static long long larger(long long a, long long b)
{
	return a > b ? a : b;
}

/* Three quarters of the memory that connections leave, which counts as at least half of all memory. The rest is for
 * warm memory. */
static long long automatic_memory(long long connections)
{
	const long long available = api_available_memory();
	const long long left = larger(available - connections * SRV_CONNECTION_BYTES, available / 2);
	return larger(left / 4 * 3, 16 * M);
}

static void settle_memory(struct srv_options *options)
{
	if (options->memory_bytes == 0)
		options->memory_bytes = automatic_memory(options->connections);
	if (options->pool_bytes < 0)
		options->pool_bytes = options->memory_bytes / 4 < G ? options->memory_bytes / 4 : G;
}

static void settle_bytes(struct srv_options *options)
{
	if (options->max_frame_bytes == 0)
		options->max_frame_bytes = options->queue_bytes && options->queue_bytes < G ? options->queue_bytes : G;
	if (options->queue_bytes == 0)
		options->queue_bytes = larger(options->max_frame_bytes, 4 * options->max_json_bytes);
}

/* With tokens, a caller gets at most half. */
static long long automatic_share(const struct srv_options *options, long long whole)
{
	return larger(options->gate.tokens ? whole / 2 : whole, 1);
}

static void settle_sets(struct srv_options *options)
{
	if (options->set_bytes == 0)
		options->set_bytes = options->memory_bytes / 2;
	if (options->set_bytes_per_caller == 0)
		options->set_bytes_per_caller = automatic_share(options, options->set_bytes);
	if (options->sets_per_caller == 0)
		options->sets_per_caller = automatic_share(options, options->sets);
}

static bool is_part(const char *name, long long part, const char *whole, long long most, FILE *err)
{
	if (part > most)
		fprintf(err, "frictiond: --%s: %lld is more than --%s, %lld, of which it is a part\n", name, part, whole, most);
	return part <= most;
}

static bool fits_queue(const struct srv_options *options, const char *name, long long longest, FILE *err)
{
	if (options->queue_bytes < longest)
		fprintf(err, "frictiond: --queue-bytes: %lld is less than one longest body, --%s %lld\n", options->queue_bytes,
		        name, longest);
	return options->queue_bytes >= longest;
}

static void settle_connections(struct srv_options *options)
{
	const long long available = srv_available_connections(srv_library_threads(options));
	if (options->connections == 0)
		options->connections = available < 1024 ? available : 1024;
	if (options->io_threads > options->connections)
		options->io_threads = options->connections;
	if (options->connections_per_address == 0)
		options->connections_per_address = options->connections;
}

static bool is_path(const char *path, FILE *err)
{
	struct sockaddr_un address;
	const bool fits = !path || srv_unix_address(path, &address);
	if (!fits)
		fprintf(err, "frictiond: --unix: '%s' has %zu bytes; the path of a socket has at most %d\n", path, strlen(path),
		        SRV_MOST_PATH);
	return fits;
}

bool srv_options_settle(struct srv_options *options, FILE *err)
{
	if (options->threads == 0)
		options->threads = api_available_cpus();
	if (options->io_threads == 0)
		options->io_threads = api_available_cpus() < 256 ? api_available_cpus() : 256;
	settle_connections(options);
	settle_bytes(options);
	settle_memory(options);
	settle_sets(options);
	return fits_queue(options, "max-json-bytes", options->max_json_bytes, err) &&
	       fits_queue(options, "max-frame-bytes", options->max_frame_bytes, err) &&
	       is_part("set-bytes", options->set_bytes, "memory-bytes", options->memory_bytes, err) &&
	       is_part("set-bytes-per-caller", options->set_bytes_per_caller, "set-bytes", options->set_bytes, err) &&
	       is_part("sets-per-caller", options->sets_per_caller, "sets", options->sets, err) &&
	       is_path(options->unix_path, err) && srv_gate_settings_are_sound(&options->gate, err);
}

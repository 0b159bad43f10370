#include "tests/simulator/epoll.h"

#include "tests/simulator/client.h"
#include "tests/simulator/clock.h"
#include "tests/simulator/service.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CLIENTS = 4, MOST_STEPS = 60, MOST_DRIP = 40, PAUSE_US = 300 };
static const double patience = 60, nearly_second = 0.7;

static struct service_kind kind;
static struct client clients[MOST_CLIENTS];
static size_t n_clients;
static int port;
static char fault[512];

bool epoll_start(void)
{
	service_kind_make(&kind, 0);
	kind.options.io_threads = 2;
	kind.options.connections = kind.options.connections_per_address = kind.options.queue_requests = 64;
	kind.options.receive_seconds = kind.options.send_seconds = kind.options.deadline_seconds = 600;
	kind.options.memory_bytes = kind.options.queue_bytes = 64 << 20;
	kind.options.gate.tokens = NULL;
	kind.asks_tokens = false;
	return scripts_start() && service_start_threads(&kind, &port);
}

void epoll_stop(void)
{
	service_close();
	service_stop();
}

static void connect_clients(struct chance *chance)
{
	const struct script_world world = {kind.asks_tokens, (size_t)kind.options.max_json_bytes};
	n_clients = 1 + chance_below(chance, MOST_CLIENTS);
	service_make_large(chance_below(chance, 4));
	for (size_t i = 0; i < n_clients; i++) {
		script_make(&clients[i].script, &world, SCRIPT_ANY, i, chance);
		client_connect(&clients[i], sockets_connect_to(port));
	}
}

/* The service allows one second after a client has closed its sending side. */
static void note_time(struct client *client, double began)
{
	if (client->has_ended && clock_real_seconds() - began > nearly_second)
		client->excuses |= SECOND_PASSED;
}

static void step(struct client *client, struct chance *chance, double began)
{
	note_time(client, began);
	switch (chance_below(chance, 8)) {
	case 0: client_hear(client, 1 + chance_below(chance, 500)); break;
	case 1: usleep((useconds_t)chance_below(chance, PAUSE_US)); break;
	case 2: client_say(client, client->script.n); break;
	case 3:
		if (chance_one_in(chance, 20))
			client_end(client);
		else if (chance_one_in(chance, 20))
			client_leave(client, chance_one_in(chance, 2));
		break;
	default: client_say(client, 1 + chance_below(chance, MOST_DRIP));
	}
}

/* Whether everything that can be served has been served. */
static bool is_done(const struct client *client)
{
	const struct script *script = &client->script;
	const struct asked *last = &script->asked[script->n_asked - 1];
	return client_is_served(client) || client->has_ended ||
	       ((last->traits & UNFINISHED) && client->n_sent == script->n);
}

static void finish(struct client *client, double began)
{
	while ((!is_done(client) || (client->has_ended && !client_is_served(client))) && !*client->fault &&
	       clock_real_seconds() - began < patience) {
		usleep(PAUSE_US);
		note_time(client, began);
		client_say(client, client->script.n);
		client_hear(client, CLIENT_HEARS);
	}
	note_time(client, began);
	const struct script *script = &client->script;
	if (!(script->asked[script->n_asked - 1].traits & UNFINISHED))
		client_conclude(client);
	client_leave(client, false);
	if (*client->fault)
		snprintf(fault, sizeof fault, "%s", client->fault);
	sockets_forget(client->link);
}

static void await_end(double began)
{
	struct service_counts counts;
	do {
		usleep(PAUSE_US);
		service_forget_sets();
		counts = service_counts();
	} while ((counts.n_connections || counts.n_under_way || counts.budget_bytes || counts.n_waiting) &&
	         clock_real_seconds() - began < 2 * patience);
	if (counts.n_connections || counts.n_under_way || counts.budget_bytes || counts.n_waiting)
		snprintf(fault, sizeof fault, "%zu connections, %zu requests, %zu in the queue, %zu bytes are still counted",
		         counts.n_connections, counts.n_under_way, counts.n_waiting, counts.budget_bytes);
}

const char *epoll_run(uint64_t seed)
{
	struct chance chance = {seed * 0x2545f4914f6cdd1d + 7};
	const double began = clock_real_seconds();
	*fault = '\0';
	connect_clients(&chance);
	for (size_t i = 8 + chance_below(&chance, MOST_STEPS) * n_clients; i > 0; i--)
		step(&clients[chance_below(&chance, n_clients)], &chance, began);
	for (size_t i = 0; i < n_clients; i++)
		finish(&clients[i], began);
	await_end(began);
	return *fault ? fault : NULL;
}

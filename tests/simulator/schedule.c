#include "tests/simulator/schedule.h"

#include "tests/simulator/client.h"
#include "tests/simulator/clock.h"
#include "tests/simulator/memory.h"
#include "tests/simulator/service.h"
#include "tests/simulator/threads.h"

#include "server/base/descriptors.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MOST_CLIENTS = 4,
	MOST_STEPS = 60,
	MOST_NOTES = 4096,
	MOST_ROUNDS = 100000,        /* until everything is at rest; reaching it means an endless loop in the service */
	KIND_SEEDS = 512,            /* consecutive seeds that share a kind of service */
	UNCOUNTED_BYTES = 320 << 10, /* for responses such as /metrics, and scratch memory of the core */
	SESSION_BYTES = 64 << 10,
	MS = 1000000,
};
static const long long second_ns = 1000000000;

static struct chance chance;
static struct client clients[MOST_CLIENTS];
static size_t n_clients;
static struct service_kind kind;
static uint64_t kind_number;
static bool is_running, cannot_start; /* state of the service */
static struct memory_counts before_start;
static char fault[512];

/* State of the current schedule. */
static struct {
	bool time_flies, lacks_memory, drains, drained;
	bool has_slow; /* some clients are slow */
	bool had_work; /* requests were under way when draining began */
	long long began_ns;
	struct memory_counts before;
	size_t idle_before;
	int first_file;
} now;

/* ---- notes ---- */

static struct note {
	const char *what;
	long long a, b;
} notes[MOST_NOTES];
static size_t n_notes;

static void note(const char *what, long long a, long long b)
{
	if (n_notes < MOST_NOTES)
		notes[n_notes++] = (struct note){what, a, b};
}

static void blame(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void blame(const char *format, ...)
{
	va_list arguments;
	if (*fault)
		return;
	va_start(arguments, format);
	vsnprintf(fault, sizeof fault, format, arguments);
	va_end(arguments);
}

static void print_bytes(const char *who, const char *bytes, size_t n)
{
	enum { MOST_PRINTED = 1500 };
	printf("  %s (%zu bytes): ", who, n);
	for (size_t i = 0; i < n && i < MOST_PRINTED; i++)
		if (bytes[i] == '\n')
			printf("\n    ");
		else if (bytes[i] >= ' ' && bytes[i] < 0x7f)
			putchar(bytes[i]);
		else if (bytes[i] != '\r')
			printf("\\x%02x", (unsigned char)bytes[i]);
	printf("%s\n", n > MOST_PRINTED ? " ..." : "");
}

void schedule_print(void)
{
	printf("service %llu: %lld connections, %lld of an address, %lld in the queue, bodies of %lld, pool of %lld%s\n",
	       (unsigned long long)kind_number, kind.options.connections, kind.options.connections_per_address,
	       kind.options.queue_requests, kind.options.max_json_bytes, kind.options.pool_bytes,
	       kind.asks_tokens ? ", tokens" : "");
	for (size_t i = 0; i < n_notes; i++)
		printf("  %4zu %s %lld %lld\n", i, notes[i].what, notes[i].a, notes[i].b);
	for (size_t i = 0; i < n_clients; i++) {
		printf("client %zu: sent %zu, %zu answers of %zu, excuses %u\n", i, clients[i].n_sent, clients[i].n_answered,
		       clients[i].script.n_asked, clients[i].excuses);
		print_bytes("script", clients[i].script.bytes, clients[i].script.n);
		print_bytes("heard", clients[i].heard, clients[i].n_heard);
	}
}

/* ---- the service ---- */

static bool start_service(uint64_t number)
{
	kind_number = number;
	service_kind_make(&kind, number);
	before_start = memory_counts();
	is_running = service_start(&kind);
	cannot_start = !is_running;
	return is_running;
}

static void stop_service(void)
{
	service_stop();
	is_running = false;
}

/* After the clients have left. @return false if the service left something behind */
static bool check_stopped(void)
{
	const struct memory_counts left = memory_counts();
	if (!service_metrics_agree())
		blame("the metrics have not counted what is on record");
	if (left.n_blocks == before_start.n_blocks && left.mapped_bytes == before_start.mapped_bytes)
		return true;
	blame("after the service has stopped %lld blocks of %lld bytes are left, and %lld mapped bytes",
	      left.n_blocks - before_start.n_blocks, left.bytes - before_start.bytes,
	      left.mapped_bytes - before_start.mapped_bytes);
	return false;
}

static void excuse_all(unsigned excuse)
{
	for (size_t i = 0; i < n_clients; i++)
		clients[i].excuses |= excuse;
}

static void close_service(void)
{
	note("close the service", 0, 0);
	excuse_all(STOPPED);
	service_close();
}

/* Memory that does not count as memory of requests: connections, small allocations, and the clients' own sessions. */
static long long beside_requests(void)
{
	return MOST_CLIENTS * (SRV_CONNECTION_BYTES + (kind.tls ? SESSION_BYTES : 0)) + UNCOUNTED_BYTES;
}

static void check_memory(void)
{
	const struct memory_counts counts = memory_counts();
	const struct service_counts service = service_counts();
	const long long held = counts.bytes + counts.mapped_bytes - now.before.bytes - now.before.mapped_bytes -
	                       (long long)service.idle_bytes + (long long)now.idle_before;
	const long long may = (long long)service.budget_bytes + beside_requests();
	if (held > may)
		blame("%lld bytes are held, of which %zu count", held, service.budget_bytes);
}

/* The peak includes memory held during computations. */
static void check_peak(void)
{
	const struct memory_counts counts = memory_counts();
	const long long held = counts.peak_bytes - now.before.bytes - now.before.mapped_bytes;
	const long long may = kind.options.memory_bytes + kind.options.pool_bytes + beside_requests();
	if (held > may)
		blame("%lld bytes were held at one time, and no more than %lld may", held, may);
}

static void note_refusals(void)
{
	if (memory_counts().n_failed != now.before.n_failed)
		excuse_all(NO_MEMORY);
}

static void turn(bool generous)
{
	if (!is_running)
		return;
	if (!service_turn(generous ? NULL : &chance))
		blame("the library has failed");
	check_memory();
	note_refusals();
}

/* ---- time ---- */

static void pass(long long ns)
{
	clock_pass_ns(ns);
	const long long passed = clock_now_ns() - now.began_ns;
	for (size_t i = 0; i < n_clients; i++) {
		if (passed > 9 * second_ns / 2)
			clients[i].excuses |= TIME_PASSED;
		if (clients[i].has_ended && passed > second_ns / 2)
			clients[i].excuses |= SECOND_PASSED;
	}
}

static void pass_some(void)
{
	const long long left = 4 * second_ns - (clock_now_ns() - now.began_ns);
	long long ns = (long long)chance_below(&chance, 300) * MS;
	if (now.time_flies)
		ns = chance_one_in(&chance, 3) ? (long long)chance_below(&chance, 20000) * MS : ns * 5;
	else if (ns > left)
		ns = left > 0 ? left : 0;
	note("time passes, ms", ns / MS, 0);
	pass(ns);
}

/* ---- steps ---- */

static struct client *any_client(void)
{
	return &clients[chance_below(&chance, n_clients)];
}

static long long number_of(const struct client *client)
{
	return client - clients;
}

/* Often ends exactly at a boundary, or one byte before or after it. */
static size_t some_bytes(const struct client *client)
{
	const struct script *script = &client->script;
	const struct asked *asked = &script->asked[chance_below(&chance, script->n_asked)];
	const size_t boundary = chance_one_in(&chance, 2) ? asked->head_end : asked->end;
	switch (chance_below(&chance, 6)) {
	case 0: return 1;
	case 1: return 1 + chance_below(&chance, 30);
	case 2: return 1 + chance_below(&chance, script->n);
	case 3: return boundary > client->n_sent ? boundary - client->n_sent + chance_below(&chance, 2) : 1;
	default: return script->n;
	}
}

/* Holds back the last request's body, except for its first byte, if the client will drip it. */
static size_t before_drips(const struct client *client)
{
	const struct script *script = &client->script;
	const size_t end = client->drips ? script->asked[script->n_asked - 1].head_end + 1 : script->n;
	return end > client->n_sent ? end - client->n_sent : 0;
}

static void step_say(void)
{
	struct client *client = any_client();
	const size_t before = client->n_sent;
	const size_t some = some_bytes(client), most = before_drips(client);
	client_say(client, some < most ? some : most);
	note("client says, bytes", number_of(client), (long long)(client->n_sent - before));
}

static void step_hear(void)
{
	struct client *client = any_client();
	const size_t before = client->n_heard;
	client_hear(client, client->sips || chance_one_in(&chance, 3) ? 1 + chance_below(&chance, 300) : CLIENT_HEARS);
	note("client hears, bytes", number_of(client), (long long)(client->n_heard - before));
}

static void step_turn(void)
{
	note("turn", 0, 0);
	turn(false);
}

static void step_thread(void)
{
	note("a thread runs", threads_run(), 0);
	note_refusals();
}

static void step_end(void)
{
	struct client *client = any_client();
	if (!chance_one_in(&chance, 6))
		return;
	note("client ends", number_of(client), (long long)client->n_sent);
	client_end(client);
}

static void step_leave(void)
{
	struct client *client = any_client();
	const bool abruptly = chance_one_in(&chance, 2);
	if (!chance_one_in(&chance, 8))
		return;
	note(abruptly ? "client resets" : "client leaves", number_of(client), (long long)client->n_sent);
	client_leave(client, abruptly);
}

static void step_time(void)
{
	pass_some();
	if (!chance_one_in(&chance, 8))
		return;
	clock_set_back_ns((long long)chance_below(&chance, 5000) * MS);
	note("the time of day is set back", 0, 0);
}

static void step_memory(void)
{
	if (!now.lacks_memory)
		return;
	const size_t first = chance_below(&chance, chance_one_in(&chance, 2) ? 8 : 60);
	const size_t n = 1 + chance_below(&chance, chance_one_in(&chance, 2) ? 1 : 10);
	note("memory is refused: after, times", (long long)first, (long long)n);
	memory_refuse(first, n);
}

static void step_files(void)
{
	if (!now.lacks_memory)
		return;
	const size_t n = 1 + chance_below(&chance, 3);
	note("descriptors are refused", (long long)n, 0);
	sockets_refuse_files(n);
	excuse_all(NO_MEMORY);
}

static void step_reload(void)
{
	note("tokens are read again", 0, 0);
	service_reload();
}

static void connect_client(size_t i)
{
	struct link *link = sockets_connect(chance_one_in(&chance, 2) ? 0 : (unsigned)i);
	/* Under TLS a response sent past the library looks like any other, so the limit must not split it: it would fit
	 * into any system's buffer. */
	const size_t least = kind.tls ? 1000 : 1;
	static const size_t windows[] = {64 << 10, 64 << 10, 64 << 10, 16 << 10, 4000, 1500};
	client_connect(&clients[i], link);
	if (!link)
		return;
	if (kind.tls && !sockets_client_encrypt(link))
		blame("a client has no memory for TLS");
	link->window = windows[chance_below(&chance, sizeof windows / sizeof windows[0])];
	link->send_most = chance_one_in(&chance, 4) ? least + chance_below(&chance, 300) : (size_t)-1;
}

static void step_drain(void)
{
	if (!now.drains || now.drained)
		return;
	note("drain", 0, 0);
	now.drained = true;
	excuse_all(DRAINED);
	now.had_work = service_counts().n_under_way > 0;
	service_drain();
}

static void step(void)
{
	static void (*const steps[])(void) = {
		step_say,    step_say,  step_say,  step_turn, step_turn,   step_turn, step_turn,  step_thread,
		step_thread, step_hear, step_hear, step_time, step_memory, step_end,  step_leave, step_drain,
	};
	static void (*const rare[])(void) = {step_files, step_reload};
	if (chance_one_in(&chance, 128))
		rare[chance_below(&chance, 2)]();
	steps[chance_below(&chance, sizeof steps / sizeof steps[0])]();
}

/* ---- the end ---- */

static size_t progress(void)
{
	size_t sum = 0;
	for (size_t i = 0; i < n_clients; i++)
		sum += clients[i].n_sent + clients[i].n_heard + clients[i].hears_end;
	return sum + sockets_n_ends() + sockets_n_moved();
}

/* Lets all clients send and receive as much as they can, except for slow ones. */
static void rest(void)
{
	for (size_t i = 0; i < n_clients; i++)
		if (clients[i].link)
			clients[i].link->send_most = (size_t)-1;
	for (size_t idle = 0, round = 0; idle < 3; round++) {
		const size_t before = progress();
		for (size_t i = 0; i < n_clients; i++) {
			client_say(&clients[i], before_drips(&clients[i]));
			if (!clients[i].sips)
				client_hear(&clients[i], CLIENT_HEARS);
		}
		turn(true);
		if (sockets_n_waiting() > 0)
			pass(20 * MS); /* the acceptor pauses after a descriptor was refused */
		bool ran = false;
		while (threads_run())
			ran = true;
		idle = ran || progress() != before ? 0 : idle + 1;
		if (round > MOST_ROUNDS) {
			blame("nothing comes to rest");
			return;
		}
	}
}

static void judge_clients(void)
{
	for (size_t i = 0; i < n_clients; i++) {
		if (!clients[i].drips && !clients[i].sips)
			client_conclude(&clients[i]);
		if (*clients[i].fault)
			blame("client %zu: %s", i, clients[i].fault);
	}
}

static void check_records(void)
{
	for (size_t i = 0; i < n_clients; i++) {
		client_check_records(&clients[i]);
		if (*clients[i].fault)
			blame("client %zu: %s", i, clients[i].fault);
	}
}

/* Lets slow clients send or read a little every second. The service must close their connections within this time. */
static void wait_until_closed(void)
{
	const struct srv_options *options = &kind.options;
	size_t n = 0;
	for (size_t i = 0; i < n_clients; i++)
		n = clients[i].script.n_asked > n ? clients[i].script.n_asked : n;
	const long long seconds = options->receive_seconds + options->deadline_seconds +
	                          (long long)n * (options->send_seconds + 2) + 4;
	note("wait until all is closed", seconds, 0);
	for (long long i = 0; i < seconds && sockets_n_ends() > 0; i++) {
		pass(second_ns);
		for (size_t c = 0; c < n_clients; c++) {
			const struct client *client = &clients[c];
			if (client->drips && client_may_say(client) > 1)
				client_say(&clients[c], 1);
			if (client->sips)
				client_hear(&clients[c], 50);
		}
		rest();
	}
	if (sockets_n_ends() > 0)
		blame("%zu connections are still open after %lld seconds in which no request was completed", sockets_n_ends(),
		      seconds);
}

static void leave_all(void)
{
	for (size_t i = 0; i < n_clients; i++)
		client_leave(&clients[i], chance_one_in(&chance, 8));
	rest();
	if (sockets_n_ends() > 0) {
		pass(6 * second_ns); /* for lingering connections, and one more look of each watcher */
		rest();
	}
	for (size_t i = 0; i < n_clients; i++)
		if (clients[i].link)
			sockets_forget(clients[i].link);
}

static void check_all_is_back(void)
{
	service_forget_sets();
	const struct service_counts counts = service_counts();
	const struct memory_counts memory = memory_counts();
	const int file = dup(STDIN_FILENO);
	close(file);
	if (sockets_n_ends() || sockets_n_wrong())
		blame("%zu descriptors of connections are open, %zu were closed twice", sockets_n_ends(), sockets_n_wrong());
	if (counts.n_connections || counts.n_under_way || counts.n_waiting)
		blame("%zu connections, %zu requests, %zu in the queue are still counted", counts.n_connections,
		      counts.n_under_way, counts.n_waiting);
	if (counts.budget_bytes || counts.queue_bytes || counts.pool_bytes)
		blame("%zu bytes of requests, %zu of the queue, %zu of the pools are still counted", counts.budget_bytes,
		      counts.queue_bytes, counts.pool_bytes);
	const long long mapped = memory.mapped_bytes - (long long)counts.idle_bytes - now.before.mapped_bytes +
	                         (long long)now.idle_before;
	if (memory.n_blocks != now.before.n_blocks || mapped != 0)
		blame("%lld blocks of %lld bytes and %lld mapped bytes are left", memory.n_blocks - now.before.n_blocks,
		      memory.bytes - now.before.bytes, mapped);
	if (file != now.first_file)
		blame("descriptor %d is the first free one, it was %d", file, now.first_file);
}

static void end_drained(void)
{
	rest();
	bool served = true;
	for (size_t i = 0; i < n_clients; i++)
		served &= client_is_served(&clients[i]);
	if (served && !service_is_idle())
		blame("all clients are served, and the service is not idle");
	if (now.had_work && service_is_idle() && service_n_idle_calls() == 0)
		blame("the last request is over, and nobody was told");
	close_service();
	for (size_t i = chance_below(&chance, 4); i > 0; i--)
		turn(false);
	note("stop", 0, 0);
	stop_service();
	rest();
	leave_all();
	if (sockets_n_ends())
		blame("%zu descriptors of connections are open after the stop", sockets_n_ends());
	check_stopped();
}

/* ---- one schedule ---- */

/* Removes traces of earlier schedules: returns warm memory and lets every thread run until it waits. */
static void settle(void)
{
	threads_preempt(0);
	clock_pass_ns(second_ns - clock_now_ns() % second_ns + (kind.options.idle_seconds + 2) * second_ns);
	while (threads_run())
		;
}

static void begin(uint64_t seed)
{
	static const size_t larges[] = {0, 0, 0, 1, 2, 3}, preempts[] = {0, 2, 8};
	settle();
	chance = (struct chance){seed * 0x2545f4914f6cdd1d + 1};
	n_notes = 0;
	*fault = '\0';
	memset(&now, 0, sizeof now);
	now.began_ns = clock_now_ns();
	now.time_flies = chance_one_in(&chance, 5);
	now.lacks_memory = chance_one_in(&chance, 4) && !kind.tls; /* libtasn1 crashes if an allocation fails */
	now.drains = chance_one_in(&chance, 64);
	memory_forget_peak();
	now.before = memory_counts();
	now.idle_before = service_counts().idle_bytes;
	now.first_file = dup(STDIN_FILENO);
	close(now.first_file);
	service_forget_records();
	service_make_large(larges[chance_below(&chance, 6)]);
	threads_preempt(preempts[chance_below(&chance, 3)]);
}

static void make_clients(void)
{
	const struct script_world world = {kind.asks_tokens, (size_t)kind.options.max_json_bytes};
	bool trees = false;
	n_clients = 1 + chance_below(&chance, chance_one_in(&chance, 2) ? MOST_CLIENTS : 1);
	for (size_t i = 0; i < n_clients; i++) {
		const enum script_end end = !chance_one_in(&chance, 24) ? SCRIPT_ANY
		                            : chance_one_in(&chance, 2) ? SCRIPT_LONG
		                                                        : SCRIPT_UNSENT;
		script_make(&clients[i].script, &world, end, i, &chance);
		connect_client(i);
		clients[i].sips = end == SCRIPT_LONG;
		clients[i].drips = end == SCRIPT_UNSENT;
		now.has_slow |= end != SCRIPT_ANY;
		for (size_t k = 0; k < clients[i].script.n_asked; k++)
			trees |= clients[i].script.asked[k].traits & ANY_STATUS;
	}
	const struct srv_options *options = &kind.options;
	const bool is_tight = options->connections < MOST_CLIENTS || options->queue_requests < MOST_CLIENTS ||
	                      options->connections_per_address < MOST_CLIENTS;
	if (n_clients > 1 && (trees || is_tight))
		excuse_all(LIMITED);
}

static void finish(void)
{
	memory_refuse(0, 0);
	sockets_refuse_files(0);
	const bool waits = now.has_slow ? !chance_one_in(&chance, 4) : chance_one_in(&chance, 16);
	note("no more steps", 0, 0);
	rest();
	judge_clients();
	check_peak();
	if (now.drained) {
		end_drained();
		judge_clients();
		return;
	}
	if (waits)
		wait_until_closed();
	judge_clients();
	leave_all();
	check_records();
	check_all_is_back();
}

static bool change_service(uint64_t number)
{
	if (is_running && number == kind_number)
		return true;
	if (is_running) {
		service_close();
		stop_service();
		if (!check_stopped())
			return false;
	}
	if (start_service(number))
		return true;
	blame("the service cannot be started");
	return false;
}

const char *schedule_run(uint64_t seed)
{
	*fault = '\0';
	if (!change_service(seed / KIND_SEEDS))
		return fault;
	begin(seed);
	make_clients();
	for (size_t i = 8 + chance_below(&chance, MOST_STEPS); i > 0 && !*fault; i--)
		step();
	finish();
	return *fault ? fault : NULL;
}

/* Makes the service allocate the memory that it allocates only once and keeps. */
static bool warm_up(void)
{
	for (uint64_t seed = 0; seed < 16 * KIND_SEEDS && !cannot_start; seed += KIND_SEEDS / 8)
		schedule_run(seed);
	schedules_stop();
	return !cannot_start;
}

bool schedules_start(bool tls)
{
	memory_start();
	clock_start();
	threads_start(&chance);
	return scripts_start() && (!tls || service_use_tls()) && warm_up();
}

const char *schedules_stop(void)
{
	*fault = '\0';
	if (!is_running)
		return NULL;
	service_close();
	stop_service();
	check_stopped();
	return *fault ? fault : NULL;
}

#include "server/settings/table.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define K 1024LL
#define M (1024 * K)
#define G (1024 * M)

#define AT(member) offsetof(struct srv_options, member)

/* clang-format off */
const struct srv_option srv_options_table[] = {
	{"host", "ADDRESS", SRV_TEXT, "127.0.0.1", NULL, 0, 0,
	 AT(host), "address or name to listen on; IPv6 without brackets"},
	{"port", "N", SRV_PORT, "8080", NULL, 0, 65535, AT(port),
	 "port to listen on; 0 takes a free one, none leaves only --unix"},
	{"unix", "PATH", SRV_TEXT, NULL, "none", 0, 0, AT(unix_path),
	 "Unix-domain socket to listen on as well; its clients need no token"},
	{"unix-mode", "MODE", SRV_MODE, "0600", NULL, 0, 0777, AT(unix_mode),
	 "permissions of its file, octal; whoever may write to it may connect"},
	{"threads", "N", SRV_COUNT, NULL, "available CPUs", 1, 1024, AT(threads),
	 "threads of a large evaluation; fewer, with a warning, where a limit leaves fewer"},
	{"max-json-bytes", "BYTES", SRV_BYTES, "256M", NULL, 1, 64 * G, AT(max_json_bytes),
	 "longest JSON body of a request; over it: 413"},
	{"max-frame-bytes", "BYTES", SRV_BYTES, NULL, "1G, or queue-bytes if that is given and less", 1, 64 * G,
	 AT(max_frame_bytes), "longest binary frame of a request; over it: 413"},
	{"max-answer-bytes", "BYTES", SRV_BYTES, "4G", NULL, 1, 1024 * G,
	 AT(max_answer_bytes), "longest body of an answer"},
	{"max-contacts", "N", SRV_COUNT, "10000000", NULL, 1, 1000000000,
	 AT(max_contacts), "contacts in a request; over it: 413"},
	{"max-vertices", "N", SRV_COUNT, "50000000", NULL, 1, 1000000000,
	 AT(max_vertices), "vertices in a request; over it: 413"},
	{"memory-bytes", "BYTES", SRV_BYTES, NULL,
	 "3/4 of the memory of the machine or its container that is left after 88 KiB for each connection",
	 16 * M, 1024 * G,
	 AT(memory_bytes),
	 "memory of all requests and collision sets together: bodies, documents, contacts, results, answers; over it: 503, "
	 "or 413 for one request alone"},
	{"set-bytes", "BYTES", SRV_BYTES, NULL, "half of memory-bytes", 1, 1024 * G, AT(set_bytes),
	 "memory of all collision sets together, part of memory-bytes; where nothing can be forgotten: 503, or 413 for one"
	 " set alone"},
	{"set-bytes-per-caller", "BYTES", SRV_BYTES, NULL, "set-bytes, or half of it with tokens", 1, 1024 * G,
	 AT(set_bytes_per_caller), "memory of the collision sets of one token; over it: 503, or 413 for one set alone"},
	{"sets", "N", SRV_COUNT, "1024", NULL, 1, 65536, AT(sets),
	 "collision sets of all callers; where none can be forgotten: 503"},
	{"sets-per-caller", "N", SRV_COUNT, NULL, "sets, or half of it with tokens", 1, 65536, AT(sets_per_caller),
	 "collision sets of one token; where none of its own can be forgotten: 503"},
	{"set-idle-seconds", "N", SRV_COUNT, "900", NULL, 1, 86400, AT(set_idle_seconds),
	 "how long a collision set is kept after its last use"},
	{"connections", "N", SRV_COUNT, NULL, "1024, or as many as the limit on open files allows", 1, 65536,
	 AT(connections), "connections open at one time; over it: 503"},
	{"connections-per-address", "N", SRV_COUNT, NULL, "as many as connections", 1, 65536, AT(connections_per_address),
	 "connections open at one time from one address (IPv6: one /64; --unix: one user); over it: 429"},
	{"receive-seconds", "N", SRV_COUNT, "120", NULL, 1, 86400, AT(receive_seconds),
	 "how long a request may take to arrive, including its body, however steadily it comes; over it: 408"},
	{"send-seconds", "N", SRV_COUNT, "120", NULL, 1, 86400, AT(send_seconds),
	 "how long a client may take to receive an answer, plus a second for each MiB of it; then the connection is cut"},
	{"deadline-seconds", "N", SRV_COUNT, "300", NULL, 1, 86400, AT(deadline_seconds),
	 "how long a request may take from its first byte until its answer is computed, including waiting; over it: 503"},
	{"io-threads", "N", SRV_COUNT, NULL, "available CPUs", 1, 256, AT(io_threads),
	 "threads that serve connections and evaluate small requests"},
	{"queue-requests", "N", SRV_COUNT, "64", NULL, 1, 65536, AT(queue_requests),
	 "large requests that may wait for the evaluating threads; over it: 503"},
	{"queue-bytes", "BYTES", SRV_BYTES, NULL, "4 x max-json-bytes, or max-frame-bytes if that is more", 1, 1024 * G,
	 AT(queue_bytes), "memory for the bodies of large requests that arrive, wait or are evaluated; over it: 503"},
	{"pool-bytes", "BYTES", SRV_BYTES, NULL, "1G, or a quarter of memory-bytes if that is less", 0, 1024 * G,
	 AT(pool_bytes), "most memory to keep warm between large requests, in addition to memory-bytes"},
	{"idle-seconds", "N", SRV_COUNT, "5", NULL, 0, 86400, AT(idle_seconds),
	 "how long memory is kept warm after its last use"},
	{"drain-seconds", "N", SRV_COUNT, "30", NULL, 0, 86400, AT(drain_seconds),
	 "how long SIGTERM and SIGINT wait for requests under way"},
	{"kernels", "NAME", SRV_WORD, "best", SRV_KERNELS, 0, 0, AT(kernels),
	 "inner loops of the evaluation: best (for this processor), avx512, avx2, baseline or scalar"},
	{"log-level", "LEVEL", SRV_WORD, "info", "error, warning, info, debug", 0, 0, AT(log_level),
	 "error, warning, info or debug"},
	{"log-format", "FORMAT", SRV_WORD, "logfmt", "logfmt, json", 0, 0, AT(log_format), "logfmt or json"},
	{"tokens", "FILE", SRV_TEXT, NULL, "none", 0, 0, AT(gate.tokens),
	 "lines with the name and the token of each client; requests then need \"Authorization: Bearer TOKEN\""},
	{"anonymous", "WORD", SRV_WORD, "no", "no, yes", 0, 0, AT(gate.anonymous),
	 "yes: listen on addresses other than loopback even without tokens"},
	{"tls-cert", "FILE", SRV_TEXT, NULL, "none", 0, 0, AT(gate.tls_cert),
	 "certificate (PEM, followed by the intermediate ones): serve https"},
	{"tls-key", "FILE", SRV_TEXT, NULL, "none", 0, 0, AT(gate.tls_key), "key of the certificate (PEM, not encrypted)"},
	{"allow-origin", "LIST", SRV_TEXT, NULL, "none", 0, 0, AT(gate.allow_origin),
	 "origins whose web pages may use the service, separated by commas (https://a.example), or *; others: 403"},
	{"allow-host", "LIST", SRV_TEXT, NULL, "none", 0, 0, AT(gate.allow_host),
	 "hosts by which clients may address the service, as behind a proxy, in addition to those of loopback; "
	 "separated by commas (a.example, a.example:8443); others: 421"},
	{"config", "FILE", SRV_TEXT, NULL, "none", 0, 0,
	 AT(config), "file with more options, lines of the form name = value"},
};
/* clang-format on */
enum { N_OPTIONS = sizeof srv_options_table / sizeof srv_options_table[0] };
_Static_assert((int)N_OPTIONS <= (int)SRV_MOST_OPTIONS, "there is room for the sources of all");
const int srv_n_options = N_OPTIONS;

/* clang-format off */
const struct srv_option srv_patience = {
	"timeout-seconds", "N", SRV_COUNT, "4", NULL, 1, 3600, AT(timeout_seconds), "how long to wait for an answer"};

void srv_option_variable(const struct srv_option *option, char name[SRV_OPTION_NAME])
{
	int n = snprintf(name, SRV_OPTION_NAME, "FRICTIOND_%s", option->name);
	for (int i = 0; i < n; i++)
		name[i] = name[i] == '-' ? '_' : (char)toupper((unsigned char)name[i]);
}

long long *srv_option_number(const struct srv_option *option, struct srv_options *options)
{
	return (long long *)(void *)((char *)options + option->offset);
}

bool srv_option_is_config(const struct srv_option *option)
{
	return option->offset == AT(config);
}

const char **srv_option_text(const struct srv_option *option, struct srv_options *options)
{
	return (const char **)(void *)((char *)options + option->offset);
}

/* Accepts digits, and for bytes a suffix K, M or G (binary). @return -1 if malformed or too large */
static long long read_number(const char *text, bool bytes)
{
	long long value = 0, unit = 1;
	size_t n = strspn(text, "0123456789");
	if (n == 0 || n > 18)
		return -1;
	for (size_t i = 0; i < n; i++)
		value = 10 * value + (text[i] - '0');
	if (bytes && text[n]) {
		char suffix = (char)toupper((unsigned char)text[n++]);
		unit = suffix == 'K' ? K : suffix == 'M' ? M : suffix == 'G' ? G : 0;
	}
	if (text[n] || unit == 0 || value > (1LL << 62) / unit)
		return -1;
	return value * unit;
}

/* Prints 1536 as 1536, 268435456 as 256M. */
static void print_bytes(long long value, char text[SRV_BYTES_TEXT])
{
	const char *units = "\0KMG";
	int unit = 0;
	for (; unit < 3 && value >= 1024 && value % 1024 == 0; unit++)
		value /= 1024;
	snprintf(text, SRV_BYTES_TEXT, "%lld%.1s", value, &units[unit]);
}

void srv_option_print(enum srv_option_kind kind, long long value, char text[SRV_BYTES_TEXT])
{
	if (kind == SRV_BYTES)
		print_bytes(value, text);
	else if (kind == SRV_PORT && value < 0)
		strcpy(text, "none");
	else
		snprintf(text, SRV_BYTES_TEXT, kind == SRV_MODE ? "%04llo" : "%lld", value);
}

void srv_option_range(const struct srv_option *option, char text[SRV_OPTION_RANGE])
{
	char most[SRV_BYTES_TEXT];
	if (option->kind == SRV_TEXT || option->kind == SRV_WORD) {
		snprintf(text, SRV_OPTION_RANGE, "%s", option->kind == SRV_WORD ? option->words : "");
		return;
	}
	srv_option_print(option->kind, option->most, most);
	snprintf(text, SRV_OPTION_RANGE, "%lld to %s%s", option->least, most, option->kind == SRV_PORT ? ", or none" : "");
}

const char *srv_option_default(const struct srv_option *option)
{
	return option->fallback ? option->fallback : option->words;
}

/* Accepts an octal mode, as chmod does. @return -1 if malformed */
static long long read_mode(const char *text)
{
	const size_t n = strspn(text, "01234567");
	return n > 0 && n <= 8 && !text[n] ? strtoll(text, NULL, 8) : -1;
}

static long long read_value(enum srv_option_kind kind, const char *text)
{
	return kind == SRV_MODE ? read_mode(text) : read_number(text, kind == SRV_BYTES);
}

/* Position of a word in "a, b, c". */
static bool set_word(const char *words, const char *text, long long *position)
{
	const size_t n = strlen(text);
	for (*position = 0; *words; ++*position) {
		const size_t length = strcspn(words, ",");
		if (length == n && strncmp(words, text, n) == 0)
			return true;
		words += length + strspn(words + length, ", ");
	}
	return false;
}

/* Accepts only text that a line of a file can hold as well. */
static bool is_text(const char *text)
{
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return false;
	return *text && *text != ' ' && text[strlen(text) - 1] != ' ';
}

bool srv_option_set(const struct srv_option *option, const char *text, struct srv_options *options)
{
	if (option->kind == SRV_TEXT) {
		*srv_option_text(option, options) = text;
		return is_text(text);
	}
	if (option->kind == SRV_WORD)
		return set_word(option->words, text, srv_option_number(option, options));
	const bool none = option->kind == SRV_PORT && strcmp(text, "none") == 0;
	const long long value = none ? -1 : read_value(option->kind, text);
	*srv_option_number(option, options) = value;
	return none || (value >= option->least && value <= option->most);
}

int srv_option_find(const char *name, size_t n)
{
	for (int i = 0; i < srv_n_options; i++)
		if (n == strlen(srv_options_table[i].name) && strncmp(name, srv_options_table[i].name, n) == 0)
			return i;
	return -1;
}

/* clang-format on */

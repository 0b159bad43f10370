#include "server/settings/options.h"

#include "server/settings/config.h"
#include "core/fric.h"
#include "server/access/cors.h"
#include "server/access/hosts.h"
#include "server/observe/log.h"
#include "server/base/resources.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, COUNT, BYTES, WORD };

#define K 1024LL
#define M (1024 * K)
#define G (1024 * M)

struct option {
	const char *name;
	const char *argument;
	enum kind kind;
	const char *fallback;    /* the default as one would write it; NULL: automatic, 0 until settle() */
	const char *words;       /* what the automatic default is; of a WORD, "a, b, c": the value is the position */
	long long least, most;
	size_t offset;
	const char *help;
};

#define AT(member) offsetof(struct srv_options, member)

static const struct option table[] = {
	{"host", "ADDRESS", TEXT, "127.0.0.1", NULL, 0, 0, AT(host), "address or name to listen on; IPv6 without brackets"},
	{"port", "N", COUNT, "8080", NULL, 0, 65535, AT(port), "port to listen on; 0 takes a free one"},
	{"threads", "N", COUNT, NULL, "available CPUs", 1, 1024, AT(threads),
	 "threads of a large evaluation; fewer, with a warning, where a limit leaves fewer"},
	{"max-json-bytes", "BYTES", BYTES, "256M", NULL, 1, 64 * G, AT(max_json_bytes),
	 "longest JSON body of a request; over it: 413"},
	{"max-frame-bytes", "BYTES", BYTES, NULL, "1G, or queue-bytes if that is given and less", 1, 64 * G,
	 AT(max_frame_bytes), "longest binary frame of a request; over it: 413"},
	{"max-answer-bytes", "BYTES", BYTES, "4G", NULL, 1, 1024 * G, AT(max_answer_bytes), "longest body of an answer"},
	{"max-contacts", "N", COUNT, "10000000", NULL, 1, 1000000000, AT(max_contacts), "contacts in a request; over it: 413"},
	{"max-vertices", "N", COUNT, "50000000", NULL, 1, 1000000000, AT(max_vertices), "vertices in a request; over it: 413"},
	{"memory-bytes", "BYTES", BYTES, NULL,
	 "3/4 of the memory of the machine or its container that is left after 88 KiB for each connection", 16 * M, 1024 * G,
	 AT(memory_bytes),
	 "memory of all requests together: bodies, documents, contacts, results, answers; over it: 503, or 413 for one "
	 "request alone"},
	{"connections", "N", COUNT, NULL, "1024, or as many as the limit on open files allows", 1, 65536, AT(connections),
	 "connections open at one time; over it: 503"},
	{"connections-per-address", "N", COUNT, NULL, "as many as connections", 1, 65536, AT(connections_per_address),
	 "connections open at one time from one address (IPv6: one /64); over it: 429"},
	{"receive-seconds", "N", COUNT, "120", NULL, 1, 86400, AT(receive_seconds),
	 "how long a request may take to arrive, including its body, however steadily it comes; over it: 408"},
	{"send-seconds", "N", COUNT, "120", NULL, 1, 86400, AT(send_seconds),
	 "how long a client may take to receive an answer, plus a second for each MiB of it; then the connection is cut"},
	{"deadline-seconds", "N", COUNT, "300", NULL, 1, 86400, AT(deadline_seconds),
	 "how long a request may take from its first byte until its answer is computed, including waiting; over it: 503"},
	{"io-threads", "N", COUNT, NULL, "available CPUs", 1, 256, AT(io_threads),
	 "threads that serve connections and evaluate small requests"},
	{"queue-requests", "N", COUNT, "64", NULL, 1, 65536, AT(queue_requests),
	 "large requests that may wait for the evaluating threads; over it: 503"},
	{"queue-bytes", "BYTES", BYTES, NULL, "4 x max-json-bytes, or max-frame-bytes if that is more", 1, 1024 * G,
	 AT(queue_bytes), "memory for the bodies of large requests that arrive, wait or are evaluated; over it: 503"},
	{"pool-bytes", "BYTES", BYTES, NULL, "1G, or a quarter of memory-bytes if that is less", 0, 1024 * G, AT(pool_bytes),
	 "how much memory to keep warm between large requests at most, in addition to memory-bytes"},
	{"idle-seconds", "N", COUNT, "5", NULL, 0, 86400, AT(idle_seconds),
	 "how long memory is kept warm after its last use"},
	{"drain-seconds", "N", COUNT, "30", NULL, 0, 86400, AT(drain_seconds),
	 "how long SIGTERM and SIGINT wait for requests under way"},
	{"kernels", "NAME", WORD, "best", SRV_KERNELS, 0, 0, AT(kernels),
	 "inner loops of the evaluation: best (for this processor), avx512, avx2, baseline or scalar"},
	{"log-level", "LEVEL", WORD, "info", "error, warning, info, debug", 0, 0, AT(log_level),
	 "error, warning, info or debug"},
	{"log-format", "FORMAT", WORD, "logfmt", "logfmt, json", 0, 0, AT(log_format), "logfmt or json"},
	{"tokens", "FILE", TEXT, NULL, "none", 0, 0, AT(gate.tokens),
	 "lines with the name and the token of each client; requests then need \"Authorization: Bearer TOKEN\""},
	{"anonymous", "WORD", WORD, "no", "no, yes", 0, 0, AT(gate.anonymous),
	 "yes: listen on addresses other than loopback even without tokens"},
	{"tls-cert", "FILE", TEXT, NULL, "none", 0, 0, AT(gate.tls_cert),
	 "certificate (PEM, followed by the intermediate ones): serve https"},
	{"tls-key", "FILE", TEXT, NULL, "none", 0, 0, AT(gate.tls_key), "key of the certificate (PEM, not encrypted)"},
	{"allow-origin", "LIST", TEXT, NULL, "none", 0, 0, AT(gate.allow_origin),
	 "origins whose web pages may use the service, separated by commas (https://a.example), or *; others: 403"},
	{"allow-host", "LIST", TEXT, NULL, "none", 0, 0, AT(gate.allow_host),
	 "hosts by which clients may address the service, as behind a proxy, in addition to those of loopback; separated by "
	 "commas (a.example, a.example:8443); others: 421"},
	{"config", "FILE", TEXT, NULL, "none", 0, 0, AT(config), "file with more options, lines of the form name = value"},
};
enum { N_OPTIONS = sizeof table / sizeof table[0], MAX_NAME = 64 };

/* Of `frictiond health` alone, as a flag alone. */
static const struct option patience = {
	"timeout-seconds", "N", COUNT, "4", NULL, 1, 3600, AT(timeout_seconds), "how long to wait for an answer"};

static void environment_name(const struct option *option, char name[MAX_NAME])
{
	int n = snprintf(name, MAX_NAME, "FRICTIOND_%s", option->name);
	for (int i = 0; i < n; i++)
		name[i] = name[i] == '-' ? '_' : (char)toupper((unsigned char)name[i]);
}

static long long *number_at(const struct option *option, struct srv_options *options)
{
	return (long long *)(void *)((char *)options + option->offset);
}

/* Digits alone, or for bytes with a suffix K, M or G (binary). -1 if it is not that, or too large. */
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

/* Writes 1536 as 1536 and 268435456 as 256M. */
static void print_bytes(long long value, char text[32])
{
	const char *units = "\0KMG";
	int unit = 0;
	for (; unit < 3 && value >= 1024 && value % 1024 == 0; unit++)
		value /= 1024;
	snprintf(text, 32, "%lld%.1s", value, &units[unit]);
}

static void print_range(const struct option *option, char *text, size_t bytes)
{
	char most[32];
	if (option->kind == BYTES) {
		print_bytes(option->most, most);
		snprintf(text, bytes, "%lld to %s", option->least, most);
	} else if (option->kind == COUNT) {
		snprintf(text, bytes, "%lld to %lld", option->least, option->most);
	} else {
		snprintf(text, bytes, "%s", option->kind == WORD ? option->words : "");
	}
}

const char *srv_kernels_name(const struct srv_options *options)
{
	static const char *const names[] = {"best", "avx512", "avx2", "baseline", "scalar"}; /* as SRV_KERNELS */
	return names[options->kernels];
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

static const char **text_at(const struct option *option, struct srv_options *options)
{
	return (const char **)(void *)((char *)options + option->offset);
}

/* What a line of a file can say, too. */
static bool is_text(const char *text)
{
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return false;
	return *text && *text != ' ' && text[strlen(text) - 1] != ' ';
}

static bool set(const struct option *option, const char *text, struct srv_options *options)
{
	if (option->kind == TEXT) {
		*text_at(option, options) = text;
		return is_text(text);
	}
	if (option->kind == WORD)
		return set_word(option->words, text, number_at(option, options));
	long long value = read_number(text, option->kind == BYTES);
	*number_at(option, options) = value;
	return value >= option->least && value <= option->most;
}

static enum srv_start refuse_value(const struct option *option, const char *source, const char *text, FILE *err)
{
	static const char *const expected[] = {
		[TEXT] = "a text (not empty, no control characters, no spaces at its ends)",
		[COUNT] = "a whole number in the range ",
		[BYTES] = "a size (a number, perhaps with K, M or G) in the range ",
		[WORD] = "one of ",
	};
	char range[96];
	print_range(option, range, sizeof range);
	fprintf(err, "frictiond: %s: '%s' is not %s%s", source, text, expected[option->kind], range);
	/* A Kubernetes service named frictiond puts FRICTIOND_PORT=tcp://... into every pod of its namespace. */
	if (strncmp(text, "tcp://", 6) == 0)
		fprintf(err, " (set by Kubernetes service links? give --%s, or enableServiceLinks: false)", option->name);
	fputc('\n', err);
	return SRV_EXIT_BAD;
}

static const char *default_of(const struct option *option)
{
	return option->fallback ? option->fallback : option->words;
}

static void print_option(const struct option *option, FILE *out)
{
	char left[MAX_NAME], variable[MAX_NAME], range[96];
	bool number = option->kind == COUNT || option->kind == BYTES;
	snprintf(left, sizeof left, "--%s %s", option->name, option->argument);
	environment_name(option, variable);
	print_range(option, range, sizeof range);
	fprintf(out, "  %-26s %s\n%29sdefault %s%s%s; %s\n", left, option->help, "", default_of(option), number ? "; " : "",
	        number ? range : "", variable);
}

static void print_check_help(FILE *out)
{
	fputs("Usage: frictiond check [OPTION]... FILE\n"
	      "Evaluates the request in FILE (JSON or a frame; - is standard input) and compares potential, gradient and\n"
	      "Hessian with central differences. Needs no server.\n\n"
	      "  --json                     print the answer of POST /v1/check instead of a report\n"
	      "  --help                     this text\n\n"
	      "Also takes the options of the server (frictiond --help), of which --threads, --kernels, --memory-bytes,\n"
	      "--max-json-bytes, --max-frame-bytes, --max-contacts and --max-vertices matter.\n"
	      "Exit codes: 0 agrees; 1 does not agree; 2 could not be checked: the command line, the file or the request\n"
	      "is wrong, or memory ran out.\n",
	      out);
}

static void print_health_help(FILE *out)
{
	fputs("Usage: frictiond health [OPTION]...\n"
	      "Contacts the server that has the same options on its own host and port, over TLS if it has --tls-cert, and\n"
	      "says in one line whether it is healthy. For HEALTHCHECK and exec probes.\n\n", out);
	fprintf(out, "  --ready                    ask /readyz, which fails while the server drains, instead of /healthz\n"
	             "  --%s %s        %s; default %s; %lld to %lld\n"
	             "  --help                     this text\n\n", patience.name, patience.argument, patience.help,
	        patience.fallback, patience.least, patience.most);
	fputs("Also takes the options of the server (frictiond --help), as flags, from the environment or from a file, of\n"
	      "which --host, --port, --tls-cert and --config matter. The certificate is not verified: the server asks\n"
	      "itself, and no token is sent.\n"
	      "Exit codes: 0 healthy; 1 not, or an option is wrong (Docker reserves 2).\n",
	      out);
}

static void print_help(FILE *out)
{
	fputs("Usage: frictiond [OPTION]...\n"
	      "       frictiond check [OPTION]... FILE\n"
	      "       frictiond health [OPTION]...\n"
	      "Evaluates contact friction over HTTP: POST /v1/evaluate takes a batch of contacts. With check: compares\n"
	      "the results for the request in FILE with central differences (frictiond check --help). With health: asks\n"
	      "the server with these options whether it is healthy (frictiond health --help).\n\n"
	      "Every option may also be set in the environment or in a file, as port = 80; flags take precedence over\n"
	      "the environment, and that over the file. Write --port 80 or --port=80. Sizes take K, M or G (binary).\n\n",
	      out);
	for (int i = 0; i < N_OPTIONS; i++)
		print_option(&table[i], out);
	fputs("  --print-config             the options in effect and where they come from, as a file for --config\n"
	      "  --print-openapi            the description that GET /openapi.json returns, with these options\n"
	      "  --help                     this text\n"
	      "  --version                  the version\n\n"
	      "Once ready it prints \"frictiond listening on http://HOST:PORT\" (https:// with --tls-cert); the log\n"
	      "goes to standard error. Addresses other than loopback need --tokens, or --anonymous yes.\n"
	      "SIGTERM and SIGINT drain: /readyz returns 503, requests under way are completed, exit 0; a second signal\n"
	      "ends the waiting. SIGHUP reads tokens, certificate and key again.\n"
	      "Exit codes: 0 stopped by a signal, or printed what was requested; 1 cannot run (the address is taken,\n"
	      "no memory, no threads); 2 an option is wrong (as a flag, in the environment or in the file), or the\n"
	      "tokens, certificate or key that it names.\n",
	      out);
}

static void print_markdown(FILE *out)
{
	fputs("| option | environment | default | range | meaning |\n|---|---|---|---|---|\n", out);
	for (int i = 0; i < N_OPTIONS; i++) {
		char variable[MAX_NAME], range[96];
		environment_name(&table[i], variable);
		print_range(&table[i], range, sizeof range);
		fprintf(out, "| `--%s %s` | `%s` | %s | %s | %s |\n", table[i].name, table[i].argument, variable,
		        default_of(&table[i]), range, table[i].help);
	}
}

static bool answer_question(const char *argument, enum srv_command command, FILE *out)
{
	static void (*const helps[])(FILE *) = {
		[SRV_SERVE] = print_help, [SRV_CHECK] = print_check_help, [SRV_HEALTH] = print_health_help};
	if (strcmp(argument, "--help") == 0)
		helps[command](out);
	else if (strcmp(argument, "--version") == 0)
		fputs("frictiond " FRIC_VERSION "\n", out);
	else if (strcmp(argument, "--print-options-markdown") == 0)
		print_markdown(out);
	else
		return false;
	return true;
}

/* Where the value of each option comes from. */
struct sources {
	enum { FROM_DEFAULT, FROM_FLAG, FROM_ENVIRONMENT, FROM_FILE } kind[N_OPTIONS];
	int line[N_OPTIONS]; /* of the file */
	enum { PRINTS_NOTHING, PRINTS_CONFIG, PRINTS_OPENAPI } prints; /* what was asked for last */
};

static void print_value(const struct option *option, const struct srv_options *options, FILE *out)
{
	struct srv_options copy = *options;
	const long long number = option->kind == TEXT ? 0 : *number_at(option, &copy);
	const char *words = option->words;
	char text[32];
	for (long long i = 0; option->kind == WORD && i < number; i++)
		words += strcspn(words, " ") + 1;
	if (option->kind == BYTES)
		print_bytes(number, text);
	else
		snprintf(text, sizeof text, "%lld", number);
	if (option->kind == WORD)
		fprintf(out, "%s = %.*s\n", option->name, (int)strcspn(words, ","), words);
	else
		fprintf(out, "%s = %s\n", option->name, option->kind == TEXT ? *text_at(option, &copy) : text);
}

static void print_source(int i, const struct srv_options *options, const struct sources *sources, FILE *out)
{
	char variable[MAX_NAME];
	environment_name(&table[i], variable);
	switch (sources->kind[i]) {
	case FROM_FLAG: fprintf(out, "--%s", table[i].name); break;
	case FROM_ENVIRONMENT: fputs(variable, out); break;
	case FROM_FILE: fprintf(out, "%s, line %d", options->config, sources->line[i]); break;
	case FROM_DEFAULT: fputs(table[i].fallback ? "default" : "automatic", out); break;
	}
}

/* A file cannot name another, so that its own name is a comment, as is what has no value. */
static void print_config(const struct srv_options *options, const struct sources *sources, FILE *out)
{
	fputs("# The options of frictiond " FRIC_VERSION " that are in effect, and where they come from.\n", out);
	for (int i = 0; i < N_OPTIONS; i++) {
		struct srv_options copy = *options;
		const bool none = table[i].kind == TEXT && !*text_at(&table[i], &copy);
		fprintf(out, "\n# %s\n# from: ", table[i].help);
		if (none)
			fputs("nowhere", out);
		else
			print_source(i, options, sources, out);
		fputs(none || table[i].offset == AT(config) ? "\n# " : "\n", out);
		if (none)
			fprintf(out, "%s =\n", table[i].name);
		else
			print_value(&table[i], options, out);
	}
}

struct api_service srv_service(const struct srv_options *options)
{
	return (struct api_service){.n_threads = (int)options->threads,
	                            .max_json_bytes = (size_t)options->max_json_bytes,
	                            .max_frame_bytes = (size_t)options->max_frame_bytes,
	                            .max_answer_bytes = (size_t)options->max_answer_bytes,
	                            .max_contacts = (size_t)options->max_contacts,
	                            .max_vertices = (size_t)options->max_vertices};
}

static bool print_openapi(const struct srv_options *options, FILE *out, FILE *err)
{
	const struct api_service service = srv_service(options);
	size_t bytes;
	char *text = api_describe(&service, &bytes);
	const bool ok = text;
	if (ok)
		fprintf(out, "%s\n", text);
	else
		fputs("frictiond: not enough memory\n", err);
	free(text);
	return ok;
}

/* The option of this name, n bytes; -1 if there is none. */
static int find(const char *name, size_t n)
{
	for (int i = 0; i < N_OPTIONS; i++)
		if (n == strlen(table[i].name) && strncmp(name, table[i].name, n) == 0)
			return i;
	return -1;
}

/* The one that `argument` ("--name" or "--name=value") names. */
static int find_flag(const char *argument)
{
	return strncmp(argument, "--", 2) == 0 ? find(argument + 2, strcspn(argument + 2, "=")) : -1;
}

static bool is_patience(const char *argument, const struct srv_options *options)
{
	const size_t n = strlen(patience.name);
	return options->command == SRV_HEALTH && strncmp(argument, "--", 2) == 0 &&
	       strncmp(argument + 2, patience.name, n) == 0 && (!argument[2 + n] || argument[2 + n] == '=');
}

static enum srv_start refuse_argument(const char *argument, FILE *err)
{
	const char *what = argument[0] == '-' ? "unknown option" : "unexpected argument";
	fprintf(err, "frictiond: %s '%s'; see --help\n", what, argument);
	return SRV_EXIT_BAD;
}

/* `next` is the argument behind, NULL at the end; *used tells whether it was the value. */
static enum srv_start read_flag(const struct option *option, const char *argument, const char *next, bool *used,
                                struct srv_options *options, FILE *err)
{
	char source[MAX_NAME];
	snprintf(source, sizeof source, "--%s", option->name);
	const char *equals = strchr(argument, '=');
	const char *value = equals ? equals + 1 : next;
	*used = !equals;
	if (!value) {
		fprintf(err, "frictiond: %s needs a value: %s\n", source, option->argument);
		return SRV_EXIT_BAD;
	}
	return set(option, value, options) ? SRV_START : refuse_value(option, source, value, err);
}

/* What only check or health takes. */
static bool read_operand(const char *argument, struct srv_options *options)
{
	if (options->command == SRV_HEALTH && strcmp(argument, "--ready") == 0)
		return options->ready = true;
	if (options->command != SRV_CHECK)
		return false;
	if (strcmp(argument, "--json") == 0)
		return options->json = true;
	if (options->file || (argument[0] == '-' && argument[1]))
		return false;
	options->file = argument;
	return true;
}

static bool ask_to_print(const char *argument, struct sources *sources)
{
	if (strcmp(argument, "--print-config") == 0)
		sources->prints = PRINTS_CONFIG;
	else if (strcmp(argument, "--print-openapi") == 0)
		sources->prints = PRINTS_OPENAPI;
	else
		return false;
	return true;
}

static enum srv_start read_flags(int argc, char *const *argv, struct srv_options *options, struct sources *sources,
                                 FILE *out, FILE *err)
{
	for (int i = options->command == SRV_SERVE ? 1 : 2; i < argc; i++) {
		if (answer_question(argv[i], options->command, out))
			return SRV_EXIT_OK;
		if (ask_to_print(argv[i], sources) || read_operand(argv[i], options))
			continue;
		const int which = find_flag(argv[i]);
		const struct option *option = which >= 0 ? &table[which] : is_patience(argv[i], options) ? &patience : NULL;
		if (!option)
			return refuse_argument(argv[i], err);
		bool used;
		enum srv_start start = read_flag(option, argv[i], argv[i + 1], &used, options, err);
		if (start != SRV_START)
			return start;
		if (which >= 0)
			sources->kind[which] = FROM_FLAG;
		i += used;
	}
	return SRV_START;
}

static enum srv_start read_environment(struct srv_options *options, struct sources *sources, FILE *err)
{
	for (int i = 0; i < N_OPTIONS; i++) {
		char name[MAX_NAME];
		environment_name(&table[i], name);
		const char *value = sources->kind[i] == FROM_FLAG ? NULL : getenv(name);
		if (!value || !*value)
			continue;
		if (!set(&table[i], value, options))
			return refuse_value(&table[i], name, value, err);
		sources->kind[i] = FROM_ENVIRONMENT;
	}
	return SRV_START;
}

static enum srv_start refuse_line(const char *path, const struct srv_config *config, const char *fault, FILE *err)
{
	fprintf(err, "frictiond: %s, line %d: %s\n", path, config->line, fault);
	return SRV_EXIT_BAD;
}

/* What a flag or a variable has said already is read all the same, for nothing but its faults. */
static enum srv_start read_line(const struct srv_config *config, struct srv_options *options, struct sources *sources,
                                FILE *err)
{
	char fault[2 * MAX_NAME];
	const int i = find(config->name, strlen(config->name));
	struct srv_options scratch = *options;
	if (i < 0 || table[i].offset == AT(config)) {
		snprintf(fault, sizeof fault, i < 0 ? "unknown option '%.64s'" : "%s: a file cannot name another", config->name);
		return refuse_line(options->config, config, fault, err);
	}
	if (sources->line[i]) {
		snprintf(fault, sizeof fault, "%s is there already, in line %d", table[i].name, sources->line[i]);
		return refuse_line(options->config, config, fault, err);
	}
	sources->line[i] = config->line;
	const bool is_new = sources->kind[i] == FROM_DEFAULT;
	if (is_new)
		sources->kind[i] = FROM_FILE;
	if (set(&table[i], config->value, is_new ? options : &scratch))
		return SRV_START;
	char source[PATH_MAX + MAX_NAME];
	snprintf(source, sizeof source, "%s, line %d: %s", options->config, config->line, table[i].name);
	return refuse_value(&table[i], source, config->value, err);
}

static enum srv_start read_file(struct srv_options *options, struct sources *sources, FILE *err)
{
	struct srv_config config;
	const char *fault;
	if (!options->config)
		return SRV_START;
	if (!srv_config_open(&config, options->config, &fault)) {
		fprintf(err, "frictiond: %s: %s\n", options->config, fault);
		return SRV_EXIT_BAD;
	}
	options->config_text = config.text;
	while (srv_config_next(&config, &fault)) {
		const enum srv_start start = read_line(&config, options, sources, err);
		if (start != SRV_START)
			return start;
	}
	return fault ? refuse_line(options->config, &config, fault, err) : SRV_START;
}

static long long larger(long long a, long long b)
{
	return a > b ? a : b;
}

/* Three quarters of what the connections leave, if they leave half of it. The rest is for warm memory. */
static long long automatic_memory(long long connections)
{
	const long long available = srv_available_memory();
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

static bool fits_queue(const struct srv_options *options, const char *name, long long longest, FILE *err)
{
	if (options->queue_bytes < longest)
		fprintf(err, "frictiond: --queue-bytes: %lld is less than one longest body, --%s %lld\n", options->queue_bytes, name,
		        longest);
	return options->queue_bytes >= longest;
}

static bool is_pair(const struct srv_options *options, FILE *err)
{
	const bool pair = !options->gate.tls_cert == !options->gate.tls_key;
	if (!pair)
		fprintf(err, "frictiond: --%s needs --%s\n", options->gate.tls_cert ? "tls-cert" : "tls-key",
		        options->gate.tls_cert ? "tls-key" : "tls-cert");
	return pair;
}

static bool are_origins(const char *origins, FILE *err)
{
	const char *culprit;
	int n;
	if (!origins || srv_cors_is_list(origins, &culprit, &n))
		return true;
	fprintf(err, "frictiond: --allow-origin: '%.*s' is not an origin as browsers send it, such as https://a.example: "
	             "scheme and host in lower case, no path, no port that goes without saying\n", n, culprit);
	return false;
}

static bool are_hosts(const char *hosts, FILE *err)
{
	const char *culprit;
	int n;
	if (!hosts || srv_hosts_is_list(hosts, &culprit, &n))
		return true;
	fprintf(err, "frictiond: --allow-host: '%.*s' is not a name or an address, such as a.example, a.example:8443 or "
	             "[2001:db8::1]: no scheme, no path, no *\n", n, culprit);
	return false;
}

static void settle_connections(struct srv_options *options)
{
	const long long available = srv_available_connections(options->io_threads);
	if (options->connections == 0)
		options->connections = available < 1024 ? available : 1024;
	if (options->io_threads > options->connections)
		options->io_threads = options->connections;
	if (options->connections_per_address == 0)
		options->connections_per_address = options->connections;
}

/* Automatic defaults, and what has to fit together. */
static enum srv_start settle(struct srv_options *options, FILE *err)
{
	if (options->threads == 0)
		options->threads = srv_available_cpus();
	if (options->io_threads == 0)
		options->io_threads = srv_available_cpus() < 256 ? srv_available_cpus() : 256;
	settle_connections(options);
	settle_bytes(options);
	settle_memory(options);
	return fits_queue(options, "max-json-bytes", options->max_json_bytes, err) &&
	       fits_queue(options, "max-frame-bytes", options->max_frame_bytes, err) && is_pair(options, err) &&
	       are_origins(options->gate.allow_origin, err) && are_hosts(options->gate.allow_host, err) ? SRV_START : SRV_EXIT_BAD;
}

static enum srv_start read_all(int argc, char *const *argv, struct srv_options *options, struct sources *sources,
                               FILE *out, FILE *err)
{
	enum srv_start start = read_flags(argc, argv, options, sources, out, err);
	if (start == SRV_START)
		start = read_environment(options, sources, err);
	if (start == SRV_START)
		start = read_file(options, sources, err);
	return start == SRV_START ? settle(options, err) : start;
}

static enum srv_command command_of(const char *word)
{
	return strcmp(word, "check") == 0 ? SRV_CHECK : strcmp(word, "health") == 0 ? SRV_HEALTH : SRV_SERVE;
}

enum srv_start srv_options_read(int argc, char *const *argv, struct srv_options *options, FILE *out, FILE *err)
{
	struct sources sources = {0};
	memset(options, 0, sizeof *options);
	options->pool_bytes = -1; /* 0 can be asked for */
	options->command = argc < 2 ? SRV_SERVE : command_of(argv[1]);
	set(&patience, patience.fallback, options);
	for (int i = 0; i < N_OPTIONS; i++)
		if (table[i].fallback)
			set(&table[i], table[i].fallback, options);
	enum srv_start start = read_all(argc, argv, options, &sources, out, err);
	if (start == SRV_START && sources.prints == PRINTS_CONFIG) {
		print_config(options, &sources, out);
		start = SRV_EXIT_OK;
	} else if (start == SRV_START && sources.prints == PRINTS_OPENAPI) {
		start = print_openapi(options, out, err) ? SRV_EXIT_OK : SRV_EXIT_BAD;
	} else if (start == SRV_START && options->command == SRV_CHECK && !options->file) {
		fputs("frictiond: check needs a FILE, or - for standard input; see frictiond check --help\n", err);
		start = SRV_EXIT_BAD;
	}
	if (start != SRV_START)
		srv_options_free(options);
	return start;
}

void srv_options_free(struct srv_options *options)
{
	free(options->config_text);
	options->config_text = NULL;
}

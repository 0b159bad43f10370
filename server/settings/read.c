#include "server/settings/read.h"

#include "server/settings/config.h"
#include "server/settings/print.h"
#include "server/settings/settle.h"
#include "server/settings/table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- flags ---- */

static enum srv_start refuse_value(const struct srv_option *option, const char *source, const char *text, FILE *err)
{
	static const char *const expected[] = {
		[SRV_TEXT] = "a text (not empty, no control characters, no spaces at its ends)",
		[SRV_COUNT] = "a whole number in the range ",
		[SRV_BYTES] = "a size (a number, perhaps with K, M or G) in the range ",
		[SRV_WORD] = "one of ",
		[SRV_PORT] = "a whole number in the range ",
		[SRV_MODE] = "an octal mode in the range ",
	};
	char range[SRV_OPTION_RANGE];
	srv_option_range(option, range);
	fprintf(err, "frictiond: %s: '%s' is not %s%s", source, text, expected[option->kind], range);
	/* A Kubernetes service named frictiond sets FRICTIOND_PORT=tcp://... in every pod of its namespace. */
	if (strncmp(text, "tcp://", 6) == 0)
		fprintf(err, " (set by Kubernetes service links? give --%s, or enableServiceLinks: false)", option->name);
	fputc('\n', err);
	return SRV_EXIT_BAD;
}

/* Finds the option that `argument` ("--name" or "--name=value") names. @return -1: none */
static int find_flag(const char *argument)
{
	return strncmp(argument, "--", 2) == 0 ? srv_option_find(argument + 2, strcspn(argument + 2, "=")) : -1;
}

/* The option with a value that only check or health has, if `argument` names it; or NULL. */
static const struct srv_option *find_own(const char *argument, const struct srv_options *options)
{
	const struct srv_option *own = options->command == SRV_HEALTH  ? &srv_patience
	                               : options->command == SRV_CHECK ? &srv_claims
	                                                               : NULL;
	const size_t n = own ? strlen(own->name) : 0;
	const bool is_named = own && strncmp(argument, "--", 2) == 0 && strncmp(argument + 2, own->name, n) == 0 &&
	                      (!argument[2 + n] || argument[2 + n] == '=');
	return is_named ? own : NULL;
}

static enum srv_start refuse_argument(const char *argument, FILE *err)
{
	const char *what = argument[0] == '-' ? "unknown option" : "unexpected argument";
	fprintf(err, "frictiond: %s '%s'; see --help\n", what, argument);
	return SRV_EXIT_BAD;
}

/* Reads a flag. next: the following argument, NULL at the end; *used: whether that was the value */
static enum srv_start read_flag(const struct srv_option *option, const char *argument, const char *next, bool *used,
                                struct srv_options *options, FILE *err)
{
	char source[SRV_OPTION_NAME];
	snprintf(source, sizeof source, "--%s", option->name);
	const char *equals = strchr(argument, '=');
	const char *value = equals ? equals + 1 : next;
	*used = !equals;
	if (!value) {
		fprintf(err, "frictiond: %s needs a value: %s\n", source, option->argument);
		return SRV_EXIT_BAD;
	}
	return srv_option_set(option, value, options) ? SRV_START : refuse_value(option, source, value, err);
}

/* Reads an argument that only check and health accept. */
static bool read_operand(const char *argument, struct srv_options *options)
{
	if (options->command == SRV_HEALTH && strcmp(argument, "--ready") == 0)
		return options->ready = true;
	if (options->command != SRV_CHECK)
		return false;
	if (strcmp(argument, "--json") == 0)
		return options->json = true;
	if (strcmp(argument, "--derivatives") == 0)
		return options->derivatives = true;
	if (options->file || (argument[0] == '-' && argument[1]))
		return false;
	options->file = argument;
	return true;
}

static bool ask_to_print(const char *argument, struct srv_sources *sources)
{
	if (strcmp(argument, "--print-config") == 0)
		sources->prints = SRV_PRINTS_CONFIG;
	else if (strcmp(argument, "--print-openapi") == 0)
		sources->prints = SRV_PRINTS_OPENAPI;
	else
		return false;
	return true;
}

static enum srv_start read_flags(int argc, char *const *argv, struct srv_options *options, struct srv_sources *sources,
                                 FILE *out, FILE *err)
{
	for (int i = options->command == SRV_SERVE ? 1 : 2; i < argc; i++) {
		if (srv_answer_query(argv[i], options->command, out))
			return SRV_EXIT_OK;
		if (ask_to_print(argv[i], sources) || read_operand(argv[i], options))
			continue;
		const int which = find_flag(argv[i]);
		const struct srv_option *option = which >= 0 ? &srv_options_table[which] : find_own(argv[i], options);
		if (!option)
			return refuse_argument(argv[i], err);
		bool used;
		enum srv_start start = read_flag(option, argv[i], argv[i + 1], &used, options, err);
		if (start != SRV_START)
			return start;
		if (which >= 0)
			sources->kind[which] = SRV_FROM_FLAG;
		i += used;
	}
	return SRV_START;
}

/* ---- the environment ---- */

static enum srv_start read_environment(struct srv_options *options, struct srv_sources *sources, FILE *err)
{
	for (int i = 0; i < srv_n_options; i++) {
		char name[SRV_OPTION_NAME];
		srv_option_variable(&srv_options_table[i], name);
		const char *value = sources->kind[i] == SRV_FROM_FLAG ? NULL : getenv(name);
		if (!value || !*value)
			continue;
		if (!srv_option_set(&srv_options_table[i], value, options))
			return refuse_value(&srv_options_table[i], name, value, err);
		sources->kind[i] = SRV_FROM_ENVIRONMENT;
	}
	return SRV_START;
}

/* ---- a file ---- */

static enum srv_start refuse_line(const char *path, const struct srv_config *config, const char *fault, FILE *err)
{
	fprintf(err, "frictiond: %s, line %d: %s\n", path, config->line, fault);
	return SRV_EXIT_BAD;
}

/* An option already set by a flag or a variable is parsed into a scratch copy, only to report its faults. */
static enum srv_start read_line(const struct srv_config *config, struct srv_options *options,
                                struct srv_sources *sources, FILE *err)
{
	char fault[2 * SRV_OPTION_NAME];
	const int i = srv_option_find(config->name, strlen(config->name));
	struct srv_options scratch = *options;
	if (i < 0 || srv_option_is_config(&srv_options_table[i])) {
		snprintf(fault, sizeof fault, i < 0 ? "unknown option '%.64s'" : "%s: a file cannot name another",
		         config->name);
		return refuse_line(options->config, config, fault, err);
	}
	if (sources->line[i]) {
		snprintf(fault, sizeof fault, "%s is already set in line %d", srv_options_table[i].name, sources->line[i]);
		return refuse_line(options->config, config, fault, err);
	}
	sources->line[i] = config->line;
	const bool is_new = sources->kind[i] == SRV_FROM_DEFAULT;
	if (is_new)
		sources->kind[i] = SRV_FROM_FILE;
	if (srv_option_set(&srv_options_table[i], config->value, is_new ? options : &scratch))
		return SRV_START;
	char source[PATH_MAX + SRV_OPTION_NAME];
	snprintf(source, sizeof source, "%s, line %d: %s", options->config, config->line, srv_options_table[i].name);
	return refuse_value(&srv_options_table[i], source, config->value, err);
}

static enum srv_start read_file(struct srv_options *options, struct srv_sources *sources, FILE *err)
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

/* ---- precedence ---- */

static enum srv_start read_all(int argc, char *const *argv, struct srv_options *options, struct srv_sources *sources,
                               FILE *out, FILE *err)
{
	enum srv_start start = read_flags(argc, argv, options, sources, out, err);
	if (start == SRV_START)
		start = read_environment(options, sources, err);
	if (start == SRV_START)
		start = read_file(options, sources, err);
	options->port_is_given = sources->kind[srv_option_find("port", strlen("port"))] != SRV_FROM_DEFAULT;
	return start != SRV_START ? start : srv_options_settle(options, err) ? SRV_START : SRV_EXIT_BAD;
}

static enum srv_command command_of(const char *word)
{
	return strcmp(word, "check") == 0 ? SRV_CHECK : strcmp(word, "health") == 0 ? SRV_HEALTH : SRV_SERVE;
}

enum srv_start srv_options_read(int argc, char *const *argv, struct srv_options *options, FILE *out, FILE *err)
{
	struct srv_sources sources = {0};
	memset(options, 0, sizeof *options);
	options->pool_bytes = -1; /* because 0 is a valid value */
	options->command = argc < 2 ? SRV_SERVE : command_of(argv[1]);
	srv_option_set(&srv_patience, srv_patience.fallback, options);
	for (int i = 0; i < srv_n_options; i++)
		if (srv_options_table[i].fallback)
			srv_option_set(&srv_options_table[i], srv_options_table[i].fallback, options);
	enum srv_start start = read_all(argc, argv, options, &sources, out, err);
	if (start == SRV_START && sources.prints == SRV_PRINTS_CONFIG) {
		srv_print_config(options, &sources, out);
		start = SRV_EXIT_OK;
	} else if (start == SRV_START && sources.prints == SRV_PRINTS_OPENAPI) {
		start = srv_print_openapi(options, out, err) ? SRV_EXIT_OK : SRV_EXIT_BAD;
	} else if (start == SRV_START && options->command == SRV_CHECK && !options->file) {
		fputs("frictiond: check needs a FILE, or - for standard input; see frictiond check --help\n", err);
		start = SRV_EXIT_BAD;
	}
	if (start != SRV_START)
		srv_options_free(options);
	return start;
}

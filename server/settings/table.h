/**
 * The options, one row each: the source of flags, environment variables, names in a file, --help and docs/options.md.
 */
#ifndef SERVER_TABLE_H
#define SERVER_TABLE_H

#include "server/settings/options.h"

#include <stdbool.h>
#include <stddef.h>

enum { SRV_MOST_OPTIONS = 64, SRV_OPTION_NAME = 64, SRV_OPTION_RANGE = 96, SRV_BYTES_TEXT = 32 };

/* SRV_PORT is a number, or -1 for "none". SRV_MODE is octal. */
enum srv_option_kind { SRV_TEXT, SRV_COUNT, SRV_BYTES, SRV_WORD, SRV_PORT, SRV_MODE };

struct srv_option {
	const char *name;
	const char *argument;
	enum srv_option_kind kind;
	const char *fallback; /* the default as a user would write it; NULL: automatic, 0 until srv_options_settle */
	const char *words; /* description of an automatic default; for SRV_WORD the words "a, b, c", stored by position */
	long long least, most;
	size_t offset; /* within struct srv_options */
	const char *help;
};

extern const struct srv_option srv_options_table[];
extern const int srv_n_options;
/* A flag of `frictiond health` only. */
extern const struct srv_option srv_patience, srv_claims;

/* Sources of the options read so far. */
struct srv_sources {
	enum { SRV_FROM_DEFAULT, SRV_FROM_FLAG, SRV_FROM_ENVIRONMENT, SRV_FROM_FILE } kind[SRV_MOST_OPTIONS];
	int line[SRV_MOST_OPTIONS];                                                /* within the file */
	enum { SRV_PRINTS_NOTHING, SRV_PRINTS_CONFIG, SRV_PRINTS_OPENAPI } prints; /* set by the last flag that prints */
};

/* The index of the option named [n]; -1 if there is none. */
int srv_option_find(const char *name, size_t n);
/* Whether the option is --config. */
bool srv_option_is_config(const struct srv_option *option);
/* Prints the environment variable: FRICTIOND_... */
void srv_option_variable(const struct srv_option *option, char name[SRV_OPTION_NAME]);
/* Parses a value into options. @return false if the value is invalid; options must not be used then */
bool srv_option_set(const struct srv_option *option, const char *text, struct srv_options *options);

/* The location of an option's value, for a SRV_TEXT option and for any other kind. */
const char **srv_option_text(const struct srv_option *option, struct srv_options *options);
long long *srv_option_number(const struct srv_option *option, struct srv_options *options);

/* Print the default as text, and the range of a number or the words (nothing for SRV_TEXT). */
const char *srv_option_default(const struct srv_option *option);
void srv_option_range(const struct srv_option *option, char text[SRV_OPTION_RANGE]);
/* Prints a value as a user would write it. @param kind  neither SRV_TEXT nor SRV_WORD */
void srv_option_print(enum srv_option_kind kind, long long value, char text[SRV_BYTES_TEXT]);

#endif

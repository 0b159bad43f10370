/**
 * The options, one row each: the source of flags, the environment's names, those in a file, --help and docs/options.md.
 */
#ifndef SERVER_TABLE_H
#define SERVER_TABLE_H

#include "server/settings/options.h"

#include <stdbool.h>
#include <stddef.h>

enum { SRV_MOST_OPTIONS = 64, SRV_OPTION_NAME = 64, SRV_OPTION_RANGE = 96, SRV_BYTES_TEXT = 32 };

/* A port is a count, or none: -1. A mode is octal. */
enum srv_option_kind { SRV_TEXT, SRV_COUNT, SRV_BYTES, SRV_WORD, SRV_PORT, SRV_MODE };

struct srv_option {
	const char *name;
	const char *argument;
	enum srv_option_kind kind;
	const char *fallback; /* the default as it would be written; NULL: automatic, 0 until srv_options_settle */
	const char *words;    /* what the automatic default is; of a word, "a, b, c": the value is the position */
	long long least, most;
	size_t offset; /* in struct srv_options */
	const char *help;
};

extern const struct srv_option srv_options_table[];
extern const int srv_n_options;
/* Only of `frictiond health`, and only as a flag. */
extern const struct srv_option srv_patience;

/* What was read, and from where. */
struct srv_sources {
	enum { SRV_FROM_DEFAULT, SRV_FROM_FLAG, SRV_FROM_ENVIRONMENT, SRV_FROM_FILE } kind[SRV_MOST_OPTIONS];
	int line[SRV_MOST_OPTIONS];                                                /* of the file */
	enum { SRV_PRINTS_NOTHING, SRV_PRINTS_CONFIG, SRV_PRINTS_OPENAPI } prints; /* what was asked for last */
};

/* The option of this name, [n]; -1 if there is none. */
int srv_option_find(const char *name, size_t n);
/* --config itself. */
bool srv_option_is_config(const struct srv_option *option);
/* FRICTIOND_... */
void srv_option_variable(const struct srv_option *option, char name[SRV_OPTION_NAME]);
/* Reads a value. @return false if it is not one of this option; the options are then not to be used */
bool srv_option_set(const struct srv_option *option, const char *text, struct srv_options *options);

/* Where the value of a text is, or that of any other kind. */
const char **srv_option_text(const struct srv_option *option, struct srv_options *options);
long long *srv_option_number(const struct srv_option *option, struct srv_options *options);

/* As text: the default; the range of a number, or the words (nothing for a text). */
const char *srv_option_default(const struct srv_option *option);
void srv_option_range(const struct srv_option *option, char text[SRV_OPTION_RANGE]);
/* A value as it would be written. @param kind  neither text nor word */
void srv_option_print(enum srv_option_kind kind, long long value, char text[SRV_BYTES_TEXT]);

#endif

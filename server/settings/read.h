/** Reads options from flags, the environment and a file, by the names of one table. */
#ifndef SERVER_READ_H
#define SERVER_READ_H

#include "server/settings/options.h"

#include <stdio.h>

enum srv_start {
	SRV_START,    /* options are complete; none is "automatic" any more */
	SRV_EXIT_OK,  /* --help or a similar flag was handled */
	SRV_EXIT_BAD, /* a line on err names the fault */
};

/**
 * Flags take precedence over the environment, the environment over the file, and the file over the defaults. A variable
 * whose flag is given is not read; an empty one counts as absent. The whole file is always checked.
 * @param options  must be freed after SRV_START
 * @param out  receives the output of --help, --version, --print-config, --print-openapi and --print-options-markdown
 * @param err  receives the fault
 */
enum srv_start srv_options_read(int argc, char *const *argv, struct srv_options *options, FILE *out, FILE *err);

#endif

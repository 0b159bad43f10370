/** Reads options: flags, the environment, a file, by the names of one table. */
#ifndef SERVER_READ_H
#define SERVER_READ_H

#include "server/settings/options.h"

#include <stdio.h>

enum srv_start {
	SRV_START,    /* options are complete: nothing is left at "automatic" */
	SRV_EXIT_OK,  /* --help or the like was printed */
	SRV_EXIT_BAD, /* a line on err names the culprit */
};

/**
 * Flags take precedence over the environment, that over the file, and that over the defaults. A variable whose flag is
 * given is not read; an empty one counts as absent. The whole file is checked.
 * @param options  to be freed after SRV_START
 * @param out  where --help, --version, --print-config, --print-openapi and --print-options-markdown print
 * @param err  where the fault is named
 */
enum srv_start srv_options_read(int argc, char *const *argv, struct srv_options *options, FILE *out, FILE *err);

#endif

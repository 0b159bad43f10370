/** Prints options: --help, the generated page of the docs, the options in effect. */
#ifndef SERVER_PRINT_H
#define SERVER_PRINT_H

#include "server/settings/table.h"

#include <stdio.h>

/* Handles --help, --version and similar flags. @return false if the argument is none of these */
bool srv_answer_query(const char *argument, enum srv_command command, FILE *out);

/* Prints the options in effect as a file for --config. */
void srv_print_config(const struct srv_options *options, const struct srv_sources *sources, FILE *out);
/* @return false if memory runs out, which is reported on err */
bool srv_print_openapi(const struct srv_options *options, FILE *out, FILE *err);

#endif

/** What can be printed of options: help, the page of the docs, the options in effect. */
#ifndef SERVER_PRINT_H
#define SERVER_PRINT_H

#include "server/settings/table.h"

#include <stdio.h>

/* --help, --version and the like. @return false if the argument is none of these */
bool srv_answer_question(const char *argument, enum srv_command command, FILE *out);

/* As a file for --config. */
void srv_print_config(const struct srv_options *options, const struct srv_sources *sources, FILE *out);
/* @return false when there is not enough memory; err says so */
bool srv_print_openapi(const struct srv_options *options, FILE *out, FILE *err);

#endif

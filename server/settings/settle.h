/** Automatic defaults, and what has to fit together. */
#ifndef SERVER_SETTLE_H
#define SERVER_SETTLE_H

#include "server/settings/options.h"

#include <stdio.h>

/* To be called when everything that was given has been read. @return false with the culprit named on err */
bool srv_options_settle(struct srv_options *options, FILE *err);

#endif

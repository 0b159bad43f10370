/** Sets automatic defaults and checks that options are consistent. */
#ifndef SERVER_SETTLE_H
#define SERVER_SETTLE_H

#include "server/settings/options.h"

#include <stdio.h>

/* Call it after all sources have been read. @return false after a fault, which is reported on err */
bool srv_options_settle(struct srv_options *options, FILE *err);

#endif

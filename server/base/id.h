/** Identifiers of requests and of trace spans. */
#ifndef SERVER_ID_H
#define SERVER_ID_H

#include <stdbool.h>

enum { SRV_MAX_ID = 128 };

/* Whether an id consists of 1 to SRV_MAX_ID characters of A-Z a-z 0-9 . _ - : / + = @ */
bool srv_sane_id(const char *id);
/* Makes an id of 32 random hexadecimal digits. */
void srv_new_id(char id[SRV_MAX_ID + 1]);

#endif

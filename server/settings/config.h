/**
 * A file of options. Each line is `name = value`, empty, or a comment that begins with #. Spaces around name and value
 * are ignored; the value extends to the end of the line, including any #. The parser does not interpret the names.
 */
#ifndef SERVER_CONFIG_H
#define SERVER_CONFIG_H

#include <stdbool.h>

enum { SRV_MAX_CONFIG = 64 << 10 }; /* longest file in bytes */

struct srv_config {
	char *text; /* malloc'd; names and values point into it and share its lifetime */
	char *rest; /* used by the parser only */
	int line;   /* line number of the current name and value, from 1 */
	const char *name, *value;
};

/**
 * @param fault  set to a description of the fault; static or from strerror
 * @return false if the file cannot be read, is too long, or is not text; nothing needs to be freed then
 */
bool srv_config_open(struct srv_config *config, const char *path, const char **fault);

/**
 * Advances to the next line that is neither empty nor a comment.
 * @param fault  NULL at the end of the file, else the fault in line `line`
 * @return false at the end or at a fault
 */
bool srv_config_next(struct srv_config *config, const char **fault);

#endif

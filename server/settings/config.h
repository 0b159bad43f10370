/**
 * A file of options: a line is `name = value`, empty, or a comment, if its first character is #. Spaces around name and
 * value do not count; the value extends to the end of the line, including any #. What the names mean is not known here.
 */
#ifndef SERVER_CONFIG_H
#define SERVER_CONFIG_H

#include <stdbool.h>

enum { SRV_MAX_CONFIG = 64 << 10 }; /* bytes of a file */

struct srv_config {
	char *text; /* malloc'd; names and values point into it, and are valid as long as this is */
	char *rest; /* private */
	int line;   /* of name and value, from 1 */
	const char *name, *value;
};

/**
 * @param fault  set to what is wrong, in words; static or of strerror
 * @return false if the file cannot be read, is too long, or is not text; then nothing has to be freed
 */
bool srv_config_open(struct srv_config *config, const char *path, const char **fault);

/**
 * The next line that is neither empty nor a comment.
 * @param fault  NULL at the end of the file, else what is wrong with line `line`
 * @return false at the end or at a fault
 */
bool srv_config_next(struct srv_config *config, const char **fault);

#endif

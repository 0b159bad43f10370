/** Small files that options name: tokens, certificates, keys. */
#ifndef SERVER_FILE_H
#define SERVER_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct srv_file {
	char *bytes; /* [n], and then a 0 */
	size_t n;
	bool for_everybody; /* every user of the machine may read or write it */
};

/**
 * A regular file, in whole; a FIFO or a device is refused rather than waited for.
 * @param most     longest file in bytes
 * @param message  on failure what is wrong, beginning with the path
 */
bool srv_file_read(const char *path, size_t most, struct srv_file *file, char *message, size_t message_bytes);
/* Overwrites what was read: it may be secret. */
void srv_file_free(struct srv_file *file);

#endif

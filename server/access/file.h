/** Reads the small files that options name: tokens, certificates, keys. */
#ifndef SERVER_FILE_H
#define SERVER_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct srv_file {
	char *bytes; /* [n], followed by a 0 */
	size_t n;
	bool for_everybody; /* every user of the machine may read or write the file */
};

/**
 * Reads a regular file whole. A FIFO or a device is refused, because reading it could block.
 * @param most     longest file in bytes
 * @param message  on failure the fault, beginning with the path
 */
bool srv_file_read(const char *path, size_t most, struct srv_file *file, char *message, size_t message_bytes);
/* Overwrites the contents, which may be secret, and frees them. */
void srv_file_free(struct srv_file *file);

#endif

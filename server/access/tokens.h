/**
 * Bearer tokens (RFC 6750), by which clients are known. They come from a file of lines "name token", with empty lines
 * and comments (#) between them; only keyed hashes are kept, and all of them are compared in constant time. Safe from
 * any thread.
 */
#ifndef SERVER_TOKENS_H
#define SERVER_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

enum {
	SRV_TOKEN_NAME = 64,  /* characters A-Z a-z 0-9 . _ - */
	SRV_TOKEN_LEAST = 16, /* printable ASCII characters without space */
	SRV_TOKEN_MOST = 512,
	SRV_TOKENS_MOST = 1024, /* of a file */
	SRV_TOKENS_BYTES = 1 << 20,
	SRV_TOKENS_MESSAGE = 512,
};

struct srv_tokens;

enum srv_bearer {
	SRV_BEARER_NONE, /* no token was presented */
	SRV_BEARER_WRONG,
	SRV_BEARER_KNOWN,
};

/**
 * @param path     copied; a regular file
 * @param message  on failure what is wrong, with the line but never with a token; else a warning, or empty
 * @return NULL on failure
 */
struct srv_tokens *srv_tokens_open(const char *path, char message[SRV_TOKENS_MESSAGE]);
/* Reads the file again. On failure everything stays as it was. */
bool srv_tokens_reload(struct srv_tokens *tokens, char message[SRV_TOKENS_MESSAGE]);
size_t srv_tokens_count(const struct srv_tokens *tokens);

/**
 * @param authorization  value of the header, or NULL
 * @param name           whose token it is; empty unless it is known
 */
enum srv_bearer srv_tokens_check(const struct srv_tokens *tokens, const char *authorization,
                                 char name[SRV_TOKEN_NAME + 1]);

/* NULL is allowed. */
void srv_tokens_close(struct srv_tokens *tokens);

#endif

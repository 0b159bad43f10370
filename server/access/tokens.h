/**
 * Bearer tokens (RFC 6750), which identify clients. They are read from a file with lines "name token", empty lines and
 * comments (#). Only keyed hashes are kept, and all of them are compared in constant time. Safe from any thread.
 */
#ifndef SERVER_TOKENS_H
#define SERVER_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

enum {
	SRV_TOKEN_NAME = 64,  /* characters A-Z a-z 0-9 . _ - */
	SRV_TOKEN_LEAST = 16, /* printable ASCII characters without space */
	SRV_TOKEN_MOST = 512,
	SRV_TOKENS_MOST = 1024, /* per file */
	SRV_TOKENS_BYTES = 1 << 20,
	SRV_TOKENS_MESSAGE = 512,
};

struct srv_tokens;

enum srv_bearer {
	SRV_BEARER_NONE, /* the request carried no token */
	SRV_BEARER_WRONG,
	SRV_BEARER_KNOWN,
};

/**
 * @param path     copied; a regular file
 * @param message  on failure the fault, with its line number but never with a token; otherwise a warning, or empty
 * @return NULL on failure
 */
struct srv_tokens *srv_tokens_open(const char *path, char message[SRV_TOKENS_MESSAGE]);
/* Reads the file again. On failure the previous tokens stay in effect. */
bool srv_tokens_reload(struct srv_tokens *tokens, char message[SRV_TOKENS_MESSAGE]);
size_t srv_tokens_count(const struct srv_tokens *tokens);

/**
 * @param authorization  value of the header, or NULL
 * @param name           set to the token's name; empty if the token is unknown
 */
enum srv_bearer srv_tokens_check(const struct srv_tokens *tokens, const char *authorization,
                                 char name[SRV_TOKEN_NAME + 1]);

/* Frees the tokens. tokens may be NULL. */
void srv_tokens_close(struct srv_tokens *tokens);

#endif

#include "server/access/tokens.h"

#include "server/access/file.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HASH_BYTES = 32 };
#define NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
#define SPACE " \t\r"

struct entry {
	char name[SRV_TOKEN_NAME + 1];
	unsigned char hash[HASH_BYTES];
};

struct table {
	size_t n;
	struct entry entries[SRV_TOKENS_MOST];
};

struct srv_tokens {
	pthread_rwlock_t lock; /* protects table, which a reload replaces */
	struct table *table;
	unsigned char key[HASH_BYTES]; /* random per process, which makes the hashes useless elsewhere */
	char path[];
};

/* ---- the file ---- */

struct reading {
	const struct srv_tokens *tokens;
	struct table *table;
	const char *path;
	unsigned line;
	char *message;
};

__attribute__((format(printf, 2, 3))) static bool refuse(const struct reading *reading, const char *format, ...)
{
	char what[SRV_TOKENS_MESSAGE / 2];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(what, sizeof what, format, arguments);
	va_end(arguments);
	snprintf(reading->message, SRV_TOKENS_MESSAGE, "%.200s:%u: %s", reading->path, reading->line, what);
	return false;
}

static bool hash(const struct srv_tokens *tokens, const char *token, size_t n, unsigned char out[HASH_BYTES])
{
	return gnutls_hmac_fast(GNUTLS_MAC_SHA256, tokens->key, sizeof tokens->key, token, n, out) == 0;
}

static bool is_name(const char *name, size_t n)
{
	return n >= 1 && n <= SRV_TOKEN_NAME && strspn(name, NAME_CHARACTERS) >= n;
}

static bool is_printable(const char *token, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (token[i] <= 0x20 || token[i] >= 0x7f)
			return false;
	return true;
}

static bool check_token(const struct reading *reading, const char *name, const char *token, size_t n)
{
	if (!is_printable(token, n))
		return refuse(reading, "the token of '%s' contains a character that is not printable ASCII", name);
	if (n < SRV_TOKEN_LEAST)
		return refuse(reading, "the token of '%s' is shorter than %d characters", name, SRV_TOKEN_LEAST);
	if (n > SRV_TOKEN_MOST)
		return refuse(reading, "the token of '%s' is longer than %d characters", name, SRV_TOKEN_MOST);
	return true;
}

static bool is_new(const struct reading *reading, const struct entry *entry)
{
	for (size_t i = 0; i < reading->table->n; i++) {
		const struct entry *other = &reading->table->entries[i];
		if (strcmp(other->name, entry->name) == 0)
			return refuse(reading, "a token named '%s' already exists", entry->name);
		if (memcmp(other->hash, entry->hash, sizeof entry->hash) == 0)
			return refuse(reading, "the token of '%s' is the same as that of '%s'", entry->name, other->name);
	}
	return true;
}

static bool add(struct reading *reading, const char *name, size_t name_bytes, const char *token, size_t n)
{
	struct table *table = reading->table;
	if (!is_name(name, name_bytes))
		return refuse(reading, "a name has 1 to %d characters of A-Z a-z 0-9 . _ -", SRV_TOKEN_NAME);
	if (table->n == SRV_TOKENS_MOST)
		return refuse(reading, "there are more than %d tokens", SRV_TOKENS_MOST);
	struct entry *entry = &table->entries[table->n];
	memcpy(entry->name, name, name_bytes);
	entry->name[name_bytes] = '\0';
	if (!check_token(reading, entry->name, token, n))
		return false;
	if (!hash(reading->tokens, token, n, entry->hash))
		return refuse(reading, "the hash of the token of '%s' cannot be computed", entry->name);
	if (!is_new(reading, entry))
		return false;
	table->n++;
	return true;
}

/* line: ends in a NUL */
static bool read_line(struct reading *reading, const char *line)
{
	const char *name = line + strspn(line, SPACE);
	const size_t name_bytes = strcspn(name, SPACE);
	const char *token = name + name_bytes + strspn(name + name_bytes, SPACE);
	const size_t n = strcspn(token, SPACE);
	if (name_bytes == 0 || *name == '#')
		return true;
	if (n == 0 || token[n + strspn(token + n, SPACE)] != '\0')
		return refuse(reading, "a line is a name and a token");
	return add(reading, name, name_bytes, token, n);
}

static bool read_lines(struct reading *reading, struct srv_file *file)
{
	char *const end = file->bytes + file->n;
	for (char *line = file->bytes; line < end;) {
		reading->line++;
		char *newline = memchr(line, '\n', (size_t)(end - line));
		char *next = newline ? newline : end;
		*next = '\0';
		if (strlen(line) != (size_t)(next - line))
			return refuse(reading, "the line contains a zero byte");
		if (!read_line(reading, line))
			return false;
		line = next + 1;
	}
	return true;
}

static bool read_table(struct reading *reading)
{
	struct srv_file file;
	if (!srv_file_read(reading->path, SRV_TOKENS_BYTES, &file, reading->message, SRV_TOKENS_MESSAGE))
		return false;
	bool ok = read_lines(reading, &file);
	if (ok && file.for_everybody)
		snprintf(reading->message, SRV_TOKENS_MESSAGE, "%.200s: everybody on this machine may read or write it",
		         reading->path);
	srv_file_free(&file);
	if (ok && reading->table->n == 0) {
		snprintf(reading->message, SRV_TOKENS_MESSAGE, "%.200s: there is no token in it", reading->path);
		ok = false;
	}
	return ok;
}

static void free_table(struct table *table)
{
	if (table)
		explicit_bzero(table, sizeof *table);
	free(table);
}

/* @return NULL on failure */
static struct table *load(const struct srv_tokens *tokens, char *message)
{
	struct reading reading = {.tokens = tokens, .path = tokens->path, .message = message};
	*message = '\0';
	reading.table = calloc(1, sizeof *reading.table);
	if (reading.table && read_table(&reading))
		return reading.table;
	if (!reading.table)
		snprintf(message, SRV_TOKENS_MESSAGE, "%.200s: no memory", tokens->path);
	free_table(reading.table);
	return NULL;
}

/* ---- open, reload, close ---- */

/* Prefers the writer, because a steady stream of checks must not starve a reload. */
static bool init_lock(pthread_rwlock_t *lock)
{
	pthread_rwlockattr_t attributes;
	pthread_rwlockattr_init(&attributes);
	pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	const bool ok = pthread_rwlock_init(lock, &attributes) == 0;
	pthread_rwlockattr_destroy(&attributes);
	return ok;
}

struct srv_tokens *srv_tokens_open(const char *path, char message[SRV_TOKENS_MESSAGE])
{
	const size_t path_bytes = strlen(path) + 1;
	struct srv_tokens *tokens = calloc(1, sizeof *tokens + path_bytes);
	if (!tokens || !init_lock(&tokens->lock)) {
		free(tokens);
		snprintf(message, SRV_TOKENS_MESSAGE, "%.200s: no memory", path);
		return NULL;
	}
	memcpy(tokens->path, path, path_bytes);
	if (gnutls_rnd(GNUTLS_RND_KEY, tokens->key, sizeof tokens->key) == 0)
		tokens->table = load(tokens, message);
	else
		snprintf(message, SRV_TOKENS_MESSAGE, "%.200s: no random numbers for the key of the hashes", path);
	if (tokens->table)
		return tokens;
	srv_tokens_close(tokens);
	return NULL;
}

bool srv_tokens_reload(struct srv_tokens *tokens, char message[SRV_TOKENS_MESSAGE])
{
	struct table *table = load(tokens, message);
	if (!table)
		return false;
	pthread_rwlock_wrlock(&tokens->lock);
	struct table *old = tokens->table;
	tokens->table = table;
	pthread_rwlock_unlock(&tokens->lock);
	free_table(old);
	return true;
}

void srv_tokens_close(struct srv_tokens *tokens)
{
	if (!tokens)
		return;
	free_table(tokens->table);
	pthread_rwlock_destroy(&tokens->lock);
	explicit_bzero(tokens->key, sizeof tokens->key);
	free(tokens);
}

/* The lock is not part of the observable state, so functions that take a const srv_tokens may lock it. */
static const struct table *lock(const struct srv_tokens *tokens)
{
	pthread_rwlock_rdlock((pthread_rwlock_t *)&tokens->lock);
	return tokens->table;
}

static void unlock(const struct srv_tokens *tokens)
{
	pthread_rwlock_unlock((pthread_rwlock_t *)&tokens->lock);
}

size_t srv_tokens_count(const struct srv_tokens *tokens)
{
	const size_t n = lock(tokens)->n;
	unlock(tokens);
	return n;
}

/* ---- check ---- */

/* Returns 1 or 0 without a branch that depends on the hashes. Compares eight bytes at a time, because there may be a
 * thousand hashes. */
static size_t same(const unsigned char a[HASH_BYTES], const unsigned char b[HASH_BYTES])
{
	uint64_t of_a[HASH_BYTES / 8], of_b[HASH_BYTES / 8], difference = 0;
	memcpy(of_a, a, sizeof of_a);
	memcpy(of_b, b, sizeof of_b);
	for (int i = 0; i < HASH_BYTES / 8; i++)
		difference |= of_a[i] ^ of_b[i];
	return 1 ^ (size_t)((difference | (0 - difference)) >> 63);
}

/* Compares with every entry, so that timing does not reveal which one matched. */
static enum srv_bearer look_up(const struct table *table, const unsigned char presented[HASH_BYTES],
                               char name[SRV_TOKEN_NAME + 1])
{
	size_t found = 0;
	for (size_t i = 0; i < table->n; i++)
		found |= (i + 1) & (0 - same(table->entries[i].hash, presented));
	if (found)
		strcpy(name, table->entries[found - 1].name);
	return found ? SRV_BEARER_KNOWN : SRV_BEARER_WRONG;
}

enum srv_bearer srv_tokens_check(const struct srv_tokens *tokens, const char *authorization,
                                 char name[SRV_TOKEN_NAME + 1])
{
	static const char scheme[] = "Bearer";
	unsigned char presented[HASH_BYTES];
	const char *token = authorization ? authorization + strcspn(authorization, SPACE) : NULL;
	*name = '\0';
	if (!token || token != authorization + sizeof scheme - 1 ||
	    strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
		return SRV_BEARER_NONE;
	token += strspn(token, SPACE);
	const size_t n = strcspn(token, SPACE);
	if (n < SRV_TOKEN_LEAST || n > SRV_TOKEN_MOST || token[n + strspn(token + n, SPACE)] != '\0')
		return SRV_BEARER_WRONG;
	if (!hash(tokens, token, n, presented))
		return SRV_BEARER_WRONG;
	const enum srv_bearer bearer = look_up(lock(tokens), presented, name);
	unlock(tokens);
	return bearer;
}

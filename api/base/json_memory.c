#include "api/base/json_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/base/account.h"

enum { LEAST_BLOCK = 16 << 10, MOST_BLOCK = 2 << 20 };

/* Precedes each node in memory. */
struct header {
	struct api_json_memory *trees; /* NULL: malloc'd */
	size_t bytes;                  /* size of header and node together */
};
_Static_assert(sizeof(struct header) == API_JSON_MEMORY_STEP, "the memory behind it is aligned for any type");

static _Thread_local struct api_json_memory *current __attribute__((tls_model("initial-exec")));

/* Runs before jansson allocates anything, because one allocator cannot free what another has allocated. */
__attribute__((constructor)) static void take_over(void)
{
	json_set_alloc_funcs(api_json_memory_take, api_json_memory_give);
}

void api_json_memory_open(struct api_json_memory *trees, struct api_pool *pool)
{
	trees->arena = (struct api_arena){.pool = pool};
	trees->at = trees->first;
	trees->left = sizeof(trees->first);
	trees->arena_bytes = 0;
	memset(trees->free, 0, sizeof(trees->free));
	current = trees;
}

void api_json_memory_close(struct api_json_memory *trees)
{
	current = NULL;
	if (trees->arena_bytes)
		api_arena_free(&trees->arena);
}

struct api_json_memory *api_json_memory_pause(void)
{
	struct api_json_memory *trees = current;
	current = NULL;
	return trees;
}

void api_json_memory_resume(struct api_json_memory *trees)
{
	current = trees;
}

static bool is_among_others(size_t bytes)
{
	return !API_POOL_EMULATED && bytes <= API_JSON_MEMORY_LONGEST;
}

/* With the emulated pool, nodes get exactly the requested size. */
static size_t round_up(size_t bytes)
{
	return API_POOL_EMULATED ? bytes : (bytes + API_JSON_MEMORY_STEP - 1) / API_JSON_MEMORY_STEP * API_JSON_MEMORY_STEP;
}

/* Blocks grow with the tree, so that there are few and none is much larger than its contents. The rest of the last
 * block, less than a node, is wasted. */
static bool add_block(struct api_json_memory *trees)
{
	size_t bytes = trees->arena_bytes / 4;
	bytes = bytes < LEAST_BLOCK ? LEAST_BLOCK : bytes > MOST_BLOCK ? MOST_BLOCK : bytes;
	char *block = api_account_is_stopped() ? NULL : api_arena_array(&trees->arena, bytes, 1);
	if (!block)
		return false;
	trees->arena_bytes += bytes;
	trees->at = block;
	trees->left = bytes;
	return true;
}

static void *cut(struct api_json_memory *trees, size_t bytes)
{
	if (bytes > trees->left && !add_block(trees))
		return NULL;
	void *node = trees->at;
	trees->at += bytes;
	trees->left -= bytes;
	return node;
}

static struct header *take_among_others(struct api_json_memory *trees, size_t bytes)
{
	void **place = &trees->free[bytes / API_JSON_MEMORY_STEP];
	struct header *header = *place;
	if (!header)
		return cut(trees, bytes);
	memcpy(place, header + 1, sizeof(*place));
	return header;
}

static struct header *take_apart(const struct api_json_memory *trees, size_t bytes)
{
	if (!trees)
		return malloc(bytes);
	return api_account_is_stopped() ? NULL : api_pool_take(trees->arena.pool, bytes);
}

void *api_json_memory_take(size_t bytes)
{
	struct api_json_memory *trees = current;
	if (bytes > SIZE_MAX / 2)
		return NULL;
	const size_t taken = round_up(bytes ? bytes : 1) + sizeof(struct header);
	struct header *header = trees && is_among_others(taken) ? take_among_others(trees, taken)
	                                                        : take_apart(trees, taken);
	if (!header)
		return NULL;
	*header = (struct header){trees, taken};
	return header + 1;
}

void api_json_memory_give(void *node)
{
	struct header *header = node ? (struct header *)node - 1 : NULL;
	if (!header || !header->trees) {
		free(header);
	} else if (is_among_others(header->bytes)) {
		void **place = &header->trees->free[header->bytes / API_JSON_MEMORY_STEP];
		memcpy(node, place, sizeof(*place));
		*place = header;
	} else {
		api_pool_give(header->trees->arena.pool, header, header->bytes);
	}
}

char *api_json_print(const json_t *root, size_t flags, size_t *bytes)
{
	*bytes = json_dumpb(root, NULL, 0, flags);
	char *text = *bytes ? malloc(*bytes + 1) : NULL;
	if (text && json_dumpb(root, text, *bytes, flags) != *bytes) {
		free(text);
		return NULL;
	}
	if (text)
		text[*bytes] = '\0';
	return text;
}

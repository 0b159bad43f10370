#include "core/assemble/neighbours.h"

#include <string.h>

#include "core/base/inline.h"
#include "core/base/memory.h"
#include "core/base/vectors.h"

void fricp_neighbour_search_open(struct neighbour_search *search, const struct fric_memory *memory,
                                 enum fric_triangle triangle, size_t n_vertices)
{
	search->memory = memory;
	search->triangle = triangle;
	search->n_vertices = n_vertices;
	search->capacity = SEARCH_SMALL;
	search->mask = 2 * SEARCH_SMALL - 1;
	search->table = search->small_table;
	search->keys = search->small_keys;
	search->found = search->small_found;
	search->ranks = search->small_ranks;
	search->block = NULL;
	search->block_bytes = 0;
	memset(search->small_table, 0, sizeof(search->small_table));
	search->small_table[2 * SEARCH_SMALL] = (struct seen){0, PATTERN_NOWHERE};
}

void fricp_neighbour_search_close(struct neighbour_search *search)
{
	memory_give(search->memory, search->block, search->block_bytes);
}

static bool reserve(struct neighbour_search *search, size_t degree)
{
	const size_t candidates = degree * FRIC_MAX_STENCIL;
	const size_t n = candidates < search->n_vertices ? candidates : search->n_vertices;
	if (n <= search->capacity)
		return true;
	size_t size = search->mask + 1;
	while (size < 2 * n)
		size *= 2;
	const size_t keys_bytes = size * sizeof(uint64_t), table_bytes = (size + 1) * sizeof(struct seen);
	const size_t found_bytes = (size / 2 + SEARCH_SPARE) * sizeof(int32_t), ranks_bytes = found_bytes + sizeof(int32_t);
	const size_t bytes = keys_bytes + table_bytes + found_bytes + ranks_bytes;
	char *block = memory_take(search->memory, bytes);
	if (!block)
		return false;
	memory_give(search->memory, search->block, search->block_bytes);
	search->block = block;
	search->block_bytes = bytes;
	search->keys = (uint64_t *)(void *)block;
	search->table = memset(block + keys_bytes, 0, table_bytes);
	search->table[size] = (struct seen){0, PATTERN_NOWHERE};
	search->found = (int32_t *)(void *)(block + keys_bytes + table_bytes);
	search->ranks = (uint32_t *)(void *)(block + keys_bytes + table_bytes + found_bytes);
	search->capacity = size / 2;
	search->mask = size - 1;
	return true;
}

/* The vertices that lie in the triangle: `lowest` and the next `above` ones. */
struct range {
	int32_t lowest;
	uint32_t above;
};

static struct range range_of(enum fric_triangle triangle, int32_t v)
{
	const int32_t lowest = triangle == FRIC_UPPER ? v : 0, highest = triangle == FRIC_LOWER ? v : INT32_MAX;
	return (struct range){lowest, (uint32_t)(highest - lowest)};
}

INLINE size_t slot_of(const struct neighbour_search *search, int32_t w)
{
	return (size_t)(((uint32_t)w * 0x9E3779B97F4A7C15u) >> 24) & search->mask;
}

INLINE uint64_t key_of(uint32_t stamp, int32_t w)
{
	return (uint64_t)stamp << 32 | (uint32_t)w;
}

/* Does not branch on whether a candidate is new, which is as good as random; only hash collisions branch.
 * @return the candidate's place in the order of first appearance */
INLINE uint32_t place_of(const struct neighbour_search *search, uint32_t stamp, struct range range, int32_t w,
                         size_t *n)
{
	const bool here = (uint32_t)w - (uint32_t)range.lowest <= range.above; /* false for PATTERN_NOWHERE */
	const uint64_t key = here ? key_of(stamp, w) : 0;
	size_t at = slot_of(search, w);
	struct seen *entry = &search->table[here ? at : search->mask + 1];
	while (__builtin_expect((entry->key ^ key) - 1 < UINT32_MAX, 0)) /* same stamp, another vertex */
		entry = &search->table[at = (at + 1) & search->mask];
	const bool is_new = entry->key != key;
	const uint32_t old = entry->place, place = old ^ ((old ^ (uint32_t)*n) & -(uint32_t)is_new); /* gcc would branch */
	*entry = (struct seen){key, place};
	search->found[*n] = w; /* the next candidate overwrites it if it is not new */
	*n += is_new;
	return place;
}

/* Every stencil contains v, so v comes first, and only the other members are looked up. */
static size_t collect(const struct neighbour_search *search, int32_t v, struct incidence *incidences, size_t degree)
{
	const struct range range = range_of(search->triangle, v);
	const uint32_t stamp = (uint32_t)v + 1;
	size_t n = 1;
	search->found[0] = v;
	search->table[slot_of(search, v)] = (struct seen){key_of(stamp, v), 0};
	for (struct incidence *e = incidences; e < incidences + degree; e++) {
		UNROLL
		for (int j = 0; j < N_OTHERS; j++)
			e->place[j] = place_of(search, stamp, range, (int32_t)e->place[j], &n);
	}
	return n;
}

/* Ranks the first n entries of 4*n_int4. A vertex's rank is the number of smaller vertices. */
INLINE void rank_by_counting(const int32_t *found, size_t n, size_t n_int4, uint32_t *ranks)
{
	int4 key[SEARCH_COUNTED / 4], rank[SEARCH_COUNTED / 4];
	UNROLL
	for (size_t q = 0; q < n_int4; q++) {
		memcpy(&key[q], found + 4 * q, sizeof(int4));
		rank[q] = (int4){0};
	}
	for (size_t i = 0; i < n; i++) {
		const int4 smaller = {found[i], found[i], found[i], found[i]};
		UNROLL
		for (size_t q = 0; q < n_int4; q++)
			rank[q] -= key[q] > smaller;
	}
	memcpy(ranks, rank, n_int4 * sizeof(int4));
}

static void rank_few(const struct neighbour_search *search, size_t n)
{
	uint32_t *ranks = search->ranks + 1;
	if (n <= 8) {
		for (size_t i = n; i < 8; i++)
			search->found[i] = INT32_MAX;
		rank_by_counting(search->found, 8, 2, ranks);
	} else if (n <= 16)
		rank_by_counting(search->found, n, 4, ranks);
	else if (n <= 32)
		rank_by_counting(search->found, n, 8, ranks);
	else
		rank_by_counting(search->found, n, SEARCH_COUNTED / 4, ranks);
}

/* Stable counting sort of keys by one byte. @return false if all keys have the same byte and `out` is untouched */
static bool sort_by_byte(const uint64_t *keys, size_t n, int shift, uint64_t *out)
{
	size_t next[257] = {0};
	for (size_t i = 0; i < n; i++)
		next[(keys[i] >> shift & 255) + 1]++;
	if (next[(keys[0] >> shift & 255) + 1] == n)
		return false;
	for (int b = 0; b < 255; b++)
		next[b + 1] += next[b];
	for (size_t i = 0; i < n; i++)
		out[next[keys[i] >> shift & 255]++] = keys[i];
	return true;
}

/* Sorts keys of a vertex and its place; the order of the vertices gives the rank of each place. */
static void rank_by_sorting(const struct neighbour_search *search, size_t n)
{
	uint64_t *keys = search->keys, *other = search->keys + search->capacity;
	for (size_t i = 0; i < n; i++)
		keys[i] = (uint64_t)search->found[i] << 32 | i;
	for (int shift = 32; shift < 64; shift += 8)
		if (sort_by_byte(keys, n, shift, other)) {
			uint64_t *sorted = other;
			other = keys;
			keys = sorted;
		}
	for (size_t i = 0; i < n; i++)
		search->ranks[1 + (keys[i] & UINT32_MAX)] = (uint32_t)i;
}

static void rank_places(const uint32_t *ranks, struct incidence *incidences, size_t degree)
{
	for (struct incidence *e = incidences; e < incidences + degree; e++) {
		UNROLL
		for (int j = 0; j < N_OTHERS; j++)
			e->place[j] = ranks[e->place[j] + 1u]; /* PATTERN_NOWHERE + 1 is 0 */
	}
}

bool fricp_neighbour_search_run(struct neighbour_search *search, int32_t v, struct incidence *incidences, size_t degree,
                                int32_t *list, size_t *n, uint32_t *diagonal)
{
	if (!reserve(search, degree))
		return false;
	*n = collect(search, v, incidences, degree);
	search->ranks[0] = PATTERN_NOWHERE;
	if (*n <= SEARCH_COUNTED)
		rank_few(search, *n);
	else
		rank_by_sorting(search, *n);
	for (size_t i = 0; i < *n; i++)
		list[search->ranks[1 + i]] = search->found[i];
	*diagonal = search->ranks[1];
	rank_places(search->ranks, incidences, degree);
	return true;
}

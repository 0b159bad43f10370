#include "core/assemble/neighbours.h"

#include <stdlib.h>
#include <string.h>

#include "core/assemble/triangle.h"
#include "core/base/vectors.h"

void fricp_neighbour_search_open(struct neighbour_search *search, enum fric_triangle triangle, size_t n_vertices)
{
	search->triangle = triangle;
	search->n_vertices = n_vertices;
	search->capacity = SEARCH_SMALL;
	search->mask = 2 * SEARCH_SMALL - 1;
	search->table = search->small_table;
	search->keys = search->small_keys;
	search->ranks = search->small_ranks;
	search->heap = NULL;
	memset(search->small_table, 0, sizeof(search->small_table));
}

void fricp_neighbour_search_close(struct neighbour_search *search)
{
	free(search->heap);
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
	const size_t keys_bytes = size * sizeof(uint64_t), table_bytes = size * sizeof(struct seen);
	char *heap = calloc(1, keys_bytes + table_bytes + size / 2 * sizeof(uint32_t));
	if (!heap)
		return false;
	free(search->heap);
	search->heap = heap;
	search->keys = (uint64_t *)(void *)heap;
	search->table = (struct seen *)(void *)(heap + keys_bytes);
	search->ranks = (uint32_t *)(void *)(heap + keys_bytes + table_bytes);
	search->capacity = size / 2;
	search->mask = size - 1;
	return true;
}

/* Place of w in the order of first appearance. */
static uint32_t place_of(const struct neighbour_search *search, uint32_t stamp, int32_t w, int32_t *list, size_t *n)
{
	size_t at = (size_t)(((uint32_t)w * 0x9E3779B97F4A7C15u) >> 24) & search->mask;
	struct seen *entry = &search->table[at];
	while (entry->stamp == stamp && entry->vertex != w)
		entry = &search->table[at = (at + 1) & search->mask];
	if (entry->stamp != stamp) {
		*entry = (struct seen){stamp, w, (uint32_t)*n};
		list[(*n)++] = w;
	}
	return entry->place;
}

static size_t collect(const struct neighbour_search *search, int32_t v, struct incidence *incidences, size_t degree,
                      int32_t *list)
{
	size_t n = 0;
	for (struct incidence *e = incidences; e < incidences + degree; e++)
		for (int j = 0; j < e->size; j++) {
			const int32_t w = (int32_t)e->place[j];
			const bool here = in_triangle(search->triangle, v, w);
			e->place[j] = here ? place_of(search, (uint32_t)v + 1, w, list, &n) : PATTERN_NOWHERE;
		}
	return n;
}

/* The rank of a vertex is how many are smaller. */
static void rank_by_counting(const int32_t *list, size_t n, uint32_t *ranks)
{
	int4 key[SEARCH_COUNTED / 4], rank[SEARCH_COUNTED / 4];
	const size_t n_int4 = (n + 3) / 4;
	for (size_t q = 0; q < n_int4; q++)
		rank[q] = key[q] = (int4){0};
	memcpy(key, list, n * sizeof(*list));
	for (size_t i = 0; i < n; i++) {
		const int4 smaller = {list[i], list[i], list[i], list[i]};
		for (size_t q = 0; q < n_int4; q++)
			rank[q] -= key[q] > smaller;
	}
	memcpy(ranks, rank, n * sizeof(*ranks));
}

/* Stable counting sort of keys by one byte. @return false if all keys have the same byte: nothing was done */
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

/* Keys are vertex and place, so that sorting by vertex yields the rank of each place. */
static void rank_by_sorting(struct neighbour_search *search, const int32_t *list, size_t n)
{
	uint64_t *keys = search->keys, *other = search->keys + search->capacity;
	for (size_t i = 0; i < n; i++)
		keys[i] = (uint64_t)list[i] << 32 | i;
	for (int shift = 32; shift < 64; shift += 8)
		if (sort_by_byte(keys, n, shift, other)) {
			uint64_t *sorted = other;
			other = keys;
			keys = sorted;
		}
	for (size_t i = 0; i < n; i++)
		search->ranks[keys[i] & UINT32_MAX] = (uint32_t)i;
}

static void sort_list(const struct neighbour_search *search, int32_t *list, size_t n)
{
	if (n > SEARCH_COUNTED) {
		int32_t *copy = (int32_t *)(void *)search->keys; /* no longer needed */
		memcpy(copy, list, n * sizeof(*list));
		for (size_t i = 0; i < n; i++)
			list[search->ranks[i]] = copy[i];
		return;
	}
	int32_t copy[SEARCH_COUNTED];
	memcpy(copy, list, n * sizeof(*list));
	for (size_t i = 0; i < n; i++)
		list[search->ranks[i]] = copy[i];
}

static void rank_places(const struct neighbour_search *search, struct incidence *incidences, size_t degree)
{
	for (struct incidence *e = incidences; e < incidences + degree; e++)
		for (int j = 0; j < e->size; j++)
			if (e->place[j] != PATTERN_NOWHERE)
				e->place[j] = search->ranks[e->place[j]];
}

bool fricp_neighbour_search_run(struct neighbour_search *search, int32_t v, struct incidence *incidences, size_t degree,
                                int32_t *list, size_t *n)
{
	if (!reserve(search, degree))
		return false;
	*n = collect(search, v, incidences, degree, list);
	if (*n <= SEARCH_COUNTED)
		rank_by_counting(list, *n, search->ranks);
	else
		rank_by_sorting(search, list, *n);
	sort_list(search, list, *n);
	rank_places(search, incidences, degree);
	return true;
}

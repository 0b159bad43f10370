/**
 * Finds the distinct vertices that share contacts with a vertex, in ascending order, and the place of each in that
 * list. The time is proportional to the number of incidences.
 */
#ifndef FRIC_NEIGHBOURS_H
#define FRIC_NEIGHBOURS_H

#include "core/assemble/incidence.h"

enum {
	SEARCH_SMALL = 128,  /* candidates; more need memory of their own */
	SEARCH_COUNTED = 64, /* neighbours that are ranked by counting; more are sorted */
	SEARCH_SPARE = 16,   /* entries beyond the last neighbour that may be read and written */
};

/* An entry of a hash table with open addressing. An entry without the stamp of the current vertex is free, so the table
 * is never cleared. */
struct seen {
	uint64_t key; /* the stamp in the upper half, the vertex in the lower half */
	uint32_t place;
};

struct neighbour_search {
	const struct fric_memory *memory;
	enum fric_triangle triangle;
	size_t n_vertices;
	size_t capacity;    /* number of candidates for which the arrays below have room */
	size_t mask;        /* number of table entries - 1; that number is a power of two and at least 2*capacity */
	struct seen *table; /* [mask + 2]; the last entry, of key 0, is that of candidates outside the triangle */
	uint64_t *keys;     /* [2*capacity] */
	int32_t *found;     /* [capacity + SEARCH_SPARE] neighbours in order of first appearance */
	uint32_t *ranks;    /* [1 + capacity + SEARCH_SPARE] PATTERN_NOWHERE, then the rank of each found neighbour */
	void *block;        /* allocation that holds the arrays, or NULL while they are in the members below */
	size_t block_bytes;
	struct seen small_table[2 * SEARCH_SMALL + 1];
	uint64_t small_keys[2 * SEARCH_SMALL];
	int32_t small_found[SEARCH_SMALL + SEARCH_SPARE];
	uint32_t small_ranks[1 + SEARCH_SMALL + SEARCH_SPARE];
};

void fricp_neighbour_search_open(struct neighbour_search *search, const struct fric_memory *memory,
                                 enum fric_triangle triangle, size_t n_vertices);
void fricp_neighbour_search_close(struct neighbour_search *search);

/**
 * @param incidences  [degree] of vertex v, degree >= 1. On entry their places are vertices, PATTERN_NOWHERE beyond the
 *                    stencil; on return, places in the list
 * @param list        room for FRIC_MAX_STENCIL*degree; set to the neighbours of v in the triangle, including v itself
 * @param diagonal    set to the place of v itself
 * @return false when out of memory
 */
bool fricp_neighbour_search_run(struct neighbour_search *search, int32_t v, struct incidence *incidences, size_t degree,
                                int32_t *list, size_t *n, uint32_t *diagonal);

#endif

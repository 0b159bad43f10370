/**
 * The distinct vertices that a vertex shares contacts with, in ascending order, and the place of each of them in that
 * list. The time is proportional to the number of incidences, whatever the degree.
 */
#ifndef FRIC_NEIGHBOURS_H
#define FRIC_NEIGHBOURS_H

#include "core/assemble/incidence.h"

enum {
	SEARCH_SMALL = 128,  /* this many candidates need no other memory */
	SEARCH_COUNTED = 64, /* up to this many neighbours are ranked by counting, more are sorted */
	SEARCH_SPARE = 16,   /* numbers that may be read and written beyond the last neighbour */
};

/* An entry of a hash table with open addressing. It is free unless it carries the stamp of the current vertex, so the
 * table is never cleared. */
struct seen {
	uint32_t stamp;
	int32_t vertex;
	uint32_t place;
};

struct neighbour_search {
	const struct fric_memory *memory;
	enum fric_triangle triangle;
	size_t n_vertices;
	size_t capacity;    /* candidates that the arrays below have room for */
	size_t mask;        /* of table; its size is a power of two and at least 2*capacity */
	struct seen *table; /* and one entry more, for candidates outside the triangle */
	uint64_t *keys;     /* [2*capacity] */
	int32_t *found;     /* [capacity + SEARCH_SPARE] neighbours in the order of their first appearance */
	uint32_t *ranks;    /* [1 + capacity + SEARCH_SPARE] PATTERN_NOWHERE, then the ranks of those found */
	void *block;        /* where these are if they are not here: */
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
 * @param incidences  [degree] of vertex v, degree >= 1; their places are vertices on entry, PATTERN_NOWHERE beyond the
 *                    stencil; places in the list on return
 * @param list        room for FRIC_MAX_STENCIL*degree; set to the neighbours of v in the triangle, including v itself
 * @param diagonal    set to the place of v itself
 * @return false when out of memory
 */
bool fricp_neighbour_search_run(struct neighbour_search *search, int32_t v, struct incidence *incidences, size_t degree,
                                int32_t *list, size_t *n, uint32_t *diagonal);

#endif

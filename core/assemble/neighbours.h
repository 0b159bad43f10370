/**
 * The distinct vertices that one vertex shares contacts with, in ascending order, and the place of every one of them.
 * Time grows with the number of incidences alone, whatever the degree.
 */
#ifndef FRIC_NEIGHBOURS_H
#define FRIC_NEIGHBOURS_H

#include "core/assemble/incidence.h"

enum {
	SEARCH_SMALL = 128,         /* candidates that need no memory from the heap */
	SEARCH_COUNTED = 64,        /* neighbours that are ranked by counting rather than sorted */
};

/* Open addressing. An entry is free unless it carries the stamp of the vertex at hand, so nothing is ever cleared. */
struct seen {
	uint32_t stamp;
	int32_t vertex;
	uint32_t place;
};

struct neighbour_search {
	enum fric_triangle triangle;
	size_t n_vertices;
	size_t capacity; /* candidates that the arrays below have room for */
	size_t mask;     /* of table; its size is a power of two and at least 2*capacity */
	struct seen *table;
	uint64_t *keys;  /* [2*capacity] */
	uint32_t *ranks; /* [capacity] */
	void *heap;
	struct seen small_table[2 * SEARCH_SMALL];
	uint64_t small_keys[2 * SEARCH_SMALL];
	uint32_t small_ranks[SEARCH_SMALL];
};

void fricp_neighbour_search_open(struct neighbour_search *search, enum fric_triangle triangle, size_t n_vertices);
void fricp_neighbour_search_close(struct neighbour_search *search);

/**
 * @param incidences  [degree] of vertex v; what comes in as the stencil's vertices goes out as places in the list
 * @param list        room for FRIC_MAX_STENCIL*degree; the neighbours of v in the triangle, v itself among them
 * @return false if memory does not suffice
 */
bool fricp_neighbour_search_run(struct neighbour_search *search, int32_t v, struct incidence *incidences, size_t degree,
                          int32_t *list, size_t *n);

#endif

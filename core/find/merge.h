/**
 * From records in any order to contacts that are sorted and merged.
 */
#ifndef FRIC_MERGE_H
#define FRIC_MERGE_H

#include "core/find/records.h"
#include "core/find/store.h"

struct fric_found {
	const struct fric_memory *memory;
	struct fric_found_group groups[FRIC_N_VERTEX_TYPES];
	void *blocks[FRIC_N_VERTEX_TYPES];
	size_t bytes[FRIC_N_VERTEX_TYPES];
	double min_distance;
};

/* Records of one type, in buckets by their first entry. */
struct sorting {
	const struct fric_context *context;
	size_t n, n_keys;      /* first entries are below n_keys */
	struct record *sorted; /* [n] */
	size_t *starts;        /* [n_keys + 1] */
};

/**
 * Sorts the records of a type by stencil, then by weight.
 * @param records  [n_shares]; emptied
 * @param store    gives the arrays of `sorting`
 */
enum fric_code fricp_sort_records(const struct fric_context *context, struct records *records, int n_shares,
                                  size_t n_keys, enum fric_type type, struct store *store, struct sorting *sorting);

static inline bool same_stencil(const struct record *a, const struct record *b)
{
	return memcmp(a->v, b->v, sizeof(a->v)) == 0;
}

/**
 * Sorts records by stencil, then by weight, and adds up the weights of equal stencils.
 * @param records  [n_shares]; emptied
 * @param n_keys   first vertices and planes are below this
 * @param found    set on FRIC_OK
 */
enum fric_code fricp_merge(const struct fric_context *context, struct records *records, int n_shares, size_t n_keys,
                           struct fric_found **found);

#endif

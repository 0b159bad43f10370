/**
 * Contacts as they are found, in any order, in memory that grows.
 */
#ifndef FRIC_RECORDS_H
#define FRIC_RECORDS_H

#include <stdatomic.h>

#include "core/base/types.h"
#include "core/fric.h"

/* A contact in canonical order; unused vertices are 0. plane_vertex: the plane, then the vertex. */
struct record {
	int32_t v[FRIC_MAX_STENCIL];
	double weight, mollifier, distance;
};

enum { RECORDS_AT_A_TIME = 1 << 10 };

struct record_block {
	struct record_block *next;
	size_t n;
	struct record records[RECORDS_AT_A_TIME];
};

/* A limit for the contacts of all threads, which count them a block at a time. */
struct ceiling {
	size_t most;
	atomic_size_t n;
};

/* The contacts of each type that one thread has found. Zero-initialised with its memory. */
struct records {
	const struct fric_memory *memory;
	struct ceiling *ceiling;                          /* or NULL */
	struct record_block *blocks[FRIC_N_VERTEX_TYPES]; /* the one that is being filled comes first */
	size_t n[FRIC_N_VERTEX_TYPES];
};

/**
 * Adds a record.
 * @return FRIC_OK; FRIC_E_MEMORY; FRIC_E_TOO_MANY if blocks that are full exceed the ceiling
 */
enum fric_code fricp_records_add(struct records *records, enum fric_type type, struct record record);
/* Gives back the records of one type, or of all. */
void fricp_records_clear(struct records *records, enum fric_type type);
void fricp_records_free(struct records *records);

#endif

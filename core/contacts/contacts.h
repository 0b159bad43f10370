/**
 * Lagged contacts as a structure of arrays: all groups in the order of enum fric_type, contact i of group g at start[g]
 * + i. A skipped contact has no normal force and a zero basis, so that everything computed from it is zero.
 */
#ifndef FRIC_CONTACTS_H
#define FRIC_CONTACTS_H

#include "core/base/fault.h"
#include "core/fric.h"

/* The most contacts that a span (span.h) has: their intermediate values stay in the first-level cache. */
enum { FRIC_SPAN = 64 };

/* One number per contact. stride 0: one value for all contacts, repeated FRIC_SPAN times so that any span can read it
 * as an array. */
struct column {
	double *data;
	size_t stride;
};

static inline double *column_at(struct column column, size_t i)
{
	return column.data + i * column.stride;
}

/* Where a span begins, and the lowest and highest vertex of its contacts. begin < 0: there is no span. */
struct span_extent {
	int32_t begin, lowest, highest;
};

/* Coefficients of all contacts. */
struct coefficients {
	struct column mu_s, mu_k;
	bool ordinary; /* all of them (ordinary.h) */
};

struct fric_contacts {
	int dim;
	size_t n_vertices;
	size_t n; /* contacts, of all groups together */
	size_t start[FRIC_N_TYPES + 1];
	struct fric_law law;
	size_t n_skipped;
	bool has_distance[FRIC_N_TYPES];
	bool given_basis[FRIC_N_TYPES]; /* by the caller; its entries may be of any size */
	bool ordinary;                  /* all contacts are, as far as coefficients do not matter (ordinary.h) */

	int32_t *vertices[FRIC_MAX_STENCIL]; /* [n] each; 0 beyond the stencil's size */
	double *closest_point[2];            /* [n] each; 0 where the type has none */
	double *tangent_basis[6];            /* dim*(dim-1) arrays of [n], row-major */
	double *distance;                    /* [n]; NULL: no group has one */
	struct column weight, normal_force, eps_v;
	struct coefficients scalar;
	struct column mu_aniso[2];
	double *mu_s_aniso[2], *mu_k_aniso[2]; /* [n] each; NULL: no ellipse */
	uint8_t *skipped;                      /* [n] enum fric_code */
	struct span_extent *extents;           /* [span_slots(n)] */
	int32_t *sweep;                        /* [n_spans] slots of the spans, in the order of sweep.h */
	size_t n_spans;
	void *arrays; /* [arrays_bytes] what all these arrays lie in; from `memory` */
	size_t arrays_bytes;
	const struct fric_memory *memory;
};

/* What a question adds to the contacts. */
struct fric_state {
	struct coefficients effective;
	void *arrays; /* [arrays_bytes] what they lie in; from `memory` */
	size_t arrays_bytes;
	const struct fric_memory *memory;
};

/* The coefficients that a question is answered with. */
static inline const struct coefficients *coefficients_for(const struct fric_contacts *contacts,
                                                          const struct fric_question *question)
{
	return question->state ? &question->state->effective : &contacts->scalar;
}

/* Type of contact i. */
static inline enum fric_type contact_type(const struct fric_contacts *c, size_t i)
{
	enum fric_type type = FRIC_VERTEX_VERTEX;
	while (i >= c->start[type + 1])
		type++;
	return type;
}

/* Fills in *error from a fault whose position counts contacts. @return its code */
enum fric_code fricp_report_fault(const struct fric_contacts *contacts, struct fault fault, struct fric_error *error);

#endif

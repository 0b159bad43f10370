/**
 * Lagged contacts as a structure of arrays: all groups in the order of enum fric_type, contact i of group g at start[g]
 * + i. A skipped contact has normal force 0 and a zero basis, which makes all its results zero.
 *
 * Contacts of bodies are a second such structure, `bodies`, which the first one owns. There the groups at vertices are
 * empty, "vertices" are bodies, and arms, normals and radii are filled in; contacts at vertices lack these.
 */
#ifndef FRIC_CONTACTS_H
#define FRIC_CONTACTS_H

#include "core/base/fault.h"
#include "core/base/types.h"
#include "core/law/table.h"

/* The maximum number of contacts of a span (span.h): intermediate values of this many stay in the first-level cache. */
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

/* The first contact of a span, and the lowest and highest vertex of its contacts. begin < 0: an unused slot. No contact
 * has a vertex between `below` and `above`; the vertices of two bodies usually have distant numbers. below == highest:
 * there is no such gap, or none was looked for. */
struct span_extent {
	int32_t begin, lowest, highest, below, above;
};

/* Blocks of consecutive vertices, whose sums are set to zero together. */
enum { BLOCK_SHIFT = 6, BLOCK_VERTICES = 1 << BLOCK_SHIFT };

static inline size_t n_blocks_of(size_t n_vertices)
{
	return (n_vertices + BLOCK_VERTICES - 1) / BLOCK_VERTICES;
}

struct coefficients {
	struct column mu_s, mu_k;
	bool ordinary; /* all coefficients are ordinary (ordinary.h) */
};

struct fric_contacts {
	int dim;
	size_t n_vertices;
	size_t n; /* contacts, of all groups together */
	size_t start[FRIC_N_TYPES + 1];
	struct fric_law law;
	size_t n_skipped;
	bool has_distance[FRIC_N_TYPES];
	bool given_basis[FRIC_N_TYPES]; /* basis from the caller; its entries may be of any size */
	bool searched[FRIC_N_TYPES];    /* the closest features of some contacts are searched */
	bool along_grain[FRIC_N_TYPES]; /* the bases follow a grain */
	bool ordinary;                  /* all contacts are ordinary, apart from their coefficients (ordinary.h) */

	int32_t *vertices[FRIC_MAX_STENCIL]; /* [n] each; 0 beyond the stencil's size */
	double *closest_point[2];            /* [n] each; 0 where the type has none */
	double *tangent_basis[6];            /* dim*(dim-1) arrays of [n], row-major */
	double *distance;                    /* [n]; NULL: no group needs it */
	struct column weight, normal_force, eps_v;
	struct column unit;     /* speed scale of the law's tail (law/point.h); data NULL without a tail */
	struct law_table table; /* for FRIC_CURVE only */
	struct coefficients scalar;
	struct column mu_aniso[2];
	double *mu_s_aniso[2], *mu_k_aniso[2];        /* [n] each; NULL: no ellipse */
	struct column surface_velocity[3], anchor[3]; /* the first dim are used; data NULL: no contact has one */
	struct column viscous;                        /* data NULL: no contact has one */
	uint8_t *skipped;                             /* [n] enum fric_code, or MOLLIFIED */
	uint8_t *right;   /* [n] whether the vertex of edge and vertex lies to the right of the edge; NULL in 3D */
	uint8_t *feature; /* [n] bit k: member k takes part in the closest feature; 0: it was not searched, all do. NULL if
	                     none was searched */
	struct span_extent *extents; /* [span_slots(n)] */
	int32_t *sweep;              /* [n_spans] slots of the spans, in the order of sweep.h */
	size_t n_spans;
	int32_t *reached;  /* [n_blocks] position in the sweep of the first span that reaches a block; n_spans: none */
	int32_t *blocks;   /* [n_blocks] in the order in which the sweep reaches them */
	int32_t *listed;   /* [n_spans + 1] number of blocks reached before the span at a position */
	int32_t *oldest;   /* [n_spans] the least `reached` of all blocks that the span at a position reaches */
	double *arm[2][3]; /* [n] each: from the point of body 0 or 1 to the contact */
	double *normal[3]; /* [n] each, unit */
	struct column spin_radius, roll_radius; /* for bodies only; spin_radius is 0 in 2D */
	/* For the barrier; not filled in unless the batch has that term. */
	unsigned terms; /* FRIC_TERM_... of the batch, never 0 */
	enum fric_closest_features features_from;
	bool skips; /* degenerate contacts are skipped instead of causing an error */
	struct fric_barrier barrier;
	struct column mollifier;      /* 0 for other types than edge_edge; data NULL: no contact has one */
	double *plane[6];             /* [group size] each: normal and origin of plane_vertex contacts, 3 components each */
	size_t first_dof;             /* first DOF of the vertices, or bodies, of these contacts, among all DOFs */
	struct fric_contacts *bodies; /* the contacts of bodies; NULL if there are none */
	void *arrays;                 /* [arrays_bytes] block that contains all these arrays; from `memory` */
	size_t arrays_bytes;
	const struct fric_memory *memory;
};

/* The effective coefficients that a query's state adds to the contacts. */
struct fric_state {
	struct coefficients effective; /* data NULL if no contact needs any */
	struct fric_state *bodies;     /* for contacts->bodies, or NULL */
	void *arrays;                  /* [arrays_bytes] block that contains the arrays; from `memory` */
	size_t arrays_bytes;
	const struct fric_memory *memory;
};

/* Contacts at the current positions. A value that contacts of one type lack is 0. */
struct fric_current {
	const struct fric_contacts *contacts;
	struct fric_contacts at;     /* the contacts' head with closest points, clamped if searched, and reasons of here */
	struct fric_contacts lagged; /* the contacts' head with these reasons, and no normal force where they skip */
	bool skips_more;             /* some contacts are skipped here only */
	size_t n_skipped;            /* their number */
	double *positions;           /* [n_vertices, dim] */
	uint8_t *feature;            /* [n] bit k: member k takes part */
	uint8_t *form;               /* [n] enum current_form */
	double *closest_point[2];    /* [n] each */
	double *distance;            /* [n] */
	double *energy, *slope,
		*curvature;     /* [n] weight * stiffness * b, and its derivatives with respect to the distance */
	double *normal[3];  /* [n] each, unit: from the second side's closest point to the first side's */
	double *tangent[3]; /* [n] each, unit, perpendicular to it; the second tangent is normal x tangent */
	double *slide[4];   /* [n] each: change of the closest point's two coordinates per length along the first
	                                tangent, and along the second */
	void *arrays;       /* [arrays_bytes] block that contains the arrays; from `memory` */
	size_t arrays_bytes;
	const struct fric_memory *memory;
};

/* Bits of fric_current.form: the distance is curved along the first or second tangent, because the closest point does
 * not slide along it; the mollifier is below 1. */
enum current_form { FORM_CURVED_FIRST = 1, FORM_CURVED_SECOND = 2, FORM_MOLLIFIED = 4 };

/* The contacts as the friction of a query sees them. */
static inline const struct fric_contacts *contacts_for(const struct fric_contacts *contacts,
                                                       const struct fric_query *query)
{
	return query->current && query->current->skips_more ? &query->current->lagged : contacts;
}

static inline unsigned terms_of(const struct fric_query *query)
{
	return query->terms ? query->terms : FRIC_TERM_FRICTION;
}

static inline double time_step_of(const struct fric_query *query)
{
	return query->time_step > 0 ? query->time_step : 1;
}

static inline const struct coefficients *coefficients_of_state(const struct fric_contacts *contacts,
                                                               const struct fric_state *state)
{
	return state && state->effective.mu_s.data ? &state->effective : &contacts->scalar;
}

/* The coefficients for a query: of contacts at vertices, and of contacts->bodies. */
static inline const struct coefficients *coefficients_for(const struct fric_contacts *contacts,
                                                          const struct fric_query *query)
{
	return coefficients_of_state(contacts, query->state);
}

static inline const struct coefficients *body_coefficients_for(const struct fric_contacts *contacts,
                                                               const struct fric_query *query)
{
	return coefficients_of_state(contacts->bodies, query->state ? query->state->bodies : NULL);
}

/* In `skipped`: the edges are nearly parallel, so the contact has no friction. Like a skipped one, it has normal force 0
 * and a zero basis, but it is not counted as one. */
enum { MOLLIFIED = UINT8_MAX };

static inline enum fric_code skip_reason(const struct fric_contacts *c, size_t i)
{
	return c->skipped[i] == MOLLIFIED ? FRIC_OK : (enum fric_code)c->skipped[i];
}

static inline enum fric_type contact_type(const struct fric_contacts *c, size_t i)
{
	enum fric_type type = FRIC_VERTEX_VERTEX;
	while (i >= c->start[type + 1])
		type++;
	return type;
}

/* The number of contacts of one type in this structure, not in `bodies`. */
static inline size_t group_size(const struct fric_contacts *c, enum fric_type type)
{
	return c->start[type + 1] - c->start[type];
}

/* Fills in *error from a fault whose position is an index into this structure. @return its code */
enum fric_code fricp_report_fault(const struct fric_contacts *contacts, struct fault fault, struct fric_error *error);

#endif

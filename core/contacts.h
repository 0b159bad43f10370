/**
 * Lagged contacts as a structure of arrays: all groups in the order of enum fric_type, contact i of group g at
 * start[g] + i. One block of memory, carved by prepare. A skipped contact has zeros in everything but eps_v (1).
 */
#ifndef FRIC_CONTACTS_H
#define FRIC_CONTACTS_H

#include "fric.h"

struct fric_contacts {
	int dim;
	size_t n_vertices;
	size_t n;                        /* contacts of all groups */
	size_t start[FRIC_N_TYPES + 1];
	enum fric_transition transition;
	size_t n_skipped;
	bool has_distance[FRIC_N_TYPES];

	int32_t *vertices[FRIC_MAX_STENCIL]; /* [n] each; 0 beyond the stencil's size */
	double *closest_point[2];            /* [n] each; 0 where the type has none */
	double *tangent_basis[6];            /* dim*(dim-1) arrays of [n], row-major */
	double *weight, *normal_force, *distance; /* [n] */
	double *eps_v;                       /* [n] */
	double *mu_s, *mu_k;                 /* [n] scalar coefficients */
	double *effective_mu_s, *effective_mu_k; /* [n]; the scalar arrays themselves without ellipses */
	double *mu_aniso[2];                 /* [n] each (one in 2D); NULL: all 1 */
	double *mu_s_aniso[2], *mu_k_aniso[2]; /* [n] each; NULL: no ellipse */
	uint8_t *skipped;                    /* [n] enum fric_code */
	void *block;                         /* [block_bytes], from memory */
	size_t block_bytes;
	const struct fric_memory *memory;
};

/* Type of contact i. */
static inline enum fric_type contact_type(const struct fric_contacts *c, size_t i)
{
	enum fric_type type = FRIC_VERTEX_VERTEX;
	while (i >= c->start[type + 1])
		type++;
	return type;
}

/* Weights w of a stencil with closest point (a, b): Gamma = w^T (x) I. */
static inline void stencil_weights(enum fric_type type, double a, double b, double w[FRIC_MAX_STENCIL])
{
	switch (type) {
	case FRIC_VERTEX_VERTEX:
		w[0] = 1, w[1] = -1;
		break;
	case FRIC_EDGE_VERTEX:
		w[0] = 1, w[1] = -(1 - a), w[2] = -a;
		break;
	case FRIC_EDGE_EDGE:
		w[0] = 1 - a, w[1] = a, w[2] = -(1 - b), w[3] = -b;
		break;
	case FRIC_FACE_VERTEX:
		w[0] = 1, w[1] = -(1 - a - b), w[2] = -a, w[3] = -b;
		break;
	case FRIC_PLANE_VERTEX:
		w[0] = 1;
		break;
	}
}

#endif

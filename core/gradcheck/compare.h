/**
 * The two halves of fric_compare: what the library computes, and its comparison with central differences. Apart, so that
 * a test can falsify the one and see what the other finds.
 */
#ifndef FRIC_COMPARE_H
#define FRIC_COMPARE_H

#include "core/fric.h"

/* Results at given velocities; what there is per contact is in the order of all groups. */
struct claims {
	double potential;
	double *gradient;   /* [n_vertices*dim] */
	double *potentials; /* [n] */
	double *forces;     /* [n, dim] gradient by the relative velocity */
	double *inner;      /* [n, inner_size] */
	struct fric_pattern *pattern;
	double *csr;        /* [entries of the pattern] */
	double *arrays;     /* private, as the sizes: what the arrays lie in */
	size_t arrays_bytes, csr_bytes;
};

/* @param claims  to be given back with fricp_claims_free in any case */
enum fric_code fricp_claims_make(const struct fric_context *context, const struct fric_contacts *contacts,
                           const double *velocities, struct claims *claims, struct fric_error *error);
void fricp_claims_free(const struct fric_context *context, struct claims *claims);

enum fric_code fricp_claims_compare(const struct fric_context *context, const struct fric_contacts *contacts,
                              const double *velocities, const struct claims *claims,
                              struct fric_comparison *comparison, struct fric_error *error);

#endif

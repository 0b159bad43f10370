/**
 * The library's results, from the public functions, for fric_compare.
 */
#ifndef FRIC_CLAIMS_H
#define FRIC_CLAIMS_H

#include "core/fric.h"

/* Results for a question; arrays per contact are in the order of all groups. */
struct claims {
	double potential;
	double *gradient;   /* [n_dofs] */
	double *potentials; /* [fric_n_contacts] */
	double *forces;     /* [n, dim] of contacts of vertices: gradient with respect to the relative velocity */
	double *wrenches;   /* of contacts of bodies: gradient with respect to their twists, as in bodies/evaluate.h */
	double *inner;      /* [fric_n_inner] */
	struct fric_pattern *pattern;
	double *csr;    /* [n_entries of the pattern] */
	double *arrays; /* private, like the sizes: the block that contains the arrays above */
	size_t arrays_bytes, csr_bytes;
};

/* @param claims  to be freed with fricp_claims_free, even on failure */
enum fric_code fricp_claims_make(const struct fric_context *context, const struct fric_contacts *contacts,
                                 const struct fric_question *question, struct claims *claims, struct fric_error *error);
void fricp_claims_free(const struct fric_context *context, struct claims *claims);

#endif

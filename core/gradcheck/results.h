/**
 * The two halves of fric_compare. One computes the library's results with the public functions, the other compares them
 * with central differences (compare.c). A test can thus falsify results between them and check that the comparison
 * detects it.
 */
#ifndef FRIC_RESULTS_H
#define FRIC_RESULTS_H

#include "core/fric.h"

enum { MOST_MEMBER_DOFS = 3 * FRIC_MAX_STENCIL };

/* Results for a query; arrays per contact are in the order of all groups. */
struct results {
	double potential;
	double *gradient;   /* [n_dofs] */
	double *potentials; /* [fric_n_contacts] */
	double *forces;     /* [n, dim] contacts at vertices: gradient with respect to the relative velocity */
	double *wrenches;   /* contacts of bodies: gradient with respect to their twists, as in bodies/evaluate.h */
	double *inner;      /* [fric_n_inner] */
	double
		*members; /* [n, MOST_MEMBER_DOFS] contacts at vertices: gradient with respect to the members; NULL unless the
	                       query has the barrier term */
	struct fric_pattern *pattern;
	double *csr;    /* [n_entries of the pattern] */
	double *arrays; /* private, like the sizes: allocation that contains the arrays above */
	size_t arrays_bytes, csr_bytes;
};

/* @param results  to be freed with fricp_results_free, even on failure */
enum fric_code fricp_results_make(const struct fric_context *context, const struct fric_contacts *contacts,
                                  const struct fric_query *query, struct results *results, struct fric_error *error);
void fricp_results_free(const struct fric_context *context, struct results *results);

enum fric_code fricp_results_compare(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const struct fric_query *query, const struct results *results,
                                     struct fric_comparison *comparison, struct fric_error *error);

#endif

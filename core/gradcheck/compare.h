/**
 * The two halves of fric_compare: what the library computes (its claims), and the comparison of that with central
 * differences. They are separate so that a test can falsify claims and see whether the comparison notices.
 */
#ifndef FRIC_COMPARE_H
#define FRIC_COMPARE_H

#include "core/fric.h"

/* Answers to a question; those per contact are in the order of all groups. */
struct claims {
	double potential;
	double *gradient;   /* [n_dofs] */
	double *potentials; /* [n] */
	double *forces;     /* [n, dim] gradient with respect to the relative velocity */
	double *inner;      /* [n, inner_size] */
	struct fric_pattern *pattern;
	double *csr;    /* [n_entries of the pattern] */
	double *arrays; /* private, as are the sizes: what the arrays above lie in */
	size_t arrays_bytes, csr_bytes;
};

/* @param claims  to be freed with fricp_claims_free, even on failure */
enum fric_code fricp_claims_make(const struct fric_context *context, const struct fric_contacts *contacts,
                                 const struct fric_question *question, struct claims *claims, struct fric_error *error);
void fricp_claims_free(const struct fric_context *context, struct claims *claims);

enum fric_code fricp_claims_compare(const struct fric_context *context, const struct fric_contacts *contacts,
                                    const struct fric_question *question, const struct claims *claims,
                                    struct fric_comparison *comparison, struct fric_error *error);

#endif

/**
 * The mollifier of two edges that are nearly parallel (Li et al. 2020, 5.3): with c = |a x b|^2 it is m = (2 - c/mu)
 * c/mu for c < mu, else 1. Also barrier blocks of mollified contacts.
 */
#ifndef FRIC_BARRIER_MOLLIFIER_H
#define FRIC_BARRIER_MOLLIFIER_H

#include "core/contacts/contacts.h"

/* The value of m and its first two derivatives with respect to c. */
struct mollifier {
	double value, first, second;
};

/* The mollifier of contact i, which must have FORM_MOLLIFIED. */
struct mollifier fricp_mollifier(const struct fric_current *current, size_t i);

/* The gradient with respect to the members of contact i, which is mollified: [4][3]. */
void fricp_mollified_gradient(const struct fric_current *current, size_t i, double gradient[FRIC_MAX_STENCIL][3]);

/* The Hessian with respect to the members of contact i, which is mollified, without the rows and columns of the first
 * member: the 45 numbers of assemble/blocks.h. */
void fricp_mollified_block(const struct fric_current *current, size_t i, enum fric_projection projection,
                           double *block);

#endif

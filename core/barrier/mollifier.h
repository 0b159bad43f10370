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

/* Motions that are no translations, in an orthonormal basis: differences of the ends of each edge, and the difference
 * of the edges' middles, each along three axes. */
enum { N_MOLLIFIED_MOTIONS = 9 };

/* Matrices side by side, for a kernel that projects them (kernels.h). */
enum { MOLLIFIED_AT_ONCE = 8 };
struct mollified_matrices {
	_Alignas(64) double m[N_MOLLIFIED_MOTIONS][N_MOLLIFIED_MOTIONS][MOLLIFIED_AT_ONCE];
};

/* The Hessian of contact i, which is mollified, as a matrix of motions. */
void fricp_mollified_matrix(const struct fric_current *current, size_t i,
                            double m[N_MOLLIFIED_MOTIONS][N_MOLLIFIED_MOTIONS]);

/* The Hessian with respect to the members, without the rows and columns of the first one: the 45 numbers of
 * assemble/blocks.h. @param m  only the lower triangle is read */
void fricp_mollified_block(double m[N_MOLLIFIED_MOTIONS][N_MOLLIFIED_MOTIONS], double *block);

#endif

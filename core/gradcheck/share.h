/**
 * The share of one contact in sums over contacts: the sizes that differences of somebody else's results are relative
 * to, and its inner matrix as common mistakes make it (docs/check.md).
 */
#ifndef FRIC_SHARE_H
#define FRIC_SHARE_H

#include "core/motion/dofs.h"

struct share {
	enum fric_type type;
	size_t index;     /* in its group */
	int n_members, m; /* numbers of members, and of their DOFs */
	int32_t member[FRIC_MAX_STENCIL];
	size_t dof[MOST_BLOCK];    /* [m] */
	double arm[MOST_BLOCK];    /* [m] absolute weight of the DOF; of bodies: of the slip per twist */
	double weight[MOST_BLOCK]; /* [m] with sign, for contacts at vertices; of bodies 0 */
	/* Sizes of its friction, 0 if it has none. A slip shorter than a millionth of the velocities that it is a
	 * difference of counts as that: more digits cannot be expected. */
	double potential, force, stiffness; /* force and stiffness along the slip */
	double cone;                        /* largest Coulomb force, without a drag */
	double vector[3];                   /* at vertices: the force that enters the gradient, times each weight */
};

/* The number of contacts at vertices and of bodies. */
size_t fricp_n_shares(const struct fric_contacts *contacts);
/* @param i  position over all groups */
void fricp_share(const struct fric_contacts *contacts, const struct fric_query *query, size_t i, struct share *out);

/* Parts of the derivative along the slip that implementations forget: s (mu f1)' = s (mu' f1 + mu f1'). */
enum omission {
	OMITS_ANISOTROPY, /* the derivative across the slip stands for both: f1 / y I */
	OMITS_ALONG,      /* there is none along the slip: f1 / y (I - t t^T) */
	OMITS_MU_SLOPE,   /* mu' is forgotten; laws cubic and quadratic */
	N_OMISSIONS
};
/* Whether the law has the part. */
bool fricp_has_omission(const struct fric_contacts *contacts, enum omission omission);
/* As fric_hessian_inner, of contacts without a barrier and of one contact: its inner matrix is written to its place. */
void fricp_inner_omitting(const struct fric_contacts *contacts, const struct fric_query *query, enum omission omission,
                          enum fric_projection projection, size_t i, double *inner);

#endif

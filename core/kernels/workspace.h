/**
 * Shared by the inner loops over a span of 3D contacts: inputs, intermediate values, and results.
 */
#ifndef FRIC_WORKSPACE_H
#define FRIC_WORKSPACE_H

#include "core/contacts/contacts.h"
#include "core/fric.h"
#include "core/law/tail.h"

/* Inputs and results of a kernel for a span of n <= FRIC_SPAN contacts. Inputs are arrays of [n] unless stated
 * otherwise. */
struct workspace {
	size_t n;
	enum law law;
	const double *tangent_basis[6];
	const double *weight, *normal_force, *mu_s, *mu_k, *eps_v;
	const double *mu_aniso[2];
	const double *viscous;         /* NULL: there is no drag */
	bool anchored;                 /* anchors exist, and the drag acts on the slip without them */
	const double *unit;            /* speed scale of the law's tail (point.h); NULL without a tail */
	const struct law_table *table; /* for a curve only */
	bool same_eps_v, same_mu;      /* all contacts have the same eps_v, or the same coefficients */
	bool same_unit;                /* all contacts have the same unit and eps_v */
	struct law_shape shape;        /* the law's shape, if same_mu */
	double relative[3][FRIC_SPAN]; /* Gamma v - surface_velocity + anchor */
	double bare[3][FRIC_SPAN]; /* Gamma v - surface_velocity, if anchored; later the same in the basis, over eps_v */
	/* Intermediate: slip over eps_v, later its direction; |slip| / eps_v; eigenvalues */
	double law_shape[3][FRIC_SPAN];                 /* if the law has a shape and not same_mu */
	double decay[FRIC_SPAN], over_decay[FRIC_SPAN]; /* eps_v / unit, and its reciprocal */
	double over_eps_v[FRIC_SPAN], ratio[2][FRIC_SPAN], z[FRIC_SPAN], along[FRIC_SPAN], across[FRIC_SPAN];
	/* Results: */
	double potential[FRIC_SPAN];
	double force[3][FRIC_SPAN]; /* P diag(mu_aniso) f */
	double inner[3][FRIC_SPAN]; /* a00, a01, a11 */
	bool careful;               /* a number may over- or underflow: run the whole span in the scalar form */
};

#endif

/**
 * Potential and force of one contact as a function of its slip and of what its law is given, and the derivatives of both.
 * A slip has up to MOST_SLIP components, so this is for contacts at vertices and of bodies alike. Long double: its range
 * leaves nothing to over- or underflow.
 *
 *     D(u) = s (eps_v g0 + viscous |bare|^2 / 2)     f = D'(u) = s (g1 direction + viscous bare)
 *
 * With q for the gradient's cotangent in the basis of the slip, a vjp differentiates psi D(u) + q . f(u).
 */
#ifndef FRIC_DERIVE_FORCE_H
#define FRIC_DERIVE_FORCE_H

#include "core/law/slopes.h"
#include "core/motion/slip.h"

/* What potential and force depend on: numbers, tangents or cotangents. */
struct force_inputs {
	long double u[MOST_SLIP];    /* scaled by mu_aniso and radii */
	long double bare[MOST_SLIP]; /* the same without the anchor, if there is a drag */
	long double s;               /* weight * normal force */
	long double mu_s, mu_k, eps_v, unit, viscous;
	long double curve[2]; /* of a measured curve where it is looked up: value and integral (law/slopes.h) */
};

/* One contact, where it is. */
struct force_point {
	int n; /* components of the slip */
	enum law law;
	struct force_inputs at;
	struct law_point_l point;
	struct law_slopes_l slopes;
	long double q, x; /* of a law with a tail: eps_v / unit, and where it is looked up (law/tail.h) */
	long double g1;
	long double unit[MOST_SLIP];      /* the slip's direction; (1, 0, ..) at rest */
	long double direction[MOST_SLIP]; /* what g1 goes with: the ratio to eps_v where the law is low, else unit */
	long double along, across;        /* eigenvalues of A/s, without the drag */
	long double work;                 /* D/s, drag included */
	long double force[MOST_SLIP];     /* f/s, drag included */
};

/**
 * @param slip  u and bare as slip_velocity or body_slip_velocity give them
 * @param mu    the coefficients that the question is answered with
 */
void fricp_force_point(const struct fric_contacts *contacts, const struct coefficients *mu, size_t i,
                       const struct slip *slip, struct force_point *point);

/* Forwards: how D and f change along a tangent. @param force [n] */
void fricp_force_tangent(const struct force_point *point, const struct force_inputs *tangent, long double *potential,
                         long double *force);

/* Backwards: the derivative of psi D + q . f by every input. @param q [n] */
void fricp_force_cotangent(const struct force_point *point, long double psi, const long double *q,
                           struct force_inputs *cotangent);

/* How what fricp_force_cotangent gives for psi = 1 and q = 0 changes along a tangent, that is, products with the second
 * derivatives of D. Of u, bare, s, mu_s, mu_k and eps_v alone, in both. */
void fricp_force_second(const struct law_table *table, const struct force_point *point,
                        const struct force_inputs *tangent, struct force_inputs *cotangent);

/* f itself, which is also the cotangent of q. @param force [n] */
static inline void force_of_point(const struct force_point *point, long double *force)
{
	for (int t = 0; t < point->n; t++)
		force[t] = point->at.s * point->force[t];
}

#endif

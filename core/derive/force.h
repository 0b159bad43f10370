/**
 * Potential and force of one contact as functions of its slip and of the law's inputs, and the derivatives of both. A
 * slip has up to MOST_SLIP components, so this serves contacts at vertices and of bodies alike. Everything is in long
 * double, whose range prevents over- and underflow.
 *
 *     D(u) = s (eps_v g0 + viscous |bare|^2 / 2)     f = D'(u) = s (g1 direction + viscous bare)
 *
 * With q for the gradient's cotangent in the basis of the slip, a vjp differentiates psi D(u) + q . f(u).
 */
#ifndef FRIC_DERIVE_FORCE_H
#define FRIC_DERIVE_FORCE_H

#include "core/law/derivatives.h"
#include "core/motion/slip.h"

/* Inputs of potential and force: values, tangents or cotangents. */
struct force_inputs {
	long double u[MOST_SLIP];    /* scaled by mu_aniso and radii */
	long double bare[MOST_SLIP]; /* u without the anchor, if there is a drag */
	long double s;               /* weight * normal force */
	long double mu_s, mu_k, eps_v, unit, viscous;
	long double curve[2]; /* value and integral of a measured curve at the slip (law/derivatives.h) */
};

/* One contact and the values that its derivatives are computed from. */
struct force_point {
	int n; /* number of components of the slip */
	enum law law;
	struct force_inputs at;
	struct law_point_l point;
	struct law_derivatives_l derivatives;
	struct law_reach_l beyond;
	long double q, x; /* for a law with a tail: eps_v / unit, and the tail's argument (law/tail.h) */
	long double g1;
	long double unit[MOST_SLIP];      /* direction of the slip; (1, 0, ..) at rest */
	long double direction[MOST_SLIP]; /* vector that g1 multiplies: the slip over eps_v where law_low, else unit */
	long double along, across;        /* eigenvalues of A/s, without the drag */
	long double work;                 /* D/s, drag included */
	long double force[MOST_SLIP];     /* f/s, drag included */
};

/**
 * @param slip  u and bare as from slip_velocity or body_slip_velocity
 * @param mu    the query's coefficients
 */
void fricp_force_point(const struct fric_contacts *contacts, const struct coefficients *mu, size_t i,
                       const struct slip *slip, struct force_point *point);

/* Forwards: computes the tangents of D and f. @param force  [n] */
void fricp_force_tangent(const struct force_point *point, const struct force_inputs *tangent, long double *potential,
                         long double *force);

/* Backwards: computes the derivatives of psi D + q . f with respect to all inputs. @param q  [n] */
void fricp_force_cotangent(const struct force_point *point, long double psi, const long double *q,
                           struct force_inputs *cotangent);

/* Computes the change along a tangent of fricp_force_cotangent's result for psi = 1 and q = 0: a product with the
 * second derivatives of D. Both include only u, bare, s, mu_s, mu_k and eps_v. */
void fricp_force_second(const struct force_point *point, const struct force_inputs *tangent,
                        struct force_inputs *cotangent);

/* Computes f, which is also the cotangent of q. @param force  [n] */
static inline void force_of_point(const struct force_point *point, long double *force)
{
	for (int t = 0; t < point->n; t++)
		force[t] = point->at.s * point->force[t];
}

#endif

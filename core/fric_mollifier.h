/* SPDX-License-Identifier: MIT */
/**
 * The scalar functions of the friction law (docs/physics.md 2), one value at a time. eps_v > 0, mu >= 0, all finite; y
 * of either sign (even or odd extension). Accurate to 4 ulp over the whole double range; near a sign change, to 4 ulp
 * of the largest term. A result that does not fit a double is inf or NaN.
 */
#ifndef FRIC_MOLLIFIER_H
#define FRIC_MOLLIFIER_H

#include "core/fric.h"

#ifdef __cplusplus
extern "C" {
#endif

double fric_smooth_friction_f0(double y, double eps_v);
double fric_smooth_friction_f1(double y, double eps_v);
double fric_smooth_friction_f2(double y, double eps_v);
double fric_smooth_friction_f1_over_x(double y, double eps_v);
double fric_smooth_friction_f2_x_minus_f1_over_x3(double y, double eps_v);

/* Any law, per unit of normal force (docs/physics.md 2): G0, its derivative G1 (odd in y), G1/y, and G2 = G1'. For
 * FRIC_CURVE without `areas`, fric_law_potential takes time proportional to the number of points below y. */
double fric_law_potential(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law);
double fric_law_force(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law);
double fric_law_force_over_speed(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law);
double fric_law_force_derivative(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law);

/**
 * Computes the integrals of a curve from its first point to each point.
 * @param areas  [curve->n]; overwritten
 * @return whether they fit doubles; if not, leave fric_curve.areas NULL
 */
bool fric_curve_areas(const struct fric_curve *curve, double *areas);

/* The curve of mu from static to kinetic, FRIC_CUBIC or FRIC_QUADRATIC. The last five are mu times f, its derivatives
 * and its quotients. */
double fric_smooth_mu(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition);
double fric_smooth_mu_derivative(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition);
double fric_smooth_mu_f0(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition);
double fric_smooth_mu_f1(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition);
double fric_smooth_mu_f2(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition);
double fric_smooth_mu_f1_over_x(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition);
double fric_smooth_mu_f2_x_minus_mu_f1_over_x3(double y, double mu_s, double mu_k, double eps_v,
                                               enum fric_transition transition);

/* Matchstick helpers. direction: unit vector of tau, (1, 0) when |tau| < threshold. */
void fric_matchstick_direction(const double tau[2], double threshold, double direction[2]);
/* sqrt((mu0 d0)^2 + (mu1 d1)^2), d the direction */
double fric_matchstick_mu(const double direction[2], const double mu_aniso[2]);

#ifdef __cplusplus
}
#endif

#endif

/**
 * Second derivatives of the potential, contact by contact. Differentiates the result of a vjp with potential cotangent
 * 1 along tangents. Supports only velocities, eps_v, coefficients, normal forces and weights
 * (fric_second_derivative_product). Geometry and directions are then constant, and every step between fields and force
 * is linear, except the product of weight and normal force and the blends of coefficients.
 */
#ifndef FRIC_DERIVE_SECOND_H
#define FRIC_DERIVE_SECOND_H

#include "core/derive/point.h"

/* Tangents, gathered for contacts at vertices and of bodies. */
struct second {
	struct point_task vertices;
	struct point_task bodies; /* unset without bodies */
};

void fricp_second_prepare(const struct fric_derivation *derivation, const struct fric_differential *tangents,
                          struct second *second);

/* Computes the cotangents of a contact, as from fricp_point_cotangent, with its position on a measured curve. All are
 * zero for a skipped contact, which has no force.
 * @param task   with the wanted cotangents
 * @param along  NULL, or tangents, of struct second, along which the result is differentiated again; psi and cotangent
 *               are then not read */
void fricp_contact_cotangent(const struct point_task *task, const struct point_task *along, enum fric_type type,
                             size_t i, long double psi, const double *cotangent, struct inputs *out);

#endif

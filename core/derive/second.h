/**
 * Second derivatives of the potential, contact by contact: the change along tangents of the result of a vjp with
 * potential cotangent 1. Only with respect to velocities, eps_v, coefficients, normal forces and weights (fric_second_derivative_product).
 * Geometry and directions are then constant, and every step between fields and force is linear, except the product of
 * weight and normal force and the blends of coefficients.
 */
#ifndef FRIC_DERIVE_SECOND_H
#define FRIC_DERIVE_SECOND_H

#include "core/derive/point.h"

/* Tangents in the form that contacts take. */
struct second {
	struct point_task vertices;
	struct point_task bodies; /* if there are any */
};

void fricp_second_prepare(const struct fric_derivation *derivation, const struct fric_differential *tangents,
                          struct second *second);

/* Replaces fricp_point_cotangent.
 * @param along  of struct second: the tangents
 * @param task   the backward pass, with the wanted cotangents */
void fricp_point_second(const struct point_task *along, const struct point_task *task,
                        const struct contact_point *point, struct inputs *out);

#endif

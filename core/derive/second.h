/**
 * Second derivatives of the potential, contact by contact: how what a vjp with the cotangent 1 of the potential gives
 * changes along tangents. Of velocities, eps_v, coefficients, normal forces and weights alone (fric_second), so that
 * geometry and directions are constants, and all that lies between fields and force is linear, but for the product of weight
 * and normal force and the blends of coefficients.
 */
#ifndef FRIC_DERIVE_SECOND_H
#define FRIC_DERIVE_SECOND_H

#include "core/derive/point.h"

/* Tangents, as contacts take them. */
struct second {
	struct point_task vertices;
	struct point_task bodies; /* if there are any */
};

void fricp_second_prepare(const struct fric_derivation *derivation, const struct fric_differential *tangents,
                          struct second *second);

/* In the place of fricp_point_cotangent. @param along  of struct second: the tangents
 * @param task  the way back, with the cotangents that are wanted */
void fricp_point_second(const struct point_task *along, const struct point_task *task,
                        const struct contact_point *point, struct inputs *out);

#endif

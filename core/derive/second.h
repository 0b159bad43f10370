/**
 * Second derivatives of the potential, contact by contact: how what a vjp with the cotangent 1 of the potential gives
 * changes along tangents. Of velocities, eps_v, coefficients, normal forces and weights alone (fric_second), so that
 * geometry and directions are constants, and all that lies between fields and force is linear, but for the product of weight
 * and normal force and the blends of coefficients.
 */
#ifndef FRIC_DERIVE_SECOND_H
#define FRIC_DERIVE_SECOND_H

#include "core/derive/body.h"
#include "core/derive/vertices.h"

/* Tangents, as contacts take them. */
struct second {
	struct vertex_derivation vertices;
	struct links links[FRIC_N_VERTEX_TYPES];
	struct body_derivation bodies; /* if there are any */
};

void fricp_second_prepare(const struct fric_derivation *derivation, const struct fric_differential *tangents,
                          struct second *second);

/* In the place of fricp_vertex_cotangent and fricp_body_cotangent. @param task  the way back, with the cotangents that are
 * wanted */
void fricp_vertex_second(const struct second *second, const struct vertex_derivation *task,
                         const struct vertex_point *point, struct inputs *out);
void fricp_body_second(const struct second *second, const struct body_derivation *task, const struct body_point *point,
                       struct body_cotangents *out);

#endif

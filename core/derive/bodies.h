/**
 * The bodies' part of fric_jvp and fric_vjp, in the plain form. Contacts of bodies (bodies/twist.h) have, beyond
 * contacts at vertices, arms from the bodies' points to the contact, and slip components for spinning and rolling, with
 * radii and a unit normal. Call these functions only if there are contacts of bodies. They report faults as the public
 * functions do.
 */
#ifndef FRIC_DERIVE_BODIES_H
#define FRIC_DERIVE_BODIES_H

#include "core/derive/fields.h"
#include "core/derive/second.h"

/**
 * @param curve      the tangent of a measured curve; NULL: none
 * @param potential  the bodies' part of the tangent is added to it
 * @param gradient   [n_dofs] the bodies' part of the tangent is overwritten
 * Allocates up to two wrenches per contact while it runs, from the context's memory.
 */
enum fric_code fricp_bodies_jvp(const struct fric_context *context, const struct fric_derivation *derivation,
                                const struct fric_differential *tangents, const struct table_piece_l *curve,
                                long double *potential, double *gradient, struct fric_error *error);

/**
 * @param psi, cotangent  of the potential, and [n_dofs] of the gradient
 * @param second          NULL, or tangents along which the result is differentiated again (second.h)
 * @param cotangents      rows per contact, body positions and the bodies' part of velocities and lagged velocities are
 *                        overwritten; the bodies' part is added to pair tables
 * @param totals          the sums of fields with one row for all contacts are added
 * @param pulls           [table.n] the sums of a measured curve are added; NULL: not wanted
 * Allocates one row per body of each contact while it runs, and a struct totals per FRIC_CHUNK contacts, from the
 * context's memory.
 */
enum fric_code fricp_bodies_vjp(const struct fric_context *context, const struct fric_derivation *derivation,
                                double psi, const double *cotangent, const struct second *second,
                                const struct fric_differential *cotangents, struct totals *totals,
                                struct table_pull *pulls, struct fric_error *error);

#endif

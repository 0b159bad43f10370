/**
 * The bodies' part of fric_jvp and fric_vjp, plain. What a contact of bodies has beside one at vertices (bodies/twist.h):
 * arms from the bodies' points to its own, the components of its slip that stand for spinning and rolling, with radii and
 * a unit normal. To be called with contacts that have bodies. Faults are reported as those of the public calls.
 */
#ifndef FRIC_DERIVE_BODIES_H
#define FRIC_DERIVE_BODIES_H

#include "core/derive/fields.h"
#include "core/derive/second.h"
#include "core/law/slopes.h"

/**
 * @param curve      the tangent of a measured curve; NULL: none
 * @param potential  the tangent of the bodies' part is added
 * @param gradient   [n_dofs] the tangent of the bodies' part is overwritten
 * Allocates up to two wrenches per contact while it runs, from the context's memory.
 */
enum fric_code fricp_bodies_jvp(const struct fric_context *context, const struct fric_derivation *derivation,
                                const struct fric_differential *tangents, const struct table_piece_l *curve,
                                long double *potential, double *gradient, struct fric_error *error);

/**
 * @param psi, cotangent  of the potential, and [n_dofs] of the gradient
 * @param second          NULL, or the tangents along which all is differentiated again (second.h)
 * @param cotangents      rows per contact, body positions and the bodies' part of velocities and lagged velocities are
 *                        overwritten; to tables of materials the bodies' part is added
 * @param totals          the sums of what has one row for all contacts are added
 * @param pulls           [table.n] the same of a measured curve; NULL: not wanted
 * Allocates what acts at each body of each contact while it runs, and a struct totals per FRIC_CHUNK contacts, from the
 * context's memory.
 */
enum fric_code fricp_bodies_vjp(const struct fric_context *context, const struct fric_derivation *derivation,
                                double psi, const double *cotangent, const struct second *second,
                                const struct fric_differential *cotangents, struct totals *totals,
                                struct table_pull *pulls, struct fric_error *error);

#endif

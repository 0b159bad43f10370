/**
 * The position Jacobian of contacts at vertices: derivatives of the gradient with respect to positions.
 *
 * A contact's gradient is Gamma^T F, at member k of its stencil w_k F. The force F and, through the closest point c,
 * the weights w depend only on three vectors r, a and b between positions (geometry/derivative_fast.h), because a
 * common translation changes nothing. The block of members k and l is
 *
 *     sum over v = r, a, b of sign_vl (w_k dF/dv + F (dw_k/dc dc/dv))
 *
 * where sign_vl is vector_sign (motion/stencil.h). So a contact needs only derivatives with respect to three vectors.
 */
#ifndef FRIC_DERIVE_JACOBIAN_H
#define FRIC_DERIVE_JACOBIAN_H

#include "core/derive/point.h"
#include "core/derive/spans.h"

/* Derivatives of one contact. All are zero if its geometry does not depend on positions, or if it was skipped. In 2D
 * third components are zero. The last number of each row is always zero and pads it to whole vectors. */
struct jacobian_local {
	double force_by[3][10]; /* dF/dr, dF/da and dF/db, each [3, 3] */
	double point_by[2][10]; /* [2] coordinates of the closest point, each with respect to r, a and b */
	double force[4];
	double weights[FRIC_MAX_STENCIL];
};

/* Whether point l moves if only vector v changes: a change of r moves the whole side at its tip. */
INLINE bool is_moved(enum fric_type type, int v, int l)
{
	const int origin = stencil_members(type)[l].origin;
	return l < n_points_of(type) && (vector_sign(type, v, l) > 0 || vector_sign(type, v, origin) > 0);
}

struct jacobian_task {
	struct span_source source;
	struct point_task plain;
	struct fric_differential positions; /* marks positions as wanted for the plain form; its numbers are not read */
	bool is_zero[FRIC_N_VERTEX_TYPES];  /* groups without derivatives: given geometry, and planes without barrier */
	double derivatives[FRIC_N_VERTEX_TYPES][2]
					  [FRIC_MAX_STENCIL]; /* derivatives of the weights with respect to the closest point: 1, -1 or 0 */
};

/* @param task  filled in; contains pointers to itself, so it must not be moved */
void fricp_jacobian_task(const struct fric_context *context, const struct fric_derivation *derivation,
                         struct jacobian_task *task);

/* Differentiates the contacts of a span. On a fault it sets *fault to the fault of the span's lowest contact.
 * @param streams  whether locals bypass the caches; then call stream_end afterwards
 * @param locals   [span.n]; overwritten */
void fricp_jacobian_span(const struct jacobian_task *task, struct span span, bool streams,
                         struct jacobian_local *locals, struct fault *fault);

/* Differentiates one contact in the plain form. @return whether all numbers fit doubles */
bool fricp_jacobian_plain(const struct jacobian_task *task, enum fric_type type, size_t i,
                          struct jacobian_local *local);

#endif

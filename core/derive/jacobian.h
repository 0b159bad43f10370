/**
 * What contacts at vertices add to the Jacobian of the gradient by positions.
 *
 * A contact's gradient is Gamma^T F, at member k of its stencil w_k F. The force F, and through the closest point c the
 * weights w, follow from positions by three vectors r, a and b between them (geometry/derivative_fast.h): positions that
 * move together change nothing. The block of members k and l is
 *
 *     sum over v = r, a, b of sign_vl (w_k dF/dv + F (dw_k/dc dc/dv))
 *
 * sign_vl = vector_sign (motion/stencil.h). So a contact needs only its derivatives with respect to three vectors.
 */
#ifndef FRIC_DERIVE_JACOBIAN_H
#define FRIC_DERIVE_JACOBIAN_H

#include "core/derive/point.h"
#include "core/derive/spans.h"

/* One contact; all zero if its geometry does not follow from positions, or if it was skipped. In 2D third components are
 * zero; so is the last number of each row, which is there for whole vectors. */
struct jacobian_local {
	double force_by[3][10]; /* dF/dr, dF/da and dF/db, each [3, 3] */
	double point_by[2][10]; /* of each closest-point coordinate: by r, a, b */
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
	struct fric_differential positions; /* what the plain form differentiates by: nothing reads the numbers */
	bool is_zero[FRIC_N_VERTEX_TYPES];  /* groups whose geometry is given, and planes without barrier */
	double derivatives[FRIC_N_VERTEX_TYPES][2]
					  [FRIC_MAX_STENCIL]; /* of weights with respect to the closest point: 1, -1 or 0 */
};

/* @param task  refers to itself: not to be moved */
void fricp_jacobian_task(const struct fric_context *context, const struct fric_derivation *derivation,
                         struct jacobian_task *task);

/* The contacts of a span; on a fault sets *fault to that of the first contact that has one.
 * @param streams  locals bypass the caches: to be followed by stream_end
 * @param locals   [span.n] */
void fricp_jacobian_span(const struct jacobian_task *task, struct span span, bool streams,
                         struct jacobian_local *locals, struct fault *fault);

/* One contact in the plain form. @return whether all numbers fit doubles */
bool fricp_jacobian_plain(const struct jacobian_task *task, enum fric_type type, size_t i,
                          struct jacobian_local *local);

#endif

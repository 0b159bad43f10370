#include "core/derive/jacobian.h"

#include <string.h>

#include "core/base/stream.h"

/* ---- the plain form ---- */

/* Stores the derivatives with respect to one component of one vector. @return whether they fit doubles */
static bool plain_column(const struct jacobian_task *task, const struct contact_point *point, int vector, int axis,
                         struct jacobian_local *local)
{
	struct inputs tangent = {{0}};
	struct point_change change;
	double sum = 0;
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		tangent.at[position_place(point->type, k) + axis] = is_moved(point->type, vector, k);
	fricp_point_tangent(&task->plain, point, &tangent, &change);
	for (int d = 0; d < task->source.kernel.contacts->dim; d++) {
		local->force[d] = (double)change.force[d];
		local->force_by[vector][3 * d + axis] = (double)change.force_tangent[d];
		sum += (local->force[d] + local->force_by[vector][3 * d + axis]) * 0;
	}
	for (int m = 0; m < fric_closest_point_size(point->type); m++) {
		local->point_by[m][3 * vector + axis] = (double)change.lever.closest_point[m];
		sum += local->point_by[m][3 * vector + axis] * 0;
	}
	return sum == 0;
}

bool fricp_jacobian_plain(const struct jacobian_task *task, enum fric_type type, size_t i, struct jacobian_local *local)
{
	const struct fric_contacts *c = task->source.kernel.contacts;
	struct contact_point point;
	bool finite = true;
	*local = (struct jacobian_local){0};
	if (task->is_zero[type] || c->skipped[i])
		return true;
	contact_weights(c, type, i, local->weights);
	fricp_point_at(&task->plain, type, i, &point);
	for (int v = 0; v < 3; v++)
		for (int axis = 0; axis < c->dim && has_vector(type, v); axis++)
			finite &= plain_column(task, &point, v, axis, local);
	return finite;
}

/* ---- spans in kernels ---- */

/* Stores row `row` of a contact's derivatives with respect to vector v; zeros if the type lacks this vector. */
INLINE void store_three(enum fric_type type, const struct jacobian_workspace *w, size_t j, int row, int v, double *out)
{
	UNROLL
	for (int d = 0; d < 3; d++)
		out[d] = has_vector(type, v) && row < 3 + closest_point_size_of(type) ? w->by[STENCIL_ROW * row + 3 * v + d][j]
		                                                                      : 0;
}

/* Copies results from columns per component to one struct per contact. */
INLINE void store_locals(enum fric_type type, const struct fric_contacts *c, struct span span,
                         const struct jacobian_workspace *w, struct jacobian_local *locals)
{
	for (size_t j = 0; j < w->n; j++) {
		const size_t i = w->first + j;
		struct jacobian_local *local = &locals[j];
		UNROLL
		for (int v = 0; v < 3; v++) {
			UNROLL
			for (int d = 0; d < 3; d++)
				store_three(type, w, j, d, v, &local->force_by[v][3 * d]);
			UNROLL
			for (int m = 0; m < 2; m++)
				store_three(type, w, j, 3 + m, v, &local->point_by[m][3 * v]);
			local->force[v] = w->of.at.force[v][i];
			local->force_by[v][9] = 0;
		}
		local->point_by[0][9] = local->point_by[1][9] = local->force[3] = 0;
		UNROLL
		for (int k = 0; k < FRIC_MAX_STENCIL; k++)
			local->weights[k] = 0;
		contact_weights(c, type, span.begin + i, local->weights);
	}
}

static void run_plain(const struct jacobian_task *task, enum fric_type type, size_t i, struct jacobian_local *local,
                      struct fault *fault)
{
	if (fault->code == FRIC_OK && !fricp_jacobian_plain(task, type, i, local))
		*fault = (struct fault){FRIC_E_NOT_FINITE, i};
}

/* Differentiates contacts [w->first, w->first + w->n) of a span. by_kernel: whether the workspace is filled in for the
 * kernel */
static void run_batch(const struct jacobian_task *task, struct span span, bool by_kernel, struct jacobian_workspace *w,
                      struct jacobian_local *locals, struct fault *fault)
{
	if (by_kernel) {
		task->source.kernel.kernels->derivatives->jacobian(span.type, w);
		FOR_TYPE(store_locals, span.type, task->source.kernel.contacts, span, w, locals)
	}
	for (size_t j = 0; j < w->n; j++)
		if (!by_kernel || w->of.good[w->first + j] == 0)
			run_plain(task, span.type, span.begin + w->first + j, &locals[j], fault);
}

void fricp_jacobian_span(const struct jacobian_task *task, struct span span, bool streams,
                         struct jacobian_local *locals, struct fault *fault)
{
	struct jacobian_local batch[JACOBIAN_BATCH];
	struct jacobian_workspace work;
	if (task->is_zero[span.type]) {
		memset(locals, 0, span.n * sizeof(*locals));
		return;
	}
	const bool by_kernel = task->source.fits[span.type] && fricp_span_law(&task->source, span, false, &work.of);
	if (by_kernel)
		fricp_span_geometry(&task->source, span, &work.of);
	for (work.first = 0; work.first < span.n; work.first += work.n) {
		work.n = span.n - work.first < JACOBIAN_BATCH ? span.n - work.first : JACOBIAN_BATCH;
		run_batch(task, span, by_kernel, &work, streams ? batch : locals + work.first, fault);
		if (streams)
			stream_bytes((char *)(locals + work.first), (const char *)batch, work.n * sizeof(*batch));
	}
}

/* Weights are linear in each closest-point coordinate, so differences give exact derivatives. */
static void find_derivatives(enum fric_type type, double derivatives[2][FRIC_MAX_STENCIL])
{
	double at_zero[FRIC_MAX_STENCIL] = {0}, at_one[FRIC_MAX_STENCIL] = {0};
	stencil_weights(type, 0, 0, at_zero);
	for (int m = 0; m < 2; m++) {
		stencil_weights(type, m == 0, m == 1, at_one);
		for (int k = 0; k < FRIC_MAX_STENCIL; k++)
			derivatives[m][k] = at_one[k] - at_zero[k];
	}
}

void fricp_jacobian_task(const struct fric_context *context, const struct fric_derivation *derivation,
                         struct jacobian_task *task)
{
	static double unread;
	*task = (struct jacobian_task){.source = fricp_span_source(context, derivation)};
	task->positions.fields[FRIC_WRT_POSITIONS] = &unread;
	fricp_point_task(derivation, &task->positions, false, &task->plain);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		task->is_zero[type] = !fricp_group_moves(derivation->batch, type);
		find_derivatives(type, task->derivatives[type]);
	}
}

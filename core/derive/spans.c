#include "core/derive/spans.h"

#include <math.h>
#include <string.h>

#include "core/motion/stencil.h"
#include "core/barrier/barrier.h"

/* Whether coefficients depend on positions. */
static bool coefficients_follow(const struct fric_derivation *d, enum fric_type type)
{
	const struct fric_batch *b = d->batch;
	const bool by_point = !b->groups[type].mu_s.data && fric_closest_point_size(type) > 0 &&
	                      (b->friction.source == FRIC_MU_VERTEX || b->friction.source == FRIC_MU_TABLE);
	const bool by_direction = d->vertices_follow && d->query->state && d->contacts->mu_s_aniso[0];
	return by_point || by_direction;
}

struct span_source fricp_span_source(const struct fric_context *context, const struct fric_derivation *derivation)
{
	struct span_source source = {
		.derivation = derivation,
		.kernel = fricp_kernel_task(context, derivation->contacts, derivation->query, KERNEL_FORCE)};
	/* the plain form carries more digits than the kernels, so its bits differ */
	if (source.kernel.kernels == &fricp_kernels_scalar)
		source.kernel.kernels = &fricp_kernels_baseline;
	source.runs = derivation->batch->dim == 3 && source.kernel.kernels->derivatives && source.kernel.ordinary;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		source.fits[type] = source.runs && !derivation->batch->groups[type].grain.data &&
		                    !derivation->contacts->searched[type] && !coefficients_follow(derivation, type);
	return source;
}

bool fricp_group_moves(const struct fric_batch *batch, enum fric_type type)
{
	const struct fric_group *g = &batch->groups[type];
	return !g->tangent_basis.data && (geometry_of(type) != POINT_PLANE || !g->normal_force.data);
}

/* The caller's bases may have any size and shape, but kernels assume that a basis is orthonormal. */
static void judge_bases(const struct fric_contacts *c, struct span span, double *good)
{
	static const double rounding = 0x1p-46;
	for (size_t j = 0; j < span.n; j++) {
		double f2 = 0, s2 = 0, fs = 0;
		for (int d = 0; d < 3; d++) {
			const double f = c->tangent_basis[2 * d][span.begin + j], s = c->tangent_basis[2 * d + 1][span.begin + j];
			f2 += f * f;
			s2 += s * s;
			fs += f * s;
		}
		good[j] = fabs(f2 - 1) < rounding && fabs(s2 - 1) < rounding && fabs(fs) < rounding;
	}
}

bool fricp_span_law(const struct span_source *source, struct span span, bool potentials, struct derivative_workspace *w)
{
	const struct kernel_task *kernel = &source->kernel;
	struct workspace *work = &w->at;
	fricp_load_span(kernel, span, work);
	kernel->kernels->force(work, potentials);
	const bool careful = work->careful;
	kernel->kernels->inner(work, FRIC_PROJECT_NONE);
	for (size_t j = 0; j < span.n; j++)
		w->good[j] = 1;
	if (kernel->contacts->given_basis[span.type])
		judge_bases(kernel->contacts, span, w->good);
	return !careful && !work->careful;
}

/* Whether the kernels compute derivatives with respect to an input of a contact. */
static bool is_known(enum place place)
{
	return place <= AT_EPS_V || (place >= AT_DHAT && place <= AT_DMIN);
}

static bool is_of_law(enum place place)
{
	return place >= AT_MU_S && place <= AT_EPS_V;
}

/* Whether coefficients come from vertices, tables or ellipses, which only the plain form differentiates. */
static bool has_other_coefficients(const struct point_task *v, enum fric_type type)
{
	const struct fric_differential *d = v->differential;
	bool wanted = d->fields[FRIC_WRT_CURVE_FACTORS] != NULL;
	for (enum fric_field field = FRIC_WRT_VERTEX_MU_S; field <= FRIC_WRT_MATERIAL_MU_K && !v->cases[type].own_mu;
	     field++)
		wanted |= d->fields[field] != NULL;
	return wanted;
}

static bool kernels_know(const struct span_source *source, const struct point_task *vertices, enum fric_type type,
                         bool *by_law)
{
	const struct links *links = &vertices->links[type];
	bool known = source->runs && (!vertices->cases[type].moves || source->fits[type]);
	*by_law = false;
	for (int l = 0; l < links->n; l++) {
		known &= is_known(links->link[l].first);
		*by_law |= is_of_law(links->link[l].first);
	}
	return known && !has_other_coefficients(vertices, type) && !(*by_law && vertices->slip_velocities) &&
	       !vertices->follows;
}

void fricp_choose_kernels(const struct point_task *vertices, struct span_source *source)
{
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		source->by_kernel[type] = kernels_know(source, vertices, type, &source->by_law[type]);
}

INLINE void members_of(enum fric_type type, const struct fric_contacts *c, struct span span, const double *rows,
                       span_column (*out)[3])
{
	UNROLL
	for (int k = 0; k < stencil_size_of(type); k++)
		for (size_t j = 0; j < span.n; j++) {
			const double *x = rows + 3 * (size_t)c->vertices[k][span.begin + j];
			out[k][0][j] = x[0];
			out[k][1][j] = x[1];
			out[k][2][j] = x[2];
		}
}

void fricp_span_members(const struct fric_contacts *contacts, struct span span, const double *rows,
                        span_column (*out)[3]){FOR_TYPE(members_of, span.type, contacts, span, rows, out)}

INLINE void along_of(enum fric_type type, const struct fric_contacts *c, struct span span, const double *v,
                     span_column (*out)[3])
{
	UNROLL
	for (int k = 0; k < stencil_size_of(type); k++) {
		const struct member m = stencil_members(type)[k];
		for (size_t j = 0; j < span.n && m.origin != k; j++) {
			const double *from = v + 3 * (size_t)c->vertices[m.origin][span.begin + j];
			const double *to = v + 3 * (size_t)c->vertices[k][span.begin + j];
			out[m.coordinate][0][j] = m.sign * (to[0] - from[0]);
			out[m.coordinate][1][j] = m.sign * (to[1] - from[1]);
			out[m.coordinate][2][j] = m.sign * (to[2] - from[2]);
		}
	}
}

void fricp_span_along(const struct fric_contacts *contacts, struct span span, const double *v, span_column (*out)[3])
{
	FOR_TYPE(along_of, span.type, contacts, span, v, out)
}

/* Loads rows of a group as columns; zeros if the group lacks the field. */
static void load_rows(struct fric_values values, size_t first, size_t n, span_column *out)
{
	for (size_t j = 0; j < n; j++)
		for (size_t d = 0; d < 3; d++)
			out[d][j] = values.data ? values.data[(first + j) * values.stride + d] : 0;
}

/* Loads derivatives of normal forces with respect to distances and to the barrier's parameters. */
static void load_barrier(const struct span_source *source, struct span span, struct derivative_workspace *w)
{
	const struct fric_batch *b = source->derivation->batch;
	const struct fric_contacts *c = source->kernel.contacts;
	const bool given = b->groups[span.type].normal_force.data;
	for (size_t j = 0; j < span.n; j++) {
		struct barrier_rates by = {0};
		if (!given && !c->skipped[span.begin + j])
			fricp_barrier_rates(&b->barrier, c->distance[span.begin + j], &by);
		w->stiffness[j] = by.by_distance;
		w->barrier[0][j] = by.by_dhat;
		w->barrier[1][j] = by.by_stiffness;
		w->barrier[2][j] = by.by_dmin;
	}
}

void fricp_span_geometry(const struct span_source *source, struct span span, struct derivative_workspace *w)
{
	const struct fric_contacts *c = source->kernel.contacts;
	const struct fric_group *g = &source->derivation->batch->groups[span.type];
	const size_t first = span.begin - c->start[span.type];
	for (int m = 0; m < 2; m++)
		w->closest_point[m] = c->closest_point[m] + span.begin;
	fricp_span_members(c, span, source->derivation->batch->positions, w->position);
	fricp_span_along(c, span, source->kernel.velocities, w->along);
	if (faces_world(span.type))
		load_rows(g->plane_origin, first, span.n, w->position[stencil_size_of(span.type)]);
	if (w->at.anchored)
		load_rows(g->anchor, first, span.n, w->anchor);
	load_barrier(source, span, w);
}

bool fricp_span_inputs(const struct span_source *source, const struct point_task *vertices, struct span span,
                       struct derivative_workspace *w, bool *moves)
{
	if (!fricp_span_law(source, span, true, w))
		return false;
	*moves = vertices->cases[span.type].moves && fricp_group_moves(vertices->batch, span.type);
	if (*moves)
		fricp_span_geometry(source, span, w);
	else
		load_barrier(source, span, w);
	return true;
}

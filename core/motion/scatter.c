#include "core/motion/scatter.h"

#include <string.h>

#include "core/base/inline.h"
#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/base/vectors.h"
#include "core/motion/dofs.h"
#include "core/motion/stencil.h"

enum {
	AHEAD = 256,           /* vertices */
	FETCH_MOST = 64 << 10, /* bytes; more would be evicted before they are used */
};

/* ---- the plain form ---- */

/* A span's forces: component d of contact j is at axis[d][j * stride]. */
struct forces {
	const double *axis[3];
	size_t stride;
};

/* gradient += w (x) force for a span. The same for 2D and 3D, rows and columns: type, dim and stride are constants
 * after inlining. */
INLINE void add_whole(enum fric_type type, size_t dim, size_t stride, const struct fric_contacts *c, struct span span,
                      const double *const axis[3], double *g)
{
	const double *x = axis[0], *y = axis[1], *z = axis[2];
	for (size_t j = 0; j < span.n; j++) {
		const size_t i = span.begin + j;
		double w[FRIC_MAX_STENCIL] = {0};
		contact_weights(c, type, i, w);
		for (int k = 0; k < stencil_size_of(type); k++) {
			double *out = g + member_dof(c, (int)dim, type, k, i);
			add_double2(out, w[k] * (double2){x[j * stride], y[j * stride]});
			if (dim == 3)
				out[2] += w[k] * z[j * stride];
		}
	}
}

static void add_plain(const struct fric_contacts *c, struct span span, const struct forces *f, double *g)
{
	if (c->dim == 3 && f->stride == 1)
		FOR_TYPE(add_whole, span.type, 3, 1, c, span, f->axis, g)
	else if (c->dim == 3)
		FOR_TYPE(add_whole, span.type, 3, 3, c, span, f->axis, g)
	else if (f->stride == 1)
		FOR_TYPE(add_whole, span.type, 2, 1, c, span, f->axis, g)
	else
		FOR_TYPE(add_whole, span.type, 2, 2, c, span, f->axis, g)
}

/* Without branches, which would be mispredicted: what is not wanted is added to numbers that nothing reads. */
static void add_part(const struct scatter *s, struct span span, const struct forces *f)
{
	const struct fric_contacts *c = s->contacts;
	double elsewhere[FRIC_MAX_STENCIL][3] = {{0}};
	for (size_t j = 0; j < span.n; j++) {
		const size_t i = span.begin + j;
		double w[FRIC_MAX_STENCIL] = {0};
		contact_weights(c, span.type, i, w);
		for (int k = 0; k < fric_stencil_size(span.type); k++) {
			const int32_t v = c->vertices[k][i];
			double *out = v >= s->first && v < s->last ? s->gradient + vertex_dof(c->dim, (size_t)v) : elsewhere[k];
			for (int d = 0; d < c->dim; d++)
				out[d] += w[k] * f->axis[d][j * f->stride];
		}
	}
}

/* ---- */

static bool lies_within(const struct scatter *s, struct span span)
{
	const struct span_extent extent = s->contacts->extents[span_slot(span)];
	return extent.lowest >= s->first && extent.highest < s->last;
}

void fricp_scatter_columns(const struct scatter *s, struct span span, const double *forces)
{
	const struct forces f = {{forces, forces + FRIC_SPAN, forces + 2 * FRIC_SPAN}, 1};
	const bool plain = s->contacts->dim == 2 || !s->gamma, whole = lies_within(s, span);
	if (plain && whole)
		add_plain(s->contacts, span, &f, s->gradient);
	else if (plain)
		add_part(s, span, &f);
	else if (whole)
		s->gamma->scatter(s->contacts, span, forces, s->gradient);
	else
		s->gamma->scatter_part(s->contacts, span, forces, s->first, s->last, s->gradient);
}

void fricp_scatter_rows(const struct scatter *s, struct span span, const double *forces)
{
	const struct forces f = {{forces, forces + 1, forces + 2}, (size_t)s->contacts->dim};
	if (lies_within(s, span))
		add_plain(s->contacts, span, &f, s->gradient);
	else
		add_part(s, span, &f);
}

static bool is_stopped(const struct scatter *s)
{
	return s->context && fricp_stop_raised(s->context);
}

static void set_to_zero(const struct scatter *s, double *sums, size_t bytes)
{
	if (s->context)
		fricp_zero(s->context, sums, bytes);
	else
		memset(sums, 0, bytes);
}

/* Prepares vertices [opened, end) for use: sets their sums to zero and prefetches their velocities, in sequence now
 * rather than with a stall for each later. */
static void open_vertices(struct scatter *s, int32_t end)
{
	const int dim = s->contacts->dim;
	const size_t first = vertex_dof(dim, (size_t)s->opened);
	const size_t bytes = (vertex_dof(dim, (size_t)end) - first) * sizeof(double);
	set_to_zero(s, s->gradient + first, bytes);
	for (size_t at = 0; at < bytes && bytes <= FETCH_MOST && s->velocities; at += FRIC_ALIGNMENT)
		__builtin_prefetch((const char *)(s->velocities + first) + at, 0, 2);
	s->opened = end;
}

void fricp_scatter_reach(struct scatter *s, struct span span)
{
	const int32_t highest = s->contacts->extents[span_slot(span)].highest;
	if (highest >= s->opened && s->opened < s->last)
		open_vertices(s, s->last - highest > AHEAD ? highest + AHEAD : s->last);
}

bool fricp_scatter_close(struct scatter *s)
{
	const int dim = s->contacts->dim;
	const size_t first = vertex_dof(dim, (size_t)s->first), last = vertex_dof(dim, (size_t)s->last);
	open_vertices(s, s->last);
	return s->ordinary || is_stopped(s) || all_finite(s->gradient + first, last - first);
}

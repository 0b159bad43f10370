/**
 * A span of contacts while it is prepared, for the files of this wing.
 */
#ifndef FRIC_DRAFTS_H
#define FRIC_DRAFTS_H

#include <stdatomic.h>

#include "core/contacts/span.h"
#include "core/geometry/geometry.h"
#include "core/kernels/kernels.h"

static inline const double *row(struct fric_values values, size_t i)
{
	return values.data + i * values.stride;
}

struct feature_tables; /* span_features.h */

struct preparation {
	const struct fric_batch *batch;
	struct fric_contacts *contacts;
	const struct fric_kernels *kernels;
	const struct feature_tables *tables; /* set if features are searched */
	atomic_size_t n_skipped;
	atomic_bool some_extreme, some_extreme_mu; /* some contacts, or some coefficients, are not ordinary */
};

/* A span in preparation. Below, j counts its contacts. */
struct drafts {
	const struct preparation *task;
	const struct fric_group *group;
	struct span span;
	size_t first;            /* index of the span's first contact in its group */
	uint8_t code[FRIC_SPAN]; /* [n] enum fric_code of each contact */
};

static inline const double *row_at(const struct drafts *d, struct fric_values values, size_t j)
{
	return row(values, d->first + j);
}

static inline const int32_t *stencil_at(const struct drafts *d, size_t j)
{
	return d->group->vertices + (d->first + j) * (size_t)stencil_size_of(d->span.type);
}

/* Returns the position of one of a type's points. */
static inline const double *position_at(const struct drafts *d, size_t j, int v)
{
	const struct fric_batch *b = d->task->batch;
	if (v == stencil_size_of(d->span.type))
		return row_at(d, d->group->plane_origin, j);
	return b->positions + (size_t)stencil_at(d, j)[v] * (size_t)b->dim;
}

static inline void positions_at(const struct drafts *d, size_t j, const double *p[FRIC_MAX_STENCIL])
{
	for (int v = 0; v < n_points_of(d->span.type); v++)
		p[v] = position_at(d, j, v);
}

static inline const double *normal_at(const struct drafts *d, size_t j)
{
	return row_at(d, is_of_bodies(d->span.type) ? d->group->normal : d->group->plane_normal, j);
}

static inline void store_geometry(const struct drafts *d, size_t j, const struct fric_geometry *g)
{
	struct fric_contacts *c = d->task->contacts;
	const size_t at = d->span.begin + j;
	for (int m = 0; m < 2; m++)
		c->closest_point[m][at] = g->closest_point[m];
	for (int e = 0; e < c->dim * (c->dim - 1); e++)
		c->tangent_basis[e][at] = g->tangent_basis[e];
	c->distance[at] = g->distance;
	if (c->right)
		c->right[at] = g->right;
}

#endif

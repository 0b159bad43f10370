/**
 * Coefficients and normal forces from the published formulas (docs/physics.md 3), in long double, for any batch.
 */
#ifndef TESTS_PUBLISHED_H
#define TESTS_PUBLISHED_H

#include "tests/property/bodies.h"

/* An expected value, unless rounding may change it much, and the size of the terms that it is computed from. */
struct published {
	bool known;
	long double value, size;
};

/* Number of members on the first side of a stencil; the others are on the second. */
static inline size_t first_side(enum fric_type type)
{
	return type == FRIC_EDGE_EDGE ? 2 : 1;
}

/* ---- coefficients ---- */

static inline long double published_blend(enum fric_blend blend, long double a, long double b)
{
	switch (blend) {
	case FRIC_MEAN: return (a + b) / 2;
	case FRIC_MIN: return fminl(a, b);
	case FRIC_MAX: return fmaxl(a, b);
	case FRIC_PRODUCT: return a * b;
	case FRIC_GEOMETRIC_MEAN: return sqrtl(a * b);
	default: return 2 * a * b / (a + b);
	}
}

/* @param w  [k] weights of the stencil, negative on the second side */
static inline struct published from_values(const struct fric_friction *f, enum fric_type type, const int32_t *v,
                                           const double *w, const double *mu)
{
	const bool smooth = f->blend != FRIC_GEOMETRIC_MEAN && f->blend != FRIC_HARMONIC_MEAN;
	long double side[2] = {0, 0}, size = 0;
	for (size_t k = 0; k < (size_t)fric_stencil_size(type); k++) {
		side[k >= first_side(type)] += (long double)(k < first_side(type) ? w[k] : -w[k]) * mu[v[k]];
		size += fabsl((long double)w[k] * mu[v[k]]);
	}
	if (faces_world(type))
		return (struct published){true, side[0], size};
	return (struct published){smooth || (side[0] > 1e-3L * size && side[1] > 1e-3L * size),
	                          published_blend(f->blend, side[0], side[1]), size * (1 + size)};
}

static inline struct published from_pairs(const struct fric_friction *f, enum fric_type type, const int32_t *v,
                                          const double *w, const double *table)
{
	const size_t n = first_side(type), end = (size_t)fric_stencil_size(type), m = f->n_materials;
	const int32_t *material = type >= FRIC_BODY_BODY ? f->body_material : f->vertex_material;
	const bool alone = end == n; /* on the plane, or on a body in contact with the world */
	struct published p = {true, 0, 0};
	for (size_t i = 0; i < n; i++)
		for (size_t j = n; j < (alone ? n + 1 : end); j++) {
			const size_t other = (size_t)(alone ? f->plane_material : material[v[j]]);
			const long double term = (w ? (long double)w[i] * (alone ? 1 : -w[j]) : 1) *
			                         table[(size_t)material[v[i]] * m + other];
			p.value += term;
			p.size += fabsl(term);
		}
	return p;
}

/* The scalar coefficient of contact i. @param kind  0 static, 1 kinetic; @param w  NULL for bodies */
static inline struct published published_mu(const struct fric_batch *b, enum fric_type type, size_t i, int kind,
                                            const double *w)
{
	const struct fric_group *g = &b->groups[type];
	const struct fric_friction *f = &b->friction;
	const struct fric_values own = kind ? g->mu_k : g->mu_s;
	const int32_t *v = g->vertices + i * (size_t)fric_stencil_size(type);
	const double scalar = own.data ? own.data[i * own.stride] : kind ? f->mu_k : f->mu_s;
	if (own.data || f->source == FRIC_MU_SCALAR)
		return (struct published){true, scalar, scalar};
	if (f->source == FRIC_MU_VERTEX)
		return from_values(f, type, v, w, kind ? f->vertex_mu_k : f->vertex_mu_s);
	return from_pairs(f, type, v, w, kind ? f->material_mu_k : f->material_mu_s);
}

/* The coefficient along an ellipse, if there is one. @param slip lagged, after velocity scaling */
static inline struct published along_axes(struct published scalar, struct fric_values axes, size_t i,
                                          const long double slip[2], double eps_v)
{
	const double *a = axes.data ? axes.data + i * axes.stride : NULL;
	const long double length = hypotl(slip[0], slip[1]);
	const bool rests = length < 1e-10L * eps_v;
	if (!a || (a[0] == 0 && a[1] == 0))
		return scalar;
	const bool known = fabsl(length - 1e-10L * eps_v) > 1e-10L * length || length == 0;
	return (struct published){known, rests ? a[0] : hypotl(a[0] * slip[0] / length, a[1] * slip[1] / length),
	                          fabs(a[0]) + fabs(a[1])};
}

/* ---- normal forces ---- */

static inline long double published_barrier(enum fric_barrier_type type, long double sigma, long double top)
{
	const long double l = logl(sigma / top), below = top - sigma;
	switch (type) {
	case FRIC_CLAMPED_LOG: return -below * below * l;
	case FRIC_NORMALIZED_CLAMPED_LOG: return -below * below * l / (top * top);
	case FRIC_CLAMPED_LOG_SQUARED: return below * below * l * l;
	case FRIC_CUBIC_BARRIER: return 2 * below * below * below / (3 * top);
	default: return sigma >= top / 2 ? below * below / 2 : top * top / 4 * (0.5L - logl(2 * sigma / top));
	}
}

/* -stiffness b'(sigma) 2 distance, from differences of b, and the physical scaling. */
static inline struct published published_force(const struct fric_barrier *barrier, double distance)
{
	const long double d = distance, dmin = barrier->dmin, dhat = barrier->dhat;
	const long double sigma = d * d - dmin * dmin, top = (2 * dmin + dhat) * dhat;
	const long double units = barrier->type == FRIC_NORMALIZED_CLAMPED_LOG ? 1 : top * top;
	const long double scale = barrier->scaling == FRIC_SCALING_PHYSICAL ? dhat / units : 1;
	const long double h = 1e-4L * fminl(sigma, fabsl(top - sigma));
	if (sigma >= top)
		return (struct published){true, 0, 0};
	const long double slope =
		(published_barrier(barrier->type, sigma - h, top) - published_barrier(barrier->type, sigma + h, top)) / (2 * h);
	const long double force = barrier->stiffness * slope * 2 * d * scale;
	return (struct published){top - sigma > 1e-9L * top, force, force};
}

#endif

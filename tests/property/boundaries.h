/**
 * Random scenes on both sides of every branch that the library takes: a row of a covering array (covering.h) chooses one
 * level of each factor below.
 */
#ifndef TESTS_BOUNDARIES_H
#define TESTS_BOUNDARIES_H

#include "tests/property/covering.h"
#include "tests/property/differentials.h"

enum factor {
	BY_DIM,        /* 3D, 2D */
	BY_TYPES,      /* all, none, the first, the last, the middle ones, all but the middle ones */
	BY_BODIES,     /* none, pairs and world, pairs, world, both with long arms, both with extreme radii */
	BY_COUNT,      /* contacts of a type: 4, 1, 64, 65, 150, 1025 */
	BY_LAYOUT,     /* few vertices, disjoint, near, near with a few far, a hub, at the ends of a ring, shuffled */
	BY_LAW,        /* cubic, quadratic, peak, stribeck, exponential, curve, adhesion */
	BY_SOURCE,     /* source of coefficients: each contact's own, scalar, vertices, table */
	BY_BLEND,      /* blends of coefficients at vertices, all six */
	BY_MU,         /* different, equal, some static zero, some kinetic zero */
	BY_GEOMETRY,   /* derived, given, of unit length but skew, of any length */
	BY_GRAIN,      /* no, yes, close to the normal */
	BY_FORCE,      /* given, some zero, barrier of five kinds, one that ends between the contacts */
	BY_WEIGHT,     /* 1, of both signs, some zero, all zero, all tiny, of all sizes */
	BY_ANISO,      /* no, yes, far from 1 */
	BY_ELLIPSES,   /* no, yes, some axes zero, axes nearly equal */
	BY_OWN,        /* eps_v and stribeck_speed: of the law, of contacts, of contacts with steep tails, of a steep law */
	BY_SURFACE,    /* no, yes */
	BY_ANCHOR_SET, /* no, yes */
	BY_DRAG,       /* no, of the law, of contacts */
	BY_SHARING,    /* one row per contact, some rows shared */
	BY_SLIP,       /* random, at rest, all slide, all stick, on thresholds and knots, far below and above */
	BY_FOLLOWING,  /* directions of coefficients: constant, follow at vertices, follow at bodies, both */
	BY_PROJECTION, /* none, clamp, abs */
	BY_TRIANGLE,   /* full, upper, lower */
	BY_VECTORS,    /* 1, 3, 4, 8, 11 */
	BY_PLACE,      /* near the origin, far from it */
	BY_LAGGED,     /* slips at lagged velocities: random, about 1e-10 eps_v, zero */
	BY_TANGENTS,   /* tangents of fields: random, zero in most rows, tiny, huge */
	BY_FEATURES,   /* closest features: given, searched */
	N_FACTORS
};

enum { SLIP_RANDOM, SLIP_REST, SLIP_SLIDES, SLIP_STICKS, SLIP_EXACT, SLIP_FAR };
enum { LAYOUT_FEW, LAYOUT_DISJOINT, LAYOUT_NEAR, LAYOUT_SOME_FAR, LAYOUT_HUB, LAYOUT_RING, LAYOUT_SHUFFLED };
enum { BODIES_FAR = 4, BODIES_EXTREME, OWN_STEEP = 2, LAW_STEEP, WEIGHT_TINY = 4, WEIGHT_MIXED, FORCE_ENDS = 7 };
enum { TANGENTS_SPARSE = 1, TANGENTS_TINY, TANGENTS_HUGE };

static const int factor_levels[N_FACTORS] = {2, 6, 6, 6, 7, 7, 4, 6, 4, 4, 3, 8, 6, 3, 4,
                                             4, 2, 2, 3, 2, 6, 4, 3, 3, 5, 2, 3, 4, 2};

/* Levels 0 to 2 are the transitions of the smooth law; the others are the other types. */
static inline enum fric_law_type law_at(int level)
{
	return level < 3 ? FRIC_SMOOTH : (enum fric_law_type)(level - 2);
}

static inline bool one_coefficient(const struct row *row)
{
	return law_has(law_of(&(struct fric_law){.type = law_at(row->level[BY_LAW])}), LAW_ONE_MU);
}

static inline void repair_geometry(int *l)
{
	if (l[BY_SLIP] == SLIP_EXACT && l[BY_TYPES] != 1)
		l[BY_GEOMETRY] = 1;
	if (l[BY_DIM] == 1 && l[BY_GEOMETRY] == 2)
		l[BY_GEOMETRY] = 3;
	if (l[BY_GEOMETRY] > 0 || l[BY_DIM] == 1)
		l[BY_GRAIN] = 0;
	if ((l[BY_GEOMETRY] > 0 || l[BY_TYPES] == 1) && l[BY_FORCE] > 1)
		l[BY_FORCE] = 0;
}

/* Resolves levels that exclude each other. */
static inline void repair_row(struct row *row)
{
	int *l = row->level;
	if (l[BY_DIM] == 1 && l[BY_TYPES] == 4)
		l[BY_TYPES] = 0;
	if (l[BY_TYPES] == 1 && l[BY_BODIES] == 0)
		l[BY_BODIES] = 1;
	if (l[BY_TYPES] == 1)
		l[BY_LAYOUT] = LAYOUT_FEW;
	if (l[BY_SLIP] == SLIP_EXACT && l[BY_TYPES] != 1)
		l[BY_LAYOUT] = LAYOUT_DISJOINT;
	repair_geometry(l);
	if (l[BY_SOURCE] != 2)
		l[BY_BLEND] = 0;
	if (one_coefficient(row))
		l[BY_MU] = 1;
	if (l[BY_DIM] == 1 || l[BY_MU] == 1)
		l[BY_ELLIPSES] = 0;
	if (l[BY_ELLIPSES] == 0)
		l[BY_LAGGED] = 0;
	if (l[BY_LAGGED] > 0) /* these are added to lagged slips, too */
		l[BY_SURFACE] = l[BY_ANCHOR_SET] = 0;
}

/* ---- the scene ---- */

static inline size_t contacts_of_type(const struct row *row, enum fric_type type)
{
	static const size_t counts[] = {4, 1, 64, 65, 150, 1025};
	const size_t n = counts[row->level[BY_COUNT]];
	/* at most 1000 contacts of each of three types */
	return n == 1025 && (type == FRIC_EDGE_VERTEX || type == FRIC_FACE_VERTEX) ? 65 : n;
}

static inline bool has_type(const struct row *row, enum fric_type type)
{
	switch (row->level[BY_TYPES]) {
	case 0: return true;
	case 1: return false;
	case 2: return type == FRIC_VERTEX_VERTEX;
	case 3: return faces_world(type);
	case 4: return fric_closest_point_size(type) == 2;
	default: return fric_closest_point_size(type) < 2;
	}
}

/* Vertices without contacts have the highest numbers and, in a long scene, also numbers between the others. */
static inline size_t vertices_of(const struct row *row, size_t n_each)
{
	switch (row->level[BY_LAYOUT]) {
	case LAYOUT_FEW: return 12;
	case LAYOUT_NEAR: return 40 + 2 * n_each;
	case LAYOUT_HUB: return 24 + 3 * n_each;
	case LAYOUT_SHUFFLED: return 1500;
	default: return 9000;
	}
}

static inline struct options options_of(const struct row *row, struct rng *rng)
{
	const int *l = row->level;
	const size_t n_each = contacts_of_type(row, FRIC_VERTEX_VERTEX);
	struct options o = {.dim = l[BY_DIM] ? 2 : 3, .n_each = n_each, .n_vertices = vertices_of(row, n_each)};
	o.disjoint = l[BY_LAYOUT] == LAYOUT_DISJOINT;
	o.reach = l[BY_LAYOUT] == LAYOUT_NEAR || l[BY_LAYOUT] == LAYOUT_SOME_FAR ? 20 : 0;
	o.law = law_at(l[BY_LAW]);
	o.transition = (enum fric_transition)(l[BY_LAW] < 3 ? l[BY_LAW] : 0);
	o.own_mu = l[BY_SOURCE] == 0;
	o.source = l[BY_SOURCE] == 0 ? FRIC_MU_NONE : (enum fric_mu_source)l[BY_SOURCE];
	o.blend = (enum fric_blend)l[BY_BLEND];
	o.equal_mu = l[BY_MU] == 1;
	o.barrier = l[BY_FORCE] > 1;
	o.given_geometry = l[BY_GEOMETRY] > 0;
	o.mu_aniso = l[BY_ANISO] > 0;
	o.ellipses = l[BY_ELLIPSES] > 0;
	o.signed_weights = l[BY_WEIGHT] > 0;
	o.own_eps_v = o.own_stribeck_speed = l[BY_OWN] == 1 || l[BY_OWN] == OWN_STEEP;
	o.surface_velocity = l[BY_SURFACE];
	o.anchor = l[BY_ANCHOR_SET];
	o.grain = l[BY_GRAIN] > 0;
	o.search = l[BY_FEATURES];
	o.own_viscous = l[BY_DRAG] == 2;
	o.viscous = l[BY_DRAG] == 1 ? uniform(rng, 10, 500) : 0;
	return o;
}

static inline double *numbers_of(struct fric_values values)
{
	return (double *)values.data;
}

/* Sets some rows to zero: the first, the last and every fifth. */
static inline void zero_some(struct fric_values values, size_t n, size_t width)
{
	for (size_t i = 0; i < n && values.data; i++)
		for (size_t d = 0; d < width && (i % 5 == 3 || i == 0 || i + 1 == n); d++)
			numbers_of(values)[i * values.stride + d] = 0;
}

/* How far the moved member of contact i is from its place in the layout, in vertex numbers. */
static inline size_t far_away(int layout, size_t i, size_t n_vertices)
{
	static const size_t ends[] = {2047, 2048, 2049, 4095, 4096, 4097};
	if (layout == LAYOUT_SOME_FAR)
		return i % 256 == 70 || i == 2 ? n_vertices / 2 : 0;
	return i % 64 == 5 ? ends[i / 64 % 6] : 0;
}

/* Stencils of the layouts that scene.h does not make. */
static inline void lay_out(struct scene *s, int layout, enum fric_type type)
{
	struct fric_group *g = &s->batch.groups[type];
	const size_t k = (size_t)fric_stencil_size(type), n_vertices = s->batch.n_vertices;
	int32_t *v = (int32_t *)g->vertices;
	/* the first span starts at the beginning of the ring, the second ends one vertex beyond it */
	for (size_t i = 0; i < g->n && layout == LAYOUT_RING && k == 1; i++)
		v[i] = (int32_t)(i < 64 ? i : i < 128 ? 4033 + i - 64 : 4100 + i % 64);
	for (size_t i = 0; i < g->n && !(layout == LAYOUT_RING && k == 1); i++) {
		if (layout == LAYOUT_HUB)
			for (size_t j = 0; j < k; j++)
				v[i * k + j] = (int32_t)(j == i % k ? 7 : 8 + (3 * i + j) % (n_vertices - 16));
		if (layout == LAYOUT_RING)
			for (size_t j = 0; j < k; j++)
				v[i * k + j] = (int32_t)((i * 16 + j) % (n_vertices / 2));
		if (layout == LAYOUT_RING || layout == LAYOUT_SOME_FAR) {
			const size_t away = far_away(layout, i, n_vertices);
			for (size_t j = 0; j + 1 < k && away; j++)
				v[i * k + j] = (int32_t)(j + i);
			if (away)
				v[i * k + k - 1] = (int32_t)((i + away + k < n_vertices ? i + away : n_vertices - 1));
		}
	}
}

/* Columns of unit length that are not perpendicular, or columns of any length. */
static inline void bend_basis(struct rng *rng, int level, int dim, double *basis)
{
	const double x = uniform(rng, 0.3, 2), tilt = uniform(rng, 0.1, 0.9) * (coin(rng) ? 1 : -1),
				 rest = sqrt(1 - tilt * tilt);
	for (int d = 0; d < dim && dim == 3; d++) {
		basis[2 * d + 1] = level == 2 ? tilt * basis[2 * d] + rest * basis[2 * d + 1] : basis[2 * d + 1];
		if (level == 3)
			basis[2 * d + 1] *= x;
	}
	for (int d = 0; d < dim && dim == 2 && level == 3; d++)
		basis[d] *= x;
}

static inline void bend_bases(struct rng *rng, int level, int dim, struct fric_group *g)
{
	/* half of the spans keep their bases */
	for (size_t i = 0; i < g->n && g->tangent_basis.data && level > 1; i++)
		if (i / 8 % 2 == 0)
			bend_basis(rng, level, dim, numbers_of(g->tangent_basis) + i * g->tangent_basis.stride);
}

static inline void set_weights(struct fric_group *g, int level)
{
	if (level == 2)
		zero_some(g->weight, g->n, 1);
	for (size_t i = 0; i < g->n && level == 3; i++)
		numbers_of(g->weight)[i] = 0;
	for (size_t i = 0; i < g->n && level >= WEIGHT_TINY; i++)
		numbers_of(g->weight)[i] *=
			ldexp(1, level == WEIGHT_TINY ? -320 : (int)(i / 3 % 4) * 30 - 60 - (i % 70 == 69) * 300);
}

/* Velocity scalings far from 1 and from each other. */
static inline void stretch_slips(struct fric_group *g, size_t width)
{
	static const double scales[] = {1, 1e3, 1e-3, 1e8, 1 + 1e-9};
	for (size_t i = 0; i < g->n && g->mu_aniso.data; i++)
		for (size_t t = 0; t < width; t++)
			numbers_of(g->mu_aniso)[i * width + t] = scales[(i + t * (1 + i / 5)) % 5];
}

/* Axes that differ by a millionth, by a few roundings or not at all. */
static inline void round_ellipses(struct fric_values ellipse, size_t n)
{
	static const double more[] = {1e-6, -1e-6, 0x1p-50, 0};
	for (size_t i = 0; i < n && ellipse.data; i++)
		numbers_of(ellipse)[2 * i + 1] = numbers_of(ellipse)[2 * i] * (1 + more[i % 4]);
}

/* Speeds around the limit up to which plain doubles are accurate enough. The first contact has an ordinary speed. */
static inline void steepen(struct fric_group *g)
{
	static const int powers[] = {0, 15, -3, 16, -20, 17, 1, 20};
	for (size_t i = 0; i < g->n && g->stribeck_speed.data; i++)
		numbers_of(g->stribeck_speed)[i] = g->eps_v.data[i] * ldexp(i % 3 ? 1 : 0.999, -powers[i % 8]);
}

/* Makes a curve's first or last piece so short that it is steep. */
static inline void shorten_piece(struct fric_curve *curve, bool last)
{
	double *speeds = (double *)curve->speeds;
	if (last)
		speeds[curve->n - 1] = speeds[curve->n - 2] + 0x1p-30;
	else
		speeds[1] = 0x1p-30;
}

static inline void set_extremes(struct scene *s, const struct row *row, struct fric_group *g)
{
	if (row->level[BY_ANISO] == 2)
		stretch_slips(g, (size_t)s->batch.dim - 1);
	if (row->level[BY_ELLIPSES] == 3) {
		round_ellipses(g->mu_s_aniso, g->n);
		round_ellipses(g->mu_k_aniso, g->n);
	}
	if (row->level[BY_OWN] == OWN_STEEP)
		steepen(g);
	for (size_t i = 0; i < g->n && g->point.data && row->level[BY_BODIES] == BODIES_EXTREME; i++) {
		static const double sizes[] = {1, 1e6, 1e-6, 0};
		if (g->spin_radius.data)
			numbers_of(g->spin_radius)[i] *= sizes[i % 4];
		if (g->roll_radius.data)
			numbers_of(g->roll_radius)[i] *= sizes[i / 4 % 4];
	}
}

/* Sets zeros in the fields for which the row's levels require them. */
static inline void set_zeros(struct scene *s, const struct row *row, enum fric_type type)
{
	struct fric_group *g = &s->batch.groups[type];
	set_weights(g, row->level[BY_WEIGHT]);
	if (row->level[BY_FORCE] == 1)
		zero_some(g->normal_force, g->n, 1);
	if (row->level[BY_MU] == 2 || row->level[BY_MU] == 3)
		zero_some(row->level[BY_MU] == 2 ? g->mu_s : g->mu_k, g->n, 1);
	if (row->level[BY_ELLIPSES] == 2) {
		zero_some(g->mu_s_aniso, g->n, 2);
		zero_some(g->mu_k_aniso, g->n, 1);
	}
}

/* ---- exact slips ---- */

/* A speed at a threshold or a knot, or the next double on either side. */
static inline double exact_speed(const struct fric_friction *f, double eps_v, size_t i)
{
	const struct fric_curve *c = &f->law.curve;
	const double knot = f->law.type == FRIC_CURVE ? eps_v + c->speeds[i / 13 % c->n] : 1.5 * eps_v;
	const double at[] = {eps_v, 2 * eps_v, knot, 0, eps_v / 2};
	const double x = at[i % 5];
	switch (i / 5 % 5) {
	case 1: return nextafter(x, 0);
	case 2: return nextafter(x, INFINITY);
	default: return x;
	}
}

static inline double field_or(struct fric_values values, size_t i, size_t d, double otherwise)
{
	return values.data ? values.data[i * values.stride + d] : otherwise;
}

/* Makes slips exact: bases along axes; factors and terms that are powers of two. */
static inline void align(struct scene *s, struct fric_group *g, bool bodies)
{
	const size_t dim = (size_t)s->batch.dim;
	for (size_t i = 0; i < g->n; i++) {
		double *basis = numbers_of(g->tangent_basis) + i * dim * (dim - 1);
		memset(basis, 0, dim * (dim - 1) * sizeof(double));
		for (size_t t = 0; t + 1 < dim; t++)
			basis[t * (dim - 1) + t] = 1;
		for (size_t d = 0; d < dim && bodies; d++)
			numbers_of(g->normal)[i * dim + d] = d + 1 == dim;
		for (size_t t = 0; t + 1 < dim && g->mu_aniso.data; t++)
			numbers_of(g->mu_aniso)[i * (dim - 1) + t] = ldexp(1, (int)(i + t) % 3 - 1);
		for (size_t d = 0; d < dim && g->anchor.data; d++)
			numbers_of(g->anchor)[i * dim + d] = 0;
		for (size_t d = 0; d < dim && g->surface_velocity.data; d++)
			numbers_of(g->surface_velocity)[i * dim + d] = 0;
	}
	if (g->closest_point.data)
		memset(numbers_of(g->closest_point), 0, g->n * g->closest_point.stride * sizeof(double));
}

/* Only the first member moves, along one axis. */
static inline void set_exact(struct scene *s, enum fric_type type)
{
	struct fric_group *g = &s->batch.groups[type];
	const bool bodies = type >= FRIC_BODY_BODY;
	const size_t dim = (size_t)s->batch.dim, k = (size_t)fric_stencil_size(type);
	if (!g->n || !g->tangent_basis.data)
		return;
	align(s, g, bodies);
	for (size_t i = 0; i < g->n; i++) {
		const size_t v = (size_t)g->vertices[i * k], axis = i % (dim - 1);
		double *out = s->velocities + (bodies ? first_twist(s) + v * twist_size(s) : v * dim);
		const double speed = exact_speed(&s->batch.friction, field_or(g->eps_v, i, 0, s->batch.friction.eps_v), i);
		out[axis] = speed / field_or(g->mu_aniso, i, axis, 1);
		if (i % 3 == 1)
			out[axis] = -out[axis];
	}
}

static inline void set_velocities(struct scene *s, struct rng *rng, int level)
{
	const size_t n = scene_ndof(s);
	static const double sizes[] = {1e-170, 1e-3, 1e+90, 1e-320};
	for (size_t i = 0; i < n; i++) {
		double *v = &s->velocities[i];
		*v = level == SLIP_REST || level == SLIP_EXACT ? 0
		     : level == SLIP_SLIDES                    ? *v * 100
		     : level == SLIP_STICKS                    ? *v * 0.05
		                                               : *v;
		if (level == SLIP_FAR)
			*v *= sizes[i / 100 % 3] / 1e-3;
	}
	(void)rng;
	for (enum fric_type type = 0; type < FRIC_N_TYPES && level == SLIP_EXACT; type++)
		set_exact(s, type);
}

/* ---- */

static inline void set_group(struct scene *s, struct rng *rng, const struct row *row, enum fric_type type)
{
	struct fric_group *g = &s->batch.groups[type];
	const bool bodies = type >= FRIC_BODY_BODY;
	if (!bodies && !has_type(row, type))
		*g = (struct fric_group){0};
	if (!bodies && g->n > contacts_of_type(row, type))
		g->n = contacts_of_type(row, type);
	if (!bodies && row->level[BY_LAYOUT] >= LAYOUT_SOME_FAR && row->level[BY_LAYOUT] <= LAYOUT_RING && g->n)
		lay_out(s, row->level[BY_LAYOUT], type);
	bend_bases(rng, row->level[BY_GEOMETRY], s->batch.dim, g);
	if (g->n) {
		set_extremes(s, row, g);
		set_zeros(s, row, type);
	}
}

/* With exact slips every body is in one contact, so that contacts do not disturb each other. */
static inline void part_bodies(struct scene *s)
{
	size_t next = 0;
	for (enum fric_type type = FRIC_BODY_BODY; type <= FRIC_BODY_WORLD; type++) {
		const struct fric_group *g = &s->batch.groups[type];
		for (size_t i = 0; i < g->n * (size_t)fric_stencil_size(type); i++)
			((int32_t *)g->vertices)[i] = (int32_t)next++;
		for (size_t i = 0; i < g->n; i++) /* without arms nothing is rounded */
			for (int d = 0; d < s->batch.dim; d++) {
				const size_t body = (size_t)g->vertices[i * (size_t)fric_stencil_size(type)];
				numbers_of(g->point)[i * (size_t)s->batch.dim + (size_t)d] =
					s->batch.body_positions[body * (size_t)s->batch.dim + (size_t)d];
			}
	}
}

static inline void set_bodies(struct scene *s, struct rng *rng, const struct row *row)
{
	const int level = row->level[BY_BODIES];
	const size_t n = contacts_of_type(row, FRIC_BODY_BODY), pairs = level == 3 ? 0 : n, world = level == 2 ? 0 : n;
	const bool exact = row->level[BY_SLIP] == SLIP_EXACT;
	const size_t n_bodies = exact ? 2 * pairs + world + 1 : 3 + n / 2;
	if (level == 0)
		return;
	const bool radii = n % 2 == 1 || level == BODIES_EXTREME || coin(rng);
	scene_add_bodies(s, rng, (struct body_options){n_bodies, pairs, world, radii, level == BODIES_FAR && !exact});
	if (exact)
		part_bodies(s);
}

static inline void set_barrier(struct scene *s, int level)
{
	static const enum fric_barrier_type types[] = {FRIC_CLAMPED_LOG,         FRIC_CUBIC_BARRIER,
	                                               FRIC_TWO_STAGE,           FRIC_NORMALIZED_CLAMPED_LOG,
	                                               FRIC_CLAMPED_LOG_SQUARED, FRIC_TWO_STAGE};
	if (level < 2)
		return;
	s->batch.barrier.type = types[level - 2];
	s->batch.barrier.scaling = level % 2 ? FRIC_SCALING_PHYSICAL : FRIC_SCALING_NONE;
	s->batch.barrier.dmin = 1e-3;
	if (level == FORCE_ENDS)
		s->batch.barrier.dhat = 0.6;
}

/* Some disjoint contacts are near degenerate: edges almost parallel, slivers, a vertex almost on its edge. */
static inline void degrade(struct scene *s, struct rng *rng, enum fric_type type)
{
	const struct fric_group *g = &s->batch.groups[type];
	const size_t dim = (size_t)s->batch.dim, k = (size_t)fric_stencil_size(type);
	double *x = (double *)s->batch.positions;
	for (size_t i = 20; i < g->n && k > 2; i += 7) {
		const int32_t *v = g->vertices + i * k;
		const size_t moved = type == FRIC_EDGE_VERTEX ? 0 : 3, from = type == FRIC_EDGE_EDGE ? 2 : 1;
		const size_t a = type == FRIC_EDGE_EDGE ? 0 : 1, b = type == FRIC_EDGE_EDGE ? 1 : 2;
		for (size_t d = 0; d < dim; d++)
			x[(size_t)v[type == FRIC_FACE_VERTEX ? 3 : moved] * dim + d] =
				x[(size_t)v[from] * dim + d] + 0.4 * (x[(size_t)v[b] * dim + d] - x[(size_t)v[a] * dim + d]) +
				uniform(rng, -1, 1) * ldexp(1, -(int)(i / 7 % 30));
	}
}

/* Some disjoint contacts are degenerate, and skipped: all their vertices are in one place. */
static inline void collapse(struct scene *s, enum fric_type type)
{
	const struct fric_group *g = &s->batch.groups[type];
	const size_t dim = (size_t)s->batch.dim, k = (size_t)fric_stencil_size(type);
	double *x = (double *)s->batch.positions;
	for (size_t i = 3; i < g->n; i += 23)
		for (size_t j = 1; j < k; j++)
			memcpy(x + (size_t)g->vertices[i * k + j] * dim, x + (size_t)g->vertices[i * k] * dim,
			       dim * sizeof(double));
}

/* Grains within a thousandth of the normal that the contact had before. */
static inline void tilt_grains(struct scene *s)
{
	struct fric_contacts *c;
	struct fric_error error;
	assert_ok(fric_prepare(&serial, &s->batch, &c, &error));
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		const struct fric_group *g = &s->batch.groups[type];
		double *basis = calloc(6 * g->n + 1, sizeof(double));
		if (g->n && g->grain.data)
			assert_ok(fric_contact_output(&serial, c, scene_query(c, s->velocities), type, FRIC_OUT_TANGENT_BASIS,
			                              basis, &error));
		for (size_t i = 0; i < g->n && g->grain.data; i++) {
			const double *p = basis + 6 * i, tilt = ldexp(1, -(int)(i % 10));
			double *grain = numbers_of(g->grain) + i * g->grain.stride;
			for (int d = 0; d < 3; d++) {
				const int x = (d + 1) % 3, y = (d + 2) % 3;
				grain[d] = tilt * grain[d] + (p[2 * x] * p[2 * y + 1] - p[2 * y] * p[2 * x + 1]);
			}
		}
		free(basis);
	}
	fric_contacts_free(c);
}

static inline void move_rows(struct fric_values values, size_t n, size_t dim)
{
	for (size_t i = 0; i < n * dim && values.data; i++)
		numbers_of(values)[i] += i % dim == 1 ? -1024 : 2048;
}

/* Moves everything far from the origin. */
static inline void move_away(struct scene *s)
{
	struct fric_batch *b = &s->batch;
	const size_t dim = (size_t)b->dim;
	move_rows((struct fric_values){b->positions, dim}, b->n_vertices, dim);
	move_rows((struct fric_values){b->body_positions, dim}, b->n_bodies, dim);
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		move_rows(b->groups[type].plane_origin, b->groups[type].n, dim);
		move_rows(b->groups[type].point, b->groups[type].n, dim);
	}
}

/* Sets some coefficients of vertices and of pairs of materials to zero. A geometric mean has no derivative there. */
static inline void zero_sources(struct fric_friction *f, size_t n_vertices, bool kinetic)
{
	double *at_vertices = (double *)(kinetic ? f->vertex_mu_k : f->vertex_mu_s);
	double *of_pairs = (double *)(kinetic ? f->material_mu_k : f->material_mu_s);
	for (size_t v = 0; v < n_vertices && f->blend != FRIC_GEOMETRIC_MEAN; v++)
		if (v % 5 == 3 || v == 0)
			at_vertices[v] = 0;
	of_pairs[1] = of_pairs[f->n_materials] = 0;
}

static inline void boundary_scene(const struct row *row, uint64_t seed, struct scene *s)
{
	struct rng rng = {seed};
	scene_create(s, &rng, options_of(row, &rng));
	part_factors(&s->batch.friction.law.curve);
	set_barrier(s, row->level[BY_FORCE]);
	set_bodies(s, &rng, row);
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		set_group(s, &rng, row, type);
	if (row->level[BY_MU] >= 2)
		zero_sources(&s->batch.friction, s->batch.n_vertices, row->level[BY_MU] == 3);
	if (row->level[BY_OWN] == LAW_STEEP)
		s->batch.friction.law.stribeck_speed = s->batch.friction.eps_v * 0x1p-17;
	if (row->level[BY_OWN] >= OWN_STEEP && s->batch.friction.law.type == FRIC_CURVE)
		shorten_piece(&s->batch.friction.law.curve, row->level[BY_OWN] == LAW_STEEP);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES && row->level[BY_LAYOUT] == LAYOUT_DISJOINT; type++)
		degrade(s, &rng, type);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES && row->level[BY_LAYOUT] == LAYOUT_DISJOINT; type++)
		collapse(s, type);
	if (row->level[BY_PLACE])
		move_away(s);
	if (row->level[BY_GRAIN] == 2)
		tilt_grains(s);
	if (row->level[BY_SHARING] && row->level[BY_SLIP] != SLIP_EXACT)
		share_rows(s, &rng);
	for (size_t i = 0, n = scene_ndof(s); i < n && row->level[BY_LAGGED]; i++)
		s->lagged[i] *= row->level[BY_LAGGED] == 1 ? 1e-10 : 0;
	set_velocities(s, &rng, row->level[BY_SLIP]);
}

/* ---- parts of a scene ---- */

/* Chosen contacts of each group, in any order and with repetitions. */
struct choice {
	size_t n[FRIC_N_TYPES], *of[FRIC_N_TYPES];
};

static inline const double *chosen_rows(struct scene *s, struct fric_values values, size_t n, const size_t *of,
                                        size_t width)
{
	double *out = scene_memory(s, n * width, sizeof(double));
	for (size_t i = 0; i < n; i++)
		memcpy(out + i * width, values.data + of[i] * values.stride, width * sizeof(double));
	return out;
}

/* The scene with only these contacts; owned by `s`. */
static inline struct scene scene_of(struct scene *s, const struct choice *choice)
{
	struct scene part = *s;
	part.n_memory = 0;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		struct fric_group *g = &part.batch.groups[type];
		const size_t n = choice->n[type], k = (size_t)fric_stencil_size(type);
		int32_t *vertices = scene_memory(s, n * k, sizeof(int32_t));
		for (size_t i = 0; i < n * k; i++)
			vertices[i] = g->vertices[choice->of[type][i / k] * k + i % k];
		g->vertices = vertices;
		g->n = n;
		for (enum fric_row row = 0; row < FRIC_N_ROWS; row++) {
			struct fric_values *values = (struct fric_values *)fricp_group_row(g, row);
			const size_t width = (size_t)fricp_row_width(type, s->batch.dim, row);
			if (values->data && values->stride)
				*values = (struct fric_values){chosen_rows(s, *values, n, choice->of[type], width), width};
		}
	}
	return part;
}

#endif

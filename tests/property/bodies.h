/**
 * Bodies in random batches.
 */
#ifndef TESTS_BODIES_H
#define TESTS_BODIES_H

#include "tests/property/hessians.h"

/* Additional options of a scene with bodies: the numbers of bodies, and of contacts of each of the two types. */
struct body_options {
	size_t n_bodies, n_pairs, n_world;
	bool radii, far; /* arms have length 1000 instead of 1 */
};

static inline size_t twist_size(const struct scene *s)
{
	return s->batch.dim == 3 ? 6 : 3;
}

static inline size_t first_twist(const struct scene *s)
{
	return s->batch.n_vertices * (size_t)s->batch.dim;
}

/* The vertices' velocities, then twists whose slips are about eps_v. */
static inline double *with_twists(struct scene *s, struct rng *rng, const double *velocities, double arm)
{
	const size_t first = first_twist(s), dim = (size_t)s->batch.dim, n = s->batch.n_bodies * twist_size(s);
	double *v = scene_memory(s, first + n, sizeof(double));
	memcpy(v, velocities, first * sizeof(double));
	for (size_t e = 0; e < n; e++)
		v[first + e] = 1e-3 * uniform(rng, -1, 1) / (e % twist_size(s) < dim ? 1 : arm);
	return v;
}

static inline int32_t *random_bodies(struct scene *s, struct rng *rng, enum fric_type type, size_t n)
{
	const size_t k = (size_t)fric_stencil_size(type);
	int32_t *bodies = scene_memory(s, n * k, sizeof(int32_t));
	for (size_t i = 0; i < n; i++)
		random_stencil(rng, s->batch.n_bodies, (int)k, bodies + i * k);
	return bodies;
}

static inline void random_body_group(struct scene *s, struct rng *rng, enum fric_type type, size_t n,
                                     const struct body_options *b)
{
	const struct options *o = &s->options;
	struct fric_group *g = &s->batch.groups[type];
	const size_t dim = (size_t)s->batch.dim;
	const double arm = b->far ? 1000 : 1;
	if (n == 0)
		return;
	*g = (struct fric_group){.n = n, .vertices = random_bodies(s, rng, type, n)};
	g->point = random_values(s, rng, n, dim, -arm, arm);
	g->normal = random_values(s, rng, n, dim, -1, 1);
	g->normal_force = random_values(s, rng, n, 1, 0.1, 5);
	if (b->radii && dim == 3)
		g->spin_radius = random_values(s, rng, n, 1, 0, arm);
	if (b->radii)
		g->roll_radius = random_values(s, rng, n, 1, 0, arm);
	if (o->given_geometry) {
		double *basis = scene_memory(s, n * dim * (dim - 1), sizeof(double));
		for (size_t i = 0; i < n; i++)
			random_basis(rng, s->batch.dim, basis + i * dim * (dim - 1));
		g->tangent_basis = (struct fric_values){basis, dim * (dim - 1)};
	}
	random_fields(s, rng, g);
	if (o->source == FRIC_MU_VERTEX && !o->own_mu) {
		g->mu_s = random_values(s, rng, n, 1, 0.05, 1.5);
		g->mu_k = o->equal_mu ? g->mu_s : random_values(s, rng, n, 1, 0.05, 1.5);
	}
}

static inline void scene_add_bodies(struct scene *s, struct rng *rng, struct body_options b)
{
	struct fric_batch *batch = &s->batch;
	const double arm = b.far ? 1000 : 1;
	batch->n_bodies = b.n_bodies;
	batch->body_positions = random_reals(s, rng, b.n_bodies * (size_t)batch->dim, -arm, arm);
	int32_t *material = scene_memory(s, b.n_bodies, sizeof(int32_t));
	for (size_t i = 0; i < b.n_bodies; i++)
		material[i] = (int32_t)below(rng, batch->friction.n_materials);
	batch->friction.body_material = material;
	random_body_group(s, rng, FRIC_BODY_BODY, b.n_pairs, &b);
	random_body_group(s, rng, FRIC_BODY_WORLD, b.n_world, &b);
	s->velocities = with_twists(s, rng, s->velocities, arm);
	s->lagged = with_twists(s, rng, s->lagged, arm);
}

static inline void scene_without_vertices(struct scene *s)
{
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		s->batch.groups[type] = (struct fric_group){0};
}

#endif

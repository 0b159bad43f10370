/**
 * Random batches with velocities. A seed yields the same scene on every machine.
 */
#ifndef TESTS_SCENE_H
#define TESTS_SCENE_H

#include "core/base/types.h"
#include "core/law/law.h"
#include "tests/unit/core/check.h"

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng) /* xorshift64* */
{
	uint64_t x = rng->state ? rng->state : 88172645463325252u;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	rng->state = x;
	return x * 2685821657736338717u;
}

static inline double uniform(struct rng *rng, double low, double high)
{
	return low + (high - low) * ((double)(rng_next(rng) >> 11) * 0x1p-53);
}

static inline size_t below(struct rng *rng, size_t n)
{
	return (size_t)(rng_next(rng) >> 16) % n;
}

static inline bool coin(struct rng *rng)
{
	return below(rng, 2) == 1;
}

struct options {
	int dim;
	size_t n_each, n_vertices; /* contacts of each type; number of vertices, ignored if disjoint */
	bool disjoint;             /* no vertex belongs to two contacts */
	size_t reach;              /* unless 0: contacts are in vertex order, and span no more vertices than this */
	enum fric_law_type law;
	enum fric_transition transition;
	bool own_mu;                /* each contact has its own coefficients */
	enum fric_mu_source source; /* source of coefficients if not own_mu */
	enum fric_blend blend;
	bool equal_mu; /* mu_s == mu_k */
	bool barrier;  /* instead of normal forces */
	bool given_geometry;
	bool mu_aniso, ellipses, signed_weights, own_eps_v;
	bool surface_velocity, anchor, grain, own_viscous;
	double viscous; /* drag of contacts without their own */
	bool own_stribeck_speed;
	bool search;    /* closest features are searched */
	bool mollifier; /* half of the edge_edge contacts have one, below which about a third of these are */
};

struct scene {
	struct options options;
	struct fric_batch batch;
	double *velocities, *lagged; /* [n_vertices*dim] */
	void *memory[2000];
	int n_memory;
};

/* Adds offsets and drags to half of all scenes, each alone and combined. */
static inline void random_offsets(struct options *o, struct rng *rng)
{
	const bool some = coin(rng);
	o->surface_velocity = some && coin(rng);
	o->anchor = some && coin(rng);
	o->grain = some && o->dim == 3 && !o->given_geometry && coin(rng);
	o->own_viscous = some && coin(rng);
	o->viscous = some && coin(rng) ? uniform(rng, 0, 500) : 0;
}

static inline void no_offsets(struct options *o)
{
	o->surface_velocity = o->anchor = o->own_viscous = false;
	o->viscous = 0;
}

static inline struct options random_options(struct rng *rng, int dim)
{
	struct options o = {.dim = dim, .n_each = 3 + below(rng, 3), .n_vertices = 10 + below(rng, 4)};
	o.transition = (enum fric_transition)below(rng, 3);
	o.own_mu = below(rng, 3) == 0;
	o.source = (enum fric_mu_source)(FRIC_MU_SCALAR + below(rng, 3));
	o.blend = (enum fric_blend)below(rng, 6);
	o.given_geometry = below(rng, 4) == 0;
	o.barrier = !o.given_geometry && below(rng, 3) == 0;
	o.mu_aniso = coin(rng);
	o.ellipses = dim == 3 && coin(rng);
	o.signed_weights = coin(rng);
	o.own_eps_v = coin(rng);
	random_offsets(&o, rng);
	o.law = coin(rng) ? FRIC_SMOOTH : (enum fric_law_type)below(rng, 5);
	o.own_stribeck_speed = coin(rng);
	o.equal_mu = law_has(law_of(&(struct fric_law){.type = o.law}), LAW_ONE_MU);
	o.ellipses &= !o.equal_mu;
	return o;
}

static inline void *scene_memory(struct scene *s, size_t n, size_t size)
{
	void *memory = calloc(n + 1, size);
	assert_non_null(memory);
	assert_true(s->n_memory < 2000);
	s->memory[s->n_memory++] = memory;
	return memory;
}

static inline double *random_reals(struct scene *s, struct rng *rng, size_t n, double low, double high)
{
	double *x = scene_memory(s, n, sizeof(double));
	for (size_t i = 0; i < n; i++)
		x[i] = uniform(rng, low, high);
	return x;
}

static inline struct fric_values random_values(struct scene *s, struct rng *rng, size_t n, size_t m, double low,
                                               double high)
{
	return (struct fric_values){random_reals(s, rng, n * m, low, high), m};
}

/* Draws distinct vertices for a stencil. */
static inline void random_stencil(struct rng *rng, size_t n_vertices, int k, int32_t *stencil)
{
	for (int i = 0; i < k; i++) {
		bool fresh;
		do {
			fresh = true;
			stencil[i] = (int32_t)below(rng, n_vertices);
			for (int j = 0; j < i; j++)
				fresh &= stencil[j] != stencil[i];
		} while (!fresh);
	}
}

static inline int32_t *random_stencils(struct scene *s, struct rng *rng, enum fric_type type, size_t n, size_t *used)
{
	const size_t k = (size_t)fric_stencil_size(type);
	int32_t *vertices = scene_memory(s, n * k, sizeof(int32_t));
	for (size_t i = 0; i < n; i++) {
		const size_t reach = s->options.reach, room = reach ? reach : s->batch.n_vertices;
		if (!s->options.disjoint)
			random_stencil(rng, room, (int)k, vertices + i * k);
		for (size_t j = 0; j < k && reach; j++)
			vertices[i * k + j] += (int32_t)(i * (s->batch.n_vertices - reach) / n);
		for (size_t j = 0; j < k && s->options.disjoint; j++)
			vertices[i * k + j] = (int32_t)(*used)++;
	}
	return vertices;
}

/* Orthonormal columns of [dim, dim-1]: the first ones of a random rotation. */
static inline void random_basis(struct rng *rng, int dim, double *basis)
{
	double a[3], b[3], norm = 0, dot = 0, rest = 0;
	for (int i = 0; i < dim; i++)
		a[i] = uniform(rng, -1, 1), b[i] = uniform(rng, -1, 1), norm += a[i] * a[i];
	for (int i = 0; i < dim; i++)
		a[i] /= sqrt(norm), dot += a[i] * b[i];
	for (int i = 0; i < dim; i++)
		b[i] -= dot * a[i], rest += b[i] * b[i];
	for (int i = 0; i < dim; i++) {
		basis[i * (dim - 1)] = a[i];
		if (dim == 3)
			basis[2 * i + 1] = b[i] / sqrt(rest);
	}
}

static inline void random_geometry(struct scene *s, struct rng *rng, enum fric_type type, struct fric_group *g)
{
	const size_t dim = (size_t)s->options.dim, m = (size_t)fric_closest_point_size(type), rows = dim * (dim - 1);
	double *basis = scene_memory(s, g->n * rows, sizeof(double));
	for (size_t i = 0; i < g->n; i++)
		random_basis(rng, s->options.dim, basis + i * rows);
	g->tangent_basis = (struct fric_values){basis, rows};
	if (m)
		g->closest_point = random_values(s, rng, g->n, m, 0, 0.5);
}

static inline void random_group_offsets(struct scene *s, struct rng *rng, struct fric_group *g)
{
	const struct options *o = &s->options;
	const size_t n = g->n, dim = (size_t)o->dim;
	if (o->surface_velocity)
		g->surface_velocity = random_values(s, rng, n, dim, -1e-3, 1e-3);
	if (o->anchor)
		g->anchor = random_values(s, rng, n, dim, -1e-3, 1e-3);
	if (o->grain)
		g->grain = random_values(s, rng, n, 3, -1, 1);
	if (o->own_viscous)
		g->viscous = random_values(s, rng, n, 1, 0, 500);
}

/* Fields that contacts of all types may have. */
static inline void random_fields(struct scene *s, struct rng *rng, struct fric_group *g)
{
	const struct options *o = &s->options;
	const size_t n = g->n, dim = (size_t)o->dim;
	if (o->own_mu) {
		g->mu_s = random_values(s, rng, n, 1, 0.05, 1.5);
		g->mu_k = o->equal_mu ? g->mu_s : random_values(s, rng, n, 1, 0.05, 1.5);
	}
	if (o->signed_weights)
		g->weight = random_values(s, rng, n, 1, -1, 2);
	if (o->own_eps_v)
		g->eps_v = random_values(s, rng, n, 1, 0.5e-3, 2e-3);
	if (o->own_stribeck_speed)
		g->stribeck_speed = random_values(s, rng, n, 1, 0.3e-3, 3e-3);
	if (o->mu_aniso)
		g->mu_aniso = random_values(s, rng, n, dim - 1, 0.3, 2);
	if (o->ellipses) {
		g->mu_s_aniso = random_values(s, rng, n, 2, 0, 1);
		g->mu_k_aniso = random_values(s, rng, n, 2, 0, 1);
	}
	random_group_offsets(s, rng, g);
}

static inline void random_group(struct scene *s, struct rng *rng, enum fric_type type, size_t *used)
{
	const struct options *o = &s->options;
	struct fric_group *g = &s->batch.groups[type];
	if (o->dim == 2 && fric_closest_point_size(type) == 2)
		return;
	const size_t n = g->n = o->n_each, dim = (size_t)o->dim;
	g->vertices = random_stencils(s, rng, type, n, used);
	if (o->given_geometry)
		random_geometry(s, rng, type, g);
	if (!o->given_geometry && geometry_of(type) == POINT_PLANE)
		g->plane_normal = random_values(s, rng, n, dim, -1, 1);
	if (!o->given_geometry && faces_world(type))
		g->plane_origin = random_values(s, rng, n, dim, -1, 1);
	if (!o->barrier)
		g->normal_force = random_values(s, rng, n, 1, 0.1, 5);
	random_fields(s, rng, g);
}

/* A curve that falls, rises and vanishes within the speeds of a scene. */
static inline void random_curve(struct scene *s, struct rng *rng, struct fric_curve *curve)
{
	const size_t n = 2 + below(rng, 6);
	double *speeds = random_reals(s, rng, n, 0.2e-3, 0.8e-3), *factors = random_reals(s, rng, n, 0, 1.5);
	speeds[0] = 0;
	factors[0] = 1;
	for (size_t k = 1; k < n; k++) {
		speeds[k] += speeds[k - 1];
		factors[k] = below(rng, 6) ? factors[k] : 0;
	}
	*curve = (struct fric_curve){n, speeds, factors, NULL};
}

static inline void random_friction(struct scene *s, struct rng *rng)
{
	const struct options *o = &s->options;
	struct fric_friction *f = &s->batch.friction;
	enum { N_MATERIALS = 4 };
	f->law.transition = o->law == FRIC_SMOOTH ? o->transition : FRIC_CUBIC;
	f->law.type = o->law;
	f->law.stribeck_speed = 0.8e-3;
	f->law.viscous = o->viscous;
	if (o->law == FRIC_CURVE)
		random_curve(s, rng, &f->law.curve);
	f->eps_v = 1e-3;
	f->source = o->source;
	f->mu_s = 0.7;
	f->mu_k = o->equal_mu ? 0.7 : 0.3;
	f->blend = o->blend;
	f->vertex_mu_s = random_reals(s, rng, s->batch.n_vertices, 0.4, 0.8);
	f->vertex_mu_k = o->equal_mu ? f->vertex_mu_s : random_reals(s, rng, s->batch.n_vertices, 0.2, 0.5);
	int32_t *material = scene_memory(s, s->batch.n_vertices, sizeof(int32_t));
	for (size_t i = 0; i < s->batch.n_vertices; i++)
		material[i] = (int32_t)below(rng, N_MATERIALS);
	f->vertex_material = material;
	f->plane_material = 2;
	f->n_materials = N_MATERIALS;
	double *table_s = random_reals(s, rng, N_MATERIALS * N_MATERIALS, 0.4, 0.8);
	double *table_k = random_reals(s, rng, N_MATERIALS * N_MATERIALS, 0.2, 0.5);
	for (int i = 0; i < N_MATERIALS; i++)
		for (int j = 0; j < i; j++)
			table_s[4 * i + j] = table_s[4 * j + i], table_k[4 * i + j] = table_k[4 * j + i];
	f->material_mu_s = table_s;
	f->material_mu_k = o->equal_mu ? table_s : table_k;
}

/* Speeds from well below to well above eps_v. */
static inline double *random_velocities(struct scene *s, struct rng *rng)
{
	const size_t dim = (size_t)s->options.dim;
	double *v = random_reals(s, rng, s->batch.n_vertices * dim, -1, 1);
	for (size_t i = 0; i < s->batch.n_vertices * dim; i++)
		v[i] *= 1e-3 * (i / dim % 3 == 0 ? 2 : 0.6);
	return v;
}

/* Uses random numbers of its own, so that other values do not depend on the option. */
static inline void random_features(struct scene *s)
{
	struct rng rng = {s->batch.n_vertices + 77};
	struct fric_group *g = &s->batch.groups[FRIC_EDGE_EDGE];
	s->batch.closest_features = s->options.search ? FRIC_FEATURES_SEARCH : FRIC_FEATURES_GIVEN;
	if (!s->options.mollifier || s->options.given_geometry || !g->n)
		return;
	g->mollifier = random_values(s, &rng, g->n, 1, 0, 2);
	for (size_t i = 1; i < g->n; i += 2)
		((double *)g->mollifier.data)[i] = 0;
}

static inline void scene_create(struct scene *s, struct rng *rng, struct options options)
{
	size_t used = 0, members = 0;
	*s = (struct scene){.options = options};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		members += options.dim == 3 || fric_closest_point_size(type) < 2 ? (size_t)fric_stencil_size(type) : 0;
	if (options.disjoint)
		options.n_vertices = options.n_each * members;
	s->batch.dim = options.dim;
	s->batch.n_vertices = options.n_vertices;
	s->batch.skip_degenerate = true; /* blending at a closest point far outside may make a coefficient negative */
	s->batch.barrier = (struct fric_barrier){.dhat = 5, .stiffness = 0.01};
	s->batch.positions = random_reals(s, rng, options.n_vertices * (size_t)options.dim, -1, 1);
	random_friction(s, rng);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		random_group(s, rng, type, &used);
	random_features(s);
	s->velocities = random_velocities(s, rng);
	s->lagged = random_velocities(s, rng);
}

/* Leaves out contacts whose second side is fixed in space. */
static inline void scene_without_world(struct scene *s)
{
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		if (faces_world(type))
			s->batch.groups[type].n = 0;
}

static inline void scene_free(struct scene *s)
{
	while (s->n_memory > 0)
		free(s->memory[--s->n_memory]);
}

static inline size_t scene_ndof(const struct scene *s)
{
	return s->batch.n_vertices * (size_t)s->batch.dim + s->batch.n_bodies * (s->batch.dim == 3 ? 6 : 3);
}

/* States by contacts, so that tests need not pass them on. */
struct scene_state {
	const struct fric_contacts *contacts;
	struct fric_state *state;
};

static inline struct scene_state *scene_state(const struct fric_contacts *contacts)
{
	static struct scene_state states[8];
	for (int i = 0; i < 8; i++)
		if (states[i].contacts == contacts)
			return &states[i];
	return NULL;
}

/* Prepares a scene's contacts, and records their state for scene_query. */
static inline struct fric_contacts *scene_contacts(const struct fric_context *context, const struct scene *s)
{
	struct fric_contacts *contacts;
	struct fric_error error;
	struct scene_state *free_place = scene_state(NULL);
	assert_non_null(free_place);
	assert_ok(fric_prepare(context, &s->batch, &contacts, &error));
	assert_ok(fric_state_create(context, contacts, s->lagged, &free_place->state, &error));
	free_place->contacts = contacts;
	return contacts;
}

static inline void scene_contacts_free(struct fric_contacts *contacts)
{
	struct scene_state *place = contacts ? scene_state(contacts) : NULL;
	if (place) {
		fric_state_free(place->state);
		*place = (struct scene_state){0};
	}
	fric_contacts_free(contacts);
}

/* A query at velocities v, with the state recorded by scene_contacts. */
#define scene_query(contacts, v) \
	(&(struct fric_query){.velocities = (v), .state = scene_state(contacts) ? scene_state(contacts)->state : NULL})

/* An array of one per-contact output over all groups. @param m numbers per contact */
static inline double *all_contacts(const struct fric_context *context, const struct fric_contacts *contacts,
                                   const double *velocities, enum fric_output output, size_t m)
{
	struct fric_error error;
	double *out = calloc(fric_n_contacts(contacts) * m + 1, sizeof(double)), *at = out;
	assert_non_null(out);
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		assert_ok(fric_contact_output(context, contacts, scene_query(contacts, velocities), type, output, at, &error));
		at += fric_group_size(contacts, type) * m;
	}
	return out;
}

#endif

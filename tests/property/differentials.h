/**
 * The fields of a random batch with respect to which derivatives are taken: where their numbers are, and random
 * tangents.
 */
#ifndef TESTS_DIFFERENTIALS_H
#define TESTS_DIFFERENTIALS_H

#include <stdio.h>

#include "core/derive/fields.h"
#include "tests/property/bodies.h"

/* A field of a batch or of a query, and its numbers. */
struct number_field {
	enum fric_field field;
	enum fric_type type; /* the group of a row; FRIC_N_TYPES: not a row */
	enum fric_row row;
	double *numbers;
	size_t n;
};

enum { MOST_FIELDS = FRIC_N_FIELDS + FRIC_N_TYPES * FRIC_N_ROWS };

struct number_fields {
	size_t n;
	struct number_field of[MOST_FIELDS];
};

static inline void add_field(struct number_fields *fields, enum fric_field field, const double *numbers, size_t n)
{
	if (numbers && n)
		fields->of[fields->n++] = (struct number_field){field, FRIC_N_TYPES, 0, (double *)numbers, n};
}

static inline void add_rows(struct number_fields *fields, const struct fric_batch *batch, enum fric_type type)
{
	const struct fric_group *g = &batch->groups[type];
	for (enum fric_row row = 0; row < FRIC_N_ROWS && g->n; row++) {
		const struct fric_values *values = fricp_group_row(g, row);
		const size_t width = (size_t)fricp_row_width(type, batch->dim, row), n = values->stride ? g->n : 1;
		if (values->data)
			fields->of[fields->n++] =
				(struct number_field){FRIC_N_FIELDS, type, row, (double *)values->data, n * width};
	}
}

static inline void add_coefficients(struct number_fields *fields, const struct fric_batch *batch)
{
	const struct fric_friction *f = &batch->friction;
	const size_t table = f->n_materials * f->n_materials;
	if (f->source == FRIC_MU_SCALAR) {
		add_field(fields, FRIC_WRT_MU_S, &f->mu_s, 1);
		add_field(fields, FRIC_WRT_MU_K, &f->mu_k, 1);
	} else if (f->source == FRIC_MU_VERTEX) {
		add_field(fields, FRIC_WRT_VERTEX_MU_S, f->vertex_mu_s, batch->n_vertices);
		add_field(fields, FRIC_WRT_VERTEX_MU_K, f->vertex_mu_k, batch->n_vertices);
	} else if (f->source == FRIC_MU_TABLE) {
		add_field(fields, FRIC_WRT_MATERIAL_MU_S, f->material_mu_s, table);
		add_field(fields, FRIC_WRT_MATERIAL_MU_K, f->material_mu_k, table);
	}
}

/* All fields of a scene. */
static inline struct number_fields scene_fields(const struct scene *s)
{
	const struct fric_batch *batch = &s->batch;
	const struct fric_law *law = &batch->friction.law;
	const size_t dim = (size_t)batch->dim;
	struct number_fields fields = {0};
	add_field(&fields, FRIC_WRT_VELOCITIES, s->velocities, scene_ndof(s));
	add_field(&fields, FRIC_WRT_LAGGED_VELOCITIES, s->lagged, scene_ndof(s));
	add_field(&fields, FRIC_WRT_POSITIONS, batch->positions, batch->n_vertices * dim);
	add_field(&fields, FRIC_WRT_BODY_POSITIONS, batch->body_positions, batch->n_bodies * dim);
	add_field(&fields, FRIC_WRT_EPS_V, &batch->friction.eps_v, 1);
	add_coefficients(&fields, batch);
	if (law->type == FRIC_STRIBECK || law->type == FRIC_EXPONENTIAL)
		add_field(&fields, FRIC_WRT_STRIBECK_SPEED, &law->stribeck_speed, 1);
	add_field(&fields, FRIC_WRT_VISCOUS, &law->viscous, 1);
	if (law->type == FRIC_CURVE)
		add_field(&fields, FRIC_WRT_CURVE_FACTORS, law->curve.factors, law->curve.n);
	if (s->options.barrier) {
		add_field(&fields, FRIC_WRT_DHAT, &batch->barrier.dhat, 1);
		add_field(&fields, FRIC_WRT_STIFFNESS, &batch->barrier.stiffness, 1);
		add_field(&fields, FRIC_WRT_DMIN, &batch->barrier.dmin, 1);
	}
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		add_rows(&fields, batch, type);
	return fields;
}

static inline bool is_material(const struct number_field *f)
{
	return f->type == FRIC_N_TYPES && (f->field == FRIC_WRT_MATERIAL_MU_S || f->field == FRIC_WRT_MATERIAL_MU_K);
}

static inline double largest_of(const double *x, size_t n)
{
	double largest = 0;
	for (size_t i = 0; i < n; i++)
		largest = fmax(largest, fabs(x[i]));
	return largest;
}

/* A random tangent as large as the field; symmetric for a pair table. */
static inline double *random_tangent(struct scene *s, struct rng *rng, const struct number_field *f)
{
	const double size = largest_of(f->numbers, f->n);
	double *tangent = random_reals(s, rng, f->n, -1, 1);
	const size_t m = s->batch.friction.n_materials;
	for (size_t i = 0; i < f->n; i++)
		tangent[i] *= size > 0 ? size : 1;
	for (size_t i = 0; i < m && is_material(f); i++)
		for (size_t j = 0; j < i; j++)
			tangent[m * i + j] = tangent[m * j + i];
	return tangent;
}

/* The pointer for a field in a differential. */
static inline double **place_in(struct fric_differential *d, const struct number_field *f)
{
	return f->type == FRIC_N_TYPES ? &d->fields[f->field] : &d->rows[f->type][f->row];
}

static inline const char *field_name(const struct number_field *f)
{
	static char name[64];
	if (f->type == FRIC_N_TYPES)
		snprintf(name, sizeof(name), "field %d", (int)f->field);
	else
		snprintf(name, sizeof(name), "row %d of %s", (int)f->row, fric_type_name(f->type));
	return name;
}

/* Replaces the rows of some groups' fields by one row for all contacts. */
static inline void share_rows(struct scene *s, struct rng *rng)
{
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		for (enum fric_row row = 0; row < FRIC_N_ROWS; row++) {
			struct fric_values *values = (struct fric_values *)fricp_group_row(&s->batch.groups[type], row);
			if (values->data && below(rng, 4) == 0)
				values->stride = 0;
		}
}

/* Replaces factors of zero by distinct ones: between two equal factors the curve has a knot, whichever way they
 * change. */
static inline void part_factors(struct fric_curve *curve)
{
	for (size_t k = 1; k < curve->n; k++)
		if (curve->factors[k] == 0)
			((double *)curve->factors)[k] = 0.02 * (double)k;
}

static inline struct scene derivable_scene(struct rng *rng, int i)
{
	struct options options = random_options(rng, 2 + i % 2);
	struct scene scene;
	if (i % 4 == 1)
		options.ellipses = !options.equal_mu;
	options.ellipses &= options.dim == 3;
	options.search = i % 5 == 1 || i % 5 == 2;
	options.mollifier = i % 5 == 2 || i % 5 == 3;
	scene_create(&scene, rng, options);
	scene.batch.barrier.dmin = options.barrier ? 1e-3 : 0;
	if (options.barrier)
		scene.batch.barrier.type = (enum fric_barrier_type)below(rng, 5);
	if (options.barrier && coin(rng))
		scene.batch.barrier.scaling = FRIC_SCALING_PHYSICAL;
	if (i % 3 == 2)
		scene_add_bodies(&scene, rng, (struct body_options){4, 3, 3, coin(rng), false});
	part_factors(&scene.batch.friction.law.curve);
	if (i % 5 == 0)
		share_rows(&scene, rng);
	return scene;
}

/* The contacts of a scene, and the query to differentiate. */
struct setting {
	struct fric_contacts *contacts;
	struct fric_query query;
	struct fric_derivation derivation;
};

static inline struct setting *setting_of(const struct scene *s, bool follow)
{
	struct setting *t = calloc(1, sizeof(*t));
	t->contacts = scene_contacts(&serial, s);
	t->query = *scene_query(t->contacts, s->velocities);
	t->derivation = (struct fric_derivation){.batch = &s->batch,
	                                         .contacts = t->contacts,
	                                         .query = &t->query,
	                                         .slip_velocities = t->query.state ? s->lagged : NULL,
	                                         .vertices_follow = follow,
	                                         .bodies_follow = follow};
	return t;
}

static inline void setting_free(struct setting *t)
{
	scene_contacts_free(t->contacts);
	free(t);
}

/* The tangents of potential and gradient, [1 + n_dofs]. Also checks that potential and gradient have the bits of
 * fric_evaluate. */
static inline double *jvp(const struct fric_context *context, const struct scene *s, const struct setting *t,
                          const struct fric_differential *tangents)
{
	const size_t n = 1 + scene_ndof(s);
	double *out = calloc(n, sizeof(double)), *plain = calloc(2 * n, sizeof(double)), *again = plain + n;
	struct fric_error error;
	assert_ok(fric_jvp(context, &t->derivation, tangents, plain, plain + 1, out, out + 1, &error));
	assert_ok(fric_evaluate(context, t->contacts, &t->query, again, again + 1, &error));
	assert_all_bits(plain, again, n);
	free(plain);
	return out;
}

/* Random cotangents of potential and gradient. */
static inline double *random_cotangents(struct scene *s, struct rng *rng)
{
	return random_reals(s, rng, 1 + scene_ndof(s), -1, 1);
}

/* The cotangents of every field that has a place in `out`. @param cotangents [n] those of potential and gradient */
static inline void vjp(const struct fric_context *context, const struct setting *t, const double *cotangents, size_t n,
                       struct fric_differential *out)
{
	double *plain = calloc(2 * n, sizeof(double)), *again = plain + n;
	struct fric_error error;
	assert_ok(fric_vjp(context, &t->derivation, cotangents[0], cotangents + 1, plain, plain + 1, out, &error));
	assert_ok(fric_evaluate(context, t->contacts, &t->query, again, again + 1, &error));
	assert_all_bits(plain, again, n);
	free(plain);
}

/* Room for every field, filled with NaN, all of which must be overwritten. */
static inline void allocate_all(struct scene *s, const struct number_fields *fields, struct fric_differential *d)
{
	*d = (struct fric_differential){.fields = {0}};
	for (size_t f = 0; f < fields->n; f++) {
		*place_in(d, &fields->of[f]) = scene_memory(s, fields->of[f].n, sizeof(double));
		for (size_t m = 0; m < fields->of[f].n; m++)
			(*place_in(d, &fields->of[f]))[m] = NAN;
	}
}

#endif

/* Batch -> lagged contacts: geometry, normal forces, coefficients, one contact at a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "barrier.h"
#include "coefficients.h"
#include "contacts.h"
#include "geometry.h"
#include "mollifier.h"
#include "parallel.h"
#include "range.h"

enum { ALIGNMENT = 64 };

/* Hands out arrays of one block; with base NULL it only adds up their sizes. */
struct carver {
	char *base;
	size_t bytes;
};

static void *carve(struct carver *carver, size_t n, size_t size)
{
	void *array = carver->base ? carver->base + carver->bytes : NULL;
	carver->bytes += (n * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return array;
}

static void carve_pair(struct carver *carver, size_t n, double *pair[2])
{
	pair[0] = carve(carver, n, sizeof(double));
	pair[1] = carve(carver, n, sizeof(double));
}

static bool any_group(const struct fric_batch *batch, size_t field)
{
	for (int g = 0; g < FRIC_N_TYPES; g++)
		if (((const struct fric_values *)((const char *)&batch->groups[g] + field))->data)
			return true;
	return false;
}

#define ANY_GROUP(batch, field) any_group(batch, offsetof(struct fric_group, field))

/* The one value that a field has for all contacts, if it has one: `otherwise` stands for groups without the field. */
static bool uniform_value(const struct fric_batch *batch, size_t field, size_t m, const double *otherwise, double *value)
{
	bool found = false;
	for (int g = 0; g < FRIC_N_TYPES; g++) {
		const struct fric_values values = *(const struct fric_values *)((const char *)&batch->groups[g] + field);
		if (!batch->groups[g].n)
			continue;
		if (values.data ? values.stride != 0 : !otherwise)
			return false;
		const double x = values.data ? values.data[m] : *otherwise;
		if (found && x != *value)
			return false;
		*value = x;
		found = true;
	}
	return true;
}

/* A column of n values; or, where all are known to be equal, of that one repeated. */
static struct column carve_column(struct carver *carver, size_t n, bool uniform, double value)
{
	struct column column = {carve(carver, uniform ? FRIC_BLOCK : n, sizeof(double)), uniform ? 0 : 1};
	for (int i = 0; uniform && column.data && i < FRIC_BLOCK; i++)
		column.data[i] = value;
	return column;
}

static struct column carve_field(struct carver *carver, const struct fric_batch *batch, size_t n, size_t field,
                                 size_t m, const double *otherwise)
{
	double value = 0;
	const bool uniform = uniform_value(batch, field, m, otherwise, &value);
	return carve_column(carver, n, uniform, value);
}

static void carve_coefficients(struct fric_contacts *c, const struct fric_batch *batch, struct carver *carver)
{
	const struct fric_friction *f = &batch->friction;
	const bool scalar = f->source == FRIC_MU_SCALAR;
	c->mu_s = carve_field(carver, batch, c->n, offsetof(struct fric_group, mu_s), 0, scalar ? &f->mu_s : NULL);
	c->mu_k = carve_field(carver, batch, c->n, offsetof(struct fric_group, mu_k), 0, scalar ? &f->mu_k : NULL);
	c->effective_mu_s = c->mu_s;
	c->effective_mu_k = c->mu_k;
	if (ANY_GROUP(batch, mu_s_aniso) || ANY_GROUP(batch, mu_k_aniso)) {
		carve_pair(carver, c->n, c->mu_s_aniso);
		carve_pair(carver, c->n, c->mu_k_aniso);
		c->effective_mu_s = carve_column(carver, c->n, false, 0);
		c->effective_mu_k = carve_column(carver, c->n, false, 0);
	}
}

static void carve_arrays(struct fric_contacts *c, const struct fric_batch *batch, struct carver *carver)
{
	static const double one = 1;
	const size_t n = c->n;
	for (int i = 0; i < FRIC_MAX_STENCIL; i++)
		c->vertices[i] = carve(carver, n, sizeof(int32_t));
	carve_pair(carver, n, c->closest_point);
	for (int i = 0; i < c->dim * (c->dim - 1); i++)
		c->tangent_basis[i] = carve(carver, n, sizeof(double));
	c->distance = carve(carver, n, sizeof(double));
	c->weight = carve_field(carver, batch, n, offsetof(struct fric_group, weight), 0, &one);
	c->eps_v = carve_field(carver, batch, n, offsetof(struct fric_group, eps_v), 0, &batch->friction.eps_v);
	for (size_t m = 0; m < 2; m++)
		c->mu_aniso[m] = m < (size_t)c->dim - 1
		                         ? carve_field(carver, batch, n, offsetof(struct fric_group, mu_aniso), m, &one)
		                         : carve_column(carver, n, true, 1);
	/* A skipped contact must be able to have none. */
	double force = 0;
	const bool uniform = !batch->skip_degenerate &&
	                     uniform_value(batch, offsetof(struct fric_group, normal_force), 0, NULL, &force);
	c->normal_force = carve_column(carver, n, uniform, force);
	carve_coefficients(c, batch, carver);
	c->skipped = carve(carver, n, 1);
}

static bool derives_distance(const struct fric_batch *batch, enum fric_type type)
{
	const struct fric_group *g = &batch->groups[type];
	if (g->tangent_basis.data)
		return false;
	return type != FRIC_PLANE_VERTEX || (batch->positions && g->plane_origin.data);
}

static struct fric_contacts *allocate(const struct fric_batch *batch)
{
	struct fric_contacts *c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->dim = batch->dim;
	c->n_vertices = batch->n_vertices;
	c->transition = batch->friction.transition;
	for (enum fric_type g = 0; g < FRIC_N_TYPES; g++) {
		c->start[g + 1] = c->start[g] + batch->groups[g].n;
		c->has_distance[g] = derives_distance(batch, g);
	}
	c->n = c->start[FRIC_N_TYPES];
	struct carver carver = {0};
	carve_arrays(c, batch, &carver);
	carver.base = c->block = aligned_alloc(ALIGNMENT, carver.bytes ? carver.bytes : ALIGNMENT);
	if (!c->block) {
		free(c);
		return NULL;
	}
	carver.bytes = 0;
	carve_arrays(c, batch, &carver);
	return c;
}

void fric_contacts_free(struct fric_contacts *contacts)
{
	if (!contacts)
		return;
	free(contacts->block);
	free(contacts);
}

static const double *row(struct fric_values values, size_t i)
{
	return values.data + i * values.stride;
}

static double value(struct fric_values values, size_t i, double otherwise)
{
	return values.data ? *row(values, i) : otherwise;
}

/* One contact on its way: what it is, and what has been found out. */
struct draft {
	enum fric_type type;
	const struct fric_group *group;
	size_t i; /* in the group */
	const int32_t *stencil;
	struct fric_geometry geometry;
	double normal_force, mu[2];
};

static enum fric_code derived_geometry(const struct fric_batch *batch, bool has_distance, struct draft *d)
{
	const double *p[FRIC_MAX_STENCIL] = {0};
	if (d->type == FRIC_PLANE_VERTEX) {
		fric_plane_basis(batch->dim, row(d->group->plane_normal, d->i), d->geometry.tangent_basis);
		if (!has_distance)
			return FRIC_OK;
		p[0] = batch->positions + (size_t)d->stencil[0] * (size_t)batch->dim;
		return fric_plane_distance(batch->dim, row(d->group->plane_normal, d->i), row(d->group->plane_origin, d->i),
		                           p[0], &d->geometry.distance);
	}
	for (int v = 0; v < fric_stencil_size(d->type); v++)
		p[v] = batch->positions + (size_t)d->stencil[v] * (size_t)batch->dim;
	return fric_stencil_geometry(d->type, batch->dim, p, &d->geometry);
}

static enum fric_code find_geometry(const struct fric_batch *batch, bool has_distance, struct draft *d)
{
	if (!d->group->tangent_basis.data)
		return derived_geometry(batch, has_distance, d);
	const size_t dim = (size_t)batch->dim, n_basis = dim * (dim - 1), m = (size_t)fric_closest_point_size(d->type);
	memcpy(d->geometry.tangent_basis, row(d->group->tangent_basis, d->i), n_basis * sizeof(double));
	if (m)
		memcpy(d->geometry.closest_point, row(d->group->closest_point, d->i), m * sizeof(double));
	return FRIC_OK;
}

static enum fric_code find_normal_force(const struct fric_batch *batch, struct draft *d)
{
	if (d->group->normal_force.data) {
		d->normal_force = *row(d->group->normal_force, d->i);
		return FRIC_OK;
	}
	const enum fric_code code = fric_barrier_force(&batch->barrier, d->geometry.distance, &d->normal_force);
	return code == FRIC_OK && !isfinite(d->normal_force) ? FRIC_E_NOT_FINITE : code;
}

static enum fric_code find_coefficients(const struct fric_batch *batch, struct draft *d)
{
	if (!d->group->mu_s.data)
		return fric_contact_coefficients(&batch->friction, d->type, d->stencil, d->geometry.closest_point, d->mu);
	d->mu[0] = *row(d->group->mu_s, d->i);
	d->mu[1] = *row(d->group->mu_k, d->i);
	return FRIC_OK;
}

static enum fric_code work_out(const struct fric_batch *batch, bool has_distance, struct draft *d)
{
	enum fric_code code = find_geometry(batch, has_distance, d);
	if (code == FRIC_OK)
		code = find_normal_force(batch, d);
	return code == FRIC_OK ? find_coefficients(batch, d) : code;
}

static void store_pair(double *const pair[2], struct fric_values values, size_t from, size_t to)
{
	for (int i = 0; i < 2 && pair[0]; i++)
		pair[i][to] = values.data ? row(values, from)[i] : 0;
}

static void store_value(struct column column, size_t to, double x)
{
	if (column.stride)
		column.data[to] = x;
}

static void store(struct fric_contacts *c, const struct fric_batch *batch, const struct draft *d)
{
	const size_t at = c->start[d->type] + d->i;
	const struct fric_group *g = d->group;
	for (int i = 0; i < 2; i++)
		c->closest_point[i][at] = d->geometry.closest_point[i];
	for (int i = 0; i < c->dim * (c->dim - 1); i++)
		c->tangent_basis[i][at] = d->geometry.tangent_basis[i];
	c->distance[at] = d->geometry.distance;
	store_value(c->weight, at, value(g->weight, d->i, 1));
	store_value(c->normal_force, at, d->normal_force);
	store_value(c->eps_v, at, value(g->eps_v, d->i, batch->friction.eps_v));
	store_value(c->mu_s, at, d->mu[0]);
	store_value(c->mu_k, at, d->mu[1]);
	store_value(c->effective_mu_s, at, d->mu[0]);
	store_value(c->effective_mu_k, at, d->mu[1]);
	for (int m = 0; m < c->dim - 1; m++)
		store_value(c->mu_aniso[m], at, g->mu_aniso.data ? row(g->mu_aniso, d->i)[m] : 1);
	store_pair(c->mu_s_aniso, g->mu_s_aniso, d->i, at);
	store_pair(c->mu_k_aniso, g->mu_k_aniso, d->i, at);
}

/* The stencil stays, so that the slots of the contact do; without force and basis everything computed from it is zero. */
static void store_skipped(struct fric_contacts *c, const struct fric_batch *batch, const struct draft *d)
{
	static const double one = 1;
	const struct fric_group group = {.eps_v.data = &one};
	store(c, batch, &(struct draft){.type = d->type, .i = d->i, .group = &group});
}

struct preparation {
	const struct fric_batch *batch;
	struct fric_contacts *contacts;
};

static enum fric_code prepare_contact(const struct preparation *task, size_t at)
{
	const struct fric_batch *batch = task->batch;
	struct fric_contacts *c = task->contacts;
	struct draft d = {.type = contact_type(c, at)};
	const size_t k = (size_t)fric_stencil_size(d.type);
	d.i = at - c->start[d.type];
	d.group = &batch->groups[d.type];
	d.stencil = d.group->vertices + d.i * k;
	for (size_t v = 0; v < FRIC_MAX_STENCIL; v++)
		c->vertices[v][at] = v < k ? d.stencil[v] : 0;
	const enum fric_code code = work_out(batch, c->has_distance[d.type], &d);
	const bool skip = batch->skip_degenerate && *fric_reason(code);
	c->skipped[at] = skip ? (uint8_t)code : FRIC_OK;
	if (skip)
		store_skipped(c, batch, &d);
	else
		store(c, batch, &d);
	return skip ? FRIC_OK : code;
}

static void prepare_chunk(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	(void)chunk;
	for (size_t i = begin; i < end && fault->code == FRIC_OK; i++)
		*fault = (struct fault){prepare_contact(task, i), i};
}

enum fric_code fric_prepare(const struct fric_context *context, const struct fric_batch *batch,
                            struct fric_contacts **contacts, struct fric_error *error)
{
	*contacts = NULL;
	struct fric_contacts *c = allocate(batch);
	if (!c)
		return report_code(FRIC_E_MEMORY, error);
	struct preparation task = {batch, c};
	const struct fault fault = parallel_chunks(context, c->n, prepare_chunk, &task);
	if (fault.code != FRIC_OK) {
		report_fault(c, fault, error);
		fric_contacts_free(c);
		return fault.code;
	}
	for (size_t i = 0; i < c->n; i++)
		c->n_skipped += c->skipped[i] != FRIC_OK;
	contacts_judge(c);
	*contacts = c;
	return FRIC_OK;
}

void contacts_judge(struct fric_contacts *c)
{
	bool all = true;
	for (size_t i = 0; i < c->n; i++)
		all &= ordinary_lagged(*column_at(c->weight, i), *column_at(c->normal_force, i), *column_at(c->eps_v, i),
		                       *column_at(c->effective_mu_s, i), *column_at(c->effective_mu_k, i));
	c->ordinary = all;
}

int fric_dim(const struct fric_contacts *contacts)
{
	return contacts->dim;
}

size_t fric_n_vertices(const struct fric_contacts *contacts)
{
	return contacts->n_vertices;
}

size_t fric_n_contacts(const struct fric_contacts *contacts)
{
	return contacts->n;
}

size_t fric_group_size(const struct fric_contacts *contacts, enum fric_type type)
{
	return contacts->start[type + 1] - contacts->start[type];
}

enum fric_code fric_skipped(const struct fric_contacts *contacts, enum fric_type type, size_t contact)
{
	return (enum fric_code)contacts->skipped[contacts->start[type] + contact];
}

size_t fric_n_skipped(const struct fric_contacts *contacts)
{
	return contacts->n_skipped;
}

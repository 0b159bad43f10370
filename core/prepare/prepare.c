/* Batch -> lagged contacts: geometry, normal forces, coefficients, one contact at a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/prepare/barrier.h"
#include "core/prepare/coefficients.h"
#include "core/contacts/span.h"
#include "core/kernels/kernels.h"
#include "core/geometry/geometry.h"
#include "core/base/memory.h"
#include "core/fric_mollifier.h"
#include "core/base/range.h"
#include "core/order/sweep.h"

/* Hands out arrays of one block; with base NULL it only adds up their sizes. */
struct carver {
	char *base;
	size_t bytes;
};

static void *carve(struct carver *carver, size_t n, size_t size)
{
	void *array = carver->base ? carver->base + carver->bytes : NULL;
	carver->bytes += (n * size + FRIC_ALIGNMENT - 1) / FRIC_ALIGNMENT * FRIC_ALIGNMENT;
	return array;
}

static void carve_pair(struct carver *carver, size_t n, double *two[2])
{
	two[0] = carve(carver, n, sizeof(double));
	two[1] = carve(carver, n, sizeof(double));
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
	c->ranges = carve(carver, span_slots(n), sizeof(*c->ranges));
	c->sweep = carve(carver, span_slots(n), sizeof(*c->sweep));
}

static bool derives_distance(const struct fric_batch *batch, enum fric_type type)
{
	const struct fric_group *g = &batch->groups[type];
	if (g->tangent_basis.data)
		return false;
	return type != FRIC_PLANE_VERTEX || (batch->positions && g->plane_origin.data);
}

static struct fric_contacts *allocate(const struct fric_memory *memory, const struct fric_batch *batch)
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
		c->given_basis[g] = batch->groups[g].tangent_basis.data;
	}
	c->n = c->start[FRIC_N_TYPES];
	struct carver carver = {0};
	carve_arrays(c, batch, &carver);
	c->memory = memory;
	c->block_bytes = carver.bytes;
	carver.base = c->block = memory_take(memory, carver.bytes);
	if (!c->block) {
		free(c);
		return NULL;
	}
	carver.bytes = 0;
	carve_arrays(c, batch, &carver);
	for (size_t slot = 0; slot < span_slots(c->n); slot++)
		c->ranges[slot].begin = -1;
	return c;
}

void fric_contacts_free(struct fric_contacts *contacts)
{
	if (!contacts)
		return;
	memory_give(contacts->memory, contacts->block, contacts->block_bytes);
	free(contacts);
}

static const double *row(struct fric_values values, size_t i)
{
	return values.data + i * values.stride;
}

static void store_value(struct column column, size_t to, double x)
{
	if (column.stride)
		column.data[to] = x;
}

struct preparation {
	const struct fric_batch *batch;
	struct fric_contacts *contacts;
	const struct fric_kernels *kernels;
	atomic_size_t n_skipped;
	atomic_bool strange; /* not all contacts are ordinary */
};

/* One contact on its way: what it is, and where its values go. */
struct draft {
	const struct fric_batch *batch;
	const struct fric_group *group;
	struct fric_contacts *contacts;
	enum fric_type type;
	size_t i;  /* in the group */
	size_t at; /* in all contacts */
};

static void store_geometry(const struct draft *d, const struct fric_geometry *g)
{
	struct fric_contacts *c = d->contacts;
	for (int m = 0; m < 2; m++)
		c->closest_point[m][d->at] = g->closest_point[m];
	for (int e = 0; e < c->dim * (c->dim - 1); e++)
		c->tangent_basis[e][d->at] = g->tangent_basis[e];
	c->distance[d->at] = g->distance;
}

static const int32_t *stencil(const struct draft *d)
{
	return d->group->vertices + d->i * (size_t)fric_stencil_size(d->type);
}

static enum fric_code plane_geometry(const struct draft *d, struct fric_geometry *g)
{
	const struct fric_batch *b = d->batch;
	const double *normal = row(d->group->plane_normal, d->i);
	fric_plane_basis(b->dim, normal, g->tangent_basis);
	if (!d->contacts->has_distance[d->type])
		return FRIC_OK;
	return fric_plane_distance(b->dim, normal, row(d->group->plane_origin, d->i),
	                           b->positions + (size_t)*stencil(d) * (size_t)b->dim, &g->distance);
}

/* Geometry of one contact, given or derived. */
static enum fric_code find_geometry(const struct draft *d)
{
	const struct fric_batch *b = d->batch;
	struct fric_geometry g = {0};
	enum fric_code code = FRIC_OK;
	const size_t dim = (size_t)b->dim, m = (size_t)fric_closest_point_size(d->type);
	if (d->group->tangent_basis.data) {
		memcpy(g.tangent_basis, row(d->group->tangent_basis, d->i), dim * (dim - 1) * sizeof(double));
		if (m)
			memcpy(g.closest_point, row(d->group->closest_point, d->i), m * sizeof(double));
	} else if (d->type == FRIC_PLANE_VERTEX) {
		code = plane_geometry(d, &g);
	} else {
		const double *p[FRIC_MAX_STENCIL] = {0};
		for (int v = 0; v < fric_stencil_size(d->type); v++)
			p[v] = b->positions + (size_t)stencil(d)[v] * dim;
		code = fric_stencil_geometry(d->type, b->dim, p, !d->group->normal_force.data, &g);
	}
	store_geometry(d, &g);
	return code;
}

/* What is known about a span's contacts on their way. */
struct drafts {
	const struct preparation *task;
	const struct fric_group *group;
	struct span span;
	size_t first;                /* of the span in its group */
	uint8_t code[FRIC_BLOCK];    /* enum fric_code of each contact */
};

static void find_normal_forces(struct drafts *d)
{
	const struct fric_barrier *barrier = &d->task->batch->barrier;
	struct fric_contacts *c = d->task->contacts;
	double *force = column_at(c->normal_force, d->span.begin);
	if (!c->normal_force.stride)
		return;
	for (size_t j = 0; j < d->span.n; j++) {
		if (d->group->normal_force.data) {
			force[j] = *row(d->group->normal_force, d->first + j);
			continue;
		}
		const enum fric_code code = fric_barrier_force(barrier, c->distance[d->span.begin + j], &force[j]);
		if (d->code[j] == FRIC_OK)
			d->code[j] = (uint8_t)(code == FRIC_OK && !isfinite(force[j]) ? FRIC_E_NOT_FINITE : code);
	}
}

/* A given closest point is a result of somebody's rounding, too. */
static void closest_point_uncertainty(const struct drafts *d, const int32_t *vertices, const double closest_point[2],
                                      double distance, double uncertainty[2])
{
	const double *p[FRIC_MAX_STENCIL] = {0};
	for (int m = 0; m < 2; m++)
		uncertainty[m] = fric_given_uncertainty(closest_point[m]);
	if (d->group->tangent_basis.data)
		return;
	for (int v = 0; v < fric_stencil_size(d->span.type); v++)
		p[v] = d->task->batch->positions + (size_t)vertices[v] * (size_t)d->task->batch->dim;
	uncertainty[0] = uncertainty[1] =
		fric_derived_uncertainty(d->span.type, d->task->batch->dim, p, closest_point, distance);
}

/* From the friction of the batch. How certain a closest point is matters only to a coefficient below zero. */
static enum fric_code common_coefficients(const struct drafts *d, size_t j, double mu[2])
{
	const struct fric_contacts *c = d->task->contacts;
	const struct fric_friction *f = &d->task->batch->friction;
	const size_t at = d->span.begin + j;
	const int32_t *vertices = d->group->vertices + (d->first + j) * (size_t)fric_stencil_size(d->span.type);
	const double beta[2] = {c->closest_point[0][at], c->closest_point[1][at]};
	double uncertainty[2] = {0};
	const enum fric_code code = fric_contact_coefficients(f, d->span.type, vertices, beta, uncertainty, mu);
	if (code != FRIC_E_NEGATIVE_COEFFICIENT || fric_closest_point_size(d->span.type) == 0)
		return code;
	closest_point_uncertainty(d, vertices, beta, c->distance[at], uncertainty);
	return fric_contact_coefficients(f, d->span.type, vertices, beta, uncertainty, mu);
}

static enum fric_code find_coefficients(const struct drafts *d, size_t j, double mu[2])
{
	if (!d->group->mu_s.data)
		return common_coefficients(d, j, mu);
	mu[0] = *row(d->group->mu_s, d->first + j);
	mu[1] = *row(d->group->mu_k, d->first + j);
	return FRIC_OK;
}

static void find_all_coefficients(struct drafts *d)
{
	struct fric_contacts *c = d->task->contacts;
	if (!c->mu_s.stride && !c->mu_k.stride && !c->effective_mu_s.stride)
		return;
	for (size_t j = 0; j < d->span.n; j++) {
		const size_t at = d->span.begin + j;
		double mu[2];
		if (d->code[j] == FRIC_OK)
			d->code[j] = (uint8_t)find_coefficients(d, j, mu);
		if (d->code[j] != FRIC_OK)
			continue;
		store_value(c->mu_s, at, mu[0]);
		store_value(c->mu_k, at, mu[1]);
		store_value(c->effective_mu_s, at, mu[0]);
		store_value(c->effective_mu_k, at, mu[1]);
	}
}

static void copy_column(const struct drafts *d, struct fric_values values, size_t m, double otherwise, struct column column)
{
	double *out = column_at(column, d->span.begin);
	for (size_t j = 0; j < d->span.n && column.stride; j++)
		out[j] = values.data ? row(values, d->first + j)[m] : otherwise;
}

static void copy_pair(const struct drafts *d, struct fric_values values, double *const two[2])
{
	for (size_t m = 0; m < 2 && two[0]; m++)
		copy_column(d, values, m, 0, (struct column){two[m], 1});
}

/* The fields that are taken over as they are. */
static void copy_fields(const struct drafts *d)
{
	struct fric_contacts *c = d->task->contacts;
	const struct fric_group *g = d->group;
	copy_column(d, g->weight, 0, 1, c->weight);
	copy_column(d, g->eps_v, 0, d->task->batch->friction.eps_v, c->eps_v);
	copy_column(d, g->mu_aniso, 0, 1, c->mu_aniso[0]);
	if (c->dim == 3)
		copy_column(d, g->mu_aniso, 1, 1, c->mu_aniso[1]);
	copy_pair(d, g->mu_s_aniso, c->mu_s_aniso);
	copy_pair(d, g->mu_k_aniso, c->mu_k_aniso);
}

/* The stencil stays, so that the slots of the contact do; without force and basis everything computed from it is zero. */
static void skip(struct fric_contacts *c, size_t at, enum fric_code code)
{
	for (int m = 0; m < 2; m++)
		c->closest_point[m][at] = 0;
	for (int e = 0; e < c->dim * (c->dim - 1); e++)
		c->tangent_basis[e][at] = 0;
	c->distance[at] = 0;
	store_value(c->normal_force, at, 0);
	store_value(c->mu_s, at, 0);
	store_value(c->mu_k, at, 0);
	store_value(c->effective_mu_s, at, 0);
	store_value(c->effective_mu_k, at, 0);
	for (int m = 0; m < 2 && c->mu_s_aniso[0]; m++)
		c->mu_s_aniso[m][at] = c->mu_k_aniso[m][at] = 0;
	c->skipped[at] = (uint8_t)code;
}

/* Faulty contacts are skipped, or the first one ends it all. */
static void settle(const struct drafts *d, struct fault *fault)
{
	struct fric_contacts *c = d->task->contacts;
	for (size_t j = 0; j < d->span.n && fault->code == FRIC_OK; j++) {
		const enum fric_code code = (enum fric_code)d->code[j];
		if (code == FRIC_OK)
			continue;
		if (d->task->batch->skip_degenerate && *fric_reason(code))
			skip(c, d->span.begin + j, code);
		else
			*fault = (struct fault){code, d->span.begin + j};
	}
}

static void store_stencils(const struct drafts *d)
{
	const size_t k = (size_t)fric_stencil_size(d->span.type);
	const int32_t *v = d->group->vertices + d->first * k;
	for (size_t m = 0; m < FRIC_MAX_STENCIL; m++) {
		int32_t *out = d->task->contacts->vertices[m] + d->span.begin;
		for (size_t j = 0; j < d->span.n; j++)
			out[j] = m < k ? v[j * k + m] : 0;
	}
}

static void find_range(const struct drafts *d)
{
	const size_t k = (size_t)fric_stencil_size(d->span.type), n = d->span.n * k;
	const int32_t *v = d->group->vertices + d->first * k;
	int32_t lowest = INT32_MAX, highest = 0;
#pragma omp simd reduction(min : lowest) reduction(max : highest)
	for (size_t j = 0; j < n; j++) {
		lowest = v[j] < lowest ? v[j] : lowest;
		highest = v[j] > highest ? v[j] : highest;
	}
	d->task->contacts->ranges[span_slot(d->span)] = (struct span_range){(int32_t)d->span.begin, lowest, highest};
}

/* Geometry of a whole span by a kernel; good[j] says for which contacts that was enough. */
static void span_geometry(const struct drafts *d, struct geometry_block *block)
{
	struct fric_contacts *c = d->task->contacts;
	const size_t begin = d->span.begin;
	block->n = d->span.n;
	for (int v = 0; v < fric_stencil_size(d->span.type); v++)
		for (size_t j = 0; j < d->span.n; j++) {
			const double *p = d->task->batch->positions + (size_t)c->vertices[v][begin + j] * 3;
			block->position[v][0][j] = p[0];
			block->position[v][1][j] = p[1];
			block->position[v][2][j] = p[2];
		}
	for (int m = 0; m < 2; m++)
		block->closest_point[m] = c->closest_point[m] + begin;
	for (int e = 0; e < 6; e++)
		block->tangent_basis[e] = c->tangent_basis[e] + begin;
	block->distance = c->distance + begin;
	d->task->kernels->geometry[!d->group->normal_force.data][d->span.type](block);
}

static void find_geometries(struct drafts *d)
{
	const struct preparation *task = d->task;
	struct geometry_block block;
	const bool by_kernel = task->batch->dim == 3 && d->span.type != FRIC_PLANE_VERTEX && task->kernels->force &&
	                       !d->group->tangent_basis.data;
	if (by_kernel)
		span_geometry(d, &block);
	for (size_t j = 0; j < d->span.n; j++) {
		const struct draft one = {task->batch, d->group, task->contacts, d->span.type, d->first + j, d->span.begin + j};
		d->code[j] = FRIC_OK;
		if (!by_kernel || block.good[j] == 0)
			d->code[j] = (uint8_t)find_geometry(&one);
	}
}

static void prepare_span(const struct preparation *task, struct span span, struct fault *fault)
{
	struct fric_contacts *c = task->contacts;
	struct drafts d = {task, &task->batch->groups[span.type], span, span.begin - c->start[span.type], {0}};
	memset(c->skipped + span.begin, FRIC_OK, span.n);
	store_stencils(&d);
	find_range(&d);
	find_geometries(&d);
	find_normal_forces(&d);
	find_all_coefficients(&d);
	copy_fields(&d);
	settle(&d, fault);
}

/* While it is still in the cache. */
static void look_back(struct preparation *task, size_t begin, size_t end)
{
	const struct fric_contacts *c = task->contacts;
	size_t n_skipped = 0;
	for (size_t i = begin; i < end; i++)
		n_skipped += c->skipped[i] != FRIC_OK;
	if (n_skipped)
		atomic_fetch_add_explicit(&task->n_skipped, n_skipped, memory_order_relaxed);
	if (!contacts_ordinary(c, begin, end))
		atomic_store_explicit(&task->strange, true, memory_order_relaxed);
}

static void prepare_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	struct preparation *task = data;
	(void)chunk;
	for (size_t at = begin; at < end && fault->code == FRIC_OK;) {
		const struct span span = next_span(task->contacts, at, end);
		prepare_span(task, span, fault);
		at += span.n;
	}
	if (fault->code == FRIC_OK)
		look_back(task, begin, end);
}

enum fric_code fric_prepare(const struct fric_context *context, const struct fric_batch *batch,
                            struct fric_contacts **contacts, struct fric_error *error)
{
	*contacts = NULL;
	struct fric_contacts *c = allocate(context->memory, batch);
	if (!c)
		return report_code(FRIC_E_MEMORY, error);
	struct preparation task = {.batch = batch, .contacts = c, .kernels = kernels_of(context)};
	const struct fault fault = parallel_contacts(context, c, prepare_chunk, &task);
	if (fault.code != FRIC_OK) {
		report_fault(c, fault, error);
		fric_contacts_free(c);
		return fault.code;
	}
	c->n_skipped = atomic_load(&task.n_skipped);
	c->ordinary = !atomic_load(&task.strange);
	sweep_make(c);
	*contacts = c;
	return FRIC_OK;
}

/* Smallest and largest size of what is not zero; 1 if all is. */
struct sizes {
	double lowest, highest;
};

static struct sizes column_sizes(struct column column, size_t begin, size_t end)
{
	double lowest = 1, highest = 1;
	const double *x = column_at(column, begin);
	const size_t n = column.stride ? end - begin : end > begin;
#pragma omp simd reduction(min : lowest) reduction(max : highest)
	for (size_t i = 0; i < n; i++) {
		const double size = x[i] == 0 ? 1 : fabs(x[i]);
		lowest = size < lowest ? size : lowest;
		highest = size > highest ? size : highest;
	}
	return (struct sizes){lowest, highest};
}

/* What forces are multiplied by besides. With the ranges of forces and coefficients they stay below 2^820. */
static bool moderate(struct column column, size_t begin, size_t end)
{
	return column_sizes(column, begin, end).highest < moderate_size;
}

/* Derived ones have columns of length 1. */
static bool unit_bases(const struct fric_contacts *c, size_t begin, size_t end)
{
	bool all = true;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		const size_t first = begin > c->start[type] ? begin : c->start[type];
		const size_t last = end < c->start[type + 1] ? end : c->start[type + 1];
		for (int e = 0; e < c->dim * (c->dim - 1) && c->given_basis[type] && first < last; e++)
			all &= column_sizes((struct column){c->tangent_basis[e], 1}, first, last).highest <= unit_basis;
	}
	return all;
}

/* By bounds. The scalar form then judges every contact by itself. */
bool contacts_ordinary(const struct fric_contacts *c, size_t begin, size_t end)
{
	const struct sizes weight = column_sizes(c->weight, begin, end), force = column_sizes(c->normal_force, begin, end),
	                   eps_v = column_sizes(c->eps_v, begin, end), mu_s = column_sizes(c->effective_mu_s, begin, end),
	                   mu_k = column_sizes(c->effective_mu_k, begin, end);
	return ordinary(weight.lowest * force.lowest) && ordinary(weight.highest * force.highest) &&
	       weight.lowest > slip_small && force.lowest > slip_small && weight.highest < slip_large &&
	       force.highest < slip_large && ordinary(mu_s.lowest) && ordinary(mu_s.highest) && ordinary(mu_k.lowest) &&
	       ordinary(mu_k.highest) && invertible(eps_v.lowest) && invertible(eps_v.highest) &&
	       moderate(c->mu_aniso[0], begin, end) && moderate(c->mu_aniso[1], begin, end) &&
	       moderate((struct column){c->closest_point[0], 1}, begin, end) &&
	       moderate((struct column){c->closest_point[1], 1}, begin, end) && unit_bases(c, begin, end);
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

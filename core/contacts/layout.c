#include "core/contacts/layout.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/contacts/span.h"
#include "core/law/law.h"

/* Carves arrays out of a block that begins at base. base NULL: only adds up their sizes. */
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

/* Whether a field has one value for all contacts, and which value. It is `otherwise` in groups without the field. */
static bool uniform_value(const struct fric_batch *batch, size_t field, size_t m, const double *otherwise,
                          double *value)
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

/* A column of n values, or of a single one if all are known to equal `value`. */
static struct column carve_column(struct carver *carver, size_t n, bool uniform, double value)
{
	struct column column = {carve(carver, uniform ? FRIC_SPAN : n, sizeof(double)), uniform ? 0 : 1};
	for (int i = 0; uniform && column.data && i < FRIC_SPAN; i++)
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
	c->scalar.mu_s = carve_field(carver, batch, c->n, offsetof(struct fric_group, mu_s), 0, scalar ? &f->mu_s : NULL);
	c->scalar.mu_k = carve_field(carver, batch, c->n, offsetof(struct fric_group, mu_k), 0, scalar ? &f->mu_k : NULL);
	if (ANY_GROUP(batch, mu_s_aniso) || ANY_GROUP(batch, mu_k_aniso)) {
		carve_pair(carver, c->n, c->mu_s_aniso);
		carve_pair(carver, c->n, c->mu_k_aniso);
	}
}

/* Carves surface velocities and anchors, if any contact has them. */
static void carve_offsets(struct fric_contacts *c, const struct fric_batch *batch, struct carver *carver)
{
	static const double zero = 0;
	const struct fric_law *law = &batch->friction.law;
	for (size_t m = 0; m < (size_t)c->dim && ANY_GROUP(batch, surface_velocity); m++)
		c->surface_velocity[m] =
			carve_field(carver, batch, c->n, offsetof(struct fric_group, surface_velocity), m, &zero);
	for (size_t m = 0; m < (size_t)c->dim && ANY_GROUP(batch, anchor); m++)
		c->anchor[m] = carve_field(carver, batch, c->n, offsetof(struct fric_group, anchor), m, &zero);
	if (ANY_GROUP(batch, viscous) || law->viscous != 0)
		c->viscous = carve_field(carver, batch, c->n, offsetof(struct fric_group, viscous), 0, &law->viscous);
}

/* Copies the points of a curve, because they must outlive the batch. */
static void carve_curve(struct fric_contacts *c, const struct fric_curve *curve, struct carver *carver)
{
	struct law_table *table = &c->table;
	double *speeds = carve(carver, curve->n, sizeof(double)), *factors = carve(carver, curve->n, sizeof(double));
	table->speeds = carve(carver, curve->n, sizeof(double));
	table->pieces = carve(carver, curve->n, sizeof(struct table_piece));
	table->pieces_l = carve(carver, curve->n, sizeof(struct table_piece_l));
	if (!carver->base)
		return;
	memcpy(speeds, curve->speeds, curve->n * sizeof(double));
	memcpy(factors, curve->factors, curve->n * sizeof(double));
	c->law.curve = (struct fric_curve){curve->n, speeds, factors, NULL};
	fricp_table_fill(table, curve);
}

static void carve_law(struct fric_contacts *c, const struct fric_batch *batch, struct carver *carver)
{
	const struct fric_law *law = &batch->friction.law;
	if (law_has(law_of(law), LAW_MEASURED)) {
		carve_curve(c, &law->curve, carver);
		c->unit = carve_column(carver, c->n, true, fricp_table_unit(&law->curve));
	} else if (law_has(law_of(law), LAW_DECAYS)) {
		c->unit =
			carve_field(carver, batch, c->n, offsetof(struct fric_group, stribeck_speed), 0, &law->stribeck_speed);
	}
}

static void carve_three(struct carver *carver, size_t n, double *three[3])
{
	for (int d = 0; d < 3; d++)
		three[d] = carve(carver, n, sizeof(double));
}

/* Carves the additional fields of contacts of bodies. */
static void carve_bodies(struct fric_contacts *c, const struct fric_batch *batch, struct carver *carver)
{
	static const double zero = 0;
	carve_three(carver, c->n, c->arm[0]);
	carve_three(carver, c->n, c->arm[1]);
	carve_three(carver, c->n, c->normal);
	c->spin_radius = c->dim == 3 ? carve_field(carver, batch, c->n, offsetof(struct fric_group, spin_radius), 0, &zero)
	                             : carve_column(carver, c->n, true, 0);
	c->roll_radius = carve_field(carver, batch, c->n, offsetof(struct fric_group, roll_radius), 0, &zero);
}

/* Carves the additional fields for the barrier. */
static void carve_barrier(struct fric_contacts *c, const struct fric_batch *batch, struct carver *carver)
{
	static const double zero = 0;
	for (int e = 0; e < 6; e++)
		c->plane[e] = carve(carver, batch->groups[FRIC_PLANE_VERTEX].n, sizeof(double));
	if (batch->groups[FRIC_EDGE_EDGE].mollifier.data)
		c->mollifier = carve_field(carver, batch, c->n, offsetof(struct fric_group, mollifier), 0, &zero);
}

static bool is_searched(const struct fric_batch *batch, enum fric_type type)
{
	const struct fric_group *g = &batch->groups[type];
	const bool always = type == FRIC_EDGE_EDGE && g->mollifier.data,
			   all = batch->closest_features == FRIC_FEATURES_SEARCH;
	return g->n && !g->tangent_basis.data && geometry_of(type) != POINT_PLANE && (all || always) &&
	       batch->terms != FRIC_TERM_BARRIER;
}

static bool any_searched(const struct fric_contacts *c)
{
	bool any = false;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		any |= c->searched[type];
	return any;
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
	carve_law(c, batch, carver);
	/* Skipped and mollified contacts get force 0, so forces need an array if there may be any. */
	double force = 0;
	const bool may_lose_force = batch->skip_degenerate || batch->groups[FRIC_EDGE_EDGE].mollifier.data;
	const bool uniform = !may_lose_force &&
	                     uniform_value(batch, offsetof(struct fric_group, normal_force), 0, NULL, &force);
	c->normal_force = carve_column(carver, n, uniform, force);
	carve_coefficients(c, batch, carver);
	carve_offsets(c, batch, carver);
	if (batch->n_bodies)
		carve_bodies(c, batch, carver);
	if (c->terms & FRIC_TERM_BARRIER)
		carve_barrier(c, batch, carver);
	c->skipped = carve(carver, n, 1);
	if (c->dim == 2)
		c->right = carve(carver, n, 1);
	if (any_searched(c))
		c->feature = carve(carver, n, 1);
	c->extents = carve(carver, span_slots(n), sizeof(*c->extents));
	c->sweep = carve(carver, span_slots(n), sizeof(*c->sweep));
	c->reached = carve(carver, n_blocks_of(c->n_vertices), sizeof(*c->reached));
	c->blocks = carve(carver, n_blocks_of(c->n_vertices), sizeof(*c->blocks));
	c->listed = carve(carver, span_slots(n) + 1, sizeof(*c->listed));
	c->oldest = carve(carver, span_slots(n), sizeof(*c->oldest));
}

static bool derives_distance(const struct fric_batch *batch, enum fric_type type)
{
	const struct fric_group *g = &batch->groups[type];
	if (g->tangent_basis.data || is_of_bodies(type))
		return false;
	return geometry_of(type) != POINT_PLANE || (batch->positions && g->plane_origin.data);
}

struct fric_contacts *fricp_contacts_create(const struct fric_memory *memory, const struct fric_batch *batch)
{
	const bool both = batch->terms == (FRIC_TERM_FRICTION | FRIC_TERM_BARRIER);
	struct fric_contacts *c = calloc(both ? 2 : 1, sizeof(*c)); /* the second one is for fric_friction_contacts */
	if (!c)
		return NULL;
	c->dim = batch->dim;
	c->n_vertices = batch->n_vertices;
	c->law = batch->friction.law;
	c->terms = batch->terms ? batch->terms : FRIC_TERM_FRICTION;
	c->features_from = batch->closest_features;
	c->skips = batch->skip_degenerate;
	c->barrier = batch->barrier;
	for (enum fric_type g = 0; g < FRIC_N_TYPES; g++) {
		c->start[g + 1] = c->start[g] + batch->groups[g].n;
		c->has_distance[g] = (c->terms & FRIC_TERM_FRICTION) && derives_distance(batch, g);
		c->given_basis[g] = batch->groups[g].tangent_basis.data;
		c->searched[g] = is_searched(batch, g);
		c->along_grain[g] = batch->groups[g].grain.data;
	}
	c->n = c->start[FRIC_N_TYPES];
	struct carver carver = {0};
	carve_arrays(c, batch, &carver);
	c->memory = memory;
	c->arrays_bytes = carver.bytes;
	carver.base = c->arrays = memory_take(memory, carver.bytes);
	if (!c->arrays) {
		free(c);
		return NULL;
	}
	carver.bytes = 0;
	carve_arrays(c, batch, &carver);
	for (size_t slot = 0; slot < span_slots(c->n); slot++)
		c->extents[slot].begin = -1;
	return c;
}

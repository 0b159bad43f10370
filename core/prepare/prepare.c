/* Prepares a batch, a span at a time: computes geometry, normal forces and coefficients of lagged contacts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/contacts/layout.h"
#include "core/contacts/ordinary.h"
#include "core/contacts/span.h"
#include "core/fric_mollifier.h"
#include "core/geometry/geometry.h"
#include "core/kernels/kernels.h"
#include "core/motion/dofs.h"
#include "core/order/groups.h"
#include "core/order/sweep.h"
#include "core/barrier/barrier.h"
#include "core/prepare/coefficients.h"
#include "core/prepare/drafts.h"
#include "core/prepare/search.h"
#include "core/prepare/span_features.h"

static void store_value(struct column column, size_t to, double x)
{
	if (column.stride)
		column.data[to] = x;
}

/* Sets the arms and the normal of a contact of bodies. Spin needs the normal even if the basis is given. */
static enum fric_code find_arms(const struct drafts *d, size_t j)
{
	const struct fric_batch *b = d->task->batch;
	struct fric_contacts *c = d->task->contacts;
	const double *point = row_at(d, d->group->point, j);
	const int dim = b->dim;
	const size_t at = d->span.begin + j;
	double unit[3] = {0};
	bool finite = true;
	fricp_unit_normal(dim, normal_at(d, j), unit);
	for (int a = 0; a < 3; a++) {
		c->normal[a][at] = unit[a];
		c->arm[0][a][at] = c->arm[1][a][at] = 0;
	}
	for (int k = 0; k < fric_stencil_size(d->span.type); k++)
		for (int a = 0; a < dim; a++) {
			double *arm = &c->arm[k][a][at];
			*arm = point[a] - b->body_positions[(size_t)stencil_at(d, j)[k] * (size_t)dim + (size_t)a];
			finite &= isfinite(*arm) != 0;
		}
	return finite ? FRIC_OK : FRIC_E_NOT_FINITE;
}

static enum fric_code find_geometry(const struct drafts *d, size_t j)
{
	const int dim = d->task->batch->dim;
	const enum fric_type type = d->span.type;
	const double *p[FRIC_MAX_STENCIL] = {0};
	struct fric_geometry g = {0};
	enum fric_code code = FRIC_OK;
	if (d->group->tangent_basis.data) {
		memcpy(g.tangent_basis, row_at(d, d->group->tangent_basis, j), (size_t)(dim * (dim - 1)) * sizeof(double));
		for (int m = 0; m < fric_closest_point_size(type); m++)
			g.closest_point[m] = row_at(d, d->group->closest_point, j)[m];
	} else if (geometry_of(type) == POINT_PLANE) {
		fricp_plane_basis(dim, normal_at(d, j), g.tangent_basis);
	} else {
		positions_at(d, j, p);
		code = fricp_stencil_geometry(type, dim, p, !d->group->normal_force.data, &g);
	}
	if (geometry_of(type) == POINT_PLANE && d->task->contacts->has_distance[type]) {
		positions_at(d, j, p);
		code = fricp_plane_distance(dim, normal_at(d, j), p[1], p[0], &g.distance);
	}
	store_geometry(d, j, &g);
	return is_of_bodies(type) ? find_arms(d, j) : code;
}

static void find_normal_forces(struct drafts *d)
{
	const struct fric_barrier *barrier = &d->task->batch->barrier;
	struct fric_contacts *c = d->task->contacts;
	double *force = column_at(c->normal_force, d->span.begin);
	if (!c->normal_force.stride)
		return;
	for (size_t j = 0; j < d->span.n; j++) {
		if (d->group->normal_force.data) {
			force[j] = *row_at(d, d->group->normal_force, j);
			continue;
		}
		const enum fric_code code = fricp_barrier_force(barrier, c->distance[d->span.begin + j], &force[j]);
		if (d->code[j] == FRIC_OK)
			d->code[j] = (uint8_t)(code == FRIC_OK && !isfinite(force[j]) ? FRIC_E_NOT_FINITE : code);
	}
}

/* Sets error bounds of a closest point. One from the caller has been rounded, too. */
static void closest_point_uncertainty(const struct drafts *d, size_t j, const double closest_point[2],
                                      double uncertainty[2])
{
	const double *p[FRIC_MAX_STENCIL] = {0};
	for (int m = 0; m < 2; m++)
		uncertainty[m] = fricp_given_uncertainty(closest_point[m]);
	if (d->group->tangent_basis.data)
		return;
	if (d->task->contacts->searched[d->span.type]) {
		fricp_searched_uncertainty(d, j, uncertainty);
		return;
	}
	positions_at(d, j, p);
	fricp_derived_uncertainty(d->span.type, d->task->batch->dim, p, closest_point, uncertainty);
}

/* Computes coefficients from the batch's friction. The uncertainty of the closest point matters only if a coefficient
 * is negative. */
static enum fric_code common_coefficients(const struct drafts *d, size_t j, double mu[2])
{
	const struct fric_contacts *c = d->task->contacts;
	const struct fric_friction *f = &d->task->batch->friction;
	const size_t at = d->span.begin + j;
	const int32_t *vertices = stencil_at(d, j);
	const double beta[2] = {c->closest_point[0][at], c->closest_point[1][at]};
	double uncertainty[2] = {0};
	const enum fric_code code = fricp_contact_coefficients(f, d->span.type, vertices, beta, uncertainty, mu);
	if (code != FRIC_E_NEGATIVE_COEFFICIENT || fric_closest_point_size(d->span.type) == 0)
		return code;
	closest_point_uncertainty(d, j, beta, uncertainty);
	return fricp_contact_coefficients(f, d->span.type, vertices, beta, uncertainty, mu);
}

static enum fric_code find_coefficients(const struct drafts *d, size_t j, double mu[2])
{
	if (!d->group->mu_s.data)
		return common_coefficients(d, j, mu);
	mu[0] = *row_at(d, d->group->mu_s, j);
	mu[1] = *row_at(d, d->group->mu_k, j);
	return FRIC_OK;
}

static void find_all_coefficients(struct drafts *d)
{
	struct fric_contacts *c = d->task->contacts;
	if (!c->scalar.mu_s.stride && !c->scalar.mu_k.stride)
		return;
	for (size_t j = 0; j < d->span.n; j++) {
		const size_t at = d->span.begin + j;
		double mu[2];
		if (d->code[j] == FRIC_OK)
			d->code[j] = (uint8_t)find_coefficients(d, j, mu);
		if (d->code[j] != FRIC_OK)
			continue;
		store_value(c->scalar.mu_s, at, mu[0]);
		store_value(c->scalar.mu_k, at, mu[1]);
	}
}

static void copy_column(const struct drafts *d, struct fric_values values, size_t m, double otherwise,
                        struct column column)
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

/* Copies fields that need no computation. */
static void copy_fields(const struct drafts *d)
{
	struct fric_contacts *c = d->task->contacts;
	const struct fric_group *g = d->group;
	copy_column(d, g->weight, 0, 1, c->weight);
	copy_column(d, g->eps_v, 0, d->task->batch->friction.eps_v, c->eps_v);
	if (law_has(law_of(&c->law), LAW_DECAYS))
		copy_column(d, g->stribeck_speed, 0, c->law.stribeck_speed, c->unit);
	copy_column(d, g->mu_aniso, 0, 1, c->mu_aniso[0]);
	if (c->dim == 3)
		copy_column(d, g->mu_aniso, 1, 1, c->mu_aniso[1]);
	copy_pair(d, g->mu_s_aniso, c->mu_s_aniso);
	copy_pair(d, g->mu_k_aniso, c->mu_k_aniso);
	for (size_t m = 0; m < (size_t)c->dim && c->surface_velocity[0].data; m++)
		copy_column(d, g->surface_velocity, m, 0, c->surface_velocity[m]);
	for (size_t m = 0; m < (size_t)c->dim && c->anchor[0].data; m++)
		copy_column(d, g->anchor, m, 0, c->anchor[m]);
	if (c->viscous.data)
		copy_column(d, g->viscous, 0, d->task->batch->friction.law.viscous, c->viscous);
	if (!is_of_bodies(d->span.type))
		return;
	copy_column(d, g->spin_radius, 0, 0, c->spin_radius);
	copy_column(d, g->roll_radius, 0, 0, c->roll_radius);
}

/* Keeps the stencil, so that patterns do not depend on skipped contacts. All results are zero because force and basis
 * are. */
static void skip(struct fric_contacts *c, size_t at, enum fric_code code)
{
	for (int m = 0; m < 2; m++)
		c->closest_point[m][at] = 0;
	for (int e = 0; e < c->dim * (c->dim - 1); e++)
		c->tangent_basis[e][at] = 0;
	for (int a = 0; a < 3 && c->normal[0]; a++)
		c->normal[a][at] = c->arm[0][a][at] = c->arm[1][a][at] = 0;
	c->distance[at] = 0;
	if (c->right)
		c->right[at] = false;
	store_value(c->normal_force, at, 0);
	store_value(c->scalar.mu_s, at, 0);
	store_value(c->scalar.mu_k, at, 0);
	for (int m = 0; m < 2 && c->mu_s_aniso[0]; m++)
		c->mu_s_aniso[m][at] = c->mu_k_aniso[m][at] = 0;
	c->skipped[at] = (uint8_t)code;
}

/* A mollified contact has no friction, but a distance. */
static void leave_without_friction(struct fric_contacts *c, size_t at)
{
	const double distance = c->distance[at];
	skip(c, at, FRIC_OK);
	c->skipped[at] = MOLLIFIED;
	c->distance[at] = distance;
}

/* Skips faulty contacts if the batch allows it; otherwise reports the first one. */
static void settle(const struct drafts *d, struct fault *fault)
{
	struct fric_contacts *c = d->task->contacts;
	for (size_t j = 0; j < d->span.n && fault->code == FRIC_OK; j++) {
		const enum fric_code code = (enum fric_code)d->code[j];
		if (code == FRIC_OK)
			continue;
		if (d->code[j] == MOLLIFIED)
			leave_without_friction(c, d->span.begin + j);
		else if (d->task->batch->skip_degenerate && *fric_reason(code))
			skip(c, d->span.begin + j, code);
		else
			*fault = (struct fault){code, d->span.begin + j};
	}
}

static void store_stencils(const struct drafts *d)
{
	const size_t k = (size_t)fric_stencil_size(d->span.type);
	const int32_t *v = stencil_at(d, 0);
	for (size_t m = 0; m < FRIC_MAX_STENCIL; m++) {
		int32_t *out = d->task->contacts->vertices[m] + d->span.begin;
		for (size_t j = 0; j < d->span.n; j++)
			out[j] = m < k ? v[j * k + m] : 0;
	}
}

static void find_extent(const struct drafts *d)
{
	const struct fric_kernels *kernels = d->task->kernels->extent ? d->task->kernels : &fricp_kernels_baseline;
	struct span_extent *extent = &d->task->contacts->extents[span_slot(d->span)];
	extent->begin = (int32_t)d->span.begin;
	kernels->extent(stencil_at(d, 0), d->span.n * (size_t)fric_stencil_size(d->span.type), extent);
}

/* Computes the geometry of a whole span in a kernel; work->good[j] is 0 where the kernel was not accurate enough. */
static void span_geometry(const struct drafts *d, struct geometry_workspace *work)
{
	struct fric_contacts *c = d->task->contacts;
	const size_t begin = d->span.begin;
	work->n = d->span.n;
	for (int v = 0; v < n_points_of(d->span.type); v++)
		for (size_t j = 0; j < d->span.n; j++) {
			const double *p = position_at(d, j, v);
			work->position[v][0][j] = p[0];
			work->position[v][1][j] = p[1];
			work->position[v][2][j] = p[2];
		}
	for (int m = 0; m < 2; m++)
		work->closest_point[m] = c->closest_point[m] + begin;
	for (int e = 0; e < 6; e++)
		work->tangent_basis[e] = c->tangent_basis[e] + begin;
	work->distance = c->distance + begin;
	d->task->kernels->geometry[!d->group->normal_force.data][geometry_of(d->span.type)](work);
}

static enum fric_code turn_to_grain(const struct drafts *d, size_t j)
{
	const double *grain = row_at(d, d->group->grain, j), *p[FRIC_MAX_STENCIL] = {0};
	double basis[6] = {0};
	enum fric_code code;
	if (geometry_of(d->span.type) == POINT_PLANE) {
		code = fricp_grain_basis(normal_at(d, j), grain, basis);
	} else if (d->task->contacts->searched[d->span.type]) {
		code = fricp_searched_grain(d, j, grain, basis);
	} else {
		positions_at(d, j, p);
		code = fricp_stencil_grain(d->span.type, p, grain, basis);
	}
	for (int e = 0; e < 6; e++)
		d->task->contacts->tangent_basis[e][d->span.begin + j] = basis[e];
	return code;
}

static void derive_geometries(struct drafts *d)
{
	const struct preparation *task = d->task;
	struct geometry_workspace work;
	const bool by_kernel = task->batch->dim == 3 && task->kernels->geometry[0][geometry_of(d->span.type)] &&
	                       !d->group->tangent_basis.data;
	if (by_kernel)
		span_geometry(d, &work);
	for (size_t j = 0; j < d->span.n; j++) {
		d->code[j] = FRIC_OK;
		if (!by_kernel || work.good[j] == 0)
			d->code[j] = (uint8_t)find_geometry(d, j);
	}
}

static void find_geometries(struct drafts *d)
{
	const struct fric_contacts *c = d->task->contacts;
	if (c->feature && !c->searched[d->span.type])
		memset(c->feature + d->span.begin, 0, d->span.n);
	if (c->searched[d->span.type])
		fricp_search_geometries(d);
	else
		derive_geometries(d);
	for (size_t j = 0; j < d->span.n && d->group->grain.data; j++)
		if (d->code[j] == FRIC_OK)
			d->code[j] = (uint8_t)turn_to_grain(d, j);
}

/* Copies what the barrier needs, in all dimensions: planes and mollifiers. */
static void copy_barrier(const struct drafts *d)
{
	struct fric_contacts *c = d->task->contacts;
	const size_t dim = (size_t)c->dim;
	if (c->mollifier.data)
		copy_column(d, d->group->mollifier, 0, 0, c->mollifier);
	for (size_t e = 0; e < 6 && d->span.type == FRIC_PLANE_VERTEX; e++) {
		const struct fric_values values = e < 3 ? d->group->plane_normal : d->group->plane_origin;
		for (size_t j = 0; j < d->span.n; j++)
			c->plane[e][d->first + j] = e % 3 < dim ? row_at(d, values, j)[e % 3] : 0;
	}
}

/* Without friction all lagged values are those of a skipped contact, which has none. */
static void prepare_barrier_alone(const struct drafts *d)
{
	struct fric_contacts *c = d->task->contacts;
	for (size_t j = 0; j < d->span.n; j++)
		skip(c, d->span.begin + j, FRIC_OK);
	copy_column(d, d->group->weight, 0, 1, c->weight);
}

static void prepare_span(const struct preparation *task, struct span span, struct fault *fault)
{
	struct fric_contacts *c = task->contacts;
	struct drafts d = {task, &task->batch->groups[span.type], span, span.begin - c->start[span.type], {0}};
	memset(c->skipped + span.begin, FRIC_OK, span.n);
	store_stencils(&d);
	find_extent(&d);
	if (c->terms & FRIC_TERM_BARRIER)
		copy_barrier(&d);
	if (!(c->terms & FRIC_TERM_FRICTION)) {
		prepare_barrier_alone(&d);
		return;
	}
	find_geometries(&d);
	find_normal_forces(&d);
	find_all_coefficients(&d);
	copy_fields(&d);
	if (c->searched[span.type])
		fricp_mark_mollified(&d);
	settle(&d, fault);
}

/* Counts the skipped contacts of a chunk, and checks whether it is ordinary, while it is still in the cache. */
static void look_back(struct preparation *task, size_t begin, size_t end)
{
	const struct fric_contacts *c = task->contacts;
	size_t n_skipped = 0;
	for (size_t i = begin; i < end; i++)
		n_skipped += c->skipped[i] != FRIC_OK;
	for (size_t i = begin; i < end && c->feature; i++)
		n_skipped -= c->skipped[i] == MOLLIFIED;
	if (n_skipped)
		atomic_fetch_add_explicit(&task->n_skipped, n_skipped, memory_order_relaxed);
	if (!fricp_contacts_ordinary(c, begin, end))
		atomic_store_explicit(&task->some_extreme, true, memory_order_relaxed);
	if (!fricp_coefficients_ordinary(&c->scalar, begin, end))
		atomic_store_explicit(&task->some_extreme_mu, true, memory_order_relaxed);
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

/* Prepares contacts at vertices only, or of bodies only. */
static enum fric_code prepare_part(const struct fric_context *context, const struct fric_batch *batch,
                                   struct fric_contacts **contacts, struct fric_error *error)
{
	struct fric_contacts *c = fricp_contacts_create(context->memory, batch);
	if (!c)
		return report_code(FRIC_E_MEMORY, error);
	struct feature_tables tables;
	struct preparation task = {.batch = batch, .contacts = c, .kernels = fricp_kernels_of(context), .tables = &tables};
	if (c->feature)
		fricp_list_all_features(c, &tables);
	const struct fault fault = fricp_parallel_contacts(context, c, prepare_chunk, &task);
	if (fault.code != FRIC_OK) {
		fricp_report_fault(c, fault, error);
		fric_contacts_free(c);
		return fault.code;
	}
	c->n_skipped = atomic_load(&task.n_skipped);
	c->ordinary = !atomic_load(&task.some_extreme);
	c->scalar.ordinary = !atomic_load(&task.some_extreme_mu);
	fricp_sweep_make(c);
	*contacts = c;
	return FRIC_OK;
}

/* The batch of the barrier alone: its contacts have no friction, whatever fields the caller's batch has. */
static struct fric_batch without_friction(const struct fric_batch *batch)
{
	static const double zero = 0;
	struct fric_batch part = *batch;
	part.positions = NULL;
	part.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const struct fric_group *group = &batch->groups[type];
		part.groups[type] = (struct fric_group){.n = group->n,
		                                        .vertices = group->vertices,
		                                        .weight = group->weight,
		                                        .normal_force = {&zero, 0},
		                                        .plane_normal = group->plane_normal,
		                                        .plane_origin = group->plane_origin,
		                                        .mollifier = group->mollifier};
	}
	return part;
}

static struct fric_batch without_bodies(const struct fric_batch *batch)
{
	struct fric_batch part = batch->terms == FRIC_TERM_BARRIER ? without_friction(batch) : *batch;
	part.n_bodies = 0;
	for (enum fric_type type = FRIC_N_VERTEX_TYPES; type < FRIC_N_TYPES; type++)
		part.groups[type] = (struct fric_group){0};
	return part;
}

static struct fric_batch with_bodies_alone(const struct fric_batch *batch)
{
	struct fric_batch part = *batch;
	part.terms = FRIC_TERM_FRICTION;
	part.n_vertices = batch->n_bodies;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		part.groups[type] = (struct fric_group){0};
	return part;
}

static enum fric_code prepare_bodies(const struct fric_context *context, const struct fric_batch *batch,
                                     struct fric_contacts *contacts, struct fric_error *error)
{
	const struct fric_batch part = with_bodies_alone(batch);
	const enum fric_code code = prepare_part(context, &part, &contacts->bodies, error);
	if (code == FRIC_OK)
		contacts->bodies->first_dof = n_dofs_at_vertices(contacts);
	return code;
}

enum fric_code fric_prepare(const struct fric_context *context, const struct fric_batch *batch,
                            struct fric_contacts **contacts, struct fric_error *error)
{
	const struct fric_batch part = without_bodies(batch);
	struct fric_contacts *made = NULL;
	enum fric_code code = prepare_part(context, &part, &made, error);
	if (code == FRIC_OK && batch->n_bodies)
		code = prepare_bodies(context, batch, made, error);
	if (code != FRIC_OK) {
		fric_contacts_free(made);
		made = NULL;
	} else if (made->terms == (FRIC_TERM_FRICTION | FRIC_TERM_BARRIER)) {
		made[1] = made[0];
		made[1].terms = FRIC_TERM_FRICTION;
	}
	*contacts = made;
	return code;
}

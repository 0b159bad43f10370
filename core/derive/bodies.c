#include "core/derive/bodies.h"

#include <math.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/bodies/evaluate.h"
#include "core/bodies/hessian.h"
#include "core/derive/point.h"

/* Rounds a wrench or a twist. @return whether it fits doubles */
static bool round_twist(int dim, const struct twist *twist, double *to)
{
	const bool finite = round_all(twist->v, dim, to);
	return round_all(twist->w + (dim == 3 ? 0 : 2), n_body_dofs(dim) - dim, to + dim) && finite;
}

/* ---- forwards ---- */

struct forward {
	struct point_task bodies;
	long double *potentials; /* [chunks] sums */
	double *wrenches;        /* [n_actions, n_body_dofs] */
};

/* @return whether everything is finite */
static bool forward_contact(const struct forward *task, size_t i, long double *sum)
{
	const struct fric_contacts *b = task->bodies.contacts;
	const enum fric_type type = contact_type(b, i);
	const size_t width = (size_t)n_body_dofs(b->dim);
	struct point_change change;
	struct twist wrench[2] = {{{0}, {0}}};
	bool finite = true;
	fricp_contact_tangent(&task->bodies, type, i, &change);
	fricp_add_wrenches(b, type, i, change.force_tangent, change.couple_tangent, wrench);
	fricp_add_lever_wrenches(type, &change.lever, change.force, wrench);
	for (int k = 0; k < n_bodies_of(type); k++)
		finite &= round_twist(b->dim, &wrench[k], task->wrenches + (first_action(b, i) + (size_t)k) * width);
	*sum += change.potential;
	return finite && isfinite((double)change.potential);
}

static void forward_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct forward *task = data;
	long double sum = 0;
	for (size_t i = begin; i < end && fault->code == FRIC_OK; i++)
		if (!forward_contact(task, i, &sum))
			*fault = (struct fault){FRIC_E_NOT_FINITE, i};
	task->potentials[chunk] = sum;
}

static enum fric_code forward_all(const struct fric_context *context, struct forward *task, long double *potential,
                                  double *gradient, struct fric_error *error)
{
	const struct fric_contacts *b = task->bodies.contacts;
	const size_t width = (size_t)n_body_dofs(b->dim), chunks = n_chunks(b->n, FRIC_CHUNK);
	const size_t bytes = (chunks + 1) * sizeof(long double) + n_actions(b) * width * sizeof(double);
	struct fault fault = {FRIC_E_MEMORY, SIZE_MAX};
	task->potentials = memory_take(context->memory, bytes);
	if (task->potentials) {
		task->wrenches = (double *)(void *)(task->potentials + chunks + 1);
		fault = fricp_parallel_chunks(context, b->n, forward_chunk, task);
		for (size_t chunk = 0; chunk < chunks && fault.code == FRIC_OK; chunk++)
			*potential += task->potentials[chunk];
		if (fault.code == FRIC_OK)
			fault = fricp_add_actions(context, b, task->wrenches, width, gradient + b->first_dof);
	}
	memory_give(context->memory, task->potentials, bytes);
	return fricp_report_fault(b, fault, error);
}

/* Whether the velocities are the only fields of bodies that have a tangent. */
static bool by_velocities_alone(const struct point_task *d)
{
	double *const *fields = d->differential->fields;
	return fields[FRIC_WRT_VELOCITIES] && !(d->follows && fields[FRIC_WRT_LAGGED_VELOCITIES]) &&
	       !fields[FRIC_WRT_BODY_POSITIONS] && !fields[FRIC_WRT_MATERIAL_MU_S] && !fields[FRIC_WRT_MATERIAL_MU_K] &&
	       !d->curve && d->links[FRIC_BODY_BODY].n == 0 && d->links[FRIC_BODY_WORLD].n == 0;
}

/* The derivatives along a tangent of the velocities, as a product with the Hessian and a slope of the potential, in
 * doubles: almost three times as fast.
 * @return FRIC_E_NOT_FINITE if something overflows, possibly only an intermediate result */
static enum fric_code along_velocities(const struct fric_context *context, const struct fric_derivation *derivation,
                                       const double *direction, long double *potential, double *gradient,
                                       struct fric_error *error)
{
	static const double here[1];
	double unused = 0, derivative = 0;
	enum fric_code code = fricp_bodies_line(context, derivation->contacts, derivation->query, direction, 1, here,
	                                        &unused, &derivative, error);
	if (code == FRIC_OK)
		code = fricp_bodies_products(context, derivation->contacts, derivation->query, FRIC_PROJECT_NONE, 1, direction,
		                             gradient, error);
	if (code == FRIC_OK)
		*potential += derivative;
	return code;
}

enum fric_code fricp_bodies_jvp(const struct fric_context *context, const struct fric_derivation *derivation,
                                const struct fric_differential *tangents, const struct table_piece_l *curve,
                                long double *potential, double *gradient, struct fric_error *error)
{
	struct forward task;
	fricp_point_task(derivation, tangents, true, &task.bodies);
	task.bodies.curve = curve;
	if (by_velocities_alone(&task.bodies)) {
		const double *velocities = tangents->fields[FRIC_WRT_VELOCITIES];
		const enum fric_code code = along_velocities(context, derivation, velocities, potential, gradient, error);
		if (code != FRIC_E_NOT_FINITE)
			return code;
	}
	return forward_all(context, &task, potential, gradient, error);
}

/* ---- backwards ---- */

/* A field with sums at bodies: its rows are stored if it is wanted. */
struct kept {
	double *rows, *out; /* [n_actions, width], [n_bodies, width] */
	size_t width;
};

enum { OF_VELOCITIES, OF_LAGGED, OF_POSITIONS, N_KEPT };

struct backward {
	struct point_task bodies;
	double psi;
	const double *cotangent;
	const struct second *second;
	struct kept kept[N_KEPT];
	double *mu[2];            /* [n] cotangents of coefficients; NULL: no table needs them */
	struct totals *totals;    /* [chunks] */
	struct table_pull *pulls; /* [chunks, table.n]; NULL: not wanted */
};

static double *row_at(const struct backward *task, int field, size_t i, int k)
{
	const struct kept *kept = &task->kept[field];
	return kept->rows + (first_action(task->bodies.contacts, i) + (size_t)k) * kept->width;
}

/* Converts cotangents of relative velocities and turns to cotangents of twists, and stores these: they transform like a
 * force and a couple. */
static bool keep_twists(const struct backward *task, int field, enum fric_type type, size_t i,
                        const long double relative[3], const long double turn[3])
{
	const struct fric_contacts *b = task->bodies.contacts;
	struct twist twist[2] = {{{0}, {0}}};
	bool finite = true;
	if (!task->kept[field].out)
		return true;
	fricp_add_wrenches(b, type, i, relative, turn, twist);
	for (int k = 0; k < n_bodies_of(type); k++)
		finite &= round_twist(b->dim, &twist[k], row_at(task, field, i, k));
	return finite;
}

static bool keep_rows(const struct backward *task, enum fric_type type, size_t i, const struct inputs *c)
{
	static const long double no_turn[3];
	bool finite = keep_twists(task, OF_VELOCITIES, type, i, &c->at[AT_RELATIVE], &c->at[AT_TURN]);
	finite &= keep_twists(task, OF_LAGGED, type, i, &c->at[AT_LAGGED], no_turn);
	for (int k = 0; k < n_bodies_of(type) && task->kept[OF_POSITIONS].out; k++)
		finite &= round_all(&c->at[AT_POSITION + 3 * k], task->bodies.contacts->dim, row_at(task, OF_POSITIONS, i, k));
	for (int kind = 0; kind < 2; kind++)
		if (task->mu[kind])
			finite &= round_all(&c->at[AT_MU_S + kind], 1, &task->mu[kind][i]);
	return finite;
}

/* Adds to the sums of fields with one row. @return whether the terms fit doubles */
static bool add_to_totals(const struct links *links, const struct inputs *c, struct totals *totals)
{
	bool finite = true;
	for (const struct link *link = links->link; link < links->link + links->n; link++)
		for (int m = 0; m < link->width && !link->stride; m++) {
			finite &= isfinite((double)c->at[(int)link->first + m]) != 0;
			totals->sum[link->total + (size_t)m] += c->at[(int)link->first + m];
		}
	return finite;
}

/* @return whether everything is finite */
static bool backward_contact(const struct backward *task, size_t i, struct totals *totals, struct table_pull *pulls)
{
	const struct fric_contacts *b = task->bodies.contacts;
	const enum fric_type type = contact_type(b, i);
	const struct links *links = &task->bodies.links[type];
	struct inputs c;
	fricp_contact_cotangent(&task->bodies, task->second ? &task->second->bodies : NULL, type, i, task->psi,
	                        task->cotangent, &c);
	if (pulls && (c.at[AT_CURVE] != 0 || c.at[AT_CURVE + 1] != 0))
		table_collect(&b->table, c.at[AT_CURVE_PLACE], c.at[AT_CURVE], c.at[AT_CURVE + 1], pulls);
	bool finite = keep_rows(task, type, i, &c);
	finite &= write_rows(links, i - b->start[type], &c);
	return add_to_totals(links, &c, totals) && finite;
}

static void backward_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct backward *task = data;
	const size_t n = task->bodies.contacts->table.n;
	struct table_pull *pulls = task->pulls ? task->pulls + chunk * n : NULL;
	memset(&task->totals[chunk], 0, sizeof(*task->totals));
	if (pulls)
		memset(pulls, 0, n * sizeof(*pulls));
	for (size_t i = begin; i < end && fault->code == FRIC_OK; i++)
		if (!backward_contact(task, i, &task->totals[chunk], pulls))
			*fault = (struct fault){FRIC_E_NOT_FINITE, i};
}

/* Adds the cotangents of all contacts to pair tables, in contact order. */
static void add_tables(const struct backward *task)
{
	const struct fric_contacts *b = task->bodies.contacts;
	for (int kind = 0; kind < 2; kind++)
		for (size_t i = 0; i < b->n && task->mu[kind]; i++)
			fricp_add_to_table(&task->bodies, contact_type(b, i), i, kind, task->mu[kind][i],
			                   task->bodies.differential->fields[FRIC_WRT_MATERIAL_MU_S + kind]);
}

/* Adds up the totals and pulls of all chunks, in order. */
static void add_totals(const struct backward *task, struct totals *totals, struct table_pull *pulls)
{
	const struct fric_contacts *b = task->bodies.contacts;
	for (size_t chunk = 0; chunk < n_chunks(b->n, FRIC_CHUNK); chunk++) {
		for (int m = 0; m < N_TOTALS; m++)
			totals->sum[m] += task->totals[chunk].sum[m];
		for (size_t k = 0; k < b->table.n && pulls; k++) {
			const struct table_pull *from = &task->pulls[chunk * b->table.n + k];
			pulls[k].value += from->value;
			pulls[k].a += from->a;
			pulls[k].b += from->b;
			pulls[k].c += from->c;
			pulls[k].integral += from->integral;
		}
	}
}

/* Writes all fields, even if one of them overflows. */
static struct fault add_up(const struct fric_context *context, const struct backward *task, struct totals *totals,
                           struct table_pull *pulls)
{
	struct fault fault = {FRIC_OK, SIZE_MAX};
	for (int field = 0; field < N_KEPT && fault.code != FRIC_E_STOPPED; field++) {
		const struct kept *kept = &task->kept[field];
		const struct fault one =
			kept->out ? fricp_add_actions(context, task->bodies.contacts, kept->rows, kept->width, kept->out)
					  : (struct fault){FRIC_OK, SIZE_MAX};
		fault = one.code != FRIC_OK ? one : fault;
	}
	add_tables(task);
	add_totals(task, totals, pulls);
	return fault;
}

static void choose_fields(struct backward *task, const struct fric_differential *cotangents)
{
	static const enum fric_field fields[N_KEPT] = {FRIC_WRT_VELOCITIES, FRIC_WRT_LAGGED_VELOCITIES,
	                                               FRIC_WRT_BODY_POSITIONS};
	const struct fric_contacts *b = task->bodies.contacts;
	for (int field = 0; field < N_KEPT; field++) {
		double *out = cotangents->fields[fields[field]];
		const bool positions = field == OF_POSITIONS;
		task->kept[field] = (struct kept){.out = out && !positions ? out + b->first_dof : out,
		                                  .width = (size_t)(positions ? b->dim : n_body_dofs(b->dim))};
	}
}

/* Assigns each array its part of `room`; NULL: only computes the size. @return the size in bytes */
static size_t lay_out(struct backward *task, const struct fric_differential *cotangents, bool curve, char *room)
{
	const struct fric_contacts *b = task->bodies.contacts;
	const size_t chunks = n_chunks(b->n, FRIC_CHUNK);
	size_t bytes = (chunks + 1) * sizeof(struct totals);
	task->totals = (struct totals *)(void *)room;
	task->pulls = room && curve ? (struct table_pull *)(void *)(room + bytes) : NULL;
	bytes += curve ? chunks * b->table.n * sizeof(struct table_pull) : 0;
	for (int field = 0; field < N_KEPT; field++) {
		task->kept[field].rows = room ? (double *)(void *)(room + bytes) : NULL;
		bytes += task->kept[field].out ? n_actions(b) * task->kept[field].width * sizeof(double) : 0;
	}
	for (int kind = 0; kind < 2; kind++) {
		const bool wanted = cotangents->fields[FRIC_WRT_MATERIAL_MU_S + kind];
		task->mu[kind] = room && wanted ? (double *)(void *)(room + bytes) : NULL;
		bytes += wanted ? b->n * sizeof(double) : 0;
	}
	return bytes;
}

enum fric_code fricp_bodies_vjp(const struct fric_context *context, const struct fric_derivation *derivation,
                                double psi, const double *cotangent, const struct second *second,
                                const struct fric_differential *cotangents, struct totals *totals,
                                struct table_pull *pulls, struct fric_error *error)
{
	const struct fric_contacts *b = derivation->contacts->bodies;
	struct fault fault = {FRIC_E_MEMORY, SIZE_MAX};
	struct backward task = {.psi = psi, .cotangent = cotangent, .second = second};
	fricp_point_task(derivation, cotangents, true, &task.bodies);
	choose_fields(&task, cotangents);
	const size_t bytes = lay_out(&task, cotangents, pulls, NULL);
	char *room = memory_take(context->memory, bytes);
	if (room) {
		lay_out(&task, cotangents, pulls, room);
		fault = fricp_parallel_chunks(context, b->n, backward_chunk, &task);
		if (fault.code == FRIC_OK)
			fault = add_up(context, &task, totals, pulls);
	}
	memory_give(context->memory, room, bytes);
	return fricp_report_fault(b, fault, error);
}

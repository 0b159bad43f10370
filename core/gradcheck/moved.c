#include "core/gradcheck/moved.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/derive/fields.h"
#include "core/gradcheck/expected.h"
#include "core/prepare/matchstick.h"

/* A batch and a query whose values may be changed. */
struct moved {
	struct fric_batch batch;
	const double *velocities, *slip_velocities;
};

static struct moved unmoved(const struct fric_derivation *d)
{
	return (struct moved){*d->batch, d->query->velocities, d->slip_velocities};
}

/* ---- location of each field's values ---- */

/* Determines the size of a direction's entries: proportional to the field's entries, as large as the vector that they
 * change, or the same for all. */
enum size_kind { IN_PROPORTION, LIKE_THE_VECTOR, LIKE_VELOCITIES, LIKE_LENGTHS, LIKE_ONE };

/* The number of values in a field. A single one is stored in place, others behind a pointer. */
enum count { ONE, PER_DOF, PER_VERTEX, PER_VERTEX_AXIS, PER_BODY_AXIS, PER_PAIR, PER_POINT };

#define OF_FRICTION(member, count, effect) \
	{ \
		offsetof(struct moved, batch.friction.member), count, IN_PROPORTION, effect \
	}
#define OF_BARRIER(member) \
	{ \
		offsetof(struct moved, batch.barrier.member), ONE, IN_PROPORTION, SCALES_FORCES \
	}
static const struct {
	size_t offset;
	enum count count;
	enum size_kind kind;
	enum effect effect;
} fields[FRIC_N_FIELDS] = {
	[FRIC_WRT_VELOCITIES] = {offsetof(struct moved, velocities), PER_DOF, LIKE_VELOCITIES, MOVES_SLIPS},
	[FRIC_WRT_LAGGED_VELOCITIES] = {offsetof(struct moved, slip_velocities), PER_DOF, LIKE_VELOCITIES, MOVES_SLIPS},
	[FRIC_WRT_POSITIONS] = {offsetof(struct moved, batch.positions), PER_VERTEX_AXIS, LIKE_LENGTHS, MOVES_SLIPS},
	[FRIC_WRT_BODY_POSITIONS] = {offsetof(struct moved, batch.body_positions), PER_BODY_AXIS, LIKE_LENGTHS,
                                 MOVES_SLIPS},
	[FRIC_WRT_EPS_V] = OF_FRICTION(eps_v, ONE, SCALES_SLIPS),
	[FRIC_WRT_MU_S] = OF_FRICTION(mu_s, ONE, CHANGES_LAW),
	[FRIC_WRT_MU_K] = OF_FRICTION(mu_k, ONE, CHANGES_LAW),
	[FRIC_WRT_STRIBECK_SPEED] = OF_FRICTION(law.stribeck_speed, ONE, SCALES_SLIPS),
	[FRIC_WRT_VISCOUS] = OF_FRICTION(law.viscous, ONE, SCALES_FORCES),
	[FRIC_WRT_VERTEX_MU_S] = OF_FRICTION(vertex_mu_s, PER_VERTEX, CHANGES_LAW),
	[FRIC_WRT_VERTEX_MU_K] = OF_FRICTION(vertex_mu_k, PER_VERTEX, CHANGES_LAW),
	[FRIC_WRT_MATERIAL_MU_S] = OF_FRICTION(material_mu_s, PER_PAIR, CHANGES_LAW),
	[FRIC_WRT_MATERIAL_MU_K] = OF_FRICTION(material_mu_k, PER_PAIR, CHANGES_LAW),
	[FRIC_WRT_CURVE_FACTORS] = OF_FRICTION(law.curve.factors, PER_POINT, SCALES_SLIPS),
	[FRIC_WRT_DHAT] = OF_BARRIER(dhat),
	[FRIC_WRT_STIFFNESS] = OF_BARRIER(stiffness),
	[FRIC_WRT_DMIN] = OF_BARRIER(dmin),
};

static const double *numbers_of(const struct moved *m, enum fric_field field)
{
	const void *at = (const char *)m + fields[field].offset;
	return fields[field].count == ONE ? (const double *)at : *(const double *const *)at;
}

static void set_numbers(struct moved *m, enum fric_field field, const double *numbers)
{
	void *at = (char *)m + fields[field].offset;
	if (fields[field].count == ONE)
		*(double *)at = *numbers;
	else
		*(const double **)at = numbers;
}

static size_t n_numbers(const struct fric_derivation *d, enum fric_field field)
{
	const struct fric_batch *b = d->batch;
	switch (fields[field].count) {
	case ONE: break;
	case PER_DOF: return fric_n_dofs(d->contacts);
	case PER_VERTEX: return b->n_vertices;
	case PER_VERTEX_AXIS: return b->n_vertices * (size_t)b->dim;
	case PER_BODY_AXIS: return b->n_bodies * (size_t)b->dim;
	case PER_PAIR: return b->friction.n_materials * b->friction.n_materials;
	case PER_POINT: return b->friction.law.curve.n;
	}
	return 1;
}

static size_t n_of_row(const struct fric_batch *b, enum fric_type type, enum fric_row row)
{
	const struct fric_values *values = fricp_group_row(&b->groups[type], row);
	return (size_t)fricp_row_width(type, b->dim, row) * (values->stride ? b->groups[type].n : 1);
}

void fricp_each_moved(const struct fric_derivation *d, const struct fric_differential *direction, visit_part *visit,
                      void *data)
{
	const struct moved m = unmoved(d);
	for (enum fric_field field = 0; field < FRIC_N_FIELDS; field++) {
		const struct moved_part part = {.field = field,
		                                .numbers = numbers_of(&m, field),
		                                .direction = direction->fields[field],
		                                .n = n_numbers(d, field)};
		if (part.direction && part.numbers)
			visit(data, &part);
	}
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		for (enum fric_row row = 0; row < FRIC_N_ROWS; row++) {
			const struct moved_part part = {FRIC_N_FIELDS,
			                                type,
			                                row,
			                                fricp_group_row(&d->batch->groups[type], row)->data,
			                                direction->rows[type][row],
			                                n_of_row(d->batch, type, row)};
			if (part.direction && part.numbers && d->batch->groups[type].n)
				visit(data, &part);
		}
}

static void count(void *data, const struct moved_part *part)
{
	*(size_t *)data += part->n;
}

size_t fricp_n_moved(const struct fric_derivation *derivation, const struct fric_differential *direction)
{
	size_t n = 0;
	fricp_each_moved(derivation, direction, count, &n);
	return n;
}

/* ---- directions ---- */

static enum size_kind kind_of_row(enum fric_row row)
{
	switch (row) {
	case FRIC_ROW_TANGENT_BASIS:
	case FRIC_ROW_CLOSEST_POINT: return LIKE_ONE;
	case FRIC_ROW_PLANE_NORMAL:
	case FRIC_ROW_NORMAL:
	case FRIC_ROW_GRAIN: return LIKE_THE_VECTOR;
	case FRIC_ROW_PLANE_ORIGIN:
	case FRIC_ROW_POINT: return LIKE_LENGTHS;
	case FRIC_ROW_SURFACE_VELOCITY:
	case FRIC_ROW_ANCHOR: return LIKE_VELOCITIES;
	default: return IN_PROPORTION;
	}
}

struct sizes {
	double velocity, length;
	double reach; /* for contacts of bodies: lever by which an angular velocity acts */
};

static double eps_v_of(const struct fric_contacts *c)
{
	return c && c->n ? *column_at(c->eps_v, 0) : 0;
}

static double or_one(double size)
{
	return size > 0 && size < 0x1p+500 ? size : 1;
}

static double extent(const double *x, size_t n, size_t dim)
{
	double most = 0;
	for (size_t i = 0; i < n && x; i++)
		for (size_t d = 0; d < dim; d++)
			most = fmax(most, fabs(x[i * dim + d] - x[d]));
	return most;
}

/* The longest arm or radius of contacts of bodies. */
static double reach_of(const struct fric_contacts *bodies)
{
	double most = 0;
	for (size_t i = 0; bodies && i < bodies->n; i++) {
		for (int k = 0; k < 2; k++)
			for (int d = 0; d < bodies->dim; d++)
				most = fmax(most, fabs(bodies->arm[k][d][i]));
		most = fmax(most, fmax(*column_at(bodies->spin_radius, i), *column_at(bodies->roll_radius, i)));
	}
	return most;
}

/* Whether a DOF is a component of a body's angular velocity. */
static bool turns(const struct fric_contacts *c, size_t dof)
{
	const size_t first = c->n_vertices * (size_t)c->dim;
	return dof >= first && (dof - first) % (size_t)n_body_dofs(c->dim) >= (size_t)c->dim;
}

static double largest_speed(const struct fric_contacts *c, const double *velocities, double reach)
{
	double most = 0;
	for (size_t i = 0; i < fric_n_dofs(c); i++)
		most = fmax(most, fabs(velocities[i]) * (turns(c, i) ? reach : 1));
	return most;
}

/* At rest the speed is eps_v. With reach 0, no angular velocity moves a contact. */
static struct sizes sizes_of(const struct fric_derivation *d)
{
	const struct fric_batch *b = d->batch;
	const double reach = reach_of(d->contacts->bodies);
	const double speed = largest_speed(d->contacts, d->query->velocities, reach);
	const double eps_v = fmax(eps_v_of(d->contacts), eps_v_of(d->contacts->bodies));
	const size_t dim = (size_t)b->dim;
	return (struct sizes){or_one(speed > 0 ? speed : eps_v),
	                      or_one(fmax(extent(b->positions, b->n_vertices, dim),
	                                  fmax(extent(b->body_positions, b->n_bodies, dim), reach))),
	                      or_one(reach)};
}

double fricp_speed(const struct fric_derivation *derivation)
{
	return sizes_of(derivation).velocity;
}

static enum effect effect_of_row(enum fric_row row)
{
	switch (row) {
	case FRIC_ROW_NORMAL_FORCE:
	case FRIC_ROW_WEIGHT:
	case FRIC_ROW_VISCOUS: return SCALES_FORCES;
	case FRIC_ROW_MU_S:
	case FRIC_ROW_MU_K:
	case FRIC_ROW_MU_S_ANISO:
	case FRIC_ROW_MU_K_ANISO: return CHANGES_LAW;
	default: return kind_of_row(row) == IN_PROPORTION ? SCALES_SLIPS : MOVES_SLIPS;
	}
}

static void find_effect(void *data, const struct moved_part *part)
{
	enum effect *most = data;
	const enum effect e = part->field < FRIC_N_FIELDS ? fields[part->field].effect : effect_of_row(part->row);
	*most = e > *most ? e : *most;
}

enum effect fricp_effect_of(const struct fric_derivation *derivation, const struct fric_differential *direction)
{
	enum effect most = SCALES_FORCES;
	fricp_each_moved(derivation, direction, find_effect, &most);
	return most;
}

struct filling {
	const struct fric_derivation *derivation;
	struct sizes sizes;
};

/* Both halves of a pair table have the same seed. */
static size_t seed_of(const struct filling *f, const struct moved_part *part, size_t i)
{
	const size_t m = f->derivation->batch->friction.n_materials;
	if (part->field != FRIC_WRT_MATERIAL_MU_S && part->field != FRIC_WRT_MATERIAL_MU_K)
		return i;
	return i / m < i % m ? i % m * m + i / m : i;
}

/* At points where a curve is flat, its derivatives have a knot, so these points stay fixed. */
static bool is_held(const struct moved_part *part, size_t i)
{
	const double *x = part->numbers;
	return part->field == FRIC_WRT_CURVE_FACTORS &&
	       ((i > 0 && x[i] == x[i - 1]) || (i + 1 < part->n && x[i] == x[i + 1]));
}

/* If the x and y components of a normal have equal size, the tie determines its basis, so it is kept exact. */
static void keep_ties(const struct filling *f, const struct moved_part *part)
{
	const bool is_normal = part->row == FRIC_ROW_PLANE_NORMAL || part->row == FRIC_ROW_NORMAL;
	if (part->field < FRIC_N_FIELDS || !is_normal || f->derivation->batch->dim == 2)
		return;
	for (size_t i = 0; i < part->n; i += 3) {
		const double x = part->numbers[i], y = part->numbers[i + 1];
		if (fabs(x) == fabs(y))
			part->direction[i + 1] = x == y ? part->direction[i] : -part->direction[i];
	}
}

/* Rounds to eight bits, so that adding the result to numbers of similar size is exact, even times 2^-46. */
static double short_of(double x)
{
	int exponent;
	const double fraction = frexp(x, &exponent);
	return ldexp(rint(ldexp(fraction, 8)), exponent - 8);
}

static double size_of(const struct filling *f, const struct moved_part *part, size_t i)
{
	const enum size_kind kind = part->field < FRIC_N_FIELDS ? fields[part->field].kind : kind_of_row(part->row);
	const bool of_dofs = part->field == FRIC_WRT_VELOCITIES || part->field == FRIC_WRT_LAGGED_VELOCITIES;
	const size_t dim = (size_t)f->derivation->batch->dim;
	switch (kind) {
	case IN_PROPORTION: return part->numbers[i];
	case LIKE_THE_VECTOR: return or_one(largest_of(part->numbers + i / dim * dim, dim));
	case LIKE_VELOCITIES:
		return f->sizes.velocity / (of_dofs && turns(f->derivation->contacts, i) ? f->sizes.reach : 1);
	case LIKE_LENGTHS: return f->sizes.length;
	case LIKE_ONE: return 1;
	}
	return 0;
}

static void fill(void *data, const struct moved_part *part)
{
	const struct filling *f = data;
	for (size_t i = 0; i < part->n; i++) {
		const double whole = size_of(f, part, i) * (double)test_vector(seed_of(f, part, i));
		part->direction[i] = is_held(part, i) ? 0 : short_of(part->direction[i] * whole);
	}
	keep_ties(f, part);
}

void fricp_fill_direction(const struct fric_derivation *derivation, const struct fric_differential *direction)
{
	struct filling f = {derivation, sizes_of(derivation)};
	fricp_each_moved(derivation, direction, fill, &f);
}

/* ---- results ---- */

struct moving {
	struct moved *out;
	double step, *room;
};

static void move_part(void *data, const struct moved_part *part)
{
	struct moving *m = data;
	for (size_t i = 0; i < part->n; i++)
		m->room[i] = part->numbers[i] + m->step * part->direction[i];
	if (part->field < FRIC_N_FIELDS)
		set_numbers(m->out, part->field, m->room);
	else
		((struct fric_values *)(uintptr_t)fricp_group_row(&m->out->batch.groups[part->type], part->row))->data =
			m->room;
	m->room += part->n;
}

/* Recomputes effective coefficients along the directions of the unchanged contacts, for directions that do not
 * follow. */
static void keep_directions(const struct fric_contacts *at, const struct fric_contacts *moved, const double *velocities,
                            struct coefficients *effective)
{
	for (size_t i = 0; i < at->n && effective->mu_s.data; i++)
		(void)choose_coefficients(moved, at, i, velocities, effective);
}

static enum fric_code make_state(const struct move *move, const struct moved *m, const struct fric_contacts *contacts,
                                 struct fric_state **state)
{
	const struct fric_derivation *d = move->derivation;
	struct fric_error error;
	*state = NULL;
	if (!d->query->state || !d->slip_velocities)
		return FRIC_OK;
	const enum fric_code code = fric_state_create(move->context, contacts, m->slip_velocities, state, &error);
	if (code != FRIC_OK || !*state)
		return code;
	if (!d->vertices_follow)
		keep_directions(d->contacts, contacts, d->slip_velocities, &(*state)->effective);
	if (!d->bodies_follow && (*state)->bodies)
		keep_directions(d->contacts->bodies, contacts->bodies, d->slip_velocities, &(*state)->bodies->effective);
	return FRIC_OK;
}

static enum fric_code evaluate(const struct move *move, const struct moved *m, const struct fric_contacts *contacts,
                               double *answer)
{
	struct fric_state *state;
	struct fric_error error;
	enum fric_code code = make_state(move, m, contacts, &state);
	const struct fric_query query = {.velocities = m->velocities, .state = state};
	if (code == FRIC_OK)
		code = fric_evaluate(move->context, contacts, &query, answer, answer + 1, &error);
	fric_state_free(state);
	return code;
}

/* Sets the weight of contacts that were skipped before the move to zero. */
static void hold_skipped(const struct move *move, struct moved *m)
{
	const struct fric_contacts *contacts = move->derivation->contacts;
	double *weights = move->weights;
	for (enum fric_type type = 0; type < FRIC_N_TYPES && weights; type++) {
		struct fric_values *values = &m->batch.groups[type].weight;
		const size_t n = m->batch.groups[type].n;
		for (size_t i = 0; i < n; i++) {
			const double weight = values->data ? values->data[i * values->stride] : 1;
			weights[i] = fric_skipped(contacts, type, i) == FRIC_OK ? weight : 0;
		}
		*values = (struct fric_values){weights, 1};
		weights += n;
	}
}

static bool skips_more(const struct fric_contacts *at, const struct fric_contacts *moved)
{
	for (enum fric_type type = 0; type < FRIC_N_TYPES && fric_n_skipped(moved); type++)
		for (size_t i = 0; i < fric_group_size(at, type); i++)
			if (fric_skipped(moved, type, i) != FRIC_OK && fric_skipped(at, type, i) == FRIC_OK)
				return true;
	return false;
}

enum fric_code fricp_answer_moved(const struct move *move, double step, double *answer)
{
	struct moved m = unmoved(move->derivation);
	struct moving moving = {&m, step, move->room};
	struct fric_contacts *contacts;
	struct fric_error error;
	fricp_each_moved(move->derivation, move->direction, move_part, &moving);
	hold_skipped(move, &m);
	enum fric_code code = fric_prepare(move->context, &m.batch, &contacts, &error);
	if (code != FRIC_OK)
		return code;
	code = skips_more(move->derivation->contacts, contacts) ? FRIC_E_PENETRATION : evaluate(move, &m, contacts, answer);
	fric_contacts_free(contacts);
	return code;
}

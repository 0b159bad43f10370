/* Compares derivatives along a direction with differences of results (docs/check.md). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/bodies/twist.h"
#include "core/gradcheck/expected.h"
#include "core/gradcheck/moved.h"

/* Steps are 2^-level times the direction, in turn, and the differences are extrapolated to step 0 (Richardson). A long
 * step is inaccurate if the function is strongly curved or has a knot within it, a short one because of rounding. Each
 * entry uses its best two successive steps, which must both agree: a single one might agree by chance. */
enum { FIRST_LEVEL = 8, LAST_LEVEL = 46 };

enum { AHEAD, BEHIND, N_SIDES };
/* Two-sided differences, and one-sided ones, which remain valid on one side of a knot. */
enum { ON_BOTH_SIDES = N_SIDES, N_KINDS };
/* Number of extrapolation orders. Differences without extrapolation are too inaccurate to be compared. */
enum { N_ORDERS = 4 };

/* Where derivatives do not fit a double, the direction or the cotangents are divided by 2^250, at most four times. */
enum { EACH_TIME = 250, MOST_TIMES = 4 };

/* Arrays of [1 + n_dofs]: the potential comes first. */
struct trial {
	struct move move;
	size_t n;
	double unit; /* factor by which the direction was shortened to make derivatives fit a double */
	double *answer, *jvp, *cotangents;
	double *natural;                        /* sum of the contacts' largest possible contributions, divided by `unit` */
	double *scale;                          /* scale of differences; before find_scales, the error of differences */
	double *best;                           /* relative differences */
	double *moved[N_SIDES];                 /* results one step to each side; NaN if there are none */
	double *differences[N_KINDS][N_ORDERS]; /* over the last step; NaN if there are none */
	double floor[2];                        /* smallest scales of potential and gradient */
	double sharpest;                        /* largest sharpness of a contact */
	double transposed;
};
enum { N_ARRAYS = 6 + N_SIDES + N_KINDS * N_ORDERS };

/* ---- scales ---- */

/* Adds bounds on one contact's force and moment to its members. */
static void add_contact(const struct fric_contacts *c, enum fric_type type, size_t i, double size,
                        const double *weights, double *sizes)
{
	for (int k = 0; k < fric_stencil_size(type); k++) {
		const bool body = is_of_bodies(type);
		double *out = sizes + 1 + member_dof(c, c->dim, type, k, i), arm = 0;
		for (int d = 0; d < 3 && body; d++)
			arm += fabs(c->arm[k][d][i]);
		if (body)
			arm += *column_at(c->spin_radius, i) + *column_at(c->roll_radius, i);
		for (int d = 0; d < n_member_dofs(c->dim, type); d++)
			out[d] += size * (body ? d < c->dim ? 1 : arm : fabs(weights[k]));
	}
}

static enum fric_code add_group(struct trial *t, enum fric_type type, double *weights, struct fric_error *error)
{
	const struct fric_derivation *d = t->move.derivation;
	const bool bodies = is_of_bodies(type);
	const struct fric_contacts *c = bodies ? d->contacts->bodies : d->contacts;
	const struct coefficients *mu = bodies ? body_coefficients_for(d->contacts, d->query)
	                                       : coefficients_for(d->contacts, d->query);
	const size_t n = fric_group_size(d->contacts, type), k = (size_t)fric_stencil_size(type);
	const struct fric_context *context = t->move.context;
	const struct directed along = {d->query->velocities, fricp_effect_of(d, t->move.direction), fricp_speed(d)};
	const enum fric_code code = bodies ? FRIC_OK : fric_stencil_weights(context, d->contacts, type, weights, error);
	for (size_t j = 0; j < n && code == FRIC_OK; j++) {
		const size_t i = c->start[type] + j;
		const struct contribution x = fricp_contribution(c, mu, type, i, &along);
		if (j % FRIC_CHUNK == 0 && fricp_stop_raised(context))
			return report_code(FRIC_E_STOPPED, error);
		t->natural[0] += x.potential;
		t->sharpest = fmax(t->sharpest, x.sharpness);
		add_contact(c, type, i, x.force, weights + j * k, t->natural);
		add_contact(c, type, i, x.unresolved, weights + j * k, t->scale);
	}
	return code;
}

/* Sums for each entry the bounds on the contacts' contributions, and on the errors of differences. */
static enum fric_code find_natural(struct trial *t, struct fric_error *error)
{
	const struct fric_contacts *c = t->move.derivation->contacts;
	const size_t bytes = fric_n_contacts(c) * FRIC_MAX_STENCIL * sizeof(double);
	double *weights = memory_take(t->move.context->memory, bytes + 1);
	enum fric_code code = weights ? FRIC_OK : report_code(FRIC_E_MEMORY, error);
	for (enum fric_type type = 0; type < FRIC_N_TYPES && code == FRIC_OK; type++)
		if (fric_group_size(c, type))
			code = add_group(t, type, weights, error);
	memory_give(t->move.context->memory, weights, bytes + 1);
	return code;
}

/* Finds the entries [begin, end) around entry i that share a scale: the DOFs of a vertex, or a body's velocity or
 * angular velocity. */
static void block_of(const struct fric_contacts *c, size_t i, size_t *begin, size_t *end)
{
	const size_t dim = (size_t)c->dim, at_vertices = fric_n_vertices(c) * dim, all = (size_t)n_body_dofs(c->dim);
	const size_t dof = i - 1, in = dof < at_vertices ? dof % dim : (dof - at_vertices) % all;
	const bool turns = dof >= at_vertices && in >= dim;
	*begin = i - (turns ? in - dim : in);
	*end = *begin + (turns ? all - dim : dim);
}

static void find_scales(struct trial *t)
{
	const struct fric_contacts *c = t->move.derivation->contacts;
	double most = 0;
	for (size_t i = 0; i < t->n; i++)
		t->natural[i] /= t->unit;
	t->scale[0] = t->natural[0] * (1 + 0x1p-45 / FRIC_DERIVATIVE_TOLERANCE * t->sharpest) + fabs(t->jvp[0]);
	for (size_t i = 1; i < t->n && !fricp_stop_raised_at(t->move.context, i); i++) {
		size_t begin, end;
		block_of(c, i, &begin, &end);
		const double largest = largest_of(t->jvp + begin, end - begin);
		t->scale[i] = t->natural[i] + t->scale[i] / t->unit + largest;
		most = fmax(most, t->natural[i] + largest);
	}
	t->floor[0] = fmax(1e-13 * most * fricp_speed(t->move.derivation), DBL_MIN);
	t->floor[1] = fmax(1e-9 * most, DBL_MIN);
}

/* ---- differences ---- */

static double relative_to(const struct trial *t, size_t i, double difference)
{
	const double scale = fmax(fmax(t->scale[i], t->floor[i > 0]), fabs(difference));
	return capped(fabsl((long double)difference - t->jvp[i]) / scale);
}

/* Adds the difference over a step half as long as the previous one. Errors of one-sided differences are a series in
 * powers of the step, of two-sided ones in powers of its square. */
static void consider(struct trial *t, int kind, size_t i, long double difference)
{
	long double power = 1;
	for (int order = 0; order < N_ORDERS; order++) {
		double *const at = &t->differences[kind][order][i];
		const double last = *at;
		*at = (double)difference;
		if (order > 0)
			t->best[i] = fmin(t->best[i], fmax(relative_to(t, i, last), relative_to(t, i, *at)));
		power *= kind == ON_BOTH_SIDES ? 4 : 2;
		difference += (difference - last) / (power - 1);
	}
}

/* Shorter steps are useless: rounding of the results alone exceeds the tolerance, and only chance makes differences
 * agree. */
static double shortest_step(const struct trial *t, size_t i)
{
	return 0x1p-53 * fabs(t->answer[i]) / (FRIC_DERIVATIVE_TOLERANCE * fmax(t->scale[i], t->floor[i > 0]));
}

static void consider_number(struct trial *t, size_t i, double h)
{
	if (h < shortest_step(t, i))
		return;
	const long double ahead = (long double)t->moved[AHEAD][i] - t->answer[i],
					  behind = (long double)t->answer[i] - t->moved[BEHIND][i];
	consider(t, AHEAD, i, ahead / h);
	consider(t, BEHIND, i, behind / h);
	consider(t, ON_BOTH_SIDES, i, (ahead + behind) / (2 * (long double)h));
}

static void fill_with(double *x, size_t n, double value)
{
	for (size_t i = 0; i < n; i++)
		x[i] = value;
}

/* Takes a step to both sides; a side without a result is skipped. */
static enum fric_code take_step(struct trial *t, int level)
{
	const double h = ldexp(t->unit, -level);
	for (int side = 0; side < N_SIDES; side++) {
		const enum fric_code code = fricp_answer_moved(&t->move, side == AHEAD ? h : -h, t->moved[side]);
		if (code == FRIC_E_MEMORY || code == FRIC_E_STOPPED)
			return code;
		if (code != FRIC_OK)
			fill_with(t->moved[side], t->n, NAN);
	}
	for (size_t i = 0; i < t->n && !fricp_stop_raised_at(t->move.context, i); i++)
		consider_number(t, i, h);
	return fricp_stop_raised(t->move.context) ? FRIC_E_STOPPED : FRIC_OK;
}

static enum fric_code find_differences(struct trial *t, struct fric_error *error)
{
	fill_with(t->best, t->n, DBL_MAX);
	for (int kind = 0; kind < N_KINDS; kind++)
		for (int order = 0; order < N_ORDERS; order++)
			if (!fricp_stop_raised(t->move.context))
				fill_with(t->differences[kind][order], t->n, NAN);
	for (int level = FIRST_LEVEL; level <= LAST_LEVEL && largest_of(t->best, t->n) > FRIC_DERIVATIVE_TOLERANCE / 100;
	     level++) {
		const enum fric_code code = take_step(t, level);
		if (code != FRIC_OK)
			return report_code(code, error);
	}
	return FRIC_OK;
}

/* ---- backwards ---- */

struct product {
	double *cotangents;
	long double sum, size;
};

static void multiply(void *data, const struct moved_part *part)
{
	struct product *p = data;
	for (size_t i = 0; i < part->n; i++) {
		const long double term = (long double)p->cotangents[i] * part->direction[i];
		p->sum += term;
		p->size += fabsl(term);
	}
	p->cotangents += part->n;
}

/* Space for the cotangents of one field of a direction, the only field set in `one`. @return NULL if the field has no
 * entries */
static double *take_room(const struct trial *t, const struct fric_differential *one, double **room)
{
	const size_t n = fricp_n_moved(t->move.derivation, one);
	double *taken = n ? *room : NULL;
	*room += n;
	return taken;
}

/* Cotangents of the same fields, stored in move.room. */
static struct fric_differential room_of(const struct trial *t)
{
	const struct fric_differential *d = t->move.direction;
	struct fric_differential out = {.fields = {0}}, one = out;
	double *room = t->move.room;
	for (int f = 0; f < FRIC_N_FIELDS; f++) {
		one.fields[f] = d->fields[f];
		out.fields[f] = take_room(t, &one, &room);
		one.fields[f] = NULL;
	}
	for (int type = 0; type < FRIC_N_TYPES; type++)
		for (int row = 0; row < FRIC_N_ROWS; row++) {
			one.rows[type][row] = d->rows[type][row];
			out.rows[type][row] = take_room(t, &one, &room);
			one.rows[type][row] = NULL;
		}
	return out;
}

/* Chooses cotangents of about 1, or smaller ones if a result would not fit a double otherwise. */
static enum fric_code take_back(struct trial *t, const struct fric_differential *out, struct fric_error *error)
{
	for (int times = 0;; times++) {
		for (size_t i = 0; i < t->n && !fricp_stop_raised_at(t->move.context, i); i++)
			t->cotangents[i] = ldexp((double)test_vector(i + 1), -EACH_TIME * times);
		const enum fric_code code = fric_vjp(t->move.context, t->move.derivation, t->cotangents[0], t->cotangents + 1,
		                                     t->moved[0], t->moved[0] + 1, out, error);
		if (code != FRIC_E_NOT_FINITE || times == MOST_TIMES)
			return code;
	}
}

static enum fric_code find_transposed(struct trial *t, struct fric_error *error)
{
	const struct fric_differential out = room_of(t);
	struct product back = {.cotangents = t->move.room};
	long double forth = 0, size = 0;
	const enum fric_code code = take_back(t, &out, error);
	if (code != FRIC_OK)
		return code;
	fricp_each_moved(t->move.derivation, t->move.direction, multiply, &back);
	for (size_t i = 0; i < t->n && !fricp_stop_raised_at(t->move.context, i); i++) {
		const long double term = (long double)t->cotangents[i] * t->jvp[i];
		forth += term;
		size += fabsl(term) + fabsl((long double)t->cotangents[i] * t->scale[i]);
	}
	size = fmaxl(size + back.size, DBL_MIN);
	t->transposed = capped(fabsl(back.sum - forth) / size);
	return fricp_stop_raised(t->move.context) ? report_code(FRIC_E_STOPPED, error) : FRIC_OK;
}

/* ---- the worst contact ---- */

static double suspicion(const struct fric_contacts *c, enum fric_type type, size_t i, const double *best)
{
	const int k = fric_stencil_size(type);
	double sum = 0;
	for (int m = 0; m < k; m++) {
		const double *of_member = best + 1 + member_dof(c, c->dim, type, m, i);
		sum += largest_of(of_member, (size_t)n_member_dofs(c->dim, type)) / k;
	}
	return sum;
}

static void find_worst(const struct trial *t, struct fric_derivative_agreement *out)
{
	const struct fric_contacts *all = t->move.derivation->contacts;
	double most = -1;
	out->worst = -1;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		const struct fric_contacts *c = is_of_bodies(type) ? all->bodies : all;
		for (size_t i = 0; c && i < group_size(c, type); i++) {
			const double here = suspicion(c, type, c->start[type] + i, t->best);
			if (!(here > most))
				continue;
			most = here;
			out->worst = (int64_t)i;
			out->group = type;
		}
	}
}

/* ---- the comparison ---- */

static void shorten(void *data, const struct moved_part *part)
{
	(void)data;
	for (size_t i = 0; i < part->n; i++)
		part->direction[i] = ldexp(part->direction[i], -EACH_TIME);
}

/* Shortens the direction until its derivatives fit a double. */
static enum fric_code take_forth(struct trial *t, struct fric_error *error)
{
	const struct move *m = &t->move;
	enum fric_code code;
	for (int times = 0;; times++) {
		code = fric_jvp(m->context, m->derivation, m->direction, t->answer, t->answer + 1, t->jvp, t->jvp + 1, error);
		if (code != FRIC_E_NOT_FINITE || times == MOST_TIMES)
			return code;
		fricp_each_moved(m->derivation, m->direction, shorten, NULL);
		t->unit = ldexp(t->unit, EACH_TIME);
	}
}

/* Whether only the derivatives fail: potential and gradient fit doubles. */
static bool fits(const struct trial *t, enum fric_code code)
{
	return code == FRIC_E_NOT_FINITE && fricp_answer_moved(&t->move, 0, t->answer) == FRIC_OK;
}

/* Compares fric_jvp if its derivatives fit doubles; if they do not, this is not an error. */
static enum fric_code compare_forth(struct trial *t, bool *compared, struct fric_error *error)
{
	enum fric_code code = take_forth(t, error);
	*compared = code == FRIC_OK;
	if (code != FRIC_OK)
		return fits(t, code) ? FRIC_OK : code;
	code = find_natural(t, error);
	if (code != FRIC_OK)
		return code;
	find_scales(t);
	return find_differences(t, error);
}

static enum fric_code compare(struct trial *t, struct fric_derivative_agreement *out, struct fric_error *error)
{
	bool forth, back = false;
	enum fric_code code = compare_forth(t, &forth, error);
	if (code == FRIC_OK && forth) {
		code = find_transposed(t, error);
		back = code == FRIC_OK;
		code = back || fits(t, code) ? FRIC_OK : code;
	}
	if (code != FRIC_OK)
		return code;
	*out = (struct fric_derivative_agreement){.potential = forth ? capped(t->best[0]) : -1,
	                                          .gradient = forth ? capped(largest_of(t->best + 1, t->n - 1)) : -1,
	                                          .transposed = back ? t->transposed : -1};
	out->agrees = out->potential <= FRIC_DERIVATIVE_TOLERANCE && out->gradient <= FRIC_DERIVATIVE_TOLERANCE &&
	              out->transposed <= FRIC_TRANSPOSE_TOLERANCE;
	find_worst(t, out);
	return FRIC_OK;
}

static void carve(struct trial *t, double *room)
{
	double **const arrays[] = {&t->answer, &t->jvp,  &t->cotangents,   &t->natural,
	                           &t->scale,  &t->best, &t->moved[AHEAD], &t->moved[BEHIND]};
	for (size_t a = 0; a < sizeof(arrays) / sizeof(*arrays); a++, room += t->n)
		*arrays[a] = room;
	for (int kind = 0; kind < N_KINDS; kind++)
		for (int order = 0; order < N_ORDERS; order++, room += t->n)
			t->differences[kind][order] = room;
	t->move.room = room;
}

enum fric_code fric_compare_derivative(const struct fric_context *context, const struct fric_derivation *derivation,
                                       const struct fric_differential *direction,
                                       struct fric_derivative_agreement *agreement, struct fric_error *error)
{
	struct trial t = {
		.move = {context, derivation, direction, NULL, NULL}, .n = 1 + fric_n_dofs(derivation->contacts), .unit = 1};
	const size_t n_moved = fricp_n_moved(derivation, direction);
	const size_t n_weights = fric_n_skipped(derivation->contacts) ? fric_n_contacts(derivation->contacts) : 0;
	const size_t bytes = (N_ARRAYS * t.n + n_moved + n_weights) * sizeof(double);
	double *room = fricp_take_zeroed(context, bytes);
	if (!room)
		return report_code(FRIC_E_MEMORY, error);
	carve(&t, room);
	t.move.weights = n_weights ? t.move.room + n_moved : NULL;
	fricp_fill_direction(derivation, direction);
	const enum fric_code code = compare(&t, agreement, error);
	memory_give(context->memory, room, bytes);
	return code;
}

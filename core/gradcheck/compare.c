/* The comparison with central differences (docs/check.md). References and scales are long doubles, as they may be far
 * outside the range of the results. Contacts are taken a window at a time: expected values are computed in parallel,
 * then added up at the vertices in contact order. */
#include "core/gradcheck/compare.h"

#include <math.h>

#include "core/assemble/triplets.h"
#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/bodies/twist.h"
#include "core/gradcheck/bodies.h"
#include "core/gradcheck/differences.h"
#include "core/gradcheck/expected.h"
#include "core/law/textbook.h"
#include "core/motion/slip.h"

enum { TRIPLETS_AT_ONCE = 16 };

/* Everything that is expected of one contact. */
struct reference {
	enum fric_type type;
	int k, n; /* vertices, slip directions */
	struct expected weight[FRIC_MAX_STENCIL];
	struct expected potential, force[3];
	struct expected inner[3];    /* 00, 01, 11: (t, u) is at t + u */
	struct expected block[3][3]; /* P A P^T: (i, j) of the whole block is w_i w_j times this */
};

/* What a window keeps of each contact for the sums. */
struct row {
	struct expected weight[FRIC_MAX_STENCIL], potential, force[3], product[3];
};

/* ---- one contact ---- */

/* What the coordinates leave for the origin of a side. */
static struct expected share_of_origin(enum fric_type type, int origin, const long double at[2])
{
	long double taken = 0, scale = 1;
	for (int k = 0; k < fric_stencil_size(type); k++) {
		const struct member m = stencil_members[type][k];
		if (k != origin && m.origin == origin)
			taken += at[m.coordinate], scale += fabsl(at[m.coordinate]);
	}
	return (struct expected){1 - taken, scale};
}

static void expect_weights(const struct fric_contacts *c, size_t i, struct reference *r)
{
	const long double at[2] = {c->closest_point[0][i], c->closest_point[1][i]};
	for (int k = 0; k < r->k; k++) {
		const struct member m = stencil_members[r->type][k];
		const long double x = at[m.coordinate];
		const struct expected w = m.origin == k ? share_of_origin(r->type, k, at) : (struct expected){x, fabsl(x)};
		r->weight[k] = (struct expected){m.sign * w.value, w.scale};
	}
}

/* An entry of the tangent basis. */
static long double basis(const struct fric_contacts *c, size_t i, int axis, int t)
{
	return c->tangent_basis[axis * (c->dim - 1) + t][i];
}

/* One axis of (w^T (x) I) x for a field x over all vertices, with the sum of all magnitudes as scale. */
static struct expected weighted(const struct fric_contacts *c, size_t i, const struct reference *r, int axis,
                                long double (*field)(const void *data, size_t dof), const void *data)
{
	struct expected sum = {0, 0};
	for (int k = 0; k < r->k; k++) {
		const long double x = field(data, member_dof(c, c->dim, r->type, k, i) + (size_t)axis);
		sum.value += r->weight[k].value * x;
		sum.scale += r->weight[k].scale * fabsl(x);
	}
	return sum;
}

/* A component of the slip, or of the slip without its anchor. */
static struct expected expect_slip(const struct comparing *task, size_t i, const struct reference *r, int t,
                                   bool anchored)
{
	const struct fric_contacts *c = task->contacts;
	const long double a = *column_at(c->mu_aniso[t], i);
	struct expected u = {0, 0};
	for (int axis = 0; axis < c->dim && !c->skipped[i]; axis++) {
		struct expected relative = weighted(c, i, r, axis, velocity, task->velocities);
		add_offset(c->surface_velocity, i, axis, -1, &relative);
		if (anchored)
			add_offset(c->anchor, i, axis, +1, &relative);
		u.value += basis(c, i, axis, t) * relative.value;
		u.scale += fabsl(basis(c, i, axis, t)) * relative.scale;
	}
	return (struct expected){a * u.value, a * u.scale * 0x1p-48L + (1 + a) * 0x1p-1070L};
}

/* The slip as computed in doubles, and that without the anchor, if they are right within rounding: derivatives are
 * compared there. */
static void slip_in_question(const struct comparing *task, size_t i, const struct reference *r, long double x[2],
                             long double bare[2])
{
	const struct fric_contacts *c = task->contacts;
	struct slip slip = {0};
	slip_velocity(c, r->type, i, task->velocities, &slip);
	for (int t = 0; t < 2; t++)
		x[t] = bare[t] = 0;
	for (int t = 0; t < r->n; t++) {
		const struct expected u = expect_slip(task, i, r, t, true), v = expect_slip(task, i, r, t, false);
		x[t] = fabsl(slip.scaled[t] - u.value) <= u.scale ? slip.scaled[t] : u.value;
		bare[t] = fabsl(slip.bare[t] - v.value) <= v.scale ? slip.bare[t] : v.value;
	}
}

/* The drag's part of the potential, of forces and of inner matrices, over s eps_v, s and s / eps_v. */
struct drag {
	long double strength, ratio; /* viscous * eps_v; slip without the anchor over eps_v */
};

static struct drag expect_drag(const struct fric_contacts *c, size_t i, int n, const long double bare[2],
                               struct differences *d)
{
	const double viscous = c->viscous.data ? *column_at(c->viscous, i) : 0, eps_v = *column_at(c->eps_v, i);
	if (viscous == 0)
		return (struct drag){0, 0};
	fricp_differences_of_drag(viscous, eps_v, n, bare, d);
	const long double length = hypotl(bare[0], bare[1]);
	return (struct drag){(long double)viscous * eps_v, length / eps_v};
}

static void expect_force(const struct fric_contacts *c, size_t i, const struct differences *d, long double s,
                         long double mu, struct drag drag, struct reference *r)
{
	const long double law = mu * (d->z < 1 ? d->z : 1), known = d->known / FRIC_TOLERANCE,
					  scale = floored(fabsl(s) * (law + drag.strength * drag.ratio + known));
	for (int axis = 0; axis < c->dim; axis++) {
		struct expected sum = {0, 0};
		for (int t = 0; t < r->n; t++) {
			const long double factor = basis(c, i, axis, t) * *column_at(c->mu_aniso[t], i);
			sum.value += factor * s * d->gradient[t];
			sum.scale += fabsl(factor) * scale;
		}
		r->force[axis] = (struct expected){sum.value, floored(sum.scale)};
	}
}

static void expect_inner(const struct fric_contacts *c, size_t i, const struct differences *d, long double s,
                         long double mu, struct drag drag, struct reference *r)
{
	const long double eps_v = *column_at(c->eps_v, i), a0 = *column_at(c->mu_aniso[0], i);
	const long double a1 = r->n == 2 ? *column_at(c->mu_aniso[1], i) : 0, pairs[3] = {a0 * a0, a0 * a1, a1 * a1};
	const long double known = mu / (d->z > 1 ? d->z : 1) + drag.strength + d->blur / FRIC_TOLERANCE;
	const long double scale = floored(fabsl(s) * known / eps_v);
	for (int e = 0; e < 3; e++)
		r->inner[e] = (struct expected){s / eps_v * pairs[e] * d->hessian[e], floored(pairs[e] * scale)};
}

static void expect_block(const struct fric_contacts *c, size_t i, struct reference *r)
{
	for (int a = 0; a < c->dim; a++)
		for (int b = 0; b < c->dim; b++) {
			struct expected sum = {0, 0};
			for (int t = 0; t < r->n; t++)
				for (int u = 0; u < r->n; u++) {
					const long double p = basis(c, i, a, t) * basis(c, i, b, u);
					sum.value += p * r->inner[t + u].value;
					sum.scale += floored(fabsl(p)) * r->inner[t + u].scale;
				}
			r->block[a][b] = (struct expected){sum.value, floored(sum.scale)};
		}
}

static void expect(const struct comparing *task, size_t i, struct reference *r)
{
	const struct fric_contacts *c = task->contacts;
	const double mu_s = *column_at(task->coefficients->mu_s, i), mu_k = *column_at(task->coefficients->mu_k, i);
	const double eps_v = *column_at(c->eps_v, i);
	const long double s = c->skipped[i] ? 0 : long_force(c, i);
	struct fric_law law = c->law;
	struct differences d;
	long double x[2], bare[2];
	r->type = contact_type(c, i);
	r->k = fric_stencil_size(r->type);
	r->n = c->dim - 1;
	expect_weights(c, i, r);
	slip_in_question(task, i, r, x, bare);
	if (law.type != FRIC_CURVE && c->unit.data)
		law.stribeck_speed = *column_at(c->unit, i);
	fricp_differences_at(&law, task->areas, mu_s, mu_k, eps_v, r->n, x, &d);
	const struct drag drag = expect_drag(c, i, r->n, bare, &d);
	const long double mu = d.mu;
	r->potential.value = s * eps_v * d.potential;
	r->potential.scale = fabsl(s) * eps_v * (mu * (d.z > 1 ? d.z : 1) + drag.strength * drag.ratio * drag.ratio);
	expect_force(c, i, &d, s, mu, drag, r);
	expect_inner(c, i, &d, s, mu, drag, r);
	expect_block(c, i, r);
}

/* ---- its comparison ---- */

static void judge_numbers(const struct comparing *task, size_t i, const struct reference *r, struct findings *f)
{
	const struct claims *claims = task->claims;
	const size_t dim = (size_t)task->contacts->dim, m = (size_t)fric_inner_size((int)dim);
	judge(f, FRIC_POTENTIAL, i, claims->potentials[i], r->potential.value, r->potential.scale);
	for (size_t d = 0; d < dim; d++)
		judge(f, FRIC_GRADIENT, i, claims->forces[i * dim + d], r->force[d].value, r->force[d].scale);
	for (size_t e = 0; e < m; e++)
		judge(f, FRIC_HESSIAN, i, claims->inner[i * m + e], r->inner[e].value, r->inner[e].scale);
}

/* The triplets of one contact, row by row. A number in the wrong place counts as a wrong number. @return how many they
 * are */
static size_t judge_triplets(const struct comparing *task, size_t i, const struct reference *r, const int32_t *rows,
                             const int32_t *cols, const double *values, struct findings *f)
{
	const struct fric_contacts *c = task->contacts;
	const int dim = n_member_dofs(c->dim, r->type), n = r->k * dim;
	for (int row = 0; row < n; row++)
		for (int col = 0; col < n; col++, rows++, cols++, values++) {
			const struct expected *v = &r->weight[row / dim], *w = &r->weight[col / dim];
			const struct expected *e = &r->block[row % dim][col % dim];
			const long double value = v->value * w->value * e->value;
			const bool here = (size_t)*rows == member_dof(c, c->dim, r->type, row / dim, i) + (size_t)(row % dim) &&
			                  (size_t)*cols == member_dof(c, c->dim, r->type, col / dim, i) + (size_t)(col % dim);
			judge(f, FRIC_HESSIAN, i, *values, value, floored(v->scale * w->scale) * e->scale);
			if (!here)
				judge(f, FRIC_HESSIAN, i, 1, 0, 0);
			raise_to(&f->of[FRIC_HESSIAN].largest_difference, capped(fabsl(*values - value)));
			raise_to(&f->of[FRIC_HESSIAN].largest_entry, fabs(*values));
		}
	return (size_t)n * (size_t)n;
}

static void keep_row(const struct comparing *task, size_t i, const struct reference *r, struct row *row)
{
	const struct fric_contacts *c = task->contacts;
	row->potential = r->potential;
	memcpy(row->weight, r->weight, sizeof(row->weight));
	memcpy(row->force, r->force, sizeof(row->force));
	memset(row->product, 0, sizeof(row->product));
	for (int b = 0; b < c->dim; b++) {
		const struct expected x = weighted(c, i, r, b, test_vector, NULL);
		for (int a = 0; a < c->dim; a++) {
			row->product[a].value += r->block[a][b].value * x.value;
			row->product[a].scale += r->block[a][b].scale * x.scale;
		}
	}
}

/* Compares up to TRIPLETS_AT_ONCE contacts. */
static bool compare_few(const struct comparing *task, size_t begin, size_t end, struct findings *f, struct fault *fault)
{
	int32_t rows[TRIPLETS_AT_ONCE * TRIPLETS_MOST], cols[TRIPLETS_AT_ONCE * TRIPLETS_MOST];
	double values[TRIPLETS_AT_ONCE * TRIPLETS_MOST];
	const size_t fine = fricp_triplets_of(task->contacts, task->claims->inner, begin, end, rows, cols, values);
	size_t at = 0;
	if (fine < end)
		*fault = (struct fault){FRIC_E_NOT_FINITE, fine};
	for (size_t i = begin; i < end && fine == end; i++) {
		struct reference r = {0};
		expect(task, i, &r);
		judge_numbers(task, i, &r, f);
		at += judge_triplets(task, i, &r, rows + at, cols + at, values + at, f);
		keep_row(task, i, &r, &task->rows[i - task->first]);
	}
	return fine == end;
}

/* begin and end count from the window's first contact, faults from the first of all. */
static void compare_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct comparing *task = data;
	struct findings *f = &task->chunks[chunk];
	*f = (struct findings){.relative = -1};
	for (size_t i = begin; i < end; i += TRIPLETS_AT_ONCE) {
		const size_t few = i + TRIPLETS_AT_ONCE < end ? i + TRIPLETS_AT_ONCE : end;
		if (!compare_few(task, task->first + i, task->first + few, f, fault))
			return;
	}
}

/* ---- sums ---- */

static void scatter_row(struct comparing *task, size_t i, const struct row *row)
{
	const struct fric_contacts *c = task->contacts;
	const enum fric_type type = contact_type(c, i);
	add(&task->potential, row->potential.value, row->potential.scale);
	for (int k = 0; k < fric_stencil_size(type); k++)
		for (int d = 0; d < c->dim; d++) {
			const size_t dof = member_dof(c, c->dim, type, k, i) + (size_t)d;
			const struct expected w = row->weight[k], f = row->force[d], p = row->product[d];
			add(&task->gradient[dof], w.value * f.value, w.scale * f.scale);
			add(&task->product[dof], w.value * p.value, floored(w.scale) * p.scale);
		}
}

static struct fault run(struct comparing *task, size_t n, size_t size, chunk_work *work)
{
	const size_t from = task->context->parallel_from ? task->context->parallel_from : SERIAL_BELOW;
	const struct phase phase = {work, n, size, true, NULL};
	return fricp_parallel_phases(task->context, n < from ? 1 : task->context->n_threads, &phase, 1, task);
}

static struct fault compare_contacts(struct comparing *task)
{
	const size_t n = task->contacts->n;
	struct fault fault = {FRIC_OK, SIZE_MAX};
	for (task->first = 0; task->first < n && fault.code == FRIC_OK; task->first += WINDOW) {
		const size_t here = n - task->first < WINDOW ? n - task->first : WINDOW;
		fault = run(task, here, CHUNK, compare_chunk);
		for (size_t p = 0; p * CHUNK < here && fault.code == FRIC_OK; p++)
			merge(&task->all, &task->chunks[p]);
		for (size_t j = 0; j < here && fault.code == FRIC_OK; j++)
			scatter_row(task, task->first + j, &task->rows[j]);
	}
	return fault;
}

static long double csr_product(const struct claims *claims, size_t row)
{
	const int64_t *indptr = fric_pattern_indptr(claims->pattern);
	const int32_t *indices = fric_pattern_indices(claims->pattern);
	long double sum = 0;
	for (int64_t e = indptr[row]; e < indptr[row + 1]; e++)
		sum += claims->csr[e] * test_vector(NULL, (size_t)indices[e]);
	return sum;
}

/* Replaces the scale by the relative difference. */
static void judge_sum(struct fric_agreement *agreement, long double claim, struct expected *e)
{
	const double relative = relative_difference(claim, *e);
	raise_to(&agreement->assembled, relative);
	e->scale = relative;
}

static void judge_entry(struct fric_agreement *agreement, double claim, struct expected *e)
{
	raise_to(&agreement->largest_difference, capped(fabsl(claim - e->value)));
	raise_to(&agreement->largest_entry, fabs(claim));
	judge_sum(agreement, claim, e);
}

static void compare_dofs(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct comparing *task = data;
	struct findings *f = &task->chunks[chunk];
	(void)fault;
	*f = (struct findings){.relative = -1};
	for (size_t dof = begin; dof < end; dof++) {
		judge_entry(&f->of[FRIC_GRADIENT], task->claims->gradient[dof], &task->gradient[dof]);
		judge_sum(&f->of[FRIC_HESSIAN], csr_product(task->claims, dof), &task->product[dof]);
	}
}

static struct fault compare_sums(struct comparing *task)
{
	const struct fault fault = run(task, task->ndof, FRIC_CHUNK, compare_dofs);
	for (size_t p = 0; p < n_chunks(task->ndof, FRIC_CHUNK) && fault.code == FRIC_OK; p++)
		merge(&task->all, &task->chunks[p]);
	judge_entry(&task->all.of[FRIC_POTENTIAL], task->claims->potential, &task->potential);
	return fault;
}

/* ---- which contact ---- */

/* The mean over a contact's members of the largest difference at each. */
static double suspicion(const struct fric_contacts *c, size_t i, const struct expected *sums)
{
	const enum fric_type type = contact_type(c, i);
	const int size = fric_stencil_size(type), n = is_of_bodies(type) ? n_body_dofs(c->dim) : n_vertex_dofs(c->dim);
	double sum = 0;
	for (int k = 0; k < size; k++) {
		const size_t v = (size_t)c->vertices[k][i], first = is_of_bodies(type) ? body_dof(c, v) : vertex_dof(c->dim, v);
		double most = 0;
		for (int d = 0; d < n; d++)
			raise_to(&most, (double)sums[first + (size_t)d].scale);
		sum += most / size;
	}
	return sum;
}

/* Names the most suspicious contact when a sum disagrees although all contacts agree. */
static void suspect(struct comparing *task, enum fric_quantity quantity)
{
	const struct expected *sums = quantity == FRIC_HESSIAN ? task->product : task->gradient;
	double most = 0;
	task->all.quantity = quantity;
	task->all.relative = task->all.of[quantity].assembled;
	for (size_t i = 0; i < fric_n_contacts(task->contacts) && quantity != FRIC_POTENTIAL; i++) {
		const bool of_bodies = i >= task->contacts->n;
		const double here = of_bodies ? suspicion(task->contacts->bodies, i - task->contacts->n, sums)
		                              : suspicion(task->contacts, i, sums);
		if (here > most)
			most = here, task->all.contact = i;
	}
}

static void find_worst(struct comparing *task)
{
	enum fric_quantity most = FRIC_POTENTIAL;
	for (enum fric_quantity q = FRIC_GRADIENT; q < FRIC_N_QUANTITIES; q++)
		if (task->all.of[q].assembled > task->all.of[most].assembled)
			most = q;
	if (fric_n_contacts(task->contacts) && task->all.relative <= FRIC_TOLERANCE &&
	    task->all.of[most].assembled > FRIC_TOLERANCE)
		suspect(task, most);
}

static void describe_worst(const struct comparing *task, struct fric_comparison *out)
{
	const bool of_bodies = task->all.contact >= task->contacts->n;
	const struct fric_contacts *c = of_bodies ? task->contacts->bodies : task->contacts;
	const size_t i = task->all.contact - (of_bodies ? task->contacts->n : 0);
	struct slip slip;
	out->group = contact_type(c, i);
	out->worst = (int64_t)(i - c->start[out->group]);
	out->quantity = task->all.quantity;
	out->relative_difference = task->all.relative;
	for (int v = 0; v < fric_stencil_size(out->group); v++)
		out->vertices[v] = c->vertices[v][i];
	if (of_bodies)
		body_slip_of(c, task->body_coefficients, out->group, i, task->velocities, &slip);
	else
		slip_of(c, task->coefficients, out->group, i, task->velocities, &slip);
	out->status = c->skipped[i] ? 2 : slip.slides;
	out->slip_ratio = capped(slip_speed(&slip) / slip.eps_v);
}

static void summarise(struct comparing *task, struct fric_comparison *out)
{
	*out = (struct fric_comparison){.agrees = true, .worst = -1};
	find_worst(task);
	for (int q = 0; q < FRIC_N_QUANTITIES; q++) {
		out->of[q] = task->all.of[q];
		out->agrees &= out->of[q].contacts <= FRIC_TOLERANCE && out->of[q].assembled <= FRIC_TOLERANCE;
	}
	if (fric_n_contacts(task->contacts))
		describe_worst(task, out);
}

static struct fault compare(struct comparing *task, struct fric_comparison *comparison)
{
	struct fault fault = compare_contacts(task);
	if (fault.code == FRIC_OK && task->contacts->bodies)
		fault = fricp_compare_bodies(task);
	if (fault.code == FRIC_OK)
		fault = compare_sums(task);
	if (fault.code == FRIC_OK)
		summarise(task, comparison);
	return fault;
}

/* Contacts of bodies count on. */
static enum fric_code report(const struct fric_contacts *contacts, struct fault fault, struct fric_error *error)
{
	if (!contacts->bodies || fault.position < contacts->n)
		return fricp_report_fault(contacts, fault, error);
	fault.position -= contacts->n;
	return fricp_report_fault(contacts->bodies, fault, error);
}

enum fric_code fricp_claims_compare(const struct fric_context *context, const struct fric_contacts *contacts,
                                    const struct fric_question *question, const struct claims *claims,
                                    struct fric_comparison *comparison, struct fric_error *error)
{
	const size_t ndof = n_dofs(contacts), n = contacts->n < WINDOW ? contacts->n : WINDOW;
	const size_t most_chunks = n_chunks(ndof, FRIC_CHUNK) + n / CHUNK + 1, rows = (n + 1) * sizeof(struct row);
	const size_t sums = (2 * ndof + 1) * sizeof(struct expected), findings = most_chunks * sizeof(struct findings);
	struct comparing task = {context,
	                         contacts,
	                         coefficients_for(contacts, question),
	                         contacts->bodies ? body_coefficients_for(contacts, question) : NULL,
	                         question->velocities,
	                         claims,
	                         .ndof = ndof,
	                         .all = {.relative = -1}};
	struct fault fault = {FRIC_E_MEMORY, SIZE_MAX};
	const size_t areas = (contacts->table.n + 1) * sizeof(quad);
	task.areas = memory_take(context->memory, areas);
	task.rows = memory_take(context->memory, rows);
	task.chunks = memory_take(context->memory, findings);
	task.gradient = fricp_take_zeroed(context, sums);
	if (task.areas && task.rows && task.chunks && task.gradient) {
		if (contacts->table.n)
			textbook_areas(&contacts->law.curve, task.areas);
		task.product = task.gradient + ndof;
		fault = compare(&task, comparison);
	}
	memory_give(context->memory, task.gradient, sums);
	memory_give(context->memory, task.chunks, findings);
	memory_give(context->memory, task.rows, rows);
	memory_give(context->memory, task.areas, areas);
	return report(contacts, fault, error);
}

enum fric_code fric_compare(const struct fric_context *context, const struct fric_contacts *contacts,
                            const struct fric_question *question, struct fric_comparison *comparison,
                            struct fric_error *error)
{
	struct claims claims;
	enum fric_code code = fricp_claims_make(context, contacts, question, &claims, error);
	if (code == FRIC_OK)
		code = fricp_claims_compare(context, contacts, question, &claims, comparison, error);
	fricp_claims_free(context, &claims);
	return code;
}

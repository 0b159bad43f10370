/* The comparison with central differences (docs/check.md). References and scales are long doubles, as they may be far
 * outside the range of the results. Contacts are processed in windows: expected values are computed in parallel, then
 * summed at the vertices in contact order. */
#include <math.h>
#include <string.h>

#include "core/assemble/triplets.h"
#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/bodies/evaluate.h"
#include "core/gradcheck/barrier.h"
#include "core/gradcheck/expected.h"
#include "core/gradcheck/results.h"
#include "core/law/textbook.h"

enum { TRIPLETS_AT_ONCE = 16, BLOCK = MOST_BLOCK * MOST_BLOCK };

/* ---- one contact ---- */

void fricp_begin_reference(const struct fric_contacts *c, size_t i, struct reference *r)
{
	r->contacts = c;
	r->i = i;
	r->type = contact_type(c, i);
	r->n = is_of_bodies(r->type) ? n_body_slip(c->dim) : c->dim - 1;
	r->m = 0;
	for (int k = 0; k < fric_stencil_size(r->type); k++)
		for (int d = 0; d < n_member_dofs(c->dim, r->type); d++)
			r->row.dof[r->m++] = member_dof(c, c->dim, r->type, k, i) + (size_t)d;
	r->row.m = r->m;
}

void fricp_expect_motion(struct reference *r, long double *pairs)
{
	if (is_of_bodies(r->type))
		fricp_expect_jacobian(r, pairs);
	else
		fricp_expect_weights(r, pairs);
}

struct expected fricp_expect_slip(const struct reference *r, const double *velocities, int t, bool anchored)
{
	return is_of_bodies(r->type) ? fricp_expect_body_slip(r, velocities, t, anchored)
	                             : fricp_expect_vertex_slip(r, velocities, t, anchored);
}

/* Chooses the slips, with and without the anchor, at which derivatives are compared: those computed in doubles if they
 * are correct to rounding, else the expected ones. */
static void slip_in_query(const struct comparing *task, const struct reference *r, long double x[MOST_SLIP],
                          long double bare[MOST_SLIP])
{
	struct slip slip = {0};
	contact_slip_velocity(r->contacts, r->type, r->i, task->velocities, &slip);
	for (int t = 0; t < r->n; t++) {
		const struct expected u = fricp_expect_slip(r, task->velocities, t, true),
							  v = fricp_expect_slip(r, task->velocities, t, false);
		x[t] = fabsl(slip.scaled[t] - u.value) <= u.scale ? slip.scaled[t] : u.value;
		bare[t] = fabsl(slip.bare[t] - v.value) <= v.scale ? slip.bare[t] : v.value;
	}
}

/* The drag's part of the scales, divided by s / eps_v, s and s eps_v. */
struct drag {
	long double inner, force, potential;
};

static struct drag expect_drag(const struct reference *r, const long double bare[MOST_SLIP], struct differences *d)
{
	const struct fric_contacts *c = r->contacts;
	const double viscous = c->viscous.data ? *column_at(c->viscous, r->i) : 0, eps_v = *column_at(c->eps_v, r->i);
	const long double strength = (long double)viscous * eps_v;
	long double squared = 0;
	if (viscous == 0)
		return (struct drag){0, 0, 0};
	fricp_differences_of_drag(viscous, eps_v, r->n, bare, d);
	if (!is_of_bodies(r->type)) {
		const long double ratio = hypotl(bare[0], bare[1]) / eps_v;
		return (struct drag){strength, strength * ratio, strength * ratio * ratio};
	}
	for (int t = 0; t < r->n; t++)
		squared += bare[t] / eps_v * (bare[t] / eps_v);
	return (struct drag){strength, strength * sqrtl(squared), strength * squared};
}

/* @param pairs  factors of the inner matrix's entries: products of mu_aniso, or 1 */
static void expect_inner(const struct response *at, double eps_v, long double known, const long double *pairs,
                         struct reference *r)
{
	const long double scale = floored(fabsl(at->s) * known / eps_v);
	for (int e = 0; e < r->n * (r->n + 1) / 2; e++)
		r->inner[e] = (struct expected){at->s / eps_v * pairs[e] * at->law.hessian[e], floored(pairs[e] * scale)};
}

static void expect_members(const struct response *at, struct reference *r)
{
	if (is_of_bodies(r->type))
		fricp_expect_wrenches(at, r);
	else
		fricp_expect_forces(at, r);
}

/* Without friction, nothing is expected but what the barrier adds. */
static void expect_nothing(struct reference *r)
{
	r->n_forces = 0;
	r->row.potential = (struct expected){0, 0};
	memset(r->row.gradient, 0, sizeof(r->row.gradient));
	memset(r->row.product, 0, sizeof(r->row.product));
	memset(r->block, 0, sizeof(r->block));
}

static void expect_friction(const struct comparing *task, struct reference *r)
{
	const struct fric_contacts *c = r->contacts;
	const struct coefficients *mu = is_of_bodies(r->type) ? task->body_coefficients : task->coefficients;
	const double eps_v = *column_at(c->eps_v, r->i);
	struct response at = {.s = c->skipped[r->i] ? 0 : long_force(c, r->i)};
	struct fric_law law = c->law;
	long double x[MOST_SLIP] = {0}, bare[MOST_SLIP] = {0}, pairs[MOST_PAIRS];
	if (law_has(law_of(&law), LAW_DECAYS))
		law.stribeck_speed = *column_at(c->unit, r->i);
	fricp_expect_motion(r, pairs);
	slip_in_query(task, r, x, bare);
	fricp_differences_at(&law, task->areas, *column_at(mu->mu_s, r->i), *column_at(mu->mu_k, r->i), eps_v, r->n, x,
	                     &at.law);
	const struct drag drag = expect_drag(r, bare, &at.law);
	const struct differences *d = &at.law;
	const long double above = d->z > 1 ? d->z : 1, below = d->z < 1 ? d->z : 1, size = fabsl(at.s);
	r->row.potential = (struct expected){at.s * eps_v * d->potential, size * eps_v * (d->mu * above + drag.potential)};
	at.force_scale = floored(size * (d->mu * below + drag.force + d->known / FRIC_TOLERANCE));
	expect_inner(&at, eps_v, d->mu / above + drag.inner + d->blur / FRIC_TOLERANCE, pairs, r);
	expect_members(&at, r);
}

static void expect(const struct comparing *task, struct reference *r)
{
	if (terms_of(task->query) & FRIC_TERM_FRICTION)
		expect_friction(task, r);
	else
		expect_nothing(r);
	if (task->results->members)
		fricp_expect_barrier(task->query, r);
}

/* ---- its comparison ---- */

/* With the barrier: inner matrices are those of whole blocks, which triplets show. */
static void judge_members(const struct comparing *task, const struct reference *r, struct findings *f)
{
	const double *gradient = task->results->members + r->i * MOST_MEMBER_DOFS;
	const struct expected potential = r->row.potential;
	judge(f, FRIC_POTENTIAL, r->i, task->results->potentials[r->i], potential.value, potential.scale);
	for (int e = 0; e < r->m; e++)
		judge(f, FRIC_GRADIENT, r->i, gradient[e], r->row.gradient[e].value, r->row.gradient[e].scale);
}

/* The forces of a contact in the results, where contacts of bodies follow all others. */
static const double *result_forces(const struct comparing *task, const struct reference *r)
{
	const struct results *results = task->results;
	return is_of_bodies(r->type)
	           ? results->wrenches + first_action(r->contacts, r->i) * (size_t)n_body_dofs(r->contacts->dim)
	           : results->forces + r->i * (size_t)r->contacts->dim;
}

static const double *result_inner(const struct comparing *task, enum fric_type type)
{
	return task->results->inner + (is_of_bodies(type) ? first_body_inner(task->contacts) : 0);
}

static size_t position_of(const struct comparing *task, const struct reference *r)
{
	return r->i + (is_of_bodies(r->type) ? task->contacts->n : 0);
}

static void judge_numbers(const struct comparing *task, const struct reference *r, struct findings *f)
{
	const size_t m = (size_t)(r->n * (r->n + 1) / 2), at = position_of(task, r);
	const double *forces = result_forces(task, r), *inner = result_inner(task, r->type) + r->i * m;
	judge(f, FRIC_POTENTIAL, at, task->results->potentials[at], r->row.potential.value, r->row.potential.scale);
	for (int d = 0; d < r->n_forces; d++)
		judge(f, FRIC_GRADIENT, at, forces[d], r->force[d].value, r->force[d].scale);
	for (size_t e = 0; e < m; e++)
		judge(f, FRIC_HESSIAN, at, inner[e], r->inner[e].value, r->inner[e].scale);
}

/* Compares the triplets of one contact, row by row. A value in the wrong place counts as a wrong value.
 * @return number of triplets */
static size_t judge_triplets(const struct comparing *task, const struct reference *r, const int32_t *rows,
                             const int32_t *cols, const double *values, struct findings *f)
{
	const size_t at = position_of(task, r);
	for (int row = 0; row < r->m; row++)
		for (int col = 0; col < r->m; col++, rows++, cols++, values++) {
			const struct expected *e = &r->block[row][col];
			judge(f, FRIC_HESSIAN, at, *values, e->value, e->scale);
			if ((size_t)*rows != r->row.dof[row] || (size_t)*cols != r->row.dof[col])
				judge(f, FRIC_HESSIAN, at, 1, 0, 0);
			raise_to(&f->of[FRIC_HESSIAN].largest_difference, capped(fabsl(*values - e->value)));
			raise_to(&f->of[FRIC_HESSIAN].largest_entry, fabs(*values));
		}
	return (size_t)r->m * (size_t)r->m;
}

/* @return the first contact whose triplets are not finite, or end */
static size_t triplets_of(const struct comparing *task, size_t begin, size_t end, int32_t *rows, int32_t *cols,
                          double *values)
{
	const enum fric_type first = task->here == task->contacts->bodies ? FRIC_BODY_BODY : FRIC_VERTEX_VERTEX;
	return fricp_triplets_of(task->here, result_inner(task, first), begin, end, rows, cols, values);
}

/* Compares up to TRIPLETS_AT_ONCE contacts. */
static bool compare_few(const struct comparing *task, size_t begin, size_t end, struct findings *f, struct fault *fault)
{
	int32_t rows[TRIPLETS_AT_ONCE * BLOCK], cols[TRIPLETS_AT_ONCE * BLOCK];
	double values[TRIPLETS_AT_ONCE * BLOCK];
	const size_t fine = triplets_of(task, begin, end, rows, cols, values);
	size_t at = 0;
	if (fine < end)
		*fault = (struct fault){FRIC_E_NOT_FINITE, fine};
	for (size_t i = begin; i < end && fine == end; i++) {
		struct reference r;
		fricp_begin_reference(task->here, i, &r);
		expect(task, &r);
		if (task->results->members)
			judge_members(task, &r, f);
		else
			judge_numbers(task, &r, f);
		at += judge_triplets(task, &r, rows + at, cols + at, values + at, f);
		task->rows[i - task->first] = r.row;
	}
	return fine == end;
}

/* begin and end are relative to the window; fault positions are relative to all contacts. */
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

static void add_row(struct comparing *task, const struct row *row)
{
	add(&task->potential, row->potential.value, row->potential.scale);
	for (int d = 0; d < row->m; d++) {
		add(&task->gradient[row->dof[d]], row->gradient[d].value, row->gradient[d].scale);
		add(&task->product[row->dof[d]], row->product[d].value, row->product[d].scale);
	}
}

static struct fault run(struct comparing *task, size_t n, size_t size, chunk_work *work)
{
	const size_t from = task->context->parallel_from ? task->context->parallel_from : SERIAL_BELOW;
	const struct phase phase = {work, n, size, true, NULL};
	return fricp_parallel_phases(task->context, n < from ? 1 : task->context->n_threads, &phase, 1, task);
}

/* Compares either the contacts at vertices or the contacts of bodies. */
static struct fault compare_contacts(struct comparing *task, const struct fric_contacts *here)
{
	struct fault fault = {FRIC_OK, SIZE_MAX};
	task->here = here;
	for (task->first = 0; task->first < here->n && fault.code == FRIC_OK; task->first += WINDOW) {
		const size_t n = here->n - task->first < WINDOW ? here->n - task->first : WINDOW;
		fault = run(task, n, CHUNK, compare_chunk);
		for (size_t p = 0; p * CHUNK < n && fault.code == FRIC_OK; p++)
			merge(&task->all, &task->chunks[p]);
		for (size_t j = 0; j < n && fault.code == FRIC_OK; j++)
			add_row(task, &task->rows[j]);
	}
	return fault;
}

static long double csr_product(const struct results *results, size_t row)
{
	const int64_t *indptr = fric_pattern_indptr(results->pattern);
	const int32_t *indices = fric_pattern_indices(results->pattern);
	long double sum = 0;
	for (int64_t e = indptr[row]; e < indptr[row + 1]; e++)
		sum += results->csr[e] * test_vector((size_t)indices[e]);
	return sum;
}

/* Replaces the scale by the relative difference. */
static void judge_sum(struct fric_agreement *agreement, long double result, struct expected *e)
{
	const double relative = relative_difference(result, *e);
	raise_to(&agreement->assembled, relative);
	e->scale = relative;
}

static void judge_entry(struct fric_agreement *agreement, double result, struct expected *e)
{
	raise_to(&agreement->largest_difference, capped(fabsl(result - e->value)));
	raise_to(&agreement->largest_entry, fabs(result));
	judge_sum(agreement, result, e);
}

static void compare_dofs(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct comparing *task = data;
	struct findings *f = &task->chunks[chunk];
	(void)fault;
	*f = (struct findings){.relative = -1};
	for (size_t dof = begin; dof < end; dof++) {
		judge_entry(&f->of[FRIC_GRADIENT], task->results->gradient[dof], &task->gradient[dof]);
		judge_sum(&f->of[FRIC_HESSIAN], csr_product(task->results, dof), &task->product[dof]);
	}
}

static struct fault compare_sums(struct comparing *task)
{
	const struct fault fault = run(task, task->ndof, FRIC_CHUNK, compare_dofs);
	for (size_t p = 0; p < n_chunks(task->ndof, FRIC_CHUNK) && fault.code == FRIC_OK; p++)
		merge(&task->all, &task->chunks[p]);
	judge_entry(&task->all.of[FRIC_POTENTIAL], task->results->potential, &task->potential);
	return fault;
}

/* ---- the worst contact ---- */

/* The mean over a contact's members of the largest difference at each. */
static double suspicion(const struct fric_contacts *c, size_t i, const struct expected *sums)
{
	const enum fric_type type = contact_type(c, i);
	const int size = fric_stencil_size(type);
	double sum = 0;
	for (int k = 0; k < size; k++) {
		double most = 0;
		for (int d = 0; d < n_member_dofs(c->dim, type); d++)
			raise_to(&most, (double)sums[member_dof(c, c->dim, type, k, i) + (size_t)d].scale);
		sum += most / size;
	}
	return sum;
}

/* Reports the most suspicious contact when a sum disagrees although all contacts agree. */
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
	out->status = status_of(c, i, false);
	if (!(terms_of(task->query) & FRIC_TERM_FRICTION))
		return;
	slip_of_type(c, of_bodies ? task->body_coefficients : task->coefficients, out->group, i, task->velocities, &slip);
	out->status = status_of(c, i, slip.slides);
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
	struct fault fault = compare_contacts(task, task->contacts);
	if (fault.code == FRIC_OK && task->contacts->bodies)
		fault = compare_contacts(task, task->contacts->bodies);
	if (fault.code == FRIC_OK)
		fault = compare_sums(task);
	if (fault.code == FRIC_OK)
		summarise(task, comparison);
	return fault;
}

enum fric_code fricp_results_compare(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const struct fric_query *query, const struct results *results,
                                     struct fric_comparison *comparison, struct fric_error *error)
{
	contacts = contacts_for(contacts, query);
	const size_t ndof = n_dofs(contacts), bodies = contacts->bodies ? contacts->bodies->n : 0;
	const size_t larger = contacts->n > bodies ? contacts->n : bodies, n = larger < WINDOW ? larger : WINDOW;
	const size_t most_chunks = n_chunks(ndof, FRIC_CHUNK) + n / CHUNK + 1, rows = (n + 1) * sizeof(struct row);
	const size_t sums = (2 * ndof + 1) * sizeof(struct expected), findings = most_chunks * sizeof(struct findings);
	struct comparing task = {.context = context,
	                         .contacts = contacts,
	                         .here = contacts,
	                         .coefficients = coefficients_for(contacts, query),
	                         .body_coefficients = bodies ? body_coefficients_for(contacts, query) : NULL,
	                         .query = query,
	                         .velocities = query->velocities,
	                         .results = results,
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
	return fricp_report_fault(task.here, fault, error);
}

enum fric_code fric_compare(const struct fric_context *context, const struct fric_contacts *contacts,
                            const struct fric_query *query, struct fric_comparison *comparison,
                            struct fric_error *error)
{
	struct results results;
	enum fric_code code = fricp_results_make(context, contacts, query, &results, error);
	if (code == FRIC_OK)
		code = fricp_results_compare(context, contacts, query, &results, comparison, error);
	fricp_results_free(context, &results);
	return code;
}

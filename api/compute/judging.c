#include "api/compute/judging.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "api/base/account.h"
#include "core/gradcheck/share.h"

/* A difference is never infinite or NaN, whatever was claimed. */
static double bounded(double x)
{
	return x <= DBL_MAX ? x : DBL_MAX;
}

/* ---- differences ---- */

bool api_claims_dof(const struct api_judging *j, size_t dof)
{
	const size_t n = j->job->facts.n_vertices * j->job->facts.dim;
	return dof < n ? j->claims->gradient != NULL : j->claims->body_gradient != NULL;
}

bool api_claims_quantity(const struct api_judging *j, int quantity)
{
	return j->out->of[quantity].claimed;
}

double api_judging_scale(const struct api_judging *j, size_t row, size_t e)
{
	return sqrt(j->stiffness[row]) * sqrt(j->stiffness[j->indices[e]]);
}

/* Where nothing can be contributed, nothing may be claimed. */
static double relative_to(double difference, double scale)
{
	return difference == 0 ? 0 : scale > 0 ? bounded(difference / scale) : 1;
}

static void widen(struct api_gap *gap, double difference, double scale, size_t row, size_t col)
{
	const double relative = relative_to(difference, scale);
	if (relative > gap->relative || (relative == gap->relative && difference > gap->difference))
		*gap = (struct api_gap){bounded(difference), bounded(scale), relative, {row, col}};
}

/* Results of hypotheses may be far larger than ours, and are as accurate as their own size allows. */
static double distance(double claimed, double result, double factor, double *scale)
{
	*scale += fabs(factor * result);
	return fabs(claimed - factor * result);
}

struct api_gap api_judging_gap(const struct api_judging *j, int quantity, const struct api_results *results,
                               double factor)
{
	struct api_gap gap = {.relative = -1}; /* the first number replaces this */
	double scale = j->size, difference;
	if (quantity == FRIC_POTENTIAL) {
		difference = distance(j->claimed.potential, results->potential, factor, &scale);
		widen(&gap, difference, scale, 0, 0);
	}
	for (size_t i = 0; quantity == FRIC_GRADIENT && i < j->n_dofs && !api_judging_stops(i); i++) {
		scale = j->force[i];
		difference = distance(j->claimed.gradient[i], results->gradient[i], factor, &scale);
		if (api_claims_dof(j, i))
			widen(&gap, difference, scale, i, 0);
	}
	if (quantity == FRIC_HESSIAN && j->is_outside)
		widen(&gap, fabs(j->outside_value), sqrt(j->stiffness[j->outside[0]]) * sqrt(j->stiffness[j->outside[1]]),
		      j->outside[0], j->outside[1]);
	for (size_t row = 0; quantity == FRIC_HESSIAN && row < j->n_dofs && !api_judging_stops(row); row++)
		for (size_t e = (size_t)j->indptr[row]; e < (size_t)j->indptr[row + 1]; e++) {
			scale = api_judging_scale(j, row, e);
			difference = distance(j->claimed.hessian[e], results->hessian[e], factor, &scale);
			widen(&gap, difference, scale, row, (size_t)j->indices[e]);
		}
	gap.relative = fmax(0, gap.relative);
	return gap;
}

/* ---- results ---- */

static bool is_in_triangle(const struct api_judging *j, size_t row, size_t col)
{
	const struct api_query *q = &j->job->query;
	const size_t width = j->claims->format == API_BSR ? j->job->facts.dim : 1, r = row / width, c = col / width;
	return q->triangle == FRIC_FULL || (q->triangle == FRIC_UPPER ? r <= c : r >= c);
}

enum fric_code api_judging_assemble(struct api_judging *j, const struct fric_contacts *contacts, double *hessian)
{
	struct api_job *job = j->job;
	const enum fric_code code = fric_hessian_csr(&job->context, contacts, j->inner, j->pattern, hessian, &job->error);
	for (size_t row = 0; code == FRIC_OK && j->job->query.triangle != FRIC_FULL && row < j->n_dofs; row++)
		for (size_t e = (size_t)j->indptr[row]; e < (size_t)j->indptr[row + 1]; e++)
			if (!is_in_triangle(j, row, (size_t)j->indices[e]))
				hessian[e] = 0;
	return code;
}

enum fric_code api_judging_evaluate(struct api_judging *j, const struct fric_contacts *contacts,
                                    const struct fric_query *query, int projection, struct api_results *to)
{
	struct api_job *job = j->job;
	enum fric_code code = FRIC_OK;
	if (api_claims_quantity(j, FRIC_POTENTIAL) || to->gradient)
		code = fric_evaluate(&job->context, contacts, query, &to->potential, to->gradient, &job->error);
	if (code != FRIC_OK || !to->hessian)
		return code;
	code = fric_hessian_inner(&job->context, contacts, query, (enum fric_projection)projection, j->inner, &job->error);
	return code != FRIC_OK ? code : api_judging_assemble(j, contacts, to->hessian);
}

/* ---- sizes ---- */

/* The barrier's part: its forces and potentials, and how they change with the digits that positions lack. */
struct barrier_sizes {
	double *potential, *force; /* [n], [n, dim] of the type */
};

static bool read_barrier(struct api_judging *j, enum fric_type type, struct barrier_sizes *b)
{
	struct api_job *job = j->job;
	const size_t n = fric_group_size(job->contacts, type);
	b->potential = api_job_array(job, n, sizeof(double));
	b->force = api_job_array(job, n * job->facts.dim, sizeof(double));
	return b->potential && b->force && api_job_output(job, type, FRIC_OUT_BARRIER_POTENTIAL, b->potential) &&
	       api_job_output(job, type, FRIC_OUT_BARRIER_FORCE, b->force);
}

static void add_barrier(struct api_judging *j, const struct barrier_sizes *b, const struct share *share)
{
	const size_t dim = j->job->facts.dim;
	double force = 0;
	for (size_t d = 0; d < dim; d++)
		force = hypot(force, b->force[share->index * dim + d]);
	const double potential = fabs(b->potential[share->index]);
	j->size += potential;
	for (int e = 0; e < share->m; e++)
		j->force[share->dof[e]] += force + sqrt(potential) * sqrt(j->stiffness[share->dof[e]]);
}

static void add_share(struct api_judging *j, const struct share *share)
{
	j->size += share->potential;
	for (int e = 0; e < share->m; e++) {
		const size_t dof = share->dof[e];
		j->force[dof] += share->arm[e] * share->force;
		j->stiffness[dof] += share->arm[e] * share->arm[e] * share->stiffness;
	}
}

/* The barrier's stiffness: diagonals of its blocks after negative eigenvalues have changed their sign. */
static bool add_barrier_stiffness(struct api_judging *j)
{
	static const double digits = 0x1p-20; /* that positions lack, over the tolerance */
	struct api_job *job = j->job;
	struct fric_query query = job->asked;
	const size_t n = j->n_dofs;
	const double *x = api_job_current_positions(job);
	double *diagonal = api_job_array(job, j->n_entries, sizeof(double)), largest = 0;
	query.terms = FRIC_TERM_BARRIER;
	if (!x || !diagonal ||
	    !api_job_core(
			job, fric_hessian_inner(&job->context, job->contacts, &query, FRIC_PROJECT_ABS, j->inner, &job->error)) ||
	    !api_job_core(job, fric_hessian_csr(&job->context, job->contacts, j->inner, j->pattern, diagonal, &job->error)))
		return false;
	for (size_t i = 0; i < n; i++)
		largest = fmax(largest, fabs(x[i]) / job->query.time_step);
	for (size_t row = 0; row < n; row++)
		for (size_t e = (size_t)j->indptr[row]; e < (size_t)j->indptr[row + 1]; e++)
			if ((size_t)j->indices[e] == row)
				j->stiffness[row] += fabs(diagonal[e]);
	for (size_t row = 0; row < n; row++) {
		j->force[row] += j->stiffness[row] * largest * digits;
		j->size += j->force[row] * largest * digits;
	}
	return true;
}

static bool find_sizes(struct api_judging *j)
{
	struct api_job *job = j->job;
	struct barrier_sizes barrier[FRIC_N_TYPES] = {{0}};
	const bool has_barrier = job->query.terms & FRIC_TERM_BARRIER;
	const size_t n = fricp_n_shares(job->contacts);
	struct share share;
	if (has_barrier && !add_barrier_stiffness(j))
		return false;
	for (enum fric_type type = 0; has_barrier && type < FRIC_N_VERTEX_TYPES; type++)
		if (!read_barrier(j, type, &barrier[type]))
			return false;
	for (size_t i = 0; i < n; i++) {
		if (api_judging_stops(i))
			return api_fault_stopped(job->fault);
		fricp_share(job->contacts, &job->asked, i, &share);
		add_share(j, &share);
		if (has_barrier)
			add_barrier(j, &barrier[share.type], &share);
	}
	return true;
}

/* ---- what was claimed ---- */

/* The place of an entry in the pattern, or n_entries. */
static size_t find_entry(const struct api_judging *j, size_t row, size_t col)
{
	size_t low = (size_t)j->indptr[row], high = (size_t)j->indptr[row + 1];
	const size_t end = high;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if ((size_t)j->indices[middle] < col)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end && (size_t)j->indices[low] == col ? low : j->n_entries;
}

static void add_entry(struct api_judging *j, size_t row, size_t col, double value)
{
	const size_t e = find_entry(j, row, col);
	if (e < j->n_entries) {
		j->claimed.hessian[e] += value;
	} else if (fabs(value) > fabs(j->outside_value)) {
		j->is_outside = true;
		j->outside_value = value;
		j->outside[0] = row;
		j->outside[1] = col;
	}
}

static bool add_triplets(struct api_judging *j)
{
	const struct api_claims *c = j->claims;
	for (size_t k = 0; k < c->n; k++) {
		if (api_judging_stops(k))
			return api_fault_stopped(j->job->fault);
		add_entry(j, (size_t)c->rows[k], (size_t)c->cols[k], c->values[k]);
	}
	return true;
}

static bool add_rows(struct api_judging *j)
{
	const struct api_claims *c = j->claims;
	const size_t width = c->format == API_BSR ? j->job->facts.dim : 1, size = width * width;
	for (size_t row = 0; row < j->n_dofs / width; row++)
		for (size_t k = (size_t)c->indptr[row]; k < (size_t)c->indptr[row + 1]; k++) {
			if (api_judging_stops(k))
				return api_fault_stopped(j->job->fault);
			for (size_t e = 0; e < size; e++)
				add_entry(j, row * width + e / width, (size_t)c->indices[k] * width + e % width,
				          c->values[k * size + e]);
		}
	return true;
}

static double *zeros(struct api_job *job, size_t n)
{
	double *array = api_job_array(job, n, sizeof(*array));
	if (array && !api_account_zero(array, n * sizeof(*array))) {
		api_fault_stopped(job->fault);
		return NULL;
	}
	return array;
}

static bool take_gradient(struct api_judging *j)
{
	const size_t n = j->job->facts.n_vertices * j->job->facts.dim;
	const struct api_claims *c = j->claims;
	j->claimed.gradient = zeros(j->job, j->n_dofs);
	j->ours.gradient = api_job_array(j->job, j->n_dofs, sizeof(double));
	j->other.gradient = api_job_array(j->job, j->n_dofs, sizeof(double));
	if (!j->claimed.gradient || !j->ours.gradient || !j->other.gradient)
		return false;
	return ((!c->gradient || api_account_copy(j->claimed.gradient, c->gradient, n * sizeof(double))) &&
	        (!c->body_gradient ||
	         api_account_copy(j->claimed.gradient + n, c->body_gradient, (j->n_dofs - n) * sizeof(double)))) ||
	       api_fault_stopped(j->job->fault);
}

static bool make_pattern(struct api_judging *j)
{
	struct api_job *job = j->job;
	if (!api_job_core(job, fric_pattern_create(&job->context, job->contacts, FRIC_FULL, &j->pattern, &job->error)))
		return false;
	j->n_entries = fric_pattern_n_entries(j->pattern);
	j->indptr = fric_pattern_indptr(j->pattern);
	j->indices = fric_pattern_indices(j->pattern);
	j->n_inner = fric_n_inner(job->contacts);
	j->inner = api_job_array(job, j->n_inner, sizeof(double));
	return j->inner;
}

static bool take_hessian(struct api_judging *j)
{
	j->claimed.hessian = zeros(j->job, j->n_entries);
	j->ours.hessian = api_job_array(j->job, j->n_entries, sizeof(double));
	j->other.hessian = api_job_array(j->job, j->n_entries, sizeof(double));
	return j->claimed.hessian && j->ours.hessian && j->other.hessian &&
	       (j->claims->format == API_TRIPLETS ? add_triplets(j) : add_rows(j));
}

static bool take_claims(struct api_judging *j)
{
	j->claimed.potential = j->claims->potential;
	j->force = zeros(j->job, j->n_dofs);
	j->stiffness = zeros(j->job, j->n_dofs);
	const bool needs_pattern = api_claims_quantity(j, FRIC_HESSIAN) || (j->job->query.terms & FRIC_TERM_BARRIER);
	return j->force && j->stiffness && (!needs_pattern || make_pattern(j)) && find_sizes(j) &&
	       (!api_claims_quantity(j, FRIC_GRADIENT) || take_gradient(j)) &&
	       (!api_claims_quantity(j, FRIC_HESSIAN) || take_hessian(j));
}

/* ---- the worst contact ---- */

static bool touches(const struct share *share, size_t dof)
{
	for (int e = 0; e < share->m; e++)
		if (share->dof[e] == dof)
			return true;
	return false;
}

/* The remaining difference at a DOF; 0 if it agrees. */
static double residual(const struct api_judging *j, size_t dof)
{
	const double difference = j->claimed.gradient[dof] - j->ours.gradient[dof];
	const bool disagrees = relative_to(fabs(difference), j->force[dof]) > j->tolerance;
	return api_claims_dof(j, dof) && disagrees ? difference : 0;
}

static double residual_entry(const struct api_judging *j, size_t row, size_t col)
{
	const size_t e = find_entry(j, row, col);
	if (e == j->n_entries)
		return 0;
	const double difference = j->claimed.hessian[e] - j->ours.hessian[e];
	return relative_to(fabs(difference), api_judging_scale(j, row, e)) > j->tolerance ? difference : 0;
}

static double squared_weights(const struct share *share, size_t dim)
{
	double sum = 0;
	for (int e = 0; e < share->m; e += (int)dim)
		sum += share->weight[e] * share->weight[e];
	return sum;
}

/* The part of the squared residual that a change of the contact's force explains: the projection on w (x) I. Of bodies,
 * all of it. */
static double explained_gradient(const struct api_judging *j, const struct share *share)
{
	const size_t dim = j->job->facts.dim;
	double sum[3] = {0}, all = 0;
	for (int e = 0; e < share->m; e++) {
		const double r = residual(j, share->dof[e]);
		sum[(size_t)e % dim] += share->weight[e] * r;
		all += r * r;
	}
	const double squared = squared_weights(share, dim);
	if (share->type >= FRIC_N_VERTEX_TYPES)
		return all;
	return squared > 0 ? (sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / squared : 0;
}

/* The same of the block: the projection on w w^T (x) all matrices. */
static double explained_hessian(const struct api_judging *j, const struct share *share)
{
	const size_t dim = j->job->facts.dim;
	double sum[9] = {0}, all = 0, total = 0;
	for (int e = 0; e < share->m; e++)
		for (int f = 0; f < share->m; f++) {
			const double r = residual_entry(j, share->dof[e], share->dof[f]);
			sum[(size_t)e % dim * dim + (size_t)f % dim] += share->weight[e] * share->weight[f] * r;
			all += r * r;
		}
	const double squared = squared_weights(share, dim);
	for (size_t e = 0; e < dim * dim; e++)
		total += sum[e] * sum[e];
	return share->type >= FRIC_N_VERTEX_TYPES ? all : squared > 0 ? total / (squared * squared) : 0;
}

static bool find_worst(struct api_judging *j, int quantity)
{
	struct api_verdict *v = &j->out->of[quantity];
	const size_t n = fricp_n_shares(j->job->contacts);
	double best = -1;
	struct share share;
	v->worst = -1;
	for (size_t i = 0; i < n && quantity != FRIC_POTENTIAL && !v->agrees; i++) {
		if (api_judging_stops(i))
			return api_fault_stopped(j->job->fault);
		fricp_share(j->job->contacts, &j->job->asked, i, &share);
		if (!touches(&share, v->places[0]) || (quantity == FRIC_HESSIAN && !touches(&share, v->places[1])))
			continue;
		const double explained = quantity == FRIC_GRADIENT ? explained_gradient(j, &share)
		                                                   : explained_hessian(j, &share);
		if (!(explained > best))
			continue;
		best = explained;
		v->worst = (int64_t)share.index;
		v->group = share.type;
		memcpy(v->members, share.member, sizeof(v->members));
	}
	return true;
}

/* ---- the whole judgement ---- */

static void conclude(struct api_judging *j, int quantity)
{
	struct api_verdict *v = &j->out->of[quantity];
	const struct api_gap gap = api_judging_gap(j, quantity, &j->ours, 1);
	v->difference = gap.difference;
	v->scale = gap.scale;
	v->relative = gap.relative;
	v->agrees = gap.relative <= j->tolerance;
	v->n_places = quantity;
	memcpy(v->places, gap.places, sizeof(v->places));
	j->out->agrees &= v->agrees;
	if (!api_claims_quantity(j, j->out->worst) || v->relative > j->out->of[j->out->worst].relative)
		j->out->worst = quantity;
}

static void collect(struct api_judgement *out)
{
	bool any = false;
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		if (out->of[q].claimed && !out->of[q].agrees && out->of[q].is_explained)
			any = out->mistakes[out->of[q].explanation.mistake] = true;
	out->mistakes[API_OTHER] = !out->agrees && !any;
}

static bool judge(struct api_judging *j)
{
	struct api_job *job = j->job;
	if (!take_claims(j) ||
	    !api_job_core(job, api_judging_evaluate(j, job->contacts, &job->asked, job->query.projection, &j->ours)))
		return false;
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		if (api_claims_quantity(j, q))
			conclude(j, q);
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		if (api_claims_quantity(j, q) && !find_worst(j, q))
			return false;
	if (!j->out->agrees && !api_explain(j))
		return false;
	collect(j->out);
	return !api_account_is_stopped() || api_fault_stopped(job->fault);
}

bool api_claims_judge(struct api_job *job, struct api_judgement *out)
{
	const struct api_claims *c = &job->query.claims;
	struct api_judging j = {
		.job = job, .claims = c, .tolerance = c->tolerance, .n_dofs = api_job_n_dofs(job), .out = out};
	*out = (struct api_judgement){.wanted = c->given, .agrees = true, .tolerance = c->tolerance};
	if (!c->given)
		return true;
	out->of[FRIC_POTENTIAL].claimed = c->has_potential;
	out->of[FRIC_GRADIENT].claimed = c->gradient || c->body_gradient;
	out->of[FRIC_HESSIAN].claimed = c->values;
	const bool ok = judge(&j);
	fric_pattern_free(j.pattern);
	return ok;
}

/* Mistakes that multiply results: by -1, by a factor, or by a factor for each contact. */
#include <math.h>

#include "api/base/account.h"
#include "api/compute/guess.h"
#include "core/gradcheck/share.h"

/* ---- sign ---- */

static bool is_either(double claimed, double ours, double scale, double tolerance, size_t *n_flipped)
{
	const double most = tolerance * (scale + fabs(ours));
	const bool same = fabs(claimed - ours) <= most, flipped = fabs(claimed + ours) <= most;
	*n_flipped += !same && flipped;
	return same || flipped;
}

/* Whether every entry has our value, some with the opposite sign. */
static bool has_flipped_entries(const struct api_explaining *x, int quantity)
{
	const struct api_judging *j = x->j;
	size_t n_flipped = 0;
	bool all = quantity != FRIC_POTENTIAL && !(quantity == FRIC_HESSIAN && j->is_outside);
	for (size_t i = 0; all && quantity == FRIC_GRADIENT && i < j->n_dofs && !api_judging_stops(i); i++)
		all = !api_claims_dof(j, i) ||
		      is_either(j->claimed.gradient[i], j->ours.gradient[i], j->force[i], j->tolerance, &n_flipped);
	for (size_t row = 0; all && quantity == FRIC_HESSIAN && row < j->n_dofs && !api_judging_stops(row); row++)
		for (size_t e = (size_t)j->indptr[row]; all && e < (size_t)j->indptr[row + 1]; e++)
			all = is_either(j->claimed.hessian[e], j->ours.hessian[e], api_judging_scale(j, row, e), j->tolerance,
			                &n_flipped);
	return all && n_flipped > 0;
}

static void try_sign(struct api_explaining *x)
{
	struct api_guess guess = api_guess_begin(API_SIGN, 0);
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		guess.fits[q] = api_guess_is_claimed(x, q, &x->j->ours, -1);
	API_DETAIL(&guess, "the sign is the opposite: the gradient is that of the potential, the negative friction force");
	api_guess_take(x, &guess);
	for (int q = 0; q < FRIC_N_QUANTITIES; q++) {
		guess.fits[q] = api_guess_differs(x, q) && has_flipped_entries(x, q);
		if (!api_guess_differs(x, q))
			api_guess_keep(x, q, &guess);
	}
	API_DETAIL(&guess, "some entries have the opposite sign, as if one side of contacts, or one type, had it");
	api_guess_take(x, &guess);
}

/* The gradient in which both sides of contacts push the same way: weights without their signs. */
static bool try_unsigned(struct api_explaining *x)
{
	struct api_judging *j = x->j;
	const size_t n = fricp_n_shares(j->job->contacts), dim = j->job->facts.dim;
	struct api_guess guess = api_guess_begin(API_SIGN, 0);
	struct share share;
	if (!api_guess_differs(x, FRIC_GRADIENT))
		return true;
	for (size_t i = 0; i < j->n_dofs; i++)
		j->other.gradient[i] = j->ours.gradient[i];
	for (size_t i = 0; i < n; i++) {
		if (api_judging_stops(i))
			return api_fault_stopped(j->job->fault);
		fricp_share(j->job->contacts, &j->job->asked, i, &share);
		for (int e = 0; e < share.m; e++)
			j->other.gradient[share.dof[e]] += (share.arm[e] - share.weight[e]) * share.vector[(size_t)e % dim];
	}
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		api_guess_keep(x, q, &guess);
	guess.fits[FRIC_GRADIENT] = api_guess_is_claimed(x, FRIC_GRADIENT, &j->other, 1);
	API_DETAIL(&guess, "both sides of contacts have the sign of the first");
	api_guess_take(x, &guess);
	return true;
}

bool api_try_signs(struct api_explaining *x)
{
	try_sign(x);
	return try_unsigned(x);
}

/* ---- the cone ---- */

static bool is_usable(double factor)
{
	return factor > 0 && isfinite(factor) && fabs(factor - 1) > 1e-12;
}

static void try_factor(struct api_explaining *x)
{
	if (!api_guess_differs(x, FRIC_GRADIENT) && !api_guess_differs(x, FRIC_HESSIAN))
		return; /* one number is explained by any factor */
	const double factor = api_guess_ratio(x, api_guess_differs(x, FRIC_GRADIENT) ? FRIC_GRADIENT : FRIC_HESSIAN);
	struct api_guess guess = api_guess_begin(API_CONE_SCALED, factor);
	if (!is_usable(factor))
		return;
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		guess.fits[q] = api_guess_is_claimed(x, q, &x->j->ours, factor);
	API_DETAIL(&guess, "it is %.6g times the right result", factor);
	api_guess_take(x, &guess);
}

/* ---- a factor for each contact ---- */

enum { MOST_ITERATIONS = 200 };

/* A contact's contribution to the gradient, divided by the scales of the entries, then normalised. Vertices only. */
struct contribution {
	int m;
	size_t dof[FRIC_MAX_STENCIL * 3];
	double entry[FRIC_MAX_STENCIL * 3];
	double length;                /* 0: it adds nothing */
	double over;                  /* its force over the largest Coulomb force */
	double change, step, descent; /* the factor - 1, times the length; of the iteration */
};

/* A problem of least squares: factors of contacts whose sum is the claimed gradient. */
struct fit {
	size_t n, n_dofs;
	struct contribution *columns; /* [n] */
	double *residual, *image;     /* [n_dofs] */
};

static void take_column(const struct api_judging *j, const struct share *share, struct contribution *c)
{
	const size_t dim = j->job->facts.dim == 2 ? 2 : 3;
	double force = 0;
	*c = (struct contribution){.m = share->type < FRIC_N_VERTEX_TYPES ? share->m : 0};
	for (size_t d = 0; d < dim; d++)
		force = hypot(force, share->vector[d]);
	c->over = share->cone > 0 ? force / share->cone : 0;
	for (int e = 0; e < c->m; e++) {
		const double scale = j->force[share->dof[e]];
		c->dof[e] = share->dof[e];
		c->entry[e] = scale > 0 ? share->weight[e] * share->vector[(size_t)e % dim] / scale : 0;
		c->length = hypot(c->length, c->entry[e]);
	}
	for (int e = 0; e < c->m && c->length > 0; e++)
		c->entry[e] /= c->length;
}

/* The columns times their steps. @return the square of its length */
static double find_image(struct fit *f)
{
	double squared = 0;
	for (size_t i = 0; i < f->n_dofs; i++)
		f->image[i] = 0;
	for (size_t k = 0; k < f->n; k++)
		for (int e = 0; e < f->columns[k].m; e++)
			f->image[f->columns[k].dof[e]] += f->columns[k].entry[e] * f->columns[k].step;
	for (size_t i = 0; i < f->n_dofs; i++)
		squared += f->image[i] * f->image[i];
	return squared;
}

static double find_descent(struct fit *f)
{
	double squared = 0;
	for (size_t k = 0; k < f->n; k++) {
		struct contribution *c = &f->columns[k];
		c->descent = 0;
		for (int e = 0; e < c->m; e++)
			c->descent += c->entry[e] * f->residual[c->dof[e]];
		squared += c->descent * c->descent;
	}
	return squared;
}

/* Conjugate gradients on the normal equations, from factors of 1. */
static bool solve(struct api_judging *j, struct fit *f)
{
	double descent = find_descent(f);
	const double small = descent * 1e-32;
	for (size_t k = 0; k < f->n; k++)
		f->columns[k].step = f->columns[k].descent;
	for (int iteration = 0; iteration < MOST_ITERATIONS && descent > small; iteration++) {
		const double image = find_image(f), length = image > 0 ? descent / image : 0, before = descent;
		if (api_account_is_stopped())
			return api_fault_stopped(j->job->fault);
		for (size_t k = 0; k < f->n; k++)
			f->columns[k].change += length * f->columns[k].step;
		for (size_t i = 0; i < f->n_dofs; i++)
			f->residual[i] -= length * f->image[i];
		descent = find_descent(f);
		for (size_t k = 0; k < f->n; k++)
			f->columns[k].step = f->columns[k].descent + descent / before * f->columns[k].step;
	}
	return true;
}

static bool begin_fit(struct api_judging *j, struct fit *f)
{
	struct api_job *job = j->job;
	struct share share;
	f->n = fricp_n_shares(job->contacts);
	f->n_dofs = j->n_dofs;
	f->columns = api_job_array(job, f->n, sizeof(*f->columns));
	f->residual = api_job_array(job, f->n_dofs, sizeof(double));
	f->image = api_job_array(job, f->n_dofs, sizeof(double));
	if (!f->columns || !f->residual || !f->image)
		return false;
	for (size_t i = 0; i < f->n; i++) {
		if (api_judging_stops(i))
			return api_fault_stopped(job->fault);
		fricp_share(job->contacts, &job->asked, i, &share);
		take_column(j, &share, &f->columns[i]);
	}
	for (size_t i = 0; i < f->n_dofs; i++) {
		const double difference = j->claimed.gradient[i] - j->ours.gradient[i];
		f->residual[i] = api_claims_dof(j, i) && j->force[i] > 0 ? difference / j->force[i] : 0;
	}
	return true;
}

/* Properties that the factors have in common. */
struct factors {
	double least, over; /* the least factor; the largest force over the cone */
	bool are_signs;     /* all are 1 or -1 */
};

static struct factors apply(struct api_judging *j, const struct fit *f)
{
	struct factors all = {.least = INFINITY, .are_signs = true};
	for (size_t i = 0; i < j->n_dofs; i++)
		j->other.gradient[i] = j->ours.gradient[i];
	for (size_t k = 0; k < f->n; k++) {
		const struct contribution *c = &f->columns[k];
		const double change = c->length > 0 ? c->change / c->length : 0, factor = 1 + change;
		for (int e = 0; e < c->m; e++)
			j->other.gradient[c->dof[e]] += c->change * c->entry[e] * j->force[c->dof[e]];
		all.least = fmin(all.least, factor);
		all.over = fmax(all.over, factor * c->over);
		all.are_signs &= fabs(fabs(factor) - 1) <= 1e-6;
	}
	return all;
}

/* Forces of contacts have the right directions, but signs or lengths of their own. */
static bool try_factors(struct api_explaining *x)
{
	struct api_judging *j = x->j;
	struct fit fit;
	if (!api_guess_differs(x, FRIC_GRADIENT) || x->scores[FRIC_GRADIENT])
		return true; /* what has an explanation needs none with so many numbers */
	if (!begin_fit(j, &fit) || !solve(j, &fit))
		return false;
	const struct factors all = apply(j, &fit);
	struct api_guess guess = api_guess_begin(all.are_signs ? API_SIGN : API_CONE_SCALED, all.are_signs ? 0 : all.over);
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		api_guess_keep(x, q, &guess);
	guess.fits[FRIC_GRADIENT] = api_guess_is_claimed(x, FRIC_GRADIENT, &j->other, 1);
	if (all.are_signs)
		API_DETAIL(&guess, "the forces of some contacts have the opposite sign");
	else if (all.least > 0 && all.over > 1 + j->tolerance && isfinite(all.over))
		API_DETAIL(&guess, "forces have the right directions, but are up to %.6g times what the cone allows", all.over);
	else
		return true;
	api_guess_take(x, &guess);
	return true;
}

bool api_try_cone(struct api_explaining *x)
{
	try_factor(x);
	return try_factors(x);
}

/* Mistakes with displacements in place of velocities, or the reverse: velocities or eps_v are scaled by a time step. */
#include <math.h>

#include "api/base/account.h"
#include "api/compute/guess.h"

static const double *scaled(struct api_explaining *x, const double *values, size_t n, double factor)
{
	double *out = api_job_array(x->j->job, n, sizeof(*out));
	for (size_t i = 0; out && i < n; i++)
		out[i] = factor * values[i];
	return out;
}

/* Multiples of velocities; valid until the next call. */
static const double *multiply(struct api_explaining *x, const double *velocities, double factor)
{
	for (size_t i = 0; i < x->j->n_dofs; i++)
		x->multiple[i] = factor * velocities[i];
	return x->multiple;
}

static bool make_room(struct api_explaining *x)
{
	struct api_job *job = x->j->job;
	double **arrays[] = {&x->rest, &x->multiple, &x->gradients[0], &x->gradients[1], &x->gradients[2]};
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		if (!(*arrays[i] = api_job_array(job, x->j->n_dofs, sizeof(double))))
			return false;
	return api_account_zero(x->rest, x->j->n_dofs * sizeof(double)) || api_fault_stopped(job->fault);
}

static bool scale_eps_v(struct api_explaining *x, struct fric_batch *batch, double factor)
{
	batch->friction.eps_v *= factor;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		struct fric_values *eps_v = &batch->groups[type].eps_v;
		if (!eps_v->data || batch->groups[type].n == 0)
			continue;
		eps_v->data = scaled(x, eps_v->data, eps_v->stride ? batch->groups[type].n : 1, factor);
		if (!eps_v->data)
			return false;
	}
	return true;
}

/* Results may be claimed per velocity or per displacement: powers of h apart. */
static void fit_powers(const struct api_explaining *x, double h, struct api_guess *guess)
{
	const double powers[] = {1, h, 1 / h};
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		for (int k = 0; k < (q == FRIC_GRADIENT ? 1 : 3) && !guess->fits[q]; k++)
			guess->fits[q] = api_guess_is_claimed(x, q, &x->j->other, powers[k]);
}

static bool is_usable(double factor)
{
	return isfinite(factor) && factor > 0 && isfinite(1 / factor) && fabs(factor - 1) > 1e-12;
}

/* Tries a scene with h times the velocities, or the eps_v, of the request. */
static bool try_scene(struct api_explaining *x, const struct api_scene *scene, double h, bool of_eps_v)
{
	struct api_guess guess = api_guess_begin(API_DISPLACEMENT_FOR_VELOCITY, h);
	const enum fric_code code = api_scene_evaluate(x, scene);
	if (code != FRIC_OK)
		return api_guess_goes_on(x, code);
	fit_powers(x, h, &guess);
	if (of_eps_v)
		API_DETAIL(&guess,
		           "it is the result with %.6g times eps_v: a displacement's eps_v with velocities, or the reverse?",
		           h);
	else
		API_DETAIL(&guess,
		           "it is the result at %.6g times the velocities with the same eps_v: displacements, which need eps_v"
		           " times the time step?",
		           h);
	api_guess_take(x, &guess);
	return true;
}

static bool try_velocities(struct api_explaining *x, const struct api_scene *base, double h)
{
	struct api_scene scene = *base;
	scene.velocities = multiply(x, base->velocities, h);
	return try_scene(x, &scene, h, false);
}

static bool try_eps_v(struct api_explaining *x, const struct api_scene *base, double h)
{
	struct api_scene scene = *base;
	return scale_eps_v(x, &scene.batch, h) && try_scene(x, &scene, h, true);
}

static bool try_both(struct api_explaining *x, const struct api_scene *base, double h)
{
	return !is_usable(h) || (try_velocities(x, base, h) && try_eps_v(x, base, 1 / h));
}

enum { GRID = 241, MIDDLE = 120, INTERIOR = 32, ROUNDS = 14, MOST_ROOTS = 6, POLISHES = 5 };

/* The gradient along the velocities, at multiples of the velocities. */
static bool slopes(struct api_explaining *x, const struct api_scene *base, size_t n, const double *steps, double *slope)
{
	struct api_job *job = x->j->job;
	struct fric_query query = job->of_friction;
	double potential[GRID];
	query.velocities = x->rest;
	const enum fric_code code =
		fric_line(&job->context, job->contacts, &query, base->velocities, n, steps, potential, slope, &job->error);
	for (size_t i = 0; code != FRIC_OK && i < n; i++)
		slope[i] = NAN;
	return code == FRIC_OK || api_guess_goes_on(x, code);
}

static double claimed_slope(const struct api_explaining *x, const struct api_scene *base)
{
	long double sum = 0;
	for (size_t i = 0; i < x->j->n_dofs; i++)
		sum += (long double)x->j->claimed.gradient[i] * base->velocities[i];
	return (double)sum;
}

/* Narrows an interval in which the slope passes the target. */
static bool narrow(struct api_explaining *x, const struct api_scene *base, double target, double low, double high,
                   double *root)
{
	for (int round = 0; round < ROUNDS; round++) {
		double steps[INTERIOR + 2], slope[INTERIOR + 2];
		for (int k = 0; k < INTERIOR + 2; k++)
			steps[k] = low + (high - low) * k / (INTERIOR + 1);
		if (!slopes(x, base, INTERIOR + 2, steps, slope))
			return false;
		int k = 0;
		while (k < INTERIOR && !((slope[k] - target) * (slope[k + 1] - target) <= 0))
			k++;
		low = steps[k];
		high = steps[k + 1];
	}
	*root = low + (high - low) / 2;
	return true;
}

/* One step of Gauss and Newton towards the multiple of the velocities whose gradient is claimed. */
static bool polish(struct api_explaining *x, const struct api_scene *base, double *h)
{
	static const double step = 0x1p-13;
	struct api_judging *j = x->j;
	struct api_job *job = j->job;
	const size_t n = j->n_dofs;
	double **gradients = x->gradients, along = 0, squared = 0;
	for (int k = 0; k < 3; k++) {
		struct fric_query query = job->of_friction;
		query.velocities = multiply(x, base->velocities, *h * (1 + (k - 1) * step));
		const enum fric_code code =
			fric_evaluate(&job->context, job->contacts, &query, NULL, gradients[k], &job->error);
		if (code != FRIC_OK)
			return api_guess_goes_on(x, code);
	}
	for (size_t i = 0; i < n; i++) {
		const double w = j->force[i] > 0 ? 1 / j->force[i] : 0,
					 slope = w * (gradients[2][i] - gradients[0][i]) / (2 * step);
		along += slope * (w * (j->claimed.gradient[i] - gradients[1][i]));
		squared += slope * slope;
	}
	if (squared > 0 && fabs(along) < squared / 2)
		*h *= 1 + along / squared;
	return true;
}

/* Once all contacts slide, larger multiples do not change the gradient: tries the smallest such grid point, doubled. */
static bool try_saturated(struct api_explaining *x, const struct api_scene *base, const double *steps,
                          const double *slope, double target)
{
	static const double rounding = 1e-12;
	int k = GRID - 1;
	if (!(fabs(slope[k] - target) <= rounding * fabs(target)))
		return true;
	while (k > 0 && fabs(slope[k - 1] - target) <= rounding * fabs(target))
		k--;
	return try_both(x, base, 2 * steps[k]);
}

/* Whether the slope comes close to the target at grid point k without passing it next to it: it may do so twice in
 * between. */
static bool grazes(const double *slope, int k, double target)
{
	const double here = fabs(slope[k] - target);
	return k > 0 && k + 1 < GRID && here < fabs(slope[k - 1] - target) && here < fabs(slope[k + 1] - target);
}

/* Finds multiples of the velocities whose gradient, along the velocities, is the claimed one, and tries these. */
static bool try_multiples(struct api_explaining *x, const struct api_scene *base)
{
	double steps[GRID], slope[GRID];
	const double target = claimed_slope(x, base);
	int n_roots = 0;
	for (int k = 0; k < GRID; k++)
		steps[k] = exp2((k - MIDDLE) / 4.0);
	if (!slopes(x, base, GRID, steps, slope))
		return false;
	for (int k = 0; k + 1 < GRID && n_roots < MOST_ROOTS; k++) {
		double root = steps[k];
		const bool passes = (slope[k] - target) * (slope[k + 1] - target) <= 0 && slope[k] != slope[k + 1];
		if (!passes && !grazes(slope, k, target))
			continue;
		n_roots++;
		if (passes && !narrow(x, base, target, steps[k], steps[k + 1], &root))
			return false;
		for (int round = 0; round < (passes ? 2 : POLISHES); round++)
			if (!polish(x, base, &root))
				return false;
		if (!try_both(x, base, root))
			return false;
	}
	return try_saturated(x, base, steps, slope, target);
}

/* Forces agree, but the Hessian is one with respect to displacements h v, or the potential is an energy. */
static void try_units(struct api_explaining *x, double h, bool is_known)
{
	struct api_guess guess = api_guess_begin(API_DISPLACEMENT_FOR_VELOCITY, h);
	const struct api_results *ours = &x->j->ours;
	if (!is_usable(h) || !api_claims_quantity(x->j, FRIC_GRADIENT) || api_guess_differs(x, FRIC_GRADIENT))
		return;
	guess.fits[FRIC_GRADIENT] = true;
	guess.fits[FRIC_POTENTIAL] = api_guess_is_claimed(x, FRIC_POTENTIAL, ours, h) ||
	                             api_guess_is_claimed(x, FRIC_POTENTIAL, ours, 1);
	guess.fits[FRIC_HESSIAN] = api_guess_is_claimed(x, FRIC_HESSIAN, ours, 1 / h) ||
	                           api_guess_is_claimed(x, FRIC_HESSIAN, ours, 1);
	if (!is_known && !api_guess_differs(x, FRIC_HESSIAN))
		return; /* one number is explained by any factor */
	API_DETAIL(&guess, "it is the result per displacement of a time step %.6g, not per velocity", h);
	api_guess_take(x, &guess);
}

bool api_try_displacements(struct api_explaining *x, const struct api_scene *base)
{
	struct api_job *job = x->j->job;
	const double step = job->query.time_step;
	const struct api_claims *claims = x->j->claims;
	/* A fit needs the whole gradient. */
	const bool whole = job->query.terms == FRIC_TERM_FRICTION && (claims->gradient || job->facts.n_vertices == 0) &&
	                   (claims->body_gradient || job->facts.n_bodies == 0);
	try_units(x, step, true);
	if (api_guess_differs(x, FRIC_HESSIAN))
		try_units(x, 1 / api_guess_ratio(x, FRIC_HESSIAN), false);
	if (!make_room(x) || !try_both(x, base, step) || !try_both(x, base, 1 / step))
		return false;
	return !whole || !api_guess_differs(x, FRIC_GRADIENT) || try_multiples(x, base);
}

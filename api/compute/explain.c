/* Explanations of claims that differ: our own results are computed as each mistake would have made them, and compared.
 * A mistake is named only if it explains a quantity within the tolerance. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/base/account.h"
#include "api/compute/derivatives.h"
#include "api/compute/judging.h"
#include "core/gradcheck/share.h"
#include "core/law/law.h"

/* ---- guesses ---- */

/* A mistake that is tried, and the quantities that it gives within the tolerance, whether they agree with ours or
 * not. */
struct guess {
	struct api_explanation explanation;
	bool fits[FRIC_N_QUANTITIES];
};

struct explaining {
	struct api_judging *j;
	int scores[FRIC_N_QUANTITIES];          /* of the explanations so far; 0: none */
	double *rest, *multiple, *gradients[3]; /* [n_dofs] zeros, and room for fits of displacements */
};

/* Prefers a mistake that is consistent with all claims, then one that explains many; of equals, the first. */
static void take(struct explaining *x, const struct guess *guess)
{
	struct api_verdict *of = x->j->out->of;
	bool consistent = true;
	int n = 0;
	for (int q = 0; q < FRIC_N_QUANTITIES; q++) {
		consistent &= !of[q].claimed || guess->fits[q];
		n += of[q].claimed && !of[q].agrees && guess->fits[q];
	}
	const int score = n + (consistent ? FRIC_N_QUANTITIES : 0);
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		if (of[q].claimed && !of[q].agrees && guess->fits[q] && score > x->scores[q]) {
			x->scores[q] = score;
			of[q].is_explained = true;
			of[q].explanation = guess->explanation;
		}
}

static struct guess begin(enum api_mistake mistake, double factor)
{
	return (struct guess){.explanation = {.mistake = mistake, .factor = factor}};
}

#define DETAIL(guess, ...) \
	((void)snprintf((guess)->explanation.detail, sizeof((guess)->explanation.detail), __VA_ARGS__))

/* Whether `factor` times the results are what is claimed; always for what is not claimed. */
static bool fits(const struct explaining *x, int quantity, const struct api_results *results, double factor)
{
	return !api_claims_quantity(x->j, quantity) ||
	       api_judging_gap(x->j, quantity, results, factor).relative <= x->j->tolerance;
}

static void fit_results(const struct explaining *x, const struct api_results *results, struct guess *guess)
{
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		guess->fits[q] = fits(x, q, results, 1);
}

/* Sets what the mistake leaves as it is. */
static void fit_ours(const struct explaining *x, int quantity, struct guess *guess)
{
	guess->fits[quantity] = !api_claims_quantity(x->j, quantity) || x->j->out->of[quantity].agrees;
}

static bool differs(const struct explaining *x, int quantity)
{
	return api_claims_quantity(x->j, quantity) && !x->j->out->of[quantity].agrees;
}

/* A failure of the core under a hypothesis only rules the hypothesis out, unless nothing more can be computed. */
static bool goes_on(const struct explaining *x, enum fric_code code)
{
	return (code != FRIC_E_MEMORY && code != FRIC_E_STOPPED) || api_job_core(x->j->job, code);
}

/* ---- sign ---- */

static bool is_either(double claimed, double ours, double scale, double tolerance, size_t *n_flipped)
{
	const double most = tolerance * (scale + fabs(ours));
	const bool same = fabs(claimed - ours) <= most, flipped = fabs(claimed + ours) <= most;
	*n_flipped += !same && flipped;
	return same || flipped;
}

/* Whether every entry has our value, some with the opposite sign. */
static bool has_flipped_entries(const struct explaining *x, int quantity)
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

static void try_sign(struct explaining *x)
{
	struct guess guess = begin(API_SIGN, 0);
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		guess.fits[q] = fits(x, q, &x->j->ours, -1);
	DETAIL(&guess, "the sign is the opposite: the gradient is that of the potential, the negative friction force");
	take(x, &guess);
	for (int q = 0; q < FRIC_N_QUANTITIES; q++) {
		guess.fits[q] = differs(x, q) && has_flipped_entries(x, q);
		if (!differs(x, q))
			fit_ours(x, q, &guess);
	}
	DETAIL(&guess, "some entries have the opposite sign, as if one side of contacts, or one type, had it");
	take(x, &guess);
}

/* ---- projection and f2 ---- */

/* The words of a choice in requests. */
static const char *projection_word(int projection)
{
	return api_hessian.rules[API_HESSIAN_PROJECTION].words[projection];
}

static bool try_projections(struct explaining *x)
{
	struct api_judging *j = x->j;
	struct api_results other = {.hessian = j->other.hessian};
	const int asked = j->job->query.projection;
	for (int projection = FRIC_PROJECT_NONE; projection <= FRIC_PROJECT_ABS && differs(x, FRIC_HESSIAN); projection++) {
		struct guess guess = begin(API_INDEFINITE_WHERE_PROJECTED, 0);
		if (projection == asked)
			continue;
		const enum fric_code code = api_judging_evaluate(j, j->job->contacts, &j->job->asked, projection, &other);
		if (code != FRIC_OK && !goes_on(x, code))
			return false;
		fit_ours(x, FRIC_POTENTIAL, &guess);
		fit_ours(x, FRIC_GRADIENT, &guess);
		guess.fits[FRIC_HESSIAN] = code == FRIC_OK && fits(x, FRIC_HESSIAN, &other, 1);
		DETAIL(&guess, "it is the Hessian with the projection %s, where %s was requested", projection_word(projection),
		       projection_word(asked));
		take(x, &guess);
	}
	return true;
}

/* The Hessian with inner matrices that lack a part. `barrier` is added, if not NULL. */
static bool omit(struct explaining *x, enum omission omission, const double *barrier, enum fric_code *code)
{
	struct api_judging *j = x->j;
	const struct fric_contacts *contacts = fric_friction_contacts(j->job->contacts);
	const size_t n = fricp_n_shares(contacts);
	for (size_t i = 0; i < n; i++) {
		if (api_judging_stops(i))
			return api_fault_stopped(j->job->fault);
		fricp_inner_omitting(contacts, &j->job->asked, omission, (enum fric_projection)j->job->query.projection, i,
		                     j->inner);
	}
	*code = api_judging_assemble(j, contacts, j->other.hessian);
	for (size_t e = 0; barrier && *code == FRIC_OK && e < j->n_entries; e++)
		j->other.hessian[e] += barrier[e];
	return true;
}

/* The barrier's part of the Hessian. @return false with a fault; NULL if there is none */
static bool of_barrier(struct explaining *x, double **hessian)
{
	struct api_judging *j = x->j;
	struct fric_query query = j->job->asked;
	struct api_results results = {0};
	*hessian = NULL;
	if (!(j->job->query.terms & FRIC_TERM_BARRIER))
		return true;
	query.terms = FRIC_TERM_BARRIER;
	results.hessian = *hessian = api_job_array(j->job, j->n_entries, sizeof(double));
	return *hessian &&
	       api_job_core(j->job, api_judging_evaluate(j, j->job->contacts, &query, j->job->query.projection, &results));
}

static bool try_omissions(struct explaining *x)
{
	static const char *const details[N_OMISSIONS] = {
		"the Hessian lacks the term with f2: its blocks are f1(y)/y times the identity of the tangent plane",
		"the Hessian lacks the derivative of f1 along the slip",
		"the Hessian lacks the derivative of the coefficient mu with respect to the slip",
	};
	double *barrier;
	if (!differs(x, FRIC_HESSIAN) || !(x->j->job->query.terms & FRIC_TERM_FRICTION))
		return true;
	if (!of_barrier(x, &barrier))
		return false;
	for (enum omission omission = 0; omission < N_OMISSIONS; omission++) {
		struct guess guess = begin(API_MISSING_F2, 0);
		enum fric_code code = FRIC_OK;
		if (!fricp_has_omission(x->j->job->contacts, omission))
			continue;
		if (!omit(x, omission, barrier, &code) || !goes_on(x, code))
			return false;
		fit_ours(x, FRIC_POTENTIAL, &guess);
		fit_ours(x, FRIC_GRADIENT, &guess);
		guess.fits[FRIC_HESSIAN] = code == FRIC_OK && fits(x, FRIC_HESSIAN, &x->j->other, 1);
		DETAIL(&guess, "%s", details[omission]);
		take(x, &guess);
	}
	return true;
}

/* ---- other requests ---- */

/* A request that somebody may have evaluated instead. All pointers are borrowed. */
struct scene {
	struct fric_batch batch;
	const double *velocities, *slip_velocities, *current_positions; /* NULL: none */
};

static bool begin_scene(struct explaining *x, struct scene *scene)
{
	struct api_job *job = x->j->job;
	struct fric_derivation derivation = {0};
	const bool friction = job->query.terms & FRIC_TERM_FRICTION, barrier = job->query.terms & FRIC_TERM_BARRIER;
	if (friction && !api_derivation_of(job, &derivation))
		return false;
	*scene = (struct scene){
		.batch = job->lagged.batch,
		.velocities = job->asked.velocities,
		.slip_velocities = derivation.slip_velocities ? derivation.slip_velocities : job->asked.velocities,
		.current_positions = barrier ? api_job_current_positions(job) : NULL,
	};
	scene->batch.terms = job->query.terms;
	return !barrier || scene->current_positions;
}

static enum fric_code evaluate_prepared(struct explaining *x, const struct scene *scene,
                                        const struct fric_contacts *contacts)
{
	struct api_job *job = x->j->job;
	struct fric_state *state = NULL;
	struct fric_current *current = NULL;
	enum fric_code code = FRIC_OK;
	if (scene->slip_velocities)
		code = fric_state_create(&job->context, contacts, scene->slip_velocities, &state, &job->error);
	if (code == FRIC_OK && scene->current_positions)
		code = fric_current_create(&job->context, contacts, scene->current_positions, &current, &job->error);
	const struct fric_query query = {.velocities = scene->velocities,
	                                 .state = state,
	                                 .terms = job->query.terms,
	                                 .current = current,
	                                 .time_step = job->query.time_step};
	if (code == FRIC_OK)
		code = api_judging_evaluate(x->j, contacts, &query, job->query.projection, &x->j->other);
	fric_current_free(current);
	fric_state_free(state);
	return code;
}

/* Evaluates a scene into `other`. @return FRIC_OK, or a code that goes_on accepts, or another one with a fault */
static enum fric_code evaluate(struct explaining *x, const struct scene *scene)
{
	struct api_job *job = x->j->job;
	struct fric_contacts *contacts;
	enum fric_code code = fric_prepare(&job->context, &scene->batch, &contacts, &job->error);
	if (code != FRIC_OK)
		return code;
	code = evaluate_prepared(x, scene, contacts);
	fric_contacts_free(contacts);
	return code;
}

/* Tries a scene whose results are claimed as they are. @param detail  of the guess */
static bool try_scene(struct explaining *x, const struct scene *scene, struct guess *guess)
{
	const enum fric_code code = evaluate(x, scene);
	if (code != FRIC_OK)
		return goes_on(x, code);
	fit_results(x, &x->j->other, guess);
	take(x, guess);
	return true;
}

/* ---- laws ---- */

/* Uses one coefficient in place of both. */
static void use_one(struct fric_batch *batch, bool kinetic)
{
	struct fric_friction *f = &batch->friction;
	const double mu = kinetic ? f->mu_k : f->mu_s, *vertex = kinetic ? f->vertex_mu_k : f->vertex_mu_s,
				 *material = kinetic ? f->material_mu_k : f->material_mu_s;
	f->mu_s = f->mu_k = mu;
	f->vertex_mu_s = f->vertex_mu_k = vertex;
	f->material_mu_s = f->material_mu_k = material;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		struct fric_group *g = &batch->groups[type];
		g->mu_s = g->mu_k = kinetic ? g->mu_k : g->mu_s;
		g->mu_s_aniso = g->mu_k_aniso = kinetic ? g->mu_k_aniso : g->mu_s_aniso;
	}
}

static bool try_law(struct explaining *x, const struct scene *base, enum fric_law_type type,
                    enum fric_transition transition)
{
	const struct fric_law *asked = &base->batch.friction.law;
	const bool smooth = type == FRIC_SMOOTH;
	struct scene scene = *base;
	struct guess guess = begin(API_TRANSITION, 0);
	if (type == asked->type && (!smooth || transition == asked->transition))
		return true;
	scene.batch.friction.law.type = type;
	scene.batch.friction.law.transition = transition;
	DETAIL(&guess, "it is the result of %s %s", smooth ? "mu_transition" : "the law",
	       smooth ? api_friction.rules[API_FRICTION_TRANSITION].words[transition]
	              : api_friction.rules[API_FRICTION_LAW].words[type]);
	return try_scene(x, &scene, &guess);
}

/* Laws that need no fields which the request lacks. */
static bool try_laws(struct explaining *x, const struct scene *base)
{
	const enum fric_law_type asked = base->batch.friction.law.type;
	for (enum fric_transition transition = FRIC_CUBIC; transition <= FRIC_PEAK; transition++)
		if (!try_law(x, base, FRIC_SMOOTH, transition))
			return false;
	if (!try_law(x, base, FRIC_ADHESION, FRIC_CUBIC))
		return false;
	if (asked == FRIC_STRIBECK || asked == FRIC_EXPONENTIAL)
		if (!try_law(x, base, asked == FRIC_STRIBECK ? FRIC_EXPONENTIAL : FRIC_STRIBECK, FRIC_CUBIC))
			return false;
	for (int kinetic = 0; kinetic < 2; kinetic++) {
		struct scene scene = *base;
		struct guess guess = begin(API_TRANSITION, 0);
		use_one(&scene.batch, kinetic);
		DETAIL(&guess, "it is the result without a transition, with %s at all speeds", kinetic ? "mu_k" : "mu_s");
		if (!try_scene(x, &scene, &guess))
			return false;
	}
	return true;
}

static bool try_blends(struct explaining *x, const struct scene *base)
{
	const enum fric_blend asked = base->batch.friction.blend;
	for (enum fric_blend blend = FRIC_MEAN; blend <= FRIC_HARMONIC_MEAN; blend++) {
		struct scene scene = *base;
		struct guess guess = begin(API_BLEND, 0);
		if (base->batch.friction.source != FRIC_MU_VERTEX || blend == asked)
			continue;
		scene.batch.friction.blend = blend;
		DETAIL(&guess, "it is the result of the blend %s", api_friction.rules[API_FRICTION_BLEND].words[blend]);
		if (!try_scene(x, &scene, &guess))
			return false;
	}
	return true;
}

/* ---- lagging ---- */

/* positions + time_step * velocities. */
static const double *moved(struct explaining *x, const struct scene *base)
{
	struct api_job *job = x->j->job;
	const size_t n = job->facts.n_vertices * job->facts.dim;
	double *positions = api_job_array(job, n, sizeof(*positions));
	for (size_t i = 0; positions && i < n; i++)
		positions[i] = base->batch.positions[i] + job->query.time_step * base->velocities[i];
	return positions;
}

static bool try_positions(struct explaining *x, const struct scene *base, const double *positions, const char *which)
{
	struct scene scene = *base;
	struct guess guess = begin(API_UNLAGGED, 0);
	if (!positions)
		return false;
	scene.batch.positions = positions;
	DETAIL(&guess, "it is the result with geometry and normal forces at %s, not at the lagged positions", which);
	return try_scene(x, &scene, &guess);
}

static bool try_lagging(struct explaining *x, const struct scene *base)
{
	const double *current = x->j->job->query.current_positions;
	struct scene scene = *base;
	struct guess guess = begin(API_UNLAGGED, 0);
	if (base->batch.positions && current && !try_positions(x, base, current, "current_positions"))
		return false;
	if (base->batch.positions && !try_positions(x, base, moved(x, base), "positions + time_step * velocities"))
		return false;
	if (base->slip_velocities == base->velocities)
		return true;
	scene.slip_velocities = base->velocities;
	DETAIL(&guess, "it is the result with matchsticks along velocities, not along lagged_velocities");
	return try_scene(x, &scene, &guess);
}

/* ---- displacements and velocities ---- */

static const double *scaled(struct explaining *x, const double *values, size_t n, double factor)
{
	double *out = api_job_array(x->j->job, n, sizeof(*out));
	for (size_t i = 0; out && i < n; i++)
		out[i] = factor * values[i];
	return out;
}

/* Multiples of velocities; valid until the next call. */
static const double *multiply(struct explaining *x, const double *velocities, double factor)
{
	for (size_t i = 0; i < x->j->n_dofs; i++)
		x->multiple[i] = factor * velocities[i];
	return x->multiple;
}

static bool make_room(struct explaining *x)
{
	struct api_job *job = x->j->job;
	double **arrays[] = {&x->rest, &x->multiple, &x->gradients[0], &x->gradients[1], &x->gradients[2]};
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		if (!(*arrays[i] = api_job_array(job, x->j->n_dofs, sizeof(double))))
			return false;
	return api_account_zero(x->rest, x->j->n_dofs * sizeof(double)) || api_fault_stopped(job->fault);
}

static bool scale_eps_v(struct explaining *x, struct fric_batch *batch, double factor)
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
static void fit_powers(const struct explaining *x, double h, struct guess *guess)
{
	const double powers[] = {1, h, 1 / h};
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		for (int k = 0; k < (q == FRIC_GRADIENT ? 1 : 3) && !guess->fits[q]; k++)
			guess->fits[q] = fits(x, q, &x->j->other, powers[k]);
}

static bool is_usable(double factor)
{
	return isfinite(factor) && factor > 0 && isfinite(1 / factor) && fabs(factor - 1) > 1e-12;
}

static bool try_velocities(struct explaining *x, const struct scene *base, double h)
{
	struct scene scene = *base;
	struct guess guess = begin(API_DISPLACEMENT_FOR_VELOCITY, h);
	scene.velocities = multiply(x, base->velocities, h);
	const enum fric_code code = evaluate(x, &scene);
	if (code != FRIC_OK)
		return goes_on(x, code);
	fit_powers(x, h, &guess);
	DETAIL(&guess,
	       "it is the result at %.6g times the velocities with the same eps_v: displacements, which need eps_v"
	       " times the time step?",
	       h);
	take(x, &guess);
	return true;
}

static bool try_eps_v(struct explaining *x, const struct scene *base, double h)
{
	struct scene scene = *base;
	struct guess guess = begin(API_DISPLACEMENT_FOR_VELOCITY, h);
	if (!scale_eps_v(x, &scene.batch, h))
		return false;
	const enum fric_code code = evaluate(x, &scene);
	if (code != FRIC_OK)
		return goes_on(x, code);
	fit_powers(x, h, &guess);
	DETAIL(&guess, "it is the result with %.6g times eps_v: a displacement's eps_v with velocities, or the reverse?",
	       h);
	take(x, &guess);
	return true;
}

static bool try_both(struct explaining *x, const struct scene *base, double h)
{
	return !is_usable(h) || (try_velocities(x, base, h) && try_eps_v(x, base, 1 / h));
}

enum { GRID = 241, INTERIOR = 32, ROUNDS = 14, MOST_ROOTS = 4 };

/* The gradient along the velocities, at multiples of the velocities. */
static bool slopes(struct explaining *x, const struct scene *base, size_t n, const double *steps, double *slope)
{
	struct api_job *job = x->j->job;
	struct fric_query query = job->of_friction;
	double potential[GRID];
	query.velocities = x->rest;
	const enum fric_code code =
		fric_line(&job->context, job->contacts, &query, base->velocities, n, steps, potential, slope, &job->error);
	for (size_t i = 0; code != FRIC_OK && i < n; i++)
		slope[i] = NAN;
	return code == FRIC_OK || goes_on(x, code);
}

static double claimed_slope(const struct explaining *x, const struct scene *base)
{
	long double sum = 0;
	for (size_t i = 0; i < x->j->n_dofs; i++)
		sum += (long double)x->j->claimed.gradient[i] * base->velocities[i];
	return (double)sum;
}

/* Narrows an interval in which the slope passes the target. */
static bool narrow(struct explaining *x, const struct scene *base, double target, double low, double high, double *root)
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
static bool polish(struct explaining *x, const struct scene *base, double *h)
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
			return goes_on(x, code);
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

/* Where all contacts slide, the gradient is that of all larger multiples: the smallest grid point, doubled. */
static bool try_saturated(struct explaining *x, const struct scene *base, const double *steps, const double *slope,
                          double target)
{
	static const double rounding = 1e-12;
	int k = GRID - 1;
	if (!(fabs(slope[k] - target) <= rounding * fabs(target)))
		return true;
	while (k > 0 && fabs(slope[k - 1] - target) <= rounding * fabs(target))
		k--;
	return try_both(x, base, 2 * steps[k]);
}

/* Finds multiples of the velocities whose gradient, along the velocities, is the claimed one, and tries these. */
static bool try_multiples(struct explaining *x, const struct scene *base)
{
	double steps[GRID], slope[GRID], root;
	const double target = claimed_slope(x, base);
	int n_roots = 0;
	for (int k = 0; k < GRID; k++)
		steps[k] = exp2((k - GRID / 2) / 4.0);
	if (!slopes(x, base, GRID, steps, slope))
		return false;
	for (int k = 0; k + 1 < GRID && n_roots < MOST_ROOTS; k++) {
		if (!((slope[k] - target) * (slope[k + 1] - target) <= 0) || slope[k] == slope[k + 1])
			continue;
		n_roots++;
		if (!narrow(x, base, target, steps[k], steps[k + 1], &root) || !polish(x, base, &root) ||
		    !polish(x, base, &root) || !try_both(x, base, root))
			return false;
	}
	return try_saturated(x, base, steps, slope, target);
}

/* The factor by which the claimed entries best fit ours, by their scales; 0: none. */
static double ratio(const struct explaining *x, int quantity)
{
	const struct api_judging *j = x->j;
	double product = 0, squared = 0;
	for (size_t i = 0; quantity == FRIC_GRADIENT && i < j->n_dofs; i++) {
		const double w = j->force[i] > 0 && api_claims_dof(j, i) ? 1 / j->force[i] : 0;
		product += w * j->claimed.gradient[i] * (w * j->ours.gradient[i]);
		squared += w * j->ours.gradient[i] * (w * j->ours.gradient[i]);
	}
	for (size_t row = 0; quantity == FRIC_HESSIAN && row < j->n_dofs; row++)
		for (size_t e = (size_t)j->indptr[row]; e < (size_t)j->indptr[row + 1]; e++) {
			const double scale = api_judging_scale(j, row, e), w = scale > 0 ? 1 / scale : 0;
			product += w * j->claimed.hessian[e] * (w * j->ours.hessian[e]);
			squared += w * j->ours.hessian[e] * (w * j->ours.hessian[e]);
		}
	const double factor = squared > 0 ? product / squared : 0;
	return isfinite(factor) ? factor : 0;
}

/* Forces agree, but the Hessian is one with respect to displacements h v, or the potential is an energy. */
static void try_units(struct explaining *x, double h, bool is_known)
{
	struct guess guess = begin(API_DISPLACEMENT_FOR_VELOCITY, h);
	const struct api_results *ours = &x->j->ours;
	if (!is_usable(h) || !api_claims_quantity(x->j, FRIC_GRADIENT) || differs(x, FRIC_GRADIENT))
		return;
	guess.fits[FRIC_GRADIENT] = true;
	guess.fits[FRIC_POTENTIAL] = fits(x, FRIC_POTENTIAL, ours, h) || fits(x, FRIC_POTENTIAL, ours, 1);
	guess.fits[FRIC_HESSIAN] = fits(x, FRIC_HESSIAN, ours, 1 / h) || fits(x, FRIC_HESSIAN, ours, 1);
	if (!is_known && !differs(x, FRIC_HESSIAN))
		return; /* one number is explained by any factor */
	DETAIL(&guess, "it is the result per displacement of a time step %.6g, not per velocity", h);
	take(x, &guess);
}

static bool try_displacements(struct explaining *x, const struct scene *base)
{
	struct api_job *job = x->j->job;
	const double step = job->query.time_step;
	const struct api_claims *claims = x->j->claims;
	/* A fit needs the whole gradient. */
	const bool whole = job->query.terms == FRIC_TERM_FRICTION && (claims->gradient || job->facts.n_vertices == 0) &&
	                   (claims->body_gradient || job->facts.n_bodies == 0);
	try_units(x, step, true);
	if (differs(x, FRIC_HESSIAN))
		try_units(x, 1 / ratio(x, FRIC_HESSIAN), false);
	if (!make_room(x) || !try_both(x, base, step) || !try_both(x, base, 1 / step))
		return false;
	return !whole || !differs(x, FRIC_GRADIENT) || try_multiples(x, base);
}

/* ---- the cone ---- */

static void try_cone(struct explaining *x)
{
	const double factor = ratio(x, differs(x, FRIC_GRADIENT) ? FRIC_GRADIENT : FRIC_HESSIAN);
	struct guess guess = begin(API_CONE_SCALED, factor);
	if (!is_usable(factor))
		return;
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		guess.fits[q] = fits(x, q, &x->j->ours, factor);
	if (!differs(x, FRIC_GRADIENT) && !differs(x, FRIC_HESSIAN))
		return; /* one number is explained by any factor */
	DETAIL(&guess, "it is %.6g times the right result", factor);
	take(x, &guess);
}

/* One vertex or body: whether the claim has our direction.
 * @param over  raised to the claim over the largest Coulomb force */
static bool is_parallel(const struct api_judging *j, size_t first, size_t width, double *over)
{
	double along = 0, squared = 0, size = 0, cone = 0;
	for (size_t i = first; i < first + width; i++) {
		along += j->claimed.gradient[i] * j->ours.gradient[i];
		squared += j->ours.gradient[i] * j->ours.gradient[i];
		size = hypot(size, j->claimed.gradient[i]);
		cone = fmax(cone, j->cone[i]);
	}
	if (!api_claims_dof(j, first) || size == 0)
		return true;
	const double factor = squared > 0 ? along / squared : 0;
	bool parallel = factor > 0;
	for (size_t i = first; i < first + width; i++)
		parallel &= fabs(j->claimed.gradient[i] - factor * j->ours.gradient[i]) <=
		            j->tolerance * (j->force[i] + fabs(factor * j->ours.gradient[i]) + size);
	*over = cone > 0 ? fmax(*over, size / cone) : *over;
	return parallel;
}

/* Forces have the right directions, but exceed the cone by factors that differ. */
static void try_over_cone(struct explaining *x)
{
	const struct api_judging *j = x->j;
	const size_t dim = j->job->facts.dim, n = j->job->facts.n_vertices * dim;
	double over = 0;
	bool parallel = differs(x, FRIC_GRADIENT);
	for (size_t i = 0; parallel && i < j->n_dofs && !api_account_is_stopped(); i += i < n ? dim : api_twist(dim))
		parallel = is_parallel(j, i, i < n ? dim : api_twist(dim), &over);
	if (!parallel || !(over > 1 + j->tolerance) || !isfinite(over))
		return;
	struct guess guess = begin(API_CONE_SCALED, over);
	guess.fits[FRIC_GRADIENT] = true;
	DETAIL(&guess, "forces have the right directions, but are up to %.6g times what the cone allows", over);
	take(x, &guess);
}

/* ---- all mistakes ---- */

bool api_explain(struct api_judging *j)
{
	struct explaining x = {.j = j};
	struct scene base;
	const bool friction = j->job->query.terms & FRIC_TERM_FRICTION;
	if (!try_projections(&x))
		return false;
	try_sign(&x);
	if (!friction) {
		try_cone(&x);
		return true;
	}
	if (!begin_scene(&x, &base) || !try_omissions(&x) || !try_laws(&x, &base) || !try_blends(&x, &base) ||
	    !try_lagging(&x, &base) || !try_displacements(&x, &base))
		return false;
	try_cone(&x);
	try_over_cone(&x);
	return true;
}

#include "api/compute/guess.h"

#include <math.h>

#include "api/compute/derivatives.h"

/* Prefers a mistake that is consistent with all claims, then one that explains many; of equals, the first. */
void api_guess_take(struct api_explaining *x, const struct api_guess *guess)
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

struct api_guess api_guess_begin(enum api_mistake mistake, double factor)
{
	return (struct api_guess){.explanation = {.mistake = mistake, .factor = factor}};
}

bool api_guess_is_claimed(const struct api_explaining *x, int quantity, const struct api_results *results,
                          double factor)
{
	return !api_claims_quantity(x->j, quantity) ||
	       api_judging_gap(x->j, quantity, results, factor).relative <= x->j->tolerance;
}

/* Sets which quantities the results fit. */
static void fit(const struct api_explaining *x, const struct api_results *results, struct api_guess *guess)
{
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		guess->fits[q] = api_guess_is_claimed(x, q, results, 1);
}

void api_guess_keep(const struct api_explaining *x, int quantity, struct api_guess *guess)
{
	guess->fits[quantity] = !api_claims_quantity(x->j, quantity) || x->j->out->of[quantity].agrees;
}

bool api_guess_differs(const struct api_explaining *x, int quantity)
{
	return api_claims_quantity(x->j, quantity) && !x->j->out->of[quantity].agrees;
}

bool api_guess_goes_on(const struct api_explaining *x, enum fric_code code)
{
	return (code != FRIC_E_MEMORY && code != FRIC_E_STOPPED) || api_job_core(x->j->job, code);
}

double api_guess_ratio(const struct api_explaining *x, int quantity)
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

/* ---- scenes ---- */

bool api_scene_begin(struct api_explaining *x, struct api_scene *scene)
{
	struct api_job *job = x->j->job;
	struct fric_derivation derivation = {0};
	const bool friction = job->query.terms & FRIC_TERM_FRICTION, barrier = job->query.terms & FRIC_TERM_BARRIER;
	if (friction && !api_derivation_of(job, &derivation))
		return false;
	*scene = (struct api_scene){
		.batch = job->lagged.batch,
		.velocities = job->asked.velocities,
		.slip_velocities = derivation.slip_velocities ? derivation.slip_velocities : job->asked.velocities,
		.current_positions = barrier ? api_job_current_positions(job) : NULL,
	};
	scene->batch.terms = job->query.terms;
	return !barrier || scene->current_positions;
}

static enum fric_code evaluate_prepared(struct api_explaining *x, const struct api_scene *scene,
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

enum fric_code api_scene_evaluate(struct api_explaining *x, const struct api_scene *scene)
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

bool api_scene_try(struct api_explaining *x, const struct api_scene *scene, struct api_guess *guess)
{
	const enum fric_code code = api_scene_evaluate(x, scene);
	if (code != FRIC_OK)
		return api_guess_goes_on(x, code);
	fit(x, &x->j->other, guess);
	api_guess_take(x, guess);
	return true;
}

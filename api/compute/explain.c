/* Explanations of claims that differ from our results. */
#include "api/base/account.h"
#include "api/compute/guess.h"
#include "core/gradcheck/share.h"

/* ---- projection and f2 ---- */

/* The words of a choice in requests. */
static const char *projection_word(int projection)
{
	return api_hessian.rules[API_HESSIAN_PROJECTION].words[projection];
}

static bool try_projections(struct api_explaining *x)
{
	struct api_judging *j = x->j;
	struct api_results other = {.hessian = j->other.hessian};
	const int asked = j->job->query.projection;
	for (int projection = FRIC_PROJECT_NONE; projection <= FRIC_PROJECT_ABS && api_guess_differs(x, FRIC_HESSIAN);
	     projection++) {
		struct api_guess guess = api_guess_begin(API_INDEFINITE_WHERE_PROJECTED, 0);
		if (projection == asked)
			continue;
		const enum fric_code code = api_judging_evaluate(j, j->job->contacts, &j->job->asked, projection, &other);
		if (code != FRIC_OK && !api_guess_goes_on(x, code))
			return false;
		api_guess_keep(x, FRIC_POTENTIAL, &guess);
		api_guess_keep(x, FRIC_GRADIENT, &guess);
		guess.fits[FRIC_HESSIAN] = code == FRIC_OK && api_guess_is_claimed(x, FRIC_HESSIAN, &other, 1);
		API_DETAIL(&guess, "it is the Hessian with the projection %s, where %s was requested",
		           projection_word(projection), projection_word(asked));
		api_guess_take(x, &guess);
	}
	return true;
}

/* The Hessian with inner matrices that lack a part. `barrier` is added, if not NULL. */
static bool omit(struct api_explaining *x, enum omission omission, const double *barrier, enum fric_code *code)
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
static bool of_barrier(struct api_explaining *x, double **hessian)
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

static bool try_omissions(struct api_explaining *x)
{
	static const char *const details[N_OMISSIONS] = {
		"the Hessian lacks the term with f2: its blocks are f1(y)/y times the identity of the tangent plane",
		"the Hessian lacks the derivative of f1 along the slip",
		"the Hessian lacks the derivative of the coefficient mu with respect to the slip",
	};
	double *barrier;
	if (!api_guess_differs(x, FRIC_HESSIAN) || !(x->j->job->query.terms & FRIC_TERM_FRICTION))
		return true;
	if (!of_barrier(x, &barrier))
		return false;
	for (enum omission omission = 0; omission < N_OMISSIONS; omission++) {
		struct api_guess guess = api_guess_begin(API_MISSING_F2, 0);
		enum fric_code code = FRIC_OK;
		if (!fricp_has_omission(x->j->job->contacts, omission))
			continue;
		if (!omit(x, omission, barrier, &code) || !api_guess_goes_on(x, code))
			return false;
		api_guess_keep(x, FRIC_POTENTIAL, &guess);
		api_guess_keep(x, FRIC_GRADIENT, &guess);
		guess.fits[FRIC_HESSIAN] = code == FRIC_OK && api_guess_is_claimed(x, FRIC_HESSIAN, &x->j->other, 1);
		API_DETAIL(&guess, "%s", details[omission]);
		api_guess_take(x, &guess);
	}
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

static bool try_law(struct api_explaining *x, const struct api_scene *base, enum fric_law_type type,
                    enum fric_transition transition)
{
	const struct fric_law *asked = &base->batch.friction.law;
	const bool smooth = type == FRIC_SMOOTH;
	struct api_scene scene = *base;
	struct api_guess guess = api_guess_begin(API_TRANSITION, 0);
	if (type == asked->type && (!smooth || transition == asked->transition))
		return true;
	scene.batch.friction.law.type = type;
	scene.batch.friction.law.transition = transition;
	API_DETAIL(&guess, "it is the result of %s %s", smooth ? "mu_transition" : "the law",
	           smooth ? api_friction.rules[API_FRICTION_TRANSITION].words[transition]
	                  : api_friction.rules[API_FRICTION_LAW].words[type]);
	return api_scene_try(x, &scene, &guess);
}

/* Laws that need no fields which the request lacks. */
static bool try_laws(struct api_explaining *x, const struct api_scene *base)
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
		struct api_scene scene = *base;
		struct api_guess guess = api_guess_begin(API_TRANSITION, 0);
		use_one(&scene.batch, kinetic);
		API_DETAIL(&guess, "it is the result without a transition, with %s at all speeds", kinetic ? "mu_k" : "mu_s");
		if (!api_scene_try(x, &scene, &guess))
			return false;
	}
	return true;
}

static bool try_blends(struct api_explaining *x, const struct api_scene *base)
{
	const enum fric_blend asked = base->batch.friction.blend;
	for (enum fric_blend blend = FRIC_MEAN; blend <= FRIC_HARMONIC_MEAN; blend++) {
		struct api_scene scene = *base;
		struct api_guess guess = api_guess_begin(API_BLEND, 0);
		if (base->batch.friction.source != FRIC_MU_VERTEX || blend == asked)
			continue;
		scene.batch.friction.blend = blend;
		API_DETAIL(&guess, "it is the result of the blend %s", api_friction.rules[API_FRICTION_BLEND].words[blend]);
		if (!api_scene_try(x, &scene, &guess))
			return false;
	}
	return true;
}

/* ---- lagging ---- */

/* positions + time_step * velocities. */
static const double *moved(struct api_explaining *x, const struct api_scene *base)
{
	struct api_job *job = x->j->job;
	const size_t n = job->facts.n_vertices * job->facts.dim;
	double *positions = api_job_array(job, n, sizeof(*positions));
	for (size_t i = 0; positions && i < n; i++)
		positions[i] = base->batch.positions[i] + job->query.time_step * base->velocities[i];
	return positions;
}

static bool try_positions(struct api_explaining *x, const struct api_scene *base, const double *positions,
                          const char *which)
{
	struct api_scene scene = *base;
	struct api_guess guess = api_guess_begin(API_UNLAGGED, 0);
	if (!positions)
		return false;
	scene.batch.positions = positions;
	API_DETAIL(&guess, "it is the result with geometry and normal forces at %s, not at the lagged positions", which);
	return api_scene_try(x, &scene, &guess);
}

static bool try_lagging(struct api_explaining *x, const struct api_scene *base)
{
	const double *current = x->j->job->query.current_positions;
	struct api_scene scene = *base;
	struct api_guess guess = api_guess_begin(API_UNLAGGED, 0);
	if (base->batch.positions && current && !try_positions(x, base, current, "current_positions"))
		return false;
	if (base->batch.positions && !try_positions(x, base, moved(x, base), "positions + time_step * velocities"))
		return false;
	if (base->slip_velocities == base->velocities)
		return true;
	scene.slip_velocities = base->velocities;
	API_DETAIL(&guess, "it is the result with matchsticks along velocities, not along lagged_velocities");
	return api_scene_try(x, &scene, &guess);
}

/* ---- all mistakes ---- */

bool api_explain(struct api_judging *j)
{
	struct api_explaining x = {.j = j};
	struct api_scene base;
	const bool friction = j->job->query.terms & FRIC_TERM_FRICTION;
	if (!try_projections(&x) || !api_try_signs(&x))
		return false;
	if (!friction)
		return api_try_cone(&x);
	return api_scene_begin(&x, &base) && try_omissions(&x) && try_laws(&x, &base) && try_blends(&x, &base) &&
	       try_lagging(&x, &base) && api_try_displacements(&x, &base) && api_try_cone(&x);
}

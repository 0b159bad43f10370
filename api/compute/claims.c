#include "api/compute/claims.h"

#include <string.h>

static bool render_verdict(struct api_job *job, json_t *object, const struct api_verdict *v)
{
	struct api_render *r = &job->render;
	json_t *worst;
	int32_t *places = api_job_array(job, 2, sizeof(*places));
	if (!places)
		return false;
	for (int i = 0; i < v->n_places; i++)
		places[i] = (int32_t)v->places[i];
	api_render_number(r, object, "largest_difference", v->difference);
	api_render_number(r, object, "scale", v->scale);
	api_render_number(r, object, "relative_difference", v->relative);
	api_render_add(r, object, "entry", api_render_array(r, API_I32, places, (size_t)v->n_places, 0, 0));
	return api_render_worst(job, object, v->group, v->worst, v->members, &worst);
}

static void render_explanation(struct api_render *r, json_t *object, const struct api_verdict *v)
{
	json_t *list = api_render_add(r, object, "looks_like", json_array());
	if (v->agrees)
		return;
	const enum api_mistake mistake = v->is_explained ? v->explanation.mistake : API_OTHER;
	api_render_append(r, list, json_string(api_mistake_codes[mistake]));
	if (v->is_explained && v->explanation.factor != 0)
		api_render_number(r, object, "factor", v->explanation.factor);
	if (v->is_explained)
		api_render_add(r, object, "detail", json_string(v->explanation.detail));
}

static bool render_quantity(struct api_job *job, json_t *claims, int quantity, const struct api_verdict *v)
{
	struct api_render *r = &job->render;
	json_t *object = api_render_add(r, claims, api_quantity_names[quantity], json_object());
	api_render_add(r, object, "agrees", json_boolean(v->agrees));
	const bool ok = render_verdict(job, object, v);
	render_explanation(r, object, v);
	return ok;
}

bool api_claims_render(struct api_job *job, const struct api_judgement *judgement)
{
	struct api_render *r = &job->render;
	if (!judgement->wanted)
		return true;
	json_t *claims = api_render_add(r, r->document.root, "claims", json_object());
	api_render_add(r, claims, "agrees", json_boolean(judgement->agrees));
	api_render_number(r, claims, "tolerance", judgement->tolerance);
	api_render_add(r, claims, "quantity", json_string(api_quantity_names[judgement->worst]));
	if (!render_verdict(job, claims, &judgement->of[judgement->worst]))
		return false;
	json_t *list = api_render_add(r, claims, "looks_like", json_array());
	for (int i = 0; i < API_N_MISTAKES; i++)
		if (judgement->mistakes[i])
			api_render_append(r, list, json_string(api_mistake_codes[i]));
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		if (judgement->of[q].claimed && !render_quantity(job, claims, q, &judgement->of[q]))
			return false;
	return true;
}

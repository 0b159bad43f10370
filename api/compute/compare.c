#include "api/compute/compare.h"

#include <string.h>

#include "api/compute/derivatives.h"
#include "api/compute/judging.h"
#include "api/dispatch/format.h"
#include "api/sets/merge.h"
#include "api/compute/job.h"

double api_relative_difference(const struct fric_agreement *agreement)
{
	return agreement->contacts > agreement->assembled ? agreement->contacts : agreement->assembled;
}

static void render_agreement(struct api_job *job, const char *name, const struct fric_agreement *agreement)
{
	struct api_render *r = &job->render;
	json_t *object = api_render_add(r, r->document.root, name, json_object());
	api_render_number(r, object, "largest_difference", agreement->largest_difference);
	api_render_number(r, object, "largest_entry", agreement->largest_entry);
	api_render_number(r, object, "relative_difference", api_relative_difference(agreement));
	api_render_number(r, object, "contacts", agreement->contacts);
	api_render_number(r, object, "assembled", agreement->assembled);
}

static bool render_worst(struct api_job *job, const struct fric_comparison *c)
{
	struct api_render *r = &job->render;
	json_t *worst;
	if (!api_render_worst(job, r->document.root, c->group, c->worst, c->vertices, &worst) || c->worst < 0)
		return c->worst < 0;
	api_render_add(r, worst, "quantity", json_string(api_quantity_names[c->quantity]));
	api_render_number(r, worst, "relative_difference", c->relative_difference);
	/* A set's contacts have friction even if the query excludes it. */
	const bool friction = job->query.terms & FRIC_TERM_FRICTION;
	api_render_integer(r, worst, "status", friction ? c->status : 0);
	api_render_number(r, worst, "slip_ratio", friction ? c->slip_ratio : 0);
	return true;
}

/* ---- derivatives ---- */

/* The error of a field's derivatives as a multiple of the tolerance: up to 1 they agree. */
static double difference_of(const struct api_field_comparison *field)
{
	const struct fric_derivative_agreement *a = &field->numbers;
	const double forth = (a->potential > a->gradient ? a->potential : a->gradient) / FRIC_DERIVATIVE_TOLERANCE;
	const double back = a->transposed / FRIC_TRANSPOSE_TOLERANCE;
	return forth > back ? forth : back;
}

static bool compare_field(struct api_job *job, const struct api_derivation *d, const struct api_variable *v,
                          struct api_comparison *out)
{
	struct api_field_comparison *field = &out->fields[out->n_fields];
	if (!api_derive_compare(job, d, v, &field->numbers))
		return false;
	memcpy(field->pointer, v->pointer, sizeof(field->pointer));
	out->agrees &= field->numbers.agrees;
	if (field->numbers.worst >= 0 &&
	    (out->worst_field < 0 || difference_of(field) > difference_of(&out->fields[out->worst_field])))
		out->worst_field = (int)out->n_fields;
	out->n_fields++;
	return true;
}

static bool compare_fields(struct api_job *job, struct api_comparison *out)
{
	struct api_derivation d = {.variables = {0}};
	if (!(job->query.terms & FRIC_TERM_FRICTION))
		return true; /* only friction has derivatives */
	if (!api_derivation_begin(job, &d))
		return false;
	for (size_t i = 0; i < d.variables.n && out->n_fields < API_MOST_VARIABLES; i++)
		if (api_is_derivable(&d, &d.variables.list[i]) && !compare_field(job, &d, &d.variables.list[i], out))
			return false;
	return true;
}

static void render_difference(struct api_render *r, json_t *object, const char *name, double difference)
{
	if (difference >= 0) /* a negative difference was not compared */
		api_render_number(r, object, name, difference);
}

static void render_field(struct api_render *r, json_t *list, const struct api_field_comparison *field)
{
	json_t *object = api_render_append(r, list, json_object());
	api_render_add(r, object, "pointer", json_string(field->pointer));
	api_render_add(r, object, "agrees", json_boolean(field->numbers.agrees));
	render_difference(r, object, "potential", field->numbers.potential);
	render_difference(r, object, "gradient", field->numbers.gradient);
	render_difference(r, object, "transposed", field->numbers.transposed);
}

static void render_fields(struct api_job *job, const struct api_comparison *c)
{
	struct api_render *r = &job->render;
	json_t *object = api_render_add(r, r->document.root, "derivatives", json_object());
	api_render_number(r, object, "tolerance", FRIC_DERIVATIVE_TOLERANCE);
	api_render_number(r, object, "transpose_tolerance", FRIC_TRANSPOSE_TOLERANCE);
	json_t *list = api_render_add(r, object, "fields", json_array());
	for (size_t i = 0; i < c->n_fields; i++)
		render_field(r, list, &c->fields[i]);
	json_t *worst = api_render_add(r, object, "worst", c->worst_field < 0 ? json_null() : json_object());
	if (c->worst_field < 0)
		return;
	const struct api_field_comparison *field = &c->fields[c->worst_field];
	api_render_add(r, worst, "pointer", json_string(field->pointer));
	api_render_add(r, worst, "group", json_string(fric_type_name(field->numbers.group)));
	api_render_integer(r, worst, "index", field->numbers.worst);
}

static void check_url_query(struct api_job *job, struct api_check *check, const struct api_field *url_query)
{
	struct api_comparison *out = job->more;
	const struct api_field derivatives = api_ruled(url_query, &api_check_url_query, 0);
	if (!job->fault->status)
		api_check_bool(check, &derivatives, &out->wants_derivatives);
}

/* Reduces an answer of /v1/evaluate to what can be claimed, and names it: {"claims": ..}. */
static json_t *name_claims(json_t *root)
{
	static const char *const others[] = {"n_vertices",       "n_bodies",          "n_collisions", "collisions", "line",
	                                     "hessian_products", "position_jacobian", "longest_step", "skipped"};
	if (json_object_get(root, "claims"))
		return json_incref(root);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		json_object_del(root, others[i]); /* fails harmlessly if it is absent */
	return json_pack("{s:O}", "claims", root);
}

/* Adds claims that were sent apart from the request. */
static bool add_claims(struct api_job *job)
{
	struct api_comparison *out = job->more;
	if (!out->claimed)
		return true;
	if (!api_format_read(job->service, out->claimed, &job->arena, &out->claims_of, job->fault)) {
		out->is_claim_malformed = true;
		return false;
	}
	struct api_document claims = out->claims_of;
	claims.root = name_claims(claims.root);
	const bool ok = claims.root ? api_merge(&job->document, &claims, job->fault) : api_fault_no_memory(job->fault);
	json_decref(claims.root);
	return ok;
}

static bool decode(struct api_job *job)
{
	return api_job_url_query(job, &api_check_url_query, check_url_query) && api_job_read(job) && add_claims(job) &&
	       api_job_check_document(job, API_CHECK, API_SET_CHECK);
}

/* ---- the whole comparison ---- */

static bool compare_contacts(struct api_job *job, const struct api_document *document, const struct fric_batch *batch)
{
	struct api_comparison *out = job->more;
	struct fric_comparison *c = &out->numbers;
	json_t *root = job->render.document.root;
	if (!api_job_core(job, fric_compare(&job->context, job->contacts, &job->asked, c, &job->error)))
		return false;
	out->n_vertices = fric_n_vertices(job->contacts);
	out->n_bodies = job->facts.n_bodies;
	out->n_contacts = fric_n_contacts(job->contacts);
	out->n_skipped = fric_n_skipped(job->contacts) + (job->own_current ? fric_current_n_skipped(job->own_current) : 0);
	out->agrees = c->agrees;
	out->n_fields = 0;
	out->worst_field = -1;
	if (out->wants_derivatives && !compare_fields(job, out))
		return false;
	api_job_counts(job);
	api_render_add(&job->render, root, "agrees", json_boolean(out->agrees));
	api_render_number(&job->render, root, "tolerance", FRIC_TOLERANCE);
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		render_agreement(job, api_quantity_names[q], &c->of[q]);
	if (!render_worst(job, c))
		return false;
	if (out->wants_derivatives)
		render_fields(job, out);
	if (!api_claims_judge(job, &out->claims) || !api_claims_render(job, &out->claims) ||
	    !api_notes_take(job, document, batch, &out->notes))
		return false;
	api_notes_render(job, &out->notes);
	api_job_skipped(job);
	return true;
}

/* Reads a set's document for the notes, because contacts do not record where their values came from. */
static bool compute(struct api_job *job)
{
	return (!job->set || api_job_open_set(job)) &&
	       compare_contacts(job, job->set ? &job->set_document : &job->document, &job->lagged.batch);
}

const struct api_steps api_comparing = {decode, api_job_prepare, compute, NULL, false};

bool api_compare(const struct api_service *service, const struct api_request *request, struct api_fault *fault,
                 struct api_response *response, struct api_comparison *comparison)
{
	const struct api_call call = {.service = service, .request = request, .fault = fault, .response = response};
	const bool ok = api_job_run(&call, &api_comparing, NULL, comparison);
	api_document_free(&comparison->claims_of);
	return ok;
}

#include "api/routes/questions.h"

#include <stdio.h>
#include <string.h>

#include "api/dispatch/answer.h"
#include "api/pages/assets.h"
#include "api/routes/compare.h"
#include "api/dispatch/cost.h"
#include "api/routes/evaluate.h"
#include "api/routes/job.h"
#include "api/routes/sets.h"
#include "api/sets/rest.h"
#include "api/validate/query.h"

/* ---- evaluate, check ---- */

static bool ask(const struct api_service *service, const struct api_request *request, const struct api_steps *steps,
                void *more, struct api_fault *fault, struct api_response *response)
{
	struct api_set *set = api_set_of_request(service, request, true, fault, response);
	const bool ok = set && api_job_run(service, request, steps, set, more, fault, response);
	api_kept_release(set ? &set->kept : NULL);
	return ok;
}

static bool evaluate_set(const struct api_service *service, const struct api_request *request, struct api_fault *fault,
                         struct api_response *response)
{
	static const struct api_steps steps = {api_job_decode_question, api_job_prepare_question, api_evaluate,
	                                       api_evaluate_weigh};
	return api_query_refuse(request->match->query, fault) && ask(service, request, &steps, NULL, fault, response);
}

/* The set's document, for notes on it: contacts do not know where they come from. */
static bool compare_set(struct api_job *job)
{
	return api_job_open_set(job) && api_compare_contacts(job, &job->set_document, &job->lagged.batch);
}

static bool decode_check(struct api_job *job)
{
	return api_compare_query(job) && api_job_decode_question(job);
}

static bool check_set(const struct api_service *service, const struct api_request *request, struct api_fault *fault,
                      struct api_response *response)
{
	static const struct api_steps steps = {decode_check, api_job_prepare_question, compare_set, NULL};
	struct api_comparison comparison = {.wants_derivatives = false};
	const bool ok = ask(service, request, &steps, &comparison, fault, response);
	response->measure = (struct api_measure){0}; /* only evaluations are measured */
	return ok;
}

/* ---- pattern ---- */

/* Its arrays, if a client sends any, are in the arena: nothing but the tree is to be freed. */
static bool check_query(struct api_job *job, const struct api_document *query)
{
	struct api_check check = {.document = query, .arena = &job->arena, .fault = job->fault, .service = job->service};
	struct api_field root = {.node = query->root};
	api_check_object(&check, &root, &api_pattern_query);
	const struct api_field format = api_ruled(&root, &api_pattern_query, API_PATTERN_FORMAT),
						   triangle = api_ruled(&root, &api_pattern_query, API_PATTERN_TRIANGLE);
	api_check_choice(&check, &format, format.rule->words, &job->question.format);
	api_check_choice(&check, &triangle, triangle.rule->words, &job->question.triangle);
	if (format.node && job->facts.n_bodies && !strcmp(api_pattern_formats[job->question.format], "bsr"))
		api_check_without_bodies(&check, &format);
	return !job->fault->status;
}

static bool decode_query(struct api_job *job)
{
	struct api_document query = {0};
	const char *text = job->request->match->query;
	job->facts = job->set->facts;
	const bool ok = api_query_document(text, &api_pattern_query, &job->arena, &query, job->fault) &&
	                check_query(job, &query);
	json_decref(query.root);
	return ok;
}

/* The tag of the answer that a request gets: of its stencils, format, triangle and media type. */
enum { TAG_BYTES = API_VERSION_BYTES + 32 };

static void print_tag(const struct api_job *job, char tag[TAG_BYTES])
{
	const struct api_question *q = &job->question;
	snprintf(tag, TAG_BYTES, "\"%s-%s-%s-%s\"", job->set->stencils, api_pattern_formats[q->format],
	         api_pattern_query.rules[API_PATTERN_TRIANGLE].words[q->triangle],
	         job->request->formats->answer == API_FRAME ? "frame" : "json");
}

static bool prepare_pattern(struct api_job *job)
{
	char *tag = job->more;
	job->contacts = job->set->contacts;
	print_tag(job, tag);
	return true;
}

static bool is_known(const struct api_job *job)
{
	return api_asset_is_known(job->request->if_none_match, job->more);
}

static enum fric_triangle triangle_of(const struct api_job *job)
{
	return (enum fric_triangle)job->question.triangle;
}

static bool fits(struct api_job *job, size_t bytes)
{
	return bytes <= job->service->max_answer_bytes || api_fault_too_long(job->fault, job->service->max_answer_bytes);
}

static bool render_csr(struct api_job *job, json_t *root)
{
	const struct fric_pattern *pattern = api_job_pattern(job, (int)triangle_of(job));
	if (!pattern)
		return false;
	const size_t n = fric_pattern_n_entries(pattern), n_rows = fric_pattern_n_rows(pattern);
	api_render_places(&job->render, root, fric_pattern_indptr(pattern), n_rows, fric_pattern_indices(pattern), n);
	return fits(job, n * sizeof(int32_t) + n_rows * sizeof(int64_t));
}

static bool render_bsr(struct api_job *job, json_t *root)
{
	const struct fric_pattern *pattern = api_job_pattern(job, (int)triangle_of(job));
	struct api_blocks blocks;
	if (!pattern || !api_job_blocks(job, pattern, true, &blocks))
		return false;
	api_render_places(&job->render, root, blocks.indptr, blocks.n_rows, blocks.indices, blocks.n);
	return fits(job, blocks.n * sizeof(int32_t) + blocks.n_rows * sizeof(int64_t));
}

/* Rows and columns are filled in along with values, which are of no use here. */
static bool render_triplets(struct api_job *job, json_t *root)
{
	struct api_render *r = &job->render;
	const size_t n = fric_n_triplets(job->contacts, triangle_of(job));
	const size_t n_inner = fric_n_inner(job->contacts);
	struct fric_error error;
	if (!fits(job, n * 2 * sizeof(int32_t)))
		return false;
	int32_t *rows = api_job_array(job, n, sizeof(*rows)), *cols = api_job_array(job, n, sizeof(*cols));
	double *values = api_job_array(job, n, sizeof(*values)), *inner = api_job_array(job, n_inner, sizeof(*inner));
	if (!rows || !cols || !values || !inner)
		return false;
	memset(inner, 0, n_inner * sizeof(*inner));
	if (!api_job_core(
			job,
			fric_hessian_triplets(&job->context, job->contacts, inner, triangle_of(job), rows, cols, values, &error),
			&error))
		return false;
	api_render_add(r, root, "rows", api_render_array(r, API_I32, rows, n, 0, 0));
	api_render_add(r, root, "cols", api_render_array(r, API_I32, cols, n, 0, 0));
	return true;
}

static bool render_pattern(struct api_job *job)
{
	static bool (*const render[])(struct api_job *, json_t *) = {render_csr, render_bsr, render_triplets};
	json_t *root = job->render.document.root;
	const int64_t ndof = (int64_t)api_job_n_dofs(job);
	int64_t *shape = is_known(job) ? NULL : api_job_array(job, 2, sizeof(*shape));
	if (!shape)
		return is_known(job); /* then nothing of it will be sent */
	shape[0] = shape[1] = ndof;
	api_render_add(&job->render, root, "format", json_string(api_pattern_formats[job->question.format]));
	api_render_add(&job->render, root, "shape", api_render_array(&job->render, API_I64, shape, 2, 0, 0));
	return render[job->question.format](job, root);
}

static void weigh_pattern(const struct api_job *job, struct api_work *work)
{
	api_job_weigh(job, work);
	api_work_add_matrix(work, api_job_dim(job));
}

static bool get_pattern(const struct api_service *service, const struct api_request *request, struct api_fault *fault,
                        struct api_response *response)
{
	static const struct api_steps steps = {decode_query, prepare_pattern, render_pattern, weigh_pattern};
	char tag[TAG_BYTES];
	struct api_set *set = api_set_of_request(service, request, true, fault, response);
	const bool ok = set && api_job_run(service, request, &steps, set, tag, fault, response);
	api_kept_release(set ? &set->kept : NULL);
	if (!ok)
		return false;
	response->measure = (struct api_measure){0};
	api_response_add_header(response, "ETag", tag);
	api_response_add_header(response, "Vary", "Accept");
	if (!api_asset_is_known(request->if_none_match, tag))
		return true;
	api_response_free(response);
	response->status = 304;
	response->content_type = NULL;
	response->body_bytes = 0;
	return true;
}

/* ---- costs ---- */

static bool is_large(const struct api_service *service, const struct api_request *request)
{
	return api_cost_of_body(service, request) || api_set_is_large(service, request, API_COST_SUMS);
}

/* ---- the operations ---- */

static const struct api_object *const requests[] = {&api_set_question, NULL}, *const answers[] = {&api_answer, NULL},
									  *const comparisons[] = {&api_check_answer, NULL};

/* clang-format off */
static const struct api_example evaluate_examples[] = {
	{"sliding_vertex", "The question alone: where to evaluate, and what is wanted",
	 "{'velocities': [[0.25, 0, 0]], 'outputs': ['potential', 'gradient']}", NULL, 200},
	{0},
};

const struct api_operation api_evaluate_set = {
	.handler = evaluate_set, .is_large = is_large, .requests = requests, .answers = answers, .is_timed = true,
	.id = "evaluateSet", .tag = "sets", .summary = "Potential, gradient, Hessian and values per contact of a set",
	.description = "The answer is that of /v1/evaluate to the set's document and the question together, byte for byte.",
	.examples = evaluate_examples,
};
const struct api_operation api_check_set_contacts = {
	.handler = check_set, .is_large = api_cost_always, .query = &api_check_query, .requests = requests, .answers = comparisons, .is_timed = true,
	.id = "checkSet", .tag = "sets", .summary = "Compares gradient and Hessian of a set with central differences",
	.description = "As /v1/check; outputs and their options are checked and otherwise ignored.",
};
const struct api_operation api_get_pattern = {
	.handler = get_pattern, .is_large = is_large, .query = &api_pattern_query, .answers = api_pattern_answers,
	.is_timed = true, .has_tag = true, .id = "setPattern", .tag = "sets", .summary = "The sparsity of a set's Hessian",
	.description = "The members of that Hessian without its numbers. The ETag changes with the stencils and the numbers of"
	               " vertices and bodies alone.",
};
/* clang-format on */

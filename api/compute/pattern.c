#include "api/compute/pattern.h"

#include <stdio.h>
#include <string.h>

#include "api/dispatch/answer.h"
#include "api/validate/query.h"

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

static void print_tag(const struct api_job *job, char tag[API_TAG_BYTES])
{
	const struct api_question *q = &job->question;
	snprintf(tag, API_TAG_BYTES, "\"%s-%s-%s-%s\"", job->set->stencils, api_pattern_formats[q->format],
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
	return api_tag_is_known(job->request->if_none_match, job->more);
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

const struct api_steps api_pattern_steps = {decode_query, prepare_pattern, render_pattern, weigh_pattern};

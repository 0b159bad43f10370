#include "api/compute/pattern.h"

#include <stdio.h>
#include <string.h>

#include "api/compute/outputs.h"
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

static bool render_pattern(struct api_job *job)
{
	if (is_known(job)) /* then nothing of it will be sent */
		return true;
	return api_render_hessian_places(job, api_pattern_formats[job->question.format], job->render.document.root);
}

static void weigh_pattern(const struct api_job *job, struct api_work *work)
{
	api_job_weigh(job, work);
	api_work_add_matrix(work, api_job_dim(job));
}

const struct api_steps api_pattern_steps = {decode_query, prepare_pattern, render_pattern, weigh_pattern};

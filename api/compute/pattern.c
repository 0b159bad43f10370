#include "api/compute/steps.h"

#include <stdio.h>
#include <string.h>

#include "api/compute/outputs.h"
#include "api/dispatch/answer.h"

static void check_url_query(struct api_job *job, struct api_check *check, const struct api_field *url_query)
{
	const struct api_field format = api_ruled(url_query, &api_pattern_url_query, API_PATTERN_FORMAT),
						   triangle = api_ruled(url_query, &api_pattern_url_query, API_PATTERN_TRIANGLE);
	api_check_choice(check, &format, format.rule->words, &job->query.format);
	api_check_choice(check, &triangle, triangle.rule->words, &job->query.triangle);
	if (format.node && job->facts.n_bodies && !strcmp(api_pattern_formats[job->query.format], "bsr"))
		api_check_without_bodies(check, &format);
}

static bool decode_url_query(struct api_job *job)
{
	job->facts = job->set->facts;
	return api_job_url_query(job, &api_pattern_url_query, check_url_query);
}

static bool prepare_pattern(struct api_job *job)
{
	const struct api_query *q = &job->query;
	job->contacts = fric_friction_contacts(job->set->contacts);
	snprintf(job->more, API_TAG_BYTES, "\"%s-%s-%s-%s\"", job->set->stencils, api_pattern_formats[q->format],
	         api_pattern_url_query.rules[API_PATTERN_TRIANGLE].words[q->triangle],
	         job->request->formats->answer == API_FRAME ? "frame" : "json");
	return true;
}

static bool render_pattern(struct api_job *job)
{
	if (api_tag_is_known(job->request->if_none_match, job->more)) /* the response then has no body */
		return true;
	return api_render_hessian_places(job, api_pattern_formats[job->query.format], job->render.document.root);
}

static void weigh_pattern(const struct api_job *job, struct api_work *work)
{
	api_job_weigh(job, work);
	api_work_add_matrix(work, api_job_dim(job));
}

const struct api_steps api_pattern_steps = {decode_url_query, prepare_pattern, render_pattern, weigh_pattern, false};

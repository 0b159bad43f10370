#include "api/compute/outputs.h"

#include "api/compute/derivatives.h"

static bool fill(struct api_job *job, const struct api_entries *e)
{
	struct fric_derivation derivation;
	if (!api_derivation_of(job, &derivation))
		return false;
	return api_job_core(
		job, e->pattern ? fric_position_jacobian_csr(&job->context, &derivation, e->pattern, e->numbers, &job->error)
						: fric_position_jacobian_triplets(&job->context, &derivation, e->rows, e->cols, e->numbers,
	                                                      &job->error));
}

bool api_evaluate_position_jacobian(struct api_job *job)
{
	const struct api_query *q = &job->query;
	const struct api_matrix matrix = {
		.n_cols = job->facts.n_vertices * job->facts.dim,
		.n_triplets = fric_n_jacobian_triplets(job->contacts),
		.places = API_JACOBIAN_PLACES,
		.without_places = q->jacobian_without_pattern,
		.fill = fill,
		.choice = API_REQUEST_POSITION_JACOBIAN,
		.name = "Jacobian",
		.advice = "",
	};
	if (job->set && !api_job_open_set(job))
		return false;
	return api_render_matrix(
		job, &matrix, api_jacobian_formats[q->jacobian_format],
		api_render_add(&job->render, job->render.document.root, "position_jacobian", json_object()));
}

#include "api/compute/jacobian.h"

#include "api/compute/derivatives.h"

/* Refused before anything is computed. The pointer leads to the format, or to where its object would be. */
static bool check_size(struct api_job *job, size_t bytes)
{
	const struct api_field root = {.node = job->document.root},
						   jacobian = api_ruled(&root, &api_request, API_REQUEST_POSITION_JACOBIAN),
						   format = api_ruled(&jacobian, &api_position_jacobian, API_JACOBIAN_FORMAT);
	return bytes <= job->service->max_answer_bytes ||
	       api_fault_at(job->fault, API_E_ANSWER_TOO_LONG, jacobian.node ? &format.path : &jacobian.path,
	                    "the Jacobian would take %zu bytes, the limit is %zu: use fewer contacts in a request", bytes,
	                    job->service->max_answer_bytes);
}

static bool triplets(struct api_job *job, const struct fric_derivation *derivation, json_t *jacobian)
{
	const bool places = !job->question.jacobian_without_pattern;
	const size_t n = fric_n_jacobian_triplets(job->contacts);
	struct api_render *r = &job->render;
	struct fric_error error;
	int32_t *rows = NULL, *cols = NULL;
	if (!check_size(job, n * ((places ? 2 * sizeof(int32_t) : 0) + sizeof(double))))
		return false;
	if (places && (!(rows = api_job_array(job, n, sizeof(*rows))) || !(cols = api_job_array(job, n, sizeof(*cols)))))
		return false;
	double *values = api_job_array(job, n, sizeof(*values));
	if (!values ||
	    !api_job_core(job, fric_position_jacobian_triplets(&job->context, derivation, rows, cols, values, &error),
	                  &error))
		return false;
	if (places) {
		api_render_add(r, jacobian, "rows", api_render_array(r, API_I32, rows, n, 0, 0));
		api_render_add(r, jacobian, "cols", api_render_array(r, API_I32, cols, n, 0, 0));
	}
	api_render_add(r, jacobian, "values", api_render_array(r, API_F64, values, n, 0, 0));
	return true;
}

static bool csr(struct api_job *job, const struct fric_derivation *derivation, json_t *jacobian)
{
	const struct fric_pattern *pattern = api_job_pattern(job, API_JACOBIAN_PLACES);
	const bool places = !job->question.jacobian_without_pattern;
	struct api_render *r = &job->render;
	struct fric_error error;
	if (!pattern)
		return false;
	const size_t n = fric_pattern_n_entries(pattern), n_rows = fric_pattern_n_rows(pattern);
	if (!check_size(job,
	                n * ((places ? sizeof(int32_t) : 0) + sizeof(double)) + (places ? n_rows * sizeof(int64_t) : 0)))
		return false;
	double *data = api_job_array(job, n, sizeof(*data));
	if (!data ||
	    !api_job_core(job, fric_position_jacobian_csr(&job->context, derivation, pattern, data, &error), &error))
		return false;
	if (places)
		api_render_places(r, jacobian, fric_pattern_indptr(pattern), n_rows, fric_pattern_indices(pattern), n);
	api_render_add(r, jacobian, "data", api_render_array(r, API_F64, data, n, 0, 0));
	return true;
}

bool api_evaluate_position_jacobian(struct api_job *job)
{
	static bool (*const assemble[])(struct api_job *, const struct fric_derivation *, json_t *) = {csr, triplets};
	const struct api_question *q = &job->question;
	struct api_render *r = &job->render;
	struct fric_derivation derivation;
	if (!q->outputs[API_POSITION_JACOBIAN])
		return true;
	if ((job->set && !api_job_open_set(job)) || !api_derivation_of(job, &derivation))
		return false;
	json_t *jacobian = api_render_add(r, r->document.root, "position_jacobian", json_object());
	int64_t *shape = api_job_array(job, 2, sizeof(*shape));
	if (!shape || !jacobian)
		return false;
	shape[0] = (int64_t)api_job_n_dofs(job);
	shape[1] = (int64_t)(job->facts.n_vertices * job->facts.dim);
	api_render_add(r, jacobian, "format", json_string(api_jacobian_formats[q->jacobian_format]));
	api_render_add(r, jacobian, "shape", api_render_array(r, API_I64, shape, 2, 0, 0));
	return assemble[q->jacobian_format](job, &derivation, jacobian);
}

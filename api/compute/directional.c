#include "api/compute/outputs.h"

bool api_evaluate_line(struct api_job *job)
{
	const struct api_query *q = &job->query;
	struct api_render *r = &job->render;
	const double *direction = api_job_join(job, q->direction, q->body_direction);
	json_t *line = api_render_add(r, r->document.root, "line", json_object());
	double *potential = api_job_array(job, q->n_steps, sizeof(*potential)),
		   *slope = api_job_array(job, q->n_steps, sizeof(*slope));
	if (job->fault->status || !potential || !slope ||
	    !api_job_core(job, fric_line(&job->context, job->contacts, &job->asked, direction, q->n_steps, q->steps,
	                                 potential, slope, &job->error)))
		return false;
	api_render_add(r, line, "potential", api_render_array(r, API_F64, potential, q->n_steps, 0, 0));
	api_render_add(r, line, "slope", api_render_array(r, API_F64, slope, q->n_steps, 0, 0));
	return true;
}

bool api_evaluate_products(struct api_job *job)
{
	const struct api_query *q = &job->query;
	const size_t ndof = api_job_n_dofs(job), n = q->n_vectors * ndof;
	struct api_render *r = &job->render;
	if (!api_job_fits(job, "vectors", "products", n * sizeof(double)))
		return false;
	double *products = api_job_array(job, n, sizeof(*products));
	if (!products || !api_job_core(job, fric_hessian_products(&job->context, job->contacts, &job->asked,
	                                                          (enum fric_projection)q->projection, q->n_vectors,
	                                                          q->vectors, products, &job->error)))
		return false;
	json_t *rows = ndof ? api_render_array(r, API_F64, products, q->n_vectors, ndof, 0) : json_array();
	rows = api_render_add(r, r->document.root, "hessian_products", rows);
	for (size_t i = 0; i < q->n_vectors && ndof == 0; i++)
		api_render_append(r, rows, api_render_array(r, API_F64, products, 0, 0, 0));
	return true;
}

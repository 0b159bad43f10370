#include "api/compute/finding.h"
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

/* Prepares the pairs of a lagged part that excludes a barrier: only stencils and planes matter. */
static bool prepare_pairs(struct api_job *job)
{
	if (job->set && !api_job_open_set(job))
		return false;
	struct fric_batch batch = job->lagged.batch;
	batch.terms = FRIC_TERM_BARRIER;
	batch.n_bodies = 0;
	if (batch.barrier.dhat == 0)
		batch.barrier = (struct fric_barrier){.dhat = 1, .stiffness = 1};
	if (!api_job_core(job, fric_prepare(&job->context, &batch, &job->own_pairs, &job->error)))
		return false;
	job->pairs = job->own_pairs;
	return true;
}

/* The stencil of a contact at vertices, [k]; NULL with a fault */
static int32_t *stencil(struct api_job *job, enum fric_type type, size_t contact)
{
	const size_t k = (size_t)fric_stencil_size(type);
	if (job->set && !api_job_open_set(job))
		return NULL;
	int32_t *vertices = api_job_array(job, k, sizeof(*vertices));
	for (size_t v = 0; v < k && vertices; v++)
		vertices[v] = job->lagged.batch.groups[type].vertices[contact * k + v];
	return vertices;
}

bool api_evaluate_longest_step(struct api_job *job)
{
	const struct api_query *q = &job->query;
	const double *positions = api_job_current_positions(job);
	struct fric_step step;
	if (positions && job->set && job->set->neighbours)
		return api_step_of_mesh(job, job->set->neighbours->mesh, positions, q->step_direction,
		                        job->set->neighbours->dmin, q->keep);
	if (!positions || (!job->pairs && !prepare_pairs(job)) ||
	    !api_job_core(job, fric_longest_step(&job->context, job->pairs, positions, q->step_direction, q->keep, &step,
	                                         &job->error)))
		return false;
	const bool limited = step.contact >= 0;
	const int32_t *vertices = limited ? stencil(job, step.group, (size_t)step.contact) : NULL;
	if (limited && !vertices)
		return false;
	api_render_step(job, step.step, step.group, vertices);
	return true;
}

#include "api/routes/directional.h"

bool api_evaluate_line(struct api_job *job)
{
	const struct api_question *q = &job->question;
	struct api_render *r = &job->render;
	struct fric_error error;
	if (!q->outputs[API_LINE])
		return true;
	json_t *line = api_render_add(r, r->document.root, "line", json_object());
	double *potential = api_job_array(job, q->n_steps, sizeof(*potential)),
		   *slope = api_job_array(job, q->n_steps, sizeof(*slope));
	if (!potential || !slope ||
	    !api_job_core(job,
	                  fric_line(&job->context, job->contacts, &job->asked, q->direction, q->n_steps, q->steps,
	                            potential, slope, &error),
	                  &error))
		return false;
	api_render_add(r, line, "potential", api_render_array(r, API_F64, potential, q->n_steps, 0, 0));
	api_render_add(r, line, "slope", api_render_array(r, API_F64, slope, q->n_steps, 0, 0));
	return true;
}

#include "api/compute/steps.h"

#include "api/compute/outputs.h"

static bool evaluate_sums(struct api_job *job)
{
	const struct api_query *q = &job->query;
	const size_t ndof = api_job_n_dofs(job);
	json_t *root = job->render.document.root;
	double potential = 0, *gradient = q->outputs[API_GRADIENT] ? api_job_array(job, ndof, sizeof(double)) : NULL;
	if (q->outputs[API_GRADIENT] && !gradient)
		return false;
	if (!api_job_core(job, fric_evaluate(&job->context, job->contacts, &job->asked,
	                                     q->outputs[API_POTENTIAL] ? &potential : NULL, gradient, &job->error)))
		return false;
	if (q->outputs[API_POTENTIAL])
		api_render_number(&job->render, root, "potential", potential);
	if (gradient)
		api_render_gradient(job, root, gradient);
	return true;
}

/* An output of one group as an array of its documented shape; NULL after a fault. */
static json_t *group_output(struct api_job *job, enum fric_type type, enum fric_output output)
{
	const size_t n = fric_group_size(job->contacts, type), d = (size_t)fric_dim(job->contacts);
	const size_t lengths[API_N_LENGTHS] = {
		[API_DIM] = d, [API_TANGENTS] = d - 1, [API_POINT] = (size_t)fric_closest_point_size(type)};
	const enum api_length *shape = api_output_rules[output].shape;
	const size_t inner = lengths[shape[1]], innermost = lengths[shape[2]];
	double *out = api_job_array(job, n * (inner ? inner : 1) * (innermost ? innermost : 1), sizeof(*out));
	if (!out || !api_job_output(job, type, output, out))
		return NULL;
	if (api_output_rules[output].kind != API_INDICES)
		return api_render_array(&job->render, API_F64, out, n, inner, innermost);
	int32_t *integers = api_job_array(job, n, sizeof(*integers));
	for (size_t i = 0; i < n && integers; i++)
		integers[i] = (int32_t)out[i];
	return integers ? api_render_array(&job->render, API_I32, integers, n, 0, 0) : NULL;
}

/* Whether the group has the output, which belongs to one of the terms. */
static bool has_output(const struct api_job *job, enum fric_type type, enum fric_output output)
{
	const bool of_barrier = output >= FRIC_OUT_CURRENT_FEATURE && output <= FRIC_OUT_BARRIER_FORCE;
	const unsigned term = of_barrier ? FRIC_TERM_BARRIER : FRIC_TERM_FRICTION;
	return (job->query.terms & term) && fric_has_output(job->contacts, type, output);
}

static bool evaluate_group(struct api_job *job, enum fric_type type, json_t *collisions)
{
	json_t *group = api_render_add(&job->render, collisions, fric_type_name(type), json_object());
	for (int output = 0; output < FRIC_N_OUTPUTS; output++) {
		const enum fric_output o = (enum fric_output)output;
		if (!job->query.collision_outputs[o] || !has_output(job, type, o))
			continue;
		json_t *values = group_output(job, type, o);
		if (!values)
			return false;
		api_render_add(&job->render, group, api_output_rules[o].name, values);
	}
	return true;
}

static bool evaluate_collisions(struct api_job *job)
{
	json_t *collisions = api_render_add(&job->render, job->render.document.root, "collisions", json_object());
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		if (job->facts.has_group[type] && !evaluate_group(job, type, collisions))
			return false;
	return true;
}

/* The functions that compute the outputs, by enum api_evaluate_output, and variants for outputs that need only
 * contacts. Sums come first, in one pass. */
static const struct {
	bool (*compute)(struct api_job *job);
	unsigned contact_ns;
	bool is_matrix;
} outputs[API_N_EVALUATE_OUTPUTS] = {
	[API_HESSIAN] = {.compute = api_evaluate_hessian, .is_matrix = true},
	[API_COLLISIONS] = {.compute = evaluate_collisions},
	[API_LINE] = {.compute = api_evaluate_line},
	[API_HESSIAN_PRODUCTS] = {.compute = api_evaluate_products},
	[API_POSITION_JACOBIAN] = {api_evaluate_position_jacobian, API_COST_DERIVATIVES, true},
	[API_LONGEST_STEP] = {api_evaluate_longest_step, API_COST_LONGEST_STEP, false},
};

static bool evaluate(struct api_job *job)
{
	api_job_counts(job);
	if (!evaluate_sums(job))
		return false;
	for (int i = 0; i < API_N_EVALUATE_OUTPUTS; i++)
		if (job->query.outputs[i] && outputs[i].compute && !outputs[i].compute(job))
			return false;
	api_job_skipped(job);
	return true;
}

static size_t n_collision_outputs(const struct api_query *q)
{
	size_t n = 0;
	for (int output = 0; output < FRIC_N_OUTPUTS; output++)
		n += q->collision_outputs[output];
	return q->outputs[API_COLLISIONS] ? n : 0;
}

static void weigh(const struct api_job *job, struct api_work *work)
{
	enum { NUMBERS_OF_OUTPUT = 3 };
	const struct api_query *q = &job->query;
	api_job_weigh(job, work);
	const size_t dim = api_job_dim(job), ndof = api_n_dofs(dim, work->n_vertices, work->n_bodies);
	for (int i = 0; i < API_N_EVALUATE_OUTPUTS; i++) {
		work->contact_ns += q->outputs[i] ? outputs[i].contact_ns : 0;
		if (q->outputs[i] && outputs[i].is_matrix)
			api_work_add_matrix(work, dim);
	}
	if (q->terms & FRIC_TERM_BARRIER)
		work->contact_ns += API_COST_BARRIER;
	if ((q->terms & FRIC_TERM_BARRIER) && (q->outputs[API_HESSIAN] || q->outputs[API_HESSIAN_PRODUCTS]))
		work->contact_ns += API_COST_BLOCK;
	if (q->outputs[API_LONGEST_STEP] && job->set && job->set->neighbours)
		work->pairs_ns += API_COST_LONGEST_STEP * (uint64_t)job->set->neighbours->n_primitives;
	if (api_job_opens_set(job))
		api_work_add_document(work, job->set);
	work->contact_ns += API_COST_STEP * q->n_steps + API_COST_PRODUCT * q->n_vectors;
	work->n_numbers += 2 * q->n_steps + (uint64_t)q->n_vectors * ndof +
	                   NUMBERS_OF_OUTPUT * n_collision_outputs(q) * api_work_contacts(work);
}

const struct api_steps api_evaluate = {api_job_decode, api_job_prepare, evaluate, weigh, true};

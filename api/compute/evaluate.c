#include "api/compute/evaluate.h"

#include "api/compute/directional.h"
#include "api/compute/jacobian.h"
#include "api/compute/job.h"

static bool evaluate_sums(struct api_job *job)
{
	const struct api_question *q = &job->question;
	const size_t ndof = api_job_n_dofs(job);
	struct fric_error error;
	json_t *root = job->render.document.root;
	double potential = 0, *gradient = q->outputs[API_GRADIENT] ? api_job_array(job, ndof, sizeof(double)) : NULL;
	if (q->outputs[API_GRADIENT] && !gradient)
		return false;
	if (!api_job_core(job,
	                  fric_evaluate(&job->context, job->contacts, &job->asked,
	                                q->outputs[API_POTENTIAL] ? &potential : NULL, gradient, &error),
	                  &error))
		return false;
	if (q->outputs[API_POTENTIAL])
		api_render_number(&job->render, root, "potential", potential);
	if (gradient)
		api_render_gradient(job, root, gradient);
	return true;
}

/* Refused before anything is computed. The pointer leads to the format, or to where its object would be. */
static bool check_hessian_size(struct api_job *job, size_t bytes)
{
	const struct api_field root = {.node = job->document.root},
						   hessian = api_ruled(&root, &api_request, API_REQUEST_HESSIAN),
						   format = api_ruled(&hessian, &api_hessian, API_HESSIAN_FORMAT);
	if (bytes <= job->service->max_answer_bytes)
		return true;
	return api_fault_at(job->fault, API_E_ANSWER_TOO_LONG, hessian.node ? &format.path : &hessian.path,
	                    "the Hessian would take %zu bytes, the limit is %zu:"
	                    " use \"factors\", or fewer contacts in a request",
	                    bytes, job->service->max_answer_bytes);
}

/* Of all contacts, in order; NULL after a fault. */
static double *inner_matrices(struct api_job *job)
{
	const struct api_question *q = &job->question;
	struct fric_error error;
	double *inner = api_job_array(job, fric_n_inner(job->contacts), sizeof(*inner));
	if (!inner || !api_job_core(job,
	                            fric_hessian_inner(&job->context, job->contacts, &job->asked,
	                                               (enum fric_projection)q->projection, inner, &error),
	                            &error))
		return NULL;
	return inner;
}

static bool triplets(struct api_job *job, json_t *hessian)
{
	const enum fric_triangle triangle = (enum fric_triangle)job->question.triangle;
	const bool places = !job->question.without_pattern;
	const size_t n = fric_n_triplets(job->contacts, triangle);
	struct api_render *r = &job->render;
	struct fric_error error;
	int32_t *rows = NULL, *cols = NULL;
	if (!check_hessian_size(job, n * ((places ? 2 * sizeof(int32_t) : 0) + sizeof(double))))
		return false;
	if (places && (!(rows = api_job_array(job, n, sizeof(*rows))) || !(cols = api_job_array(job, n, sizeof(*cols)))))
		return false;
	double *values = api_job_array(job, n, sizeof(*values)), *inner = inner_matrices(job);
	if (!values || !inner ||
	    !api_job_core(job,
	                  fric_hessian_triplets(&job->context, job->contacts, inner, triangle, rows, cols, values, &error),
	                  &error))
		return false;
	if (places) {
		api_render_add(r, hessian, "rows", api_render_array(r, API_I32, rows, n, 0, 0));
		api_render_add(r, hessian, "cols", api_render_array(r, API_I32, cols, n, 0, 0));
	}
	api_render_add(r, hessian, "values", api_render_array(r, API_F64, values, n, 0, 0));
	return true;
}

/* Of csr and bsr, unless values alone are wanted. */
static void add_places(struct api_job *job, json_t *hessian, const int64_t *indptr, size_t n_rows,
                       const int32_t *indices, size_t n)
{
	if (!job->question.without_pattern)
		api_render_places(&job->render, hessian, indptr, n_rows, indices, n);
}

/* Refused before values are computed. @param numbers  of an entry, or of a block */
static bool check_rows_size(struct api_job *job, size_t n_rows, size_t n, size_t numbers)
{
	const bool places = !job->question.without_pattern;
	return check_hessian_size(job, n * ((places ? sizeof(int32_t) : 0) + numbers * sizeof(double)) +
	                                   (places ? n_rows * sizeof(int64_t) : 0));
}

static bool csr(struct api_job *job, json_t *hessian)
{
	const struct fric_pattern *pattern = api_job_pattern(job, job->question.triangle);
	struct api_render *r = &job->render;
	struct fric_error error;
	if (!pattern)
		return false;
	const size_t n = fric_pattern_n_entries(pattern), n_rows = fric_pattern_n_rows(pattern);
	if (!check_rows_size(job, n_rows, n, 1))
		return false;
	double *data = api_job_array(job, n, sizeof(*data)), *inner = inner_matrices(job);
	if (!data || !inner ||
	    !api_job_core(job, fric_hessian_csr(&job->context, job->contacts, inner, pattern, data, &error), &error))
		return false;
	add_places(job, hessian, fric_pattern_indptr(pattern), n_rows, fric_pattern_indices(pattern), n);
	api_render_add(r, hessian, "data", api_render_array(r, API_F64, data, n, 0, 0));
	return true;
}

static bool bsr(struct api_job *job, json_t *hessian)
{
	const struct fric_pattern *pattern = api_job_pattern(job, job->question.triangle);
	const size_t dim = (size_t)fric_dim(job->contacts);
	struct api_render *r = &job->render;
	struct api_blocks blocks;
	struct fric_error error;
	if (!pattern || !check_rows_size(job, fric_n_vertices(job->contacts), fric_pattern_n_blocks(pattern), dim * dim) ||
	    !api_job_blocks(job, pattern, !job->question.without_pattern, &blocks))
		return false;
	double *data = api_job_array(job, blocks.n * dim * dim, sizeof(*data)), *inner = inner_matrices(job);
	if (!data || !inner ||
	    !api_job_core(job, fric_hessian_bsr(&job->context, job->contacts, inner, pattern, blocks.indptr, data, &error),
	                  &error))
		return false;
	add_places(job, hessian, blocks.indptr, blocks.n_rows, blocks.indices, blocks.n);
	api_render_add(r, hessian, "data", api_render_array(r, API_F64, data, blocks.n, dim, dim));
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
	struct fric_error error;
	double *out = api_job_array(job, n * (inner ? inner : 1) * (innermost ? innermost : 1), sizeof(*out));
	if (!out ||
	    !api_job_core(job, fric_contact_output(&job->context, job->contacts, &job->asked, type, output, out, &error),
	                  &error))
		return NULL;
	if (output != FRIC_OUT_STATUS)
		return api_render_array(&job->render, API_F64, out, n, inner, innermost);
	int32_t *status = api_job_array(job, n, sizeof(*status));
	for (size_t i = 0; i < n && status; i++)
		status[i] = (int32_t)out[i];
	return status ? api_render_array(&job->render, API_I32, status, n, 0, 0) : NULL;
}

/* Components of the slip of bodies. */
static size_t body_slip(size_t dim)
{
	return dim == 3 ? 5 : 2;
}

static bool allocate_body_factors(struct api_job *job, struct fric_factors *factors)
{
	const size_t dim = job->facts.dim, inner = (size_t)fric_body_inner_size((int)dim);
	for (enum fric_type type = FRIC_N_VERTEX_TYPES; type < FRIC_N_TYPES; type++) {
		const size_t n = fric_group_size(job->contacts, type), k = (size_t)fric_stencil_size(type);
		factors->jacobian[type] = api_job_array(job, n * body_slip(dim) * k * api_twist(dim), sizeof(double));
		factors->inner[type] = api_job_array(job, n * inner, sizeof(double));
		if (!factors->jacobian[type] || !factors->inner[type])
			return false;
	}
	return true;
}

static bool allocate_factors(struct api_job *job, struct fric_factors *factors)
{
	const int dim = fric_dim(job->contacts);
	*factors = (struct fric_factors){0};
	const bool *has = job->facts.has_group;
	if ((has[FRIC_BODY_BODY] || has[FRIC_BODY_WORLD]) && !allocate_body_factors(job, factors))
		return false;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const size_t n = fric_group_size(job->contacts, type);
		factors->weights[type] = api_job_array(job, n * (size_t)fric_stencil_size(type), sizeof(double));
		factors->tangent_basis[type] = api_job_array(job, n * (size_t)(dim * (dim - 1)), sizeof(double));
		factors->inner[type] = api_job_array(job, n * (size_t)fric_inner_size(dim), sizeof(double));
		if (!factors->weights[type] || !factors->tangent_basis[type] || !factors->inner[type])
			return false;
	}
	return true;
}

static void add_factors(struct api_job *job, enum fric_type type, const struct fric_factors *factors, json_t *hessian)
{
	const size_t n = fric_group_size(job->contacts, type), k = (size_t)fric_stencil_size(type);
	const size_t d = (size_t)fric_dim(job->contacts), m = (size_t)fric_inner_size((int)d);
	struct api_render *r = &job->render;
	json_t *group = api_render_add(r, hessian, fric_type_name(type), json_object());
	api_render_add(r, group, "weights", api_render_array(r, API_F64, factors->weights[type], n, k, 0));
	api_render_add(r, group, "tangent_basis", api_render_array(r, API_F64, factors->tangent_basis[type], n, d, d - 1));
	api_render_add(r, group, "inner", api_render_array(r, API_F64, factors->inner[type], n, m, 0));
}

static void add_body_factors(struct api_job *job, enum fric_type type, const struct fric_factors *factors,
                             json_t *hessian)
{
	const size_t n = fric_group_size(job->contacts, type), dim = job->facts.dim,
				 inner = (size_t)fric_body_inner_size((int)dim);
	struct api_render *r = &job->render;
	json_t *group = api_render_add(r, hessian, fric_type_name(type), json_object());
	api_render_add(r, group, "jacobian",
	               api_render_array(r, API_F64, factors->jacobian[type], n, body_slip(dim),
	                                (size_t)fric_stencil_size(type) * api_twist(dim)));
	api_render_add(r, group, "inner", api_render_array(r, API_F64, factors->inner[type], n, inner, 0));
}

static bool factors(struct api_job *job, json_t *hessian)
{
	const struct api_question *q = &job->question;
	struct fric_factors all;
	struct fric_error error;
	if (!allocate_factors(job, &all) ||
	    !api_job_core(job,
	                  fric_hessian_factors(&job->context, job->contacts, &job->asked,
	                                       (enum fric_projection)q->projection, &all, &error),
	                  &error))
		return false;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		if (job->facts.has_group[type])
			(type < FRIC_N_VERTEX_TYPES ? add_factors : add_body_factors)(job, type, &all, hessian);
	return true;
}

static bool evaluate_hessian(struct api_job *job)
{
	static bool (*const assemble[])(struct api_job *, json_t *) = {triplets, csr, bsr, factors};
	const struct api_question *q = &job->question;
	if (!q->outputs[API_HESSIAN])
		return true;
	json_t *hessian = api_render_add(&job->render, job->render.document.root, "hessian", json_object());
	int64_t *shape = api_job_array(job, 2, sizeof(*shape));
	if (!shape || !hessian)
		return false;
	shape[0] = shape[1] = (int64_t)api_job_n_dofs(job);
	api_render_add(&job->render, hessian, "format", json_string(api_hessian_formats[q->format]));
	api_render_add(&job->render, hessian, "shape", api_render_array(&job->render, API_I64, shape, 2, 0, 0));
	return assemble[q->format](job, hessian);
}

static bool evaluate_group(struct api_job *job, enum fric_type type, json_t *collisions)
{
	json_t *group = api_render_add(&job->render, collisions, fric_type_name(type), json_object());
	for (int output = 0; output < FRIC_N_OUTPUTS; output++) {
		const enum fric_output o = (enum fric_output)output;
		if (!job->question.collision_outputs[o] || !fric_has_output(job->contacts, type, o))
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
	if (!job->question.outputs[API_COLLISIONS])
		return true;
	json_t *collisions = api_render_add(&job->render, job->render.document.root, "collisions", json_object());
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		if (job->facts.has_group[type] && !evaluate_group(job, type, collisions))
			return false;
	return true;
}

static bool evaluate(struct api_job *job)
{
	api_job_counts(job);
	if (!evaluate_sums(job) || !evaluate_hessian(job) || !evaluate_collisions(job) || !api_evaluate_line(job) ||
	    !api_evaluate_products(job) || !api_evaluate_position_jacobian(job))
		return false;
	api_job_skipped(job);
	return true;
}

static size_t n_collision_outputs(const struct api_question *q)
{
	size_t n = 0;
	for (int output = 0; output < FRIC_N_OUTPUTS; output++)
		n += q->collision_outputs[output];
	return q->outputs[API_COLLISIONS] ? n : 0;
}

static void weigh(const struct api_job *job, struct api_work *work)
{
	enum { NUMBERS_OF_OUTPUT = 3 };
	const struct api_question *q = &job->question;
	api_job_weigh(job, work);
	const size_t dim = api_job_dim(job), ndof = api_n_dofs(dim, work->n_vertices, work->n_bodies);
	if (q->outputs[API_HESSIAN])
		api_work_add_matrix(work, dim);
	if (q->outputs[API_POSITION_JACOBIAN]) {
		work->contact_ns += API_COST_DERIVATIVES;
		api_work_add_matrix(work, dim);
	}
	work->contact_ns += API_COST_STEP * q->n_steps + API_COST_PRODUCT * q->n_vectors;
	work->n_numbers += 2 * q->n_steps + (uint64_t)q->n_vectors * ndof +
	                   NUMBERS_OF_OUTPUT * n_collision_outputs(q) * api_work_contacts(work);
}

const struct api_steps api_evaluate_whole = {api_job_decode_whole, api_job_prepare_whole, evaluate, weigh},
					   api_evaluate_set = {api_job_decode_question, api_job_prepare_question, evaluate, weigh};

#include "api/compute/outputs.h"

#include <string.h>

static bool fill_triplets(struct api_job *job, const double *inner, const struct api_entries *e)
{
	return api_job_core(job, fric_hessian_triplets(&job->context, job->contacts, inner,
	                                               (enum fric_triangle)job->query.triangle, e->rows, e->cols,
	                                               e->numbers, &job->error));
}

static bool fill(struct api_job *job, const struct api_entries *e)
{
	const struct fric_contacts *contacts = job->contacts;
	double *inner = api_job_array(job, fric_n_inner(contacts), sizeof(*inner));
	if (!inner ||
	    !api_job_core(job, fric_hessian_inner(&job->context, contacts, &job->asked,
	                                          (enum fric_projection)job->query.projection, inner, &job->error)))
		return false;
	if (!e->pattern)
		return fill_triplets(job, inner, e);
	return api_job_core(
		job, e->indptr
				 ? fric_hessian_bsr(&job->context, contacts, inner, e->pattern, e->indptr, e->numbers, &job->error)
				 : fric_hessian_csr(&job->context, contacts, inner, e->pattern, e->numbers, &job->error));
}

/* Computes the places of triplets. The core fills in their values, too, which are not needed here. */
static bool fill_places(struct api_job *job, const struct api_entries *e)
{
	const size_t n = fric_n_inner(job->contacts);
	double *inner = api_job_array(job, n, sizeof(*inner));
	return inner && fill_triplets(job, memset(inner, 0, n * sizeof(*inner)), e);
}

/* The number of slip components of a contact of bodies. */
static size_t body_slip(size_t dim)
{
	return dim == 3 ? 5 : 2;
}

static bool allocate_factors(struct api_job *job, struct fric_factors *factors)
{
	const size_t d = job->facts.dim, of_vertices = (size_t)fric_inner_size((int)d),
				 of_bodies = (size_t)fric_body_inner_size((int)d);
	*factors = (struct fric_factors){0};
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		const size_t n = fric_group_size(job->contacts, type), k = (size_t)fric_stencil_size(type);
		const bool at_vertices = type < FRIC_N_VERTEX_TYPES;
		double **arms = at_vertices ? &factors->weights[type] : &factors->jacobian[type];
		*arms = api_job_array(job, n * k * (at_vertices ? 1 : body_slip(d) * api_twist(d)), sizeof(double));
		factors->inner[type] = api_job_array(job, n * (at_vertices ? of_vertices : of_bodies), sizeof(double));
		if (at_vertices)
			factors->tangent_basis[type] = api_job_array(job, n * d * (d - 1), sizeof(double));
		if (!*arms || !factors->inner[type] || (at_vertices && !factors->tangent_basis[type]))
			return false;
	}
	return true;
}

static void add_factors(struct api_job *job, enum fric_type type, const struct fric_factors *factors, json_t *hessian)
{
	const size_t n = fric_group_size(job->contacts, type), k = (size_t)fric_stencil_size(type), d = job->facts.dim;
	const bool at_vertices = type < FRIC_N_VERTEX_TYPES;
	struct api_render *r = &job->render;
	json_t *group = api_render_add(r, hessian, fric_type_name(type), json_object());
	if (at_vertices) {
		api_render_add(r, group, "weights", api_render_array(r, API_F64, factors->weights[type], n, k, 0));
		api_render_add(r, group, "tangent_basis",
		               api_render_array(r, API_F64, factors->tangent_basis[type], n, d, d - 1));
	} else {
		api_render_add(r, group, "jacobian",
		               api_render_array(r, API_F64, factors->jacobian[type], n, body_slip(d), k * api_twist(d)));
	}
	const size_t inner = (size_t)(at_vertices ? fric_inner_size : fric_body_inner_size)((int)d);
	api_render_add(r, group, "inner", api_render_array(r, API_F64, factors->inner[type], n, inner, 0));
}

static bool factors(struct api_job *job, json_t *hessian)
{
	const struct api_query *q = &job->query;
	struct fric_factors all;
	if (!allocate_factors(job, &all) ||
	    !api_job_core(job, fric_hessian_factors(&job->context, job->contacts, &job->asked,
	                                            (enum fric_projection)q->projection, &all, &job->error)))
		return false;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		if (job->facts.has_group[type])
			add_factors(job, type, &all, hessian);
	return true;
}

bool api_evaluate_hessian(struct api_job *job)
{
	const struct api_query *q = &job->query;
	const struct api_matrix matrix = {
		.n_cols = api_job_n_dofs(job),
		.n_triplets = fric_n_triplets(job->contacts, (enum fric_triangle)q->triangle),
		.places = q->triangle,
		.without_places = q->without_pattern,
		.fill = fill,
		.choice = API_REQUEST_HESSIAN,
		.name = "Hessian",
		.advice = "\"factors\", or ",
	};
	json_t *hessian = api_render_add(&job->render, job->render.document.root, "hessian", json_object());
	const char *format = api_hessian_formats[q->format];
	if (q->format == API_FACTORS)
		return api_render_shape(job, format, matrix.n_cols, hessian) && factors(job, hessian);
	return api_render_matrix(job, &matrix, format, hessian);
}

bool api_render_hessian_places(struct api_job *job, const char *format, json_t *object)
{
	const struct api_matrix matrix = {
		.n_cols = api_job_n_dofs(job),
		.n_triplets = fric_n_triplets(job->contacts, (enum fric_triangle)job->query.triangle),
		.places = job->query.triangle,
		.without_numbers = true,
		.fill = fill_places,
	};
	return api_render_matrix(job, &matrix, format, object);
}

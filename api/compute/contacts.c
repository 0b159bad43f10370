/* Steps of /v1/contacts. */
#include "api/compute/finding.h"
#include "api/compute/steps.h"
#include "api/problem.h"

void api_finding_release(struct api_finding *f)
{
	fric_contacts_free(f->pairs);
	fric_found_free(f->found);
	fric_mesh_free(f->mesh);
}

static bool decode(struct api_job *job)
{
	struct api_finding *f = job->more;
	struct api_check check = api_job_check(job);
	return api_job_read(job) && api_check_contacts(&check, &f->request);
}

static bool found(struct api_job *job, enum fric_code code)
{
	return code == FRIC_OK || api_fault_finding(job->fault, &job->error, api_job_most_pairs(job));
}

static bool make_mesh(struct api_job *job)
{
	const struct api_path root = {0}, weighting = {&root, "weighting", 0};
	struct api_finding *f = job->more;
	if (!found(job, fric_mesh_create(&job->context, &f->request.surface, &f->mesh, &job->error)))
		return false;
	return f->request.finding.weighting != FRIC_WEIGHT_AREA || fric_mesh_n_rods(f->mesh) == 0 ||
	       api_fault_at(job->fault, API_E_CONFLICTING_FIELDS, &weighting,
	                    "edges of no face have no area: leave them out of \"edges\" of the mesh");
}

static bool find(struct api_job *job)
{
	struct api_finding *f = job->more;
	const struct api_contacts_request *q = &f->request;
	struct fric_finding finding = q->finding;
	finding.most = api_job_most_pairs(job);
	if (!q->has_mesh)
		return found(job, fric_find_candidates(&job->context, (int)q->dim, q->n_vertices, q->positions, q->candidates,
		                                       &finding, &f->found, &job->error));
	return make_mesh(job) &&
	       found(job, fric_find(&job->context, f->mesh, q->positions, &finding, &f->found, &job->error));
}

/* ---- the longest step ---- */

static bool step_of_mesh(struct api_job *job)
{
	const struct api_finding *f = job->more;
	const struct api_contacts_request *q = &f->request;
	return api_step_of_mesh(job, f->mesh, q->positions, q->step_direction, q->finding.min_distance, q->keep);
}

/* Points to the candidate. */
static bool fault_candidate(struct api_job *job)
{
	const struct api_path root = {0}, candidates = {&root, "candidates", 0},
						  group = {&candidates, fric_type_name(job->error.group), 0},
						  vertices = {&group, "vertices", 0}, at = {&vertices, NULL, (size_t)job->error.contact};
	return api_fault_at(job->fault, API_E_PENETRATION, &at,
	                    "penetration: the distance is not larger than \"min_distance\"");
}

static bool step_of_candidates(struct api_job *job)
{
	struct api_finding *f = job->more;
	const struct api_contacts_request *q = &f->request;
	struct fric_batch batch = {.dim = (int)q->dim,
	                           .n_vertices = q->n_vertices,
	                           .barrier = {.dhat = 1, .stiffness = 1, .dmin = q->finding.min_distance},
	                           .terms = FRIC_TERM_BARRIER};
	struct fric_step step;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		batch.groups[type] = q->candidates[type];
	enum fric_code code = fric_prepare(&job->context, &batch, &f->pairs, &job->error);
	if (code == FRIC_OK)
		code = fric_longest_step(&job->context, f->pairs, q->positions, q->step_direction, q->keep, &step, &job->error);
	if (code == FRIC_E_PENETRATION)
		return fault_candidate(job);
	if (!found(job, code))
		return false;
	const size_t k = (size_t)fric_stencil_size(step.group);
	const int32_t *limit = step.contact < 0 ? NULL : q->candidates[step.group].vertices + (size_t)step.contact * k;
	api_render_step(job, step.step, step.group, limit);
	return true;
}

/* ---- the answer ---- */

/* Hands the anchors of earlier contacts over to the groups. */
static bool carry(struct api_job *job, struct fric_group groups[FRIC_N_VERTEX_TYPES])
{
	const struct api_finding *f = job->more;
	const struct api_contacts_request *q = &f->request;
	double *anchors[FRIC_N_VERTEX_TYPES] = {0};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		if (groups[type].n && !(anchors[type] = api_job_array(job, groups[type].n * q->dim, sizeof(double))))
			return false;
	if (!found(job, fric_carry_anchors(&job->context, (int)q->dim, q->n_vertices, q->positions, q->previous, groups,
	                                   anchors, &job->error)))
		return false;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		groups[type].anchor = (struct fric_values){anchors[type], q->dim};
	return true;
}

static bool answer_collisions(struct api_job *job)
{
	const struct api_finding *f = job->more;
	const struct api_contacts_request *q = &f->request;
	const struct fric_group *of_planes = &q->candidates[FRIC_PLANE_VERTEX];
	const struct api_found_planes planes =
		q->has_mesh ? (struct api_found_planes){{q->surface.plane_normals, q->dim}, {q->surface.plane_origins, q->dim}}
					: (struct api_found_planes){of_planes->plane_normal, of_planes->plane_origin};
	struct fric_group groups[FRIC_N_VERTEX_TYPES];
	if (!api_found_groups(&job->arena, q->dim, f->found, &planes, groups, job->fault) ||
	    (q->has_previous && !carry(job, groups)))
		return false;
	api_render_found(job, q->dim, groups, q->has_previous);
	return true;
}

static bool answer(struct api_job *job)
{
	struct api_finding *f = job->more;
	const struct api_contacts_request *q = &f->request;
	api_render_found_counts(job, q->n_vertices, f->found);
	if (q->outputs[API_FOUND_COLLISIONS] && !answer_collisions(job))
		return false;
	if (q->outputs[API_FOUND_DISTANCES])
		api_render_found_distances(job, q->dim, f->found);
	if (q->outputs[API_FOUND_LONGEST_STEP] && !(q->has_mesh ? step_of_mesh : step_of_candidates)(job))
		return false;
	api_render_lend_found(job, &f->found);
	return true;
}

static void weigh(const struct api_job *job, struct api_work *work)
{
	const struct api_finding *f = job->more;
	const struct api_contacts_request *q = &f->request;
	const uint64_t pair_ns = API_COST_PAIR + (q->outputs[API_FOUND_LONGEST_STEP] ? API_COST_LONGEST_STEP : 0);
	work->n_vertices = q->n_vertices;
	work->contact_ns = pair_ns;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		work->n_contacts[type] = q->candidates[type].n + q->previous[type].n;
		work->n_numbers += (uint64_t)(fric_stencil_size(type) + 2) * q->candidates[type].n;
	}
	api_work_add_mesh(work, &q->surface, pair_ns);
}

const struct api_steps api_finding_steps = {decode, find, answer, weigh, false};

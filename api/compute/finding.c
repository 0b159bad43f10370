#include "api/compute/finding.h"

#include <string.h>

#include "api/problem.h"

void api_render_found_counts(struct api_job *job, size_t n_vertices, const struct fric_found *found)
{
	json_t *root = job->render.document.root;
	size_t n = 0;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		n += fric_found_of(found, type).n;
	api_render_integer(&job->render, root, "n_vertices", (int64_t)n_vertices);
	api_render_integer(&job->render, root, "n_collisions", (int64_t)n);
	if (n > 0)
		api_render_number(&job->render, root, "min_distance", fric_found_min_distance(found));
	else
		api_render_add(&job->render, root, "min_distance", json_null());
}

/* Adds an array with n rows of `width` numbers; width 0: n numbers. Arrays of empty groups may be NULL. */
static void add(struct api_render *r, json_t *object, const char *name, enum api_dtype dtype, const void *rows,
                size_t n, size_t width)
{
	static const double none[1];
	api_render_add(r, object, name, api_render_finite(r, api_render_array(r, dtype, n ? rows : none, n, width, 0)));
}

static void render_group(struct api_job *job, size_t dim, enum fric_type type, const struct fric_group *g,
                         bool has_anchors, json_t *collisions)
{
	struct api_render *r = &job->render;
	const size_t k = (size_t)fric_stencil_size(type);
	json_t *object = api_render_add(r, collisions, fric_type_name(type), json_object());
	add(r, object, "vertices", API_I32, g->vertices, g->n, k == 1 ? 0 : k);
	add(r, object, "weight", API_F64, g->weight.data, g->n, 0);
	if (type == FRIC_EDGE_EDGE)
		add(r, object, "mollifier", API_F64, g->mollifier.data, g->n, 0);
	if (type == FRIC_PLANE_VERTEX) {
		add(r, object, "plane_normal", API_F64, g->plane_normal.data, g->n, dim);
		add(r, object, "plane_origin", API_F64, g->plane_origin.data, g->n, dim);
	}
	if (has_anchors)
		add(r, object, "anchor", API_F64, g->anchor.data, g->n, dim);
}

void api_render_found(struct api_job *job, size_t dim, const struct fric_group groups[FRIC_N_VERTEX_TYPES],
                      bool has_anchors)
{
	json_t *collisions = api_render_add(&job->render, job->render.document.root, "collisions", json_object());
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		if (api_type_exists(type, dim))
			render_group(job, dim, type, &groups[type], has_anchors, collisions);
}

void api_render_found_distances(struct api_job *job, size_t dim, const struct fric_found *found)
{
	struct api_render *r = &job->render;
	json_t *distances = api_render_add(r, r->document.root, "distances", json_object());
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const struct fric_found_group of = fric_found_of(found, type);
		if (api_type_exists(type, dim))
			add(r, distances, fric_type_name(type), API_F64, of.distance, of.n, 0);
	}
}

static void free_found(void *found)
{
	fric_found_free(found);
}

void api_render_lend_found(struct api_job *job, struct fric_found **found)
{
	api_render_lend(&job->render, *found, free_found);
	*found = NULL;
}

void api_render_step(struct api_job *job, double step, enum fric_type type, const int32_t *vertices)
{
	struct api_render *r = &job->render;
	const size_t k = (size_t)fric_stencil_size(type);
	json_t *object = api_render_add(r, r->document.root, "longest_step", json_object());
	api_render_number(r, object, "step", step);
	api_render_add(r, object, "group", vertices ? json_string(fric_type_name(type)) : json_null());
	api_render_add(r, object, "vertices", vertices ? api_render_array(r, API_I32, vertices, k, 0, 0) : json_null());
}

/* Reports a pair that touches at the start; a mesh has no stencils to point to. */
static bool fault_penetration(struct api_job *job, int32_t vertex, enum fric_type group)
{
	const struct api_path root = {0}, positions = {&root, "positions", 0}, at = {&positions, NULL, (size_t)vertex};
	return api_fault_at(job->fault, API_E_PENETRATION, &at,
	                    "penetration: the distance of a pair (%s) with this vertex is not larger than the minimum",
	                    fric_type_name(group));
}

bool api_step_of_mesh(struct api_job *job, const struct fric_mesh *mesh, const double *positions,
                      const double *direction, double min_distance, double keep)
{
	struct fric_mesh_step step;
	const enum fric_code code =
		fric_mesh_longest_step(&job->context, mesh, positions, direction, min_distance, keep, &step, &job->error);
	if (code == FRIC_E_PENETRATION)
		return fault_penetration(job, step.vertices[0], step.group);
	int32_t *vertices = api_job_array(job, FRIC_MAX_STENCIL, sizeof(*vertices));
	if (code != FRIC_OK || !vertices)
		return code == FRIC_OK ? false : api_fault_finding(job->fault, &job->error, 0);
	memcpy(vertices, step.vertices, sizeof(step.vertices));
	api_render_step(job, step.step, step.group, step.vertices[0] < 0 ? NULL : vertices);
	return true;
}

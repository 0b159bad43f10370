#include "api/sets/neighbours.h"

#include <string.h>

#include "api/base/account.h"
#include "api/problem.h"

/* ---- memory ---- */

static bool keep(struct api_neighbours *s, const double *values, size_t n, double **kept)
{
	if (n == 0)
		return true;
	*kept = api_counted_take(&s->counted, n * sizeof(**kept));
	return *kept && api_account_copy(*kept, values, n * sizeof(**kept));
}

static void give_back(struct api_neighbours *s, void *block, size_t bytes)
{
	if (block)
		api_counted_give(&s->counted, block, bytes);
}

struct api_neighbours *api_neighbours_hold(struct api_neighbours *s)
{
	atomic_fetch_add_explicit(&s->n_holders, 1, memory_order_relaxed);
	return s;
}

static void neighbours_free(struct api_neighbours *s)
{
	struct api_pool *pool = s->counted.pool;
	const size_t row = s->dim * sizeof(double);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		give_back(s, s->anchors[type], s->found ? fric_found_of(s->found, type).n * row : 0);
	fric_found_free(s->found);
	fric_mesh_free(s->mesh);
	give_back(s, s->positions, s->n_vertices * row);
	give_back(s, s->is_in_mesh, s->n_vertices);
	give_back(s, s->normals, s->n_planes * row);
	give_back(s, s->origins, s->n_planes * row);
	api_pool_give(pool, s, sizeof(*s));
}

void api_neighbours_release(struct api_neighbours *s)
{
	if (s && atomic_fetch_sub_explicit(&s->n_holders, 1, memory_order_acq_rel) == 1)
		neighbours_free(s);
}

size_t api_neighbours_bytes(struct api_neighbours *s)
{
	return s ? sizeof(*s) + api_counted_bytes(&s->counted) : 0;
}

/* ---- what is kept of the document ---- */

static bool mark(struct api_neighbours *s, const int32_t *vertices, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i % API_SPAN == 0 && api_account_is_stopped())
			return false;
		s->is_in_mesh[vertices[i]] = 1;
	}
	return true;
}

static bool mark_all(struct api_neighbours *s, const struct fric_surface *surface)
{
	if (s->n_vertices == 0)
		return true;
	s->is_in_mesh = api_counted_take(&s->counted, s->n_vertices);
	return s->is_in_mesh && api_account_zero(s->is_in_mesh, s->n_vertices) &&
	       mark(s, surface->faces, 3 * surface->n_faces) && mark(s, surface->edges, 2 * surface->n_edges) &&
	       mark(s, surface->particles, surface->n_particles);
}

static bool keep_all(struct api_neighbours *s, const struct api_lagged *lagged)
{
	const struct fric_surface *surface = &lagged->surface;
	s->n_planes = surface->n_planes;
	s->n_primitives = 4 * surface->n_faces + surface->n_edges + surface->n_particles;
	s->dhat = lagged->batch.barrier.dhat;
	s->dmin = lagged->batch.barrier.dmin;
	s->margin = lagged->margin;
	return keep(s, lagged->batch.positions, s->n_vertices * s->dim, &s->positions) &&
	       keep(s, surface->plane_normals, s->n_planes * s->dim, &s->normals) &&
	       keep(s, surface->plane_origins, s->n_planes * s->dim, &s->origins) && mark_all(s, surface);
}

/* ---- finding ---- */

size_t api_neighbours_n(const struct api_neighbours *s)
{
	size_t n = 0;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		n += fric_found_of(s->found, type).n;
	return n;
}

static bool find(struct api_neighbours *s, const struct fric_context *context, const struct api_lagged *lagged,
                 size_t most, struct api_fault *fault)
{
	const struct fric_context own = api_counted_context(context, &s->counted);
	const struct fric_finding finding = {.distance = s->dhat + s->margin, .min_distance = s->dmin, .most = most};
	struct fric_error error;
	enum fric_code code = fric_mesh_create(&own, &lagged->surface, &s->mesh, &error);
	if (code == FRIC_OK)
		code = fric_find(&own, s->mesh, s->positions, &finding, &s->found, &error);
	return code == FRIC_OK || api_fault_finding(fault, &error, most);
}

struct api_neighbours *api_neighbours_create(const struct fric_context *context, struct api_pool *pool,
                                             const struct api_lagged *lagged, size_t most, struct api_fault *fault)
{
	struct api_neighbours *s = api_pool_take(pool, sizeof(*s));
	if (!s) {
		api_fault_no_memory(fault);
		return NULL;
	}
	memset(s, 0, sizeof(*s));
	atomic_init(&s->n_holders, 1);
	api_counted_start(&s->counted, pool);
	s->dim = (size_t)lagged->batch.dim;
	s->n_vertices = lagged->batch.n_vertices;
	if (keep_all(s, lagged) ? find(s, context, lagged, most, fault) : api_fault_no_memory(fault))
		return s;
	neighbours_free(s);
	return NULL;
}

bool api_neighbours_suit(const struct api_neighbours *s, const struct api_lagged *lagged)
{
	const struct fric_batch *batch = &lagged->batch;
	return s->dim == (size_t)batch->dim && s->n_vertices == batch->n_vertices && s->dhat == batch->barrier.dhat &&
	       s->dmin == batch->barrier.dmin && s->margin == lagged->margin && s->has_anchors == lagged->anchors;
}

bool api_neighbours_anchor(struct api_neighbours *s, struct api_fault *fault)
{
	s->has_anchors = true;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const size_t n = fric_found_of(s->found, type).n;
		if (n && !keep(s, NULL, n * s->dim, &s->anchors[type]))
			return api_fault_no_memory(fault);
	}
	return true;
}

bool api_neighbours_fault(const struct api_neighbours *s, const struct fric_error *error, struct api_fault *fault)
{
	if (!s || error->contact < 0 || error->code == FRIC_E_MEMORY || error->code == FRIC_E_STOPPED)
		return api_fault_core(fault, error);
	const size_t k = (size_t)fric_stencil_size(error->group);
	return api_fault_in_mesh(fault, error, fric_found_of(s->found, error->group).vertices + (size_t)error->contact * k);
}

/* ---- groups of a batch ---- */

/* Copies the rows of planes to which contacts refer. @return NULL when out of memory, or stopped */
static const double *rows_of(struct api_arena *arena, const struct fric_values *values,
                             const struct fric_found_group *of, size_t dim)
{
	double *rows = api_arena_array(arena, of->n * dim, sizeof(*rows));
	for (size_t i = 0; i < of->n && rows; i++) {
		if (i % API_SPAN == 0 && api_account_is_stopped())
			return NULL;
		memcpy(rows + i * dim, values->data + (size_t)of->plane[i] * values->stride, dim * sizeof(*rows));
	}
	return rows;
}

static bool add_planes(struct api_arena *arena, const struct fric_found_group *of,
                       const struct api_found_planes *planes, size_t dim, struct fric_group *g)
{
	const double *normals = rows_of(arena, &planes->normals, of, dim),
				 *origins = normals ? rows_of(arena, &planes->origins, of, dim) : NULL;
	g->plane_normal = (struct fric_values){normals, dim};
	g->plane_origin = (struct fric_values){origins, dim};
	return origins;
}

bool api_found_groups(struct api_arena *arena, size_t dim, const struct fric_found *found,
                      const struct api_found_planes *planes, struct fric_group groups[FRIC_N_VERTEX_TYPES],
                      struct api_fault *fault)
{
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const struct fric_found_group of = fric_found_of(found, type);
		groups[type] = (struct fric_group){.n = of.n, .vertices = of.vertices, .weight = {of.weight, 1}};
		if (type == FRIC_EDGE_EDGE)
			groups[type].mollifier = (struct fric_values){of.mollifier, 1};
		if (type == FRIC_PLANE_VERTEX && !add_planes(arena, &of, planes, dim, &groups[type]))
			return api_fault_no_memory(fault);
	}
	return true;
}

bool api_neighbour_groups(struct api_arena *arena, const struct api_neighbours *n,
                          struct fric_group groups[FRIC_N_VERTEX_TYPES], struct api_fault *fault)
{
	const struct api_found_planes planes = {{n->normals, n->dim}, {n->origins, n->dim}};
	if (!api_found_groups(arena, n->dim, n->found, &planes, groups, fault))
		return false;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES && n->has_anchors; type++)
		groups[type].anchor = (struct fric_values){n->anchors[type], n->dim};
	return true;
}

bool api_fill_groups(struct api_arena *arena, const struct api_neighbours *neighbours, struct api_lagged *lagged,
                     struct api_fault *fault)
{
	if (!api_neighbour_groups(arena, neighbours, lagged->batch.groups, fault))
		return false;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		lagged->has_group[type] = api_type_exists(type, neighbours->dim);
	return true;
}

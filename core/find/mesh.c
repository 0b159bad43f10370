#include "core/find/mesh.h"

#include "core/base/fault.h"
#include "core/base/parallel.h"
#include "core/find/sort.h"

/* ---- sorting by vertices ---- */

/* A primitive with its vertices in ascending order; unused vertices are 0. `mark` tells equal ones apart: the row of a
 * face, or whether an edge was given (1) or belongs to a face (0). */
struct primitive {
	int32_t v[3], mark;
};

struct making {
	const struct fric_context *context;
	const struct fric_surface *surface;
	struct fric_mesh *mesh;
	struct store scratch;
	size_t *starts; /* [n_vertices + 1] */
};

/* Sorts by vertex k, stably, into `to`. */
static enum fric_code sort_by(const struct making *m, int k, const struct primitive *from, struct primitive *to,
                              size_t n)
{
	size_t *starts = m->starts, sum = 0;
	memset(starts, 0, (m->surface->n_vertices + 1) * sizeof(*starts));
	for (size_t i = 0; i < n; i++) {
		if (fricp_stop_raised_at(m->context, i))
			return FRIC_E_STOPPED;
		starts[from[i].v[k]]++;
	}
	for (size_t v = 0; v < m->surface->n_vertices; v++) {
		const size_t count = starts[v];
		starts[v] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++) {
		if (fricp_stop_raised_at(m->context, i))
			return FRIC_E_STOPPED;
		to[starts[from[i].v[k]]++] = from[i];
	}
	return FRIC_OK;
}

/* Sorts by vertices in lexical order, of equal primitives as they were. The result is in `items`. */
static enum fric_code sort_primitives(const struct making *m, int size, struct primitive *items,
                                      struct primitive *other, size_t n)
{
	struct primitive *from = items, *to = other;
	for (int k = size - 1; k >= 0; k--) {
		const enum fric_code code = sort_by(m, k, from, to, n);
		if (code != FRIC_OK)
			return code;
		struct primitive *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, n * sizeof(*items));
	return FRIC_OK;
}

static bool is_same(const struct primitive *a, const struct primitive *b)
{
	return a->v[0] == b->v[0] && a->v[1] == b->v[1] && a->v[2] == b->v[2];
}

/* Keeps the first of equal ones. @return their number */
static size_t unite(struct primitive *items, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || !is_same(&items[kept - 1], &items[i]))
			items[kept++] = items[i];
	return kept;
}

/* ---- faces and edges ---- */

/* From the numbers of primitives of each lower vertex to the first ones. */
static void add_up(uint32_t *from, size_t n)
{
	for (size_t v = 0; v < n; v++)
		from[v + 1] += from[v];
}

static enum fric_code make_faces(struct making *m)
{
	const struct fric_surface *s = m->surface;
	struct fric_mesh *mesh = m->mesh;
	const size_t n = s->dim == 3 ? s->n_faces : 0;
	struct primitive *items = store_take(&m->scratch, n, sizeof(*items));
	struct primitive *other = store_take(&m->scratch, n, sizeof(*other));
	if (!items || !other)
		return FRIC_E_MEMORY;
	for (size_t i = 0; i < n; i++) {
		struct primitive f = {{s->faces[3 * i], s->faces[3 * i + 1], s->faces[3 * i + 2]}, (int32_t)i};
		sort_three(f.v);
		items[i] = f;
	}
	const enum fric_code code = sort_primitives(m, 3, items, other, n);
	if (code != FRIC_OK)
		return code;
	mesh->n_faces = unite(items, n);
	mesh->faces = store_take(&mesh->store, mesh->n_faces, 3 * sizeof(int32_t));
	mesh->faces_from = store_take_zeroed(&mesh->store, mesh->n_vertices + 1, sizeof(uint32_t));
	if (mesh->store.failed)
		return FRIC_E_MEMORY;
	for (size_t i = 0; i < mesh->n_faces; i++) {
		memcpy(mesh->faces + 3 * i, s->faces + 3 * (size_t)items[i].mark, 3 * sizeof(int32_t));
		mesh->faces_from[items[i].v[0] + 1]++;
	}
	add_up(mesh->faces_from, mesh->n_vertices);
	return FRIC_OK;
}

static struct primitive edge_of(int32_t a, int32_t b, int32_t mark)
{
	struct primitive e = {{a, b, 0}, mark};
	sort_two(&e.v[0], &e.v[1]);
	return e;
}

/* Edges of faces come first, so that they are kept if an equal edge was given. */
static size_t list_edges(const struct making *m, struct primitive *items)
{
	const struct fric_mesh *mesh = m->mesh;
	size_t n = 0;
	for (size_t i = 0; i < mesh->n_faces; i++)
		for (size_t k = 0; k < 3; k++)
			items[n++] = edge_of(mesh->faces[3 * i + k], mesh->faces[3 * i + (k + 1) % 3], 0);
	for (size_t i = 0; i < m->surface->n_edges; i++)
		items[n++] = edge_of(m->surface->edges[2 * i], m->surface->edges[2 * i + 1], 1);
	return n;
}

static enum fric_code keep_edges(struct making *m, const struct primitive *items)
{
	struct fric_mesh *mesh = m->mesh;
	for (size_t i = 0; i < mesh->n_edges; i++)
		mesh->n_rods += mesh->dim == 3 && items[i].mark;
	mesh->edges = store_take(&mesh->store, mesh->n_edges, 2 * sizeof(int32_t));
	mesh->rods = store_take(&mesh->store, mesh->n_rods, sizeof(int32_t));
	mesh->edges_from = store_take_zeroed(&mesh->store, mesh->n_vertices + 1, sizeof(uint32_t));
	if (mesh->store.failed)
		return FRIC_E_MEMORY;
	for (size_t i = 0, at = 0; i < mesh->n_edges; i++) {
		memcpy(mesh->edges + 2 * i, items[i].v, 2 * sizeof(int32_t));
		mesh->edges_from[items[i].v[0] + 1]++;
		if (mesh->dim == 3 && items[i].mark)
			mesh->rods[at++] = (int32_t)i;
	}
	add_up(mesh->edges_from, mesh->n_vertices);
	return FRIC_OK;
}

static enum fric_code make_edges(struct making *m)
{
	const size_t most = 3 * m->mesh->n_faces + m->surface->n_edges;
	struct primitive *items = store_take(&m->scratch, most, sizeof(*items));
	struct primitive *other = store_take(&m->scratch, most, sizeof(*other));
	if (!items || !other)
		return FRIC_E_MEMORY;
	const size_t n = list_edges(m, items);
	const enum fric_code code = sort_primitives(m, 2, items, other, n);
	if (code != FRIC_OK)
		return code;
	m->mesh->n_edges = unite(items, n);
	return keep_edges(m, items);
}

/* ---- vertices ---- */

enum { USED = 1, PARTICLE = 2 };

/* The vertices with a mark, ascending. */
static enum fric_code list_marked(struct making *m, const uint8_t *marks, uint8_t mark, int32_t **list, size_t *n)
{
	const size_t n_vertices = m->surface->n_vertices;
	*n = 0;
	for (size_t v = 0; v < n_vertices; v++)
		*n += (marks[v] & mark) != 0;
	*list = store_take(&m->mesh->store, *n, sizeof(int32_t));
	if (!*list)
		return FRIC_E_MEMORY;
	for (size_t v = 0, at = 0; v < n_vertices; v++)
		if (marks[v] & mark)
			(*list)[at++] = (int32_t)v;
	return FRIC_OK;
}

static enum fric_code make_vertices(struct making *m)
{
	const struct fric_surface *s = m->surface;
	struct fric_mesh *mesh = m->mesh;
	uint8_t *marks = store_take_zeroed(&m->scratch, s->n_vertices, 1);
	if (!marks)
		return FRIC_E_MEMORY;
	for (size_t i = 0; i < 2 * mesh->n_edges; i++) /* each vertex of a face is one of an edge */
		marks[mesh->edges[i]] = USED;
	for (size_t i = 0; i < s->n_particles; i++)
		marks[s->particles[i]] = USED | PARTICLE;
	const enum fric_code code = list_marked(m, marks, USED, &mesh->used, &mesh->n_used);
	return code != FRIC_OK ? code : list_marked(m, marks, PARTICLE, &mesh->particles, &mesh->n_particles);
}

/* ---- filters ---- */

static int compare_numbers(const void *a, const void *b)
{
	const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

static size_t unite_numbers(uint64_t *x, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || x[kept - 1] != x[i])
			x[kept++] = x[i];
	return kept;
}

/* The number of a label among those that ignored pairs mention, or -1. */
static int32_t number_of(const int32_t *labels, size_t n, int32_t label)
{
	const int32_t *at = bsearch(&label, labels, n, sizeof(label), compare_numbers);
	return at ? (int32_t)(at - labels) : -1;
}

/* Numbers labels and lists whom each of them ignores. pairs: both directions of each pair, sorted */
static enum fric_code number_labels(struct making *m, const uint64_t *pairs, size_t n_pairs)
{
	const struct fric_surface *s = m->surface;
	struct store *store = &m->mesh->store;
	struct filter *f = &m->mesh->filter;
	int32_t *labels = store_take(&m->scratch, n_pairs, sizeof(*labels));
	f->label = store_take(store, s->n_vertices, sizeof(*f->label));
	f->starts = store_take(store, n_pairs + 1, sizeof(*f->starts));
	f->neighbours = store_take(store, n_pairs, sizeof(*f->neighbours));
	if (!labels || store->failed)
		return FRIC_E_MEMORY;
	size_t n = 0;
	for (size_t i = 0; i < n_pairs; i++) {
		if (i == 0 || pairs[i] >> 32 != pairs[i - 1] >> 32) {
			f->starts[n] = i;
			labels[n++] = (int32_t)(pairs[i] >> 32);
		}
	}
	f->starts[n] = n_pairs;
	for (size_t i = 0; i < n_pairs; i++)
		f->neighbours[i] = number_of(labels, n, (int32_t)(pairs[i] & UINT32_MAX));
	for (size_t v = 0; v < s->n_vertices; v++) {
		if (fricp_stop_raised_at(m->context, v))
			return FRIC_E_STOPPED;
		f->label[v] = number_of(labels, n, s->body[v]);
	}
	return FRIC_OK;
}

static enum fric_code ignore_labels(struct making *m)
{
	const struct fric_surface *s = m->surface;
	uint64_t *pairs = store_take(&m->scratch, 2 * s->n_ignored, sizeof(*pairs));
	if (!pairs)
		return FRIC_E_MEMORY;
	for (size_t i = 0; i < s->n_ignored; i++) {
		const uint64_t a = (uint32_t)s->ignored[2 * i], b = (uint32_t)s->ignored[2 * i + 1];
		pairs[2 * i] = a << 32 | b;
		pairs[2 * i + 1] = b << 32 | a;
	}
	sort_many(pairs, 2 * s->n_ignored, sizeof(*pairs), number_before, NULL);
	return number_labels(m, pairs, unite_numbers(pairs, 2 * s->n_ignored));
}

static enum fric_code make_filter(struct making *m)
{
	const struct fric_surface *s = m->surface;
	struct filter *f = &m->mesh->filter;
	f->any = s->n_fixed > 0 || (s->body && s->n_ignored > 0);
	f->fixed = store_take_zeroed(&m->mesh->store, s->n_vertices, 1);
	if (!f->fixed)
		return FRIC_E_MEMORY;
	for (size_t i = 0; i < s->n_fixed; i++)
		f->fixed[s->fixed[i]] = 1;
	return s->body && s->n_ignored > 0 ? ignore_labels(m) : FRIC_OK;
}

/* ---- all of it ---- */

static double *copy_of(struct store *store, const double *from, size_t n)
{
	double *copy = store_take(store, n, sizeof(*copy));
	if (copy && n > 0)
		memcpy(copy, from, n * sizeof(*copy));
	return copy;
}

static enum fric_code copy_places(struct making *m)
{
	const struct fric_surface *s = m->surface;
	struct fric_mesh *mesh = m->mesh;
	const size_t dim = (size_t)s->dim;
	mesh->plane_normals = copy_of(&mesh->store, s->plane_normals, s->n_planes * dim);
	mesh->plane_origins = copy_of(&mesh->store, s->plane_origins, s->n_planes * dim);
	mesh->n_planes = s->n_planes;
	if (s->rest_positions)
		mesh->rest = copy_of(&mesh->store, s->rest_positions, s->n_vertices * dim);
	return mesh->store.failed ? FRIC_E_MEMORY : FRIC_OK;
}

static enum fric_code make(struct making *m)
{
	typedef enum fric_code step(struct making *);
	step *const steps[] = {make_faces, make_edges, make_vertices, make_filter, copy_places};
	m->starts = store_take(&m->scratch, m->surface->n_vertices + 1, sizeof(*m->starts));
	enum fric_code code = m->starts ? FRIC_OK : FRIC_E_MEMORY;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && code == FRIC_OK; i++) {
		code = fricp_stop_raised(m->context) ? FRIC_E_STOPPED : steps[i](m);
		store_give_from(&m->scratch, 1); /* all but `starts` */
	}
	return code;
}

enum fric_code fric_mesh_create(const struct fric_context *context, const struct fric_surface *surface,
                                struct fric_mesh **mesh, struct fric_error *error)
{
	struct fric_mesh *made = memory_take_zeroed(context->memory, sizeof(*made));
	struct making m = {.context = context, .surface = surface, .mesh = made, .scratch = {.memory = context->memory}};
	*mesh = NULL;
	if (!made)
		return report_code(FRIC_E_MEMORY, error);
	made->store.memory = context->memory;
	made->dim = surface->dim;
	made->n_vertices = surface->n_vertices;
	const enum fric_code code = make(&m);
	store_give_from(&m.scratch, 0);
	if (code == FRIC_OK)
		*mesh = made;
	else
		fric_mesh_free(made);
	return report_code(code, error);
}

size_t fric_mesh_n_rods(const struct fric_mesh *mesh)
{
	return mesh->n_rods;
}

void fric_mesh_free(struct fric_mesh *mesh)
{
	if (!mesh)
		return;
	const struct fric_memory *memory = mesh->store.memory;
	store_give_from(&mesh->store, 0);
	memory_give(memory, mesh, sizeof(*mesh));
}

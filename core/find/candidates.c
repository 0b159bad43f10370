/* Close pairs among those that the caller has. */
#include "core/base/parallel.h"
#include "core/find/carry.h"
#include "core/find/close.h"
#include "core/find/merge.h"
#include "core/find/sort.h"

/* Pairs of one type, each once. Their records are sorted like contacts: `weight` is the contact's number, so that of
 * equal ones the first is kept. */
struct pairs {
	const struct fric_context *context;
	const struct fric_group *group;
	enum fric_type type;
	int32_t *plane; /* [n] the first contact with the same plane */
};

/* The same for equal pairs: sides sorted, and of sides of equal size the lower one first. */
static struct record key_of(const struct pairs *p, size_t i)
{
	const int n = stencil_size_of(p->type);
	struct record key = {.weight = (double)i};
	int32_t *v = key.v;
	memcpy(v, p->group->vertices + i * (size_t)n, (size_t)n * sizeof(*v));
	switch (geometry_of(p->type)) {
	case TWO_POINTS: sort_two(&v[0], &v[1]); break;
	case POINT_LINE: sort_two(&v[1], &v[2]); break;
	case POINT_TRIANGLE: sort_three(v + 1); break;
	case TWO_LINES:
		sort_two(&v[0], &v[1]);
		sort_two(&v[2], &v[3]);
		if (v[2] < v[0] || (v[2] == v[0] && v[3] < v[1])) {
			sort_two(&v[0], &v[2]);
			const int32_t high = v[1];
			v[1] = v[3];
			v[3] = high;
		}
		break;
	default: v[1] = v[0]; v[0] = p->plane ? p->plane[i] : 0;
	}
	return key;
}

/* ---- equal planes ---- */

static enum fric_code number_planes(struct pairs *p, int dim, struct store *store)
{
	const struct fric_group *g = p->group;
	uint32_t *sorted = store_take(store, g->n, sizeof(*sorted));
	p->plane = store_take_zeroed(store, g->n, sizeof(*p->plane));
	if (store->failed)
		return FRIC_E_MEMORY;
	if (g->plane_normal.stride == 0 && g->plane_origin.stride == 0)
		return FRIC_OK;
	for (size_t i = 0; i < g->n; i++)
		sorted[i] = (uint32_t)i;
	fricp_sort_by_plane(dim, g, sorted, g->n);
	int32_t first = 0;
	for (size_t i = 0; i < g->n; i++) {
		if (i == 0 || fricp_compare_planes(dim, g, sorted[i - 1], g, sorted[i]) != 0)
			first = (int32_t)sorted[i];
		p->plane[sorted[i]] = first;
	}
	return FRIC_OK;
}

/* ---- all candidates ---- */

/* The pairs of a type, each once, and where the close ones go. */
struct choosing {
	const struct closing *closing;
	const struct pairs *pairs;
	const struct sorting *sorting;
	struct records *records; /* [n_shares] */
	enum fric_code *codes;   /* [n_shares] */
};

static enum fric_code choose_one(const struct choosing *c, size_t i, struct records *records)
{
	const struct record *r = &c->sorting->sorted[i];
	const enum fric_type type = c->pairs->type;
	if (i > 0 && same_stencil(&r[-1], r))
		return FRIC_OK;
	const int32_t *stencil = c->pairs->group->vertices + (size_t)r->weight * (size_t)stencil_size_of(type);
	return fricp_close(c->closing, type, type == FRIC_PLANE_VERTEX ? r->v : stencil, 1, records);
}

static void choose_share(void *task, int share, int n_shares)
{
	const struct choosing *c = task;
	const size_t n = c->sorting->n, begin = n * (size_t)share / (size_t)n_shares,
				 end = n * ((size_t)share + 1) / (size_t)n_shares;
	enum fric_code code = FRIC_OK;
	for (size_t i = begin; i < end && code == FRIC_OK; i++) {
		if (i % 256 == 0 && fricp_stop_raised(c->sorting->context))
			code = FRIC_E_STOPPED;
		else
			code = choose_one(c, i, &c->records[share]);
	}
	c->codes[share] = code;
}

static enum fric_code list_pairs(const struct pairs *pairs, struct records *list)
{
	for (size_t i = 0; i < pairs->group->n; i++) {
		if (fricp_stop_raised_at(pairs->context, i))
			return FRIC_E_STOPPED;
		const enum fric_code code = fricp_records_add(list, pairs->type, key_of(pairs, i));
		if (code != FRIC_OK)
			return code;
	}
	return FRIC_OK;
}

static enum fric_code choose(struct choosing *c, struct pairs *pairs, size_t n_keys, struct store *store)
{
	const struct fric_context *context = pairs->context;
	struct records list = {.memory = context->memory};
	struct sorting sorting;
	enum fric_code code = pairs->type == FRIC_PLANE_VERTEX ? number_planes(pairs, c->closing->dim, store) : FRIC_OK;
	if (code == FRIC_OK)
		code = list_pairs(pairs, &list);
	if (code == FRIC_OK)
		code = fricp_sort_records(context, &list, 1, n_keys, pairs->type, store, &sorting);
	fricp_records_free(&list);
	if (code != FRIC_OK)
		return code;
	c->pairs = pairs;
	c->sorting = &sorting;
	memset(c->codes, 0, (size_t)context->n_threads * sizeof(*c->codes));
	fricp_parallel_shares(context, sorting.n, choose_share, c);
	for (int i = 0; i < context->n_threads && code == FRIC_OK; i++)
		code = c->codes[i];
	c->sorting = NULL;
	return code;
}

static enum fric_code choose_all(struct choosing *c, const struct fric_context *context, size_t n_vertices,
                                 const struct fric_group *groups, struct store *store)
{
	const size_t n_planes = groups[FRIC_PLANE_VERTEX].n, n_keys = n_vertices > n_planes ? n_vertices : n_planes;
	enum fric_code code = FRIC_OK;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES && code == FRIC_OK; type++) {
		struct pairs pairs = {.context = context, .group = &groups[type], .type = type};
		const int mark = store->n;
		if (groups[type].n > 0)
			code = choose(c, &pairs, n_keys, store);
		store_give_from(store, mark);
	}
	return code;
}

enum fric_code fric_find_candidates(const struct fric_context *context, int dim, size_t n_vertices,
                                    const double *positions, const struct fric_group groups[FRIC_N_VERTEX_TYPES],
                                    const struct fric_finding *finding, struct fric_found **found,
                                    struct fric_error *error)
{
	const struct fric_group *planes = &groups[FRIC_PLANE_VERTEX];
	const size_t n_threads = (size_t)context->n_threads, n_keys = n_vertices > planes->n ? n_vertices : planes->n;
	const struct closing closing = {.dim = dim,
	                                .merge = finding->merge,
	                                .reach = finding->distance + finding->min_distance,
	                                .positions = positions,
	                                .rest = positions,
	                                .normals = planes->plane_normal.data,
	                                .origins = planes->plane_origin.data,
	                                .normal_stride = planes->plane_normal.stride,
	                                .origin_stride = planes->plane_origin.stride};
	struct store store = {.memory = context->memory};
	struct choosing c = {.closing = &closing};
	c.records = store_take_zeroed(&store, n_threads, sizeof(*c.records));
	c.codes = store_take_zeroed(&store, n_threads, sizeof(*c.codes));
	*found = NULL;
	enum fric_code code = store.failed ? FRIC_E_MEMORY : FRIC_OK;
	for (size_t i = 0; i < n_threads && code == FRIC_OK; i++)
		c.records[i].memory = context->memory;
	if (code == FRIC_OK)
		code = choose_all(&c, context, n_vertices, groups, &store);
	if (code == FRIC_OK)
		code = fricp_merge(context, c.records, (int)n_threads, n_keys, found);
	for (size_t i = 0; i < n_threads && c.records && c.codes; i++)
		fricp_records_free(&c.records[i]);
	store_give_from(&store, 0);
	return report_code(code, error);
}

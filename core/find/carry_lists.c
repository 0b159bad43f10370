#include <string.h>

#include "core/base/parallel.h"
#include "core/find/carry.h"
#include "core/find/sort.h"
#include "core/geometry/features.h"
#include "core/geometry/geometry.h"
#include "core/motion/stencil.h"

struct contact_list fricp_contact_list(int dim, const double *positions, const struct fric_group *groups)
{
	struct contact_list list = {.dim = dim, .positions = positions, .groups = groups};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		list.start[type + 1] = list.start[type] + groups[type].n;
	return list;
}

static const int32_t *vertices_of(const struct contact_list *list, enum fric_type type, size_t contact)
{
	return list->groups[type].vertices + (contact - list->start[type]) * (size_t)stencil_size_of(type);
}

struct sides fricp_sides_of(const struct contact_list *list, size_t contact)
{
	struct sides s = {.type = listed_type(list, contact)};
	const struct member *members = stencil_members(s.type);
	for (int k = 0; k < stencil_size_of(s.type); k++)
		s.n[members[k].sign < 0]++;
	s.vertices[0] = vertices_of(list, s.type, contact);
	s.vertices[1] = s.vertices[0] + s.n[0];
	return s;
}

/* The vertices of a side are distinct. */
static bool same_side(int n, const int32_t *a, const int32_t *b)
{
	int n_common = 0;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			n_common += a[i] == b[j];
	return n_common == n;
}

bool fricp_same_stencil(const struct sides *a, const struct sides *b)
{
	return a->type == b->type && same_side(a->n[0], a->vertices[0], b->vertices[0]) &&
	       same_side(a->n[1], a->vertices[1], b->vertices[1]);
}

/* ---- places ---- */

/* The members of the feature on one side of the stencil, lower vertex first. */
struct feature_side {
	int n;
	const double *p[2];
	double at; /* of the second one, if there are two */
};

/* The first edge's side of an edge_edge contact's feature. Its geometry is degenerate only if a vertex of the second
 * edge lies on the first one, which then is the closest point itself. */
static struct feature_side first_edge_of(const struct feature *f, const double *const p[FRIC_MAX_STENCIL])
{
	const double *own[FRIC_MAX_STENCIL] = {0}, *other = p[2];
	struct feature_side side = {.p = {p[0], p[1]}};
	struct fric_geometry g;
	for (int k = 0; k < stencil_size_of(f->type); k++) {
		own[k] = p[f->member[k]];
		if (f->member[k] >= 2)
			other = own[k];
		else
			side.p[side.n++] = own[k];
	}
	if (side.n < 2)
		return side;
	if (fricp_stencil_geometry(f->type, 3, own, false, &g) != FRIC_OK)
		return (struct feature_side){1, {other}, 0};
	side.at = g.closest_point[geometry_of(f->type) == TWO_LINES && f->exchanged];
	return side;
}

static void edge_place(const double *const p[FRIC_MAX_STENCIL], const int32_t *vertices, double place[3])
{
	const unsigned members = fricp_closest_feature(FRIC_EDGE_EDGE, 3, p, vertices);
	struct feature_side side = {1, {p[0]}, 0};
	if (members) {
		const struct feature f = fricp_feature_of(FRIC_EDGE_EDGE, members, vertices);
		side = first_edge_of(&f, p);
	}
	const double at = side.at < 0 ? 0 : side.at > 1 ? 1 : side.at;
	for (int d = 0; d < 3; d++)
		place[d] = side.n < 2 ? side.p[0][d] : side.p[0][d] + at * (side.p[1][d] - side.p[0][d]);
}

void fricp_place(const struct contact_list *list, size_t contact, double place[3])
{
	const enum fric_type type = listed_type(list, contact);
	const int32_t *vertices = vertices_of(list, type, contact);
	const double *p[FRIC_MAX_STENCIL] = {list->positions + (size_t)vertices[0] * (size_t)list->dim};
	for (int k = 1; k < stencil_size_of(type); k++)
		p[k] = list->positions + (size_t)vertices[k] * (size_t)list->dim;
	if (geometry_of(type) == TWO_LINES) {
		edge_place(p, vertices, place);
		return;
	}
	for (int d = 0; d < 3; d++)
		place[d] = d < list->dim ? p[0][d] : 0;
}

long double fricp_squared_between(const double a[3], const double b[3])
{
	long double sum = 0;
	for (int d = 0; d < 3; d++) {
		const long double by = (long double)a[d] - b[d];
		sum += by * by;
	}
	return sum;
}

bool fricp_is_nearer(const struct nearest *a, const struct nearest *b)
{
	if (b->contact < 0)
		return true;
	if (a->squared != b->squared)
		return a->squared < b->squared;
	return a->contact != b->contact ? a->contact < b->contact : !a->exchanged && b->exchanged;
}

/* ---- pairs of vertices ---- */

enum { STOP_EACH = 1 << 14 }; /* contacts */

/* Counts at row[i + 2] become starts at row[i + 1], so that these, once used up, are starts at row[i]. */
static void start_rows(size_t n, size_t *row)
{
	for (size_t i = 0; i < n; i++)
		row[i + 2] += row[i + 1];
}

static size_t n_pairs(const struct contact_list *list)
{
	size_t n = 0;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		if (list->groups[type].n && !faces_world(type)) {
			const struct sides s = fricp_sides_of(list, list->start[type]);
			n += list->groups[type].n * (size_t)(s.n[0] * s.n[1]);
		}
	return n;
}

/* A pair on the way: sorted by its second vertex, which is the row that it is in. */
struct half_sorted {
	int32_t first;
	uint32_t contact;
};

/* Counts a contact's second vertices, or places its pairs; in the order of contacts. */
static void by_second(const struct sides *s, size_t contact, size_t *row, struct half_sorted *half)
{
	for (int j = 0; j < s->n[1]; j++)
		for (int i = 0; i < s->n[0]; i++)
			if (half)
				half[row[s->vertices[1][j] + 1]++] = (struct half_sorted){s->vertices[0][i], (uint32_t)contact};
			else
				row[s->vertices[1][j] + 2]++;
}

static void sort_by_second(const struct fric_context *context, const struct contact_list *list, size_t *row,
                           struct half_sorted *half)
{
	for (size_t i = 0; i < list->start[FRIC_PLANE_VERTEX]; i++) {
		const struct sides s = fricp_sides_of(list, i);
		by_second(&s, i, row, half);
		if (i % STOP_EACH == 0 && fricp_stop_raised(context))
			return;
	}
}

static void sort_by_first(const struct vertex_pairs *pairs, const size_t *row, const struct half_sorted *half)
{
	for (size_t i = 0; i < pairs->n; i++)
		pairs->row[half[i].first + 2]++;
	start_rows(pairs->n_vertices, pairs->row);
	for (size_t v = 0; v < pairs->n_vertices; v++)
		for (size_t i = row[v]; i < row[v + 1]; i++)
			pairs->pairs[pairs->row[half[i].first + 1]++] = (struct vertex_pair){(int32_t)v, half[i].contact};
}

enum fric_code fricp_vertex_pairs(const struct fric_context *context, const struct contact_list *list,
                                  size_t n_vertices, struct store *store, struct vertex_pairs *pairs)
{
	*pairs = (struct vertex_pairs){.n_vertices = n_vertices, .n = n_pairs(list)};
	if (!pairs->n)
		return FRIC_OK;
	struct store scratch = {.memory = context->memory};
	size_t *row = store_take(&scratch, n_vertices + 2, sizeof(*row));
	struct half_sorted *half = store_take(&scratch, pairs->n, sizeof(*half));
	pairs->row = store_take(store, n_vertices + 2, sizeof(*pairs->row));
	pairs->pairs = store_take(store, pairs->n, sizeof(*pairs->pairs));
	enum fric_code code = scratch.failed || store->failed ? FRIC_E_MEMORY : FRIC_OK;
	if (code == FRIC_OK) {
		fricp_zero(context, row, (n_vertices + 2) * sizeof(*row));
		fricp_zero(context, pairs->row, (n_vertices + 2) * sizeof(*pairs->row));
	}
	if (code == FRIC_OK && fricp_stop_raised(context))
		code = FRIC_E_STOPPED;
	if (code == FRIC_OK) {
		sort_by_second(context, list, row, NULL);
		start_rows(n_vertices, row);
		sort_by_second(context, list, row, half);
		code = fricp_stop_raised(context) ? FRIC_E_STOPPED : FRIC_OK;
	}
	if (code == FRIC_OK)
		sort_by_first(pairs, row, half);
	store_give_from(&scratch, 0);
	return code;
}

struct stretch fricp_pairs_of(const struct vertex_pairs *pairs, int32_t first, int32_t second)
{
	if (!pairs->n)
		return (struct stretch){0, 0};
	size_t begin = pairs->row[first], end = pairs->row[first + 1];
	const size_t last = end;
	while (begin < end) {
		const size_t middle = begin + (end - begin) / 2;
		if (pairs->pairs[middle].second < second)
			begin = middle + 1;
		else
			end = middle;
	}
	/* Most stretches are short, so the end is sought in steps that double. */
	size_t step = 1;
	end = begin;
	while (end + step <= last && pairs->pairs[end + step - 1].second == second) {
		end += step;
		step *= 2;
	}
	for (; step; step /= 2)
		if (end + step <= last && pairs->pairs[end + step - 1].second == second)
			end += step;
	return (struct stretch){begin, end};
}

static size_t first_from(const struct vertex_pairs *pairs, struct stretch stretch, size_t contact)
{
	while (stretch.begin < stretch.end) {
		const size_t middle = stretch.begin + (stretch.end - stretch.begin) / 2;
		if (pairs->pairs[middle].contact < contact)
			stretch.begin = middle + 1;
		else
			stretch.end = middle;
	}
	return stretch.begin;
}

struct stretch fricp_contacts_within(const struct vertex_pairs *pairs, struct stretch stretch, size_t begin, size_t end)
{
	return (struct stretch){first_from(pairs, stretch, begin), first_from(pairs, stretch, end)};
}

/* ---- planes ---- */

static int compare_rows(int dim, struct fric_values a, size_t i, struct fric_values b, size_t j)
{
	if (!a.data || !b.data)
		return (a.data != NULL) - (b.data != NULL);
	for (int d = 0; d < dim; d++) {
		const double x = a.data[i * a.stride + (size_t)d], y = b.data[j * b.stride + (size_t)d];
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

int fricp_compare_planes(int dim, const struct fric_group *g, size_t i, const struct fric_group *h, size_t j)
{
	const int by_normal = compare_rows(dim, g->plane_normal, i, h->plane_normal, j);
	return by_normal ? by_normal : compare_rows(dim, g->plane_origin, i, h->plane_origin, j);
}

/* The planes of one list. */
struct planes {
	int dim;
	const struct fric_group *group;
};

static bool plane_before(const void *list, const void *a, const void *b)
{
	const struct planes *p = list;
	const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const int by_plane = fricp_compare_planes(p->dim, p->group, i, p->group, j);
	return by_plane ? by_plane < 0 : i < j;
}

void fricp_sort_by_plane(int dim, const struct fric_group *group, uint32_t *contacts, size_t n)
{
	const struct planes planes = {dim, group};
	sort_many(contacts, n, sizeof(*contacts), plane_before, &planes);
}

/* Contacts are numbered within their group here. */
static void list_planes(const struct contact_list *list, struct vertex_planes *planes)
{
	const int32_t *vertices = list->groups[FRIC_PLANE_VERTEX].vertices;
	for (size_t i = 0; i < planes->n; i++)
		planes->row[vertices[i] + 2]++;
	start_rows(planes->n_vertices, planes->row);
	for (size_t i = 0; i < planes->n; i++)
		planes->listed[planes->row[vertices[i] + 1]++] = (uint32_t)i;
	memcpy(planes->sorted, planes->listed, planes->n * sizeof(*planes->sorted));
}

enum fric_code fricp_vertex_planes(const struct fric_context *context, const struct contact_list *list,
                                   size_t n_vertices, struct store *store, struct vertex_planes *planes)
{
	*planes = (struct vertex_planes){.n_vertices = n_vertices, .n = list->groups[FRIC_PLANE_VERTEX].n};
	if (!planes->n)
		return FRIC_OK;
	planes->row = store_take(store, n_vertices + 2, sizeof(*planes->row));
	planes->listed = store_take(store, planes->n, sizeof(*planes->listed));
	planes->sorted = store_take(store, planes->n, sizeof(*planes->sorted));
	if (store->failed)
		return FRIC_E_MEMORY;
	fricp_zero(context, planes->row, (n_vertices + 2) * sizeof(*planes->row));
	if (fricp_stop_raised(context))
		return FRIC_E_STOPPED;
	list_planes(list, planes);
	for (size_t v = 0; v < n_vertices; v++)
		fricp_sort_by_plane(list->dim, &list->groups[FRIC_PLANE_VERTEX], planes->sorted + planes->row[v],
		                    planes->row[v + 1] - planes->row[v]);
	return FRIC_OK;
}

int64_t fricp_same_plane(const struct vertex_planes *planes, const struct contact_list *of,
                         const struct contact_list *list, size_t contact)
{
	const struct fric_group *own = &list->groups[FRIC_PLANE_VERTEX], *others = &of->groups[FRIC_PLANE_VERTEX];
	const size_t i = contact - list->start[FRIC_PLANE_VERTEX];
	const int32_t vertex = own->vertices[i];
	if (!planes->n || planes->row[vertex] == planes->row[vertex + 1])
		return -1;
	size_t begin = planes->row[vertex], end = planes->row[vertex + 1];
	const size_t first = begin, last = end;
	while (begin < end) {
		const size_t middle = begin + (end - begin) / 2;
		if (fricp_compare_planes(of->dim, others, planes->sorted[middle], own, i) < 0)
			begin = middle + 1;
		else
			end = middle;
	}
	const bool equal = begin < last && fricp_compare_planes(of->dim, others, planes->sorted[begin], own, i) == 0;
	return (int64_t)(of->start[FRIC_PLANE_VERTEX] + (equal ? planes->sorted[begin] : planes->listed[first]));
}

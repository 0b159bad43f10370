#include "core/find/merge.h"

#include <math.h>

#include "core/base/parallel.h"
#include "core/find/sort.h"

/* ---- sorting ---- */

static bool record_before(const void *unused, const void *one, const void *other)
{
	const struct record *a = one, *b = other;
	(void)unused;
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		if (a->v[k] != b->v[k])
			return a->v[k] < b->v[k];
	return a->weight < b->weight;
}

enum { FEW = 16 };

static void sort_bucket(struct record *r, size_t n)
{
	if (n <= FEW)
		sort_few(r, n, sizeof(*r), record_before, NULL);
	else
		sort_many(r, n, sizeof(*r), record_before, NULL);
}

static void count_records(struct sorting *s, const struct records *records, int n_shares, enum fric_type type)
{
	for (int share = 0; share < n_shares; share++)
		for (const struct record_block *b = records[share].blocks[type]; b; b = b->next)
			for (size_t i = 0; i < b->n; i++)
				s->starts[b->records[i].v[0] + 1]++;
	for (size_t v = 0; v < s->n_keys; v++)
		s->starts[v + 1] += s->starts[v];
}

/* Moves records into buckets. `starts` become the buckets' ends: each starts where the previous one
 * ends. */
static void move_records(struct sorting *s, struct records *records, int n_shares, enum fric_type type)
{
	for (int share = 0; share < n_shares; share++) {
		for (const struct record_block *b = records[share].blocks[type]; b; b = b->next)
			for (size_t i = 0; i < b->n; i++)
				s->sorted[s->starts[b->records[i].v[0]]++] = b->records[i];
		fricp_records_clear(&records[share], type);
	}
}

static void sort_buckets(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	struct sorting *s = task;
	(void)chunk, (void)fault;
	for (size_t v = begin; v < end; v++) {
		const size_t first = v > 0 ? s->starts[v - 1] : 0, n = s->starts[v] - first;
		sort_bucket(s->sorted + first, n);
	}
}

enum fric_code fricp_sort_records(const struct fric_context *context, struct records *records, int n_shares,
                                  size_t n_keys, enum fric_type type, struct store *store, struct sorting *s)
{
	*s = (struct sorting){.context = context};
	for (int share = 0; share < n_shares; share++)
		s->n += records[share].n[type];
	s->n_keys = s->n > 0 ? n_keys : 0;
	s->sorted = store_take(store, s->n, sizeof(*s->sorted));
	s->starts = store_take_zeroed(store, s->n_keys + 1, sizeof(*s->starts));
	if (store->failed)
		return FRIC_E_MEMORY;
	count_records(s, records, n_shares, type);
	if (fricp_stop_raised(context))
		return FRIC_E_STOPPED;
	move_records(s, records, n_shares, type);
	return fricp_parallel_chunks(context, s->n_keys, sort_buckets, s).code;
}

/* ---- the contacts ---- */

static size_t count_different(const struct record *r, size_t n)
{
	size_t different = n > 0;
	for (size_t i = 1; i < n; i++)
		different += !same_stencil(&r[i - 1], &r[i]);
	return different;
}

/* The arrays of a group, in one block. */
struct arrays {
	double *weight, *distance, *mollifier;
	int32_t *vertices, *plane;
};

static bool make_group(struct fric_found *found, enum fric_type type, size_t n, struct arrays *a)
{
	const size_t k = (size_t)stencil_size_of(type);
	const size_t bytes = n * (3 * sizeof(double) + (k + 1) * sizeof(int32_t));
	a->weight = memory_take(found->memory, bytes + 1);
	if (!a->weight)
		return false;
	found->blocks[type] = a->weight;
	found->bytes[type] = bytes + 1;
	a->distance = a->weight + n;
	a->mollifier = a->distance + n;
	a->vertices = (void *)(a->mollifier + n);
	a->plane = a->vertices + k * n;
	found->groups[type] = (struct fric_found_group){.n = n,
	                                                .vertices = a->vertices,
	                                                .weight = a->weight,
	                                                .mollifier = type == FRIC_EDGE_EDGE ? a->mollifier : NULL,
	                                                .plane = type == FRIC_PLANE_VERTEX ? a->plane : NULL,
	                                                .distance = a->distance};
	return true;
}

/* Equal stencils have equal distances and mollifiers. */
static void fill_group(const struct record *r, size_t n, enum fric_type type, const struct arrays *a, double *least)
{
	const size_t k = (size_t)stencil_size_of(type), first = type == FRIC_PLANE_VERTEX ? 1 : 0;
	size_t at = 0;
	for (size_t i = 0; i < n; at++) {
		a->distance[at] = r[i].distance;
		a->mollifier[at] = r[i].mollifier;
		a->plane[at] = r[i].v[0];
		memcpy(a->vertices + k * at, r[i].v + first, k * sizeof(int32_t));
		*least = fmin(*least, r[i].distance);
		a->weight[at] = r[i].weight;
		for (i++; i < n && same_stencil(&r[i - 1], &r[i]); i++)
			a->weight[at] += r[i].weight;
	}
}

static enum fric_code merge_type(const struct fric_context *context, struct records *records, int n_shares,
                                 size_t n_keys, enum fric_type type, struct fric_found *found)
{
	struct sorting s;
	struct store store = {.memory = context->memory};
	struct arrays arrays;
	enum fric_code code = fricp_sort_records(context, records, n_shares, n_keys, type, &store, &s);
	if (code == FRIC_OK && !make_group(found, type, count_different(s.sorted, s.n), &arrays))
		code = FRIC_E_MEMORY;
	if (code == FRIC_OK)
		fill_group(s.sorted, s.n, type, &arrays, &found->min_distance);
	store_give_from(&store, 0);
	return code;
}

enum fric_code fricp_merge(const struct fric_context *context, struct records *records, int n_shares, size_t n_keys,
                           struct fric_found **found)
{
	struct fric_found *f = memory_take_zeroed(context->memory, sizeof(*f));
	enum fric_code code = f ? FRIC_OK : FRIC_E_MEMORY;
	if (!f)
		return code;
	f->memory = context->memory;
	f->min_distance = INFINITY;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES && code == FRIC_OK; type++)
		code = merge_type(context, records, n_shares, n_keys, type, f);
	if (code != FRIC_OK) {
		fric_found_free(f);
		return code;
	}
	*found = f;
	return FRIC_OK;
}

struct fric_found_group fric_found_of(const struct fric_found *found, enum fric_type type)
{
	return type < FRIC_N_VERTEX_TYPES ? found->groups[type] : (struct fric_found_group){0};
}

double fric_found_min_distance(const struct fric_found *found)
{
	return found->min_distance;
}

void fric_found_free(struct fric_found *found)
{
	if (!found)
		return;
	const struct fric_memory *memory = found->memory;
	for (int type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		memory_give(memory, found->blocks[type], found->bytes[type]);
	memory_give(memory, found, sizeof(*found));
}

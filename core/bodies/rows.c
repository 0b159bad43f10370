#include "core/bodies/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/base/triangle.h"
#include "core/bodies/evaluate.h"

/* ---- the pattern ---- */

static size_t whole_lines(size_t bytes)
{
	return (bytes + FRIC_ALIGNMENT - 1) / FRIC_ALIGNMENT * FRIC_ALIGNMENT;
}

/* Neighbours of a row: at most the row's body and, from each meeting, another. */
static bool allocate(struct body_pattern *p)
{
	const size_t starts = whole_lines((p->n_bodies + 1) * sizeof(size_t)),
				 meetings = whole_lines(p->n_meetings * sizeof(struct meeting)),
				 neighbours = whole_lines(2 * p->n_meetings * sizeof(int32_t));
	p->arrays_bytes = 2 * starts + meetings + neighbours;
	char *at = p->arrays = memory_take_zeroed(p->memory, p->arrays_bytes);
	if (!at)
		return false;
	p->first_meeting = (size_t *)(void *)at;
	p->first_neighbour = (size_t *)(void *)(at + starts);
	p->meetings = (struct meeting *)(void *)(at + 2 * starts);
	p->neighbours = (int32_t *)(void *)(at + 2 * starts + meetings);
	return true;
}

/* Counting sort by body; `next` of body v is first_meeting[v + 1] meanwhile, which filling turns into its end. */
static void list_meetings(struct body_pattern *p, const struct fric_contacts *b)
{
	size_t *next = p->first_meeting + 1;
	for (size_t i = 0; i < b->n; i++)
		for (int k = 0; k < n_bodies_of(contact_type(b, i)); k++)
			if ((size_t)b->vertices[k][i] + 1 < p->n_bodies)
				next[b->vertices[k][i] + 1]++;
	for (size_t v = 1; v < p->n_bodies; v++)
		next[v] += next[v - 1];
	for (size_t i = 0; i < b->n; i++)
		for (int k = 0; k < n_bodies_of(contact_type(b, i)); k++)
			p->meetings[next[b->vertices[k][i]]++] = (struct meeting){(uint32_t)i, (uint32_t)k, {0}};
}

static int by_number(const void *a, const void *b)
{
	const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

/* Sorted and without repetitions. @return how many are left */
static size_t tidied(int32_t *list, size_t n)
{
	size_t kept = 0;
	qsort(list, n, sizeof(*list), by_number);
	for (size_t j = 0; j < n; j++)
		if (kept == 0 || list[kept - 1] != list[j])
			list[kept++] = list[j];
	return kept;
}

static uint32_t place_of(const int32_t *list, size_t n, int32_t body)
{
	const int32_t *found = bsearch(&body, list, n, sizeof(*list), by_number);
	return found ? (uint32_t)(found - list) : BODY_NOWHERE;
}

/* The block row of body v, whose neighbours are listed from `list` on. @return their number */
static size_t list_neighbours(const struct body_pattern *p, const struct fric_contacts *b, size_t v, int32_t *list)
{
	size_t n = 0;
	for (size_t m = p->first_meeting[v]; m < p->first_meeting[v + 1]; m++)
		for (int k = 0; k < n_bodies_of(contact_type(b, p->meetings[m].contact)); k++) {
			const int32_t other = b->vertices[k][p->meetings[m].contact];
			if (in_triangle(p->triangle, (int32_t)v, other))
				list[n++] = other;
		}
	n = tidied(list, n);
	for (size_t m = p->first_meeting[v]; m < p->first_meeting[v + 1]; m++) {
		struct meeting *meeting = &p->meetings[m];
		const int k = n_bodies_of(contact_type(b, meeting->contact));
		for (int j = 0; j < 2; j++)
			meeting->place[j] = j < k ? place_of(list, n, b->vertices[j][meeting->contact]) : BODY_NOWHERE;
	}
	return n;
}

struct body_pattern *fricp_body_pattern_create(const struct fric_memory *memory, const struct fric_contacts *b,
                                               enum fric_triangle triangle)
{
	struct body_pattern *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	*p = (struct body_pattern){.memory = memory,
	                           .n_bodies = b->n_vertices,
	                           .n_meetings = n_actions(b),
	                           .first_dof = b->first_dof,
	                           .dim = b->dim,
	                           .triangle = triangle};
	if (!allocate(p)) {
		free(p);
		return NULL;
	}
	list_meetings(p, b);
	for (size_t v = 0; v < p->n_bodies; v++)
		p->first_neighbour[v + 1] = p->first_neighbour[v] +
		                            list_neighbours(p, b, v, p->neighbours + p->first_neighbour[v]);
	p->n_neighbours = p->first_neighbour[p->n_bodies];
	return p;
}

void fricp_body_pattern_free(struct body_pattern *pattern)
{
	if (!pattern)
		return;
	memory_give(pattern->memory, pattern->arrays, pattern->arrays_bytes);
	free(pattern);
}

size_t fricp_body_pattern_n_rows(const struct body_pattern *p)
{
	return p->n_bodies * (size_t)n_body_dofs(p->dim);
}

/* In a triangle the diagonal block, of which every row of blocks has one, is cut. */
size_t fricp_body_pattern_n_entries(const struct body_pattern *p)
{
	const size_t width = (size_t)n_body_dofs(p->dim), cut = p->triangle == FRIC_FULL ? 0 : width * (width - 1) / 2;
	size_t n = p->n_neighbours * width * width;
	for (size_t v = 0; v < p->n_bodies; v++)
		n -= p->first_neighbour[v + 1] > p->first_neighbour[v] ? cut : 0;
	return n;
}

/* The columns of row `axis` of body v. @return how many */
static size_t write_row(const struct body_pattern *p, size_t v, int axis, int32_t *columns)
{
	const int width = n_body_dofs(p->dim);
	size_t n = 0;
	for (size_t j = p->first_neighbour[v]; j < p->first_neighbour[v + 1]; j++)
		for (int e = 0; e < width; e++)
			if (p->neighbours[j] != (int32_t)v || in_triangle(p->triangle, axis, e))
				columns[n++] = (int32_t)p->first_dof + p->neighbours[j] * width + e;
	return n;
}

void fricp_body_pattern_write(const struct body_pattern *p, int64_t *indptr, int32_t *indices)
{
	for (size_t v = 0; v < p->n_bodies; v++)
		for (int axis = 0; axis < n_body_dofs(p->dim); axis++, indptr++)
			indptr[1] = indptr[0] + (int64_t)write_row(p, v, axis, indices + indptr[0]);
}

/* ---- values ---- */

struct rows {
	const struct fric_contacts *b;
	const double *inner;
	const struct body_pattern *pattern;
	const int64_t *indptr;
	double *data;
};

/* Adds rows of a contact's block to the rows of body v. In the upper triangle the diagonal block comes first, and row
 * `axis` begins with its entry `axis`. */
static void add_meeting(const struct rows *task, size_t v, const struct meeting *meeting,
                        double block[MOST_BLOCK][MOST_BLOCK])
{
	const struct body_pattern *p = task->pattern;
	const int width = n_body_dofs(p->dim), corner = (int)meeting->corner;
	const int64_t *first = task->indptr + v * (size_t)width;
	for (int axis = 0; axis < width; axis++)
		for (int j = 0; j < 2; j++) {
			if (meeting->place[j] == BODY_NOWHERE)
				continue;
			double *to = task->data + first[axis] + (int64_t)meeting->place[j] * width;
			for (int e = 0; e < width; e++)
				if (j != corner || in_triangle(p->triangle, axis, e))
					to[p->triangle == FRIC_UPPER ? e - axis : e] += block[corner * width + axis][j * width + e];
		}
}

/* @return whether all sums are finite */
static bool sum_rows(const struct rows *task, size_t v)
{
	const struct body_pattern *p = task->pattern;
	const size_t width = (size_t)n_body_dofs(p->dim);
	const int64_t begin = task->indptr[v * width], end = task->indptr[(v + 1) * width];
	double block[MOST_BLOCK][MOST_BLOCK], sum = 0;
	memset(task->data + begin, 0, (size_t)(end - begin) * sizeof(double));
	for (size_t m = p->first_meeting[v]; m < p->first_meeting[v + 1]; m++) {
		const size_t i = p->meetings[m].contact;
		fricp_body_block(task->b, task->inner, contact_type(task->b, i), i, block);
		add_meeting(task, v, &p->meetings[m], block);
	}
	for (int64_t e = begin; e < end; e++)
		sum += task->data[e] * 0;
	return isfinite(sum);
}

/* The first body whose meetings begin at or after `meeting`. */
static size_t first_body(const struct body_pattern *p, size_t meeting)
{
	size_t low = 0, high = p->n_bodies;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (p->first_meeting[middle] < meeting)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A chunk has the bodies whose meetings begin in it: bodies alone would be unequal shares. */
static void sum_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct rows *task = data;
	const struct body_pattern *p = task->pattern;
	(void)chunk;
	for (size_t v = first_body(p, begin); v < p->n_bodies && p->first_meeting[v] < end; v++)
		if (!sum_rows(task, v)) {
			*fault = body_overflow(task->b);
			return;
		}
}

/* Blocks that are not finite are in no row in part. */
static void check_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct rows *task = data;
	double block[MOST_BLOCK][MOST_BLOCK];
	(void)chunk;
	for (size_t i = begin; i < end; i++)
		if (!fricp_body_block(task->b, task->inner, contact_type(task->b, i), i, block)) {
			*fault = (struct fault){FRIC_E_NOT_FINITE, i};
			return;
		}
}

enum fric_code fricp_body_rows(const struct fric_context *context, const struct fric_contacts *b, const double *inner,
                               const struct body_pattern *pattern, const int64_t *indptr, double *data,
                               struct fric_error *error)
{
	struct rows task = {b, inner, pattern, indptr, data};
	struct fault fault = fricp_parallel_chunks(context, pattern->n_meetings, sum_chunk, &task);
	if (fault.code == FRIC_E_NOT_FINITE) { /* a contact alone may be to blame */
		const struct fault one = fricp_parallel_chunks(context, b->n, check_chunk, &task);
		fault = one.code == FRIC_OK ? fault : one;
	}
	return fricp_report_fault(b, fault, error);
}

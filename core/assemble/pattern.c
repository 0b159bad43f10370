/* From contacts to a pattern: incidences by counting sort over vertices, then neighbours, then columns. */
#include "core/assemble/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "core/assemble/neighbours.h"
#include "core/base/inline.h"
#include "core/base/memory.h"
#include "core/base/vectors.h"

struct building {
	const struct fric_contacts *contacts;
	struct fric_pattern *pattern;
	size_t n_borders, *borders; /* [n_borders + 1] vertices, about equally many incidences apart */
	size_t *next;   /* [n_vertices + 1] first the number of a vertex's incidences, then where its next one goes */
	int32_t *lists; /* [n_incidences, FRIC_MAX_STENCIL] room for neighbours, packed in each chunk */
};

/* Each thread reads all contacts and counts at its own vertices only. */
static void count_at_vertices(void *data, int thread, int n_threads)
{
	const struct building *task = data;
	const struct fric_contacts *c = task->contacts;
	const size_t n = c->n_vertices, p = (size_t)thread, all = (size_t)n_threads;
	const size_t begin = n / all * p + n % all * p / all, end = n / all * (p + 1) + n % all * (p + 1) / all;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		for (int k = 0; k < fric_stencil_size(type); k++)
			for (size_t i = c->start[type]; i < c->start[type + 1]; i++) {
				const size_t v = (size_t)c->vertices[k][i];
				if (v >= begin && v < end)
					task->next[v + 1]++;
			}
}

static void list_at_vertices(void *data, int thread, int n_threads)
{
	const struct building *task = data;
	const struct fric_contacts *c = task->contacts;
	const size_t begin = task->borders[task->n_borders * (size_t)thread / (size_t)n_threads];
	const size_t end = task->borders[task->n_borders * ((size_t)thread + 1) / (size_t)n_threads];
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		const int size = fric_stencil_size(type);
		for (size_t i = c->start[type]; i < c->start[type + 1]; i++) {
			struct incidence incidence = {.contact = (uint32_t)i, .size = (uint16_t)size};
			for (int k = 0; k < FRIC_MAX_STENCIL; k++)
				incidence.place[k] = k < size ? (uint32_t)c->vertices[k][i] : PATTERN_NOWHERE;
			for (int k = 0; k < size; k++) {
				const size_t v = incidence.place[k];
				incidence.corner = (uint16_t)k;
				if (v >= begin && v < end)
					task->pattern->incidences[task->next[v]++] = incidence;
			}
		}
	}
}

static void find_borders(const struct building *task)
{
	const struct fric_pattern *p = task->pattern;
	size_t v = 0;
	for (size_t t = 0; t < task->n_borders; t++) {
		while (v < p->n_vertices && task->next[v] < p->n_incidences / task->n_borders * t)
			v++;
		task->borders[t] = v;
	}
	task->borders[0] = 0;
	task->borders[task->n_borders] = p->n_vertices;
}

static size_t first_incidence_bytes(const struct fric_pattern *p)
{
	return (p->n_vertices + 2) * sizeof(size_t);
}

static size_t incidences_bytes(const struct fric_pattern *p)
{
	return p->n_incidences * sizeof(struct incidence);
}

static size_t indptr_bytes(const struct fric_pattern *p)
{
	return (p->n_vertices * p->dim + 1) * sizeof(int64_t);
}

static size_t lists_bytes(const struct fric_pattern *p)
{
	return p->n_incidences * FRIC_MAX_STENCIL * sizeof(int32_t);
}

/* Counting sort of all (contact, corner) by vertex. Incidences hold the stencil's vertices until places are known. */
static bool list_incidences(const struct fric_context *context, struct building *task)
{
	struct fric_pattern *p = task->pattern;
	task->n_borders = (size_t)context->n_threads;
	task->borders = malloc((task->n_borders + 1) * sizeof(size_t));
	p->first_incidence = memory_take_zeroed(p->memory, first_incidence_bytes(p));
	p->incidences = memory_take(p->memory, incidences_bytes(p));
	if (!p->first_incidence || !p->incidences || !task->borders)
		return false;
	task->next = p->first_incidence + 1; /* shifted by one: filling turns starts into ends */
	fricp_parallel_threads(context, task->contacts->n, count_at_vertices, task);
	for (size_t v = 1; v <= p->n_vertices; v++)
		task->next[v] += task->next[v - 1];
	find_borders(task);
	fricp_parallel_threads(context, task->contacts->n, list_at_vertices, task);
	return true;
}

size_t fricp_pattern_first_vertex(const struct fric_pattern *pattern, size_t incidence)
{
	size_t low = 0, high = pattern->n_vertices;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (pattern->first_incidence[middle] < incidence)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Neighbours of the block rows that begin in a chunk; indptr holds their number for now. */
static void neighbour_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct building *task = data;
	const struct fric_pattern *p = task->pattern;
	size_t v = fricp_pattern_first_vertex(p, begin);
	int32_t *list = task->lists + FRIC_MAX_STENCIL * p->first_incidence[v];
	struct neighbour_search search;
	(void)chunk;
	fricp_neighbour_search_open(&search, p->memory, p->triangle, p->n_vertices);
	for (; v < p->n_vertices && p->first_incidence[v] < end && fault->code == FRIC_OK; v++) {
		const size_t first = p->first_incidence[v], degree = p->first_incidence[v + 1] - first;
		size_t n = 0;
		if (!fricp_neighbour_search_run(&search, (int32_t)v, p->incidences + first, degree, list, &n))
			*fault = (struct fault){FRIC_E_MEMORY, begin};
		p->indptr[v * p->dim + 1] = (int64_t)n;
		list += n;
	}
	fricp_neighbour_search_close(&search);
}

/* Entries of row (v, axis): in a triangle the diagonal block is cut. */
static size_t row_length(const struct fric_pattern *p, size_t n_neighbours, size_t axis)
{
	const size_t n = n_neighbours * p->dim;
	if (n == 0 || p->triangle == FRIC_FULL)
		return n;
	return p->triangle == FRIC_UPPER ? n - axis : n - (p->dim - 1 - axis);
}

static void sum_up_rows(struct fric_pattern *p)
{
	int64_t sum = 0;
	for (size_t v = 0; v < p->n_vertices; v++) {
		const size_t n = (size_t)p->indptr[v * p->dim + 1]; /* NOLINT: zeroed when it was taken */
		for (size_t axis = 0; axis < p->dim; axis++) {
			sum += (int64_t)row_length(p, n, axis);
			p->indptr[v * p->dim + axis + 1] = sum;
		}
	}
}

/* Columns of row (v, axis), whose first and last blocks may be cut; dim is a constant wherever this is used. */
INLINE void write_columns(int32_t dim, size_t skip, size_t length, const int32_t *list, int32_t *out)
{
	size_t done = 0;
	for (int32_t b = (int32_t)skip; b < dim && done < length; b++)
		out[done++] = *list * dim + b;
	for (list++; done + 4 <= length; list++, done += (size_t)dim) { /* surplus is overwritten by the next neighbour */
		const int4 columns = *list * dim + (int4){0, 1, 2, 3};
		memcpy(out + done, &columns, sizeof(columns));
	}
	for (int32_t b = 0; done < length; list++, b = 0)
		for (; b < dim && done < length; b++)
			out[done++] = *list * dim + b;
}

static void write_row(const struct fric_pattern *p, size_t axis, const int32_t *list, size_t n, int32_t *out)
{
	const size_t skip = p->triangle == FRIC_UPPER ? axis : 0;
	if (p->dim == 2)
		write_columns(2, skip, row_length(p, n, axis), list, out);
	else
		write_columns(3, skip, row_length(p, n, axis), list, out);
}

/* `lower` has one entry of the diagonal block in row (v, 0). */
size_t fricp_pattern_n_blocks(const struct fric_pattern *p, size_t v)
{
	const size_t length = (size_t)(p->indptr[v * p->dim + 1] - p->indptr[v * p->dim]);
	const size_t whole = length + (p->triangle == FRIC_LOWER && length > 0 ? p->dim - 1 : 0);
	return p->dim == 2 ? whole / 2 : whole / 3;
}

static void column_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct building *task = data;
	const struct fric_pattern *p = task->pattern;
	size_t v = fricp_pattern_first_vertex(p, begin);
	const int32_t *list = task->lists + FRIC_MAX_STENCIL * p->first_incidence[v];
	(void)chunk;
	(void)fault;
	for (; v < p->n_vertices && p->first_incidence[v] < end; v++) {
		const int64_t *start = p->indptr + v * p->dim;
		const size_t n = fricp_pattern_n_blocks(p, v);
		for (size_t axis = 0; axis < p->dim && n > 0; axis++)
			write_row(p, axis, list, n, p->indices + start[axis]);
		list += n;
	}
}

static enum fric_code list_entries(const struct fric_context *context, struct building *task)
{
	struct fric_pattern *p = task->pattern;
	p->indptr = memory_take_zeroed(p->memory, indptr_bytes(p));
	task->lists = memory_take(p->memory, lists_bytes(p));
	if (!p->indptr || !task->lists)
		return FRIC_E_MEMORY;
	struct fault fault = fricp_parallel_chunks(context, p->n_incidences, neighbour_chunk, task);
	if (fault.code != FRIC_OK)
		return fault.code;
	sum_up_rows(p);
	p->indices = memory_take(p->memory, fric_pattern_n_entries(p) * sizeof(int32_t));
	if (!p->indices)
		return FRIC_E_MEMORY;
	return fricp_parallel_chunks(context, p->n_incidences, column_chunk, task).code;
}

static struct fric_pattern *allocate_pattern(const struct fric_memory *memory, const struct fric_contacts *contacts,
                                             enum fric_triangle triangle)
{
	struct fric_pattern *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->memory = memory;
	p->dim = (size_t)contacts->dim;
	p->n_vertices = contacts->n_vertices;
	p->triangle = triangle;
	for (enum fric_type g = 0; g < FRIC_N_TYPES; g++)
		p->n_incidences += fric_group_size(contacts, g) * (size_t)fric_stencil_size(g);
	return p;
}

enum fric_code fric_pattern_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                   enum fric_triangle triangle, struct fric_pattern **pattern, struct fric_error *error)
{
	struct building task = {.contacts = contacts, .pattern = allocate_pattern(context->memory, contacts, triangle)};
	enum fric_code code = FRIC_E_MEMORY;
	if (task.pattern && list_incidences(context, &task))
		code = list_entries(context, &task);
	free(task.borders);
	if (task.pattern)
		memory_give(context->memory, task.lists, lists_bytes(task.pattern));
	if (code != FRIC_OK) {
		fric_pattern_free(task.pattern);
		task.pattern = NULL;
	}
	*pattern = task.pattern;
	return report_code(code, error);
}

void fric_pattern_free(struct fric_pattern *pattern)
{
	if (!pattern)
		return;
	if (pattern->indices)
		memory_give(pattern->memory, pattern->indices, fric_pattern_n_entries(pattern) * sizeof(int32_t));
	memory_give(pattern->memory, pattern->first_incidence, first_incidence_bytes(pattern));
	memory_give(pattern->memory, pattern->incidences, incidences_bytes(pattern));
	memory_give(pattern->memory, pattern->indptr, indptr_bytes(pattern));
	free(pattern);
}

size_t fric_pattern_n_rows(const struct fric_pattern *pattern)
{
	return pattern->n_vertices * pattern->dim;
}

size_t fric_pattern_n_entries(const struct fric_pattern *pattern)
{
	return (size_t)pattern->indptr[fric_pattern_n_rows(pattern)];
}

const int64_t *fric_pattern_indptr(const struct fric_pattern *pattern)
{
	return pattern->indptr;
}

const int32_t *fric_pattern_indices(const struct fric_pattern *pattern)
{
	return pattern->indices;
}

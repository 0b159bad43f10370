/* From contacts to a pattern: incidences by counting sort over vertices, then neighbours, then columns. */
#include "core/assemble/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "core/assemble/neighbours.h"
#include "core/base/delivery.h"
#include "core/base/inline.h"
#include "core/base/memory.h"
#include "core/base/vectors.h"
#include "core/contacts/span.h"
#include "core/motion/stencil.h"

struct building {
	const struct fric_context *context;
	const struct fric_contacts *contacts;
	struct fric_pattern *pattern;
	size_t n_borders, *borders; /* [n_borders + 1] vertices, about equally many incidences apart */
	size_t *next;     /* [n_vertices + 1] first the number of a vertex's incidences, then where its next one goes */
	int32_t *lists;   /* [n_incidences, FRIC_MAX_STENCIL] room for neighbours, packed in each chunk */
	int64_t *entries; /* [chunks + 1] of incidences: first the number of a chunk's entries, then of those before it */
	bool streams;     /* the columns do not fit into the caches */
};

enum { BETWEEN_STOPS = 1 << 16 }; /* vertices or rows */

/* Looks at the flag now and then: millions of vertices may have no contact. */
static bool is_stopped(const struct building *task, size_t i)
{
	return i % BETWEEN_STOPS == 0 && fricp_stop_raised(task->context);
}

/* Vertices [begin, end) are a thread's own. */
struct own {
	struct building *task;
	size_t begin, end;
};

/* One span, at all its vertices or at a thread's own alone. */
typedef void span_part(const struct own *own, struct span span, bool all);

/* All spans that a thread's vertices may be in, in contact order. */
INLINE void for_own_spans(const struct own *own, span_part *part)
{
	const struct fric_contacts *c = own->task->contacts;
	for (size_t slot = 0; slot < span_slots(c->n); slot++) {
		const struct span_extent extent = c->extents[slot];
		const size_t lowest = (size_t)extent.lowest, highest = (size_t)extent.highest;
		if (extent.begin < 0 || highest < own->begin || lowest >= own->end)
			continue;
		part(own, span_at(c, (size_t)extent.begin), lowest >= own->begin && highest < own->end);
	}
}

INLINE bool is_own(const struct own *own, bool all, size_t v)
{
	return all || (v >= own->begin && v < own->end);
}

INLINE void count_span(const struct own *own, struct span span, bool all)
{
	const struct fric_contacts *c = own->task->contacts;
	for (int k = 0; k < stencil_size_of(span.type); k++)
		for (size_t i = span.begin; i < span.begin + span.n; i++)
			if (is_own(own, all, (size_t)c->vertices[k][i]))
				own->task->next[(size_t)c->vertices[k][i] + 1]++;
}

static void count_part(const struct own *own, struct span span, bool all)
{
	if (all)
		count_span(own, span, true);
	else
		count_span(own, span, false);
}

static void count_at_vertices(void *data, int thread, int n_threads)
{
	struct building *task = data;
	const size_t n = task->contacts->n_vertices, p = (size_t)thread, all = (size_t)n_threads;
	const struct own own = {task, n / all * p + n % all * p / all, n / all * (p + 1) + n % all * (p + 1) / all};
	for_own_spans(&own, count_part);
}

enum { WRITE_AHEAD = 8 }; /* contacts: where their incidences go is fetched this early, as it is in as many places */

INLINE void fetch_ahead(const struct building *task, size_t i, int size)
{
	for (int k = 0; k < size; k++)
		__builtin_prefetch(&task->pattern->incidences[task->next[task->contacts->vertices[k][i + WRITE_AHEAD]]], 1);
}

/* The stencil's size and whether all vertices are the thread's own are constants wherever this is used. */
INLINE void list_span(const struct own *own, struct span span, int size, bool all)
{
	const struct fric_contacts *c = own->task->contacts;
	const int4 beyond = {0, -(size < 2), -(size < 3), -(size < 4)};
	for (size_t i = span.begin; i < span.begin + span.n; i++) {
		const int4 stencil = {c->vertices[0][i], c->vertices[1][i], c->vertices[2][i], c->vertices[3][i]};
		const int4 places = stencil | beyond;
		if (all && i + WRITE_AHEAD < span.begin + span.n) /* beyond, it may be another thread's */
			fetch_ahead(own->task, i, size);
		for (int k = 0; k < size; k++) {
			const size_t v = (size_t)c->vertices[k][i];
			if (!is_own(own, all, v))
				continue;
			struct incidence *to = &own->task->pattern->incidences[own->task->next[v]++];
			to->contact = (uint32_t)i;
			to->corner = (uint16_t)k;
			to->size = (uint16_t)size;
			memcpy(to->place, &places, sizeof(places));
		}
	}
}

INLINE void list_sized(const struct own *own, struct span span, bool all)
{
	switch (stencil_size_of(span.type)) {
	case 1: list_span(own, span, 1, all); break;
	case 2: list_span(own, span, 2, all); break;
	case 3: list_span(own, span, 3, all); break;
	default: list_span(own, span, 4, all); break;
	}
}

static void list_part(const struct own *own, struct span span, bool all)
{
	if (all)
		list_sized(own, span, true);
	else
		list_sized(own, span, false);
}

static void list_at_vertices(void *data, int thread, int n_threads)
{
	struct building *task = data;
	const size_t n = task->n_borders, p = (size_t)thread, all = (size_t)n_threads;
	const struct own own = {task, task->borders[n * p / all], task->borders[n * (p + 1) / all]};
	for_own_spans(&own, list_part);
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
	return (fric_pattern_n_rows(p) + 1) * sizeof(int64_t);
}

static size_t lists_bytes(const struct fric_pattern *p)
{
	return p->n_incidences * FRIC_MAX_STENCIL * sizeof(int32_t);
}

static size_t entries_bytes(const struct fric_pattern *p)
{
	return (n_chunks(p->n_incidences, FRIC_CHUNK) + 1) * sizeof(int64_t);
}

/* Counting sort of all (contact, corner) by vertex. Incidences hold the stencil's vertices until places are known. What
 * is listed fits what was counted only if nothing was stopped. */
static enum fric_code list_incidences(const struct fric_context *context, struct building *task)
{
	struct fric_pattern *p = task->pattern;
	task->n_borders = (size_t)context->n_threads;
	task->borders = malloc((task->n_borders + 1) * sizeof(size_t));
	p->first_incidence = fricp_take_zeroed(context, first_incidence_bytes(p));
	p->incidences = memory_take(p->memory, incidences_bytes(p));
	if (!p->first_incidence || !p->incidences || !task->borders)
		return FRIC_E_MEMORY;
	if (fricp_stop_raised(context))
		return FRIC_E_STOPPED;
	task->next = p->first_incidence + 1; /* shifted by one: filling turns starts into ends */
	fricp_parallel_threads(context, task->contacts->n, count_at_vertices, task);
	for (size_t v = 1; v <= p->n_vertices && !is_stopped(task, v); v++)
		task->next[v] += task->next[v - 1];
	if (!fricp_stop_raised(context))
		find_borders(task);
	if (fricp_stop_raised(context))
		return FRIC_E_STOPPED;
	fricp_parallel_threads(context, task->contacts->n, list_at_vertices, task);
	return fricp_stop_raised(context) ? FRIC_E_STOPPED : FRIC_OK;
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

/* Entries of row (v, axis): in a triangle the diagonal block is cut. */
INLINE size_t row_length(enum fric_triangle triangle, size_t width, size_t n_neighbours, size_t axis)
{
	const size_t n = n_neighbours * width;
	if (n == 0 || triangle == FRIC_FULL)
		return n;
	return triangle == FRIC_UPPER ? n - axis : n - (width - 1 - axis);
}

static size_t n_entries_of(const struct fric_pattern *p, size_t n_neighbours)
{
	const size_t width = (size_t)n_vertex_dofs(p->dim);
	size_t n = 0;
	for (size_t axis = 0; axis < width; axis++)
		n += row_length(p->triangle, width, n_neighbours, axis);
	return n;
}

/* Neighbours of the block rows that begin in a chunk; indptr holds their number for now. */
static void neighbour_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct building *task = data;
	const struct fric_pattern *p = task->pattern;
	size_t v = fricp_pattern_first_vertex(p, begin), n_entries = 0;
	int32_t *list = task->lists + FRIC_MAX_STENCIL * p->first_incidence[v];
	struct neighbour_search search;
	fricp_neighbour_search_open(&search, p->memory, p->triangle, p->n_vertices);
	for (; v < p->n_vertices && p->first_incidence[v] < end && fault->code == FRIC_OK && !is_stopped(task, v); v++) {
		const size_t first = p->first_incidence[v], degree = p->first_incidence[v + 1] - first;
		size_t n = 0;
		if (degree > 0 && !fricp_neighbour_search_run(&search, (int32_t)v, p->incidences + first, degree, list, &n))
			*fault = (struct fault){FRIC_E_MEMORY, begin};
		p->indptr[vertex_dof(p->dim, v) + 1] = (int64_t)n;
		n_entries += n_entries_of(p, n);
		list += n;
	}
	task->entries[chunk] = (int64_t)n_entries;
	fricp_neighbour_search_close(&search);
}

/* @return the number of all entries */
static int64_t sum_up_chunks(const struct building *task)
{
	int64_t sum = 0;
	for (size_t chunk = 0; chunk < n_chunks(task->pattern->n_incidences, FRIC_CHUNK); chunk++) {
		const int64_t n = task->entries[chunk];
		task->entries[chunk] = sum;
		sum += n;
	}
	return sum;
}

/* Columns of block `w`, at `at` of every row. Surplus is to be overwritten by the next block. */
INLINE void write_block(int32_t dim, int32_t w, bool surplus, int32_t *const *rows, size_t at)
{
	const int4 columns = (int32_t)vertex_dof(dim, (size_t)w) + (int4){0, 1, 2, 3};
	const size_t bytes = surplus ? sizeof(columns) : (size_t)n_vertex_dofs(dim) * sizeof(int32_t);
	for (int32_t a = 0; a < dim; a++)
		memcpy(rows[a] + at, &columns, bytes);
}

INLINE void write_cut(int32_t dim, bool upper, int32_t w, int32_t *const *rows, size_t at)
{
	for (int32_t a = 0; a < dim; a++)
		for (int32_t b = upper ? a : 0; b < (upper ? dim : a + 1); b++)
			rows[a][at + (size_t)b] = (int32_t)vertex_dof(dim, (size_t)w) + b;
}

/* n >= 1 blocks; in a triangle, that of the diagonal is the first or the last. @param rows  where entry 0 of each row
 * is, or would be if the diagonal block were whole */
INLINE void write_columns(int32_t dim, enum fric_triangle triangle, const int32_t *list, size_t n, int32_t *const *rows)
{
	const size_t width = (size_t)n_vertex_dofs(dim), last = n - 1;
	for (size_t i = triangle == FRIC_UPPER; i < last; i++)
		write_block(dim, list[i], dim == 3, rows, i * width);
	if (triangle == FRIC_UPPER)
		write_cut(dim, true, list[0], rows, 0);
	if (triangle == FRIC_LOWER)
		write_cut(dim, false, list[last], rows, last * width);
	else if (triangle == FRIC_FULL || last > 0)
		write_block(dim, list[last], false, rows, last * width);
}

/* Where to write a block row's columns, which begin at entry `first`. */
static int32_t *columns_place(const struct building *task, size_t first, size_t n_entries, struct delivery *delivery)
{
	int32_t *in_place = task->pattern->indices + first;
	if (!task->streams)
		return in_place;
	if (n_entries * sizeof(int32_t) <= DELIVERY_MOST)
		return delivery_place(delivery, n_entries * sizeof(int32_t), in_place);
	delivery_flush(delivery);
	return in_place;
}

/* Ends of the rows of vertex v, and their columns, from entry `first` on. @return where they end */
INLINE size_t write_rows(const struct building *task, int32_t dim, enum fric_triangle triangle, size_t v, size_t first,
                         const int32_t *list, size_t n, struct delivery *delivery)
{
	const struct fric_pattern *p = task->pattern;
	int32_t *const out = columns_place(task, first, n_entries_of(p, n), delivery), *rows[3];
	const size_t width = (size_t)n_vertex_dofs(dim);
	size_t at = 0;
	for (size_t a = 0; a < width; a++) {
		rows[a] = out + at - (triangle == FRIC_UPPER ? a : 0);
		at += row_length(triangle, width, n, a);
		p->indptr[vertex_dof(dim, v) + a + 1] = (int64_t)(first + at);
	}
	if (n > 0)
		write_columns(dim, triangle, list, n, rows);
	return first + at;
}

INLINE void column_rows(const struct building *task, int32_t dim, enum fric_triangle triangle, size_t chunk,
                        size_t begin, size_t end)
{
	const struct fric_pattern *p = task->pattern;
	size_t v = fricp_pattern_first_vertex(p, begin), at = (size_t)task->entries[chunk];
	const int32_t *list = task->lists + FRIC_MAX_STENCIL * p->first_incidence[v];
	struct delivery delivery;
	delivery_open(&delivery);
	for (; v < p->n_vertices && p->first_incidence[v] < end && !is_stopped(task, v); v++) {
		const size_t n = (size_t)p->indptr[vertex_dof(dim, v) + 1];
		at = write_rows(task, dim, triangle, v, at, list, n, &delivery);
		list += n;
	}
	delivery_flush(&delivery);
}

static void column_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct building *task = data;
	const enum fric_triangle triangle = task->pattern->triangle;
	(void)fault;
	if (task->pattern->dim == 2)
		column_rows(task, 2, triangle, chunk, begin, end);
	else if (triangle == FRIC_FULL)
		column_rows(task, 3, FRIC_FULL, chunk, begin, end);
	else
		column_rows(task, 3, triangle, chunk, begin, end);
}

/* Of the rows that the chunks leave out: of the vertices after the last incidence. */
static void end_rows(const struct building *task, int64_t n_entries)
{
	const struct fric_pattern *p = task->pattern;
	const size_t first = vertex_dof(p->dim, fricp_pattern_first_vertex(p, p->n_incidences));
	for (size_t r = first; r < fric_pattern_n_rows(p) && !is_stopped(task, r); r++)
		p->indptr[r + 1] = n_entries;
}

/* `lower` has one entry of the diagonal block in row (v, 0). */
size_t fricp_pattern_n_blocks(const struct fric_pattern *p, size_t v)
{
	const int64_t *start = p->indptr + vertex_dof(p->dim, v);
	const size_t width = (size_t)n_vertex_dofs(p->dim), length = (size_t)(start[1] - start[0]);
	const size_t whole = length + (p->triangle == FRIC_LOWER && length > 0 ? width - 1 : 0);
	return width == 2 ? whole / 2 : whole / 3;
}

enum { STREAM_FROM = 4 << 20 }; /* bytes */

static enum fric_code list_entries(const struct fric_context *context, struct building *task)
{
	struct fric_pattern *p = task->pattern;
	p->indptr = memory_take(p->memory, indptr_bytes(p));
	task->lists = memory_take(p->memory, lists_bytes(p));
	task->entries = memory_take(p->memory, entries_bytes(p));
	if (!p->indptr || !task->lists || !task->entries)
		return FRIC_E_MEMORY;
	struct fault fault = fricp_parallel_chunks(context, p->n_incidences, neighbour_chunk, task);
	if (fault.code != FRIC_OK)
		return fault.code;
	const int64_t n_entries = sum_up_chunks(task);
	p->indptr[0] = 0;
	p->indptr[fric_pattern_n_rows(p)] = n_entries;
	const size_t bytes = fric_pattern_n_entries(p) * sizeof(int32_t);
	p->indices = memory_take(p->memory, bytes);
	if (!p->indices)
		return FRIC_E_MEMORY;
	end_rows(task, n_entries);
	task->streams = streams(context, bytes, STREAM_FROM);
	return fricp_parallel_chunks(context, p->n_incidences, column_chunk, task).code;
}

static struct fric_pattern *allocate_pattern(const struct fric_memory *memory, const struct fric_contacts *contacts,
                                             enum fric_triangle triangle)
{
	struct fric_pattern *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->memory = memory;
	p->dim = contacts->dim;
	p->n_vertices = contacts->n_vertices;
	p->triangle = triangle;
	for (enum fric_type g = 0; g < FRIC_N_VERTEX_TYPES; g++)
		p->n_incidences += group_size(contacts, g) * (size_t)fric_stencil_size(g);
	return p;
}

/* The rows of the bodies behind those of the vertices, in arrays that have room for both. */
static bool append_bodies(struct fric_pattern *p, const struct fric_contacts *bodies)
{
	const size_t n_rows = fric_pattern_n_rows(p), n_entries = fric_pattern_n_entries(p);
	p->bodies = fricp_body_pattern_create(p->memory, bodies, p->triangle);
	if (!p->bodies)
		return false;
	const size_t more_rows = fricp_body_pattern_n_rows(p->bodies);
	const size_t rows_bytes = (n_rows + more_rows + 1) * sizeof(*p->indptr);
	const size_t entries_bytes = (n_entries + fricp_body_pattern_n_entries(p->bodies)) * sizeof(*p->indices);
	int64_t *indptr = memory_take(p->memory, rows_bytes);
	int32_t *indices = memory_take(p->memory, entries_bytes);
	if (!indptr || !indices) {
		memory_give(p->memory, indptr, rows_bytes);
		memory_give(p->memory, indices, entries_bytes);
		return false;
	}
	memcpy(indptr, p->indptr, (n_rows + 1) * sizeof(*indptr));
	memcpy(indices, p->indices, n_entries * sizeof(*indices));
	fricp_body_pattern_write(p->bodies, indptr + n_rows, indices);
	memory_give(p->memory, p->indices, n_entries * sizeof(*p->indices));
	memory_give(p->memory, p->indptr, indptr_bytes(p));
	p->n_body_rows = more_rows;
	p->indptr = indptr;
	p->indices = indices;
	return true;
}

/* @param bodies  those whose rows follow; NULL: none, or n_empty rows without entries */
static enum fric_code create(const struct fric_context *context, const struct fric_contacts *contacts,
                             enum fric_triangle triangle, const struct fric_contacts *bodies, size_t n_empty,
                             struct fric_pattern **pattern, struct fric_error *error)
{
	struct building task = {
		.context = context, .contacts = contacts, .pattern = allocate_pattern(context->memory, contacts, triangle)};
	enum fric_code code = FRIC_E_MEMORY;
	if (task.pattern)
		task.pattern->n_body_rows = n_empty;
	if (task.pattern)
		code = list_incidences(context, &task);
	if (code == FRIC_OK)
		code = list_entries(context, &task);
	if (code == FRIC_OK && bodies && !append_bodies(task.pattern, bodies))
		code = FRIC_E_MEMORY;
	free(task.borders);
	if (task.pattern) {
		memory_give(context->memory, task.lists, lists_bytes(task.pattern));
		memory_give(context->memory, task.entries, entries_bytes(task.pattern));
	}
	if (code != FRIC_OK) {
		fric_pattern_free(task.pattern);
		task.pattern = NULL;
	}
	*pattern = task.pattern;
	return report_code(code, error);
}

enum fric_code fric_pattern_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                   enum fric_triangle triangle, struct fric_pattern **pattern, struct fric_error *error)
{
	return create(context, contacts, triangle, contacts->bodies, 0, pattern, error);
}

enum fric_code fric_jacobian_pattern_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                            struct fric_pattern **pattern, struct fric_error *error)
{
	const size_t n_empty = n_dofs(contacts) - n_dofs_at_vertices(contacts);
	return create(context, contacts, FRIC_FULL, NULL, n_empty, pattern, error);
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
	fricp_body_pattern_free(pattern->bodies);
	free(pattern);
}

size_t fric_pattern_n_rows(const struct fric_pattern *pattern)
{
	return vertex_dof(pattern->dim, pattern->n_vertices) + pattern->n_body_rows;
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

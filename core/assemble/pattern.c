/* Builds the pattern of contacts: a counting sort of incidences by member, then neighbours, then columns. */
#include "core/assemble/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "core/assemble/neighbours.h"
#include "core/base/delivery.h"
#include "core/base/memory.h"
#include "core/base/vectors.h"
#include "core/contacts/span.h"
#include "core/motion/dofs.h"

/* The state of building the block rows of one kind of member. "Vertices" are members of `contacts`, that is, vertices
 * or bodies. */
struct building {
	const struct fric_context *context;
	const struct fric_contacts *contacts; /* NULL: the rows are empty */
	struct block_rows *rows;
	size_t n_shares, *totals; /* [MOST_BLOCKS] number of incidences at the vertices of each block */
	uint32_t *next;   /* [n_shares, n_members] first the number of a share's incidences at a vertex, then where the next
	                     one goes */
	int32_t *lists;   /* [n_incidences, FRIC_MAX_STENCIL] neighbours, packed within each chunk */
	int64_t *entries; /* [chunks] first the number of a chunk's entries, then the number of entries before the chunk */
	int64_t end;      /* number of entries up to the end of these rows */
	int32_t *indices; /* the indices of the whole pattern */
	bool streams;     /* the columns do not fit into the caches */
};

enum { BETWEEN_STOPS = 1 << 16 }; /* vertices or rows between two checks of the stop flag */

/* Checks the stop flag now and then, because millions of vertices may be without contacts. */
static bool is_stopped(const struct fric_context *context, size_t i)
{
	return i % BETWEEN_STOPS == 0 && fricp_stop_raised(context);
}

/* ---- incidences ---- */

/* A counting sort by vertex. Each share of the contacts has positions of its own, so that a thread reads only its
 * contacts, wherever their vertices are. More shares than MOST_SHARES would take more memory than the pattern, and more
 * time than they save. */
enum { MOST_SHARES = 8, MOST_BLOCKS = 256, LEAST_BLOCK = 4096 /* vertices */ };

/* The contact that incidence `at` belongs to, counting in contact order. */
static size_t contact_at(const struct fric_contacts *c, size_t at)
{
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		const size_t k = (size_t)fric_stencil_size(type), n = group_size(c, type) * k;
		if (at < n)
			return c->start[type] + at / k;
		at -= n;
	}
	return c->n;
}

/* Shares have about the same number of incidences. */
static size_t share_begin(const struct building *task, size_t share)
{
	const size_t n = task->rows->n_incidences, all = task->n_shares;
	return contact_at(task->contacts, n / all * share + n % all * share / all);
}

/* Processes one span of a share. */
typedef void span_part(const struct building *task, uint32_t *next, struct span span);

/* If stopped, leaves out the rest: later phases do not run then. */
INLINE void for_share(const struct building *task, size_t share, span_part *part)
{
	uint32_t *next = task->next + share * task->rows->n_members;
	const size_t end = share_begin(task, share + 1);
	for (size_t i = share_begin(task, share); i < end && !fricp_stop_raised(task->context);) {
		const struct span span = next_span(task->contacts, i, end);
		part(task, next, span);
		i += span.n;
	}
}

static void count_span(const struct building *task, uint32_t *next, struct span span)
{
	for (int k = 0; k < fric_stencil_size(span.type); k++)
		for (size_t i = span.begin; i < span.begin + span.n; i++)
			next[task->contacts->vertices[k][i]]++;
}

static void count_share(void *data, size_t share, size_t begin, size_t end, struct fault *fault)
{
	const struct building *task = data;
	(void)begin, (void)end, (void)fault;
	fricp_zero(task->context, task->next + share * task->rows->n_members, task->rows->n_members * sizeof(uint32_t));
	for_share(task, share, count_span);
}

static void sum_block(void *data, size_t block, size_t begin, size_t end, struct fault *fault)
{
	const struct building *task = data;
	size_t total = 0;
	(void)fault;
	for (size_t share = 0; share < task->n_shares; share++)
		for (size_t v = begin; v < end; v++)
			total += task->next[share * task->rows->n_members + v];
	task->totals[block] = total;
}

/* Turns counts into positions: by vertex, then by share. */
static void place_block(void *data, size_t block, size_t begin, size_t end, struct fault *fault)
{
	const struct building *task = data;
	size_t at = 0;
	(void)fault;
	for (size_t before = 0; before < block; before++)
		at += task->totals[before];
	for (size_t v = begin; v < end; v++) {
		task->rows->first_incidence[v] = at;
		for (size_t share = 0; share < task->n_shares; share++) {
			uint32_t *next = &task->next[share * task->rows->n_members + v];
			const size_t n = *next;
			*next = (uint32_t)at;
			at += n;
		}
	}
}

/* Prefetch distance in contacts. Writes would miss the caches, because each contact writes its incidences to as many
 * places as it has members. */
enum { WRITE_AHEAD = 8 };

/* Every call passes a constant size, so that its loops unroll. Incidences contain the stencil's vertices until places
 * are known. */
INLINE void list_sized(const struct building *task, uint32_t *next, struct span span, int size)
{
	const struct fric_contacts *c = task->contacts;
	struct incidence *incidences = task->rows->incidences;
	for (size_t i = span.begin; i < span.begin + span.n; i++) {
		int32_t stencil[FRIC_MAX_STENCIL];
		UNROLL
		for (int k = 0; k < FRIC_MAX_STENCIL; k++)
			stencil[k] = k < size ? c->vertices[k][i] : (int32_t)PATTERN_NOWHERE;
		for (int k = 0; i + WRITE_AHEAD < c->start[span.type + 1] && k < size; k++)
			__builtin_prefetch(&incidences[next[c->vertices[k][i + WRITE_AHEAD]]], 1);
		UNROLL
		for (unsigned k = 0; k < (unsigned)size; k++) {
			const int4 incidence = {(int32_t)(FRIC_MAX_STENCIL * i + k), stencil[other_member(k, 0)],
			                        stencil[other_member(k, 1)], stencil[other_member(k, 2)]};
			memcpy(&incidences[next[stencil[k]]++], &incidence, sizeof(incidence));
		}
	}
}

static void list_span(const struct building *task, uint32_t *next, struct span span)
{
	switch (fric_stencil_size(span.type)) {
	case 1: list_sized(task, next, span, 1); break;
	case 2: list_sized(task, next, span, 2); break;
	case 3: list_sized(task, next, span, 3); break;
	default: list_sized(task, next, span, 4); break;
	}
}

static void list_share(void *data, size_t share, size_t begin, size_t end, struct fault *fault)
{
	(void)begin, (void)end, (void)fault;
	for_share(data, share, list_span);
}

/* ---- sizes of arrays ---- */

static size_t first_incidence_bytes(const struct block_rows *rows)
{
	return (rows->n_members + 1) * sizeof(size_t);
}

static size_t next_bytes(const struct building *task)
{
	return task->n_shares * task->rows->n_members * sizeof(uint32_t);
}

static size_t incidences_bytes(const struct block_rows *rows)
{
	return rows->n_incidences * sizeof(struct incidence);
}

static size_t diagonal_bytes(const struct block_rows *rows)
{
	return rows->n_members * sizeof(uint32_t);
}

static size_t lists_bytes(const struct block_rows *rows)
{
	return rows->n_incidences * FRIC_MAX_STENCIL * sizeof(int32_t);
}

static size_t entries_bytes(const struct block_rows *rows)
{
	return (n_chunks(rows->n_incidences, FRIC_CHUNK) + 1) * sizeof(int64_t);
}

static size_t indptr_bytes(const struct fric_pattern *p)
{
	return (p->n_rows + 1) * sizeof(int64_t);
}

/* ---- rows ---- */

size_t fricp_first_member(const struct block_rows *rows, size_t incidence)
{
	size_t low = 0, high = rows->n_members;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (rows->first_incidence[middle] < incidence)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The number of entries in row (v, axis). A triangle contains only part of the diagonal block. */
INLINE size_t row_length(enum fric_triangle triangle, int width, size_t n_neighbours, int axis)
{
	const size_t n = n_neighbours * (size_t)width;
	if (n == 0 || triangle == FRIC_FULL)
		return n;
	return n - (size_t)(triangle == FRIC_UPPER ? axis : width - 1 - axis);
}

static size_t n_entries_of(const struct block_rows *rows, size_t n_neighbours)
{
	const size_t width = (size_t)rows->width;
	const size_t cut = n_neighbours == 0 || rows->triangle == FRIC_FULL ? 0 : width * (width - 1) / 2;
	return n_neighbours * width * width - cut;
}

/* Finds the neighbours for the block rows that begin in a chunk; until the columns are written, indptr holds their
 * number. */
static void neighbour_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct building *task = data;
	const struct block_rows *rows = task->rows;
	size_t v = fricp_first_member(rows, begin), n_entries = 0;
	int32_t *list = task->lists + FRIC_MAX_STENCIL * rows->first_incidence[v];
	struct neighbour_search search;
	fricp_neighbour_search_open(&search, task->context->memory, rows->triangle, rows->n_members);
	for (; v < rows->n_members && rows->first_incidence[v] < end && fault->code == FRIC_OK; v++) {
		if (is_stopped(task->context, v))
			break;
		const size_t first = rows->first_incidence[v], degree = rows->first_incidence[v + 1] - first;
		size_t n = 0;
		if (degree > 0 && !fricp_neighbour_search_run(&search, (int32_t)v, rows->incidences + first, degree, list, &n,
		                                              &rows->diagonal[v]))
			*fault = (struct fault){FRIC_E_MEMORY, begin};
		rows->indptr[(size_t)rows->width * v + 1] = (int64_t)n;
		n_entries += n_entries_of(rows, n);
		list += n;
	}
	task->entries[chunk] = (int64_t)n_entries;
	fricp_neighbour_search_close(&search);
}

/* Turns each chunk's number of entries into the number before it, starting from `sum`. @return the total */
static int64_t sum_up_chunks(const struct building *task, int64_t sum)
{
	for (size_t chunk = 0; chunk < n_chunks(task->rows->n_incidences, FRIC_CHUNK); chunk++) {
		const int64_t n = task->entries[chunk];
		task->entries[chunk] = sum;
		sum += n;
	}
	return sum;
}

/* Writes a block's columns, from `first` on, at position `at` of each row. surplus: may write too much, which the next
 * block overwrites */
INLINE void write_block(int width, int32_t first, bool surplus, int32_t *const *rows, size_t at)
{
	const int4 columns = first + (int4){0, 1, 2, 3}, more = columns + 4;
	const int n = surplus || width > 4 ? 4 : width, n_more = width > 4 ? width - 4 : 0;
	for (int a = 0; a < width; a++) {
		memcpy(rows[a] + at, &columns, (size_t)n * sizeof(int32_t));
		if (n_more)
			memcpy(rows[a] + at + 4, &more, (size_t)n_more * sizeof(int32_t));
	}
}

INLINE void write_cut(int width, bool upper, int32_t first, int32_t *const *rows, size_t at)
{
	for (int a = 0; a < width; a++)
		for (int b = upper ? a : 0; b < (upper ? width : a + 1); b++)
			rows[a][at + (size_t)b] = first + b;
}

/* Writes the columns of n >= 1 blocks. In a triangle the first or last one is the diagonal block. @param rows  the
 * start of each row, as if the diagonal block were whole */
INLINE void write_columns(const struct building *task, int width, enum fric_triangle triangle, const int32_t *list,
                          size_t n, int32_t *const *rows)
{
	const int32_t first_dof = (int32_t)task->contacts->first_dof;
	const size_t last = n - 1, step = (size_t)width;
	for (size_t i = triangle == FRIC_UPPER; i < last; i++)
		write_block(width, first_dof + list[i] * width, width == 3, rows, i * step);
	if (triangle == FRIC_UPPER)
		write_cut(width, true, first_dof + list[0] * width, rows, 0);
	if (triangle == FRIC_LOWER)
		write_cut(width, false, first_dof + list[last] * width, rows, last * step);
	else if (triangle == FRIC_FULL || last > 0)
		write_block(width, first_dof + list[last] * width, false, rows, last * step);
}

/* The memory for a block row's columns, which begin at entry `first`. */
static int32_t *columns_place(const struct building *task, size_t first, size_t n_entries, struct delivery *delivery)
{
	int32_t *in_place = task->indices + first;
	if (!task->streams)
		return in_place;
	if (n_entries * sizeof(int32_t) <= DELIVERY_MOST)
		return delivery_place(delivery, n_entries * sizeof(int32_t), in_place);
	delivery_flush(delivery);
	return in_place;
}

/* Writes the row ends of vertex v and their columns, from entry `first` on. @return the entry after the last */
INLINE size_t write_rows(const struct building *task, int width, enum fric_triangle triangle, size_t v, size_t first,
                         const int32_t *list, size_t n, struct delivery *delivery)
{
	int32_t *const out = columns_place(task, first, n_entries_of(task->rows, n), delivery), *rows[MOST_WIDTH];
	int64_t *const ends = task->rows->indptr + (size_t)width * v + 1;
	size_t at = 0;
	for (int a = 0; a < width; a++) {
		rows[a] = out + at - (triangle == FRIC_UPPER ? a : 0);
		at += row_length(triangle, width, n, a);
		ends[a] = (int64_t)(first + at);
	}
	if (n > 0)
		write_columns(task, width, triangle, list, n, rows);
	return first + at;
}

INLINE void column_rows(const struct building *task, int width, enum fric_triangle triangle, size_t chunk, size_t begin,
                        size_t end)
{
	const struct block_rows *rows = task->rows;
	size_t v = fricp_first_member(rows, begin), at = (size_t)task->entries[chunk];
	const int32_t *list = task->lists + FRIC_MAX_STENCIL * rows->first_incidence[v];
	struct delivery delivery;
	delivery_open(&delivery);
	for (; v < rows->n_members && rows->first_incidence[v] < end && !is_stopped(task->context, v); v++) {
		const size_t n = (size_t)rows->indptr[(size_t)width * v + 1];
		at = write_rows(task, width, triangle, v, at, list, n, &delivery);
		list += n;
	}
	delivery_flush(&delivery);
}

static void column_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct building *task = data;
	const enum fric_triangle triangle = task->rows->triangle;
	(void)fault;
	if (task->rows->width == 2)
		column_rows(task, 2, triangle, chunk, begin, end);
	else if (task->rows->width == 6)
		column_rows(task, 6, triangle, chunk, begin, end);
	else if (triangle == FRIC_FULL)
		column_rows(task, 3, FRIC_FULL, chunk, begin, end);
	else
		column_rows(task, 3, triangle, chunk, begin, end);
}

/* Writes the row ends of members after the last incidence, which belong to no chunk. */
static void end_rows(const struct building *task)
{
	const struct block_rows *rows = task->rows;
	const size_t first = task->contacts ? fricp_first_member(rows, rows->n_incidences) : 0;
	const size_t n_rows = rows->n_members * (size_t)rows->width;
	for (size_t r = first * (size_t)rows->width; r < n_rows && !is_stopped(task->context, r); r++)
		rows->indptr[r + 1] = task->end;
}

static bool take_arrays(const struct fric_context *context, struct building *task)
{
	const struct fric_memory *memory = context->memory;
	struct block_rows *rows = task->rows;
	task->totals = malloc(MOST_BLOCKS * sizeof(size_t));
	return (task->next = memory_take(memory, next_bytes(task))) &&
	       (task->lists = memory_take(memory, lists_bytes(rows))) &&
	       (task->entries = memory_take(memory, entries_bytes(rows))) &&
	       (rows->first_incidence = memory_take(memory, first_incidence_bytes(rows))) &&
	       (rows->incidences = memory_take(memory, incidences_bytes(rows))) &&
	       (rows->diagonal = memory_take(memory, diagonal_bytes(rows))) && task->totals;
}

/* Finds the incidences and neighbours of all rows. */
static enum fric_code find_rows(const struct fric_context *context, struct building *task)
{
	struct block_rows *rows = task->rows;
	const size_t n = rows->n_members, shared = n / MOST_BLOCKS + 1, block = shared > LEAST_BLOCK ? shared : LEAST_BLOCK;
	const int n_threads = fricp_chunk_threads(context, rows->n_incidences);
	task->n_shares = n_threads > MOST_SHARES ? MOST_SHARES : (size_t)n_threads;
	if (!take_arrays(context, task))
		return FRIC_E_MEMORY;
	rows->first_incidence[n] = rows->n_incidences;
	const struct phase phases[] = {{count_share, task->n_shares, 1, false, NULL},
	                               {sum_block, n, block, false, NULL},
	                               {place_block, n, block, false, NULL},
	                               {list_share, task->n_shares, 1, false, NULL},
	                               {neighbour_chunk, rows->n_incidences, FRIC_CHUNK, true, NULL}};
	return fricp_parallel_phases(context, n_threads, phases, sizeof(phases) / sizeof(phases[0]), task).code;
}

enum { STREAM_FROM = 4 << 20, N_KINDS = 2 }; /* bytes; vertices and bodies */

/* @param p  its rows have been set by `describe` */
static enum fric_code build(const struct fric_context *context, struct fric_pattern *p, struct building tasks[N_KINDS])
{
	enum fric_code code = FRIC_OK;
	int64_t n_entries = 0;
	p->indptr = memory_take(context->memory, indptr_bytes(p));
	if (!p->indptr)
		return FRIC_E_MEMORY;
	p->vertices.indptr = p->indptr;
	p->bodies.indptr = p->indptr + p->vertices.n_members * (size_t)p->vertices.width;
	p->indptr[0] = 0;
	for (struct building *task = tasks; task < tasks + N_KINDS && code == FRIC_OK; task++) {
		code = task->contacts ? find_rows(context, task) : FRIC_OK;
		if (code == FRIC_OK)
			task->end = n_entries = sum_up_chunks(task, n_entries);
	}
	const size_t bytes = (size_t)n_entries * sizeof(int32_t);
	p->indptr[p->n_rows] = n_entries;
	if (code == FRIC_OK && !(p->indices = memory_take(context->memory, bytes)))
		code = FRIC_E_MEMORY;
	for (struct building *task = tasks; task < tasks + N_KINDS && code == FRIC_OK; task++) {
		end_rows(task);
		task->indices = p->indices;
		task->streams = streams(context, bytes, STREAM_FROM);
		code = fricp_parallel_chunks(context, task->rows->n_incidences, column_chunk, task).code;
	}
	return code;
}

/* @param contacts  contacts of the rows' members; NULL: no rows */
static void describe(const struct fric_contacts *contacts, enum fric_triangle triangle, int width, bool is_empty,
                     struct block_rows *rows)
{
	rows->triangle = triangle;
	rows->width = width;
	rows->n_members = contacts ? contacts->n_vertices : 0;
	for (enum fric_type g = 0; g < FRIC_N_TYPES && !is_empty; g++)
		rows->n_incidences += group_size(contacts, g) * (size_t)fric_stencil_size(g);
}

static void clear_building(const struct building *task)
{
	free(task->totals);
	memory_give(task->context->memory, task->next, next_bytes(task));
	memory_give(task->context->memory, task->lists, lists_bytes(task->rows));
	memory_give(task->context->memory, task->entries, entries_bytes(task->rows));
}

/* @param bodies  contacts of bodies whose rows have entries; NULL: none */
static enum fric_code create(const struct fric_context *context, const struct fric_contacts *contacts,
                             const struct fric_contacts *bodies, enum fric_triangle triangle,
                             struct fric_pattern **pattern, struct fric_error *error)
{
	struct fric_pattern *p = *pattern = calloc(1, sizeof(*p));
	if (!p)
		return report_code(FRIC_E_MEMORY, error);
	struct building tasks[N_KINDS] = {{.context = context, .contacts = contacts, .rows = &p->vertices},
	                                  {.context = context, .contacts = bodies, .rows = &p->bodies}};
	p->memory = context->memory;
	p->n_rows = n_dofs(contacts);
	describe(contacts, triangle, n_vertex_dofs(contacts->dim), false, &p->vertices);
	describe(contacts->bodies, triangle, n_body_dofs(contacts->dim), !bodies, &p->bodies);
	enum fric_code code = FRIC_E_MEMORY;
	if (contacts->n <= PATTERN_MOST_CONTACTS && (!bodies || bodies->n <= PATTERN_MOST_CONTACTS))
		code = build(context, p, tasks);
	for (int kind = 0; kind < N_KINDS; kind++)
		clear_building(&tasks[kind]);
	if (code != FRIC_OK) {
		fric_pattern_free(p);
		*pattern = NULL;
	}
	return report_code(code, error);
}

enum fric_code fric_pattern_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                   enum fric_triangle triangle, struct fric_pattern **pattern, struct fric_error *error)
{
	return create(context, contacts, contacts->bodies, triangle, pattern, error);
}

enum fric_code fric_jacobian_pattern_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                            struct fric_pattern **pattern, struct fric_error *error)
{
	return create(context, contacts, NULL, FRIC_FULL, pattern, error);
}

static void free_rows(const struct fric_memory *memory, const struct block_rows *rows)
{
	memory_give(memory, rows->first_incidence, first_incidence_bytes(rows));
	memory_give(memory, rows->incidences, incidences_bytes(rows));
	memory_give(memory, rows->diagonal, diagonal_bytes(rows));
}

void fric_pattern_free(struct fric_pattern *pattern)
{
	if (!pattern)
		return;
	if (pattern->indices)
		memory_give(pattern->memory, pattern->indices, fric_pattern_n_entries(pattern) * sizeof(int32_t));
	memory_give(pattern->memory, pattern->indptr, indptr_bytes(pattern));
	free_rows(pattern->memory, &pattern->vertices);
	free_rows(pattern->memory, &pattern->bodies);
	free(pattern);
}

size_t fric_pattern_n_rows(const struct fric_pattern *pattern)
{
	return pattern->n_rows;
}

size_t fric_pattern_n_entries(const struct fric_pattern *pattern)
{
	return (size_t)pattern->indptr[pattern->n_rows];
}

const int64_t *fric_pattern_indptr(const struct fric_pattern *pattern)
{
	return pattern->indptr;
}

const int32_t *fric_pattern_indices(const struct fric_pattern *pattern)
{
	return pattern->indices;
}

/* ---- rows of blocks, vertices only ---- */

size_t fric_pattern_n_blocks(const struct fric_pattern *pattern)
{
	size_t n = 0;
	for (size_t v = 0; v < pattern->vertices.n_members; v++)
		n += n_row_blocks(&pattern->vertices, pattern->vertices.width, v);
	return n;
}

struct blocks {
	const struct fric_pattern *pattern;
	const int64_t *indptr;
	int32_t *indices;
};

/* In the first row of a vertex each block has its first entry, also in a triangle. */
static void index_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct blocks *task = data;
	const struct block_rows *rows = &task->pattern->vertices;
	const size_t width = (size_t)rows->width;
	(void)chunk;
	(void)fault;
	for (size_t v = begin; v < end; v++) {
		const int32_t *columns = task->pattern->indices + rows->indptr[width * v];
		int32_t *out = task->indices + task->indptr[v];
		for (size_t i = 0; i < (size_t)(task->indptr[v + 1] - task->indptr[v]); i++)
			out[i] = columns[i * width] / (int32_t)width;
	}
}

enum fric_code fric_pattern_blocks(const struct fric_context *context, const struct fric_pattern *pattern,
                                   int64_t *indptr, int32_t *indices, struct fric_error *error)
{
	struct blocks task = {pattern, indptr, indices};
	const struct block_rows *rows = &pattern->vertices;
	indptr[0] = 0;
	for (size_t v = 0; v < rows->n_members; v++) {
		if (is_stopped(context, v))
			return report_code(FRIC_E_STOPPED, error);
		indptr[v + 1] = indptr[v] + (int64_t)n_row_blocks(rows, rows->width, v);
	}
	if (!indices)
		return FRIC_OK;
	return report_code(fricp_parallel_chunks(context, rows->n_members, index_chunk, &task).code, error);
}

/* Block rows: vertices with their neighbours first, then each block's entries. Values are added up per block row in contact
 * order, so that no two threads share an entry and the order of additions is fixed. */
#include "pattern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hessian.h"
#include "parallel.h"

static int corners(const struct fric_contacts *c, size_t i)
{
	return fric_stencil_size(contact_type(c, i));
}

static bool wanted(enum fric_triangle triangle, int32_t row, int32_t col)
{
	return triangle == FRIC_FULL || (triangle == FRIC_UPPER ? row <= col : row >= col);
}

/* Counting sort of all (contact, corner) by vertex. */
static bool list_incidences(struct fric_pattern *p, const struct fric_contacts *c)
{
	p->first_incidence = calloc(p->n_vertices + 2, sizeof(size_t));
	p->incidences = malloc((p->n_incidences + 1) * sizeof(struct incidence));
	if (!p->first_incidence || !p->incidences)
		return false;
	size_t *next = p->first_incidence + 1; /* shifted by one: filling turns starts into ends */
	for (size_t i = 0; i < c->n; i++)
		for (int k = 0; k < corners(c, i); k++)
			if ((size_t)c->vertices[k][i] + 1 < p->n_vertices)
				next[c->vertices[k][i] + 1]++;
	for (size_t v = 1; v < p->n_vertices; v++)
		next[v] += next[v - 1];
	for (size_t i = 0; i < c->n; i++)
		for (int k = 0; k < corners(c, i); k++)
			p->incidences[next[c->vertices[k][i]]++] = (struct incidence){(uint32_t)i, (uint32_t)k};
	return true;
}

static int by_value(const void *a, const void *b)
{
	const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

/* Distinct neighbours of v in the triangle, sorted, into `out`. last_row[w] == v + 1 marks w as seen. */
static size_t collect_neighbours(const struct fric_pattern *p, const struct fric_contacts *c, size_t v,
                                 uint32_t *last_row, int32_t *out)
{
	size_t n = 0;
	for (size_t e = p->first_incidence[v]; e < p->first_incidence[v + 1]; e++) {
		const size_t i = p->incidences[e].contact;
		for (int k = 0; k < corners(c, i); k++) {
			const int32_t w = c->vertices[k][i];
			if (last_row[w] == v + 1 || !wanted(p->triangle, (int32_t)v, w))
				continue;
			last_row[w] = (uint32_t)v + 1;
			out[n++] = w;
		}
	}
	qsort(out, n, sizeof(*out), by_value);
	return n;
}

static bool list_neighbours(struct fric_pattern *p, const struct fric_contacts *c)
{
	size_t ceiling = 0;
	for (enum fric_type g = 0; g < FRIC_N_TYPES; g++) {
		const size_t k = (size_t)fric_stencil_size(g);
		ceiling += fric_group_size(c, g) * k * k;
	}
	uint32_t *last_row = calloc(p->n_vertices + 1, sizeof(uint32_t));
	p->first_neighbour = malloc((p->n_vertices + 1) * sizeof(size_t));
	p->neighbours = malloc((ceiling + 1) * sizeof(int32_t));
	const bool ok = last_row && p->first_neighbour && p->neighbours;
	for (size_t v = 0; v < p->n_vertices && ok; v++) {
		p->first_neighbour[v] = p->n_neighbours;
		p->n_neighbours += collect_neighbours(p, c, v, last_row, p->neighbours + p->n_neighbours);
	}
	if (ok)
		p->first_neighbour[p->n_vertices] = p->n_neighbours;
	free(last_row);
	return ok;
}

/* Entries of row (v, axis), written to out if it is not NULL. */
static size_t list_row(const struct fric_pattern *p, size_t v, size_t axis, int32_t *out)
{
	size_t n = 0;
	for (size_t e = p->first_neighbour[v]; e < p->first_neighbour[v + 1]; e++)
		for (size_t b = 0; b < p->dim; b++) {
			const int32_t row = (int32_t)(v * p->dim + axis), col = (int32_t)((size_t)p->neighbours[e] * p->dim + b);
			if (!wanted(p->triangle, row, col))
				continue;
			if (out)
				out[n] = col;
			n++;
		}
	return n;
}

static bool list_entries(struct fric_pattern *p)
{
	const size_t n_rows = p->n_vertices * p->dim;
	p->indptr = malloc((n_rows + 1) * sizeof(int64_t));
	if (!p->indptr)
		return false;
	p->indptr[0] = 0;
	for (size_t row = 0; row < n_rows; row++)
		p->indptr[row + 1] = p->indptr[row] + (int64_t)list_row(p, row / p->dim, row % p->dim, NULL);
	p->indices = malloc(((size_t)p->indptr[n_rows] + 1) * sizeof(int32_t));
	for (size_t row = 0; row < n_rows && p->indices; row++)
		list_row(p, row / p->dim, row % p->dim, p->indices + p->indptr[row]);
	return p->indices;
}

enum fric_code fric_pattern_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                   enum fric_triangle triangle, struct fric_pattern **pattern, struct fric_error *error)
{
	(void)context;
	struct fric_pattern *p = *pattern = calloc(1, sizeof(*p));
	if (p) {
		p->dim = (size_t)contacts->dim;
		p->n_vertices = contacts->n_vertices;
		p->triangle = triangle;
		for (enum fric_type g = 0; g < FRIC_N_TYPES; g++)
			p->n_incidences += fric_group_size(contacts, g) * (size_t)fric_stencil_size(g);
	}
	if (p && list_incidences(p, contacts) && list_neighbours(p, contacts) && list_entries(p))
		return FRIC_OK;
	fric_pattern_free(p);
	*pattern = NULL;
	return report_code(FRIC_E_MEMORY, error);
}

void fric_pattern_free(struct fric_pattern *pattern)
{
	if (!pattern)
		return;
	free(pattern->first_incidence);
	free(pattern->incidences);
	free(pattern->first_neighbour);
	free(pattern->neighbours);
	free(pattern->indptr);
	free(pattern->indices);
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

struct accumulation {
	const struct fric_pattern *pattern;
	const struct fric_contacts *contacts;
	block_row *row;
	void *task;
	double *data;
};

/* Position of w among the neighbours of v. */
static size_t find_neighbour(const struct fric_pattern *p, size_t v, int32_t w)
{
	const int32_t *first = p->neighbours + p->first_neighbour[v];
	const size_t n = p->first_neighbour[v + 1] - p->first_neighbour[v];
	const int32_t *found = bsearch(&w, first, n, sizeof(w), by_value);
	return (size_t)(found - first);
}

/* In a triangle only the diagonal block is cut: `upper` rows miss its first `axis` entries, `lower` rows its last ones. */
static void add_block(const struct fric_pattern *p, size_t v, size_t position, bool diagonal, const double block[9],
                      double *data)
{
	for (size_t a = 0; a < p->dim; a++) {
		double *row = data + p->indptr[v * p->dim + a];
		const size_t cut = p->triangle == FRIC_UPPER ? a : 0; /* entries missing at the row's start */
		for (size_t b = 0; b < p->dim; b++) {
			if (diagonal && !wanted(p->triangle, (int32_t)a, (int32_t)b))
				continue;
			row[position * p->dim + b - cut] += block[p->dim * a + b];
		}
	}
}

static void accumulate_vertex(const struct accumulation *task, size_t v)
{
	const struct fric_pattern *p = task->pattern;
	const struct fric_contacts *c = task->contacts;
	double blocks[FRIC_MAX_STENCIL][9];
	for (size_t e = p->first_incidence[v]; e < p->first_incidence[v + 1]; e++) {
		const size_t i = p->incidences[e].contact;
		task->row(task->task, i, (int)p->incidences[e].corner, blocks);
		for (int k = 0; k < corners(c, i); k++) {
			const int32_t w = c->vertices[k][i];
			if (wanted(p->triangle, (int32_t)v, w))
				add_block(p, v, find_neighbour(p, v, w), (size_t)w == v, blocks[k], task->data);
		}
	}
}

static void accumulate_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct accumulation *task = data;
	const struct fric_pattern *p = task->pattern;
	const int64_t first = p->indptr[begin * p->dim], last = p->indptr[end * p->dim];
	(void)chunk;
	memset(task->data + first, 0, (size_t)(last - first) * sizeof(double));
	for (size_t v = begin; v < end; v++)
		accumulate_vertex(task, v);
	for (int64_t e = first; e < last; e++)
		if (!isfinite(task->data[e])) {
			*fault = (struct fault){FRIC_E_NOT_FINITE, begin};
			return;
		}
}

struct fault pattern_accumulate(const struct fric_context *context, const struct fric_pattern *pattern,
                                const struct fric_contacts *contacts, block_row *row, void *task, double *data)
{
	struct accumulation accumulation = {pattern, contacts, row, task, data};
	return parallel_chunks(context, pattern->n_vertices, accumulate_chunk, &accumulation);
}

struct friction_blocks {
	const struct fric_contacts *contacts;
	const double *inner;
};

static void friction_block_row(void *data, size_t i, int corner, double blocks[FRIC_MAX_STENCIL][9])
{
	const struct friction_blocks *task = data;
	const struct fric_contacts *c = task->contacts;
	const enum fric_type type = contact_type(c, i);
	double w[FRIC_MAX_STENCIL] = {0}, block[9] = {0};
	stencil_weights(type, c->closest_point[0][i], c->closest_point[1][i], w);
	hessian_core_block(c, task->inner, i, block);
	for (int k = 0; k < fric_stencil_size(type); k++)
		for (int e = 0; e < c->dim * c->dim; e++)
			blocks[k][e] = (w[corner] * w[k]) * block[e];
}

enum fric_code fric_hessian_csr(const struct fric_context *context, const struct fric_contacts *contacts,
                                const double *inner, const struct fric_pattern *pattern, double *data,
                                struct fric_error *error)
{
	struct friction_blocks blocks = {contacts, inner};
	const struct fault fault = pattern_accumulate(context, pattern, contacts, friction_block_row, &blocks, data);
	return report_code(fault.code, error);
}

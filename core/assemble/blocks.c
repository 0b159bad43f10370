/* Whole blocks: the barrier's, plus friction's if the query has both. */
#include "core/assemble/blocks.h"

#include <math.h>
#include <string.h>

#include "core/assemble/hessian.h"
#include "core/barrier/block.h"
#include "core/barrier/mollifier.h"
#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/base/vectors.h"
#include "core/bodies/hessian.h"
#include "core/contacts/span.h"
#include "core/kernels/kernels.h"
#include "core/motion/stencil.h"

struct block_task {
	const struct fric_contacts *contacts;
	const struct fric_current *current;
	const struct fric_kernels *kernels;
	const double *friction; /* [n * fric_inner_size]; NULL: without friction */
	enum fric_projection projection;
	double factor;  /* of the barrier */
	double *blocks; /* of all contacts */
};

/* The contact in the form of block.inc. */
INLINE void load(enum fric_type type, const struct fric_current *current, size_t i, double factor,
                 struct block_contact *c)
{
	double *const *slide = current->slide;
	block_weights(type, current->closest_point[0][i], current->closest_point[1][i], c->w);
	for (int a = 0; a < 2; a++)
		block_changes(type, slide[2 * a][i], slide[2 * a + 1][i], c->omega[a]);
	for (int x = 0; x < 3; x++) {
		c->n[x] = current->normal[x][i];
		c->t[0][x] = current->tangent[x][i];
	}
	block_cross(c->n, c->t[0], c->t[1]);
	c->distance = current->distance[i];
	c->slope = factor * current->slope[i];
	c->curvature = factor * current->curvature[i];
	c->curved[0] = current->form[i] & FORM_CURVED_FIRST ? 1 : 0;
	c->curved[1] = current->form[i] & FORM_CURVED_SECOND ? 1 : 0;
}

/* Takes the components in the plane from a block in space. */
static void flatten(int k, const double *from, double *out)
{
	for (int i = first_stored(k); i < k; i++)
		for (int j = first_stored(k); j <= i; j++)
			for (int x = 0; x < 3; x++)
				for (int y = 0; y < (i == j ? x + 1 : 3); y++, from++)
					if (x < 2 && y < 2)
						*out++ = *from;
}

INLINE void barrier_block(enum fric_type type, const struct block_task *task, size_t i, double *out)
{
	const struct fric_current *current = task->current;
	const int k = stencil_size_of(type);
	double block[MOST_BLOCK_NUMBERS] = {0};
	if (current->distance[i] > 0) {
		struct block_contact c = {.distance = 0}; /* the analyzer does not see that all members are set */
		load(type, current, i, task->factor, &c);
		block_block(k, task->projection, &c, block);
	}
	if (task->contacts->dim == 2)
		flatten(k, block, out);
	else
		memcpy(out, block, n_block_numbers(3, k) * sizeof(double));
}

/* Adds friction's block, w w M. */
INLINE void add_friction(enum fric_type type, const struct block_task *task, size_t i, double *out)
{
	const struct fric_contacts *c = task->contacts;
	const int k = stencil_size_of(type), dim = c->dim;
	double w[FRIC_MAX_STENCIL] = {0}, m[9];
	weights_of_type(type, c->closest_point[0][i], c->closest_point[1][i], w);
	fricp_core_block(c, task->friction, i, m);
	for (int p = first_stored(k); p < k; p++)
		for (int q = first_stored(k); q <= p; q++)
			for (int x = 0; x < dim; x++)
				for (int y = 0; y < (p == q ? x + 1 : dim); y++)
					*out++ += (w[p] * w[q]) * m[dim * x + y];
}

/* ---- mollified contacts ---- */

/* Mollified contacts of a chunk, whose matrices are projected side by side. */
struct mollified {
	const struct block_task *task;
	size_t contacts[MOLLIFIED_AT_ONCE], n;
	struct mollified_matrices matrices;
};

static void plain_project(enum fric_projection projection, size_t n, struct mollified_matrices *matrices)
{
	for (size_t l = 0; l < n; l++) {
		double m[N_MOLLIFIED_MOTIONS][N_MOLLIFIED_MOTIONS];
		for (int p = 0; p < N_MOLLIFIED_MOTIONS; p++)
			for (int q = 0; q < N_MOLLIFIED_MOTIONS; q++)
				m[p][q] = matrices->m[p][q][l];
		block_project_nine(projection, m);
		for (int p = 0; p < N_MOLLIFIED_MOTIONS; p++)
			for (int q = 0; q <= p; q++)
				matrices->m[p][q][l] = m[p][q];
	}
}

static void report_lower(size_t i, struct fault *fault)
{
	if (fault->code == FRIC_OK || i < fault->position)
		*fault = (struct fault){FRIC_E_NOT_FINITE, i};
}

static void store_mollified(const struct mollified *all, size_t l, struct fault *fault)
{
	const struct block_task *task = all->task;
	const size_t i = all->contacts[l];
	double m[N_MOLLIFIED_MOTIONS][N_MOLLIFIED_MOTIONS],
		*out = task->blocks + block_at(task->contacts, FRIC_EDGE_EDGE, i);
	for (int p = 0; p < N_MOLLIFIED_MOTIONS; p++)
		for (int q = 0; q <= p; q++)
			m[p][q] = task->factor * all->matrices.m[p][q][l];
	fricp_mollified_block(m, out);
	if (task->friction && !task->contacts->skipped[i])
		add_friction(FRIC_EDGE_EDGE, task, i, out);
	if (!all_finite(out, MOST_BLOCK_NUMBERS))
		report_lower(i, fault);
}

/* Computes the blocks of the contacts that have been collected. */
static void finish_mollified(struct mollified *all, struct fault *fault)
{
	const struct block_task *task = all->task;
	if (task->projection != FRIC_PROJECT_NONE && all->n > 0) {
		if (task->kernels->project)
			task->kernels->project(task->projection, &all->matrices);
		else
			plain_project(task->projection, all->n, &all->matrices);
	}
	for (size_t l = 0; l < all->n; l++)
		store_mollified(all, l, fault);
	all->n = 0;
}

static void collect(struct mollified *all, size_t i, struct fault *fault)
{
	double m[N_MOLLIFIED_MOTIONS][N_MOLLIFIED_MOTIONS];
	fricp_mollified_matrix(all->task->current, i, m);
	if (all->n == 0)
		memset(&all->matrices, 0, sizeof(all->matrices));
	for (int p = 0; p < N_MOLLIFIED_MOTIONS; p++)
		for (int q = 0; q < N_MOLLIFIED_MOTIONS; q++)
			all->matrices.m[p][q][all->n] = m[p][q];
	all->contacts[all->n++] = i;
	if (all->n == MOLLIFIED_AT_ONCE)
		finish_mollified(all, fault);
}

/* ---- spans ---- */

/* The barrier's blocks of a span, by a kernel where there is one. Mollified contacts get placeholders.
 * @return whether there are any */
INLINE bool barrier_blocks(enum fric_type type, const struct block_task *task, struct span span, size_t n, double *out)
{
	const struct fric_current *current = task->current;
	size_t n_done = 0;
	uint8_t forms = 0;
	if (task->kernels->blocks && task->contacts->dim == 3)
		n_done = task->kernels->blocks(current, span, task->factor, task->projection, out);
	for (size_t j = 0; j < span.n; j++) {
		const size_t i = span.begin + j;
		forms |= current->form[i];
		if (current->form[i] & FORM_MOLLIFIED)
			memset(out + j * n, 0, n * sizeof(double));
		else if (j >= n_done || !(current->distance[i] > 0))
			barrier_block(type, task, i, out + j * n);
	}
	return type == FRIC_EDGE_EDGE && (forms & FORM_MOLLIFIED);
}

INLINE void span_blocks(enum fric_type type, const struct block_task *task, struct span span, struct mollified *all,
                        double *out, struct fault *fault)
{
	const size_t n = n_block_numbers(task->contacts->dim, stencil_size_of(type));
	const bool any_mollified = barrier_blocks(type, task, span, n, out);
	for (size_t j = 0; j < span.n && task->friction; j++)
		if (!task->contacts->skipped[span.begin + j])
			add_friction(type, task, span.begin + j, out + j * n);
	if (!all_finite(out, span.n * n)) {
		size_t j = 0;
		while (all_finite(out + j * n, n))
			j++;
		*fault = (struct fault){FRIC_E_NOT_FINITE, span.begin + j};
	}
	for (size_t j = 0; j < span.n && any_mollified; j++)
		if (task->current->form[span.begin + j] & FORM_MOLLIFIED)
			collect(all, span.begin + j, fault);
}

static void block_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct block_task *task = data;
	struct mollified mollified = {.task = task, .n = 0};
	(void)chunk;
	for (size_t at = begin; at < end && fault->code == FRIC_OK;) {
		const struct span span = next_span(task->contacts, at, end);
		double *out = task->blocks + block_at(task->contacts, span.type, at);
		FOR_TYPE(span_blocks, span.type, task, span, &mollified, out, fault)
		at += span.n;
	}
	finish_mollified(&mollified, fault);
}

struct fault fricp_blocks(const struct fric_context *context, const struct fric_contacts *contacts,
                          const struct fric_query *query, enum fric_projection projection, double *inner)
{
	const bool both = terms_of(query) & FRIC_TERM_FRICTION;
	const size_t bytes = both ? contacts->n * (size_t)fric_inner_size(contacts->dim) * sizeof(double) : 0;
	struct block_task task = {.contacts = contacts_for(contacts, query),
	                          .current = query->current,
	                          .kernels = fricp_kernels_of(context),
	                          .projection = projection,
	                          .factor = time_step_of(query),
	                          .blocks = inner};
	struct fault fault = {FRIC_OK, SIZE_MAX};
	double *friction = both ? memory_take(context->memory, bytes) : NULL;
	if (both && !friction)
		return (struct fault){FRIC_E_MEMORY, SIZE_MAX};
	if (both)
		fault = fricp_friction_inner(context, task.contacts, query, projection, friction);
	task.friction = friction;
	if (fault.code == FRIC_OK)
		fault = fricp_parallel_chunks(context, contacts->n, block_chunk, &task);
	inner[n_all_blocks(contacts)] = 1;
	inner[n_all_blocks(contacts) + 1] = 0;
	memory_give(context->memory, friction, bytes);
	return fault;
}

/* ---- either form ---- */

enum fric_code fric_hessian_inner(const struct fric_context *context, const struct fric_contacts *contacts,
                                  const struct fric_query *query, enum fric_projection projection, double *inner,
                                  struct fric_error *error)
{
	if (terms_of(query) & FRIC_TERM_BARRIER)
		return fricp_report_fault(contacts, fricp_blocks(context, contacts, query, projection, inner), error);
	if (contacts->terms & FRIC_TERM_BARRIER)
		inner[n_all_blocks(contacts)] = 0;
	const struct fault fault = fricp_friction_inner(context, contacts_for(contacts, query), query, projection, inner);
	if (fault.code != FRIC_OK || !contacts->bodies)
		return fricp_report_fault(contacts, fault, error);
	return fricp_bodies_inner(context, contacts, query, projection, inner, NULL, error);
}

size_t fric_n_inner(const struct fric_contacts *contacts)
{
	const struct fric_contacts *b = contacts->bodies;
	if (contacts->terms & FRIC_TERM_BARRIER)
		return n_all_blocks(contacts) + N_BEHIND_BLOCKS;
	return first_body_inner(contacts) + (b ? b->n * body_inner_size(b->dim) : 0);
}

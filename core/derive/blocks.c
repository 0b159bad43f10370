#include "core/derive/blocks.h"

#include <math.h>

#include "core/base/memory.h"
#include "core/base/vectors.h"
#include "core/kernels/kernels.h"
#include "core/motion/dofs.h"
#include "core/motion/scatter.h"
#include "core/motion/stencil.h"
#include "core/order/sweep.h"

/* With one thread a block stays in the second-level cache; with more, it is worth a region. */
enum { SPANS_ALONE = 16, SPANS_PER_THREAD = 256, MOST_SPANS = 4096, FILL_CHUNK = 8, PARTS_PER_THREAD = 4 };

/* A block at work: spans [begin, end) of the sweep, and the vertices that they touch, divided into parts. */
struct block {
	const struct blocks *blocks;
	const struct gamma *gamma;
	double *columns; /* [end - begin, n_columns, FRIC_SPAN] */
	size_t begin, end, n_parts;
	int32_t lowest, highest;
};

static span_columns *columns_at(const struct block *block, size_t i)
{
	return (span_columns *)(void *)(block->columns + (i - block->begin) * block->blocks->n_columns * FRIC_SPAN);
}

/* Goes on after a fault: a lower one may come later. */
static void fill_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct block *block = data;
	(void)chunk;
	for (size_t i = block->begin + begin; i < block->begin + end; i++) {
		struct fault here = {FRIC_OK, SIZE_MAX};
		block->blocks->fill(block->blocks->task, sweep_span(block->blocks->contacts, i), columns_at(block, i), &here);
		if (here.code != FRIC_OK && here.position < fault->position)
			*fault = here;
	}
}

/* Vertices [first, last). */
struct range {
	int32_t first, last;
};

static void add_members(const struct fric_contacts *c, const struct vertex_sums *sums, struct span span,
                        span_columns *columns, struct range range)
{
	for (int k = 0; k < fric_stencil_size(span.type); k++)
		for (size_t j = 0; j < span.n; j++) {
			const int32_t v = c->vertices[k][span.begin + j];
			if (v < range.first || v >= range.last)
				continue;
			for (int d = 0; d < sums->width; d++)
				sums->out[v * sums->width + d] += columns[sums->first + k * sums->per_member + d][j];
		}
}

static void add_weighted(const struct block *block, const struct vertex_sums *sums, struct span span,
                         span_columns *columns, struct range range)
{
	const struct scatter scatter = {.contacts = block->blocks->contacts,
	                                .gamma = block->gamma,
	                                .gradient = sums->out,
	                                .first = range.first,
	                                .last = range.last};
	fricp_scatter_columns(&scatter, span, columns[sums->first]);
}

static void add_span(const struct block *block, size_t i, struct range range)
{
	const struct blocks *b = block->blocks;
	const struct span_extent extent = sweep_extent(b->contacts, i);
	if (extent.highest < range.first || extent.lowest >= range.last)
		return;
	for (int s = 0; s < b->n_sums; s++) {
		if (b->sums[s].per_member)
			add_members(b->contacts, &b->sums[s], sweep_span(b->contacts, i), columns_at(block, i), range);
		else
			add_weighted(block, &b->sums[s], sweep_span(b->contacts, i), columns_at(block, i), range);
	}
}

static void tally_all(const struct block *block)
{
	for (size_t i = block->begin; i < block->end; i++)
		block->blocks->tally(block->blocks->task, sweep_span(block->blocks->contacts, i), columns_at(block, i));
}

static struct range part_of(const struct block *block, size_t part)
{
	const size_t n = (size_t)(block->highest - block->lowest) + 1;
	return (struct range){block->lowest + (int32_t)(part * n / block->n_parts),
	                      block->lowest + (int32_t)((part + 1) * n / block->n_parts)};
}

/* What is added up over contacts comes first: it is one thread's. */
static void sum_part(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct block *block = data;
	(void)begin, (void)end, (void)fault;
	if (chunk == 0 && block->blocks->tally)
		tally_all(block);
	if (chunk == 0)
		return;
	const struct range range = part_of(block, chunk - 1);
	for (size_t i = block->begin; i < block->end && range.first < range.last; i++)
		add_span(block, i, range);
}

static void find_vertices(struct block *block)
{
	block->lowest = INT32_MAX;
	block->highest = 0;
	for (size_t i = block->begin; i < block->end; i++) {
		const struct span_extent e = sweep_extent(block->blocks->contacts, i);
		block->lowest = e.lowest < block->lowest ? e.lowest : block->lowest;
		block->highest = e.highest > block->highest ? e.highest : block->highest;
	}
}

static struct fault run_block(struct block *block, int n_threads)
{
	block->n_parts = n_threads == 1 ? 1 : (size_t)n_threads * PARTS_PER_THREAD;
	find_vertices(block);
	const struct phase phases[] = {{fill_chunk, block->end - block->begin, FILL_CHUNK, false, NULL},
	                               {sum_part, block->n_parts + 1, 1, false, NULL}};
	return fricp_parallel_phases(block->blocks->context, n_threads, phases, 2, block);
}

static struct fault run_blocks(struct block *block, size_t n_spans, int n_threads)
{
	const size_t n = block->blocks->contacts->n_spans;
	struct fault fault = {FRIC_OK, SIZE_MAX};
	for (block->begin = 0; block->begin < n && fault.code == FRIC_OK; block->begin = block->end) {
		block->end = n - block->begin < n_spans ? n : block->begin + n_spans;
		fault = run_block(block, n_threads);
	}
	return fault;
}

static size_t n_numbers(const struct blocks *blocks, const struct vertex_sums *sums)
{
	return blocks->contacts->n_vertices * (size_t)sums->width;
}

static bool sums_finite(const struct blocks *blocks)
{
	bool finite = true;
	for (int s = 0; s < blocks->n_sums; s++)
		finite &= all_finite(blocks->sums[s].out, n_numbers(blocks, &blocks->sums[s]));
	return finite;
}

/* A block stops at its own lowest fault, but the sweep is not in the order of the contacts. */
static void find_fault(void *data, struct span span, struct fault *fault)
{
	const struct block *all = data;
	double *columns = memory_take(all->blocks->context->memory, all->blocks->n_columns * sizeof(span_columns));
	if (columns)
		all->blocks->fill(all->blocks->task, span, (span_columns *)(void *)columns, fault);
	else
		*fault = (struct fault){FRIC_E_MEMORY, span.begin};
	memory_give(all->blocks->context->memory, columns, all->blocks->n_columns * sizeof(span_columns));
}

static struct fault settle(struct block *block, struct fault fault)
{
	const struct fric_contacts *c = block->blocks->contacts;
	if (fault.code == FRIC_E_NOT_FINITE)
		return fricp_sweep_run(block->blocks->context, c, find_fault, block);
	if (fault.code == FRIC_OK && !sums_finite(block->blocks))
		return (struct fault){FRIC_E_NOT_FINITE, c->n};
	return fault;
}

static void clear_sums(const struct blocks *blocks)
{
	for (int s = 0; s < blocks->n_sums; s++)
		fricp_zero(blocks->context, blocks->sums[s].out, n_numbers(blocks, &blocks->sums[s]) * sizeof(double));
}

struct fault fricp_blocks_run(const struct blocks *blocks)
{
	const struct fric_context *context = blocks->context;
	const int n_threads = fricp_team_size(context, blocks->contacts->n);
	const size_t most = n_threads == 1 ? SPANS_ALONE : (size_t)n_threads * SPANS_PER_THREAD;
	const size_t n_spans = most < MOST_SPANS ? most : MOST_SPANS;
	const size_t bytes = n_spans * blocks->n_columns * sizeof(span_columns);
	struct block block = {.blocks = blocks, .gamma = fricp_kernels_of(context)->gamma};
	clear_sums(blocks);
	block.columns = memory_take(context->memory, bytes);
	if (!block.columns)
		return (struct fault){FRIC_E_MEMORY, SIZE_MAX};
	const struct fault fault = run_blocks(&block, n_spans, n_threads);
	memory_give(context->memory, block.columns, bytes);
	return settle(&block, fault);
}

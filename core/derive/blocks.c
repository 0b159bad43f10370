#include "core/derive/blocks.h"

#include "core/base/memory.h"
#include "core/kernels/kernels.h"
#include "core/order/sums.h"

struct run {
	const struct blocks *blocks;
	double *kept; /* [n_spans, n_kept, FRIC_SPAN] by position in the sweep; NULL: spans are processed in this order */
	double *columns; /* [n_parts, n_columns, FRIC_SPAN] */
};

static void add_span(const struct summation *sums, struct part part, size_t position, struct fault *fault)
{
	const struct run *run = sums->task;
	const struct blocks *b = run->blocks;
	span_columns *columns = (span_columns *)(void *)(run->columns + part.number * b->n_columns * FRIC_SPAN);
	const struct span span = sweep_span(sums->contacts, position);
	b->fill(b->task, span, columns, fault);
	if (b->n_kept && !run->kept && fault->code == FRIC_OK)
		b->tally(b->task, span, columns + b->first_kept);
	if (run->kept)
		memcpy(run->kept + position * b->n_kept * FRIC_SPAN, columns[b->first_kept], b->n_kept * sizeof(span_columns));
	for (int s = 0; s < b->n_sums; s++) {
		if (b->sums[s].per_member)
			fricp_scatter_members(&sums->sums[s], position, b->sums[s].per_member, columns[b->sums[s].first]);
		else
			fricp_scatter_columns(&sums->sums[s], position, columns[b->sums[s].first]);
	}
}

static void tally_all(const struct run *run)
{
	const struct blocks *b = run->blocks;
	for (size_t i = 0; i < b->contacts->n_spans; i++) {
		double *kept = run->kept + i * b->n_kept * FRIC_SPAN;
		b->tally(b->task, sweep_span(b->contacts, i), (span_columns *)(void *)kept);
	}
}

static size_t list_sums(const struct blocks *b, struct scatter *sums)
{
	for (int s = 0; s < b->n_sums; s++)
		sums[s] = (struct scatter){
			.gamma = fricp_kernels_of(b->context)->gamma, .sums = b->sums[s].out, .width = b->sums[s].width};
	return (size_t)b->n_sums;
}

static struct fault run_spans(struct summation *sums)
{
	struct run *run = sums->task;
	const struct blocks *b = run->blocks;
	const size_t n_parts = sums_n_parts(sums), kept = n_parts > 1 ? b->contacts->n_spans * b->n_kept : 0;
	const size_t bytes = (kept + n_parts * b->n_columns) * sizeof(span_columns);
	run->columns = memory_take(b->context->memory, bytes);
	if (!run->columns)
		return (struct fault){FRIC_E_MEMORY, SIZE_MAX};
	run->kept = kept ? run->columns + n_parts * b->n_columns * FRIC_SPAN : NULL;
	const struct fault fault = fricp_sums_run(sums);
	if (fault.code == FRIC_OK && kept)
		tally_all(run);
	memory_give(b->context->memory, run->columns, bytes);
	return fault;
}

struct fault fricp_blocks_run(const struct blocks *blocks)
{
	struct scatter at[MOST_VERTEX_SUMS];
	struct run run = {.blocks = blocks};
	struct summation sums = {.context = blocks->context,
	                         .contacts = blocks->contacts,
	                         .schedule = blocks->schedule,
	                         .sums = at,
	                         .n_sums = list_sums(blocks, at),
	                         .span = add_span,
	                         .task = &run};
	return fricp_sums_scheduled(&sums, run_spans);
}

/* The Hessian times vectors, from the contacts' inner matrices: no block is formed. */
#include <math.h>

#include "core/base/memory.h"
#include "core/kernels/product.h"
#include "core/kernels/run.h"
#include "core/motion/dofs.h"
#include "core/motion/scatter.h"
#include "core/order/schedule.h"
#include "core/order/sweep.h"

/* So many spans take their turn with all vectors, one after the other: what is known of their contacts stays in the
 * second-level cache meanwhile. */
enum { SPANS_AT_A_TIME = 128 };

struct products {
	const struct fric_context *context;
	struct kernel_task kernel; /* of the inner matrices */
	struct product_task product;
	const struct fric_schedule *schedule;
	const double *vectors; /* [n_vectors, n_dofs] */
	double *out;           /* the same */
	size_t n_dofs, n_vectors;
	size_t first, end; /* vectors that are multiplied now */
	double *forces;    /* [n, dim] for one vector, if the schedule keeps forces; else NULL */
	double *block;     /* what inner matrices and forces lie in */
	size_t block_bytes;
};

static void inner_span(void *data, struct span span, struct fault *fault)
{
	const struct products *task = data;
	struct workspace work;
	if (!fricp_run_span(&task->kernel, span, &work, fault))
		return;
	for (int e = 0; e < fric_inner_size(task->product.contacts->dim); e++)
		memcpy(task->product.inner[e] + span.begin, work.inner[e], span.n * sizeof(double));
}

static void forces_span(void *data, struct span span, struct fault *fault)
{
	const struct products *task = data;
	const size_t dim = (size_t)task->product.contacts->dim;
	struct workspace work;
	if (fricp_product_forces(&task->product, span, task->vectors + task->first * task->n_dofs, work.force[0], fault))
		forces_in_rows(dim, span, &work, task->forces + span.begin * dim);
}

static void forces_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	struct products *task = data;
	struct sweep sweep = {task->product.contacts, forces_span, task};
	fricp_sweep_chunk(&sweep, chunk, begin, end, fault);
}

/* Where the products of a vector are added up. */
static struct scatter scatter_of(const struct products *task, struct part part, size_t l, int32_t opened)
{
	const double *vector = task->vectors + l * task->n_dofs;
	const bool plain = task->product.kernels == &fricp_kernels_scalar;
	return (struct scatter){.contacts = task->product.contacts,
	                        .gamma = plain ? NULL : task->product.kernels->gamma,
	                        .velocities = task->forces ? NULL : vector,
	                        .gradient = task->out + l * task->n_dofs,
	                        .ordinary = fricp_product_is_bounded(&task->product),
	                        .first = part.first,
	                        .last = part.last,
	                        .opened = opened};
}

static bool add_span(const struct products *task, struct scatter *scatter, struct span span, struct fault *fault)
{
	double forces[3 * FRIC_SPAN];
	fricp_scatter_reach(scatter, span);
	if (task->forces) {
		fricp_scatter_rows(scatter, span, task->forces + span.begin * (size_t)scatter->contacts->dim);
		return true;
	}
	if (!fricp_product_forces(&task->product, span, scatter->velocities, forces, fault))
		return false;
	fricp_scatter_columns(scatter, span, forces);
	return true;
}

/* Spans [begin, end) of a part and one vector. @return how far its sums are opened; < 0 after a fault */
static int32_t add_spans(const struct products *task, struct part part, size_t begin, size_t end,
                         struct scatter scatter, struct fault *fault)
{
	const struct fric_contacts *c = task->product.contacts;
	for (size_t i = begin; i < end; i++)
		if (!add_span(task, &scatter, span_at(c, (size_t)c->extents[part.slots[i]].begin), fault))
			return -1;
	return scatter.opened;
}

static bool close_part(const struct products *task, struct part part, int32_t opened)
{
	bool finite = true;
	for (size_t l = task->first; l < task->end; l++) {
		struct scatter scatter = scatter_of(task, part, l, opened);
		finite &= fricp_scatter_close(&scatter);
	}
	return finite;
}

/* As fric_evaluate adds forces up: the vertices of a part belong to one thread. */
static void work_on_part(void *data, size_t index, size_t begin, size_t end, struct fault *fault)
{
	const struct products *task = data;
	const struct part part = fricp_schedule_part(task->product.contacts, task->schedule, index);
	int32_t opened = part.first;
	(void)end;
	for (begin = 0; begin < part.n_slots; begin += SPANS_AT_A_TIME) {
		const size_t left = part.n_slots - begin, n = left < SPANS_AT_A_TIME ? left : SPANS_AT_A_TIME;
		int32_t now = opened;
		for (size_t l = task->first; l < task->end; l++) {
			now = add_spans(task, part, begin, begin + n, scatter_of(task, part, l, opened), fault);
			if (now < 0 || fricp_stop_raised(task->context))
				return; /* fricp_parallel_phases looks at the flag afterwards */
		}
		opened = now;
	}
	if (!close_part(task, part, opened))
		*fault = (struct fault){FRIC_E_NOT_FINITE, task->product.contacts->n};
}

static struct fault run_phases(struct products *task, const struct phase *phases, int n_phases)
{
	const int n_threads = fricp_team_size(task->context, task->product.contacts->n);
	return fricp_parallel_phases(task->context, n_threads, phases, n_phases, task);
}

/* All vectors at once; one after the other where forces are kept. */
static struct fault multiply(struct products *task)
{
	const struct fric_contacts *c = task->product.contacts;
	const struct phase phases[] = {{forces_chunk, c->n_spans, SWEEP_CHUNK, false, NULL},
	                               {work_on_part, task->schedule->n_parts, 1, false, NULL}};
	struct fault fault = {FRIC_OK, SIZE_MAX};
	task->first = 0;
	task->end = task->n_vectors;
	if (!task->forces)
		return run_phases(task, phases + 1, 1);
	for (; task->first < task->n_vectors && fault.code == FRIC_OK; task->first++) {
		task->end = task->first + 1;
		fault = run_phases(task, phases, 2);
	}
	return fault;
}

/* Whole cache lines of numbers. */
static size_t lines_of(size_t n)
{
	return (n + 7) / 8 * 8;
}

static bool allocate(struct products *task)
{
	const struct fric_contacts *c = task->product.contacts;
	const size_t column = lines_of(c->n), m = (size_t)fric_inner_size(c->dim),
				 forces = task->schedule->keeps_forces ? c->n * (size_t)c->dim : 0;
	task->block_bytes = (m * column + forces) * sizeof(double);
	task->block = memory_take(task->context->memory, task->block_bytes);
	if (!task->block)
		return false;
	for (size_t e = 0; e < m; e++)
		task->product.inner[e] = task->block + e * column;
	task->forces = forces ? task->block + m * column : NULL;
	return true;
}

/* A fault of the kernels may be one of intermediate values alone; the plain form decides, and knows the contact. */
static struct fault run(struct products *task)
{
	struct fault fault = {FRIC_E_MEMORY, SIZE_MAX};
	if (!allocate(task))
		return fault;
	fault = fricp_sweep_run(task->context, task->product.contacts, inner_span, task);
	if (fault.code == FRIC_OK)
		fault = multiply(task);
	if (fault.code == FRIC_E_NOT_FINITE && fault.position == task->product.contacts->n) {
		task->product.kernels = &fricp_kernels_scalar;
		fault = multiply(task);
	}
	memory_give(task->context->memory, task->block, task->block_bytes);
	return fault;
}

enum fric_code fric_hessian_products(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const struct fric_question *question, enum fric_projection projection,
                                     size_t n_vectors, const double *vectors, double *products,
                                     struct fric_error *error)
{
	struct products task = {.context = context,
	                        .kernel = fricp_kernel_task(context, contacts, question, KERNEL_INNER),
	                        .product = {.contacts = contacts, .kernels = fricp_kernels_of(context)},
	                        .schedule = question->schedule,
	                        .vectors = vectors,
	                        .out = products,
	                        .n_dofs = n_dofs(contacts),
	                        .n_vectors = n_vectors};
	struct fric_schedule own = {0};
	struct fault fault = {FRIC_E_MEMORY, SIZE_MAX};
	if (n_vectors == 0)
		return FRIC_OK;
	task.kernel.projection = projection;
	if (task.schedule)
		return fricp_report_fault(contacts, run(&task), error);
	task.schedule = &own;
	if (fricp_schedule_make(context->memory, contacts, fricp_team_size(context, contacts->n), &own))
		fault = run(&task);
	fricp_schedule_clear(&own);
	return fricp_report_fault(contacts, fault, error);
}

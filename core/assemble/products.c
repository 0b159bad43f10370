/* The Hessian times vectors, from the contacts' inner matrices, without forming blocks. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/assemble/barrier.h"
#include "core/base/memory.h"
#include "core/bodies/hessian.h"
#include "core/kernels/product.h"
#include "core/kernels/run.h"
#include "core/motion/dofs.h"
#include "core/motion/lanes.h"
#include "core/order/sums.h"
#include "core/order/sweep.h"

enum {
	/* Number of spans that are multiplied by one vector before the next vector follows, so that their contacts' data
	 * stay in the second-level cache. */
	SPANS_AT_A_TIME = 128,
	MOST_DEFERRED = 1 << 20, /* deferred values; limits the number of vectors that are multiplied together */
	RING_NUMBERS = 3 * LANES * RING,
	RINGS = 2 * RING_NUMBERS + RING_NUMBERS / LANES,
};

struct products {
	const struct fric_context *context;
	struct kernel_task kernel; /* evaluates the inner matrices */
	struct product_task product;
	const double *vectors; /* [n_vectors, n_dofs] */
	double *out;           /* [n_vectors, n_dofs] */
	size_t n_dofs, n_vectors;
	/* Memory for the rings, one room per thread. */
	double *rooms;
	size_t room, n_rooms; /* size of a room in doubles, 0 if no vectors are multiplied together; number of rooms */
	atomic_flag *taken;   /* [n_rooms] */
	struct scatter *at;   /* [n_vectors] sums of the products */
	double *block;        /* allocation that holds these arrays and the inner matrices */
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

/* ---- one vector at a time ---- */

static bool is_plain(const struct products *task)
{
	return task->product.kernels == &fricp_kernels_scalar;
}

static void multiply_span(const struct products *task, const struct scatter *at, size_t position, struct fault *fault)
{
	double forces[3 * FRIC_SPAN];
	struct fault here = {FRIC_OK, SIZE_MAX};
	if (fricp_product_forces(&task->product, sweep_span(at->contacts, position), at->velocities, forces, &here))
		fricp_scatter_columns(at, position, forces);
	else if (here.position < fault->position)
		*fault = here; /* continue, because a lower contact may have a fault too */
}

static void multiply_in_turn(const struct summation *sums, struct part part, struct fault *fault)
{
	const struct products *task = sums->task;
	for (size_t begin = part.begin, end; begin < part.end; begin = end) {
		end = part.end - begin < SPANS_AT_A_TIME ? part.end : begin + SPANS_AT_A_TIME;
		for (size_t l = 0; l < sums->n_sums; l++) {
			for (size_t i = begin; i < end; i++) {
				fricp_scatter_reach(&sums->sums[l], part, i);
				multiply_span(task, &sums->sums[l], i, fault);
			}
			if (fricp_stop_raised(task->context))
				return; /* fricp_parallel_phases checks the flag afterwards */
		}
	}
}

/* ---- several vectors at once ---- */

/* Up to LANES vectors that a part multiplies together, in a ring (motion/lanes.h). */
struct passage {
	const struct fric_contacts *contacts;
	const struct gamma *gamma;
	struct part part;
	struct lanes_ring ring;
	double *from, *unread;    /* the ring's vectors; a buffer for unused lanes, never read */
	const struct scatter *at; /* [n] */
	size_t n;
	int32_t low, high; /* the ring holds vertices [low, high), in whole blocks */
	size_t position;   /* position of the next span */
};

/* The sums of lane l. Lanes beyond the last vector repeat it. */
static const struct scatter *vector_at(const struct passage *p, size_t l)
{
	return &p->at[l < p->n ? l : p->n - 1];
}

static size_t n_dofs_of(int32_t n_vertices)
{
	return vertex_dof(3, (size_t)n_vertices);
}

/* The first vertex of the next block, or the end of all vertices. */
static int32_t block_end(const struct passage *p, int32_t vertex)
{
	const int32_t end = (vertex / BLOCK_VERTICES + 1) * BLOCK_VERTICES, n = (int32_t)p->contacts->n_vertices;
	return end < n ? end : n;
}

/* The state of a block's sums: written by another part, not yet written by this part, or already written. */
enum state { OTHERS, UNTOUCHED, TOUCHED };

static enum state state_of(const struct passage *p, int32_t vertex)
{
	const size_t reached = (size_t)p->contacts->reached[vertex / BLOCK_VERTICES];
	if (reached < p->part.begin || reached >= p->part.end)
		return OTHERS;
	return reached < p->position ? TOUCHED : UNTOUCHED;
}

/* The end of the run of blocks from `begin` on that have the same state and are contiguous in the ring. */
static int32_t stretch(const struct passage *p, int32_t begin, int32_t end)
{
	int32_t at = block_end(p, begin);
	while (at < end && at % RING != 0 && state_of(p, at) == state_of(p, begin))
		at = block_end(p, at);
	return at < end ? at : end;
}

static void enter_vectors(const struct passage *p, int32_t begin, int32_t end)
{
	const double *at[LANES];
	for (size_t l = 0; l < LANES; l++)
		at[l] = vector_at(p, l)->velocities + n_dofs_of(begin);
	p->gamma->enter(at, n_dofs_of(end - begin), p->from + ring_row(begin));
}

static void continue_sums(const struct passage *p, int32_t begin, int32_t end)
{
	const double *at[LANES];
	for (size_t l = 0; l < LANES; l++)
		at[l] = vector_at(p, l)->sums + n_dofs_of(begin);
	p->gamma->enter(at, n_dofs_of(end - begin), p->ring.to + ring_row(begin));
}

static void leave_sums(const struct passage *p, int32_t begin, int32_t end)
{
	double *at[LANES];
	for (size_t l = 0; l < LANES; l++)
		at[l] = l < p->n ? p->at[l].sums + n_dofs_of(begin) : p->unread;
	p->gamma->leave(p->ring.to + ring_row(begin), n_dofs_of(end - begin), at);
}

static void enter(struct passage *p, int32_t end)
{
	for (int32_t at = p->high, to; at < end; at = to) {
		to = stretch(p, at, end);
		enter_vectors(p, at, to);
		if (state_of(p, at) == TOUCHED)
			continue_sums(p, at, to);
		else
			memset(p->ring.to + ring_row(at), 0, LANES * n_dofs_of(to - at) * sizeof(double));
	}
	p->high = end;
}

static void leave(struct passage *p, int32_t end)
{
	for (int32_t at = p->low, to; at < end; at = to) {
		to = stretch(p, at, end);
		if (state_of(p, at) != OTHERS)
			leave_sums(p, at, to);
	}
	p->low = end;
}

/* Extends a load beyond the span's vertices as long as the ring has room, because loading a few vertices at a time is
 * slow. */
static int32_t look_ahead(const struct passage *p, int32_t needed)
{
	enum { AHEAD = 256 };
	const int32_t n = (int32_t)p->contacts->n_vertices, end = needed + AHEAD < n ? needed + AHEAD : n;
	return end - p->low > RING ? p->low + RING : end;
}

/* Loads the vertices of a span into the ring. They must span fewer than RING / 2. */
static void reach(struct passage *p, struct span_extent e)
{
	const int32_t lowest = e.lowest / BLOCK_VERTICES * BLOCK_VERTICES, needed = block_end(p, e.highest);
	if (lowest < p->low || lowest > p->high) {
		leave(p, p->high);
		p->low = p->high = lowest;
	}
	if (needed <= p->high)
		return;
	if (needed - p->low > RING) {
		const int32_t most = (needed - 3 * (RING / 4)) / BLOCK_VERTICES * BLOCK_VERTICES;
		leave(p, most < lowest ? most : lowest); /* leave some room below: the next spans begin a little lower */
	}
	enter(p, look_ahead(p, needed));
}

/* Whether a span's vertices fit into the ring together. */
static bool is_near(struct span_extent e)
{
	return e.highest - e.lowest < RING / 2;
}

/* Multiplies a span by all vectors, one at a time if the span's vertices are far apart. */
static void pass_span(const struct products *task, struct passage *p, struct fault *fault)
{
	const struct span_extent e = sweep_extent(p->contacts, p->position);
	if (is_near(e)) {
		reach(p, e);
		p->ring.places = p->at->schedule ? schedule_places(p->at->schedule, p->position) : NULL;
		if (!task->product.kernels->products(p->contacts, sweep_span(p->contacts, p->position), task->product.inner,
		                                     &p->ring))
			*fault = (struct fault){FRIC_E_NOT_FINITE, p->contacts->n};
		return;
	}
	leave(p, p->high);
	for (size_t l = 0; l < p->n; l++) {
		fricp_scatter_open(&p->at[l], p->position);
		multiply_span(task, &p->at[l], p->position, fault);
	}
}

/* A room that no other thread uses. One is always free, because there are as many as threads. */
static double *take_room(const struct products *task, size_t *which)
{
	for (*which = 0; atomic_flag_test_and_set(&task->taken[*which]);)
		*which = (*which + 1) % task->n_rooms;
	return task->rooms + *which * task->room;
}

static void multiply_at_once(const struct summation *sums, struct part part, struct fault *fault)
{
	const struct products *task = sums->task;
	size_t which;
	double *room = take_room(task, &which);
	for (size_t first = 0; first < sums->n_sums; first += LANES) {
		struct passage p = {.contacts = sums->contacts,
		                    .gamma = task->product.kernels->gamma,
		                    .part = part,
		                    .ring = {room, room + RING_NUMBERS, NULL, sums->sums[first].deferred},
		                    .from = room,
		                    .unread = room + 2 * RING_NUMBERS,
		                    .at = sums->sums + first,
		                    .n = sums->n_sums - first < LANES ? sums->n_sums - first : LANES};
		for (p.position = part.begin; p.position < part.end && !fricp_stop_raised(task->context); p.position++)
			pass_span(task, &p, fault);
		leave(&p, p.high);
	}
	atomic_flag_clear(&task->taken[which]);
}

/* ---- all vectors ---- */

/* Whether to multiply several vectors together. This does not pay for few vectors, because moving them into rows costs
 * more than it saves, nor if the vertices of most spans are far apart. */
static bool goes_at_once(const struct products *task, const struct fric_schedule *schedule, size_t n)
{
	const struct fric_contacts *c = task->product.contacts;
	size_t n_near = 0;
	if (n < LANES / 2 || !fricp_product_is_bounded(&task->product) || (schedule && schedule->by_vertex))
		return false;
	for (size_t i = 0; i < c->n_spans; i++)
		n_near += is_near(sweep_extent(c, i));
	return n_near * 2 > c->n_spans;
}

/* The number of vectors multiplied together, limited by the space for deferred values. */
static size_t n_together(const struct products *task, const struct summation *sums)
{
	const size_t each = sums->schedule ? sums->schedule->n_deferred * (size_t)task->product.contacts->dim : 0;
	const size_t most = each ? MOST_DEFERRED / each : task->n_vectors;
	const size_t n = most < task->n_vectors ? most : task->n_vectors;
	return n >= LANES ? n / LANES * LANES : n ? n : 1;
}

static struct fault multiply(struct products *task, struct summation *sums)
{
	const size_t together = n_together(task, sums);
	struct fault lowest = {FRIC_OK, SIZE_MAX};
	for (size_t first = 0, n; first < task->n_vectors; first += n) {
		n = task->n_vectors - first < together ? task->n_vectors - first : together;
		sums->sums = task->at + first;
		sums->n_sums = n;
		sums->n_lanes = task->room && !is_plain(task) && n >= LANES / 2 ? LANES : 1;
		sums->part = sums->n_lanes == LANES ? multiply_at_once : multiply_in_turn;
		for (size_t l = 0; l < n; l++)
			task->at[first + l] = (struct scatter){.gamma = is_plain(task) ? NULL : task->product.kernels->gamma,
			                                       .velocities = task->vectors + (first + l) * task->n_dofs,
			                                       .sums = task->out + (first + l) * task->n_dofs,
			                                       .width = task->product.contacts->dim,
			                                       .bounded = fricp_product_is_bounded(&task->product)};
		const struct fault fault = fricp_sums_run(sums);
		if (fault.code != FRIC_OK && fault.code != FRIC_E_NOT_FINITE)
			return fault;
		if (fault.position < lowest.position)
			lowest = fault;
	}
	return lowest;
}

/* Rounds up to whole cache lines, in doubles. */
static size_t lines_of(size_t n)
{
	return (n + 7) / 8 * 8;
}

/* Makes one allocation, because the first access to fresh pages costs more than the work on them. */
static bool allocate(struct products *task, const struct fric_schedule *schedule)
{
	const struct fric_contacts *c = task->product.contacts;
	const size_t column = lines_of(c->n), m = (size_t)fric_inner_size(c->dim);
	task->n_rooms = (size_t)fricp_most_threads(task->context, c->n);
	task->room = goes_at_once(task, schedule, task->n_vectors) ? lines_of(RINGS) : 0;
	const size_t numbers = m * column + task->n_rooms * task->room;
	const size_t sums = task->n_vectors * sizeof(*task->at);
	task->block_bytes = numbers * sizeof(double) + sums + task->n_rooms * sizeof(*task->taken);
	task->block = memory_take(task->context->memory, task->block_bytes);
	if (!task->block)
		return false;
	for (size_t e = 0; e < m; e++)
		task->product.inner[e] = task->block + e * column;
	task->rooms = task->block + m * column;
	task->at = (struct scatter *)(void *)(task->block + numbers);
	task->taken = (atomic_flag *)(void *)(task->at + task->n_vectors);
	for (size_t i = 0; i < task->n_rooms; i++)
		task->taken[i] = (atomic_flag)ATOMIC_FLAG_INIT;
	return true;
}

/* The kernels may report a fault that only concerns intermediate values; the plain form then decides, and determines
 * the contact. */
static struct fault run(struct summation *sums)
{
	struct products *task = sums->task;
	struct fault fault = {FRIC_E_MEMORY, SIZE_MAX};
	if (!allocate(task, sums->schedule))
		return fault;
	fault = fricp_sweep_run(task->context, task->product.contacts, inner_span, task);
	if (fault.code == FRIC_OK)
		fault = multiply(task, sums);
	if (fault.code == FRIC_E_NOT_FINITE && fault.position == task->product.contacts->n) {
		task->product.kernels = &fricp_kernels_scalar;
		fault = multiply(task, sums);
	}
	memory_give(task->context->memory, task->block, task->block_bytes);
	return fault;
}

/* The vertices' part of fric_hessian_products. The caller writes the DOFs of bodies in each product. */
static enum fric_code products_of_vertices(const struct fric_context *context, const struct fric_contacts *contacts,
                                           const struct fric_query *query, enum fric_projection projection,
                                           size_t n_vectors, const double *vectors, double *products,
                                           struct fric_error *error)
{
	struct products task = {.context = context,
	                        .kernel = fricp_kernel_task(context, contacts, query, KERNEL_INNER),
	                        .product = {.contacts = contacts, .kernels = fricp_kernels_of(context)},
	                        .vectors = vectors,
	                        .out = products,
	                        .n_dofs = n_dofs(contacts),
	                        .n_vectors = n_vectors};
	struct summation sums = {.context = context, .contacts = contacts, .schedule = query->schedule, .task = &task};
	task.kernel.projection = projection;
	return fricp_report_fault(contacts, fricp_sums_scheduled(&sums, run), error);
}

enum fric_code fric_hessian_products(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const struct fric_query *query, enum fric_projection projection, size_t n_vectors,
                                     const double *vectors, double *products, struct fric_error *error)
{
	if (n_vectors == 0)
		return FRIC_OK;
	if (terms_of(query) & FRIC_TERM_BARRIER)
		return fricp_report_fault(
			contacts, fricp_block_products(context, contacts, query, projection, n_vectors, vectors, products), error);
	contacts = contacts_for(contacts, query);
	const enum fric_code code =
		products_of_vertices(context, contacts, query, projection, n_vectors, vectors, products, error);
	if (code != FRIC_OK || !contacts->bodies)
		return code;
	return fricp_bodies_products(context, contacts, query, projection, n_vectors, vectors, products, error);
}

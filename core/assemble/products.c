/* The Hessian times vectors, from the contacts' inner matrices: no block is formed. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/bodies/hessian.h"
#include "core/kernels/product.h"
#include "core/kernels/run.h"
#include "core/motion/dofs.h"
#include "core/motion/lanes.h"
#include "core/motion/scatter.h"
#include "core/order/schedule.h"
#include "core/order/sweep.h"

enum {
	/* So many spans take their turn with some vectors, one after the other: what is known of their contacts stays in
	 * the second-level cache meanwhile. */
	SPANS_AT_A_TIME = 128,
	RING_NUMBERS = 3 * LANES * RING,
	RINGS = 2 * RING_NUMBERS + RING_NUMBERS / LANES,
};

/* Vectors [first, end). */
struct vectors {
	size_t first, end;
};

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
	/* Rings and lists of spans, for a thread each. */
	double *rooms;
	size_t room, rings, n_rooms; /* a room in numbers, and how many of them are rings: none if nothing goes at once */
	atomic_flag *taken;          /* [n_rooms] */
	double *block;               /* what all these, and inner matrices, lie in */
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
	double forces[3 * FRIC_SPAN];
	if (fricp_product_forces(&task->product, span, task->vectors + task->first * task->n_dofs, forces, fault))
		forces_in_rows(dim, span, forces, task->forces + span.begin * dim);
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
	                        .opened = opened,
	                        .context = task->context};
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

/* The same for some vectors, one after the other. */
static int32_t add_to_each(const struct products *task, struct part part, size_t begin, size_t end,
                           struct vectors vectors, int32_t opened, struct fault *fault)
{
	int32_t now = opened;
	for (size_t l = vectors.first; l < vectors.end && now >= 0; l++) {
		now = add_spans(task, part, begin, end, scatter_of(task, part, l, opened), fault);
		if (fricp_stop_raised(task->context))
			return -1; /* fricp_parallel_phases looks at the flag afterwards */
	}
	return now;
}

static bool close_part(const struct products *task, struct part part, struct vectors vectors, int32_t opened)
{
	bool finite = true;
	for (size_t l = vectors.first; l < vectors.end; l++) {
		struct scatter scatter = scatter_of(task, part, l, opened);
		finite &= fricp_scatter_close(&scatter);
	}
	return finite;
}

static int32_t multiply_in_turn(const struct products *task, struct part part, struct vectors vectors,
                                struct fault *fault)
{
	int32_t opened = part.first;
	for (size_t begin = 0; begin < part.n_slots && opened >= 0; begin += SPANS_AT_A_TIME) {
		const size_t left = part.n_slots - begin, n = left < SPANS_AT_A_TIME ? left : SPANS_AT_A_TIME;
		opened = add_to_each(task, part, begin, begin + n, vectors, opened, fault);
	}
	return opened;
}

/* ---- several vectors at once ---- */

/* Up to LANES vectors on their way through a ring (motion/lanes.h). */
struct passage {
	const struct gamma *gamma;
	struct lanes_ring ring;
	double *from, *unread;        /* the ring's vectors; numbers that nothing reads */
	const double *vectors[LANES]; /* of all DOFs; beyond the last one, that one again */
	double *sums[LANES];          /* beyond the last one, NULL */
	int32_t low, high;            /* the ring has vertices [low, high) */
	int32_t opened;               /* as in a scatter */
};

static int32_t within(const struct passage *p, int32_t vertex)
{
	return vertex < p->ring.first ? p->ring.first : vertex > p->ring.last ? p->ring.last : vertex;
}

/* The end of [begin, end), or where the ring begins anew before it. */
static int32_t turn(int32_t begin, int32_t end)
{
	const int32_t left = RING - begin % RING;
	return end - begin < left ? end : begin + left;
}

static size_t n_dofs_of(int32_t n_vertices)
{
	return vertex_dof(3, (size_t)n_vertices);
}

/* Sums of vertices [opened, vertex) that no span has reached. */
static void open_sums(struct passage *p, int32_t vertex)
{
	const int32_t n = within(p, vertex) - p->opened;
	if (n <= 0)
		return;
	for (int l = 0; l < LANES && p->sums[l]; l++)
		memset(p->sums[l] + n_dofs_of(p->opened), 0, n_dofs_of(n) * sizeof(double));
	p->opened += n;
}

/* Vertices [begin, end), which lie together in the ring. */
static void enter_vectors(const struct passage *p, int32_t begin, int32_t end)
{
	const double *at[LANES];
	for (int l = 0; l < LANES; l++)
		at[l] = p->vectors[l] + n_dofs_of(begin);
	p->gamma->enter(at, n_dofs_of(end - begin), p->from + ring_row(begin));
}

static void continue_sums(const struct passage *p, int32_t begin, int32_t end)
{
	const double *at[LANES];
	for (int l = 0; l < LANES; l++)
		at[l] = p->sums[p->sums[l] ? l : 0] + n_dofs_of(begin);
	p->gamma->enter(at, n_dofs_of(end - begin), p->ring.to + ring_row(begin));
}

static void begin_sums(struct passage *p, int32_t begin, int32_t end)
{
	memset(p->ring.to + ring_row(begin), 0, LANES * n_dofs_of(end - begin) * sizeof(double));
	p->opened = end;
}

static void leave_sums(const struct passage *p, int32_t begin, int32_t end)
{
	double *at[LANES];
	for (int l = 0; l < LANES; l++)
		at[l] = p->sums[l] ? p->sums[l] + n_dofs_of(begin) : p->unread;
	p->gamma->leave(p->ring.to + ring_row(begin), n_dofs_of(end - begin), at);
}

static void enter(struct passage *p, int32_t begin, int32_t end)
{
	open_sums(p, begin);
	for (int32_t at = begin, to; at < end; at = to)
		enter_vectors(p, at, to = turn(at, end));
	for (int32_t at = within(p, begin), to, last = within(p, end); at < last; at = to) {
		to = turn(at, at < p->opened && p->opened < last ? p->opened : last);
		if (at < p->opened)
			continue_sums(p, at, to);
		else
			begin_sums(p, at, to);
	}
}

static void leave(struct passage *p, int32_t end)
{
	for (int32_t at = within(p, p->low), to, last = within(p, end); at < last; at = to)
		leave_sums(p, at, to = turn(at, last));
	p->low = end;
}

/* Fetches more than the span needs, if that costs no vertex its place: few at a time would be slow. */
static int32_t look_ahead(const struct passage *p, int32_t needed, int32_t n_vertices)
{
	enum { AHEAD = 256 };
	int32_t end = needed + AHEAD < n_vertices ? needed + AHEAD : n_vertices;
	if (end - p->low > RING)
		end = p->low + RING;
	return end > needed ? end : needed;
}

/* Has the vertices of a span, which are not more than RING, in the ring. */
static void reach(struct passage *p, struct span_extent e, int32_t n_vertices)
{
	if (e.lowest < p->low || e.lowest > p->high) {
		leave(p, p->high);
		p->low = p->high = e.lowest;
	}
	if (e.highest < p->high)
		return;
	if (e.highest - p->low >= RING)
		leave(p, e.highest + 1 - RING / 2 < e.lowest ? e.highest + 1 - RING / 2 : e.lowest);
	const int32_t end = look_ahead(p, e.highest + 1, n_vertices);
	enter(p, p->high, end);
	p->high = end;
}

static struct passage begin_passage(const struct products *task, struct part part, struct vectors vectors,
                                    double *block)
{
	struct passage p = {.gamma = task->product.kernels->gamma,
	                    .ring = {part.first, part.last, block, block + RING_NUMBERS},
	                    .from = block,
	                    .unread = block + 2 * RING_NUMBERS,
	                    .opened = part.first};
	for (size_t l = 0; l < LANES; l++) {
		const bool is_there = vectors.first + l < vectors.end;
		p.vectors[l] = task->vectors + (is_there ? vectors.first + l : vectors.end - 1) * task->n_dofs;
		p.sums[l] = is_there ? task->out + (vectors.first + l) * task->n_dofs : NULL;
	}
	return p;
}

/* A span whose vertices are far apart takes the other way. @return false after a fault */
static bool pass_span(const struct products *task, struct part part, size_t i, struct vectors vectors,
                      struct passage *p, struct fault *fault)
{
	const struct fric_contacts *c = task->product.contacts;
	const struct span_extent e = c->extents[part.slots[i]];
	if (e.highest - e.lowest >= RING / 2) {
		leave(p, p->high);
		p->opened = add_to_each(task, part, i, i + 1, vectors, p->opened, fault);
		p->low = p->high;
		return p->opened >= 0;
	}
	reach(p, e, (int32_t)c->n_vertices);
	if (task->product.kernels->products(c, span_at(c, (size_t)e.begin), task->product.inner, &p->ring))
		return true;
	*fault = (struct fault){FRIC_E_NOT_FINITE, c->n};
	return false;
}

static int32_t multiply_at_once(const struct products *task, struct part part, struct vectors vectors, double *block,
                                struct fault *fault)
{
	struct passage p = begin_passage(task, part, vectors, block);
	for (size_t i = 0; i < part.n_slots; i++)
		if (!pass_span(task, part, i, vectors, &p, fault) || fricp_stop_raised(task->context))
			return -1; /* fricp_parallel_phases looks at the flag afterwards */
	leave(&p, p.high);
	return p.opened;
}

/* ---- */

/* With fewer vectors, moving them into rows costs more than it saves. */
static bool goes_at_once(const struct products *task, struct vectors vectors)
{
	return vectors.end - vectors.first >= LANES / 2 && !task->forces && fricp_product_is_bounded(&task->product);
}

/* As fric_evaluate adds forces up: the vertices of a part belong to one thread. */
static bool multiply_part(const struct products *task, struct part part, struct vectors vectors, double *block,
                          struct fault *fault)
{
	const int32_t opened = goes_at_once(task, vectors) ? multiply_at_once(task, part, vectors, block, fault)
	                                                   : multiply_in_turn(task, part, vectors, fault);
	if (opened >= 0 && !close_part(task, part, vectors, opened))
		*fault = (struct fault){FRIC_E_NOT_FINITE, task->product.contacts->n};
	return opened >= 0 && fault->code == FRIC_OK;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* The sweep goes over a stretch of vertices once for each type of contact. For several vectors that stretch is too long for
 * the caches, so here spans come by their lowest vertex. */
static void order_by_vertex(const struct products *task, struct part *part, uint64_t *keys)
{
	int32_t *slots = (int32_t *)(void *)keys;
	for (size_t i = 0; i < part->n_slots; i++)
		keys[i] = (uint64_t)(uint32_t)task->product.contacts->extents[part->slots[i]].lowest << 32 | i;
	qsort(keys, part->n_slots, sizeof(*keys), by_number);
	for (size_t i = 0; i < part->n_slots; i++)
		slots[i] = part->slots[keys[i] & UINT32_MAX]; /* a key is read before its place is written */
	part->slots = slots;
}

static void multiply_all(const struct products *task, struct part part, double *block, struct fault *fault)
{
	struct vectors some = {task->first, task->first};
	bool ok = true;
	while (ok && some.end < task->end) {
		some.first = some.end;
		some.end = task->end - some.first < LANES ? task->end : some.first + LANES;
		ok = multiply_part(task, part, some, block, fault);
	}
}

/* One that no other thread uses: there are as many as threads. */
static double *take_room(const struct products *task, size_t *which)
{
	for (*which = 0; atomic_flag_test_and_set(&task->taken[*which]);)
		*which = (*which + 1) % task->n_rooms;
	return task->rooms + *which * task->room;
}

static void work_on_part(void *data, size_t index, size_t begin, size_t end, struct fault *fault)
{
	const struct products *task = data;
	struct part part = fricp_schedule_part(task->product.contacts, task->schedule, index);
	size_t which;
	double *room = take_room(task, &which);
	(void)begin;
	(void)end;
	order_by_vertex(task, &part, (uint64_t *)(void *)(room + task->rings));
	multiply_all(task, part, room, fault);
	atomic_flag_clear(&task->taken[which]);
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

static size_t most_slots(const struct products *task)
{
	size_t most = 0;
	for (size_t i = 0; i < task->schedule->n_parts; i++) {
		const size_t n = fricp_schedule_part(task->product.contacts, task->schedule, i).n_slots;
		most = n > most ? n : most;
	}
	return most;
}

/* All in one block: fresh pages cost more than what is done with them. */
static bool allocate(struct products *task)
{
	const struct fric_contacts *c = task->product.contacts;
	const size_t column = lines_of(c->n), m = (size_t)fric_inner_size(c->dim),
				 forces = task->schedule->keeps_forces ? lines_of(c->n * (size_t)c->dim) : 0;
	task->n_rooms = (size_t)fricp_team_size(task->context, c->n);
	task->rings = task->n_vectors >= LANES / 2 && !forces && fricp_product_is_bounded(&task->product) ? RINGS : 0;
	task->room = lines_of(task->rings + most_slots(task));
	const size_t rooms = m * column + forces, taken = rooms + task->n_rooms * task->room;
	task->block_bytes = taken * sizeof(double) + task->n_rooms * sizeof(*task->taken);
	task->block = memory_take(task->context->memory, task->block_bytes);
	if (!task->block)
		return false;
	for (size_t e = 0; e < m; e++)
		task->product.inner[e] = task->block + e * column;
	task->forces = forces ? task->block + m * column : NULL;
	task->rooms = task->block + rooms;
	task->taken = (atomic_flag *)(void *)(task->block + taken);
	for (size_t i = 0; i < task->n_rooms; i++)
		task->taken[i] = (atomic_flag)ATOMIC_FLAG_INIT;
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

/* At the vertices alone; what they leave between the products of one vector and those of the next is the bodies'. */
static enum fric_code products_of_vertices(const struct fric_context *context, const struct fric_contacts *contacts,
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
	task.kernel.projection = projection;
	if (task.schedule)
		return fricp_report_fault(contacts, run(&task), error);
	task.schedule = &own;
	if (fricp_schedule_make(context->memory, contacts, fricp_team_size(context, contacts->n), &own))
		fault = run(&task);
	fricp_schedule_clear(&own);
	return fricp_report_fault(contacts, fault, error);
}

enum fric_code fric_hessian_products(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const struct fric_question *question, enum fric_projection projection,
                                     size_t n_vectors, const double *vectors, double *products,
                                     struct fric_error *error)
{
	if (n_vectors == 0)
		return FRIC_OK;
	const enum fric_code code =
		products_of_vertices(context, contacts, question, projection, n_vectors, vectors, products, error);
	if (code != FRIC_OK || !contacts->bodies)
		return code;
	return fricp_bodies_products(context, contacts, question, projection, n_vectors, vectors, products, error);
}

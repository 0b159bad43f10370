/* The longest step: the least that any contact allows (geometry/travel). */
#include "core/base/least.h"
#include "core/base/memory.h"
#include "core/base/types.h"
#include "core/contacts/span.h"
#include "core/geometry/travel.h"

/* The first contact with the least step below 1. */
struct limit {
	double step;
	size_t contact;
};

struct stepping {
	const struct fric_contacts *contacts;
	const double *positions, *direction;
	double keep;
	struct limit *limits;      /* [chunks] */
	struct least least_so_far; /* step that some contact allows; decides only what is left out */
};

static struct travel travel_of(const struct stepping *task, enum fric_type type, size_t i)
{
	const struct fric_contacts *c = task->contacts;
	const size_t dim = (size_t)c->dim;
	struct travel t = {.type = type, .dim = c->dim, .dmin = c->barrier.dmin, .keep = task->keep};
	for (int k = 0; k < stencil_size_of(type); k++) {
		t.from[k] = task->positions + (size_t)c->vertices[k][i] * dim;
		t.direction[k] = task->direction + (size_t)c->vertices[k][i] * dim;
	}
	for (size_t d = 0; d < dim && geometry_of(type) == POINT_PLANE; d++) {
		t.normal[d] = c->plane[d][i - c->start[type]];
		t.origin[d] = c->plane[3 + d][i - c->start[type]];
	}
	return t;
}

static void step_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	struct stepping *task = data;
	const struct fric_contacts *c = task->contacts;
	struct limit limit = {1, 0};
	for (size_t i = begin; i < end && fault->code == FRIC_OK; i++) {
		const struct travel travel = travel_of(task, contact_type(c, i), i);
		const double bound = least_now(&task->least_so_far);
		double step = 1;
		const enum fric_code code = fricp_travel(&travel, bound, &step);
		if (code != FRIC_OK && !c->skips)
			*fault = (struct fault){code, i};
		if (code == FRIC_OK && step < limit.step) {
			limit = (struct limit){step, i};
			least_lower(&task->least_so_far, step);
		}
	}
	task->limits[chunk] = limit;
}

/* Chunks are in contact order, so equal steps keep the first contact. */
static struct fric_step least_step(const struct stepping *task)
{
	const struct fric_contacts *c = task->contacts;
	struct fric_step least = {1, FRIC_VERTEX_VERTEX, -1};
	for (size_t chunk = 0; chunk < n_chunks(c->n, FRIC_CHUNK); chunk++) {
		const struct limit *limit = &task->limits[chunk];
		if (limit->step >= least.step)
			continue;
		const enum fric_type type = contact_type(c, limit->contact);
		least = (struct fric_step){limit->step, type, (int64_t)(limit->contact - c->start[type])};
	}
	return least;
}

enum fric_code fric_longest_step(const struct fric_context *context, const struct fric_contacts *contacts,
                                 const double *positions, const double *direction, double keep, struct fric_step *step,
                                 struct fric_error *error)
{
	const size_t bytes = (n_chunks(contacts->n, FRIC_CHUNK) + 1) * sizeof(struct limit);
	struct stepping task = {.contacts = contacts,
	                        .positions = positions,
	                        .direction = direction,
	                        .keep = keep,
	                        .limits = memory_take(context->memory, bytes)};
	if (!task.limits)
		return report_code(FRIC_E_MEMORY, error);
	least_start(&task.least_so_far, 1);
	const struct fault fault = fricp_parallel_chunks(context, contacts->n, step_chunk, &task);
	if (fault.code == FRIC_OK)
		*step = least_step(&task);
	memory_give(context->memory, task.limits, bytes);
	return fricp_report_fault(contacts, fault, error);
}

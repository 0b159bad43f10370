/**
 * The sweep: the order in which the spans (span.h) of all contacts are evaluated. They are sorted by the bucket of
 * their lowest vertex, and within a bucket all groups advance together, each in contact order (groups.h). Groups are
 * usually in the order of the mesh, so that a vertex fetched for one is still cached for the others, and a piece of the
 * sweep shares few vertices with the rest. The order depends only on the stencils and the number of vertices, so that
 * sums formed in it have the same bits on any number of threads.
 *
 * Vertices lie in blocks (contacts.h), and each block is listed under the first span that reaches it: sums are set to
 * zero there, and the part with that span owns the block (schedule.h).
 */
#ifndef FRIC_SWEEP_H
#define FRIC_SWEEP_H

#include "core/contacts/span.h"

/* Fills in contacts->sweep from contacts->extents, and the lists of blocks. */
void fricp_sweep_make(struct fric_contacts *contacts);

/* Return the extent of the span at position i of the sweep, and the span itself. */
static inline struct span_extent sweep_extent(const struct fric_contacts *contacts, size_t i)
{
	return contacts->extents[contacts->sweep[i]];
}

static inline struct span sweep_span(const struct fric_contacts *contacts, size_t i)
{
	return span_at(contacts, (size_t)sweep_extent(contacts, i).begin);
}

/* Processes one span. On a fault it sets *fault to the fault of the span's lowest contact. */
typedef void span_work(void *task, struct span span, struct fault *fault);

/* Processes all spans, on a suitable number of threads. @return as fricp_parallel_phases */
struct fault fricp_sweep_run(const struct fric_context *context, const struct fric_contacts *contacts, span_work *work,
                             void *task);
/* fricp_sweep_run as one of several phases: fricp_sweep_chunk processes at most SWEEP_CHUNK spans [begin, end). */
struct sweep {
	const struct fric_contacts *contacts;
	span_work *work;
	void *task;
};
enum { SWEEP_CHUNK = 64 }; /* spans */
void fricp_sweep_chunk(void *sweep, size_t chunk, size_t begin, size_t end, struct fault *fault);

#endif

/**
 * The order in which evaluation walks over the spans (span.h) of a batch: by their lowest vertex, roughly, and among those of
 * one neighbourhood in contact order. Groups are usually in the order of the mesh, so all of them advance over it
 * together, and a vertex that one has fetched is there for the others. The order follows from the stencils and the number
 * of vertices alone: what is added up in it has the same bits on any number of threads.
 */
#ifndef FRIC_SWEEP_H
#define FRIC_SWEEP_H

#include "core/contacts/span.h"

/* Fills in contacts->sweep from contacts->extents. */
void fricp_sweep_make(struct fric_contacts *contacts);

/* Position i of the sweep. */
static inline struct span_extent sweep_extent(const struct fric_contacts *contacts, size_t i)
{
	return contacts->extents[contacts->sweep[i]];
}

static inline struct span sweep_span(const struct fric_contacts *contacts, size_t i)
{
	return span_at(contacts, (size_t)sweep_extent(contacts, i).begin);
}

/* Works on one span; sets *fault to the first one of its contacts. */
typedef void span_work(void *task, struct span span, struct fault *fault);

/* All spans, on as many threads as that is worth. @return as fricp_parallel_phases */
struct fault fricp_sweep_run(const struct fric_context *context, const struct fric_contacts *contacts, span_work *work,
                       void *task);
/* The same in a phase of several: works on spans [begin, end) of a struct sweep. */
struct sweep {
	const struct fric_contacts *contacts;
	span_work *work;
	void *task;
};
enum { SWEEP_CHUNK = 32 }; /* spans */
void fricp_sweep_chunk(void *sweep, size_t chunk, size_t begin, size_t end, struct fault *fault);

#endif

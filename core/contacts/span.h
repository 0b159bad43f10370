/**
 * Contacts are prepared and evaluated in spans: up to FRIC_SPAN consecutive contacts of one type.
 */
#ifndef FRIC_SPAN_H
#define FRIC_SPAN_H

#include "core/base/parallel.h"
#include "core/contacts/contacts.h"

/* Contacts [begin, begin + n) of one type. Its size lets it be passed in two registers: a larger one would be copied
 * through memory as a block, which waits for all preceding stores. */
struct span {
	enum fric_type type;
	uint32_t n;
	size_t begin;
};

/* The first span of [begin, end). */
static inline struct span next_span(const struct fric_contacts *contacts, size_t begin, size_t end)
{
	const enum fric_type type = contact_type(contacts, begin);
	const size_t of_type = contacts->start[type + 1] < end ? contacts->start[type + 1] : end;
	const size_t n = of_type - begin;
	return (struct span){type, (uint32_t)(n < FRIC_SPAN ? n : FRIC_SPAN), begin};
}

/* Spans end where chunks do. Therefore they are the same in every loop, and each has its own slot, in contact order, in
 * arrays of [span_slots]. Some slots are unused. */
static inline size_t span_slot(struct span span)
{
	return span.begin / FRIC_SPAN + span.type;
}

static inline size_t span_slots(size_t n)
{
	return n / FRIC_SPAN + FRIC_N_TYPES + 1;
}

/* The span that begins at contact i. */
static inline struct span span_at(const struct fric_contacts *contacts, size_t i)
{
	const size_t end = (i / FRIC_CHUNK + 1) * FRIC_CHUNK;
	return next_span(contacts, i, end < contacts->n ? end : contacts->n);
}

#endif

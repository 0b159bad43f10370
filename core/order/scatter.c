#include "core/order/scatter.h"

#include <string.h>

#include "core/base/inline.h"
#include "core/base/memory.h"
#include "core/base/vectors.h"
#include "core/motion/lanes.h"
#include "core/motion/stencil.h"

enum {
	AHEAD = 4,           /* spans whose blocks are opened ahead */
	FETCH_DEFERRED = 32, /* prefetch distance in numbers */
	FETCH_SUMS = 16,     /* prefetch distance in places */
	BLOCKS_BETWEEN_STOPS = 512,
	FETCH_MOST = 64 << 10, /* bytes; more would be evicted before they are used */
};

/* ---- spans ---- */

/* The numbers that a span adds: columns of forces to be multiplied by stencil weights, or columns for each member,
 * `per_member` columns apart. */
struct addends {
	const double *columns;
	bool by_member;
	int per_member;
};

/* The number d of member k of contact j. @param w  weights of the contact */
INLINE double addend(struct addends from, const double *w, int k, int d, size_t j)
{
	if (from.by_member)
		return from.columns[(k * from.per_member + d) * FRIC_SPAN + (int)j];
	return w[k] * from.columns[d * FRIC_SPAN + (int)j];
}

INLINE double2 addend_pair(struct addends from, const double *w, int k, size_t j)
{
	return (double2){addend(from, w, k, 0, j), addend(from, w, k, 1, j)};
}

INLINE void weights_for(struct addends from, const struct fric_contacts *c, enum fric_type type, size_t i,
                        double w[FRIC_MAX_STENCIL])
{
	if (!from.by_member)
		contact_weights(c, type, i, w);
}

/* Adds a span that defers nothing. Serves all widths: type, width and by_member are constants after inlining. */
INLINE void add_whole(enum fric_type type, int width, const struct scatter *s, struct span span, struct addends from)
{
	const struct fric_contacts *c = s->contacts;
	double *const sums = s->sums;
	for (size_t j = 0; j < span.n; j++) {
		const size_t i = span.begin + j;
		double w[FRIC_MAX_STENCIL] = {0};
		weights_for(from, c, type, i, w);
		UNROLL
		for (int k = 0; k < stencil_size_of(type); k++) {
			double *out = sums + (size_t)width * (size_t)c->vertices[k][i];
			if (width >= 2)
				add_double2(out, addend_pair(from, w, k, j));
			if (width % 2)
				out[width - 1] += addend(from, w, k, width - 1, j);
		}
	}
}

/* Destinations of a member: its sum and its deferred place, of which the unused one is a dummy. This avoids a branch,
 * which would be mispredicted. */
struct target {
	double *sum, *later;
};

INLINE struct target target_of(const struct scatter *s, int width, int32_t vertex, int32_t place,
                               double nowhere[2][3 * LANES])
{
	const bool deferred = place >= 0;
	const size_t row = (size_t)width * (size_t)(deferred ? place : vertex);
	return (struct target){deferred ? nowhere[0] : s->sums + row,
	                       deferred ? s->deferred + row * (size_t)s->apart : nowhere[1]};
}

/* Adds a span that defers values, to places that are any number of elements apart. */
INLINE void add_mixed(enum fric_type type, int width, const struct scatter *s, struct span span, const int32_t *places,
                      struct addends from)
{
	const struct fric_contacts *c = s->contacts;
	double nowhere[FRIC_MAX_STENCIL][2][3 * LANES] = {{{0}}};
	for (size_t j = 0; j < span.n; j++) {
		double w[FRIC_MAX_STENCIL] = {0};
		weights_for(from, c, type, span.begin + j, w);
		UNROLL
		for (int k = 0; k < stencil_size_of(type); k++) {
			const struct target to =
				target_of(s, width, c->vertices[k][span.begin + j], places[(size_t)k * span.n + j], nowhere[k]);
			for (int d = 0; d < width; d++) {
				const double x = addend(from, w, k, d, j);
				to.sum[d] += x;
				to.later[d * s->apart] = x;
			}
		}
	}
}

typedef int64_t int64_2 __attribute__((vector_size(16)));

/* The row of a vertex's sum or of its deferred place. Uses integers, because compilers turn any selection between
 * pointers into a branch, which would be mispredicted. */
INLINE double *choose_row(const struct scatter *s, int width, int32_t vertex, int32_t place, int64_t keeps)
{
	const uintptr_t sums = (uintptr_t)s->sums, apart = (uintptr_t)s->deferred - sums;
	const uintptr_t row = (uintptr_t)((vertex & keeps) | (place & ~keeps));
	return (double *)(sums + (apart & ~(uintptr_t)keeps) + row * (size_t)width * sizeof(double));
}

/* Adds a span that defers values, to contiguous places of at least two numbers. A deferred value is added to 0 instead
 * of the memory's content. */
INLINE void add_mixed_close(enum fric_type type, int width, const struct scatter *s, struct span span,
                            const int32_t *places, struct addends from)
{
	const struct fric_contacts *c = s->contacts;
	for (size_t j = 0; j < span.n; j++) {
		double w[FRIC_MAX_STENCIL] = {0};
		weights_for(from, c, type, span.begin + j, w);
		UNROLL
		for (int k = 0; k < stencil_size_of(type); k++) {
			const int32_t place = places[(size_t)k * span.n + j];
			const int64_t keeps = -(int64_t)(place < 0); /* mask: all bits set, or none if deferred */
			double *to = choose_row(s, width, c->vertices[k][span.begin + j], place, keeps);
			double2 xy;
			__builtin_prefetch(to + (FETCH_DEFERRED & ~keeps), 1);
			memcpy(&xy, to, sizeof(xy));
			xy = (double2)((int64_2)xy & keeps) + addend_pair(from, w, k, j);
			memcpy(to, &xy, sizeof(xy));
			if (width == 3) {
				double2 z = {to[2], 0};
				z = (double2)((int64_2)z & keeps) + (double2){addend(from, w, k, 2, j), 0};
				to[2] = z[0];
			}
		}
	}
}

INLINE void add_plain(const struct scatter *s, struct span span, struct addends from)
{
	if (s->width == 3)
		FOR_TYPE(add_whole, span.type, 3, s, span, from)
	else if (s->width == 2)
		FOR_TYPE(add_whole, span.type, 2, s, span, from)
	else
		FOR_TYPE(add_whole, span.type, 1, s, span, from)
}

INLINE void add_or_defer(const struct scatter *s, struct span span, const int32_t *places, struct addends from)
{
	if (s->width == 3 && s->apart == 1)
		FOR_TYPE(add_mixed_close, span.type, 3, s, span, places, from)
	else if (s->width == 3)
		FOR_TYPE(add_mixed, span.type, 3, s, span, places, from)
	else if (s->width == 2)
		FOR_TYPE(add_mixed, span.type, 2, s, span, places, from)
	else
		FOR_TYPE(add_mixed, span.type, 1, s, span, places, from)
}

static const int32_t *places_at(const struct scatter *s, size_t position)
{
	return s->schedule ? schedule_places(s->schedule, position) : NULL;
}

void fricp_scatter_columns(const struct scatter *s, size_t position, const double *forces)
{
	const struct span span = sweep_span(s->contacts, position);
	const struct addends from = {forces, false, 0};
	const int32_t *places = places_at(s, position);
	if (places)
		add_or_defer(s, span, places, from);
	else if (s->width == 3 && s->gamma)
		s->gamma->scatter(s->contacts, span, forces, s->sums);
	else
		add_plain(s, span, from);
}

void fricp_scatter_members(const struct scatter *s, size_t position, int per_member, const double *columns)
{
	const struct span span = sweep_span(s->contacts, position);
	const struct addends from = {columns, true, per_member};
	const int32_t *places = places_at(s, position);
	if (places)
		add_or_defer(s, span, places, from);
	else
		add_plain(s, span, from);
}

/* Adds the places of a range to n sums whose deferred values are interleaved. Prefetches upcoming sums, which other
 * threads have just written. */
INLINE void add_deferred(const struct scatter *sums, size_t n, size_t width, size_t apart, size_t range)
{
	const struct fric_schedule *schedule = sums->schedule;
	const size_t end = schedule->range[range + 1];
	for (size_t place = schedule->range[range]; place < end; place++) {
		const size_t ahead = place + FETCH_SUMS < end ? place + FETCH_SUMS : place;
		const size_t row = width * (size_t)schedule->vertices[place], later = width * (size_t)schedule->vertices[ahead];
		for (size_t s = 0; s < n; s++) {
			double *at = sums[s].sums + row;
			const double *from = sums[s].deferred + width * place * apart;
			__builtin_prefetch(sums[s].sums + later, 1);
			if (width >= 2)
				add_double2(at, (double2){from[0], from[apart]});
			if (width % 2)
				at[width - 1] += from[(width - 1) * apart];
		}
	}
}

void fricp_scatter_deferred(const struct scatter *sums, size_t n, size_t range)
{
	if (sums->width == 3 && sums->apart == 1)
		add_deferred(sums, 1, 3, 1, range);
	else if (sums->width == 3)
		add_deferred(sums, n, 3, LANES, range);
	else if (sums->width == 2)
		add_deferred(sums, 1, 2, 1, range);
	else
		add_deferred(sums, 1, 1, 1, range);
}

/* ---- blocks ---- */

/* Sets sums [begin, end) to zero and prefetches velocities in sequence, so that later accesses do not stall. */
static void open_numbers(const struct scatter *s, size_t begin, size_t end)
{
	const size_t bytes = (end - begin) * sizeof(double);
	memset(s->sums + begin, 0, bytes);
	for (size_t at = 0; at < bytes && bytes <= FETCH_MOST && s->velocities; at += FRIC_ALIGNMENT)
		__builtin_prefetch((const char *)(s->velocities + begin) + at, 0, 2);
}

/* Opens entries [begin, end) of the list of blocks, adjacent blocks together. */
static void open_blocks(const struct scatter *s, size_t begin, size_t end)
{
	const int32_t *blocks = s->contacts->blocks;
	const size_t all = s->contacts->n_vertices * (size_t)s->width, each = BLOCK_VERTICES * (size_t)s->width;
	for (size_t i = begin, n; i < end; i += n) {
		for (n = 1; i + n < end && blocks[i + n] == blocks[i] + (int32_t)n;)
			n++;
		const size_t first = (size_t)blocks[i] * each, last = first + n * each;
		open_numbers(s, first, last < all ? last : all);
	}
}

static bool opens(const struct scatter *s)
{
	return !s->schedule || !s->schedule->by_vertex;
}

/* Opens the blocks of AHEAD spans at a time, because setting a few kilobytes to zero at once avoids reading them
 * first. */
void fricp_scatter_reach(const struct scatter *s, struct part part, size_t position)
{
	const int32_t *listed = s->contacts->listed;
	const size_t done = position - part.begin, left = part.end - position;
	const size_t next = left < AHEAD ? part.end : position + AHEAD, end = left < 2 * AHEAD ? part.end : next + AHEAD;
	if (opens(s) && done % AHEAD == 0)
		open_blocks(s, (size_t)listed[done == 0 ? position : next], (size_t)listed[end]);
}

void fricp_scatter_open(const struct scatter *s, size_t position)
{
	if (opens(s))
		open_blocks(s, (size_t)s->contacts->listed[position], (size_t)s->contacts->listed[position + 1]);
}

void fricp_scatter_close(const struct scatter *s, struct part part, size_t n_parts)
{
	const size_t first = (size_t)s->contacts->listed[s->contacts->n_spans];
	const size_t n = n_blocks_of(s->contacts->n_vertices) - first, last = first + (part.number + 1) * n / n_parts;
	size_t at = first + part.number * n / n_parts;
	for (size_t end; opens(s) && at < last && !fricp_stop_raised(s->context); at = end) {
		end = last - at < BLOCKS_BETWEEN_STOPS ? last : at + BLOCKS_BETWEEN_STOPS;
		open_blocks(s, at, end);
	}
}

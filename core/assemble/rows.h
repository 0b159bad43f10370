/**
 * From arrays per component, as the core has them, to rows per contact, as callers get them.
 */
#ifndef FRIC_ROWS_H
#define FRIC_ROWS_H

#include "core/base/inline.h"
#include "core/motion/stencil.h"

/* Rows of m numbers from m columns, entries [begin, end). */
INLINE void interleave(const double *const *columns, size_t m, size_t begin, size_t end, double *out)
{
	for (size_t i = begin; i < end; i++)
		for (size_t e = 0; e < m; e++)
			*out++ = columns[e][i];
}

static inline void interleave_rows(const double *const *columns, size_t m, size_t begin, size_t end, double *out)
{
	if (m == 6)
		interleave(columns, 6, begin, end, out);
	else if (m == 2)
		interleave(columns, 2, begin, end, out);
	else
		interleave(columns, m, begin, end, out);
}

/* Stencil weights of contacts [begin, end), all of one type; the type is a compile-time constant. */
INLINE void weight_rows_of(const struct fric_contacts *c, enum fric_type type, size_t begin, size_t end, double *out)
{
	for (size_t i = begin; i < end; i++) {
		double w[FRIC_MAX_STENCIL] = {0};
		stencil_weights(type, c->closest_point[0][i], c->closest_point[1][i], w);
		for (int k = 0; k < stencil_size_of(type); k++)
			*out++ = c->skipped[i] ? 0 : w[k];
	}
}

static inline void weight_rows(const struct fric_contacts *c, enum fric_type type, size_t begin, size_t end,
                               double *out)
{
	switch (type) {
	case FRIC_VERTEX_VERTEX: weight_rows_of(c, FRIC_VERTEX_VERTEX, begin, end, out); break;
	case FRIC_EDGE_VERTEX: weight_rows_of(c, FRIC_EDGE_VERTEX, begin, end, out); break;
	case FRIC_EDGE_EDGE: weight_rows_of(c, FRIC_EDGE_EDGE, begin, end, out); break;
	case FRIC_FACE_VERTEX: weight_rows_of(c, FRIC_FACE_VERTEX, begin, end, out); break;
	case FRIC_PLANE_VERTEX: weight_rows_of(c, FRIC_PLANE_VERTEX, begin, end, out); break;
	}
}

#endif

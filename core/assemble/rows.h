/**
 * Converts arrays per component, as in core, to rows per contact, as in the caller's arrays.
 */
#ifndef FRIC_ROWS_H
#define FRIC_ROWS_H

#include <stddef.h>

#include "core/base/inline.h"

/* Writes contacts [begin, end) of m columns as rows of m numbers. */
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

#endif

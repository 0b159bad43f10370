/**
 * Selects entries of a symmetric matrix.
 */
#ifndef FRIC_TRIANGLE_H
#define FRIC_TRIANGLE_H

#include "core/fric.h"

/* row, col: vertices, axes of a diagonal block, or global rows and columns. */
static inline bool in_triangle(enum fric_triangle triangle, int32_t row, int32_t col)
{
	return triangle == FRIC_FULL || (triangle == FRIC_UPPER ? row <= col : row >= col);
}

#endif

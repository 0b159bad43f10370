/**
 * The square root of a quad.
 */
#ifndef FRIC_ROOT_H
#define FRIC_ROOT_H

#include <math.h>

#include "core/base/quad.h"

/* One Newton step from the root in long double. */
static inline quad quad_root(quad x)
{
	const quad guess = sqrtl((long double)x);
	return guess > 0 ? (guess + x / guess) / 2 : guess;
}

#endif

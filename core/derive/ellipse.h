/**
 * How an effective coefficient (prepare/state.c) changes: with the axes of its ellipse and, where the direction follows a
 * slip, with that. mu = |(axes_0 t_0, axes_1 t_1)|, t the slip's direction; a zero ellipse has the scalar coefficient.
 */
#ifndef FRIC_DERIVE_ELLIPSE_H
#define FRIC_DERIVE_ELLIPSE_H

#include <math.h>
#include <stdbool.h>

struct ellipse {
	long double axes[2];
	long double slip[2]; /* that the direction is of */
	long double eps_v;
};

/* Its value, direction, and slopes by axes and slip. */
struct ellipse_slopes {
	bool is_zero;
	long double by_axes[2], by_slip[2];
};

/* Below the threshold of state.c the direction is a constant. Where mu vanishes along t it has the slope of a length to the
 * right: of |axis t| by the axis. */
static inline struct ellipse_slopes ellipse_slopes(const struct ellipse *e)
{
	struct ellipse_slopes by = {.is_zero = e->axes[0] == 0 && e->axes[1] == 0};
	const long double length = hypotl(e->slip[0], e->slip[1]);
	const bool rests = length < 1e-10 * (double)e->eps_v || length == 0;
	const long double t[2] = {rests ? 1 : e->slip[0] / length, rests ? 0 : e->slip[1] / length};
	const long double x = e->axes[0] * t[0], y = e->axes[1] * t[1], mu = hypotl(x, y);
	if (by.is_zero)
		return by;
	by.by_axes[0] = mu == 0 ? fabsl(t[0]) : x / mu * t[0];
	by.by_axes[1] = mu == 0 ? fabsl(t[1]) : y / mu * t[1];
	if (rests || mu == 0)
		return by;
	/* d mu / dt, less its part along t, over the length. */
	const long double d0 = x / mu * e->axes[0], d1 = y / mu * e->axes[1], along = d1 * t[0] - d0 * t[1];
	by.by_slip[0] = -t[1] * along / length;
	by.by_slip[1] = t[0] * along / length;
	return by;
}

/* @param scalar  the tangent of the coefficient that a zero ellipse has */
static inline long double ellipse_tangent(const struct ellipse *e, long double scalar, const long double axes[2],
                                          const long double slip[2])
{
	const struct ellipse_slopes by = ellipse_slopes(e);
	return by.is_zero ? scalar
	                  : by.by_axes[0] * axes[0] + by.by_axes[1] * axes[1] + by.by_slip[0] * slip[0] +
	                        by.by_slip[1] * slip[1];
}

/* Adds to the cotangents of axes and slip. @return that of the scalar coefficient */
static inline long double ellipse_cotangent(const struct ellipse *e, long double mu, long double axes[2],
                                            long double slip[2])
{
	const struct ellipse_slopes by = ellipse_slopes(e);
	for (int a = 0; a < 2; a++) {
		axes[a] += by.by_axes[a] * mu;
		slip[a] += by.by_slip[a] * mu;
	}
	return by.is_zero ? mu : 0;
}

#endif

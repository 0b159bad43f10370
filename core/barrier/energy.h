/**
 * The barrier's energy as a function of the distance d and its first two derivatives, from dmin to dmin + dhat
 * (barrier.h has the formulas). All terms of energy and slope are positive; they are built from gap = d - dmin and left
 * = dmin + dhat - d, which the caller computes without cancellation. One implementation for double and long double
 * (suffix _l); in doubles it has no branches or calls, so that loops over it vectorise.
 */
#ifndef FRIC_ENERGY_H
#define FRIC_ENERGY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/base/inline.h"
#include "core/barrier/gap.h"
#include "core/fric.h"

/* An energy and its derivatives with respect to d. */
struct energy {
	double energy, slope, curvature;
};

/* The coefficients of 2 atanh(s)/s - 2 in s^2, from power 1 on: 2/3, 2/5 ... The first omitted term is below 2^-58 for
 * the arguments of energy_log1p. */
static const double atanh_rest[] = {2. / 3,  2. / 5,  2. / 7,  2. / 9,  2. / 11,
                                    2. / 13, 2. / 15, 2. / 17, 2. / 19, 2. / 21};

/* ln(1 + q) to a few ulp. libm's differ from machine to machine. 1 + q is 2^k f with f between sqrt(1/2) and
 * sqrt(2); the error of the sum is added to f - 1. @param q  >= 0, finite */
INLINE double energy_log1p(double q)
{
	const double u = 1 + q, lost = q > 1 ? 1 - (u - q) : q - (u - 1);
	const uint64_t half = 0x3fe6a09e667f3bcd; /* sqrt(1/2) */
	uint64_t bits, power, number;
	double f, scale, k;
	memcpy(&bits, &u, sizeof(bits));
	number = (bits - half) >> 52;
	bits -= number << 52;
	power = (1023 - number) << 52;
	number |= 0x4330000000000000; /* as a double: 2^52 + k */
	memcpy(&f, &bits, sizeof(f));
	memcpy(&scale, &power, sizeof(scale));
	memcpy(&k, &number, sizeof(k));
	k -= 0x1p52;
	/* the power of two is at most 2^1022, so its inverse is a normal number */
	const double g = (f - 1) + lost * scale, s = g / (2 + g), s2 = s * s;
	double sum = atanh_rest[9];
	UNROLL
	for (int i = 8; i >= 0; i--)
		sum = sum * s2 + atanh_rest[i];
	return k * 0x1.62e42fefa38p-1 + ((2 * s + s * (s2 * sum)) + k * 0x1.ef35793c7673p-45);
}

INLINE long double energy_log1p_l(long double q)
{
	return log1pl(q);
}

#define FRIC_ENERGY_DEFINE(real, suffix) \
	/* Numbers that all contacts share. */ \
	struct energy_scale##suffix { \
		real dmin, top, end, rest; /* end + rest is dmin + dhat */ \
		real force, units;         /* stiffness times the scaling, over `units` */ \
	}; \
\
	INLINE struct energy_scale##suffix energy_scale_of##suffix(const struct fric_barrier *barrier) \
	{ \
		const real dmin = barrier->dmin, dhat = barrier->dhat, top = (2 * dmin + dhat) * dhat; \
		const real end = dmin + dhat, added = end - dmin; \
		const bool normalized = barrier->type == FRIC_NORMALIZED_CLAMPED_LOG, \
				   physical = barrier->scaling == FRIC_SCALING_PHYSICAL; \
		return (struct energy_scale##suffix){dmin, \
		                                     top, \
		                                     end, \
		                                     (dmin - (end - added)) + (dhat - added), \
		                                     physical ? barrier->stiffness * barrier->dhat : barrier->stiffness, \
		                                     physical || normalized ? top : 1}; \
	} \
\
	/* d - dmin and dmin + dhat - d for d = distance + rest; the error of each difference is added to its result. */ \
	INLINE real energy_gap##suffix(const struct energy_scale##suffix *s, real distance, real rest) \
	{ \
		const real gap = distance - s->dmin, part = gap - distance; \
		return gap + (((distance - (gap - part)) - (s->dmin + part)) + rest); \
	} \
\
	INLINE real energy_left##suffix(const struct energy_scale##suffix *s, real distance, real rest) \
	{ \
		const real left = s->end - distance, part = left - s->end; \
		return left + (((s->end - (left - part)) - (distance + part)) + (s->rest - rest)); \
	} \
\
	struct energy_terms##suffix { \
		real b, first, second; /* b, -b' and b'' with respect to sigma, over powers of top that differ by type */ \
	}; \
\
	INLINE struct energy_terms##suffix energy_terms_of##suffix(enum fric_barrier_type type, real sigma, real top, \
	                                                           real below) \
	{ \
		const real q = below / sigma, share = below / top; \
		if (type == FRIC_CUBIC_BARRIER) \
			return (struct energy_terms##suffix){2 * (below * below * share) / 3, 2 * below * share, 4 * share}; \
		const real l = energy_log1p##suffix(q); \
		if (type == FRIC_CLAMPED_LOG_SQUARED) \
			return (struct energy_terms##suffix){(below * l) * (below * l), 2 * below * l * (l + q), \
			                                     2 * ((l + q) * (l + q) + q * l * (2 + q))}; \
		if (type == FRIC_TWO_STAGE) { \
			const real over = top / sigma, rest = 0x1.8b90bfbe8e7bdp-3; /* ln 2 - 1/2 */ \
			return q <= 1 \
			           ? (struct energy_terms##suffix){below * below / 2, below, 1} \
			           : (struct energy_terms##suffix){top * top / 4 * (l - rest), over * top / 4, over * over / 4}; \
		} \
		return (struct energy_terms##suffix){below * below * l, below * (2 * l + q), 2 * l + q * (4 + q)}; \
	} \
\
	/* @param gap, left  > 0; beyond, all results are 0 */ \
	INLINE struct energy energy_at##suffix(enum fric_barrier_type type, const struct energy_scale##suffix *s, \
	                                       real distance, real gap, real left) \
	{ \
		const real sigma = gap * (distance + s->dmin), inside = left > 0 ? left : 0, d = distance; \
		const real below = inside * (s->end + d), over = 1 / s->units; \
		const struct energy_terms##suffix t = energy_terms_of##suffix(type, sigma, s->top, below); \
		const real first = t.first * over * over, second = t.second * over * over, scale = inside > 0 ? s->force : 0; \
		return (struct energy){(double)(scale * (t.b * over * over)), (double)(-scale * (2 * d * first)), \
		                       (double)(scale * (2 * (2 * d * d * second - first)))}; \
	}

FRIC_ENERGY_DEFINE(double, )
FRIC_ENERGY_DEFINE(long double, _l)

/* The workspace for the energies of a span. */
struct energy_workspace {
	size_t n;
	const double *distance, *weight; /* [n] */
	double rest[64];
	double gap[64]; /* result: d - dmin */
	double *energy, *slope, *curvature;
};

/* Whether doubles are accurate enough for contacts of moderate distances (gap_scale). */
INLINE bool energy_is_ordinary(const struct fric_barrier *barrier)
{
	return gap_scale(barrier->dhat) && (barrier->dmin == 0 || gap_scale(barrier->dmin)) &&
	       gap_scale(barrier->stiffness);
}

#endif

/**
 * Double-double numbers: an unevaluated sum hi + lo with |lo| <= ulp(hi)/2, about 106 bits (Dekker 1971, TAOCP 2). Used
 * for differences of nearly equal products, as in cross products of nearly parallel edges. Valid as long as no
 * intermediate result over- or underflows; callers first scale their vectors to about 1.
 */
#ifndef FRIC_DD_H
#define FRIC_DD_H

#include <math.h>

#include "core/base/inline.h"

struct dd {
	double hi, lo;
};

INLINE struct dd dd_sum(double a, double b)
{
	const double s = a + b, t = s - a;
	return (struct dd){s, (a - (s - t)) + (b - t)};
}

INLINE struct dd dd_fast_sum(double a, double b) /* |a| >= |b| or a == 0 */
{
	const double s = a + b;
	return (struct dd){s, b - (s - a)};
}

INLINE struct dd dd_difference(double a, double b)
{
	return dd_sum(a, -b);
}

INLINE struct dd dd_product(double a, double b)
{
	const double p = a * b;
	return (struct dd){p, fma(a, b, -p)};
}

INLINE struct dd dd_add(struct dd a, struct dd b)
{
	const struct dd s = dd_sum(a.hi, b.hi), t = dd_sum(a.lo, b.lo);
	const struct dd u = dd_fast_sum(s.hi, s.lo + t.hi);
	return dd_fast_sum(u.hi, u.lo + t.lo);
}

INLINE struct dd dd_negate(struct dd a)
{
	return (struct dd){-a.hi, -a.lo};
}

INLINE struct dd dd_subtract(struct dd a, struct dd b)
{
	return dd_add(a, dd_negate(b));
}

INLINE struct dd dd_multiply(struct dd a, struct dd b)
{
	const struct dd p = dd_product(a.hi, b.hi);
	return dd_fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* a / b rounded to a double (within an ulp). */
INLINE double dd_quotient(struct dd a, struct dd b)
{
	const double q = a.hi / b.hi;
	const struct dd remainder = dd_subtract(a, dd_multiply(b, (struct dd){q, 0}));
	return q + remainder.hi / b.hi;
}

#endif

#include "core/prepare/barrier.h"

#include <math.h>

#define real double
#define LOG1P log1p
#define NAMED(name) name##_in_doubles
#include "core/prepare/barrier.inc"
#undef real
#undef LOG1P
#undef NAMED

/* Lengths of 1e-150 must not underflow when squared and cubed. */
#define real long double
#define LOG1P log1pl
#define NAMED(name) name##_in_range
#include "core/prepare/barrier.inc"

static bool of_ordinary_size(double x)
{
	return x == 0 || (x > 0x1p-100 && x < 0x1p+100);
}

enum fric_code fricp_barrier_force(const struct fric_barrier *barrier, double distance, double *force)
{
	*force = 0;
	if (distance <= barrier->dmin)
		return FRIC_E_PENETRATION;
	const bool ordinary_size = of_ordinary_size(distance) && of_ordinary_size(barrier->dmin) &&
	                           of_ordinary_size(barrier->dhat) && of_ordinary_size(barrier->stiffness);
	*force = ordinary_size ? force_in_doubles(barrier, distance) : (double)force_in_range(barrier, distance);
	return FRIC_OK;
}

/* ---- slopes ----
 *
 * In sigma, top, q and L = ln(1 + q) as in barrier.inc, with share = below/top. M is -b'. */

struct bend {
	long double by_sigma; /* M by sigma */
	long double by_top;   /* M by top */
	long double scaled;   /* M/top^2 by top, times top^2: without the terms that cancel */
};

static struct bend clamped_log_bend(long double q, long double l, long double share)
{
	return (struct bend){-(2 * l + q * (4 + q)), 2 * (l + q + share), 2 * (l * (1 - 2 * share) + 2 * share)};
}

static struct bend squared_bend(long double q, long double l, long double share)
{
	return (struct bend){-2 * ((l + q) * (l + q) + q * l * (2 + q)), 2 * ((l + share) * (l + q) + l * (share + q)),
	                     2 * (l * l * (1 - 2 * share) + share * (4 * l + q))};
}

static struct bend two_stage_bend(long double q, long double share)
{
	const long double quotient = 1 + q;
	return q <= 1 ? (struct bend){-1, 1, 1 - 2 * share} : (struct bend){-quotient * quotient / 4, quotient / 2, 0};
}

static struct bend bend_of(enum fric_barrier_type type, long double q, long double share)
{
	const long double l = log1pl(q);
	switch (type) {
	case FRIC_CLAMPED_LOG:
	case FRIC_NORMALIZED_CLAMPED_LOG: break;
	case FRIC_CLAMPED_LOG_SQUARED: return squared_bend(q, l, share);
	case FRIC_CUBIC_BARRIER: return (struct bend){-4 * share, 2 * share * (2 - share), 2 * share * (2 - 3 * share)};
	case FRIC_TWO_STAGE: return two_stage_bend(q, share);
	}
	return clamped_log_bend(q, l, share);
}

/* M, with the text of the force; of the normalized barrier, too, without its units. */
static long double plain_derivative(enum fric_barrier_type type, long double sigma, long double top, long double below)
{
	return minus_derivative_in_range(type == FRIC_NORMALIZED_CLAMPED_LOG ? FRIC_CLAMPED_LOG : type, sigma, top, below);
}

void fricp_barrier_slopes(const struct fric_barrier *barrier, long double distance, struct barrier_slopes *slopes)
{
	const long double d = distance, dmin = barrier->dmin, dhat = barrier->dhat, left = left_in_range(barrier, d);
	*slopes = (struct barrier_slopes){0};
	if (left <= 0)
		return;
	const long double end = dmin + dhat, below = left * (end + d), sigma = (d - dmin) * (d + dmin);
	const long double top = (2 * dmin + dhat) * dhat, m = plain_derivative(barrier->type, sigma, top, below);
	const struct bend bend = bend_of(barrier->type, below / sigma, below / top);
	const bool physical = barrier->scaling == FRIC_SCALING_PHYSICAL;
	const bool over_units = physical || barrier->type == FRIC_NORMALIZED_CLAMPED_LOG;
	const long double units = over_units ? top * top : 1, length = physical ? dhat : 1;
	const long double by_top = over_units ? bend.scaled : bend.by_top;
	const long double by_force = barrier->stiffness / units, scale = by_force * length;
	slopes->force = scale * m * 2 * d;
	slopes->by_stiffness = m * 2 * d * length / units;
	slopes->by_distance = 2 * scale * (m + 2 * d * d * bend.by_sigma);
	slopes->by_dmin = 4 * scale * d * (dhat * by_top - dmin * bend.by_sigma);
	slopes->by_dhat = 2 * d * (2 * scale * end * by_top + (physical ? by_force * m : 0));
}

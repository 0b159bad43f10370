#include "core/geometry/travel.h"

#include <math.h>

#include "core/base/quad.h"

enum { MOST_DEGREE = 4 }; /* of the polynomials in travel.inc */

/* ---- what rounding of the positions takes ---- */

/* Callers add step * direction in doubles: that may change a distance by r = r0 + r1 * step. */
struct margin {
	double kept;          /* of distance - dmin, if there is more */
	double least, growth; /* more than least + growth * step has to be left, so that r does not reach dmin */
};

static inline double larger(double a, double b)
{
	return a > b ? a : b;
}

/* A component x of a vertex gets an error of at most 2^-53 (|x| + 2 step |v|), so a vertex of sqrt(3) times that. */
static inline struct margin margin_of(const struct travel *t)
{
	const int split = geometry_of(t->type) == TWO_LINES ? 2 : 1;
	double place[2] = {0}, way[2] = {0};
	for (int k = 0; k < stencil_size_of(t->type); k++) {
		double x = 0, v = 0;
		for (int d = 0; d < t->dim; d++) {
			x = larger(x, fabs(t->from[k][d]));
			v = larger(v, fabs(t->direction[k][d]));
		}
		if (v > 0) {
			place[k >= split] = larger(place[k >= split], x);
			way[k >= split] = larger(way[k >= split], v);
		}
	}
	const double r0 = 0x1p-52 * place[0] + 0x1p-52 * place[1], r1 = 0x1p-51 * way[0] + 0x1p-51 * way[1];
	return (struct margin){.kept = 16 * r0, .least = 2 * r0, .growth = 2 * r1};
}

/* ---- all numbers ---- */

#define real double
#define root sqrt
#define NAME(x) x##_d
#include "core/geometry/closest.inc"
#undef real
#undef root
#undef NAME
#undef VEC

#define real long double
#define root sqrtl
#define unit 0x1p-64L
#define NAME(x) x##_l
#include "core/geometry/closest.inc"
#include "core/geometry/travel.inc"
#undef real
#undef root
#undef unit
#undef NAME
#undef VEC

#define real quad
#define root quad_root
#define unit 0x1p-113L
#define NAME(x) x##_q
#include "core/geometry/closest.inc"
#include "core/geometry/travel.inc"

/* ---- a first step in doubles ---- */

static const double relative = 0x1p-46; /* relative error of sums of some products, with room */

struct gathered {
	int n, split;
	struct vec_d x[FRIC_MAX_STENCIL], v[FRIC_MAX_STENCIL]; /* relative to the first member's */
	double size, speed;
};

static struct gathered gather(const struct travel *t)
{
	struct gathered g = {.n = stencil_size_of(t->type)};
	g.split = geometry_of(t->type) == TWO_LINES ? 2 : 1;
	for (int k = 0; k < g.n; k++)
		for (int d = 0; d < t->dim; d++) {
			g.x[k].x[d] = t->from[k][d] - t->from[0][d];
			g.v[k].x[d] = t->direction[k][d] - t->direction[0][d];
			g.size += fabs(g.x[k].x[d]);
			g.speed += fabs(g.v[k].x[d]);
		}
	return g;
}

/* How long the plane that separates the sides best at 0 keeps them apart; at least 0 and never too much. */
static double straight(const struct travel *t, const struct margin *rounding)
{
	if (geometry_of(t->type) == POINT_PLANE)
		return 0;
	const struct gathered g = gather(t);
	const struct closest_d at = closest_of_d(t->type, g.x);
	const double gap = sqrt(at.squared) - t->dmin;
	struct vec_d n = {{0}};
	double least = INFINITY;
	for (int k = 0; k < g.n; k++)
		n = plus_d(n, at.w[k], g.x[k]);
	const double length = sqrt(dot_d(n, n)), error = relative * g.size;
	const double kept = larger(t->keep * (gap + error), rounding->kept);
	const double limit = t->dmin + kept + error;
	if (!(error < 0x1p-8 * gap) || !(length > 0x1p-400 && length < 0x1p+400))
		return 0;
	for (int i = 0; i < g.split; i++)
		for (int j = g.split; j < g.n; j++) {
			const double room = dot_d(n, minus_d(g.x[i], g.x[j])) - (limit + error) * length;
			const double closing = (relative * g.speed + rounding->growth) * length - dot_d(n, minus_d(g.v[i], g.v[j]));
			const double step = room <= 0 ? 0 : closing > 0 ? room / closing : INFINITY;
			least = step < least ? step : least;
		}
	return least * (1 - relative);
}

enum fric_code fricp_travel(const struct travel *travel, double bound, double *t)
{
	const struct margin rounding = margin_of(travel);
	const double first = straight(travel, &rounding);
	long double fast = 0;
	quad slow = 0;
	bool certain;
	*t = first < 1 ? first : 1;
	if (first >= 1 || first > bound)
		return FRIC_OK;
	enum fric_code code = travel_l(travel, &rounding, bound, false, &certain, &fast);
	if (!certain) {
		code = travel_q(travel, &rounding, bound, true, &certain, &slow);
		fast = (long double)slow;
	}
	if (code != FRIC_OK)
		return code;
	/* Rounded down, as all numbers are at least 0. */
	*t = (double)fast;
	if (*t > fast)
		*t = nextafter(*t, 0);
	return FRIC_OK;
}

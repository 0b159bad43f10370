/**
 * A measured curve after preparation: the monotone piecewise cubic through its points, with derivatives by Fritsch and
 * Butland (1984), and the integral up to each point (docs/physics.md 2). The table's unit is a power of two near the
 * largest speed; dividing speeds by it prevents over- and underflow, and scaled speeds give the same bits.
 */
#ifndef FRIC_LAW_TABLE_H
#define FRIC_LAW_TABLE_H

#include <stddef.h>

#include "core/fric.h"
#include "core/law/point.h"

/* The piece of a curve from one point to the next. With u = x - from and t = u over_length, the factor is value + t (a
 * + t (b + t c)), clamped to [low, high]; integral is the curve's integral up to `from`. From the last point on, only
 * value and integral are nonzero. */
#define FRIC_TABLE_DEFINE(real, suffix) \
	struct table_piece##suffix { \
		real from, over_length, value, a, b, c, integral, low, high; \
	}; \
	INLINE struct law_shape##suffix piece_along##suffix(const struct table_piece##suffix *p, real u) \
	{ \
		const real t = u * p->over_length; \
		const real value = p->value + t * (p->a + t * (p->b + t * p->c)); \
		const real derivative = (p->a + t * (2 * p->b + 3 * t * p->c)) * p->over_length; \
		const real mean = p->value + \
		                  t * (p->a * ((real)1 / 2) + t * (p->b * ((real)1 / 3) + t * p->c * ((real)1 / 4))); \
		const real above = value > p->low ? value : p->low; \
		return (struct law_shape##suffix){above < p->high ? above : p->high, derivative, p->integral + u * mean}; \
	} \
	INLINE struct law_shape##suffix piece_at##suffix(const struct table_piece##suffix *p, real x) \
	{ \
		return piece_along##suffix(p, x - p->from); \
	} \
	/* Computes 1 - the value, without cancellation. */ \
	INLINE real lost_at##suffix(const struct table_piece##suffix *p, real x) \
	{ \
		const real t = (x - p->from) * p->over_length; \
		const real lost = (1 - p->value) - t * (p->a + t * (p->b + t * p->c)), least = 1 - p->high, most = 1 - p->low; \
		const real above = lost > least ? lost : least; \
		return above < most ? above : most; \
	}

FRIC_TABLE_DEFINE(double, )
FRIC_TABLE_DEFINE(long double, _l)

struct law_table {
	size_t n;        /* number of points, and of pieces */
	double unit;     /* a speed, in which the others are given */
	double shortest; /* length of the shortest piece, in `unit` */
	bool ordinary;   /* all numbers here fit doubles without loss */
	double *speeds;  /* [n] in `unit` */
	struct table_piece *pieces;
	struct table_piece_l *pieces_l;
};

/* Finds the piece that contains x >= 0, and the curve there. start: the position where piece i begins; neighbouring
 * points may coincide when rounded to doubles */
#define FRIC_TABLE_SEARCH_DEFINE(real, suffix, start) \
	INLINE size_t table_find##suffix(const struct law_table *table, real x) \
	{ \
		size_t k = 0; \
		for (size_t left = table->n; left > 1;) { \
			const size_t half = left / 2, i = k + half; \
			k = (start) <= x ? i : k; \
			left -= half; \
		} \
		return k; \
	} \
	INLINE const struct table_piece##suffix *table_piece_at##suffix(const struct law_table *table, real x) \
	{ \
		return &table->pieces##suffix[table_find##suffix(table, x)]; \
	} \
	INLINE struct law_shape##suffix table_at##suffix(const struct law_table *table, real x) \
	{ \
		return piece_at##suffix(table_piece_at##suffix(table, x), x); \
	}

FRIC_TABLE_SEARCH_DEFINE(double, , table->speeds[i])
FRIC_TABLE_SEARCH_DEFINE(long double, _l, table->pieces_l[i].from)

double fricp_table_unit(const struct fric_curve *curve);

/* Piece k of a curve, except its integral. */
struct table_piece_l fricp_table_piece(const struct fric_curve *curve, long double unit, size_t k);

/* The contribution of a piece to the integral; the last piece contributes nothing. */
long double fricp_table_area(const struct table_piece_l *piece);

/* Fills in a table whose arrays have room for the curve's points. */
void fricp_table_fill(struct law_table *table, const struct fric_curve *curve);

/* ---- derivatives with respect to the factors of a curve ----
 *
 * Let A(x) be the curve, C(x) its integral and q = eps_v / table.unit. Where the contact slides, g0 = mu_s (1 + C/q)
 * and G1 = mu_s A. A tangent of the factors has its own table, with pieces of the same lengths, which table_change
 * evaluates. Cotangents of A and C are collected piece by piece, in any number of arrays, which are then summed and
 * pulled back to the factors once. */

/* @param tangent  [table->n] tangent of the factors
 * @param pieces   [table->n] set to the tangent of the table's pieces */
void fricp_table_tangent(const struct fric_curve *curve, const struct law_table *table, const double *tangent,
                         struct table_piece_l *pieces);

/* The tangent of value (a), derivative with respect to x (b) and integral (c) at x >= 0. */
INLINE struct law_shape_l table_change(const struct law_table *table, const struct table_piece_l *pieces, long double x)
{
	return piece_at_l(&pieces[table_find_l(table, x)], x);
}

/* Cotangents of a piece's coefficients. */
struct table_pull {
	long double value, a, b, c, integral;
};

/* Adds cotangents of value and integral at x. @param pulls [table->n] */
INLINE void table_collect(const struct law_table *table, long double x, long double value, long double integral,
                          struct table_pull *pulls)
{
	const size_t k = table_find_l(table, x);
	const struct table_piece_l *p = &table->pieces_l[k];
	const long double u = x - p->from, t = u * p->over_length, all = integral * u;
	pulls[k].value += value + all;
	pulls[k].a += t * (value + all / 2);
	pulls[k].b += t * t * (value + all / 3);
	pulls[k].c += t * t * t * (value + all / 4);
	pulls[k].integral += integral;
}

/* @param factors  [table->n] cotangents; overwritten */
void fricp_table_cotangent(const struct fric_curve *curve, const struct law_table *table,
                           const struct table_pull *pulls, long double *factors);

#endif

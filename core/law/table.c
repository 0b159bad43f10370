#include "core/law/table.h"

#include <math.h>

#include "core/base/range.h"

double fricp_table_unit(const struct fric_curve *curve)
{
	int exponent;
	frexp(curve->speeds[curve->n - 1], &exponent);
	return ldexp(1, exponent > -1074 ? exponent - 1 : -1074);
}

/* In long double, quotients of any two doubles are in range. */
static long double length_of(const struct fric_curve *curve, long double unit, size_t k)
{
	return ((long double)curve->speeds[k + 1] - curve->speeds[k]) / unit;
}

static long double rise(const struct fric_curve *curve, size_t k)
{
	return (long double)curve->factors[k + 1] - curve->factors[k];
}

/* Of Fritsch and Butland: the weighted harmonic mean of the secants, 0 at extremes and at both ends. */
static long double slope_at(const struct fric_curve *curve, long double unit, size_t k)
{
	if (k == 0 || k + 1 == curve->n)
		return 0;
	const long double h0 = length_of(curve, unit, k - 1), h1 = length_of(curve, unit, k);
	const long double d0 = rise(curve, k - 1) / h0, d1 = rise(curve, k) / h1, w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
	return (d0 < 0 && d1 < 0) || (d0 > 0 && d1 > 0) ? (w0 + w1) / (w0 / d0 + w1 / d1) : 0;
}

struct table_piece_l fricp_table_piece(const struct fric_curve *curve, long double unit, size_t k)
{
	const long double value = curve->factors[k], from = curve->speeds[k] / unit;
	if (k + 1 == curve->n)
		return (struct table_piece_l){.from = from, .value = value, .low = value, .high = value};
	const long double next = curve->factors[k + 1], h = length_of(curve, unit, k), change = rise(curve, k);
	const long double m0 = h * slope_at(curve, unit, k), m1 = h * slope_at(curve, unit, k + 1);
	return (struct table_piece_l){.from = from,
	                              .over_length = 1 / h,
	                              .value = value,
	                              .a = m0,
	                              .b = 3 * change - (2 * m0 + m1),
	                              .c = (m0 + m1) - 2 * change,
	                              .low = fminl(value, next),
	                              .high = fmaxl(value, next)};
}

long double fricp_table_area(const struct table_piece_l *piece)
{
	return piece->over_length == 0
	           ? 0
	           : (piece->value + (piece->a / 2 + (piece->b / 3 + piece->c / 4))) / piece->over_length;
}

static struct table_piece in_doubles(const struct table_piece_l *p)
{
	return (struct table_piece){(double)p->from, (double)p->over_length, (double)p->value, (double)p->a,   (double)p->b,
	                            (double)p->c,    (double)p->integral,    (double)p->low,   (double)p->high};
}

/* Factors are factors of forces; of a piece, 1/length is one of a slope. */
static bool ordinary_piece(const struct table_piece_l *p)
{
	return ordinary((double)p->value) && p->value < moderate_size && p->over_length < moderate_size;
}

void fricp_table_fill(struct law_table *table, const struct fric_curve *curve)
{
	long double integral = 0;
	table->n = curve->n;
	table->unit = fricp_table_unit(curve);
	table->ordinary = true;
	table->shortest = 1;
	for (size_t k = 0; k < curve->n; k++) {
		struct table_piece_l *piece = &table->pieces_l[k];
		*piece = fricp_table_piece(curve, table->unit, k);
		piece->integral = integral;
		integral += fricp_table_area(piece);
		table->ordinary &= ordinary_piece(piece);
		if (piece->over_length * table->shortest > 1)
			table->shortest = (double)(1 / piece->over_length);
		table->pieces[k] = in_doubles(piece);
		table->speeds[k] = (double)piece->from;
	}
}

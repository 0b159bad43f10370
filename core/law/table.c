#include "core/law/table.h"

#include <math.h>

#include "core/base/range.h"

double fricp_table_unit(const struct fric_curve *curve)
{
	int exponent;
	frexp(curve->speeds[curve->n - 1], &exponent);
	return ldexp(1, exponent > -1074 ? exponent - 1 : -1074);
}

/* The length of piece k, in long double, where the quotient of any two doubles is in range. */
static long double length_of(const struct fric_curve *curve, long double unit, size_t k)
{
	return ((long double)curve->speeds[k + 1] - curve->speeds[k]) / unit;
}

static long double rise(const struct fric_curve *curve, size_t k)
{
	return (long double)curve->factors[k + 1] - curve->factors[k];
}

/* Derivative at a point, by Fritsch and Butland: the weighted harmonic mean of the secants; 0 at extrema and at both
 * ends. */
static long double derivative_at(const struct fric_curve *curve, long double unit, size_t k)
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
	const long double m0 = h * derivative_at(curve, unit, k), m1 = h * derivative_at(curve, unit, k + 1);
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

/* Values multiply forces, and 1/length of a piece multiplies derivatives, so both must be ordinary. */
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

/* ---- derivatives with respect to the factors ---- */

/* Computes the derivatives of derivative_at with respect to the factors before, at and after a point. With S = (w0 +
 * w1)/(w0/d0 + w1/d1), they follow from dS = (w0 (S/d0)^2 dd0 + w1 (S/d1)^2 dd1)/(w0 + w1). Where the derivative is
 * fixed at 0, they are 0, too. */
static void derivative_shares(const struct fric_curve *curve, long double unit, size_t k, long double share[3])
{
	share[0] = share[1] = share[2] = 0;
	if (derivative_at(curve, unit, k) == 0)
		return;
	const long double h0 = length_of(curve, unit, k - 1), h1 = length_of(curve, unit, k);
	const long double d0 = rise(curve, k - 1) / h0, d1 = rise(curve, k) / h1, w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
	const long double all = w0 + w1, s0 = all / (w0 + w1 * (d0 / d1)), s1 = all / (w0 * (d1 / d0) + w1);
	const long double by0 = w0 / all * s0 * s0 / h0, by1 = w1 / all * s1 * s1 / h1;
	share[0] = -by0;
	share[1] = by0 - by1;
	share[2] = by1;
}

static long double derivative_change(const struct fric_curve *curve, long double unit, const double *tangent, size_t k)
{
	long double share[3], sum = 0;
	derivative_shares(curve, unit, k, share);
	for (size_t i = 0; i < 3 && k > 0 && k + 1 < curve->n; i++)
		sum += share[i] * tangent[k - 1 + i];
	return sum;
}

void fricp_table_tangent(const struct fric_curve *curve, const struct law_table *table, const double *tangent,
                         struct table_piece_l *pieces)
{
	const long double unit = table->unit;
	long double integral = 0;
	for (size_t k = 0; k < curve->n; k++) {
		const struct table_piece_l *piece = &table->pieces_l[k];
		pieces[k] = (struct table_piece_l){.from = piece->from,
		                                   .over_length = piece->over_length,
		                                   .value = tangent[k],
		                                   .integral = integral,
		                                   .low = -(long double)INFINITY,
		                                   .high = INFINITY};
		if (k + 1 == curve->n)
			break;
		const long double h = length_of(curve, unit, k), change = (long double)tangent[k + 1] - tangent[k];
		const long double m0 = h * derivative_change(curve, unit, tangent, k),
						  m1 = h * derivative_change(curve, unit, tangent, k + 1);
		pieces[k].a = m0;
		pieces[k].b = 3 * change - (2 * m0 + m1);
		pieces[k].c = (m0 + m1) - 2 * change;
		integral += fricp_table_area(&pieces[k]);
	}
}

static void pull_derivative(const struct fric_curve *curve, long double unit, size_t k, long double derivative,
                            long double *factors)
{
	long double share[3];
	derivative_shares(curve, unit, k, share);
	for (size_t i = 0; i < 3 && k > 0 && k + 1 < curve->n; i++)
		factors[k - 1 + i] += share[i] * derivative;
}

/* Runs backwards, because the integrals of all later pieces include a piece's area. */
void fricp_table_cotangent(const struct fric_curve *curve, const struct law_table *table,
                           const struct table_pull *pulls, long double *factors)
{
	const long double unit = table->unit;
	long double later = pulls[curve->n - 1].integral;
	for (size_t k = 0; k < curve->n; k++)
		factors[k] = 0;
	factors[curve->n - 1] = pulls[curve->n - 1].value;
	for (size_t k = curve->n - 1; k-- > 0;) {
		const long double h = length_of(curve, unit, k), area = later * h;
		const long double a = pulls[k].a + area / 2, b = pulls[k].b + area / 3, c = pulls[k].c + area / 4;
		const long double change = 3 * b - 2 * c;
		factors[k] += pulls[k].value + area - change;
		factors[k + 1] += change;
		pull_derivative(curve, unit, k, h * (a - 2 * b + c), factors);
		pull_derivative(curve, unit, k + 1, h * (c - b), factors);
		later += pulls[k].integral;
	}
}

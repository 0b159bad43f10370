/* Everything is computed in long double. Its range holds every intermediate result (1/eps_v^3 for eps_v = 1e-150,
 * y/eps_v for a subnormal y), and its digits leave a single rounding, at the end. Speed matters only in the kernels,
 * which use doubles. */
#include "core/fric_mollifier.h"

#include <float.h>
#include <math.h>

#include "core/law/tail.h"

/* z and r = 1 - z at a speed; eps_v - |y| is exact where cancellation would matter. */
static struct law_point_l at(double y, double mu_s, double mu_k, double eps_v)
{
	const long double speed = fabs(y), e = eps_v;
	return (struct law_point_l){mu_s, mu_k, speed / e, (e - speed) / e, speed >= e, {0, 0, 0}, speed >= 2 * e};
}

/* The curve at a speed `beyond` eps_v. Its integral takes time proportional to the number of points before it, so it is
 * computed only on request. rest: rounding error of `beyond`, which a short piece amplifies */
static struct law_shape_l curve_at(const struct fric_curve *curve, long double beyond, long double rest, bool integral)
{
	struct table_piece_l piece;
	long double sum = 0;
	size_t k = 0;
	for (size_t left = curve->n; left > 1;) {
		const size_t half = left / 2;
		k = curve->speeds[k + half] - beyond <= rest ? k + half : k;
		left -= half;
	}
	for (size_t i = 0; i < k && integral && !curve->areas; i++) {
		piece = fricp_table_piece(curve, 1, i);
		sum += fricp_table_area(&piece);
	}
	if (curve->areas)
		sum = curve->areas[k];
	piece = fricp_table_piece(curve, 1, k);
	piece.integral = sum;
	return piece_along_l(&piece, (beyond - piece.from) + rest);
}

/* Whether an area fits a double and lost no digits to underflow. */
static bool fits(long double area)
{
	return area == 0 || (area > DBL_MIN && area <= DBL_MAX);
}

bool fric_curve_areas(const struct fric_curve *curve, double *areas)
{
	long double sum = 0;
	bool all = true;
	for (size_t k = 0; k < curve->n; k++) {
		const struct table_piece_l piece = fricp_table_piece(curve, 1, k);
		areas[k] = (double)sum;
		all &= fits(sum);
		sum += fricp_table_area(&piece);
	}
	return all;
}

/* The rounding error of a - b. */
static long double lost_of_difference(long double a, long double b)
{
	const long double d = a - b, taken = d - a;
	return (a - (d - taken)) - (b + taken);
}

/* The shape of a tail, from the difference of speed and eps_v. */
static struct law_shape_l shape_beyond(const struct fric_law *law, double y, long double eps_v, bool integral)
{
	const long double difference = fabs(y) - eps_v, beyond = difference > 0 ? difference : 0, v = law->stribeck_speed;
	if (law->type == FRIC_STRIBECK)
		return stribeck_tail_l(beyond / v, eps_v / v, v / eps_v);
	if (law->type == FRIC_EXPONENTIAL)
		return exponential_tail_l(beyond / v, eps_v / v, v / eps_v);
	const long double rest = difference > 0 ? lost_of_difference(fabs(y), eps_v) : 0;
	const struct law_shape_l at = curve_at(&law->curve, beyond, rest, integral);
	return (struct law_shape_l){at.a, at.b * eps_v, at.c / eps_v};
}

/* The law at a speed, including its shape; the integral of a curve only if `integral`. */
static struct law_point_l law_at(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law,
                                 bool integral)
{
	struct law_point_l a = at(y, mu_s, mu_k, eps_v);
	a.shape = law_has_tail(law_of(law)) ? shape_beyond(law, y, eps_v, integral) : law_shape_l(law_of(law), mu_s, mu_k);
	return a;
}

static long double sign(double y)
{
	return signbit(y) ? -1 : 1;
}

double fric_law_potential(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law)
{
	const long double drag = (long double)law->viscous * y * y / 2;
	return (double)(eps_v * law_g0_l(law_of(law), law_at(y, mu_s, mu_k, eps_v, law, true)) + drag);
}

double fric_law_force(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law)
{
	const struct law_point_l a = law_at(y, mu_s, mu_k, eps_v, law, false);
	const long double g1 = law_g1_l(law_of(law), a) * (law_low_l(law_of(law), a) ? a.z : 1);
	return (double)(sign(y) * (g1 + (long double)law->viscous * fabs(y)));
}

double fric_law_force_over_speed(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law)
{
	const struct law_point_l a = law_at(y, mu_s, mu_k, eps_v, law, false);
	const long double over_speed = law_g1_l(law_of(law), a) / (law_low_l(law_of(law), a) ? eps_v : fabs(y));
	return (double)(over_speed + law->viscous);
}

double fric_law_force_derivative(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law)
{
	return (double)(law_g2_l(law_of(law), law_at(y, mu_s, mu_k, eps_v, law, false)) / eps_v + law->viscous);
}

/* The f functions are the smooth_mu functions with mu = 1. */
double fric_smooth_friction_f0(double y, double eps_v)
{
	return fric_smooth_mu_f0(y, 1, 1, eps_v, FRIC_CUBIC);
}

double fric_smooth_friction_f1(double y, double eps_v)
{
	return fric_smooth_mu_f1(y, 1, 1, eps_v, FRIC_CUBIC);
}

double fric_smooth_friction_f2(double y, double eps_v)
{
	return fric_smooth_mu_f2(y, 1, 1, eps_v, FRIC_CUBIC);
}

double fric_smooth_friction_f1_over_x(double y, double eps_v)
{
	return fric_smooth_mu_f1_over_x(y, 1, 1, eps_v, FRIC_CUBIC);
}

double fric_smooth_friction_f2_x_minus_f1_over_x3(double y, double eps_v)
{
	return fric_smooth_mu_f2_x_minus_mu_f1_over_x3(y, 1, 1, eps_v, FRIC_CUBIC);
}

/* ---- the curves of mu ---- */

#define CURVE(function, a) (transition == FRIC_CUBIC ? cubic_##function(a) : quadratic_##function(a))

double fric_smooth_mu(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition)
{
	const struct law_point_l a = at(y, mu_s, mu_k, eps_v);
	return a.slides ? mu_k : (double)CURVE(mu_l, a);
}

double fric_smooth_mu_derivative(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition)
{
	const struct law_point_l a = at(y, mu_s, mu_k, eps_v);
	return a.slides ? 0 : (double)(sign(y) * CURVE(mu_derivative_l, a) / eps_v);
}

/* The next four return the same quantities as the fric_law functions above. Below eps_v, f0 and f1/x come from the
 * law's formulas. Elsewhere the law's formulas would change the last bit of 2 to 5 in 10,000 results, which must stay
 * as they are: they multiply mu z (2 - z) and mu' z (2 - z) in another order, and beyond eps_v they would round a
 * product or quotient of two doubles twice, to long double and then to double. */
double fric_smooth_mu_f0(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition)
{
	const struct law_point_l a = at(y, mu_s, mu_k, eps_v);
	return a.slides ? mu_k * fabs(y) : (double)(eps_v * CURVE(g0_l, a));
}

double fric_smooth_mu_f1(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition)
{
	const struct law_point_l a = at(y, mu_s, mu_k, eps_v);
	return (double)(sign(y) * (a.slides ? mu_k : CURVE(mu_l, a) * a.z * (2 - a.z)));
}

double fric_smooth_mu_f2(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition)
{
	const struct law_point_l a = at(y, mu_s, mu_k, eps_v);
	const long double inside = 2 * a.r * CURVE(mu_l, a) + CURVE(mu_derivative_l, a) * a.z * (2 - a.z);
	return a.slides ? 0 : (double)(inside / eps_v);
}

double fric_smooth_mu_f1_over_x(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition)
{
	const struct law_point_l a = at(y, mu_s, mu_k, eps_v);
	return a.slides ? mu_k / fabs(y) : (double)(CURVE(g1_l, a) / eps_v);
}

double fric_smooth_mu_f2_x_minus_mu_f1_over_x3(double y, double mu_s, double mu_k, double eps_v,
                                               enum fric_transition transition)
{
	const struct law_point_l a = at(y, mu_s, mu_k, eps_v);
	const long double speed = fabs(y), e = eps_v;
	if (a.slides)
		return (double)(-mu_k / (speed * speed * speed));
	if (mu_s == 0) /* no pole at rest, because z cancels */
		return (double)(mu_k * CURVE(curvature_without_mu_s_l, a.z) / (e * e * e));
	return (double)(CURVE(curvature_l, a) / a.z / (e * e * e));
}

void fric_matchstick_direction(const double tau[2], double threshold, double direction[2])
{
	const long double n = hypotl(tau[0], tau[1]);
	direction[0] = n < threshold || n == 0 ? 1 : (double)(tau[0] / n);
	direction[1] = n < threshold || n == 0 ? 0 : (double)(tau[1] / n);
}

double fric_matchstick_mu(const double direction[2], const double mu_aniso[2])
{
	return (double)hypotl((long double)mu_aniso[0] * direction[0], (long double)mu_aniso[1] * direction[1]);
}

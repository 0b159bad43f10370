/* In long double throughout: its range holds every intermediate result (1/eps_v^3 for eps_v = 1e-150, y/eps_v for a
 * subnormal y), and its digits leave one rounding, at the end. Speed matters in the kernels, which have the law in
 * doubles. */
#include "core/fric_mollifier.h"

#include <math.h>

#include "core/law/law.h"

/* z and r = 1 - z of a speed; eps_v - |y| is exact where it matters. */
static struct law_point_l at(double y, double mu_s, double mu_k, double eps_v)
{
	const long double speed = fabs(y), e = eps_v;
	return (struct law_point_l){mu_s, mu_k, speed / e, (e - speed) / e, speed >= e, {0, 0, 0}};
}

/* The same with the law's shape. */
static struct law_point_l law_at(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law)
{
	struct law_point_l a = at(y, mu_s, mu_k, eps_v);
	a.shape = law_shape_l(law->transition, mu_s, mu_k);
	return a;
}

static long double sign(double y)
{
	return signbit(y) ? -1 : 1;
}

double fric_law_potential(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law)
{
	return (double)(eps_v * law_g0_l(law->transition, law_at(y, mu_s, mu_k, eps_v, law)));
}

double fric_law_force(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law)
{
	const struct law_point_l a = law_at(y, mu_s, mu_k, eps_v, law);
	return (double)(sign(y) * law_g1_l(law->transition, a) * (law_low_l(law->transition, a) ? a.z : 1));
}

double fric_law_force_over_speed(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law)
{
	const struct law_point_l a = law_at(y, mu_s, mu_k, eps_v, law);
	return (double)(law_g1_l(law->transition, a) / (law_low_l(law->transition, a) ? eps_v : fabs(y)));
}

double fric_law_force_derivative(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law)
{
	return (double)(law_g2_l(law->transition, law_at(y, mu_s, mu_k, eps_v, law)) / eps_v);
}

/* The f functions are the smooth_mu ones with mu = 1. */
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

/* The next four say what the fric_law functions above say. Below eps_v, f0 and f1/x come from the law's text.
 * Elsewhere the law's text would change the last bit of some values (2 to 5 in 10,000), which are to stay as they
 * were: it has mu z (2 - z) and mu' z (2 - z) in another order, and beyond eps_v a product or quotient of two doubles
 * would be rounded to long double before it is rounded to double. */
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
	if (mu_s == 0) /* no pole: z cancels */
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

/* In long double throughout: its range holds every intermediate result (1/eps_v^3 for eps_v = 1e-150, y/eps_v for a
 * subnormal y), and its digits leave one rounding, at the end. Speed matters in the kernels, which have the law in
 * doubles. */
#include "core/fric_mollifier.h"

#include <math.h>

#include "core/law/law.h"

struct point {
	long double z, r;
	long double sign;
	bool slides;
};

/* z and r = 1 - z of a speed; eps_v - |y| is exact where it matters. */
static struct point at(double y, double eps_v)
{
	const long double a = fabs(y), e = eps_v;
	return (struct point){.z = a / e, .r = (e - a) / e, .sign = signbit(y) ? -1 : 1, .slides = fabs(y) >= eps_v};
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

double fric_smooth_mu(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition)
{
	const struct point p = at(y, eps_v);
	return p.slides ? mu_k : (double)law_mu_l(transition, mu_s, mu_k, p.z, p.r);
}

double fric_smooth_mu_derivative(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition)
{
	const struct point p = at(y, eps_v);
	return p.slides ? 0 : (double)(p.sign * law_mu_derivative_l(transition, mu_s, mu_k, p.z, p.r) / eps_v);
}

double fric_smooth_mu_f0(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition)
{
	const struct point p = at(y, eps_v);
	return p.slides ? mu_k * fabs(y) : (double)(eps_v * law_g0_l(transition, mu_s, mu_k, p.z, p.r));
}

double fric_smooth_mu_f1(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition)
{
	const struct point p = at(y, eps_v);
	if (p.slides)
		return (double)p.sign * mu_k;
	return (double)(p.sign * law_mu_l(transition, mu_s, mu_k, p.z, p.r) * p.z * (2 - p.z));
}

double fric_smooth_mu_f2(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition)
{
	const struct point p = at(y, eps_v);
	if (p.slides)
		return 0;
	const long double mu = law_mu_l(transition, mu_s, mu_k, p.z, p.r);
	const long double derivative = law_mu_derivative_l(transition, mu_s, mu_k, p.z, p.r);
	return (double)((2 * p.r * mu + derivative * p.z * (2 - p.z)) / eps_v);
}

double fric_smooth_mu_f1_over_x(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition)
{
	const struct point p = at(y, eps_v);
	if (p.slides)
		return mu_k / fabs(y);
	return (double)(law_mu_l(transition, mu_s, mu_k, p.z, p.r) * (2 - p.z) / eps_v);
}

double fric_smooth_mu_f2_x_minus_mu_f1_over_x3(double y, double mu_s, double mu_k, double eps_v,
                                               enum fric_transition transition)
{
	const struct point p = at(y, eps_v);
	const long double a = fabs(y), e = eps_v;
	if (p.slides)
		return (double)(-mu_k / (a * a * a));
	if (mu_s == 0) /* no pole: z cancels */
		return (double)(mu_k *
		                (transition == FRIC_CUBIC ? 12 - p.z * (21 - 8 * p.z)
		                 : 2 * p.z < 1            ? 8 - 6 * p.z
		                                          : (9 - p.z * (16 - 6 * p.z)) / p.z) /
		                (e * e * e));
	return (double)(law_curvature_l(transition, mu_s, mu_k, p.z, p.r) / p.z / (e * e * e));
}

double fric_law_potential(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law)
{
	return fric_smooth_mu_f0(y, mu_s, mu_k, eps_v, law->transition);
}

double fric_law_force(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law)
{
	return fric_smooth_mu_f1(y, mu_s, mu_k, eps_v, law->transition);
}

double fric_law_force_over_speed(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law)
{
	return fric_smooth_mu_f1_over_x(y, mu_s, mu_k, eps_v, law->transition);
}

double fric_law_force_derivative(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law)
{
	return fric_smooth_mu_f2(y, mu_s, mu_k, eps_v, law->transition);
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

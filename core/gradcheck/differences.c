#include "core/gradcheck/differences.h"

#include <math.h>

#include "core/base/quad.h"
#include "core/law/textbook.h"

struct potential {
	enum law law;
	quad mu_s, mu_k;
	quad decay; /* eps_v over the speed that the law changes over beyond it; of a curve, eps_v */
	const struct fric_curve *curve;
	const quad *areas;   /* textbook_areas of the curve */
	bool slides, broken; /* exactly: where G2 jumps, differences stay on the side that the contact is on */
	quad subtracted;     /* a constant that would swamp small differences; differences do not depend on it */
};

/* One Newton step doubles the digits of the long double. */
static quad square_root(quad x)
{
	if (x <= 0)
		return 0;
	const quad guess = sqrtl((long double)x);
	return (guess + x / guess) / 2;
}

static quad length(int n, const quad *x)
{
	quad squared = 0;
	if (n == 1)
		return x[0] < 0 ? -x[0] : x[0];
	for (int t = 0; t < n; t++)
		squared += x[t] * x[t];
	return square_root(squared);
}

static quad potential(const struct potential *p, int n, const quad *x)
{
	const quad z = length(n, x), tail = textbook_tail(p->law, p->curve, p->areas, z, p->decay);
	if (p->law == LAW_ADHESION)
		return adhesion_textbook_piece(p->mu_s, z, p->broken, p->subtracted);
	if (law_has_tail(p->law) && !p->slides)
		return rising_textbook(p->mu_s, z, p->subtracted);
	if (p->law == LAW_EXPONENTIAL) {
		const quad lost = p->mu_s == p->mu_k ? 0 : textbook_lost((z - 1) * p->decay) / p->decay;
		return decaying_textbook_piece(p->mu_s, p->mu_k, z, lost, true, p->subtracted);
	}
	return law_textbook(p->law, p->mu_s, p->mu_k, z, tail, p->subtracted);
}

/* The potential where directions r and t have gone on by g and by h. */
static quad moved(const struct potential *p, int n, const quad *x, int r, quad g, int t, quad h)
{
	quad there[MOST_DIRECTIONS];
	for (int k = 0; k < n; k++)
		there[k] = x[k];
	there[r] += g;
	there[t] += h;
	return potential(p, n, there);
}

/* 1 - z comes from a rounded z. */
static quad known_ratio(quad z)
{
	return 0x1p-50 * (z > 1 ? z : 1);
}

/* How much G2 eps_v may change within two steps. */
static quad blur_at(const struct potential *p, quad z, quad step)
{
	const quad d = law_has_one_coefficient(p->law) ? p->mu_s : p->mu_s - p->mu_k, q = p->decay, x = (z - 1) * q;
	if (p->law == LAW_ADHESION || (law_has_tail(p->law) && !p->slides))
		return 0;
	if (p->law == LAW_EXPONENTIAL) /* only `known` */
		return p->slides && x < 60 ? (d < 0 ? -d : d) * q * q * known_ratio(z) : 0;
	return law_textbook_blur(p->law, p->mu_s, p->mu_k, z, 2 * step) +
	       textbook_tail_blur(p->law, p->curve, d, z, q, 2 * step * (z > 1 ? z : 1), known_ratio(z));
}

/* Over what z a decay changes. Where nothing is left of it, only steps to where it begins are too long. */
static quad extent_of_decay(const struct potential *p, quad z)
{
	const bool over = (z - 1) * p->decay > (p->law == LAW_STRIBECK ? 6 : 30);
	return p->mu_s == p->mu_k ? 0 : over ? (z - 1) * 0x1p+12 : 1 / p->decay;
}

/* Over what z a law changes that goes on beyond eps_v; 0: not here. */
static quad extent_at(const struct potential *p, quad z)
{
	const quad x = (z - 1) * p->decay;
	if (!law_has_tail(p->law) || !p->slides)
		return 0;
	if (p->law != LAW_CURVE)
		return extent_of_decay(p, z);
	if (x > p->curve->speeds[p->curve->n - 1] + 4 * DIFFERENCES_STEP * z * p->decay)
		return 0;
	return textbook_shortest(p->curve, x > 0 ? x : 0) / p->decay;
}

/* A step is at most 2^-16 of what the law changes over. */
static quad step_at(const struct potential *p, quad z)
{
	const quad longest = DIFFERENCES_STEP, extent = extent_at(p, z) * 0x1p-16L / (z > 1 ? z : 1);
	const quad least = 0x1p-52L, step = extent > 0 && extent < longest ? extent : longest;
	return step > least ? step : least;
}

/* What the rounding of potentials leaves of second differences over a short step, beyond eps_v. */
static quad noise_of(quad mu, quad z, quad step)
{
	return step < DIFFERENCES_STEP ? mu * 0x1p-109 / (step * step * z) : 0;
}

/* Whether the length of x, whose squares are nearly exact in 113 bits, is at least times eps_v. */
static bool reaches(int n, const long double *x, double eps_v, int times)
{
	const quad limit = times * (quad)eps_v;
	quad squared = 0;
	for (int t = 0; t < n; t++)
		squared += (quad)x[t] * x[t];
	return squared >= limit * limit;
}

static long double largest_of(const long double *x, int n)
{
	long double most = 0;
	for (int t = 0; t < n; t++)
		most = fmaxl(most, fabsl(x[t]));
	return most;
}

static void first_differences(const struct potential *p, int n, const quad *x, quad h, long double *out)
{
	for (int t = 0; t < n; t++)
		out[t] = (long double)((moved(p, n, x, t, h, t, 0) - moved(p, n, x, t, -h, t, 0)) / (2 * h));
}

static void second_differences(const struct potential *p, int n, const quad *x, quad h, long double *out)
{
	const quad twice = 2 * potential(p, n, x);
	for (int r = 0; r < n; r++)
		for (int t = r; t < n; t++)
			if (t == r)
				*out++ = (long double)((moved(p, n, x, t, h, t, 0) - twice + moved(p, n, x, t, -h, t, 0)) / (h * h));
			else
				*out++ = (long double)((moved(p, n, x, r, h, t, h) - moved(p, n, x, r, h, t, -h) -
				                        moved(p, n, x, r, -h, t, h) + moved(p, n, x, r, -h, t, -h)) /
				                       (4 * h * h));
}

static struct potential potential_of(const struct fric_law *law, const quad *areas, double mu_s, double mu_k,
                                     double eps_v)
{
	const double unit = law->type == FRIC_STRIBECK || law->type == FRIC_EXPONENTIAL ? law->stribeck_speed : 1;
	return (struct potential){law_of(law), mu_s, mu_k, (quad)eps_v / unit, &law->curve, areas, false, false, 0};
}

/* The smooth law has its kinetic coefficient from eps_v on. */
static double largest_coefficient(const struct fric_law *law, double mu_s, double mu_k, bool slides)
{
	double factor = 1;
	for (size_t k = 0; law->type == FRIC_CURVE && k < law->curve.n; k++)
		factor = law->curve.factors[k] > factor ? law->curve.factors[k] : factor;
	return (law->type == FRIC_SMOOTH && slides) || mu_k > mu_s ? mu_k : mu_s * factor;
}

void fricp_differences_at(const struct fric_law *law, const quad *areas, double mu_s, double mu_k, double eps_v, int n,
                          const long double *x, struct differences *out)
{
	struct potential p = potential_of(law, areas, mu_s, mu_k, eps_v);
	quad scaled[MOST_DIRECTIONS];
	for (int t = 0; t < n; t++)
		scaled[t] = (quad)x[t] / eps_v;
	const quad z = length(n, scaled);
	p.slides = reaches(n, x, eps_v, 1);
	p.broken = reaches(n, x, eps_v, 2);
	const quad step = step_at(&p, z);
	*out = (struct differences){0};
	out->z = (long double)z;
	out->slides = z >= 1 + 4 * DIFFERENCES_STEP;
	out->potential = (long double)potential(&p, n, scaled);
	p.subtracted = out->slides ? 0 : law_textbook_rest(p.law, p.mu_s, p.mu_k);
	first_differences(&p, n, scaled, step * (z > 0 ? z : 1), out->gradient);
	second_differences(&p, n, scaled, step * (z > 1 ? z : 1), out->hessian);
	out->mu = largest_coefficient(law, mu_s, mu_k, out->slides);
	out->blur = (long double)(blur_at(&p, z, step) + noise_of(out->mu, z, step));
	if (law_has_tail(p.law))
		out->known = (long double)known_ratio(z) * (largest_of(out->hessian, n * (n + 1) / 2) + out->blur);
}

/* Where direction t has gone on by h. */
static quad drag(quad strength, int n, const quad *x, int t, quad h)
{
	quad squared = 0;
	for (int k = 0; k < n; k++)
		squared += (x[k] + (k == t ? h : 0)) * (x[k] + (k == t ? h : 0));
	return strength * squared / 2;
}

void fricp_differences_of_drag(double viscous, double eps_v, int n, const long double *bare, struct differences *out)
{
	const quad k = (quad)viscous * eps_v;
	quad x[MOST_DIRECTIONS], squared = 0;
	for (int t = 0; t < n; t++) {
		x[t] = (quad)bare[t] / eps_v;
		squared += x[t] * x[t];
	}
	const quad size = square_root(squared), h = size > 1 ? size : 1, here = drag(k, n, x, 0, 0);
	const quad g = size > 0 ? size : 1; /* beside a longer step, a small slip would be lost */
	out->potential += (long double)here;
	for (int t = 0, e = 0; t < n; e += n - t, t++) {
		const quad ahead = drag(k, n, x, t, h), behind = drag(k, n, x, t, -h);
		out->gradient[t] += (long double)((drag(k, n, x, t, g) - drag(k, n, x, t, -g)) / (2 * g));
		out->hessian[e] += (long double)((ahead - 2 * here + behind) / (h * h));
	}
}

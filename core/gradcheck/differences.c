#include "core/gradcheck/differences.h"

#include "core/law/textbook.h"

static quad length(int n, const quad *x)
{
	quad squared = 0;
	if (n == 1)
		return x[0] < 0 ? -x[0] : x[0];
	for (int t = 0; t < n; t++)
		squared += x[t] * x[t];
	return quad_root(squared);
}

static quad potential(const struct textbook *p, int n, const quad *x)
{
	return textbook_potential(p, length(n, x));
}

/* The potential after a step g along direction r and h along direction t. */
static quad moved(const struct textbook *p, int n, const quad *x, int r, quad g, int t, quad h)
{
	quad there[MOST_DIRECTIONS];
	for (int k = 0; k < n; k++)
		there[k] = x[k];
	there[r] += g;
	there[t] += h;
	return potential(p, n, there);
}

/* The error of 1 - z that is due to the rounding of z. */
static quad known_ratio(quad z)
{
	return 0x1p-50 * (z > 1 ? z : 1);
}

/* The step, at most 2^-16 of the range over which the law changes. */
static quad step_at(const struct textbook *p, quad z)
{
	const quad longest = DIFFERENCES_STEP,
			   extent = textbook_extent(p, z, 4 * DIFFERENCES_STEP * z) * 0x1p-16L / (z > 1 ? z : 1);
	const quad least = 0x1p-52L, step = extent > 0 && extent < longest ? extent : longest;
	return step > least ? step : least;
}

/* The rounding error of second differences over a short step, beyond eps_v. */
static quad noise_of(quad mu, quad z, quad step)
{
	return step < DIFFERENCES_STEP ? mu * 0x1p-109 / (step * step * z) : 0;
}

/* Whether the length of x is at least times eps_v. Squares are nearly exact in 113 bits. */
static bool reaches(int n, const long double *x, double eps_v, int times)
{
	const quad limit = times * (quad)eps_v;
	quad squared = 0;
	for (int t = 0; t < n; t++)
		squared += (quad)x[t] * x[t];
	return squared >= limit * limit;
}

static void first_differences(const struct textbook *p, int n, const quad *x, quad h, long double *out)
{
	for (int t = 0; t < n; t++)
		out[t] = (long double)((moved(p, n, x, t, h, t, 0) - moved(p, n, x, t, -h, t, 0)) / (2 * h));
}

static void second_differences(const struct textbook *p, int n, const quad *x, quad h, long double *out)
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

void fricp_differences_at(const struct fric_law *law, const quad *areas, double mu_s, double mu_k, double eps_v, int n,
                          const long double *x, struct differences *out)
{
	struct textbook p = textbook_of(law, areas, mu_s, mu_k, eps_v);
	quad scaled[MOST_DIRECTIONS];
	for (int t = 0; t < n; t++)
		scaled[t] = (quad)x[t] / eps_v;
	const quad z = length(n, scaled);
	p.slides = reaches(n, x, eps_v, 1);
	p.broken = reaches(n, x, eps_v, LAW_REACH);
	const quad step = step_at(&p, z);
	*out = (struct differences){0};
	out->z = (long double)z;
	out->slides = z >= 1 + 4 * DIFFERENCES_STEP;
	out->potential = (long double)potential(&p, n, scaled);
	p.subtracted = out->slides ? 0 : law_textbook_rest(p.law, p.mu_s, p.mu_k);
	first_differences(&p, n, scaled, step * (z > 0 ? z : 1), out->gradient);
	second_differences(&p, n, scaled, step * (z > 1 ? z : 1), out->hessian);
	out->mu = textbook_largest(law, mu_s, mu_k, out->slides);
	out->blur = (long double)(textbook_blur(&p, z, 2 * step, known_ratio(z)) + noise_of(out->mu, z, step));
	if (law_has_tail(p.law))
		out->known = (long double)known_ratio(z) * (largest_size_of(out->hessian, n * (n + 1) / 2) + out->blur);
}

/* The potential of the drag after a step h along direction t. */
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
	const quad size = quad_root(squared), h = size > 1 ? size : 1, here = drag(k, n, x, 0, 0);
	const quad g = size > 0 ? size : 1; /* otherwise a small slip would be lost in a longer step */
	out->potential += (long double)here;
	for (int t = 0, e = 0; t < n; e += n - t, t++) {
		const quad ahead = drag(k, n, x, t, h), behind = drag(k, n, x, t, -h);
		out->gradient[t] += (long double)((drag(k, n, x, t, g) - drag(k, n, x, t, -g)) / (2 * g));
		out->hessian[e] += (long double)((ahead - 2 * here + behind) / (h * h));
	}
}

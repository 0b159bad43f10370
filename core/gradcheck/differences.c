#include "core/gradcheck/differences.h"

#include <math.h>

#include "core/base/quad.h"

struct potential {
	enum fric_transition transition;
	quad mu_s, mu_k;
	quad subtracted; /* a constant that would swamp small differences; differences do not depend on it */
};

/* One Newton step doubles the digits of the long double. */
static quad square_root(quad x)
{
	if (x <= 0)
		return 0;
	const quad guess = sqrtl((long double)x);
	return (guess + x / guess) / 2;
}

static quad length(int n, const quad x[2])
{
	if (n == 1)
		return x[0] < 0 ? -x[0] : x[0];
	return square_root(x[0] * x[0] + x[1] * x[1]);
}

/* Where the peak is, and the width of what follows, in units of eps_v */
static quad peak_width(const struct potential *p)
{
	const quad top = p->mu_s > p->mu_k ? p->mu_s : p->mu_k;
	return top > 0 ? (1 - (p->mu_s + p->mu_k - top) / top) / 2 : 0;
}

/* G0(0) / eps_v */
static quad at_rest(const struct potential *p)
{
	if (p->transition == FRIC_PEAK) {
		const quad w = peak_width(p);
		return p->mu_k - 2 * p->mu_s * (1 - w) / 3 - (p->mu_s + p->mu_k) * w / 2;
	}
	return p->transition == FRIC_CUBIC ? (17 * p->mu_k - 7 * p->mu_s) / 30 : (27 * p->mu_k - 11 * p->mu_s) / 48;
}

static quad above_rest_peak(const struct potential *p, quad z)
{
	const quad s = p->mu_s, k = p->mu_k, w = peak_width(p), m = 1 - w / 2, top = 1 - w;
	if (z <= top)
		return s * (z * z / top - z * z * z / (3 * top * top));
	const quad t = z <= m ? (z - top) / w : (1 - z) / w;
	return z <= m ? s * (2 * top / 3 + w * t) + 2 * (k - s) * w * t * t * t / 3
	              : k - at_rest(p) - w * (k * t - 2 * (k - s) * t * t * t / 3);
}

/* (G0(z eps_v) - G0(0)) / eps_v for z < 1, in powers of z as in docs/physics.md 2 */
static quad above_rest(const struct potential *p, quad z)
{
	if (p->transition == FRIC_PEAK)
		return above_rest_peak(p, z);
	const quad s = p->mu_s, k = p->mu_k, change = k - s, z2 = z * z, z3 = z2 * z, z4 = z2 * z2, z5 = z4 * z;
	if (p->transition == FRIC_CUBIC)
		return s * (z2 - z3 / 3) + change * (3 * z4 / 2 - 7 * z5 / 5 + z5 * z / 3);
	if (2 * z < 1)
		return s * (z2 - z3 / 3) + change * (z4 - 2 * z5 / 5);
	return (9 * k - 4 * s) / 15 - at_rest(p) + (2 * s - k) * z2 + (3 * k - 10 * s / 3) * z3 - 2 * change * z4 +
	       2 * change * z5 / 5;
}

static quad potential(const struct potential *p, int n, quad x0, quad x1)
{
	const quad x[2] = {x0, x1}, z = length(n, x);
	return z < 1 ? above_rest(p, z) + (at_rest(p) - p->subtracted) : p->mu_k * z - p->subtracted;
}

static void first_differences(const struct potential *p, int n, const quad x[2], quad h, long double out[2])
{
	out[0] = (long double)((potential(p, n, x[0] + h, x[1]) - potential(p, n, x[0] - h, x[1])) / (2 * h));
	out[1] = n == 1 ? 0 : (long double)((potential(p, n, x[0], x[1] + h) - potential(p, n, x[0], x[1] - h)) / (2 * h));
}

static void second_differences(const struct potential *p, int n, const quad x[2], quad h, long double out[3])
{
	const quad a = x[0], b = x[1], twice = 2 * potential(p, n, a, b), h2 = h * h;
	out[0] = (long double)((potential(p, n, a + h, b) - twice + potential(p, n, a - h, b)) / h2);
	out[1] = out[2] = 0;
	if (n == 1)
		return;
	out[1] = (long double)((potential(p, n, a + h, b + h) - potential(p, n, a + h, b - h) -
	                        potential(p, n, a - h, b + h) + potential(p, n, a - h, b - h)) /
	                       (4 * h2));
	out[2] = (long double)((potential(p, n, a, b + h) - twice + potential(p, n, a, b - h)) / h2);
}

void fricp_differences_at(const struct fric_law *law, double mu_s, double mu_k, double eps_v, int n,
                          const long double *x, struct differences *out)
{
	struct potential p = {law->transition, mu_s, mu_k, 0};
	const quad scaled[2] = {(quad)x[0] / eps_v, n == 1 ? 0 : (quad)x[1] / eps_v};
	const quad z = length(n, scaled), step = DIFFERENCES_STEP;
	out->z = (long double)z;
	out->slides = z >= 1 + 4 * step;
	out->potential = (long double)potential(&p, n, scaled[0], scaled[1]);
	p.subtracted = out->slides ? 0 : at_rest(&p);
	first_differences(&p, n, scaled, step * (z > 0 ? z : 1), out->gradient);
	second_differences(&p, n, scaled, step * (z > 1 ? z : 1), out->hessian);
}

#include "core/gradcheck/differences.h"

#include <math.h>

#include "core/base/quad.h"
#include "core/law/law.h"

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

static quad potential(const struct potential *p, int n, quad x0, quad x1)
{
	const quad x[2] = {x0, x1};
	return law_textbook(p->transition, p->mu_s, p->mu_k, length(n, x), p->subtracted);
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
	p.subtracted = out->slides ? 0 : law_textbook_rest(p.transition, p.mu_s, p.mu_k);
	first_differences(&p, n, scaled, step * (z > 0 ? z : 1), out->gradient);
	second_differences(&p, n, scaled, step * (z > 1 ? z : 1), out->hessian);
	out->blur = (long double)law_textbook_blur(p.transition, p.mu_s, p.mu_k, z, 2 * step);
}

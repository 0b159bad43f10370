/* SPDX-License-Identifier: MIT */
/* An implementation to be checked: friction of the law smooth with the transition cubic, from lagged contacts. */
#include <math.h>
#include <string.h>

#include "conformance.h"

/* The law in units of eps_v: potential, force and its derivative. The force is mu(z) (2z - z^2). */
struct law {
	double potential, force, slope;
};

static double area(double z, double mu_s, double d)
{
	return mu_s * (z * z - z * z * z / 3) + d * z * z * z * z * (1.5 - 1.4 * z + z * z / 3);
}

static struct law law_at(double z, double mu_s, double mu_k)
{
	const double d = mu_k - mu_s, mu = mu_s + d * (3 - 2 * z) * z * z, f = 2 * z - z * z;
	if (z >= 1)
		return (struct law){mu_k * z, mu_k, 0};
	return (struct law){mu_k - area(1, mu_s, d) + area(z, mu_s, d), mu * f, mu * (2 - 2 * z) + 6 * d * z * (1 - z) * f};
}

static double projected(double x, const char *projection)
{
	return strcmp(projection, "clamp") == 0 ? fmax(x, 0) : strcmp(projection, "abs") == 0 ? fabs(x) : x;
}

static void add(const struct problem *p, const struct contact *c, double *potential, double *gradient, double *hessian)
{
	const int d = p->dim, m = d - 1;
	const double s = c->weight * c->normal_force;
	double u[2] = {0}, t[2], block[9], pull[3], q[3][2];
	for (int i = 0; i < d; i++) {
		double relative = c->offset[i];
		for (int k = 0; k < c->n; k++)
			relative += c->weights[k] * p->velocities[c->vertices[k] * d + i];
		for (int j = 0; j < m; j++) {
			q[i][j] = c->tangent_basis[i * m + j] * c->mu_aniso[j];
			u[j] += q[i][j] * relative;
		}
	}
	const double y = hypot(u[0], u[1]);
	const struct law law = law_at(y / c->eps_v, c->mu_s, c->mu_k);
	const double slope = s * law.slope / c->eps_v, ratio = y > 0 ? s * law.force / y : slope,
				 along = projected(slope, p->projection), across = projected(ratio, p->projection);
	for (int j = 0; j < 2; j++)
		t[j] = y > 0 ? u[j] / y : j == 0;
	*potential += s * c->eps_v * law.potential;
	for (int i = 0; i < d; i++) {
		pull[i] = 0;
		for (int j = 0; j < m; j++)
			pull[i] += q[i][j] * (y > 0 ? s * law.force * t[j] : 0);
		for (int l = 0; l < d; l++) {
			block[i * d + l] = 0;
			for (int j = 0; j < m; j++)
				for (int k = 0; k < m; k++)
					block[i * d + l] += q[i][j] * q[l][k] * ((j == k ? across : 0) + (along - across) * t[j] * t[k]);
		}
	}
	for (int k = 0; k < c->n; k++)
		for (int i = 0; i < d; i++) {
			const int row = c->vertices[k] * d + i;
			gradient[row] += c->weights[k] * pull[i];
			for (int l = 0; l < c->n; l++)
				for (int j = 0; j < d; j++)
					hessian[row * p->n_dofs + c->vertices[l] * d + j] += c->weights[k] * c->weights[l] *
					                                                     block[i * d + j];
		}
}

bool evaluate(const struct problem *p, double *potential, double *gradient, double *hessian)
{
	static const char *const others[] = {"viscous", "barrier_energy", "triangle", "mollifier"};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (needs(p, others[i]))
			return false;
	if (!needs(p, "law:cubic"))
		return false;
	for (int i = 0; i < p->n_contacts; i++)
		add(p, &p->contacts[i], potential, gradient, hessian);
	return true;
}

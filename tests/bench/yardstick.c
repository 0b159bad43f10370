#include "tests/bench/yardstick.h"

#include <math.h>
#include <string.h>

static void slip(const struct yard_contact *c, const double *v, double u[2])
{
	double r[3] = {0};
	for (int k = 0; k < c->n_vertices; k++)
		for (int d = 0; d < 3; d++)
			r[d] += c->weights[k] * v[3 * c->vertices[k] + d];
	for (int t = 0; t < 2; t++)
		u[t] = c->tangent_basis[t] * r[0] + c->tangent_basis[2 + t] * r[1] + c->tangent_basis[4 + t] * r[2];
}

double yard_gradient(const struct yard_contact *contacts, size_t n, const double *velocities, double *gradient,
                     size_t n_vertices)
{
	double potential = 0;
	memset(gradient, 0, 3 * n_vertices * sizeof(double));
	for (size_t i = 0; i < n; i++) {
		const struct yard_contact *c = &contacts[i];
		double u[2], over;
		slip(c, velocities, u);
		const double y = sqrt(u[0] * u[0] + u[1] * u[1]), e = c->eps_v, s = c->mu_s, d = c->mu_k - c->mu_s;
		if (y >= e) {
			potential += c->force * c->mu_k * y;
			over = c->force * c->mu_k / y;
		} else {
			const double z = y / e, z2 = z * z;
			potential += c->force * e *
			             ((17 * c->mu_k - 7 * s) / 30 + s * (z2 - z2 * z / 3) + d * z2 * z2 * (1.5 - 1.4 * z + z2 / 3));
			over = c->force * (s * (2 - z) + d * z2 * (6 - 7 * z + 2 * z2)) / e;
		}
		for (int k = 0; k < c->n_vertices; k++)
			for (int a = 0; a < 3; a++)
				gradient[3 * c->vertices[k] + a] +=
					c->weights[k] * over * (c->tangent_basis[2 * a] * u[0] + c->tangent_basis[2 * a + 1] * u[1]);
	}
	return potential;
}

static void core_block(const struct yard_contact *c, const double *v, double m[9])
{
	double u[2];
	slip(c, v, u);
	const double y = sqrt(u[0] * u[0] + u[1] * u[1]), e = c->eps_v, s = c->mu_s, d = c->mu_k - c->mu_s;
	const double z = y / e, z2 = z * z, x = y > 0 ? u[0] / y : 1, w = y > 0 ? u[1] / y : 0;
	const double across = c->force * (y >= e ? c->mu_k / y : (s * (2 - z) + d * z2 * (6 - 7 * z + 2 * z2)) / e);
	const double along = y >= e ? 0 : c->force * (s * (2 - 2 * z) + d * z2 * (18 - 28 * z + 10 * z2)) / e;
	const double a0 = along * x * x + across * w * w, a1 = (along - across) * x * w,
				 a2 = along * w * w + across * x * x;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			const double *p = c->tangent_basis + 2 * i, *q = c->tangent_basis + 2 * j;
			m[3 * i + j] = (p[0] * a0 + p[1] * a1) * q[0] + (p[0] * a1 + p[1] * a2) * q[1];
		}
}

size_t yard_triplets(const struct yard_contact *contacts, size_t n, const double *velocities, int32_t *rows,
                     int32_t *cols, double *values)
{
	size_t at = 0;
	for (size_t i = 0; i < n; i++) {
		const struct yard_contact *c = &contacts[i];
		double m[9];
		core_block(c, velocities, m);
		for (int k = 0; k < c->n_vertices; k++)
			for (int a = 0; a < 3; a++)
				for (int l = 0; l < c->n_vertices; l++)
					for (int b = 0; b < 3; b++, at++) {
						rows[at] = 3 * c->vertices[k] + a;
						cols[at] = 3 * c->vertices[l] + b;
						values[at] = c->weights[k] * c->weights[l] * m[3 * a + b];
					}
	}
	return at;
}

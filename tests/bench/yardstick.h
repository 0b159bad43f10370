/**
 * A good plain C program: one struct per contact, one loop, -O3. All other speeds are relative to it, in the same run.
 */
#ifndef BENCH_YARDSTICK_H
#define BENCH_YARDSTICK_H

#include "core/fric.h"

struct yard_contact {
	int32_t n_vertices, vertices[4];
	double weights[4];
	double tangent_basis[6];
	double force, mu_s, mu_k, eps_v;
};

/* Potential, and gradient [n_vertices*3] (set to zero first). */
double yard_gradient(const struct yard_contact *contacts, size_t n, const double *velocities, double *gradient,
                     size_t n_vertices);
/* Writes whole local blocks; arrays are as in fric_hessian_triplets. @return number of triplets */
size_t yard_triplets(const struct yard_contact *contacts, size_t n, const double *velocities, int32_t *rows,
                     int32_t *cols, double *values);

#endif

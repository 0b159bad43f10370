/* SPDX-License-Identifier: MIT */
/* What check.c passes to your implementation (docs/conformance.md). */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <jansson.h>
#include <stdbool.h>

/* A lagged contact at vertices. In 2D the second tangent is absent. */
struct contact {
	const char *type;
	int n, vertices[4];
	double weights[4];       /* w: the relative velocity is sum w_k v_k + offset */
	double tangent_basis[6]; /* [dim, dim-1] */
	double normal_force, weight, mu_s, mu_k, eps_v, mu_aniso[2], offset[3], viscous, stribeck_speed;
};

struct problem {
	int dim, n_vertices, n_dofs;
	const double *velocities; /* [n_vertices, dim] */
	int n_contacts;
	const struct contact *contacts;
	const char *projection; /* none, clamp, abs */
	const json_t *request;  /* the request of /v1/evaluate, for everything else */
	const json_t *features; /* what the case needs */
};

/* Whether the case needs a feature, such as "law:cubic" or "mu_aniso". */
bool needs(const struct problem *problem, const char *feature);

/**
 * Yours.
 * @param gradient  [n_dofs], zeros
 * @param hessian   [n_dofs, n_dofs], zeros
 * @return false if it does not support the case
 */
bool evaluate(const struct problem *problem, double *potential, double *gradient, double *hessian);

#endif

#include "hessian.h"

#include <math.h>

#include "parallel.h"
#include "slip.h"

struct inner_task {
	const struct fric_contacts *contacts;
	const double *velocities;
	enum fric_projection projection;
	double *inner;
};

static double project(enum fric_projection projection, double eigenvalue)
{
	switch (projection) {
	case FRIC_PROJECT_CLAMP:
		return fmax(eigenvalue, 0);
	case FRIC_PROJECT_ABS:
		return fabs(eigenvalue);
	default:
		return eigenvalue;
	}
}

/* A = along u u^T + across u' u'^T for u' at a right angle to u: no pole at rest, no cancellation; then diag(a) A diag(a). */
static bool inner_matrix(const struct inner_task *task, size_t i, double *a)
{
	const struct fric_contacts *c = task->contacts;
	struct slip slip;
	double along, across;
	slip_of(c, contact_type(c, i), i, task->velocities, &slip);
	slip_eigenvalues(c, i, &slip, &along, &across);
	if (!slip_finite(&slip) || !isfinite(along) || !isfinite(across)) /* before a projection hides it */
		return false;
	along = project(task->projection, along);
	across = project(task->projection, across);
	const double a0 = c->mu_aniso[0] ? c->mu_aniso[0][i] : 1;
	if (c->dim == 2) {
		a[0] = along * a0 * a0;
		return isfinite(a[0]);
	}
	const double a1 = c->mu_aniso[0] ? c->mu_aniso[1][i] : 1, u = slip.unit[0], v = slip.unit[1];
	a[0] = (along * u * u + across * v * v) * a0 * a0;
	a[1] = (along - across) * u * v * a0 * a1;
	a[2] = (along * v * v + across * u * u) * a1 * a1;
	return isfinite(a[0]) && isfinite(a[1]) && isfinite(a[2]);
}

static void inner_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct inner_task *task = data;
	const size_t m = (size_t)fric_inner_size(task->contacts->dim);
	(void)chunk;
	for (size_t i = begin; i < end; i++)
		if (!inner_matrix(task, i, task->inner + i * m)) {
			*fault = (struct fault){FRIC_E_NOT_FINITE, i};
			return;
		}
}

enum fric_code fric_hessian_inner(const struct fric_context *context, const struct fric_contacts *contacts,
                                  const double *velocities, enum fric_projection projection, double *inner,
                                  struct fric_error *error)
{
	struct inner_task task = {contacts, velocities, projection, inner};
	return report_fault(contacts, parallel_chunks(context, contacts->n, inner_chunk, &task), error);
}

void fric_stencil_weights(const struct fric_contacts *contacts, enum fric_type type, double *weights)
{
	const struct fric_contacts *c = contacts;
	const size_t k = (size_t)fric_stencil_size(type);
	for (size_t i = c->start[type]; i < c->start[type + 1]; i++) {
		double w[FRIC_MAX_STENCIL];
		stencil_weights(type, c->closest_point[0][i], c->closest_point[1][i], w);
		for (size_t j = 0; j < k; j++)
			*weights++ = c->skipped[i] ? 0 : w[j];
	}
}

void hessian_core_block(const struct fric_contacts *contacts, const double *inner, size_t i, double block[9])
{
	double *const *p = contacts->tangent_basis;
	if (contacts->dim == 2) {
		const double a = inner[i], x = p[0][i], y = p[1][i];
		block[0] = a * x * x;
		block[1] = block[2] = a * x * y;
		block[3] = a * y * y;
		return;
	}
	const double *a = inner + 3 * i;
	for (int r = 0; r < 3; r++) {
		const double x = p[2 * r][i], y = p[2 * r + 1][i], ax = a[0] * x + a[1] * y, ay = a[1] * x + a[2] * y;
		for (int s = r; s < 3; s++)
			block[3 * r + s] = block[3 * s + r] = ax * p[2 * s][i] + ay * p[2 * s + 1][i];
	}
}

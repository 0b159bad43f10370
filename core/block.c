#include "block.h"

#include <math.h>
#include <string.h>

#include "slip.h"

struct span next_span(const struct fric_contacts *contacts, size_t begin, size_t end)
{
	const enum fric_type type = contact_type(contacts, begin);
	const size_t of_type = contacts->start[type + 1] < end ? contacts->start[type + 1] : end;
	const size_t n = of_type - begin;
	return (struct span){type, begin, n < FRIC_BLOCK ? n : FRIC_BLOCK};
}

/* x and y of a vertex travel together: loads are what this costs. */
typedef double xy_pair __attribute__((vector_size(16)));

static inline xy_pair load_pair(const double *x)
{
	xy_pair p;
	memcpy(&p, x, sizeof(p));
	return p;
}

/* relative_velocity in 3D with the type known: the same operations in the same order. */
static inline __attribute__((always_inline)) void load_stencil(const struct fric_contacts *c, enum fric_type type, size_t i,
                                                               const double *v, xy_pair *xy, double *z)
{
	const double *x[FRIC_MAX_STENCIL];
	const double a = c->closest_point[0][i], b = c->closest_point[1][i];
	for (int k = 0; k < fric_stencil_size_of(type); k++)
		x[k] = v + (size_t)c->vertices[k][i] * 3;
	*xy = load_pair(x[0]);
	*z = x[0][2];
	const xy_pair p1 = type == FRIC_PLANE_VERTEX ? *xy : load_pair(x[1]);
	switch (type) {
	case FRIC_VERTEX_VERTEX:
		*xy = *xy - p1;
		*z = *z - x[1][2];
		break;
	case FRIC_EDGE_VERTEX:
		*xy = (*xy - p1) - a * (load_pair(x[2]) - p1);
		*z = (*z - x[1][2]) - a * (x[2][2] - x[1][2]);
		break;
	case FRIC_EDGE_EDGE:
		*xy = ((*xy - load_pair(x[2])) + a * (p1 - *xy)) - b * (load_pair(x[3]) - load_pair(x[2]));
		*z = ((*z - x[2][2]) + a * (x[1][2] - *z)) - b * (x[3][2] - x[2][2]);
		break;
	case FRIC_FACE_VERTEX:
		*xy = ((*xy - p1) - a * (load_pair(x[2]) - p1)) - b * (load_pair(x[3]) - p1);
		*z = ((*z - x[1][2]) - a * (x[2][2] - x[1][2])) - b * (x[3][2] - x[1][2]);
		break;
	case FRIC_PLANE_VERTEX:
		break;
	}
}

static inline __attribute__((always_inline)) void load_type(const struct fric_contacts *c, struct span span,
                                                            enum fric_type type, const double *v, struct kernel_block *b)
{
	for (size_t j = 0; j < span.n; j++) {
		xy_pair xy;
		load_stencil(c, type, span.begin + j, v, &xy, &b->relative[2][j]);
		b->relative[0][j] = xy[0];
		b->relative[1][j] = xy[1];
	}
}

static void load_relative(const struct fric_contacts *c, struct span span, const double *v, struct kernel_block *b)
{
	switch (span.type) {
	case FRIC_VERTEX_VERTEX:
		load_type(c, span, FRIC_VERTEX_VERTEX, v, b);
		break;
	case FRIC_EDGE_VERTEX:
		load_type(c, span, FRIC_EDGE_VERTEX, v, b);
		break;
	case FRIC_EDGE_EDGE:
		load_type(c, span, FRIC_EDGE_EDGE, v, b);
		break;
	case FRIC_FACE_VERTEX:
		load_type(c, span, FRIC_FACE_VERTEX, v, b);
		break;
	case FRIC_PLANE_VERTEX:
		load_type(c, span, FRIC_PLANE_VERTEX, v, b);
		break;
	}
}

static const double *at(struct column column, size_t i)
{
	return column_at(column, i);
}

static void load_block(const struct fric_contacts *c, struct span span, struct kernel_block *b)
{
	b->n = span.n;
	b->transition = c->transition;
	for (int e = 0; e < 6; e++)
		b->tangent_basis[e] = c->tangent_basis[e] + span.begin;
	b->weight = at(c->weight, span.begin);
	b->normal_force = at(c->normal_force, span.begin);
	b->mu_s = at(c->effective_mu_s, span.begin);
	b->mu_k = at(c->effective_mu_k, span.begin);
	b->eps_v = at(c->eps_v, span.begin);
	b->mu_aniso[0] = at(c->mu_aniso[0], span.begin);
	b->mu_aniso[1] = at(c->mu_aniso[1], span.begin);
}

static void spread(const struct fric_contacts *c, size_t i, const double f[2], struct kernel_block *b, size_t j)
{
	double *const *p = c->tangent_basis;
	const double f0 = *column_at(c->mu_aniso[0], i) * f[0], f1 = *column_at(c->mu_aniso[1], i) * f[1];
	for (int d = 0; d < c->dim; d++)
		b->force[d][j] = c->dim == 2 ? p[d][i] * f0 : p[2 * d][i] * f0 + p[2 * d + 1][i] * f1;
}

/* A = along u u^T + across u' u'^T for u' at a right angle to u: no pole at rest, no cancellation; then diag(a) A diag(a). */
static bool inner_matrix(const struct block_task *task, size_t i, const struct slip *slip, struct kernel_block *b, size_t j)
{
	const struct fric_contacts *c = task->contacts;
	const double a0 = *column_at(c->mu_aniso[0], i), a1 = *column_at(c->mu_aniso[1], i);
	const double u = slip->unit[0], v = slip->unit[1];
	double along, across;
	slip_eigenvalues(c, i, slip, &along, &across);
	if (c->dim == 2)
		across = 0; /* there is no direction across */
	const bool finite = isfinite(along) && isfinite(across); /* before a projection hides it */
	along = projected(task->projection, along);
	across = projected(task->projection, across);
	b->inner[0][j] = c->dim == 2 ? along * a0 * a0 : (along * u * u + across * v * v) * a0 * a0;
	b->inner[1][j] = (along - across) * u * v * a0 * a1;
	b->inner[2][j] = (along * v * v + across * u * u) * a1 * a1;
	return finite;
}

/* One contact in the scalar form. */
static bool run_scalar(const struct block_task *task, struct span span, size_t j, struct kernel_block *b)
{
	const struct fric_contacts *c = task->contacts;
	const size_t i = span.begin + j;
	struct slip slip;
	double f[2] = {0};
	slip_of(c, span.type, i, task->velocities, &slip);
	if (!slip_finite(&slip))
		return false;
	if (task->result == BLOCK_INNER)
		return inner_matrix(task, i, &slip, b, j);
	b->potential[j] = task->potentials ? slip_potential(c, i, &slip) : 0;
	if (task->result == BLOCK_FORCE) {
		slip_force(c, i, &slip, f);
		spread(c, i, f, b, j);
	}
	return true;
}

static bool finite_results(const struct block_task *task, const struct kernel_block *b, size_t j)
{
	const int dim = task->contacts->dim, m = fric_inner_size(dim);
	bool finite = task->result == BLOCK_INNER || isfinite(b->potential[j]);
	for (int d = 0; d < dim && task->result == BLOCK_FORCE; d++)
		finite &= isfinite(b->force[d][j]) != 0;
	for (int e = 0; e < m && task->result == BLOCK_INNER; e++)
		finite &= isfinite(b->inner[e][j]) != 0;
	return finite;
}

static bool run_careful(const struct block_task *task, struct span span, struct kernel_block *b, struct fault *fault)
{
	for (size_t j = 0; j < span.n; j++)
		if (!run_scalar(task, span, j, b) || !finite_results(task, b, j)) {
			*fault = (struct fault){FRIC_E_NOT_FINITE, span.begin + j};
			return false;
		}
	return true;
}

bool block_run(const struct block_task *task, struct span span, struct kernel_block *block, struct fault *fault)
{
	if (task->contacts->dim == 2 || !task->kernels->force || !task->contacts->ordinary)
		return run_careful(task, span, block, fault);
	load_relative(task->contacts, span, task->velocities, block);
	load_block(task->contacts, span, block);
	if (task->result == BLOCK_INNER)
		task->kernels->inner(block, task->projection);
	else if (task->result == BLOCK_FORCE)
		task->kernels->force(block);
	else
		task->kernels->potential(block);
	return !block->careful || run_careful(task, span, block, fault);
}

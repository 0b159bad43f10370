#include "core/kernels/run.h"

#include <math.h>

#include "core/contacts/ordinary.h"
#include "core/motion/scatter.h"
#include "core/motion/slip.h"

static const double *at(struct column column, size_t i)
{
	return column_at(column, i);
}

static void load_block(const struct fric_contacts *c, struct span span, struct kernel_block *b)
{
	b->transition = c->transition;
	for (int e = 0; e < 6; e++)
		b->tangent_basis[e] = c->tangent_basis[e] + span.begin;
	b->weight = at(c->weight, span.begin);
	b->normal_force = at(c->normal_force, span.begin);
	b->mu_s = at(c->effective_mu_s, span.begin);
	b->mu_k = at(c->effective_mu_k, span.begin);
	b->eps_v = at(c->eps_v, span.begin);
	b->same_eps_v = c->eps_v.stride == 0;
	b->has_last_vertex = (size_t)c->ranges[span_slot(span)].highest == c->n_vertices - 1;
	b->mu_aniso[0] = at(c->mu_aniso[0], span.begin);
	b->mu_aniso[1] = at(c->mu_aniso[1], span.begin);
}

/* P diag(a) f */
static void spread(const struct fric_contacts *c, size_t i, double f0, double f1, struct kernel_block *b, size_t j)
{
	double *const *p = c->tangent_basis;
	f0 *= *column_at(c->mu_aniso[0], i);
	f1 *= *column_at(c->mu_aniso[1], i);
	for (int d = 0; d < c->dim; d++)
		b->force[d][j] = c->dim == 2 ? p[d][i] * f0 : p[2 * d][i] * f0 + p[2 * d + 1][i] * f1;
}

/* The same where a product on the way may leave the doubles and come back. */
static void spread_extreme(const struct fric_contacts *c, size_t i, const long double f[2], struct kernel_block *b, size_t j)
{
	double *const *p = c->tangent_basis;
	const long double f0 = *column_at(c->mu_aniso[0], i) * f[0], f1 = *column_at(c->mu_aniso[1], i) * f[1];
	for (int d = 0; d < c->dim; d++)
		b->force[d][j] = (double)(c->dim == 2 ? p[d][i] * f0 : p[2 * d][i] * f0 + p[2 * d + 1][i] * f1);
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
	long double f[2] = {0};
	slip_of(c, span.type, i, task->velocities, &slip);
	if (!slip_finite(&slip))
		return false;
	if (task->result == BLOCK_INNER)
		return inner_matrix(task, i, &slip, b, j);
	b->potential[j] = task->potentials ? slip_potential(c, i, &slip) : 0;
	if (task->result == BLOCK_FORCE) {
		slip_force(c, i, &slip, f);
		if (slip.extreme || !has_unit_basis(c, i))
			spread_extreme(c, i, f, b, j);
		else
			spread(c, i, (double)f[0], (double)f[1], b, j);
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

bool fricp_run_span(const struct block_task *task, struct span span, struct kernel_block *block, struct fault *fault)
{
	block->kernels = task->kernels;
	block->n = span.n;
	if (task->contacts->dim == 2 || !task->kernels->force || !task->contacts->ordinary)
		return run_careful(task, span, block, fault);
	load_block(task->contacts, span, block);
	task->kernels->relative(task->contacts, span.type, span.begin, task->velocities, block);
	if (task->result == BLOCK_INNER)
		task->kernels->inner(block, task->projection);
	else if (task->result == BLOCK_FORCE)
		task->kernels->force(block);
	else
		task->kernels->potential(block);
	return !block->careful || run_careful(task, span, block, fault);
}

void fricp_scatter_span(const struct fric_contacts *c, struct span span, const struct kernel_block *b, double *g)
{
	if (c->dim == 3 && b->kernels->scatter)
		b->kernels->scatter(c, span.type, span.begin, b, g);
	else
		fricp_scatter_columns(c, span, (const double *const[]){b->force[0], b->force[1], b->force[2]}, g);
}

void fricp_scatter_span_part(const struct fric_contacts *c, struct span span, const struct kernel_block *b, int32_t first,
                        int32_t last, double *g)
{
	if (c->dim == 3 && b->kernels->scatter_part) {
		b->kernels->scatter_part(c, span.type, span.begin, b, first, last, g);
		return;
	}
	double forces[FRIC_BLOCK * 3] = {0};
	block_forces((size_t)c->dim, span, b, forces);
	fricp_scatter_rows_part(c, span, forces, first, last, g);
}

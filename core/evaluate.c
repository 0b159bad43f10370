/* Potential and gradient. Contacts are evaluated in chunks; a vertex adds up its forces in contact order. */
#include <math.h>
#include <string.h>

#include "memory.h"
#include "parallel.h"
#include "slip.h"

struct evaluation {
	const struct fric_contacts *contacts;
	const double *velocities;
	double *potentials; /* [n_chunks] partial sums, or NULL */
	double *forces;     /* [n, dim] P diag(mu_aniso) f of each contact, or NULL */
	double *gradient;
};

static void spread(const struct fric_contacts *c, size_t i, const double f[2], double *force)
{
	const int m = c->dim - 1;
	for (int d = 0; d < c->dim; d++) {
		force[d] = 0;
		for (int t = 0; t < m; t++)
			force[d] += c->tangent_basis[d * m + t][i] * (c->mu_aniso[t] ? c->mu_aniso[t][i] * f[t] : f[t]);
	}
}

static bool finite_force(const double *force, int dim)
{
	return isfinite(force[0]) && isfinite(force[1]) && (dim == 2 || isfinite(force[2]));
}

static bool evaluate_contact(const struct evaluation *task, enum fric_type type, size_t i, double *potential)
{
	const struct fric_contacts *c = task->contacts;
	struct slip slip;
	double f[2] = {0};
	slip_of(c, type, i, task->velocities, &slip);
	*potential = task->potentials ? slip_potential(c, i, &slip) : 0;
	if (!slip_finite(&slip) || !isfinite(*potential))
		return false;
	if (!task->forces)
		return true;
	double *force = task->forces + i * (size_t)c->dim;
	slip_force(c, i, &slip, f);
	spread(c, i, f, force);
	return finite_force(force, c->dim);
}

static void evaluate_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct evaluation *task = data;
	double sum = 0;
	for (size_t i = begin; i < end; i++) {
		double potential;
		if (!evaluate_contact(task, contact_type(task->contacts, i), i, &potential)) {
			*fault = (struct fault){FRIC_E_NOT_FINITE, i};
			return;
		}
		sum += potential;
	}
	if (task->potentials)
		task->potentials[chunk] = sum;
}

/* Each part owns a range of vertices and walks over all contacts: the order of additions is that of the contacts. */
static void gather_part(void *data, int part, int n_parts)
{
	const struct evaluation *task = data;
	const struct fric_contacts *c = task->contacts;
	const size_t dim = (size_t)c->dim, n = c->n_vertices, p = (size_t)part, all = (size_t)n_parts;
	const size_t begin = n / all * p + (n % all) * p / all, end = n / all * (p + 1) + (n % all) * (p + 1) / all;
	for (size_t i = 0; i < c->n; i++) {
		const enum fric_type type = contact_type(c, i);
		double w[FRIC_MAX_STENCIL] = {0};
		stencil_weights(type, c->closest_point[0][i], c->closest_point[1][i], w);
		for (int k = 0; k < fric_stencil_size(type); k++) {
			const size_t v = (size_t)c->vertices[k][i];
			for (size_t d = 0; d < dim && v >= begin && v < end; d++)
				task->gradient[v * dim + d] += w[k] * task->forces[i * dim + d];
		}
	}
}

static enum fric_code sum_potentials(const struct evaluation *task, double *potential)
{
	double sum = 0;
	for (size_t chunk = 0; chunk < n_chunks(task->contacts->n); chunk++)
		sum += task->potentials[chunk];
	*potential = sum;
	return isfinite(sum) ? FRIC_OK : FRIC_E_NOT_FINITE;
}

static enum fric_code gather(const struct fric_context *context, struct evaluation *task)
{
	const struct fric_contacts *c = task->contacts;
	const size_t ndof = c->n_vertices * (size_t)c->dim;
	memset(task->gradient, 0, ndof * sizeof(double));
	parallel_parts(context, c->n, gather_part, task);
	for (size_t i = 0; i < ndof; i++)
		if (!isfinite(task->gradient[i]))
			return FRIC_E_NOT_FINITE;
	return FRIC_OK;
}

static enum fric_code evaluate(const struct fric_context *context, struct evaluation *task, double *potential,
                               struct fric_error *error)
{
	const struct fault fault = parallel_chunks(context, task->contacts->n, evaluate_chunk, task);
	enum fric_code code = report_fault(task->contacts, fault, error);
	if (code == FRIC_OK && potential)
		code = report_code(sum_potentials(task, potential), error);
	if (code == FRIC_OK && task->gradient)
		code = report_code(gather(context, task), error);
	return code;
}

enum fric_code fric_evaluate(const struct fric_context *context, const struct fric_contacts *contacts,
                             const double *velocities, double *potential, double *gradient, struct fric_error *error)
{
	const size_t n = contacts->n;
	const size_t potentials_bytes = (n_chunks(n) + 1) * sizeof(double);
	const size_t forces_bytes = (n + 1) * (size_t)contacts->dim * sizeof(double);
	struct evaluation task = {contacts, velocities, NULL, NULL, gradient};
	enum fric_code code = FRIC_E_MEMORY;
	if (potential)
		task.potentials = memory_take(context->memory, potentials_bytes);
	if (gradient)
		task.forces = memory_take(context->memory, forces_bytes);
	if ((!potential || task.potentials) && (!gradient || task.forces))
		code = evaluate(context, &task, potential, error);
	else
		report_code(code, error);
	memory_give(context->memory, task.potentials, potentials_bytes);
	memory_give(context->memory, task.forces, forces_bytes);
	return code;
}

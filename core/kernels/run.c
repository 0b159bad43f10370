#include "core/kernels/run.h"

#include <math.h>
#include <string.h>

#include "core/motion/slip.h"

/* Finds the law's shape, if all contacts share their coefficients. */
static void find_shape(struct kernel_task *task)
{
	const struct column mu_s = task->coefficients->mu_s, mu_k = task->coefficients->mu_k;
	task->same_mu = mu_s.stride == 0 && mu_k.stride == 0;
	if (task->same_mu)
		task->shape = law_shape(law_of(&task->contacts->law), *column_at(mu_s, 0), *column_at(mu_k, 0));
}

struct kernel_task fricp_kernel_task(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const struct fric_query *query, enum kernel_result result)
{
	const struct coefficients *coefficients = coefficients_for(contacts, query);
	struct kernel_task task = {.contacts = contacts,
	                           .coefficients = coefficients,
	                           .ordinary = contacts->ordinary && coefficients->ordinary,
	                           .kernels = fricp_kernels_of(context),
	                           .velocities = query->velocities,
	                           .result = result};
	find_shape(&task);
	return task;
}

static const double *at(struct column column, size_t i)
{
	return column_at(column, i);
}

INLINE void add_columns(const struct column columns[3], double sign, struct span span, double relative[3][FRIC_SPAN])
{
	for (int d = 0; d < 3; d++) {
		const double *restrict x = at(columns[d], span.begin);
		for (size_t j = 0; j < span.n; j++)
			relative[d][j] += sign * x[j];
	}
}

/* Applies surface velocities and anchors to relative velocities. */
static void add_offsets(const struct fric_contacts *c, struct span span, struct workspace *work)
{
	if (c->surface_velocity[0].data)
		add_columns(c->surface_velocity, -1, span, work->relative);
	if (work->anchored)
		for (int d = 0; d < 3; d++)
			memcpy(work->bare[d], work->relative[d], span.n * sizeof(double));
	if (c->anchor[0].data)
		add_columns(c->anchor, 1, span, work->relative);
}

void fricp_load_span(const struct kernel_task *task, struct span span, struct workspace *work)
{
	work->n = span.n;
	const struct fric_contacts *c = task->contacts;
	work->law = law_of(&c->law);
	work->unit = c->unit.data ? at(c->unit, span.begin) : NULL;
	work->same_unit = c->eps_v.stride == 0 && c->unit.stride == 0;
	work->table = &c->table;
	for (int e = 0; e < 6; e++)
		work->tangent_basis[e] = c->tangent_basis[e] + span.begin;
	work->weight = at(c->weight, span.begin);
	work->normal_force = at(c->normal_force, span.begin);
	work->mu_s = at(task->coefficients->mu_s, span.begin);
	work->mu_k = at(task->coefficients->mu_k, span.begin);
	work->eps_v = at(c->eps_v, span.begin);
	work->same_eps_v = c->eps_v.stride == 0;
	work->same_mu = task->same_mu;
	work->shape = task->shape;
	work->mu_aniso[0] = at(c->mu_aniso[0], span.begin);
	work->mu_aniso[1] = at(c->mu_aniso[1], span.begin);
	work->viscous = c->viscous.data ? at(c->viscous, span.begin) : NULL;
	work->anchored = c->viscous.data && c->anchor[0].data;
	task->kernels->gamma->relative(c, span, task->velocities, work->relative[0]);
	add_offsets(c, span, work);
}

/* diag(a) A diag(a) from the eigenvalues of A; false if an entry does not fit a double */
static bool extreme_entries(const struct fric_contacts *c, size_t i, const struct slip *slip, long double along,
                            long double across, double out[3])
{
	const long double a0 = *column_at(c->mu_aniso[0], i), a1 = *column_at(c->mu_aniso[1], i);
	const long double u = slip->unit[0], v = slip->unit[1];
	out[0] = (double)(c->dim == 2 ? along * a0 * a0 : (along * u * u + across * v * v) * a0 * a0);
	out[1] = (double)((along - across) * u * v * a0 * a1);
	out[2] = (double)((along * v * v + across * u * u) * a1 * a1);
	return isfinite(out[0]) && (c->dim == 2 || (isfinite(out[1]) && isfinite(out[2])));
}

/* As plain_matrix, for eigenvalues that over- or underflow although their product with mu_aniso may not. A projection
 * does not hide overflow. */
static bool extreme_matrix(const struct kernel_task *task, size_t i, struct slip *slip, double out[3])
{
	const struct fric_contacts *c = task->contacts;
	long double along, across;
	slip->extreme = true;
	contact_eigenvalues(c, i, slip, &along, &across);
	return extreme_entries(c, i, slip, along, across, out) &&
	       extreme_entries(c, i, slip, projected_l(task->projection, along), projected_l(task->projection, across),
	                       out);
}

/* Computes diag(a) A diag(a) from A = along u u^T + across u' u'^T with u' perpendicular to u, which has no pole at
 * rest and does not cancel.
 * @return whether nothing over- or underflowed, so that the result is as accurate as the extreme form */
INLINE bool plain_matrix(const struct kernel_task *task, size_t i, const struct slip *slip, double out[3])
{
	const struct fric_contacts *c = task->contacts;
	const double a0 = *column_at(c->mu_aniso[0], i), a1 = *column_at(c->mu_aniso[1], i);
	const double u = slip->unit[0], v = slip->unit[1];
	long double exact[2];
	contact_eigenvalues(c, i, slip, &exact[0], &exact[1]);
	const double along = projected(task->projection, (double)exact[0]);
	const double across = c->dim == 2 ? 0 : projected(task->projection, (double)exact[1]);
	out[0] = c->dim == 2 ? along * a0 * a0 : (along * u * u + across * v * v) * a0 * a0;
	out[1] = (along - across) * u * v * a0 * a1;
	out[2] = (along * v * v + across * u * u) * a1 * a1;
	const double strength = slip_strength(c, slip) + slip->drag;
	return whole_eigenvalues((double)exact[0], (double)exact[1], strength, largest_eigenvalue) && isfinite(out[0]) &&
	       isfinite(out[1]) && isfinite(out[2]);
}

static void store_matrix(const double matrix[3], struct workspace *work, size_t j)
{
	for (int e = 0; e < 3; e++)
		work->inner[e][j] = matrix[e];
}

static bool inner_matrix(const struct kernel_task *task, size_t i, struct slip *slip, struct workspace *work, size_t j)
{
	double out[3];
	const bool finite = (!slip->extreme && plain_matrix(task, i, slip, out)) || extreme_matrix(task, i, slip, out);
	store_matrix(out, work, j);
	return finite;
}

INLINE void force_column(const struct fric_contacts *c, size_t i, const struct slip *slip, struct workspace *work,
                         size_t j)
{
	double force[3];
	contact_force(c, i, slip, force);
	for (int d = 0; d < c->dim; d++)
		work->force[d][j] = force[d];
}

/* Evaluates one contact of any magnitude, in the scalar form. */
static __attribute__((noinline)) bool run_any(const struct kernel_task *task, struct span span, size_t j,
                                              struct workspace *work)
{
	const struct fric_contacts *c = task->contacts;
	const size_t i = span.begin + j;
	struct slip slip;
	slip_of(c, task->coefficients, span.type, i, task->velocities, &slip);
	if (!slip_finite(&slip))
		return false;
	if (task->result == KERNEL_INNER)
		return inner_matrix(task, i, &slip, work, j);
	work->potential[j] = task->potentials ? contact_potential(c, i, &slip) : 0;
	if (task->result == KERNEL_FORCE)
		force_column(c, i, &slip, work, j);
	return true;
}

/* Evaluates one contact in doubles if these are accurate enough, else by run_any. That is a separate function, because
 * the long doubles that few contacts need would slow down all others. */
INLINE bool run_scalar(const struct kernel_task *task, struct span span, size_t j, struct workspace *work)
{
	const struct fric_contacts *c = task->contacts;
	const size_t i = span.begin + j;
	struct slip slip;
	double matrix[3];
	slip_of(c, task->coefficients, span.type, i, task->velocities, &slip);
	if (slip.extreme || slip.extreme_drag)
		return run_any(task, span, j, work);
	if (task->result == KERNEL_INNER) {
		if (!slip_finite(&slip) || !plain_matrix(task, i, &slip, matrix))
			return run_any(task, span, j, work);
		store_matrix(matrix, work, j);
		return true;
	}
	work->potential[j] = task->potentials ? contact_potential(c, i, &slip) : 0;
	if (task->result == KERNEL_FORCE)
		force_column(c, i, &slip, work, j);
	return slip_finite(&slip);
}

/* Whether contacts have a smooth law without extras. The scalar form is compiled separately for this case, so that the
 * compiler drops the unused branches. */
static bool is_plain(const struct fric_contacts *c)
{
	return c->law.type == FRIC_SMOOTH && !c->viscous.data && !c->unit.data && !c->surface_velocity[0].data &&
	       !c->anchor[0].data;
}

static bool finite_results(const struct kernel_task *task, const struct workspace *work, size_t j)
{
	const int dim = task->contacts->dim, m = fric_inner_size(dim);
	bool finite = task->result == KERNEL_INNER || isfinite(work->potential[j]);
	for (int d = 0; d < dim && task->result == KERNEL_FORCE; d++)
		finite &= isfinite(work->force[d][j]) != 0;
	for (int e = 0; e < m && task->result == KERNEL_INNER; e++)
		finite &= isfinite(work->inner[e][j]) != 0;
	return finite;
}

static bool run_careful(const struct kernel_task *task, struct span span, struct workspace *work, struct fault *fault)
{
	for (size_t j = 0; j < span.n; j++) {
		const bool finite = is_plain(task->contacts) ? run_scalar(task, span, j, work)
		                                             : run_scalar(task, span, j, work);
		if (!finite || !finite_results(task, work, j)) {
			*fault = (struct fault){FRIC_E_NOT_FINITE, span.begin + j};
			return false;
		}
	}
	return true;
}

static bool has_kernels(const struct kernel_task *task)
{
	return task->contacts->dim == 3 && task->kernels->force && task->ordinary;
}

bool fricp_run_span_along(const struct kernel_task *task, struct span span, const double *change,
                          struct workspace *work, double *product, double *sum)
{
	double relative[3 * FRIC_SPAN];
	if (!has_kernels(task) || task->contacts->viscous.data)
		return false;
	fricp_load_span(task, span, work);
	task->kernels->gamma->relative(task->contacts, span, change, relative);
	return task->kernels->along(work, relative, product, sum);
}

bool fricp_run_span(const struct kernel_task *task, struct span span, struct workspace *work, struct fault *fault)
{
	work->n = span.n;
	if (!has_kernels(task))
		return run_careful(task, span, work, fault);
	fricp_load_span(task, span, work);
	if (task->result == KERNEL_INNER)
		task->kernels->inner(work, task->projection);
	else if (task->result == KERNEL_FORCE)
		task->kernels->force(work, task->potentials);
	else
		task->kernels->potential(work);
	return !work->careful || run_careful(task, span, work, fault);
}

#include "core/kernels/run.h"

#include <math.h>

#include "core/motion/slip.h"

/* The law's shape where no contact has coefficients of its own. */
static void find_shape(struct kernel_task *task)
{
	const struct column mu_s = task->coefficients->mu_s, mu_k = task->coefficients->mu_k;
	task->same_mu = mu_s.stride == 0 && mu_k.stride == 0;
	if (task->same_mu)
		task->shape = law_shape(task->contacts->law.transition, *column_at(mu_s, 0), *column_at(mu_k, 0));
}

struct kernel_task fricp_kernel_task(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const struct fric_question *question, enum kernel_result result)
{
	const struct coefficients *coefficients = coefficients_for(contacts, question);
	struct kernel_task task = {.contacts = contacts,
	                           .coefficients = coefficients,
	                           .ordinary = contacts->ordinary && coefficients->ordinary,
	                           .kernels = fricp_kernels_of(context),
	                           .velocities = question->velocities,
	                           .result = result};
	find_shape(&task);
	return task;
}

static const double *at(struct column column, size_t i)
{
	return column_at(column, i);
}

void fricp_load_span(const struct kernel_task *task, struct span span, struct workspace *work)
{
	work->n = span.n;
	const struct fric_contacts *c = task->contacts;
	work->transition = c->law.transition;
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
}

static long double projected_l(enum fric_projection projection, long double eigenvalue)
{
	if (projection == FRIC_PROJECT_CLAMP)
		return eigenvalue > 0 ? eigenvalue : 0;
	return projection == FRIC_PROJECT_ABS ? fabsl(eigenvalue) : eigenvalue;
}

/* diag(a) A diag(a) by its eigenvalues; false if an entry does not fit a double */
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

/* The matrix below where an eigenvalue over- or underflows although its product with mu_aniso need not. A projection
 * does not hide what overflows. */
static bool extreme_matrix(const struct kernel_task *task, size_t i, struct slip *slip, double out[3])
{
	const struct fric_contacts *c = task->contacts;
	long double along, across;
	slip->extreme = true;
	slip_eigenvalues(c, i, slip, &along, &across);
	return extreme_entries(c, i, slip, along, across, out) &&
	       extreme_entries(c, i, slip, projected_l(task->projection, along), projected_l(task->projection, across),
	                       out);
}

/* A = along u u^T + across u' u'^T, u' perpendicular to u: no pole at rest, no cancellation. Then diag(a) A diag(a).
 * @return whether that is as good as the extreme form: nothing over- or underflows on the way */
static bool plain_matrix(const struct kernel_task *task, size_t i, const struct slip *slip, double out[3])
{
	const struct fric_contacts *c = task->contacts;
	const double a0 = *column_at(c->mu_aniso[0], i), a1 = *column_at(c->mu_aniso[1], i);
	const double u = slip->unit[0], v = slip->unit[1];
	long double exact[2];
	slip_eigenvalues(c, i, slip, &exact[0], &exact[1]);
	const double along = projected(task->projection, (double)exact[0]);
	const double across = c->dim == 2 ? 0 : projected(task->projection, (double)exact[1]);
	out[0] = c->dim == 2 ? along * a0 * a0 : (along * u * u + across * v * v) * a0 * a0;
	out[1] = (along - across) * u * v * a0 * a1;
	out[2] = (along * v * v + across * u * u) * a1 * a1;
	return whole_eigenvalues((double)exact[0], (double)exact[1], slip_strength(c, slip), largest_eigenvalue) &&
	       isfinite(out[0]) && isfinite(out[1]) && isfinite(out[2]);
}

static bool inner_matrix(const struct kernel_task *task, size_t i, struct slip *slip, struct workspace *work, size_t j)
{
	double out[3];
	const bool finite = (!slip->extreme && plain_matrix(task, i, slip, out)) || extreme_matrix(task, i, slip, out);
	for (int e = 0; e < 3; e++)
		work->inner[e][j] = out[e];
	return finite;
}

static void force_column(const struct fric_contacts *c, size_t i, const struct slip *slip, struct workspace *work,
                         size_t j)
{
	double force[3];
	contact_force(c, i, slip, force);
	for (int d = 0; d < c->dim; d++)
		work->force[d][j] = force[d];
}

/* One contact, in the scalar form. */
static bool run_scalar(const struct kernel_task *task, struct span span, size_t j, struct workspace *work)
{
	const struct fric_contacts *c = task->contacts;
	const size_t i = span.begin + j;
	struct slip slip;
	slip_of(c, task->coefficients, span.type, i, task->velocities, &slip);
	if (!slip_finite(&slip))
		return false;
	if (task->result == KERNEL_INNER)
		return inner_matrix(task, i, &slip, work, j);
	work->potential[j] = task->potentials ? slip_potential(c, i, &slip) : 0;
	if (task->result == KERNEL_FORCE)
		force_column(c, i, &slip, work, j);
	return true;
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
	for (size_t j = 0; j < span.n; j++)
		if (!run_scalar(task, span, j, work) || !finite_results(task, work, j)) {
			*fault = (struct fault){FRIC_E_NOT_FINITE, span.begin + j};
			return false;
		}
	return true;
}

bool fricp_run_span(const struct kernel_task *task, struct span span, struct workspace *work, struct fault *fault)
{
	work->n = span.n;
	if (task->contacts->dim == 2 || !task->kernels->force || !task->ordinary)
		return run_careful(task, span, work, fault);
	fricp_load_span(task, span, work);
	task->kernels->gamma->relative(task->contacts, span, task->velocities, work->relative[0]);
	if (task->result == KERNEL_INNER)
		task->kernels->inner(work, task->projection);
	else if (task->result == KERNEL_FORCE)
		task->kernels->force(work);
	else
		task->kernels->potential(work);
	return !work->careful || run_careful(task, span, work, fault);
}

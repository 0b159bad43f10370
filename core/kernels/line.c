#include "core/kernels/line.h"

#include <math.h>

#include "core/motion/slip.h"

/* Evaluates one contact at t, in the scalar form. @return whether everything is finite */
static bool scalar_contact(const struct kernel_task *task, size_t i, const struct slip_line *line, double t,
                           double *potential, double *slope)
{
	const struct fric_contacts *c = task->contacts;
	struct slip slip;
	double along[MOST_SLIP] = {0};
	if (!slip_on_line(c, task->coefficients, i, line, t, &slip, along))
		return false;
	*potential = contact_potential(c, i, &slip);
	*slope = contact_slope(c, i, &slip, line, along);
	return isfinite(*potential) && isfinite(*slope);
}

/* Gathers the slips of a span, once for all steps. */
static void gather_lines(const struct kernel_task *task, const double *direction, struct span span,
                         struct slip_line lines[FRIC_SPAN])
{
	for (size_t j = 0; j < span.n; j++)
		slip_line_of(task->contacts, span.type, span.begin + j, task->velocities, direction, &lines[j]);
}

/* Reports a fault at the lowest contact, whatever the step. */
static bool scalar_step(const struct kernel_task *task, const struct slip_line lines[FRIC_SPAN], double t,
                        struct span span, double sums[2], struct fault *fault)
{
	double potential[FRIC_SPAN], slope[FRIC_SPAN];
	for (size_t j = 0; j < span.n; j++)
		if (!scalar_contact(task, span.begin + j, &lines[j], t, &potential[j], &slope[j])) {
			if (fault->code == FRIC_OK || span.begin + j < fault->position)
				*fault = (struct fault){FRIC_E_NOT_FINITE, span.begin + j};
			return false;
		}
	sums[0] = sum_of_span(potential, span.n);
	sums[1] = sum_of_span(slope, span.n);
	return true;
}

/* @return whether the kernels are accurate enough for this span */
static bool begin_kernel(const struct kernel_task *task, const struct line *line, struct span span,
                         struct line_workspace *work)
{
	if (task->contacts->dim == 2 || !task->kernels->line || !task->ordinary)
		return false;
	fricp_load_span(task, span, &work->at);
	task->kernels->gamma->relative(task->contacts, span, line->direction, work->direction[0]);
	task->kernels->line(work, line->most);
	return !work->at.careful;
}

bool fricp_run_line(const struct kernel_task *task, const struct line *line, struct span span, double *potentials,
                    double *slopes, struct fault *fault)
{
	struct line_workspace work;
	struct slip_line lines[FRIC_SPAN];
	const bool kernel = begin_kernel(task, line, span, &work);
	bool gathered = false, finite = true;
	for (size_t k = 0; k < line->n_steps; k++) {
		double sums[2] = {0, 0};
		if (kernel)
			task->kernels->step(&work, line->steps[k], sums);
		if (!kernel || work.at.careful) {
			if (!gathered)
				gather_lines(task, line->direction, span, lines);
			gathered = true;
			finite &= scalar_step(task, lines, line->steps[k], span, sums, fault);
		}
		potentials[k] = sums[0];
		slopes[k] = sums[1];
	}
	return finite;
}

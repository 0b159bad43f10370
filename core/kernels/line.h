/**
 * Runs the kernels of a line over a span of contacts, or the scalar form where doubles are not accurate enough.
 */
#ifndef FRIC_KERNELS_LINE_H
#define FRIC_KERNELS_LINE_H

#include "core/kernels/run.h"

/* Velocities v + t * direction. */
struct line {
	const double *direction; /* [n_dofs] */
	const double *steps;     /* [n_steps] values of t */
	size_t n_steps;
	double most; /* the largest |t| */
};

/* Adds up a span's potentials and their slopes at each step, [n_steps] each. task->result is ignored.
 * @return false with *fault set if a contact's result is not finite */
bool fricp_run_line(const struct kernel_task *task, const struct line *line, struct span span, double *potentials,
                    double *slopes, struct fault *fault);

#endif

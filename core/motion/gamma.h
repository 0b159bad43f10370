/**
 * Gamma and its transpose for spans of 3D contacts, compiled from gamma.inc once per instruction set. The plain forms,
 * stencil.h and scatter.c, do the same operations in the same order: results are bitwise equal. Forces and relative
 * velocities are columns, [3, FRIC_SPAN]: component d of contact j at d * FRIC_SPAN + j.
 */
#ifndef FRIC_GAMMA_H
#define FRIC_GAMMA_H

#include "core/contacts/span.h"
#include "core/motion/lanes.h"

struct gamma {
	/* relative := Gamma v; velocities [n_dofs] */
	void (*relative)(const struct fric_contacts *contacts, struct span span, const double *velocities,
	                 double *relative);
	/* gradient += Gamma^T f, contact by contact; gradient [n_dofs] */
	void (*scatter)(const struct fric_contacts *contacts, struct span span, const double *forces, double *gradient);
	/* Copies n DOFs of LANES vectors, each contiguous, to rows [n, LANES] (lanes.h), and back. */
	void (*enter)(const double *const vectors[LANES], size_t n, double *rows);
	void (*leave)(const double *rows, size_t n, double *const vectors[LANES]);
};

#endif

/**
 * The bodies' part of potential, gradient and line. Contacts are evaluated in chunks, in the scalar form, and summed in
 * contact order. Functions report faults like the public ones.
 */
#ifndef FRIC_BODIES_EVALUATE_H
#define FRIC_BODIES_EVALUATE_H

#include "core/base/parallel.h"
#include "core/bodies/twist.h"

/* The rows of contact i, one per body, begin at first_action(b, i) in arrays of [n_actions, n_body_dofs]. */
static inline size_t first_action(const struct fric_contacts *b, size_t i)
{
	const size_t pairs = b->start[FRIC_BODY_BODY + 1];
	return i < pairs ? 2 * i : pairs + i;
}

static inline size_t n_actions(const struct fric_contacts *b)
{
	return first_action(b, b->n);
}

/* Stores the wrenches of contact i at its bodies. @param wrenches  of all contacts. @return whether they are finite */
bool fricp_store_wrenches(const struct fric_contacts *b, size_t i, const struct action *action, double *wrenches);

/* The fault for an overflow that no single contact causes. */
static inline struct fault body_overflow(const struct fric_contacts *b)
{
	return (struct fault){FRIC_E_NOT_FINITE, b->n};
}

/* sums := the rows of all contacts at each body, in contact order.
 * @param rows  indexed by first_action
 * @param sums  [n_bodies, width]
 * @return FRIC_E_STOPPED, or body_overflow if a sum is not finite */
struct fault fricp_add_actions(const struct fric_context *context, const struct fric_contacts *b, const double *rows,
                               size_t width, double *sums);

/**
 * @param potential  the bodies' part is added to it; may be NULL
 * @param gradient   [n_dofs] the bodies' part is overwritten; may be NULL
 */
enum fric_code fricp_bodies_evaluate(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const struct fric_query *query, double *potential, double *gradient,
                                     struct fric_error *error);

/* Computes the terms that fricp_bodies_evaluate adds up. @param potentials [n] @param wrenches [n_actions,
 * n_body_dofs] */
enum fric_code fricp_bodies_actions(const struct fric_context *context, const struct fric_contacts *contacts,
                                    const struct fric_query *query, double *potentials, double *wrenches,
                                    struct fric_error *error);

/**
 * @param potential, slope  [n_steps] the bodies' part is added to them; at t = 0 the potential is bitwise equal to
 *                   fricp_bodies_evaluate
 */
enum fric_code fricp_bodies_line(const struct fric_context *context, const struct fric_contacts *contacts,
                                 const struct fric_query *query, const double *direction, size_t n_steps,
                                 const double *steps, double *potential, double *slope, struct fric_error *error);

#endif

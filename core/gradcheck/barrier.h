/**
 * Expected values of the barrier: plain formulas in 113 bits, with closest points from normal equations, and central
 * differences. Slow and independent of core/barrier: of that it uses nothing but which members take part in the closest
 * feature, and whether the contact is mollified.
 */
#ifndef FRIC_GRADCHECK_BARRIER_H
#define FRIC_GRADCHECK_BARRIER_H

#include "core/gradcheck/expected.h"

/* Adds the barrier's potential, its gradient at the members, and its block to the expected values. */
void fricp_expect_barrier(const struct fric_query *query, struct reference *r);

#endif

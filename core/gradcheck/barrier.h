/**
 * Expected values of the barrier: plain formulas in 113 bits, differentiated forwards, without steps. Slow and
 * independent of core/barrier: of that it uses nothing but which members take part in the closest feature, whether the
 * contact is mollified, and whether it acts where the distance is exactly dhat.
 */
#ifndef FRIC_GRADCHECK_BARRIER_H
#define FRIC_GRADCHECK_BARRIER_H

#include "core/gradcheck/expected.h"

/* Adds the barrier's potential, its gradient at the members, and its block to the expected values. */
void fricp_expect_barrier(const struct fric_query *query, struct reference *r);

#endif

/**
 * The comparison with central differences for contacts of bodies.
 */
#ifndef FRIC_GRADCHECK_BODIES_H
#define FRIC_GRADCHECK_BODIES_H

#include "core/gradcheck/expected.h"

/* Compares the contacts of bodies, which count on after those of vertices, and adds what is expected of them to potential,
 * gradient and product. */
struct fault fricp_compare_bodies(struct comparing *task);

#endif

/**
 * How far two primitives can move on straight lines before they come too close: conservative advancement, as additive
 * CCD (Li et al. 2021), but with moving separating planes in place of a bound on speeds, so that a step ends only where
 * the distance does, or the closest feature changes.
 */
#ifndef FRIC_TRAVEL_H
#define FRIC_TRAVEL_H

#include "core/base/types.h"

struct travel {
	enum fric_type type; /* at vertices */
	int dim;
	const double *from[FRIC_MAX_STENCIL];      /* [dim] positions of the stencil's members at 0 */
	const double *direction[FRIC_MAX_STENCIL]; /* [dim] their motion from 0 to 1 */
	double normal[3], origin[3];               /* of the plane, for POINT_PLANE: normal not zero, any length */
	double dmin;
	double keep; /* > 0, < 1 */
};

/**
 * Finds t in [0, 1] such that distance - dmin >= keep * (its value at 0) on all of [0, t], and >= what keeps the sides
 * apart when the positions at any of these steps are rounded to doubles (fric_longest_step). The largest such t exceeds
 * it by at most a thousandth, except where rounding leaves open whether distances fall below that.
 * @param bound  once t is certain to exceed it, any number above it may be returned; otherwise t does not depend on it
 * @param t      set on FRIC_OK
 * @return FRIC_OK, or FRIC_E_PENETRATION if distance <= dmin at 0
 */
enum fric_code fricp_travel(const struct travel *travel, double bound, double *t);

#endif

/**
 * Which contacts can be trusted to plain doubles: all results of theirs keep their digits, whatever the velocities.
 */
#ifndef FRIC_ORDINARY_H
#define FRIC_ORDINARY_H

#include <math.h>

#include "core/base/range.h"
#include "core/contacts/contacts.h"

/* Whether forces, coefficients and eps_v of contacts [begin, end) are in the ordinary range (range.h), velocity scaling
 * and weights of moderate size, bases of about unit size; when in doubt, they are not. No sum of ordinary forces overflows, at any velocities. */
bool fricp_contacts_ordinary(const struct fric_contacts *contacts, size_t begin, size_t end);

/* Whether no entry of contact i's basis is above unit_basis (range.h). */
static inline bool has_unit_basis(const struct fric_contacts *c, size_t i)
{
	bool all = true;
	for (int e = 0; e < c->dim * (c->dim - 1) && !c->ordinary; e++)
		all &= fabs(c->tangent_basis[e][i]) <= unit_basis;
	return all;
}

#endif

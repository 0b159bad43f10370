/**
 * Contacts for which plain doubles are accurate enough: all their results keep their digits at any velocities.
 */
#ifndef FRIC_ORDINARY_H
#define FRIC_ORDINARY_H

#include <math.h>

#include "core/base/range.h"
#include "core/contacts/contacts.h"

/* Whether contacts [begin, end) have forces and eps_v in the ordinary range (range.h), velocity scaling and weights of
 * moderate size, and bases of about unit size. False when in doubt. */
bool fricp_contacts_ordinary(const struct fric_contacts *contacts, size_t begin, size_t end);

/* Whether coefficients [begin, end) are in the ordinary range. No sum of the forces of ordinary contacts with ordinary
 * coefficients overflows. */
bool fricp_coefficients_ordinary(const struct coefficients *coefficients, size_t begin, size_t end);

/* Whether (y - eps_v)/eps_v has enough digits left to be multiplied by q, which is eps_v over the speed scale of the
 * law's tail. */
static inline bool ordinary_decay(const struct law_table *table, double q)
{
	const double steepness = table->n ? q / table->shortest : q;
	return q > slip_small && steepness < 0x1p+16 && (table->n == 0 || table->ordinary);
}

/* Whether no entry of contact i's basis exceeds unit_basis (range.h). */
static inline bool has_unit_basis(const struct fric_contacts *c, size_t i)
{
	bool all = true;
	for (int e = 0; e < c->dim * (c->dim - 1) && !c->ordinary; e++)
		all &= fabs(c->tangent_basis[e][i]) <= unit_basis;
	return all;
}

#endif

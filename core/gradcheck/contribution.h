/**
 * A bound on the contribution of one contact to the gradient and to differences of gradients. These bounds are the
 * scales of derivatives (docs/check.md).
 */
#ifndef FRIC_CONTRIBUTION_H
#define FRIC_CONTRIBUTION_H

#include "core/contacts/contacts.h"

/* The effect of a direction on a contact, from weak to strong. It multiplies the force by a factor; or it changes
 * coefficients, and with them the pieces of the law; or it scales the speeds that the law compares; or it changes slips
 * by up to the largest speed. */
enum effect { SCALES_FORCES, CHANGES_LAW, SCALES_SLIPS, MOVES_SLIPS };

/* A query, and a direction's effect on it. */
struct directed {
	const double *velocities;
	enum effect effect;
	double speed; /* largest change of a slip, for MOVES_SLIPS */
};

struct contribution {
	double potential;  /* absolute value */
	double force;      /* sum of the absolute components of the force along the slip, drag included. A body's torques
	                    * count as torque / radius */
	double unresolved; /* change of the force that differences cannot resolve, over their tolerance */
	double sharpness;  /* change of the slip over the speed scale of the law, at least 1; 0 if irrelevant */
};

/**
 * @param c  contacts at vertices or of bodies, depending on `type`
 * @param i  index in c
 */
struct contribution fricp_contribution(const struct fric_contacts *c, const struct coefficients *mu,
                                       enum fric_type type, size_t i, const struct directed *direction);

#endif

/**
 * How much one contact can contribute to the gradient, and to differences of gradients: the scales of derivatives
 * (docs/check.md).
 */
#ifndef FRIC_CONTRIBUTION_H
#define FRIC_CONTRIBUTION_H

#include "core/contacts/contacts.h"

/* What a direction does to a contact, from little to much: its force is multiplied by a factor, and nothing is rounded
 * differently; coefficients change, and with them the law's pieces; lengths that the law compares change in proportion;
 * slips change by up to the largest speed. */
enum effect { SCALES_FORCES, CHANGES_LAW, SCALES_SLIPS, MOVES_SLIPS };

/* A query and what is known of a direction. */
struct directed {
	const double *velocities;
	enum effect effect;
	double speed; /* by how much it changes slips, if it moves them */
};

struct contribution {
	double potential;  /* absolute value */
	double force;      /* sum of the absolute components of the force along the slip, drag included. A body's torques
	                    * count as the forces that they are over their radii */
	double unresolved; /* change of the force that differences cannot resolve, over their tolerance */
	double sharpness;  /* the change of the slip over what the law changes over, at least 1; 0 if nothing compares it */
};

/**
 * @param c  contacts at vertices or of bodies, whichever `type` belongs to
 * @param i  in c
 */
struct contribution fricp_contribution(const struct fric_contacts *c, const struct coefficients *mu,
                                       enum fric_type type, size_t i, const struct directed *direction);

#endif

#include "core/gradcheck/contribution.h"

#include <math.h>

#include "core/bodies/twist.h"
#include "core/gradcheck/expected.h"
#include "core/law/textbook.h"

/* Factor by which differences amplify rounding errors: they are taken over steps of 2^-8 and less, and extrapolated. */
#define AMPLIFICATION 0x1p+14L

/* Fraction of the scales of fricp_expect_slip, which are bounds: rounding errors are usually several times smaller. */
#define USUAL_ROUNDING 0x1p-4L

/* If a law bends over less than the step at which rounding alone exceeds the tolerance, no step is suitable. */
#define LEAST_STEP 0x1p-46L

/* The sum of the absolute components of the force, each multiplied by mu_aniso as in P diag(mu_aniso) f. */
static long double sum_of_forces(const struct fric_contacts *c, size_t i, const struct slip *slip)
{
	long double force[MOST_SLIP] = {0}, drag[MOST_SLIP] = {0}, sum = 0;
	slip_force(c, i, slip, force);
	if (c->viscous.data)
		drag_force(c, i, slip, drag);
	for (int t = 0; t < slip->n; t++)
		sum += (t < c->dim - 1 ? *column_at(c->mu_aniso[t], i) : 1) * fabsl(force[t] + drag[t]);
	return sum;
}

/* A bound on the rounding error of the slip's length. */
static long double error_of_slip(const struct fric_contacts *c, size_t i, const double *velocities)
{
	struct reference r;
	long double pairs[MOST_PAIRS], sum = 0;
	fricp_begin_reference(c, i, &r);
	fricp_expect_motion(&r, pairs);
	for (int t = 0; t < r.n; t++)
		sum += fricp_expect_slip(&r, velocities, t, true).scale;
	return USUAL_ROUNDING * sum;
}

static struct textbook law_at(const struct fric_contacts *c, size_t i, const struct slip *slip)
{
	struct fric_law law = c->law;
	if (law_has(law_of(&law), LAW_DECAYS))
		law.stribeck_speed = *column_at(c->unit, i);
	struct textbook p = textbook_of(&law, NULL, slip->mu_s, slip->mu_k, slip->eps_v);
	p.curve = &c->law.curve;
	p.slides = slip->slides;
	return p;
}

/* The change of a slip's length, over the range in which the law changes; steps must be shorter by this factor.
 * @param z, change  length of the slip, and its change along the direction; both over eps_v */
static long double sharpness(const struct textbook *p, long double z, enum effect effect, long double change)
{
	const long double extent = (long double)textbook_extent(p, z, 0);
	if (effect < SCALES_SLIPS)
		return 0;
	return fmaxl(1, change / (extent > 0 && extent < 1 ? extent : 1));
}

/* Sets the change of the force that differences cannot resolve, and the sharpness. */
static void find_uncertainty(const struct fric_contacts *c, enum fric_type type, size_t i, const struct slip *slip,
                             const struct directed *d, struct contribution *out)
{
	const struct textbook law = law_at(c, i, slip);
	const long double s = fabsl(long_force(c, i)), z = slip_speed(slip) / slip->eps_v;
	const long double own = s * textbook_largest(&c->law, slip->mu_s, slip->mu_k, slip->slides) * (z < 1 ? z : 1);
	const long double change = d->effect == MOVES_SLIPS ? fmaxl(z, (long double)d->speed / slip->eps_v) : z;
	const long double bend = d->effect > SCALES_FORCES ? (long double)textbook_unresolved(&law, z, LEAST_STEP) : 0;
	const long double sharp = sharpness(&law, z, d->effect, change);
	long double along, across;
	contact_eigenvalues(c, i, slip, &along, &across);
	const long double error = 0x1p-52L * own + fmaxl(fabsl(along), fabsl(across)) * error_of_slip(c, i, d->velocities);
	const long double unresolved = fmaxl(1, AMPLIFICATION * sharp) * error + s * change * bend;
	out->unresolved = capped(largest_scaling(c, type, i) * unresolved / FRIC_DERIVATIVE_TOLERANCE);
	out->sharpness = capped(sharp);
}

struct contribution fricp_contribution(const struct fric_contacts *c, const struct coefficients *mu,
                                       enum fric_type type, size_t i, const struct directed *direction)
{
	struct slip slip;
	struct contribution out = {0};
	if (c->skipped[i])
		return out;
	slip_of_type(c, mu, type, i, direction->velocities, &slip);
	out.potential = fabs(contact_potential(c, i, &slip));
	out.force = capped(sum_of_forces(c, i, &slip));
	find_uncertainty(c, type, i, &slip, direction, &out);
	return out;
}

/**
 * Effective coefficients from ellipses, and their derivatives (docs/physics.md 3): mu = sqrt((mu_0 t_0)^2 + (mu_1
 * t_1)^2), where t is the direction of a slip, or (1, 0) and constant for a slip slower than 1e-10 eps_v. A zero
 * ellipse stands for the scalar coefficient of its kind, so its axes have no effect.
 */
#ifndef FRIC_MATCHSTICK_H
#define FRIC_MATCHSTICK_H

#include <math.h>
#include <stdbool.h>

#include "core/bodies/twist.h"
#include "core/fric_mollifier.h"

static inline bool is_ellipse(const double axes[2])
{
	return axes[0] != 0 || axes[1] != 0;
}

static inline double along_ellipse(double *const ellipse[2], size_t i, const double direction[2], struct column scalar)
{
	const double axes[2] = {ellipse[0][i], ellipse[1][i]};
	return is_ellipse(axes) ? fric_matchstick_mu(direction, axes) : *column_at(scalar, i);
}

/* Sets the effective coefficients of contact i, for the direction of its slip in `at` at these velocities.
 * @return whether slip and coefficients are finite */
static inline bool choose_coefficients(const struct fric_contacts *contacts, const struct fric_contacts *at, size_t i,
                                       const double *velocities, struct coefficients *effective)
{
	double direction[2];
	struct slip slip;
	contact_slip_velocity(at, contact_type(at, i), i, velocities, &slip);
	fric_matchstick_direction(slip.scaled, 1e-10 * *column_at(at->eps_v, i), direction);
	const double mu_s = along_ellipse(contacts->mu_s_aniso, i, direction, contacts->scalar.mu_s);
	const double mu_k = along_ellipse(contacts->mu_k_aniso, i, direction, contacts->scalar.mu_k);
	*column_at(effective->mu_s, i) = mu_s;
	*column_at(effective->mu_k, i) = mu_k;
	return slip_finite(&slip) && isfinite(mu_s) && isfinite(mu_k);
}

/* Direction and length of a slip. If the length is 0, the direction is constant. */
struct matchstick {
	long double direction[2], length;
};

static inline struct matchstick matchstick_along(const long double slip[2], long double eps_v)
{
	const long double length = hypotl(slip[0], slip[1]);
	/* the bound of choose_coefficients, in doubles */
	if (length < 1e-10 * (double)eps_v || length == 0)
		return (struct matchstick){{1, 0}, 0};
	return (struct matchstick){{slip[0] / length, slip[1] / length}, length};
}

/* The angle by which the direction turns as the slip changes. */
static inline long double matchstick_turn(const struct matchstick *m, const long double change[2])
{
	const long double *t = m->direction;
	return m->length > 0 ? (t[0] * change[1] - t[1] * change[0]) / m->length : 0;
}

/* The transpose: sets the slip's cotangent. */
static inline void matchstick_turn_cotangent(const struct matchstick *m, long double turn, long double slip[2])
{
	const long double across = m->length > 0 ? turn / m->length : 0;
	slip[0] = -across * m->direction[1];
	slip[1] = across * m->direction[0];
}

/* A coefficient from an ellipse, and its derivatives with respect to the axes and to the turn of the direction. */
struct ellipse_derivatives {
	long double mu, by_axis[2], by_turn;
};

/* The derivative with respect to the turn is (mu_1^2 - mu_0^2) t_0 t_1 / mu, which does not cancel for nearly equal
 * axes.
 * @param axes  not both zero. If the coefficient is zero, one axis is zero and the slip is along it; derivatives are
 *              then the right-hand ones of |mu_0 t_0| and |mu_1 t_1| */
static inline void ellipse_derivatives(const double axes[2], const long double direction[2],
                                       struct ellipse_derivatives *derivatives)
{
	const long double part[2] = {axes[0] * direction[0], axes[1] * direction[1]};
	const long double sum = (long double)axes[1] + axes[0], difference = (long double)axes[1] - axes[0];
	long double share[2];
	derivatives->mu = hypotl(part[0], part[1]);
	for (int k = 0; k < 2; k++) {
		share[k] = derivatives->mu > 0 ? part[k] / derivatives->mu : signbit(direction[k]) ? -1 : 1;
		derivatives->by_axis[k] = share[k] * direction[k];
	}
	derivatives->by_turn = derivatives->mu > 0 ? sum * direction[0] * (difference * direction[1] / derivatives->mu)
	                                           : share[1] * axes[1] * direction[0] - share[0] * axes[0] * direction[1];
}

#endif

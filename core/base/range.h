/**
 * Ranges in which doubles are accurate enough: between slip_small and slip_large, products of up to three speed ratios,
 * forces and coefficients keep all their digits.
 */
#ifndef FRIC_RANGE_H
#define FRIC_RANGE_H

#include <math.h>
#include <stdbool.h>

static const double slip_small = 0x1p-300, slip_large = 0x1p+300;

/* |slip|^2 / eps_v^2 is computed as |slip * (1/eps_v)|^2, with a relative error below 2^-50. Within near_one of 1 the
 * rounded value does not decide whether a contact slides. */
static const double near_one = 0x1p-48;

static inline bool tells_sliding(double squared_ratio)
{
	return fabs(squared_ratio - 1) > near_one;
}

/* Whether a rounded ratio determines on which side of 2, where the bonds of `adhesion` break, the exact one lies. */
static inline bool tells_breaking(double ratio)
{
	return fabs(ratio - 2) > near_one;
}

/* Bounds on the other factors of forces: velocity scaling and closest points. An inner matrix is scaled twice. */
static const double moderate_size = 0x1p+100, moderate_eigenvalue = 0x1p+800, largest_eigenvalue = 0x1p+1000;

/* Whether eigenvalues have lost nothing to underflow, which velocity scaling would magnify, and are below `largest`.
 * strength: force over speed, before the division by eps_v */
static inline bool whole_eigenvalues(double along, double across, double strength, double largest)
{
	const double sum = fabs(along) + fabs(across);
	return ((sum < largest) & (sum > 0x1p-1000)) | ((sum == 0) & (strength == 0));
}

/* A basis with entries up to this size does not amplify earlier underflow. */
static const double unit_basis = 2;

static inline bool ordinary(double x)
{
	return (x == 0) | ((fabs(x) > slip_small) & (fabs(x) < slip_large));
}

/* Whether 1/x keeps all digits of x. */
static inline bool invertible(double x)
{
	return (x > 0x1p-1000) & (x < 0x1p+1000);
}

/* Whether the lagged values that the law of one contact uses are in the ordinary range. */
static inline bool ordinary_lagged(double weight, double normal_force, double eps_v, double mu_s, double mu_k)
{
	const double s = weight * normal_force;
	return ordinary(s) && (s != 0 || weight == 0 || normal_force == 0) && invertible(eps_v) && ordinary(mu_s) &&
	       ordinary(mu_k);
}

/* Whether a drag is in the ordinary range: viscous * eps_v takes the place of a coefficient in the law. */
static inline bool ordinary_drag(double viscous, double eps_v)
{
	return ordinary(viscous * eps_v) & ((viscous == 0) | (viscous * eps_v != 0));
}

/* Whether the drag of a slip has lost nothing to underflow, judged by its work, the force times the slip over eps_v.
 * squared: (slip over eps_v)^2; strength: weight * normal force * viscous * eps_v */
static inline bool whole_drag(double strength, double squared, bool rests)
{
	const double work = fabs(strength * squared);
	const bool slip = (squared > 2 * slip_small * slip_small) & (squared < slip_large * slip_large / 2);
	return rests | (slip & ((strength == 0) | ((work > slip_small * slip_small) & (work < slip_large * slip_large))));
}

#endif

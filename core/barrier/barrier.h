/**
 * Normal forces from barriers on squared distances (docs/physics.md 3).
 *
 * With sigma = distance^2 - dmin^2 and top = (2 dmin + dhat) dhat the force is -stiffness b'(sigma) 2 distance, and
 * with physical scaling this times dhat/units:
 *
 *   FRIC_CLAMPED_LOG             b = -(sigma - top)^2 ln(sigma/top)                             units top^2
 *   FRIC_NORMALIZED_CLAMPED_LOG  b = -(sigma/top - 1)^2 ln(sigma/top)                           units 1
 *   FRIC_CLAMPED_LOG_SQUARED     b = (sigma - top)^2 ln(sigma/top)^2                            units top^2
 *   FRIC_CUBIC_BARRIER           b = 2/3 (top - sigma)^3 / top                                  units top^2
 *   FRIC_TWO_STAGE               b = (top - sigma)^2/2 from top/2 on,
 *                                    top^2/4 (1/2 - ln(2 sigma/top)) below                      units top^2
 *
 * Sources: Li et al. 2020; Li et al. 2023; Huang et al. 2024; Ando 2024; Chen et al. 2025.
 */
#ifndef FRIC_BARRIER_H
#define FRIC_BARRIER_H

#include "core/fric.h"

/**
 * @param distance  unsigned, >= 0
 * @param force     >= 0; 0 beyond dmin + dhat; may overflow to inf
 * @return FRIC_OK or FRIC_E_PENETRATION (distance <= dmin)
 */
enum fric_code fricp_barrier_force(const struct fric_barrier *barrier, double distance, double *force);

/* The force and its derivatives. */
struct barrier_derivatives {
	long double force, by_distance, by_dhat, by_stiffness, by_dmin;
};

/**
 * Computes the force and its derivatives, each term of which keeps its digits near dmin and near dmin + dhat. From dmin
 * + dhat on all are zero.
 * @param distance  > dmin
 */
void fricp_barrier_derivatives(const struct fric_barrier *barrier, long double distance,
                               struct barrier_derivatives *derivatives);

/* Derivatives divided by the force; computed in doubles where these are accurate enough. */
struct barrier_rates {
	double by_distance, by_dhat, by_stiffness, by_dmin;
};

/* Computes rates, which are zero if the force is zero. @param distance  > dmin */
void fricp_barrier_rates(const struct fric_barrier *barrier, double distance, struct barrier_rates *rates);

#endif

/**
 * Normal force from the clamped log barrier on squared distances (IPC, Li et al. 2020; docs/physics.md 3).
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

#endif

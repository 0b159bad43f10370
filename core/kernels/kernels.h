/**
 * The inner loops over a span of 3D contacts, compiled from kernels.inc once per instruction set and chosen at run
 * time. All variants and the scalar form (slip.h) do the same operations in the same order, without FMA contraction:
 * they agree bit for bit.
 */
#ifndef FRIC_KERNELS_H
#define FRIC_KERNELS_H

#include <math.h>

#include "core/barrier/energy.h"
#include "core/barrier/mollifier.h"
#include "core/base/inline.h"
#include "core/contacts/contacts.h"
#include "core/fric.h"
#include "core/kernels/workspace.h"
#include "core/motion/gamma.h"

/* The workspace for a line: potentials and slopes at velocities + t * direction, for one t after the other. Aligned,
 * because otherwise every vector load would cross cache lines at each step. */
struct line_workspace {
	struct workspace at;            /* the start of the line: relative velocities; inputs as above */
	double direction[3][FRIC_SPAN]; /* Gamma d */
	_Alignas(64) double start[2][FRIC_SPAN];
	double change[2][FRIC_SPAN];                  /* slip over eps_v is start + t change */
	double drag[FRIC_SPAN];                       /* weight * normal force * viscous * eps_v, if there is a drag */
	double strength[FRIC_SPAN], scale[FRIC_SPAN]; /* weight * normal force, and this times eps_v */
	double potential[FRIC_SPAN], derivative[FRIC_SPAN]; /* at the latest step */
};

/* Sums the values of a span in an order that does not depend on the vector length. */
enum { FRIC_LANES = 8 };

INLINE double sum_of_span(const double *x, size_t n)
{
	double lane[FRIC_LANES] = {0};
	size_t j = 0;
	for (; j + FRIC_LANES <= n; j += FRIC_LANES)
		for (size_t l = 0; l < FRIC_LANES; l++)
			lane[l] += x[j + l];
	for (; j < n; j++)
		lane[j % FRIC_LANES] += x[j];
	return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* An eigenvalue of the inner matrix after projection to the PSD cone. */
INLINE double projected(enum fric_projection projection, double eigenvalue)
{
	if (projection == FRIC_PROJECT_CLAMP)
		return eigenvalue > 0 ? eigenvalue : 0;
	return projection == FRIC_PROJECT_ABS ? fabs(eigenvalue) : eigenvalue;
}

/* The workspace for the geometry of a span of 3D contacts, in plain doubles. */
struct geometry_workspace {
	size_t n;
	double position[FRIC_MAX_STENCIL][3][FRIC_SPAN];        /* positions of the stencils' vertices */
	double *closest_point[2], *tangent_basis[6], *distance; /* [n] results */
	double good[FRIC_SPAN];                                 /* 0 for contacts that need double-double */
};

/* The workspace for the closest features of a span of contacts, in plain doubles. */
struct feature_workspace {
	size_t n;
	double (*position)[3][FRIC_SPAN]; /* [stencil's size] positions of the stencils' vertices; in 2D z is 0 */
	double members[FRIC_SPAN];        /* result: bits as a number (geometry/features.h) */
	double certain[FRIC_SPAN];        /* result: 0 for contacts that need double-double */
};

struct derivative_kernels; /* derivatives.h */

struct fric_kernels {
	const char *name;
	const struct gamma *gamma; /* from velocities to work->relative, and from work->force to gradients */
	void (*potential)(struct workspace *work);
	void (*force)(struct workspace *work, bool potentials); /* potentials: compute these as well */
	/* Computes force and potential without a drag and, in the same loop, the effect of a change of the relative
	 * velocities on the force: product := P A P^T relative, bitwise equal to `unprojected` and `product`; sum := sum of
	 * force . relative. Columns as in gamma.h.
	 * @return whether all results are as accurate as the scalar form and the products are small; if not, no result is
	 *         valid */
	bool (*along)(struct workspace *work, const double *relative, double *product, double *sum);
	void (*inner)(struct workspace *work, enum fric_projection projection);
	void (*unprojected)(struct workspace *work); /* as `inner` without projection; reuses the slips of `force` */
	/* Call `line` once for a span, with most the largest |t|, then `step` at each step. They set work->at.careful for
	 * all steps, or for one. sums: potentials and slopes */
	void (*line)(struct line_workspace *work, double most);
	void (*step)(struct line_workspace *work, double t, double sums[2]);
	/* force := P A P^T relative; columns as in gamma.h, inner [n] columns of the span.
	 * @return whether the forces are so small that no sum of them overflows */
	bool (*product)(const struct fric_contacts *contacts, struct span span, const double *const inner[3],
	                const double *relative, double *force);
	/* Gamma^T P A P^T Gamma for LANES vectors; adds to the ring's sums. @return as product */
	bool (*products)(const struct fric_contacts *contacts, struct span span, double *const inner[3],
	                 const struct lanes_ring *ring);
	const struct derivative_kernels *derivatives;
	/* Indexed by [precise][geometry]; planes have no kernel. Precise: the distance is accurate enough for a barrier. */
	void (*geometry[2][N_GEOMETRIES])(struct geometry_workspace *work);
	/* By geometry; NULL for those without a choice of features. */
	void (*features[N_GEOMETRIES])(struct feature_workspace *work);
	/* The gaps of a span of contacts, by kind (barrier/gap.h). */
	void (*gaps[GAP_N_KINDS])(struct gap_workspace *work);
	/* Energies of a span, times the contacts' weights. NULL: use energy_at. */
	void (*energies)(enum fric_barrier_type type, const struct energy_scale *scale, struct energy_workspace *work);
	/* Blocks of the barrier's Hessian (assemble/blocks.h), times a factor, for the first contacts of a span. Those of
	 * mollified contacts and of contacts at distance 0 are placeholders. @return how many have been computed */
	size_t (*blocks)(const struct fric_current *current, struct span span, double factor,
	                 enum fric_projection projection, double *out);
	/* Replaces matrices by their projections, of which the lower triangles are valid. NULL: use block_project_nine. */
	void (*project)(enum fric_projection projection, struct mollified_matrices *matrices);
	/* Computes the range of vertices of a span's extent; the scalar form uses the baseline's. @param members  [n] of
	 * its stencils, n > 0 */
	void (*extent)(const int32_t *members, size_t n, struct span_extent *extent);
};

/* The variants of this build, best first. Call only those that this processor supports. */
extern const struct fric_kernels fricp_kernels_avx512, fricp_kernels_avx2, fricp_kernels_baseline;
/* No functions: every contact goes through slip.h, against which the other variants are tested. Derivatives use the
 * baseline's kernels, because the plain form of derivatives carries more digits, so its bits differ. */
extern const struct fric_kernels fricp_kernels_scalar;

/* The kernels that a context selects, or the best that this processor supports. */
const struct fric_kernels *fricp_kernels_of(const struct fric_context *context);

#endif

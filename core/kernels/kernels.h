/**
 * The inner loops over a block of 3D contacts, compiled once per instruction set from kernels.inc and chosen at run time.
 * All variants and the scalar form (slip.h) do the same operations in the same order, without FMA contraction: they agree
 * bit for bit.
 */
#ifndef FRIC_KERNELS_H
#define FRIC_KERNELS_H

#include <math.h>

#include "core/base/inline.h"
#include "core/contacts/contacts.h"
#include "core/fric.h"

/* One block, n <= FRIC_SPAN contacts; inputs are arrays of n unless stated, shorter ones are never read beyond n. */
struct workspace {
	const struct fric_kernels *kernels; /* whose block it is */
	size_t n;
	enum fric_transition transition;
	const double *tangent_basis[6];
	const double *weight, *normal_force, *mu_s, *mu_k, *eps_v;
	const double *mu_aniso[2];
	bool same_eps_v;                /* eps_v is one value */
	bool has_last_vertex;           /* behind its velocity nothing may be read */
	double relative[3][FRIC_SPAN]; /* Gamma v */
	/* On the way: slip over eps_v or its direction, |slip| / eps_v, eigenvalues */
	double over_eps_v[FRIC_SPAN], ratio[2][FRIC_SPAN], z[FRIC_SPAN], along[FRIC_SPAN], across[FRIC_SPAN];
	/* Results: */
	double potential[FRIC_SPAN];
	double force[3][FRIC_SPAN]; /* P diag(mu_aniso) f */
	double inner[3][FRIC_SPAN]; /* a00, a01, a11 */
	bool careful;                /* some contact leaves the range of the doubles: do the whole block in the scalar form */
};

/* An eigenvalue of the inner matrix after projection to the PSD cone. */
INLINE double projected(enum fric_projection projection, double eigenvalue)
{
	if (projection == FRIC_PROJECT_CLAMP)
		return eigenvalue > 0 ? eigenvalue : 0;
	return projection == FRIC_PROJECT_ABS ? fabs(eigenvalue) : eigenvalue;
}

/* Geometry of a block of 3D contacts of one type, in plain doubles. */
struct geometry_workspace {
	size_t n;
	double position[FRIC_MAX_STENCIL][3][FRIC_SPAN]; /* of the stencils' vertices */
	double *closest_point[2], *tangent_basis[6], *distance; /* [n] results */
	double good[FRIC_SPAN]; /* 0: do this one in double-double */
};

struct fric_kernels {
	const char *name;
	/* Gamma v of contacts [begin, begin + block->n) of one type, into the block; velocities [n_vertices, 3] */
	void (*relative)(const struct fric_contacts *contacts, enum fric_type type, size_t begin,
	                 const double *velocities, struct workspace *work);
	void (*potential)(struct workspace *work);
	void (*force)(struct workspace *work);                 /* and potential */
	void (*inner)(struct workspace *work, enum fric_projection projection);
	/* Adds the same contacts' forces up at their vertices, in order; gradient [n_vertices, 3] */
	void (*scatter)(const struct fric_contacts *contacts, enum fric_type type, size_t begin,
	                const struct workspace *work, double *gradient);
	/* The same at vertices [first, last) alone; there is at least one */
	void (*scatter_part)(const struct fric_contacts *contacts, enum fric_type type, size_t begin,
	                     const struct workspace *work, int32_t first, int32_t last, double *gradient);
	/* [precise][type]; a plane has its own. Precise: the distance is good for a barrier. */
	void (*geometry[2][FRIC_PLANE_VERTEX])(struct geometry_workspace *work);
};

/* Variants of this build, best first; only those that this processor runs may be called. */
extern const struct fric_kernels fricp_kernels_avx512, fricp_kernels_avx2, fricp_kernels_baseline;
/* No functions: every contact goes through slip.h. The oracle of the others. */
extern const struct fric_kernels fricp_kernels_scalar;

/* The kernels of a context: the ones asked for, or the best of this processor. */
const struct fric_kernels *fricp_kernels_of(const struct fric_context *context);

#endif

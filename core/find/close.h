/**
 * Whether a pair of primitives is close, and the contact that it becomes.
 */
#ifndef FRIC_CLOSE_H
#define FRIC_CLOSE_H

#include "core/find/records.h"

/* Criteria and geometry by which pairs are judged. All pointers are borrowed. */
struct closing {
	int dim;
	bool merge;
	double reach;                    /* pairs closer than this */
	const double *positions;         /* [n_vertices, dim] */
	const double *rest;              /* [n_vertices, dim] for mollifiers */
	const double *normals, *origins; /* of planes, row i at i * plane_stride */
	size_t normal_stride, origin_stride;
};

/**
 * Adds the contact of a pair to records if the pair is close.
 * @param type  of the pair
 * @param v     [stencil's size] in any order within a side; plane_vertex: the plane, then the vertex
 * @return FRIC_OK; FRIC_E_NOT_FINITE if its distance or mollifier does not fit a double; FRIC_E_MEMORY;
 *         FRIC_E_TOO_MANY
 */
enum fric_code fricp_close(const struct closing *closing, enum fric_type type, const int32_t *v, double weight,
                           struct records *records);

#endif

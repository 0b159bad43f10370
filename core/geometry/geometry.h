/**
 * Closest point, tangent basis and distance of one contact (docs/physics.md 1).
 */
#ifndef FRIC_GEOMETRY_H
#define FRIC_GEOMETRY_H

#include "core/fric.h"

struct fric_geometry {
	double closest_point[2]; /* the first fric_closest_point_size(type) are set, the rest is 0 */
	double tangent_basis[6]; /* [dim, dim-1] row-major; in 2D the first 2 */
	double distance;         /* unsigned, >= 0 */
	bool right;              /* an edge and a vertex in 2D: the vertex lies to the right of the edge */
};

/**
 * Geometry of a stencil of vertices.
 * @param type  any type at vertices except those with a plane (POINT_PLANE)
 * @param p     positions of the type's points, each [dim]
 * @param precise  compute the distance for a barrier, which amplifies its error: to a few ulp instead of 1e-12
 * @return FRIC_OK, FRIC_E_NOT_FINITE (coordinates too far apart for a double), or the kind of degeneracy
 */
enum fric_code fricp_stencil_geometry(enum fric_type type, int dim, const double *const p[FRIC_MAX_STENCIL],
                                      bool precise, struct fric_geometry *geometry);

/**
 * Computes the possible error of each coordinate of a closest point, because positions and derived results are rounded
 * to doubles: a first-order worst-case bound (docs/physics.md 3). A position is assumed to be rounded like the largest
 * coordinate of the stencil along the same axis.
 * @param type         one with a closest point, not degenerate
 * @param uncertainty  overwritten; 0 for coordinates that the type lacks
 */
void fricp_derived_uncertainty(enum fric_type type, int dim, const double *const p[FRIC_MAX_STENCIL],
                               const double closest_point[2], double uncertainty[2]);
/* As fricp_derived_uncertainty, for one coordinate of a closest point from the caller. */
double fricp_given_uncertainty(double coordinate);

/* Computes the tangent basis of a plane. @param normal [dim], finite, not zero, of any length. */
void fricp_plane_basis(int dim, const double *normal, double tangent_basis[6]);

/* The axis that generates a basis perpendicular to a normal in 3D, 0 for x or 1 for y. Used for planes and for two
 * vertices. */
int fricp_plane_axis(const double normal[3]);
int fricp_vertices_axis(const double first[3], const double second[3]);

/**
 * Tangent basis in 3D: the first direction is the grain's projection onto the tangent plane, the second n x first.
 * @param normal  finite, not zero, of any length
 * @param grain   likewise
 * @return FRIC_OK, or FRIC_E_GRAIN_ALONG_NORMAL if |grain x normal| <= 1e-12 |grain| |normal|
 */
enum fric_code fricp_grain_basis(const double normal[3], const double grain[3], double tangent_basis[6]);
/* As fricp_grain_basis for a stencil that is not degenerate, with the normal from the table in docs/physics.md 1. */
enum fric_code fricp_stencil_grain(enum fric_type type, const double *const p[FRIC_MAX_STENCIL], const double grain[3],
                                   double tangent_basis[6]);

/* unit := normal / |normal|. @param normal  [dim], finite, not zero */
void fricp_unit_normal(int dim, const double *normal, double unit[3]);

/* Distance of p from the plane through `origin`. @return FRIC_OK or FRIC_E_NOT_FINITE */
enum fric_code fricp_plane_distance(int dim, const double *normal, const double *origin, const double *p,
                                    double *distance);

#endif

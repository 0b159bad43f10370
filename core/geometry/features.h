/**
 * The closest feature of two primitives: on each side the smallest face (vertex, edge or triangle) that contains the
 * closest point. Signs are computed in doubles where these are certain (features_fast.h), otherwise in double-double,
 * which is exact for coordinates of up to about 24 bits and resolves 2^-100 of the contact's size for others.
 */
#ifndef FRIC_FEATURES_H
#define FRIC_FEATURES_H

#include <stdbool.h>

#include "core/base/inline.h"
#include "core/base/types.h"

/**
 * Finds the closest feature of a contact at vertices.
 * - Parallel edges: the first nearest of a0-b, a1-b, b0-a, b1-a, where a is the edge that is lower in lexical order and
 *   0 the lower vertex of an edge.
 * - An edge of no length (not longer than 1e-15 of its coordinates) is its lower vertex.
 * - A triangle whose vertices lie on a line is its edges (t0 t1, t1 t2, t2 t0): the first that contains the closest
 *   point, unless a vertex does, of several in one place the lowest. Edges and triangles that are degenerate only within rounding (physics.md 1) but would
 *   be the feature count as such, too; then the nearest candidate is chosen.
 * The order of an edge's vertices, and of the edges, does not change which vertices are found.
 * @param p         positions of the stencil's members, each [dim]
 * @param vertices  [stencil's size] indices of the members
 * @return bit k: member k takes part; 0 if a difference of coordinates does not fit a double. All members of
 *         vertex_vertex and plane_vertex
 */
unsigned fricp_closest_feature(enum fric_type type, int dim, const double *const p[FRIC_MAX_STENCIL],
                               const int32_t *vertices);

/* Whether |a x b|^2 < limit for the edges a = p1 - p0 and b = p3 - p2, each [3]. */
bool fricp_edges_within(const double *const p[FRIC_MAX_STENCIL], double limit);

/* A coordinate of the stencil's closest point: start + slope * coordinate `of` of the feature's own closest point. */
struct feature_coordinate {
	int8_t start, slope, of;
};

/* A feature as a contact of its own, with vertices in canonical order: vertex_vertex (lower, higher), edge_vertex (v,
 * lower, higher), edge_edge each edge (lower, higher), the edge that is lower in lexical order first; triangles as in
 * the stencil. */
struct feature {
	enum fric_type type;
	int8_t member[FRIC_MAX_STENCIL];         /* the feature's points as members of the stencil */
	bool exchanged;                          /* the feature's first side is the stencil's second one */
	struct feature_coordinate coordinate[2]; /* of the stencil; {0} where its type has none */
	bool without_origin;                     /* an edge of a triangle: the coordinates sum to 1 */
};

/* A whole stencil in its own order, as if it were a feature. */
static inline struct feature whole_stencil(enum fric_type type)
{
	const int n = closest_point_size_of(type);
	return (struct feature){.type = type, .member = {0, 1, 2, 3}, .coordinate = {{0, n > 0, 0}, {0, n > 1, 1}}};
}

/**
 * @param members   from fricp_closest_feature for the same stencil, not 0
 * @param vertices  [stencil's size]
 */
struct feature fricp_feature_of(enum fric_type type, unsigned members, const int32_t *vertices);

/* Every feature of a type's stencils, by the members that take part and the order of their indices (feature_order);
 * [0][0] is the whole stencil. */
struct feature_table {
	bool two_edges;                /* the type has two edges */
	uint8_t first[16], second[16]; /* by members: the two whose order matters; equal if none does */
	struct feature of[16][8];      /* those that no stencil can have are not set */
};

void fricp_list_features(enum fric_type type, struct feature_table *table);

/* The order of the indices of a feature's members; v [stencil's size]. */
INLINE unsigned feature_order(const struct feature_table *table, unsigned members, const int32_t v[])
{
	const int first = table->first[members], second = table->second[members];
	if (!table->two_edges || members != 15)
		return v[second] < v[first];
	const int a_turned = v[1] < v[0], b_turned = v[3] < v[2];
	const int32_t a0 = v[a_turned], a1 = v[!a_turned], b0 = v[2 + b_turned], b1 = v[3 - b_turned];
	const int exchanged = b0 < a0 || (b0 == a0 && b1 < a1);
	return (unsigned)(a_turned | b_turned << 1 | exchanged << 2);
}

/* The stencil's closest point, clamped, from the feature's own. */
INLINE void feature_closest_point(const struct feature *f, const double own[2], double out[2])
{
	for (int j = 0; j < 2; j++) {
		const struct feature_coordinate m = f->coordinate[j];
		const double x = own[m.of] < 0 ? 0 : own[m.of] > 1 ? 1 : own[m.of];
		out[j] = m.slope == 0 ? m.start : m.start + m.slope * x;
	}
	if (f->without_origin)
		out[1] = 1 - out[0]; /* so that the origin's weight, 1 - out[0] - out[1], is exactly 0 */
}

#endif

/**
 * What a feature, a set of members of a stencil, is: the kind of its gap, which members are its points, and how the
 * coordinates of its closest point become those of the stencil.
 */
#ifndef FRIC_FEATURE_H
#define FRIC_FEATURE_H

#include "core/barrier/gap.h"
#include "core/base/types.h"

/* Coordinates of the closest point: base + a * by_a + b * by_b. The slide of a line has the sign of the second side. */
struct feature {
	enum gap_kind kind;
	uint8_t members[FRIC_MAX_STENCIL]; /* first the vertex that is alone on its side, if there is one */
	bool turned;                       /* that vertex is on the second side */
	double base[2], by_a[2], by_b[2];
};

/* All members of a stencil. */
INLINE unsigned all_members(enum fric_type type)
{
	return (1u << stencil_size_of(type)) - 1;
}

/* @param bits  bit k: member k takes part. Both sides have at least one member */
static inline struct feature feature_of(enum fric_type type, unsigned bits)
{
	const struct feature points = {.kind = GAP_POINTS, .members = {0, 1}};
	struct feature f = points;
	if (type == FRIC_VERTEX_VERTEX)
		return f;
	if (type == FRIC_PLANE_VERTEX)
		return (struct feature){.kind = GAP_PLANE, .members = {0}};
	if (type == FRIC_EDGE_EDGE) {
		const unsigned a = bits & 3, b = bits >> 2;
		const uint8_t on_a = a == 2, on_b = b == 2 ? 3 : 2;
		if (a == 3 && b == 3)
			return (struct feature){.kind = GAP_LINES, .members = {0, 1, 2, 3}, .by_a = {1, 0}, .by_b = {0, 1}};
		f.base[0] = a == 2;
		f.base[1] = b == 2;
		if (a == 3)
			return (struct feature){.kind = GAP_LINE,
			                        .members = {on_b, 0, 1},
			                        .turned = true,
			                        .base = {0, f.base[1]},
			                        .by_a = {1, 0}};
		if (b == 3)
			return (struct feature){
				.kind = GAP_LINE, .members = {on_a, 2, 3}, .base = {f.base[0], 0}, .by_a = {0, 1}};
		f.members[0] = on_a;
		f.members[1] = on_b;
		return f;
	}
	/* a vertex, and the origin and further vertices of an edge or a face */
	const unsigned others = bits >> 1;
	f.base[0] = others == 2;
	f.base[1] = others == 4;
	switch (others) {
	case 3: return (struct feature){.kind = GAP_LINE, .members = {0, 1, 2}, .by_a = {1, 0}};
	case 5: return (struct feature){.kind = GAP_LINE, .members = {0, 1, 3}, .by_a = {0, 1}};
	case 6: return (struct feature){.kind = GAP_LINE, .members = {0, 2, 3}, .base = {1, 0}, .by_a = {-1, 1}};
	case 7:
		return (struct feature){.kind = GAP_TRIANGLE, .members = {0, 1, 2, 3}, .by_a = {1, 0}, .by_b = {0, 1}};
	default: f.members[1] = (uint8_t)(others == 1 ? 1 : others == 2 ? 2 : 3); return f;
	}
}

#endif

/**
 * A packed Hilbert R-tree: primitives in the order of their vertices along a Hilbert curve, the sizes of primitives
 * apart from each other; every eight neighbours are a block, whose boxes lie side by side for vectors, and every eight
 * blocks are one of the next level. There are no pointers.
 */
#ifndef FRIC_TREE_H
#define FRIC_TREE_H

#include "core/find/mesh.h"
#include "core/find/order.h"

enum { TREE_LANES = 8, TREE_LANE_BITS = 3, TREE_LEVELS = 12 };

/* Boxes side by side. Unused ones are empty: low is infinite, high -infinite. */
struct boxes {
	_Alignas(64) double low[3][TREE_LANES];
	double high[3][TREE_LANES];
};

/* Ranks of the vertices of a block's primitives; -1 in unused lanes. Those of vertex k of a size are one row. */
struct tree_row {
	int32_t lane[TREE_LANES];
};

/* The ways of primitives from their places on, as boxes contain them: enlarged by what a pair may come closer. */
struct sweep {
	const double *direction; /* [order.n, 3] of vertices, by rank */
	const double *motion;    /* [order.n] not less than the length of `direction` */
	double until;            /* times the direction */
	double rounding;         /* more than the directions' */
	double margin, slope;    /* enlarged by margin + slope * the largest motion of its vertices, */
	double most;             /* but not by more than margin + most */
	double keep;             /* of the distance at the start, beyond `reach` of the pairing */
	bool is_long;            /* most boxes overlap, so blocks are also compared as they move */
};

struct tree {
	int size;                         /* vertices of each primitive */
	size_t n;                         /* primitives */
	int n_levels;                     /* >= 2; the last one has one block */
	size_t n_blocks[TREE_LEVELS];     /* of each level */
	struct boxes *level[TREE_LEVELS]; /* 0: boxes of primitives; lane l of block b: the box of block 8 b + l below */
	const struct sweep *sweep;        /* NULL: boxes of the primitives where they are */
	/* With a long sweep, of levels from 1 on: boxes where primitives start, and boxes of their vertices' directions. */
	struct boxes *at[TREE_LEVELS], *speed[TREE_LEVELS];
	double *motion;        /* [n_blocks[0] * TREE_LANES] the largest of its vertices; NULL without a sweep */
	struct tree_row *ends; /* [n_blocks[0], size] */
};

enum tree_kind { TREE_VERTICES, TREE_PARTICLES, TREE_EDGES, TREE_RODS, TREE_FACES };

/**
 * Makes a tree of the primitives of a kind.
 * @param sweep  NULL: boxes of the primitives as they are
 * @param store  gives the arrays of `tree`
 * @return FRIC_OK, FRIC_E_MEMORY or FRIC_E_STOPPED
 */
enum fric_code fricp_tree(const struct fric_context *context, const struct fric_mesh *mesh, const struct order *order,
                          enum tree_kind kind, const struct sweep *sweep, struct store *store, struct tree *tree);

#endif

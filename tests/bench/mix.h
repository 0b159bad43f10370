/**
 * The batch that all benchmarks use: 40 % face_vertex, 40 % edge_edge, 15 % edge_vertex, 5 % vertex_vertex in 3D, with
 * local stencils on a sheet of about N vertices, and half of the speeds below, half above eps_v.
 */
#ifndef BENCH_MIX_H
#define BENCH_MIX_H

#include "core/fric.h"

struct mix {
	size_t n, n_vertices;
	double *positions, *velocities; /* [n_vertices, 3] */
	double *normal_force;           /* [n], groups in order */
	int32_t *vertices;              /* groups in order, [n_g, k] each */
	struct fric_batch batch;        /* borrows all of the above */
};

/* Aborts if memory runs out. */
void mix_make(size_t n, struct mix *mix);
void mix_free(struct mix *mix);

#endif

/**
 * The batches of all benchmarks, in 3D. Half of the speeds are below eps_v, half above. `mix`: 40 % face_vertex, 40 %
 * edge_edge, 15 % edge_vertex, 5 % vertex_vertex with local stencils on one sheet of about N vertices. The others have a
 * quarter of each type, between different bodies, either side first, every closest point inside its primitive: two
 * sheets, all vertices of one numbered before those of the other; a pile of 20 sheets, pair after pair; the two sheets
 * with their vertices numbered at random (`shuffled`), and with their contacts in random order, too (`random`).
 */
#ifndef BENCH_MIX_H
#define BENCH_MIX_H

#include "core/fric.h"

enum mesh { MESH_MIX, MESH_SHEETS, MESH_PILE, MESH_SHUFFLED, MESH_RANDOM, N_MESHES };
extern const char *const mesh_names[N_MESHES];

struct mix {
	size_t n, n_vertices;
	double *positions, *velocities; /* [n_vertices, 3] */
	double *normal_force;           /* [n], groups in order */
	int32_t *vertices;              /* groups in order, [n_g, k] each */
	struct fric_batch batch;        /* borrows all of the above */
};

/* Aborts if memory runs out. */
void mix_make(size_t n, enum mesh mesh, struct mix *mix);
void mix_free(struct mix *mix);

#endif

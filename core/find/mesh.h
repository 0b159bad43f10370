/**
 * The parts of a mesh that stay when its vertices move: its primitives, each once, and its filters.
 */
#ifndef FRIC_MESH_H
#define FRIC_MESH_H

#include "core/base/inline.h"
#include "core/find/store.h"
#include "core/fric.h"

/* Which vertices never touch. Labels that no ignored pair mentions are -1, the others are numbered. */
struct filter {
	bool any;            /* some vertices are fixed or ignored */
	int32_t *label;      /* [n_vertices], or NULL */
	uint8_t *fixed;      /* [n_vertices] */
	size_t *starts;      /* [labels + 1] */
	int32_t *neighbours; /* labels that each label ignores, ascending */
};

struct fric_mesh {
	struct store store;
	int dim;
	size_t n_vertices, n_faces, n_edges, n_rods, n_particles, n_used, n_planes;
	int32_t *faces;       /* [n_faces, 3] rows as given, sorted by their sorted vertices */
	int32_t *edges;       /* [n_edges, 2] (lower, higher), sorted */
	uint32_t *edges_from; /* [n_vertices + 1] the first edge of each lower vertex */
	uint32_t *faces_from; /* [n_vertices + 1] likewise */
	int32_t *rods;        /* [n_rods] rows of edges that belong to no face; 3D */
	int32_t *particles;   /* [n_particles] ascending */
	int32_t *used;        /* [n_used] vertices that something mentions, ascending */
	double *plane_normals, *plane_origins;
	double *rest; /* [n_vertices, dim], or NULL */
	struct filter filter;
};

/* The row of the edge with these ends. */
static inline size_t edge_between(const struct fric_mesh *mesh, int32_t a, int32_t b)
{
	const int32_t lower = a < b ? a : b, higher = a < b ? b : a;
	size_t low = mesh->edges_from[lower], high = mesh->edges_from[lower + 1];
	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;
		if (mesh->edges[2 * middle + 1] <= higher)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Whether two labels ignore each other. */
static inline bool labels_ignored(const struct filter *f, int32_t a, int32_t b)
{
	size_t low = f->starts[a], high = f->starts[a + 1];
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (f->neighbours[middle] == b)
			return true;
		if (f->neighbours[middle] < b)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static inline bool vertices_ignored(const struct filter *f, int32_t v, int32_t w)
{
	if (f->fixed[v] & f->fixed[w])
		return true;
	return f->label && f->label[v] >= 0 && f->label[w] >= 0 && labels_ignored(f, f->label[v], f->label[w]);
}

/* Whether every two vertices, one of each side, are ignored. */
static inline bool sides_ignored(const struct filter *f, const int32_t *a, int n_a, const int32_t *b, int n_b)
{
	for (int i = 0; i < n_a; i++)
		for (int j = 0; j < n_b; j++)
			if (!vertices_ignored(f, a[i], b[j]))
				return false;
	return true;
}

#endif

/**
 * Random contacts of all types that share vertices, for both terms.
 */
#ifndef TESTS_BARRIER_SCENE_H
#define TESTS_BARRIER_SCENE_H

#include <string.h>

#include "tests/unit/core/check.h"

enum { N_VERTICES = 90, N_EACH = 150, MOST_DOFS = 3 * N_VERTICES };

static uint64_t seed = 7;

static inline double between(double low, double high)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return low + (high - low) * (double)(seed >> 11) * 0x1p-53;
}

struct scene {
	int dim;
	size_t n_dofs;
	double positions[MOST_DOFS], current[MOST_DOFS], velocities[MOST_DOFS];
	int32_t vertices[FRIC_N_VERTEX_TYPES][N_EACH][FRIC_MAX_STENCIL];
	double weights[N_EACH], normals[N_EACH][3], origins[N_EACH][3], mollifiers[N_EACH];
	struct fric_batch batch;
};

static inline void choose_stencil(int k, int32_t *v)
{
	for (int m = 0; m < k; m++) {
		bool again = true;
		while (again) {
			again = false;
			v[m] = (int32_t)between(0, N_VERTICES);
			for (int l = 0; l < m; l++)
				again |= v[l] == v[m];
		}
	}
}

static inline void make_scene(int dim, enum fric_closest_features features, struct scene *s)
{
	memset(s, 0, sizeof(*s));
	s->dim = dim;
	s->n_dofs = (size_t)dim * N_VERTICES;
	s->batch = (struct fric_batch){
		.dim = dim,
		.n_vertices = N_VERTICES,
		.positions = s->positions,
		.friction = {.eps_v = 1e-2, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.3},
		.barrier = {.dhat = 1.1, .stiffness = 3},
		.skip_degenerate = true,
		.closest_features = features,
		.terms = FRIC_TERM_FRICTION | FRIC_TERM_BARRIER,
	};
	for (size_t i = 0; i < s->n_dofs; i++) {
		s->positions[i] = between(-1, 1);
		s->velocities[i] = between(-0.05, 0.05);
		s->current[i] = s->positions[i] + s->velocities[i];
	}
	for (size_t i = 0; i < N_EACH; i++) {
		s->weights[i] = between(0.5, 2);
		s->mollifiers[i] = i % 3 ? 0 : between(0, 1);
		for (int x = 0; x < dim; x++) {
			s->normals[i][x] = between(-1, 1);
			s->origins[i][x] = between(-1, 1);
		}
	}
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const int k = fric_stencil_size(type);
		if (dim == 2 && fric_closest_point_size(type) == 2)
			continue;
		struct fric_group *g = &s->batch.groups[type];
		int32_t *v = s->vertices[type][0];
		for (size_t i = 0; i < N_EACH; i++)
			choose_stencil(k, v + i * (size_t)k);
		g->n = N_EACH;
		g->vertices = v;
		g->weight = (struct fric_values){s->weights, 1};
		if (type == FRIC_PLANE_VERTEX) {
			g->plane_normal = (struct fric_values){s->normals[0], 3};
			g->plane_origin = (struct fric_values){s->origins[0], 3};
		}
		if (type == FRIC_EDGE_EDGE)
			g->mollifier = (struct fric_values){s->mollifiers, 1};
	}
}

#endif

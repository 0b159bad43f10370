/**
 * Small batches by hand: one contact of each type around unit lengths, in 3D.
 */
#ifndef TESTS_BATCHES_H
#define TESTS_BATCHES_H

#include "tests/unit/core/check.h"

static inline struct fric_values one_value(const double *data)
{
	return (struct fric_values){data, 0};
}

/* Prepares a batch, which must be accepted. */
static inline struct fric_contacts *prepared(const struct fric_batch *batch)
{
	struct fric_contacts *contacts;
	struct fric_error error;
	assert_ok(fric_prepare(&serial, batch, &contacts, &error));
	return contacts;
}

static const double unit_force = 1, force_of_two = 2;

/* A plane z = 0 under vertices; friction mu 0.5, eps_v 1, normal force 2. */
static inline struct fric_batch floor_batch(const int32_t *vertices, size_t n, size_t n_vertices)
{
	static const double up[3] = {0, 0, 1};
	struct fric_batch batch = {.dim = 3, .n_vertices = n_vertices};
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5};
	batch.groups[FRIC_PLANE_VERTEX] =
		(struct fric_group){.n = n, .vertices = vertices, .normal_force = {&force_of_two, 0}, .plane_normal = {up, 0}};
	return batch;
}

/* Eight vertices with obvious geometry: a pair of edges, and a face with a vertex above it. */
static const double corner_positions[8 * 3] = {
	0, 0, 0,  4, 0, 0,  1, -1, 3,  1, 3, 3, /* edges 0-1 and 2-3: alpha = beta = 1/4, distance 3 */
	0, 0, 10, 4, 0, 10, 0, 4,  10, 1, 2, 15 /* face 4-5-6 and vertex 7: (1/4, 1/2), distance 5 */
};
static const int32_t corner_stencils[FRIC_N_VERTEX_TYPES][4] = {{0, 7}, {2, 0, 1}, {0, 1, 2, 3}, {7, 4, 5, 6}, {7}};

static inline struct fric_batch corner_batch(void)
{
	static const double normal[3] = {0, 0, 2}, origin[3] = {0, 0, 1};
	struct fric_batch batch = {.dim = 3, .n_vertices = 8, .positions = corner_positions};
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.25};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		batch.groups[type] =
			(struct fric_group){.n = 1, .vertices = corner_stencils[type], .normal_force = {&force_of_two, 0}};
	batch.groups[FRIC_PLANE_VERTEX].plane_normal = one_value(normal);
	batch.groups[FRIC_PLANE_VERTEX].plane_origin = one_value(origin);
	return batch;
}

#endif

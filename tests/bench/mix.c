#include "tests/bench/mix.h"

#include <math.h>
#include <stdlib.h>

#include "tests/bench/warm.h"

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static double uniform(void)
{
	return (double)(next() >> 11) * 0x1p-53;
}

/* Different corners of a cell of the sheet around vertex `at`, shifted a little at random. */
static void stencil(size_t at, size_t width, size_t n_vertices, int k, int32_t *out)
{
	const size_t offsets[6] = {0, width + 1, 1, width, 2, 2 * width};
	const size_t room = 2 * width + 3, first = at + room < n_vertices ? at : n_vertices - room;
	const size_t turn = next() % 3;
	for (int j = 0; j < k; j++)
		out[j] = (int32_t)(first + offsets[((size_t)j + turn) % 6]);
}

static void fill_vertices(struct mix *m, size_t width)
{
	for (size_t v = 0; v < m->n_vertices; v++) {
		const double place[3] = {(double)(v % width), (double)(v / width), 0};
		for (size_t d = 0; d < 3; d++) {
			m->positions[3 * v + d] = place[d] + 0.4 * uniform();
			m->velocities[3 * v + d] = 2e-3 * (uniform() - 0.5);
		}
	}
}

void mix_make(size_t n, struct mix *mix)
{
	const double share[FRIC_N_VERTEX_TYPES] = {0.05, 0.15, 0.40, 0, 0};
	const size_t width = (size_t)sqrt((double)n) + 3;
	*mix = (struct mix){.n = n, .n_vertices = width * width};
	mix->positions = warm_array(3 * mix->n_vertices, sizeof(double));
	mix->velocities = warm_array(3 * mix->n_vertices, sizeof(double));
	mix->normal_force = warm_array(n, sizeof(double));
	mix->vertices = warm_array(4 * n, sizeof(int32_t));
	fill_vertices(mix, width);
	struct fric_batch *b = &mix->batch;
	*b = (struct fric_batch){.dim = 3,
	                         .n_vertices = mix->n_vertices,
	                         .positions = mix->positions,
	                         .friction = {.eps_v = 1e-3, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.3},
	                         .barrier = {.dhat = 2, .stiffness = 1e3},
	                         .skip_degenerate = true};
	size_t done = 0;
	int32_t *vertices = mix->vertices;
	for (enum fric_type type = 0; type <= FRIC_FACE_VERTEX; type++) {
		struct fric_group *g = &b->groups[type];
		const int k = fric_stencil_size(type);
		g->n = type == FRIC_FACE_VERTEX ? n - done : (size_t)(share[type] * (double)n);
		g->vertices = vertices;
		g->normal_force = (struct fric_values){mix->normal_force + done, 1};
		for (size_t i = 0; i < g->n; i++, vertices += k) {
			stencil((size_t)((double)i / (double)g->n * (double)mix->n_vertices), width, mix->n_vertices, k, vertices);
			mix->normal_force[done + i] = 10 * uniform();
		}
		done += g->n;
	}
}

void mix_free(struct mix *mix)
{
	free(mix->positions);
	free(mix->velocities);
	free(mix->normal_force);
	free(mix->vertices);
}

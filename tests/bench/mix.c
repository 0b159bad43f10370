#include "tests/bench/mix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/warm.h"

const char *const mesh_names[N_MESHES] = {"mix", "sheets", "pile", "shuffled", "random"};

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

/* ---- one sheet ---- */

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

/* ---- several sheets, one above the other ---- */

enum { N_PILED = 20 };

struct stack {
	size_t n_sheets, width; /* a sheet has width * width vertices */
};

/* Sheets with odd numbers are shifted, so that their vertices lie above faces of the even ones and edges cross. */
static void fill_stack(struct mix *m, struct stack stack)
{
	const size_t area = stack.width * stack.width;
	for (size_t v = 0; v < m->n_vertices; v++) {
		const size_t sheet = v / area, at = v % area;
		const double shift = sheet % 2 ? 0.35 : 0;
		const double place[3] = {(double)(at % stack.width) + shift, (double)(at / stack.width) + shift,
		                         0.3 * (double)sheet};
		for (size_t d = 0; d < 3; d++) {
			m->positions[3 * v + d] = place[d] + 0.05 * uniform();
			m->velocities[3 * v + d] = 2e-3 * (uniform() - 0.5);
		}
	}
}

/* Corners of a cell: some of an even sheet, some of the odd sheet above it, or the other way round. */
struct corners {
	int n, side[4], x[4], y[4]; /* side 0: even, 1: odd */
};

static const struct corners corners[FRIC_PLANE_VERTEX][2] = {
	[FRIC_VERTEX_VERTEX] = {{2, {0, 1}, {0, 0}, {0, 0}}, {2, {1, 0}, {0, 0}, {0, 0}}},
	[FRIC_EDGE_VERTEX] = {{3, {1, 0, 0}, {0, 0, 1}, {0, 0, 0}}, {3, {0, 1, 1}, {1, 0, 1}, {0, 0, 0}}},
	[FRIC_EDGE_EDGE] = {{4, {1, 1, 0, 0}, {0, 1, 1, 1}, {0, 0, 0, 1}}, {4, {0, 0, 1, 1}, {1, 1, 0, 1}, {0, 1, 0, 0}}},
	[FRIC_FACE_VERTEX] = {{4, {1, 0, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}, {4, {0, 1, 1, 1}, {1, 1, 0, 1}, {1, 1, 1, 0}}},
};

/* Sheets that touch: both of two; in a pile, each touches the next, the third and the fifth one above it. */
static void find_sheets(struct stack stack, size_t pair, size_t sheets[2])
{
	const size_t low = pair % (stack.n_sheets - 1), steps[3] = {1, 3, 5}, step = steps[pair / (stack.n_sheets - 1) % 3];
	const size_t high = low + step < stack.n_sheets ? low + step : low + 1;
	sheets[low % 2] = low;
	sheets[high % 2] = high;
}

/* Contact i of n of a type. In a pile, the sheets of a pair touch in a third of their rows. */
static void stacked(struct stack stack, enum fric_type type, size_t i, size_t n, int32_t *out)
{
	const size_t n_pairs = stack.n_sheets == 2 ? 1 : 2 * stack.n_sheets, rows = stack.width - 1;
	const double along = (double)i / (double)n * (double)n_pairs;
	const size_t pair = (size_t)along, some = n_pairs == 1 ? rows : rows / 3, first = pair * 7919 % (rows - some + 1);
	const size_t cell = (size_t)((along - (double)pair) * (double)(some * rows));
	const size_t x = cell % rows, y = first + cell / rows;
	const struct corners *c = &corners[type][next() % 2];
	size_t sheets[2];
	find_sheets(stack, pair, sheets);
	for (int k = 0; k < c->n; k++)
		out[k] =
			(int32_t)((sheets[c->side[k]] * stack.width + y + (size_t)c->y[k]) * stack.width + x + (size_t)c->x[k]);
}

/* ---- random order ---- */

static void shuffle_numbers(struct mix *m)
{
	const size_t n = m->n_vertices;
	int32_t *number = warm_array(n, sizeof(*number));
	double *positions = warm_array(3 * n, sizeof(double)), *velocities = warm_array(3 * n, sizeof(double));
	for (size_t v = 0; v < n; v++) {
		const size_t other = next() % (v + 1);
		number[v] = number[other];
		number[other] = (int32_t)v;
	}
	for (size_t v = 0; v < n; v++) {
		memcpy(positions + 3 * number[v], m->positions + 3 * v, 3 * sizeof(double));
		memcpy(velocities + 3 * number[v], m->velocities + 3 * v, 3 * sizeof(double));
	}
	for (size_t i = 0; i < 4 * m->n; i++)
		m->vertices[i] = number[m->vertices[i]];
	memcpy(m->positions, positions, 3 * n * sizeof(double));
	memcpy(m->velocities, velocities, 3 * n * sizeof(double));
	free(number);
	free(positions);
	free(velocities);
}

static void shuffle_contacts(int32_t *vertices, size_t n, size_t k)
{
	for (size_t i = 1; i < n; i++) {
		const size_t other = next() % (i + 1);
		for (size_t m = 0; m < k; m++) {
			const int32_t v = vertices[i * k + m];
			vertices[i * k + m] = vertices[other * k + m];
			vertices[other * k + m] = v;
		}
	}
}

/* ---- */

static size_t group_share(enum mesh mesh, enum fric_type type, size_t n, size_t done)
{
	const double share[FRIC_FACE_VERTEX] = {0.05, 0.15, 0.40};
	return type == FRIC_FACE_VERTEX ? n - done : (size_t)((mesh == MESH_MIX ? share[type] : 0.25) * (double)n);
}

static void fill_groups(struct mix *m, enum mesh mesh, struct stack stack)
{
	size_t done = 0;
	int32_t *vertices = m->vertices;
	for (enum fric_type type = 0; type <= FRIC_FACE_VERTEX; type++) {
		struct fric_group *g = &m->batch.groups[type];
		const int k = fric_stencil_size(type);
		g->n = group_share(mesh, type, m->n, done);
		g->vertices = vertices;
		g->normal_force = (struct fric_values){m->normal_force + done, 1};
		for (size_t i = 0; i < g->n; i++, vertices += k) {
			if (mesh == MESH_MIX)
				stencil((size_t)((double)i / (double)g->n * (double)m->n_vertices), stack.width, m->n_vertices, k,
				        vertices);
			else
				stacked(stack, type, i, g->n, vertices);
			m->normal_force[done + i] = 10 * uniform();
		}
		if (mesh == MESH_RANDOM)
			shuffle_contacts(m->vertices + (g->vertices - m->vertices), g->n, (size_t)k);
		done += g->n;
	}
}

static struct stack stack_of(enum mesh mesh, size_t n)
{
	const double each = mesh == MESH_MIX ? (double)n : 1.02 * (double)n / (mesh == MESH_PILE ? N_PILED : 2);
	return (struct stack){mesh == MESH_MIX    ? 1
	                      : mesh == MESH_PILE ? N_PILED
	                                          : 2,
	                      (size_t)sqrt(each) + (mesh == MESH_MIX ? 3 : 1)};
}

void mix_make(size_t n, enum mesh mesh, struct mix *mix)
{
	const struct stack stack = stack_of(mesh, n);
	*mix = (struct mix){.n = n, .n_vertices = stack.n_sheets * stack.width * stack.width};
	mix->positions = warm_array(3 * mix->n_vertices, sizeof(double));
	mix->velocities = warm_array(3 * mix->n_vertices, sizeof(double));
	mix->normal_force = warm_array(n, sizeof(double));
	mix->vertices = warm_array(4 * n, sizeof(int32_t));
	mix->batch = (struct fric_batch){.dim = 3,
	                                 .n_vertices = mix->n_vertices,
	                                 .positions = mix->positions,
	                                 .friction = {.eps_v = 1e-3, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.3},
	                                 .barrier = {.dhat = 2, .stiffness = 1e3},
	                                 .skip_degenerate = true};
	if (mesh == MESH_MIX)
		fill_vertices(mix, stack.width);
	else
		fill_stack(mix, stack);
	fill_groups(mix, mesh, stack);
	if (mesh == MESH_SHUFFLED || mesh == MESH_RANDOM)
		shuffle_numbers(mix);
}

void mix_free(struct mix *mix)
{
	free(mix->positions);
	free(mix->velocities);
	free(mix->normal_force);
	free(mix->vertices);
}

/**
 * Random meshes with everything that a mesh may have, and the list of their pairs, made without any tree.
 */
#ifndef TESTS_MESHES_H
#define TESTS_MESHES_H

#include "tests/property/scene.h"

/* Room for the largest of these meshes. */
enum { MESH_VERTICES = 400, MESH_ROWS = 400 };

enum mesh_kind { SOUP, SHEETS, SLIVERS, LATTICE, COLLAPSED, CLUSTERS, MESH_KINDS };

struct random_mesh {
	enum mesh_kind kind;
	struct fric_surface surface;
	double positions[3 * MESH_VERTICES], rest[3 * MESH_VERTICES], normals[9], origins[9];
	int32_t faces[3 * MESH_ROWS], edges[2 * MESH_ROWS], particles[MESH_ROWS], body[MESH_VERTICES], ignored[64];
	int32_t fixed[MESH_VERTICES];
	double size; /* of its primitives, roughly */
};

static inline double mesh_coordinate(struct rng *rng, enum mesh_kind kind)
{
	if (kind == LATTICE)
		return (double)below(rng, 6) / 4;
	if (kind == CLUSTERS)
		return (double)below(rng, 3) * 50 + uniform(rng, 0, 1) * (coin(rng) ? 1 : 1e-3);
	return uniform(rng, 0, 1);
}

static inline int32_t mesh_vertex(struct random_mesh *m, const double *p)
{
	const size_t v = m->surface.n_vertices++;
	memcpy(m->positions + v * (size_t)m->surface.dim, p, (size_t)m->surface.dim * sizeof(*p));
	return (int32_t)v;
}

/* A primitive of n vertices of its own, around a random point. */
static inline void mesh_primitive(struct random_mesh *m, struct rng *rng, int n, int32_t *vertices)
{
	double p[3], length[3];
	for (int d = 0; d < 3; d++) {
		p[d] = mesh_coordinate(rng, m->kind);
		length[d] = m->size * (m->kind == SLIVERS && coin(rng) ? 1e-3 : 1);
	}
	for (int k = 0; k < n; k++) {
		double q[3];
		for (int d = 0; d < 3; d++)
			q[d] = m->kind == LATTICE ? mesh_coordinate(rng, m->kind) : p[d] + uniform(rng, -1, 1) * length[d];
		if (m->kind == COLLAPSED && k > 0 && coin(rng))
			for (int d = 0; d < 3; d++)
				q[d] = coin(rng) ? p[d] : q[d];
		vertices[k] = mesh_vertex(m, k == 0 ? p : q);
	}
}

/* Sheets above each other that share vertices. */
static inline void mesh_sheet(struct random_mesh *m, struct rng *rng, double height, int n)
{
	const int32_t start = (int32_t)m->surface.n_vertices;
	for (int i = 0; i <= n; i++)
		for (int j = 0; j <= n; j++)
			mesh_vertex(m, (const double[]){(double)i / n, (double)j / n + height / 3, height + uniform(rng, 0, 0.01)});
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			for (int half = 0; half < 2; half++) {
				int32_t *f = m->faces + 3 * m->surface.n_faces++;
				const int32_t corner = start + (int32_t)(i * (n + 1) + j), row = (int32_t)n + 1;
				f[0] = half ? corner + row + 1 : corner;
				f[1] = half ? corner + row : corner + 1;
				f[2] = half ? corner + 1 : corner + row;
			}
}

/* Some primitives use vertices of others, and some stand twice. */
static inline void mesh_repeat(struct random_mesh *m, struct rng *rng)
{
	struct fric_surface *s = &m->surface;
	for (int i = 0; i < 6 && s->n_faces > 0; i++) {
		const int32_t *from = m->faces + 3 * below(rng, s->n_faces);
		const size_t turn = below(rng, 3);
		int32_t *to = m->faces + 3 * s->n_faces++;
		for (size_t k = 0; k < 3; k++)
			to[k] = from[coin(rng) ? (k + turn) % 3 : k];
		if (to[0] == to[1] || to[1] == to[2] || to[0] == to[2])
			memcpy(to, from, 3 * sizeof(*to));
		if (coin(rng)) {
			const int32_t other = m->faces[below(rng, 3 * s->n_faces)];
			if (other != to[1] && other != to[2])
				to[0] = other;
		}
	}
	for (int i = 0; i < 4 && s->n_edges > 0; i++) {
		const int32_t *from = m->edges + 2 * below(rng, s->n_edges);
		const int32_t other = m->edges[below(rng, 2 * s->n_edges)];
		int32_t *to = m->edges + 2 * s->n_edges++;
		to[0] = from[1];
		to[1] = other != from[1] && coin(rng) ? other : from[0];
	}
}

static inline void mesh_filters(struct random_mesh *m, struct rng *rng)
{
	struct fric_surface *s = &m->surface;
	const size_t n_labels = 1 + below(rng, 8);
	for (size_t v = 0; v < s->n_vertices; v++) {
		m->body[v] = (int32_t)(v * n_labels / s->n_vertices) * 1000003;
		if (coin(rng) && coin(rng))
			m->body[v] = (int32_t)below(rng, n_labels) * 1000003;
		if (coin(rng))
			m->fixed[s->n_fixed++] = (int32_t)v;
	}
	s->fixed = m->fixed;
	s->n_fixed *= coin(rng);
	if (coin(rng))
		return;
	s->body = m->body;
	s->ignored = m->ignored;
	s->n_ignored = below(rng, 20);
	for (size_t i = 0; i < 2 * s->n_ignored; i++)
		m->ignored[i] = (int32_t)below(rng, n_labels + 1) * 1000003;
}

/* A mesh of about n primitives of each sort. */
static inline void random_mesh(struct random_mesh *m, struct rng *rng, int dim, enum mesh_kind kind, size_t n)
{
	struct fric_surface *s = &m->surface;
	*m = (struct random_mesh){.kind = kind, .surface = {.dim = dim}, .size = uniform(rng, 0.1, 0.4)};
	*s = (struct fric_surface){.dim = dim, .faces = m->faces, .edges = m->edges, .particles = m->particles};
	for (size_t i = 0; i < n && dim == 3 && kind != SHEETS; i++)
		mesh_primitive(m, rng, 3, m->faces + 3 * s->n_faces++);
	for (int sheet = 0; sheet < 3 && dim == 3 && kind == SHEETS; sheet++)
		mesh_sheet(m, rng, 0.1 * sheet, 5);
	const size_t n_edges = dim == 2 ? 2 * n : coin(rng) ? n / 2 : 0;
	for (size_t i = 0; i < n_edges; i++)
		mesh_primitive(m, rng, 2, m->edges + 2 * s->n_edges++);
	mesh_repeat(m, rng);
	for (size_t i = 0; i < n / 2 * coin(rng); i++)
		mesh_primitive(m, rng, 1, m->particles + s->n_particles++);
	mesh_primitive(m, rng, 1, (int32_t[1]){0}); /* of nothing */
	if (s->n_particles > 0)
		m->particles[s->n_particles++] = m->particles[0];
	for (size_t i = 0; i < 9; i++) {
		m->normals[i] = uniform(rng, -2, 2);
		m->origins[i] = mesh_coordinate(rng, kind);
	}
	s->n_planes = coin(rng) ? below(rng, 3) : 0;
	s->plane_normals = m->normals;
	s->plane_origins = m->origins;
	for (size_t i = 0; i < 3 * s->n_vertices; i++)
		m->rest[i] = m->positions[i] * uniform(rng, 0.9, 1.1);
	s->rest_positions = coin(rng) ? m->rest : NULL;
	mesh_filters(m, rng);
}

/* ---- its pairs ---- */

/* A pair of primitives: (v, face), (edge, edge), (v, edge), (v, v) or (plane, v). */
struct mesh_pair {
	enum fric_type type;
	int32_t v[FRIC_MAX_STENCIL];
};

/* The primitives, each once: the first rows stand. */
struct primitives_of_mesh {
	size_t n_faces, n_edges, n_rods;
	int32_t faces[MESH_ROWS][3], edges[8 * MESH_ROWS][2], rods[MESH_ROWS][2];
	bool is_used[MESH_VERTICES], is_particle[MESH_VERTICES], is_fixed[MESH_VERTICES];
};

static inline bool mesh_has(const int32_t *list, int n, int32_t v)
{
	for (int k = 0; k < n; k++)
		if (list[k] == v)
			return true;
	return false;
}

static inline bool same_vertices(const int32_t *a, const int32_t *b, int n)
{
	for (int k = 0; k < n; k++)
		if (!mesh_has(b, n, a[k]))
			return false;
	return true;
}

static inline bool add_mesh_edge(struct primitives_of_mesh *p, int32_t a, int32_t b)
{
	const int32_t edge[2] = {a < b ? a : b, a < b ? b : a};
	for (size_t i = 0; i < p->n_edges; i++)
		if (same_vertices(p->edges[i], edge, 2))
			return false;
	memcpy(p->edges[p->n_edges++], edge, sizeof(edge));
	return true;
}

static inline void list_primitives(const struct fric_surface *s, struct primitives_of_mesh *p)
{
	memset(p, 0, sizeof(*p));
	for (size_t i = 0; i < s->n_faces; i++) {
		bool again = false;
		for (size_t j = 0; j < p->n_faces; j++)
			again |= same_vertices(p->faces[j], s->faces + 3 * i, 3);
		if (again)
			continue;
		memcpy(p->faces[p->n_faces++], s->faces + 3 * i, 3 * sizeof(int32_t));
		for (size_t k = 0; k < 3; k++)
			add_mesh_edge(p, s->faces[3 * i + k], s->faces[3 * i + (k + 1) % 3]);
	}
	for (size_t i = 0; i < s->n_edges; i++)
		if (add_mesh_edge(p, s->edges[2 * i], s->edges[2 * i + 1]))
			memcpy(p->rods[p->n_rods++], p->edges[p->n_edges - 1], 2 * sizeof(int32_t));
	for (size_t i = 0; i < s->n_particles; i++)
		p->is_used[s->particles[i]] = p->is_particle[s->particles[i]] = true;
	for (size_t i = 0; i < p->n_edges; i++)
		p->is_used[p->edges[i][0]] = p->is_used[p->edges[i][1]] = true;
	for (size_t i = 0; i < s->n_fixed; i++)
		p->is_fixed[s->fixed[i]] = true;
}

static inline bool mesh_ignores(const struct fric_surface *s, const struct primitives_of_mesh *p, int32_t v, int32_t w)
{
	bool ignored = p->is_fixed[v] && p->is_fixed[w];
	for (size_t i = 0; i < s->n_ignored && s->body; i++) {
		const int32_t a = s->ignored[2 * i], b = s->ignored[2 * i + 1];
		ignored |= (s->body[v] == a && s->body[w] == b) || (s->body[v] == b && s->body[w] == a);
	}
	return ignored;
}

/* Adds a pair unless it shares vertices or is left out. */
static inline void add_pair(const struct fric_surface *s, const struct primitives_of_mesh *p, enum fric_type type,
                            const int32_t *a, int n_a, const int32_t *b, int n_b, struct mesh_pair *pairs, size_t *n)
{
	bool common = false, all = true;
	for (int i = 0; i < n_a; i++)
		for (int j = 0; j < n_b; j++) {
			common |= a[i] == b[j];
			all &= mesh_ignores(s, p, a[i], b[j]);
		}
	if (common || all)
		return;
	struct mesh_pair *pair = &pairs[(*n)++];
	*pair = (struct mesh_pair){.type = type};
	memcpy(pair->v, a, (size_t)n_a * sizeof(*a));
	memcpy(pair->v + n_a, b, (size_t)n_b * sizeof(*b));
}

/* All pairs of a mesh. @return [n], to be freed */
static inline struct mesh_pair *pairs_of(const struct fric_surface *s, size_t *n)
{
	static struct primitives_of_mesh p;
	list_primitives(s, &p);
	const size_t most = p.n_edges * p.n_edges + s->n_vertices * (p.n_faces + p.n_edges + s->n_vertices + s->n_planes);
	struct mesh_pair *pairs = calloc(most + 1, sizeof(*pairs));
	*n = 0;
	for (int32_t v = 0; v < (int32_t)s->n_vertices; v++) {
		for (size_t i = 0; i < p.n_faces && p.is_used[v]; i++)
			add_pair(s, &p, FRIC_FACE_VERTEX, &v, 1, p.faces[i], 3, pairs, n);
		for (size_t i = 0; i < p.n_edges && p.is_used[v] && s->dim == 2; i++)
			add_pair(s, &p, FRIC_EDGE_VERTEX, &v, 1, p.edges[i], 2, pairs, n);
		for (size_t i = 0; i < p.n_rods && p.is_particle[v] && s->dim == 3; i++)
			add_pair(s, &p, FRIC_EDGE_VERTEX, &v, 1, p.rods[i], 2, pairs, n);
		for (int32_t w = v + 1; w < (int32_t)s->n_vertices && p.is_particle[v]; w++)
			if (p.is_particle[w])
				add_pair(s, &p, FRIC_VERTEX_VERTEX, &v, 1, &w, 1, pairs, n);
		for (int32_t plane = 0; plane < (int32_t)s->n_planes && p.is_used[v] && !p.is_fixed[v]; plane++)
			pairs[(*n)++] = (struct mesh_pair){FRIC_PLANE_VERTEX, {plane, v}};
	}
	for (size_t i = 0; i < p.n_edges && s->dim == 3; i++)
		for (size_t j = i + 1; j < p.n_edges; j++)
			add_pair(s, &p, FRIC_EDGE_EDGE, p.edges[i], 2, p.edges[j], 2, pairs, n);
	return pairs;
}

#endif

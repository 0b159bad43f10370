/* Contacts found in random meshes, compared with a list of all pairs, which shares only the choice of the closest
 * feature. */
#include "core/geometry/features.h"
#include "tests/property/meshes.h"
#include "tests/share.h"

typedef long double real;

/* ---- what is expected ---- */

struct contact {
	enum fric_type type;
	int32_t v[FRIC_MAX_STENCIL]; /* plane_vertex: the plane, then the vertex */
	double weight, mollifier;
	real distance;
};

struct vector {
	real x[3];
};

static struct vector minus(const double *a, const double *b, int dim)
{
	struct vector r = {{0}};
	for (int d = 0; d < dim; d++)
		r.x[d] = (real)a[d] - b[d];
	return r;
}

static real dot(struct vector a, struct vector b)
{
	return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

static struct vector cross(struct vector a, struct vector b)
{
	struct vector c;
	for (int i = 0; i < 3; i++)
		c.x[i] = a.x[(i + 1) % 3] * b.x[(i + 2) % 3] - a.x[(i + 2) % 3] * b.x[(i + 1) % 3];
	return c;
}

/* The distance of a feature whose closest point is inside. */
static real distance_of(enum fric_type type, int dim, const double *const p[])
{
	if (type == FRIC_VERTEX_VERTEX)
		return sqrtl(dot(minus(p[0], p[1], dim), minus(p[0], p[1], dim)));
	if (type == FRIC_EDGE_VERTEX) {
		const struct vector e = minus(p[2], p[1], dim), n = cross(e, minus(p[0], p[1], dim));
		return sqrtl(dot(n, n) / dot(e, e));
	}
	const bool edges = type == FRIC_EDGE_EDGE;
	const struct vector a = edges ? minus(p[1], p[0], 3) : minus(p[2], p[1], 3);
	const struct vector b = edges ? minus(p[3], p[2], 3) : minus(p[3], p[1], 3), n = cross(a, b);
	return fabsl(dot(minus(p[0], edges ? p[2] : p[1], 3), n)) / sqrtl(dot(n, n));
}

static void sort_vertices(int32_t *v, int n)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k > 0 && v[k - 1] > v[k]; k--) {
			const int32_t swap = v[k];
			v[k] = v[k - 1];
			v[k - 1] = swap;
		}
}

/* Puts a stencil into canonical order. */
static void make_canonical(enum fric_type type, int32_t *v)
{
	if (type == FRIC_VERTEX_VERTEX)
		sort_vertices(v, 2);
	if (type == FRIC_EDGE_VERTEX)
		sort_vertices(v + 1, 2);
	if (type != FRIC_EDGE_EDGE)
		return;
	sort_vertices(v, 2);
	sort_vertices(v + 2, 2);
	if (v[2] < v[0] || (v[2] == v[0] && v[3] < v[1]))
		for (int k = 0; k < 2; k++) {
			const int32_t swap = v[k];
			v[k] = v[k + 2];
			v[k + 2] = swap;
		}
}

static const double *position_of(const struct random_mesh *m, const double *positions, int32_t v)
{
	return positions + (size_t)v * (size_t)m->surface.dim;
}

/* The feature of a pair, and its distance. */
static struct contact feature_of(const struct random_mesh *m, const struct mesh_pair *pair)
{
	const int dim = m->surface.dim, size = fric_stencil_size(pair->type);
	const double *p[FRIC_MAX_STENCIL] = {0};
	for (int k = 0; k < size; k++)
		p[k] = position_of(m, m->positions, pair->v[k]);
	const unsigned members = fricp_closest_feature(pair->type, dim, p, pair->v);
	const int first_size = pair->type == FRIC_EDGE_EDGE ? 2 : 1;
	int32_t side[2][3];
	int n[2] = {0, 0};
	for (int k = 0; k < size; k++)
		if (members >> k & 1) {
			const int s = k >= first_size;
			side[s][n[s]++] = pair->v[k];
		}
	struct contact c = {.type = n[0] + n[1] == size ? pair->type
	                            : n[0] + n[1] == 2  ? FRIC_VERTEX_VERTEX
	                                                : FRIC_EDGE_VERTEX};
	const int single = n[0] > n[1]; /* the side that comes first: a single vertex */
	memcpy(c.v, side[single], (size_t)n[single] * sizeof(int32_t));
	memcpy(c.v + n[single], side[!single], (size_t)n[!single] * sizeof(int32_t));
	make_canonical(c.type, c.v);
	for (int k = 0; k < n[0] + n[1]; k++)
		p[k] = position_of(m, m->positions, c.v[k]);
	c.distance = distance_of(c.type, dim, p);
	return c;
}

static real rest_length(const struct random_mesh *m, int32_t a, int32_t b)
{
	const double *rest = m->surface.rest_positions ? m->surface.rest_positions : m->positions;
	const struct vector e = minus(position_of(m, rest, a), position_of(m, rest, b), m->surface.dim);
	return sqrtl(dot(e, e));
}

static real rest_area(const struct random_mesh *m, const int32_t *f)
{
	const double *rest = m->surface.rest_positions ? m->surface.rest_positions : m->positions;
	const double *p = position_of(m, rest, f[0]);
	const struct vector n = cross(minus(position_of(m, rest, f[1]), p, 3), minus(position_of(m, rest, f[2]), p, 3));
	return sqrtl(dot(n, n)) / 2;
}

/* The area of all faces that have all of n vertices, or half the length of all edges at a vertex in 2D. */
static real area_at(const struct random_mesh *m, const struct primitives_of_mesh *p, const int32_t *v, int n)
{
	real sum = 0;
	for (size_t i = 0; i < p->n_faces; i++)
		if (mesh_has(p->faces[i], 3, v[0]) && mesh_has(p->faces[i], 3, v[n - 1]))
			sum += rest_area(m, p->faces[i]) / 3;
	for (size_t i = 0; i < p->n_edges && m->surface.dim == 2; i++)
		if (mesh_has(p->edges[i], 2, v[0]))
			sum += rest_length(m, p->edges[i][0], p->edges[i][1]) / 2;
	return sum;
}

static double weight_of(const struct random_mesh *m, const struct mesh_pair *pair, enum fric_weighting weighting)
{
	static struct primitives_of_mesh p;
	if (weighting == FRIC_WEIGHT_COUNT)
		return 1;
	list_primitives(&m->surface, &p);
	switch (pair->type) {
	case FRIC_FACE_VERTEX: return (double)(area_at(m, &p, pair->v, 1) / 4);
	case FRIC_EDGE_EDGE: return (double)((area_at(m, &p, pair->v, 2) + area_at(m, &p, pair->v + 2, 2)) / 4);
	case FRIC_EDGE_VERTEX: return (double)(area_at(m, &p, pair->v, 1) / 2);
	default: return (double)area_at(m, &p, pair->v + 1, 1);
	}
}

static real squared_sine(const struct random_mesh *m, const int32_t *v)
{
	const struct vector n = cross(minus(position_of(m, m->positions, v[1]), position_of(m, m->positions, v[0]), 3),
	                              minus(position_of(m, m->positions, v[3]), position_of(m, m->positions, v[2]), 3));
	return dot(n, n);
}

/* What a pair becomes. distance: infinite if it is left out */
static struct contact expect(const struct random_mesh *m, const struct mesh_pair *pair, const struct fric_finding *f)
{
	const int dim = m->surface.dim;
	struct contact c = {.type = pair->type};
	if (pair->type == FRIC_PLANE_VERTEX) {
		const double *normal = m->normals + (size_t)pair->v[0] * (size_t)dim;
		const struct vector n = minus(normal, (const double[3]){0}, dim);
		memcpy(c.v, pair->v, sizeof(c.v));
		c.distance = fabsl(dot(n, minus(position_of(m, m->positions, pair->v[1]),
		                                m->origins + (size_t)pair->v[0] * (size_t)dim, dim))) /
		             sqrtl(dot(n, n));
	} else {
		c = feature_of(m, pair);
	}
	const real mollifier = 1e-3L * powl(rest_length(m, pair->v[0], pair->v[1]), 2) *
	                       powl(rest_length(m, pair->v[2], pair->v[3]), 2);
	const bool parallel = pair->type == FRIC_EDGE_EDGE && squared_sine(m, pair->v) < (real)(double)mollifier;
	if (pair->type != FRIC_PLANE_VERTEX && (!f->merge || parallel)) {
		c.type = pair->type;
		memcpy(c.v, pair->v, sizeof(c.v));
		make_canonical(c.type, c.v);
		c.mollifier = pair->type == FRIC_EDGE_EDGE ? (double)mollifier : 0;
	}
	return c;
}

static int compare(const void *x, const void *y)
{
	const struct contact *a = x, *b = y;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		if (a->v[k] != b->v[k])
			return a->v[k] < b->v[k] ? -1 : 1;
	return 0;
}

/* All contacts, sorted and merged. @return [n], to be freed */
static struct contact *expected_contacts(const struct random_mesh *m, const struct fric_finding *f, size_t *n)
{
	size_t n_pairs, close = 0;
	struct mesh_pair *pairs = pairs_of(&m->surface, &n_pairs);
	struct contact *all = calloc(n_pairs + 1, sizeof(*all));
	for (size_t i = 0; i < n_pairs; i++) {
		struct contact c = expect(m, &pairs[i], f);
		const real limit = f->distance + f->min_distance;
		assert_true(fabsl(c.distance - limit) > 1e-12L * limit); /* not decided by rounding */
		if (c.distance >= limit)
			continue;
		c.weight = weight_of(m, &pairs[i], f->weighting);
		all[close++] = c;
	}
	free(pairs);
	qsort(all, close, sizeof(*all), compare);
	*n = 0;
	for (size_t i = 0; i < close; i++) {
		if (*n > 0 && compare(&all[*n - 1], &all[i]) == 0)
			all[*n - 1].weight += all[i].weight;
		else
			all[(*n)++] = all[i];
	}
	return all;
}

/* ---- comparison ---- */

static void assert_contacts(const struct random_mesh *m, const struct fric_found *found, const struct contact *expected,
                            size_t n)
{
	size_t at = 0;
	double least = INFINITY;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const struct fric_found_group g = fric_found_of(found, type);
		const int size = fric_stencil_size(type);
		for (size_t i = 0; i < g.n; i++, at++) {
			const struct contact *c = &expected[at];
			assert_true(at < n);
			assert_int_equal(c->type, type);
			if (type == FRIC_PLANE_VERTEX)
				assert_int_equal(g.plane[i], c->v[0]);
			for (int k = 0; k < size; k++)
				assert_int_equal(g.vertices[i * (size_t)size + (size_t)k], c->v[k + (type == FRIC_PLANE_VERTEX)]);
			assert_near(g.weight[i], c->weight, 1e-12 * c->weight);
			assert_near(g.distance[i], c->distance, 1e-13L * c->distance + 1e-17L * (m->kind == CLUSTERS ? 100 : 1));
			if (type == FRIC_EDGE_EDGE)
				assert_near(g.mollifier[i], c->mollifier, 1e-13 * c->mollifier);
			least = fmin(least, g.distance[i]);
		}
	}
	assert_int_equal(at, n);
	assert_bits(fric_found_min_distance(found), least);
}

static struct fric_found *find(const struct fric_context *context, const struct random_mesh *m,
                               const struct fric_finding *finding)
{
	struct fric_mesh *mesh;
	struct fric_found *found;
	struct fric_error error;
	assert_ok(fric_mesh_create(context, &m->surface, &mesh, &error));
	assert_ok(fric_find(context, mesh, m->positions, finding, &found, &error));
	fric_mesh_free(mesh);
	return found;
}

static void assert_same_found(const struct fric_found *a, const struct fric_found *b)
{
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const struct fric_found_group x = fric_found_of(a, type), y = fric_found_of(b, type);
		assert_int_equal(x.n, y.n);
		if (x.n == 0)
			continue;
		assert_memory_equal(x.vertices, y.vertices, x.n * (size_t)fric_stencil_size(type) * sizeof(int32_t));
		assert_all_bits(x.weight, y.weight, x.n);
		assert_all_bits(x.distance, y.distance, x.n);
		if (type == FRIC_EDGE_EDGE)
			assert_all_bits(x.mollifier, y.mollifier, x.n);
		if (type == FRIC_PLANE_VERTEX)
			assert_memory_equal(x.plane, y.plane, x.n * sizeof(int32_t));
	}
}

static void assert_same_everywhere(const struct random_mesh *m, const struct fric_finding *finding,
                                   const struct fric_found *expected)
{
	static const char *const kernels[] = {"scalar", "baseline", "avx2", "avx512"};
	for (int i = 0; i < 4; i++) {
		const struct fric_context context = {
			.n_threads = 1 + i, .parallel_from = 1, .kernels = fric_kernels_find(kernels[i])};
		struct fric_found *found = find(&context, m, finding);
		assert_same_found(found, expected);
		fric_found_free(found);
	}
}

static struct fric_finding random_finding(struct rng *rng, const struct random_mesh *m)
{
	const bool has_area = m->surface.n_particles == 0 && (m->surface.dim == 2 || m->surface.n_edges == 0);
	struct fric_finding f = {.distance = uniform(rng, 0.001, coin(rng) ? 0.3 : 0.02), .merge = coin(rng)};
	f.min_distance = coin(rng) ? uniform(rng, 0, 0.02) : 0;
	f.weighting = has_area && coin(rng) ? FRIC_WEIGHT_AREA : FRIC_WEIGHT_COUNT;
	return f;
}

static void test_all_pairs(void **state)
{
	static struct random_mesh m;
	struct rng rng = {2511};
	size_t of_type[FRIC_N_VERTEX_TYPES] = {0}, n_mollified = 0;
	(void)state;
	const int step = step_in_share(7, 13); /* no divisors of the numbers below */
	for (int i = 0; i < 360; i += step) {
		random_mesh(&m, &rng, 2 + (i % 4 > 0), (enum mesh_kind)(i / 4 % MESH_KINDS), 4 + below(&rng, i % 8 ? 30 : 90));
		const struct fric_finding finding = random_finding(&rng, &m);
		size_t n;
		struct contact *expected = expected_contacts(&m, &finding, &n);
		struct fric_found *found = find(&serial, &m, &finding);
		assert_contacts(&m, found, expected, n);
		assert_same_everywhere(&m, &finding, found);
		for (size_t k = 0; k < n; k++) {
			of_type[expected[k].type]++;
			n_mollified += expected[k].mollifier > 0;
		}
		free(expected);
		fric_found_free(found);
	}
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		assert_true(of_type[type] > 500 / (size_t)step);
	assert_true(n_mollified > 500 / (size_t)step);
}

/* ---- other lists of the same pairs ---- */

/* A list of pairs of the caller, in any order and with repetitions, gives the same contacts. */
static void test_candidates(void **state)
{
	static struct random_mesh m;
	struct rng rng = {2512};
	(void)state;
	for (int i = 0; i < 60; i += step_sanitized(7)) {
		struct fric_group groups[FRIC_N_VERTEX_TYPES] = {{0}};
		size_t n_pairs;
		random_mesh(&m, &rng, 2 + i % 2, (enum mesh_kind)(i / 2 % MESH_KINDS), 4 + below(&rng, 20));
		m.surface.rest_positions = NULL;
		struct fric_finding finding = random_finding(&rng, &m);
		finding.weighting = FRIC_WEIGHT_COUNT;
		struct mesh_pair *pairs = pairs_of(&m.surface, &n_pairs);
		int32_t *vertices[FRIC_N_VERTEX_TYPES];
		double *planes = calloc(6 * (2 * n_pairs + 1), sizeof(double));
		for (int type = 0; type < FRIC_N_VERTEX_TYPES; type++)
			vertices[type] = calloc(8 * n_pairs + 1, sizeof(int32_t));
		for (size_t k = 0; k < 2 * n_pairs; k++) {
			const struct mesh_pair *p = &pairs[k < n_pairs ? n_pairs - 1 - k : below(&rng, n_pairs)];
			struct fric_group *g = &groups[p->type];
			const size_t size = (size_t)fric_stencil_size(p->type), dim = (size_t)m.surface.dim;
			const bool plane = p->type == FRIC_PLANE_VERTEX;
			memcpy(vertices[p->type] + g->n * size, p->v + plane, size * sizeof(int32_t));
			for (size_t d = 0; d < dim && plane; d++) {
				planes[g->n * 6 + d] = m.normals[(size_t)p->v[0] * dim + d];
				planes[g->n * 6 + 3 + d] = m.origins[(size_t)p->v[0] * dim + d];
			}
			g->n++;
		}
		for (int type = 0; type < FRIC_N_VERTEX_TYPES; type++)
			groups[type].vertices = vertices[type];
		groups[FRIC_PLANE_VERTEX].plane_normal = (struct fric_values){planes, 6};
		groups[FRIC_PLANE_VERTEX].plane_origin = (struct fric_values){planes + 3, 6};
		struct fric_found *found = find(&serial, &m, &finding), *chosen;
		for (int threads = 1; threads < 4; threads++) {
			const struct fric_context context = {.n_threads = threads, .parallel_from = 1};
			struct fric_error error;
			assert_ok(fric_find_candidates(&context, m.surface.dim, m.surface.n_vertices, m.positions, groups, &finding,
			                               &chosen, &error));
			const struct fric_found_group x = fric_found_of(found, FRIC_PLANE_VERTEX);
			const struct fric_found_group y = fric_found_of(chosen, FRIC_PLANE_VERTEX);
			assert_int_equal(x.n, y.n); /* planes have other numbers here, so perhaps another order */
			for (enum fric_type type = 0; type < FRIC_PLANE_VERTEX; type++) {
				const struct fric_found_group a = fric_found_of(found, type), b = fric_found_of(chosen, type);
				assert_int_equal(a.n, b.n);
				if (a.n == 0)
					continue;
				assert_memory_equal(a.vertices, b.vertices, a.n * (size_t)fric_stencil_size(type) * sizeof(int32_t));
				assert_all_bits(a.weight, b.weight, a.n);
				assert_all_bits(a.distance, b.distance, a.n);
			}
			fric_found_free(chosen);
		}
		fric_found_free(found);
		for (int type = 0; type < FRIC_N_VERTEX_TYPES; type++)
			free(vertices[type]);
		free(planes);
		free(pairs);
	}
}

/* Potential and gradient of the barrier of found contacts. */
static double evaluate(const struct random_mesh *m, const struct fric_finding *f, double *gradient)
{
	const size_t dim = (size_t)m->surface.dim;
	struct fric_found *found = find(&serial, m, f);
	struct fric_batch batch = {.dim = m->surface.dim,
	                           .n_vertices = m->surface.n_vertices,
	                           .positions = m->positions,
	                           .terms = FRIC_TERM_BARRIER,
	                           .skip_degenerate = true,
	                           .barrier = {.dhat = f->distance, .stiffness = 3, .dmin = f->min_distance}};
	batch.closest_features = f->merge ? FRIC_FEATURES_GIVEN : FRIC_FEATURES_SEARCH;
	double *planes = calloc(6 * (fric_found_of(found, FRIC_PLANE_VERTEX).n + 1), sizeof(double));
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const struct fric_found_group g = fric_found_of(found, type);
		batch.groups[type] = (struct fric_group){.n = g.n, .vertices = g.vertices, .weight = {g.weight, 1}};
		if (type == FRIC_EDGE_EDGE)
			batch.groups[type].mollifier = (struct fric_values){g.mollifier, 1};
		for (size_t i = 0; i < g.n && type == FRIC_PLANE_VERTEX; i++) {
			memcpy(planes + 6 * i, m->normals + (size_t)g.plane[i] * dim, dim * sizeof(double));
			memcpy(planes + 6 * i + 3, m->origins + (size_t)g.plane[i] * dim, dim * sizeof(double));
		}
	}
	batch.groups[FRIC_PLANE_VERTEX].plane_normal = (struct fric_values){planes, 6};
	batch.groups[FRIC_PLANE_VERTEX].plane_origin = (struct fric_values){planes + 3, 6};
	struct fric_contacts *contacts;
	struct fric_current *current;
	struct fric_error error;
	double potential;
	assert_ok(fric_prepare(&serial, &batch, &contacts, &error));
	assert_ok(fric_current_create(&serial, contacts, m->positions, &current, &error));
	const struct fric_query query = {.terms = FRIC_TERM_BARRIER, .current = current};
	assert_ok(fric_evaluate(&serial, contacts, &query, &potential, gradient, &error));
	fric_current_free(current);
	fric_contacts_free(contacts);
	fric_found_free(found);
	free(planes);
	return potential;
}

/* The sum over merged contacts is that over all pairs with searched features. */
static void test_sums(void **state)
{
	static struct random_mesh m;
	static const enum mesh_kind kinds[] = {SOUP, SHEETS, SLIVERS, CLUSTERS};
	struct rng rng = {2513};
	(void)state;
	for (int i = 0; i < 80; i += step_sanitized(3)) {
		double merged[3 * MESH_VERTICES], unmerged[3 * MESH_VERTICES], largest = 0;
		random_mesh(&m, &rng, 2 + (i % 4 > 0), kinds[i / 4 % 4], 10 + below(&rng, 40));
		struct fric_finding f = random_finding(&rng, &m);
		f.merge = true;
		const double first = evaluate(&m, &f, merged);
		f.merge = false;
		const double second = evaluate(&m, &f, unmerged);
		assert_near(first, second, 1e-12 * fabs(first));
		const size_t n = m.surface.n_vertices * (size_t)m.surface.dim;
		for (size_t k = 0; k < n; k++)
			largest = fmax(largest, fabs(merged[k]));
		assert_all_near(unmerged, merged, n, 1e-12 * largest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_pairs),
		cmocka_unit_test(test_candidates),
		cmocka_unit_test(test_sums),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

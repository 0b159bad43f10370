/* The longest step of random meshes is the least of what their pairs allow, each by itself, and nothing touches on the
 * way. PILE=N makes N steps of a pile of bodies instead of some. */
#include "core/geometry/features.h"
#include "core/geometry/travel.h"
#include "tests/property/meshes.h"

static double keep_of(struct rng *rng)
{
	return coin(rng) ? 0.1 : uniform(rng, 0.001, 0.9);
}

/* A pair's stencil in canonical order. */
static struct mesh_pair canonical(const struct mesh_pair *pair)
{
	struct mesh_pair c = {.type = pair->type};
	if (pair->type == FRIC_PLANE_VERTEX)
		return *pair;
	const struct feature whole = fricp_feature_of(pair->type, (1u << fric_stencil_size(pair->type)) - 1, pair->v);
	for (int k = 0; k < fric_stencil_size(pair->type); k++)
		c.v[k] = pair->v[whole.member[k]];
	return c;
}

static int compare(const void *x, const void *y)
{
	const struct mesh_pair *a = x, *b = y;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		if (a->v[k] != b->v[k])
			return a->v[k] < b->v[k] ? -1 : 1;
	return 0;
}

static struct travel travel_of(const struct random_mesh *m, const double *direction, double dmin, double keep,
                               const struct mesh_pair *pair)
{
	const size_t dim = (size_t)m->surface.dim;
	const bool plane = pair->type == FRIC_PLANE_VERTEX;
	struct travel t = {.type = pair->type, .dim = m->surface.dim, .dmin = dmin, .keep = keep};
	for (int k = 0; k < fric_stencil_size(pair->type); k++) {
		t.from[k] = m->positions + (size_t)pair->v[k + plane] * dim;
		t.direction[k] = direction + (size_t)pair->v[k + plane] * dim;
	}
	for (size_t d = 0; d < dim && plane; d++) {
		t.normal[d] = m->normals[(size_t)pair->v[0] * dim + d];
		t.origin[d] = m->origins[(size_t)pair->v[0] * dim + d];
	}
	return t;
}

/* The least step of all pairs, and the first pair that allows it or penetrates. */
static enum fric_code expected_step(const struct random_mesh *m, const double *direction, double dmin, double keep,
                                    double *least, struct mesh_pair *limit)
{
	size_t n;
	struct mesh_pair *pairs = pairs_of(&m->surface, &n);
	enum fric_code code = FRIC_OK;
	*least = 1;
	*limit = (struct mesh_pair){.v = {-1}};
	for (size_t i = 0; i < n; i++)
		pairs[i] = canonical(&pairs[i]);
	qsort(pairs, n, sizeof(*pairs), compare);
	for (size_t i = 0; i < n && code == FRIC_OK; i++) {
		const struct travel t = travel_of(m, direction, dmin, keep, &pairs[i]);
		double step;
		code = fricp_travel(&t, 1, &step);
		if (code != FRIC_OK || step < *least) {
			*limit = pairs[i];
			*least = code == FRIC_OK ? step : *least;
		}
	}
	free(pairs);
	return code;
}

static void assert_limit(const struct fric_mesh_step *step, const struct mesh_pair *expected)
{
	if (expected->v[0] < 0) {
		assert_true(step->vertices[0] < 0);
		return;
	}
	const bool plane = expected->type == FRIC_PLANE_VERTEX;
	assert_int_equal(step->group, expected->type);
	if (plane)
		assert_int_equal(step->plane, expected->v[0]);
	for (int k = 0; k < fric_stencil_size(expected->type); k++)
		assert_int_equal(step->vertices[k], expected->v[k + plane]);
}

/* Motions of all sizes: of each vertex, of its body, and of all. */
static void random_motion(const struct random_mesh *m, struct rng *rng, double *direction)
{
	const double size = pow(10, uniform(rng, -4, 1)), all = coin(rng) ? uniform(rng, -100, 100) : 0;
	const size_t dim = (size_t)m->surface.dim, still = below(rng, 4);
	for (size_t i = 0; i < m->surface.n_vertices * dim; i++)
		direction[i] = all + (below(rng, 4) < still ? 0 : uniform(rng, -size, size));
}

static void test_all_pairs(void **state)
{
	static struct random_mesh m;
	struct rng rng = {2521};
	size_t of_type[FRIC_N_VERTEX_TYPES] = {0}, n_free = 0, n_penetrating = 0;
	(void)state;
	for (int i = 0; i < 240; i++) {
		double direction[3 * MESH_VERTICES], expected;
		struct mesh_pair limit;
		random_mesh(&m, &rng, 2 + (i % 4 > 0), (enum mesh_kind)(i / 4 % MESH_KINDS), 2 + below(&rng, 24));
		random_motion(&m, &rng, direction);
		const double keep = keep_of(&rng), dmin = coin(&rng) ? 0 : uniform(&rng, 0, 1e-3);
		const enum fric_code code = expected_step(&m, direction, dmin, keep, &expected, &limit);
		for (int threads = 1; threads <= 3; threads++) {
			static const char *const kernels[] = {"baseline", "avx2", "avx512"};
			const struct fric_context context = {
				.n_threads = threads, .parallel_from = 1, .kernels = fric_kernels_find(kernels[threads - 1])};
			struct fric_mesh *mesh;
			struct fric_mesh_step step;
			struct fric_error error;
			assert_ok(fric_mesh_create(&context, &m.surface, &mesh, &error));
			assert_code(fric_mesh_longest_step(&context, mesh, m.positions, direction, dmin, keep, &step, &error),
			            code);
			assert_limit(&step, &limit);
			if (code == FRIC_OK)
				assert_bits(step.step, expected);
			fric_mesh_free(mesh);
		}
		n_penetrating += code != FRIC_OK;
		n_free += code == FRIC_OK && limit.v[0] < 0;
		of_type[limit.type] += code == FRIC_OK && limit.v[0] >= 0;
	}
	assert_true(n_penetrating > 10 && n_free > 10);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		assert_true(of_type[type] > 3 || type == FRIC_VERTEX_VERTEX);
}

/* ---- a pile ---- */

enum { BODIES = 100, CORNERS = 8, SIDES = 12 };

struct pile {
	double positions[3 * CORNERS * BODIES], direction[3 * CORNERS * BODIES];
	double shape[3 * CORNERS * BODIES], angle[BODIES], turn[BODIES]; /* corners of a body, its turn about z */
	int32_t faces[3 * SIDES * BODIES], body[CORNERS * BODIES], ignored[2 * BODIES];
	struct fric_surface surface;
};

static const int32_t sides[3 * SIDES] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                         2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

/* Where corner k of a body is. */
static void set_corner(const struct pile *p, int32_t b, int32_t k, const double *centre, double angle, double x[3])
{
	const double *corner = p->shape + 3 * (CORNERS * b + k);
	x[0] = centre[0] + cos(angle) * corner[0] - sin(angle) * corner[1];
	x[1] = centre[1] + sin(angle) * corner[0] + cos(angle) * corner[1];
	x[2] = centre[2] + corner[2];
}

/* Boxes of different sizes, turned a little, above a plane. */
static void make_pile(struct pile *p, struct rng *rng)
{
	static const double normal[3] = {0, 0, 1}, origin[3] = {0, 0, -0.2};
	*p = (struct pile){.surface = {.dim = 3,
	                               .n_vertices = CORNERS * BODIES,
	                               .n_faces = SIDES * BODIES,
	                               .n_planes = 1,
	                               .plane_normals = normal,
	                               .plane_origins = origin,
	                               .n_ignored = BODIES}};
	for (int32_t b = 0; b < BODIES; b++) {
		const double at[3] = {b % 5, b / 5 % 5, b / 25 + 0.35};
		p->angle[b] = uniform(rng, -0.3, 0.3);
		for (int32_t k = 0; k < CORNERS; k++) {
			for (int d = 0; d < 3; d++)
				p->shape[3 * (CORNERS * b + k) + d] = ((k >> d & 1) - 0.5) * uniform(rng, 0.5, 0.6);
			set_corner(p, b, k, at, p->angle[b], p->positions + 3 * (CORNERS * b + k));
			p->body[CORNERS * b + k] = b;
		}
		for (int32_t k = 0; k < 3 * SIDES; k++)
			p->faces[3 * SIDES * b + k] = CORNERS * b + sides[k];
		p->ignored[2 * b] = p->ignored[2 * b + 1] = b;
	}
	p->surface.faces = p->faces;
	p->surface.body = p->body;
	p->surface.ignored = p->ignored;
}

/* Whether a body limited the last step. */
static bool is_in(const struct fric_mesh_step *last, int32_t body)
{
	const int size = fric_stencil_size(last->group);
	return last->vertices[0] >= 0 &&
	       (body == last->vertices[0] / CORNERS || body == last->vertices[size - 1] / CORNERS);
}

/* Adds the way from the other body of a limit, or from the plane. */
static void push_apart(const struct pile *p, const struct fric_mesh_step *last, int32_t body, double push[3])
{
	const int size = fric_stencil_size(last->group);
	const int32_t first = last->vertices[0] / CORNERS, second = last->vertices[size - 1] / CORNERS;
	if (!is_in(last, body))
		return;
	if (last->group == FRIC_PLANE_VERTEX) {
		push[2] += 0.3;
		return;
	}
	for (size_t d = 0; d < 3; d++)
		for (size_t k = 0; k < CORNERS; k++)
			push[d] += (body == first ? 0.05 : -0.05) * (p->positions[3 * (CORNERS * (size_t)first + k) + d] -
			                                             p->positions[3 * (CORNERS * (size_t)second + k) + d]);
}

/* Some bodies fall, drift towards the middle and turn. Those that were in the way of the last step are pushed apart. All
 * others rest: if everything pushed at once, steps would shrink until only rounding is left. */
static void move_bodies(struct pile *p, struct rng *rng, const struct fric_mesh_step *last)
{
	for (int32_t b = 0; b < BODIES; b++) {
		double centre[3] = {0}, push[3];
		for (size_t k = 0; k < CORNERS; k++)
			for (size_t d = 0; d < 3; d++)
				centre[d] += (p->positions[3 * (CORNERS * (size_t)b + k) + d] -
				              (d == 2 ? p->shape[3 * (CORNERS * (size_t)b + k) + d] : 0)) /
				             CORNERS;
		for (int d = 0; d < 3; d++)
			push[d] = uniform(rng, -0.1, 0.1) - (d == 2 ? 0.02 : 0.01 * (centre[d] - 2));
		push_apart(p, last, b, push);
		const bool rests = below(rng, 50) > 0 && !is_in(last, b);
		p->turn[b] = rests ? 0 : uniform(rng, -0.3, 0.3);
		for (int d = 0; d < 3; d++)
			centre[d] += push[d];
		for (int32_t k = 0; k < CORNERS; k++) {
			const int32_t at = 3 * (CORNERS * b + k);
			double target[3];
			set_corner(p, b, k, centre, p->angle[b] + p->turn[b], target);
			for (int d = 0; d < 3; d++)
				p->direction[at + d] = rests ? 0 : target[d] - p->positions[at + d];
		}
	}
}

static double volume(const double *a, const double *b, const double *c, const double *d)
{
	double x[3], y[3], z[3];
	for (int i = 0; i < 3; i++) {
		x[i] = b[i] - a[i];
		y[i] = c[i] - a[i];
		z[i] = d[i] - a[i];
	}
	return x[0] * (y[1] * z[2] - y[2] * z[1]) + x[1] * (y[2] * z[0] - y[0] * z[2]) + x[2] * (y[0] * z[1] - y[1] * z[0]);
}

/* Whether an edge of one body passes through a face of another one. */
static bool is_pierced(const struct pile *p)
{
	const double *x = p->positions;
	for (size_t f = 0; f < SIDES * BODIES; f++)
		for (size_t g = 0; g < SIDES * BODIES; g++) {
			const int32_t *v = p->faces + 3 * f, *w = p->faces + 3 * g;
			for (int k = 0; k < 3 && f / SIDES != g / SIDES; k++) {
				const double *a = x + 3 * w[k], *b = x + 3 * w[(k + 1) % 3];
				const double *t0 = x + 3 * v[0], *t1 = x + 3 * v[1], *t2 = x + 3 * v[2];
				const bool parted = (volume(a, t0, t1, t2) > 0) != (volume(b, t0, t1, t2) > 0);
				const bool u = volume(a, b, t0, t1) > 0;
				if (parted && u == (volume(a, b, t1, t2) > 0) && u == (volume(a, b, t2, t0) > 0))
					return true;
			}
		}
	return false;
}

static void test_pile(void **state)
{
	static struct pile p;
	const char *wanted = getenv("PILE");
	const int n_steps = wanted ? atoi(wanted) : 300;
	struct rng rng = {2522};
	int n_limited = 0;
	struct fric_mesh *mesh;
	struct fric_error error;
	const struct fric_context context = {.n_threads = 2};
	(void)state;
	make_pile(&p, &rng);
	assert_false(is_pierced(&p));
	assert_ok(fric_mesh_create(&context, &p.surface, &mesh, &error));
	struct fric_mesh_step step = {.vertices = {-1}};
	for (int i = 0; i < n_steps; i++) {
		move_bodies(&p, &rng, &step);
		assert_ok(fric_mesh_longest_step(&context, mesh, p.positions, p.direction, 0, 0.5, &step, &error));
		assert_true(step.step > 0);
		for (size_t k = 0; k < 3 * CORNERS * BODIES; k++)
			p.positions[k] += step.step * p.direction[k];
		for (size_t b = 0; b < BODIES; b++)
			p.angle[b] += step.step * p.turn[b];
		n_limited += step.vertices[0] >= 0;
		if (i % 100 == 99)
			assert_false(is_pierced(&p));
	}
	assert_true(n_limited > n_steps / 4);
	fric_mesh_free(mesh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_pairs),
		cmocka_unit_test(test_pile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

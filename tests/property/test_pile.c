/* Whatever the longest step allows, nothing touches: bodies of all shapes are pressed together until only rounding is left
 * between them, moved about like that, and drawn apart again. PILE=N makes N steps of each pile, SEED=N another one. */
#include "tests/property/scene.h"
#include "tests/share.h"

/* ---- exactly on which side ---- */

/* Adds x to an expansion, a sum of doubles none of which overlaps another one, smallest first (Shewchuk 1997). */
static int grow(double *e, int n, double x)
{
	int kept = 0;
	for (int i = 0; i < n; i++) {
		const double sum = x + e[i], shared = sum - x, rest = (x - (sum - shared)) + (e[i] - shared);
		x = sum;
		if (rest != 0)
			e[kept++] = rest;
	}
	if (x != 0)
		e[kept++] = x;
	return kept;
}

/* Adds sign * x y z, without error unless it underflows. */
static int grow_product(double *e, int n, double sign, double x, double y, double z)
{
	const double xy = x * y, rest = fma(x, y, -xy), high = sign * xy * z, low = sign * rest * z;
	n = grow(e, n, fma(sign * xy, z, -high));
	n = grow(e, n, fma(sign * rest, z, -low));
	n = grow(e, n, low);
	return grow(e, n, high);
}

/* The determinant of rows (x, y, z, 1), term by term. */
static int exact_side(const double *const p[4])
{
	double e[4 * 24 + 1];
	int n = 0;
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			for (int k = 0; k < 4; k++) {
				if (i == j || j == k || i == k)
					continue;
				const int last = 6 - i - j - k, order[4] = {i, j, k, last};
				double sign = 1;
				for (int a = 0; a < 4; a++)
					for (int b = a + 1; b < 4; b++)
						sign = order[a] > order[b] ? -sign : sign;
				n = grow_product(e, n, sign, p[i][0], p[j][1], p[k][2]);
			}
	return n == 0 ? 0 : e[n - 1] > 0 ? 1 : -1;
}

/* On which side of the plane through b, c and d point a is. */
static int side(const double *a, const double *b, const double *c, const double *d)
{
	long double r[3][3], sum = 0, size = 0;
	for (int i = 0; i < 3; i++) {
		r[0][i] = (long double)a[i] - d[i];
		r[1][i] = (long double)b[i] - d[i];
		r[2][i] = (long double)c[i] - d[i];
	}
	for (int i = 0; i < 3; i++) {
		const long double x = r[1][(i + 1) % 3] * r[2][(i + 2) % 3], y = r[1][(i + 2) % 3] * r[2][(i + 1) % 3];
		sum += r[0][i] * (x - y);
		size += fabsl(r[0][i]) * (fabsl(x) + fabsl(y));
	}
	if (fabsl(sum) > 0x1p-58L * size)
		return sum > 0 ? 1 : -1;
	return exact_side((const double *const[]){a, b, c, d});
}

/* ---- bodies ---- */

enum { BODIES = 100, CORNERS = 8, SIDES = 12, SHAPES = 4 };

struct pile {
	struct fric_surface surface;
	double middle[3]; /* on the plane that they stand on */
	double positions[3 * CORNERS * BODIES], direction[3 * CORNERS * BODIES], shape[3 * CORNERS * BODIES];
	int32_t faces[3 * SIDES * BODIES], body[CORNERS * BODIES], ignored[2 * BODIES];
	int32_t corner[BODIES + 1], side[BODIES + 1]; /* first of each body */
	double turned[BODIES][9], turn[BODIES][3];    /* its orientation, and how it turns in a step */
	int cluster[BODIES];                          /* bodies that move as one have the same number */
	bool stands[BODIES];                          /* the cluster of this number does, on the plane */
};

static void make_body(struct pile *p, int32_t b, struct rng *rng)
{
	static const int32_t box[3 * SIDES] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
	                                       2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
	static const int32_t tetrahedron[12] = {0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0}, corners[4] = {0, 3, 5, 6};
	static const double thickness[SHAPES][3] = {{1, 1, 1}, {1, 1, 1}, {1, 0.6, 1e-3}, {1, 1e-3, 1e-6}};
	const int kind = (int)below(rng, SHAPES);
	const int n_corners = kind == 0 ? 8 : 4, n_sides = kind == 0 ? 12 : 4;
	const int32_t *sides = kind == 0 ? box : tetrahedron;
	for (int32_t k = 0; k < n_corners; k++)
		for (int d = 0; d < 3; d++)
			p->shape[3 * (p->corner[b] + k) + d] = (((kind == 0 ? k : corners[k]) >> d & 1) - 0.5) *
			                                       uniform(rng, 0.5, 0.6) * thickness[kind][d];
	for (int32_t k = 0; k < 3 * n_sides; k++)
		p->faces[3 * p->side[b] + k] = p->corner[b] + sides[k];
	for (int32_t k = 0; k < n_corners; k++)
		p->body[p->corner[b] + k] = b;
	p->ignored[2 * b] = p->ignored[2 * b + 1] = b;
	p->corner[b + 1] = p->corner[b] + n_corners;
	p->side[b + 1] = p->side[b] + n_sides;
}

/* 100 bodies above a plane, in a place `offset` away from the origin along each axis. */
static void make_pile(struct pile *p, struct rng *rng, double offset)
{
	static const double normal[3] = {0, 0, 1};
	*p = (struct pile){.middle = {offset, offset, offset}};
	for (int32_t b = 0; b < BODIES; b++) {
		const double at[3] = {b % 5 - 2, b / 5 % 5 - 2, b / 25 + 0.55};
		make_body(p, b, rng);
		p->cluster[b] = b;
		for (int d = 0; d < 3; d++)
			p->turned[b][4 * d] = 1;
		for (int32_t k = 3 * p->corner[b]; k < 3 * p->corner[b + 1]; k++)
			p->positions[k] = offset + at[k % 3] + p->shape[k];
	}
	p->surface = (struct fric_surface){.dim = 3,
	                                   .n_vertices = (size_t)p->corner[BODIES],
	                                   .n_faces = (size_t)p->side[BODIES],
	                                   .faces = p->faces,
	                                   .n_planes = 1,
	                                   .plane_normals = normal,
	                                   .plane_origins = p->middle,
	                                   .body = p->body,
	                                   .n_ignored = BODIES,
	                                   .ignored = p->ignored};
}

/* ---- what penetrates ---- */

struct box {
	double low[3], high[3];
};

static struct box box_of(const struct pile *p, int32_t b)
{
	struct box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
	for (int32_t k = 3 * p->corner[b]; k < 3 * p->corner[b + 1]; k++) {
		box.low[k % 3] = fmin(box.low[k % 3], p->positions[k]);
		box.high[k % 3] = fmax(box.high[k % 3], p->positions[k]);
	}
	return box;
}

static bool overlap(const struct box *a, const struct box *b)
{
	for (int d = 0; d < 3; d++)
		if (a->low[d] > b->high[d] || b->low[d] > a->high[d])
			return false;
	return true;
}

/* Whether an edge and a face have a point in common. */
static bool is_pierced(const double *a, const double *b, const double *const t[3])
{
	if (side(a, t[0], t[1], t[2]) * side(b, t[0], t[1], t[2]) > 0)
		return false;
	const int u = side(a, b, t[0], t[1]), v = side(a, b, t[1], t[2]), w = side(a, b, t[2], t[0]);
	return (u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0);
}

static bool is_pierced_by(const struct pile *p, int32_t one, int32_t other)
{
	const double *x = p->positions;
	for (int32_t f = p->side[one]; f < p->side[one + 1]; f++)
		for (int32_t g = p->side[other]; g < p->side[other + 1]; g++)
			for (int k = 0; k < 3; k++) {
				const int32_t *v = p->faces + 3 * f, *w = p->faces + 3 * g;
				const double *const face[3] = {x + 3 * v[0], x + 3 * v[1], x + 3 * v[2]};
				if (w[k] < w[(k + 1) % 3] && is_pierced(x + 3 * w[k], x + 3 * w[(k + 1) % 3], face))
					return true;
			}
	return false;
}

static int n_penetrations(const struct pile *p)
{
	struct box boxes[BODIES];
	int n = 0;
	for (int32_t b = 0; b < BODIES; b++) {
		boxes[b] = box_of(p, b);
		n += boxes[b].low[2] <= p->middle[2];
	}
	for (int32_t a = 0; a < BODIES; a++)
		for (int32_t b = 0; b < BODIES; b++)
			n += a != b && overlap(&boxes[a], &boxes[b]) && is_pierced_by(p, a, b);
	return n;
}

/* ---- motions ---- */

/* R r, for the turn by a vector's length about it. */
static void turn_about(const double *by, const double *r, double *out)
{
	const double angle = sqrt(by[0] * by[0] + by[1] * by[1] + by[2] * by[2]);
	const double s = angle > 0 ? sin(angle) / angle : 1, c = angle > 0 ? (1 - cos(angle)) / (angle * angle) : 0;
	double first[3];
	for (int d = 0; d < 3; d++)
		first[d] = by[(d + 1) % 3] * r[(d + 2) % 3] - by[(d + 2) % 3] * r[(d + 1) % 3];
	for (int d = 0; d < 3; d++)
		out[d] = r[d] + s * first[d] +
		         c * (by[(d + 1) % 3] * first[(d + 2) % 3] - by[(d + 2) % 3] * first[(d + 1) % 3]);
}

static void centre_of(const struct pile *p, int32_t b, double centre[3])
{
	for (int d = 0; d < 3; d++)
		centre[d] = 0;
	for (int32_t k = 3 * p->corner[b]; k < 3 * p->corner[b + 1]; k++)
		centre[k % 3] += p->positions[k] / (p->corner[b + 1] - p->corner[b]);
}

/* Every body by itself falls, is drawn to the middle, turns and is bent. */
static void press(struct pile *p, struct rng *rng)
{
	for (int32_t b = 0; b < BODIES; b++) {
		double centre[3];
		centre_of(p, b, centre);
		for (int d = 0; d < 3; d++) {
			p->turn[b][d] = uniform(rng, -0.3, 0.3);
			centre[d] += uniform(rng, -0.1, 0.1) - 0.05 * (centre[d] - p->middle[d]);
		}
		for (int32_t v = p->corner[b]; v < p->corner[b + 1]; v++) {
			const double *shape = p->shape + 3 * v, *m = p->turned[b];
			double local[3], target[3];
			for (size_t d = 0; d < 3; d++)
				local[d] = m[3 * d] * shape[0] + m[3 * d + 1] * shape[1] + m[3 * d + 2] * shape[2];
			turn_about(p->turn[b], local, target);
			for (int d = 0; d < 3; d++)
				p->direction[3 * v + d] = centre[d] + target[d] + uniform(rng, -0.02, 0.02) - p->positions[3 * v + d];
		}
	}
}

/* Every cluster moves like a rigid body, downwards and to the middle. */
static void move_clusters(struct pile *p, struct rng *rng)
{
	double middle[BODIES][3] = {{0}}, turn[BODIES][3], way[BODIES][3], n[BODIES] = {0};
	for (int32_t b = 0; b < BODIES; b++) {
		double centre[3];
		centre_of(p, b, centre);
		n[p->cluster[b]]++;
		for (int d = 0; d < 3; d++)
			middle[p->cluster[b]][d] += centre[d];
	}
	for (int c = 0; c < BODIES; c++)
		for (int d = 0; d < 3; d++) {
			middle[c][d] /= n[c] > 0 ? n[c] : 1;
			turn[c][d] = p->stands[c] && d < 2 ? 0 : uniform(rng, -0.05, 0.05);
			way[c][d] = p->stands[c] && d == 2 ? 0 : uniform(rng, -0.1, 0.1) - 0.2 * (middle[c][d] - p->middle[d]);
		}
	for (int32_t b = 0; b < BODIES; b++) {
		const int c = p->cluster[b];
		for (int d = 0; d < 3; d++)
			p->turn[b][d] = turn[c][d];
		for (int32_t v = p->corner[b]; v < p->corner[b + 1]; v++) {
			double r[3], target[3];
			for (int d = 0; d < 3; d++)
				r[d] = p->positions[3 * v + d] - middle[c][d];
			turn_about(turn[c], r, target);
			for (int d = 0; d < 3; d++)
				p->direction[3 * v + d] = target[d] - r[d] + way[c][d];
		}
	}
}

/* All lengths grow, or those of bodies shrink. */
static void scale(struct pile *p, bool all, double by)
{
	for (int32_t b = 0; b < BODIES; b++) {
		double centre[3] = {p->middle[0], p->middle[1], p->middle[2]};
		if (!all)
			centre_of(p, b, centre);
		for (int d = 0; d < 3; d++)
			p->turn[b][d] = 0;
		for (int32_t k = 3 * p->corner[b]; k < 3 * p->corner[b + 1]; k++)
			p->direction[k] = (by - 1) * (p->positions[k] - centre[k % 3]);
	}
}

static void join(struct pile *p, const struct fric_mesh_step *step)
{
	if (step->vertices[0] < 0)
		return;
	const int a = p->cluster[p->body[step->vertices[0]]],
			  b = p->cluster[p->body[step->vertices[fric_stencil_size(step->group) - 1]]];
	p->stands[b] |= p->stands[a] || step->group == FRIC_PLANE_VERTEX;
	for (int i = 0; i < BODIES; i++)
		p->cluster[i] = p->cluster[i] == a ? b : p->cluster[i];
}

/* Positions as a caller computes them. */
static void move(struct pile *p, double t)
{
	for (int32_t k = 0; k < 3 * p->corner[BODIES]; k++)
		p->positions[k] += t * p->direction[k];
	for (int32_t b = 0; b < BODIES; b++)
		for (int column = 0; column < 3; column++) {
			const double by[3] = {t * p->turn[b][0], t * p->turn[b][1], t * p->turn[b][2]};
			const double old[3] = {p->turned[b][column], p->turned[b][3 + column], p->turned[b][6 + column]};
			double turned[3];
			turn_about(by, old, turned);
			for (int d = 0; d < 3; d++)
				p->turned[b][3 * d + column] = turned[d];
		}
}

/* ---- steps ---- */

/* Steps of a cycle: bodies stick together in clusters; the same press again and again, until only rounding is left;
 * clusters move like that; presses; all come apart. */
enum { SAME_PRESS = 60, MOVES = 85, PRESSES = 110, SPREAD = 118, SHRINK = 119, CYCLE = 120 };

static void choose_motion(struct pile *p, struct rng *rng, int phase, const struct rng *same)
{
	struct rng again = *same;
	if (phase == SPREAD)
		scale(p, true, 1.1);
	else if (phase == SHRINK)
		scale(p, false, 1 / 1.1);
	else if (phase >= SAME_PRESS && phase < MOVES)
		press(p, &again);
	else if (phase >= PRESSES || below(rng, 8) == 0)
		press(p, rng);
	else
		move_clusters(p, rng);
	for (int b = 0; b < BODIES && phase == SHRINK; b++) {
		p->cluster[b] = b;
		p->stands[b] = false;
	}
}

struct count {
	int limited, far, tiny; /* steps */
};

static void make_steps(struct pile *p, struct rng *rng, int n_steps, double dmin, double keep, struct count *count)
{
	const struct fric_context context = {.n_threads = 2};
	struct fric_mesh *mesh;
	struct fric_error error;
	struct rng same = *rng;
	assert_ok(fric_mesh_create(&context, &p->surface, &mesh, &error));
	for (int i = 0; i < n_steps; i++) {
		struct fric_mesh_step step;
		same = i % CYCLE == SAME_PRESS ? *rng : same;
		choose_motion(p, rng, i % CYCLE, &same);
		assert_ok(fric_mesh_longest_step(&context, mesh, p->positions, p->direction, dmin, keep, &step, &error));
		move(p, step.step * (below(rng, 4) == 0 ? uniform(rng, 0, 1) : 1));
		join(p, &step);
		if (n_penetrations(p) > 0)
			fail_msg("after step %d of %g, %d penetrations", i, step.step, n_penetrations(p));
		count->limited += step.vertices[0] >= 0;
		count->far += step.step > 1e-3;
		count->tiny += step.step < 1e-12;
	}
	fric_mesh_free(mesh);
}

static void test_nothing_touches(void **state)
{
	static struct pile p;
	static const struct {
		double offset, dmin, keep;
	} piles[] = {{0, 0, 0.1}, {1000, 1e-4, 0.3}};
	const char *steps = getenv("PILE"), *seed = getenv("SEED");
	const int n_steps = steps ? atoi(steps) : one_in() > 1 ? CYCLE : 2 * CYCLE;
	(void)state;
	for (size_t i = 0; i < sizeof(piles) / sizeof(piles[0]); i++) {
		struct rng rng = {seed ? (uint64_t)atoi(seed) : 2522};
		struct count count = {0, 0, 0};
		make_pile(&p, &rng, piles[i].offset);
		assert_int_equal(n_penetrations(&p), 0);
		make_steps(&p, &rng, n_steps, piles[i].dmin, piles[i].keep, &count);
		print_message("%d steps: %d limited, %d above 1e-3, %d below 1e-12\n", n_steps, count.limited, count.far,
		              count.tiny);
		assert_true(count.limited > n_steps / 2 && count.far > n_steps / 4 && count.tiny > n_steps / 40);
	}
}

/* Or the other test could not fail. */
static void test_penetrations_are_seen(void **state)
{
	static struct pile p;
	struct rng rng = {2523};
	(void)state;
	make_pile(&p, &rng, 0);
	p.positions[2] = 0;
	assert_int_equal(n_penetrations(&p), 1);
	make_pile(&p, &rng, 0);
	scale(&p, false, 3);
	move(&p, 1);
	assert_true(n_penetrations(&p) > BODIES);
}

/* Numbers for which doubles and long doubles have too few digits. */
static void test_sides(void **state)
{
	const double a[3] = {1, 0x1p-60, 1}, b[3] = {0, 0, 1}, c[3] = {3, 0, 1}, d[3] = {0, 0x1p-30, 0x1p+40};
	(void)state;
	assert_int_equal(side(a, b, c, d), -side(b, a, c, d));
	assert_int_equal(side((const double[]){1, 0, 1}, b, c, d), 0);
	assert_int_equal(side(a, b, c, d), -side((const double[]){1, -0x1p-60, 1}, b, c, d));
	assert_true(side(a, b, c, d) != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sides),
		cmocka_unit_test(test_penetrations_are_seen),
		cmocka_unit_test(test_nothing_touches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

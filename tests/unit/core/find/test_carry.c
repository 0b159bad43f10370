#include "core/find/carry.h"
#include "tests/property/counted_memory.h"
#include "tests/property/scene.h"
#include "tests/share.h"

/* ---- random lists of contacts ---- */

enum { MOST = 4000 }; /* contacts of a group */

struct contacts {
	struct fric_group groups[FRIC_N_VERTEX_TYPES];
	int32_t vertices[FRIC_N_VERTEX_TYPES][MOST * FRIC_MAX_STENCIL];
	double anchor[FRIC_N_VERTEX_TYPES][MOST * 3], normal[MOST * 3], origin[MOST * 3];
};

struct draw {
	struct rng *rng;
	int dim;
	size_t n_vertices;
	double positions[64 * 3];
};

static void random_contacts(struct draw *draw, const size_t n[FRIC_N_VERTEX_TYPES], struct contacts *c)
{
	const size_t dim = (size_t)draw->dim;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const int size = fric_stencil_size(type);
		struct fric_group *g = &c->groups[type];
		*g = (struct fric_group){.n = draw->dim == 2 && size == 4 ? 0 : n[type], .vertices = c->vertices[type]};
		for (size_t i = 0; i < g->n; i++)
			random_stencil(draw->rng, draw->n_vertices, size, c->vertices[type] + i * (size_t)size);
		for (size_t i = 0; i < g->n * dim; i++)
			c->anchor[type][i] = uniform(draw->rng, -1, 1);
		g->anchor = (struct fric_values){c->anchor[type], dim};
	}
	for (size_t i = 0; i < c->groups[FRIC_PLANE_VERTEX].n * dim; i++) {
		c->normal[i] = 1 + (double)below(draw->rng, 2);
		c->origin[i] = (double)below(draw->rng, 2);
	}
	c->groups[FRIC_PLANE_VERTEX].plane_normal = (struct fric_values){c->normal, dim};
	c->groups[FRIC_PLANE_VERTEX].plane_origin = (struct fric_values){c->origin, dim};
}

/* On a grid, many places are equal, edges are parallel and touch. */
static struct draw random_vertices(struct rng *rng, int dim, size_t n_vertices, bool grid)
{
	struct draw draw = {.rng = rng, .dim = dim, .n_vertices = n_vertices};
	for (size_t i = 0; i < n_vertices * (size_t)dim; i++)
		draw.positions[i] = grid ? (double)below(rng, 4) : uniform(rng, -1, 1);
	return draw;
}

/* ---- the plain way: every old contact for every new one ---- */

struct side {
	int n;
	int32_t v[3];
};

static struct side side_of(enum fric_type type, const int32_t *stencil, int side)
{
	static const int sizes[FRIC_N_VERTEX_TYPES][2] = {{1, 1}, {1, 2}, {2, 2}, {1, 3}, {1, 0}};
	struct side s = {.n = sizes[type][side]};
	for (int k = 0; k < s.n; k++)
		s.v[k] = stencil[side * sizes[type][0] + k];
	for (int i = 0; i < s.n; i++)
		for (int k = 0; k + 1 < s.n; k++)
			if (s.v[k + 1] < s.v[k]) {
				const int32_t v = s.v[k];
				s.v[k] = s.v[k + 1];
				s.v[k + 1] = v;
			}
	return s;
}

static bool equal(const struct side *a, const struct side *b)
{
	return a->n == b->n && memcmp(a->v, b->v, sizeof(a->v)) == 0;
}

static bool meet(const struct side *a, const struct side *b)
{
	for (int i = 0; i < a->n; i++)
		for (int j = 0; j < b->n; j++)
			if (a->v[i] == b->v[j])
				return true;
	return false;
}

static const int32_t *stencil_of(const struct contacts *c, enum fric_type type, size_t i)
{
	return c->vertices[type] + i * (size_t)fric_stencil_size(type);
}

/* The anchor to hand over, with its sign; of equal ones, the first. */
struct choice {
	long double squared;
	const double *anchor;
	double sign;
};

static struct choice plain_plane(const struct contacts *old, const struct contacts *now, size_t i, int dim)
{
	struct choice first = {0}, same = {0};
	for (size_t j = 0; j < old->groups[FRIC_PLANE_VERTEX].n; j++) {
		if (*stencil_of(old, FRIC_PLANE_VERTEX, j) != *stencil_of(now, FRIC_PLANE_VERTEX, i))
			continue;
		const struct choice found = {0, old->anchor[FRIC_PLANE_VERTEX] + j * (size_t)dim, 1};
		bool is_equal = true;
		for (int d = 0; d < dim; d++)
			is_equal &= old->normal[j * (size_t)dim + (size_t)d] == now->normal[i * (size_t)dim + (size_t)d] &&
			            old->origin[j * (size_t)dim + (size_t)d] == now->origin[i * (size_t)dim + (size_t)d];
		first = first.anchor ? first : found;
		same = same.anchor || !is_equal ? same : found;
	}
	return same.anchor ? same : first;
}

static struct choice plain_choice(const struct draw *draw, const struct contacts *old, const struct contacts *now,
                                  enum fric_type type, size_t i)
{
	const struct contact_list olds = fricp_contact_list(draw->dim, draw->positions, old->groups);
	const struct contact_list list = fricp_contact_list(draw->dim, draw->positions, now->groups);
	const struct side a = side_of(type, stencil_of(now, type, i), 0), b = side_of(type, stencil_of(now, type, i), 1);
	struct choice same = {0}, near = {0};
	double place[3];
	fricp_place(&list, list.start[type] + i, place);
	if (type == FRIC_PLANE_VERTEX)
		return plain_plane(old, now, i, draw->dim);
	for (enum fric_type t = 0; t < FRIC_PLANE_VERTEX; t++)
		for (size_t j = 0; j < old->groups[t].n; j++) {
			const struct side p = side_of(t, stencil_of(old, t, j), 0), q = side_of(t, stencil_of(old, t, j), 1);
			struct choice found = {.anchor = old->anchor[t] + j * (size_t)draw->dim};
			double old_place[3];
			if (t == type && ((equal(&a, &p) && equal(&b, &q)) || (equal(&a, &q) && equal(&b, &p)))) {
				found.sign = equal(&a, &p) ? 1 : -1;
				same = same.anchor ? same : found;
			}
			const bool straight = meet(&a, &p) && meet(&b, &q), crossed = meet(&a, &q) && meet(&b, &p);
			if (!straight && !crossed)
				continue;
			fricp_place(&olds, olds.start[t] + j, old_place);
			for (int d = 0; d < 3; d++)
				found.squared += ((long double)place[d] - old_place[d]) * ((long double)place[d] - old_place[d]);
			found.sign = straight ? 1 : -1;
			if (!near.anchor || found.squared < near.squared)
				near = found;
		}
	return same.anchor ? same : near;
}

/* ---- */

static double out[FRIC_N_VERTEX_TYPES][MOST * 3];
static double *const outs[FRIC_N_VERTEX_TYPES] = {out[0], out[1], out[2], out[3], out[4]};

static void carry(const struct draw *draw, const struct contacts *old, const struct contacts *now, int threads)
{
	struct counted_memory counted = {.left = -1};
	const struct fric_memory memory = memory_of(&counted);
	const struct fric_context context = {.n_threads = threads, .parallel_from = 1, .memory = &memory};
	struct fric_error error;
	memset(out, 0xff, sizeof(out));
	assert_int_equal(fric_carry_anchors(&context, draw->dim, draw->n_vertices, draw->positions, old->groups,
	                                    now->groups, outs, &error),
	                 FRIC_OK);
	assert_all_given_back(&counted);
}

struct tally {
	size_t none, straight, exchanged;
};

static void compare(const struct draw *draw, const struct contacts *old, const struct contacts *now,
                    struct tally *tally)
{
	const size_t dim = (size_t)draw->dim;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		for (size_t i = 0; i < now->groups[type].n; i++) {
			const struct choice choice = plain_choice(draw, old, now, type, i);
			*(choice.anchor ? choice.sign > 0 ? &tally->straight : &tally->exchanged : &tally->none) += 1;
			for (size_t d = 0; d < dim; d++)
				assert_bits(out[type][i * dim + d], choice.anchor ? choice.sign * choice.anchor[d] : 0);
		}
}

static void test_equals_the_plain_way(void **state)
{
	static struct contacts old, now;
	struct rng rng = {2501};
	struct tally tally = {0};
	(void)state;
	const int step = step_sanitized(3);
	for (int i = 0; i < 600; i += step) {
		struct draw draw = random_vertices(&rng, 2 + (i & 1), 5 + below(&rng, 12), (i & 2) != 0);
		const size_t n = 1 + below(&rng, 24);
		random_contacts(&draw, (size_t[]){n, n, n, n, n}, &old);
		random_contacts(&draw, (size_t[]){n, n, n, n, n}, &now);
		carry(&draw, &old, &now, 1);
		compare(&draw, &old, &now, &tally);
	}
	const size_t least = 1000 / (size_t)step;
	assert_true(tally.none > least && tally.straight > least && tally.exchanged > least);
}

/* So many contacts of so few vertices that two vertices share hundreds: searched in trees. */
static void test_contacts_of_few_vertices(void **state)
{
	static struct contacts old, now;
	struct rng rng = {2502};
	struct tally tally = {0};
	(void)state;
	const int step = step_in_share(3, 5);
	for (int i = 0; i < 8; i += step) {
		struct draw draw = random_vertices(&rng, 3, i < 4 ? 8 : 12, (i & 1) != 0);
		random_contacts(&draw, (size_t[]){0, 0, 3000, i == 0 ? 40 : 0, 100}, &old);
		random_contacts(&draw, (size_t[]){20, 100, 200, 100, 100}, &now);
		carry(&draw, &old, &now, 1);
		compare(&draw, &old, &now, &tally);
		for (int threads = 2; threads <= 4; threads++) {
			static double of_one[FRIC_N_VERTEX_TYPES][MOST * 3];
			memcpy(of_one, out, sizeof(out));
			carry(&draw, &old, &now, threads);
			assert_memory_equal(out, of_one, sizeof(out));
		}
	}
	assert_true(tally.straight > 1000 / (size_t)step && tally.exchanged > 100 / (size_t)step);
}

/* Two fans whose hubs are near each other: all their spokes share two vertices, and the old and the new list have none
 * of them in common. */
static void test_fans(void **state)
{
	enum { SPOKES = 64 };
	static struct contacts old, now;
	static double positions[(2 * SPOKES + 2) * 3], old_places[SPOKES * SPOKES][3];
	struct rng rng = {2503};
	(void)state;
	for (size_t i = 0; i < sizeof(positions) / sizeof(*positions); i++)
		positions[i] = uniform(&rng, -1, 1);
	struct contacts *const lists[2] = {&old, &now};
	for (int is_new = 0; is_new < 2; is_new++) {
		struct contacts *c = lists[is_new];
		struct fric_group *g = &c->groups[FRIC_EDGE_EDGE];
		*g = (struct fric_group){.vertices = c->vertices[FRIC_EDGE_EDGE], .anchor = {c->anchor[FRIC_EDGE_EDGE], 3}};
		for (int32_t i = 0; i < SPOKES; i++)
			for (int32_t j = 0; j < SPOKES; j++)
				if ((i + j) % 2 == is_new) {
					int32_t *v = c->vertices[FRIC_EDGE_EDGE] + 4 * g->n;
					const int32_t spokes[4] = {0, 2 + i, 1, 2 + SPOKES + j};
					memcpy(v, spokes, sizeof(spokes));
					for (size_t d = 0; d < 3; d++)
						c->anchor[FRIC_EDGE_EDGE][3 * g->n + d] = uniform(&rng, -1, 1);
					g->n++;
				}
	}
	const struct contact_list olds = fricp_contact_list(3, positions, old.groups),
							  list = fricp_contact_list(3, positions, now.groups);
	struct fric_error error;
	assert_int_equal(fric_carry_anchors(&serial, 3, 2 * SPOKES + 2, positions, old.groups, now.groups, outs, &error),
	                 FRIC_OK);
	for (size_t j = 0; j < old.groups[FRIC_EDGE_EDGE].n; j++)
		fricp_place(&olds, j, old_places[j]);
	for (size_t i = 0; i < now.groups[FRIC_EDGE_EDGE].n; i++) {
		size_t best = 0;
		long double least = INFINITY;
		double place[3];
		fricp_place(&list, i, place);
		for (size_t j = 0; j < old.groups[FRIC_EDGE_EDGE].n; j++) {
			const long double squared = fricp_squared_between(place, old_places[j]);
			best = squared < least ? j : best;
			least = squared < least ? squared : least;
		}
		assert_all_bits(out[FRIC_EDGE_EDGE] + 3 * i, old.anchor[FRIC_EDGE_EDGE] + 3 * best, 3);
	}
}

/* ---- single contacts ---- */

static const double corners[7 * 3] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.3, 0.3, 1, 1, 1, 1, 0, 0.5, 2, 4, 4, 4};

struct single {
	enum fric_type type;
	int32_t vertices[FRIC_MAX_STENCIL];
};

/* The anchor of one contact that follows on another one with anchor (1, -2, 0). */
static const double *handed_over(struct single from, struct single to)
{
	static const double anchor[3] = {1, -2, 0}, up[3] = {0, 0, 1}, origin[3] = {0};
	static double taken[3];
	struct fric_group old[FRIC_N_VERTEX_TYPES] = {{0}}, now[FRIC_N_VERTEX_TYPES] = {{0}};
	double *anchors[FRIC_N_VERTEX_TYPES] = {0};
	struct fric_error error;
	old[from.type] =
		(struct fric_group){.n = 1, .vertices = from.vertices, .plane_normal = {up, 3}, .plane_origin = {origin, 0}};
	old[from.type].anchor = (struct fric_values){anchor, 0};
	now[to.type] =
		(struct fric_group){.n = 1, .vertices = to.vertices, .plane_normal = {up, 0}, .plane_origin = {origin, 3}};
	anchors[to.type] = taken;
	assert_int_equal(fric_carry_anchors(&serial, 3, 7, corners, old, now, anchors, &error), FRIC_OK);
	return taken;
}

static void test_order_of_vertices_does_not_matter(void **state)
{
	static const double same[3] = {1, -2, 0}, opposite[3] = {-1, 2, 0}, none[3] = {0};
	(void)state;
#define CARRIED(expected, from, to) assert_all_bits(handed_over((struct single)from, (struct single)to), expected, 3)
#define CONTACT(...) {__VA_ARGS__}
	CARRIED(same, CONTACT(FRIC_FACE_VERTEX, {3, 0, 1, 2}), CONTACT(FRIC_FACE_VERTEX, {3, 2, 0, 1}));
	CARRIED(same, CONTACT(FRIC_EDGE_VERTEX, {3, 0, 1}), CONTACT(FRIC_EDGE_VERTEX, {3, 1, 0}));
	CARRIED(same, CONTACT(FRIC_EDGE_EDGE, {0, 1, 3, 4}), CONTACT(FRIC_EDGE_EDGE, {1, 0, 4, 3}));
	CARRIED(opposite, CONTACT(FRIC_EDGE_EDGE, {0, 1, 3, 4}), CONTACT(FRIC_EDGE_EDGE, {4, 3, 0, 1}));
	CARRIED(opposite, CONTACT(FRIC_VERTEX_VERTEX, {0, 3}), CONTACT(FRIC_VERTEX_VERTEX, {3, 0}));
	CARRIED(same, CONTACT(FRIC_PLANE_VERTEX, {3}), CONTACT(FRIC_PLANE_VERTEX, {3}));
	/* other features of the same vertices */
	CARRIED(same, CONTACT(FRIC_FACE_VERTEX, {3, 0, 1, 2}), CONTACT(FRIC_EDGE_VERTEX, {3, 1, 5}));
	CARRIED(opposite, CONTACT(FRIC_FACE_VERTEX, {3, 0, 1, 2}), CONTACT(FRIC_VERTEX_VERTEX, {1, 3}));
	CARRIED(opposite, CONTACT(FRIC_EDGE_EDGE, {0, 1, 3, 4}), CONTACT(FRIC_EDGE_VERTEX, {4, 1, 6}));
	/* a vertex in common on one side only, or none */
	CARRIED(none, CONTACT(FRIC_FACE_VERTEX, {3, 0, 1, 2}), CONTACT(FRIC_FACE_VERTEX, {4, 0, 1, 2}));
	CARRIED(none, CONTACT(FRIC_EDGE_EDGE, {0, 1, 3, 4}), CONTACT(FRIC_VERTEX_VERTEX, {0, 1}));
	CARRIED(none, CONTACT(FRIC_PLANE_VERTEX, {3}), CONTACT(FRIC_PLANE_VERTEX, {2}));
	CARRIED(none, CONTACT(FRIC_PLANE_VERTEX, {3}), CONTACT(FRIC_VERTEX_VERTEX, {3, 2}));
	CARRIED(none, CONTACT(FRIC_VERTEX_VERTEX, {3, 2}), CONTACT(FRIC_PLANE_VERTEX, {3}));
}

static void test_nothing_to_hand_over(void **state)
{
	const struct fric_group none[FRIC_N_VERTEX_TYPES] = {{0}};
	const int32_t pair[2] = {0, 1};
	struct fric_group one[FRIC_N_VERTEX_TYPES] = {{.n = 1, .vertices = pair}};
	double taken[3];
	double *anchors[FRIC_N_VERTEX_TYPES] = {taken};
	struct fric_error error;
	(void)state;
	assert_int_equal(fric_carry_anchors(&serial, 3, 7, corners, none, none, anchors, &error), FRIC_OK);
	memset(taken, 0xff, sizeof(taken));
	assert_int_equal(fric_carry_anchors(&serial, 3, 7, corners, none, one, anchors, &error), FRIC_OK);
	assert_all_bits(taken, ((double[]){0, 0, 0}), 3);
	memset(taken, 0xff, sizeof(taken)); /* old contacts without anchors */
	assert_int_equal(fric_carry_anchors(&serial, 3, 7, corners, one, one, anchors, &error), FRIC_OK);
	assert_all_bits(taken, ((double[]){0, 0, 0}), 3);
}

/* ---- places ---- */

/* The point of segment 0 1 that is closest to segment 2 3, found by cutting an interval. */
static void closest_on_first(double p[4][3], long double out_place[3])
{
	long double low = 0, high = 1;
	for (int step = 0; step < 200; step++) { /* the distance from a segment is convex */
		const long double at[2] = {low + (high - low) / 3, high - (high - low) / 3};
		long double squared[2] = {0};
		for (int side = 0; side < 2; side++) {
			long double x[3], re = 0, ee = 0;
			for (int d = 0; d < 3; d++) {
				x[d] = p[0][d] + at[side] * ((long double)p[1][d] - p[0][d]);
				re += (x[d] - p[2][d]) * ((long double)p[3][d] - p[2][d]);
				ee += ((long double)p[3][d] - p[2][d]) * ((long double)p[3][d] - p[2][d]);
			}
			const long double t = re <= 0 ? 0 : re >= ee ? 1 : re / ee;
			for (int d = 0; d < 3; d++) {
				const long double gap = x[d] - p[2][d] - t * ((long double)p[3][d] - p[2][d]);
				squared[side] += gap * gap;
			}
		}
		*(squared[0] < squared[1] ? &high : &low) = at[squared[0] < squared[1]];
	}
	for (int d = 0; d < 3; d++)
		out_place[d] = p[0][d] + low * ((long double)p[1][d] - p[0][d]);
}

static void test_places_of_edges(void **state)
{
	static const int32_t orders[4][4] = {{0, 1, 2, 3}, {1, 0, 2, 3}, {2, 3, 0, 1}, {3, 2, 1, 0}};
	struct rng rng = {2504};
	(void)state;
	for (int i = 0; i < 2000; i++) {
		double positions[12], ordered[4][3], place[3];
		long double expected[3];
		struct fric_group groups[FRIC_N_VERTEX_TYPES] = {{0}};
		groups[FRIC_EDGE_EDGE] = (struct fric_group){.n = 1, .vertices = orders[i % 4]};
		for (int k = 0; k < 12; k++)
			positions[k] = uniform(&rng, -1, 1);
		for (int k = 0; k < 4; k++)
			memcpy(ordered[k], positions + 3 * orders[i % 4][k], sizeof(ordered[k]));
		const struct contact_list list = fricp_contact_list(3, positions, groups);
		fricp_place(&list, 0, place);
		closest_on_first(ordered, expected);
		for (int d = 0; d < 3; d++)
			assert_near(place[d], expected[d], 1e-8);
	}
}

static void test_places_of_edges_that_touch(void **state)
{
	/* an edge, a vertex in its middle, one across, parallel ones, one of no length, and one that is too far away */
	static const double positions[] = {0, 0, 0, 2, 0, 0, 0.5, 0, 0, 0.5, 1, 1, 1,     -1, 0, 1,      1, 0,
	                                   1, 1, 0, 3, 1, 0, 9,   9, 9, 9,   9, 9, 1e308, 0,  0, -1e308, 0, 0};
	static const struct {
		int32_t vertices[4];
		double place[3];
	} cases[] = {
		{{0, 1, 2, 3}, {0.5, 0, 0}},      {{2, 3, 0, 1}, {0.5, 0, 0}}, {{0, 1, 4, 5}, {1, 0, 0}},
		{{1, 0, 5, 4}, {1, 0, 0}},        {{0, 1, 6, 7}, {2, 0, 0}},   {{6, 7, 0, 1}, {2, 1, 0}},
		{{8, 9, 0, 1}, {9, 9, 9}},        {{0, 1, 8, 9}, {2, 0, 0}},   {{0, 1, 10, 11}, {0, 0, 0}},
		{{11, 10, 0, 1}, {-1e308, 0, 0}},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fric_group groups[FRIC_N_VERTEX_TYPES] = {{0}};
		double place[3];
		groups[FRIC_EDGE_EDGE] = (struct fric_group){.n = 1, .vertices = cases[i].vertices};
		const struct contact_list list = fricp_contact_list(3, positions, groups);
		fricp_place(&list, 0, place);
		assert_all_bits(place, cases[i].place, 3);
	}
}

/* ---- failures ---- */

static void test_without_memory_and_stopped(void **state)
{
	static struct contacts old, now;
	struct rng rng = {2505};
	struct draw draw = random_vertices(&rng, 3, 8, false);
	bool done = false;
	(void)state;
	random_contacts(&draw, (size_t[]){10, 10, 3000, 10, 10}, &old);
	random_contacts(&draw, (size_t[]){10, 10, 10, 10, 10}, &now);
	for (int stops = 0; stops < 2; stops++, done = false)
		for (long left = 0; !done; left++) {
			fric_flag stop = false;
			struct counted_memory counted = {.left = left, .raised_by = stops ? &stop : NULL};
			const struct fric_memory memory = memory_of(&counted);
			const struct fric_context context = {.n_threads = 2, .parallel_from = 1, .memory = &memory, .stop = &stop};
			struct fric_error error = {0};
			const enum fric_code code =
				fric_carry_anchors(&context, 3, draw.n_vertices, draw.positions, old.groups, now.groups, outs, &error);
			assert_all_given_back(&counted);
			done = code == FRIC_OK;
			if (!done) {
				assert_int_equal(code, stops ? FRIC_E_STOPPED : FRIC_E_MEMORY);
				assert_int_equal(error.code, code);
				assert_true(error.contact < 0);
			} else {
				assert_int_equal(left, 10);
			}
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equals_the_plain_way),
		cmocka_unit_test(test_contacts_of_few_vertices),
		cmocka_unit_test(test_fans),
		cmocka_unit_test(test_order_of_vertices_does_not_matter),
		cmocka_unit_test(test_nothing_to_hand_over),
		cmocka_unit_test(test_places_of_edges),
		cmocka_unit_test(test_places_of_edges_that_touch),
		cmocka_unit_test(test_without_memory_and_stopped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

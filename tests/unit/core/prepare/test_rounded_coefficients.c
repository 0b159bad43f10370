/* Contacts whose closest point is on the border of a primitive, where the coefficient is zero. A negative coefficient
 * that rounding explains must not be refused. */
#include "tests/property/scene.h"

enum { N_TRIALS = 4000 };

/* A grid of equally spaced points, offset and possibly rotated. */
struct grid {
	double spacing, offset, x[3], y[3], z[3];
};

static struct grid random_grid(struct rng *rng)
{
	const double spacings[] = {0.1, 1.0 / 3, 1, 7.3, 1e-3}, offsets[] = {0, 1, -0.7, 12.9, -1234.5};
	struct grid g = {spacings[below(rng, 5)], offsets[below(rng, 5)], {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	double basis[6];
	random_basis(rng, 3, basis);
	const bool turned = coin(rng);
	for (int i = 0; i < 3 && turned; i++)
		g.x[i] = basis[2 * i], g.y[i] = basis[2 * i + 1];
	for (int i = 0; i < 3; i++) {
		const int j = (i + 1) % 3, k = (i + 2) % 3;
		g.z[i] = g.x[j] * g.y[k] - g.x[k] * g.y[j];
	}
	return g;
}

static void place(const struct grid *g, const double at[3], double *out)
{
	for (int d = 0; d < 3; d++)
		out[d] = g->offset + g->spacing * (at[0] * g->x[d] + at[1] * g->y[d] + at[2] * g->z[d]);
}

/* A contact of four points. The coefficient is zero at some vertices, and the closest point is between these. */
struct trial {
	enum fric_type type;
	double positions[12], mu[4];
	int32_t material[4];
};

/* Moves a point outside by `outside` times the spacing of the grid. */
static struct trial make(struct rng *rng, double outside)
{
	static const enum fric_type types[] = {FRIC_EDGE_VERTEX, FRIC_EDGE_EDGE, FRIC_FACE_VERTEX};
	const struct grid g = random_grid(rng);
	const double n = 1 + (double)below(rng, 5), m = 1 + (double)below(rng, 5), s = (double)below(rng, 5) / 4;
	const double origin[3] = {(double)below(rng, 30), (double)below(rng, 30), 0}, above = 0.5 + (double)below(rng, 3);
	/* A vertex above the first end of an edge; an edge above the end of another; a vertex above one side of a
	 * triangle. */
	const double points[3][4][3] = {
		{{-outside, 0, above}, {0, 0, 0}, {n, 0, 0}, {0, 0, 0}},
		{{-outside, -m, above}, {-outside, m, above}, {0, 0, 0}, {n, 0, 0}},
		{{s * n, -outside, above}, {0, 0, 0}, {n, 0, 0}, {m - 1, m, 0}},
	};
	const double mu[3][4] = {{0, 0, 0.7, 0}, {0, 0, 0, 0.7}, {0, 0, 0, 0.7}};
	const size_t which = below(rng, 3);
	struct trial t = {.type = types[which]};
	for (int v = 0; v < 4; v++) {
		double at[3];
		for (int d = 0; d < 3; d++)
			at[d] = origin[d] + points[which][v][d];
		place(&g, at, t.positions + 3 * v);
		t.mu[v] = mu[which][v];
		t.material[v] = mu[which][v] > 0;
	}
	return t;
}

static enum fric_code prepare(const struct trial *t, enum fric_mu_source source, enum fric_blend blend, double *mu)
{
	static const int32_t vertices[4] = {0, 1, 2, 3};
	static const double force = 1, table[4] = {0, 0.7, 0.7, 0};
	struct fric_batch batch = {.dim = 3, .n_vertices = 4, .positions = t->positions};
	struct fric_contacts *c;
	struct fric_error error;
	batch.friction = (struct fric_friction){.eps_v = 1,
	                                        .source = source,
	                                        .blend = blend,
	                                        .vertex_mu_s = t->mu,
	                                        .vertex_mu_k = t->mu,
	                                        .vertex_material = t->material,
	                                        .n_materials = 2,
	                                        .material_mu_s = table,
	                                        .material_mu_k = table};
	batch.groups[t->type] = (struct fric_group){.n = 1, .vertices = vertices, .normal_force = {&force, 0}};
	const enum fric_code code = fric_prepare(&serial, &batch, &c, &error);
	if (code == FRIC_OK) {
		assert_ok(fric_contact_output(&serial, c, scene_query(c, t->positions), t->type, FRIC_OUT_MU_S, mu, &error));
		fric_contacts_free(c);
	}
	return code;
}

/* The coefficient is zero, or as small as rounding of the positions makes it. */
static void test_on_the_border(void **state)
{
	(void)state;
	struct rng rng = {601};
	for (int i = 0; i < N_TRIALS; i++) {
		const struct trial t = make(&rng, 0);
		double mu;
		for (enum fric_blend blend = FRIC_MEAN; blend <= FRIC_HARMONIC_MEAN; blend++) {
			assert_ok(prepare(&t, FRIC_MU_VERTEX, blend, &mu));
			assert_true(mu >= 0 && mu < 1e-8);
		}
		assert_ok(prepare(&t, FRIC_MU_TABLE, FRIC_MEAN, &mu));
		assert_true(mu >= 0 && mu < 1e-8);
	}
}

/* Closest points that are really outside are refused: the mean, the minimum and the table's sum are negative. */
static void test_outside(void **state)
{
	(void)state;
	struct rng rng = {602};
	for (int i = 0; i < N_TRIALS; i++) {
		const struct trial t = make(&rng, i % 2 ? 1e-6 : 0.1);
		double mu;
		assert_code(prepare(&t, FRIC_MU_VERTEX, FRIC_MEAN, &mu), FRIC_E_NEGATIVE_COEFFICIENT);
		assert_code(prepare(&t, FRIC_MU_VERTEX, FRIC_MIN, &mu), FRIC_E_NEGATIVE_COEFFICIENT);
		assert_code(prepare(&t, FRIC_MU_TABLE, FRIC_MEAN, &mu), FRIC_E_NEGATIVE_COEFFICIENT);
	}
}

/* Slivers and short edges with coefficients far below zero and exact positions: rounding does not explain -0.35. */
static void test_slivers(void **state)
{
	(void)state;
	const double h = 0x1p-26;
	const struct trial trials[] = {
		{FRIC_FACE_VERTEX, {0.5, -h / 2, 1, 0, 0, 0, 1, 0, 0, 0.5, h, 0}, {0, 0, 0, 0.7}, {0, 0, 0, 1}},
		{FRIC_FACE_VERTEX, {0.5, 1, -h / 2, 0, 0, 0, 1, 0, 0, 0.5, 0, h}, {0, 0, 0, 0.7}, {0, 0, 0, 1}},
		{FRIC_EDGE_VERTEX, {-h / 2, 1, 0, 0, 0, 0, h, 0, 0}, {0, 0, 0.7, 0}, {0, 0, 1, 0}},
		{FRIC_EDGE_EDGE, {0.5, -h / 2, h, 1.5, -h / 2, h, 0, 0, 0, 1, h, 0}, {0, 0, 0, 0.7}, {0, 0, 0, 1}},
	};
	for (size_t i = 0; i < sizeof(trials) / sizeof(*trials); i++)
		for (enum fric_blend blend = FRIC_MEAN; blend <= FRIC_HARMONIC_MEAN; blend++) {
			const bool refused = blend == FRIC_MEAN || blend == FRIC_MIN;
			struct trial t = trials[i];
			double mu;
			assert_code(prepare(&t, FRIC_MU_TABLE, FRIC_MEAN, &mu), FRIC_E_NEGATIVE_COEFFICIENT);
			assert_code(prepare(&t, FRIC_MU_VERTEX, blend, &mu), refused ? FRIC_E_NEGATIVE_COEFFICIENT : FRIC_OK);
			for (int v = 0; v < 4; v++) /* with sides of opposite signs, the harmonic mean is positive */
				t.mu[v] += t.mu[v] == 0 && v < (t.type == FRIC_EDGE_EDGE ? 2 : 1) ? 0.01 : 0;
			assert_code(prepare(&t, FRIC_MU_VERTEX, blend, &mu),
			            blend == FRIC_MAX || blend == FRIC_HARMONIC_MEAN ? FRIC_OK : FRIC_E_NEGATIVE_COEFFICIENT);
		}
}

/* If the height of a sliver is of the size of a rounding of its positions, the closest point may be anywhere. A point
 * that is outside by as much counts as on the border. */
static void test_uncertain_sliver(void **state)
{
	(void)state;
	const double h = 0x1p-30;
	const struct trial t = {
		FRIC_FACE_VERTEX, {1.5, 1 - h / 2, 2, 1, 1, 1, 2, 1, 1, 1.5, 1 + h, 1}, {0, 0, 0, 0.7}, {0, 0, 0, 1}};
	double mu;
	for (enum fric_blend blend = FRIC_MEAN; blend <= FRIC_HARMONIC_MEAN; blend++) {
		assert_ok(prepare(&t, FRIC_MU_VERTEX, blend, &mu));
		assert_bits(mu, 0);
	}
	assert_ok(prepare(&t, FRIC_MU_TABLE, FRIC_MEAN, &mu));
	assert_bits(mu, 0);
}

/* A face_vertex contact with a given closest point. */
static enum fric_code given(double a, double b, enum fric_blend blend, const double mu[4], double *out)
{
	static const int32_t vertices[4] = {0, 1, 2, 3};
	static const double force = 1, basis[6] = {1, 0, 0, 1, 0, 0}, velocities[12] = {0};
	const double closest_point[2] = {a, b};
	struct fric_batch batch = {.dim = 3, .n_vertices = 4};
	struct fric_contacts *c;
	struct fric_error error;
	batch.friction = (struct fric_friction){
		.eps_v = 1, .source = FRIC_MU_VERTEX, .blend = blend, .vertex_mu_s = mu, .vertex_mu_k = mu};
	batch.groups[FRIC_FACE_VERTEX] = (struct fric_group){.n = 1,
	                                                     .vertices = vertices,
	                                                     .normal_force = {&force, 0},
	                                                     .tangent_basis = {basis, 0},
	                                                     .closest_point = {closest_point, 0}};
	const enum fric_code code = fric_prepare(&serial, &batch, &c, &error);
	if (code == FRIC_OK) {
		assert_ok(
			fric_contact_output(&serial, c, scene_query(c, velocities), FRIC_FACE_VERTEX, FRIC_OUT_MU_S, out, &error));
		fric_contacts_free(c);
	}
	return code;
}

/* Weights of -1e-17 and -1e-16 instead of 0, as rounding in the caller may produce. */
static void test_given_closest_points(void **state)
{
	(void)state;
	const double first[4] = {0, 1, 0, 0}, second[4] = {0, 0, 1, 0}, side[4] = {0.5, 0, 1, 0};
	for (enum fric_blend blend = FRIC_MEAN; blend <= FRIC_HARMONIC_MEAN; blend++) {
		double mu;
		assert_ok(given(0.3, 0.7000000000000001, blend, first, &mu));
		assert_bits(mu, 0);
		assert_ok(given(-1e-17, 0.4, blend, second, &mu));
		assert_bits(mu, 0);
	}
	double mu;
	assert_code(given(-1e-13, 0.4, FRIC_MEAN, second, &mu), FRIC_E_NEGATIVE_COEFFICIENT);
	assert_code(given(-1e-13, 0.4, FRIC_MAX, (double[4]){0, 0, 1, 0}, &mu),
	            FRIC_OK); /* the vertex's own coefficient is zero */
	assert_code(given(0.3, 0.7 + 1e-13, FRIC_MIN, first, &mu), FRIC_E_NEGATIVE_COEFFICIENT);
	/* One side is zero up to rounding, and the other positive. */
	assert_ok(given(-1e-17, 0.4, FRIC_PRODUCT, side, &mu));
	assert_bits(mu, 0);
	assert_ok(given(-1e-17, 0.4, FRIC_GEOMETRIC_MEAN, side, &mu));
	assert_bits(mu, 0);
	assert_code(given(-1e-13, 0.4, FRIC_PRODUCT, side, &mu), FRIC_E_NEGATIVE_COEFFICIENT);
}

/* The sides are opposite up to rounding, so that their mean is zero, in units of any size. */
static void test_opposite_sides(void **state)
{
	(void)state;
	for (int exponent = -1060; exponent <= 1020; exponent += 20) {
		const double unit = ldexp(1, exponent), mu[4] = {unit * 0.3, unit * 0.9, unit * 0.3, unit * 0.9};
		double out;
		assert_ok(given(2, 0, FRIC_MEAN, mu, &out)); /* 0.9 + 2 (0.3 - 0.9) */
		assert_true(out >= 0 && out <= unit * 1e-16 + 5e-324);
		assert_code(given(2.01, 0, FRIC_MEAN, mu, &out), FRIC_E_NEGATIVE_COEFFICIENT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_on_the_border),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_slivers),
		cmocka_unit_test(test_uncertain_sliver),
		cmocka_unit_test(test_given_closest_points),
		cmocka_unit_test(test_opposite_sides),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Derivatives have the same bits on any number of threads and in any units; also tests contacts at rest and skipped
 * ones. */
#include "tests/property/differentials.h"
#include "tests/share.h"

enum { N_SCENES = 60 };

/* Tangents of all fields at once. */
static struct fric_differential all_tangents(struct scene *s, struct rng *rng, const struct number_fields *fields)
{
	struct fric_differential tangents = {0};
	for (size_t f = 0; f < fields->n; f++)
		*place_in(&tangents, &fields->of[f]) = random_tangent(s, rng, &fields->of[f]);
	return tangents;
}

/* ---- threads ---- */

static void check_threads(struct options options, uint64_t seed, bool bodies)
{
	static const int thread_counts[] = {2, 3, 8, 5};
	struct rng rng = {seed};
	struct scene scene;
	options.n_each = 1100;
	options.n_vertices = 1500;
	scene_create(&scene, &rng, options);
	if (bodies)
		scene_add_bodies(&scene, &rng, (struct body_options){300, 900, 700, true, false});
	share_rows(&scene, &rng);
	part_factors(&scene.batch.friction.law.curve);
	const struct number_fields fields = scene_fields(&scene);
	const struct fric_differential tangents = all_tangents(&scene, &rng, &fields);
	const double *cotangents = random_cotangents(&scene, &rng);
	struct setting *t = setting_of(&scene, true);
	const size_t n = 1 + scene_ndof(&scene);
	struct fric_differential one, many;
	double *forwards = jvp(&serial, &scene, t, &tangents);
	allocate_all(&scene, &fields, &one);
	allocate_all(&scene, &fields, &many);
	vjp(&serial, t, cotangents, n, &one);
	for (int k = 0; k < 4; k += step_sanitized(2)) {
		const struct fric_context context = {.n_threads = thread_counts[k], .parallel_from = 1};
		double *again = jvp(&context, &scene, t, &tangents);
		assert_all_bits(again, forwards, n);
		vjp(&context, t, cotangents, n, &many);
		for (size_t f = 0; f < fields.n; f++)
			assert_all_bits(*place_in(&many, &fields.of[f]), *place_in(&one, &fields.of[f]), fields.of[f].n);
		free(again);
	}
	free(forwards);
	setting_free(t);
	scene_free(&scene);
}

static void test_threads(void **state)
{
	(void)state;
	check_threads((struct options){.dim = 3, .source = FRIC_MU_VERTEX, .signed_weights = true, .ellipses = true}, 1511,
	              false);
	check_threads((struct options){.dim = 3, .source = FRIC_MU_TABLE, .barrier = true, .mu_aniso = true, .reach = 60},
	              1512, true);
	check_threads((struct options){.dim = 2,
	                               .own_mu = true,
	                               .own_eps_v = true,
	                               .law = FRIC_CURVE,
	                               .equal_mu = true,
	                               .anchor = true,
	                               .viscous = 100},
	              1513, true);
	check_threads((struct options){.dim = 3,
	                               .source = FRIC_MU_SCALAR,
	                               .law = FRIC_STRIBECK,
	                               .grain = true,
	                               .mu_aniso = true,
	                               .surface_velocity = true},
	              1514, false);
}

/* ---- units ---- */

/* Converts the numbers of a field, or of its tangents, to units of velocity, length and force that are 2^exponent times
 * smaller. */
struct units {
	int velocity, length, force;
};

static int exponent_of(const struct number_field *f, struct units u)
{
	if (f->type < FRIC_N_TYPES)
		switch (f->row) {
		case FRIC_ROW_NORMAL_FORCE: return u.force;
		case FRIC_ROW_EPS_V:
		case FRIC_ROW_STRIBECK_SPEED:
		case FRIC_ROW_SURFACE_VELOCITY:
		case FRIC_ROW_ANCHOR: return u.velocity;
		case FRIC_ROW_VISCOUS: return -u.velocity;
		case FRIC_ROW_PLANE_ORIGIN: return u.length;
		default: return 0;
		}
	switch (f->field) {
	case FRIC_WRT_VELOCITIES:
	case FRIC_WRT_LAGGED_VELOCITIES:
	case FRIC_WRT_EPS_V:
	case FRIC_WRT_STRIBECK_SPEED: return u.velocity;
	case FRIC_WRT_VISCOUS: return -u.velocity;
	case FRIC_WRT_POSITIONS: return u.length;
	default: return 0;
	}
}

static void multiply(double *x, size_t n, int exponent)
{
	for (size_t i = 0; i < n; i++)
		x[i] = ldexp(x[i], exponent);
}

/* All numbers of a scene, and tangents of them. */
static void change_units(struct scene *s, const struct number_fields *fields, struct fric_differential *tangents,
                         struct units u)
{
	const struct fric_curve *curve = &s->batch.friction.law.curve;
	for (size_t f = 0; f < fields->n; f++) {
		multiply(fields->of[f].numbers, fields->of[f].n, exponent_of(&fields->of[f], u));
		multiply(*place_in(tangents, &fields->of[f]), fields->of[f].n, exponent_of(&fields->of[f], u));
	}
	multiply((double *)curve->speeds, curve->n, u.velocity);
}

/* The unit of potentials is force times velocity. */
static void check_units(struct scene *s, const struct number_fields *fields, struct fric_differential *tangents,
                        double *cotangents, struct units u)
{
	const struct units back = {-u.velocity, -u.length, -u.force};
	const size_t n = 1 + scene_ndof(s);
	struct fric_differential plain, scaled;
	struct setting *t = setting_of(s, true);
	double *expected = jvp(&serial, s, t, tangents);
	allocate_all(s, fields, &plain);
	allocate_all(s, fields, &scaled);
	vjp(&serial, t, cotangents, n, &plain);
	setting_free(t);
	change_units(s, fields, tangents, u);
	multiply(cotangents + 1, n - 1, u.velocity);
	t = setting_of(s, true);
	double *actual = jvp(&serial, s, t, tangents);
	vjp(&serial, t, cotangents, n, &scaled);
	setting_free(t);
	change_units(s, fields, tangents, back);
	multiply(cotangents + 1, n - 1, -u.velocity);
	multiply(actual, 1, -u.velocity);
	multiply(actual, n, -u.force);
	assert_all_bits(actual, expected, n);
	for (size_t f = 0; f < fields->n; f++) {
		double *x = *place_in(&scaled, &fields->of[f]);
		multiply(x, fields->of[f].n, exponent_of(&fields->of[f], u) - u.velocity - u.force);
		assert_all_bits(x, *place_in(&plain, &fields->of[f]), fields->of[f].n);
	}
	free(actual);
	free(expected);
}

static void test_units(void **state)
{
	(void)state;
	const struct units units[] = {{37, 0, 0}, {-60, 0, 0}, {0, 41, 0}, {0, -80, 0}, {0, 0, 50}, {-9, 13, -31}};
	struct rng rng = {1515};
	for (int i = 0; i < N_SCENES; i++) {
		struct options options = random_options(&rng, 2 + i % 2);
		struct scene scene;
		options.barrier = false;
		scene_create(&scene, &rng, options);
		part_factors(&scene.batch.friction.law.curve);
		const struct number_fields fields = scene_fields(&scene);
		struct fric_differential tangents = all_tangents(&scene, &rng, &fields);
		double *cotangents = random_cotangents(&scene, &rng);
		/* A law with one coefficient may have the same array for both. */
		for (int u = 0; u < 6 && !(options.equal_mu && options.own_mu); u++)
			check_units(&scene, &fields, &tangents, cotangents, units[u]);
		scene_free(&scene);
	}
}

/* ---- */

/* A skipped contact has no effect, whatever its numbers are. */
static void test_skipped_contacts(void **state)
{
	(void)state;
	struct rng rng = {1516};
	for (int i = 0; i < N_SCENES; i++) {
		struct options options = random_options(&rng, 2 + i % 2);
		struct scene scene;
		options.disjoint = true;
		options.given_geometry = false;
		scene_create(&scene, &rng, options);
		struct fric_group *g = &scene.batch.groups[FRIC_VERTEX_VERTEX];
		const size_t dim = (size_t)options.dim, last = g->n - 1, n = 1 + scene_ndof(&scene);
		double *positions = (double *)scene.batch.positions;
		memcpy(positions + dim * (size_t)g->vertices[2 * last + 1], positions + dim * (size_t)g->vertices[2 * last],
		       dim * sizeof(double)); /* coincident */
		const struct number_fields fields = scene_fields(&scene);
		struct fric_differential tangents = all_tangents(&scene, &rng, &fields), with, without;
		const double *cotangents = random_cotangents(&scene, &rng);
		struct setting *t = setting_of(&scene, true);
		assert_code(fric_skipped(t->contacts, FRIC_VERTEX_VERTEX, last), FRIC_E_COINCIDENT_VERTICES);
		double *expected = jvp(&serial, &scene, t, &tangents);
		allocate_all(&scene, &fields, &with);
		allocate_all(&scene, &fields, &without);
		vjp(&serial, t, cotangents, n, &with);
		setting_free(t);
		g->n--;
		t = setting_of(&scene, true);
		double *actual = jvp(&serial, &scene, t, &tangents);
		vjp(&serial, t, cotangents, n, &without);
		assert_all_near(actual, expected, n, 0); /* may differ in the sign of zero */
		for (size_t f = 0; f < fields.n; f++) {
			const struct number_field *field = &fields.of[f];
			const bool row = field->type == FRIC_VERTEX_VERTEX;
			const size_t width = row ? (size_t)fricp_row_width(field->type, options.dim, field->row) : 0;
			const double *x = *place_in(&with, field), *y = *place_in(&without, field);
			assert_all_near(x, y, field->n - width, 0);
			for (size_t m = field->n - width; m < field->n; m++)
				assert_true(x[m] == 0);
		}
		free(actual);
		free(expected);
		setting_free(t);
		scene_free(&scene);
	}
}

/* At rest there is no pole: all derivatives are finite, and close to differences. */
static void test_rest(void **state)
{
	(void)state;
	struct rng rng = {1517};
	for (int i = 0; i < N_SCENES; i++) {
		struct scene scene = derivable_scene(&rng, i);
		const size_t n = 1 + scene_ndof(&scene);
		for (size_t k = 0; k < n - 1; k++)
			scene.velocities[k] = scene.lagged[k] = 0;
		const struct number_fields fields = scene_fields(&scene);
		const struct fric_differential tangents = all_tangents(&scene, &rng, &fields);
		struct fric_differential back;
		struct setting *t = setting_of(&scene, true);
		double *forth = jvp(&serial, &scene, t, &tangents);
		allocate_all(&scene, &fields, &back);
		vjp(&serial, t, random_cotangents(&scene, &rng), n, &back);
		for (size_t k = 0; k < n; k++)
			assert_true(isfinite(forth[k]) != 0);
		for (size_t f = 0; f < fields.n; f++)
			for (size_t m = 0; m < fields.of[f].n; m++)
				assert_true(isfinite((*place_in(&back, &fields.of[f]))[m]) != 0);
		free(forth);
		setting_free(t);
		scene_free(&scene);
	}
}

/* Without contacts all derivatives are zero. */
static void test_empty(void **state)
{
	(void)state;
	for (int dim = 2; dim <= 3; dim++) {
		double v[12] = {1, 2, 3}, x[12] = {0}, mu[2] = {NAN, NAN}, out[2][12], potential, gradient[12], tangent[13];
		struct fric_batch batch = {.dim = dim, .n_vertices = 4, .positions = x};
		batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5};
		struct fric_contacts *c;
		struct fric_error error;
		assert_ok(fric_prepare(&serial, &batch, &c, &error));
		const struct fric_query query = {.velocities = v};
		const struct fric_derivation derivation = {.batch = &batch, .contacts = c, .query = &query};
		const struct fric_differential tangents = {.fields = {[FRIC_WRT_POSITIONS] = v, [FRIC_WRT_MU_S] = v}};
		const struct fric_differential wanted = {.fields = {[FRIC_WRT_POSITIONS] = out[0],
		                                                    [FRIC_WRT_VELOCITIES] = out[1],
		                                                    [FRIC_WRT_MU_S] = &mu[0],
		                                                    [FRIC_WRT_MU_K] = &mu[1]}};
		memset(out, 1, sizeof(out));
		memset(tangent, 1, sizeof(tangent));
		assert_ok(fric_jvp(&serial, &derivation, &tangents, &potential, gradient, tangent, tangent + 1, &error));
		assert_ok(fric_vjp(&serial, &derivation, 1, v, &potential, gradient, &wanted, &error));
		for (int i = 0; i < 4 * dim; i++)
			assert_true(out[0][i] == 0 && out[1][i] == 0 && tangent[i] == 0);
		assert_true(mu[0] == 0 && mu[1] == 0 && tangent[4 * dim] == 0);
		fric_contacts_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads), cmocka_unit_test(test_units), cmocka_unit_test(test_skipped_contacts),
		cmocka_unit_test(test_rest),    cmocka_unit_test(test_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

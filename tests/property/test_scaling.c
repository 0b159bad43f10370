/* Results do not depend on units, and extreme numbers give right results or an error. */
#include "tests/property/hessians.h"

enum { N_SCENES = 200 };

static void multiply(double *x, size_t n, int exponent)
{
	for (size_t i = 0; i < n; i++)
		x[i] = ldexp(x[i], exponent);
}

/* All results of an evaluation. */
struct results {
	double potential, *gradient, *inner, *csr, *ratio, *status, *potentials, *forces, *anchors;
	size_t n, ndof, n_inner, n_vectors;
};

static struct results evaluate(const struct fric_context *context, const struct scene *s)
{
	struct fric_contacts *c = scene_contacts(context, s);
	struct results r = {.n = fric_n_contacts(c), .ndof = scene_ndof(s)};
	struct fric_error error;
	r.n_inner = r.n * (size_t)fric_inner_size(s->batch.dim);
	r.gradient = calloc(r.ndof + 1, sizeof(double));
	assert_ok(fric_evaluate(context, c, scene_query(c, s->velocities), &r.potential, r.gradient, &error));
	r.inner = inner_matrices(context, c, s->velocities, FRIC_PROJECT_NONE);
	r.csr = dense_from_csr(c, r.inner, FRIC_FULL);
	r.ratio = all_contacts(context, c, s->velocities, FRIC_OUT_SLIP_RATIO, 1);
	r.status = all_contacts(context, c, s->velocities, FRIC_OUT_STATUS, 1);
	r.potentials = all_contacts(context, c, s->velocities, FRIC_OUT_POTENTIAL, 1);
	r.n_vectors = r.n * (size_t)s->batch.dim;
	r.forces = all_contacts(context, c, s->velocities, FRIC_OUT_FRICTION_FORCE, (size_t)s->batch.dim);
	r.anchors = all_contacts(context, c, s->velocities, FRIC_OUT_ANCHOR, (size_t)s->batch.dim);
	scene_contacts_free(c);
	return r;
}

static void results_free(struct results *r)
{
	free(r->gradient);
	free(r->inner);
	free(r->csr);
	free(r->ratio);
	free(r->status);
	free(r->potentials);
	free(r->forces);
	free(r->anchors);
}

/* Compares after multiplying x by 2^exponent; numbers that had become subnormal have lost their last bits. */
static void assert_same_scaled(double *x, const double *expected, size_t n, int exponent)
{
	for (size_t i = 0; i < n; i++) {
		const bool subnormal = expected[i] != 0 && fabs(ldexp(expected[i], -exponent)) < 0x1p-1021;
		x[i] = ldexp(x[i], exponent);
		if (subnormal)
			assert_near(x[i], expected[i], ldexp(1, exponent - 1074));
		else
			assert_bits(x[i], expected[i]);
	}
}

/* b is a with velocities times 2^exponent: potentials times that, Hessians divided by it. */
static void compare(const struct results *a, struct results *b, int exponent)
{
	assert_bits(ldexp(b->potential, -exponent), a->potential);
	multiply(b->potentials, b->n, -exponent);
	multiply(b->anchors, b->n_vectors, -exponent);
	assert_all_bits(b->gradient, a->gradient, a->ndof);
	assert_all_bits(b->potentials, a->potentials, a->n);
	assert_same_scaled(b->inner, a->inner, a->n_inner, exponent);
	assert_same_scaled(b->csr, a->csr, a->ndof * a->ndof, exponent);
	assert_all_bits(b->ratio, a->ratio, a->n);
	assert_all_bits(b->status, a->status, a->n);
	assert_all_bits(b->forces, a->forces, a->n_vectors);
	assert_all_bits(b->anchors, a->anchors, a->n_vectors);
}

static void scale_speeds(struct scene *s, int exponent)
{
	s->batch.friction.eps_v = ldexp(s->batch.friction.eps_v, exponent);
	multiply(s->velocities, scene_ndof(s), exponent);
	multiply(s->lagged, scene_ndof(s), exponent);
	struct fric_law *law = &s->batch.friction.law;
	law->stribeck_speed = ldexp(law->stribeck_speed, exponent);
	law->viscous = ldexp(law->viscous, -exponent);
	multiply((double *)law->curve.speeds, law->curve.n, exponent);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const struct fric_group *g = &s->batch.groups[type];
		const struct fric_values speeds[] = {g->eps_v, g->surface_velocity, g->anchor, g->stribeck_speed};
		for (int f = 0; f < 4; f++)
			if (speeds[f].data)
				multiply((double *)speeds[f].data, g->n * speeds[f].stride, exponent);
		if (g->viscous.data)
			multiply((double *)g->viscous.data, g->n, -exponent);
	}
}

/* Some velocities are exactly zero, some tiny compared with eps_v, some huge. */
static void vary_speeds(struct scene *s, struct rng *rng)
{
	for (size_t i = 0; i < scene_ndof(s); i++)
		s->velocities[i] *= below(rng, 3) ? 1 : ldexp(coin(rng), (int)below(rng, 80) - 40);
}

static void test_speeds_by_powers_of_two(void **state)
{
	(void)state;
	const int exponents[] = {-900, -37, -1, 1, 37, 900};
	struct rng rng = {401};
	for (int i = 0; i < N_SCENES; i++) {
		struct scene scene;
		scene_create(&scene, &rng, random_options(&rng, 2 + i % 2));
		if (i % 3 == 0)
			vary_speeds(&scene, &rng);
		struct results plain = evaluate(&serial, &scene);
		for (int e = 0; e < 6; e++) {
			scale_speeds(&scene, exponents[e]);
			struct results scaled = evaluate(&serial, &scene);
			compare(&plain, &scaled, exponents[e]);
			results_free(&scaled);
			scale_speeds(&scene, -exponents[e]);
		}
		results_free(&plain);
		scene_free(&scene);
	}
}

static void scale_lengths(struct scene *s, int exponent)
{
	multiply((double *)s->batch.positions, scene_ndof(s), exponent);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		if (faces_world(type))
			multiply((double *)s->batch.groups[type].plane_origin.data, s->batch.groups[type].n * (size_t)s->batch.dim,
			         exponent);
}

/* Normal forces are given, and lengths are scaled. */
static void test_lengths_by_powers_of_two(void **state)
{
	(void)state;
	const int exponents[] = {-300, -37, -1, 1, 37, 300};
	struct rng rng = {402};
	for (int i = 0; i < N_SCENES; i++) {
		struct options options = random_options(&rng, 2 + i % 2);
		struct scene scene;
		options.barrier = options.given_geometry = false;
		scene_create(&scene, &rng, options);
		struct fric_contacts *c = scene_contacts(&serial, &scene);
		double *distance = all_contacts(&serial, c, scene.velocities, FRIC_OUT_DISTANCE, 1);
		struct results plain = evaluate(&serial, &scene);
		for (int e = 0; e < 6; e++) {
			scale_lengths(&scene, exponents[e]);
			struct results scaled = evaluate(&serial, &scene);
			struct fric_contacts *d = scene_contacts(&serial, &scene);
			double *other = all_contacts(&serial, d, scene.velocities, FRIC_OUT_DISTANCE, 1);
			compare(&plain, &scaled, 0);
			multiply(other, plain.n, -exponents[e]);
			assert_all_bits(other, distance, plain.n);
			scale_lengths(&scene, -exponents[e]);
			results_free(&scaled);
			scene_contacts_free(d);
			free(other);
		}
		scene_contacts_free(c);
		free(distance);
		results_free(&plain);
		scene_free(&scene);
	}
}

/* Multiplying forces and weights by powers of two scales potential, gradient and Hessian. */
static void test_forces_by_powers_of_two(void **state)
{
	(void)state;
	struct rng rng = {403};
	for (int i = 0; i < N_SCENES; i++) {
		struct options options = random_options(&rng, 2 + i % 2);
		struct scene scene;
		options.barrier = false;
		scene_create(&scene, &rng, options);
		struct results plain = evaluate(&serial, &scene);
		const int exponent = (int[]){-600, -450, -60, 60, 450, 600}[i % 6];
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
			multiply((double *)scene.batch.groups[type].normal_force.data, scene.batch.groups[type].n, exponent);
		struct results scaled = evaluate(&serial, &scene);
		const double tolerance = abs(exponent) < 400 ? 0 : 4e-15; /* beyond, long double rounds differently */
		multiply(scaled.gradient, scaled.ndof, -exponent);
		multiply(scaled.inner, scaled.n_inner, -exponent);
		assert_near(ldexp(scaled.potential, -exponent), plain.potential, 100 * tolerance);
		assert_all_near(scaled.gradient, plain.gradient, plain.ndof, tolerance * 1e4);
		assert_all_near(scaled.inner, plain.inner, plain.n_inner, tolerance * largest(plain.inner, plain.n_inner));
		results_free(&plain);
		results_free(&scaled);
		scene_free(&scene);
	}
}

/* One vertex on a floor, compared with the law in long double. */
static void law(long double y, long double e, long double s, long double k, bool cubic, long double *g0,
                long double *g1)
{
	const long double z = y / e, d = k - s;
	if (z >= 1) {
		*g0 = k * y;
		*g1 = k;
	} else if (cubic) {
		*g0 = e * ((17 * k - 7 * s) / 30 + s * (z * z - z * z * z / 3) +
		           d * (1.5L * powl(z, 4) - 1.4L * powl(z, 5) + powl(z, 6) / 3));
		*g1 = s * (2 * z - z * z) + d * (6 * z * z * z - 7 * powl(z, 4) + 2 * powl(z, 5));
	} else {
		const long double mu = 2 * z < 1 ? s + 2 * d * z * z : k - 2 * d * (1 - z) * (1 - z);
		*g0 = e * (2 * z < 1
		               ? (27 * k - 11 * s) / 48 + s * (z * z - z * z * z / 3) + d * (powl(z, 4) - 0.4L * powl(z, 5))
		               : (9 * k - 4 * s) / 15 + (2 * s - k) * z * z + (3 * k - 10 * s / 3) * z * z * z -
		                     2 * d * powl(z, 4) + 0.4L * d * powl(z, 5));
		*g1 = mu * (2 * z - z * z);
	}
}

struct trial {
	double v[2], eps_v, force, mu_s, mu_k;
	bool cubic;
};

static void check_trial(const struct trial *t)
{
	const double normal[3] = {0, 0, 1}, v[3] = {t->v[0], t->v[1], 1e150};
	const int32_t vertex = 0;
	struct fric_batch batch = {.dim = 3, .n_vertices = 1};
	batch.friction = (struct fric_friction){{.transition = t->cubic ? FRIC_CUBIC : FRIC_QUADRATIC},
	                                        t->eps_v,
	                                        FRIC_MU_SCALAR,
	                                        .mu_s = t->mu_s,
	                                        .mu_k = t->mu_k};
	batch.groups[FRIC_PLANE_VERTEX] =
		(struct fric_group){.n = 1, .vertices = &vertex, .normal_force = {&t->force, 0}, .plane_normal = {normal, 0}};
	struct fric_contacts *c;
	struct fric_error error;
	double potential, gradient[3], inner[3];
	long double g0, g1;
	const long double y = hypotl(t->v[0], t->v[1]), s = t->force;
	law(y, t->eps_v, t->mu_s, t->mu_k, t->cubic, &g0, &g1);
	assert_ok(fric_prepare(&serial, &batch, &c, &error));
	const enum fric_code code = fric_evaluate(&serial, c, scene_query(c, v), &potential, gradient, &error);
	const long double most = fmaxl(t->mu_s, t->mu_k), bound = s * most, size = bound * fmaxl(y, t->eps_v);
	if (code != FRIC_OK) {
		assert_code(code, FRIC_E_NOT_FINITE);
		assert_true(size > 1e308L); /* nothing else may be refused */
	} else {
		assert_near(potential, s * g0, 2e-15L * size + 5e-324L);
		for (int i = 0; i < 2; i++) {
			const long double expected = y > 0 ? s * g1 * (t->v[i] / y) : 0;
			const long double tolerance = 2e-15L * (fabsl(expected) + bound * fminl(1, y / t->eps_v)) + 5e-324L;
			assert_near(gradient[i], expected, tolerance);
		}
		assert_true(gradient[2] == 0);
	}
	const enum fric_code hessian = fric_hessian_inner(&serial, c, scene_query(c, v), FRIC_PROJECT_NONE, inner, &error);
	if (hessian != FRIC_OK) {
		assert_code(hessian, FRIC_E_NOT_FINITE);
		assert_true(2 * s * most / t->eps_v > 1e308L);
	} else {
		for (int i = 0; i < 3; i++)
			assert_true(fabs(inner[i]) <= 4 * s * most / t->eps_v + 5e-324L);
	}
	scene_contacts_free(c);
}

static void test_extremes(void **state)
{
	(void)state;
	const double speeds[] = {0, 5e-324, 1e-310, 1e-300, 1e-200, 1e-162, 1e-150, 1e-20, 1, 1e20, 1e150};
	const double eps[] = {1e-150, 1e-100, 1e-3, 1, 1e100, 1e150}, forces[] = {1, 0, 1e-200, 1e200, 1e-308, 1e100};
	enum { N_SPEEDS = sizeof(speeds) / sizeof(speeds[0]) };
	struct rng rng = {404};
	for (int i = 0; i < N_SPEEDS; i++)
		for (int j = 0; j < N_SPEEDS; j++)
			for (int e = 0; e < 6; e++)
				for (int f = 0; f < 6; f++) {
					struct trial t = {{speeds[i], -speeds[j]}, eps[e], forces[f], 0.8, 0.3, coin(&rng)};
					check_trial(&t);
					t.v[0] = eps[e] * uniform(&rng, 0, 1);
					t.v[1] *= uniform(&rng, 0, 1);
					t.mu_k = below(&rng, 3) ? 0.9 : 0;
					check_trial(&t);
				}
}

static void test_random_extremes(void **state)
{
	(void)state;
	struct rng rng = {405};
	for (int i = 0; i < 20000; i++) {
		const double eps = pow(10, uniform(&rng, -150, 150)), near = pow(10, uniform(&rng, -3, 1));
		struct trial t = {.eps_v = eps, .force = pow(10, uniform(&rng, -150, 150)), .cubic = coin(&rng)};
		t.v[0] = eps * near * uniform(&rng, -1, 1);
		t.v[1] = i % 3 ? eps * near * uniform(&rng, -1, 1) : pow(10, uniform(&rng, -300, 150));
		t.mu_s = i % 5 ? uniform(&rng, 0, 1) : pow(10, uniform(&rng, -150, 150));
		t.mu_k = i % 7 ? uniform(&rng, 0, 1) : pow(10, uniform(&rng, -150, 150));
		check_trial(&t);
	}
}

/* For whole batches, either every number is finite or the code reports one that is not. */
static void test_no_nan_escapes(void **state)
{
	(void)state;
	struct rng rng = {406};
	for (int i = 0; i < 300; i++) {
		struct options options = random_options(&rng, 2 + i % 2);
		struct scene scene;
		scene_create(&scene, &rng, options);
		const double scale = pow(10, uniform(&rng, -320, 308));
		scene.batch.friction.eps_v = pow(10, uniform(&rng, -150, 150));
		for (size_t k = 0; k < scene_ndof(&scene); k++)
			scene.velocities[k] *= coin(&rng) ? scale : pow(10, uniform(&rng, -320, 308));
		struct fric_contacts *c = scene_contacts(&serial, &scene);
		const size_t ndof = scene_ndof(&scene), n_inner = fric_n_contacts(c) * 3;
		double potential, *gradient = calloc(ndof, sizeof(double)), *inner = calloc(n_inner + 1, sizeof(double));
		struct fric_error error;
		enum fric_code code = fric_evaluate(&serial, c, scene_query(c, scene.velocities), &potential, gradient, &error);
		assert_true(code == FRIC_OK || code == FRIC_E_NOT_FINITE);
		for (size_t k = 0; k < ndof && code == FRIC_OK; k++)
			assert_true(isfinite(gradient[k]) && isfinite(potential));
		code = fric_hessian_inner(&serial, c, scene_query(c, scene.velocities), FRIC_PROJECT_NONE, inner, &error);
		assert_true(code == FRIC_OK || code == FRIC_E_NOT_FINITE);
		for (size_t k = 0; k < n_inner && code == FRIC_OK; k++)
			assert_true(isfinite(inner[k]) != 0);
		free(gradient);
		free(inner);
		scene_contacts_free(c);
		scene_free(&scene);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_speeds_by_powers_of_two), cmocka_unit_test(test_lengths_by_powers_of_two),
		cmocka_unit_test(test_forces_by_powers_of_two), cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_random_extremes),         cmocka_unit_test(test_no_nan_escapes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

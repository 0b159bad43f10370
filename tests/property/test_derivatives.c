/* Compares the gradient with central differences of the potential, and the Hessian with those of the gradient. */
#include "core/contacts/contacts.h"
#include "tests/property/hessians.h"

enum { N_SCENES = 400 };

/* Whether third derivatives of the law neither jump near z nor are large there. `peak` has four pieces, and the closer
 * its coefficients are, the more sharply the inner two bend. */
static bool smooth_at(const struct fric_law *law, double z, double mu_s, double mu_k, double eps_v)
{
	const enum fric_transition t = law->transition;
	bool between_points = true;
	for (size_t k = 0; law->type == FRIC_CURVE && k < law->curve.n; k++)
		between_points &= fabs((z - 1) * eps_v - law->curve.speeds[k]) > 1e-3 * eps_v;

	const double top = fmax(mu_s, mu_k), w = top > 0 ? (top - fmin(mu_s, mu_k)) / (2 * top) : 0;
	const bool clear = fabs(z - 1) > 1e-3 && fabs(z - 2) > 1e-3 && z > 1e-2 && between_points;
	if (law->type != FRIC_SMOOTH)
		return clear;
	if (t == FRIC_PEAK)
		return clear && fabs(z - 1 + w) > 1e-3 && fabs(z - 1 + w / 2) > 1e-3 && (z < 1 - w || z > 1 || w > 0.1);
	return clear && (t == FRIC_CUBIC || fabs(z - 0.5) > 1e-3);
}

static bool smooth_here(const struct fric_contacts *c, const struct scene *s, const double *v)
{
	double *z = all_contacts(&serial, c, v, FRIC_OUT_SLIP_RATIO, 1),
		   *mu_s = all_contacts(&serial, c, v, FRIC_OUT_MU_S, 1), *mu_k = all_contacts(&serial, c, v, FRIC_OUT_MU_K, 1);
	bool smooth = true;
	for (size_t i = 0; i < fric_n_contacts(c); i++)
		smooth &= z[i] == 0 ||
		          smooth_at(&s->batch.friction.law, z[i], mu_s[i], mu_k[i], *column_at(c->eps_v, i)); /* 0: skipped */
	free(z);
	free(mu_s);
	free(mu_k);
	return smooth;
}

/* Sum of |weight| * normal force times the largest coefficient: the scale for comparing forces. */
static double force_scale(const struct fric_contacts *c, const struct scene *s)
{
	double *force = all_contacts(&serial, c, s->velocities, FRIC_OUT_NORMAL_FORCE, 1), total = 0;
	for (size_t i = 0; i < fric_n_contacts(c); i++)
		total += force[i];
	free(force);
	return 1 + total * 4;
}

static void get(const struct fric_contacts *c, const double *v, double *potential, double *gradient)
{
	struct fric_error error;
	assert_ok(fric_evaluate(&serial, c, scene_query(c, v), potential, gradient, &error));
}

/* The narrower the range of speeds over which a law changes, the larger its third derivatives. */
static double tolerance_of(const struct fric_law *law)
{
	if (law->type != FRIC_SMOOTH)
		return law->type == FRIC_CURVE ? 2e-7 : 5e-9;
	return law->transition == FRIC_PEAK ? 8e-10 : 4e-10;
}

static void check_gradient(const struct fric_contacts *c, const struct scene *s)
{
	const size_t ndof = scene_ndof(s);
	const double h = 1e-5 * 1e-3, scale = force_scale(c, s);
	const double tolerance = tolerance_of(&s->batch.friction.law);
	double *gradient = calloc(ndof, sizeof(double)), *v = s->velocities;
	get(c, v, NULL, gradient);
	for (size_t i = 0; i < ndof; i++) {
		double up, down;
		const double at = v[i];
		v[i] = at + h;
		get(c, v, &up, NULL);
		v[i] = at - h;
		get(c, v, &down, NULL);
		assert_near((up - down) / ((at + h) - (at - h)), gradient[i], tolerance * scale);
		v[i] = at;
	}
	free(gradient);
}

static void check_hessian(const struct fric_contacts *c, const struct scene *s)
{
	const size_t ndof = scene_ndof(s);
	const double h = 1e-5 * 1e-3, scale = force_scale(c, s) / 1e-3;
	double *inner = inner_matrices(&serial, c, s->velocities, FRIC_PROJECT_NONE);
	double *hessian = dense_from_csr(c, inner, FRIC_FULL), *v = s->velocities;
	double *up = calloc(2 * ndof, sizeof(double)), *down = up + ndof;
	for (size_t i = 0; i < ndof; i++) {
		const double at = v[i];
		v[i] = at + h;
		get(c, v, NULL, up);
		v[i] = at - h;
		get(c, v, NULL, down);
		v[i] = at;
		for (size_t j = 0; j < ndof; j++)
			assert_near((up[j] - down[j]) / ((at + h) - (at - h)), hessian[j * ndof + i], 2e-8 * scale);
	}
	free(inner);
	free(hessian);
	free(up);
}

/* Steps and tolerances are chosen for closest points of order 1. */
static bool moderate(const struct fric_contacts *c)
{
	double most = 0;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const size_t n = fric_group_size(c, type) * (size_t)fric_stencil_size(type);
		double *w = calloc(n + 1, sizeof(double));
		assert_int_equal(
			fric_stencil_weights(&serial, c, type, w, &(struct fric_error){FRIC_OK, FRIC_VERTEX_VERTEX, 0}), FRIC_OK);
		most = fmax(most, largest(w, n));
		free(w);
	}
	return most < 10;
}

static void for_all(int dim, uint64_t seed, void (*check)(const struct fric_contacts *, const struct scene *))
{
	struct rng rng = {seed};
	int n_checked = 0, n_tried = 0;
	while (n_checked < N_SCENES) {
		struct scene scene;
		scene_create(&scene, &rng, random_options(&rng, dim));
		struct fric_contacts *c = scene_contacts(&serial, &scene);
		if (moderate(c) && smooth_here(c, &scene, scene.velocities)) {
			check(c, &scene);
			n_checked++;
		}
		scene_contacts_free(c);
		scene_free(&scene);
		assert_true(n_tried++ < 20 * N_SCENES);
	}
}

static void test_gradient_3d(void **state)
{
	(void)state;
	for_all(3, 101, check_gradient);
}

static void test_gradient_2d(void **state)
{
	(void)state;
	for_all(2, 102, check_gradient);
}

static void test_hessian_3d(void **state)
{
	(void)state;
	for_all(3, 103, check_hessian);
}

static void test_hessian_2d(void **state)
{
	(void)state;
	for_all(2, 104, check_hessian);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gradient_3d),
		cmocka_unit_test(test_gradient_2d),
		cmocka_unit_test(test_hessian_3d),
		cmocka_unit_test(test_hessian_2d),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

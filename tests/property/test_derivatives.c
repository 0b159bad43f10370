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

/* The potential, or the gradient, at v with its entry i changed by h, minus the same at -h, over 2 h. */
static void central_difference(const struct fric_contacts *c, double *v, size_t i, double h, bool of_potential,
                               double *out)
{
	const double at = v[i];
	const size_t n = of_potential ? 1 : fric_n_dofs(c);
	double *down = calloc(n, sizeof(double));
	v[i] = at + h;
	get(c, v, of_potential ? out : NULL, of_potential ? NULL : out);
	v[i] = at - h;
	get(c, v, of_potential ? down : NULL, of_potential ? NULL : down);
	v[i] = at;
	for (size_t j = 0; j < n; j++)
		out[j] = (out[j] - down[j]) / ((at + h) - (at - h));
	free(down);
}

/* Compares derivatives with differences. The error of a central difference is about a third of how much it changes when
 * the step is doubled; `rounding` is added to that. */
static void check_column(const struct fric_contacts *c, double *v, size_t i, bool of_potential, const double *column,
                         double rounding)
{
	const double h = 1e-5 * 1e-3;
	const size_t n = of_potential ? 1 : fric_n_dofs(c);
	double *near = calloc(2 * n, sizeof(double)), *far = near + n;
	central_difference(c, v, i, h, of_potential, near);
	central_difference(c, v, i, 2 * h, of_potential, far);
	for (size_t j = 0; j < n; j++)
		assert_near(near[j], column[j], rounding + fabs(near[j] - far[j]));
	free(near);
}

static void check_gradient(const struct fric_contacts *c, const struct scene *s)
{
	const size_t ndof = scene_ndof(s);
	const double rounding = 4e-10 * force_scale(c, s);
	double *gradient = calloc(ndof, sizeof(double));
	get(c, s->velocities, NULL, gradient);
	for (size_t i = 0; i < ndof; i++)
		check_column(c, s->velocities, i, true, &gradient[i], rounding);
	free(gradient);
}

static void check_hessian(const struct fric_contacts *c, const struct scene *s)
{
	const size_t ndof = scene_ndof(s);
	const double rounding = 1e-8 * force_scale(c, s) / 1e-3;
	double *inner = inner_matrices(&serial, c, s->velocities, FRIC_PROJECT_NONE);
	double *hessian = dense_from_csr(c, inner, FRIC_FULL); /* symmetric: rows are columns */
	for (size_t i = 0; i < ndof; i++)
		check_column(c, s->velocities, i, false, hessian + i * ndof, rounding);
	free(inner);
	free(hessian);
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

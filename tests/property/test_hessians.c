/* Symmetry, formats and projections of Hessians of random batches. */
#include "tests/property/hessians.h"
#include "tests/share.h"

enum { N_SCENES = 300 };

static void for_scenes(uint64_t seed, void (*check)(const struct fric_contacts *, const struct scene *))
{
	struct rng rng = {seed};
	for (int i = 0; i < N_SCENES; i += step_sanitized(5)) {
		struct scene scene;
		scene_create(&scene, &rng, random_options(&rng, 2 + i % 2));
		struct fric_contacts *c = scene_contacts(&serial, &scene);
		check(c, &scene);
		scene_contacts_free(c);
		scene_free(&scene);
	}
}

static void check_symmetry(const struct fric_contacts *c, const struct scene *s)
{
	const size_t ndof = scene_ndof(s);
	for (enum fric_projection p = FRIC_PROJECT_NONE; p <= FRIC_PROJECT_ABS; p++) {
		double *inner = inner_matrices(&serial, c, s->velocities, p), *dense = dense_from_csr(c, inner, FRIC_FULL);
		for (size_t i = 0; i < ndof; i++)
			for (size_t j = 0; j < i; j++)
				assert_true(dense[i * ndof + j] == dense[j * ndof + i]);
		free(inner);
		free(dense);
	}
}

static void test_symmetry(void **state)
{
	(void)state;
	for_scenes(301, check_symmetry);
}

static void check_formats(const struct fric_contacts *c, const struct scene *s)
{
	const size_t ndof = scene_ndof(s);
	double *inner = inner_matrices(&serial, c, s->velocities, FRIC_PROJECT_NONE);
	double *csr = dense_from_csr(c, inner, FRIC_FULL), *triplets = dense_from_triplets(c, inner, FRIC_FULL);
	double *factors = dense_from_factors(c, &s->batch, s->velocities, inner);
	for (size_t i = 0; i < ndof * ndof; i++)
		assert_true(csr[i] == triplets[i]);
	assert_all_near(factors, csr, ndof * ndof, 1e-14 * largest(csr, ndof * ndof));
	for (enum fric_triangle t = FRIC_UPPER; t <= FRIC_LOWER; t++) {
		double *half = dense_from_csr(c, inner, t), *other = dense_from_triplets(c, inner, t);
		for (size_t i = 0; i < ndof * ndof; i++) {
			const bool inside = t == FRIC_UPPER ? i / ndof <= i % ndof : i / ndof >= i % ndof;
			assert_true(half[i] == (inside ? csr[i] : 0));
			assert_true(other[i] == half[i]);
		}
		free(half);
		free(other);
	}
	free(inner);
	free(csr);
	free(triplets);
	free(factors);
}

static void test_formats_agree(void **state)
{
	(void)state;
	for_scenes(302, check_formats);
}

/* Eigenvalues of a symmetric matrix by Jacobi rotations; on return they are the diagonal of a. */
static void rotate_pair(double *a, size_t n, size_t p, size_t q)
{
	const double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
	const double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
	for (size_t k = 0; k < n; k++) {
		const double x = a[k * n + p], y = a[k * n + q];
		a[k * n + p] = c * x - s * y;
		a[k * n + q] = s * x + c * y;
	}
	for (size_t k = 0; k < n; k++) {
		const double x = a[p * n + k], y = a[q * n + k];
		a[p * n + k] = c * x - s * y;
		a[q * n + k] = s * x + c * y;
	}
}

static double smallest_eigenvalue(double *a, size_t n)
{
	const double negligible = 1e-15 * largest(a, n * n);
	double most = 2 * negligible, smallest = INFINITY;
	for (int sweep = 0; sweep < 30 && most > negligible; sweep++) {
		most = 0;
		for (size_t p = 0; p < n; p++)
			for (size_t q = p + 1; q < n; q++)
				if (fabs(a[p * n + q]) > negligible) {
					most = fmax(most, fabs(a[p * n + q]));
					rotate_pair(a, n, p, q);
				}
	}
	assert_true(most <= negligible);
	for (size_t i = 0; i < n; i++)
		smallest = fmin(smallest, a[i * n + i]);
	return smallest;
}

static void test_the_eigen_solver_itself(void **state)
{
	(void)state;
	double a[9] = {2, -1, 0, -1, 2, -1, 0, -1, 2}, b[4] = {1, 2, 2, 1};
	assert_near(smallest_eigenvalue(a, 3), 2 - sqrt(2), 1e-15);
	assert_near(smallest_eigenvalue(b, 2), -1, 1e-15);
}

static void check_psd(const struct fric_contacts *c, const struct scene *s)
{
	const size_t ndof = scene_ndof(s);
	for (enum fric_projection p = FRIC_PROJECT_CLAMP; p <= FRIC_PROJECT_ABS; p++) {
		double *inner = inner_matrices(&serial, c, s->velocities, p), *dense = dense_from_csr(c, inner, FRIC_FULL);
		const double most = largest(dense, ndof * ndof);
		assert_true(smallest_eigenvalue(dense, ndof) >= -1e-13 * most);
		free(inner);
		free(dense);
	}
}

static void test_projections_are_psd(void **state)
{
	(void)state;
	for_scenes(303, check_psd);
}

struct eigenvalues {
	double low, high;
};

static struct eigenvalues of_inner(const double *a, int dim)
{
	if (dim == 2)
		return (struct eigenvalues){a[0], a[0]};
	const double mean = (a[0] + a[2]) / 2, radius = hypot((a[0] - a[2]) / 2, a[1]);
	return (struct eigenvalues){mean - radius, mean + radius};
}

/* Without velocity scaling, eigenvalues become max(., 0) or |.|, and a matrix that is already definite keeps its
 * bits. */
static void check_eigenvalues(const struct fric_contacts *c, const struct scene *s)
{
	const size_t m = (size_t)fric_inner_size(s->batch.dim);
	if (s->options.mu_aniso)
		return;
	double *none = inner_matrices(&serial, c, s->velocities, FRIC_PROJECT_NONE);
	double *clamp = inner_matrices(&serial, c, s->velocities, FRIC_PROJECT_CLAMP);
	double *magnitude = inner_matrices(&serial, c, s->velocities, FRIC_PROJECT_ABS);
	for (size_t i = 0; i < fric_n_contacts(c); i++) {
		const struct eigenvalues e = of_inner(none + i * m, s->batch.dim);
		const struct eigenvalues p = of_inner(clamp + i * m, s->batch.dim);
		const struct eigenvalues q = of_inner(magnitude + i * m, s->batch.dim);
		const double most = fmax(fabs(e.low), fabs(e.high)), tolerance = 4e-15 * most;
		assert_near(p.low, fmax(e.low, 0), tolerance);
		assert_near(p.high, fmax(e.high, 0), tolerance);
		assert_near(q.low, fmin(fabs(e.low), fabs(e.high)), tolerance);
		assert_near(q.high, most, tolerance);
		if (e.low > tolerance) {
			assert_all_bits(clamp + i * m, none + i * m, m);
			assert_all_bits(magnitude + i * m, none + i * m, m);
		}
	}
	free(none);
	free(clamp);
	free(magnitude);
}

static void test_projected_eigenvalues(void **state)
{
	(void)state;
	for_scenes(304, check_eigenvalues);
}

/* Scaling is a congruence transformation of the projected matrix, which stays definite; a definite matrix is
 * unchanged. */
static void check_definite_stays(const struct fric_contacts *c, const struct scene *s)
{
	const size_t m = (size_t)fric_inner_size(s->batch.dim);
	double *none = inner_matrices(&serial, c, s->velocities, FRIC_PROJECT_NONE);
	double *clamp = inner_matrices(&serial, c, s->velocities, FRIC_PROJECT_CLAMP);
	double *magnitude = inner_matrices(&serial, c, s->velocities, FRIC_PROJECT_ABS);
	for (size_t i = 0; i < fric_n_contacts(c); i++) {
		const struct eigenvalues e = of_inner(none + i * m, s->batch.dim);
		if (e.low > 1e-14 * e.high) {
			assert_all_bits(clamp + i * m, none + i * m, m);
			assert_all_bits(magnitude + i * m, none + i * m, m);
		}
		assert_true(of_inner(clamp + i * m, s->batch.dim).low >= -1e-15 * fmax(fabs(e.low), fabs(e.high)));
		assert_true(of_inner(magnitude + i * m, s->batch.dim).low >= -1e-15 * fmax(fabs(e.low), fabs(e.high)));
	}
	free(none);
	free(clamp);
	free(magnitude);
}

static void test_definite_contacts_are_untouched(void **state)
{
	(void)state;
	for_scenes(305, check_definite_stays);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symmetry),
		cmocka_unit_test(test_formats_agree),
		cmocka_unit_test(test_the_eigen_solver_itself),
		cmocka_unit_test(test_projections_are_psd),
		cmocka_unit_test(test_projected_eigenvalues),
		cmocka_unit_test(test_definite_contacts_are_untouched),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

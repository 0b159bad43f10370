/* Compares the Jacobian of the gradient with respect to positions with differences of gradients, kernels with the plain
 * form, and triplets with rows. */
#include "core/derive/jacobian.h"
#include "tests/property/boundaries.h"
#include "tests/share.h"

struct subject {
	struct scene scene;
	struct fric_contacts *contacts;
	struct fric_query query;
	struct fric_derivation derivation;
	size_t n_dofs, n_columns;
};

static void subject_prepare(struct subject *s, bool follow)
{
	s->contacts = scene_contacts(&serial, &s->scene);
	s->query = *scene_query(s->contacts, s->scene.velocities);
	s->derivation = (struct fric_derivation){.batch = &s->scene.batch,
	                                         .contacts = s->contacts,
	                                         .query = &s->query,
	                                         .slip_velocities = s->query.state ? s->scene.lagged : NULL,
	                                         .vertices_follow = follow};
	s->n_dofs = scene_ndof(&s->scene);
	s->n_columns = s->scene.batch.n_vertices * (size_t)s->scene.batch.dim;
}

static void subject_create(struct subject *s, struct rng *rng, struct options options, bool follow)
{
	scene_create(&s->scene, rng, options);
	subject_prepare(s, follow);
}

static void subject_free(struct subject *s)
{
	scene_contacts_free(s->contacts);
	scene_free(&s->scene);
}

/* The whole matrix [n_dofs, n_columns], from triplets. */
static double *whole_matrix(const struct fric_context *context, const struct subject *s)
{
	const size_t n = fric_n_jacobian_triplets(s->contacts);
	struct fric_error error;
	int32_t *rows = malloc((n + 1) * sizeof(*rows)), *cols = malloc((n + 1) * sizeof(*cols));
	double *values = malloc((n + 1) * sizeof(double)), *all = calloc(s->n_dofs * s->n_columns + 1, sizeof(double));
	assert_true(rows && cols && values && all);
	assert_ok(fric_position_jacobian_triplets(context, &s->derivation, rows, cols, values, &error));
	for (size_t i = 0; i < n; i++) {
		assert_in_range(rows[i], 0, s->n_dofs - 1);
		assert_in_range(cols[i], 0, s->n_columns - 1);
		all[(size_t)rows[i] * s->n_columns + (size_t)cols[i]] += values[i];
	}
	free(rows);
	free(cols);
	free(values);
	return all;
}

/* The gradient after moving one coordinate. Effective coefficients follow if the derivation says so; otherwise they
 * keep their directions. */
static void gradient_at(const struct subject *s, size_t column, double step, double *gradient)
{
	struct fric_batch batch = s->scene.batch;
	struct fric_contacts *contacts;
	struct fric_state *state = NULL;
	struct fric_error error;
	double *positions = malloc(s->n_columns * sizeof(double));
	memcpy(positions, batch.positions, s->n_columns * sizeof(double));
	positions[column] += step;
	batch.positions = positions;
	assert_ok(fric_prepare(&serial, &batch, &contacts, &error));
	if (s->derivation.vertices_follow)
		assert_ok(fric_state_create(&serial, contacts, s->scene.lagged, &state, &error));
	const struct fric_query query = {.velocities = s->scene.velocities, .state = state};
	assert_ok(fric_evaluate(&serial, contacts, &query, NULL, gradient, &error));
	fric_state_free(state);
	fric_contacts_free(contacts);
	free(positions);
}

/* Compares with (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h, whose error is of order h^4. It is larger if a contact is
 * within a step of a knot of its law, so entries may differ in a few columns. */
static void check_differences(struct subject *s)
{
	const double h = 1e-5;
	double *all = whole_matrix(&serial, s), *g[4];
	const double scale = largest(all, s->n_dofs * s->n_columns);
	size_t n_off = 0;
	for (int k = 0; k < 4; k++)
		g[k] = malloc(s->n_dofs * sizeof(double));
	for (size_t column = 0; column < s->n_columns; column++) {
		const double steps[4] = {h, -h, 2 * h, -2 * h};
		bool off = false;
		for (int k = 0; k < 4; k++)
			gradient_at(s, column, steps[k], g[k]);
		for (size_t row = 0; row < s->n_dofs; row++) {
			const double expected = (8 * (g[0][row] - g[1][row]) - (g[2][row] - g[3][row])) / (12 * h);
			off |= !(fabs(all[row * s->n_columns + column] - expected) <= 1e-6 * scale);
		}
		n_off += off;
	}
	if (n_off > s->n_columns / 8)
		print_error("%zu of %zu columns are off\n", n_off, s->n_columns);
	assert_true(n_off <= s->n_columns / 8);
	for (int k = 0; k < 4; k++)
		free(g[k]);
	free(all);
}

static struct options any_options(struct rng *rng, int dim)
{
	struct options o = random_options(rng, dim);
	o.n_vertices = 30;
	return o;
}

static void test_differences(void **state)
{
	(void)state;
	struct rng rng = {41};
	for (int i = 0; i < 120; i += step_sanitized(5)) {
		struct subject s;
		struct options o = any_options(&rng, 2 + i % 2);
		const bool follow = coin(&rng);
		o.ellipses &= follow; /* otherwise the differences would have to keep directions fixed */
		subject_create(&s, &rng, o, follow);
		check_differences(&s);
		subject_free(&s);
	}
}

/* Difference between a contact's derivatives with respect to one vector and those of the plain form, relative to the
 * largest of them. */
static double distance_of(const struct jacobian_local *a, const struct jacobian_local *b, int v)
{
	double most = 0, off = 0, point = 0, point_off = 0;
	for (int e = 0; e < 9; e++) {
		most = fmax(most, fabs(b->force_by[v][e]));
		off = fmax(off, fabs(a->force_by[v][e] - b->force_by[v][e]));
	}
	for (int e = 0; e < 6; e++) {
		point = fmax(point, fabs(b->point_by[e / 3][3 * v + e % 3]));
		point_off = fmax(point_off, fabs(a->point_by[e / 3][3 * v + e % 3] - b->point_by[e / 3][3 * v + e % 3]));
	}
	return fmax(most > 0 ? off / most : off, point > 0 ? point_off / point : point_off);
}

/* Kernels agree with the plain form, and all kernels give the same bits.
 * @return number of contacts computed by kernels */
static size_t check_span(const struct subject *s, struct span span)
{
	static const char *const names[] = {"baseline", "avx2", "avx512"};
	struct jacobian_local locals[FRIC_SPAN], first[FRIC_SPAN], plain;
	size_t n_fast = 0;
	for (int k = 0; k < 3; k++) {
		const struct fric_context context = {.n_threads = 1, .kernels = fric_kernels_find(names[k])};
		struct fault fault = {FRIC_OK, 0};
		struct jacobian_task task;
		if (!context.kernels)
			continue;
		fricp_jacobian_task(&context, &s->derivation, &task);
		fricp_jacobian_span(&task, span, false, k == 0 ? first : locals, &fault);
		assert_code(fault.code, FRIC_OK);
		if (k > 0)
			assert_memory_equal(locals, first, span.n * sizeof(plain));
		for (size_t j = 0; k == 0 && j < span.n; j++) {
			assert_true(fricp_jacobian_plain(&task, span.type, span.begin + j, &plain));
			n_fast += memcmp(&plain, &first[j], sizeof(plain)) != 0;
			for (int v = 0; v < 3; v++)
				assert_near(distance_of(&first[j], &plain, v), 0, 2e-12);
		}
	}
	return n_fast;
}

static size_t check_kernels(const struct subject *s)
{
	const struct fric_contacts *c = s->contacts;
	size_t n_fast = 0;
	for (size_t slot = 0; slot < span_slots(c->n); slot++)
		if (c->extents[slot].begin >= 0)
			n_fast += check_span(s, span_at(c, (size_t)c->extents[slot].begin));
	return n_fast;
}

static void test_kernels(void **state)
{
	(void)state;
	struct rng rng = {42};
	size_t n_fast = 0;
	for (int i = 0; i < 200; i += step_in_share(3, 5)) {
		struct subject s;
		struct options o = any_options(&rng, 3);
		o.n_each = 1 + below(&rng, 200);
		o.n_vertices = 200;
		o.grain = false;
		o.given_geometry = false;
		o.source = FRIC_MU_SCALAR;
		subject_create(&s, &rng, o, false);
		n_fast += check_kernels(&s);
		subject_free(&s);
	}
	assert_true(n_fast > 50000 / (size_t)step_in_share(3, 5));
}

/* Nearly degenerate contacts take the plain form, wherever they are in a span. */
static void test_kernels_beside_degenerate_contacts(void **state)
{
	(void)state;
	struct rng rng = {44};
	for (int i = 0; i < 20; i += step_sanitized(5)) {
		struct subject s;
		struct options o = any_options(&rng, 3);
		o.n_each = 150;
		o.disjoint = true;
		o.grain = o.given_geometry = false;
		o.source = FRIC_MU_SCALAR;
		scene_create(&s.scene, &rng, o);
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
			degrade(&s.scene, &rng, type);
		subject_prepare(&s, false);
		check_kernels(&s);
		subject_free(&s);
	}
}

static void check_rows(const struct subject *s, int n_threads)
{
	const struct fric_context context = {.n_threads = n_threads, .parallel_from = 1};
	struct fric_pattern *pattern;
	struct fric_error error;
	double *all = whole_matrix(&context, s);
	assert_ok(fric_jacobian_pattern_create(&context, s->contacts, &pattern, &error));
	assert_int_equal(fric_pattern_n_rows(pattern), s->n_dofs);
	double *data = malloc((fric_pattern_n_entries(pattern) + 1) * sizeof(double));
	const int64_t *indptr = fric_pattern_indptr(pattern);
	const int32_t *indices = fric_pattern_indices(pattern);
	assert_ok(fric_position_jacobian_csr(&context, &s->derivation, pattern, data, &error));
	for (size_t row = 0; row < s->n_dofs; row++)
		for (int64_t e = indptr[row]; e < indptr[row + 1]; e++) {
			double *entry = &all[row * s->n_columns + (size_t)indices[e]];
			assert_bits(data[e] + 0.0, *entry + 0.0);
			*entry = 0;
		}
	for (size_t e = 0; e < s->n_dofs * s->n_columns; e++)
		assert_true(all[e] == 0);
	fric_pattern_free(pattern);
	free(data);
	free(all);
}

static void test_rows(void **state)
{
	(void)state;
	struct rng rng = {43};
	for (int i = 0; i < 60; i += step_sanitized(5)) {
		struct subject s;
		struct options o = any_options(&rng, 2 + i % 2);
		o.n_each = below(&rng, 100);
		subject_create(&s, &rng, o, coin(&rng));
		check_rows(&s, 1);
		check_rows(&s, 3);
		subject_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_kernels_beside_degenerate_contacts),
		cmocka_unit_test(test_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The barrier's sums over many contacts that share vertices: the same bits with all kernels and threads, both terms
 * together, invariances, outputs per contact, skipped contacts. */
#include <math.h>
#include <stdlib.h>

#include "tests/property/barrier_scene.h"

/* ---- results ---- */

struct results {
	double potential, gradient[MOST_DOFS], products[2 * MOST_DOFS], *csr, *triplets, *inner;
	size_t n_csr, n_triplets, n_inner;
};

static void compute(const struct fric_context *context, const struct scene *s, const double *current_positions,
                    unsigned terms, enum fric_projection projection, struct results *r)
{
	struct fric_contacts *contacts;
	struct fric_current *current;
	struct fric_pattern *pattern;
	struct fric_error error;
	assert_ok(fric_prepare(context, &s->batch, &contacts, &error));
	assert_ok(fric_current_create(context, contacts, current_positions, &current, &error));
	const struct fric_query query = {
		.velocities = s->velocities, .terms = terms, .current = current, .time_step = 0.25};
	r->n_inner = fric_n_inner(contacts);
	r->n_triplets = fric_n_triplets(contacts, FRIC_FULL);
	r->inner = malloc(r->n_inner * sizeof(double));
	r->triplets = malloc(r->n_triplets * sizeof(double));
	assert_ok(fric_evaluate(context, contacts, &query, &r->potential, r->gradient, &error));
	assert_ok(fric_hessian_inner(context, contacts, &query, projection, r->inner, &error));
	assert_ok(fric_hessian_triplets(context, contacts, r->inner, FRIC_FULL, NULL, NULL, r->triplets, &error));
	assert_ok(fric_pattern_create(context, contacts, FRIC_FULL, &pattern, &error));
	r->n_csr = fric_pattern_n_entries(pattern);
	r->csr = malloc(r->n_csr * sizeof(double));
	assert_ok(fric_hessian_csr(context, contacts, r->inner, pattern, r->csr, &error));
	double vectors[2 * MOST_DOFS];
	for (size_t i = 0; i < 2 * s->n_dofs; i++)
		vectors[i] = (double)(i * 37 % 101) - 50;
	assert_ok(fric_hessian_products(context, contacts, &query, projection, 2, vectors, r->products, &error));
	/* the products of the matrix */
	double largest = 0;
	for (size_t i = 0; i < s->n_dofs; i++)
		largest = fmax(largest, fabs(r->products[i]));
	for (size_t row = 0; row < s->n_dofs; row++) {
		double sum = 0;
		for (int64_t e = fric_pattern_indptr(pattern)[row]; e < fric_pattern_indptr(pattern)[row + 1]; e++)
			sum += r->csr[e] * vectors[fric_pattern_indices(pattern)[e]];
		assert_true(fabs(sum - r->products[row]) <= 1e-12 * largest);
	}
	/* the same matrix in a triangle, and in blocks */
	struct fric_pattern *upper;
	assert_ok(fric_pattern_create(context, contacts, FRIC_UPPER, &upper, &error));
	double *half = malloc(fric_pattern_n_entries(upper) * sizeof(double));
	assert_ok(fric_hessian_csr(context, contacts, r->inner, upper, half, &error));
	for (size_t row = 0, at = 0; row < s->n_dofs; row++)
		for (int64_t e = fric_pattern_indptr(pattern)[row]; e < fric_pattern_indptr(pattern)[row + 1]; e++)
			if ((size_t)fric_pattern_indices(pattern)[e] >= row)
				assert_true(half[at++] == r->csr[e]);
	const size_t d = (size_t)s->dim, blocks = fric_pattern_n_blocks(pattern);
	int64_t starts[N_VERTICES + 1];
	double *bsr = malloc(blocks * d * d * sizeof(double));
	assert_ok(fric_pattern_blocks(context, pattern, starts, NULL, &error));
	assert_ok(fric_hessian_bsr(context, contacts, r->inner, pattern, starts, bsr, &error));
	for (size_t v = 0; v < N_VERTICES; v++)
		for (int64_t b = starts[v]; b < starts[v + 1]; b++)
			for (size_t e = 0; e < d * d; e++)
				assert_true(
					bsr[(size_t)b * d * d + e] ==
					r->csr[(size_t)fric_pattern_indptr(pattern)[d * v + e / d] + (size_t)(b - starts[v]) * d + e % d]);
	free(bsr);
	free(half);
	fric_pattern_free(upper);
	fric_pattern_free(pattern);
	fric_current_free(current);
	fric_contacts_free(contacts);
}

static void release(struct results *r)
{
	free(r->inner);
	free(r->triplets);
	free(r->csr);
}

static bool same(const double *x, const double *y, size_t n)
{
	return memcmp(x, y, n * sizeof(*x)) == 0;
}

static void expect_same(const struct scene *s, const struct results *a, const struct results *b)
{
	assert_true(a->potential == b->potential);
	assert_true(same(a->gradient, b->gradient, s->n_dofs));
	assert_true(same(a->inner, b->inner, a->n_inner));
	assert_true(same(a->triplets, b->triplets, a->n_triplets));
	assert_true(same(a->csr, b->csr, a->n_csr));
	assert_true(same(a->products, b->products, 2 * s->n_dofs));
}

static void expect_finite(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_true(isfinite(x[i]));
}

/* ---- tests ---- */

static void test_same_bits(void **state)
{
	(void)state;
	static const char *const names[] = {"avx2", "baseline", "scalar"};
	static struct scene s;
	for (int dim = 2; dim <= 3; dim++)
		for (int searched = 0; searched < 2; searched++)
			for (enum fric_projection projection = FRIC_PROJECT_NONE; projection <= FRIC_PROJECT_ABS; projection++) {
				struct results first, other;
				make_scene(dim, searched ? FRIC_FEATURES_SEARCH : FRIC_FEATURES_GIVEN, &s);
				s.batch.barrier.type = (enum fric_barrier_type)((int)projection + 2 * searched);
				const unsigned terms = FRIC_TERM_BARRIER | (projection == FRIC_PROJECT_CLAMP ? FRIC_TERM_FRICTION : 0);
				compute(&serial, &s, s.current, terms, projection, &first);
				expect_finite(first.triplets, first.n_triplets);
				for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
					const struct fric_context context = {.n_threads = 1, .kernels = fric_kernels_find(names[k])};
					if (!context.kernels)
						continue;
					compute(&context, &s, s.current, terms, projection, &other);
					expect_same(&s, &first, &other);
					release(&other);
				}
				for (int threads = 2; threads <= 4; threads++) {
					const struct fric_context context = {.n_threads = threads, .parallel_from = 1};
					compute(&context, &s, s.current, terms, projection, &other);
					expect_same(&s, &first, &other);
					release(&other);
				}
				release(&first);
			}
}

static void expect_sum(const double *both, const double *one, const double *other, size_t n)
{
	double largest = 0;
	for (size_t i = 0; i < n; i++)
		largest = fmax(largest, fmax(fabs(one[i]), fabs(other[i])));
	for (size_t i = 0; i < n; i++)
		assert_true(fabs(both[i] - one[i] - other[i]) <= 1e-13 * largest);
}

static void test_both_terms(void **state)
{
	(void)state;
	static struct scene s;
	for (int dim = 2; dim <= 3; dim++) {
		struct results both, friction, barrier;
		make_scene(dim, FRIC_FEATURES_SEARCH, &s);
		compute(&serial, &s, s.current, FRIC_TERM_FRICTION | FRIC_TERM_BARRIER, FRIC_PROJECT_CLAMP, &both);
		compute(&serial, &s, s.current, FRIC_TERM_FRICTION, FRIC_PROJECT_CLAMP, &friction);
		compute(&serial, &s, s.current, FRIC_TERM_BARRIER, FRIC_PROJECT_CLAMP, &barrier);
		expect_sum(&both.potential, &friction.potential, &barrier.potential, 1);
		expect_sum(both.gradient, friction.gradient, barrier.gradient, s.n_dofs);
		expect_sum(both.csr, friction.csr, barrier.csr, both.n_csr);
		expect_sum(both.triplets, friction.triplets, barrier.triplets, both.n_triplets);
		expect_sum(both.products, friction.products, barrier.products, 2 * s.n_dofs);
		/* a batch prepared for the barrier alone needs neither positions nor friction */
		struct results alone;
		s.batch.terms = FRIC_TERM_BARRIER;
		s.batch.positions = NULL;
		s.batch.friction = (struct fric_friction){.eps_v = 0};
		compute(&serial, &s, s.current, FRIC_TERM_BARRIER, FRIC_PROJECT_CLAMP, &alone);
		expect_same(&s, &barrier, &alone);
		release(&alone);
		release(&both);
		release(&friction);
		release(&barrier);
	}
}

/* Contacts of both terms contain those of friction alone. */
static void test_friction_of_both(void **state)
{
	(void)state;
	static struct scene s;
	const struct fric_context context = {.n_threads = 1};
	for (int dim = 2; dim <= 3; dim++) {
		struct fric_contacts *made[3];
		struct fric_error error;
		double *inner[2];
		make_scene(dim, FRIC_FEATURES_SEARCH, &s);
		const unsigned terms[] = {FRIC_TERM_FRICTION, FRIC_TERM_FRICTION | FRIC_TERM_BARRIER, FRIC_TERM_BARRIER};
		for (int i = 0; i < 3; i++) {
			s.batch.terms = terms[i];
			assert_ok(fric_prepare(&context, &s.batch, &made[i], &error));
		}
		assert_ptr_equal(fric_friction_contacts(made[0]), made[0]);
		assert_ptr_equal(fric_friction_contacts(made[2]), made[2]);
		const size_t n = fric_n_inner(made[0]);
		assert_true(fric_n_inner(made[1]) > n);
		for (int i = 0; i < 2; i++) {
			const struct fric_contacts *friction = fric_friction_contacts(made[i]);
			const struct fric_query query = {.velocities = s.velocities};
			assert_int_equal(fric_n_inner(friction), n);
			inner[i] = malloc(n * sizeof(double));
			assert_ok(fric_hessian_inner(&context, friction, &query, FRIC_PROJECT_CLAMP, inner[i], &error));
		}
		assert_true(same(inner[0], inner[1], n));
		for (int i = 0; i < 2; i++)
			free(inner[i]);
		for (int i = 0; i < 3; i++)
			fric_contacts_free(made[i]);
	}
}

/* Without planes, forces and torques add up to zero, and rigid motions turn forces. */
static void test_invariances(void **state)
{
	(void)state;
	static struct scene s;
	struct results here, there;
	double sum[3] = {0}, torque[3] = {0}, largest = 0, moved[MOST_DOFS];
	make_scene(3, FRIC_FEATURES_SEARCH, &s);
	s.batch.groups[FRIC_PLANE_VERTEX] = (struct fric_group){0};
	compute(&serial, &s, s.current, FRIC_TERM_BARRIER, FRIC_PROJECT_NONE, &here);
	for (size_t v = 0; v < N_VERTICES; v++)
		for (size_t x = 0; x < 3; x++) {
			const size_t y = (x + 1) % 3, z = (x + 2) % 3;
			sum[x] += here.gradient[3 * v + x];
			torque[x] += s.current[3 * v + y] * here.gradient[3 * v + z] -
			             s.current[3 * v + z] * here.gradient[3 * v + y];
			largest = fmax(largest, fabs(here.gradient[3 * v + x]));
			/* a cyclic exchange of the axes, and a translation */
			moved[3 * v + y] = s.current[3 * v + x] + 0.5;
		}
	for (int x = 0; x < 3; x++)
		assert_true(fabs(sum[x]) < 1e-12 * largest && fabs(torque[x]) < 1e-12 * largest);
	compute(&serial, &s, moved, FRIC_TERM_BARRIER, FRIC_PROJECT_NONE, &there);
	assert_near(there.potential / here.potential, 1, 1e-12);
	for (size_t v = 0; v < N_VERTICES; v++)
		for (size_t x = 0; x < 3; x++)
			assert_true(fabs(there.gradient[3 * v + (x + 1) % 3] - here.gradient[3 * v + x]) < 1e-11 * largest);
	release(&here);
	release(&there);
}

/* Outputs per contact add up to the sums. */
static void test_outputs(void **state)
{
	(void)state;
	static struct scene s;
	struct fric_contacts *contacts;
	struct fric_current *current;
	struct fric_error error;
	double potential, gradient[MOST_DOFS], total = 0;
	make_scene(3, FRIC_FEATURES_SEARCH, &s);
	assert_ok(fric_prepare(&serial, &s.batch, &contacts, &error));
	assert_ok(fric_current_create(&serial, contacts, s.current, &current, &error));
	const struct fric_query query = {
		.velocities = s.velocities, .terms = FRIC_TERM_BARRIER, .current = current, .time_step = 0.5};
	assert_ok(fric_evaluate(&serial, contacts, &query, &potential, gradient, &error));
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		double out[N_EACH], force[N_EACH][3], distance[N_EACH], feature[N_EACH];
		for (enum fric_output o = FRIC_OUT_FEATURE; o <= FRIC_OUT_BARRIER_FORCE; o++)
			assert_true(fric_has_output(contacts, type, o));
		assert_ok(fric_contact_output(&serial, contacts, &query, type, FRIC_OUT_BARRIER_POTENTIAL, out, &error));
		assert_ok(fric_contact_output(&serial, contacts, &query, type, FRIC_OUT_BARRIER_FORCE, force[0], &error));
		assert_ok(fric_contact_output(&serial, contacts, &query, type, FRIC_OUT_CURRENT_DISTANCE, distance, &error));
		assert_ok(fric_contact_output(&serial, contacts, &query, type, FRIC_OUT_CURRENT_FEATURE, feature, &error));
		for (size_t i = 0; i < N_EACH; i++) {
			const double size = sqrt(force[i][0] * force[i][0] + force[i][1] * force[i][1] + force[i][2] * force[i][2]);
			total += out[i];
			assert_true((distance[i] < 1.1) == (size > 0));
			assert_true(feature[i] >= 1 && feature[i] < 16);
		}
	}
	assert_near(total / potential, 1, 1e-13);
	assert_false(fric_has_output(contacts, FRIC_BODY_BODY, FRIC_OUT_BARRIER_FORCE));
	fric_current_free(current);
	fric_contacts_free(contacts);
}

/* Pairs of vertices. Number 3 of five penetrates at the current positions, but has friction. */
static void make_penetration(struct scene *s)
{
	make_scene(3, FRIC_FEATURES_GIVEN, s);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		if (type != FRIC_VERTEX_VERTEX)
			s->batch.groups[type].n = 0;
	s->batch.groups[FRIC_VERTEX_VERTEX].n = 5;
	const int32_t *v = s->vertices[FRIC_VERTEX_VERTEX][0] + 2 * 3;
	memcpy(s->current + 3 * v[0], s->current + 3 * v[1], 3 * sizeof(double));
	memcpy(s->positions + 3 * v[0], s->positions + 3 * v[1], 3 * sizeof(double));
	s->positions[3 * v[0]] += 0.25;
}

/* A contact that penetrates is a fault, or is skipped as a whole. */
static void test_penetration(void **state)
{
	(void)state;
	static struct scene s;
	struct fric_contacts *contacts;
	struct fric_current *current;
	struct fric_error error;
	double gradient[MOST_DOFS], out[N_EACH];
	make_penetration(&s);
	for (int skips = 0; skips < 2; skips++) {
		s.batch.skip_degenerate = skips;
		assert_ok(fric_prepare(&serial, &s.batch, &contacts, &error));
		const enum fric_code code = fric_current_create(&serial, contacts, s.current, &current, &error);
		if (!skips) {
			assert_int_equal(code, FRIC_E_PENETRATION);
			assert_int_equal(error.code, FRIC_E_PENETRATION);
			assert_int_equal(error.group, FRIC_VERTEX_VERTEX);
			assert_int_equal(error.contact, 3);
			assert_null(current);
			fric_contacts_free(contacts);
			continue;
		}
		assert_int_equal(code, FRIC_OK);
		assert_int_equal(fric_current_n_skipped(current), 1);
		assert_int_equal(fric_current_skipped(current, FRIC_VERTEX_VERTEX, 3), FRIC_E_PENETRATION);
		assert_int_equal(fric_current_skipped(current, FRIC_VERTEX_VERTEX, 2), FRIC_OK);
		const struct fric_query query = {
			.velocities = s.velocities, .terms = FRIC_TERM_BARRIER | FRIC_TERM_FRICTION, .current = current};
		assert_ok(fric_evaluate(&serial, contacts, &query, NULL, gradient, &error));
		expect_finite(gradient, s.n_dofs);
		assert_ok(fric_contact_output(&serial, contacts, &query, FRIC_VERTEX_VERTEX, FRIC_OUT_STATUS, out, &error));
		assert_true(out[3] == 2 && out[2] != 2);
		for (enum fric_output o = FRIC_OUT_POTENTIAL; o <= FRIC_OUT_BARRIER_FORCE; o++)
			if (o != FRIC_OUT_STATUS && fric_has_output(contacts, FRIC_VERTEX_VERTEX, o)) {
				double rows[N_EACH * 6];
				size_t m = o == FRIC_OUT_TANGENT_BASIS                                                           ? 6
				           : o == FRIC_OUT_TANGENTIAL_VELOCITY                                                   ? 2
				           : o == FRIC_OUT_FRICTION_FORCE || o == FRIC_OUT_ANCHOR || o == FRIC_OUT_BARRIER_FORCE ? 3
				                                                                                                 : 1;
				assert_ok(fric_contact_output(&serial, contacts, &query, FRIC_VERTEX_VERTEX, o, rows, &error));
				for (size_t e = 0; e < m; e++)
					assert_true(rows[3 * m + e] == 0);
			}
		fric_current_free(current);
		fric_contacts_free(contacts);
	}
}

/* Where the gap is negative, some barriers are finite. */
static void test_below_dmin(void **state)
{
	(void)state;
	static const char *const names[] = {"avx512", "avx2", "baseline", "scalar"};
	static struct scene s;
	make_penetration(&s);
	const int32_t *v = s.vertices[FRIC_VERTEX_VERTEX][0] + 2 * 3;
	s.batch.barrier.dmin = 0.05;
	s.batch.skip_degenerate = false;
	s.current[3 * v[0]] += 0.04;
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		for (enum fric_barrier_type type = FRIC_CLAMPED_LOG; type <= FRIC_TWO_STAGE; type++) {
			const struct fric_context context = {.n_threads = 1, .kernels = fric_kernels_find(names[k])};
			struct fric_contacts *contacts;
			struct fric_current *current;
			struct fric_error error;
			if (!context.kernels)
				continue;
			s.batch.barrier.type = type;
			assert_ok(fric_prepare(&context, &s.batch, &contacts, &error));
			assert_int_equal(fric_current_create(&context, contacts, s.current, &current, &error), FRIC_E_PENETRATION);
			assert_int_equal(error.contact, 3);
			fric_contacts_free(contacts);
		}
}

/* Skipped contacts add nothing to sums of friction. */
static void test_sums_without_skipped(void **state)
{
	(void)state;
	static const double nothing[2 * MOST_DOFS];
	static struct scene s;
	struct results skipped, others, all;
	make_penetration(&s);
	compute(&serial, &s, s.current, FRIC_TERM_FRICTION, FRIC_PROJECT_NONE, &skipped);
	compute(&serial, &s, s.positions, FRIC_TERM_FRICTION, FRIC_PROJECT_NONE, &all);
	memcpy(s.vertices[FRIC_VERTEX_VERTEX][0] + 2 * 3, s.vertices[FRIC_VERTEX_VERTEX][0] + 2 * 4, 2 * sizeof(int32_t));
	s.weights[3] = s.weights[4];
	s.batch.groups[FRIC_VERTEX_VERTEX].n = 4;
	compute(&serial, &s, s.current, FRIC_TERM_FRICTION, FRIC_PROJECT_NONE, &others);
	assert_true(skipped.potential < all.potential);
	assert_near(skipped.potential / others.potential, 1, 1e-13);
	expect_sum(skipped.gradient, others.gradient, nothing, s.n_dofs);
	expect_sum(skipped.products, others.products, nothing, 2 * s.n_dofs);
	release(&skipped);
	release(&others);
	release(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bits),        cmocka_unit_test(test_both_terms),
		cmocka_unit_test(test_friction_of_both), cmocka_unit_test(test_invariances),
		cmocka_unit_test(test_outputs),          cmocka_unit_test(test_penetration),
		cmocka_unit_test(test_below_dmin),       cmocka_unit_test(test_sums_without_skipped)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

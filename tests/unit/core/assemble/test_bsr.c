/* Compares bsr with csr: the same matrix, bit for bit, for every triangle. Also tests triplets requested without
 * indices. */
#include "tests/property/scene.h"
#include "tests/share.h"
#include "tests/unit/core/batches.h"

/* Entry (row, col) of a csr matrix; NULL if it is not stored. */
static const double *entry_of(const struct fric_pattern *p, const double *data, int64_t row, int64_t col)
{
	const int64_t *indptr = fric_pattern_indptr(p);
	for (int64_t e = indptr[row]; e < indptr[row + 1]; e++)
		if (fric_pattern_indices(p)[e] == col)
			return &data[e];
	return NULL;
}

struct matrices {
	struct fric_contacts *contacts;
	struct fric_pattern *full, *pattern;
	double *inner, *whole, *csr, *blocks;
	int64_t *indptr;
	int32_t *indices;
	size_t n_blocks;
};

static void make(struct scene *s, const struct fric_context *context, enum fric_triangle triangle, struct matrices *m)
{
	struct fric_error error;
	m->contacts = prepared(&s->batch);
	assert_ok(fric_pattern_create(context, m->contacts, FRIC_FULL, &m->full, &error));
	assert_ok(fric_pattern_create(context, m->contacts, triangle, &m->pattern, &error));
	m->n_blocks = fric_pattern_n_blocks(m->pattern);
	const size_t dim = (size_t)s->batch.dim;
	m->inner = scene_memory(s, 3 * fric_n_contacts(m->contacts), sizeof(double));
	m->whole = scene_memory(s, fric_pattern_n_entries(m->full), sizeof(double));
	m->csr = scene_memory(s, fric_pattern_n_entries(m->pattern), sizeof(double));
	m->blocks = scene_memory(s, m->n_blocks * dim * dim, sizeof(double));
	m->indptr = scene_memory(s, s->batch.n_vertices + 1, sizeof(int64_t));
	m->indices = scene_memory(s, m->n_blocks, sizeof(int32_t));
	memset(m->blocks, 0x5a, m->n_blocks * dim * dim * sizeof(double));
	assert_ok(fric_hessian_inner(context, m->contacts, query(s->velocities), FRIC_PROJECT_NONE, m->inner, &error));
	assert_ok(fric_hessian_csr(context, m->contacts, m->inner, m->full, m->whole, &error));
	assert_ok(fric_hessian_csr(context, m->contacts, m->inner, m->pattern, m->csr, &error));
	assert_ok(fric_pattern_blocks(context, m->pattern, m->indptr, m->indices, &error));
	assert_ok(fric_hessian_bsr(context, m->contacts, m->inner, m->pattern, m->indptr, m->blocks, &error));
}

static void free_matrices(struct matrices *m)
{
	fric_pattern_free(m->pattern);
	fric_pattern_free(m->full);
	fric_contacts_free(m->contacts);
}

/* Every block occurs once, with all entries of csr in it, and together the blocks contain all of csr. */
static void compare(struct scene *s, const struct fric_context *context, enum fric_triangle triangle)
{
	struct matrices m;
	make(s, context, triangle, &m);
	const int64_t dim = s->batch.dim;
	size_t n_entries = 0;
	assert_int_equal(m.indptr[0], 0);
	assert_int_equal(m.indptr[s->batch.n_vertices], m.n_blocks);
	for (int64_t v = 0; v < (int64_t)s->batch.n_vertices; v++)
		for (int64_t b = m.indptr[v]; b < m.indptr[v + 1]; b++) {
			const int32_t col = m.indices[b];
			assert_true(b == m.indptr[v] || m.indices[b - 1] < col);
			assert_true(triangle == FRIC_FULL || (triangle == FRIC_UPPER ? v <= col : v >= col));
			for (int64_t e = 0; e < dim * dim; e++) {
				const int64_t row = v * dim + e / dim, column = col * dim + e % dim;
				const double *whole = entry_of(m.full, m.whole, row, column),
							 *same = entry_of(m.pattern, m.csr, row, column);
				assert_non_null(whole);
				assert_bits(m.blocks[b * dim * dim + e], *whole);
				n_entries += same != NULL;
				if (same)
					assert_bits(m.blocks[b * dim * dim + e], *same);
			}
		}
	assert_int_equal(n_entries, fric_pattern_n_entries(m.pattern));
	free_matrices(&m);
}

/* With a sanitizer, two threads that stream reach all that one thread does. */
static void each_triangle(struct options o, uint64_t seed)
{
	for (enum fric_triangle triangle = FRIC_FULL; triangle <= FRIC_LOWER; triangle++)
		for (int streamed = step_sanitized(2) - 1; streamed < 2; streamed++) {
			struct scene s;
			struct rng rng = {seed};
			scene_create(&s, &rng, o);
			const struct fric_context context = {
				.n_threads = 1 + streamed, .parallel_from = 1, .stream_from = streamed ? 1 : 0};
			compare(&s, &context, triangle);
			scene_free(&s);
		}
}

/* Each vertex has few neighbours, and some vertices are in no contact. */
static void test_narrow(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct rng rng = {seed};
		struct options o = random_options(&rng, seed % 3 ? 3 : 2);
		o.n_each = 40;
		o.n_vertices = 80;
		o.reach = 12;
		each_triangle(o, seed);
	}
}

/* All vertices are neighbours: more than fit into the first-level cache. */
static void test_wide(void **state)
{
	(void)state;
	for (int dim = 2; dim <= 3; dim++) {
		struct rng rng = {7};
		struct options o = random_options(&rng, dim);
		o.n_each = 1500;
		o.n_vertices = 90;
		o.reach = 0;
		each_triangle(o, 7);
	}
}

static void test_no_contacts(void **state)
{
	(void)state;
	const struct fric_batch batch = {.dim = 2, .n_vertices = 3};
	struct fric_contacts *c = prepared(&batch);
	struct fric_pattern *pattern;
	struct fric_error error;
	int64_t indptr[4] = {9, 9, 9, 9};
	const int64_t zero[4] = {0};
	assert_ok(fric_pattern_create(&serial, c, FRIC_LOWER, &pattern, &error));
	assert_int_equal(fric_pattern_n_blocks(pattern), 0);
	assert_ok(fric_pattern_blocks(&serial, pattern, indptr, NULL, &error));
	assert_memory_equal(indptr, zero, sizeof(zero));
	assert_ok(fric_hessian_bsr(&serial, c, NULL, pattern, indptr, NULL, &error));
	fric_pattern_free(pattern);
	fric_contacts_free(c);
}

static void test_overflow(void **state)
{
	(void)state;
	const int32_t same[2] = {0, 0};
	const double force = 0x1p1022, eps_v = 0.25, zero[3] = {0};
	struct fric_batch batch = floor_batch(same, 2, 1);
	batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&force);
	batch.friction.eps_v = eps_v;
	batch.friction.mu_s = batch.friction.mu_k = 0.125;
	struct fric_contacts *c = prepared(&batch);
	struct fric_pattern *pattern;
	struct fric_error error;
	double inner[6], data[9];
	int64_t indptr[2];
	assert_ok(fric_hessian_inner(&serial, c, query(zero), FRIC_PROJECT_NONE, inner, &error));
	inner[0] = inner[3] = 0x1p1023;
	assert_ok(fric_pattern_create(&serial, c, FRIC_FULL, &pattern, &error));
	assert_ok(fric_pattern_blocks(&serial, pattern, indptr, NULL, &error));
	assert_code(fric_hessian_bsr(&serial, c, inner, pattern, indptr, data, &error), FRIC_E_NOT_FINITE);
	fric_pattern_free(pattern);
	fric_contacts_free(c);
}

/* Stops with block indices requested, and without. */
static void test_stop(void **state)
{
	(void)state;
	const struct fric_batch batch = {.dim = 2, .n_vertices = 3};
	struct fric_contacts *c = prepared(&batch);
	struct fric_pattern *pattern;
	struct fric_error error;
	atomic_bool stop = true;
	const struct fric_context stopped = {.n_threads = 1, .stop = &stop};
	int64_t indptr[4] = {9, 9, 9, 9};
	int32_t indices[1];
	assert_ok(fric_pattern_create(&serial, c, FRIC_FULL, &pattern, &error));
	assert_code(fric_pattern_blocks(&stopped, pattern, indptr, NULL, &error), FRIC_E_STOPPED);
	assert_code(fric_pattern_blocks(&stopped, pattern, indptr, indices, &error), FRIC_E_STOPPED);
	assert_int_equal(indptr[1], 9);
	fric_pattern_free(pattern);
	fric_contacts_free(c);
}

/* Values requested alone equal those requested with row and column indices. */
static void test_triplets_without_places(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++)
		for (enum fric_triangle triangle = FRIC_FULL; triangle <= FRIC_LOWER; triangle++) {
			struct scene s;
			struct rng rng = {seed};
			struct options o = random_options(&rng, seed % 2 ? 3 : 2);
			struct fric_error error;
			o.n_each = 700;
			scene_create(&s, &rng, o);
			const struct fric_context context = {.n_threads = 2, .parallel_from = 1, .stream_from = seed % 3 ? 0 : 1};
			struct fric_contacts *c = prepared(&s.batch);
			const size_t n = fric_n_triplets(c, triangle);
			double *inner = scene_memory(&s, 3 * fric_n_contacts(c), sizeof(double)),
				   *values = scene_memory(&s, n, sizeof(double)), *alone = scene_memory(&s, n, sizeof(double));
			int32_t *rows = scene_memory(&s, n, sizeof(*rows)), *cols = scene_memory(&s, n, sizeof(*cols));
			assert_ok(fric_hessian_inner(&serial, c, query(s.velocities), FRIC_PROJECT_NONE, inner, &error));
			assert_ok(fric_hessian_triplets(&context, c, inner, triangle, rows, cols, values, &error));
			assert_ok(fric_hessian_triplets(&context, c, inner, triangle, NULL, NULL, alone, &error));
			assert_all_bits(alone, values, n);
			fric_contacts_free(c);
			scene_free(&s);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_narrow),   cmocka_unit_test(test_wide), cmocka_unit_test(test_no_contacts),
		cmocka_unit_test(test_overflow), cmocka_unit_test(test_stop), cmocka_unit_test(test_triplets_without_places),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

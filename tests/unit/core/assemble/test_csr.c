#include "tests/property/hessians.h"
#include "tests/share.h"
#include "tests/unit/core/assemble/blocks.h"
#include "tests/unit/core/assembly.h"

struct csr {
	struct fric_pattern *pattern;
	const int64_t *indptr;
	const int32_t *indices;
	size_t n_rows, n;
	double *data;
};

static struct csr csr_create(const struct assembly *a, enum fric_triangle triangle, int n_threads)
{
	const struct fric_context context = {.n_threads = n_threads, .parallel_from = 1};
	struct fric_error error;
	struct csr m;
	assert_ok(fric_pattern_create(&context, a->contacts, triangle, &m.pattern, &error));
	m.indptr = fric_pattern_indptr(m.pattern);
	m.indices = fric_pattern_indices(m.pattern);
	m.n_rows = fric_pattern_n_rows(m.pattern);
	m.n = fric_pattern_n_entries(m.pattern);
	m.data = malloc((m.n + (m.n == 0)) * sizeof(double));
	assert_non_null(m.data);
	for (size_t e = 0; e < m.n; e++)
		m.data[e] = NAN; /* every entry is overwritten */
	assert_ok(fric_hessian_csr(&context, a->contacts, a->inner, m.pattern, m.data, &error));
	return m;
}

static void csr_free(struct csr *m)
{
	free(m->data);
	fric_pattern_free(m->pattern);
}

static void check_columns(const struct csr *m)
{
	assert_int_equal(m->indptr[0], 0);
	assert_int_equal(m->indptr[m->n_rows], m->n);
	for (size_t row = 0; row < m->n_rows; row++) {
		assert_true(m->indptr[row] <= m->indptr[row + 1]);
		for (int64_t e = m->indptr[row]; e < m->indptr[row + 1]; e++) {
			assert_in_range(m->indices[e], 0, m->n_rows - 1);
			assert_true(e == m->indptr[row] || m->indices[e - 1] < m->indices[e]);
		}
	}
}

static size_t find_entry(const struct csr *m, int32_t row, int32_t col)
{
	int64_t low = m->indptr[row], high = m->indptr[row + 1];
	while (low < high) {
		const int64_t middle = (low + high) / 2;
		if (m->indices[middle] < col)
			low = middle + 1;
		else
			high = middle;
	}
	assert_true(low < m->indptr[row + 1] && m->indices[low] == col);
	return (size_t)low;
}

/* csr has the entries that triplets give when added up in their order, with the same bits. */
static void check_against_triplets(const struct assembly *a, enum fric_triangle triangle, const struct csr *m)
{
	struct fric_error error;
	struct triplets t = triplets_create(fric_n_triplets(a->contacts, triangle));
	double *sum = calloc(m->n + 1, sizeof(double));
	bool *touched = calloc(m->n + 1, 1);
	assert_ok(fric_hessian_triplets(&serial, a->contacts, a->inner, triangle, t.rows, t.cols, t.values, &error));
	for (size_t i = 0; i < t.n; i++) {
		const size_t e = find_entry(m, t.rows[i], t.cols[i]);
		touched[e] = true;
		sum[e] += t.values[i];
	}
	for (size_t e = 0; e < m->n; e++)
		assert_true(touched[e]);
	assert_all_bits(m->data, sum, m->n);
	free(sum);
	free(touched);
	triplets_free(&t);
}

static void check_against_plain(const struct assembly *a, const struct csr *m)
{
	double *plain = malloc((m->n + 1) * sizeof(double));
	assert_code(csr_plain(&serial, a->contacts, a->inner, m->pattern, plain).code, FRIC_OK);
	assert_all_bits(m->data, plain, m->n);
	free(plain);
}

static void check_threads(const struct assembly *a, enum fric_triangle triangle, const struct csr *one)
{
	const int threads[4] = {2, 8, 3, 11}; /* contacts are sorted in at most 8 shares */
	for (int t = step_sanitized(2) - 1; t < 4; t += step_sanitized(2)) {
		struct csr m = csr_create(a, triangle, threads[t]);
		assert_int_equal(m.n, one->n);
		assert_memory_equal(m.indptr, one->indptr, (m.n_rows + 1) * sizeof(int64_t));
		assert_memory_equal(m.indices, one->indices, m.n * sizeof(int32_t));
		assert_all_bits(m.data, one->data, m.n);
		csr_free(&m);
	}
}

/* Streamed stores start at any alignment, and must not touch the numbers on either side. */
static void check_streamed(const struct assembly *a, const struct csr *one)
{
	const struct fric_context context = {.n_threads = 2, .parallel_from = 1, .stream_from = 1};
	struct fric_error error;
	double *room = malloc((one->n + 9) * sizeof(double));
	for (size_t before = 1; before <= 8; before += 1 + before / 2) {
		for (size_t e = 0; e < one->n + 9; e++)
			room[e] = -1;
		assert_ok(fric_hessian_csr(&context, a->contacts, a->inner, one->pattern, room + before, &error));
		assert_all_bits(room + before, one->data, one->n);
		for (size_t e = 0; e < before; e++)
			assert_bits(room[e], -1);
		for (size_t e = before + one->n; e < one->n + 9; e++)
			assert_bits(room[e], -1);
	}
	free(room);
}

static void check_streamed_columns(const struct assembly *a, enum fric_triangle triangle, const struct csr *one)
{
	const struct fric_context context = {.n_threads = 2, .parallel_from = 1, .stream_from = 1};
	struct fric_error error;
	struct fric_pattern *p;
	assert_ok(fric_pattern_create(&context, a->contacts, triangle, &p, &error));
	assert_memory_equal(fric_pattern_indptr(p), one->indptr, (one->n_rows + 1) * sizeof(int64_t));
	assert_memory_equal(fric_pattern_indices(p), one->indices, one->n * sizeof(int32_t));
	fric_pattern_free(p);
}

static void check_csr(const struct assembly *a)
{
	for (int t = 0; t < 3; t++) {
		struct csr m = csr_create(a, triangles[t], 1);
		check_columns(&m);
		check_against_triplets(a, triangles[t], &m);
		check_against_plain(a, &m);
		check_threads(a, triangles[t], &m);
		check_streamed(a, &m);
		check_streamed_columns(a, triangles[t], &m);
		csr_free(&m);
	}
}

static void check_batch(struct rng *rng, struct options options)
{
	struct assembly a;
	assembly_create(&a, rng, options);
	check_csr(&a);
	assembly_free(&a);
}

static void test_random_batches(void **state)
{
	(void)state;
	struct rng rng = {17};
	for (int round = 0; round < 20; round += step_sanitized(3))
		check_batch(&rng, random_options(&rng, 2 + round % 2));
}

/* Scenes range from a few vertices that are all neighbours to many vertices where hardly any pair occurs twice. */
static void test_over_chunks(void **state)
{
	(void)state;
	struct rng rng = {18};
	const size_t n_vertices[6] = {8, 40, 90, 300, 4000, 60000};
	for (int round = 0; round < 12; round += step_sanitized(5)) {
		struct options options = random_options(&rng, 2 + round % 2);
		options.n_each = 900;
		options.n_vertices = n_vertices[round / 2];
		check_batch(&rng, options);
	}
}

static void test_no_contacts(void **state)
{
	(void)state;
	struct rng rng = {19};
	for (int dim = 2; dim <= 3; dim++)
		for (size_t n_vertices = 0; n_vertices < 3; n_vertices++)
			check_batch(&rng, (struct options){.dim = dim, .n_vertices = n_vertices, .own_mu = true});
	check_batch(&rng, (struct options){.dim = 3, .n_each = 2, .n_vertices = 100000, .own_mu = true});
}

/* Vertex `hub` is in all contacts. It has the lowest, highest or a middle number, and takes each place in the
 * stencil. */
static void check_hub(size_t n, size_t n_vertices, int32_t hub)
{
	struct rng rng = {20};
	struct assembly a = {0};
	int32_t *vertices = malloc(4 * n * sizeof(int32_t));
	double basis[6], point[2] = {0.25, 0.5};
	struct fric_error error;
	for (size_t i = 0; i < n; i++) {
		random_stencil(&rng, n_vertices, 4, vertices + 4 * i);
		bool there = false;
		for (int k = 0; k < 4; k++)
			there |= vertices[4 * i + (size_t)k] == hub;
		if (!there)
			vertices[4 * i + i % 4] = hub;
	}
	random_basis(&rng, 3, basis);
	struct fric_batch batch = {.dim = 3, .n_vertices = n_vertices};
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 1};
	const double force = 1;
	batch.groups[FRIC_EDGE_EDGE] = (struct fric_group){.n = n,
	                                                   .vertices = vertices,
	                                                   .normal_force = {&force, 0},
	                                                   .tangent_basis = {basis, 0},
	                                                   .closest_point = {point, 0}};
	assert_ok(fric_prepare(&serial, &batch, &a.contacts, &error));
	a.inner = random_reals(&a.scene, &rng, 3 * n, -1, 1);
	check_csr(&a);
	fric_contacts_free(a.contacts);
	scene_free(&a.scene);
	free(vertices);
}

static void test_one_vertex_in_all_contacts(void **state)
{
	(void)state;
	static const struct {
		size_t n, n_vertices;
		int32_t hub;
	} hubs[] = {{3000, 5000, 0},    {3000, 5000, 4999}, {1500, 20, 7},
	            {3000, 5000, 2345}, {40, 70000, 69999}, /* slightly more than fits without heap memory */
	            {20, 1000, 3},      {30, 1000, 999}};
	for (size_t i = 0; i < sizeof(hubs) / sizeof(*hubs); i += (size_t)step_sanitized(2))
		check_hub(hubs[i].n, hubs[i].n_vertices, hubs[i].hub);
}

/* Blocks are k x k, symmetric or not. */
static double any_entry(size_t contact, int i, int j, int e)
{
	return sin((double)contact + 0.1 * i + 0.7 * j + 1.3 * e);
}

static void any_row(void *task, size_t contact, int corner, double blocks[FRIC_MAX_STENCIL][9])
{
	(void)task;
	for (int j = 0; j < FRIC_MAX_STENCIL; j++)
		for (int e = 0; e < 9; e++)
			blocks[j][e] = any_entry(contact, corner, j, e);
}

static void add_any_blocks(const struct assembly *a, enum fric_triangle triangle, const struct csr *m, double *sum)
{
	const size_t dim = (size_t)a->scene.batch.dim;
	size_t contact = 0;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const struct fric_group *g = &a->scene.batch.groups[type];
		const size_t k = (size_t)fric_stencil_size(type), n = k * dim;
		for (size_t i = 0; i < g->n; i++, contact++)
			for (size_t e = 0; e < n * n; e++) {
				const size_t r = e / n, s = e % n;
				const int32_t row = (int32_t)((size_t)g->vertices[i * k + r / dim] * dim + r % dim);
				const int32_t col = (int32_t)((size_t)g->vertices[i * k + s / dim] * dim + s % dim);
				if (triangle == FRIC_FULL || (triangle == FRIC_UPPER ? row <= col : row >= col))
					sum[find_entry(m, row, col)] +=
						any_entry(contact, (int)(r / dim), (int)(s / dim), (int)(dim * (r % dim) + s % dim));
			}
	}
}

static void check_any_blocks(const struct assembly *a, enum fric_triangle triangle)
{
	const struct fric_context context = {.n_threads = 3, .parallel_from = 1};
	struct csr m = csr_create(a, triangle, 1);
	double *sum = calloc(m.n + 1, sizeof(double));
	add_any_blocks(a, triangle, &m, sum);
	assert_code(pattern_accumulate(&context, m.pattern, any_row, NULL, m.data).code, FRIC_OK);
	assert_all_bits(m.data, sum, m.n);
	free(sum);
	csr_free(&m);
}

static void test_any_blocks(void **state)
{
	(void)state;
	struct rng rng = {21};
	for (int round = 0; round < 6; round += step_sanitized(5)) {
		struct assembly a;
		struct options options = random_options(&rng, 2 + round % 2);
		options.n_each = 600;
		options.n_vertices = 200;
		assembly_create(&a, &rng, options);
		check_any_blocks(&a, triangles[round / 2]);
		assembly_free(&a);
	}
}

/* Every block is finite, but their sum is not: with few neighbours, and with more than a block row keeps in the
 * caches. */
static void check_sum_that_is_not_finite(size_t n_vertices)
{
	struct rng rng = {22};
	struct assembly a;
	struct fric_error error = {0};
	assembly_create(&a, &rng, (struct options){.dim = 2, .n_each = 1500, .n_vertices = n_vertices, .own_mu = true});
	struct csr m = csr_create(&a, FRIC_FULL, 1);
	for (size_t i = 0; i < fric_n_contacts(a.contacts); i++)
		a.inner[i] = 1e307;
	assert_code(fric_hessian_csr(&serial, a.contacts, a.inner, m.pattern, m.data, &error), FRIC_E_NOT_FINITE);
	assert_code(error.code, FRIC_E_NOT_FINITE);
	assert_int_equal(error.contact, -1);
	csr_free(&m);
	assembly_free(&a);
}

static void test_sum_that_is_not_finite(void **state)
{
	(void)state;
	check_sum_that_is_not_finite(12);
	check_sum_that_is_not_finite(150);
}

/* Contacts of vertex 0 with each of n others, along z. Only entry (axis, axis) of its diagonal block overflows. */
static void check_hub_that_is_not_finite(size_t n, int axis)
{
	enum { MOST = 100 };
	int32_t stencils[MOST][2];
	double positions[MOST + 1][3] = {{0}}, inner[MOST][3] = {{0}};
	const double force = 1;
	struct fric_batch batch = {.dim = 3, .n_vertices = n + 1, .positions = positions[0]};
	struct fric_contacts *contacts;
	struct fric_pattern *pattern;
	struct fric_error error;
	for (size_t i = 0; i < n; i++) {
		stencils[i][0] = 0;
		stencils[i][1] = (int32_t)i + 1;
		positions[i + 1][2] = 1;
		inner[i][axis == 0 ? 0 : 2] = 1e307;
	}
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 1, .mu_k = 1};
	batch.groups[FRIC_VERTEX_VERTEX] =
		(struct fric_group){.n = n, .vertices = stencils[0], .normal_force = {&force, 0}};
	assert_code(fric_prepare(&serial, &batch, &contacts, &error), FRIC_OK);
	assert_code(fric_pattern_create(&serial, contacts, FRIC_FULL, &pattern, &error), FRIC_OK);
	double *data = malloc(fric_pattern_n_entries(pattern) * sizeof(double));
	assert_code(fric_hessian_csr(&serial, contacts, inner[0], pattern, data, &error), FRIC_E_NOT_FINITE);
	free(data);
	fric_pattern_free(pattern);
	fric_contacts_free(contacts);
}

static void test_one_entry_that_is_not_finite(void **state)
{
	(void)state;
	for (int axis = 0; axis < 2; axis++)
		for (size_t n = 92; n <= 100; n++) { /* rows are wide and narrow, and the entry's place differs */
			check_hub_that_is_not_finite(n, axis);
			check_hub_that_is_not_finite(n - 70, axis);
		}
}

/* Every entry is finite, but the sum of all of them is not. */
static void test_entries_near_overflow(void **state)
{
	(void)state;
	const double force = 1, positions[3] = {0}, normal[3] = {0, 0, 1}, inner[3] = {1e308, 0, 1e308};
	const int32_t vertex = 0;
	struct fric_batch batch = {.dim = 3, .n_vertices = 1, .positions = positions};
	struct fric_contacts *contacts;
	struct fric_pattern *pattern;
	struct fric_error error;
	double data[9];
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 1, .mu_k = 1};
	batch.groups[FRIC_PLANE_VERTEX] =
		(struct fric_group){.n = 1, .vertices = &vertex, .normal_force = {&force, 0}, .plane_normal = {normal, 0}};
	assert_code(fric_prepare(&serial, &batch, &contacts, &error), FRIC_OK);
	assert_code(fric_pattern_create(&serial, contacts, FRIC_FULL, &pattern, &error), FRIC_OK);
	assert_code(fric_hessian_csr(&serial, contacts, inner, pattern, data, &error), FRIC_OK);
	assert_bits(data[0], 1e308);
	assert_bits(data[4], 1e308);
	fric_pattern_free(pattern);
	fric_contacts_free(contacts);
}

/* Body 0 touches n others, and its number is before, after or between theirs. The rows equal the triplets, whether
 * narrow or wide, streamed or not. */
static void check_hub_of_bodies(int dim, size_t n, int32_t hub)
{
	enum { MOST = 100 };
	struct rng rng = {24};
	int32_t pairs[2 * MOST];
	double positions[3 * (MOST + 1)], points[3 * MOST], normals[3 * MOST], velocities[6 * (MOST + 1)];
	const double force = 1, radius = 0.1;
	for (size_t i = 0; i < sizeof(velocities) / sizeof(double); i++)
		velocities[i] = uniform(&rng, -1, 1);
	for (size_t i = 0; i <= n; i++)
		for (size_t d = 0; d < (size_t)dim; d++)
			positions[i * (size_t)dim + d] = uniform(&rng, -1, 1);
	for (size_t i = 0; i < n; i++) {
		pairs[2 * i + i % 2] = hub;
		pairs[2 * i + 1 - i % 2] = (int32_t)i + ((int32_t)i >= hub);
		for (size_t d = 0; d < (size_t)dim; d++) {
			points[i * (size_t)dim + d] = uniform(&rng, -1, 1);
			normals[i * (size_t)dim + d] = uniform(&rng, 0.5, 1);
		}
	}
	struct fric_batch batch = {.dim = dim, .n_bodies = n + 1, .body_positions = positions};
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 1, .mu_k = 1};
	batch.groups[FRIC_BODY_BODY] = (struct fric_group){.n = n,
	                                                   .vertices = pairs,
	                                                   .normal_force = {&force, 0},
	                                                   .point = {points, (size_t)dim},
	                                                   .normal = {normals, (size_t)dim},
	                                                   .roll_radius = {&radius, 0}};
	struct fric_contacts *contacts;
	struct fric_error error;
	assert_code(fric_prepare(&serial, &batch, &contacts, &error), FRIC_OK);
	double *inner = inner_matrices(&serial, contacts, velocities, FRIC_PROJECT_NONE);
	for (int t = 0; t < 3; t++) {
		const struct fric_context streaming = {.n_threads = 1, .stream_from = 1};
		double *expected = dense_from_triplets(contacts, inner, triangles[t]);
		double *found = dense_from_csr(contacts, inner, triangles[t]);
		struct fric_pattern *p, *q;
		assert_all_bits(found, expected, dense_size(contacts) * dense_size(contacts));
		assert_ok(fric_pattern_create(&serial, contacts, triangles[t], &p, &error));
		assert_ok(fric_pattern_create(&streaming, contacts, triangles[t], &q, &error));
		const size_t n_entries = fric_pattern_n_entries(p);
		assert_memory_equal(fric_pattern_indices(p), fric_pattern_indices(q), n_entries * sizeof(int32_t));
		double *one = malloc(n_entries * sizeof(double)), *two = malloc(n_entries * sizeof(double));
		assert_ok(fric_hessian_csr(&serial, contacts, inner, p, one, &error));
		assert_ok(fric_hessian_csr(&streaming, contacts, inner, q, two, &error));
		assert_all_bits(two, one, n_entries);
		free(one);
		free(two);
		free(expected);
		free(found);
		fric_pattern_free(p);
		fric_pattern_free(q);
	}
	free(inner);
	fric_contacts_free(contacts);
}

static void test_one_body_in_all_contacts(void **state)
{
	(void)state;
	for (int dim = 2; dim <= 3; dim++)
		for (size_t n = 12; n <= 17; n++)
			for (int32_t hub = 0; hub <= (int32_t)n; hub += (int32_t)n / 2)
				check_hub_of_bodies(dim, n, hub);
	for (size_t n = 60; n <= 68; n++)
		check_hub_of_bodies(2, n, 0);
	check_hub_of_bodies(3, 100, 50);
}

static void test_stops(void **state)
{
	(void)state;
	struct rng rng = {23};
	const atomic_bool stop = true;
	const struct fric_context context = {.n_threads = 2, .parallel_from = 1, .stop = &stop};
	struct assembly a;
	struct fric_error error;
	assembly_create(&a, &rng, (struct options){.dim = 3, .n_each = 1500, .n_vertices = 100, .own_mu = true});
	struct csr m = csr_create(&a, FRIC_FULL, 1);
	struct fric_pattern *none = m.pattern;
	assert_code(fric_pattern_create(&context, a.contacts, FRIC_FULL, &none, &error), FRIC_E_STOPPED);
	assert_null(none);
	assert_code(fric_hessian_csr(&context, a.contacts, a.inner, m.pattern, m.data, &error), FRIC_E_STOPPED);
	csr_free(&m);
	assembly_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_batches),
		cmocka_unit_test(test_over_chunks),
		cmocka_unit_test(test_no_contacts),
		cmocka_unit_test(test_one_vertex_in_all_contacts),
		cmocka_unit_test(test_any_blocks),
		cmocka_unit_test(test_sum_that_is_not_finite),
		cmocka_unit_test(test_one_entry_that_is_not_finite),
		cmocka_unit_test(test_entries_near_overflow),
		cmocka_unit_test(test_one_body_in_all_contacts),
		cmocka_unit_test(test_stops),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

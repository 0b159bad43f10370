#include "tests/property/hessians.h"
#include "tests/unit/core/assemble/blocks.h"
#include "tests/unit/core/batches.h"

static struct fric_pattern *pattern_of(const struct fric_contacts *c, enum fric_triangle triangle)
{
	struct fric_pattern *pattern;
	struct fric_error error;
	assert_ok(fric_pattern_create(&serial, c, triangle, &pattern, &error));
	return pattern;
}

/* Columns are sorted, distinct and in the triangle, and indptr is consistent. */
static void check_structure(const struct fric_pattern *p, size_t ndof, enum fric_triangle triangle)
{
	const int64_t *indptr = fric_pattern_indptr(p);
	const int32_t *indices = fric_pattern_indices(p);
	assert_int_equal(fric_pattern_n_rows(p), ndof);
	assert_int_equal(indptr[0], 0);
	assert_int_equal(indptr[ndof], fric_pattern_n_entries(p));
	for (size_t row = 0; row < ndof; row++) {
		assert_true(indptr[row] <= indptr[row + 1]);
		for (int64_t e = indptr[row]; e < indptr[row + 1]; e++) {
			assert_in_range(indices[e], 0, ndof - 1);
			assert_true(e == indptr[row] || indices[e - 1] < indices[e]);
			assert_true(triangle != FRIC_UPPER || (size_t)indices[e] >= row);
			assert_true(triangle != FRIC_LOWER || (size_t)indices[e] <= row);
		}
	}
}

/* The pattern consists of exactly the positions of the triplets. */
static void check_against_triplets(const struct fric_contacts *c, const double *inner, enum fric_triangle triangle)
{
	const size_t n = fric_n_triplets(c, triangle), ndof = dense_size(c);
	struct fric_pattern *p = pattern_of(c, triangle);
	int32_t *rows = calloc(n + 1, sizeof(int32_t)), *cols = calloc(n + 1, sizeof(int32_t));
	double *values = calloc(n + 1, sizeof(double));
	char *there = calloc(ndof * ndof + 1, 1);
	size_t n_positions = 0;
	struct fric_error error;
	check_structure(p, ndof, triangle);
	assert_ok(fric_hessian_triplets(&serial, c, inner, triangle, rows, cols, values, &error));
	for (size_t i = 0; i < n; i++) {
		char *at = &there[(size_t)rows[i] * ndof + (size_t)cols[i]];
		n_positions += !*at;
		*at = 1;
	}
	assert_int_equal(n_positions, fric_pattern_n_entries(p));
	for (size_t row = 0; row < ndof; row++)
		for (int64_t e = fric_pattern_indptr(p)[row]; e < fric_pattern_indptr(p)[row + 1]; e++)
			assert_true(there[row * ndof + (size_t)fric_pattern_indices(p)[e]]);
	double *summed = dense_from_triplets(c, inner, triangle), *csr = dense_from_csr(c, inner, triangle);
	for (size_t i = 0; i < ndof * ndof; i++)
		assert_true(summed[i] == csr[i]); /* added in the same order */
	free(summed);
	free(csr);
	free(there);
	free(rows);
	free(cols);
	free(values);
	fric_pattern_free(p);
}

static void test_sums_of_triplets(void **state)
{
	(void)state;
	struct rng rng = {13};
	for (int i = 0; i < 40; i++) {
		struct scene scene;
		scene_create(&scene, &rng, random_options(&rng, 2 + i % 2));
		struct fric_contacts *c = scene_contacts(&serial, &scene);
		double *inner = inner_matrices(&serial, c, scene.velocities, FRIC_PROJECT_NONE);
		for (enum fric_triangle t = FRIC_FULL; t <= FRIC_LOWER; t++)
			check_against_triplets(c, inner, t);
		free(inner);
		scene_contacts_free(c);
		scene_free(&scene);
	}
}

/* Vertices without contacts have empty rows, at the start, in the middle and at the end. */
static void test_empty_rows(void **state)
{
	(void)state;
	const int32_t touched[] = {1, 3};
	const struct fric_batch batch = floor_batch(touched, 2, 6);
	struct fric_contacts *c = prepared(&batch);
	for (enum fric_triangle t = FRIC_FULL; t <= FRIC_LOWER; t++) {
		struct fric_pattern *p = pattern_of(c, t);
		check_structure(p, 18, t);
		for (size_t row = 0; row < 18; row++) {
			const size_t axis = row % 3, n = t == FRIC_FULL ? 3 : t == FRIC_UPPER ? 3 - axis : axis + 1;
			const bool empty = row / 3 != 1 && row / 3 != 3;
			assert_int_equal(fric_pattern_indptr(p)[row + 1] - fric_pattern_indptr(p)[row], empty ? 0 : n);
		}
		fric_pattern_free(p);
	}
	fric_contacts_free(c);
}

static void test_nothing(void **state)
{
	(void)state;
	for (size_t n_vertices = 0; n_vertices < 3; n_vertices++)
		for (enum fric_triangle t = FRIC_FULL; t <= FRIC_LOWER; t++) {
			const struct fric_batch batch = {.dim = 3, .n_vertices = n_vertices};
			struct fric_contacts *c = prepared(&batch);
			struct fric_pattern *p = pattern_of(c, t);
			struct fric_error error;
			double none;
			check_structure(p, 3 * n_vertices, t);
			assert_int_equal(fric_pattern_n_entries(p), 0);
			assert_ok(fric_hessian_csr(&serial, c, &none, p, &none, &error));
			fric_pattern_free(p);
			fric_contacts_free(c);
		}
	fric_pattern_free(NULL);
}

/* The pattern does not depend on values: it is the same for moving, sliding and skipped contacts. */
static void test_independent_of_values(void **state)
{
	(void)state;
	static const double same_place[24];
	struct fric_batch batch = corner_batch();
	struct fric_contacts *c = prepared(&batch);
	batch.skip_degenerate = true;
	batch.positions = same_place;
	struct fric_contacts *d = prepared(&batch);
	for (enum fric_triangle t = FRIC_FULL; t <= FRIC_LOWER; t++) {
		struct fric_pattern *p = pattern_of(c, t), *q = pattern_of(d, t);
		const size_t n = fric_pattern_n_entries(p);
		assert_int_equal(n, fric_pattern_n_entries(q));
		assert_memory_equal(fric_pattern_indices(p), fric_pattern_indices(q), n * sizeof(int32_t));
		assert_memory_equal(fric_pattern_indptr(p), fric_pattern_indptr(q), 25 * sizeof(int64_t));
		fric_pattern_free(p);
		fric_pattern_free(q);
	}
	fric_contacts_free(c);
	fric_contacts_free(d);
}

/* One vertex is in contact with 3000 others. */
static void test_hub(void **state)
{
	(void)state;
	enum { SPOKES = 3000, ROWS = 2 * (SPOKES + 1) };
	static double positions[ROWS], v[ROWS], inner[SPOKES], csr[2 * ROWS + 8 * SPOKES];
	static int32_t stencils[2 * SPOKES];
	for (int i = 0; i < SPOKES; i++) {
		positions[2 * i + 2] = cos(i);
		positions[2 * i + 3] = sin(i);
		v[2 * i + 2] = sin(3. * i);
		stencils[2 * i + i % 2] = 0;
		stencils[2 * i + 1 - i % 2] = SPOKES - i;
	}
	struct fric_batch batch = {.dim = 2, .n_vertices = SPOKES + 1, .positions = positions};
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5};
	batch.groups[FRIC_VERTEX_VERTEX] =
		(struct fric_group){.n = SPOKES, .vertices = stencils, .normal_force = {&unit_force, 0}};
	struct fric_contacts *c = prepared(&batch);
	struct fric_pattern *p = pattern_of(c, FRIC_FULL);
	struct fric_error error;
	check_structure(p, ROWS, FRIC_FULL);
	assert_int_equal(fric_pattern_n_entries(p), 2 * ROWS + 8 * SPOKES);
	assert_ok(fric_hessian_inner(&serial, c, query(v), FRIC_PROJECT_NONE, inner, &error));
	assert_ok(fric_hessian_csr(&serial, c, inner, p, csr, &error));
	for (size_t axis = 0; axis < 2; axis++) /* rows sum to zero, including the hub's */
		for (size_t column = 0; column < 2; column++) {
			double sum = 0;
			const int64_t end = fric_pattern_indptr(p)[axis + 1];
			for (int64_t e = fric_pattern_indptr(p)[axis] + (int64_t)column; e < end; e += 2)
				sum += csr[e];
			assert_near(sum, 0, 1e-10);
		}
	fric_pattern_free(p);
	fric_contacts_free(c);
}

/* One pair of vertices has 5000 contacts, which all add to the same entries. */
static void test_duplicates(void **state)
{
	(void)state;
	enum { N = 5000 };
	static int32_t stencils[2 * N];
	static double inner[3 * N], weights[N];
	const double positions[6] = {0, 0, 0, 0, 0, 1}, v[6] = {0};
	for (int i = 0; i < N; i++) {
		stencils[2 * i + i % 2] = 1;
		weights[i] = i % 7;
	}
	struct fric_batch batch = {.dim = 3, .n_vertices = 2, .positions = positions};
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5};
	batch.groups[FRIC_VERTEX_VERTEX] =
		(struct fric_group){.n = N, .vertices = stencils, .normal_force = {&unit_force, 0}, .weight = {weights, 1}};
	struct fric_contacts *c = prepared(&batch);
	struct fric_pattern *p = pattern_of(c, FRIC_UPPER);
	struct fric_error error;
	double data[21], total = 0;
	for (int i = 0; i < N; i++)
		total += weights[i];
	assert_int_equal(fric_pattern_n_entries(p), 21);
	assert_ok(fric_hessian_inner(&serial, c, query(v), FRIC_PROJECT_NONE, inner, &error));
	assert_ok(fric_hessian_csr(&serial, c, inner, p, data, &error));
	assert_bits(data[0], total); /* 2 mu / eps_v = 1 */
	assert_bits(data[3], -total);
	assert_near(data[20], 0, 0); /* along the normal */
	fric_pattern_free(p);
	fric_contacts_free(c);
}

/* Blocks that do not have the form T A T^T: block (corner, j) of contact i contains its own indices. */
static void numbered_row(void *task, size_t contact, int corner, double blocks[FRIC_MAX_STENCIL][9])
{
	(void)task;
	for (int j = 0; j < FRIC_MAX_STENCIL; j++)
		for (int e = 0; e < 9; e++)
			blocks[j][e] = (double)(contact * 1000 + (size_t)(corner * 100 + j * 10 + e));
}

static void test_any_blocks(void **state)
{
	(void)state;
	const struct fric_batch batch = corner_batch();
	struct fric_contacts *c = prepared(&batch);
	for (enum fric_triangle t = FRIC_FULL; t <= FRIC_LOWER; t++) {
		struct fric_pattern *p = pattern_of(c, t);
		double dense[24 * 24] = {0}, *data = calloc(fric_pattern_n_entries(p), sizeof(double));
		assert_ok(pattern_accumulate(&serial, p, numbered_row, NULL, data).code);
		for (size_t i = 0; i < 5; i++)
			for (int r = 0; r < 3 * fric_stencil_size((enum fric_type)i); r++)
				for (int s = 0; s < 3 * fric_stencil_size((enum fric_type)i); s++)
					dense[(corner_stencils[i][r / 3] * 3 + r % 3) * 24 + corner_stencils[i][s / 3] * 3 + s % 3] +=
						(double)((int)i * 1000 + r / 3 * 100 + s / 3 * 10 + r % 3 * 3 + s % 3);
		for (int row = 0; row < 24; row++)
			for (int64_t e = fric_pattern_indptr(p)[row]; e < fric_pattern_indptr(p)[row + 1]; e++)
				assert_bits(data[e], dense[24 * row + fric_pattern_indices(p)[e]]);
		free(data);
		fric_pattern_free(p);
	}
	fric_contacts_free(c);
}

static void test_overflow_of_a_sum(void **state)
{
	(void)state;
	const int32_t same[2] = {0, 0};
	struct fric_batch batch = floor_batch(same, 2, 1);
	const double huge = 1e308, v[3] = {0};
	double inner[6], data[9];
	struct fric_error error;
	batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&huge);
	struct fric_contacts *c = prepared(&batch);
	struct fric_pattern *p = pattern_of(c, FRIC_FULL);
	assert_ok(fric_hessian_inner(&serial, c, query(v), FRIC_PROJECT_NONE, inner, &error));
	assert_code(fric_hessian_csr(&serial, c, inner, p, data, &error), FRIC_E_NOT_FINITE);
	assert_code(error.code, FRIC_E_NOT_FINITE);
	assert_int_equal(error.contact, -1);
	fric_pattern_free(p);
	fric_contacts_free(c);
}

static void test_stop(void **state)
{
	(void)state;
	const struct fric_batch batch = corner_batch();
	struct fric_contacts *c = prepared(&batch);
	struct fric_pattern *p = pattern_of(c, FRIC_FULL);
	atomic_bool stop = true;
	const struct fric_context context = {.n_threads = 1, .stop = &stop};
	struct fric_error error;
	double inner[15] = {0}, data[24 * 24];
	assert_code(fric_hessian_csr(&context, c, inner, p, data, &error), FRIC_E_STOPPED);
	fric_pattern_free(p);
	fric_contacts_free(c);
}

/* The stop flag makes a call return FRIC_E_STOPPED (fric.h). Creating the pattern of a million contacts takes long. */
static void test_stop_while_making_a_pattern(void **state)
{
	(void)state;
	const struct fric_batch batch = corner_batch();
	struct fric_contacts *c = prepared(&batch);
	struct fric_pattern *p = NULL;
	atomic_bool stop = true;
	const struct fric_context context = {.n_threads = 1, .stop = &stop};
	struct fric_error error;
	const enum fric_code code = fric_pattern_create(&context, c, FRIC_FULL, &p, &error);
	fric_pattern_free(p);
	fric_contacts_free(c);
	assert_code(code, FRIC_E_STOPPED);
	assert_null(p);
}

/* Memory that raises the flag when it hands out a block of a certain size, and counts how many bytes of large blocks
 * are written. All bytes are 0x5a at first. */
struct stopping_memory {
	atomic_bool stop;
	size_t least, most; /* bytes of the block that raises the flag */
	size_t written;
};

enum { LARGE = 1 << 20 };

static void *take_and_stop(void *pool, size_t bytes)
{
	struct stopping_memory *m = pool;
	char *block = malloc(bytes ? bytes : 1);
	memset(block, 0x5a, bytes);
	if (bytes >= m->least && bytes <= m->most)
		atomic_store(&m->stop, true);
	return block;
}

static void give_and_count(void *pool, void *block, size_t bytes)
{
	struct stopping_memory *m = pool;
	for (size_t i = 0; i < bytes && bytes > LARGE; i++)
		m->written += ((char *)block)[i] != 0x5a;
	free(block);
}

enum { N_SPARSE = 500000, N_OF_HUB = 200 };

/* A hub, whose list of neighbours takes a block of its own, and optionally a last contact with a far higher vertex
 * number. */
static void stops_among_empty_rows(size_t least, size_t most, bool has_last)
{
	int32_t vertices[2 * N_OF_HUB + 2];
	for (int32_t i = 0; i < N_OF_HUB; i++) {
		vertices[2 * i] = 0;
		vertices[2 * i + 1] = i + 1;
	}
	vertices[2 * N_OF_HUB] = N_SPARSE - 2;
	vertices[2 * N_OF_HUB + 1] = N_SPARSE - 1;
	double bases[6 * (N_OF_HUB + 1)] = {0};
	for (int i = 0; i <= N_OF_HUB; i++)
		bases[6 * i] = bases[6 * i + 3] = 1;
	struct fric_batch batch = {.dim = 3, .n_vertices = N_SPARSE};
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5};
	batch.groups[FRIC_VERTEX_VERTEX] = (struct fric_group){.n = N_OF_HUB + has_last,
	                                                       .vertices = vertices,
	                                                       .normal_force = {(double[]){1}, 0},
	                                                       .tangent_basis = {bases, 6}};
	struct fric_contacts *c = prepared(&batch);
	struct stopping_memory m = {.least = least, .most = most};
	const struct fric_memory memory = {take_and_stop, give_and_count, &m};
	const struct fric_context context = {.n_threads = 1, .stop = &m.stop, .memory = &memory};
	struct fric_pattern *p = NULL;
	struct fric_error error;
	assert_code(fric_pattern_create(&context, c, FRIC_FULL, &p, &error), FRIC_E_STOPPED);
	assert_true(atomic_load(&m.stop));
	assert_null(p);
	fric_contacts_free(c);
	/* contacts per vertex are counted before */
	assert_true(m.written < (N_SPARSE + 1) * (sizeof(size_t) + sizeof(uint32_t)) + LARGE);
}

/* There may be fifty million rows without entries. The flag is raised when the hub's block is allocated, or that of the
 * indices. */
static void test_stop_among_empty_rows(void **state)
{
	(void)state;
	stops_among_empty_rows(LARGE / 32, LARGE / 8, true);
	stops_among_empty_rows(LARGE / 64, LARGE / 32 - 1, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_of_triplets),
		cmocka_unit_test(test_empty_rows),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_independent_of_values),
		cmocka_unit_test(test_hub),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_any_blocks),
		cmocka_unit_test(test_overflow_of_a_sum),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_stop_while_making_a_pattern),
		cmocka_unit_test(test_stop_among_empty_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

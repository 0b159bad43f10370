#include "core/assemble/triplets.h"

#include "tests/share.h"
#include "tests/unit/core/assembly.h"

static struct triplets plain_triplets(const struct assembly *a, enum fric_triangle triangle)
{
	struct triplets t = triplets_create(fric_n_triplets(a->contacts, triangle));
	size_t at = 0;
	for (size_t i = 0; i < fric_n_contacts(a->contacts); i++)
		at += fricp_triplets_plain(a->contacts, a->inner, i, triangle, t.rows + at, t.cols + at, t.values + at);
	assert_int_equal(at, t.n);
	return t;
}

/* stream_from 1: bypasses the caches */
static void check_triplets(const struct assembly *a, enum fric_triangle triangle, int n_threads, size_t stream_from)
{
	const struct fric_context context = {.n_threads = n_threads, .parallel_from = 1, .stream_from = stream_from};
	struct fric_error error;
	struct triplets expected = plain_triplets(a, triangle), t = triplets_create(expected.n);
	assert_ok(fric_hessian_triplets(&context, a->contacts, a->inner, triangle, t.rows, t.cols, t.values, &error));
	assert_memory_equal(t.rows, expected.rows, t.n * sizeof(int32_t));
	assert_memory_equal(t.cols, expected.cols, t.n * sizeof(int32_t));
	assert_all_bits(t.values, expected.values, t.n);
	triplets_free(&t);
	triplets_free(&expected);
}

static void check_all_triangles(struct rng *rng, struct options options, int n_threads)
{
	struct assembly a;
	assembly_create(&a, rng, options);
	for (int t = 0; t < 3; t++)
		for (size_t stream_from = 0; stream_from < 2; stream_from++)
			check_triplets(&a, triangles[t], n_threads, stream_from);
	assembly_free(&a);
}

static void test_same_bits_as_the_plain_form(void **state)
{
	(void)state;
	struct rng rng = {7};
	for (int round = 0; round < 20; round++)
		check_all_triangles(&rng, random_options(&rng, 2 + round % 2), 1);
}

/* With any number of threads, chunks end inside every group. */
static void test_same_bits_over_chunks_and_threads(void **state)
{
	(void)state;
	struct rng rng = {8};
	for (int round = step_sanitized(3) - 1; round < 6; round += step_sanitized(3)) {
		struct options options = random_options(&rng, 2 + round % 2);
		options.n_each = 700 + 311 * (size_t)round;
		options.n_vertices = 500;
		const int threads[3] = {1, 2, 5};
		check_all_triangles(&rng, options, threads[round % 3]);
	}
}

static void test_each_number_of_contacts(void **state)
{
	(void)state;
	struct rng rng = {9};
	for (size_t n = 0; n < 4; n++)
		for (int dim = 2; dim <= 3; dim++)
			check_all_triangles(&rng, (struct options){.dim = dim, .n_each = n, .n_vertices = 9, .own_mu = true}, 2);
}

/* Each entry of an inner matrix in turn makes a block overflow; the first such contact is named. */
static void test_names_the_first_contact_that_is_not_finite(void **state)
{
	(void)state;
	struct rng rng = {10};
	struct assembly a;
	assembly_create(&a, &rng, (struct options){.dim = 3, .n_each = 800, .n_vertices = 100, .own_mu = true});
	struct triplets t = triplets_create(fric_n_triplets(a.contacts, FRIC_FULL));
	const double bad[2] = {-INFINITY, NAN};
	for (int entry = 0; entry < 3; entry++)
		for (int b = 0; b < 4; b++)
			for (size_t i = 801; i < 4000; i += 1111) {
				struct fric_error error;
				const struct fric_context context = {.n_threads = 2, .parallel_from = 1, .stream_from = (size_t)b / 2};
				double *x = a.inner + 3 * i + entry, *later = a.inner + 3 * 3990, old = *x, old_later = *later;
				*x = *later = bad[b % 2];
				const enum fric_code code = fric_hessian_triplets(&context, a.contacts, a.inner, triangles[entry],
				                                                  t.rows, t.cols, t.values, &error);
				assert_code(code, FRIC_E_NOT_FINITE);
				assert_int_equal(error.group, i / 800);
				assert_int_equal(error.contact, i % 800);
				*x = old, *later = old_later;
			}
	triplets_free(&t);
	assembly_free(&a);
}

/* Large weights: a product of two may overflow even if the entry itself does not, and an entry of zero does not hide
 * that. There are two equal contacts because other code writes the last contact of a chunk. */
static void check_far_point(double closest, double entry, enum fric_code expected)
{
	struct fric_error error = {.contact = -1};
	const int32_t vertices[8] = {0, 1, 2, 3, 0, 1, 2, 3};
	const double basis[6] = {1, 0, 0, 1, 0, 0}, point[2] = {closest, 0}, force = 1;
	const double inner[6] = {entry, 0, entry, entry, 0, entry};
	struct fric_batch batch = {.dim = 3, .n_vertices = 4};
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 1};
	batch.groups[FRIC_FACE_VERTEX] = (struct fric_group){.n = 2,
	                                                     .vertices = vertices,
	                                                     .normal_force = {&force, 0},
	                                                     .tangent_basis = {basis, 0},
	                                                     .closest_point = {point, 0}};
	struct fric_contacts *contacts;
	double values[288];
	int32_t rows[288], cols[288];
	assert_ok(fric_prepare(&serial, &batch, &contacts, &error));
	assert_code(fric_hessian_triplets(&serial, contacts, inner, FRIC_FULL, rows, cols, values, &error), expected);
	assert_int_equal(error.contact, expected == FRIC_OK ? -1 : 0);
	fric_contacts_free(contacts);
}

static void test_overflow_of_weights(void **state)
{
	(void)state;
	check_far_point(1e100, 1, FRIC_OK);
	check_far_point(NAN, 1, FRIC_E_NOT_FINITE);
	check_far_point(1e160, 1e-200, FRIC_E_NOT_FINITE);
	check_far_point(1e160, 0, FRIC_E_NOT_FINITE);
	check_far_point(1e150, 1e10, FRIC_E_NOT_FINITE);
	check_far_point(1e150, 0, FRIC_OK);
}

/* One of three contacts has a far closest point. Each is tried, because other code writes the last contact of a
 * chunk. */
static void check_one_far_contact(size_t far, enum fric_triangle triangle, size_t stream_from)
{
	enum { N = 3 };
	const struct fric_context context = {.n_threads = 1, .stream_from = stream_from};
	struct fric_error error = {.contact = -1};
	const int32_t vertices[4 * N] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
	const double basis[6] = {1, 0, 0, 1, 0, 0}, force = 1;
	double points[2 * N] = {0}, inner[3 * N] = {1e10, 0, 1e10, 1e10, 0, 1e10, 1e10, 0, 1e10};
	struct fric_batch batch = {.dim = 3, .n_vertices = 4};
	points[2 * far] = 1e150;
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 1};
	batch.groups[FRIC_FACE_VERTEX] = (struct fric_group){.n = N,
	                                                     .vertices = vertices,
	                                                     .normal_force = {&force, 0},
	                                                     .tangent_basis = {basis, 0},
	                                                     .closest_point = {points, 2}};
	struct fric_contacts *contacts;
	double values[144 * N];
	int32_t rows[144 * N], cols[144 * N];
	assert_ok(fric_prepare(&serial, &batch, &contacts, &error));
	assert_code(fric_hessian_triplets(&context, contacts, inner, triangle, rows, cols, values, &error),
	            FRIC_E_NOT_FINITE);
	assert_int_equal(error.contact, far);
	fric_contacts_free(contacts);
}

static void test_overflow_in_one_contact_alone(void **state)
{
	(void)state;
	for (size_t far = 0; far < 3; far++)
		for (int t = 0; t < 3; t++)
			for (size_t stream_from = 0; stream_from < 2; stream_from++)
				check_one_far_contact(far, triangles[t], stream_from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bits_as_the_plain_form),
		cmocka_unit_test(test_same_bits_over_chunks_and_threads),
		cmocka_unit_test(test_each_number_of_contacts),
		cmocka_unit_test(test_names_the_first_contact_that_is_not_finite),
		cmocka_unit_test(test_overflow_of_weights),
		cmocka_unit_test(test_overflow_in_one_contact_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

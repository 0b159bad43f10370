/* Results have the same bits for any number of threads, in batches of several chunks. */
#include <pthread.h>

#include "tests/property/hessians.h"

static const int thread_counts[] = {2, 3, 8};

/* All results of a batch, concatenated. */
struct answers {
	double *numbers;
	size_t n, room;
	size_t n_indices; /* entries of all patterns together, and a hash of the patterns */
	uint64_t hash;
};

static double *more(struct answers *a, size_t n)
{
	assert_true(a->n + n <= a->room);
	a->n += n;
	return a->numbers + a->n - n;
}

static void hash_indices(struct answers *a, const int32_t *indices, size_t n)
{
	for (size_t i = 0; i < n; i++)
		a->hash = (a->hash ^ (uint64_t)(uint32_t)indices[i]) * 1099511628211u;
	a->n_indices += n;
}

static void ask_outputs(const struct fric_context *context, const struct fric_contacts *c, const double *v,
                        struct answers *a)
{
	struct fric_error error;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		for (enum fric_output output = 0; output < FRIC_N_OUTPUTS; output++)
			if (fric_has_output(c, type, output))
				assert_ok(fric_contact_output(context, c, scene_query(c, v), type, output,
				                              more(a, 6 * fric_group_size(c, type)), &error));
}

/* The results of combined calls equal those of single calls. */
static void ask_factors(const struct fric_context *context, const struct fric_contacts *c, const double *v,
                        enum fric_projection projection, const double *inner, struct answers *a)
{
	struct fric_error error;
	struct fric_factors factors = {0};
	const size_t m = (size_t)fric_inner_size(fric_dim(c)), rows = (size_t)(fric_dim(c) * (fric_dim(c) - 1));
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const size_t n = fric_group_size(c, type);
		if (n == 0)
			continue;
		factors.weights[type] = more(a, 4 * n);
		factors.tangent_basis[type] = more(a, 6 * n);
		factors.inner[type] = more(a, m * n);
	}
	assert_ok(fric_hessian_factors(context, c, scene_query(c, v), projection, &factors, &error));
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const size_t n = fric_group_size(c, type), k = (size_t)fric_stencil_size(type);
		double *out = calloc(6 * n + 1, sizeof(double));
		if (n == 0) {
			free(out);
			continue;
		}
		assert_all_bits(factors.inner[type], inner, m * n);
		assert_ok(fric_stencil_weights(&serial, c, type, out, &error));
		assert_all_bits(factors.weights[type], out, k * n);
		assert_ok(fric_contact_output(&serial, c, scene_query(c, v), type, FRIC_OUT_TANGENT_BASIS, out, &error));
		assert_all_bits(factors.tangent_basis[type], out, rows * n);
		inner += m * n;
		free(out);
	}
}

static void ask_hessians(const struct fric_context *context, const struct fric_contacts *c, const double *v,
                         struct answers *a)
{
	struct fric_error error;
	double *inner = NULL;
	for (enum fric_projection p = FRIC_PROJECT_NONE; p <= FRIC_PROJECT_ABS; p++) {
		inner = more(a, fric_n_contacts(c) * 3);
		assert_ok(fric_hessian_inner(context, c, scene_query(c, v), p, inner, &error));
		ask_factors(context, c, v, p, inner, a);
	}
	for (enum fric_triangle t = FRIC_FULL; t <= FRIC_UPPER; t++) {
		const size_t n = fric_n_triplets(c, t);
		int32_t *rows = calloc(2 * n, sizeof(int32_t));
		assert_ok(fric_hessian_triplets(context, c, inner, t, rows, rows + n, more(a, n), &error));
		hash_indices(a, rows, 2 * n);
		free(rows);
		struct fric_pattern *pattern;
		assert_ok(fric_pattern_create(context, c, t, &pattern, &error));
		const size_t n_entries = fric_pattern_n_entries(pattern);
		assert_ok(fric_hessian_csr(context, c, inner, pattern, more(a, n_entries), &error));
		hash_indices(a, fric_pattern_indices(pattern), n_entries);
		fric_pattern_free(pattern);
	}
}

static void ask(const struct fric_context *context, const struct scene *s, struct answers *a)
{
	struct fric_contacts *c = scene_contacts(context, s);
	struct fric_error error;
	double *potential = more(a, 1), *gradient = more(a, scene_ndof(s));
	assert_ok(fric_evaluate(context, c, scene_query(c, s->velocities), potential, gradient, &error));
	ask_outputs(context, c, s->velocities, a);
	ask_hessians(context, c, s->velocities, a);
	*more(a, 1) = (double)fric_n_skipped(c);
	scene_contacts_free(c);
}

static struct answers asked(int n_threads, const struct scene *s)
{
	/* Results of this size are written through the caches by one thread, and past them by several threads. */
	const struct fric_context context = {.n_threads = n_threads, .parallel_from = 1, .stream_from = n_threads > 1};
	struct answers a = {.room = 3000000};
	a.numbers = calloc(a.room, sizeof(double));
	assert_non_null(a.numbers);
	ask(&context, s, &a);
	return a;
}

static void check(struct options options, uint64_t seed)
{
	struct rng rng = {seed};
	struct scene scene;
	options.n_each = options.dim == 3 ? 1100 : 1800;
	options.n_vertices = 1500;
	scene_create(&scene, &rng, options);
	struct answers one = asked(1, &scene);
	for (size_t t = 0; t < sizeof(thread_counts) / sizeof(thread_counts[0]); t++) {
		struct answers many = asked(thread_counts[t], &scene);
		assert_int_equal(many.n, one.n);
		assert_int_equal(many.n_indices, one.n_indices);
		assert_true(many.hash == one.hash);
		assert_all_bits(many.numbers, one.numbers, one.n);
		free(many.numbers);
	}
	free(one.numbers);
	scene_free(&scene);
}

static void test_three_dimensions(void **state)
{
	(void)state;
	check((struct options){.dim = 3, .source = FRIC_MU_VERTEX, .signed_weights = true, .ellipses = true}, 501);
}

static void test_barrier_and_table(void **state)
{
	(void)state;
	check((struct options){.dim = 3, .source = FRIC_MU_TABLE, .barrier = true, .mu_aniso = true}, 502);
}

static void test_two_dimensions(void **state)
{
	(void)state;
	check((struct options){.dim = 2, .own_mu = true, .own_eps_v = true, .mu_aniso = true, .transition = FRIC_QUADRATIC},
	      503);
}

/* Faults are far apart: the first contact's is reported, whichever thread finds one first. */
static void test_first_fault(void **state)
{
	(void)state;
	struct rng rng = {504};
	struct scene scene;
	const struct options options = {.dim = 3, .n_each = 1200, .n_vertices = 9000, .source = FRIC_MU_SCALAR};
	scene_create(&scene, &rng, options);
	struct fric_contacts *c = scene_contacts(&serial, &scene);
	for (int i = 0; i < 5; i++) { /* velocities that overflow when subtracted */
		const int32_t *stencil = scene.batch.groups[FRIC_EDGE_EDGE].vertices + 4 * (900 - 200 * i);
		scene.velocities[3 * stencil[0]] = 1.7e308;
		scene.velocities[3 * stencil[2]] = -1.7e308;
	}
	struct fric_error first = {FRIC_OK, FRIC_VERTEX_VERTEX, -2};
	for (int n_threads = 1; n_threads <= 4; n_threads++)
		for (int again = 0; again < 3; again++) {
			const struct fric_context context = {.n_threads = n_threads, .parallel_from = 1};
			double potential, *gradient = calloc(scene_ndof(&scene), sizeof(double));
			struct fric_error error = {FRIC_OK, FRIC_VERTEX_VERTEX, -3};
			assert_code(fric_evaluate(&context, c, scene_query(c, scene.velocities), &potential, gradient, &error),
			            FRIC_E_NOT_FINITE);
			if (first.code == FRIC_OK)
				first = error;
			assert_int_equal(error.group, first.group);
			assert_int_equal(error.contact, first.contact);
			free(gradient);
		}
	scene_contacts_free(c);
	scene_free(&scene);
}

enum { N_CALLERS = 8, N_ROUNDS = 3 };

/* One of several threads that query the same contacts, each with its own lagged velocities. */
struct caller {
	const struct fric_contacts *contacts;
	struct fric_context context;
	const double *lagged, *velocities;
	double *expected, *numbers; /* [n] */
	size_t n;
	bool agrees;
};

static enum fric_code ask_once(const struct caller *a, double *numbers)
{
	const size_t ndof = dense_size(a->contacts);
	struct fric_state *made;
	struct fric_error error;
	enum fric_code code = fric_state_create(&a->context, a->contacts, a->lagged, &made, &error);
	const struct fric_query asked = {.velocities = a->velocities, .state = made};
	if (code == FRIC_OK)
		code = fric_evaluate(&a->context, a->contacts, &asked, numbers, numbers + 1, &error);
	if (code == FRIC_OK)
		code = fric_hessian_inner(&a->context, a->contacts, &asked, FRIC_PROJECT_NONE, numbers + 1 + ndof, &error);
	fric_state_free(made);
	return code;
}

/* Threads must not use cmocka's assertions, which work only on the thread that runs the test. */
static void *call(void *data)
{
	struct caller *a = data;
	a->agrees = true;
	for (int round = 0; round < N_ROUNDS; round++)
		a->agrees &= ask_once(a, a->numbers) == FRIC_OK && memcmp(a->numbers, a->expected, a->n * sizeof(double)) == 0;
	return NULL;
}

/* Expected results are from contacts that no other thread uses. */
static struct caller new_caller(const struct fric_contacts *contacts, const struct scene *s, const double *lagged,
                                int i)
{
	struct fric_contacts *own = scene_contacts(&serial, s);
	struct caller a = {own, serial, lagged, s->velocities, .n = 1 + scene_ndof(s) + 3 * fric_n_contacts(contacts)};
	a.expected = calloc(a.n, sizeof(double));
	a.numbers = calloc(a.n, sizeof(double));
	assert_true(a.expected && a.numbers);
	assert_ok(ask_once(&a, a.expected));
	scene_contacts_free(own);
	a.contacts = contacts;
	a.context = (struct fric_context){.n_threads = 1 + i % 2, .parallel_from = 1};
	return a;
}

static void test_callers_share_contacts(void **state)
{
	(void)state;
	struct rng rng = {505};
	struct scene scene;
	scene_create(&scene, &rng,
	             (struct options){.dim = 3, .n_each = 300, .n_vertices = 500, .own_mu = true, .ellipses = true});
	struct fric_contacts *c = scene_contacts(&serial, &scene);
	struct caller callers[N_CALLERS];
	pthread_t threads[N_CALLERS];
	for (int i = 0; i < N_CALLERS; i++)
		callers[i] = new_caller(c, &scene, random_velocities(&scene, &rng), i);
	assert_memory_not_equal(callers[0].expected, callers[1].expected, callers[0].n * sizeof(double));
	for (int i = 0; i < N_CALLERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call, &callers[i]), 0);
	for (int i = 0; i < N_CALLERS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_true(callers[i].agrees);
		free(callers[i].expected);
		free(callers[i].numbers);
	}
	scene_contacts_free(c);
	scene_free(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_three_dimensions),       cmocka_unit_test(test_barrier_and_table),
		cmocka_unit_test(test_two_dimensions),         cmocka_unit_test(test_first_fault),
		cmocka_unit_test(test_callers_share_contacts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Sums at vertices, on meshes whose contacts join vertices with nearby, distant or random numbers, or always the same
 * vertices. On any number of threads the bits are those of one thread, with and without a schedule. */
#include "tests/bench/mix.c"
#include "tests/share.h"
#include "tests/unit/core/check.h"

enum { N_CONTACTS = 6000, N_VECTORS = 11, MOST_THREADS = 8 };

/* In addition to the meshes of the benchmarks: vertex 0 in all contacts; all contacts at the first of many vertices;
 * empty groups. */
enum { HUB = N_MESHES, CORNER, ONE_GROUP, N_SCENES };

static void make_scene(int which, struct mix *m)
{
	mix_make(N_CONTACTS, which < N_MESHES ? (enum mesh)which : MESH_SHEETS, m);
	for (enum fric_type type = 0; type <= FRIC_FACE_VERTEX; type++) {
		struct fric_group *g = &m->batch.groups[type];
		const size_t k = (size_t)fric_stencil_size(type);
		int32_t *vertices = m->vertices + (g->vertices - m->vertices);
		for (size_t i = 0; i < g->n && which == HUB; i++)
			vertices[i * k + i % k] = 0;
		for (size_t i = 0; i < g->n && which == CORNER; i++)
			for (size_t j = 0; j < k; j++)
				vertices[i * k + j] = (int32_t)((i / 9 + j) % 40);
		if (which == ONE_GROUP && type != FRIC_EDGE_EDGE)
			g->n = 0;
	}
	if (which == HUB || which == CORNER) /* accepts contacts with a repeated vertex, whose distance is zero */
		m->batch.barrier.dhat = 1e9;
}

struct results {
	double potential, *gradient, *products, *of_jvp, *by_positions;
	double potential_tangent[2], by_mu[2];
};

static void make_results(const struct mix *m, struct results *r)
{
	const size_t n = 3 * m->n_vertices;
	double *all = malloc((N_VECTORS + 4) * n * sizeof(double));
	assert_non_null(all);
	memset(all, 0x5a, (N_VECTORS + 4) * n * sizeof(double));
	*r = (struct results){.gradient = all,
	                      .products = all + n,
	                      .of_jvp = all + (1 + N_VECTORS) * n,
	                      .by_positions = all + (3 + N_VECTORS) * n};
}

/* @return the first code that is not FRIC_OK */
static enum fric_code evaluate(const struct fric_context *context, const struct mix *m, const struct fric_contacts *c,
                               const struct fric_schedule *schedule, const double *vectors, struct results *r)
{
	const struct fric_query query = {.velocities = m->velocities, .schedule = schedule};
	const struct fric_derivation derivation = {.batch = &m->batch, .contacts = c, .query = &query};
	const size_t n = 3 * m->n_vertices, counts[] = {1, 3, N_VECTORS};
	double *tangents = (double *)vectors, again;
	const struct fric_differential by_velocities = {.fields = {[FRIC_WRT_VELOCITIES] = tangents}},
								   by_positions = {.fields = {[FRIC_WRT_POSITIONS] = tangents}},
								   by_all = {.fields = {[FRIC_WRT_POSITIONS] = r->by_positions,
	                                                    [FRIC_WRT_MU_S] = &r->by_mu[0],
	                                                    [FRIC_WRT_MU_K] = &r->by_mu[1]}};
	struct fric_error error;
	enum fric_code code = fric_evaluate(context, c, &query, &r->potential, r->gradient, &error);
	for (int i = 0; i < 3 && code == FRIC_OK; i++) /* with fewer vectors the first products are the same, and are
	                                                * overwritten */
		code = fric_hessian_products(context, c, &query, FRIC_PROJECT_CLAMP, counts[i], vectors, r->products, &error);
	if (code == FRIC_OK)
		code = fric_jvp(context, &derivation, &by_velocities, &again, r->gradient, &r->potential_tangent[0], r->of_jvp,
		                &error);
	if (code == FRIC_OK)
		code = fric_jvp(context, &derivation, &by_positions, &again, r->gradient, &r->potential_tangent[1],
		                r->of_jvp + n, &error);
	if (code == FRIC_OK)
		code = fric_vjp(context, &derivation, 1, vectors + n, &again, r->gradient, &by_all, &error);
	return code;
}

static void assert_same(const struct results *a, const struct results *b, size_t n_vertices)
{
	assert_bits(a->potential, b->potential);
	assert_all_bits(a->potential_tangent, b->potential_tangent, 2);
	assert_all_bits(a->by_mu, b->by_mu, 2);
	assert_all_bits(a->gradient, b->gradient, 3 * n_vertices);
	assert_all_bits(a->products, b->products, 3 * n_vertices * N_VECTORS);
	assert_all_bits(a->of_jvp, b->of_jvp, 3 * n_vertices * 2);
	assert_all_bits(a->by_positions, b->by_positions, 3 * n_vertices);
}

static struct fric_contacts *contacts_of(const struct mix *m)
{
	struct fric_contacts *c;
	struct fric_error error;
	assert_ok(fric_prepare(&serial, &m->batch, &c, &error));
	return c;
}

static double *vectors_of(const struct mix *m)
{
	double *x = malloc(N_VECTORS * 3 * m->n_vertices * sizeof(double));
	assert_non_null(x);
	for (size_t i = 0; i < N_VECTORS * 3 * m->n_vertices; i++)
		x[i] = uniform() - 0.5;
	return x;
}

/* The gradient, summed force by force in the order of the contacts. */
static void check_gradient(const struct fric_contacts *c, const struct mix *m, const double *gradient)
{
	double *expected = calloc(3 * m->n_vertices, sizeof(double)), *forces = malloc(3 * N_CONTACTS * sizeof(double)),
		   *weights = malloc(4 * N_CONTACTS * sizeof(double)), largest = 0;
	const struct fric_query query = {.velocities = m->velocities};
	struct fric_error error;
	assert_true(expected && forces && weights);
	for (enum fric_type type = 0; type <= FRIC_FACE_VERTEX; type++) {
		const size_t k = (size_t)fric_stencil_size(type);
		assert_ok(fric_contact_output(&serial, c, &query, type, FRIC_OUT_FRICTION_FORCE, forces, &error));
		assert_ok(fric_stencil_weights(&serial, c, type, weights, &error));
		for (size_t i = 0; i < fric_group_size(c, type); i++)
			for (size_t j = 0; j < 3 * k; j++)
				expected[3 * m->batch.groups[type].vertices[i * k + j / 3] + (int32_t)(j % 3)] -=
					weights[i * k + j / 3] * forces[3 * i + j % 3];
	}
	for (size_t i = 0; i < 3 * m->n_vertices; i++)
		largest = fmax(largest, fabs(expected[i]));
	assert_all_near(gradient, expected, 3 * m->n_vertices, 1e-12 * largest);
	free(expected);
	free(forces);
	free(weights);
}

static void check_mesh(int which)
{
	struct mix m;
	struct results one, other;
	struct fric_schedule *schedule;
	struct fric_error error;
	const int step = step_sanitized(7); /* 7 makes a schedule on one thread, and one on several */
	make_scene(which, &m);
	struct fric_contacts *c = contacts_of(&m);
	double *vectors = vectors_of(&m);
	make_results(&m, &one);
	assert_ok(evaluate(&serial, &m, c, NULL, vectors, &one));
	check_gradient(c, &m, one.gradient);
	for (int i = step - 1; i < 2 * MOST_THREADS; i += step) {
		const struct fric_context context = {.n_threads = 1 + i / 2, .parallel_from = 1},
								  making = {.n_threads = 1 + (i / 2 + 3) % MOST_THREADS, .parallel_from = 1};
		assert_ok(fric_schedule_create(i % 2 ? &making : &serial, c, &schedule, &error));
		make_results(&m, &other);
		assert_ok(evaluate(&context, &m, c, schedule, vectors, &other));
		assert_same(&other, &one, m.n_vertices);
		free(other.gradient);
		fric_schedule_free(schedule);
	}
	free(one.gradient);
	free(vectors);
	fric_contacts_free(c);
	mix_free(&m);
}

static void test_meshes(void **unused)
{
	(void)unused;
	for (int which = 0; which < N_SCENES; which++)
		check_mesh(which);
}

/* ---- memory ---- */

struct scarce {
	atomic_int n_before_failure, n_held;
};

static void *take(void *pool, size_t bytes)
{
	struct scarce *scarce = pool;
	void *block = atomic_fetch_sub(&scarce->n_before_failure, 1) == 0 ? NULL : malloc(bytes ? bytes : 1);
	atomic_fetch_add(&scarce->n_held, block != NULL);
	return block;
}

static void give(void *pool, void *block, size_t bytes)
{
	struct scarce *scarce = pool;
	(void)bytes;
	atomic_fetch_sub(&scarce->n_held, 1);
	free(block);
}

/* Each block in turn is refused, or some of them with a sanitizer, and all memory is returned. */
static void check_memory(int which)
{
	struct mix m;
	struct results r;
	struct scarce scarce = {0};
	const struct fric_memory memory = {.pool = &scarce, .take = take, .give = give};
	const struct fric_context two = {.n_threads = 2, .parallel_from = 1, .memory = &memory};
	enum fric_code code = FRIC_E_MEMORY;
	int n = 0;
	make_scene(which, &m);
	struct fric_contacts *c = contacts_of(&m);
	double *vectors = vectors_of(&m);
	make_results(&m, &r);
	for (; code == FRIC_E_MEMORY; n += step_sanitized(3)) {
		atomic_store(&scarce.n_before_failure, n);
		code = evaluate(&two, &m, c, NULL, vectors, &r);
		assert_int_equal(atomic_load(&scarce.n_held), 0);
	}
	assert_ok(code);
	assert_true(n > 10);
	free(r.gradient);
	free(vectors);
	fric_contacts_free(c);
	mix_free(&m);
}

static void test_memory(void **unused)
{
	(void)unused;
	check_memory(MESH_SHEETS);
	check_memory(MESH_RANDOM);
}

/* ---- faults ---- */

/* The lowest of several faulty contacts is named, whichever thread finds one first: for a gradient, and for
 * products. */
static void check_faults(int which)
{
	struct mix m;
	struct results r;
	struct fric_error error;
	make_scene(which, &m);
	double *vectors = vectors_of(&m);
	make_results(&m, &r);
	for (size_t i = 1; i < 4; i++) { /* velocities that overflow when subtracted; as vectors, too */
		const int32_t *stencil = m.batch.groups[FRIC_EDGE_EDGE].vertices + 4 * (i * N_CONTACTS / 18);
		vectors[3 * stencil[0]] = vectors[3 * stencil[1]] = 1.7e308;
		vectors[3 * stencil[2]] = vectors[3 * stencil[3]] = -1.7e308;
	}
	struct fric_contacts *c = contacts_of(&m);
	int64_t first[2] = {-1, -1};
	for (int threads = 1; threads <= MOST_THREADS; threads += step_sanitized(3)) {
		const struct fric_context context = {.n_threads = threads, .parallel_from = 1};
		const struct fric_query fast = {.velocities = vectors}, slow = {.velocities = m.velocities};
		assert_code(fric_evaluate(&context, c, &fast, &r.potential, r.gradient, &error), FRIC_E_NOT_FINITE);
		first[0] = threads == 1 ? error.contact : first[0];
		assert_int_equal(error.contact, first[0]);
		assert_code(
			fric_hessian_products(&context, c, &slow, FRIC_PROJECT_NONE, N_VECTORS, vectors, r.products, &error),
			FRIC_E_NOT_FINITE);
		first[1] = threads == 1 ? error.contact : first[1];
		assert_int_equal(error.contact, first[1]);
	}
	assert_true(first[0] >= 0 && first[1] >= 0);
	free(r.gradient);
	free(vectors);
	fric_contacts_free(c);
	mix_free(&m);
}

static void test_faults(void **unused)
{
	(void)unused;
	check_faults(MESH_SHEETS);
	check_faults(MESH_RANDOM);
}

static void test_stop(void **unused)
{
	(void)unused;
	struct mix m;
	struct results r;
	atomic_bool stop = true;
	make_scene(MESH_RANDOM, &m);
	struct fric_contacts *c = contacts_of(&m);
	double *vectors = vectors_of(&m);
	make_results(&m, &r);
	for (int threads = 1; threads <= MOST_THREADS; threads++) {
		const struct fric_context context = {.n_threads = threads, .parallel_from = 1, .stop = &stop};
		struct fric_schedule *schedule;
		struct fric_error error;
		assert_code(evaluate(&context, &m, c, NULL, vectors, &r), FRIC_E_STOPPED);
		assert_ok(fric_schedule_create(&context, c, &schedule, &error)); /* short, so it ignores the flag */
		assert_code(evaluate(&context, &m, c, schedule, vectors, &r), FRIC_E_STOPPED);
		fric_schedule_free(schedule);
	}
	free(r.gradient);
	free(vectors);
	fric_contacts_free(c);
	mix_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_meshes), cmocka_unit_test(test_memory),
	                                   cmocka_unit_test(test_faults), cmocka_unit_test(test_stop)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

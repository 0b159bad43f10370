/* Parts of the sweep, and evaluation by parts: for every kind of batch and any number of threads, the bits are those of
 * one thread that sweeps over all vertices. */
#include "core/order/schedule.h"

#include "tests/property/scene.h"
#include "tests/share.h"

static const int thread_counts[] = {1, 2, 3, 8};
enum { N_COUNTS = 4 };

/* The part that owns each vertex or each block: the first part that reaches it. */
static size_t *owners_of(const struct fric_schedule *s, const struct fric_contacts *c)
{
	const size_t by = s->by_vertex ? 1 : BLOCK_VERTICES;
	size_t *owner = malloc((c->n_vertices / by + 1) * sizeof(*owner));
	for (size_t b = 0; b <= c->n_vertices / by; b++)
		owner[b] = SIZE_MAX;
	for (size_t p = s->n_parts - 1; p < s->n_parts; p--)
		for (size_t i = s->first[p]; i < s->first[p + 1]; i++) {
			const struct span span = sweep_span(c, i);
			for (int k = 0; k < fric_stencil_size(span.type); k++)
				for (size_t j = span.begin; j < span.begin + span.n; j++)
					owner[(size_t)c->vertices[k][j] / by] = p;
		}
	return owner;
}

/* Parts follow each other. Every contribution to a vertex of an earlier part has a place of its own; the places of a
 * vertex are in the order of the sweep, and no vertex is in two ranges. A block may also be assigned to an earlier part
 * that does not reach it. */
static void check_places(const struct fric_schedule *s, const struct fric_contacts *c)
{
	size_t *owner = owners_of(s, c), n = 0, at = 0, by = s->by_vertex ? 1 : BLOCK_VERTICES;
	size_t *range_of = calloc(c->n_vertices, sizeof(*range_of)), *last = calloc(c->n_vertices, sizeof(*last));
	assert_int_equal(s->first[0], 0);
	assert_int_equal(s->first[s->n_parts], c->n_spans);
	for (size_t r = 0; r < s->n_ranges; r++) {
		assert_true(s->range[r] < s->range[r + 1]);
		for (; at < s->range[r + 1]; at++) {
			assert_true(range_of[s->vertices[at]] == 0 || range_of[s->vertices[at]] == r + 1);
			range_of[s->vertices[at]] = r + 1;
		}
	}
	assert_int_equal(at, s->n_deferred);
	for (size_t p = 0; p < s->n_parts; p++) {
		assert_true(s->first[p] < s->first[p + 1]);
		for (size_t i = s->first[p]; i < s->first[p + 1]; i++) {
			const struct span span = sweep_span(c, i);
			const int32_t *places = schedule_places(s, i);
			for (size_t j = 0; j < span.n; j++)
				for (int k = 0; k < fric_stencil_size(span.type); k++) {
					const int32_t v = c->vertices[k][span.begin + j];
					const int32_t place = places ? places[(size_t)k * span.n + j] : -1;
					if (owner[(size_t)v / by] < p)
						assert_true(place >= 0);
					if (place < 0)
						continue;
					assert_true(!s->by_vertex || owner[v] < p);
					assert_int_equal(s->vertices[place], v);
					assert_true(last[v] <= (size_t)place);
					last[v] = (size_t)place + 1;
					n++;
				}
		}
	}
	assert_int_equal(n, s->n_deferred);
	free(owner);
	free(range_of);
	free(last);
}

static void check_ranges(const struct fric_contacts *c)
{
	size_t slot = 0, n_spans = 0;
	for (size_t at = 0, n; at < c->n; at += n, n_spans++) {
		const struct span span = span_at(c, at);
		const struct span_extent r = c->extents[span_slot(span)];
		int32_t lowest = INT32_MAX, highest = -1;
		n = span.n;
		assert_true(at == 0 || span_slot(span) > slot);
		slot = span_slot(span);
		assert_true(slot < span_slots(c->n));
		for (size_t i = at; i < at + n; i++)
			for (int k = 0; k < fric_stencil_size(span.type); k++) {
				lowest = c->vertices[k][i] < lowest ? c->vertices[k][i] : lowest;
				highest = c->vertices[k][i] > highest ? c->vertices[k][i] : highest;
			}
		assert_int_equal(r.begin, at);
		assert_int_equal(r.lowest, lowest);
		assert_int_equal(r.highest, highest);
	}
	for (slot = 0; slot < span_slots(c->n); slot++)
		n_spans -= c->extents[slot].begin >= 0;
	assert_int_equal(n_spans, 0);
}

static struct fric_schedule scheduled(const struct fric_contacts *c, int n_threads)
{
	struct fric_schedule s;
	assert_true(fricp_schedule_make(&serial, c, n_threads, &s));
	if (s.first)
		check_places(&s, c);
	else
		assert_int_equal(s.n_parts, 1);
	return s;
}

static struct scene made(struct options options, uint64_t seed)
{
	struct rng rng = {seed};
	struct scene scene;
	scene_create(&scene, &rng, options);
	return scene;
}

static const struct options local = {.dim = 3,
                                     .n_each = 3000,
                                     .n_vertices = 4000,
                                     .reach = 30,
                                     .source = FRIC_MU_SCALAR},
							scattered = {.dim = 3, .n_each = 2000, .n_vertices = 4000, .source = FRIC_MU_SCALAR};

static void test_local_batches_fall_apart(void **state)
{
	(void)state;
	struct scene scene = made(local, 601);
	struct fric_contacts *c = scene_contacts(&serial, &scene);
	check_ranges(c);
	for (int t = 0; t < N_COUNTS; t++) {
		struct fric_schedule s = scheduled(c, thread_counts[t]);
		assert_int_equal(s.n_parts > 1, thread_counts[t] > 1);
		assert_true(t == 0 || s.n_parts >= (size_t)thread_counts[t]);
		assert_false(s.by_vertex);
		size_t longest = 0;
		for (size_t p = 0; p < s.n_parts && s.first; p++)
			longest = s.first[p + 1] - s.first[p] > longest ? s.first[p + 1] - s.first[p] : longest;
		assert_true(t == 0 || longest * s.n_parts < 2 * c->n_spans);
		assert_true(s.n_deferred * 4 < 14 * (size_t)local.n_each);
		fricp_schedule_clear(&s);
	}
	scene_contacts_free(c);
	scene_free(&scene);
}

/* There is one part per thread, and nearly all contributions of parts other than the first are deferred. */
static void test_scattered_batches_defer_most(void **state)
{
	(void)state;
	struct scene scene = made(scattered, 602);
	struct fric_contacts *c = scene_contacts(&serial, &scene);
	for (int t = 0; t < N_COUNTS; t++) {
		struct fric_schedule s = scheduled(c, thread_counts[t]);
		assert_int_equal(s.n_parts, thread_counts[t]);
		assert_false(s.by_vertex);
		assert_int_equal(s.n_deferred > 14 * scattered.n_each / 4, t > 0);
		fricp_schedule_clear(&s);
	}
	scene_contacts_free(c);
	scene_free(&scene);
}

/* Contacts are in the order of the mesh, but its vertices are numbered at random: hardly anything is deferred. */
static void test_shuffled_numbers(void **state)
{
	(void)state;
	struct options options = local;
	options.n_vertices = 40000;
	struct scene scene = made(options, 604);
	struct rng rng = {605};
	int32_t *number = malloc(options.n_vertices * sizeof(*number));
	for (size_t v = 0; v < options.n_vertices; v++) {
		const size_t other = below(&rng, v + 1);
		number[v] = number[other];
		number[other] = (int32_t)v;
	}
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		for (size_t i = 0; i < scene.batch.groups[type].n * (size_t)fric_stencil_size(type); i++) {
			int32_t *v = (int32_t *)scene.batch.groups[type].vertices + i;
			*v = number[*v];
		}
	free(number);
	struct fric_contacts *c = scene_contacts(&serial, &scene);
	for (int t = 1; t < N_COUNTS; t++) {
		struct fric_schedule s = scheduled(c, thread_counts[t]);
		assert_true(s.by_vertex);
		assert_true(s.n_deferred < 14 * options.n_each / 10);
		fricp_schedule_clear(&s);
	}
	scene_contacts_free(c);
	scene_free(&scene);
}

/* All contacts are at a few of many vertices; then there are no contacts. */
static void test_corners_of_large_meshes(void **state)
{
	(void)state;
	struct options options = local;
	options.n_vertices = 60;
	struct scene scene = made(options, 603);
	scene.batch.n_vertices = 1000000;
	struct fric_contacts *c = scene_contacts(&serial, &scene);
	for (int t = 0; t < N_COUNTS; t++) {
		struct fric_schedule s = scheduled(c, thread_counts[t]);
		fricp_schedule_clear(&s);
	}
	scene_contacts_free(c);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		scene.batch.groups[type].n = 0;
	c = scene_contacts(&serial, &scene);
	struct fric_schedule s = scheduled(c, 8);
	assert_int_equal(s.n_parts, 1);
	fricp_schedule_clear(&s);
	scene_contacts_free(c);
	scene_free(&scene);
}

/* If vertex numbers are multiplied, the potential is the same. So is the gradient up to rounding, because it is added
 * up in another order. */
static size_t apart(void)
{
	return 100 / (size_t)step_sanitized(4);
}

static double *spread(const double *x, size_t n, size_t dim)
{
	double *out = calloc(n * apart() * dim, sizeof(double));
	assert_non_null(out);
	for (size_t i = 0; i < n; i++)
		memcpy(out + i * apart() * dim, x + i * dim, dim * sizeof(double));
	return out;
}

struct sums {
	double potential, *gradient;
};

static struct sums summed_by(const struct fric_kernels *kernels, const struct fric_batch *batch,
                             const double *velocities, int n_threads)
{
	const struct fric_context context = {.n_threads = n_threads, .parallel_from = 1, .kernels = kernels};
	struct sums sums = {.gradient = malloc(batch->n_vertices * (size_t)batch->dim * sizeof(double))};
	struct fric_contacts *c;
	struct fric_error error;
	double alone;
	assert_ok(fric_prepare(&context, batch, &c, &error));
	assert_ok(fric_evaluate(&context, c, query(velocities), &sums.potential, sums.gradient, &error));
	assert_ok(fric_evaluate(&context, c, query(velocities), &alone, NULL, &error));
	assert_bits(alone, sums.potential);
	assert_ok(fric_evaluate(&context, c, query(velocities), NULL, sums.gradient, &error));
	fric_contacts_free(c);
	return sums;
}

static struct sums summed(const struct fric_batch *batch, const double *velocities, int n_threads)
{
	return summed_by(NULL, batch, velocities, n_threads);
}

static double largest(const double *x, size_t n)
{
	double most = 0;
	for (size_t i = 0; i < n; i++)
		most = fmax(most, fabs(x[i]));
	return most;
}

static void check_spread_gradient(const double *gradient, const double *expected, size_t n, size_t dim)
{
	const double tolerance = 1e-13 * largest(expected, n * dim);
	const size_t by = apart();
	for (size_t v = 0; v < n * by; v++)
		for (size_t d = 0; d < dim; d++)
			assert_near(gradient[v * dim + d], v % by ? 0 : expected[v / by * dim + d], v % by ? 0 : tolerance);
}

static void check_spread(const struct scene *scene, const struct sums *expected)
{
	const size_t n = scene->batch.n_vertices, dim = (size_t)scene->batch.dim;
	struct fric_batch batch = scene->batch;
	double *positions = spread(batch.positions, n, dim), *velocities = spread(scene->velocities, n, dim);
	int32_t *stencils[FRIC_N_VERTEX_TYPES];
	batch.positions = positions;
	batch.n_vertices = n * apart();
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const size_t size = batch.groups[type].n * (size_t)fric_stencil_size(type);
		stencils[type] = malloc((size + 1) * sizeof(int32_t));
		for (size_t i = 0; i < size; i++)
			stencils[type][i] = batch.groups[type].vertices[i] * (int32_t)apart();
		batch.groups[type].vertices = stencils[type];
	}
	struct sums one = summed(&batch, velocities, 1);
	check_spread_gradient(one.gradient, expected->gradient, n, dim);
	for (int t = 1; t < N_COUNTS; t += step_sanitized(2)) {
		struct sums sums = summed(&batch, velocities, thread_counts[t]);
		assert_bits(sums.potential, expected->potential);
		assert_all_bits(sums.gradient, one.gradient, batch.n_vertices * dim);
		free(sums.gradient);
	}
	free(one.gradient);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		free(stencils[type]);
	free(positions);
	free(velocities);
}

static void check_sums(struct options options, uint64_t seed)
{
	static const char *const kernels[] = {"scalar", "baseline", "avx2", "avx512"};
	struct scene scene = made(options, seed);
	struct sums expected = summed_by(fric_kernels_find("scalar"), &scene.batch, scene.velocities, 1);
	const int step = step_sanitized(2); /* kernels then take turns with the numbers of threads */
	for (int k = 0; k < 4; k++)
		for (int t = k % step; t < N_COUNTS && fric_kernels_find(kernels[k]); t += step) {
			struct sums sums =
				summed_by(fric_kernels_find(kernels[k]), &scene.batch, scene.velocities, thread_counts[t]);
			assert_bits(sums.potential, expected.potential);
			assert_all_bits(sums.gradient, expected.gradient, scene_ndof(&scene));
			free(sums.gradient);
		}
	check_spread(&scene, &expected);
	free(expected.gradient);
	scene_free(&scene);
}

static void test_sums(void **state)
{
	(void)state;
	struct options flat = local, empty = local;
	flat.dim = 2;
	flat.mu_aniso = true;
	empty.n_each = 0;
	check_sums(local, 604);
	check_sums(scattered, 605);
	check_sums(flat, 606);
	check_sums(empty, 607);
}

/* A schedule that is kept gives the same bits, even with another number of threads than it was made for. */
static void check_kept(struct options options, uint64_t seed)
{
	struct scene scene = made(options, seed);
	struct fric_contacts *c = scene_contacts(&serial, &scene);
	struct sums expected = summed(&scene.batch, scene.velocities, 1);
	double *gradient = malloc((scene_ndof(&scene) + 1) * sizeof(double)), potential;
	struct fric_error error;
	for (int i = 0; i < N_COUNTS * N_COUNTS; i += step_sanitized(3)) {
		const struct fric_context making = {.n_threads = thread_counts[i / N_COUNTS], .parallel_from = 1},
								  using = {.n_threads = thread_counts[i % N_COUNTS], .parallel_from = 1};
		struct fric_schedule *kept;
		assert_ok(fric_schedule_create(&making, c, &kept, &error));
		assert_int_equal(kept != NULL, making.n_threads > 1 && options.n_each > 0);
		const struct fric_query asked = {.velocities = scene.velocities, .schedule = kept};
		for (int again = 0; again < 2; again++) {
			memset(gradient, 0x5a, scene_ndof(&scene) * sizeof(double));
			assert_ok(fric_evaluate(&using, c, &asked, &potential, gradient, &error));
			assert_bits(potential, expected.potential);
			assert_all_bits(gradient, expected.gradient, scene_ndof(&scene));
		}
		fric_schedule_free(kept);
	}
	free(gradient);
	free(expected.gradient);
	scene_contacts_free(c);
	scene_free(&scene);
}

static void test_kept_schedules(void **state)
{
	(void)state;
	struct options empty = local;
	empty.n_each = 0;
	check_kept(local, 612);
	check_kept(scattered, 613);
	check_kept(empty, 614);
	fric_schedule_free(NULL);
}

/* Faults far apart, in different parts: the first contact is named. If a sum overflows, no contact is named. */
static void check_faults(struct options options, uint64_t seed)
{
	struct scene scene = made(options, seed);
	double *gradient = malloc(scene_ndof(&scene) * sizeof(double)), potential;
	double *forces = malloc(options.n_each * sizeof(double));
	struct fric_error first[3], error; /* a potential may overflow although its gradient does not */
	for (size_t i = 0; i < options.n_each; i++)
		forces[i] = 1.5e308;
	for (int sum = 0; sum < 2; sum++) {
		if (sum)
			for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
				scene.batch.groups[type].normal_force = (struct fric_values){forces, 1};
		struct fric_contacts *c = scene_contacts(&serial, &scene);
		double *velocities = scene_memory(&scene, scene_ndof(&scene), sizeof(double));
		memcpy(velocities, scene.velocities, scene_ndof(&scene) * sizeof(double));
		for (size_t i = 1; i < 6 && !sum; i++) { /* velocities that overflow when subtracted */
			const int32_t *stencil = scene.batch.groups[FRIC_EDGE_EDGE].vertices + 4 * (i * options.n_each / 7);
			velocities[3 * stencil[0]] = 1.7e308;
			velocities[3 * stencil[2]] = -1.7e308;
		}
		for (int t = 0; t < 3 * N_COUNTS; t++) {
			if (t / 3 % step_sanitized(3))
				continue;
			const struct fric_context context = {.n_threads = thread_counts[t / 3], .parallel_from = 1};
			assert_code(fric_evaluate(&context, c, scene_query(c, velocities), t % 3 == 1 ? NULL : &potential,
			                          t % 3 == 2 ? NULL : gradient, &error),
			            FRIC_E_NOT_FINITE);
			if (t < 3)
				first[t] = error;
			assert_int_equal(error.group, first[t % 3].group);
			assert_int_equal(error.contact, first[t % 3].contact);
			assert_int_equal(error.contact < 0, sum);
		}
		scene_contacts_free(c);
	}
	free(forces);
	free(gradient);
	scene_free(&scene);
}

static void test_faults(void **state)
{
	(void)state;
	check_faults(local, 609);
	check_faults(scattered, 610);
}

static void test_stop(void **state)
{
	(void)state;
	struct scene scene = made(local, 611);
	struct fric_contacts *c = scene_contacts(&serial, &scene);
	double *gradient = malloc(scene_ndof(&scene) * sizeof(double)), potential;
	atomic_bool stop = true;
	for (int t = 0; t < N_COUNTS; t++) {
		const struct fric_context context = {.n_threads = thread_counts[t], .parallel_from = 1, .stop = &stop};
		struct fric_error error;
		assert_code(fric_evaluate(&context, c, scene_query(c, scene.velocities), &potential, gradient, &error),
		            FRIC_E_STOPPED);
		assert_int_equal(error.contact, -1);
	}
	free(gradient);
	scene_contacts_free(c);
	scene_free(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_local_batches_fall_apart),
		cmocka_unit_test(test_scattered_batches_defer_most),
		cmocka_unit_test(test_shuffled_numbers),
		cmocka_unit_test(test_corners_of_large_meshes),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_kept_schedules),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

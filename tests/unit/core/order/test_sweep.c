/* The order of spans, and loops that follow it. */
#include "core/order/sweep.h"

#include "tests/property/scene.h"
#include "tests/unit/core/batches.h"

static const int thread_counts[] = {1, 2, 3, 8};
enum { N_COUNTS = 4 };

static struct scene made(size_t n_vertices, size_t reach, uint64_t seed)
{
	const struct options options = {
		.dim = 3, .n_each = 3000, .n_vertices = n_vertices, .reach = reach, .source = FRIC_MU_SCALAR};
	struct rng rng = {seed};
	struct scene scene;
	scene_create(&scene, &rng, options);
	return scene;
}

/* Every span occurs once. */
static void check_permutation(const struct fric_contacts *c)
{
	size_t n = 0, contacts = 0;
	for (size_t slot = 0; slot < span_slots(c->n); slot++) {
		size_t found = 0;
		for (size_t i = 0; i < c->n_spans; i++)
			found += c->sweep[i] == (int32_t)slot;
		assert_int_equal(found, c->extents[slot].begin >= 0);
		n += found;
	}
	assert_int_equal(n, c->n_spans);
	for (size_t i = 0; i < c->n_spans; i++)
		contacts += sweep_span(c, i).n;
	assert_int_equal(contacts, c->n);
}

/* The largest step back in vertex numbers during the sweep. */
static int32_t setback(const struct fric_contacts *c)
{
	int32_t reached = 0, most = 0;
	for (size_t i = 0; i < c->n_spans; i++) {
		const int32_t lowest = sweep_extent(c, i).lowest;
		most = reached - lowest > most ? reached - lowest : most;
		reached = lowest > reached ? lowest : reached;
	}
	return most;
}

/* Each block is listed once, under the first span with a vertex in it or, unless `exact`, possibly an earlier one. */
static void check_blocks(const struct fric_contacts *c, bool exact)
{
	const size_t n_blocks = n_blocks_of(c->n_vertices);
	int32_t *first = malloc(n_blocks * sizeof(*first)), *oldest = malloc((c->n_spans + 1) * sizeof(*oldest));
	for (size_t b = 0; b < n_blocks; b++)
		first[b] = (int32_t)c->n_spans;
	for (size_t i = 0; i < c->n_spans; i++) {
		const struct span span = sweep_span(c, i);
		oldest[i] = (int32_t)i;
		for (int k = 0; k < fric_stencil_size(span.type); k++)
			for (size_t j = span.begin; j < span.begin + span.n; j++) {
				const size_t b = (size_t)c->vertices[k][j] / BLOCK_VERTICES;
				first[b] = first[b] < (int32_t)i ? first[b] : (int32_t)i;
				oldest[i] = c->reached[b] < oldest[i] ? c->reached[b] : oldest[i];
			}
		assert_true(exact ? c->oldest[i] == oldest[i] : c->oldest[i] <= oldest[i]);
	}
	for (size_t b = 0; b < n_blocks; b++)
		assert_true(exact ? c->reached[b] == first[b] : c->reached[b] <= first[b]);
	for (size_t i = 0; i < c->n_spans; i++)
		for (int32_t l = c->listed[i]; l < c->listed[i + 1]; l++)
			assert_int_equal(c->reached[c->blocks[l]], i);
	for (int32_t l = c->listed[c->n_spans]; l < (int32_t)n_blocks; l++)
		assert_int_equal(c->reached[c->blocks[l]], c->n_spans);
	for (size_t b = 0; b < n_blocks; b++)
		first[b] = 0;
	for (size_t l = 0; l < n_blocks; l++)
		assert_int_equal(first[c->blocks[l]]++, 0);
	free(first);
	free(oldest);
}

static void test_blocks(void **state)
{
	(void)state;
	const size_t n_vertices[] = {40, 4000, 400000}, reach[] = {30, 0};
	for (size_t n = 0; n < 3; n++)
		for (size_t r = 0; r < 2; r++) {
			struct scene scene = made(n_vertices[n], reach[r], 711);
			struct fric_contacts *c = scene_contacts(&serial, &scene);
			check_blocks(c, n_vertices[n] == 40 || (n_vertices[n] == 400000 && reach[r] == 0));
			scene_contacts_free(c);
			scene_free(&scene);
		}
}

/* A span whose stencils join two distant ranges of vertices records the gap between them. */
static void test_gaps(void **state)
{
	(void)state;
	enum { N = 200, FAR = 50000 };
	int32_t vertices[2 * N];
	for (size_t i = 0; i < N; i++) {
		vertices[2 * i + i % 2] = (int32_t)i;
		vertices[2 * i + (i + 1) % 2] = FAR + (int32_t)(2 * i);
	}
	struct fric_batch batch = floor_batch(vertices, 2 * N, FAR + 2 * N);
	struct fric_contacts *c = prepared(&batch);
	for (size_t i = 0; i < c->n_spans; i++) {
		const struct span_extent e = sweep_extent(c, i);
		const struct span span = sweep_span(c, i);
		int32_t below = -1, above = FAR + 2 * N;
		for (size_t j = span.begin; j < span.begin + span.n; j++) {
			const int32_t v = c->vertices[0][j];
			below = v < FAR && v > below ? v : below;
			above = v >= FAR && v < above ? v : above;
		}
		assert_int_equal(e.below, below);
		assert_int_equal(e.above, above);
	}
	check_blocks(c, true);
	fric_contacts_free(c);
}

/* Each group keeps its order, and groups advance in proportion: the next span is taken from the group that is
 * behind. */
static void test_groups_advance_evenly(void **state)
{
	(void)state;
	struct scene scene = made(4000, 30, 701);
	scene.batch.groups[FRIC_EDGE_EDGE].n = 700;
	scene.batch.groups[FRIC_PLANE_VERTEX].n = 1;
	struct fric_contacts *c = scene_contacts(&serial, &scene);
	size_t all[FRIC_N_TYPES] = {0}, done[FRIC_N_TYPES] = {0}, last[FRIC_N_TYPES] = {0};
	check_permutation(c);
	for (size_t i = 0; i < c->n_spans; i++)
		all[sweep_span(c, i).type]++;
	for (size_t i = 0; i < c->n_spans; i++) {
		const struct span span = sweep_span(c, i);
		assert_true(done[span.type]++ == 0 || span.begin > last[span.type]);
		last[span.type] = span.begin;
		for (enum fric_type g = 0; g < FRIC_N_VERTEX_TYPES; g++)
			assert_true(done[g] == all[g] ||
			            (double)done[span.type] / (double)all[span.type] <= (double)(done[g] + 1) / (double)all[g]);
	}
	scene_contacts_free(c);
	scene_free(&scene);
}

static void test_groups_advance_together(void **state)
{
	(void)state;
	struct scene scene = made(400000, 30, 702);
	struct fric_contacts *c = scene_contacts(&serial, &scene);
	check_permutation(c);
	assert_true(setback(c) <
	            20000); /* in the order of contacts, each group would go back from the end of the mesh to its start */
	for (size_t i = 1; i < c->n_spans; i++) /* a group that is in the order of the mesh stays in it */
		for (size_t j = i - 1; j < i; j--)
			if (sweep_span(c, j).type == sweep_span(c, i).type) {
				assert_true(sweep_span(c, j).begin < sweep_span(c, i).begin);
				break;
			}
	scene_contacts_free(c);
	scene_free(&scene);
}

static void test_no_contacts(void **state)
{
	(void)state;
	struct scene scene = made(100, 30, 703);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		scene.batch.groups[type].n = 0;
	struct fric_contacts *c = scene_contacts(&serial, &scene);
	assert_int_equal(c->n_spans, 0);
	scene_contacts_free(c);
	scene_free(&scene);
}

struct visits {
	atomic_int *of; /* [n] */
	size_t faults[3];
	int n_faults;
};

static void visit(void *data, struct span span, struct fault *fault)
{
	struct visits *visits = data;
	for (size_t i = span.begin; i < span.begin + span.n; i++) {
		atomic_fetch_add(&visits->of[i], 1);
		for (int f = 0; f < visits->n_faults; f++)
			if (visits->faults[f] == i && fault->code == FRIC_OK)
				*fault = (struct fault){FRIC_E_NOT_FINITE, i};
	}
}

/* Two faults in one piece. */
static void test_the_lower_fault_of_a_piece(void **state)
{
	(void)state;
	struct scene scene = made(4000, 30, 705);
	struct fric_contacts *c = scene_contacts(&serial, &scene);
	struct visits visits = {.of = calloc(c->n, sizeof(atomic_int)), .n_faults = 3, .faults = {800, 70, 300}};
	assert_non_null(visits.of);
	const struct fault fault = fricp_sweep_run(&serial, c, visit, &visits);
	assert_code(fault.code, FRIC_E_NOT_FINITE);
	assert_int_equal(fault.position, 70);
	free(visits.of);
	scene_contacts_free(c);
	scene_free(&scene);
}

/* Tests as many vertices as the smallest neighbourhoods cover, one fewer and one more. */
static void test_many_vertices(void **state)
{
	(void)state;
	const size_t border = (size_t)1024 << 13;
	for (size_t n = border - 1; n <= border + 1; n++) {
		const int32_t vertices[2] = {(int32_t)n - 1, 0};
		const struct fric_batch both = floor_batch(vertices, 2, n), high = floor_batch(vertices, 1, n);
		struct fric_contacts *c = prepared(&both);
		assert_int_equal(c->n_spans, 1);
		assert_int_equal(sweep_extent(c, 0).begin, 0);
		assert_int_equal(sweep_extent(c, 0).highest, n - 1);
		fric_contacts_free(c);
		c = prepared(&high);
		assert_int_equal(c->n_spans, 1);
		assert_int_equal(sweep_extent(c, 0).lowest, n - 1);
		fric_contacts_free(c);
	}
}

/* The fault of the lowest contact is reported, whichever comes first in the sweep. */
static void test_every_contact_once_and_the_lowest_fault(void **state)
{
	(void)state;
	struct scene scene = made(400000, 30, 704);
	struct fric_contacts *c = scene_contacts(&serial, &scene);
	for (int t = 0; t < N_COUNTS; t++)
		for (int n_faults = 0; n_faults <= 3; n_faults += 3) {
			const struct fric_context context = {.n_threads = thread_counts[t], .parallel_from = 1};
			struct visits visits = {.of = calloc(c->n, sizeof(atomic_int)),
			                        .n_faults = n_faults,
			                        .faults = {c->n - 1, c->n / 3, c->n / 3 + 1}};
			assert_non_null(visits.of);
			const struct fault fault = fricp_sweep_run(&context, c, visit, &visits);
			assert_code(fault.code, n_faults ? FRIC_E_NOT_FINITE : FRIC_OK);
			assert_true(n_faults == 0 || fault.position == c->n / 3);
			for (size_t i = 0; i < c->n; i++)
				assert_int_equal(atomic_load(&visits.of[i]), 1);
			free(visits.of);
		}
	scene_contacts_free(c);
	scene_free(&scene);
}

static void test_stop(void **state)
{
	(void)state;
	struct scene scene = made(4000, 30, 705);
	struct fric_contacts *c = scene_contacts(&serial, &scene);
	atomic_bool stop = true;
	for (int t = 0; t < N_COUNTS; t++) {
		const struct fric_context context = {.n_threads = thread_counts[t], .parallel_from = 1, .stop = &stop};
		struct visits visits = {.of = calloc(c->n, sizeof(atomic_int))};
		assert_non_null(visits.of);
		assert_code(fricp_sweep_run(&context, c, visit, &visits).code, FRIC_E_STOPPED);
		for (size_t i = 0; i < c->n; i++)
			assert_int_equal(atomic_load(&visits.of[i]), 0);
		free(visits.of);
	}
	scene_contacts_free(c);
	scene_free(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups_advance_evenly),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_groups_advance_together),
		cmocka_unit_test(test_no_contacts),
		cmocka_unit_test(test_every_contact_once_and_the_lowest_fault),
		cmocka_unit_test(test_the_lower_fault_of_a_piece),
		cmocka_unit_test(test_many_vertices),
		cmocka_unit_test(test_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

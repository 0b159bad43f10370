#include "core/geometry/travel.h"
#include "tests/property/scene.h"

static struct scene scene_of(struct rng *rng, int dim, size_t n_each)
{
	struct scene s;
	scene_create(&s, rng,
	             (struct options){.dim = dim, .n_each = n_each, .n_vertices = 400, .barrier = true, .search = true});
	s.batch.terms = FRIC_TERM_BARRIER;
	s.batch.barrier.dmin = 1e-6;
	return s;
}

static struct fric_contacts *prepare(const struct fric_batch *batch)
{
	struct fric_contacts *c;
	struct fric_error error;
	assert_ok(fric_prepare(&serial, batch, &c, &error));
	return c;
}

static struct travel travel_of(const struct scene *s, const double *direction, double keep, enum fric_type type,
                               size_t i)
{
	const struct fric_group *g = &s->batch.groups[type];
	const size_t dim = (size_t)s->batch.dim;
	struct travel t = {.type = type, .dim = s->batch.dim, .dmin = s->batch.barrier.dmin, .keep = keep};
	for (int k = 0; k < fric_stencil_size(type); k++) {
		const size_t v = (size_t)g->vertices[i * (size_t)fric_stencil_size(type) + (size_t)k];
		t.from[k] = s->batch.positions + v * dim;
		t.direction[k] = direction + v * dim;
	}
	for (size_t d = 0; d < dim && type == FRIC_PLANE_VERTEX; d++) {
		t.normal[d] = g->plane_normal.data[i * dim + d];
		t.origin[d] = g->plane_origin.data[i * dim + d];
	}
	return t;
}

/* The step is the least of what each contact allows by itself, whatever the threads. */
static void test_least_of_all(void **state)
{
	struct rng rng = {2410};
	size_t of_type[FRIC_N_TYPES] = {0};
	(void)state;
	for (int i = 0; i < 40; i++) {
		struct scene s = scene_of(&rng, 2 + i % 2, i < 30 ? 3 : 2500);
		const size_t n = s.batch.n_vertices * (size_t)s.batch.dim;
		double *direction = random_reals(&s, &rng, n, -0.02, 0.02);
		struct fric_contacts *c = prepare(&s.batch);
		struct fric_step expected = {1, FRIC_VERTEX_VERTEX, -1};
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
			for (size_t j = 0; j < s.batch.groups[type].n; j++) {
				const struct travel t = travel_of(&s, direction, 0.2, type, j);
				double step;
				if (fricp_travel(&t, 1, &step) == FRIC_OK && step < expected.step)
					expected = (struct fric_step){step, type, (int64_t)j};
			}
		for (int threads = 1; threads <= 4; threads++) {
			const struct fric_context context = {.n_threads = threads, .parallel_from = 1};
			struct fric_step step;
			struct fric_error error;
			assert_ok(fric_longest_step(&context, c, s.batch.positions, direction, 0.2, &step, &error));
			assert_bits(step.step, expected.step);
			assert_int_equal(step.contact, expected.contact);
			assert_int_equal(step.group, expected.group);
		}
		of_type[expected.group] += expected.contact >= 0;
		fric_contacts_free(c);
		scene_free(&s);
	}
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		assert_true(of_type[type] > 0 || type == FRIC_VERTEX_VERTEX);
}

/* Two vertices above a plane, and one above another vertex. */
struct small {
	double positions[9], direction[9], normal[3], origin[3];
	int32_t pairs[4], vertices[3];
	struct fric_batch batch;
};

static void make_small(struct small *s, double height)
{
	*s = (struct small){.positions = {0, 0, height, 1, 0, height, 1, 0, 2 * height},
	                    .direction = {0, 0, -1, 0, 0, -1, 0, 0, -2},
	                    .normal = {0, 0, -2},
	                    .pairs = {1, 2, 2, 1},
	                    .vertices = {1, 0, 2}};
	s->batch = (struct fric_batch){.dim = 3, .n_vertices = 3, .terms = FRIC_TERM_BARRIER};
	s->batch.barrier = (struct fric_barrier){.dhat = 1, .stiffness = 1, .dmin = 0.5};
	s->batch.groups[FRIC_VERTEX_VERTEX] = (struct fric_group){.n = 2, .vertices = s->pairs};
	s->batch.groups[FRIC_PLANE_VERTEX] = (struct fric_group){
		.n = 3, .vertices = s->vertices, .plane_normal = {s->normal, 0}, .plane_origin = {s->origin, 0}};
}

static enum fric_code step_of(struct small *s, double keep, struct fric_step *step, struct fric_error *error)
{
	struct fric_contacts *c = prepare(&s->batch);
	const enum fric_code code = fric_longest_step(&serial, c, s->positions, s->direction, keep, step, error);
	fric_contacts_free(c);
	return code;
}

/* Several contacts allow the same step: the first one is named. */
static void test_ties(void **state)
{
	struct small s;
	struct fric_step step;
	struct fric_error error;
	(void)state;
	make_small(&s, 1);
	assert_ok(step_of(&s, 0.25, &step, &error));
	/* the gap of 0.5 shrinks by 1 per step: 0.375 until a quarter is left */
	assert_true(step.step <= 0.375 && step.step > 0.375 * (1 - 1e-9));
	assert_int_equal(step.group, FRIC_VERTEX_VERTEX);
	assert_int_equal(step.contact, 0);
	s.batch.groups[FRIC_VERTEX_VERTEX].n = 0;
	assert_ok(step_of(&s, 0.25, &step, &error));
	assert_true(step.step <= 0.375 && step.step > 0.375 * (1 - 1e-9));
	assert_int_equal(step.group, FRIC_PLANE_VERTEX);
	assert_int_equal(step.contact, 0);
}

static void test_nothing_limits(void **state)
{
	struct small s;
	struct fric_step step;
	struct fric_error error;
	(void)state;
	make_small(&s, 10);
	assert_ok(step_of(&s, 0.1, &step, &error));
	assert_true(step.step == 1 && step.contact == -1);
	s.batch.groups[FRIC_VERTEX_VERTEX].n = s.batch.groups[FRIC_PLANE_VERTEX].n = 0;
	assert_ok(step_of(&s, 0.1, &step, &error));
	assert_true(step.step == 1 && step.contact == -1);
}

static void test_penetration(void **state)
{
	struct small s;
	struct fric_step step;
	struct fric_error error;
	(void)state;
	make_small(&s, 1);
	s.positions[5] = 0.5; /* of vertex 1: dmin above the plane */
	s.positions[8] = 3;
	assert_int_equal(step_of(&s, 0.1, &step, &error), FRIC_E_PENETRATION);
	assert_int_equal(error.group, FRIC_PLANE_VERTEX);
	assert_int_equal(error.contact, 0);
	s.positions[8] = 1;
	assert_int_equal(step_of(&s, 0.1, &step, &error), FRIC_E_PENETRATION);
	assert_int_equal(error.group, FRIC_VERTEX_VERTEX);
	assert_int_equal(error.contact, 0);
	s.batch.skip_degenerate = true;
	assert_ok(step_of(&s, 0.1, &step, &error));
	assert_int_equal(step.group, FRIC_PLANE_VERTEX);
	assert_int_equal(step.contact, 2); /* falls twice as fast from 1 as the other one */
}

static void test_stopped(void **state)
{
	struct small s;
	struct fric_step step;
	struct fric_error error;
	const fric_flag stop = true;
	const struct fric_context context = {.n_threads = 1, .stop = &stop};
	(void)state;
	make_small(&s, 1);
	struct fric_contacts *c = prepare(&s.batch);
	assert_int_equal(fric_longest_step(&context, c, s.positions, s.direction, 0.1, &step, &error), FRIC_E_STOPPED);
	fric_contacts_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_least_of_all), cmocka_unit_test(test_ties),    cmocka_unit_test(test_nothing_limits),
		cmocka_unit_test(test_penetration),  cmocka_unit_test(test_stopped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

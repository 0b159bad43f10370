#include "core/order/groups.h"

#include "tests/unit/core/check.h"

enum { MANY = 20 * FRIC_CHUNK + 17 };
static const int thread_counts[] = {1, 2, 3, 4, 8};

struct record {
	int visits[MANY];
	size_t first_fault[4];
	int n_faults;
};

static void visit(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	struct record *r = task;
	assert_true(begin == chunk * FRIC_CHUNK && begin < end && end <= begin + FRIC_CHUNK);
	for (size_t i = begin; i < end; i++) {
		r->visits[i]++;
		for (int f = 0; f < r->n_faults; f++)
			if (r->first_fault[f] == i) {
				*fault = (struct fault){FRIC_E_PENETRATION, i};
				return;
			}
	}
}

/* Every contact occurs once, whatever the groups and the mesh; of several faults, the one with the lowest position
 * wins. */
static void check_contacts(const struct fric_contacts *c, int n_threads)
{
	static struct record record;
	const struct fric_context context = {.n_threads = n_threads, .parallel_from = 1};
	memset(&record, 0, sizeof(record));
	assert_ok(fricp_parallel_contacts(&context, c, visit, &record).code);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(record.visits[i], i < c->n);
	if (c->n < MANY)
		return;
	memset(&record, 0, sizeof(record));
	record.n_faults = 3;
	record.first_fault[0] = MANY - 1;
	record.first_fault[1] = 3 * FRIC_CHUNK + 5;
	record.first_fault[2] = 12 * FRIC_CHUNK;
	const struct fault fault = fricp_parallel_contacts(&context, c, visit, &record);
	assert_code(fault.code, FRIC_E_PENETRATION);
	assert_int_equal(fault.position, record.first_fault[1]);
}

static void test_contacts(void **state)
{
	(void)state;
	const size_t starts[][FRIC_N_VERTEX_TYPES + 1] = {
		{0, 1, 900, 9000, MANY, MANY},
		{0, 0, 0, MANY, MANY, MANY},
		{0, 2048, 2049, 2050, 2051, 2052},
		{0, 0, 0, 0, 0, 0},
		{0, 5 * FRIC_CHUNK, 9 * FRIC_CHUNK, 9 * FRIC_CHUNK, 9 * FRIC_CHUNK, MANY}};
	const size_t meshes[] = {1000, 1000000};
	for (size_t t = 0; t < sizeof(thread_counts) / sizeof(thread_counts[0]); t++)
		for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
			for (size_t m = 0; m < 2; m++) {
				struct fric_contacts c = {.dim = 3, .n = starts[i][FRIC_N_VERTEX_TYPES], .n_vertices = meshes[m]};
				for (int type = 0; type <= FRIC_N_TYPES; type++)
					c.start[type] = starts[i][type < FRIC_N_VERTEX_TYPES ? type : FRIC_N_VERTEX_TYPES];
				check_contacts(&c, thread_counts[t]);
			}
}

struct visited {
	size_t chunks[16], n;
};

static void note_chunk(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	struct visited *v = task;
	(void)begin;
	(void)end;
	(void)fault;
	v->chunks[v->n++] = chunk;
}

/* Groups of 4 and 8 chunks. On a large mesh, two chunks of the second group go with each chunk of the first. */
static void test_groups_advance_together(void **state)
{
	(void)state;
	const size_t expected[2][12] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {4, 0, 5, 6, 1, 7, 8, 2, 9, 10, 3, 11}};
	for (size_t large = 0; large < 2; large++) {
		const size_t four = 4 * FRIC_CHUNK, twelve = 12 * FRIC_CHUNK;
		const struct fric_contacts c = {.dim = 2,
		                                .n = twelve,
		                                .n_vertices = large ? 1000000 : 1000,
		                                .start = {0, four, twelve, twelve, twelve, twelve}};
		struct visited visited = {.n = 0};
		assert_ok(fricp_parallel_contacts(&serial, &c, note_chunk, &visited).code);
		assert_int_equal(visited.n, 12);
		for (size_t i = 0; i < 12; i++)
			assert_int_equal(visited.chunks[i], expected[large][i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contacts),
		cmocka_unit_test(test_groups_advance_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Every kernel reads velocities and adds up forces as the scalar form does, for groups of any size and any vertices. It
 * touches nothing beyond the arrays, which end at an inaccessible page. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/core/batches.h"

enum { N_VERTICES = 9, MOST = 200, ROOM = 3 * N_VERTICES };

static const char *const names[] = {"avx512", "avx2", "baseline"};

/* An array of n doubles that ends at an inaccessible page. */
static double *before_guard(size_t n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(map != MAP_FAILED && mprotect(map + page, page, PROT_NONE) == 0);
	return (double *)(void *)(map + page) - n;
}

static void unmap(double *array, size_t n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	munmap((char *)(array + n) - page, 2 * page);
}

static uint32_t state = 1;

static int32_t below(int32_t n)
{
	state = state * 1664525 + 1013904223;
	return (int32_t)(state >> 8) % n;
}

static void fill(double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = (double)below(100000) * 1e-4 - 5;
}

/* Stencils without repeated vertices, all below n_vertices. */
static void fill_stencils(int k, int32_t n_vertices, int32_t *vertices)
{
	for (int i = 0; i < MOST * k; i++) {
		bool taken;
		do {
			taken = false;
			vertices[i] = below(n_vertices);
			for (int j = i / k * k; j < i; j++)
				taken |= vertices[j] == vertices[i];
		} while (taken);
	}
}

static void gradient_of(const struct fric_batch *batch, const char *kernels, const double *velocities, double *gradient)
{
	const struct fric_context context = {.n_threads = 1, .kernels = fric_kernels_find(kernels)};
	struct fric_contacts *contacts = prepared(batch);
	struct fric_error error;
	assert_ok(fric_evaluate(&context, contacts, query(velocities), NULL, gradient, &error));
	fric_contacts_free(contacts);
}

/* n contacts of one type. */
static void compare(struct fric_batch batch, enum fric_type type, const int32_t *vertices, size_t n,
                    const double *velocities, double *gradient)
{
	double expected[ROOM];
	batch.groups[type].n = n;
	batch.groups[type].vertices = vertices;
	gradient_of(&batch, "scalar", velocities, expected);
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		if (fric_kernels_find(names[k])) {
			memset(gradient, 0xff, ROOM * sizeof(double));
			gradient_of(&batch, names[k], velocities, gradient);
			assert_memory_equal(gradient, expected, sizeof(expected));
		}
}

static void each_size(enum fric_type type, int32_t n_vertices)
{
	static const size_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 66, 130, MOST};
	double positions[ROOM], *velocities = before_guard(ROOM), *gradient = before_guard(ROOM);
	int32_t vertices[4 * MOST];
	struct fric_batch batch = corner_batch();
	fill(positions, ROOM);
	fill(velocities, ROOM);
	fill_stencils(fric_stencil_size(type), n_vertices, vertices);
	batch.positions = positions;
	batch.n_vertices = N_VERTICES;
	batch.friction.eps_v = 6;
	for (enum fric_type other = 0; other < FRIC_N_VERTEX_TYPES; other++)
		batch.groups[other].n = 0;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		compare(batch, type, vertices, sizes[i], velocities, gradient);
	unmap(velocities, ROOM);
	unmap(gradient, ROOM);
}

static void test_with_last_vertex(void **unused)
{
	(void)unused;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		each_size(type, N_VERTICES);
}

static void test_without_last_vertex(void **unused)
{
	(void)unused;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		each_size(type, N_VERTICES - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_with_last_vertex),
		cmocka_unit_test(test_without_last_vertex),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

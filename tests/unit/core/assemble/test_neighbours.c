/* The neighbours of a vertex are distinct and in ascending order, whatever their numbers, and each incidence has the
 * right places. */
#include "core/assemble/neighbours.h"

#include "tests/property/scene.h"

enum { MOST = 600 };

/* Each neighbour is in the list, at the stated place. */
static void check_places(const struct incidence *incidences, const int32_t (*stencils)[FRIC_MAX_STENCIL], size_t degree,
                         enum fric_triangle triangle, int32_t v, const int32_t *list, size_t n)
{
	for (size_t i = 0; i < degree; i++)
		for (unsigned j = 0; j < N_OTHERS; j++) {
			const uint32_t place = incidences[i].place[j];
			const int32_t w = stencils[i][other_member(corner_of(&incidences[i]), j)];
			if (triangle != FRIC_FULL && (triangle == FRIC_UPPER ? w < v : w > v)) {
				assert_int_equal(place, PATTERN_NOWHERE);
				continue;
			}
			assert_in_range(place, 0, n - 1);
			assert_int_equal(list[place], w);
		}
}

static void check_search(enum fric_triangle triangle, int32_t v, const int32_t (*stencils)[FRIC_MAX_STENCIL],
                         size_t degree)
{
	struct neighbour_search search;
	struct incidence incidences[MOST] = {{0}};
	int32_t list[MOST * FRIC_MAX_STENCIL];
	size_t n = 0;
	uint32_t diagonal;
	for (size_t i = 0; i < degree; i++) {
		incidences[i].member = (uint32_t)(FRIC_MAX_STENCIL * i + i % FRIC_MAX_STENCIL);
		assert_int_equal(contact_of(&incidences[i]), i);
		for (unsigned j = 0; j < N_OTHERS; j++)
			incidences[i].place[j] = (uint32_t)stencils[i][other_member(corner_of(&incidences[i]), j)];
	}
	fricp_neighbour_search_open(&search, NULL, triangle, (size_t)INT32_MAX);
	assert_true(fricp_neighbour_search_run(&search, v, incidences, degree, list, &n, &diagonal));
	fricp_neighbour_search_close(&search);
	for (size_t i = 1; i < n; i++)
		assert_true(list[i - 1] < list[i]);
	assert_in_range(diagonal, 0, n - 1);
	assert_int_equal(list[diagonal], v);
	check_places(incidences, stencils, degree, triangle, v, list, n);
}

/* Vertex numbers that differ in one byte (also the highest), or in all bytes. */
static void test_numbers_of_any_size(void **state)
{
	(void)state;
	static const uint32_t masks[] = {0xFF, 0xFF00, 0xFF0000, 0x7F000000, 0x7FFFFFFF};
	struct rng rng = {3};
	for (size_t m = 0; m < sizeof(masks) / sizeof(*masks); m++)
		for (enum fric_triangle triangle = FRIC_FULL; triangle <= FRIC_LOWER; triangle++)
			for (size_t degree = 1; degree < MOST; degree += 1 + degree / 2) {
				int32_t stencils[MOST][FRIC_MAX_STENCIL];
				const int32_t v = (int32_t)(rng_next(&rng) >> 32 & masks[m]);
				for (size_t i = 0; i < degree; i++) {
					for (int j = 0; j < FRIC_MAX_STENCIL; j++)
						stencils[i][j] = (int32_t)(rng_next(&rng) >> 32 & masks[m]);
					stencils[i][i % FRIC_MAX_STENCIL] = v;
				}
				check_search(triangle, v, (const int32_t(*)[FRIC_MAX_STENCIL])stencils, degree);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_of_any_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Vertices along a Hilbert curve: each once, and neighbours close to each other, also in clusters of any size. */
#include "core/find/order.h"
#include "tests/property/scene.h"

enum { EACH = 2000, CLUSTERS = 4, N = EACH * CLUSTERS };

static void order_of(const struct fric_context *context, int dim, const double *positions, size_t n,
                     struct store *store, struct order *order)
{
	int32_t *listed = calloc(n + 1, sizeof(*listed));
	for (size_t i = 0; i < n; i++)
		listed[i] = (int32_t)i;
	assert_ok(fricp_order(context, dim, n, positions, listed, n, store, order));
	free(listed);
}

static void assert_permutation(const struct order *order, int dim, const double *positions)
{
	for (size_t i = 0; i < order->n; i++) {
		const size_t v = (size_t)order->vertex[i];
		assert_int_equal(order->rank[v], i);
		for (size_t d = 0; d < 3; d++)
			assert_bits(order->place[3 * i + d], d < (size_t)dim ? positions[v * (size_t)dim + d] : 0);
	}
}

static double step_length(const struct order *order, size_t i)
{
	double sum = 0;
	for (size_t d = 0; d < 3; d++)
		sum += pow(order->place[3 * i + d] - order->place[3 * i - 3 + d], 2);
	return sqrt(sum);
}

/* On a lattice, each step of the curve is one to a neighbour. */
static void test_lattice(void **state)
{
	enum { SIDE = 16 };
	static double positions[3 * SIDE * SIDE * SIDE];
	(void)state;
	for (int dim = 2; dim <= 3; dim++) {
		const size_t n = dim == 2 ? SIDE * SIDE : SIDE * SIDE * SIDE;
		struct store store = {0};
		struct order order;
		for (size_t i = 0; i < n; i++)
			for (size_t d = 0, rest = i * 37 % n; d < (size_t)dim; d++, rest /= SIDE)
				positions[i * (size_t)dim + d] = (double)(rest % SIDE) - 3;
		order_of(&serial, dim, positions, n, &store, &order);
		assert_permutation(&order, dim, positions);
		for (size_t i = 1; i < n; i++)
			assert_bits(step_length(&order, i), 1);
		store_give_from(&store, 0);
	}
}

/* In each cluster the path is about as long as one through a lattice of as many points. */
static void test_clusters(void **state)
{
	static double positions[3 * N];
	struct rng rng = {2531};
	(void)state;
	for (int dim = 2; dim <= 3; dim++) {
		const double extents[CLUSTERS] = {1, 1e-5, 1e-9, 1e-3};
		double length[CLUSTERS] = {0};
		struct store store = {0};
		struct order order;
		for (size_t i = 0; i < N; i++)
			for (size_t d = 0; d < (size_t)dim; d++)
				positions[i * (size_t)dim + d] = uniform(&rng, 0, extents[i % CLUSTERS]) + (i % CLUSTERS == 2 ? 0 : 4);
		order_of(&serial, dim, positions, N, &store, &order);
		assert_permutation(&order, dim, positions);
		for (size_t i = 1; i < N; i++) {
			const size_t cluster = (size_t)order.vertex[i] % CLUSTERS;
			if ((size_t)order.vertex[i - 1] % CLUSTERS == cluster)
				length[cluster] += step_length(&order, i);
		}
		/* clusters 1 and 3 lie in a corner of cluster 0 */
		for (size_t c = 0; c < CLUSTERS; c++)
			assert_true(length[c] < 2.5 * extents[c] * pow(EACH, 1 - 1. / dim));
		store_give_from(&store, 0);
	}
}

/* Points in one place, or with coordinates of any size, in the same order on any number of threads. */
static void test_extremes(void **state)
{
	static const double scales[] = {0, 1e-310, 1e-300, 1, 1e300, 1.7e308};
	static double positions[3 * N];
	struct rng rng = {2532};
	(void)state;
	for (size_t s = 0; s < sizeof(scales) / sizeof(scales[0]); s++) {
		const struct fric_context threads = {.n_threads = 3, .parallel_from = 1};
		struct store store = {0};
		struct order order, again;
		for (size_t i = 0; i < 3 * N; i++)
			positions[i] = uniform(&rng, -1, 1) * scales[s];
		order_of(&serial, 3, positions, N, &store, &order);
		order_of(&threads, 3, positions, N, &store, &again);
		assert_permutation(&order, 3, positions);
		assert_memory_equal(order.vertex, again.vertex, N * sizeof(int32_t));
		store_give_from(&store, 0);
	}
}

static void test_empty(void **state)
{
	struct store store = {0};
	struct order order;
	(void)state;
	order_of(&serial, 3, NULL, 0, &store, &order);
	assert_int_equal(order.n, 0);
	store_give_from(&store, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lattice),
		cmocka_unit_test(test_clusters),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Sums of forces and other numbers at vertices, the transpose of the relative velocity, with and without deferring. */
#include "core/order/scatter.h"

#include "core/motion/stencil.h"
#include "tests/unit/core/motion/two.h"

static const double forces[2 * 3] = {2, -3, 5, -7, 11, 13}; /* rows; only four in 2D */

static void fill(double *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		numbers[i] = 100;
}

/* The forces of both contacts, as columns. */
static void columns_of(int dim, double columns[3][FRIC_SPAN])
{
	for (int i = 0; i < 2 * dim; i++)
		columns[i % dim][i / dim] = forces[i];
}

static struct scatter scatter_to(const struct two *t, double *sums)
{
	return (struct scatter){.context = &serial,
	                        .contacts = &t->contacts,
	                        .velocities = integers,
	                        .sums = sums,
	                        .width = t->contacts.dim,
	                        .apart = 1};
}

static void scatter_all(const struct two *t, double sums[N_VERTICES * 3])
{
	struct scatter s = scatter_to(t, sums);
	const struct part all = {0, 0, 1};
	double columns[3][FRIC_SPAN] = {{0}};
	columns_of(t->contacts.dim, columns);
	fill(sums, N_VERTICES * 3);
	fricp_scatter_reach(&s, all, 0);
	fricp_scatter_columns(&s, 0, columns[0]);
	fricp_scatter_close(&s, all, 1);
}

/* g . v = sum of f . (Gamma v) */
static void check_transpose(int dim, enum fric_type type)
{
	struct two t;
	double gradient[N_VERTICES * 3], relative[3], at_vertices = 0, at_contacts = 0;
	make_two(&t, dim, type, 0.25, 0.5);
	scatter_all(&t, gradient);
	for (int i = 0; i < N_VERTICES * dim; i++)
		at_vertices += gradient[i] * integers[i];
	for (size_t i = 0; i < 2; i++) {
		relative_velocity(&t.contacts, type, i, integers, relative);
		for (int d = 0; d < dim; d++)
			at_contacts += forces[(int)i * dim + d] * relative[d];
	}
	assert_true(at_vertices == at_contacts);
	for (int i = 0; i < dim; i++)
		assert_bits(gradient[i], 0); /* vertex 0 has no contact */
	for (int i = N_VERTICES * dim; i < N_VERTICES * 3; i++)
		assert_bits(gradient[i], 100); /* nothing is written past the last vertex */
}

/* A schedule that defers the entries whose bits are set: bit k * 2 + j for member k of contact j. */
struct deferring {
	struct fric_schedule schedule;
	size_t places_of[1], range[2];
	int32_t places[FRIC_MAX_STENCIL * 2], vertices[FRIC_MAX_STENCIL * 2];
};

static void make_deferring(const struct two *t, unsigned bits, struct deferring *d)
{
	const int k = fric_stencil_size(t->span.type);
	*d = (struct deferring){.schedule = {.n_parts = 2, .n_ranges = 1}};
	for (int j = 0; j < 2; j++)
		for (int m = 0; m < k; m++) {
			const bool deferred = bits >> (m * 2 + j) & 1;
			d->places[m * 2 + j] = deferred ? (int32_t)d->schedule.n_deferred : -1;
			d->vertices[d->schedule.n_deferred] = t->vertices[m][j];
			d->schedule.n_deferred += deferred;
		}
	d->range[1] = d->schedule.n_deferred;
	d->schedule.places_of = d->places_of;
	d->schedule.places = d->places;
	d->schedule.vertices = d->vertices;
	d->schedule.range = d->range;
}

/* Deferred forces are missing from the sums until they are added. Then the sums equal those without deferring, exactly,
 * because all numbers are integers. */
static void check_deferred(int dim, enum fric_type type, unsigned bits, int apart)
{
	struct two t;
	struct deferring d;
	double expected[N_VERTICES * 3], sums[N_VERTICES * 3] = {0}, deferred[FRIC_MAX_STENCIL * 2 * 3 * LANES];
	double columns[3][FRIC_SPAN] = {{0}};
	make_two(&t, dim, type, 0.25, 0.5);
	make_deferring(&t, bits, &d);
	columns_of(dim, columns);
	scatter_all(&t, expected);
	fill(deferred, sizeof(deferred) / sizeof(*deferred));
	struct scatter s = scatter_to(&t, sums);
	s.schedule = &d.schedule;
	s.deferred = deferred + apart / 2;
	s.apart = apart;
	fricp_scatter_columns(&s, 0, columns[0]);
	for (size_t place = 0; place < d.schedule.n_deferred; place++)
		for (int i = 0; i < dim; i++)
			expected[d.vertices[place] * dim + i] -= s.deferred[((int)place * dim + i) * apart];
	assert_all_bits(sums, expected, (size_t)(N_VERTICES * dim));
	fricp_scatter_deferred(&s, 1, 0);
	scatter_all(&t, expected);
	assert_all_bits(sums, expected, (size_t)(N_VERTICES * dim));
}

static void test_scatter(void **state)
{
	(void)state;
	for (int dim = 2; dim <= 3; dim++)
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
			check_transpose(dim, type);
			for (unsigned bits = 0; bits < 1U << (2 * fric_stencil_size(type)); bits++) {
				check_deferred(dim, type, bits, 1);
				if (dim == 3)
					check_deferred(dim, type, bits, LANES);
			}
		}
}

/* `width` numbers for each member: member k of contact j has 100 k + 10 j + d. */
static void check_members(enum fric_type type, int width, unsigned bits)
{
	struct two t;
	struct deferring d;
	double columns[3 * FRIC_MAX_STENCIL][FRIC_SPAN] = {{0}}, sums[N_VERTICES * 3] = {0};
	double expected[N_VERTICES * 3] = {0}, deferred[FRIC_MAX_STENCIL * 2 * 3];
	make_two(&t, 3, type, 0, 0);
	make_deferring(&t, bits, &d);
	for (int k = 0; k < fric_stencil_size(type); k++)
		for (int j = 0; j < 2; j++)
			for (int i = 0; i < width; i++) {
				columns[3 * k + i][j] = 100 * k + 10 * j + i;
				expected[t.vertices[k][j] * width + i] += columns[3 * k + i][j];
			}
	struct scatter s = scatter_to(&t, sums);
	s.width = width;
	s.schedule = &d.schedule;
	s.deferred = deferred;
	fricp_scatter_members(&s, 0, 3, columns[0]);
	fricp_scatter_deferred(&s, 1, 0);
	assert_all_bits(sums, expected, N_VERTICES * 3);
}

static void test_members(void **state)
{
	(void)state;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		for (int width = 1; width <= 3; width++)
			for (unsigned bits = 0; bits < 1U << (2 * fric_stencil_size(type)); bits += 5)
				check_members(type, width, bits);
}

/* Three blocks. The span reaches the first and the last one, which has few vertices. */
static void test_blocks(void **state)
{
	(void)state;
	enum { N = 2 * BLOCK_VERTICES + 3 };
	static double sums[N + 1];
	int32_t extents_of[1] = {0}, blocks[3] = {0, 2, 1}, listed[2] = {0, 2};
	struct span_extent extent = {0, 0, N - 1, 0, N - 1};
	struct fric_contacts c = {.dim = 2, .n_vertices = N, .n_spans = 1, .extents = &extent};
	c.sweep = extents_of;
	c.blocks = blocks;
	c.listed = listed;
	for (int open = 0; open < 2; open++) {
		const struct scatter s = {.context = &serial, .contacts = &c, .sums = sums, .width = 1};
		const struct part parts[2] = {{0, 0, 1}, {1, 1, 1}};
		fill(sums, N + 1);
		if (open)
			fricp_scatter_open(&s, 0);
		else
			fricp_scatter_reach(&s, parts[0], 0);
		for (size_t v = 0; v < N + 1; v++)
			assert_bits(sums[v], v / BLOCK_VERTICES == 1 || v == N ? 100 : 0);
		fricp_scatter_close(&s, parts[0], 2); /* the only remaining block falls to part 1 */
		assert_bits(sums[BLOCK_VERTICES], 100);
		fricp_scatter_close(&s, parts[1], 2);
		for (size_t v = 0; v < N; v++)
			assert_bits(sums[v], 0);
		assert_bits(sums[N], 100);
	}
	const struct fric_schedule by_vertex = {.by_vertex = true};
	const struct scatter s = {.context = &serial, .contacts = &c, .schedule = &by_vertex, .sums = sums, .width = 1};
	fill(sums, N);
	fricp_scatter_reach(&s, (struct part){0, 0, 1}, 0);
	fricp_scatter_open(&s, 0);
	fricp_scatter_close(&s, (struct part){0, 0, 1}, 1);
	for (size_t v = 0; v < N; v++)
		assert_bits(sums[v], 100);
}

/* Vertices that no contact touches, of which there may be millions, are not zeroed once the request is stopped. */
static void test_a_raised_flag_ends_zeros(void **state)
{
	(void)state;
	atomic_bool stop = true;
	const struct fric_context stopped = {.n_threads = 1, .stop = &stop};
	double sums[5];
	int32_t blocks[1] = {0}, listed[1] = {0};
	struct fric_contacts c = {.dim = 2, .n_vertices = 5, .blocks = blocks, .listed = listed};
	const struct scatter s = {.context = &stopped, .contacts = &c, .sums = sums, .width = 1};
	fill(sums, 5);
	fricp_scatter_close(&s, (struct part){0, 0, 0}, 1);
	assert_bits(sums[4], 100);
	atomic_store(&stop, false);
	fricp_scatter_close(&s, (struct part){0, 0, 0}, 1);
	for (int v = 0; v < 5; v++)
		assert_bits(sums[v], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_scatter), cmocka_unit_test(test_members),
	                                   cmocka_unit_test(test_blocks), cmocka_unit_test(test_a_raised_flag_ends_zeros)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The barrier's energy, gradient and Hessian of random contacts against differences in 113 bits. */
#include "tests/property/barrier.h"

#include <stdlib.h>
#include <string.h>

#include "tests/share.h"
#include "tests/unit/core/check.h"

enum { MOST = 12 };

/* ---- random contacts ---- */

static uint64_t seed = 20240229;

static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) * 0x1p-53;
}

static double between(double low, double high)
{
	return low + (high - low) * uniform();
}

static double power_between(double low, double high)
{
	return exp(between(log(low), log(high)));
}

static void random_point(double scale, int dim, double p[3])
{
	p[2] = 0;
	for (int x = 0; x < dim; x++)
		p[x] = between(-scale, scale);
}

static int n_points(const struct pair *pair)
{
	return pair->type == FRIC_PLANE_VERTEX ? 3 : fric_stencil_size(pair->type);
}

static int n_dofs_of(const struct pair *pair)
{
	return fric_stencil_size(pair->type) * pair->dim;
}

static exact distance_of(const struct pair *pair)
{
	struct exact3 p[FRIC_MAX_STENCIL];
	exact_points(pair, p);
	return exact_distance(pair, p);
}

/* Moves the first side along the line to the other, so that the distance is about `distance`. */
static void approach(struct pair *pair, double distance)
{
	struct exact3 p[FRIC_MAX_STENCIL];
	exact gradient[3] = {0};
	const double h = 1e-9;
	const int n_first = pair->type == FRIC_EDGE_EDGE ? 2 : 1;
	exact_points(pair, p);
	const exact d = exact_distance(pair, p);
	for (int x = 0; x < pair->dim; x++) {
		struct exact3 q[FRIC_MAX_STENCIL];
		memcpy(q, p, sizeof(q));
		for (int k = 0; k < n_first; k++)
			q[k].x[x] += h;
		gradient[x] = exact_distance(pair, q);
		for (int k = 0; k < n_first; k++)
			q[k].x[x] -= 2 * h;
		gradient[x] = (gradient[x] - exact_distance(pair, q)) / (2 * h);
	}
	for (int x = 0; x < pair->dim; x++)
		for (int k = 0; k < n_first; k++)
			pair->p[k][x] = (double)(pair->p[k][x] + (distance - d) * gradient[x]);
}

static struct pair random_pair(int dim, enum fric_type type, bool searched, bool mollified)
{
	struct pair pair = {.type = type, .dim = dim, .searched = searched, .weight = power_between(0.01, 100)};
	const double size = power_between(1e-2, 1e2);
	pair.barrier = (struct fric_barrier){.dhat = size * power_between(1e-4, 1),
	                                     .stiffness = power_between(1, 1e6),
	                                     .dmin = uniform() < 0.5 ? 0 : size * power_between(1e-6, 1e-2),
	                                     .type = (enum fric_barrier_type)(uniform() * 5),
	                                     .scaling = (enum fric_barrier_scaling)(uniform() * 2)};
	for (int k = 0; k < n_points(&pair); k++)
		random_point(size, dim, pair.p[k]);
	if (mollified) {
		const double angle = power_between(1e-9, 0.03);
		for (int x = 0; x < 3; x++)
			pair.p[3][x] = pair.p[2][x] + between(0.5, 2) * (pair.p[1][x] - pair.p[0][x]) +
			               size * angle * between(-1, 1);
	}
	if (type == FRIC_EDGE_EDGE && (mollified || uniform() < 0.3)) {
		double a = 0, b = 0;
		for (int x = 0; x < 3; x++) {
			a += pow(pair.p[1][x] - pair.p[0][x], 2);
			b += pow(pair.p[3][x] - pair.p[2][x], 2);
		}
		pair.mu = 1e-3 * a * b;
	}
	/* near dmin the cubic barrier is so flat that differences have few digits */
	const double least = pair.barrier.type == FRIC_CUBIC_BARRIER ? 1e-6 : 1e-12;
	const double gap = uniform() < 0.5   ? pair.barrier.dhat * power_between(least, 1)
	                   : uniform() < 0.5 ? pair.barrier.dhat * (1 - power_between(1e-12, 1))
	                                     : pair.barrier.dhat * uniform();
	for (int i = 0; i < 3; i++)
		approach(&pair, pair.barrier.dmin + gap);
	return pair;
}

/* Whether differences tell something about the contact. */
static bool is_fit(const struct pair *pair)
{
	const exact d = distance_of(pair), gap = d - pair->barrier.dmin, left = pair->barrier.dhat - gap;
	const exact top = (2 * pair->barrier.dmin + (exact)pair->barrier.dhat) * pair->barrier.dhat;
	if (pair->barrier.type == FRIC_TWO_STAGE && exact_abs(2 * gap * (d + pair->barrier.dmin) / top - 1) < 0.01)
		return false; /* the third derivative jumps */
	return gap > 0 && left > 0;
}

/* ---- expected values ---- */

struct expected {
	double energy, gradient[MOST], hessian[MOST][MOST];
};

/* First and second central differences along DOFs i and j. */
static exact slope(const struct pair *pair, int i, exact h)
{
	return (exact_moved(pair, i, h, i, 0) - exact_moved(pair, i, -h, i, 0)) / (2 * h);
}

static exact curvature(const struct pair *pair, int i, int j, exact h)
{
	if (i == j)
		return (exact_moved(pair, i, h, i, 0) - 2 * exact_moved(pair, i, 0, i, 0) + exact_moved(pair, i, -h, i, 0)) /
		       (h * h);
	return (exact_moved(pair, i, h, j, h) - exact_moved(pair, i, h, j, -h) - exact_moved(pair, i, -h, j, h) +
	        exact_moved(pair, i, -h, j, -h)) /
	       (4 * h * h);
}

/* A length over which the energy changes little. */
static exact step_for(const struct pair *pair)
{
	const exact gap = distance_of(pair) - pair->barrier.dmin, left = pair->barrier.dhat - gap;
	exact least = gap < left ? gap : left;
	if (pair->type == FRIC_EDGE_EDGE) {
		struct exact3 p[FRIC_MAX_STENCIL];
		exact_points(pair, p);
		const struct exact3 a = exact_minus(p[1], p[0]), b = exact_minus(p[3], p[2]);
		const exact apart = exact_norm(exact_cross(a, b)) / (exact_norm(a) + exact_norm(b)) / 10;
		least = apart < least ? apart : least;
	}
	/* Distances change faster than positions if a closest point is far outside. */
	const exact h = least * (exact)1e-6;
	exact fastest = 1;
	for (int i = 0; i < n_dofs_of(pair); i++) {
		struct exact3 p[FRIC_MAX_STENCIL];
		exact_points(pair, p);
		p[i / pair->dim].x[i % pair->dim] += h;
		const exact change = exact_abs(exact_distance(pair, p) - distance_of(pair)) / h;
		fastest = change > fastest ? change : fastest;
	}
	return least * (exact)1e-3 / fastest;
}

/* @return whether differences over two steps are so close that no border of features is between them */
static bool expect(const struct pair *pair, struct expected *e)
{
	const exact h = step_for(pair);
	const int n = n_dofs_of(pair);
	double most = 0, change = 0;
	e->energy = (double)exact_moved(pair, 0, 0, 0, 0);
	for (int i = 0; i < n; i++) {
		e->gradient[i] = (double)((4 * slope(pair, i, h) - slope(pair, i, 2 * h)) / 3);
		for (int j = 0; j <= i; j++) {
			const exact first = curvature(pair, i, j, h), second = curvature(pair, i, j, 2 * h);
			e->hessian[i][j] = e->hessian[j][i] = (double)((4 * first - second) / 3);
			most = fmax(most, fabs(e->hessian[i][j]));
			change = fmax(change, fabs((double)(first - second)));
		}
	}
	return change < 1e-3 * most;
}

/* Eigenvalues and vectors by Jacobi, in long doubles; projects the matrix. */
static void project(int n, enum fric_projection projection, double matrix[MOST][MOST])
{
	long double m[MOST][MOST], v[MOST][MOST] = {{0}};
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			m[i][j] = matrix[i][j];
			v[i][j] = i == j;
		}
	for (int sweep = 0; sweep < 60; sweep++)
		for (int p = 0; p < n; p++)
			for (int q = p + 1; q < n; q++) {
				if (m[p][q] == 0)
					continue;
				const long double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
				const long double t = (theta < 0 ? -1 : 1) / (fabsl(theta) + sqrtl(theta * theta + 1));
				const long double c = 1 / sqrtl(t * t + 1), s = t * c;
				for (int r = 0; r < n; r++) {
					const long double x = m[r][p], y = m[r][q], vx = v[r][p], vy = v[r][q];
					m[r][p] = c * x - s * y;
					m[r][q] = s * x + c * y;
					v[r][p] = c * vx - s * vy;
					v[r][q] = s * vx + c * vy;
				}
				for (int r = 0; r < n; r++) {
					const long double x = m[p][r], y = m[q][r];
					m[p][r] = c * x - s * y;
					m[q][r] = s * x + c * y;
				}
			}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			long double sum = 0;
			for (int e = 0; e < n; e++)
				sum += (projection == FRIC_PROJECT_ABS ? fabsl(m[e][e])
				        : m[e][e] > 0                  ? m[e][e]
				                                       : 0) *
				       v[i][e] * v[j][e];
			matrix[i][j] = (double)sum;
		}
}

/* ---- results ---- */

struct results {
	double energy, gradient[MOST], hessian[MOST][MOST], csr[MOST][MOST], product[MOST];
};

static void compute(const struct fric_context *context, const struct pair *pair, enum fric_projection projection,
                    struct results *r)
{
	const int k = fric_stencil_size(pair->type), n = n_dofs_of(pair);
	const int32_t vertices[] = {0, 1, 2, 3};
	double positions[MOST], vector[MOST];
	struct fric_batch batch = {.dim = pair->dim,
	                           .n_vertices = (size_t)k,
	                           .barrier = pair->barrier,
	                           .terms = FRIC_TERM_BARRIER,
	                           .closest_features = pair->searched ? FRIC_FEATURES_SEARCH : FRIC_FEATURES_GIVEN};
	batch.groups[pair->type] = (struct fric_group){.n = 1, .vertices = vertices, .weight = {&pair->weight, 0}};
	if (pair->mu > 0)
		batch.groups[pair->type].mollifier = (struct fric_values){&pair->mu, 0};
	if (pair->type == FRIC_PLANE_VERTEX) {
		batch.groups[pair->type].plane_origin = (struct fric_values){pair->p[1], 0};
		batch.groups[pair->type].plane_normal = (struct fric_values){pair->p[2], 0};
	}
	for (int i = 0; i < n; i++) {
		positions[i] = pair->p[i / pair->dim][i % pair->dim];
		vector[i] = between(-1, 1);
	}
	struct fric_contacts *contacts;
	struct fric_current *current;
	struct fric_pattern *pattern;
	struct fric_error error = {FRIC_OK, FRIC_VERTEX_VERTEX, -1};
	assert_ok(fric_prepare(context, &batch, &contacts, &error));
	if (fric_current_create(context, contacts, positions, &current, &error) != FRIC_OK) {
		print_error("code %d, type %d\n", error.code, pair->type);
		fail();
	}
	const struct fric_query query = {.terms = FRIC_TERM_BARRIER, .current = current};
	assert_ok(fric_evaluate(context, contacts, &query, &r->energy, r->gradient, &error));
	double inner[64], values[MOST * MOST], product[MOST];
	int32_t rows[MOST * MOST], cols[MOST * MOST];
	assert_true(fric_n_inner(contacts) <= 64);
	assert_ok(fric_hessian_inner(context, contacts, &query, projection, inner, &error));
	assert_int_equal(fric_n_triplets(contacts, FRIC_FULL), n * n);
	assert_ok(fric_hessian_triplets(context, contacts, inner, FRIC_FULL, rows, cols, values, &error));
	for (int e = 0; e < n * n; e++)
		r->hessian[rows[e]][cols[e]] = values[e];
	assert_ok(fric_pattern_create(context, contacts, FRIC_FULL, &pattern, &error));
	assert_ok(fric_hessian_csr(context, contacts, inner, pattern, values, &error));
	for (int row = 0; row < n; row++)
		for (int64_t e = fric_pattern_indptr(pattern)[row]; e < fric_pattern_indptr(pattern)[row + 1]; e++)
			assert_true(values[e] == r->hessian[row][fric_pattern_indices(pattern)[e]]);
	assert_ok(fric_hessian_products(context, contacts, &query, projection, 1, vector, product, &error));
	double largest = 0;
	for (int i = 0; i < n * n; i++)
		largest = fmax(largest, fabs(values[i]));
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++)
			product[i] -= r->hessian[i][j] * vector[j];
		assert_true(fabs(product[i]) <= 1e-13 * largest);
	}
	fric_pattern_free(pattern);
	fric_current_free(current);
	fric_contacts_free(contacts);
}

/* ---- comparison ---- */

static double largest_in(const double *x, int n)
{
	double most = 0;
	for (int i = 0; i < n; i++)
		most = fmax(most, fabs(x[i]));
	return most;
}

/* The largest difference, relative to numbers of size `scale`. */
static double difference(const double *x, const double *y, int n, double scale)
{
	double most = 0;
	for (int i = 0; i < n; i++)
		most = x[i] == y[i] ? most : fmax(most, fabs(x[i] - y[i]));
	return most / fmax(scale, 1e-300);
}

static void compare(int dim, enum fric_type type, bool searched, bool mollified, int n_pairs)
{
	double worst[5] = {0};
	int n_left_out = 0;
	n_pairs /= step_in_share(4, 8);
	for (int i = 0; i < n_pairs;) {
		struct pair pair = random_pair(dim, type, searched, mollified);
		struct expected e = {0};
		const int n = n_dofs_of(&pair);
		if (!is_fit(&pair))
			continue;
		if (!expect(&pair, &e)) {
			n_left_out++;
			continue;
		}
		i++;
		for (enum fric_projection projection = FRIC_PROJECT_NONE; projection <= FRIC_PROJECT_ABS; projection++) {
			struct results r = {0};
			struct expected of = e;
			compute(&serial, &pair, projection, &r);
			if (projection != FRIC_PROJECT_NONE)
				project(n, projection, of.hessian);
			const double errors[5] = {
				fabs(r.energy / e.energy - 1), difference(r.gradient, e.gradient, n, largest_in(e.gradient, n)),
				difference(r.hessian[0], of.hessian[0], MOST * MOST, largest_in(e.hessian[0], MOST * MOST))};
			for (int c = 0; c < 3; c++) {
				const int at = c == 2 ? 2 + (int)projection : c;
				worst[at] = fmax(worst[at], errors[c]);
				if (!(errors[c] < 1e-9)) {
					print_error("type %d barrier %d.%d dmin %g dhat %g mu %g distance %g: %d %d error %g\n", type,
					            pair.barrier.type, pair.barrier.scaling, pair.barrier.dmin, pair.barrier.dhat, pair.mu,
					            (double)distance_of(&pair), c, projection, errors[c]);
					fail();
				}
			}
		}
	}
	assert_true(n_left_out * 20 < n_pairs);
	print_message("%dD %-13s%s%s energy %.0e gradient %.0e Hessian %.0e clamp %.0e abs %.0e\n", dim,
	              fric_type_name(type), searched ? " searched" : "", mollified ? " mollified" : "", worst[0], worst[1],
	              worst[2], worst[3], worst[4]);
}

static void test_given(void **state)
{
	(void)state;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		compare(3, type, false, false, 100);
	compare(2, FRIC_VERTEX_VERTEX, false, false, 100);
	compare(2, FRIC_EDGE_VERTEX, false, false, 100);
	compare(2, FRIC_PLANE_VERTEX, false, false, 100);
}

static void test_searched(void **state)
{
	(void)state;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		compare(3, type, true, false, 100);
	compare(2, FRIC_EDGE_VERTEX, true, false, 100);
}

static void test_mollified(void **state)
{
	(void)state;
	compare(3, FRIC_EDGE_EDGE, false, true, 200);
}

/* Lengths and stiffnesses of any size: results scale with them, and none is NaN. */
static void test_extremes(void **state)
{
	(void)state;
	static const int exponents[] = {-280, -150, -90, 0, 90, 150, 280};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		for (int kind = 0; kind < 20; kind++) {
			struct pair pair = random_pair(3, type, kind % 2, false);
			struct results plain = {0}, r = {0};
			while (!is_fit(&pair))
				pair = random_pair(3, type, kind % 2, false);
			pair.barrier.type = FRIC_NORMALIZED_CLAMPED_LOG; /* its energy has no unit of length */
			pair.barrier.scaling = FRIC_SCALING_NONE;
			pair.mu = 0;
			compute(&serial, &pair, FRIC_PROJECT_CLAMP, &plain);
			for (size_t e = 0; e < sizeof(exponents) / sizeof(exponents[0]); e++) {
				struct pair scaled = pair;
				const int by = exponents[e];
				for (int k = 0; k < n_points(&pair); k++)
					for (int x = 0; x < 3; x++)
						scaled.p[k][x] = ldexp(pair.p[k][x], type == FRIC_PLANE_VERTEX && k == 2 ? 0 : by);
				scaled.barrier.dhat = ldexp(pair.barrier.dhat, by);
				scaled.barrier.dmin = ldexp(pair.barrier.dmin, by);
				scaled.barrier.stiffness = ldexp(pair.barrier.stiffness, by);
				compute(&serial, &scaled, FRIC_PROJECT_CLAMP, &r);
				const int n = n_dofs_of(&pair);
				assert_near(ldexp(r.energy, -by) / plain.energy, 1, 1e-12);
				assert_true(difference(r.gradient, plain.gradient, n, largest_in(plain.gradient, n)) < 1e-12);
				for (int i = 0; i < n; i++)
					for (int j = 0; j < n; j++)
						r.hessian[i][j] = ldexp(r.hessian[i][j], by);
				assert_true(difference(r.hessian[0], plain.hessian[0], MOST * MOST,
				                       largest_in(plain.hessian[0], MOST * MOST)) < 1e-11);
			}
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_given), cmocka_unit_test(test_searched),
	                                   cmocka_unit_test(test_mollified), cmocka_unit_test(test_extremes)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

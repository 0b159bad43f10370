/* `adhesion` where its bonds break, at |u| = 2 eps_v: G2 jumps there from -2 mu_s / eps_v to 0, so the last bit
 * decides. Tests all kernels, at vertices and at bodies, through every call that involves the Hessian. */
#include "tests/unit/core/batches.h"
#include "tests/unit/core/exact.h"

enum { N = 600, DOFS = 6 };

static const char *const sets[] = {"scalar", "baseline", "avx2", "avx512"};

/* One contact for each vertex or body on the plane z = 0, each with its own eps_v. */
struct bonds {
	int dim;
	bool bodies;
	int32_t members[N];
	double eps_v[N], velocities[N * DOFS], direction[N * DOFS], by_eps_v[N];
	bool broken[N]; /* in exact arithmetic */
	struct fric_contacts *contacts;
	struct fric_batch batch;
	struct fric_query query;
	struct fric_derivation derivation;
};

/* Every result that depends on the branch taken. */
struct results {
	double potential, gradient[N * DOFS], line[2], inner[N * 15];
	double products[N * DOFS], jvp[N * DOFS], vjp[N * DOFS], second[N * DOFS], jvp_by_eps_v[N * DOFS], vjp_by_eps_v[N];
};

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 11;
}

static size_t stride(const struct bonds *b)
{
	return b->bodies ? (b->dim == 3 ? 6 : 3) : (size_t)b->dim;
}

/* eps_v is 5m and the slip (6m, 8m), so that its length is exactly 2 eps_v; or one component is a bit longer or
 * shorter. */
static void place(struct bonds *b, size_t i, double scale, uint64_t *seed)
{
	const double m = scale * (double)((next(seed) >> 4) | 1u), ends[3] = {8 * m, nextafter(8 * m, 0), 9 * (8 * m)};
	double *v = b->velocities + i * stride(b), *d = b->direction + i * stride(b);
	const double along = i % 3 == 2 ? nextafter(ends[0], ends[2]) : ends[i % 3];
	const bool flat = b->dim == 2;
	b->members[i] = (int32_t)i;
	b->eps_v[i] = flat ? 4 * m : 5 * m;
	v[0] = flat ? along : 6 * m;
	v[1] = flat ? 0 : along;
	d[0] = flat ? 1 : 0.6;
	d[1] = flat ? 0 : 0.8;
	b->by_eps_v[i] = 1;
	const exact x = v[0], y = v[1], e = 2 * b->eps_v[i];
	b->broken[i] = x * x + y * y >= e * e;
	assert_int_equal(b->broken[i], i % 3 != 1);
}

static void make(struct bonds *b, int dim, bool bodies, double scale)
{
	static const double force = 2, up[3] = {0, 0, 1}, flat[2] = {0, 1}, points[N * 3] = {0};
	uint64_t seed = 5;
	*b = (struct bonds){.dim = dim, .bodies = bodies};
	for (size_t i = 0; i < N; i++)
		place(b, i, scale, &seed);
	b->batch = (struct fric_batch){.dim = dim, .n_vertices = bodies ? 0 : N};
	b->batch.friction =
		(struct fric_friction){.source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5, .law = {.type = FRIC_ADHESION}};
	struct fric_group *g = &b->batch.groups[bodies ? FRIC_BODY_WORLD : FRIC_PLANE_VERTEX];
	*g = (struct fric_group){.n = N, .vertices = b->members, .normal_force = one_value(&force), .eps_v = {b->eps_v, 1}};
	*(bodies ? &g->normal : &g->plane_normal) = one_value(dim == 3 ? up : flat);
	if (bodies) {
		g->point = (struct fric_values){points, (size_t)dim};
		b->batch.n_bodies = N;
		b->batch.body_positions = points;
	}
	b->contacts = prepared(&b->batch);
	b->query = (struct fric_query){.velocities = b->velocities};
	b->derivation = (struct fric_derivation){.batch = &b->batch, .contacts = b->contacts, .query = &b->query};
}

static void answer(const struct fric_context *context, struct bonds *b, struct results *r)
{
	const struct fric_contacts *c = b->contacts;
	const struct fric_query *q = &b->query;
	const int group = b->bodies ? FRIC_BODY_WORLD : FRIC_PLANE_VERTEX;
	const double start = 0;
	double at[N * DOFS], potential;
	struct fric_differential tangents = {0}, cotangents = {0};
	struct fric_error e;
	*r = (struct results){0};
	assert_ok(fric_evaluate(context, c, q, &r->potential, r->gradient, &e));
	assert_ok(fric_line(context, c, q, b->velocities, 1, &start, &r->line[0], &r->line[1], &e));
	assert_ok(fric_hessian_inner(context, c, q, FRIC_PROJECT_NONE, r->inner, &e));
	assert_ok(fric_hessian_products(context, c, q, FRIC_PROJECT_NONE, 1, b->direction, r->products, &e));
	tangents.fields[FRIC_WRT_VELOCITIES] = b->direction;
	assert_ok(fric_jvp(context, &b->derivation, &tangents, &potential, at, &potential, r->jvp, &e));
	cotangents.fields[FRIC_WRT_VELOCITIES] = r->vjp;
	cotangents.rows[group][FRIC_ROW_EPS_V] = r->vjp_by_eps_v;
	assert_ok(fric_vjp(context, &b->derivation, 0, b->direction, &potential, at, &cotangents, &e));
	cotangents = (struct fric_differential){0};
	cotangents.fields[FRIC_WRT_VELOCITIES] = r->second;
	assert_ok(fric_second_derivative_product(context, &b->derivation, &tangents, &cotangents, &e));
	tangents = (struct fric_differential){0};
	tangents.rows[group][FRIC_ROW_EPS_V] = b->by_eps_v;
	assert_ok(fric_jvp(context, &b->derivation, &tangents, &potential, at, &potential, r->jvp_by_eps_v, &e));
}

/* Expected values along the slip: G2 = -2 mu_s / eps_v = -1 / eps_v times a force of 2, and the derivative of G1 with
 * respect to eps_v, 4 mu_s / eps_v. */
static void judge_along(const struct bonds *b, const char *what, const double *results, double held)
{
	for (size_t i = 0; i < N; i++) {
		const double *x = results + i * stride(b), *d = b->direction + i * stride(b);
		const double along = d[0] * x[0] + d[1] * x[1], expected = b->broken[i] ? 0 : held / b->eps_v[i];
		if (fabs(along - expected) <= 1e-12 * fabs(held) / b->eps_v[i])
			continue;
		print_error("%s: contact %zu, eps_v %a: %g, expected %g\n", what, i, b->eps_v[i], along, expected);
		fail();
	}
}

static void judge(const struct bonds *b, const struct results *r)
{
	const size_t m = b->bodies ? (b->dim == 3 ? 15 : 3) : (size_t)fric_inner_size(b->dim);
	for (size_t i = 0; i < N; i++) { /* no component across: G1 = 0 */
		const double *a = r->inner + i * m, trace = a[0] + (b->dim == 3 ? a[b->bodies ? 5 : 2] : 0);
		const double eps_v = b->eps_v[i], expected = b->broken[i] ? 0 : -2 / eps_v;
		assert_near(trace, expected, 1e-12 * 2 / eps_v);
		assert_near(r->vjp_by_eps_v[i], b->broken[i] ? 0 : 4 / eps_v, 1e-12 * 4 / eps_v);
	}
	judge_along(b, "products", r->products, -2);
	judge_along(b, "jvp", r->jvp, -2);
	judge_along(b, "vjp", r->vjp, -2);
	judge_along(b, "second", r->second, -2);
	judge_along(b, "jvp by eps_v", r->jvp_by_eps_v, 4);
}

/* At the second scale, kernels leave contacts to long double. */
static void bonds_break_at_two_eps_v(void **unused)
{
	static const double scales[] = {0x1p-52, 0x1p-1055};
	struct bonds *b = malloc(sizeof(*b));
	struct results *first = malloc(sizeof(*first)), *r = malloc(sizeof(*r));
	(void)unused;
	for (int how = 0; how < 8; how++) {
		make(b, how & 1 ? 2 : 3, how & 2, scales[how / 4]);
		for (size_t k = 0; k < sizeof(sets) / sizeof(*sets); k++) {
			const struct fric_context context = {.n_threads = 1 + (int)k % 2, .kernels = fric_kernels_find(sets[k])};
			if (!context.kernels)
				continue;
			answer(&context, b, k ? r : first);
			judge(b, k ? r : first);
			assert_bits((k ? r : first)->line[0], (k ? r : first)->potential);
			if (k)
				assert_memory_equal(r, first, sizeof(*r));
		}
		fric_contacts_free(b->contacts);
	}
	free(r);
	free(first);
	free(b);
}

/* A step of a line that ends at 2 eps_v gives the same potential as an evaluation there. */
static void lines_break_as_evaluations_do(void **unused)
{
	struct bonds *b = malloc(sizeof(*b));
	double *rest = calloc(N * DOFS, sizeof(*rest)), *whole = malloc(N * DOFS * sizeof(*whole));
	(void)unused;
	make(b, 3, false, 0x1p-52);
	for (size_t i = 0; i < N * stride(b); i++)
		whole[i] = b->velocities[i];
	for (size_t k = 0; k < sizeof(sets) / sizeof(*sets); k++) {
		const struct fric_context context = {.n_threads = 1, .kernels = fric_kernels_find(sets[k])};
		struct fric_error error;
		double at_end, there, derivative;
		const double step = 1;
		if (!context.kernels)
			continue;
		assert_ok(fric_line(&context, b->contacts, query(rest), whole, 1, &step, &at_end, &derivative, &error));
		assert_ok(fric_evaluate(&context, b->contacts, query(whole), &there, NULL, &error));
		assert_bits(at_end, there);
	}
	fric_contacts_free(b->contacts);
	free(whole);
	free(rest);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bonds_break_at_two_eps_v),
		cmocka_unit_test(lines_break_as_evaluations_do),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

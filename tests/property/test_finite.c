/* Numbers from the whole range of doubles in every field: each call returns finite numbers or an error, the same with
 * every kernel. */
#include "core/derive/fields.h"
#include "tests/property/scene.h"
#include "tests/share.h"

enum {
	N_BATCHES = 1500,
	MOST_EACH = 70,
	N_AT_LIMITS = 5000,
	MOST_EACH_AT_LIMITS = 17,
	MOST_NUMBERS = 1 << 20,
	MOST_CALLS = 96
};

static const char *const names[] = {"avx512", "avx2", "baseline"};

/* ---- batches ---- */

/* A number with any exponent, also subnormal ones. */
static double any_size(struct rng *rng)
{
	return ldexp(uniform(rng, 1, 2), (int)below(rng, 1024 + 1074) - 1074);
}

/* More often near the limits of the ranges in core/base/range.h. */
static double large_size(struct rng *rng)
{
	return ldexp(uniform(rng, 1, 2), (int[]){98, 299, 510, 799, 998, 1023}[below(rng, 6)] + (int)below(rng, 4) - 2);
}

static double disturbed(double x, struct rng *rng)
{
	const double size = coin(rng) ? any_size(rng) : large_size(rng), one_over = 1 / size;
	return copysign(coin(rng) && isfinite(one_over) && one_over > 0 ? one_over : fmin(size, 0x1.fp+1023), x);
}

/* Changes a few numbers to any size, all of them, or all to one size. */
static void disturb(double *x, size_t n, struct rng *rng)
{
	const size_t how = below(rng, 3);
	const double same = disturbed(1, rng);
	for (size_t i = 0; i < n; i++)
		if (how == 2)
			x[i] = copysign(same, x[i]);
		else if (how == 1 || below(rng, n) < 2)
			x[i] = disturbed(x[i], rng);
}

/* Changes one field in `odds`: with too many extreme fields hardly any batch would be valid. */
static void disturb_group(struct fric_group *g, struct rng *rng, size_t odds)
{
	for (enum fric_row row = 0; row < FRIC_N_ROWS; row++) {
		const struct fric_values *field = fricp_group_row(g, row);
		if (field->data && g->n && below(rng, odds) == 0)
			disturb((double *)field->data, g->n * field->stride, rng);
	}
}

static void disturb_barrier(struct fric_barrier *barrier, struct rng *rng, size_t odds)
{
	double *const all[] = {&barrier->dhat, &barrier->stiffness, &barrier->dmin};
	for (int i = 0; i < 3; i++)
		if (below(rng, odds) == 0)
			*all[i] = disturbed(1, rng);
	barrier->type = (enum fric_barrier_type)below(rng, FRIC_TWO_STAGE + 1);
	barrier->scaling = (enum fric_barrier_scaling)below(rng, FRIC_SCALING_PHYSICAL + 1);
}

static void disturb_friction(struct fric_friction *f, size_t n_vertices, struct rng *rng, size_t odds)
{
	double *const arrays[] = {(double *)f->vertex_mu_s,
	                          (double *)f->vertex_mu_k,
	                          (double *)f->material_mu_s,
	                          (double *)f->material_mu_k,
	                          (double *)f->law.curve.factors,
	                          &f->eps_v,
	                          &f->law.stribeck_speed,
	                          &f->mu_s,
	                          &f->mu_k,
	                          &f->law.viscous};
	const size_t table = f->n_materials * f->n_materials, curve = f->law.curve.n;
	const size_t sizes[] = {n_vertices, n_vertices, table, table, curve, 1, 1, 1, 1, 1};
	for (int i = 0; i < 10; i++)
		if (below(rng, odds) == 0)
			disturb(arrays[i], sizes[i], rng);
}

static void extreme_scene(struct scene *s, struct rng *rng)
{
	const size_t odds = 4 + below(rng, 60);
	struct options options = random_options(rng, 2 + (below(rng, 4) > 0));
	options.n_each = below(rng, 3) ? 1 + below(rng, MOST_EACH) : 1;
	options.n_vertices = 10 + below(rng, 200);
	options.given_geometry = coin(rng);
	options.barrier &= !options.given_geometry;
	options.grain &= !options.given_geometry;
	scene_create(s, rng, options);
	s->batch.skip_degenerate = coin(rng);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		disturb_group(&s->batch.groups[type], rng, odds);
	disturb_barrier(&s->batch.barrier, rng, odds);
	disturb_friction(&s->batch.friction, options.n_vertices, rng, odds);
	double *const per_dof[] = {(double *)s->batch.positions, s->velocities, s->lagged};
	for (int i = 0; i < 3; i++)
		if (below(rng, odds) == 0)
			disturb(per_dof[i], scene_ndof(s), rng);
}

/* An exponent near a limit of core/base/range.h, or near those where products overflow or underflow; often 0. */
static int near_limit(struct rng *rng, int limit)
{
	const int sign = coin(rng) ? 1 : -1;
	return below(rng, 3) == 0 ? 0 : sign * limit - 2 + (int)below(rng, 5);
}

static void multiply(struct fric_values values, size_t n, int exponent)
{
	for (size_t i = 0; i < n * values.stride; i++)
		((double *)values.data)[i] = ldexp(values.data[i], exponent);
}

/* All contacts are alike, just inside or outside the range of the kernels. Velocities are scaled too; otherwise the
 * rest would have no effect. */
static void scene_at_limits(struct scene *s, struct rng *rng)
{
	struct options options = random_options(rng, 2 + (below(rng, 4) > 0));
	options.n_each = 1 + below(rng, MOST_EACH_AT_LIMITS);
	options.n_vertices = 10 + below(rng, 50);
	options.given_geometry = options.own_mu = options.mu_aniso = options.own_eps_v = options.signed_weights = true;
	options.barrier = options.ellipses = options.grain = false;
	scene_create(s, rng, options);
	const int force = near_limit(rng, coin(rng) ? 150 : 300), weight = near_limit(rng, coin(rng) ? 150 : 300);
	const int mu = near_limit(rng, 300), scaling = near_limit(rng, 100);
	const int hessian = force + weight + mu - 1030 + (int)below(rng, 300); /* large for a small eps_v */
	const int eps_v = abs(hessian) < 1010 && coin(rng) ? hessian : near_limit(rng, 990);
	const int basis = near_limit(rng, coin(rng) ? 100 : 900), closest = near_limit(rng, coin(rng) ? 100 : 900);
	const int ratio = near_limit(rng, coin(rng) ? 1 : 300);
	const int drag = near_limit(rng, coin(rng) ? 300 : 600);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const struct fric_group *g = &s->batch.groups[type];
		multiply(g->normal_force, g->n, force);
		multiply(g->weight, g->n, weight);
		multiply(g->mu_s, g->n, mu);
		multiply(g->mu_k, g->n, mu);
		multiply(g->eps_v, g->n, eps_v);
		multiply(g->mu_aniso, g->n, scaling);
		multiply(g->tangent_basis, g->n, basis);
		multiply(g->closest_point, g->n, closest);
		multiply(g->viscous, g->n, drag - eps_v);
		multiply(g->surface_velocity, g->n, ratio + eps_v - scaling - basis);
		multiply(g->anchor, g->n, eps_v - scaling - basis + near_limit(rng, 40));
	}
	multiply((struct fric_values){s->velocities, 1}, scene_ndof(s),
	         ratio + eps_v - scaling - basis - (closest > 0 ? closest : 0));
}

/* ---- results ---- */

/* The numbers of all calls, concatenated, and the code of each call. */
struct outcome {
	double *numbers;
	size_t n;
	struct fric_error reported[MOST_CALLS];
	int n_calls;
};

static double *room(struct outcome *o, size_t n)
{
	assert_true(o->n + n <= MOST_NUMBERS);
	return o->numbers + o->n;
}

/* Adds the n numbers of a call; they count if it succeeded. */
static bool note(struct outcome *o, enum fric_code code, struct fric_error error, size_t n)
{
	assert_true(o->n_calls < MOST_CALLS);
	o->reported[o->n_calls++] = code == FRIC_OK ? (struct fric_error){.code = FRIC_OK} : error;
	for (size_t i = 0; i < n && code == FRIC_OK; i++)
		if (!isfinite(o->numbers[o->n + i]))
			fail_msg("call %d: number %zu is %g", o->n_calls, i, o->numbers[o->n + i]);
	o->n += code == FRIC_OK ? n : 0;
	return code == FRIC_OK;
}

static const struct fric_error nothing = {.code = FRIC_OK};

static void note_evaluation(struct outcome *o, const struct fric_context *context, const struct fric_contacts *c,
                            const struct fric_query *asked)
{
	struct fric_error e = nothing;
	const size_t ndof = fric_n_vertices(c) * (size_t)fric_dim(c);
	double *out = room(o, ndof + 1);
	note(o, fric_evaluate(context, c, asked, out, NULL, &e), e, 1);
	out = room(o, ndof + 1);
	note(o, fric_evaluate(context, c, asked, NULL, out, &e), e, ndof);
	out = room(o, ndof + 1);
	note(o, fric_evaluate(context, c, asked, out, out + 1, &e), e, ndof + 1);
}

static size_t row_size(const struct fric_contacts *c, enum fric_type type, enum fric_output output)
{
	const size_t dim = (size_t)fric_dim(c);
	return output == FRIC_OUT_TANGENTIAL_VELOCITY ? dim - 1
	       : output == FRIC_OUT_TANGENT_BASIS     ? dim * (dim - 1)
	       : output == FRIC_OUT_FRICTION_FORCE    ? dim
	       : output == FRIC_OUT_ANCHOR            ? dim
	       : output == FRIC_OUT_CLOSEST_POINT     ? (size_t)fric_closest_point_size(type)
	                                              : 1;
}

static void note_outputs(struct outcome *o, const struct fric_context *context, const struct fric_contacts *c,
                         const struct fric_query *asked)
{
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const size_t n = fric_group_size(c, type);
		for (enum fric_output output = 0; output < FRIC_N_OUTPUTS; output++) {
			struct fric_error e = nothing;
			double *out = room(o, n * 6);
			if (fric_has_output(c, type, output))
				note(o, fric_contact_output(context, c, asked, type, output, out, &e), e,
				     n * row_size(c, type, output));
		}
	}
}

static void note_factors(struct outcome *o, const struct fric_context *context, const struct fric_contacts *c,
                         const struct fric_query *asked, enum fric_projection projection)
{
	const size_t dim = (size_t)fric_dim(c);
	struct fric_error e = nothing;
	struct fric_factors factors;
	double *at = room(o, fric_n_contacts(c) * 13), *const first = at;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const size_t n = fric_group_size(c, type);
		factors.weights[type] = at;
		factors.tangent_basis[type] = at += n * (size_t)fric_stencil_size(type);
		factors.inner[type] = at += n * dim * (dim - 1);
		at += n * (size_t)fric_inner_size((int)dim);
	}
	note(o, fric_hessian_factors(context, c, asked, projection, &factors, &e), e, (size_t)(at - first));
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const size_t n = fric_group_size(c, type) * (size_t)fric_stencil_size(type);
		at = room(o, n);
		note(o, fric_stencil_weights(context, c, type, at, &e), e, n);
	}
}

static void note_sparse(struct outcome *o, const struct fric_context *context, const struct fric_contacts *c,
                        const double *inner, enum fric_triangle triangle)
{
	const size_t n = fric_n_triplets(c, triangle);
	int32_t *rows = malloc((n + 1) * sizeof(*rows)), *cols = malloc((n + 1) * sizeof(*cols));
	struct fric_pattern *pattern;
	struct fric_error e = nothing;
	double *out = room(o, n);
	note(o, fric_hessian_triplets(context, c, inner, triangle, rows, cols, out, &e), e, n);
	assert_ok(fric_pattern_create(context, c, triangle, &pattern, &e));
	out = room(o, fric_pattern_n_entries(pattern));
	note(o, fric_hessian_csr(context, c, inner, pattern, out, &e), e, fric_pattern_n_entries(pattern));
	fric_pattern_free(pattern);
	free(rows);
	free(cols);
}

static void note_hessians(struct outcome *o, const struct fric_context *context, const struct fric_contacts *c,
                          const struct fric_query *asked, enum fric_projection projection, enum fric_triangle triangle)
{
	const size_t n = fric_n_contacts(c) * (size_t)fric_inner_size(fric_dim(c));
	struct fric_error e = nothing;
	double *inner = room(o, n);
	note_factors(o, context, c, asked, projection);
	inner = room(o, n);
	if (note(o, fric_hessian_inner(context, c, asked, projection, inner, &e), e, n))
		note_sparse(o, context, c, inner, triangle);
}

static void note_comparison(struct outcome *o, const struct fric_context *context, const struct fric_contacts *c,
                            const struct fric_query *asked)
{
	struct fric_comparison r;
	struct fric_error e = nothing;
	double *out = room(o, 4 * FRIC_N_QUANTITIES + 2);
	const enum fric_code code = fric_compare(context, c, asked, &r, &e);
	for (int q = 0; q < FRIC_N_QUANTITIES && code == FRIC_OK; q++)
		memcpy(out + 4 * q, &r.of[q], 4 * sizeof(double));
	if (code == FRIC_OK)
		out[4 * FRIC_N_QUANTITIES] = r.relative_difference, out[4 * FRIC_N_QUANTITIES + 1] = r.slip_ratio;
	note(o, code, e, 4 * FRIC_N_QUANTITIES + 2);
}

static struct outcome outcome_of(const struct fric_context *context, const struct scene *s, int which, double *numbers)
{
	struct outcome o = {.numbers = numbers};
	struct fric_contacts *c;
	struct fric_error e = nothing;
	if (!note(&o, fric_prepare(context, &s->batch, &c, &e), e, 0))
		return o;
	struct fric_state *state;
	if (note(&o, fric_state_create(context, c, s->lagged, &state, &e), e, 0)) {
		const struct fric_query asked = {.velocities = s->velocities, .state = state};
		note_evaluation(&o, context, c, &asked);
		note_outputs(&o, context, c, &asked);
		note_hessians(&o, context, c, &asked, (enum fric_projection)(which % 3), (enum fric_triangle)(which / 3 % 3));
		if (which % 8 == 0)
			note_comparison(&o, context, c, &asked);
	}
	fric_state_free(state);
	fric_contacts_free(c);
	return o;
}

static void assert_same(const struct outcome *a, const struct outcome *b)
{
	assert_int_equal(a->n_calls, b->n_calls);
	for (int i = 0; i < a->n_calls; i++) {
		assert_code(a->reported[i].code, b->reported[i].code);
		assert_int_equal(a->reported[i].group, b->reported[i].group);
		assert_int_equal(a->reported[i].contact, b->reported[i].contact);
	}
	assert_int_equal(a->n, b->n);
	assert_all_bits(a->numbers, b->numbers, a->n);
}

static void try_context(const struct fric_context *context, const struct scene *scene, int which,
                        const struct outcome *expected)
{
	static double numbers[MOST_NUMBERS];
	struct outcome o = outcome_of(context, scene, which, numbers);
	assert_same(&o, expected);
}

/* Compares every kernel, and several threads that stream, with the scalar kernels. @return number of calls that
 * succeeded */
static size_t try_scene(const struct scene *scene, int which)
{
	const struct fric_context plain = {.n_threads = 1, .kernels = fric_kernels_find("scalar")};
	const struct fric_context parallel = {.n_threads = 3, .parallel_from = 1, .stream_from = 1};
	static double numbers[MOST_NUMBERS];
	struct outcome expected = outcome_of(&plain, scene, which, numbers);
	size_t n_fine = 0;
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		const struct fric_context context = {.n_threads = 1, .kernels = fric_kernels_find(names[k])};
		if (context.kernels)
			try_context(&context, scene, which, &expected);
	}
	if (which % 4 == 0)
		try_context(&parallel, scene, which, &expected);
	for (int call = 0; call < expected.n_calls; call++)
		n_fine += expected.reported[call].code == FRIC_OK;
	return n_fine;
}

static void try_scenes(void (*make)(struct scene *scene, struct rng *rng), size_t n, uint64_t seed)
{
	struct rng rng = {seed};
	size_t n_fine = 0;
	n /= (size_t)one_in();
	for (size_t i = 0; i < n; i++) {
		struct scene scene;
		make(&scene, &rng);
		n_fine += try_scene(&scene, (int)i);
		scene_free(&scene);
	}
	assert_true(n_fine > 10 * n); /* with fewer successful calls, too little was tested */
}

static void test_whole_range(void **state)
{
	(void)state;
	try_scenes(extreme_scene, N_BATCHES, 501);
}

static void test_limits_of_ranges(void **state)
{
	(void)state;
	try_scenes(scene_at_limits, N_AT_LIMITS, 502);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole_range), cmocka_unit_test(test_limits_of_ranges)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Properties that hold for every batch, by physics or by construction. */
#include "core/derive/fields.h"
#include "tests/property/hessians.h"

enum { N_SCENES = 400 };

/* Runs check on random scenes, 2D and 3D in turn, after `adjust` has set the options that the check needs. */
static void for_scenes(uint64_t seed, void (*adjust)(struct options *), void (*check)(struct scene *, struct rng *))
{
	struct rng rng = {seed};
	for (int i = 0; i < N_SCENES; i++) {
		struct options options = random_options(&rng, 2 + i % 2);
		struct scene scene;
		if (adjust)
			adjust(&options);
		scene_create(&scene, &rng, options);
		check(&scene, &rng);
		scene_free(&scene);
	}
}

struct values {
	double potential, *gradient;
	double size; /* sum of |D|, the scale for comparing potentials */
};

static struct values evaluate(const struct fric_contacts *c, const double *v)
{
	struct values r = {.gradient = calloc(dense_size(c) + 1, sizeof(double))};
	struct fric_error error;
	assert_ok(fric_evaluate(&serial, c, scene_query(c, v), &r.potential, r.gradient, &error));
	double *all = all_contacts(&serial, c, v, FRIC_OUT_POTENTIAL, 1);
	for (size_t i = 0; i < fric_n_contacts(c); i++)
		r.size += fabs(all[i]);
	free(all);
	return r;
}

/* Sum of |weight * force| over all contacts, including the stencil weights. */
static double forces(const struct fric_contacts *c, const double *v)
{
	double *force = all_contacts(&serial, c, v, FRIC_OUT_NORMAL_FORCE, 1), total = 0;
	size_t at = 0;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const size_t n = fric_group_size(c, type), k = (size_t)fric_stencil_size(type);
		double *w = calloc(n * k + 1, sizeof(double));
		assert_int_equal(
			fric_stencil_weights(&serial, c, type, w, &(struct fric_error){FRIC_OK, FRIC_VERTEX_VERTEX, 0}), FRIC_OK);
		for (size_t i = 0; i < n; i++, at++)
			total += 6 * force[at] * largest(w + i * k, k);
		free(w);
	}
	free(force);
	return total;
}

static void check_potential_is_the_sum(struct scene *s, struct rng *rng)
{
	(void)rng;
	struct fric_contacts *c = scene_contacts(&serial, s);
	struct values r = evaluate(c, s->velocities);
	double *all = all_contacts(&serial, c, s->velocities, FRIC_OUT_POTENTIAL, 1), sum = 0;
	for (size_t i = 0; i < fric_n_contacts(c); i++)
		sum += all[i];
	assert_near(r.potential, sum, 1e-15 * r.size);
	free(all);
	free(r.gradient);
	scene_contacts_free(c);
}

static void test_potential_is_the_sum(void **state)
{
	(void)state;
	for_scenes(201, NULL, check_potential_is_the_sum);
}

static void check_zero_net_force(struct scene *s, struct rng *rng)
{
	(void)rng;
	scene_without_world(s);
	struct fric_contacts *c = scene_contacts(&serial, s);
	struct values r = evaluate(c, s->velocities);
	for (int d = 0; d < s->batch.dim; d++) {
		double net = 0;
		for (size_t v = 0; v < s->batch.n_vertices; v++)
			net += r.gradient[v * (size_t)s->batch.dim + (size_t)d];
		assert_near(net, 0, 1e-15 * forces(c, s->velocities));
	}
	free(r.gradient);
	scene_contacts_free(c);
}

static void test_zero_net_force(void **state)
{
	(void)state;
	for_scenes(202, NULL, check_zero_net_force);
}

static void check_galilean(struct scene *s, struct rng *rng)
{
	scene_without_world(s);
	struct fric_contacts *c = scene_contacts(&serial, s);
	struct values before = evaluate(c, s->velocities);
	const double scale = forces(c, s->velocities);
	for (int d = 0; d < s->batch.dim; d++) {
		const double common = uniform(rng, -1e-2, 1e-2);
		for (size_t v = 0; v < s->batch.n_vertices; v++)
			s->velocities[v * (size_t)s->batch.dim + (size_t)d] += common;
	}
	struct values after = evaluate(c, s->velocities);
	assert_near(after.potential, before.potential, 1e-16 * scale);
	assert_all_near(after.gradient, before.gradient, scene_ndof(s), 1e-12 * scale * (1 + scale));
	free(before.gradient);
	free(after.gradient);
	scene_contacts_free(c);
}

static void test_galilean_invariance(void **state)
{
	(void)state;
	for_scenes(203, NULL, check_galilean);
}

static void with_offsets(struct options *o)
{
	o->surface_velocity = o->anchor = true;
	o->viscous = 100;
}

static void add_to_rows(struct fric_group *g, size_t dim, size_t axis, double x)
{
	for (size_t i = 0; i < g->n; i++)
		((double *)g->surface_velocity.data)[i * dim + axis] += x;
}

/* Results are the same for an observer who moves along with all vertices and planes. */
static void check_moving_planes(struct scene *s, struct rng *rng)
{
	const size_t dim = (size_t)s->batch.dim;
	struct fric_contacts *c = scene_contacts(&serial, s);
	struct values before = evaluate(c, s->velocities);
	const double scale = forces(c, s->velocities);
	for (size_t d = 0; d < dim; d++) {
		const double common = uniform(rng, -1e-2, 1e-2);
		for (size_t v = 0; v < s->batch.n_vertices; v++)
			s->velocities[v * dim + d] += common, s->lagged[v * dim + d] += common;
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
			if (faces_world(type))
				add_to_rows(&s->batch.groups[type], dim, d, common);
	}
	struct fric_contacts *moved = scene_contacts(&serial, s);
	struct values after = evaluate(moved, s->velocities);
	assert_near(after.potential, before.potential, 1e-16 * scale);
	assert_all_near(after.gradient, before.gradient, scene_ndof(s), 1e-12 * scale * (1 + scale));
	free(before.gradient);
	free(after.gradient);
	scene_contacts_free(c);
	scene_contacts_free(moved);
}

static void test_moving_planes(void **state)
{
	(void)state;
	for_scenes(210, with_offsets, check_moving_planes);
}

/* If everything has the same velocity, everything is at rest, to the bit. */
static void check_common_motion(struct scene *s, struct rng *rng)
{
	scene_without_world(s);
	struct fric_contacts *c = scene_contacts(&serial, s);
	const size_t dim = (size_t)s->batch.dim;
	double *zero = calloc(scene_ndof(s), sizeof(double));
	for (size_t i = 0; i < scene_ndof(s); i++)
		s->velocities[i] = i < dim ? uniform(rng, -1e3, 1e3) : s->velocities[i - dim];
	struct values moving = evaluate(c, s->velocities), resting = evaluate(c, zero);
	assert_bits(moving.potential, resting.potential);
	for (size_t i = 0; i < scene_ndof(s); i++)
		assert_true(moving.gradient[i] == 0);
	free(zero);
	free(moving.gradient);
	free(resting.gradient);
	scene_contacts_free(c);
}

static void test_common_motion_is_rest(void **state)
{
	(void)state;
	for_scenes(204, no_offsets, check_common_motion);
}

static void isotropic(struct options *o)
{
	o->mu_aniso = o->ellipses = o->given_geometry = o->grain = false;
}

static void rotate(const double q[9], int dim, double *x, size_t n)
{
	for (size_t v = 0; v < n; v++) {
		double y[3] = {0};
		for (int i = 0; i < dim; i++)
			for (int j = 0; j < dim; j++)
				y[i] += q[3 * i + j] * x[v * (size_t)dim + (size_t)j];
		memcpy(x + v * (size_t)dim, y, (size_t)dim * sizeof(double));
	}
}

static void random_rotation(struct rng *rng, int dim, double q[9])
{
	double p[6];
	random_basis(rng, dim, p);
	if (dim == 2) {
		q[0] = q[4] = p[0], q[1] = -p[1], q[3] = p[1];
		return;
	}
	for (int i = 0; i < 3; i++) {
		const int j = (i + 1) % 3, k = (i + 2) % 3;
		q[3 * i] = p[2 * i], q[3 * i + 1] = p[2 * i + 1];
		q[3 * i + 2] = p[2 * j] * p[2 * k + 1] - p[2 * k] * p[2 * j + 1];
	}
}

static void rotate_groups(const double q[9], struct scene *s)
{
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const struct fric_group *g = &s->batch.groups[type];
		const struct fric_values vectors[] = {g->surface_velocity, g->anchor, g->plane_normal, g->plane_origin};
		for (int f = 0; f < 4; f++)
			if (vectors[f].data)
				rotate(q, s->batch.dim, (double *)vectors[f].data, g->n);
	}
}

static void check_rotation(struct scene *s, struct rng *rng)
{
	const size_t n = s->batch.n_vertices;
	double q[9];
	struct fric_contacts *c = scene_contacts(&serial, s);
	struct values before = evaluate(c, s->velocities);
	const double scale = forces(c, s->velocities);
	random_rotation(rng, s->batch.dim, q);
	rotate(q, s->batch.dim, (double *)s->batch.positions, n);
	rotate(q, s->batch.dim, s->velocities, n);
	rotate(q, s->batch.dim, before.gradient, n);
	rotate_groups(q, s);
	struct fric_contacts *turned = scene_contacts(&serial, s);
	struct values after = evaluate(turned, s->velocities);
	if (scale < 1e4) { /* closest points far outside magnify rounding errors of the rotation */
		assert_near(after.potential, before.potential, 1e-14 * scale * (1 + scale));
		assert_all_near(after.gradient, before.gradient, scene_ndof(s), 1e-11 * scale * (1 + scale));
	}
	free(before.gradient);
	free(after.gradient);
	scene_contacts_free(c);
	scene_contacts_free(turned);
}

static void test_rotational_invariance(void **state)
{
	(void)state;
	for_scenes(205, isotropic, check_rotation);
}

/* Friction and viscous drags dissipate. Anchors are excluded because they return stored energy, moving surfaces because
 * they drive. */
static void positive(struct options *o)
{
	o->signed_weights = false;
	o->anchor = o->surface_velocity = false;
}

static void check_dissipation(struct scene *s, struct rng *rng)
{
	(void)rng;
	struct fric_contacts *c = scene_contacts(&serial, s);
	struct values r = evaluate(c, s->velocities);
	double power = 0, size = 0;
	for (size_t i = 0; i < scene_ndof(s); i++) {
		power += s->velocities[i] * r.gradient[i];
		size += fabs(s->velocities[i] * r.gradient[i]);
	}
	assert_true(power >= -1e-14 * size);
	assert_true(power > 0 || size == 0);
	free(r.gradient);
	scene_contacts_free(c);
}

static void test_dissipation(void **state)
{
	(void)state;
	for_scenes(206, positive, check_dissipation);
}

static void apart(struct options *o)
{
	o->disjoint = true;
	o->signed_weights = false;
	o->own_viscous = false;
	o->viscous = 0;
}

/* If each contact has its own vertices, its force can be read from the gradient. */
static double tangential_force(const struct scene *s, const int32_t *stencil, const double *w, size_t k,
                               const double *gradient)
{
	const size_t dim = (size_t)s->batch.dim;
	size_t best = 0;
	double square = 0;
	for (size_t j = 0; j < k; j++)
		best = fabs(w[j]) > fabs(w[best]) ? j : best;
	for (size_t d = 0; d < dim && w[best] != 0; d++) {
		const double f = gradient[(size_t)stencil[best] * dim + d] / w[best];
		square += f * f;
	}
	return sqrt(square);
}

static void check_coulomb(struct scene *s, struct rng *rng)
{
	(void)rng;
	struct fric_contacts *c = scene_contacts(&serial, s);
	struct values r = evaluate(c, s->velocities);
	double *mu_s = all_contacts(&serial, c, s->velocities, FRIC_OUT_MU_S, 1);
	double *mu_k = all_contacts(&serial, c, s->velocities, FRIC_OUT_MU_K, 1);
	double *force = all_contacts(&serial, c, s->velocities, FRIC_OUT_NORMAL_FORCE, 1);
	double *z = all_contacts(&serial, c, s->velocities, FRIC_OUT_SLIP_RATIO, 1);
	const struct fric_law *law = &s->batch.friction.law;
	const double factor = law->type == FRIC_CURVE ? largest(law->curve.factors, law->curve.n) : 1;
	size_t at = 0;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const struct fric_group *g = &s->batch.groups[type];
		const size_t k = (size_t)fric_stencil_size(type), m = (size_t)s->batch.dim - 1;
		double *w = calloc(g->n * k + 1, sizeof(double));
		assert_int_equal(
			fric_stencil_weights(&serial, c, type, w, &(struct fric_error){FRIC_OK, FRIC_VERTEX_VERTEX, 0}), FRIC_OK);
		for (size_t i = 0; i < g->n; i++, at++) {
			const double f = tangential_force(s, g->vertices + i * k, w + i * k, k, r.gradient);
			const double scaling = g->mu_aniso.data ? largest(g->mu_aniso.data + i * m, m) : 1;
			assert_true(f <= fmax(mu_s[at], mu_k[at]) * factor * force[at] * scaling * (1 + 1e-14));
			if (z[at] >= 1 && law->type == FRIC_SMOOTH && !g->mu_aniso.data)
				assert_near(f, mu_k[at] * force[at], 1e-14 * force[at]);
		}
		free(w);
	}
	free(mu_s);
	free(mu_k);
	free(force);
	free(z);
	free(r.gradient);
	scene_contacts_free(c);
}

static void test_coulomb_bound(void **state)
{
	(void)state;
	for_scenes(207, apart, check_coulomb);
}

static void same_coefficients(struct options *o)
{
	o->equal_mu = true;
	o->ellipses = false;
}

static void check_transitions_agree(struct scene *s, struct rng *rng)
{
	(void)rng;
	s->batch.friction.law.transition = FRIC_CUBIC;
	struct fric_contacts *c = scene_contacts(&serial, s);
	s->batch.friction.law.transition = FRIC_QUADRATIC;
	struct fric_contacts *q = scene_contacts(&serial, s);
	struct values a = evaluate(c, s->velocities), b = evaluate(q, s->velocities);
	const size_t n = fric_n_contacts(c) * (size_t)fric_inner_size(s->batch.dim);
	double *inner_a = inner_matrices(&serial, c, s->velocities, FRIC_PROJECT_NONE);
	double *inner_b = inner_matrices(&serial, q, s->velocities, FRIC_PROJECT_NONE);
	assert_near(a.potential, b.potential, 1e-15 * a.size);
	assert_all_near(a.gradient, b.gradient, scene_ndof(s), 1e-15 * forces(c, s->velocities));
	assert_all_near(inner_a, inner_b, n, 2e-15 * largest(inner_a, n));
	free(a.gradient);
	free(b.gradient);
	free(inner_a);
	free(inner_b);
	scene_contacts_free(c);
	scene_contacts_free(q);
}

static void test_transitions_agree(void **state)
{
	(void)state;
	for_scenes(208, same_coefficients, check_transitions_agree);
}

/* Reorders the rows of a group's fields. */
static void permute(struct scene *s, struct fric_group *g, enum fric_type type, const size_t *order)
{
	const size_t k = (size_t)fric_stencil_size(type);
	int32_t *vertices = scene_memory(s, g->n * k, sizeof(int32_t));
	for (size_t i = 0; i < g->n; i++)
		memcpy(vertices + i * k, g->vertices + order[i] * k, k * sizeof(int32_t));
	g->vertices = vertices;
	for (enum fric_row row = 0; row < FRIC_N_ROWS; row++) {
		struct fric_values *field = (struct fric_values *)fricp_group_row(g, row);
		const struct fric_values old = *field;
		if (!old.data)
			continue;
		double *data = scene_memory(s, g->n * old.stride, sizeof(double));
		for (size_t i = 0; i < g->n; i++)
			memcpy(data + i * old.stride, old.data + order[i] * old.stride, old.stride * sizeof(double));
		field->data = data;
	}
}

static void check_permutation(struct scene *s, struct rng *rng)
{
	struct fric_contacts *c = scene_contacts(&serial, s);
	double *inner = inner_matrices(&serial, c, s->velocities, FRIC_PROJECT_NONE);
	double *dense = dense_from_csr(c, inner, FRIC_FULL);
	struct values before = evaluate(c, s->velocities);
	const size_t ndof = scene_ndof(s);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		struct fric_group *g = &s->batch.groups[type];
		size_t order[16] = {0};
		assert_true(g->n <= 16);
		for (size_t i = 0; i < g->n; i++) { /* the inside-out shuffle */
			const size_t j = below(rng, i + 1);
			order[i] = order[j];
			order[j] = i;
		}
		permute(s, g, type, order);
	}
	struct fric_contacts *d = scene_contacts(&serial, s);
	double *inner_after = inner_matrices(&serial, d, s->velocities, FRIC_PROJECT_NONE);
	double *dense_after = dense_from_csr(d, inner_after, FRIC_FULL);
	struct values after = evaluate(d, s->velocities);
	assert_near(after.potential, before.potential, 1e-15 * before.size);
	assert_all_near(after.gradient, before.gradient, ndof, 1e-15 * forces(c, s->velocities));
	assert_all_near(dense_after, dense, ndof * ndof, 1e-14 * largest(dense, ndof * ndof));
	free(inner);
	free(dense);
	free(inner_after);
	free(dense_after);
	free(before.gradient);
	free(after.gradient);
	scene_contacts_free(c);
	scene_contacts_free(d);
}

static void test_permutation_of_contacts(void **state)
{
	(void)state;
	for_scenes(209, NULL, check_permutation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_potential_is_the_sum),    cmocka_unit_test(test_zero_net_force),
		cmocka_unit_test(test_galilean_invariance),     cmocka_unit_test(test_common_motion_is_rest),
		cmocka_unit_test(test_rotational_invariance),   cmocka_unit_test(test_dissipation),
		cmocka_unit_test(test_coulomb_bound),           cmocka_unit_test(test_transitions_agree),
		cmocka_unit_test(test_permutation_of_contacts), cmocka_unit_test(test_moving_planes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Contacts of rigid bodies: derivatives, symmetries and bounds. */
#include "tests/property/bodies.h"
#include "tests/share.h"

enum { N_SCENES = 150 };

static struct body_options random_body_options(struct rng *rng)
{
	return (struct body_options){2 + below(rng, 4), 1 + below(rng, 5), below(rng, 4), below(rng, 4) > 0,
	                             below(rng, 4) == 0};
}

static struct scene body_scene(struct rng *rng, struct options o, struct body_options b, bool with_vertices)
{
	struct scene s;
	scene_create(&s, rng, o);
	if (!with_vertices)
		scene_without_vertices(&s);
	scene_add_bodies(&s, rng, b);
	return s;
}

static struct scene random_scene(struct rng *rng, int dim)
{
	const struct options o = random_options(rng, dim);
	return body_scene(rng, o, random_body_options(rng), coin(rng));
}

static void get(const struct fric_contacts *c, const double *v, double *potential, double *gradient)
{
	struct fric_error error;
	assert_ok(fric_evaluate(&serial, c, scene_query(c, v), potential, gradient, &error));
}

static double *gradient_at(const struct fric_contacts *c, const double *v)
{
	double *gradient = calloc(fric_n_dofs(c) + 1, sizeof(double));
	get(c, v, NULL, gradient);
	return gradient;
}

static double dot_product(const double *a, const double *b, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void cross_product(const double *a, const double *b, double *out)
{
	for (int d = 0; d < 3; d++)
		out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

/* ---- derivatives ---- */

/* Whether the law's third derivative is moderate at all contacts. */
static bool smooth_here(const struct fric_contacts *c, const struct scene *s)
{
	double *z = all_contacts(&serial, c, s->velocities, FRIC_OUT_SLIP_RATIO, 1);
	bool smooth = s->options.law != FRIC_CURVE &&
	              (s->options.law != FRIC_SMOOTH || s->options.transition == FRIC_CUBIC);
	for (size_t i = 0; i < fric_n_contacts(c); i++)
		smooth &= z[i] == 0 || (fabs(z[i] - 1) > 1e-3 && fabs(z[i] - 2) > 1e-3 && z[i] > 1e-2);
	free(z);
	return smooth;
}

/* A change of a DOF that moves contacts by about 1. */
static double unit_of(const struct scene *s, size_t dof)
{
	const size_t first = first_twist(s), m = twist_size(s);
	const bool turns = dof >= first && (dof - first) % m >= (size_t)s->batch.dim;
	double most = 1;
	for (size_t i = 0; i < s->batch.n_bodies * (size_t)s->batch.dim; i++)
		most = fmax(most, fabs(s->batch.body_positions[i]));
	return turns ? 1 / most : 1;
}

static void check_derivatives(const struct fric_contacts *c, const struct scene *s)
{
	const size_t n = scene_ndof(s);
	double *inner = inner_matrices(&serial, c, s->velocities, FRIC_PROJECT_NONE);
	double *hessian = dense_from_csr(c, inner, FRIC_FULL), *v = s->velocities;
	double *gradient = calloc(3 * n, sizeof(double)), *up = gradient + n, *down = up + n;
	get(c, v, NULL, gradient);
	for (size_t i = 0; i < n; i++) {
		const double at = v[i], unit = unit_of(s, i), h = 1e-8 * unit;
		double high, low;
		v[i] = at + h;
		get(c, v, &high, up);
		v[i] = at - h;
		get(c, v, &low, down);
		v[i] = at;
		const double twice = (at + h) - (at - h);
		assert_near((high - low) / twice * unit, gradient[i] * unit, 1e-6);
		for (size_t j = 0; j < n; j++)
			assert_near((up[j] - down[j]) / twice * unit * unit_of(s, j), hessian[j * n + i] * unit * unit_of(s, j),
			            0.2);
	}
	free(gradient);
	free(hessian);
	free(inner);
}

static void test_derivatives(void **state)
{
	struct rng rng = {301};
	(void)state;
	for (int n_checked = 0, n_tried = 0; n_checked < N_SCENES; n_tried++) {
		struct scene s = random_scene(&rng, n_tried % 2 ? 2 : 3);
		struct fric_contacts *c = scene_contacts(&serial, &s);
		if (smooth_here(c, &s)) {
			check_derivatives(c, &s);
			n_checked++;
		}
		scene_contacts_free(c);
		scene_free(&s);
		assert_true(n_tried < 50 * N_SCENES);
	}
}

/* ---- one Hessian in all formats ---- */

/* Adds J^T A J of all contacts of bodies to a dense matrix. */
static void add_body_factors(double *dense, const struct fric_contacts *c, const struct scene *s, enum fric_type type,
                             const double *jacobian, const double *inner)
{
	const size_t n = s->batch.dim == 3 ? 5 : 2, k = (size_t)fric_stencil_size(type), w = twist_size(s), m = k * w;
	const size_t ndof = fric_n_dofs(c), n_inner = (size_t)fric_body_inner_size(s->batch.dim);
	for (size_t i = 0; i < fric_group_size(c, type); i++)
		for (size_t d = 0; d < m; d++)
			for (size_t e = 0; e < m; e++) {
				const double *a = inner + i * n_inner, *j = jacobian + i * n * m;
				const int32_t *bodies = s->batch.groups[type].vertices + i * k;
				double sum = 0;
				for (size_t r = 0; r < n; r++)
					for (size_t t = r; t < n; t++, a++)
						sum += *a * (j[r * m + d] * j[t * m + e] + (r == t ? 0 : j[t * m + d] * j[r * m + e]));
				const size_t row = first_twist(s) + (size_t)bodies[d / w] * w + d % w;
				dense[row * ndof + first_twist(s) + (size_t)bodies[e / w] * w + e % w] += sum;
			}
}

static double *from_body_factors(const struct fric_contacts *c, const struct scene *s)
{
	const size_t n = s->batch.dim == 3 ? 5 : 2, ndof = fric_n_dofs(c);
	double *dense = calloc(ndof * ndof, sizeof(double));
	struct fric_factors f = {0};
	struct fric_error error;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		const size_t size = fric_group_size(c, type);
		f.weights[type] = calloc(4 * size + 1, sizeof(double));
		f.tangent_basis[type] = calloc(6 * size + 1, sizeof(double));
		f.inner[type] = calloc(15 * size + 1, sizeof(double));
		f.jacobian[type] = calloc(n * 12 * size + 1, sizeof(double));
	}
	assert_ok(fric_hessian_factors(&serial, c, scene_query(c, s->velocities), FRIC_PROJECT_CLAMP, &f, &error));
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		if (type >= FRIC_N_VERTEX_TYPES)
			add_body_factors(dense, c, s, type, f.jacobian[type], f.inner[type]);
		free(f.weights[type]);
		free(f.tangent_basis[type]);
		free(f.inner[type]);
		free(f.jacobian[type]);
	}
	return dense;
}

static void check_formats(const struct fric_contacts *c, const struct scene *s, struct rng *rng)
{
	const size_t n = fric_n_dofs(c), first = first_twist(s);
	double *inner = inner_matrices(&serial, c, s->velocities, FRIC_PROJECT_CLAMP);
	double *triplets = dense_from_triplets(c, inner, FRIC_FULL), *factors = from_body_factors(c, s);
	double *x = calloc(4 * n, sizeof(double)), *products = x + 2 * n;
	struct fric_error error;
	double most = 0;
	for (size_t e = 0; e < n * n; e++)
		most = fmax(most, fabs(triplets[e]));
	for (enum fric_triangle t = FRIC_FULL; t <= FRIC_LOWER; t++) {
		double *csr = dense_from_csr(c, inner, t), *some = dense_from_triplets(c, inner, t);
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < n; j++) {
				const bool wanted = t == FRIC_FULL || (t == FRIC_UPPER ? i <= j : i >= j);
				assert_near(csr[i * n + j], wanted ? triplets[i * n + j] : 0, 1e-14 * most);
				assert_near(some[i * n + j], csr[i * n + j], 1e-14 * most);
			}
		free(csr);
		free(some);
	}
	for (size_t i = first; i < n; i++)
		assert_all_near(triplets + i * n, factors + i * n, n, 1e-12 * most);
	for (size_t i = 0; i < 2 * n; i++)
		x[i] = uniform(rng, -1, 1) * unit_of(s, i % n);
	assert_ok(
		fric_hessian_products(&serial, c, scene_query(c, s->velocities), FRIC_PROJECT_CLAMP, 2, x, products, &error));
	for (size_t l = 0; l < 2; l++) {
		for (size_t i = 0; i < n; i++)
			assert_near(products[l * n + i], dot_product(triplets + i * n, x + l * n, n), 1e-12 * most);
		assert_true(dot_product(products + l * n, x + l * n, n) >= -1e-12 * most); /* positive semidefinite */
	}
	free(x);
	free(factors);
	free(triplets);
	free(inner);
}

static void test_formats_agree(void **state)
{
	struct rng rng = {302};
	(void)state;
	for (int i = 0; i < N_SCENES; i++) {
		struct options o = random_options(&rng, i % 2 ? 2 : 3);
		o.signed_weights =
			false; /* with a negative weight, a projected matrix would no longer be positive semidefinite */
		struct scene s = body_scene(&rng, o, random_body_options(&rng), coin(&rng));
		struct fric_contacts *c = scene_contacts(&serial, &s);
		check_formats(c, &s, &rng);
		scene_contacts_free(c);
		scene_free(&s);
	}
}

/* Thousands of rows of bodies are summed in several chunks, by one thread or two. */
static void check_rows(const struct fric_context *context, const struct fric_contacts *c, const struct scene *s)
{
	const size_t n = fric_n_dofs(c);
	const int64_t *indptr;
	const int32_t *indices;
	double *inner = inner_matrices(&serial, c, s->velocities, FRIC_PROJECT_CLAMP),
		   *products = calloc(n, sizeof(double));
	struct fric_pattern *pattern;
	struct fric_error error;
	assert_ok(fric_pattern_create(context, c, FRIC_FULL, &pattern, &error));
	double *data = calloc(fric_pattern_n_entries(pattern), sizeof(double));
	assert_ok(fric_hessian_csr(context, c, inner, pattern, data, &error));
	assert_ok(fric_hessian_products(context, c, scene_query(c, s->velocities), FRIC_PROJECT_CLAMP, 1, s->lagged,
	                                products, &error));
	indptr = fric_pattern_indptr(pattern);
	indices = fric_pattern_indices(pattern);
	for (size_t i = 0; i < n; i++) {
		double sum = 0, scale = 0;
		for (int64_t e = indptr[i]; e < indptr[i + 1]; e++) {
			sum += data[e] * s->lagged[indices[e]];
			scale += fabs(data[e] * s->lagged[indices[e]]);
		}
		assert_near(products[i], sum, 1e-11 * scale);
	}
	fric_pattern_free(pattern);
	free(data);
	free(products);
	free(inner);
}

static void test_many_rows(void **state)
{
	const struct fric_context two = {.n_threads = 2};
	struct rng rng = {308};
	(void)state;
	for (int dim = 2; dim <= 3; dim++) {
		struct scene s =
			body_scene(&rng, random_options(&rng, dim), (struct body_options){300, 3000, 2000, true, false}, false);
		struct fric_contacts *c = scene_contacts(&serial, &s);
		check_rows(&serial, c, &s);
		check_rows(&two, c, &s);
		scene_contacts_free(c);
		scene_free(&s);
	}
}

/* ---- a line ---- */

static void test_line(void **state)
{
	static const double steps[4] = {0, 0.5, -2, 1};
	struct rng rng = {303};
	struct fric_error error;
	(void)state;
	for (int i = 0; i < N_SCENES; i++) {
		struct scene s = random_scene(&rng, i % 2 ? 2 : 3);
		struct fric_contacts *c = scene_contacts(&serial, &s);
		const size_t n = fric_n_dofs(c);
		double potential[4], derivative[4], there, *v = s.velocities, *at = calloc(n, sizeof(double));
		assert_ok(fric_line(&serial, c, scene_query(c, v), s.lagged, 4, steps, potential, derivative, &error));
		for (int k = 0; k < 4; k++) {
			for (size_t e = 0; e < n; e++)
				at[e] = v[e] + steps[k] * s.lagged[e];
			double *gradient = gradient_at(c, at);
			get(c, at, &there, NULL);
			assert_near(potential[k], there, 1e-15 + 1e-12 * fabs(there));
			assert_near(derivative[k], dot_product(gradient, s.lagged, n), 1e-12);
			if (k == 0)
				assert_bits(potential[0], there);
			free(gradient);
		}
		free(at);
		scene_contacts_free(c);
		scene_free(&s);
	}
}

/* ---- symmetries ---- */

/* The sum of forces and torques about the origin over all bodies, with the sizes of their terms. */
static void check_balance(const struct scene *s, const double *gradient)
{
	const size_t dim = (size_t)s->batch.dim, m = twist_size(s);
	double force[3] = {0}, torque[3] = {0}, scale = 0, arm = 1;
	for (size_t b = 0; b < s->batch.n_bodies; b++) {
		const double *x = s->batch.body_positions + b * dim, *g = gradient + first_twist(s) + b * m;
		double moment[3] = {0};
		if (dim == 3)
			cross_product(x, g, moment);
		else
			moment[0] = x[0] * g[1] - x[1] * g[0];
		for (size_t d = 0; d < dim; d++) {
			force[d] += g[d];
			scale += fabs(g[d]);
			arm = fmax(arm, fabs(x[d]));
		}
		for (size_t d = 0; d < m - dim; d++) {
			torque[d] += g[dim + d] + moment[d];
			scale += fabs(g[dim + d]) / arm;
		}
	}
	for (int d = 0; d < 3; d++) {
		assert_near(force[d], 0, 1e-14 * scale);
		assert_near(torque[d], 0, 1e-14 * scale * arm);
	}
}

static void test_action_is_reaction(void **state)
{
	struct rng rng = {304};
	(void)state;
	for (int i = 0; i < N_SCENES; i++) {
		struct body_options b = random_body_options(&rng);
		b.n_world = 0;
		const struct options o = random_options(&rng, i % 2 ? 2 : 3);
		struct scene s = body_scene(&rng, o, b, coin(&rng));
		struct fric_contacts *c = scene_contacts(&serial, &s);
		double *gradient = gradient_at(c, s.velocities);
		check_balance(&s, gradient);
		free(gradient);
		scene_contacts_free(c);
		scene_free(&s);
	}
}

/* Adds a rigid motion of all bodies together to the twists. */
static void move_rigidly(const struct scene *s, const double *v, const double *w, double *velocities)
{
	const size_t dim = (size_t)s->batch.dim, m = twist_size(s);
	for (size_t b = 0; b < s->batch.n_bodies; b++) {
		const double *x = s->batch.body_positions + b * dim;
		double *twist = velocities + first_twist(s) + b * m, swept[3] = {-w[0] * x[1], w[0] * x[0], 0};
		if (dim == 3)
			cross_product(w, x, swept);
		for (size_t d = 0; d < dim; d++)
			twist[d] += v[d] + swept[d];
		for (size_t d = 0; d < m - dim; d++)
			twist[dim + d] += w[d];
	}
}

static void test_common_motion_changes_nothing(void **state)
{
	static const double v[3] = {3e-3, -1e-3, 2e-3}, w[3] = {-2e-3, 1e-3, 1.5e-3};
	struct rng rng = {305};
	(void)state;
	for (int i = 0; i < N_SCENES; i++) {
		struct body_options b = random_body_options(&rng);
		b.n_world = 0;
		b.far = false;
		struct options o = random_options(&rng, i % 2 ? 2 : 3);
		o.law = FRIC_SMOOTH;
		struct scene s = body_scene(&rng, o, b, false);
		struct fric_contacts *c = scene_contacts(&serial, &s);
		const size_t n = fric_n_dofs(c);
		double *before = gradient_at(c, s.velocities), most = 0;
		move_rigidly(&s, v, w, s.velocities);
		double *after = gradient_at(c, s.velocities);
		for (size_t e = 0; e < n; e++)
			most = fmax(most, fabs(before[e]));
		assert_all_near(after, before, n, 1e-10 * most);
		memset(s.velocities, 0, n * sizeof(double));
		move_rigidly(&s, v, w, s.velocities);
		double *ratio = all_contacts(&serial, c, s.velocities, FRIC_OUT_SLIP_RATIO, 1);
		for (size_t e = 0; e < fric_n_contacts(c) && !o.surface_velocity && !o.anchor; e++)
			assert_near(ratio[e], 0, 1e-13);
		free(before);
		free(after);
		free(ratio);
		scene_contacts_free(c);
		scene_free(&s);
	}
}

/* Bodies whose reference points coincide and whose twists are equal do not slip. */
static void test_equal_twists_rest_exactly(void **state)
{
	struct rng rng = {306};
	(void)state;
	for (int i = 0; i < N_SCENES; i++) {
		struct options o = random_options(&rng, i % 2 ? 2 : 3);
		no_offsets(&o);
		struct scene s = body_scene(&rng, o, (struct body_options){2, 3, 0, true, i % 3 == 0}, false);
		const size_t dim = (size_t)o.dim, m = twist_size(&s);
		double *positions = random_reals(&s, &rng, 2 * dim, -1, 1), *v = s.velocities + first_twist(&s);
		memcpy(positions + dim, positions, dim * sizeof(double));
		memcpy(v + m, v, m * sizeof(double));
		s.batch.body_positions = positions;
		struct fric_contacts *c = scene_contacts(&serial, &s);
		double *ratio = all_contacts(&serial, c, s.velocities, FRIC_OUT_SLIP_RATIO, 1);
		for (size_t e = 0; e < 3; e++)
			assert_true(ratio[e] == 0);
		free(ratio);
		scene_contacts_free(c);
		scene_free(&s);
	}
}

/* A second body at rest is equivalent to the world. */
static void test_world_is_a_body_at_rest(void **state)
{
	struct rng rng = {307};
	(void)state;
	for (int i = 0; i < N_SCENES; i++) {
		const struct options o = random_options(&rng, i % 2 ? 2 : 3);
		struct scene s = body_scene(&rng, o, (struct body_options){2, 4, 0, true, coin(&rng)}, false);
		const size_t first = first_twist(&s), m = twist_size(&s);
		int32_t *pairs = scene_memory(&s, 8, sizeof(int32_t)), *singles = scene_memory(&s, 4, sizeof(int32_t));
		for (int k = 0; k < 4; k++)
			pairs[2 * k + 1] = 1;
		memset(s.velocities + first + m, 0, m * sizeof(double));
		memset(s.lagged + first + m, 0, m * sizeof(double));
		s.batch.friction.plane_material = s.batch.friction.body_material[1];
		s.batch.groups[FRIC_BODY_BODY].vertices = pairs;
		struct fric_contacts *c = scene_contacts(&serial, &s);
		s.batch.groups[FRIC_BODY_WORLD] = s.batch.groups[FRIC_BODY_BODY];
		s.batch.groups[FRIC_BODY_WORLD].vertices = singles;
		s.batch.groups[FRIC_BODY_BODY] = (struct fric_group){0};
		struct fric_contacts *world = scene_contacts(&serial, &s);
		double *one = gradient_at(c, s.velocities), *other = gradient_at(world, s.velocities), potential[2];
		double *spin = all_contacts(&serial, c, s.velocities, FRIC_OUT_ROLLING, (size_t)o.dim - 1),
			   *spin_world = all_contacts(&serial, world, s.velocities, FRIC_OUT_ROLLING, (size_t)o.dim - 1);
		get(c, s.velocities, &potential[0], NULL);
		get(world, s.velocities, &potential[1], NULL);
		assert_bits(potential[0], potential[1]);
		assert_all_near(one + first, other + first, m, 0);
		assert_all_near(spin, spin_world, 4 * ((size_t)o.dim - 1), 0);
		for (size_t e = 0; e < m; e++)
			assert_true(other[first + m + e] == 0);
		free(one);
		free(other);
		free(spin);
		free(spin_world);
		scene_contacts_free(c);
		scene_contacts_free(world);
		scene_free(&s);
	}
}

/* A body without radii whose reference point is the contact point is equivalent to a vertex on a plane. */
static void test_without_arms_a_body_is_a_vertex(void **state)
{
	struct rng rng = {308};
	(void)state;
	for (int i = 0; i < N_SCENES; i++) {
		struct scene s;
		struct options o = random_options(&rng, i % 2 ? 2 : 3);
		o.barrier = false;
		o.source = FRIC_MU_SCALAR;
		scene_create(&s, &rng, o);
		const struct fric_group plane = s.batch.groups[FRIC_PLANE_VERTEX];
		const size_t dim = (size_t)o.dim, nv = s.batch.n_vertices, m = dim == 3 ? 6 : 3;
		scene_without_vertices(&s);
		s.batch.groups[FRIC_PLANE_VERTEX] = plane;
		double *points = scene_memory(&s, plane.n * dim, sizeof(double));
		for (size_t k = 0; k < plane.n * dim; k++)
			points[k] = s.batch.positions[(size_t)plane.vertices[k / dim] * dim + k % dim];
		s.batch.n_bodies = nv;
		s.batch.body_positions = s.batch.positions;
		struct fric_group *g = &s.batch.groups[FRIC_BODY_WORLD];
		*g = plane;
		g->point = (struct fric_values){points, dim};
		g->normal = plane.plane_normal.data ? plane.plane_normal : random_values(&s, &rng, plane.n, dim, -1, 1);
		double *v = scene_memory(&s, nv * (dim + m), sizeof(double)),
			   *lagged = scene_memory(&s, nv * (dim + m), sizeof(double));
		for (size_t e = 0; e < nv * dim; e++) {
			v[e] = v[nv * dim + e / dim * m + e % dim] = s.velocities[e];
			lagged[e] = lagged[nv * dim + e / dim * m + e % dim] = s.lagged[e];
		}
		s.lagged = lagged;
		struct fric_contacts *c = scene_contacts(&serial, &s);
		double *gradient = gradient_at(c, v), *d = all_contacts(&serial, c, v, FRIC_OUT_POTENTIAL, 1);
		for (size_t k = 0; k < plane.n; k++) /* here each slip has one component in 2D, and two in 3D */
			assert_near(d[plane.n + k], d[k], 1e-14 * fabs(d[k]));
		for (size_t e = 0; e < nv * dim; e++)
			assert_near(gradient[nv * dim + e / dim * m + e % dim], gradient[e], 1e-14);
		for (size_t e = 0; e < nv * m; e++)
			assert_true(e % m < dim || gradient[nv * dim + e] == 0);
		free(d);
		free(gradient);
		scene_contacts_free(c);
		scene_free(&s);
	}
}

/* ---- bounds ---- */

static double length_of(const double *x, size_t n)
{
	return sqrt(dot_product(x, x, n));
}

/* For one contact without arms, the gradient consists of force and couple. */
static void test_forces_and_torques_are_bounded(void **state)
{
	struct rng rng = {309};
	(void)state;
	for (int i = 0; i < 4 * N_SCENES; i++) {
		struct options o = random_options(&rng, i % 2 ? 2 : 3);
		no_offsets(&o);
		o.law = (enum fric_law_type[]){FRIC_SMOOTH, FRIC_STRIBECK, FRIC_EXPONENTIAL, FRIC_ADHESION}[below(&rng, 4)];
		o.equal_mu = o.law == FRIC_ADHESION;
		o.given_geometry = o.signed_weights = o.ellipses = false;
		struct scene s = body_scene(&rng, o, (struct body_options){1, 0, 1, true, false}, false);
		const size_t dim = (size_t)o.dim, first = first_twist(&s), m = twist_size(&s);
		struct fric_group *g = &s.batch.groups[FRIC_BODY_WORLD];
		s.batch.body_positions = g->point.data;
		struct fric_contacts *c = scene_contacts(&serial, &s);
		double *gradient = gradient_at(c, s.velocities), mu_s, mu_k, normal[3], along = 0, across = 0;
		struct fric_error error;
		assert_ok(fric_contact_output(&serial, c, scene_query(c, s.velocities), FRIC_BODY_WORLD, FRIC_OUT_MU_S, &mu_s,
		                              &error));
		assert_ok(fric_contact_output(&serial, c, scene_query(c, s.velocities), FRIC_BODY_WORLD, FRIC_OUT_MU_K, &mu_k,
		                              &error));
		const double *a = g->mu_aniso.data, *couple = gradient + first + dim, *roll = g->roll_radius.data;
		const double scaled = a ? fmax(1, fmax(a[0], dim == 3 ? a[1] : 1)) : 1;
		const double most = fmax(mu_s, mu_k) * *g->normal_force.data * (1 + 1e-12);
		assert_true(length_of(gradient + first, dim) <= most * scaled);
		for (size_t d = 0; d < dim; d++)
			normal[d] = g->normal.data[d] / length_of(g->normal.data, dim);
		if (dim == 3) {
			along = dot_product(couple, normal, 3);
			across = sqrt(fmax(0, dot_product(couple, couple, 3) - along * along));
			assert_true(fabs(along) <= most * *g->spin_radius.data);
		} else {
			across = fabs(couple[0]);
		}
		assert_true(across <= most * *roll * (1 + 1e-8));
		assert_true(dot_product(gradient + first, s.velocities + first, m) >= 0); /* friction takes energy */
		free(gradient);
		scene_contacts_free(c);
		scene_free(&s);
	}
}

/* ---- bits ---- */

/* All results of a batch, concatenated. */
struct answers {
	double *numbers;
	size_t n;
};

enum { ROOM = 400000 };

static double *more(struct answers *a, size_t n)
{
	a->n += n;
	assert_true(a->n <= ROOM);
	return a->numbers + a->n - n;
}

static struct answers answers_of(const struct fric_context *context, const struct scene *s)
{
	struct answers a = {calloc(ROOM, sizeof(double)), 0};
	struct fric_contacts *c = scene_contacts(context, s);
	const struct fric_query *q = scene_query(c, s->velocities);
	const size_t ndof = fric_n_dofs(c), n_triplets = fric_n_triplets(c, FRIC_UPPER);
	static const double steps[2] = {0, 1};
	struct fric_error error;
	struct fric_pattern *pattern;
	double *line = more(&a, 4), *inner = more(&a, fric_n_inner(c));
	assert_ok(fric_evaluate(context, c, q, line, more(&a, ndof), &error));
	assert_ok(fric_line(context, c, q, s->lagged, 2, steps, line, line + 2, &error));
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		for (enum fric_output output = 0; output < FRIC_N_OUTPUTS; output++)
			if (fric_has_output(c, type, output))
				assert_ok(
					fric_contact_output(context, c, q, type, output, more(&a, 6 * fric_group_size(c, type)), &error));
	assert_ok(fric_hessian_inner(context, c, q, FRIC_PROJECT_CLAMP, inner, &error));
	assert_ok(fric_hessian_triplets(context, c, inner, FRIC_UPPER, NULL, NULL, more(&a, n_triplets), &error));
	assert_ok(fric_pattern_create(context, c, FRIC_LOWER, &pattern, &error));
	assert_ok(fric_hessian_csr(context, c, inner, pattern, more(&a, fric_pattern_n_entries(pattern)), &error));
	assert_ok(fric_hessian_products(context, c, q, FRIC_PROJECT_ABS, 1, s->lagged, more(&a, ndof), &error));
	fric_pattern_free(pattern);
	scene_contacts_free(c);
	return a;
}

static void test_threads(void **state)
{
	struct rng rng = {310};
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct options o = random_options(&rng, i % 2 ? 2 : 3);
		struct scene s = body_scene(&rng, o, (struct body_options){40, 900, 500, true, false}, true);
		struct answers one = answers_of(&serial, &s);
		for (int n_threads = 2; n_threads < 9; n_threads += n_threads == 2 ? 1 : 5) {
			const struct fric_context context = {.n_threads = n_threads, .parallel_from = 1};
			struct answers many = answers_of(&context, &s);
			assert_int_equal(many.n, one.n);
			assert_all_bits(many.numbers, one.numbers, one.n);
			free(many.numbers);
		}
		free(one.numbers);
		scene_free(&s);
	}
}

/* Rounds velocities to multiples of 2^-30, then adds the same one, a multiple of 2^10, to the linear velocity of each
 * vertex and body. Both steps keep differences of rounded velocities exact. */
static void add_exactly(const struct scene *s, const double *common)
{
	const size_t dim = (size_t)s->batch.dim, m = twist_size(s), first = first_twist(s);
	for (size_t e = 0; e < scene_ndof(s); e++) {
		const size_t d = e < first ? e % dim : (e - first) % m;
		s->velocities[e] = ldexp(rint(ldexp(s->velocities[e], 30)), -30) + (d < dim ? common[d] : 0);
	}
}

/* Contacts depend only on relative velocities: a common one, however large, must cancel before anything is added. */
static void test_common_velocity_changes_no_bit(void **state)
{
	static const double none[3], common[3] = {0x1p20, -0x1p21, 0x1.8p20};
	struct rng rng = {311};
	(void)state;
	for (int i = 0; i < N_SCENES; i += step_sanitized(7)) {
		struct scene s = random_scene(&rng, i % 2 ? 2 : 3);
		scene_without_world(&s);
		add_exactly(&s, none);
		struct answers before = answers_of(&serial, &s);
		add_exactly(&s, common);
		struct answers after = answers_of(&serial, &s);
		assert_int_equal(after.n, before.n);
		assert_all_bits(after.numbers, before.numbers, before.n);
		free(before.numbers);
		free(after.numbers);
		scene_free(&s);
	}
}

/* Gradients do not depend on the unit of velocities; potentials scale with it, Hessians with its inverse. */
static void test_scaling(void **state)
{
	struct rng rng = {311};
	(void)state;
	for (int i = 0; i < N_SCENES; i++) {
		struct options o = random_options(&rng, i % 2 ? 2 : 3);
		no_offsets(&o);
		o.law = FRIC_SMOOTH;
		o.own_eps_v = o.own_stribeck_speed = false;
		struct scene s = body_scene(&rng, o, random_body_options(&rng), false);
		struct fric_contacts *c = scene_contacts(&serial, &s);
		const size_t n = fric_n_dofs(c), n_inner = fric_n_inner(c);
		double *gradient = gradient_at(c, s.velocities), potential;
		double *inner = inner_matrices(&serial, c, s.velocities, FRIC_PROJECT_NONE);
		get(c, s.velocities, &potential, NULL);
		scene_contacts_free(c);
		for (int e = -900; e <= 900; e += 1800) {
			struct scene t = s;
			double scaled;
			t.batch.friction.eps_v = ldexp(t.batch.friction.eps_v, e);
			t.velocities = calloc(n, sizeof(double));
			t.lagged = calloc(n, sizeof(double));
			for (size_t k = 0; k < n; k++) {
				t.velocities[k] = ldexp(s.velocities[k], e);
				t.lagged[k] = ldexp(s.lagged[k], e);
			}
			struct fric_contacts *there = scene_contacts(&serial, &t);
			double *g = gradient_at(there, t.velocities);
			double *a = inner_matrices(&serial, there, t.velocities, FRIC_PROJECT_NONE);
			get(there, t.velocities, &scaled, NULL);
			assert_all_bits(g, gradient, n);
			assert_bits(ldexp(scaled, -e), potential);
			for (size_t k = 0; k < n_inner; k++)
				assert_bits(ldexp(a[k], e), inner[k]);
			free(g);
			free(a);
			free(t.velocities);
			free(t.lagged);
			scene_contacts_free(there);
		}
		free(gradient);
		free(inner);
		scene_free(&s);
	}
}

/* Results at vertices have the same bits with bodies as without. */
static void test_vertices_do_not_notice(void **state)
{
	struct rng rng = {312};
	(void)state;
	for (int i = 0; i < N_SCENES; i++) {
		struct scene s;
		scene_create(&s, &rng, random_options(&rng, i % 2 ? 2 : 3));
		struct fric_contacts *c = scene_contacts(&serial, &s);
		double *gradient = gradient_at(c, s.velocities);
		double *inner = inner_matrices(&serial, c, s.velocities, FRIC_PROJECT_CLAMP);
		const size_t n = fric_n_dofs(c), n_inner = fric_n_inner(c), n_contacts = fric_n_contacts(c);
		double *csr = dense_from_csr(c, inner, FRIC_FULL);
		scene_contacts_free(c);
		scene_add_bodies(&s, &rng, random_body_options(&rng));
		c = scene_contacts(&serial, &s);
		double *more_gradient = gradient_at(c, s.velocities);
		double *more_inner = inner_matrices(&serial, c, s.velocities, FRIC_PROJECT_CLAMP);
		double *more_csr = dense_from_csr(c, more_inner, FRIC_FULL);
		assert_true(fric_n_contacts(c) > n_contacts);
		assert_all_bits(more_gradient, gradient, n);
		assert_all_bits(more_inner, inner, n_inner);
		for (size_t row = 0; row < n; row++) {
			assert_all_bits(more_csr + row * fric_n_dofs(c), csr + row * n, n);
			for (size_t col = n; col < fric_n_dofs(c); col++)
				assert_true(more_csr[row * fric_n_dofs(c) + col] == 0 && more_csr[col * fric_n_dofs(c) + row] == 0);
		}
		free(gradient);
		free(inner);
		free(csr);
		free(more_gradient);
		free(more_inner);
		free(more_csr);
		scene_contacts_free(c);
		scene_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_derivatives),
		cmocka_unit_test(test_formats_agree),
		cmocka_unit_test(test_many_rows),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_action_is_reaction),
		cmocka_unit_test(test_common_motion_changes_nothing),
		cmocka_unit_test(test_equal_twists_rest_exactly),
		cmocka_unit_test(test_world_is_a_body_at_rest),
		cmocka_unit_test(test_without_arms_a_body_is_a_vertex),
		cmocka_unit_test(test_forces_and_torques_are_bounded),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_common_velocity_changes_no_bit),
		cmocka_unit_test(test_scaling),
		cmocka_unit_test(test_vertices_do_not_notice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

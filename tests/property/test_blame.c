/* Tests which contact is blamed for a fault, stopping, and numbers at the ends of their range, with a single contact
 * among many at its limit. */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/fric_mollifier.h"
#include "tests/property/bodies.h"
#include "tests/share.h"

static const char *const kernel_names[] = {"scalar", "baseline", "avx2", "avx512"};

static double *numbers_in(struct fric_values values)
{
	return (double *)values.data;
}

/* Contacts of several types at successive vertices, so that the sweep alternates between types. */
static void long_scene(struct scene *s, uint64_t seed)
{
	struct rng rng = {seed};
	const struct options o = {
		.dim = 3, .n_each = 1500, .n_vertices = 60000, .reach = 30, .source = FRIC_MU_SCALAR, .signed_weights = true};
	scene_create(s, &rng, o);
	scene_add_bodies(s, &rng, (struct body_options){.n_bodies = 40, .n_pairs = 1200, .n_world = 1200, .radii = true});
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		for (size_t i = 0; i < s->batch.groups[type].n; i++)
			numbers_in(s->batch.groups[type].weight)[i] = 1;
}

struct calls {
	const struct fric_context *context;
	struct fric_contacts *contacts;
	const struct scene *scene;
	double *out, *inner;
	int size; /* AS_THEY_ARE or LARGE: of tangents and cotangents */
	struct fric_error error;
};

enum { EVALUATE, INNER, PRODUCTS, LINE, JVP, JVP_BY_VELOCITIES, VJP, N_CALLS };

/* Sizes of tangents and cotangents; large ones may overflow although forces do not. */
enum { AS_THEY_ARE, LARGE };

static enum fric_code call(struct calls *a, int which)
{
	const struct scene *s = a->scene;
	static double steps[2] = {0, 1e-3}, tangent;
	const size_t n = 1 + scene_ndof(s);
	const struct fric_query asked = {.velocities = s->velocities};
	const struct fric_derivation d = {.batch = &s->batch, .contacts = a->contacts, .query = &asked};
	const struct fric_differential by_mu = {.fields = {[FRIC_WRT_MU_S] = &tangent, [FRIC_WRT_MU_K] = &tangent}},
								   by_positions =
									   {.fields = {[FRIC_WRT_MU_K] = &tangent, [FRIC_WRT_POSITIONS] = a->inner}},
								   by_velocities = {.fields = {[FRIC_WRT_VELOCITIES] = s->lagged}};
	double *x = a->out;
	tangent = a->size == LARGE ? 1e160 : 1;
	switch (which) {
	case EVALUATE: return fric_evaluate(a->context, a->contacts, &asked, x, x + 1, &a->error);
	case INNER: return fric_hessian_inner(a->context, a->contacts, &asked, FRIC_PROJECT_NONE, x, &a->error);
	case PRODUCTS:
		return fric_hessian_products(a->context, a->contacts, &asked, FRIC_PROJECT_NONE, 1, s->lagged, x, &a->error);
	case LINE: return fric_line(a->context, a->contacts, &asked, s->lagged, 2, steps, x, x + 2, &a->error);
	case JVP: return fric_jvp(a->context, &d, &by_mu, x, x + 1, x + n, x + n + 1, &a->error);
	case JVP_BY_VELOCITIES: return fric_jvp(a->context, &d, &by_velocities, x, x + 1, x + n, x + n + 1, &a->error);
	default:
		return fric_vjp(a->context, &d, tangent, s->lagged, x, x + 1, a->size == LARGE ? &by_mu : &by_positions,
		                &a->error);
	}
}

/* If several contacts are much too strong, the first of them in the order of groups is blamed. */
static void check_blame(const struct scene *s, int size, enum fric_type type, size_t i)
{
	struct fric_contacts *c;
	struct fric_error error;
	double *out = calloc(4 * (scene_ndof(s) + 1) + 40000, sizeof(double)), *inner = calloc(200000, sizeof(double));
	assert_ok(fric_prepare(&serial, &s->batch, &c, &error));
	for (int k = 0; k < 4; k++)
		for (int n_threads = 1; n_threads <= 2; n_threads++) {
			const struct fric_context context = {
				.n_threads = n_threads, .kernels = fric_kernels_find(kernel_names[k]), .parallel_from = 1};
			struct calls calls = {&context, c, s, out, inner, size, {FRIC_OK, 0, 0}};
			if (size == LARGE && context.kernels)
				assert_ok(call(&calls, EVALUATE));
			for (int which = size == LARGE ? JVP : 0; which < N_CALLS && context.kernels && (k + n_threads) % 2;
			     which++) {
				if (size == LARGE && which == JVP_BY_VELOCITIES)
					continue;
				assert_code(call(&calls, which), FRIC_E_NOT_FINITE);
				if (calls.error.group != type || calls.error.contact != (int64_t)i)
					print_error("call %d, %s: %s %d is blamed\n", which, kernel_names[k],
					            fric_type_name(calls.error.group), (int)calls.error.contact);
				assert_int_equal(calls.error.group, type);
				assert_int_equal(calls.error.contact, i);
			}
		}
	free(out);
	free(inner);
	fric_contacts_free(c);
}

static void spoil(struct scene *s, int size, enum fric_type type, size_t i)
{
	numbers_in(s->batch.groups[type].normal_force)[i] = size == LARGE ? 1e160 : 1e308;
	numbers_in(s->batch.groups[type].weight)[i] = size == LARGE ? 1 : 1e308;
}

static void check_blames(int size)
{
	/* a later type at earlier vertices; a later span of the same type; bodies in other chunks */
	static const struct {
		enum fric_type type;
		size_t contact;
	} spoilt[] = {{FRIC_BODY_WORLD, 1190}, {FRIC_BODY_WORLD, 3},       {FRIC_BODY_BODY, 1100}, {FRIC_BODY_BODY, 70},
	              {FRIC_PLANE_VERTEX, 2},  {FRIC_FACE_VERTEX, 1400},   {FRIC_EDGE_EDGE, 1},    {FRIC_EDGE_VERTEX, 1499},
	              {FRIC_EDGE_VERTEX, 900}, {FRIC_VERTEX_VERTEX, 1480}, {FRIC_VERTEX_VERTEX, 5}};
	struct scene s;
	long_scene(&s, 8001);
	const size_t step = (size_t)step_sanitized(3);
	for (size_t i = size == LARGE ? step - 1 : 0; i < sizeof(spoilt) / sizeof(*spoilt); i += step) {
		spoil(&s, size, spoilt[i].type, spoilt[i].contact);
		check_blame(&s, size, spoilt[i].type, spoilt[i].contact);
	}
	scene_free(&s);
}

static void test_the_first_contact_is_blamed(void **state)
{
	(void)state;
	check_blames(AS_THEY_ARE);
}

static void test_the_first_derivative_is_blamed(void **state)
{
	(void)state;
	check_blames(LARGE);
}

/* ---- rows of bodies ---- */

/* Contacts of one body with the world, aligned with the axes, whose forces and radii are given. */
static void world_scene(struct scene *s, size_t n, double force, double spin, double roll)
{
	struct rng rng = {8101};
	scene_create(s, &rng,
	             (struct options){.dim = 3, .n_vertices = 1, .source = FRIC_MU_SCALAR, .signed_weights = true});
	scene_add_bodies(s, &rng, (struct body_options){.n_bodies = 3, .n_world = n, .radii = true});
	struct fric_group *g = &s->batch.groups[FRIC_BODY_WORLD];
	for (size_t i = 0; i < n; i++) {
		((int32_t *)g->vertices)[i] = 1;
		numbers_in(g->normal_force)[i] = force;
		numbers_in(g->weight)[i] = 1;
		numbers_in(g->spin_radius)[i] = spin;
		numbers_in(g->roll_radius)[i] = roll;
		for (int d = 0; d < 3; d++) {
			numbers_in(g->normal)[3 * i + (size_t)d] = d == 2;
			numbers_in(g->point)[3 * i + (size_t)d] = s->batch.body_positions[3 + d];
		}
	}
}

/* Compares the entries of a contact's block with J^T A J in long double, each relative to its own terms. @param entry
 * 0, or about the size of A's entries, which are then given */
static void check_entries(const struct scene *s, double entry)
{
	struct fric_contacts *c;
	struct fric_error error;
	double inner[15], jacobian[30], values[36];
	int32_t rows[36], cols[36];
	struct fric_factors f = {.weights = {0}};
	f.inner[FRIC_BODY_WORLD] = inner;
	f.jacobian[FRIC_BODY_WORLD] = jacobian;
	assert_ok(fric_prepare(&serial, &s->batch, &c, &error));
	assert_ok(fric_hessian_factors(&serial, c, query(s->velocities), FRIC_PROJECT_NONE, &f, &error));
	for (int e = 0; e < 15 && entry != 0; e++)
		inner[e] = entry * (1 + 0.1 * e);
	assert_ok(fric_hessian_triplets(&serial, c, inner, FRIC_FULL, rows, cols, values, &error));
	for (int e = 0; e < 36; e++) {
		long double sum = 0, size = 0;
		for (int r = 0, at = 0; r < 5; r++)
			for (int t = r; t < 5; t++, at++) {
				const long double one = (long double)inner[at] * jacobian[6 * r + e / 6] * jacobian[6 * t + e % 6];
				const long double other = (long double)inner[at] * jacobian[6 * t + e / 6] * jacobian[6 * r + e % 6];
				sum += one + (r == t ? 0 : other);
				size += fabsl(one) + (r == t ? 0 : fabsl(other));
			}
		assert_near(values[e], sum, 1e-14L * size + 0x1p-1074L);
	}
	fric_contacts_free(c);
}

static void test_entries_keep_their_digits(void **state)
{
	static const double cases[][5] = {/* force, spin_radius, roll_radius, angular velocity; size of the entries of A */
	                                  {1, 0x1p-190, 0x1p+190, 1e-3, 0x1p-900},
	                                  {1, 0x1p-199, 0x1p+199, 1e-3, 0x1p-501},
	                                  {1, 0x1p-190, 0x1p-190, 1e-3, 0x1p+1000},
	                                  {1, 0x1p-700, 0x1p+700, 0, 0x1p-499},
	                                  {1, 1, 1, 1e-3},
	                                  {0x1p-900, 0x1p-190, 0x1p+190, 1e-3 * 0x1p-190},
	                                  {0x1p-700, 0x1p-190, 0x1p+190, 1e-3},
	                                  {0x1p+400, 0x1p-900, 0x1p+300, 1e-3 * 0x1p-300},
	                                  {0x1p+300, 0x1p+300, 0x1p-600, 1e-3 * 0x1p-300},
	                                  {0x1p+600, 0x1p+205, 0x1p-180, 1e-3 * 0x1p-205}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int axis = 0; axis < 3; axis++) {
			struct scene s;
			world_scene(&s, 1, cases[i][0], cases[i][1], cases[i][2]);
			double *w = s.velocities + first_twist(&s) + 6 + 3;
			for (int d = 0; d < 3; d++)
				w[d] = d == axis ? cases[i][3] : 0.3 * cases[i][3];
			check_entries(&s, cases[i][4]);
			scene_free(&s);
		}
}

/* If a sum overflows, no contact is blamed; if one contact overflows, it is blamed. */
static void test_an_overflow_of_rows(void **state)
{
	(void)state;
	for (int alone = 0; alone < 2; alone++) {
		struct scene s;
		struct fric_contacts *c;
		struct fric_pattern *p;
		struct fric_error error;
		enum { N = 4 };
		world_scene(&s, N, 1, 1, 1);
		assert_ok(fric_prepare(&serial, &s.batch, &c, &error));
		assert_ok(fric_pattern_create(&serial, c, FRIC_FULL, &p, &error));
		double inner[15 * N], *data = calloc(fric_pattern_n_entries(p), sizeof(double));
		for (int i = 0; i < N; i++)
			for (int e = 0; e < 15; e++)
				inner[(size_t)(15 * i + e)] = e == 0 ? (alone ? i >= 2 ? 1e308 : 1 : 0.9e308) : 0;
		if (alone) { /* overflows when scaled by mu_aniso twice */
			fric_contacts_free(c);
			struct fric_group *g = &s.batch.groups[FRIC_BODY_WORLD];
			double *scale = scene_memory(&s, (size_t)2 * N, sizeof(double));
			for (int i = 0; i < 2 * N; i++)
				scale[i] = 4;
			g->mu_aniso = (struct fric_values){scale, 2};
			assert_ok(fric_prepare(&serial, &s.batch, &c, &error));
		}
		assert_code(fric_hessian_csr(&serial, c, inner, p, data, &error), FRIC_E_NOT_FINITE);
		assert_int_equal(error.contact, alone ? 2 : -1);
		if (alone)
			assert_int_equal(error.group, FRIC_BODY_WORLD);
		free(data);
		fric_pattern_free(p);
		fric_contacts_free(c);
		scene_free(&s);
	}
}

/* Two contacts at one vertex. The cotangents of their coefficients fit, but not the sum; sums for velocities fit. */
static void test_an_overflow_of_later_sums(void **state)
{
	static const double normal[3] = {0, 0, 1}, force = 1e308, mu[1] = {0.5}, velocities[3] = {1, 0, 0}, at[3];
	static const int32_t vertices[2] = {0, 0};
	struct fric_batch batch = {.dim = 3, .n_vertices = 1, .positions = at};
	struct fric_contacts *c;
	struct fric_error error;
	double potential, gradient[3], by_velocities[3], by_mu[1];
	(void)state;
	batch.friction =
		(struct fric_friction){.eps_v = 0x1p-10, .source = FRIC_MU_VERTEX, .vertex_mu_s = mu, .vertex_mu_k = mu};
	batch.groups[FRIC_PLANE_VERTEX] =
		(struct fric_group){.n = 2, .vertices = vertices, .normal_force = {&force, 0}, .plane_normal = {normal, 0}};
	assert_ok(fric_prepare(&serial, &batch, &c, &error));
	const struct fric_query asked = {.velocities = velocities};
	const struct fric_derivation d = {.batch = &batch, .contacts = c, .query = &asked};
	const struct fric_differential out = {
		.fields = {[FRIC_WRT_VELOCITIES] = by_velocities, [FRIC_WRT_VERTEX_MU_K] = by_mu}};
	assert_ok(fric_vjp(&serial, &d, 0.5, NULL, &potential, gradient, &out, &error));
	assert_code(fric_vjp(&serial, &d, 1.2, NULL, &potential, gradient, &out, &error), FRIC_E_NOT_FINITE);
	assert_true(error.contact < 0);
	fric_contacts_free(c);
}

/* ---- units ---- */

static void scale(double *x, size_t n, int power)
{
	for (size_t i = 0; i < n && x; i++)
		x[i] = ldexp(x[i], power);
}

/* Velocities, forces and coefficients in other units; slips are scaled by another power in addition. */
static void change_units(struct scene *s, int speed, int force, int mu, int slip)
{
	struct fric_friction *f = &s->batch.friction;
	scale(s->velocities, scene_ndof(s), speed);
	scale(s->lagged, scene_ndof(s), speed);
	f->eps_v = ldexp(f->eps_v, speed + slip);
	f->mu_s = ldexp(f->mu_s, mu);
	f->mu_k = ldexp(f->mu_k, mu);
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		struct fric_group *g = &s->batch.groups[type];
		scale(numbers_in(g->normal_force), g->n, force);
		scale(numbers_in(g->viscous), g->n, mu - speed - slip);
		scale(numbers_in(g->mu_aniso), g->n * (size_t)(s->batch.dim - 1), slip);
	}
}

/* ---- bases of any length ---- */

/* A longer basis together with an inversely smaller velocity scaling gives the same slip and force. */
static void test_bases_of_any_length(void **state)
{
	static const int powers[] = {600, -300, 40};
	(void)state;
	for (size_t p = 0; p < sizeof(powers) / sizeof(*powers); p++)
		for (int dim = 2; dim <= 3; dim++) {
			struct scene s;
			struct rng rng = {8401};
			struct fric_error error;
			scene_create(&s, &rng,
			             (struct options){.dim = dim,
			                              .n_each = 10,
			                              .n_vertices = 12,
			                              .source = FRIC_MU_SCALAR,
			                              .given_geometry = true,
			                              .mu_aniso = true});
			scene_add_bodies(&s, &rng, (struct body_options){.n_bodies = 4, .n_pairs = 9, .n_world = 9});
			change_units(&s, 0, -290, -290, 0);
			const size_t n = 1 + scene_ndof(&s);
			double *before = scene_memory(&s, n, sizeof(double)), *after = scene_memory(&s, n, sizeof(double));
			for (int turn = 0; turn < 2; turn++) {
				double *out = turn ? after : before;
				struct fric_contacts *c;
				for (enum fric_type type = 0; type < FRIC_N_TYPES && turn; type++) {
					struct fric_group *g = &s.batch.groups[type];
					scale(numbers_in(g->tangent_basis), g->n * (size_t)(dim * (dim - 1)), powers[p]);
					scale(numbers_in(g->mu_aniso), g->n * (size_t)(dim - 1), -powers[p]);
				}
				assert_ok(fric_prepare(&serial, &s.batch, &c, &error));
				assert_ok(fric_evaluate(&serial, c, query(s.velocities), out, out + 1, &error));
				fric_contacts_free(c);
			}
			for (size_t i = 0; i < n; i++)
				assert_near(after[i], before[i], 1e-12 * fabs(before[i]) + 0x1p-640);
			scene_free(&s);
		}
}

/* jvp along velocities alone, along velocities and positions, and the Jacobian times the positions' tangent. */
static void unit_tangents(const struct scene *s, const double *positions, double *out)
{
	const size_t n = 1 + scene_ndof(s);
	struct fric_contacts *c;
	struct fric_error error;
	const struct fric_query asked = {.velocities = s->velocities};
	assert_ok(fric_prepare(&serial, &s->batch, &c, &error));
	const struct fric_derivation d = {.batch = &s->batch, .contacts = c, .query = &asked};
	const struct fric_differential
		by_velocities = {.fields = {[FRIC_WRT_VELOCITIES] = s->lagged}},
		by_both = {.fields = {[FRIC_WRT_VELOCITIES] = s->lagged, [FRIC_WRT_POSITIONS] = (double *)positions}};
	double *unused = calloc(n, sizeof(double));
	assert_ok(fric_jvp(&serial, &d, &by_velocities, unused, unused + 1, out, out + 1, &error));
	assert_ok(fric_jvp(&serial, &d, &by_both, unused, unused + 1, out + n, out + n + 1, &error));
	const size_t m = fric_n_jacobian_triplets(c);
	int32_t *rows = calloc(2 * m, sizeof(int32_t));
	double *values = calloc(m, sizeof(double));
	assert_ok(fric_position_jacobian_triplets(&serial, &d, rows, rows + m, values, &error));
	memset(out + 2 * n, 0, n * sizeof(double));
	for (size_t e = 0; e < m; e++)
		out[2 * n + 1 + (size_t)rows[e]] += values[e] * positions[rows[m + e]];
	free(values);
	free(rows);
	free(unused);
	fric_contacts_free(c);
}

/* Eigenvalues leave the range of the kernels, while forces and their tangents are far from its ends. */
static void test_derivatives_in_any_unit(void **state)
{
	static const int units[][4] = {{380, -290, -290, 90}, {440, -290, -290, 0}, {-290, 270, 280, 0}, {-20, 7, 5, 3}};
	(void)state;
	for (int drags = 0; drags < 2; drags++)
		for (size_t u = 0; u < sizeof(units) / sizeof(*units); u++) {
			struct scene s;
			struct rng rng = {8301};
			scene_create(&s, &rng,
			             (struct options){.dim = 3,
			                              .n_each = 70,
			                              .n_vertices = 40,
			                              .source = FRIC_MU_SCALAR,
			                              .own_viscous = drags,
			                              .mu_aniso = true,
			                              .transition = FRIC_QUADRATIC});
			const size_t n = 1 + scene_ndof(&s);
			const int shift = units[u][1] + units[u][2] + units[u][3];
			const double *positions = random_reals(&s, &rng, n, -1, 1);
			double *plain = scene_memory(&s, 3 * n, sizeof(double)), *scaled = scene_memory(&s, 3 * n, sizeof(double));
			unit_tangents(&s, positions, plain);
			change_units(&s, units[u][0], units[u][1], units[u][2], units[u][3]);
			unit_tangents(&s, positions, scaled);
			for (int part = 0; part < 3; part++) {
				double *x = scaled + (size_t)part * n, *y = plain + (size_t)part * n, most = 0;
				x[0] = ldexp(x[0], -shift - units[u][0]);
				scale(x + 1, n - 1, -shift);
				for (size_t i = 1; i < n; i++)
					most = fmax(most, fabs(y[i]));
				assert_near(x[0], y[0], 1e-11 * fabs(y[0]));
				assert_all_near(x + 1, y + 1, n - 1, 1e-12 * most);
			}
			scene_free(&s);
		}
}

/* ---- stop ---- */

/* Memory that raises the flag when it is written to for the first time. */
static fric_flag stop;
static char *wire;
static size_t wire_bytes;

static void on_touch(int signal, siginfo_t *info, void *context)
{
	const char *at = info->si_addr;
	(void)context;
	if (at < wire || at >= wire + wire_bytes) {
		static const struct sigaction by_default = {.sa_handler = SIG_DFL};
		sigaction(signal, &by_default, NULL); /* a genuine fault, which will recur */
		return;
	}
	atomic_store(&stop, true);
	mprotect(wire, wire_bytes, PROT_READ | PROT_WRITE);
}

/* Products stop soon after the flag is raised: later vectors are never started. */
static void check_stop(size_t n_vectors, const struct fric_kernels *kernels)
{
	struct sigaction action = {.sa_sigaction = on_touch, .sa_flags = SA_SIGINFO}, before;
	struct scene s;
	struct rng rng = {8201};
	struct fric_contacts *c;
	struct fric_error error;
	const long page = sysconf(_SC_PAGESIZE);
	scene_create(
		&s, &rng,
		(struct options){.dim = 3, .n_each = 2000, .n_vertices = 20000, .reach = 30, .source = FRIC_MU_SCALAR});
	const size_t n = scene_ndof(&s), bytes = n * n_vectors * sizeof(double);
	const double *vectors = random_reals(&s, &rng, n * n_vectors, -1, 1);
	assert_ok(fric_prepare(&serial, &s.batch, &c, &error));
	double *products = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(products, MAP_FAILED);
	memset(products, 0xff, bytes);
	wire = (char *)products;
	wire_bytes = (size_t)page;
	atomic_store(&stop, false);
	assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
	assert_int_equal(mprotect(wire, wire_bytes, PROT_READ), 0);
	const struct fric_context context = {.n_threads = 1, .stop = &stop, .kernels = kernels};
	assert_code(fric_hessian_products(&context, c, query(s.velocities), FRIC_PROJECT_NONE, n_vectors, vectors, products,
	                                  &error),
	            FRIC_E_STOPPED);
	assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
	assert_true(atomic_load(&stop));
	size_t written = 0;
	for (size_t i = 0; i < n * n_vectors; i++)
		written += isnan(products[i]) ? 0 : 1;
	assert_true(written < n * n_vectors / 2);
	munmap(products, bytes);
	fric_contacts_free(c);
	scene_free(&s);
}

static void test_products_stop(void **state)
{
	(void)state;
	check_stop(3, fric_kernels_find("scalar")); /* one after the other */
	check_stop(3, NULL);
	check_stop(16, NULL); /* eight at once */
}

/* ---- curves of any size ---- */

/* Speeds and areas scale with the unit of speed, down to subnormal areas, which must not be used. */
static void test_areas_scale(void **state)
{
	const double speeds[] = {0, 0.4, 1, 1.7, 3}, factors[] = {1, 0.7, 0.9, 0.2, 0.5};
	(void)state;
	for (int power = 0; power > -1070; power -= 7) {
		double scaled[5], areas[5], whole[5];
		for (int k = 0; k < 5; k++)
			scaled[k] = ldexp(speeds[k], power);
		const struct fric_curve curve = {5, scaled, factors, NULL}, plain = {5, speeds, factors, NULL};
		const bool usable = fric_curve_areas(&curve, areas);
		assert_true(fric_curve_areas(&plain, whole));
		bool normal = true;
		for (int k = 1; k < 5; k++)
			normal &= ldexp(whole[k], power) >= 0x1p-1022;
		if (power > -1000 || !normal)
			assert_int_equal(usable, normal);
		for (int k = 0; k < 5 && normal && power > -1000; k++)
			assert_near(areas[k], ldexp(whole[k], power), 4 * ulp(ldexp(whole[k], power)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_contact_is_blamed),
		cmocka_unit_test(test_the_first_derivative_is_blamed),
		cmocka_unit_test(test_entries_keep_their_digits),
		cmocka_unit_test(test_an_overflow_of_rows),
		cmocka_unit_test(test_an_overflow_of_later_sums),
		cmocka_unit_test(test_derivatives_in_any_unit),
		cmocka_unit_test(test_bases_of_any_length),
		cmocka_unit_test(test_products_stop),
		cmocka_unit_test(test_areas_scale),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

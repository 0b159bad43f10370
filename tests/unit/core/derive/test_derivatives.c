/* fric_jvp and fric_vjp for contacts simple enough to do by hand, and their errors. */
#include "tests/unit/core/batches.h"

enum { MOST_VERTICES = 4 };

struct asked {
	struct fric_batch batch;
	struct fric_contacts *contacts;
	struct fric_query query;
	struct fric_derivation derivation;
	struct fric_error error;
	double potential, gradient[3 * MOST_VERTICES];
	double potential_tangent, gradient_tangent[3 * MOST_VERTICES];
};

static void prepare(struct asked *a, const double *v)
{
	a->contacts = prepared(&a->batch);
	a->query = (struct fric_query){.velocities = v};
	a->derivation = (struct fric_derivation){.batch = &a->batch, .contacts = a->contacts, .query = &a->query};
}

static enum fric_code forwards(const struct fric_context *context, struct asked *a,
                               const struct fric_differential *tangents)
{
	return fric_jvp(context, &a->derivation, tangents, &a->potential, a->gradient, &a->potential_tangent,
	                a->gradient_tangent, &a->error);
}

static enum fric_code backwards(const struct fric_context *context, struct asked *a, double psi, const double *gamma,
                                const struct fric_differential *wanted)
{
	return fric_vjp(context, &a->derivation, psi, gamma, &a->potential, a->gradient, wanted, &a->error);
}

/* One vertex moves on the floor z = 0: normal force 2, mu 0.5, eps_v 1. */
static const int32_t first_vertex[2] = {0, 0}, two_vertices[2] = {0, 1};

static void on_floor(struct asked *a, const double *v)
{
	*a = (struct asked){.batch = floor_batch(first_vertex, 1, 1)};
	prepare(a, v);
}

/* Tangents of one field. */
static struct fric_differential by_field(enum fric_field field, const double *tangent)
{
	struct fric_differential d = {0};
	d.fields[field] = (double *)tangent;
	return d;
}

static struct fric_differential by_row(enum fric_row row, const double *tangent)
{
	struct fric_differential d = {0};
	d.rows[FRIC_PLANE_VERTEX][row] = (double *)tangent;
	return d;
}

/* Both modes: the expected tangents, and the same numbers from a cotangent of each result. */
static void check(struct asked *a, struct fric_differential d, double *tangent, size_t n, double potential,
                  const double force[3])
{
	double cotangent[3], expected[4] = {potential, force[0], force[1], force[2]};
	double **place = NULL;
	assert_ok(forwards(&serial, a, &d));
	assert_near(a->potential_tangent, potential, 4e-16 * (1 + fabs(potential)));
	assert_all_near(a->gradient_tangent, force, 3, 4e-16 * (1 + fabs(force[0]) + fabs(force[1]) + fabs(force[2])));
	for (int f = 0; f < FRIC_N_FIELDS; f++)
		place = d.fields[f] ? &d.fields[f] : place;
	for (int r = 0; r < FRIC_N_ROWS; r++)
		place = d.rows[FRIC_PLANE_VERTEX][r] ? &d.rows[FRIC_PLANE_VERTEX][r] : place;
	*place = cotangent;
	for (int i = 0; i < 4; i++) {
		const double gamma[3] = {i == 1, i == 2, i == 3};
		double product = 0;
		assert_ok(backwards(&serial, a, i == 0, i == 0 ? NULL : gamma, &d));
		for (size_t m = 0; m < n; m++)
			product += cotangent[m] * tangent[m];
		assert_near(product, expected[i], 1e-15 * (1 + fabs(expected[i])));
	}
}

static void test_sliding(void **state)
{
	(void)state;
	struct asked a;
	double one[1] = {1}, along[3] = {1, 0, 0}, v[3] = {3, 4, 2};
	on_floor(&a, v);
	check(&a, by_row(FRIC_ROW_NORMAL_FORCE, one), one, 1, 2.5, (double[]){0.3, 0.4, 0});
	check(&a, by_field(FRIC_WRT_MU_K, one), one, 1, 10, (double[]){1.2, 1.6, 0});
	check(&a, by_field(FRIC_WRT_MU_S, one), one, 1, 0, (double[]){0, 0, 0});
	check(&a, by_field(FRIC_WRT_EPS_V, one), one, 1, 0, (double[]){0, 0, 0});
	check(&a, by_field(FRIC_WRT_VELOCITIES, along), along, 3, 0.6, (double[]){0.128, -0.096, 0});
	/* T = 1 - n n^T. Its tangent maps v to -(n' (n.v) + n (n'.v)) = (-2, 0, -3); the part across the slip is (-1.28,
	 * 0.96, -3). */
	check(&a, by_row(FRIC_ROW_PLANE_NORMAL, along), along, 3, -1.2, (double[]){-0.256, 0.192, -0.6});
	fric_contacts_free(a.contacts);
}

static void test_sticking(void **state)
{
	(void)state;
	struct asked a;
	double one[1] = {1}, along[3] = {0.6, 0.8, 0}, across[3] = {-0.8, 0.6, 0}, v[3] = {0.3, 0.4, 0};
	on_floor(&a, v);
	/* z = 1/2: f0 = 1/3 + 1/4 - 1/24, f1 = 3/4, f2 = 1 */
	check(&a, by_row(FRIC_ROW_NORMAL_FORCE, one), one, 1, 13. / 48, (double[]){0.225, 0.3, 0});
	check(&a, by_field(FRIC_WRT_EPS_V, one), one, 1, 1. / 6, (double[]){-0.3, -0.4, 0});
	check(&a, by_field(FRIC_WRT_VELOCITIES, along), along, 3, 0.75, (double[]){0.6, 0.8, 0});
	check(&a, by_field(FRIC_WRT_VELOCITIES, across), across, 3, 0, (double[]){-1.2, 0.9, 0});
	fric_contacts_free(a.contacts);
}

/* At rest A is 2 s mu_s / eps_v I, whatever the direction. */
static void test_rest(void **state)
{
	(void)state;
	struct asked a;
	double one[1] = {1}, any[3] = {3, -2, 7}, v[3] = {0, 0, 5};
	on_floor(&a, v);
	check(&a, by_field(FRIC_WRT_VELOCITIES, any), any, 3, 0, (double[]){6, -4, 0});
	check(&a, by_row(FRIC_ROW_NORMAL_FORCE, one), one, 1, 0.5 * (17. - 7) / 30, (double[]){0, 0, 0});
	check(&a, by_row(FRIC_ROW_PLANE_NORMAL, any), any, 3, 0, (double[]){-30, 20, 0});
	fric_contacts_free(a.contacts);
}

/* Offsets of the slip, and the drag, which acts on the slip without the anchor. */
static void test_offsets(void **state)
{
	(void)state;
	static const double surface[3] = {1, 1, 0}, anchor[3] = {2, 3, 0}, viscous = 0.25, aniso[2] = {1, 2};
	struct asked a = {.batch = floor_batch(first_vertex, 1, 1)};
	double v[3] = {2, 2, 0}, x[3] = {1, 0, 0}, one[1] = {1}, axes[2] = {0, 1};
	struct fric_group *g = &a.batch.groups[FRIC_PLANE_VERTEX];
	g->surface_velocity = one_value(surface);
	g->anchor = one_value(anchor);
	g->viscous = one_value(&viscous);
	prepare(&a, v); /* u = (3, 4); without the anchor (1, 1) */
	check(&a, by_row(FRIC_ROW_ANCHOR, x), x, 3, 0.6, (double[]){0.128, -0.096, 0});
	check(&a, by_row(FRIC_ROW_SURFACE_VELOCITY, x), x, 3, -1.1, (double[]){-0.628, 0.096, 0});
	check(&a, by_row(FRIC_ROW_VISCOUS, one), one, 1, 2, (double[]){2, 2, 0});
	check(&a, by_row(FRIC_ROW_NORMAL_FORCE, one), one, 1, 2.75, (double[]){0.55, 0.65, 0});
	fric_contacts_free(a.contacts);
	/* u = (3, 4), F = P (a D'); the second axis grows, so u' = (0, 2) */
	a.batch = floor_batch(first_vertex, 1, 1);
	g->mu_aniso = one_value(aniso);
	v[0] = 3;
	prepare(&a, v);
	check(&a, by_row(FRIC_ROW_MU_ANISO, axes), axes, 2, 1.6, (double[]){-0.192, 0.8 + 2 * 0.144, 0});
	fric_contacts_free(a.contacts);
}

/* At a knot the derivative is that of the branch to the right. */
static void test_knots(void **state)
{
	(void)state;
	struct asked a = {.batch = floor_batch(first_vertex, 1, 1)};
	double v[3] = {1, 0, 0}, x[3] = {1, 1, 0};
	struct fric_law *law = &a.batch.friction.law;
	a.batch.friction.mu_k = 0.25;
	*law = (struct fric_law){.type = FRIC_EXPONENTIAL, .stribeck_speed = 0.5};
	prepare(&a, v); /* the force falls with (mu_s - mu_k) / stribeck_speed */
	check(&a, by_field(FRIC_WRT_VELOCITIES, x), x, 3, 1, (double[]){-1, 1, 0});
	fric_contacts_free(a.contacts);
	*law = (struct fric_law){.type = FRIC_ADHESION};
	a.batch.friction.mu_k = 0.5;
	v[0] = 2;
	prepare(&a, v); /* the bond is broken */
	check(&a, by_field(FRIC_WRT_VELOCITIES, x), x, 3, 0, (double[]){0, 0, 0});
	fric_contacts_free(a.contacts);
}

/* The force of a barrier goes to zero at dhat, smoothly or not; a contact beyond has zero derivatives. */
static void test_barrier(void **state)
{
	(void)state;
	static const double origin[3] = {0, 0, 0};
	struct asked a = {.batch = floor_batch(first_vertex, 1, 1)};
	double v[3] = {3, 4, 0}, p[3] = {0, 0, 1}, up[3] = {0, 0, 1};
	struct fric_group *g = &a.batch.groups[FRIC_PLANE_VERTEX];
	g->normal_force.data = NULL;
	g->plane_origin = one_value(origin);
	a.batch.positions = p;
	a.batch.barrier = (struct fric_barrier){.dhat = 1, .stiffness = 3, .type = FRIC_TWO_STAGE};
	prepare(&a, v);
	check(&a, by_field(FRIC_WRT_POSITIONS, up), up, 3, 0, (double[]){0, 0, 0});
	fric_contacts_free(a.contacts);
	/* N = 6 d (1 - d^2) near dhat, so N' = 6 - 18 d^2 */
	p[2] = 0.9;
	prepare(&a, v);
	check(&a, by_field(FRIC_WRT_POSITIONS, up), up, 3, 2.5 * (6 - 18 * 0.81), (double[]){0.3 * -8.58, 0.4 * -8.58, 0});
	fric_contacts_free(a.contacts);
}

/* The direction of an effective coefficient is constant unless it follows the slip for which it was chosen. */
static void test_directions(void **state)
{
	(void)state;
	static const double axes[2] = {0.3, 0.1};
	struct asked a = {.batch = floor_batch(first_vertex, 1, 1)};
	double v[3] = {3, 4, 0}, lagged[3] = {4, 3, 0}, turn[3] = {0, 1, 0}, first[2] = {1, 0};
	struct fric_group *g = &a.batch.groups[FRIC_PLANE_VERTEX];
	struct fric_state *made;
	g->mu_k_aniso = g->mu_s_aniso = one_value(axes);
	prepare(&a, v);
	assert_ok(fric_state_create(&serial, a.contacts, lagged, &made, &a.error));
	a.query.state = made;
	a.derivation.slip_velocities = lagged;
	/* t = (0.8, 0.6), mu^2 = 0.0576 + 0.0036; t' = (-0.6, 0.8) 0.8/5, mu mu' = (0.09 - 0.01) 0.48 * -0.16 */
	const double mu = sqrt(0.0612), by_first = 0.3 * 0.64 / mu, by_turn = -0.08 * 0.48 * 0.16 / mu;
	check(&a, by_row(FRIC_ROW_MU_K_ANISO, first), first, 2, 10 * by_first,
	      (double[]){1.2 * by_first, 1.6 * by_first, 0});
	check(&a, by_field(FRIC_WRT_LAGGED_VELOCITIES, turn), turn, 3, 0, (double[]){0, 0, 0});
	a.derivation.vertices_follow = true;
	check(&a, by_field(FRIC_WRT_LAGGED_VELOCITIES, turn), turn, 3, 10 * by_turn,
	      (double[]){1.2 * by_turn, 1.6 * by_turn, 0});
	fric_state_free(made);
	fric_contacts_free(a.contacts);
}

/* ---- errors ---- */

/* If a contact's own numbers overflow, the contact is named. */
static void test_overflow_of_a_contact(void **state)
{
	(void)state;
	static const double rows[2] = {2, 2};
	struct asked a = {.batch = floor_batch(two_vertices, 2, 2)};
	double v[6] = {1e10, 0, 0, 1e10, 0, 0}, large[2] = {0, 1e308}, forces[2];
	a.batch.groups[FRIC_PLANE_VERTEX].normal_force = (struct fric_values){rows, 1};
	prepare(&a, v);
	struct fric_differential d = by_row(FRIC_ROW_NORMAL_FORCE, large);
	for (int n_threads = 1; n_threads < 4; n_threads++) {
		const struct fric_context context = {.n_threads = n_threads, .parallel_from = 1};
		a.error.contact = -2;
		assert_code(forwards(&context, &a, &d), FRIC_E_NOT_FINITE); /* the potential: 1e308 * 0.5 * 1e10 */
		assert_int_equal(a.error.contact, 1);
		assert_int_equal(a.error.group, FRIC_PLANE_VERTEX);
	}
	d = by_row(FRIC_ROW_NORMAL_FORCE, forces);
	assert_code(backwards(&serial, &a, 1e308, NULL, &d), FRIC_E_NOT_FINITE);
	assert_int_equal(a.error.contact, 0);
	fric_contacts_free(a.contacts);
}

/* If a sum over contacts overflows, no contact is named. */
static void test_overflow_of_a_sum(void **state)
{
	(void)state;
	struct asked a = {.batch = floor_batch(two_vertices, 2, 2)};
	double v[6] = {1, 0, 0, 1, 0, 0}, mu[1];
	prepare(&a, v);
	const struct fric_differential d = by_field(FRIC_WRT_MU_K, mu);
	assert_ok(backwards(&serial, &a, 0.4e308, NULL, &d));
	assert_near(mu[0], 1.6e308, 1e293); /* each contact contributes 2 */
	assert_code(backwards(&serial, &a, 0.6e308, NULL, &d), FRIC_E_NOT_FINITE);
	assert_int_equal(a.error.contact, -1);
	assert_true(isinf(mu[0]) != 0);
	fric_contacts_free(a.contacts);
}

/* If a sum at a vertex overflows, no contact is named. */
static void test_overflow_at_a_vertex(void **state)
{
	(void)state;
	static const double mu = 1;
	struct asked a = {.batch = floor_batch(first_vertex, 2, 1)};
	double v[3] = {1e-3, 0, 0}, tangent[1] = {1e308};
	a.batch.friction.eps_v = 1e-4;
	a.batch.groups[FRIC_PLANE_VERTEX].mu_s = a.batch.groups[FRIC_PLANE_VERTEX].mu_k = one_value(&mu);
	prepare(&a, v);
	const struct fric_differential d = by_row(FRIC_ROW_NORMAL_FORCE, tangent);
	assert_code(forwards(&serial, &a, &d), FRIC_E_NOT_FINITE);
	assert_int_equal(a.error.contact, -1);
	fric_contacts_free(a.contacts);
}

/* Memory that counts blocks in use, and fails once. */
struct scarce {
	int taken, left; /* blocks in use; allocations that still succeed */
};

static void *take(void *pool, size_t bytes)
{
	struct scarce *scarce = pool;
	if (scarce->left-- == 0)
		return NULL;
	scarce->taken++;
	return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void give(void *pool, void *block, size_t bytes)
{
	struct scarce *scarce = pool;
	(void)bytes;
	scarce->taken--;
	free(block);
}

static void test_out_of_memory(void **state)
{
	(void)state;
	struct scarce scarce = {0};
	const struct fric_memory memory = {take, give, &scarce};
	const struct fric_context context = {.n_threads = 2, .parallel_from = 1, .memory = &memory};
	static const double speeds[3] = {0, 1, 2}, factors[3] = {1, 0.5, 0.75};
	struct asked a = {.batch = floor_batch(first_vertex, 1, 1)};
	double v[3] = {2, 0, 0}, out[3];
	a.batch.friction.law =
		(struct fric_law){.type = FRIC_CURVE, .curve = {.n = 3, .speeds = speeds, .factors = factors}};
	prepare(&a, v);
	const struct fric_differential tangents = by_field(FRIC_WRT_CURVE_FACTORS, factors);
	const struct fric_differential wanted = by_field(FRIC_WRT_CURVE_FACTORS, out);
	for (int way = 0; way < 2; way++) {
		enum fric_code code = FRIC_E_MEMORY;
		int n = 0;
		for (; code != FRIC_OK; n++) {
			scarce.left = n;
			a.error.contact = 5;
			code = way ? forwards(&context, &a, &tangents) : backwards(&context, &a, 1, NULL, &wanted);
			assert_int_equal(scarce.taken, 0);
			assert_true(code == FRIC_OK || (code == FRIC_E_MEMORY && a.error.contact == -1));
		}
		assert_true(n > 2);
	}
	fric_contacts_free(a.contacts);
}

static void test_stop(void **state)
{
	(void)state;
	fric_flag stop = true;
	const struct fric_context context = {.n_threads = 1, .stop = &stop};
	struct asked a;
	double v[3] = {1, 0, 0}, out[3];
	on_floor(&a, v);
	const struct fric_differential tangents = by_field(FRIC_WRT_VELOCITIES, v),
								   wanted = by_field(FRIC_WRT_VELOCITIES, out);
	assert_code(forwards(&context, &a, &tangents), FRIC_E_STOPPED);
	assert_code(backwards(&context, &a, 1, NULL, &wanted), FRIC_E_STOPPED);
	fric_contacts_free(a.contacts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sliding),
		cmocka_unit_test(test_sticking),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_knots),
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_directions),
		cmocka_unit_test(test_overflow_of_a_contact),
		cmocka_unit_test(test_overflow_of_a_sum),
		cmocka_unit_test(test_overflow_at_a_vertex),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

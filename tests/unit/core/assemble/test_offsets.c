/* Additions to slips and forces: moving surfaces, anchors, drags, and their outputs. Expected values are by hand, on a
 * floor with mu lambda = 1 and eps_v = 1. */
#include "tests/unit/core/batches.h"

static const int32_t two[2] = {0, 1};
static const double drag_of_two = 2, half = 0.5;

/* G0 and G1 for mu = 1, eps_v = 1. */
static double g0(double z)
{
	return z < 1 ? 1 / 3. + z * z - z * z * z / 3 : z;
}

static double g1(double z)
{
	return z < 1 ? 2 * z - z * z : 1;
}

struct answer {
	enum fric_code code;
	double potential, gradient[6], inner[3], velocity[2], force[3], anchor[3], ratio, status;
};

/* Results of a batch with one floor contact at its vertex's velocity. */
static struct answer ask(const struct fric_batch *batch, const double velocity[3])
{
	struct answer a = {0};
	struct fric_error error;
	struct fric_contacts *c = prepared(batch);
	double v[6] = {velocity[0], velocity[1], velocity[2]};
	const struct fric_query *q = query(v);
	const enum fric_output outputs[] = {FRIC_OUT_TANGENTIAL_VELOCITY, FRIC_OUT_FRICTION_FORCE, FRIC_OUT_ANCHOR,
	                                    FRIC_OUT_SLIP_RATIO, FRIC_OUT_STATUS};
	double *const rows[] = {a.velocity, a.force, a.anchor, &a.ratio, &a.status};
	a.code = fric_evaluate(&serial, c, q, &a.potential, a.gradient, &error);
	if (a.code == FRIC_OK)
		a.code = fric_hessian_inner(&serial, c, q, FRIC_PROJECT_NONE, a.inner, &error);
	for (int o = 0; o < 5 && a.code == FRIC_OK; o++)
		a.code = fric_contact_output(&serial, c, q, FRIC_PLANE_VERTEX, outputs[o], rows[o], &error);
	fric_contacts_free(c);
	return a;
}

/* On a floor that moves along x, a vertex that moves with it is at rest. */
static void test_conveyor(void **state)
{
	static const double belt[3] = {3, 0, 0};
	struct fric_batch batch = floor_batch(two, 1, 2);
	(void)state;
	batch.groups[FRIC_PLANE_VERTEX].surface_velocity = one_value(belt);
	const struct answer still = ask(&batch, (double[]){3, 0, 7}), dropped = ask(&batch, (double[]){0, 0, 0}),
						slow = ask(&batch, (double[]){3, 0.5, 0});
	assert_near(still.potential, 1 / 3., 1e-16);
	assert_bits(still.force[0], 0);
	assert_near(dropped.potential, 3, 1e-15);
	assert_all_near(dropped.gradient, ((double[]){-1, 0, 0, 0, 0, 0}), 6, 1e-16);
	assert_all_near(dropped.force, ((double[]){1, 0, 0}), 3, 1e-16);
	assert_near(slow.force[1], -g1(0.5), 1e-16);
	assert_near(slow.ratio, 0.5, 1e-16);
}

/* At rest an anchor pulls back. It is shortened to eps_v for the next step; its component across the floor has no
 * effect. */
static void test_anchor(void **state)
{
	static const double short_one[3] = {0.3, 0.4, 5}, long_one[3] = {3, 4, 5};
	struct fric_batch batch = floor_batch(two, 1, 2);
	(void)state;
	batch.groups[FRIC_PLANE_VERTEX].anchor = one_value(short_one);
	const struct answer near = ask(&batch, (double[]){0, 0, 9}), loaded = ask(&batch, (double[]){0.1, -0.4, 0});
	assert_near(near.potential, g0(0.5), 1e-16);
	assert_all_near(near.force, ((double[]){-0.6 * g1(0.5), -0.8 * g1(0.5), 0}), 3, 1e-16);
	assert_all_near(near.anchor, ((double[]){0.3, 0.4, 0}), 3, 1e-16);
	assert_near(near.inner[0], 0.36 * (2 - 2 * 0.5) + 0.64 * (2 - 0.5), 1e-15);
	assert_near(near.status, 0, 0);
	assert_all_near(loaded.anchor, ((double[]){0.4, 0, 0}), 3, 1e-16);
	batch.groups[FRIC_PLANE_VERTEX].anchor = one_value(long_one);
	const struct answer far = ask(&batch, (double[]){0, 0, 0});
	assert_all_near(far.anchor, ((double[]){0.6, 0.8, 0}), 3, 1e-16);
	assert_near(far.ratio, 5, 1e-15);
	assert_near(far.status, 1, 0);
}

/* Surface velocity and anchor together, in 2D, with scaling. The anchor is measured before scaling. */
static void test_plane(void **state)
{
	static const double up[2] = {0, 2}, belt[2] = {1, 0}, anchor[2] = {0.25, 3}, scaling = 4;
	static const int32_t vertex = 0;
	struct fric_batch batch = {.dim = 2, .n_vertices = 1};
	(void)state;
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5};
	batch.groups[FRIC_PLANE_VERTEX] = (struct fric_group){.n = 1,
	                                                      .vertices = &vertex,
	                                                      .normal_force = one_value(&force_of_two),
	                                                      .plane_normal = one_value(up),
	                                                      .surface_velocity = one_value(belt),
	                                                      .anchor = one_value(anchor),
	                                                      .mu_aniso = one_value(&scaling)};
	struct fric_contacts *c = prepared(&batch);
	struct fric_error error;
	double out[2], v[2] = {1.25, 8};
	assert_ok(fric_contact_output(&serial, c, query(v), FRIC_PLANE_VERTEX, FRIC_OUT_ANCHOR, out, &error));
	assert_all_near(out, ((double[]){0.25, 0}), 2, 1e-16); /* slip 0.5, times 4: twice eps_v */
	assert_ok(fric_contact_output(&serial, c, query(v), FRIC_PLANE_VERTEX, FRIC_OUT_FRICTION_FORCE, out, &error));
	assert_all_near(out, ((double[]){-4, 0}), 2, 1e-16);
	fric_contacts_free(c);
}

/* Bonds keep all of their deflection until they break at 2 eps_v; this one is not within rounding of that. */
static void test_adhesion_keeps_anchors(void **state)
{
	struct fric_batch batch = floor_batch(two, 1, 2);
	struct fric_error error;
	double out[3];
	(void)state;
	batch.friction.law.type = FRIC_ADHESION;
	struct fric_contacts *c = prepared(&batch);
	const double speeds[] = {0.5, 1.5, 0x1.fffffffffffffp0, 2, 3}, kept[] = {0.5, 1.5, 0x1.fffffffffffffp0, 0, 0};
	for (int i = 0; i < 5; i++) {
		const double v[6] = {0, speeds[i], 0};
		assert_ok(fric_contact_output(&serial, c, query(v), FRIC_PLANE_VERTEX, FRIC_OUT_ANCHOR, out, &error));
		assert_near(out[1], kept[i], 0);
	}
	fric_contacts_free(c);
}

/* A drag adds 2/2 y^2 to any law, and its derivatives: weight * normal force is 2. */
static void test_drag(void **state)
{
	struct fric_batch batch = floor_batch(two, 1, 2);
	(void)state;
	batch.friction.law.viscous = 2;
	const struct answer a = ask(&batch, (double[]){0.3, -0.4, 1}), b = ask(&batch, (double[]){3, -4, 1});
	assert_near(a.potential, g0(0.5) + 2 * 0.25, 1e-15);
	assert_near(b.potential, 5 + 2 * 25, 1e-13);
	assert_all_near(a.force, ((double[]){-0.6 * (g1(0.5) + 2), 0.8 * (g1(0.5) + 2), 0}), 3, 1e-15);
	assert_all_near(b.gradient, ((double[]){0.6 * 21, -0.8 * 21, 0}), 3, 1e-14);
	assert_near(b.inner[0], 4 + 0.64 / 5, 1e-14); /* the law contributes only across the slip */
	assert_near(b.inner[1], 0.48 / 5, 1e-15);
	assert_near(b.status, 1, 0);
	batch.friction.law.viscous = 0;
	batch.groups[FRIC_PLANE_VERTEX].viscous = one_value(&drag_of_two);
	const struct answer own = ask(&batch, (double[]){0.3, -0.4, 1});
	assert_bits(own.potential, a.potential);
	assert_all_bits(own.force, a.force, 3);
}

/* The drag ignores anchors: it acts on the actual motion. */
static void test_drag_leaves_anchors_out(void **state)
{
	static const double anchor[3] = {0.5, 0, 0}, belt[3] = {0, 1, 0};
	struct fric_batch batch = floor_batch(two, 1, 2);
	(void)state;
	batch.groups[FRIC_PLANE_VERTEX].viscous = one_value(&drag_of_two);
	batch.groups[FRIC_PLANE_VERTEX].anchor = one_value(anchor);
	const struct answer resting = ask(&batch, (double[]){0, 0, 0});
	assert_near(resting.potential, g0(0.5), 1e-16);
	assert_all_near(resting.force, ((double[]){-g1(0.5), 0, 0}), 3, 1e-16);
	assert_near(resting.inner[0], 2 * (1 - 0.5) + 4, 1e-15);
	batch.groups[FRIC_PLANE_VERTEX].surface_velocity = one_value(belt);
	const struct answer driven = ask(&batch, (double[]){-0.5, 3, 0}); /* slip (0, 2); without the anchor (-0.5, 2) */
	assert_near(driven.potential, 2 + 2 * 4.25, 1e-14);
	assert_all_near(driven.force, ((double[]){4 * 0.5, -1 - 4 * 2, 0}), 3, 1e-14);
	assert_all_near(driven.gradient, ((double[]){-4 * 0.5, 1 + 4 * 2, 0}), 3, 1e-14);
}

/* If the law alone has a negative eigenvalue, the drag may make it positive. If it stays negative, it is projected. */
static void test_projection_sees_the_drag(void **state)
{
	struct fric_batch batch = floor_batch(two, 1, 2);
	struct fric_error error;
	const double v[6] = {0.8, 0, 0};
	double at[3][3][3]; /* [drag][projection] */
	const double drags[] = {0, 0.25, 100};
	(void)state;
	batch.friction.mu_k = 0.1;
	for (int d = 0; d < 3; d++) {
		batch.friction.law.viscous = drags[d];
		struct fric_contacts *c = prepared(&batch);
		for (enum fric_projection p = FRIC_PROJECT_NONE; p <= FRIC_PROJECT_ABS; p++)
			assert_ok(fric_hessian_inner(&serial, c, query(v), p, at[d][p], &error));
		fric_contacts_free(c);
	}
	/* along the slip, which is the second or the first axis of this floor's basis; the other eigenvalue is positive */
	const int along = at[0][0][0] < 0 ? 0 : 2, across = 2 - along;
	assert_true(at[0][0][along] < -0.6);
	for (int d = 1; d < 3; d++) {
		const double lifted = at[0][0][along] + 2 * drags[d];
		assert_near(at[d][FRIC_PROJECT_NONE][along], lifted, 1e-13);
		assert_near(at[d][FRIC_PROJECT_CLAMP][along], fmax(lifted, 0), 1e-13);
		assert_near(at[d][FRIC_PROJECT_ABS][along], fabs(lifted), 1e-13);
		assert_near(at[d][FRIC_PROJECT_CLAMP][across], at[0][0][across] + 2 * drags[d], 1e-13);
	}
}

/* Drag without coefficients, with sizes whose intermediate products leave the range of doubles. */
static void test_extreme_drags(void **state)
{
	struct fric_batch batch = floor_batch(two, 1, 2);
	struct fric_group *g = &batch.groups[FRIC_PLANE_VERTEX];
	const struct {
		double viscous, eps_v, force, v;
	} all[] = {{0x1p600, 1, 1, 0x1p-400},
	           {0x1p-600, 1, 1, 0x1p500},
	           {0x1p1000, 0x1p1000, 0x1p-300, 0x1p-800},
	           {0x1p-1000, 0x1p-700, 0x1p900, 0x1p300},
	           {0x1p-200, 0x1p-200, 0x1p-600, 0x1p700},
	           {0x1p300, 1, 0x1p300, 0x1p-550},
	           {0x1p-1060, 1, 0x1p600, 0x1p600}};
	(void)state;
	batch.friction.mu_s = batch.friction.mu_k = 0;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const long double s = all[i].force, nu = all[i].viscous, u = all[i].v;
		batch.friction.eps_v = all[i].eps_v;
		batch.friction.law.viscous = all[i].viscous;
		g->normal_force = one_value(&all[i].force);
		const struct answer a = ask(&batch, (double[]){all[i].v, 0, 0});
		const long double potential = s * nu * u * u / 2, force = s * nu * u, eigenvalue = s * nu;
		assert_code(a.code, eigenvalue < 0x1p1023L && potential < 0x1p1023L ? FRIC_OK : FRIC_E_NOT_FINITE);
		if (a.code != FRIC_OK)
			continue;
		assert_near(a.potential, potential, 1e-15L * potential);
		assert_near(a.force[0], -force, 1e-15L * force);
		assert_near(a.inner[0] + a.inner[2], 2 * eigenvalue, 3e-15L * eigenvalue);
	}
}

/* A slip, force or anchor that overflows is an error that names the contact. */
static void test_not_finite(void **state)
{
	static const double huge[3] = {-0x1.fp1023, 0, 0}, many = 0x1p1000;
	struct fric_batch batch = floor_batch(two, 2, 2);
	struct fric_error error;
	double v[6] = {0, 0, 0, 0x1p1000, 0, 0}, out[6], gradient[6];
	(void)state;
	batch.groups[FRIC_PLANE_VERTEX].surface_velocity = one_value(huge);
	struct fric_contacts *c = prepared(&batch);
	v[3] = 0x1.8p1023;
	assert_code(fric_evaluate(&serial, c, query(v), NULL, gradient, &error), FRIC_E_NOT_FINITE);
	assert_int_equal(error.contact, 1);
	assert_code(fric_contact_output(&serial, c, query(v), FRIC_PLANE_VERTEX, FRIC_OUT_ANCHOR, out, &error),
	            FRIC_E_NOT_FINITE);
	assert_int_equal(error.contact, 1);
	fric_contacts_free(c);
	batch.groups[FRIC_PLANE_VERTEX].surface_velocity.data = NULL;
	batch.groups[FRIC_PLANE_VERTEX].viscous = one_value(&many);
	c = prepared(&batch);
	v[3] = 0x1p500;
	assert_code(fric_contact_output(&serial, c, query(v), FRIC_PLANE_VERTEX, FRIC_OUT_FRICTION_FORCE, out, &error),
	            FRIC_E_NOT_FINITE);
	assert_int_equal(error.contact, 1);
	fric_contacts_free(c);
}

/* Drags of many contacts may overflow in the sum, although each of them is finite. */
static void test_sums_of_drags(void **state)
{
	static const int32_t same[2] = {0, 0};
	static const double large = 0x1p299, drag = 0x1p299;
	struct fric_batch batch = floor_batch(same, 2, 1);
	struct fric_error error;
	double v[3] = {0x1.8p425, 0, 0}, gradient[3];
	(void)state;
	batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&large);
	batch.groups[FRIC_PLANE_VERTEX].viscous = one_value(&drag);
	batch.friction.eps_v = 0x1p300;
	struct fric_contacts *c = prepared(&batch);
	assert_code(fric_evaluate(&serial, c, query(v), NULL, gradient, &error), FRIC_E_NOT_FINITE);
	assert_int_equal(error.contact, -1);
	v[0] /= 2;
	assert_ok(fric_evaluate(&serial, c, query(v), NULL, gradient, &error));
	assert_near(gradient[0], 0x1.8p1023, 0x1p980);
	fric_contacts_free(c);
}

/* A skipped contact gives zeros, even if its additions overflow. */
static void test_skipped(void **state)
{
	static const double huge[3] = {0x1.8p1023, 1, 1}, positions[6] = {1, 2, 3, 1, 2, 3};
	static const int32_t pair[2] = {0, 1};
	struct fric_batch batch = {.dim = 3, .n_vertices = 2, .positions = positions, .skip_degenerate = true};
	struct fric_error error;
	const double v[6] = {0x1.8p1023, 0, 0, -0x1.8p1023, 0, 0}, zeros[6] = {0};
	double potential, gradient[6], out[3];
	(void)state;
	batch.friction = (struct fric_friction){
		.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 1, .mu_k = 1, .law = {.viscous = 0x1p1000}};
	batch.groups[FRIC_VERTEX_VERTEX] = (struct fric_group){.n = 1,
	                                                       .vertices = pair,
	                                                       .normal_force = one_value(&unit_force),
	                                                       .surface_velocity = one_value(huge),
	                                                       .anchor = one_value(huge)};
	struct fric_contacts *c = prepared(&batch);
	assert_int_equal(fric_n_skipped(c), 1);
	assert_ok(fric_evaluate(&serial, c, query(v), &potential, gradient, &error));
	assert_near(potential, 0, 0);
	assert_all_near(gradient, zeros, 6, 0);
	for (enum fric_output o = FRIC_OUT_FRICTION_FORCE; o <= FRIC_OUT_ANCHOR; o++) {
		assert_ok(fric_contact_output(&serial, c, query(v), FRIC_VERTEX_VERTEX, o, out, &error));
		assert_all_near(out, zeros, 3, 0);
	}
	fric_contacts_free(c);
}

/* The direction for the matchstick is taken from the whole lagged slip, including anchor and surface velocity. */
static void test_direction_of_the_lagged_slip(void **state)
{
	static const double belt[3] = {0, 1, 0}, anchor[3] = {0, 4, 0}, ellipse[2] = {0.25, 0.75};
	struct fric_batch batch = floor_batch(two, 1, 2);
	struct fric_error error;
	const double lagged[6] = {3, 1, 0};
	double mu[2], basis[6];
	(void)state;
	batch.groups[FRIC_PLANE_VERTEX].surface_velocity = one_value(belt);
	batch.groups[FRIC_PLANE_VERTEX].anchor = one_value(anchor);
	batch.groups[FRIC_PLANE_VERTEX].mu_s_aniso = one_value(ellipse);
	struct fric_contacts *c = prepared(&batch);
	struct fric_state *made;
	assert_ok(fric_state_create(&serial, c, lagged, &made, &error));
	const struct fric_query q = {.velocities = lagged, .state = made};
	assert_ok(fric_contact_output(&serial, c, &q, FRIC_PLANE_VERTEX, FRIC_OUT_MU_S, mu, &error));
	assert_ok(fric_contact_output(&serial, c, &q, FRIC_PLANE_VERTEX, FRIC_OUT_TANGENT_BASIS, basis, &error));
	const double first = basis[0] * 0.6 + basis[2] * 0.8, second = basis[1] * 0.6 + basis[3] * 0.8; /* slip (3, 4, 0) */
	assert_near(mu[0], hypot(0.25 * first, 0.75 * second), 1e-15);
	fric_state_free(made);
	fric_contacts_free(c);
}

/* Below 1e-10 of its own eps_v, a contact has the direction that it has at rest. */
static void test_directions_at_rest(void **state)
{
	static const double eps_v[3] = {1, 1e-4, 1}, ellipse[2] = {0.25, 0.75};
	static const int32_t three[3] = {0, 1, 2};
	const double lagged[9] = {3e-13, 4e-13, 0, 3e-13, 4e-13, 0, 3, 4, 0};
	struct fric_batch batch = floor_batch(three, 3, 3);
	struct fric_error error;
	struct fric_state *made;
	double mu[3], basis[18];
	(void)state;
	batch.groups[FRIC_PLANE_VERTEX].eps_v = (struct fric_values){eps_v, 1};
	batch.groups[FRIC_PLANE_VERTEX].mu_s_aniso = one_value(ellipse);
	struct fric_contacts *c = prepared(&batch);
	assert_ok(fric_state_create(&serial, c, lagged, &made, &error));
	const struct fric_query q = {.velocities = lagged, .state = made};
	assert_ok(fric_contact_output(&serial, c, &q, FRIC_PLANE_VERTEX, FRIC_OUT_MU_S, mu, &error));
	assert_ok(fric_contact_output(&serial, c, &q, FRIC_PLANE_VERTEX, FRIC_OUT_TANGENT_BASIS, basis, &error));
	const double first = basis[0] * 0.6 + basis[2] * 0.8, second = basis[1] * 0.6 + basis[3] * 0.8;
	assert_near(mu[0], 0.25, 0);
	assert_near(mu[1], hypot(0.25 * first, 0.75 * second), 1e-15);
	assert_near(mu[2], mu[1], 1e-15);
	fric_state_free(made);
	fric_contacts_free(c);
}

/* The force acts on both sides of a stencil, according to the weights, and the surface moves with the second side. */
static void test_stencils(void **state)
{
	static const double belt[3] = {0.1, -0.2, 0.3}, anchor[3] = {-0.3, 0.2, 0.1};
	struct fric_batch batch = corner_batch();
	struct fric_error error;
	double v[24], gradient[24], sum[24] = {0};
	(void)state;
	batch.friction.law.viscous = 0.5;
	for (int i = 0; i < 24; i++)
		v[i] = 0.05 * i * (i % 3 - 1);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		batch.groups[type].surface_velocity = one_value(belt);
		batch.groups[type].anchor = one_value(anchor);
	}
	struct fric_contacts *c = prepared(&batch);
	assert_ok(fric_evaluate(&serial, c, query(v), NULL, gradient, &error));
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		double w[4], force[3];
		assert_ok(fric_stencil_weights(&serial, c, type, w, &error));
		assert_ok(fric_contact_output(&serial, c, query(v), type, FRIC_OUT_FRICTION_FORCE, force, &error));
		for (int k = 0; k < fric_stencil_size(type); k++)
			for (int d = 0; d < 3; d++)
				sum[3 * corner_stencils[type][k] + d] -= w[k] * force[d];
	}
	assert_all_near(gradient, sum, 24, 1e-14);
	fric_contacts_free(c);
}

/* Contacts without surface velocities, anchors and drags take no memory for them. */
static size_t taken;

static void *take(void *pool, size_t bytes)
{
	(void)pool;
	taken += bytes;
	return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void give(void *pool, void *block, size_t bytes)
{
	(void)pool;
	(void)bytes;
	free(block);
}

static size_t memory_of(const struct fric_batch *batch)
{
	const struct fric_memory memory = {take, give, NULL};
	const struct fric_context context = {.n_threads = 1, .memory = &memory};
	struct fric_contacts *c;
	struct fric_error error;
	taken = 0;
	assert_ok(fric_prepare(&context, batch, &c, &error));
	fric_contacts_free(c);
	return taken;
}

static void test_memory(void **state)
{
	enum { N = 1000 };
	int32_t vertices[N];
	static double rows[3 * N];
	(void)state;
	for (int i = 0; i < N; i++)
		vertices[i] = i;
	struct fric_batch batch = floor_batch(vertices, N, N);
	struct fric_group *g = &batch.groups[FRIC_PLANE_VERTEX];
	const size_t plain = memory_of(&batch);
	g->surface_velocity = one_value(rows);
	const size_t one_for_all = memory_of(&batch);
	g->surface_velocity = (struct fric_values){rows, 3};
	const size_t one_each = memory_of(&batch);
	g->anchor = (struct fric_values){rows, 3};
	g->viscous = one_value(&half);
	const size_t all = memory_of(&batch);
	assert_true(one_for_all > plain && one_for_all < plain + 3 * 1024);
	assert_true(one_each >= plain + 3 * N * sizeof(double));
	assert_true(all >= one_each + 3 * N * sizeof(double));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conveyor),
		cmocka_unit_test(test_anchor),
		cmocka_unit_test(test_plane),
		cmocka_unit_test(test_adhesion_keeps_anchors),
		cmocka_unit_test(test_drag),
		cmocka_unit_test(test_drag_leaves_anchors_out),
		cmocka_unit_test(test_projection_sees_the_drag),
		cmocka_unit_test(test_extreme_drags),
		cmocka_unit_test(test_not_finite),
		cmocka_unit_test(test_sums_of_drags),
		cmocka_unit_test(test_skipped),
		cmocka_unit_test(test_direction_of_the_lagged_slip),
		cmocka_unit_test(test_directions_at_rest),
		cmocka_unit_test(test_stencils),
		cmocka_unit_test(test_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

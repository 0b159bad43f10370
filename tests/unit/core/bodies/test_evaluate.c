/* Contacts of bodies, by hand: slip, spin and rolling, the resulting forces and torques, and which contact is named in
 * case of a fault. */
#include "tests/unit/core/batches.h"

enum { MOST = 400 };
static const double pi = 3.14159265358979323846;

/* A body that touches the floor z = 0 at distance 1 below its reference point; mu 0.5, eps_v 1, normal force 2. */
struct ball {
	int32_t bodies[2];
	double position[6], point[3], normal[3], spin_radius, roll_radius;
	struct fric_batch batch;
};

static struct fric_batch *ball_batch(struct ball *b, int dim)
{
	*b = (struct ball){.bodies = {0, 1},
	                   .position = {1, 2, 1, 5, 2, -3},
	                   .point = {1, 2, 0},
	                   .normal = {0, 0, 4},
	                   .spin_radius = 0.5,
	                   .roll_radius = 0.25};
	if (dim == 2) {
		const double position[4] = {1, 1, 5, -3}, point[2] = {1, 0}, normal[2] = {0, 4};
		memcpy(b->position, position, sizeof(position));
		memcpy(b->point, point, sizeof(point));
		memcpy(b->normal, normal, sizeof(normal));
	}
	b->batch = (struct fric_batch){.dim = dim, .n_bodies = 2, .body_positions = b->position};
	b->batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5};
	b->batch.groups[FRIC_BODY_WORLD] = (struct fric_group){.n = 1,
	                                                       .vertices = b->bodies,
	                                                       .normal_force = {&force_of_two, 0},
	                                                       .point = {b->point, 0},
	                                                       .normal = {b->normal, 0},
	                                                       .roll_radius = {&b->roll_radius, 0}};
	if (dim == 3)
		b->batch.groups[FRIC_BODY_WORLD].spin_radius = (struct fric_values){&b->spin_radius, 0};
	return &b->batch;
}

/* Turns the batch's one contact into one between the bodies. */
static void between_bodies(struct fric_batch *batch)
{
	batch->groups[FRIC_BODY_BODY] = batch->groups[FRIC_BODY_WORLD];
	batch->groups[FRIC_BODY_WORLD] = (struct fric_group){0};
}

static void output_of(const struct fric_contacts *c, const double *v, enum fric_type type, enum fric_output output,
                      double *out)
{
	struct fric_error error;
	assert_ok(fric_contact_output(&serial, c, query(v), type, output, out, &error));
}

static void test_counts(void **state)
{
	struct ball ball;
	struct fric_contacts *c = prepared(ball_batch(&ball, 3));
	(void)state;
	assert_int_equal(fric_n_vertices(c), 0);
	assert_int_equal(fric_n_bodies(c), 2);
	assert_int_equal(fric_n_dofs(c), 12);
	assert_int_equal(fric_n_contacts(c), 1);
	assert_int_equal(fric_group_size(c, FRIC_BODY_WORLD), 1);
	assert_int_equal(fric_group_size(c, FRIC_BODY_BODY), 0);
	assert_int_equal(fric_n_inner(c), 15);
	assert_int_equal(fric_body_inner_size(2), 3);
	assert_true(fric_has_output(c, FRIC_BODY_WORLD, FRIC_OUT_SPIN));
	assert_true(fric_has_output(c, FRIC_BODY_WORLD, FRIC_OUT_ROLLING));
	assert_false(fric_has_output(c, FRIC_PLANE_VERTEX, FRIC_OUT_SPIN));
	assert_false(fric_has_output(c, FRIC_BODY_WORLD, FRIC_OUT_DISTANCE));
	assert_false(fric_has_output(c, FRIC_BODY_WORLD, FRIC_OUT_CLOSEST_POINT));
	fric_contacts_free(c);
	c = prepared(ball_batch(&ball, 2));
	assert_int_equal(fric_n_dofs(c), 6);
	assert_int_equal(fric_n_inner(c), 3);
	assert_false(fric_has_output(c, FRIC_BODY_WORLD, FRIC_OUT_SPIN));
	assert_true(fric_has_output(c, FRIC_BODY_WORLD, FRIC_OUT_ROLLING));
	fric_contacts_free(c);
}

/* A ball of radius 1 slides along x at 3 without turning: the force is mu N against the motion, with a torque about the
 * centre. */
static void test_sliding_ball(void **state)
{
	const double v[12] = {3, 0, 0, 0, 0, 0}, expected[12] = {1, 0, 0, 0, -1, 0};
	double gradient[12], potential;
	struct ball ball;
	struct fric_error error;
	struct fric_contacts *c = prepared(ball_batch(&ball, 3));
	(void)state;
	assert_ok(fric_evaluate(&serial, c, query(v), &potential, gradient, &error));
	assert_all_near(gradient, expected, 12, 1e-15);
	assert_near(potential, 3, 1e-15);
	fric_contacts_free(c);
}

/* Rolling without slipping, w = (0, v, 0), leaves only rolling resistance: P^T w has length 3, and S is 0.25 times
 * that. */
static void test_rolling_ball(void **state)
{
	const double v[12] = {3, 0, 0, 0, 3, 0}, z = 0.75, force = 2 * 0.5 * (2 * z - z * z);
	const double expected[12] = {0, 0, 0, 0, 0.25 * force, 0};
	double gradient[12], out[2], basis[6];
	struct ball ball;
	struct fric_error error;
	struct fric_contacts *c = prepared(ball_batch(&ball, 3));
	(void)state;
	assert_ok(fric_evaluate(&serial, c, query(v), NULL, gradient, &error));
	assert_all_near(gradient, expected, 12, 1e-15);
	output_of(c, v, FRIC_BODY_WORLD, FRIC_OUT_TANGENTIAL_VELOCITY, out);
	assert_true(out[0] == 0 && out[1] == 0);
	output_of(c, v, FRIC_BODY_WORLD, FRIC_OUT_TANGENT_BASIS, basis);
	output_of(c, v, FRIC_BODY_WORLD, FRIC_OUT_ROLLING, out);
	for (int t = 0; t < 2; t++)
		assert_near(out[t], basis[2 + t] * 3, 1e-15);
	output_of(c, v, FRIC_BODY_WORLD, FRIC_OUT_SLIP_RATIO, out);
	assert_near(out[0], z, 1e-15);
	fric_contacts_free(c);
}

/* The ball spins about the normal at 4, and S is 0.5 times that. */
static void test_spinning_ball(void **state)
{
	const double v[12] = {0, 0, 0, 0, 0, 4}, expected[12] = {0, 0, 0, 0, 0, 0.5};
	double gradient[12], spin, status;
	struct ball ball;
	struct fric_error error;
	struct fric_contacts *c = prepared(ball_batch(&ball, 3));
	(void)state;
	assert_ok(fric_evaluate(&serial, c, query(v), NULL, gradient, &error));
	assert_all_near(gradient, expected, 12, 1e-15);
	output_of(c, v, FRIC_BODY_WORLD, FRIC_OUT_SPIN, &spin);
	output_of(c, v, FRIC_BODY_WORLD, FRIC_OUT_STATUS, &status);
	assert_near(spin, 4, 0);
	assert_near(status, 1, 0);
	fric_contacts_free(c);
}

/* Sliding and spinning add up in one slip: u = 3, spin_radius * 8 = 4, together 5. */
static void test_one_budget(void **state)
{
	const double v[12] = {3, 0, 0, 0, 0, 8}, expected[12] = {0.6, 0, 0, 0, -0.6, 0.8 * 0.5};
	double gradient[12], force[3];
	struct ball ball;
	struct fric_error error;
	struct fric_contacts *c = prepared(ball_batch(&ball, 3));
	(void)state;
	assert_ok(fric_evaluate(&serial, c, query(v), NULL, gradient, &error));
	assert_all_near(gradient, expected, 12, 1e-15);
	output_of(c, v, FRIC_BODY_WORLD, FRIC_OUT_FRICTION_FORCE, force);
	assert_near(force[0], -0.6, 1e-15);
	assert_true(force[1] == 0 && force[2] == 0);
	fric_contacts_free(c);
}

/* In 2D a positive w turns x towards y, so a wheel with v = 3 and w = -3 rolls on the floor below it. */
static void test_wheel(void **state)
{
	const double sliding[6] = {3, 0, 0}, rolling[6] = {3, 0, -3}, z = 0.75, force = 2 * z - z * z;
	const double slid[6] = {1, 0, 1}, rolled[6] = {0, 0, -0.25 * force};
	double gradient[6], out;
	struct ball ball;
	struct fric_error error;
	struct fric_contacts *c = prepared(ball_batch(&ball, 2));
	(void)state;
	assert_ok(fric_evaluate(&serial, c, query(sliding), NULL, gradient, &error));
	assert_all_near(gradient, slid, 6, 1e-15);
	assert_ok(fric_evaluate(&serial, c, query(rolling), NULL, gradient, &error));
	assert_all_near(gradient, rolled, 6, 1e-15);
	output_of(c, rolling, FRIC_BODY_WORLD, FRIC_OUT_ROLLING, &out);
	assert_near(out, -3, 0);
	fric_contacts_free(c);
}

/* The opposite force acts on the second body, with an arm of its own: from (5, 2, -3) to (1, 2, 0), so (-4, 0, 3). */
static void test_second_body(void **state)
{
	const double v[12] = {3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, expected[12] = {1, 0, 0, 0, -1, 0, -1, 0, 0, 0, -3, 0};
	double gradient[12];
	struct ball ball;
	struct fric_error error;
	between_bodies(ball_batch(&ball, 3));
	struct fric_contacts *c = prepared(&ball.batch);
	(void)state;
	assert_ok(fric_evaluate(&serial, c, query(v), NULL, gradient, &error));
	assert_all_near(gradient, expected, 12, 1e-15);
	fric_contacts_free(c);
}

/* J^T A J with all entries known: at rest A = 2 s mu / eps_v I. */
static void test_factors_at_rest(void **state)
{
	static const double rest[12];
	double jacobian[60], inner[15];
	struct ball ball;
	struct fric_error error;
	struct fric_contacts *c = prepared(ball_batch(&ball, 3));
	struct fric_factors factors = {.inner = {[FRIC_BODY_WORLD] = inner}, .jacobian = {[FRIC_BODY_WORLD] = jacobian}};
	(void)state;
	assert_ok(fric_hessian_factors(&serial, c, query(rest), FRIC_PROJECT_NONE, &factors, &error));
	for (int r = 0, e = 0; r < 5; r++)
		for (int t = r; t < 5; t++, e++)
			assert_near(inner[e], r == t ? 2 : 0, 1e-15);
	for (int e = 0; e < 6; e++) /* spin */
		assert_near(jacobian[2 * 6 + e], e == 5 ? 0.5 : 0, 0);
	for (int e = 0; e < 3; e++) /* rolling depends only on rotation */
		assert_true(jacobian[3 * 6 + e] == 0 && jacobian[4 * 6 + e] == 0);
	assert_near(hypot(jacobian[3 * 6 + 3], jacobian[3 * 6 + 4]), 0.25, 1e-15);
	fric_contacts_free(c);
}

/* At rest A = s I, so a product is s mu_aniso^2 times the direction, even if s mu_aniso times the direction overflows
 * or underflows. */
static void product_of(double normal_force, double aniso, double along, double expected)
{
	const double rest[12] = {0}, direction[12] = {along}, axes[2] = {aniso, aniso};
	double product[12];
	struct ball ball;
	struct fric_error error;
	ball_batch(&ball, 3);
	ball.batch.groups[FRIC_BODY_WORLD].normal_force = (struct fric_values){&normal_force, 0};
	ball.batch.groups[FRIC_BODY_WORLD].mu_aniso = (struct fric_values){axes, 0};
	struct fric_contacts *c = prepared(&ball.batch);
	assert_ok(fric_hessian_products(&serial, c, query(rest), FRIC_PROJECT_NONE, 1, direction, product, &error));
	assert_near(product[0], expected, 1e-15 * fabs(expected));
	assert_near(product[4], -expected, 1e-15 * fabs(expected));
	fric_contacts_free(c);
}

static void test_products_that_pass_through_extremes(void **state)
{
	(void)state;
	product_of(0x1p+600, 0x1p-500, 0x1p+1000, 0x1p+600);
	product_of(0x1p-600, 0x1p+500, 0x1.23456789abcdp-970, 0x1.23456789abcdp-570);
}

static void test_material_table(void **state)
{
	const int32_t material[2] = {2, 1};
	const double table[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
	double mu;
	struct ball ball;
	(void)state;
	ball_batch(&ball, 3);
	ball.batch.friction = (struct fric_friction){.eps_v = 1,
	                                             .source = FRIC_MU_TABLE,
	                                             .body_material = material,
	                                             .plane_material = 0,
	                                             .n_materials = 3,
	                                             .material_mu_s = table,
	                                             .material_mu_k = table};
	struct fric_contacts *c = prepared(&ball.batch);
	output_of(c, (double[12]){0}, FRIC_BODY_WORLD, FRIC_OUT_MU_S, &mu);
	assert_near(mu, 2, 0);
	fric_contacts_free(c);
	between_bodies(&ball.batch);
	c = prepared(&ball.batch);
	output_of(c, (double[12]){0}, FRIC_BODY_BODY, FRIC_OUT_MU_K, &mu);
	assert_near(mu, 4, 0);
	fric_contacts_free(c);
}

/* ---- faults ---- */

/* Three balls on the floor, of which the last two have faults; the second one is named. */
static void test_the_first_fault_is_named(void **state)
{
	const int32_t bodies[3] = {0, 1, 1};
	const double v[12] = {1, 0, 0, 0, 0, 0, 1e308, 0, 0, 0, 1e308, 0};
	double forces[3] = {1, 1, 1}, gradient[12];
	struct ball ball;
	struct fric_error error;
	(void)state;
	ball_batch(&ball, 3);
	struct fric_group *g = &ball.batch.groups[FRIC_BODY_WORLD];
	g->n = 3;
	g->vertices = bodies;
	g->normal_force = (struct fric_values){forces, 1};
	struct fric_contacts *c = prepared(&ball.batch);
	assert_code(fric_evaluate(&serial, c, query(v), NULL, gradient, &error), FRIC_E_NOT_FINITE);
	assert_int_equal(error.group, FRIC_BODY_WORLD);
	assert_int_equal(error.contact, 1);
	assert_code(fric_contact_output(&serial, c, query(v), FRIC_BODY_WORLD, FRIC_OUT_SLIP_RATIO, gradient, &error),
	            FRIC_E_NOT_FINITE);
	assert_int_equal(error.contact, 1);
	fric_contacts_free(c);
}

/* A sum overflows although no contact does. */
static void test_no_contact_is_to_blame_for_a_sum(void **state)
{
	const int32_t bodies[2] = {0, 0};
	const double v[12] = {1e3}, force = 1.7e308;
	double gradient[12];
	struct ball ball;
	struct fric_error error;
	(void)state;
	ball_batch(&ball, 3);
	ball.batch.groups[FRIC_BODY_WORLD].n = 2;
	ball.batch.groups[FRIC_BODY_WORLD].vertices = bodies;
	ball.batch.groups[FRIC_BODY_WORLD].normal_force = (struct fric_values){&force, 0};
	ball.batch.friction.mu_s = ball.batch.friction.mu_k = 0.9;
	struct fric_contacts *c = prepared(&ball.batch);
	assert_code(fric_evaluate(&serial, c, query(v), NULL, gradient, &error), FRIC_E_NOT_FINITE);
	assert_int_equal(error.contact, -1);
	fric_contacts_free(c);
}

static void test_arms_that_do_not_fit(void **state)
{
	struct ball ball;
	struct fric_error error;
	struct fric_contacts *c;
	(void)state;
	ball_batch(&ball, 3);
	ball.position[1] = -1.5e308;
	ball.point[1] = 1.5e308;
	assert_code(fric_prepare(&serial, &ball.batch, &c, &error), FRIC_E_NOT_FINITE);
	assert_int_equal(error.group, FRIC_BODY_WORLD);
	assert_int_equal(error.contact, 0);
	assert_null(c);
}

/* A contact whose grain is parallel to the normal is skipped: it contributes nothing, and the others are unaffected. */
static void test_skipped(void **state)
{
	static const double grain[6] = {1, 0, 0, 0, 0, 1};
	const int32_t bodies[2] = {0, 1};
	const double v[12] = {3, 0, 0, 1, 1, 1, 3, 0, 0, 1, 1, 1};
	double gradient[12], rolling[4], jacobian[60], inner[30];
	struct ball ball;
	struct fric_error error;
	struct fric_contacts *c;
	struct fric_factors factors = {.inner = {[FRIC_BODY_WORLD] = inner}, .jacobian = {[FRIC_BODY_WORLD] = jacobian}};
	(void)state;
	ball_batch(&ball, 3);
	struct fric_group *g = &ball.batch.groups[FRIC_BODY_WORLD];
	g->n = 2;
	g->vertices = bodies;
	g->grain = (struct fric_values){grain, 3};
	assert_code(fric_prepare(&serial, &ball.batch, &c, &error), FRIC_E_GRAIN_ALONG_NORMAL);
	assert_int_equal(error.group, FRIC_BODY_WORLD);
	assert_int_equal(error.contact, 1);
	ball.batch.skip_degenerate = true;
	c = prepared(&ball.batch);
	assert_int_equal(fric_n_skipped(c), 1);
	assert_code(fric_skipped(c, FRIC_BODY_WORLD, 1), FRIC_E_GRAIN_ALONG_NORMAL);
	assert_ok(fric_evaluate(&serial, c, query(v), NULL, gradient, &error));
	assert_true(gradient[0] > 0);
	output_of(c, v, FRIC_BODY_WORLD, FRIC_OUT_ROLLING, rolling);
	assert_ok(fric_hessian_factors(&serial, c, query(v), FRIC_PROJECT_NONE, &factors, &error));
	for (int e = 0; e < 6; e++)
		assert_bits(gradient[6 + e], 0);
	assert_true(rolling[2] == 0 && rolling[3] == 0);
	for (int e = 0; e < 30; e++)
		assert_bits(jacobian[30 + e], 0);
	for (int e = 0; e < 15; e++)
		assert_true(inner[15 + e] == 0);
	fric_contacts_free(c);
}

/* ---- Coulomb's disc ---- */

/* Force and torque of a disc of radius 1 under uniform pressure that slides at v and spins at w, integrated over the
 * disc by a midpoint rule that is so fine that its error does not matter. */
static void disc_by_quadrature(double v, double w, double *force, double *torque)
{
	enum { RINGS = 500, SECTORS = 500 };
	*force = *torque = 0;
	for (int i = 0; i < RINGS; i++)
		for (int j = 0; j < SECTORS; j++) {
			const double r = (i + 0.5) / RINGS, a = 2 * pi * (j + 0.5) / SECTORS,
						 area = 2 * r / (RINGS * (double)SECTORS);
			const double x = v - w * r * sin(a), y = w * r * cos(a), speed = hypot(x, y);
			*force += area * x / speed;
			*torque += area * r * (y * cos(a) - x * sin(a)) / speed;
		}
}

static void test_disc_of_many_contacts(void **state)
{
	static int32_t bodies[MOST];
	static double points[MOST * 3];
	static const double up[3] = {0, 0, 1}, origin[3] = {0};
	const double share = 1.0 / MOST, speeds[][2] = {{1, 0}, {1, 0.5}, {1, 0.75}, {1, 1.5}, {1, 2}, {0.5, 3}, {0, 1}};
	struct fric_batch batch = {.dim = 3, .n_bodies = 1, .body_positions = origin};
	struct fric_error error;
	(void)state;
	for (int i = 0; i < MOST; i++) { /* at the centroids of cells of equal area: 10 rings of 4, 12, 20, .. */
		const int ring = (int)(sqrt(i / 4.0) + 1e-9), first = 4 * ring * ring, n = 4 * (2 * ring + 1);
		const double in = ring / 10.0, out = (ring + 1) / 10.0, a = 2 * pi * (i - first + 0.5) / n;
		const double r = (out * out * out - in * in * in) / (out * out - in * in) * 2 / 3;
		points[3 * i] = r * cos(a);
		points[3 * i + 1] = r * sin(a);
	}
	batch.friction = (struct fric_friction){.eps_v = 1e-9, .source = FRIC_MU_SCALAR, .mu_s = 1, .mu_k = 1};
	batch.groups[FRIC_BODY_WORLD] = (struct fric_group){
		.n = MOST, .vertices = bodies, .normal_force = {&share, 0}, .point = {points, 3}, .normal = {up, 0}};
	struct fric_contacts *c = prepared(&batch);
	for (size_t k = 0; k < sizeof(speeds) / sizeof(speeds[0]); k++) {
		const double v[6] = {speeds[k][0], 0, 0, 0, 0, speeds[k][1]};
		double gradient[6], force, torque;
		disc_by_quadrature(v[0], v[5], &force, &torque);
		assert_ok(fric_evaluate(&serial, c, query(v), NULL, gradient, &error));
		assert_near(gradient[0], force, 1e-3);
		assert_near(gradient[5], torque, 1e-3);
		assert_near(gradient[1], 0, 1e-3);
	}
	fric_contacts_free(c);
}

/* A single contact with spin_radius 2R/3 has the torque of a disc that spins without sliding. */
static void test_disc_of_one_contact(void **state)
{
	const double v[12] = {0, 0, 0, 0, 0, 5};
	double gradient[12], force, torque;
	struct ball ball;
	struct fric_error error;
	(void)state;
	ball_batch(&ball, 3);
	ball.spin_radius = 2.0 / 3;
	struct fric_contacts *c = prepared(&ball.batch);
	disc_by_quadrature(0, 5, &force, &torque);
	assert_ok(fric_evaluate(&serial, c, query(v), NULL, gradient, &error));
	assert_near(gradient[5], torque, 1e-5);
	fric_contacts_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_sliding_ball),
		cmocka_unit_test(test_rolling_ball),
		cmocka_unit_test(test_spinning_ball),
		cmocka_unit_test(test_one_budget),
		cmocka_unit_test(test_wheel),
		cmocka_unit_test(test_second_body),
		cmocka_unit_test(test_factors_at_rest),
		cmocka_unit_test(test_products_that_pass_through_extremes),
		cmocka_unit_test(test_material_table),
		cmocka_unit_test(test_the_first_fault_is_named),
		cmocka_unit_test(test_no_contact_is_to_blame_for_a_sum),
		cmocka_unit_test(test_arms_that_do_not_fit),
		cmocka_unit_test(test_skipped),
		cmocka_unit_test(test_disc_of_many_contacts),
		cmocka_unit_test(test_disc_of_one_contact),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

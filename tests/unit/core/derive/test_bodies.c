/* Derivatives at contacts of bodies: values by hand, cases where they are zero, the contact named in case of a fault,
 * and independence of the number of threads. tests/property compares them with differences. */
#include <stdio.h>

#include "tests/property/differentials.h"
#include "tests/share.h"
#include "tests/unit/core/batches.h"

/* A ball that touches the floor z = 0 at distance 1 below its reference point; mu 0.5, eps_v 1, normal force 2. It
 * slides at 3 along x and spins at 8: with spin radius 0.5, |S| = 5 and the potential is 5. */
struct ball {
	int32_t body;
	double position[3], point[3], normal[3], grain[3], spin_radius, roll_radius, mu_aniso[2], ellipse[2];
	double normal_force, velocities[6];
	struct fric_batch batch;
};

static void ball_batch(struct ball *b)
{
	*b = (struct ball){.position = {1, 2, 1},
	                   .point = {1, 2, 0},
	                   .normal = {0, 0, 4},
	                   .grain = {1, 0, 0},
	                   .spin_radius = 0.5,
	                   .roll_radius = 0.25,
	                   .mu_aniso = {1, 1},
	                   .ellipse = {0.75, 0.25},
	                   .normal_force = 2,
	                   .velocities = {3, 0, 0, 0, 0, 8}};
	b->batch = (struct fric_batch){.dim = 3, .n_bodies = 1, .body_positions = b->position};
	b->batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5};
	b->batch.groups[FRIC_BODY_WORLD] = (struct fric_group){.n = 1,
	                                                       .vertices = &b->body,
	                                                       .normal_force = {&b->normal_force, 1},
	                                                       .point = {b->point, 3},
	                                                       .normal = {b->normal, 3},
	                                                       .mu_aniso = {b->mu_aniso, 2},
	                                                       .grain = {b->grain, 3},
	                                                       .spin_radius = {&b->spin_radius, 1},
	                                                       .roll_radius = {&b->roll_radius, 1}};
}

/* A prepared ball and a query at its own velocities. The flags choose whether the directions of effective coefficients
 * at vertices and at bodies follow the slip. */
struct asked {
	struct fric_contacts *contacts;
	struct fric_state *state;
	struct fric_query query;
	struct fric_derivation derivation;
};

static void ask(const struct ball *b, bool vertices_follow, bool bodies_follow, struct asked *a)
{
	struct fric_error error;
	*a = (struct asked){.contacts = prepared(&b->batch)};
	assert_ok(fric_state_create(&serial, a->contacts, b->velocities, &a->state, &error));
	a->query = (struct fric_query){.velocities = b->velocities, .state = a->state};
	a->derivation = (struct fric_derivation){.batch = &b->batch,
	                                         .contacts = a->contacts,
	                                         .query = &a->query,
	                                         .slip_velocities = a->state ? b->velocities : NULL,
	                                         .vertices_follow = vertices_follow,
	                                         .bodies_follow = bodies_follow};
}

static void done(struct asked *a)
{
	fric_state_free(a->state);
	fric_contacts_free(a->contacts);
}

/* Tangents of potential and gradient. */
static enum fric_code forwards(const struct asked *a, const struct fric_differential *tangents, double out[7],
                               struct fric_error *error)
{
	double potential, gradient[6];
	const enum fric_code code = fric_jvp(&serial, &a->derivation, tangents, &potential, gradient, out, out + 1, error);
	if (code == FRIC_OK)
		assert_near(potential, 5, 1e-14);
	return code;
}

static enum fric_code backwards(const struct asked *a, double psi, const double *cotangent,
                                const struct fric_differential *cotangents)
{
	double potential, gradient[6];
	struct fric_error error;
	return fric_vjp(&serial, &a->derivation, psi, cotangent, &potential, gradient, cotangents, &error);
}

static void assert_vector(const double *x, double a, double b, double c)
{
	const double expected[3] = {a, b, c};
	assert_all_near(x, expected, 3, 1e-14);
}

/* D = |S| = sqrt(|v + w x r|^2 + (0.5 w_z)^2), and its derivatives with respect to all inputs. */
static void test_derivatives_of_the_potential(void **state)
{
	struct ball b;
	struct asked a;
	double v[6], position[3], point[3], normal[3], grain[3], spin, roll, aniso[2], force;
	struct fric_differential out = {.fields = {[FRIC_WRT_VELOCITIES] = v, [FRIC_WRT_BODY_POSITIONS] = position}};
	double **rows = out.rows[FRIC_BODY_WORLD];
	(void)state;
	rows[FRIC_ROW_POINT] = point;
	rows[FRIC_ROW_NORMAL] = normal;
	rows[FRIC_ROW_GRAIN] = grain;
	rows[FRIC_ROW_SPIN_RADIUS] = &spin;
	rows[FRIC_ROW_ROLL_RADIUS] = &roll;
	rows[FRIC_ROW_MU_ANISO] = aniso;
	rows[FRIC_ROW_NORMAL_FORCE] = &force;
	ball_batch(&b);
	ask(&b, false, false, &a);
	assert_ok(backwards(&a, 1, NULL, &out));
	assert_vector(v, 0.6, 0, 0);
	assert_vector(v + 3, 0, -0.6, 0.4); /* r x force, and spin_radius * 4/5 */
	assert_vector(position, 0, 4.8, 0);
	assert_vector(point, 0, -4.8, 0);
	assert_vector(normal, 0, 0, 0);
	assert_vector(grain, 0, 0, 0);
	assert_near(spin, 6.4, 1e-14);
	assert_near(roll, 0, 1e-14);
	assert_near(aniso[0], 1.8, 1e-14);
	assert_near(aniso[1], 0, 1e-14);
	assert_near(force, 2.5, 1e-14);
	done(&a);
}

/* The derivatives of the force 3/|S| and the torque 0.25 * 8/|S| with respect to the spin radius. */
static void test_radius_forwards_and_backwards(void **state)
{
	struct ball b;
	struct asked a;
	struct fric_error error;
	double one = 1, spin, tangent[7];
	struct fric_differential d = {.fields = {0}};
	(void)state;
	ball_batch(&b);
	ask(&b, false, false, &a);
	d.rows[FRIC_BODY_WORLD][FRIC_ROW_SPIN_RADIUS] = &one;
	assert_ok(forwards(&a, &d, tangent, &error));
	assert_near(tangent[0], 6.4, 1e-14);
	assert_vector(tangent + 1, -0.768, 0, 0);
	assert_vector(tangent + 4, 0, 0.768, 1.088);
	d.rows[FRIC_BODY_WORLD][FRIC_ROW_SPIN_RADIUS] = &spin;
	assert_ok(backwards(&a, 0, (double[]){1, 0, 0, 0, 0, 10}, &d));
	assert_near(spin, 10.88 - 0.768, 1e-13);
	done(&a);
}

/* The slip of a ball whose arm is (0, 0, -1), in 113 bits: S = (v_x - w_y, v_y + w_x, R w_z, r w_x, r w_y). */
static void slip_of(const struct ball *b, const double *v, __float128 slip[5])
{
	slip[0] = (__float128)v[0] - v[4];
	slip[1] = (__float128)v[1] + v[3];
	slip[2] = (__float128)b->spin_radius * v[5];
	slip[3] = (__float128)b->roll_radius * v[3];
	slip[4] = (__float128)b->roll_radius * v[4];
}

/* J^T f */
static void wrench_by_hand(const struct ball *b, const __float128 f[5], __float128 wrench[6])
{
	const __float128 spin = b->spin_radius, roll = b->roll_radius;
	const __float128 out[6] = {f[0], f[1], 0, f[1] + roll * f[3], roll * f[4] - f[0], spin * f[2]};
	memcpy(wrench, out, sizeof(out));
}

static __float128 product_of(const __float128 x[5], const __float128 y[5])
{
	__float128 sum = 0;
	for (int t = 0; t < 5; t++)
		sum += x[t] * y[t];
	return sum;
}

/* J^T (I - S S^T / |S|^2) J d / |S|, the product of the Hessian of D = |S| with d. */
static void bent_by_hand(const struct ball *b, const double d[6], __float128 out[6])
{
	__float128 slip[5], change[5], size, along;
	slip_of(b, b->velocities, slip);
	slip_of(b, d, change);
	size = product_of(slip, slip);
	along = product_of(slip, change) / size;
	size = (__float128)sqrtl((long double)size) + (size / sqrtl((long double)size) - sqrtl((long double)size)) / 2;
	for (int t = 0; t < 5; t++)
		change[t] = (change[t] - along * slip[t]) / size;
	wrench_by_hand(b, change, out);
}

static void assert_digits(const double *x, const __float128 *y, size_t n)
{
	for (size_t e = 0; e < n; e++)
		if (fabsl((long double)(x[e] - y[e])) > 1e-14L * fabsl((long double)y[e])) {
			print_error("%zu: %.17g instead of %.17g\n", e, x[e], (double)y[e]);
			fail();
		}
}

/* One component of the slip exceeds the others by up to 1e9: jvp, vjp and products with second derivatives keep all
 * digits. */
static void test_one_component_far_larger(void **state)
{
	const double along[6] = {0.5, -1.5, 3, 0.25, 2, -1.25}, anchor[3] = {0}, surface[3] = {0};
	double v[6], by_anchor[3], by_surface[3], tangent[7], second[6];
	struct fric_error error;
	(void)state;
	for (int digits = 0; digits < 10; digits++) {
		struct fric_differential in = {.fields = {[FRIC_WRT_VELOCITIES] = (double *)along}};
		struct fric_differential out = {.fields = {[FRIC_WRT_VELOCITIES] = v}},
								 to = {.fields = {[FRIC_WRT_VELOCITIES] = second}};
		__float128 expected[6];
		double potential, gradient[6];
		struct ball b;
		struct asked a;
		ball_batch(&b);
		memcpy(b.velocities, (double[]){3, -0.5, 0.75, -0.25, 0.5, 8}, sizeof(b.velocities));
		b.spin_radius = pow(10, digits);
		b.batch.groups[FRIC_BODY_WORLD].anchor = one_value(anchor);
		b.batch.groups[FRIC_BODY_WORLD].surface_velocity = one_value(surface);
		out.rows[FRIC_BODY_WORLD][FRIC_ROW_ANCHOR] = by_anchor;
		out.rows[FRIC_BODY_WORLD][FRIC_ROW_SURFACE_VELOCITY] = by_surface;
		bent_by_hand(&b, along, expected);
		ask(&b, false, false, &a);
		assert_ok(backwards(&a, 0, along, &out));
		assert_digits(v, expected, 6);
		assert_digits(by_anchor, expected, 2);
		for (int d = 0; d < 3; d++)
			assert_near(by_surface[d], -by_anchor[d], 0);
		assert_ok(fric_jvp(&serial, &a.derivation, &in, &potential, gradient, tangent, tangent + 1, &error));
		assert_digits(tangent + 1, expected, 6);
		assert_ok(fric_second_derivative_product(&serial, &a.derivation, &in, &to, &error));
		assert_digits(second, expected, 6);
		done(&a);
	}
}

/* The derivative with respect to a drag that is zero: 2 nu |S|^2 / 2 with |S| = 5, the slip without the anchor. */
static void test_viscous_from_zero(void **state)
{
	struct ball b;
	struct asked a;
	struct fric_error error;
	const double anchor[3] = {-2, 0, 0};
	double one = 1, viscous, tangent[7];
	struct fric_differential d = {.fields = {[FRIC_WRT_VISCOUS] = &one}};
	(void)state;
	ball_batch(&b);
	b.velocities[0] = 5;
	b.batch.groups[FRIC_BODY_WORLD].anchor = one_value(anchor);
	ask(&b, false, false, &a);
	assert_ok(forwards(&a, &d, tangent, &error));
	assert_near(tangent[0], 25 + 16, 1e-13);
	assert_vector(tangent + 1, 10, 0, 0);
	assert_vector(tangent + 4, 0, -10, 4);
	d.fields[FRIC_WRT_VISCOUS] = &viscous;
	assert_ok(backwards(&a, 1, (double[]){1, 0, 0, 0, 0, 1}, &d));
	assert_near(viscous, 41 + 14, 1e-13);
	done(&a);
}

/* At rest the Hessian is 2 mu s / eps_v = 2e310 and overflows; its product with a small velocity does not. */
static void test_velocities_with_a_steep_law(void **state)
{
	struct ball b;
	struct asked a;
	struct fric_error error;
	double v[6] = {1e-306, 0, 0, 0, 0, 0}, potential, gradient[6], tangent[7];
	struct fric_differential d = {.fields = {[FRIC_WRT_VELOCITIES] = v}};
	(void)state;
	ball_batch(&b);
	memset(b.velocities, 0, sizeof(b.velocities));
	b.normal_force = 2000;
	b.batch.friction.eps_v = 1e-307;
	ask(&b, false, false, &a);
	assert_ok(fric_jvp(&serial, &a.derivation, &d, &potential, gradient, tangent, tangent + 1, &error));
	assert_near(tangent[0], 0, 0);
	assert_near(tangent[1], 2e4, 1e-9);
	assert_near(tangent[5], -2e4, 1e-9);
	done(&a);
}

/* Rotating ball, normal and grain about z rotates the force with them. */
static void test_everything_turns(void **state)
{
	struct ball b;
	struct asked a;
	struct fric_error error;
	double v[6] = {0, 3, 0, 0, 0, 0}, grain[3] = {0, 1, 0}, tangent[7];
	struct fric_differential d = {.fields = {[FRIC_WRT_VELOCITIES] = v}};
	(void)state;
	ball_batch(&b);
	b.mu_aniso[1] = 0.125;
	ask(&b, false, false, &a);
	d.rows[FRIC_BODY_WORLD][FRIC_ROW_GRAIN] = grain;
	assert_ok(forwards(&a, &d, tangent, &error));
	assert_near(tangent[0], 0, 1e-14);
	assert_vector(tangent + 1, 0, 0.6, 0);
	assert_vector(tangent + 4, 0.6, 0, 0);
	done(&a);
}

/* Coefficients of bodies follow the slip at the lagged velocities if their flag is set, whatever the flag for
 * vertices. */
static void test_which_directions_follow(void **state)
{
	struct ball b;
	struct asked a;
	struct fric_error error;
	double sideways[6] = {1, 1}, tangent[7], lagged[6];
	struct fric_differential d = {.fields = {[FRIC_WRT_LAGGED_VELOCITIES] = sideways}};
	(void)state;
	ball_batch(&b);
	b.batch.groups[FRIC_BODY_WORLD].mu_s_aniso = b.batch.groups[FRIC_BODY_WORLD].mu_k_aniso =
		(struct fric_values){b.ellipse, 2};
	b.ellipse[0] = 0.3;
	b.ellipse[1] = 0.4;
	b.velocities[0] = 2.4;
	b.velocities[1] = 1.8;
	for (int follow = 0; follow < 4; follow++) {
		double potential, gradient[6];
		ask(&b, follow & 1, follow & 2, &a);
		d.fields[FRIC_WRT_LAGGED_VELOCITIES] = sideways;
		assert_ok(fric_jvp(&serial, &a.derivation, &d, &potential, gradient, tangent, tangent + 1, &error));
		d.fields[FRIC_WRT_LAGGED_VELOCITIES] = lagged;
		assert_ok(backwards(&a, 1, NULL, &d));
		/* mu = |(0.3 * 0.8, 0.4 * 0.6)|; t turns by (0.6 * -0.2/3, 0.8 * 0.2/3); D = 2 * 5 mu */
		const double mu = sqrt(2) * 0.24, turned = (0.09 * 0.8 * -0.04 + 0.16 * 0.6 * 0.16 / 3) / mu;
		const double expected = follow & 2 ? 10 * turned : 0;
		assert_near(potential, 10 * mu, 1e-13);
		assert_near(tangent[0], expected, 1e-13);
		assert_near(lagged[0] + lagged[1], expected, 1e-13);
		assert_vector(lagged + 2, 0, lagged[3], lagged[4]);
		done(&a);
	}
}

/* A skipped contact has zero derivatives. */
static void test_skipped(void **state)
{
	struct ball b;
	struct asked a;
	double v[6], point[3], normal[3], force, tangent[7], potential, gradient[6], large[3] = {1e308, 1e308, 1e308};
	struct fric_differential out = {.fields = {[FRIC_WRT_VELOCITIES] = v}}, in = {.fields = {0}};
	struct fric_error error;
	(void)state;
	ball_batch(&b);
	memcpy(b.grain, b.normal, sizeof(b.grain));
	b.batch.skip_degenerate = true;
	ask(&b, true, true, &a);
	out.rows[FRIC_BODY_WORLD][FRIC_ROW_POINT] = point;
	out.rows[FRIC_BODY_WORLD][FRIC_ROW_NORMAL] = normal;
	out.rows[FRIC_BODY_WORLD][FRIC_ROW_NORMAL_FORCE] = &force;
	memset(v, 0xff, sizeof(v));
	memset(point, 0xff, sizeof(point));
	memset(normal, 0xff, sizeof(normal));
	assert_ok(backwards(&a, 1e308, NULL, &out));
	assert_vector(v, 0, 0, 0);
	assert_vector(v + 3, 0, 0, 0);
	assert_vector(point, 0, 0, 0);
	assert_vector(normal, 0, 0, 0);
	assert_near(force, 0, 0);
	in.rows[FRIC_BODY_WORLD][FRIC_ROW_POINT] = in.rows[FRIC_BODY_WORLD][FRIC_ROW_NORMAL] = large;
	assert_ok(fric_jvp(&serial, &a.derivation, &in, &potential, gradient, tangent, tangent + 1, &error));
	for (int e = 0; e < 7; e++)
		assert_near(tangent[e], 0, 0);
	done(&a);
}

/* A contact whose derivative overflows is named; if a sum overflows, no contact is named. */
static void test_overflow(void **state)
{
	struct ball b;
	struct asked a;
	struct fric_error error;
	double tangent[7], large = 1e308, potential, gradient[6], spin;
	struct fric_differential d = {.fields = {0}};
	(void)state;
	ball_batch(&b);
	ask(&b, false, false, &a);
	d.rows[FRIC_BODY_WORLD][FRIC_ROW_SPIN_RADIUS] = &large;
	assert_code(forwards(&a, &d, tangent, &error), FRIC_E_NOT_FINITE);
	assert_int_equal(error.group, FRIC_BODY_WORLD);
	assert_int_equal(error.contact, 0);
	d.rows[FRIC_BODY_WORLD][FRIC_ROW_SPIN_RADIUS] = &spin;
	assert_code(fric_vjp(&serial, &a.derivation, 1e308, NULL, &potential, gradient, &d, &error), FRIC_E_NOT_FINITE);
	assert_int_equal(error.group, FRIC_BODY_WORLD);
	assert_int_equal(error.contact, 0);
	done(&a);
}

/* ---- random batches ---- */

struct answers {
	double *numbers;
	size_t n;
};

static struct answers all_answers(const struct fric_context *context, const struct scene *s,
                                  const struct fric_derivation *derivation, const struct number_fields *fields,
                                  struct fric_differential *tangents, const double *cotangent, struct fric_error *error)
{
	const size_t n = scene_ndof(s);
	struct answers a = {NULL, 4 * (n + 1)};
	struct fric_differential cotangents = {.fields = {0}};
	for (size_t f = 0; f < fields->n; f++)
		a.n += fields->of[f].n;
	a.numbers = calloc(a.n, sizeof(double));
	double *at = a.numbers + 4 * (n + 1), *x = a.numbers;
	for (size_t f = 0; f < fields->n; at += fields->of[f].n, f++)
		*place_in(&cotangents, &fields->of[f]) = at;
	enum fric_code code = fric_jvp(context, derivation, tangents, x, x + 1, x + n + 1, x + n + 2, error);
	x += 2 * (n + 1);
	if (code == FRIC_OK)
		code = fric_vjp(context, derivation, 0.75, cotangent, x, x + 1, &cotangents, error);
	if (code == FRIC_OK)
		return a;
	free(a.numbers);
	return (struct answers){NULL, 0};
}

/* Bodies shared by most contacts, several chunks of contacts, and fields with one row for all. */
static struct scene crowd(struct rng *rng, int i)
{
	struct options o = random_options(rng, 2 + i % 2);
	struct scene s;
	o.n_each = i % 4 == 0 ? 3 : 0;
	o.law = i % 3 == 0 ? FRIC_CURVE : o.law;
	o.source = i % 3 == 0 ? FRIC_MU_TABLE : FRIC_MU_SCALAR;
	o.own_mu = false;
	scene_create(&s, rng, o);
	scene_add_bodies(&s, rng, (struct body_options){5, 1500, 1300, true, false});
	share_rows(&s, rng);
	return s;
}

static void test_threads(void **state)
{
	static const int thread_counts[] = {2, 3, 8};
	struct rng rng = {11};
	struct fric_error error;
	(void)state;
	for (int i = 0; i < 6; i += step_sanitized(5)) {
		struct scene s = crowd(&rng, i);
		struct fric_contacts *c = scene_contacts(&serial, &s);
		const struct fric_query query = *scene_query(c, s.velocities);
		const struct fric_derivation derivation = {&s.batch, c, &query, query.state ? s.lagged : NULL, true, true};
		const struct number_fields fields = scene_fields(&s);
		const double *cotangent = random_reals(&s, &rng, scene_ndof(&s), -1, 1);
		struct fric_differential tangents = {.fields = {0}};
		for (size_t f = 0; f < fields.n; f++)
			*place_in(&tangents, &fields.of[f]) = random_tangent(&s, &rng, &fields.of[f]);
		const struct answers alone = all_answers(&serial, &s, &derivation, &fields, &tangents, cotangent, &error);
		assert_non_null(alone.numbers);
		for (size_t k = 0; k < 3; k++) {
			const struct fric_context context = {.n_threads = thread_counts[k], .parallel_from = 1};
			const struct answers more = all_answers(&context, &s, &derivation, &fields, &tangents, cotangent, &error);
			assert_all_bits(more.numbers, alone.numbers, alone.n);
			free(more.numbers);
		}
		free(alone.numbers);
		scene_contacts_free(c);
		scene_free(&s);
	}
}

/* Memory that refuses the n-th block and all later ones. */
struct scarce {
	size_t left, taken, given;
};

static void *take(void *pool, size_t bytes)
{
	struct scarce *scarce = pool;
	if (scarce->left == 0)
		return NULL;
	scarce->left--;
	scarce->taken++;
	return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void give(void *pool, void *block, size_t bytes)
{
	(void)bytes;
	((struct scarce *)pool)->given++;
	free(block);
}

static void test_out_of_memory(void **state)
{
	struct rng rng = {12};
	struct scene s = crowd(&rng, 3);
	struct fric_contacts *c = scene_contacts(&serial, &s);
	const struct fric_query query = *scene_query(c, s.velocities);
	const struct fric_derivation derivation = {&s.batch, c, &query, query.state ? s.lagged : NULL, true, true};
	const struct number_fields fields = scene_fields(&s);
	struct fric_differential tangents = {.fields = {0}};
	const double *cotangent = random_reals(&s, &rng, scene_ndof(&s), -1, 1);
	int failed = 0;
	(void)state;
	for (size_t f = 0; f < fields.n; f++)
		*place_in(&tangents, &fields.of[f]) = random_tangent(&s, &rng, &fields.of[f]);
	for (size_t left = 0;; left++) {
		struct scarce scarce = {.left = left};
		const struct fric_memory memory = {take, give, &scarce};
		const struct fric_context context = {.n_threads = 1, .memory = &memory};
		struct fric_error error = {.code = FRIC_OK};
		const struct answers a = all_answers(&context, &s, &derivation, &fields, &tangents, cotangent, &error);
		assert_int_equal(scarce.taken, scarce.given);
		if (a.numbers) {
			free(a.numbers);
			break;
		}
		assert_code(error.code, FRIC_E_MEMORY);
		failed++;
	}
	assert_true(failed >= 4); /* calls for bodies: two evaluations, jvp, vjp */
	scene_contacts_free(c);
	scene_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_derivatives_of_the_potential),
		cmocka_unit_test(test_radius_forwards_and_backwards),
		cmocka_unit_test(test_velocities_with_a_steep_law),
		cmocka_unit_test(test_one_component_far_larger),
		cmocka_unit_test(test_viscous_from_zero),
		cmocka_unit_test(test_everything_turns),
		cmocka_unit_test(test_which_directions_follow),
		cmocka_unit_test(test_skipped),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "core/kernels/kernels.h"
#include "core/motion/slip.h"
#include "tests/property/scene.h"
#include "tests/share.h"
#include "tests/unit/core/batches.h"

static const int32_t two[2] = {0, 1};

struct result {
	enum fric_code code;
	struct fric_error error;
	double potential, gradient[24];
};

/* The results for a batch of at most 24 DOFs. */
static struct result evaluate(const struct fric_batch *batch, const double *velocities)
{
	struct result r = {.potential = NAN};
	struct fric_contacts *c = prepared(batch);
	for (int i = 0; i < 24; i++)
		r.gradient[i] = NAN;
	r.code = fric_evaluate(&serial, c, query(velocities), &r.potential, r.gradient, &r.error);
	fric_contacts_free(c);
	return r;
}

/* mu lambda = 1: the force has the direction of the slip, and the potential is its speed; normal velocity has no
 * effect. */
static void test_sliding(void **state)
{
	(void)state;
	const struct fric_batch batch = floor_batch(two, 2, 2);
	const struct result r = evaluate(&batch, (double[]){3, 4, 100, 0, -2, 5});
	assert_ok(r.code);
	assert_near(r.potential, 5 + 2, 2e-15);
	assert_all_near(r.gradient, ((double[]){0.6, 0.8, 0, 0, -1, 0}), 6, 2e-16);
}

static void test_sticking(void **state)
{
	(void)state;
	const struct fric_batch batch = floor_batch(two, 2, 2);
	const struct result r = evaluate(&batch, (double[]){0.3, 0.4, 0, 0, 0, -7});
	const double z = 0.5;
	assert_ok(r.code);
	assert_near(r.potential, 1 / 3. + z * z - z * z * z / 3 + 1 / 3., 1e-15);
	assert_all_near(r.gradient, ((double[]){0.75 * 0.6, 0.75 * 0.8, 0, 0, 0, 0}), 6, 2e-16);
}

static void test_at_rest(void **state)
{
	(void)state;
	struct fric_batch batch = corner_batch();
	const double zero[24] = {0};
	const struct result r = evaluate(&batch, zero);
	assert_ok(r.code);
	assert_near(r.potential, 5 * 2 * (17 * 0.25 - 7 * 0.5) / 30, 1e-15);
	assert_all_near(r.gradient, zero, 24, 0);
	batch.friction.law.transition = FRIC_QUADRATIC;
	assert_near(evaluate(&batch, zero).potential, 5 * 2 * (27 * 0.25 - 11 * 0.5) / 48, 1e-15);
}

/* The weights of the stencil distribute the force: edges at 1/4, faces at (1/4, 1/2). */
static void test_stencils(void **state)
{
	(void)state;
	const double weights[FRIC_N_VERTEX_TYPES][8] = {{1, 0, 0, 0, 0, 0, 0, -1},
	                                                {-0.75, -0.25, 1},
	                                                {0.75, 0.25, -0.75, -0.25},
	                                                {0, 0, 0, 0, -0.25, -0.25, -0.5, 1},
	                                                {0, 0, 0, 0, 0, 0, 0, 1}};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		struct fric_batch batch = corner_batch();
		double v[24] = {0}, relative[3] = {0}, along[3] = {0};
		for (enum fric_type other = 0; other < FRIC_N_VERTEX_TYPES; other++)
			batch.groups[other].n = other == type;
		for (int i = 0; i < 24; i++) {
			v[i] = sin(i * i + 1.) * 64;
			relative[i % 3] += weights[type][i / 3] * v[i];
		}
		struct fric_contacts *c = prepared(&batch);
		for (int t = 0; t < 2; t++) { /* P P^T relative */
			double u = 0;
			for (int d = 0; d < 3; d++)
				u += c->tangent_basis[2 * d + t][0] * relative[d];
			for (int d = 0; d < 3; d++)
				along[d] += c->tangent_basis[2 * d + t][0] * u;
		}
		fric_contacts_free(c);
		const struct result r = evaluate(&batch, v);
		const double speed = sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2]);
		assert_ok(r.code);
		assert_true(speed > 1);
		assert_near(r.potential, 0.5 * speed, 1e-13);
		for (int i = 0; i < 24; i++)
			assert_near(r.gradient[i], weights[type][i / 3] * 0.5 * along[i % 3] / speed, 2e-15);
	}
}

static void test_velocity_scaling(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(two, 1, 1);
	const double aniso[2] = {3, 0.5}, v[3] = {2, 8, 0};
	batch.groups[FRIC_PLANE_VERTEX].mu_aniso = one_value(aniso);
	/* The basis for a normal z^ is y^ x z^ = x^, then y^. */
	const double scaled[2] = {6, 4}, speed = sqrt(52);
	const struct result r = evaluate(&batch, v);
	assert_ok(r.code);
	assert_near(r.potential, speed, 2e-15);
	assert_all_near(r.gradient, ((double[]){3 * scaled[0] / speed, 0.5 * scaled[1] / speed, 0}), 3, 2e-15);
}

static void test_weights_add_up(void **state)
{
	(void)state;
	const int32_t same[3] = {0, 0, 0};
	struct fric_batch batch = floor_batch(same, 3, 1);
	const double weights[] = {2, -1, 0.5};
	batch.groups[FRIC_PLANE_VERTEX].weight = (struct fric_values){weights, 1};
	const struct result r = evaluate(&batch, (double[]){0, 4, 0});
	assert_bits(r.potential, 6);
	assert_bits(r.gradient[1], 1.5);
}

static void test_either_may_be_absent(void **state)
{
	(void)state;
	const struct fric_batch batch = corner_batch();
	struct fric_contacts *c = prepared(&batch);
	struct fric_error error;
	double v[24], both, potential, gradient[24], alone[24];
	for (int i = 0; i < 24; i++)
		v[i] = cos(i);
	assert_ok(fric_evaluate(&serial, c, query(v), &both, gradient, &error));
	assert_ok(fric_evaluate(&serial, c, query(v), &potential, NULL, &error));
	assert_ok(fric_evaluate(&serial, c, query(v), NULL, alone, &error));
	assert_ok(fric_evaluate(&serial, c, query(v), NULL, NULL, &error));
	assert_bits(potential, both);
	assert_all_bits(alone, gradient, 24);
	fric_contacts_free(c);
}

static void test_no_contacts(void **state)
{
	(void)state;
	struct fric_batch batch = {.dim = 2, .n_vertices = 3};
	const double zero[6] = {0};
	struct result r = evaluate(&batch, zero);
	assert_ok(r.code);
	assert_bits(r.potential, 0);
	assert_all_bits(r.gradient, zero, 6);
	batch.n_vertices = 0;
	r = evaluate(&batch, zero);
	assert_ok(r.code);
	assert_true(isnan(r.gradient[0])); /* untouched */
}

/* An overflow names the contact at fault. */
static void test_overflow(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(two, 2, 2);
	const double huge[] = {1, 1.7e308}, three = 3;
	batch.groups[FRIC_PLANE_VERTEX].normal_force = (struct fric_values){huge, 1};
	batch.groups[FRIC_PLANE_VERTEX].weight = one_value(&three);
	const struct result r = evaluate(&batch, (double[]){3, 4, 0, 3, 4, 0});
	assert_code(r.code, FRIC_E_NOT_FINITE);
	assert_code(r.error.code, FRIC_E_NOT_FINITE);
	assert_int_equal(r.error.group, FRIC_PLANE_VERTEX);
	assert_int_equal(r.error.contact, 1);
}

/* Only one of potential and gradient is requested. */
static enum fric_code evaluate_one(const struct fric_batch *batch, const double *v, bool potential, int64_t *culprit)
{
	struct fric_contacts *c = prepared(batch);
	struct fric_error error = {.contact = -2};
	double p, gradient[24];
	const enum fric_code code =
		fric_evaluate(&serial, c, query(v), potential ? &p : NULL, potential ? NULL : gradient, &error);
	*culprit = error.contact;
	fric_contacts_free(c);
	return code;
}

static void test_overflow_of_one_result(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(two, 2, 2);
	const double huge[] = {1, 1.7e308}, three = 3, v[6] = {1e-3, 0, 0, 1, 0, 0}, large = 1e308;
	int64_t culprit;
	struct fric_group *g = &batch.groups[FRIC_PLANE_VERTEX];
	g->normal_force = (struct fric_values){huge, 1};
	g->weight = one_value(&three);
	assert_code(evaluate_one(&batch, v, true, &culprit), FRIC_E_NOT_FINITE);
	assert_int_equal(culprit, 1);
	assert_code(evaluate_one(&batch, v, false, &culprit), FRIC_E_NOT_FINITE);
	assert_int_equal(culprit, 1);
	const int32_t same[2] = {0, 0};
	batch = floor_batch(same, 2, 1);
	batch.friction.mu_s = batch.friction.mu_k = 1;
	batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&large);
	for (int i = 0; i < 2; i++) { /* each is finite, the sum is not */
		assert_code(evaluate_one(&batch, (double[]){1, 0, 0}, i, &culprit), FRIC_E_NOT_FINITE);
		assert_int_equal(culprit, -1);
	}
	/* The force is finite, but its potential is not. */
	batch.groups[FRIC_PLANE_VERTEX].n = 1;
	assert_code(evaluate_one(&batch, (double[]){9, 0, 0}, true, &culprit), FRIC_E_NOT_FINITE);
	assert_ok(evaluate_one(&batch, (double[]){9, 0, 0}, false, &culprit));
}

static void test_overflow_of_a_sum(void **state)
{
	(void)state;
	const int32_t same[2] = {0, 0};
	struct fric_batch batch = floor_batch(same, 2, 1);
	const double huge = 1e308, mu = 1;
	batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&huge);
	batch.friction.mu_s = batch.friction.mu_k = mu;
	const struct result r = evaluate(&batch, (double[]){1, 0, 0});
	assert_code(r.code, FRIC_E_NOT_FINITE);
	assert_int_equal(r.error.contact, -1);
	assert_ok(evaluate(&batch, (double[]){0, 0, 1}).code);
}

/* Forces and coefficients are of ordinary size, but their factors are large. */
static void test_overflow_by_scaling(void **state)
{
	(void)state;
	const int32_t same[2] = {0, 0};
	struct fric_batch batch = floor_batch(same, 2, 1);
	const double force = 1e80, scaling[2] = {1e228, 1};
	batch.friction.mu_s = batch.friction.mu_k = 1;
	batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&force);
	batch.groups[FRIC_PLANE_VERTEX].mu_aniso = one_value(scaling);
	int64_t culprit;
	assert_code(evaluate_one(&batch, (double[]){1e-100, 1e-100, 0}, false, &culprit), FRIC_E_NOT_FINITE);
	assert_int_equal(culprit, -1); /* each is finite, the sum is not */
	batch.groups[FRIC_PLANE_VERTEX].n = 1;
	assert_ok(evaluate_one(&batch, (double[]){1e-100, 1e-100, 0}, false, &culprit));
}

static void test_overflow_by_a_weight(void **state)
{
	(void)state;
	const int32_t stencil[3] = {0, 1, 2};
	const double positions[9] = {1e230, 1e230, 0, 0, 0, 0, 1, 0, 0}, v[9] = {1, 0, 1}, force = 1e80;
	struct fric_batch batch = floor_batch(NULL, 0, 3);
	int64_t culprit;
	batch.positions = positions;
	batch.groups[FRIC_EDGE_VERTEX] =
		(struct fric_group){.n = 1, .vertices = stencil, .normal_force = one_value(&force)};
	assert_code(evaluate_one(&batch, v, false, &culprit), FRIC_E_NOT_FINITE);
}

/* One coordinate of a closest point is huge, and everything else is of ordinary size. */
static void test_overflow_by_a_closest_point(void **state)
{
	(void)state;
	static const int32_t stencil[4] = {0, 1, 2, 3};
	static const double basis[6] = {1, 0, 0, 1, 0, 0}, v[12] = {1, 0, 0}, force = 1e80;
	for (int coordinate = 0; coordinate < 2; coordinate++)
		for (enum fric_type type = FRIC_EDGE_EDGE; type <= FRIC_FACE_VERTEX; type++) {
			struct fric_batch batch = floor_batch(NULL, 0, 4);
			double point[2] = {0, 0};
			int64_t culprit;
			point[coordinate] = type == FRIC_FACE_VERTEX || coordinate == 1 ? 1e240 : -1e240;
			batch.groups[type] = (struct fric_group){.n = 1,
			                                         .vertices = stencil,
			                                         .normal_force = one_value(&force),
			                                         .tangent_basis = one_value(basis),
			                                         .closest_point = one_value(point)};
			assert_code(evaluate_one(&batch, v, false, &culprit), FRIC_E_NOT_FINITE);
			point[coordinate] = 1e200;
			assert_ok(evaluate_one(&batch, v, false, &culprit));
		}
}

/* weight * normal_force overflows, but the product with mu does not. */
static void test_products_out_of_range(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(two, 1, 1);
	const double huge = 1e300, tiny = 1e-300;
	batch.groups[FRIC_PLANE_VERTEX].normal_force = batch.groups[FRIC_PLANE_VERTEX].weight = one_value(&huge);
	batch.friction.mu_s = batch.friction.mu_k = 1e-310;
	struct result r = evaluate(&batch, (double[]){0, 5, 0});
	assert_ok(r.code);
	assert_near(r.gradient[1] / (1e300 * (1e300 * 1e-310)), 1, 1e-13);
	batch.groups[FRIC_PLANE_VERTEX].normal_force = batch.groups[FRIC_PLANE_VERTEX].weight = one_value(&tiny);
	batch.friction.mu_s = batch.friction.mu_k = 1e300;
	r = evaluate(&batch, (double[]){0, 5, 0});
	assert_ok(r.code);
	assert_near(r.gradient[1] / 1e-300, 1, 1e-15);
}

/* All factors of the potential are doubles, and so is the result, but not every intermediate product. */
static void test_potential_of_large_factors(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(two, 1, 1);
	const double force = 0x1p398;
	batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&force);
	batch.friction.mu_s = batch.friction.mu_k = 0x1p398;
	batch.friction.eps_v = 0x1p-900;
	const struct result r = evaluate(&batch, (double[]){0, 0x1p-502, 0}); /* 2^398 eps_v */
	assert_ok(r.code);
	assert_bits(r.potential, 0x1p294);
	assert_bits(r.gradient[1], 0x1p796);
}

static void test_speed_ratio_out_of_range(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(two, 2, 2);
	batch.friction.eps_v = 1e-300;
	struct result r = evaluate(&batch, (double[]){3e200, 4e200, 0, 5e-324, 0, 0});
	assert_ok(r.code);
	assert_near(r.gradient[0], 0.6, 1e-15);
	assert_near(r.gradient[3] / 5e-324, 2e300, 1e287);
	assert_near(r.potential / 5e200, 1, 1e-15);
	batch.friction.eps_v = 1e300;
	r = evaluate(&batch, (double[]){3e-200, 4e-200, 0, 0, 0, 0});
	assert_ok(r.code);
	assert_near(r.gradient[1], 0, 1e-300); /* 8e-500 */
	assert_near(r.potential / (2e300 / 3), 1, 1e-15);
}

/* |u| / eps_v is 1e-330 here, which is 0 as a double; the force is 1e-210. */
static void test_speed_ratio_that_underflows(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(two, 1, 1);
	const double force = 1e120;
	batch.friction.eps_v = 1e150;
	batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&force);
	const struct result r = evaluate(&batch, (double[]){0, 1e-180, 0});
	assert_ok(r.code);
	assert_near(r.gradient[1] / 1e-210, 1, 1e-15);
}

/* The same with everything else of ordinary size: the contact slips a little. */
static void test_speed_ratio_that_underflows_alone(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(two, 1, 1);
	const double force = 1e85;
	batch.friction.eps_v = 1e150;
	batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&force);
	const struct result r = evaluate(&batch, (double[]){0, 1e-180, 0});
	assert_ok(r.code);
	assert_near(r.gradient[1] / 1e-245, 1, 1e-15);
}

/* A large given basis compensates for a small ellipse or normal force whose product would underflow. */
static void test_basis_of_any_size(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(two, 1, 1);
	const double basis[6] = {1, 0, 0, 0x1p700, 0, 0}, force = 0x1p-600, ellipse[2] = {0x1p-50, 0x1p-600};
	batch.groups[FRIC_PLANE_VERTEX].tangent_basis = one_value(basis);
	batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&force);
	batch.groups[FRIC_PLANE_VERTEX].mu_aniso = one_value(ellipse);
	struct result r = evaluate(&batch, (double[]){0, 8, 0}); /* slides: slip 2^103, force 2^-601 2^-600 2^700 */
	assert_ok(r.code);
	assert_bits(r.gradient[0], 0);
	assert_bits(r.gradient[1], 0x1p-501);
	const double smallest = 0x1p-1074; /* a force of 3/4 of that, if it were a double */
	batch.groups[FRIC_PLANE_VERTEX].normal_force = one_value(&smallest);
	batch.friction.mu_s = batch.friction.mu_k = 0.75;
	r = evaluate(&batch, (double[]){0, 8, 0});
	assert_ok(r.code);
	assert_bits(r.gradient[1], 0.75 * 0x1p-974);
}

static struct fric_batch skipped_pair(void)
{
	static const double positions[12] = {1, 2, 3, 1, 2, 3, 5, 0, 0, 6, 0, 0};
	static const int32_t pairs[] = {0, 1, 2, 3};
	struct fric_batch batch = {.dim = 3, .n_vertices = 4, .positions = positions, .skip_degenerate = true};
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5};
	batch.groups[FRIC_VERTEX_VERTEX] =
		(struct fric_group){.n = 2, .vertices = pairs, .normal_force = {&force_of_two, 0}};
	return batch;
}

static void test_skipped_contacts_do_nothing(void **state)
{
	(void)state;
	const struct fric_batch batch = skipped_pair();
	const struct result r = evaluate(&batch, (double[]){9, 8, 7, -1, 2, 5, 0, 2, 0, 0, 0, 0});
	assert_ok(r.code);
	assert_near(r.potential, 2, 1e-15);
	assert_all_near(r.gradient, ((double[]){0, 0, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0}), 12, 1e-15);
}

/* The contact's relative velocity overflows, which does not matter because it is skipped. */
static void test_skipped_contacts_cannot_overflow(void **state)
{
	(void)state;
	const struct fric_batch batch = skipped_pair();
	const struct result r = evaluate(&batch, (double[]){1.7e308, 0, 0, -1.7e308, 0, 0, 0, 2, 0, 0, 0, 0});
	assert_ok(r.code);
	assert_near(r.potential, 2, 1e-15);
}

static void test_stop(void **state)
{
	(void)state;
	const struct fric_batch batch = corner_batch();
	struct fric_contacts *c = prepared(&batch);
	atomic_bool stop = true;
	const struct fric_context context = {.n_threads = 1, .stop = &stop};
	const double v[24] = {0};
	double potential, gradient[24];
	struct fric_error error;
	assert_code(fric_evaluate(&context, c, query(v), &potential, gradient, &error), FRIC_E_STOPPED);
	assert_code(error.code, FRIC_E_STOPPED);
	assert_int_equal(error.contact, -1);
	fric_contacts_free(c);
}

/* Kernels that raise the stop flag while they run. */
static struct {
	const struct fric_kernels *kernels;
	atomic_int calls_left;
	atomic_bool stop;
} stopper;

static void force_then_stop(struct workspace *block, bool potentials)
{
	stopper.kernels->force(block, potentials);
	if (atomic_fetch_sub(&stopper.calls_left, 1) == 1)
		atomic_store(&stopper.stop, true);
}

/* Whenever the flag is raised, there is a complete result or none. */
static void test_stop_on_the_way(void **state)
{
	(void)state;
	enum { N = 40000 };
	int32_t *vertices = malloc(N * sizeof(*vertices));
	double *v = malloc(9 * N * sizeof(*v)), *expected = v + 3 * N, *gradient = v + 6 * N;
	for (int i = 0; i < N; i++)
		vertices[i] = i;
	for (int i = 0; i < 3 * N; i++)
		v[i] = sin(i);
	const struct fric_batch batch = floor_batch(vertices, N, N);
	struct fric_contacts *c = prepared(&batch);
	struct fric_error error;
	double whole, potential;
	int stopped = 0, finished = 0;
	const int step = 3 * step_sanitized(7);
	assert_ok(fric_evaluate(&serial, c, query(v), &whole, expected, &error));
	stopper.kernels = fric_kernels_find("baseline");
	struct fric_kernels kernels = *stopper.kernels;
	kernels.force = force_then_stop;
	for (int calls = 1; calls < N / FRIC_SPAN + 2; calls += step) {
		const struct fric_context context = {
			.n_threads = 1 + calls % 3, .parallel_from = 1, .stop = &stopper.stop, .kernels = &kernels};
		atomic_store(&stopper.calls_left, calls);
		atomic_store(&stopper.stop, false);
		const enum fric_code code = fric_evaluate(&context, c, query(v), &potential, gradient, &error);
		stopped += code == FRIC_E_STOPPED;
		finished += code == FRIC_OK;
		if (code == FRIC_OK && (potential != whole || memcmp(gradient, expected, 3 * N * sizeof(*v)) != 0))
			fail_msg("stopped at call %d: a result that is not whole", calls);
	}
	assert_true(stopped > 0 && stopped + finished == (N / FRIC_SPAN + step) / step);
	fric_contacts_free(c);
	free(vertices);
	free(v);
}

static struct fric_state *state_along(const struct fric_contacts *c, const double *lagged)
{
	struct fric_state *made;
	struct fric_error error;
	assert_ok(fric_state_create(&serial, c, lagged, &made, &error));
	return made;
}

/* Coefficients of a plane_vertex contact, with or without a state. */
static double coefficient(const struct fric_contacts *c, const struct fric_state *with, enum fric_output which,
                          size_t contact)
{
	double out[2];
	const struct fric_query asked = {.velocities = (double[6]){0}, .state = with};
	struct fric_error error;
	assert_ok(fric_contact_output(&serial, c, &asked, FRIC_PLANE_VERTEX, which, out, &error));
	return out[contact];
}

/* Coefficients of the first contact of a batch along a lagged velocity. */
static void assert_coefficients(const struct fric_batch *batch, const double *lagged, double mu_s, double mu_k)
{
	struct fric_contacts *c = prepared(batch);
	struct fric_state *made = state_along(c, lagged);
	assert_bits(coefficient(c, made, FRIC_OUT_MU_S, 0), mu_s);
	assert_bits(coefficient(c, made, FRIC_OUT_MU_K, 0), mu_k);
	assert_bits(coefficient(c, NULL, FRIC_OUT_MU_S, 0), batch->friction.mu_s);
	assert_bits(coefficient(c, NULL, FRIC_OUT_MU_K, 0), batch->friction.mu_k);
	fric_state_free(made);
	fric_contacts_free(c);
}

static struct fric_batch matchstick_batch(const double *mu_s_aniso, const double *mu_k_aniso)
{
	struct fric_batch batch = floor_batch(two, 1, 1);
	batch.groups[FRIC_PLANE_VERTEX].mu_s_aniso = one_value(mu_s_aniso);
	batch.groups[FRIC_PLANE_VERTEX].mu_k_aniso = one_value(mu_k_aniso);
	batch.friction.mu_s = 0.9;
	batch.friction.mu_k = 0.8;
	return batch;
}

/* Matchstick coefficients. An ellipse of zeros stands for the scalar coefficient (static or kinetic). */
static void test_matchstick(void **state)
{
	(void)state;
	const double s[2] = {1, 0.5}, k[2] = {0.2, 0.4}, none[2] = {0, 0}, oblique[3] = {3, 4, 9}, rest[3] = {0, 0, 9},
				 x[3] = {1, 0, 9};
	struct fric_batch both = matchstick_batch(s, k), no_s = matchstick_batch(none, k), no_k = matchstick_batch(s, none),
					  k_alone = matchstick_batch(NULL, k);
	struct fric_contacts *c = prepared(&both);
	struct fric_state *made = state_along(c, oblique);
	assert_near(coefficient(c, made, FRIC_OUT_MU_S, 0), sqrt(0.36 + 0.16), 2e-16);
	assert_near(coefficient(c, made, FRIC_OUT_MU_K, 0), sqrt(0.0144 + 0.1024), 2e-16);
	fric_state_free(made);
	fric_contacts_free(c);
	assert_coefficients(&both, rest, 1, 0.2); /* (1, 0) */
	assert_coefficients(&no_s, x, 0.9, 0.2);
	assert_coefficients(&no_k, x, 1, 0.8);
	assert_coefficients(&k_alone, x, 0.9, 0.2);
}

/* Contacts without ellipses need no state. */
static void test_no_state(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(two, 1, 1);
	struct fric_contacts *c = prepared(&batch);
	assert_null(state_along(c, (double[]){3, 4, 9}));
	fric_state_free(NULL);
	fric_contacts_free(c);
}

/* An ellipse with one axis of zero is not empty. */
static void test_half_an_ellipse(void **state)
{
	(void)state;
	const double s[2] = {1, 0}, none[2] = {0, 0};
	struct fric_batch batch = matchstick_batch(s, none);
	assert_coefficients(&batch, (double[]){0, 1, 0}, 0, 0.8);
}

/* Below 1e-10 eps_v the slip has no direction; mu_aniso scales the velocity first. */
static void test_matchstick_threshold(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(two, 2, 2);
	const double s[2] = {1, 0.5}, aniso[4] = {1, 1, 1, 2}, eps[] = {1e-3, 1e-200, 1, 1e200};
	batch.groups[FRIC_PLANE_VERTEX].mu_s_aniso = one_value(s);
	batch.groups[FRIC_PLANE_VERTEX].mu_aniso = (struct fric_values){aniso, 2};
	for (int i = 0; i < 4; i++) {
		batch.friction.eps_v = eps[i];
		struct fric_contacts *c = prepared(&batch);
		const double below = 0.99e-10 * eps[i], above = 1.01e-10 * eps[i];
		struct fric_state *no_direction = state_along(c, (double[]){0, below, 0, 0, below / 2, 0}),
						  *direction = state_along(c, (double[]){0, above, 0, 0, above / 2, 0});
		for (size_t contact = 0; contact < 2; contact++) {
			assert_bits(coefficient(c, no_direction, FRIC_OUT_MU_S, contact), 1);
			assert_bits(coefficient(c, direction, FRIC_OUT_MU_S, contact), 0.5);
		}
		fric_state_free(no_direction);
		fric_state_free(direction);
		fric_contacts_free(c);
	}
}

static void test_matchstick_faults(void **state)
{
	(void)state;
	struct fric_batch batch = skipped_pair();
	const double s[2] = {1, 0.5};
	struct fric_state *made = (struct fric_state *)&batch;
	struct fric_error error;
	batch.groups[FRIC_VERTEX_VERTEX].mu_s_aniso = one_value(s);
	struct fric_contacts *c = prepared(&batch);
	const double v[12] = {1, 2, 3, 4, 5, 6, 0, 1.7e308, 0, 0, -1.7e308, 0};
	assert_code(fric_state_create(&serial, c, v, &made, &error), FRIC_E_NOT_FINITE);
	assert_int_equal(error.contact, 1);
	assert_null(made);
	atomic_bool stop = true;
	const struct fric_context stopping = {.n_threads = 1, .stop = &stop};
	assert_code(fric_state_create(&stopping, c, v, &made, &error), FRIC_E_STOPPED);
	assert_null(made);
	fric_contacts_free(c);
}

/* Ellipses may have any size if forces have ordinary size: a sticking contact has the static coefficient, a sliding one
 * the kinetic. Another state of the same contacts has another direction. */
static void test_extreme_matchsticks(void **state)
{
	(void)state;
	static const double force = 1e80, large[2] = {1e240, 1}, ordinary_axes[2] = {1, 0.5};
	static const double along[2][3] = {{0.5, 0, 0}, {2, 0, 0}}, across[2][3] = {{0, 0.5, 0}, {0, 2, 0}};
	for (int slides = 0; slides < 2; slides++) {
		struct fric_batch batch = floor_batch(two, 1, 1);
		struct fric_group *g = &batch.groups[FRIC_PLANE_VERTEX];
		struct fric_error error;
		double gradient[3];
		g->normal_force = one_value(&force);
		g->mu_s_aniso = one_value(slides ? ordinary_axes : large);
		g->mu_k_aniso = one_value(slides ? large : ordinary_axes);
		struct fric_contacts *c = prepared(&batch);
		struct fric_state *large_mu = state_along(c, along[slides]), *small_mu = state_along(c, across[slides]);
		const struct fric_query refused = {.velocities = along[slides], .state = large_mu},
								fine = {.velocities = across[slides], .state = small_mu};
		for (int round = 0; round < 2; round++) {
			assert_code(fric_evaluate(&serial, c, &refused, NULL, gradient, &error), FRIC_E_NOT_FINITE);
			assert_int_equal(error.contact, 0);
			assert_ok(fric_evaluate(&serial, c, &fine, NULL, gradient, &error));
			assert_true(isfinite(gradient[1]) && gradient[1] > 0);
		}
		fric_state_free(large_mu);
		fric_state_free(small_mu);
		fric_contacts_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sliding),
		cmocka_unit_test(test_sticking),
		cmocka_unit_test(test_at_rest),
		cmocka_unit_test(test_stencils),
		cmocka_unit_test(test_velocity_scaling),
		cmocka_unit_test(test_weights_add_up),
		cmocka_unit_test(test_either_may_be_absent),
		cmocka_unit_test(test_no_contacts),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_overflow_of_one_result),
		cmocka_unit_test(test_overflow_of_a_sum),
		cmocka_unit_test(test_overflow_by_scaling),
		cmocka_unit_test(test_overflow_by_a_weight),
		cmocka_unit_test(test_overflow_by_a_closest_point),
		cmocka_unit_test(test_products_out_of_range),
		cmocka_unit_test(test_potential_of_large_factors),
		cmocka_unit_test(test_speed_ratio_out_of_range),
		cmocka_unit_test(test_speed_ratio_that_underflows),
		cmocka_unit_test(test_speed_ratio_that_underflows_alone),
		cmocka_unit_test(test_basis_of_any_size),
		cmocka_unit_test(test_skipped_contacts_do_nothing),
		cmocka_unit_test(test_skipped_contacts_cannot_overflow),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_stop_on_the_way),
		cmocka_unit_test(test_matchstick),
		cmocka_unit_test(test_no_state),
		cmocka_unit_test(test_half_an_ellipse),
		cmocka_unit_test(test_matchstick_threshold),
		cmocka_unit_test(test_matchstick_faults),
		cmocka_unit_test(test_extreme_matchsticks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Compares derivatives with differences: right derivatives agree for every field of random scenes; wrong ones, which
 * the linker substitutes for core's, do not, and the contact is named. */
#include "tests/property/differentials.h"
#include "tests/share.h"

enum { N_SCENES = 40 };

/* ---- injected faults ---- */

static double jvp_factor = 1, vjp_factor = 1, potential_factor = 1;
static int64_t wrong_dof = -1;

enum fric_code __real_fric_jvp(const struct fric_context *, const struct fric_derivation *,
                               const struct fric_differential *, double *, double *, double *, double *,
                               struct fric_error *);
enum fric_code __wrap_fric_jvp(const struct fric_context *context, const struct fric_derivation *derivation,
                               const struct fric_differential *tangents, double *potential, double *gradient,
                               double *potential_tangent, double *gradient_tangent, struct fric_error *error);
enum fric_code __wrap_fric_jvp(const struct fric_context *context, const struct fric_derivation *derivation,
                               const struct fric_differential *tangents, double *potential, double *gradient,
                               double *potential_tangent, double *gradient_tangent, struct fric_error *error)
{
	const enum fric_code code =
		__real_fric_jvp(context, derivation, tangents, potential, gradient, potential_tangent, gradient_tangent, error);
	for (size_t i = 0; i < fric_n_dofs(derivation->contacts); i++)
		gradient_tangent[i] *= wrong_dof < 0 || (int64_t)i == wrong_dof ? jvp_factor : 1;
	*potential_tangent *= potential_factor;
	return code;
}

enum fric_code __real_fric_vjp(const struct fric_context *, const struct fric_derivation *, double, const double *,
                               double *, double *, const struct fric_differential *, struct fric_error *);
enum fric_code __wrap_fric_vjp(const struct fric_context *context, const struct fric_derivation *derivation,
                               double potential_cotangent, const double *gradient_cotangent, double *potential,
                               double *gradient, const struct fric_differential *cotangents, struct fric_error *error);
enum fric_code __wrap_fric_vjp(const struct fric_context *context, const struct fric_derivation *derivation,
                               double potential_cotangent, const double *gradient_cotangent, double *potential,
                               double *gradient, const struct fric_differential *cotangents, struct fric_error *error)
{
	double *scaled = calloc(fric_n_dofs(derivation->contacts) + 1, sizeof(double));
	for (size_t i = 0; i < fric_n_dofs(derivation->contacts); i++)
		scaled[i] = gradient_cotangent[i] * vjp_factor;
	const enum fric_code code = __real_fric_vjp(context, derivation, potential_cotangent * vjp_factor, scaled,
	                                            potential, gradient, cotangents, error);
	free(scaled);
	return code;
}

/* The flag is raised the stop_at-th time that it is read; 0: never. */
static long stop_at, n_looks;

bool __real_fricp_stop_raised(const struct fric_context *context);
bool __wrap_fricp_stop_raised(const struct fric_context *context);
bool __wrap_fricp_stop_raised(const struct fric_context *context)
{
	n_looks++;
	return __real_fricp_stop_raised(context) || (stop_at && n_looks >= stop_at);
}

/* ---- right derivatives ---- */

/* A direction in which everything changes. */
static double *everywhere(size_t n)
{
	double *x = malloc(n * sizeof(double));
	for (size_t i = 0; i < n; i++)
		x[i] = 1;
	return x;
}

static struct fric_derivative_agreement compare(const struct fric_context *context, const struct setting *t,
                                                const struct number_field *f)
{
	struct fric_differential direction = {.fields = {0}};
	struct fric_derivative_agreement agreement;
	struct fric_error error;
	double *numbers = malloc(f->n * sizeof(double)), *room = *place_in(&direction, f) = everywhere(f->n);
	memcpy(numbers, f->numbers, f->n * sizeof(double));
	assert_ok(fric_compare_derivative(context, &t->derivation, &direction, &agreement, &error));
	assert_all_bits(f->numbers, numbers, f->n); /* borrowed arrays are unchanged */
	free(room);
	free(numbers);
	return agreement;
}

static void test_right(void **state)
{
	(void)state;
	struct rng rng = {1531};
	for (int i = 0; i < N_SCENES; i += step_in_share(3, 11)) {
		struct scene scene = derivable_scene(&rng, i);
		const struct number_fields fields = scene_fields(&scene);
		struct setting *t = setting_of(&scene, i % 2);
		for (size_t f = 0; f < fields.n; f++) {
			const struct fric_derivative_agreement a = compare(&serial, t, &fields.of[f]);
			if (!a.agrees)
				print_error("scene %d %s: %g %g %g\n", i, field_name(&fields.of[f]), a.potential, a.gradient,
				            a.transposed);
			assert_true(a.agrees);
			assert_true(a.worst >= 0 && (size_t)a.worst < fric_group_size(t->contacts, a.group));
		}
		setting_free(t);
		scene_free(&scene);
	}
}

/* ---- wrong derivatives ---- */

static void test_wrong(void **state)
{
	(void)state;
	struct rng rng = {1532};
	struct scene scene = derivable_scene(&rng, 2);
	const struct number_fields fields = scene_fields(&scene);
	struct setting *t = setting_of(&scene, true);
	for (size_t f = 0; f < fields.n; f++) {
		const struct number_field *field = &fields.of[f];
		if (field->type != FRIC_N_TYPES || field->field != FRIC_WRT_VELOCITIES)
			continue;
		static const double mistakes[] = {1e-6, -1e-6, 1e-3};
		for (int k = 0; k < 3; k++) {
			const double wrong = mistakes[k];
			jvp_factor = 1 + wrong;
			assert_true(compare(&serial, t, field).gradient > fabs(wrong) / 10);
			assert_false(compare(&serial, t, field).agrees);
			jvp_factor = 1;
			potential_factor = 1 + wrong;
			assert_true(compare(&serial, t, field).potential > fabs(wrong) / 10);
			assert_false(compare(&serial, t, field).agrees);
			potential_factor = 1;
		}
		vjp_factor = 1.001;
		assert_true(compare(&serial, t, field).transposed > 1e-5);
		assert_false(compare(&serial, t, field).agrees);
		vjp_factor = 1;
		assert_true(compare(&serial, t, field).agrees);
		setting_free(t);
		scene_free(&scene);
		return;
	}
	fail();
}

/* Five vertices on a plane, of which the third has a wrong derivative. */
static void test_worst(void **state)
{
	(void)state;
	static const int32_t vertices[] = {4, 0, 2, 1, 3};
	static const double velocities[] = {1, 2, 0.5, 0, 3, 1, -1, 2, 1, 0.25, 1, 0, 2, 2, 2}, normal[] = {0, 0, 1};
	static const double force = 2, step[] = {1, 1, 1, 1, 1};
	double direction[5];
	const struct fric_batch batch = {
		.dim = 3,
		.n_vertices = 5,
		.friction = {.eps_v = 2, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.25},
		.groups = {[FRIC_PLANE_VERTEX] = {5, vertices, .normal_force = {&force, 0}, .plane_normal = {normal, 0}}}};
	struct fric_contacts *contacts;
	struct fric_error error;
	struct fric_derivative_agreement a;
	assert_ok(fric_prepare(&serial, &batch, &contacts, &error));
	const struct fric_derivation derivation = {&batch, contacts, query(velocities), NULL, false, false};
	wrong_dof = 3 * 2 + 1;
	jvp_factor = 1.01;
	memcpy(direction, step, sizeof(direction));
	const struct fric_differential by_force = {.rows = {[FRIC_PLANE_VERTEX] = {[FRIC_ROW_NORMAL_FORCE] = direction}}};
	assert_ok(fric_compare_derivative(&serial, &derivation, &by_force, &a, &error));
	assert_false(a.agrees);
	assert_int_equal(a.group, FRIC_PLANE_VERTEX);
	assert_int_equal(a.worst, 2);
	wrong_dof = -1;
	jvp_factor = 1;
	memcpy(direction, step, sizeof(direction));
	assert_ok(fric_compare_derivative(&serial, &derivation, &by_force, &a, &error));
	assert_true(a.agrees);
	fric_contacts_free(contacts);
}

/* Wherever the flag is raised, the comparison ends with FRIC_E_STOPPED. The flag is also read often if there are many
 * vertices but hardly any contacts. */
static void test_stop(void **state)
{
	(void)state;
	enum { MOST_BETWEEN = 1 << 17 };
	const int many = (1 << 18) / step_sanitized(2), part = step_in_share(5, 8);
	const int32_t vertices[] = {many - 1};
	static const double normal[] = {0, 1}, force = 2;
	double *velocities = calloc(2 * (size_t)many, sizeof(*velocities));
	velocities[2 * many - 2] = 1;
	const struct fric_batch batch = {
		.dim = 2,
		.n_vertices = (size_t)many,
		.friction = {.eps_v = 2, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.25},
		.groups = {[FRIC_PLANE_VERTEX] = {1, vertices, .normal_force = {&force, 0}, .plane_normal = {normal, 0}}}};
	struct fric_contacts *contacts;
	struct fric_error error;
	struct fric_derivative_agreement a;
	assert_ok(fric_prepare(&serial, &batch, &contacts, &error));
	const struct fric_derivation derivation = {&batch, contacts, query(velocities), NULL, false, false};
	enum fric_code code = FRIC_E_STOPPED;
	long n = 0;
	for (stop_at = 1; code == FRIC_E_STOPPED; stop_at += 1 + part * n / 16) {
		double step = 1;
		const struct fric_differential by = {.rows = {[FRIC_PLANE_VERTEX] = {[FRIC_ROW_NORMAL_FORCE] = &step}}};
		n_looks = 0;
		code = fric_compare_derivative(&serial, &derivation, &by, &a, &error);
		n = n_looks;
		assert_true(code == FRIC_OK || code == FRIC_E_STOPPED);
	}
	stop_at = 0;
	assert_true(code == FRIC_OK && a.agrees);
	/* Scales, differences for three steps or more, cotangents and their product: each is a loop over all DOFs. */
	assert_true(n_looks > 6 * (2 * many / MOST_BETWEEN));
	fric_contacts_free(contacts);
	free(velocities);
}

/* Without contacts there is nothing that could differ. */
static void test_empty(void **state)
{
	(void)state;
	static const double velocities[6] = {1, 2, 3};
	const struct fric_batch batch = {
		.dim = 3, .n_vertices = 2, .friction = {.eps_v = 2, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.25}};
	struct fric_contacts *contacts;
	struct fric_error error;
	struct fric_derivative_agreement a;
	double direction[6] = {1, 1, 1, 1, 1, 1};
	const struct fric_differential by = {.fields = {[FRIC_WRT_VELOCITIES] = direction}};
	assert_ok(fric_prepare(&serial, &batch, &contacts, &error));
	const struct fric_derivation derivation = {&batch, contacts, query(velocities), NULL, false, false};
	assert_ok(fric_compare_derivative(&serial, &derivation, &by, &a, &error));
	assert_true(a.agrees);
	assert_int_equal(a.worst, -1);
	fric_contacts_free(contacts);
}

/* Zero coefficients, and knots: coefficients that are equal, and speeds of eps_v. */
static void test_knots(void **state)
{
	(void)state;
	static const int32_t vertices[] = {0, 1};
	static const double velocities[6] = {2, 0, 0, 1, 1, 0}, normal[] = {0, 0, 1}, force = 2;
	for (int transition = 0; transition < 3; transition++)
		for (int mu = 0; mu < 2; mu++) {
			const struct fric_batch batch = {.dim = 3,
			                                 .n_vertices = 2,
			                                 .friction = {.eps_v = 2,
			                                              .source = FRIC_MU_SCALAR,
			                                              .mu_s = mu,
			                                              .mu_k = mu,
			                                              .law.transition = (enum fric_transition)transition},
			                                 .groups = {[FRIC_PLANE_VERTEX] = {2, vertices, .normal_force = {&force, 0},
			                                                                   .plane_normal = {normal, 0}}}};
			struct fric_contacts *contacts;
			struct fric_error error;
			assert_ok(fric_prepare(&serial, &batch, &contacts, &error));
			const struct fric_derivation derivation = {&batch, contacts, query(velocities), NULL, false, false};
			for (int field = 0; field < 4; field++) {
				static const enum fric_field by[] = {FRIC_WRT_VELOCITIES, FRIC_WRT_EPS_V, FRIC_WRT_MU_S, FRIC_WRT_MU_K};
				double direction[6] = {1, 1, 1, 1, 1, 1};
				struct fric_differential along = {.fields = {0}};
				struct fric_derivative_agreement a;
				along.fields[by[field]] = direction;
				assert_ok(fric_compare_derivative(&serial, &derivation, &along, &a, &error));
				if (!a.agrees)
					print_error("transition %d mu %d field %d: %g %g %g\n", transition, mu, field, a.potential,
					            a.gradient, a.transposed);
				assert_true(a.agrees);
			}
			fric_contacts_free(contacts);
		}
}

/* ---- large numbers and ties ---- */

static struct fric_derivative_agreement along(const struct fric_batch *batch, const double *velocities,
                                              const struct fric_differential *direction)
{
	struct fric_contacts *contacts;
	struct fric_error error;
	struct fric_derivative_agreement a;
	assert_ok(fric_prepare(&serial, batch, &contacts, &error));
	const struct fric_derivation derivation = {batch, contacts, query(velocities), NULL, false, false};
	assert_ok(fric_compare_derivative(&serial, &derivation, direction, &a, &error));
	fric_contacts_free(contacts);
	return a;
}

/* All of these normals have equal components along x and y. A basis that changes its axis would be off by its own
 * size. */
static void test_ties(void **state)
{
	(void)state;
	static const int32_t vertices[] = {0, 0, 0, 0};
	static const double normals[] = {0, 0, 2, 3, -3, -3, -3, -3, 3, 0, 0, -1e-3}, force = 2;
	static const double scaling[] = {2, 0.5}, velocities[] = {1, 2, 3};
	double steps[12];
	for (int i = 0; i < 12; i++)
		steps[i] = 1;
	const struct fric_batch batch = {
		.dim = 3,
		.n_vertices = 1,
		.friction = {.eps_v = 2, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.25},
		.groups = {[FRIC_PLANE_VERTEX] = {4, vertices, .normal_force = {&force, 0}, .plane_normal = {normals, 3},
	                                      .mu_aniso = {scaling, 0}}}};
	const struct fric_differential by = {.rows = {[FRIC_PLANE_VERTEX] = {[FRIC_ROW_PLANE_NORMAL] = steps}}};
	const struct fric_derivative_agreement a = along(&batch, velocities, &by);
	assert_true(a.agrees && a.gradient < 1e-9 && a.potential < 1e-9);
}

/* A body that turns a hundred orders of magnitude faster than vertices move, but is in no contact. */
static void test_turning(void **state)
{
	(void)state;
	static const int32_t vertex = 0;
	static const double normal[] = {0, 1}, force = 2, position[2] = {0}, velocities[] = {1, 0, 0, 0, 1e100};
	double steps[] = {1, 1, 1, 1, 1};
	const struct fric_batch batch = {
		.dim = 2,
		.n_vertices = 1,
		.n_bodies = 1,
		.body_positions = position,
		.friction = {.eps_v = 2, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.25},
		.groups = {[FRIC_PLANE_VERTEX] = {1, &vertex, .normal_force = {&force, 0}, .plane_normal = {normal, 0}}}};
	const struct fric_differential by = {.fields = {[FRIC_WRT_VELOCITIES] = steps}};
	assert_true(along(&batch, velocities, &by).agrees);
}

static struct fric_batch floor_for(const double *normal, const double *force)
{
	static const int32_t vertices[] = {0};
	return (struct fric_batch){
		.dim = 2,
		.n_vertices = 1,
		.friction = {.eps_v = 1e-3, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5},
		.groups = {[FRIC_PLANE_VERTEX] = {1, vertices, .normal_force = {force, 0}, .plane_normal = {normal, 0}}}};
}

/* The derivative with respect to a drag is s |u|^2 / 2 and overflows; its product with the drag does not. */
static void test_overflow(void **state)
{
	(void)state;
	static const double normal[] = {0, 1}, force = 2, fast[] = {1e272, 0};
	struct fric_batch batch = floor_for(normal, &force);
	double step = 1;
	batch.friction.law.viscous = 1e-272;
	const struct fric_differential by_drag = {.fields = {[FRIC_WRT_VISCOUS] = &step}};
	struct fric_derivative_agreement a = along(&batch, fast, &by_drag);
	assert_true(a.agrees && a.transposed >= 0 && a.potential >= 0);
	vjp_factor = 1.001;
	step = 1; /* overwritten with the direction */
	assert_false(along(&batch, fast, &by_drag).agrees);
	vjp_factor = 1;
}

/* The potential is 1e305, and the vertex is a million times closer to the floor than to the other vertex. */
static void test_short_direction(void **state)
{
	(void)state;
	static const double normal[] = {0, 1}, origin[2] = {0}, positions[] = {0, 1e-4, 1e6, 1},
						velocities[] = {1e8, 0, 0, 0};
	struct fric_batch batch = floor_for(normal, NULL);
	double steps[] = {1, 1, 1, 1};
	batch.n_vertices = 2;
	batch.positions = positions;
	batch.barrier = (struct fric_barrier){.dhat = 1e-3, .stiffness = 1e304};
	batch.groups[FRIC_PLANE_VERTEX].normal_force = (struct fric_values){0};
	batch.groups[FRIC_PLANE_VERTEX].plane_origin = (struct fric_values){origin, 0};
	const struct fric_differential by = {.fields = {[FRIC_WRT_POSITIONS] = steps}};
	const struct fric_derivative_agreement a = along(&batch, velocities, &by);
	assert_true(a.agrees && a.potential >= 0 && a.gradient >= 0 && a.transposed >= 0);
	for (int i = 0; i < 4; i++)
		assert_true(fabs(steps[i]) < 1e-60);
}

/* A normal that is short compared with others is changed by steps in proportion to its own length. */
static void test_short_normals(void **state)
{
	(void)state;
	static const int32_t vertices[] = {0, 0};
	static const double normals[] = {0, 1e-303, 1, 1}, forces[] = {1e3, 1}, velocities[] = {1, 2};
	struct fric_batch batch = floor_for(normals, forces);
	double steps[] = {1, 1, 1, 1};
	batch.groups[FRIC_PLANE_VERTEX] =
		(struct fric_group){2, vertices, .normal_force = {forces, 1}, .plane_normal = {normals, 2}};
	const struct fric_differential by = {.rows = {[FRIC_PLANE_VERTEX] = {[FRIC_ROW_PLANE_NORMAL] = steps}}};
	assert_true(along(&batch, velocities, &by).agrees);
}

/* The derivative of a geometric mean with respect to a coefficient of 0. */
static void test_infinite(void **state)
{
	(void)state;
	static const int32_t vertices[] = {0, 1};
	static const double positions[] = {0, 0, 0, 1}, velocities[] = {1, 0, 0, 0}, force = 2, mu[] = {0, 0.5};
	double steps[] = {1, 1};
	const struct fric_batch batch = {.dim = 2,
	                                 .n_vertices = 2,
	                                 .positions = positions,
	                                 .friction = {.eps_v = 2,
	                                              .source = FRIC_MU_VERTEX,
	                                              .vertex_mu_s = mu,
	                                              .vertex_mu_k = mu,
	                                              .blend = FRIC_GEOMETRIC_MEAN},
	                                 .groups = {[FRIC_VERTEX_VERTEX] = {1, vertices, .normal_force = {&force, 0}}}};
	const struct fric_differential by = {.fields = {[FRIC_WRT_VERTEX_MU_S] = steps}};
	const struct fric_derivative_agreement a = along(&batch, velocities, &by);
	assert_true(a.agrees && a.potential == 0 && a.gradient == 0 && a.transposed < 0 && a.worst == 0);
}

/* ---- at knots ---- */

/* A contact of a body with a floor, with sliding, spinning and rolling near a knot. */
struct aimed {
	enum fric_law_type law;
	double mu_s, mu_k;
	double sliding[3], turning[3];
	enum fric_row row;
};

/* Compares derivatives with respect to one row. */
static struct fric_derivative_agreement at_knot(const struct aimed *a)
{
	static const int32_t body = 0;
	static const double normal[] = {0, 0, 1}, position[3] = {0}, force = 100, radius[] = {1};
	const double velocities[] = {a->sliding[0], a->sliding[1], a->sliding[2],
	                             a->turning[0], a->turning[1], a->turning[2]};
	double steps[] = {1, 1, 1};
	const struct fric_batch batch = {
		.dim = 3,
		.n_bodies = 1,
		.body_positions = position,
		.friction = {.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = a->mu_s, .mu_k = a->mu_k, .law.type = a->law},
		.groups = {[FRIC_BODY_WORLD] = {1, &body, .normal_force = {&force, 0}, .normal = {normal, 0},
	                                    .point = {position, 0}, .spin_radius = {radius, 0},
	                                    .roll_radius = {radius, 0}}}};
	struct fric_differential by = {.fields = {0}};
	by.rows[FRIC_BODY_WORLD][a->row] = steps;
	return along(&batch, velocities, &by);
}

/* Forces and torques that vanish compared with the limit of friction, and a normal that tilts while the body only
 * spins. */
static const struct aimed at_knots[] = {
	{FRIC_SMOOTH, 0.5, 0.25, {0}, {0, 0, 2e-5}, FRIC_ROW_NORMAL},
	{FRIC_SMOOTH, 0.5, 0.25, {0}, {0, 1 - 1e-10, 0}, FRIC_ROW_NORMAL},
	{FRIC_SMOOTH, 0.5, 0.25, {0}, {0.6, 0.8, 0}, FRIC_ROW_SPIN_RADIUS},
	{FRIC_ADHESION, 0.5, 0.5, {2 - 0x1p-51, 0, 0}, {0}, FRIC_ROW_NORMAL_FORCE},
	{FRIC_ADHESION, 0.5, 0.5, {1.2 - 0x1p-52, 1.6, 0.25}, {0}, FRIC_ROW_NORMAL},
	{FRIC_ADHESION, 0.5, 0.5, {0, 0, 0.25}, {0}, FRIC_ROW_NORMAL},
};

static void test_forces_that_vanish(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(at_knots) / sizeof(*at_knots); k++) {
		const struct fric_derivative_agreement a = at_knot(&at_knots[k]);
		if (!a.agrees)
			print_error("case %zu: %g %g %g\n", k, a.potential, a.gradient, a.transposed);
		assert_true(a.agrees);
	}
}

/* Close to knots, wrong derivatives are still noticed. */
static void test_wrong_at_knots(void **state)
{
	(void)state;
	static const struct aimed wrong[] = {
		{FRIC_SMOOTH, 0.5, 0.25, {0}, {0, 0, 2e-5}, FRIC_ROW_NORMAL_FORCE},
		{FRIC_SMOOTH, 0.5, 0.25, {0}, {0, 0, 2e-5}, FRIC_ROW_SPIN_RADIUS},
		{FRIC_SMOOTH, 0.5, 0.25, {0}, {0, 1 - 1e-10, 0}, FRIC_ROW_ROLL_RADIUS},
		{FRIC_SMOOTH, 0.5, 0.25, {0.6, 0.8, 0}, {0}, FRIC_ROW_NORMAL_FORCE},
		{FRIC_ADHESION, 0.5, 0.5, {1 - 1e-10, 0, 0}, {0}, FRIC_ROW_NORMAL_FORCE},
		{FRIC_ADHESION, 0.5, 0.5, {1.99, 0, 0}, {0}, FRIC_ROW_NORMAL_FORCE},
		{FRIC_ADHESION, 0.5, 0.5, {1e-9, 0, 0}, {0}, FRIC_ROW_NORMAL_FORCE},
	};
	for (size_t k = 0; k < sizeof(wrong) / sizeof(*wrong); k++) {
		static const double factors[] = {1 + 1e-6, 1 - 1e-6, -1, 0};
		assert_true(at_knot(&wrong[k]).agrees);
		for (size_t f = 0; f < sizeof(factors) / sizeof(*factors); f++) {
			jvp_factor = factors[f];
			const bool agrees = at_knot(&wrong[k]).agrees;
			jvp_factor = 1;
			if (agrees)
				print_error("case %zu times 1 + %g\n", k, factors[f] - 1);
			assert_false(agrees);
		}
	}
}

static void test_threads(void **state)
{
	(void)state;
	struct rng rng = {1533};
	struct scene scene = derivable_scene(&rng, 5);
	const struct number_fields fields = scene_fields(&scene);
	struct setting *t = setting_of(&scene, true);
	const struct fric_context several = {.n_threads = 3, .parallel_from = 1};
	for (size_t f = 0; f < fields.n; f++) {
		const struct fric_derivative_agreement a = compare(&serial, t, &fields.of[f]),
											   b = compare(&several, t, &fields.of[f]);
		assert_bits(a.gradient, b.gradient);
		assert_bits(a.potential, b.potential);
		assert_bits(a.transposed, b.transposed);
		assert_true(a.worst == b.worst && a.group == b.group);
	}
	setting_free(t);
	scene_free(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right),           cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_worst),           cmocka_unit_test(test_empty),
		cmocka_unit_test(test_knots),           cmocka_unit_test(test_ties),
		cmocka_unit_test(test_turning),         cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_short_direction), cmocka_unit_test(test_short_normals),
		cmocka_unit_test(test_infinite),        cmocka_unit_test(test_forces_that_vanish),
		cmocka_unit_test(test_wrong_at_knots),  cmocka_unit_test(test_stop),
		cmocka_unit_test(test_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

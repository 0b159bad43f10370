#include "tests/unit/core/batches.h"

#include "core/contacts/contacts.h"

static const int32_t vertices[4] = {0, 1, 2, 3};

/* Rows of one output of the plane contacts. */
static void get(const struct fric_contacts *c, const double *v, enum fric_output output, double *out)
{
	struct fric_error error;
	assert_ok(fric_contact_output(&serial, c, query(v), FRIC_PLANE_VERTEX, output, out, &error));
}

/* Basis x^, y^; eps_v 1, mu 0.5, normal force 2; vertices at rest, sticking, at eps_v and sliding. */
static const double velocities[12] = {0, 0, 9, 0.5, 0, 0, 0, -1, 0, 3, 4, 1};

static void test_values(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(vertices, 4, 4);
	const double weights[] = {1, 2, -1, 1};
	batch.groups[FRIC_PLANE_VERTEX].weight = (struct fric_values){weights, 1};
	struct fric_contacts *c = prepared(&batch);
	double out[24];
	get(c, velocities, FRIC_OUT_POTENTIAL, out);
	assert_all_near(out, ((double[]){1 / 3., 2 * (1 / 3. + 0.25 - 0.125 / 3), -1, 5}), 4, 1e-15);
	get(c, velocities, FRIC_OUT_TANGENTIAL_VELOCITY, out);
	assert_all_near(out, ((double[]){0, 0, 0.5, 0, 0, -1, 3, 4}), 8, 0);
	get(c, velocities, FRIC_OUT_STATUS, out);
	assert_all_bits(out, ((double[]){0, 0, 1, 1}), 4);
	get(c, velocities, FRIC_OUT_SLIP_RATIO, out);
	assert_all_bits(out, ((double[]){0, 0.5, 1, 5}), 4);
	batch.friction.mu_s = batch.friction.mu_k = 1e-200; /* computed differently, but with the same thresholds */
	struct fric_contacts *extreme = prepared(&batch);
	get(extreme, velocities, FRIC_OUT_STATUS, out);
	assert_all_bits(out, ((double[]){0, 0, 1, 1}), 4);
	get(extreme, velocities, FRIC_OUT_SLIP_RATIO, out);
	assert_all_bits(out, ((double[]){0, 0.5, 1, 5}), 4);
	fric_contacts_free(extreme);
	get(c, velocities, FRIC_OUT_NORMAL_FORCE, out);
	assert_all_bits(out, ((double[]){2, 2, 2, 2}), 4); /* does not include the weight */
	get(c, velocities, FRIC_OUT_MU_S, out);
	assert_all_bits(out, ((double[]){0.5, 0.5, 0.5, 0.5}), 4);
	get(c, velocities, FRIC_OUT_TANGENT_BASIS, out);
	for (int i = 0; i < 4; i++)
		assert_all_near(out + 6 * i, ((double[]){1, 0, 0, 1, 0, 0}), 6, 0);
	fric_contacts_free(c);
}

/* status is 0 for |u| < eps_v and 1 otherwise, however |u| / eps_v is rounded. */
static void test_status_at_eps_v(void **state)
{
	(void)state;
	const double up[3] = {0, 0, 1}, flat[2] = {0, 1};
	for (int i = 1; i <= 1000; i++)
		for (int dim = 2; dim <= 3; dim++) {
			const double eps = i * 1e-3, below = nextafter(eps, 0), above = nextafter(eps, 2);
			const double in_space[12] = {below, 0, 0, -eps, 0, 0, above, 0, 0, 0, 0, 0};
			const double in_plane[8] = {below, 0, -eps, 0, above, 0, 0, 0};
			struct fric_batch batch = floor_batch(vertices, 4, 4);
			double out[4];
			batch.dim = dim;
			batch.friction.eps_v = eps;
			batch.groups[FRIC_PLANE_VERTEX].plane_normal = one_value(dim == 3 ? up : flat);
			struct fric_contacts *c = prepared(&batch);
			get(c, dim == 3 ? in_space : in_plane, FRIC_OUT_STATUS, out);
			assert_all_bits(out, ((double[]){0, 1, 1, 0}), 4);
			fric_contacts_free(c);
		}
}

/* The velocity is given unscaled, the ratio after scaling. */
static void test_velocity_scaling(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(vertices, 4, 4);
	const double aniso[2] = {2, 0.25};
	double out[8];
	batch.groups[FRIC_PLANE_VERTEX].mu_aniso = one_value(aniso);
	struct fric_contacts *c = prepared(&batch);
	get(c, velocities, FRIC_OUT_TANGENTIAL_VELOCITY, out);
	assert_all_near(out, ((double[]){0, 0, 0.5, 0, 0, -1, 3, 4}), 8, 0);
	get(c, velocities, FRIC_OUT_SLIP_RATIO, out);
	assert_all_near(out, ((double[]){0, 1, 0.25, sqrt(37)}), 4, 1e-15);
	get(c, velocities, FRIC_OUT_STATUS, out);
	assert_all_bits(out, ((double[]){0, 1, 0, 1}), 4);
	fric_contacts_free(c);
}

static void test_geometry(void **state)
{
	(void)state;
	const struct fric_batch batch = corner_batch();
	struct fric_contacts *c = prepared(&batch);
	struct fric_error error;
	const double v[24] = {0}, points[5][2] = {{0}, {0.25}, {0.25, 0.25}, {0.25, 0.5}, {0}};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		double out[2] = {0, 0}, distance;
		const bool has = fric_has_output(c, type, FRIC_OUT_CLOSEST_POINT);
		assert_int_equal(has, type != FRIC_VERTEX_VERTEX && type != FRIC_PLANE_VERTEX);
		if (has)
			assert_ok(fric_contact_output(&serial, c, query(v), type, FRIC_OUT_CLOSEST_POINT, out, &error));
		assert_all_bits(out, points[type], 2);
		assert_true(fric_has_output(c, type, FRIC_OUT_DISTANCE));
		assert_ok(fric_contact_output(&serial, c, query(v), type, FRIC_OUT_DISTANCE, &distance, &error));
		assert_near(distance, c->distance[type], 0);
		for (enum fric_output output = FRIC_OUT_POTENTIAL; output <= FRIC_OUT_NORMAL_FORCE; output++)
			assert_true(fric_has_output(c, type, output));
	}
	fric_contacts_free(c);
}

static void get_normal(const struct fric_contacts *c, enum fric_type type, double *out)
{
	const double v[24] = {0};
	struct fric_error error;
	assert_true(fric_has_output(c, type, FRIC_OUT_NORMAL));
	assert_ok(fric_contact_output(&serial, c, query(v), type, FRIC_OUT_NORMAL, out, &error));
}

/* From the first point of two, from the edge to the vertex, a x b, of a triangle, of the plane. A grain turns the basis,
 * not the normal. */
static void test_normals(void **state)
{
	(void)state;
	const double vv = sqrt(230), ev = sqrt(10), grain[3] = {1, 2, 0.5};
	const double expected[FRIC_N_VERTEX_TYPES][3] = {
		{1 / vv, 2 / vv, 15 / vv}, {0, -1 / ev, 3 / ev}, {0, 0, 1}, {0, 0, 1}, {0, 0, 1}};
	for (int with_grain = 0; with_grain < 2; with_grain++) {
		struct fric_batch batch = corner_batch();
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES && with_grain; type++)
			batch.groups[type].grain = one_value(grain);
		struct fric_contacts *c = prepared(&batch);
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
			double n[3];
			get_normal(c, type, n);
			assert_all_near(n, expected[type], 3, 1e-15);
		}
		fric_contacts_free(c);
	}
}

/* Of a searched feature: here an edge and a vertex, and two vertices in the order of their numbers. */
static void test_normals_of_features(void **state)
{
	(void)state;
	double positions[24], n[3];
	memcpy(positions, corner_positions, sizeof(positions));
	positions[2 * 3 + 1] = 1; /* the edge 2-3 now begins beside the edge 0-1 */
	struct fric_batch batch = corner_batch();
	batch.positions = positions;
	batch.closest_features = FRIC_FEATURES_SEARCH;
	struct fric_contacts *c = prepared(&batch);
	get_normal(c, FRIC_EDGE_EDGE, n);
	assert_all_near(n, ((double[]){0, 1 / sqrt(10), 3 / sqrt(10)}), 3, 1e-15);
	fric_contacts_free(c);
	positions[2 * 3] = -2, positions[3 * 3] = -3; /* and leads away from it */
	c = prepared(&batch);
	get_normal(c, FRIC_EDGE_EDGE, n);
	assert_all_near(n, ((double[]){-2 / sqrt(14), 1 / sqrt(14), 3 / sqrt(14)}), 3, 1e-15);
	fric_contacts_free(c);
}

static void test_given_bases_have_no_normal(void **state)
{
	(void)state;
	const double basis[6] = {1, 0, 0, 1, 0, 0}, point[2] = {0.25, 0.25};
	struct fric_batch batch = corner_batch();
	batch.groups[FRIC_EDGE_EDGE].tangent_basis = one_value(basis);
	batch.groups[FRIC_EDGE_EDGE].closest_point = one_value(point);
	struct fric_contacts *c = prepared(&batch);
	assert_false(fric_has_output(c, FRIC_EDGE_EDGE, FRIC_OUT_NORMAL));
	assert_true(fric_has_output(c, FRIC_FACE_VERTEX, FRIC_OUT_NORMAL));
	fric_contacts_free(c);
}

/* A body's normal is the given one, normalised, unless its basis is given. */
static void test_normals_of_bodies(void **state)
{
	(void)state;
	const double origin[3] = {0}, normal[3] = {0, -3, 4}, basis[6] = {1, 0, 0, 1, 0, 0};
	const int32_t body = 0;
	struct fric_batch batch = {.dim = 3, .n_bodies = 1, .body_positions = origin};
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5};
	struct fric_group *g = &batch.groups[FRIC_BODY_WORLD];
	*g = (struct fric_group){.n = 1, .vertices = &body, .normal_force = {&force_of_two, 0}};
	g->point = one_value(origin);
	g->normal = one_value(normal);
	struct fric_contacts *c = prepared(&batch);
	double n[3];
	get_normal(c, FRIC_BODY_WORLD, n);
	assert_all_near(n, ((double[]){0, -0.6, 0.8}), 3, 1e-15);
	fric_contacts_free(c);
	g->tangent_basis = one_value(basis);
	c = prepared(&batch);
	assert_false(fric_has_output(c, FRIC_BODY_WORLD, FRIC_OUT_NORMAL));
	assert_true(fric_has_output(c, FRIC_BODY_WORLD, FRIC_OUT_TANGENT_BASIS));
	fric_contacts_free(c);
}

/* In 2D an edge's normal leads to the vertex, whichever side it is on, or to the left if it is on the edge's line. */
static void test_normals_in_two_dimensions(void **state)
{
	(void)state;
	static const int32_t edge[3] = {0, 1, 2}, pair[2] = {1, 0};
	for (int side = -1; side <= 1; side++) {
		const double positions[6] = {1, side, 0, 0, 4, 0}, down[2] = {0, -2};
		struct fric_batch batch = {.dim = 2, .n_vertices = 3, .positions = positions};
		batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5};
		batch.groups[FRIC_EDGE_VERTEX] =
			(struct fric_group){.n = 1, .vertices = edge, .normal_force = {&unit_force, 0}};
		batch.groups[FRIC_VERTEX_VERTEX] =
			(struct fric_group){.n = 1, .vertices = pair, .normal_force = {&unit_force, 0}};
		batch.groups[FRIC_PLANE_VERTEX] =
			(struct fric_group){.n = 1, .vertices = edge, .normal_force = {&unit_force, 0}};
		batch.groups[FRIC_PLANE_VERTEX].plane_normal = one_value(down);
		struct fric_contacts *c = prepared(&batch);
		const double l = sqrt(1 + side * side);
		double n[2];
		get_normal(c, FRIC_EDGE_VERTEX, n);
		assert_all_bits(n, ((double[]){0, side < 0 ? -1 : 1}), 2);
		get_normal(c, FRIC_VERTEX_VERTEX, n);
		assert_all_near(n, ((double[]){1 / l, side / l}), 2, 1e-15);
		get_normal(c, FRIC_PLANE_VERTEX, n);
		assert_all_bits(n, ((double[]){0, -1}), 2);
		fric_contacts_free(c);
	}
}

/* A plane without an origin, or vertices without positions, have no distance. */
static void test_plane_distance_is_optional(void **state)
{
	(void)state;
	struct fric_batch batch = corner_batch();
	batch.groups[FRIC_PLANE_VERTEX].plane_origin.data = NULL;
	struct fric_contacts *c = prepared(&batch);
	assert_false(fric_has_output(c, FRIC_PLANE_VERTEX, FRIC_OUT_DISTANCE));
	assert_true(fric_has_output(c, FRIC_EDGE_EDGE, FRIC_OUT_DISTANCE));
	fric_contacts_free(c);
	batch = floor_batch(vertices, 4, 4);
	batch.groups[FRIC_PLANE_VERTEX].plane_origin = one_value(velocities);
	c = prepared(&batch);
	assert_false(fric_has_output(c, FRIC_PLANE_VERTEX, FRIC_OUT_DISTANCE));
	fric_contacts_free(c);
}

static void test_two_dimensions(void **state)
{
	(void)state;
	const double positions[6] = {1, 1, 0, 0, 4, 0}, v[6] = {-3, 1, 0, 0, 0, 0}, force = 2;
	const int32_t stencil[3] = {0, 1, 2};
	struct fric_batch batch = {.dim = 2, .n_vertices = 3, .positions = positions};
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5};
	batch.groups[FRIC_EDGE_VERTEX] = (struct fric_group){.n = 1, .vertices = stencil, .normal_force = {&force, 0}};
	struct fric_contacts *c = prepared(&batch);
	struct fric_error error;
	double out[2] = {NAN, NAN};
	assert_ok(fric_contact_output(&serial, c, query(v), FRIC_EDGE_VERTEX, FRIC_OUT_TANGENTIAL_VELOCITY, out, &error));
	assert_bits(out[0], -3);
	assert_true(isnan(out[1]));
	assert_ok(fric_contact_output(&serial, c, query(v), FRIC_EDGE_VERTEX, FRIC_OUT_TANGENT_BASIS, out, &error));
	assert_all_bits(out, ((double[]){1, 0}), 2);
	assert_ok(fric_contact_output(&serial, c, query(v), FRIC_EDGE_VERTEX, FRIC_OUT_CLOSEST_POINT, out, &error));
	assert_bits(out[0], 0.25);
	fric_contacts_free(c);
}

static void test_skipped(void **state)
{
	(void)state;
	struct fric_batch batch = corner_batch();
	double positions[24], v[24];
	memcpy(positions, corner_positions, sizeof(positions));
	positions[6 * 3] = 8, positions[6 * 3 + 1] = 0; /* collapsed triangle */
	batch.positions = positions;
	batch.skip_degenerate = true;
	for (int i = 0; i < 24; i++)
		v[i] = 3 + i % 5;
	struct fric_contacts *c = prepared(&batch);
	assert_code(fric_skipped(c, FRIC_FACE_VERTEX, 0), FRIC_E_COLLAPSED_TRIANGLE);
	assert_int_equal(fric_n_skipped(c), 1);
	for (enum fric_output output = 0; output < FRIC_N_OUTPUTS; output++) {
		double out[6] = {0};
		struct fric_error error;
		if (!fric_has_output(c, FRIC_FACE_VERTEX, output))
			continue;
		assert_ok(fric_contact_output(&serial, c, query(v), FRIC_FACE_VERTEX, output, out, &error));
		for (int i = 0; i < 6; i++)
			assert_near(out[i], output == FRIC_OUT_STATUS && i == 0 ? 2 : 0, 0);
	}
	double weights[4];
	assert_int_equal(fric_stencil_weights(&serial, c, FRIC_FACE_VERTEX, weights,
	                                      &(struct fric_error){FRIC_OK, FRIC_VERTEX_VERTEX, 0}),
	                 FRIC_OK);
	assert_all_near(weights, ((double[4]){0}), 4, 0);
	fric_contacts_free(c);
}

/* It had a distance before it was skipped. */
static void test_skipped_penetration_has_no_distance(void **state)
{
	(void)state;
	struct fric_batch batch = corner_batch();
	batch.skip_degenerate = true;
	batch.barrier = (struct fric_barrier){.dhat = 100, .stiffness = 1, .dmin = 4}; /* the edges are 3 apart */
	batch.groups[FRIC_EDGE_EDGE].normal_force = (struct fric_values){NULL, 0};
	struct fric_contacts *c = prepared(&batch);
	struct fric_error error;
	double distance = -1, point[2] = {-1, -1}, force = -1, basis[6];
	const double v[24] = {0};
	assert_code(fric_skipped(c, FRIC_EDGE_EDGE, 0), FRIC_E_PENETRATION);
	assert_ok(fric_contact_output(&serial, c, query(v), FRIC_EDGE_EDGE, FRIC_OUT_DISTANCE, &distance, &error));
	assert_ok(fric_contact_output(&serial, c, query(v), FRIC_EDGE_EDGE, FRIC_OUT_CLOSEST_POINT, point, &error));
	assert_ok(fric_contact_output(&serial, c, query(v), FRIC_EDGE_EDGE, FRIC_OUT_NORMAL_FORCE, &force, &error));
	assert_bits(distance, 0);
	assert_bits(point[0], 0);
	assert_bits(point[1], 0);
	assert_bits(force, 0);
	assert_ok(fric_contact_output(&serial, c, query(v), FRIC_EDGE_EDGE, FRIC_OUT_TANGENT_BASIS, basis, &error));
	assert_all_bits(basis, ((double[6]){0}), 6);
	fric_contacts_free(c);
}

/* The weight of a triangle corner overflows, in the second contact of its group. */
static void test_fault_of_weights(void **state)
{
	(void)state;
	static const int32_t stencils[8] = {7, 4, 5, 6, 7, 4, 5, 6};
	static const double basis[6] = {1, 0, 0, 1, 0, 0}, points[4] = {0.25, 0.25, -1.7e308, -1.7e308};
	struct fric_batch batch = corner_batch();
	batch.groups[FRIC_FACE_VERTEX] = (struct fric_group){.n = 2,
	                                                     .vertices = stencils,
	                                                     .normal_force = {&unit_force, 0},
	                                                     .tangent_basis = {basis, 0},
	                                                     .closest_point = {points, 2}};
	struct fric_contacts *c = prepared(&batch);
	struct fric_error error;
	double weights[8];
	assert_code(fric_stencil_weights(&serial, c, FRIC_FACE_VERTEX, weights, &error), FRIC_E_NOT_FINITE);
	assert_int_equal(error.group, FRIC_FACE_VERTEX);
	assert_int_equal(error.contact, 1);
	fric_contacts_free(c);
}

static void test_faults(void **state)
{
	(void)state;
	struct fric_batch batch = corner_batch();
	struct fric_error error;
	double v[24] = {0}, out[2];
	v[7 * 3] = 1e200;
	batch.friction.eps_v = 1e-200;
	struct fric_contacts *c = prepared(&batch);
	/* The ratio 1e400 overflows; the potential does not. */
	assert_code(fric_contact_output(&serial, c, query(v), FRIC_FACE_VERTEX, FRIC_OUT_SLIP_RATIO, out, &error),
	            FRIC_E_NOT_FINITE);
	assert_int_equal(error.group, FRIC_FACE_VERTEX);
	assert_int_equal(error.contact, 0);
	assert_ok(fric_contact_output(&serial, c, query(v), FRIC_FACE_VERTEX, FRIC_OUT_POTENTIAL, out, &error));
	assert_near(out[0] / (2 * 0.25 * 1e200), 1, 1e-15);
	assert_ok(fric_contact_output(&serial, c, query(v), FRIC_FACE_VERTEX, FRIC_OUT_STATUS, out, &error));
	assert_bits(out[0], 1);
	atomic_bool stop = true;
	assert_code(fric_contact_output(&(struct fric_context){.n_threads = 1, .stop = &stop}, c, query(v),
	                                FRIC_FACE_VERTEX, FRIC_OUT_STATUS, out, &error),
	            FRIC_E_STOPPED);
	fric_contacts_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_at_eps_v),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_velocity_scaling),
		cmocka_unit_test(test_geometry),
		cmocka_unit_test(test_normals),
		cmocka_unit_test(test_normals_of_features),
		cmocka_unit_test(test_given_bases_have_no_normal),
		cmocka_unit_test(test_normals_of_bodies),
		cmocka_unit_test(test_normals_in_two_dimensions),
		cmocka_unit_test(test_plane_distance_is_optional),
		cmocka_unit_test(test_two_dimensions),
		cmocka_unit_test(test_skipped),
		cmocka_unit_test(test_skipped_penetration_has_no_distance),
		cmocka_unit_test(test_fault_of_weights),
		cmocka_unit_test(test_faults),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

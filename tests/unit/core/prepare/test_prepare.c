#include "core/contacts/contacts.h"
#include "tests/property/scene.h"
#include "tests/unit/core/batches.h"

static const int thread_counts[] = {1, 2, 3, 4};

static void test_geometry_of_each_contact(void **state)
{
	(void)state;
	const struct fric_batch batch = corner_batch();
	struct fric_contacts *c = prepared(&batch);
	assert_int_equal(fric_n_contacts(c), 5);
	assert_int_equal(fric_n_vertices(c), 8);
	assert_int_equal(fric_dim(c), 3);
	assert_int_equal(fric_n_skipped(c), 0);
	const double alpha[] = {0, 0.25, 0.25, 0.25, 0}, beta[] = {0, 0, 0.25, 0.5, 0};
	const double distance[] = {sqrt(1 + 4 + 225), sqrt(10), 3, 5, 14};
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(fric_group_size(c, (enum fric_type)i), 1);
		assert_ok(fric_skipped(c, (enum fric_type)i, 0));
		assert_int_equal(contact_type(c, i), i);
		assert_bits(c->closest_point[0][i], alpha[i]);
		assert_bits(c->closest_point[1][i], beta[i]);
		assert_near(c->distance[i], distance[i], 4e-15);
		assert_bits(*column_at(c->weight, i), 1);
		assert_bits(*column_at(c->normal_force, i), 2);
		assert_bits(*column_at(c->eps_v, i), 1);
		assert_bits(*column_at(c->scalar.mu_s, i), 0.5);
		assert_bits(*column_at(c->scalar.mu_k, i), 0.25);
		for (int k = 0; k < FRIC_MAX_STENCIL; k++)
			assert_int_equal(c->vertices[k][i], k < fric_stencil_size((enum fric_type)i) ? corner_stencils[i][k] : 0);
	}
	fric_contacts_free(c);
}

static void test_given_geometry_is_used_as_it_is(void **state)
{
	(void)state;
	struct fric_batch batch = corner_batch();
	const double basis[6] = {1, 2, 3, 4, 5, 6}, point[2] = {7, -8};
	batch.positions = NULL;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		batch.groups[type].tangent_basis = one_value(basis);
		if (fric_closest_point_size(type))
			batch.groups[type].closest_point = one_value(point);
	}
	struct fric_contacts *c = prepared(&batch);
	for (size_t i = 0; i < 5; i++) {
		for (int e = 0; e < 6; e++)
			assert_bits(c->tangent_basis[e][i], basis[e]);
		for (int m = 0; m < 2; m++)
			assert_bits(c->closest_point[m][i], m < fric_closest_point_size((enum fric_type)i) ? point[m] : 0);
		assert_false(fric_has_output(c, (enum fric_type)i, FRIC_OUT_DISTANCE));
	}
	fric_contacts_free(c);
}

enum { N = 7 };
static const int32_t column[N] = {0, 1, 2, 3, 4, 5, 6};

/* Fields with one value for all contacts, or one row each; padding between rows is never read. */
static void test_strides(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(column, N, N);
	struct fric_group *g = &batch.groups[FRIC_PLANE_VERTEX];
	double wide[N * 3], aniso[N * 4], normals[N * 3];
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < 3; j++)
			wide[3 * i + j] = j ? (double)NAN : i + 1, normals[3 * i + j] = i % 3 == j;
		aniso[4 * i] = i + 0.25, aniso[4 * i + 1] = i + 0.5, aniso[4 * i + 2] = aniso[4 * i + 3] = NAN;
	}
	g->normal_force = g->weight = g->eps_v = g->mu_s = g->mu_k = (struct fric_values){wide, 3};
	g->mu_aniso = g->mu_s_aniso = g->mu_k_aniso = (struct fric_values){aniso, 4};
	g->plane_normal = (struct fric_values){normals, 3};
	struct fric_contacts *c = prepared(&batch);
	for (int i = 0; i < N; i++) {
		const struct column fields[] = {c->normal_force, c->weight, c->eps_v, c->scalar.mu_s, c->scalar.mu_k};
		double basis[6];
		for (int f = 0; f < 5; f++)
			assert_bits(*column_at(fields[f], (size_t)i), i + 1);
		for (int j = 0; j < 2; j++) {
			assert_bits(*column_at(c->mu_aniso[j], (size_t)i), i + (j ? 0.5 : 0.25));
			assert_bits(c->mu_s_aniso[j][i], i + (j ? 0.5 : 0.25));
			assert_bits(c->mu_k_aniso[j][i], i + (j ? 0.5 : 0.25));
		}
		for (int e = 0; e < 6; e++)
			basis[e] = c->tangent_basis[e][i];
		for (int t = 0; t < 2; t++) /* perpendicular to the normal of this contact only */
			assert_bits(fabs(basis[2 * (i % 3) + t]), 0);
	}
	fric_contacts_free(c);
}

static void test_broadcast(void **state)
{
	(void)state;
	struct fric_batch batch = floor_batch(column, N, N);
	struct fric_group *g = &batch.groups[FRIC_PLANE_VERTEX];
	const double value = 0.75, pair[2] = {2, 3};
	g->weight = g->eps_v = g->mu_s = g->mu_k = one_value(&value);
	g->mu_aniso = g->mu_s_aniso = g->mu_k_aniso = one_value(pair);
	struct fric_contacts *c = prepared(&batch);
	for (int i = 0; i < N; i++) {
		assert_bits(*column_at(c->weight, (size_t)i), value);
		assert_bits(*column_at(c->eps_v, (size_t)i), value);
		assert_bits(*column_at(c->scalar.mu_s, (size_t)i), value);
		assert_bits(*column_at(c->mu_aniso[1], (size_t)i), 3);
		assert_bits(c->mu_k_aniso[0][i], 2);
	}
	fric_contacts_free(c);
}

/* One group lacks a field that another group has. */
static void test_absent_fields(void **state)
{
	(void)state;
	struct fric_batch batch = corner_batch();
	const double pair[2] = {2, 3}, weight = -4;
	batch.groups[FRIC_EDGE_EDGE].mu_aniso = one_value(pair);
	batch.groups[FRIC_EDGE_EDGE].weight = one_value(&weight);
	batch.groups[FRIC_FACE_VERTEX].mu_s_aniso = one_value(pair);
	struct fric_contacts *c = prepared(&batch);
	for (size_t i = 0; i < 5; i++) {
		assert_bits(*column_at(c->mu_aniso[0], i), i == FRIC_EDGE_EDGE ? 2 : 1);
		assert_bits(*column_at(c->mu_aniso[1], i), i == FRIC_EDGE_EDGE ? 3 : 1);
		assert_bits(*column_at(c->weight, i), i == FRIC_EDGE_EDGE ? -4 : 1);
		assert_bits(c->mu_s_aniso[1][i], i == FRIC_FACE_VERTEX ? 3 : 0);
		assert_bits(c->mu_k_aniso[0][i], 0);
	}
	fric_contacts_free(c);
}

/* One value for all contacts of a group, and another value for the next group. */
static void test_groups_with_values_of_their_own(void **state)
{
	(void)state;
	static const double values[FRIC_N_VERTEX_TYPES] = {2, 3, 5, 7, 11};
	for (enum fric_type first = 0; first < FRIC_N_VERTEX_TYPES; first++)
		for (enum fric_type second = first + 1; second < FRIC_N_VERTEX_TYPES; second++) {
			struct fric_batch batch = corner_batch();
			for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
				struct fric_group *g = &batch.groups[type];
				g->n = type == first || type == second;
				g->normal_force = g->weight = g->eps_v = g->mu_s = g->mu_k = one_value(&values[type]);
			}
			struct fric_contacts *c = prepared(&batch);
			for (size_t i = 0; i < 2; i++) {
				const double expected = values[i ? second : first];
				assert_bits(*column_at(c->normal_force, i), expected);
				assert_bits(*column_at(c->weight, i), expected);
				assert_bits(*column_at(c->eps_v, i), expected);
				assert_bits(*column_at(c->scalar.mu_s, i), expected);
				assert_bits(*column_at(c->scalar.mu_k, i), expected);
			}
			fric_contacts_free(c);
		}
}

static void test_empty(void **state)
{
	(void)state;
	struct fric_batch batch = {.dim = 3};
	for (int dim = 2; dim <= 3; dim++) {
		batch.dim = dim;
		struct fric_contacts *c = prepared(&batch);
		assert_int_equal(fric_n_contacts(c), 0);
		assert_int_equal(fric_n_triplets(c, FRIC_FULL), 0);
		fric_contacts_free(c);
	}
	fric_contacts_free(NULL);
}

static void test_barrier_gives_forces(void **state)
{
	(void)state;
	struct fric_batch batch = corner_batch();
	batch.barrier = (struct fric_barrier){.dhat = 4, .stiffness = 1, .dmin = 0};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		batch.groups[type].normal_force.data = NULL;
	struct fric_contacts *c = prepared(&batch);
	const double near3 = (16 - 9) * (2 * log(16 / 9.) + 7 / 9.) * 6; /* -b'(9; 16) * 2 * 3 */
	assert_near(*column_at(c->normal_force, FRIC_EDGE_EDGE), near3, 1e-13);
	assert_bits(*column_at(c->normal_force, FRIC_FACE_VERTEX), 0); /* distance 5 */
	assert_bits(*column_at(c->normal_force, FRIC_PLANE_VERTEX), 0);
	fric_contacts_free(c);
}

struct culprit {
	enum fric_code code;
	enum fric_type group;
	int64_t contact;
};

static void check_refused(const struct fric_batch *batch, struct culprit expected)
{
	for (size_t t = 0; t < sizeof(thread_counts) / sizeof(thread_counts[0]); t++) {
		const struct fric_context context = {.n_threads = thread_counts[t], .parallel_from = 1};
		struct fric_contacts *c = (struct fric_contacts *)&context;
		struct fric_error error;
		assert_code(fric_prepare(&context, batch, &c, &error), expected.code);
		assert_null(c);
		assert_code(error.code, expected.code);
		assert_int_equal(error.group, expected.group);
		assert_int_equal(error.contact, expected.contact);
	}
}

static void test_faults_of_one_contact(void **state)
{
	(void)state;
	struct fric_batch batch = corner_batch();
	double positions[8 * 3];
	memcpy(positions, corner_positions, sizeof(positions));
	batch.positions = positions;
	positions[3 * 3] = 1, positions[3 * 3 + 1] = -1; /* vertex 3 coincides with 2 */
	check_refused(&batch, (struct culprit){FRIC_E_ZERO_LENGTH_EDGE, FRIC_EDGE_EDGE, 0});
	positions[3 * 3] = 5; /* edge 2-3 is along x, like 0-1 */
	check_refused(&batch, (struct culprit){FRIC_E_PARALLEL_EDGES, FRIC_EDGE_EDGE, 0});
	memcpy(positions, corner_positions, sizeof(positions));
	memcpy(positions + 7 * 3, positions, 3 * sizeof(double));
	check_refused(&batch, (struct culprit){FRIC_E_COINCIDENT_VERTICES, FRIC_VERTEX_VERTEX, 0});
	memcpy(positions, corner_positions, sizeof(positions));
	/* Vertex 2 is on edge 0-1. The edges touch, too, but that contact comes later. */
	positions[2 * 3 + 1] = positions[2 * 3 + 2] = 0;
	check_refused(&batch, (struct culprit){FRIC_E_VERTEX_ON_EDGE, FRIC_EDGE_VERTEX, 0});
	memcpy(positions, corner_positions, sizeof(positions));
	positions[6 * 3] = 8, positions[6 * 3 + 1] = 0;
	check_refused(&batch, (struct culprit){FRIC_E_COLLAPSED_TRIANGLE, FRIC_FACE_VERTEX, 0});
	positions[6 * 3] = 1.7e308, positions[4 * 3] = -1.7e308;
	check_refused(&batch, (struct culprit){FRIC_E_NOT_FINITE, FRIC_FACE_VERTEX, 0});
}

static void test_penetration(void **state)
{
	(void)state;
	struct fric_batch batch = corner_batch();
	batch.barrier = (struct fric_barrier){.dhat = 4, .stiffness = 1, .dmin = 3};
	batch.groups[FRIC_EDGE_EDGE].normal_force.data = NULL;
	check_refused(&batch, (struct culprit){FRIC_E_PENETRATION, FRIC_EDGE_EDGE, 0});
	batch.barrier.dmin = nextafter(3, 0);
	batch.barrier.dhat = 1e200; /* the force overflows */
	batch.barrier.stiffness = 1e200;
	check_refused(&batch, (struct culprit){FRIC_E_NOT_FINITE, FRIC_EDGE_EDGE, 0});
	batch.barrier = (struct fric_barrier){.dhat = 4, .stiffness = 1, .dmin = 2};
	fric_contacts_free(prepared(&batch));
}

static void test_negative_coefficient(void **state)
{
	(void)state;
	struct fric_batch batch = corner_batch();
	double mu[8] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, positions[8 * 3];
	memcpy(positions, corner_positions, sizeof(positions));
	positions[2 * 3] = positions[3 * 3] = 12;
	mu[1] = 0;
	batch.positions = positions;
	batch.friction = (struct fric_friction){
		.eps_v = 1, .source = FRIC_MU_VERTEX, .blend = FRIC_MIN, .vertex_mu_s = mu, .vertex_mu_k = mu};
	check_refused(&batch, (struct culprit){FRIC_E_NEGATIVE_COEFFICIENT, FRIC_EDGE_VERTEX, 0});
	batch.groups[FRIC_EDGE_VERTEX].mu_s = batch.groups[FRIC_EDGE_VERTEX].mu_k = one_value(&unit_force);
	check_refused(&batch, (struct culprit){FRIC_E_NEGATIVE_COEFFICIENT, FRIC_EDGE_EDGE, 0});
}

enum { MANY = 6000 };

/* Pairs 2i, 2i+1 at distance one; the listed ones coincide. */
struct pairs {
	double positions[MANY * 2 * 3];
	int32_t vertices[MANY * 2];
};

static struct fric_batch many_pairs(struct pairs *pairs, const size_t *coincident, size_t n)
{
	memset(pairs, 0, sizeof(*pairs));
	for (size_t i = 0; i < MANY; i++) {
		pairs->vertices[2 * i] = (int32_t)(2 * i);
		pairs->vertices[2 * i + 1] = (int32_t)(2 * i + 1);
		pairs->positions[6 * i] = (double)i;
		pairs->positions[6 * i + 3] = (double)i + 1;
	}
	for (size_t i = 0; i < n; i++)
		pairs->positions[6 * coincident[i] + 3] = (double)coincident[i];
	struct fric_batch batch = {.dim = 3, .n_vertices = 2 * MANY, .positions = pairs->positions};
	batch.friction = (struct fric_friction){.eps_v = 1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5};
	batch.groups[FRIC_VERTEX_VERTEX] =
		(struct fric_group){.n = MANY, .vertices = pairs->vertices, .normal_force = {&unit_force, 0}};
	return batch;
}

static void test_lowest_contact_wins(void **state)
{
	(void)state;
	static struct pairs pairs;
	const size_t late[] = {MANY - 1, 5000, 3333, 4444}, early[] = {2049, 2048, 5999}, first[] = {0, 5999};
	struct fric_batch batch = many_pairs(&pairs, late, 4);
	check_refused(&batch, (struct culprit){FRIC_E_COINCIDENT_VERTICES, FRIC_VERTEX_VERTEX, 3333});
	batch = many_pairs(&pairs, early, 3);
	check_refused(&batch, (struct culprit){FRIC_E_COINCIDENT_VERTICES, FRIC_VERTEX_VERTEX, 2048});
	batch = many_pairs(&pairs, first, 2);
	check_refused(&batch, (struct culprit){FRIC_E_COINCIDENT_VERTICES, FRIC_VERTEX_VERTEX, 0});
}

static void test_skipping(void **state)
{
	(void)state;
	static struct pairs pairs;
	const size_t coincident[] = {17, 1024, 4000};
	struct fric_batch batch = many_pairs(&pairs, coincident, 3);
	batch.skip_degenerate = true;
	for (size_t t = 0; t < sizeof(thread_counts) / sizeof(thread_counts[0]); t++) {
		const struct fric_context context = {.n_threads = thread_counts[t], .parallel_from = 1};
		struct fric_contacts *c;
		struct fric_error error;
		assert_ok(fric_prepare(&context, &batch, &c, &error));
		assert_int_equal(fric_n_contacts(c), MANY);
		assert_int_equal(fric_n_skipped(c), 3);
		for (size_t i = 0; i < MANY; i++) {
			const bool skipped = i == 17 || i == 1024 || i == 4000;
			assert_code(fric_skipped(c, FRIC_VERTEX_VERTEX, i), skipped ? FRIC_E_COINCIDENT_VERTICES : FRIC_OK);
			assert_bits(*column_at(c->normal_force, i), !skipped);
			assert_int_equal(c->vertices[1][i], 2 * i + 1);
		}
		fric_contacts_free(c);
	}
}

/* Skipping applies to faults of the geometry, not to overflow. */
static void test_faults_that_are_not_skipped(void **state)
{
	(void)state;
	static struct pairs pairs;
	const size_t coincident[] = {3};
	struct fric_batch batch = many_pairs(&pairs, coincident, 1);
	batch.skip_degenerate = true;
	pairs.positions[6 * 9] = 1.7e308;
	pairs.positions[6 * 9 + 3] = -1.7e308;
	check_refused(&batch, (struct culprit){FRIC_E_NOT_FINITE, FRIC_VERTEX_VERTEX, 9});
}

static void test_every_reason_can_be_skipped(void **state)
{
	(void)state;
	struct fric_batch batch = corner_batch();
	double positions[8 * 3] = {0};
	for (int v = 0; v < 7; v++)
		positions[3 * v] = 1 + v; /* all on one line */
	memcpy(positions + 7 * 3, positions, 3 * sizeof(double));
	batch.positions = positions;
	batch.skip_degenerate = true;
	batch.barrier = (struct fric_barrier){.dhat = 1, .stiffness = 1};
	batch.groups[FRIC_PLANE_VERTEX].normal_force.data = NULL;
	batch.groups[FRIC_PLANE_VERTEX].plane_origin = one_value(positions);
	struct fric_contacts *c = prepared(&batch);
	const enum fric_code codes[] = {FRIC_E_COINCIDENT_VERTICES, FRIC_E_VERTEX_ON_EDGE, FRIC_E_PARALLEL_EDGES,
	                                FRIC_E_COLLAPSED_TRIANGLE, FRIC_E_PENETRATION};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		assert_code(fric_skipped(c, type, 0), codes[type]);
	assert_int_equal(fric_n_skipped(c), 5);
	fric_contacts_free(c);
}

/* If a contact is degenerate and its coefficient negative, the geometry is reported. */
static void test_geometry_comes_before_coefficients(void **state)
{
	(void)state;
	const double mu[8] = {1, 1, 1, 1, 1, 1, 1, 1};
	for (enum fric_type type = FRIC_VERTEX_VERTEX; type < FRIC_PLANE_VERTEX; type++) {
		static const enum fric_code codes[] = {FRIC_E_COINCIDENT_VERTICES, FRIC_E_VERTEX_ON_EDGE, FRIC_E_PARALLEL_EDGES,
		                                       FRIC_E_COLLAPSED_TRIANGLE};
		struct fric_batch batch = corner_batch();
		double positions[8 * 3] = {0};
		for (int v = 0; v < 7; v++)
			positions[3 * v] = 1 + v;
		memcpy(positions + 7 * 3, positions, 3 * sizeof(double));
		batch.positions = positions;
		for (enum fric_type other = 0; other < FRIC_N_VERTEX_TYPES; other++)
			batch.groups[other].n = other == type;
		batch.friction =
			(struct fric_friction){.eps_v = 1, .source = FRIC_MU_VERTEX, .vertex_mu_s = mu, .vertex_mu_k = mu};
		check_refused(&batch, (struct culprit){codes[type], type, 0});
	}
}

static void test_reasons(void **state)
{
	(void)state;
	const char *const reasons[] = {"coincident_vertices", "zero_length_edge", "vertex_on_edge",      "parallel_edges",
	                               "collapsed_triangle",  "penetration",      "negative_coefficient"};
	for (int i = 0; i < 7; i++)
		assert_string_equal(fric_reason((enum fric_code)(FRIC_E_COINCIDENT_VERTICES + i)), reasons[i]);
	for (enum fric_code code = FRIC_OK; code < FRIC_E_COINCIDENT_VERTICES; code++)
		assert_string_equal(fric_reason(code), "");
}

/* Prepares a batch, overwrites and frees everything that it points to, then evaluates. */
static void test_contacts_own_their_memory(void **state)
{
	(void)state;
	struct rng rng = {11};
	for (int i = 0; i < 20; i++) {
		struct scene scene;
		scene_create(&scene, &rng, random_options(&rng, 2 + i % 2));
		struct fric_contacts *c = scene_contacts(&serial, &scene);
		const size_t ndof = scene_ndof(&scene);
		double *v = malloc((2 * ndof + 1) * sizeof(double)), *lagged = v + ndof, before, after;
		double *gradient = malloc((2 * ndof + 1) * sizeof(double));
		struct fric_state *made;
		struct fric_error error;
		memcpy(v, scene.velocities, ndof * sizeof(double));
		memcpy(lagged, scene.lagged, ndof * sizeof(double));
		assert_ok(fric_evaluate(&serial, c, scene_query(c, v), &before, gradient, &error));
		scene_free(&scene);
		memset(&scene, 0x5a, sizeof(scene));
		assert_ok(fric_state_create(&serial, c, lagged, &made, &error));
		const struct fric_query asked = {.velocities = v, .state = made};
		assert_ok(fric_evaluate(&serial, c, &asked, &after, gradient + ndof, &error));
		assert_bits(after, before);
		assert_all_bits(gradient + ndof, gradient, ndof);
		fric_state_free(made);
		scene_contacts_free(c);
		free(v);
		free(gradient);
	}
}

static void test_stop(void **state)
{
	(void)state;
	const struct fric_batch batch = corner_batch();
	atomic_bool stop = true;
	const struct fric_context context = {.n_threads = 2, .parallel_from = 1, .stop = &stop};
	struct fric_contacts *c;
	struct fric_error error;
	assert_code(fric_prepare(&context, &batch, &c, &error), FRIC_E_STOPPED);
	assert_null(c);
	assert_code(error.code, FRIC_E_STOPPED);
	assert_int_equal(error.contact, -1);
}

static void test_names(void **state)
{
	(void)state;
	const char *const names[] = {"vertex_vertex", "edge_vertex", "edge_edge", "face_vertex",
	                             "plane_vertex",  "body_body",   "body_world"};
	const int k[] = {2, 3, 4, 4, 1, 2, 1}, m[] = {0, 1, 2, 2, 0, 0, 0};
	for (int i = 0; i < FRIC_N_TYPES; i++) {
		assert_string_equal(fric_type_name((enum fric_type)i), names[i]);
		assert_int_equal(fric_stencil_size((enum fric_type)i), k[i]);
		assert_int_equal(fric_closest_point_size((enum fric_type)i), m[i]);
	}
	assert_int_equal(fric_inner_size(2), 1);
	assert_int_equal(fric_inner_size(3), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_geometry_of_each_contact),
		cmocka_unit_test(test_given_geometry_is_used_as_it_is),
		cmocka_unit_test(test_strides),
		cmocka_unit_test(test_broadcast),
		cmocka_unit_test(test_absent_fields),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_groups_with_values_of_their_own),
		cmocka_unit_test(test_geometry_comes_before_coefficients),
		cmocka_unit_test(test_barrier_gives_forces),
		cmocka_unit_test(test_faults_of_one_contact),
		cmocka_unit_test(test_penetration),
		cmocka_unit_test(test_negative_coefficient),
		cmocka_unit_test(test_lowest_contact_wins),
		cmocka_unit_test(test_skipping),
		cmocka_unit_test(test_faults_that_are_not_skipped),
		cmocka_unit_test(test_every_reason_can_be_skipped),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_contacts_own_their_memory),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

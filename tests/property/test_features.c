/* Searched features: results equal those of a batch in which every contact is its closest feature, with given features.
 * Derivatives agree with differences, and mollified contacts have no friction. */
#include "tests/property/differentials.h"
#include "tests/property/hessians.h"
#include "tests/share.h"

enum { N_SCENES = 150 };

static struct options search_options(struct rng *rng, int i)
{
	struct options o = random_options(rng, 2 + i % 2);
	o.given_geometry = false;
	o.search = true;
	o.n_each = 4 + below(rng, 90);
	o.n_vertices = 12 + below(rng, 30);
	o.grain &= o.dim == 3;
	return o;
}

/* ---- the batch of the features ---- */

/* A contact as its feature. */
struct spot {
	enum fric_type type;
	size_t row;
	int member[FRIC_MAX_STENCIL];
	bool exchanged;
};

/* Groups of a batch whose contacts are features, and where each contact of a scene is in them. */
struct merged {
	struct scene scene; /* owns only the new arrays */
	struct spot *spots;
};

static int sides_of(enum fric_type type, int k)
{
	return type == FRIC_EDGE_EDGE ? k / 2 : k > 0;
}

static void sort_two(int *members, const int32_t *v)
{
	if (v[members[1]] < v[members[0]]) {
		const int m = members[0];
		members[0] = members[1];
		members[1] = m;
	}
}

/* CONTACTS.md: vertex_vertex (lower, higher); edge_vertex (v, lower, higher); edge_edge each edge (lower, higher), the
 * lower edge first; face_vertex (v, the face as it is). */
static struct spot spot_of(enum fric_type type, unsigned members, const int32_t *v)
{
	int side[2][3], n[2] = {0, 0};
	struct spot p = {.type = type};
	for (int k = 0; k < fric_stencil_size(type); k++)
		if (members >> k & 1)
			side[sides_of(type, k)][n[sides_of(type, k)]++] = k;
	for (int s = 0; s < 2; s++)
		if (n[s] == 2)
			sort_two(side[s], v);
	if (n[0] + n[1] < fric_stencil_size(type))
		p.type = n[0] + n[1] == 2 ? FRIC_VERTEX_VERTEX : FRIC_EDGE_VERTEX;
	if (n[1] > 0 && n[0] == n[1]) {
		const int32_t a = v[side[0][0]], b = v[side[1][0]];
		p.exchanged = b != a ? b < a : n[0] == 2 && v[side[1][1]] < v[side[0][1]];
	} else {
		p.exchanged = n[1] == 1 && n[0] > 1;
	}
	int at = 0;
	for (int s = 0; s < 2; s++)
		for (int k = 0; k < n[s != p.exchanged]; k++)
			p.member[at++] = side[s != p.exchanged][k];
	return p;
}

static void copy_row(const struct fric_batch *from, const struct spot *place, enum fric_type type, size_t i,
                     enum fric_row row, struct fric_group *to)
{
	const struct fric_values *values = fricp_group_row(&from->groups[type], row);
	const struct fric_values *out = fricp_group_row(to, row);
	const size_t width = (size_t)fricp_row_width(type, from->dim, row);
	const bool turns = row == FRIC_ROW_SURFACE_VELOCITY || row == FRIC_ROW_ANCHOR;
	for (size_t d = 0; d < width && values->data; d++) {
		const double x = values->data[i * values->stride + d];
		((double *)out->data)[place->row * width + d] = turns && place->exchanged ? -x : x;
	}
}

/* Makes groups with room for the rows that some group of the scene has. */
static void make_groups(const struct scene *s, struct scene *m)
{
	size_t n = 0;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		n += s->batch.groups[type].n;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		struct fric_group *g = &m->batch.groups[type];
		*g = (struct fric_group){.vertices = scene_memory(m, n * 4, sizeof(int32_t))};
		for (enum fric_row row = 0; row < FRIC_N_ROWS; row++) {
			const size_t width = (size_t)fricp_row_width(type, s->batch.dim, row);
			bool any = false;
			for (enum fric_type other = 0; other < FRIC_N_VERTEX_TYPES; other++)
				any |= fricp_group_row(&s->batch.groups[other], row)->data != NULL;
			if (any && (type == FRIC_PLANE_VERTEX || (row != FRIC_ROW_PLANE_NORMAL && row != FRIC_ROW_PLANE_ORIGIN)))
				*(struct fric_values *)fricp_group_row(g, row) =
					(struct fric_values){scene_memory(m, n * width, sizeof(double)), width};
		}
	}
}

static void merge(const struct scene *s, const struct fric_contacts *c, struct merged *out)
{
	double *features = all_contacts(&serial, c, s->velocities, FRIC_OUT_FEATURE, 1);
	out->scene =
		(struct scene){.options = s->options, .batch = s->batch, .velocities = s->velocities, .lagged = s->lagged};
	out->scene.batch.closest_features = FRIC_FEATURES_GIVEN;
	out->spots = scene_memory(&out->scene, fric_n_contacts(c), sizeof(struct spot));
	make_groups(s, &out->scene);
	size_t at = 0;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		for (size_t i = 0; i < s->batch.groups[type].n; i++, at++) {
			const int32_t *v = s->batch.groups[type].vertices + i * (size_t)fric_stencil_size(type);
			const unsigned all = (1u << fric_stencil_size(type)) - 1;
			struct spot *p = &out->spots[at];
			*p = spot_of(type, features[at] > 0 ? (unsigned)features[at] : all, v);
			struct fric_group *g = &out->scene.batch.groups[p->type];
			p->row = g->n++;
			for (int k = 0; k < fric_stencil_size(p->type); k++)
				((int32_t *)g->vertices)[p->row * (size_t)fric_stencil_size(p->type) + (size_t)k] = v[p->member[k]];
			for (enum fric_row row = 0; row < FRIC_N_ROWS; row++)
				copy_row(&s->batch, p, type, i, row, g);
		}
	free(features);
}

/* ---- equality of results ---- */

struct results {
	double potential, *gradient, *product;
};

static struct results results_of(const struct scene *s, const struct fric_contacts *c)
{
	const size_t n = scene_ndof(s);
	struct results r = {0, calloc(n, sizeof(double)), calloc(n, sizeof(double))};
	struct fric_error error;
	assert_ok(fric_evaluate(&serial, c, scene_query(c, s->velocities), &r.potential, r.gradient, &error));
	assert_ok(fric_hessian_products(&serial, c, scene_query(c, s->velocities), FRIC_PROJECT_CLAMP, 1, s->lagged,
	                                r.product, &error));
	return r;
}

static void results_free(struct results *r)
{
	free(r->gradient);
	free(r->product);
}

static void assert_same_sums(const double *x, const double *y, size_t n)
{
	const double size = fmax(largest_of(x, n), largest_of(y, n));
	for (size_t i = 0; i < n; i++)
		if (!(fabs(x[i] - y[i]) <= 1e-12 * size)) {
			print_error("[%zu]: %a is not %a\n", i, x[i], y[i]);
			fail();
		}
}

/* Compares one output of every contact. @param turns  it has the sign of the first side */
static void compare_output(const struct scene *s, const struct fric_contacts *c, const struct merged *m,
                           const struct fric_contacts *mc, enum fric_output output, size_t width, bool turns)
{
	double *found = all_contacts(&serial, c, s->velocities, output, width);
	double *expected = all_contacts(&serial, mc, s->velocities, output, width);
	for (size_t i = 0; i < fric_n_contacts(c); i++) {
		const struct spot *p = &m->spots[i];
		size_t at = p->row;
		for (enum fric_type type = 0; type < p->type; type++)
			at += m->scene.batch.groups[type].n;
		for (size_t d = 0; d < width; d++) {
			const double x = expected[at * width + d], y = found[i * width + d];
			const double expect = turns && p->exchanged ? 0 - x : x;
			if (!(fabs(y - expect) <= 1e-12 * fmax(largest_of(expected, fric_n_contacts(c) * width), 1e-3))) {
				print_error("output %d of contact %zu: %a, expected %a\n", (int)output, i, y, expect);
				fail();
			}
		}
	}
	free(found);
	free(expected);
}

static void compare_outputs(const struct scene *s, const struct fric_contacts *c, const struct merged *m,
                            const struct fric_contacts *mc)
{
	const size_t dim = (size_t)s->batch.dim;
	compare_output(s, c, m, mc, FRIC_OUT_POTENTIAL, 1, false);
	compare_output(s, c, m, mc, FRIC_OUT_TANGENTIAL_VELOCITY, dim - 1, true);
	compare_output(s, c, m, mc, FRIC_OUT_MU_S, 1, false);
	compare_output(s, c, m, mc, FRIC_OUT_NORMAL_FORCE, 1, false);
	compare_output(s, c, m, mc, FRIC_OUT_DISTANCE, 1, false);
	compare_output(s, c, m, mc, FRIC_OUT_TANGENT_BASIS, dim * (dim - 1), false);
	compare_output(s, c, m, mc, FRIC_OUT_STATUS, 1, false);
	compare_output(s, c, m, mc, FRIC_OUT_FRICTION_FORCE, dim, true);
	compare_output(s, c, m, mc, FRIC_OUT_ANCHOR, dim, true);
}

static void test_sums_are_those_of_features(void **state)
{
	struct rng rng = {2401};
	size_t whole = 0, all = 0;
	(void)state;
	for (int i = 0; i < N_SCENES; i += step_in_share(3, 5)) {
		struct scene s;
		struct merged m;
		scene_create(&s, &rng, search_options(&rng, i));
		struct fric_contacts *c = scene_contacts(&serial, &s);
		merge(&s, c, &m);
		struct fric_contacts *mc = scene_contacts(&serial, &m.scene);
		struct results found = results_of(&s, c), expected = results_of(&m.scene, mc);
		const size_t n = scene_ndof(&s);
		assert_same_sums(&found.potential, &expected.potential, 1);
		assert_same_sums(found.gradient, expected.gradient, n);
		assert_same_sums(found.product, expected.product, n);
		compare_outputs(&s, c, &m, mc);
		for (size_t k = 0; k < fric_n_contacts(c); k++, all++)
			whole += fric_stencil_size(m.spots[k].type) == 4;
		results_free(&found);
		results_free(&expected);
		scene_contacts_free(c);
		scene_contacts_free(mc);
		scene_free(&m.scene);
		scene_free(&s);
	}
	assert_true(whole > all / 20 && whole < all / 2);
}

/* The weights of members that are not in the feature are exactly 0, all are at most 1. */
static void test_weights_are_clamped(void **state)
{
	struct rng rng = {2402};
	(void)state;
	for (int i = 0; i < N_SCENES; i += step_sanitized(5)) {
		struct scene s;
		struct fric_error error;
		scene_create(&s, &rng, search_options(&rng, 1));
		struct fric_contacts *c = scene_contacts(&serial, &s);
		double *features = all_contacts(&serial, c, s.velocities, FRIC_OUT_FEATURE, 1), *at = features;
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
			const size_t n = s.batch.groups[type].n, k = (size_t)fric_stencil_size(type);
			double *weights = calloc(n * k, sizeof(double));
			assert_ok(fric_stencil_weights(&serial, c, type, weights, &error));
			for (size_t e = 0; e < n * k; e++) {
				const bool in = (unsigned)at[e / k] >> e % k & 1;
				assert_true(in ? fabs(weights[e]) <= 1 : weights[e] == 0);
			}
			at += n;
			free(weights);
		}
		free(features);
		scene_contacts_free(c);
		scene_free(&s);
	}
}

/* ---- derivatives ---- */

static void check_field(const struct scene *s, const struct setting *t, const struct number_field *f)
{
	struct fric_differential direction = {0};
	struct fric_derivative_agreement agreement;
	struct fric_error error;
	double *factors = calloc(f->n, sizeof(double));
	for (size_t e = 0; e < f->n; e++)
		factors[e] = 1;
	*place_in(&direction, f) = factors;
	assert_ok(fric_compare_derivative(&serial, &t->derivation, &direction, &agreement, &error));
	if (!agreement.agrees) {
		print_error("%s (%dD): potential %g, gradient %g, transposed %g, worst %s %d\n", field_name(f), s->batch.dim,
		            agreement.potential, agreement.gradient, agreement.transposed, fric_type_name(agreement.group),
		            (int)agreement.worst);
		fail();
	}
	free(factors);
}

static void test_derivatives_follow_features(void **state)
{
	struct rng rng = {2403};
	(void)state;
	for (int i = 0; i < N_SCENES / 3; i += step_sanitized(3)) {
		struct scene s;
		struct options o = search_options(&rng, i);
		struct fric_comparison comparison;
		struct fric_error error;
		o.n_each = 3;
		o.mollifier = i % 4 < 2;
		o.search = i % 4 != 1;
		scene_create(&s, &rng, o);
		s.batch.barrier.dmin = o.barrier ? 1e-3 : 0;
		part_factors(&s.batch.friction.law.curve);
		struct setting *t = setting_of(&s, i % 5 != 0);
		const struct number_fields fields = scene_fields(&s);
		for (size_t f = 0; f < fields.n; f++)
			check_field(&s, t, &fields.of[f]);
		assert_ok(fric_compare(&serial, t->contacts, &t->query, &comparison, &error));
		assert_true(comparison.agrees);
		setting_free(t);
		scene_free(&s);
	}
}

/* The matrix times a direction is the derivative along it. */
static void test_position_jacobian(void **state)
{
	struct rng rng = {2404};
	(void)state;
	for (int i = 0; i < N_SCENES / 3; i++) {
		struct scene s;
		struct fric_error error;
		struct options o = search_options(&rng, i);
		o.n_each = 5;
		o.mollifier = i % 4 == 0;
		scene_create(&s, &rng, o);
		struct setting *t = setting_of(&s, true);
		const size_t n = fric_n_jacobian_triplets(t->contacts), n_dofs = scene_ndof(&s);
		int32_t *rows = calloc(n, sizeof(*rows)), *cols = calloc(n, sizeof(*cols));
		double *values = calloc(n, sizeof(double)), *product = calloc(n_dofs, sizeof(double));
		double *direction = random_reals(&s, &rng, n_dofs, -1, 1);
		struct fric_differential tangents = {.fields = {[FRIC_WRT_POSITIONS] = direction}};
		double *along = jvp(&serial, &s, t, &tangents);
		assert_ok(fric_position_jacobian_triplets(&serial, &t->derivation, rows, cols, values, &error));
		for (size_t e = 0; e < n; e++)
			product[rows[e]] += values[e] * direction[cols[e]];
		for (size_t e = 0; e < n_dofs; e++)
			assert_true(fabs(product[e] - along[1 + e]) <= 1e-11 * (largest_of(along + 1, n_dofs) + 1e-12));
		free(along);
		free(product);
		free(values);
		free(cols);
		free(rows);
		setting_free(t);
		scene_free(&s);
	}
}

/* ---- mollified contacts ---- */

static void test_mollified_contacts_have_no_friction(void **state)
{
	struct rng rng = {2405};
	size_t mollified = 0;
	(void)state;
	for (int i = 0; i < N_SCENES; i += step_sanitized(5)) {
		struct scene s;
		struct options o = search_options(&rng, 1);
		o.mollifier = true;
		o.search = i % 2;
		scene_create(&s, &rng, o);
		struct fric_contacts *c = scene_contacts(&serial, &s);
		const struct fric_group *g = &s.batch.groups[FRIC_EDGE_EDGE];
		double *status = calloc(g->n, sizeof(double)), *outputs = calloc(g->n * 6, sizeof(double));
		double *feature = calloc(g->n, sizeof(double)), *distance = calloc(g->n, sizeof(double));
		struct fric_error error;
		const struct fric_query *q = scene_query(c, s.velocities);
		assert_ok(fric_contact_output(&serial, c, q, FRIC_EDGE_EDGE, FRIC_OUT_STATUS, status, &error));
		assert_ok(fric_contact_output(&serial, c, q, FRIC_EDGE_EDGE, FRIC_OUT_FEATURE, feature, &error));
		assert_ok(fric_contact_output(&serial, c, q, FRIC_EDGE_EDGE, FRIC_OUT_DISTANCE, distance, &error));
		for (size_t e = 0; e < g->n; e++) {
			double a[3], b[3], squared = 0;
			const int32_t *v = g->vertices + 4 * e;
			for (int d = 0; d < 3; d++) {
				a[d] = s.batch.positions[3 * v[1] + d] - s.batch.positions[3 * v[0] + d];
				b[d] = s.batch.positions[3 * v[3] + d] - s.batch.positions[3 * v[2] + d];
			}
			for (int d = 0; d < 3; d++) {
				const double n = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
				squared += n * n;
			}
			assert_int_equal(status[e] == 3, squared < g->mollifier.data[e]);
			assert_true(status[e] != 3 || (feature[e] > 0 && distance[e] > 0));
			assert_int_equal(fric_skipped(c, FRIC_EDGE_EDGE, e) != FRIC_OK, status[e] == 2);
			mollified += status[e] == 3;
			if (g->mollifier.data[e] == 0 && !s.options.search)
				assert_true(feature[e] == 15 || status[e] == 2);
		}
		static const struct {
			enum fric_output output;
			size_t width;
		} zeros[] = {{FRIC_OUT_POTENTIAL, 1},     {FRIC_OUT_TANGENTIAL_VELOCITY, 2}, {FRIC_OUT_MU_S, 1},
		             {FRIC_OUT_MU_K, 1},          {FRIC_OUT_NORMAL_FORCE, 1},        {FRIC_OUT_CLOSEST_POINT, 2},
		             {FRIC_OUT_TANGENT_BASIS, 6}, {FRIC_OUT_SLIP_RATIO, 1},          {FRIC_OUT_FRICTION_FORCE, 3},
		             {FRIC_OUT_ANCHOR, 3}};
		for (size_t z = 0; z < sizeof(zeros) / sizeof(*zeros); z++) {
			assert_ok(fric_contact_output(&serial, c, q, FRIC_EDGE_EDGE, zeros[z].output, outputs, &error));
			for (size_t e = 0; e < g->n * zeros[z].width; e++)
				assert_true(status[e / zeros[z].width] != 3 || outputs[e] == 0);
		}
		free(distance);
		free(feature);
		free(outputs);
		free(status);
		scene_contacts_free(c);
		scene_free(&s);
	}
	assert_true(mollified > 200 / (size_t)step_sanitized(5));
}

/* A mollified contact that penetrates is an error, as any other. */
static void test_mollified_penetration(void **state)
{
	static const double positions[12] = {0, 0, 0, 1, 0, 0, 0, 0, 0.5, 1, 0, 0.5}, mollifier = 1;
	static const int32_t vertices[4] = {0, 1, 2, 3};
	struct fric_batch batch = {
		.dim = 3,
		.n_vertices = 4,
		.positions = positions,
		.friction = {.eps_v = 1e-3, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5},
		.barrier = {.dhat = 1, .stiffness = 1, .dmin = 0.5},
		.groups = {[FRIC_EDGE_EDGE] = {.n = 1, .vertices = vertices, .mollifier = {&mollifier, 1}}}};
	struct fric_contacts *c;
	struct fric_error error;
	(void)state;
	assert_int_equal(fric_prepare(&serial, &batch, &c, &error), FRIC_E_PENETRATION);
	batch.barrier.dmin = 0.25;
	assert_ok(fric_prepare(&serial, &batch, &c, &error));
	assert_int_equal(c->skipped[0], MOLLIFIED);
	fric_contacts_free(c);
}

/* ---- the same bits ---- */

static void test_threads_and_kernels(void **state)
{
	static const char *const names[] = {"scalar", "baseline", "avx2", "avx512"};
	struct rng rng = {2406};
	(void)state;
	for (int i = 0; i < 12; i += step_sanitized(5)) {
		struct scene s;
		struct options o = search_options(&rng, i);
		o.n_each = 3000;
		o.mollifier = i % 3 == 0;
		scene_create(&s, &rng, o);
		struct fric_contacts *one = scene_contacts(&serial, &s);
		for (int k = 0; k < 4; k++) {
			const struct fric_context context = {
				.n_threads = 1 + k, .kernels = fric_kernels_find(names[k]), .parallel_from = 1};
			struct fric_contacts *c = scene_contacts(&context, &s);
			const size_t n = fric_n_contacts(c);
			assert_all_bits(c->closest_point[0], one->closest_point[0], n);
			assert_all_bits(c->closest_point[1], one->closest_point[1], n);
			for (int e = 0; e < o.dim * (o.dim - 1); e++)
				assert_all_bits(c->tangent_basis[e], one->tangent_basis[e], n);
			assert_all_bits(c->distance, one->distance, n);
			assert_memory_equal(c->feature, one->feature, n);
			assert_memory_equal(c->skipped, one->skipped, n);
			scene_contacts_free(c);
		}
		scene_contacts_free(one);
		scene_free(&s);
	}
}

/* Neither the order of an edge's vertices nor of the edges changes what a contact contributes. */
static void test_order_does_not_matter(void **state)
{
	struct rng rng = {2407};
	(void)state;
	for (int i = 0; i < N_SCENES; i += step_sanitized(5)) {
		struct scene s;
		struct options o = search_options(&rng, i);
		o.surface_velocity = o.anchor = false; /* these belong to a side */
		scene_create(&s, &rng, o);
		struct fric_contacts *c = scene_contacts(&serial, &s);
		struct results before = results_of(&s, c);
		scene_contacts_free(c);
		for (size_t e = 0; e < s.batch.groups[FRIC_EDGE_EDGE].n; e++) {
			int32_t *v = (int32_t *)s.batch.groups[FRIC_EDGE_EDGE].vertices + 4 * e, old[4];
			memcpy(old, v, sizeof(old));
			const int first = (int)below(&rng, 2) * 2, a = coin(&rng), b = coin(&rng);
			const int order[4] = {first + a, first + 1 - a, 2 - first + b, 3 - first - b};
			for (int k = 0; k < 4; k++)
				v[k] = old[order[k]];
		}
		for (size_t e = 0; e < s.batch.groups[FRIC_EDGE_VERTEX].n; e++) {
			int32_t *v = (int32_t *)s.batch.groups[FRIC_EDGE_VERTEX].vertices + 3 * e, old = v[1];
			v[1] = v[2];
			v[2] = old;
		}
		c = scene_contacts(&serial, &s);
		struct results after = results_of(&s, c);
		assert_same_sums(&before.potential, &after.potential, 1);
		assert_same_sums(before.gradient, after.gradient, scene_ndof(&s));
		assert_same_sums(before.product, after.product, scene_ndof(&s));
		results_free(&before);
		results_free(&after);
		scene_contacts_free(c);
		scene_free(&s);
	}
}

/* Beyond dhat a searched contact has no normal force, although its lines may be close. */
static void test_beyond_dhat(void **state)
{
	static const double positions[12] = {0, 0, 0, 1, 0, 0, 3, 0.01, -1, 3, 0.01, 1},
						velocities[12] = {1, 2, 3, 1, 2, 3};
	static const int32_t vertices[4] = {0, 1, 2, 3};
	struct fric_batch batch = {.dim = 3,
	                           .n_vertices = 4,
	                           .positions = positions,
	                           .friction = {.eps_v = 1e-3, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5},
	                           .barrier = {.dhat = 0.1, .stiffness = 1},
	                           .groups = {[FRIC_EDGE_EDGE] = {.n = 1, .vertices = vertices}}};
	(void)state;
	for (int search = 0; search < 2; search++) {
		struct fric_contacts *c;
		struct fric_error error;
		const struct fric_query query = {.velocities = velocities};
		double force, distance, status;
		batch.closest_features = search ? FRIC_FEATURES_SEARCH : FRIC_FEATURES_GIVEN;
		assert_ok(fric_prepare(&serial, &batch, &c, &error));
		assert_ok(fric_contact_output(&serial, c, &query, FRIC_EDGE_EDGE, FRIC_OUT_NORMAL_FORCE, &force, &error));
		assert_ok(fric_contact_output(&serial, c, &query, FRIC_EDGE_EDGE, FRIC_OUT_DISTANCE, &distance, &error));
		assert_ok(fric_contact_output(&serial, c, &query, FRIC_EDGE_EDGE, FRIC_OUT_STATUS, &status, &error));
		assert_true(search ? force == 0 && distance > 2 : force > 0 && distance < 0.011);
		assert_true(status == 1);
		fric_contacts_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_are_those_of_features),
		cmocka_unit_test(test_weights_are_clamped),
		cmocka_unit_test(test_derivatives_follow_features),
		cmocka_unit_test(test_position_jacobian),
		cmocka_unit_test(test_mollified_contacts_have_no_friction),
		cmocka_unit_test(test_mollified_penetration),
		cmocka_unit_test(test_threads_and_kernels),
		cmocka_unit_test(test_order_does_not_matter),
		cmocka_unit_test(test_beyond_dhat),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* fric_compare: correct results agree everywhere; a wrong one is detected and located. */
#include "core/gradcheck/results.h"
#include "core/gradcheck/differences.h"
#include "core/assemble/triplets.h"
#include "core/contacts/contacts.h"
#include "core/fric.h"
#include "core/fric_mollifier.h"
#include "tests/property/scene.h"
#include "tests/share.h"
#include "tests/unit/core/batches.h"

static double worst_of(const struct fric_agreement *a)
{
	return fmax(a->contacts, a->assembled);
}

static double worst_of_all(const struct fric_comparison *c)
{
	return fmax(worst_of(&c->of[FRIC_POTENTIAL]),
	            fmax(worst_of(&c->of[FRIC_GRADIENT]), worst_of(&c->of[FRIC_HESSIAN])));
}

/* ---- differences ---- */

/* Compares with the closed forms along one line, where f1 and f2 are the first and second derivatives. */
static void differences_are_derivatives(void **unused)
{
	static const double z[] = {1e-20, 1e-3, 0.3, 0.49, 0.51, 0.9, 0.999, 1.001, 2, 1e6};
	(void)unused;
	for (size_t i = 0; i < sizeof(z) / sizeof(*z); i++)
		for (enum fric_transition t = FRIC_CUBIC; t <= FRIC_PEAK; t++) {
			const struct fric_law law = {.transition = t};
			const double eps_v = 0.25, y = z[i] * eps_v;
			const long double x[2] = {y, 0};
			struct differences d;
			fricp_differences_at(&law, NULL, 0.7, 0.3, eps_v, 1, x, &d);
			const double g1 = fric_law_force(y, 0.7, 0.3, eps_v, &law);
			const double g2 = fric_law_force_derivative(y, 0.7, 0.3, eps_v, &law);
			assert_near(d.gradient[0], g1, 1e-15 * fmin(1, z[i]));
			assert_near(d.hessian[0], g2 * eps_v, 2e-10);
			assert_near(d.potential * eps_v, fric_law_potential(y, 0.7, 0.3, eps_v, &law), 1e-15 * fmax(1, z[i]));
			fricp_differences_at(&law, NULL, 0.7, 0.3, eps_v, 2, x, &d);
			assert_near(d.hessian[2], g1 / z[i], 2e-10);
			assert_near(d.hessian[1], 0, 1e-11);
		}
}

/* ---- correct results ---- */

static struct fric_comparison compare(const struct fric_context *context, const struct fric_contacts *c,
                                      const double *v)
{
	struct fric_comparison comparison;
	struct fric_error error;
	assert_ok(fric_compare(context, c, scene_query(c, v), &comparison, &error));
	return comparison;
}

static void random_batches_agree(void **unused)
{
	struct rng rng = {7};
	double most = 0;
	(void)unused;
	for (int n = 0; n < 200; n += step_sanitized(5)) {
		struct scene s;
		scene_create(&s, &rng, random_options(&rng, n % 2 ? 2 : 3));
		struct fric_contacts *c = scene_contacts(&serial, &s);
		const struct fric_comparison found = compare(&serial, c, s.velocities);
		most = fmax(most, worst_of_all(&found));
		assert_true(found.agrees);
		assert_true(found.worst >= 0);
		scene_contacts_free(c);
		scene_free(&s);
	}
	assert_true(most < 1e-9);
	assert_true(most > 0);
}

/* A drag without a law, for any ratio between the slip and the slip without its anchor. */
static void drags_agree(void **unused)
{
	static const int32_t vertex = 0;
	static const double up[3] = {0, 0, 1}, anchors[4][3] = {{0}, {1e-3, 2e-3, 0}, {5, -3, 1}, {-0.02, 0.7, 0}};
	const double v[3] = {2e-2, -0.7, 0}, drags[] = {1e-6, 1, 1e9};
	(void)unused;
	for (int i = 0; i < 12; i++) {
		struct fric_batch batch = floor_batch(&vertex, 1, 1);
		batch.friction.law.viscous = drags[i % 3];
		batch.friction.mu_k = i % 2 ? 0 : 0.2;
		batch.friction.mu_s = i % 2 ? 0 : 0.5;
		batch.groups[FRIC_PLANE_VERTEX].anchor = one_value(anchors[i / 3]);
		batch.groups[FRIC_PLANE_VERTEX].plane_normal = one_value(up);
		struct fric_contacts *c = prepared(&batch);
		const struct fric_comparison found = compare(&serial, c, v);
		assert_true(found.agrees);
		assert_true(worst_of_all(&found) < 1e-9);
		fric_contacts_free(c);
	}
}

/* Results of contacts without surface velocity, anchor or drag are wrong for contacts that have one. */
static void missing_offsets_are_noticed(void **unused)
{
	struct rng rng = {77};
	(void)unused;
	for (int which = 0; which < 3; which++) {
		struct scene with, without;
		const struct options plain = {.dim = 3, .n_each = 4, .n_vertices = 14, .source = FRIC_MU_SCALAR};
		struct options o = plain;
		o.surface_velocity = which == 0;
		o.anchor = which == 1;
		o.viscous = which == 2 ? 1e-3 : 0;
		struct rng same = rng;
		scene_create(&with, &rng, o);
		scene_create(&without, &same, o);
		without.batch.friction.law.viscous = 0;
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
			without.batch.groups[type].surface_velocity.data = without.batch.groups[type].anchor.data = NULL;
		struct fric_contacts *c = scene_contacts(&serial, &with), *d = scene_contacts(&serial, &without);
		struct results results;
		struct fric_comparison found;
		struct fric_error error;
		assert_ok(fricp_results_make(&serial, d, query(without.velocities), &results, &error));
		assert_ok(fricp_results_compare(&serial, c, query(with.velocities), &results, &found, &error));
		assert_false(found.agrees);
		for (int q = 0; q < FRIC_N_QUANTITIES; q++)
			assert_true(found.of[q].contacts > 1e-8);
		fricp_results_free(&serial, &results);
		scene_contacts_free(c);
		scene_contacts_free(d);
		scene_free(&with);
		scene_free(&without);
	}
}

/* One contact; the slip is along the first axis or across both. */
struct corner {
	double eps_v, force, weight, mu_s, mu_k, aniso[2], velocity[3];
	enum fric_transition transition;
	int dim;
};

static double agreement_at(const struct corner *at)
{
	static const int32_t vertex = 0;
	static const double flat[3] = {0, 1, 0}, up[3] = {0, 0, 1};
	struct fric_batch batch = {.dim = at->dim, .n_vertices = 1};
	batch.friction = (struct fric_friction){.eps_v = at->eps_v,
	                                        .source = FRIC_MU_SCALAR,
	                                        .mu_s = at->mu_s,
	                                        .mu_k = at->mu_k,
	                                        .law = {.transition = at->transition}};
	batch.groups[FRIC_PLANE_VERTEX] = (struct fric_group){.n = 1,
	                                                      .vertices = &vertex,
	                                                      .normal_force = {&at->force, 0},
	                                                      .weight = {&at->weight, 0},
	                                                      .mu_aniso = {at->aniso, 0},
	                                                      .plane_normal = {at->dim == 3 ? up : flat, 0}};
	struct fric_contacts *c;
	struct fric_comparison found;
	struct fric_error error;
	assert_ok(fric_prepare(&serial, &batch, &c, &error));
	const enum fric_code code = fric_compare(&serial, c, scene_query(c, at->velocity), &found, &error);
	scene_contacts_free(c);
	if (code == FRIC_E_NOT_FINITE) /* overflows: nothing to compare */
		return 0;
	assert_code(code, FRIC_OK);
	if (!found.agrees)
		print_error("dim %d eps_v %g force %g weight %g mu %g %g velocity %a %a aniso %g %g: %g %g, %g %g, %g %g\n",
		            at->dim, at->eps_v, at->force, at->weight, at->mu_s, at->mu_k, at->velocity[0], at->velocity[1],
		            at->aniso[0], at->aniso[1], found.of[0].contacts, found.of[0].assembled, found.of[1].contacts,
		            found.of[1].assembled, found.of[2].contacts, found.of[2].assembled);
	assert_true(found.agrees);
	return worst_of_all(&found);
}

#define FOR_EACH(i, list) for (size_t i = 0; i < sizeof(list) / sizeof(*(list)); i++)

/* Speeds at, just below and just above jumps of the third derivative; tiny, large and zero speeds. */
static void agrees_at_the_corners_of_the_law(void **unused)
{
	static const double ratios[] = {0,         1e-320,      1e-300, 1e-30,       1e-12,       1e-11,     1e-6,
	                                0.3,       0.5 - 1e-11, 0.5,    0.5 + 1e-16, 0.5 + 1e-11, 1 - 1e-6,  1 - 3e-11,
	                                1 - 1e-12, 1 - 1e-16,   1,      1 + 3e-16,   1 + 1e-12,   1 + 3e-11, 1 + 5e-11,
	                                1 + 7e-11, 1 + 1e-6,    2,      1e6,         1e300};
	static const double eps[] = {1e-300, 1e-9, 1e-3, 1, 1e9, 1e300};
	static const double mus[][2] = {{0.7, 0.3}, {0.3, 0.7}, {0.5, 0.5},       {1, 0}, {0, 1},
	                                {1, 1e-20}, {1e-20, 1}, {1e-300, 1e-300}, {0, 0}, {1e200, 1}};
	double most = 0;
	(void)unused;
	FOR_EACH(r, ratios)
		FOR_EACH(e, eps)
			FOR_EACH(m, mus)
				for (int how = 0; how < 8; how++) {
					const double y = ratios[r] * eps[e];
					struct corner at = {eps[e], 2,         1,          mus[m][0],      mus[m][1],
					                    {1, 1}, {y, 0, 0}, FRIC_CUBIC, how & 1 ? 2 : 3};
					at.transition = how & 2 ? FRIC_QUADRATIC : FRIC_CUBIC;
					if (how & 4)
						at.velocity[0] = 0.6 * y, at.velocity[1] = 0.8 * y, at.velocity[2] = y;
					if (isfinite(y))
						most = fmax(most, agreement_at(&at));
				}
	assert_true(most < FRIC_TOLERANCE / 10);
}

/* The same for `peak`, whose third derivative jumps at p, m and 1. The closer the coefficients are, the larger the
 * jumps. */
static void agrees_at_the_corners_of_the_peak(void **unused)
{
	static const double mus[][2] = {{0.7, 0.3},    {0.3, 0.7},       {0.5, 0.5},           {1, 0},           {0, 1},
	                                {0.5, 0.4999}, {0.4999999, 0.5}, {0.5, 0.5 - 0x1p-40}, {0.3, 0.1 + 0.2}, {1, 1e-20},
	                                {0, 0}};
	static const double offsets[] = {0, 1e-16, -1e-16, 1e-13, -1e-13, 1e-11, -1e-11, 5e-11, -5e-11, 1e-6, -1e-6};
	(void)unused;
	FOR_EACH(m, mus)
		FOR_EACH(o, offsets)
			for (int how = 0; how < 4 * 2 * 2; how++) {
				const double top = fmax(mus[m][0], mus[m][1]), low = fmin(mus[m][0], mus[m][1]);
				const double w = top > 0 ? (top - low) / (2 * top) : 0, z = 1 - w * (how % 4) / 2 + offsets[o];
				const double y = (how % 4 == 3 ? 0.3 : z) * 1e-3;
				struct corner at = {1e-3, 2, 1, mus[m][0], mus[m][1], {1, 1}, {y, 0, 0}, FRIC_PEAK, how & 4 ? 2 : 3};
				if (how & 8)
					at.velocity[0] = 0.6 * y, at.velocity[1] = 0.8 * y, at.velocity[2] = y;
				agreement_at(&at);
			}
}

static void agrees_for_extreme_forces(void **unused)
{
	static const double forces[] = {0, 5e-324, 1e-310, 1e-300, 1e-9, 1e9, 1e300}, weights[] = {-3, 0, 1e-200, 1e200, 1};
	static const double ratios[] = {0, 1e-300, 1e-3, 0.7, 1, 3}, anisos[][2] = {{1, 1}, {1e-9, 1}, {1e9, 1e-9}};
	static const double eps[] = {1e-9, 1, 1e9};
	(void)unused;
	FOR_EACH(f, forces)
		FOR_EACH(w, weights)
			FOR_EACH(r, ratios)
				FOR_EACH(a, anisos)
					FOR_EACH(e, eps) {
						const double y = ratios[r] * eps[e];
						struct corner at = {
							eps[e],          forces[f],  weights[w], 0.7, 0.3, {anisos[a][0], anisos[a][1]},
							{0.3 * y, y, y}, FRIC_CUBIC, 3};
						agreement_at(&at);
					}
}

/* Velocities nearly cancel in the slip and determine few of its digits. The comparison must allow for that. */
static void agrees_where_velocities_cancel(void **unused)
{
	struct rng rng = {3};
	(void)unused;
	for (int n = 0; n < 50; n++) {
		struct scene s;
		struct options o = random_options(&rng, n % 2 ? 2 : 3);
		scene_create(&s, &rng, o);
		for (size_t i = 0; i < scene_ndof(&s); i++) /* a fast common motion */
			s.velocities[i] = 1e6 * (1 + (double)(i % (size_t)o.dim)) + 1e-3 * s.velocities[i];
		struct fric_contacts *c = scene_contacts(&serial, &s);
		assert_true(compare(&serial, c, s.velocities).agrees);
		scene_contacts_free(c);
		scene_free(&s);
	}
}

static void an_empty_batch_agrees(void **unused)
{
	const struct fric_batch batch = {.dim = 3, .n_vertices = 0};
	struct fric_contacts *c = prepared(&batch);
	const double none = 0;
	(void)unused;
	const struct fric_comparison found = compare(&serial, c, &none);
	assert_true(found.agrees);
	assert_int_equal(found.worst, -1);
	scene_contacts_free(c);
}

static void names_the_worst_contact(void **unused)
{
	const struct fric_batch batch = corner_batch();
	struct fric_contacts *c = prepared(&batch);
	const double v[24] = {0.5, 0.25, 0, 3, 1, 2, 0.1, 0.2, 0.3, -1, 0.5, 0.25};
	(void)unused;
	const struct fric_comparison found = compare(&serial, c, v);
	double ratio;
	struct fric_error error;
	assert_ok(fric_contact_output(&serial, c, scene_query(c, v), found.group, FRIC_OUT_SLIP_RATIO, &ratio, &error));
	assert_bits(found.slip_ratio, ratio);
	assert_int_equal(found.status, ratio >= 1);
	assert_int_equal(found.worst, 0);
	for (int k = 0; k < fric_stencil_size(found.group); k++)
		assert_int_equal(found.vertices[k], corner_stencils[found.group][k]);
	scene_contacts_free(c);
}

/* ---- wrong results ---- */

struct falsified {
	struct scene scene;
	struct fric_contacts *contacts;
	struct results results;
};

static int start(void **state)
{
	struct falsified *f = *state = calloc(1, sizeof(*f));
	struct rng rng = {11};
	struct options o = {.dim = 3,
	                    .n_each = 40,
	                    .disjoint = true,
	                    .source = FRIC_MU_SCALAR,
	                    .given_geometry = true,
	                    .mu_aniso = true,
	                    .own_eps_v = true};
	struct fric_error error;
	scene_create(&f->scene, &rng, o);
	double *force = (double *)(uintptr_t)f->scene.batch.groups[FRIC_EDGE_EDGE].normal_force.data;
	for (size_t i = 0; i < o.n_each; i++)
		force[i] *= 1e-12; /* a fault in one of these is negligible compared with the others */
	f->contacts = scene_contacts(&serial, &f->scene);
	assert_ok(
		fricp_results_make(&serial, f->contacts, scene_query(f->contacts, f->scene.velocities), &f->results, &error));
	return 0;
}

static int stop(void **state)
{
	struct falsified *f = *state;
	fricp_results_free(&serial, &f->results);
	scene_contacts_free(f->contacts);
	scene_free(&f->scene);
	free(f);
	return 0;
}

static struct fric_comparison judged(const struct falsified *f)
{
	struct fric_comparison found;
	struct fric_error error;
	assert_ok(fricp_results_compare(&serial, f->contacts, scene_query(f->contacts, f->scene.velocities), &f->results,
	                                &found, &error));
	return found;
}

static void expect_worst(const struct falsified *f, enum fric_quantity quantity, enum fric_type group, int64_t index)
{
	const struct fric_comparison found = judged(f);
	assert_false(found.agrees);
	assert_int_equal(found.quantity, quantity);
	assert_int_equal(found.group, group);
	assert_int_equal(found.worst, index);
	assert_true(found.relative_difference > FRIC_TOLERANCE);
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		if (q != (int)quantity)
			assert_true(worst_of(&found.of[q]) <= FRIC_TOLERANCE);
}

enum { WRONG = 17 }; /* contact of the edge_edge group; 40 + 40 before */

static void finds_a_wrong_force(void **state)
{
	struct falsified *f = *state;
	f->results.forces[(80 + WRONG) * 3 + 1] *= 1.0001;
	expect_worst(f, FRIC_GRADIENT, FRIC_EDGE_EDGE, WRONG);
}

static void finds_a_wrong_inner_matrix(void **state)
{
	struct falsified *f = *state;
	f->results.inner[(80 + WRONG) * 3 + 1] += 1e-5 * f->results.inner[(80 + WRONG) * 3];
	expect_worst(f, FRIC_HESSIAN, FRIC_EDGE_EDGE, WRONG);
}

static void finds_a_wrong_potential(void **state)
{
	struct falsified *f = *state;
	f->results.potentials[80 + WRONG] *= -1;
	expect_worst(f, FRIC_POTENTIAL, FRIC_EDGE_EDGE, WRONG);
}

static void finds_a_wrong_sum_of_potentials(void **state)
{
	struct falsified *f = *state;
	f->results.potential *= 1.001;
	const struct fric_comparison found = judged(f);
	assert_false(found.agrees);
	assert_int_equal(found.quantity, FRIC_POTENTIAL);
	assert_near(found.of[FRIC_POTENTIAL].largest_difference, f->results.potential * (1 - 1 / 1.001), 1e-12);
}

/* One vertex of the contact lacks its share of the force. */
static void finds_a_wrong_entry_of_the_gradient(void **state)
{
	struct falsified *f = *state;
	const int32_t *stencil = f->scene.batch.groups[FRIC_EDGE_EDGE].vertices + 4 * WRONG;
	f->results.gradient[3 * stencil[2] + 1] *= 0.999;
	expect_worst(f, FRIC_GRADIENT, FRIC_EDGE_EDGE, WRONG);
}

/* A sum may deviate by more, but naming a wrong contact is more specific. */
static void a_wrong_contact_is_worse_than_a_wrong_sum(void **state)
{
	struct falsified *f = *state;
	const int32_t *stencil = f->scene.batch.groups[FRIC_FACE_VERTEX].vertices;
	f->results.forces[(80 + WRONG) * 3 + 1] *= 1.0001;
	f->results.gradient[3 * stencil[0] + 1] *= 2;
	expect_worst(f, FRIC_GRADIENT, FRIC_EDGE_EDGE, WRONG);
}

static void finds_forces_at_a_vertex_without_contacts(void **unused)
{
	const int32_t vertex = 0;
	const struct fric_batch batch = floor_batch(&vertex, 1, 2);
	const double v[6] = {1, 2, 0, 4, 5, 6};
	struct fric_contacts *c = prepared(&batch);
	struct results results;
	struct fric_comparison found;
	struct fric_error error;
	(void)unused;
	assert_ok(fricp_results_make(&serial, c, scene_query(c, v), &results, &error));
	results.gradient[4] = 5e-324;
	assert_ok(fricp_results_compare(&serial, c, scene_query(c, v), &results, &found, &error));
	assert_false(found.agrees);
	assert_near(found.of[FRIC_GRADIENT].assembled, 1, 0);
	fricp_results_free(&serial, &results);
	scene_contacts_free(c);
}

static void finds_a_wrong_entry_of_csr(void **state)
{
	struct falsified *f = *state;
	const int32_t *stencil = f->scene.batch.groups[FRIC_EDGE_EDGE].vertices + 4 * WRONG;
	const int64_t *indptr = fric_pattern_indptr(f->results.pattern);
	f->results.csr[indptr[3 * stencil[1]] + 4] += 1e-3 * fabs(f->results.csr[indptr[3 * stencil[1]]]);
	expect_worst(f, FRIC_HESSIAN, FRIC_EDGE_EDGE, WRONG);
}

/* The linker puts this function in place of the one that returns the triplets of a few contacts. It can falsify a row,
 * a column or a value of one contact. */
static enum { NOTHING, A_ROW, A_COLUMN, A_VALUE } falsify;
size_t __real_fricp_triplets_of(const struct fric_contacts *contacts, const double *inner, size_t begin, size_t end,
                                int32_t *rows, int32_t *cols, double *values);
size_t __wrap_fricp_triplets_of(const struct fric_contacts *contacts, const double *inner, size_t begin, size_t end,
                                int32_t *rows, int32_t *cols, double *values);

size_t __wrap_fricp_triplets_of(const struct fric_contacts *contacts, const double *inner, size_t begin, size_t end,
                                int32_t *rows, int32_t *cols, double *values)
{
	const size_t fine = __real_fricp_triplets_of(contacts, inner, begin, end, rows, cols, values);
	const size_t wrong = contacts->start[FRIC_EDGE_EDGE] + WRONG, entry = 5 * 12 + 7; /* row 5, column 7 of 12 x 12 */
	size_t at = 0;
	for (size_t i = begin; i < wrong; i++)
		at += i < contacts->start[FRIC_EDGE_VERTEX] ? 36 : i < contacts->start[FRIC_EDGE_EDGE] ? 81 : 144;
	if (falsify != NOTHING && wrong >= begin && wrong < end) {
		rows[at + entry] += falsify == A_ROW;
		cols[at + entry] -= falsify == A_COLUMN;
		values[at + entry] *= falsify == A_VALUE ? 1.0001 : 1;
	}
	return fine;
}

/* Triplets are not part of any sum, but are compared contact by contact. */
static void finds_a_wrong_triplet(void **state)
{
	struct falsified *f = *state;
	for (falsify = A_ROW; falsify <= A_VALUE; falsify++)
		expect_worst(f, FRIC_HESSIAN, FRIC_EDGE_EDGE, WRONG);
	falsify = NOTHING;
	assert_true(judged(f).agrees);
}

static void what_is_not_zero_where_it_must_be_is_wrong(void **state)
{
	struct falsified *f = *state;
	struct scene *s = &f->scene;
	double *force = (double *)(uintptr_t)s->batch.groups[FRIC_EDGE_EDGE].normal_force.data;
	struct fric_error error;
	force[WRONG] = 0;
	scene_contacts_free(f->contacts);
	fricp_results_free(&serial, &f->results);
	f->contacts = scene_contacts(&serial, s);
	assert_ok(fricp_results_make(&serial, f->contacts, scene_query(f->contacts, s->velocities), &f->results, &error));
	assert_true(judged(f).agrees);
	f->results.inner[(80 + WRONG) * 3] = 5e-324;
	expect_worst(f, FRIC_HESSIAN, FRIC_EDGE_EDGE, WRONG);
	assert_near(judged(f).relative_difference, 1, 0);
}

static void finds_what_is_no_number(void **state)
{
	struct falsified *f = *state;
	f->results.forces[(80 + WRONG) * 3] = NAN;
	const struct fric_comparison found = judged(f);
	assert_false(found.agrees);
	assert_int_equal(found.worst, WRONG);
	assert_true(isfinite(found.relative_difference));
}

/* ---- threads, stopping, memory ---- */

static void any_number_of_threads_finds_the_same(void **unused)
{
	struct rng rng = {5};
	struct scene s;
	struct options o = random_options(&rng, 3);
	(void)unused;
	o.n_each = 4000 / (size_t)step_sanitized(3); /* more than a window */
	o.n_vertices = 3000;
	o.given_geometry = true;
	o.barrier = false;
	scene_create(&s, &rng, o);
	struct fric_contacts *c = scene_contacts(&serial, &s);
	const struct fric_comparison one = compare(&serial, c, s.velocities);
	assert_true(one.agrees);
	for (int threads = 2; threads <= 5; threads += 3) {
		const struct fric_context context = {.n_threads = threads, .parallel_from = 1};
		const struct fric_comparison many = compare(&context, c, s.velocities);
		for (int q = 0; q < FRIC_N_QUANTITIES; q++)
			assert_all_bits(&many.of[q].largest_difference, &one.of[q].largest_difference, 4);
		assert_int_equal(many.worst, one.worst);
		assert_int_equal(many.group, one.group);
		assert_bits(many.relative_difference, one.relative_difference);
	}
	scene_contacts_free(c);
	scene_free(&s);
}

static void every_set_of_kernels_agrees(void **unused)
{
	static const char *const names[] = {"scalar", "baseline", "avx2", "avx512"};
	struct rng rng = {9};
	(void)unused;
	FOR_EACH(i, names) {
		struct scene s;
		const struct fric_context context = {.n_threads = 1, .kernels = fric_kernels_find(names[i])};
		if (!context.kernels)
			continue;
		struct options o = random_options(&rng, 3);
		o.n_each = 100, o.n_vertices = 80;
		scene_create(&s, &rng, o);
		struct fric_contacts *c = scene_contacts(&context, &s);
		assert_true(compare(&context, c, s.velocities).agrees);
		scene_contacts_free(c);
		scene_free(&s);
	}
}

static void stops_when_told(void **state)
{
	struct falsified *f = *state;
	const atomic_bool now = true;
	const struct fric_context context = {.n_threads = 1, .stop = &now};
	struct fric_comparison found;
	struct fric_error error;
	assert_code(fricp_results_compare(&context, f->contacts, scene_query(f->contacts, f->scene.velocities), &f->results,
	                                  &found, &error),
	            FRIC_E_STOPPED);
	assert_code(fric_compare(&context, f->contacts, scene_query(f->contacts, f->scene.velocities), &found, &error),
	            FRIC_E_STOPPED);
}

/* An allocator that returns a given number of blocks and then fails. */
struct scarce {
	int left, out;
};

static void *take(void *pool, size_t bytes)
{
	struct scarce *s = pool;
	if (s->left-- <= 0)
		return NULL;
	s->out++;
	return aligned_alloc(64, (bytes / 64 + 1) * 64);
}

static void give(void *pool, void *block, size_t bytes)
{
	struct scarce *s = pool;
	(void)bytes;
	s->out--;
	free(block);
}

static void says_when_memory_is_short(void **state)
{
	struct falsified *f = *state;
	enum fric_code code = FRIC_E_MEMORY;
	int blocks = 0;
	for (; code != FRIC_OK; blocks++) {
		struct scarce scarce = {blocks, 0};
		const struct fric_memory memory = {take, give, &scarce};
		const struct fric_context context = {.n_threads = 1, .memory = &memory};
		struct fric_comparison found;
		struct fric_error error;
		code = fric_compare(&context, f->contacts, scene_query(f->contacts, f->scene.velocities), &found, &error);
		assert_int_equal(scarce.out, 0);
		assert_true(code == FRIC_OK || code == FRIC_E_MEMORY);
	}
	assert_true(blocks > 5);
}

/* ---- near knots ---- */

struct knot {
	struct fric_law law;
	double speeds[4], factors[4], eps_v, mu_s, mu_k, velocity[3];
	int dim;
};

/* A contact close to where its law changes (eps_v, a point of a curve, 2 eps_v) or beyond it. The speed of decay is as
 * low as eps_v / 2^48, and the coefficients are sometimes equal or nearly equal. */
static void random_knot(struct rng *rng, struct knot *k)
{
	static const enum fric_law_type types[] = {FRIC_EXPONENTIAL, FRIC_STRIBECK, FRIC_CURVE, FRIC_ADHESION};
	const enum fric_law_type type = types[below(rng, 4)];
	const double eps_v = pow(10, uniform(rng, -5, 5)), unit = eps_v * pow(2, -uniform(rng, 0, 48));
	const double off = below(rng, 4) == 0 ? 0 : (below(rng, 2) ? 1 : -1) * pow(10, uniform(rng, -17, -3));
	*k = (struct knot){.law = {.type = type, .stribeck_speed = unit},
	                   .speeds = {0, unit, 1.5 * unit, 4 * unit},
	                   .factors = {1, 0.5, 0.4, 1.25},
	                   .eps_v = eps_v,
	                   .mu_s = uniform(rng, 0.1, 1),
	                   .dim = below(rng, 2) ? 3 : 2};
	const double other[3] = {uniform(rng, 0.1, 1), k->mu_s, k->mu_s * (1 + 1e-9)};
	k->mu_k = type == FRIC_CURVE || type == FRIC_ADHESION ? k->mu_s : other[below(rng, 2) ? 0 : below(rng, 3)];
	double y = eps_v * (type == FRIC_ADHESION ? 2 : 1);
	if (type == FRIC_CURVE)
		y += k->speeds[below(rng, 4)];
	y = below(rng, 3) ? y * (1 + off) : y + unit * pow(2, uniform(rng, -3, 10));
	const double angle = below(rng, 2) ? 0 : uniform(rng, 0, 6.28);
	k->velocity[0] = k->dim == 3 ? cos(angle) * y : y;
	k->velocity[1] = k->dim == 3 ? sin(angle) * y : 0;
}

/* Compares results computed at other velocities with the right results at the contact's own. */
static struct fric_comparison result_at(const struct knot *k, const double *velocity, double factor)
{
	static const int32_t vertex = 0;
	static const double flat[3] = {0, 1, 0}, up[3] = {0, 0, 1};
	struct fric_batch batch = {.dim = k->dim, .n_vertices = 1};
	struct fric_law law = k->law;
	law.curve = (struct fric_curve){4, k->speeds, k->factors, NULL};
	batch.friction = (struct fric_friction){
		.eps_v = k->eps_v, .source = FRIC_MU_SCALAR, .mu_s = k->mu_s, .mu_k = k->mu_k, .law = law};
	batch.groups[FRIC_PLANE_VERTEX] = (struct fric_group){
		.n = 1, .vertices = &vertex, .normal_force = {&force_of_two, 0}, .plane_normal = {k->dim == 3 ? up : flat, 0}};
	struct fric_contacts *c = prepared(&batch);
	struct results results;
	struct fric_comparison found;
	struct fric_error error;
	assert_ok(fricp_results_make(&serial, c, query(velocity), &results, &error));
	for (size_t e = 0; e < fric_n_inner(c); e++)
		results.inner[e] *= factor;
	assert_ok(fricp_results_compare(&serial, c, query(k->velocity), &results, &found, &error));
	fricp_results_free(&serial, &results);
	fric_contacts_free(c);
	return found;
}

static void agrees_near_knots(void **unused)
{
	struct rng rng = {23};
	int alarms = 0;
	(void)unused;
	for (int n = 0; n < 20000; n += step_in_share(5, 21)) {
		struct knot k;
		random_knot(&rng, &k);
		const struct fric_comparison found = result_at(&k, k.velocity, 1);
		if (!found.agrees && alarms++ < 5)
			print_error("law %d dim %d eps_v %a speed %a mu %g %g velocity %a %a: %g %g\n", k.law.type, k.dim, k.eps_v,
			            k.law.stribeck_speed, k.mu_s, k.mu_k, k.velocity[0], k.velocity[1],
			            worst_of(&found.of[FRIC_GRADIENT]), worst_of(&found.of[FRIC_HESSIAN]));
	}
	assert_int_equal(alarms, 0);
}

/* A Hessian from the other side of the jump, a rounding away, is wrong, and so is one that is off by a thousandth. */
static void finds_the_wrong_side_of_a_jump(void **unused)
{
	struct rng rng = {29};
	(void)unused;
	for (int n = 0; n < 2000; n++) {
		struct knot k;
		random_knot(&rng, &k);
		const bool breaks = k.law.type == FRIC_ADHESION;
		if (!breaks && k.law.type != FRIC_EXPONENTIAL)
			continue;
		const double knot = (breaks ? 2 : 1) * k.eps_v, before = nextafter(knot, 0);
		k.velocity[0] = n % 2 ? knot : before;
		k.velocity[1] = 0;
		const double other[3] = {n % 2 ? before : knot, 0, 0};
		const double q = k.eps_v / k.law.stribeck_speed, jump = breaks ? 1 : fabs(k.mu_s - k.mu_k) * q;
		const struct fric_comparison found = result_at(&k, other, 1);
		assert_true(result_at(&k, k.velocity, 1).agrees);
		if (!breaks && (q > 0x1p+20 || jump < 1e-3))
			continue;
		assert_false(found.agrees);
		assert_int_equal(found.quantity, FRIC_HESSIAN);
		if (n % 2 && !breaks)
			assert_false(result_at(&k, k.velocity, 1.001).agrees);
	}
}

#define FALSIFIED(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences_are_derivatives),
		cmocka_unit_test(drags_agree),
		cmocka_unit_test(missing_offsets_are_noticed),
		cmocka_unit_test(random_batches_agree),
		cmocka_unit_test(agrees_at_the_corners_of_the_law),
		cmocka_unit_test(agrees_at_the_corners_of_the_peak),
		cmocka_unit_test(agrees_for_extreme_forces),
		cmocka_unit_test(agrees_where_velocities_cancel),
		cmocka_unit_test(agrees_near_knots),
		cmocka_unit_test(finds_the_wrong_side_of_a_jump),
		cmocka_unit_test(an_empty_batch_agrees),
		cmocka_unit_test(names_the_worst_contact),
		FALSIFIED(finds_a_wrong_force),
		FALSIFIED(finds_a_wrong_inner_matrix),
		FALSIFIED(finds_a_wrong_potential),
		FALSIFIED(finds_a_wrong_sum_of_potentials),
		FALSIFIED(finds_a_wrong_entry_of_the_gradient),
		FALSIFIED(a_wrong_contact_is_worse_than_a_wrong_sum),
		cmocka_unit_test(finds_forces_at_a_vertex_without_contacts),
		FALSIFIED(finds_a_wrong_entry_of_csr),
		FALSIFIED(finds_a_wrong_triplet),
		FALSIFIED(what_is_not_zero_where_it_must_be_is_wrong),
		FALSIFIED(finds_what_is_no_number),
		cmocka_unit_test(any_number_of_threads_finds_the_same),
		cmocka_unit_test(every_set_of_kernels_agrees),
		FALSIFIED(stops_when_told),
		FALSIFIED(says_when_memory_is_short),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

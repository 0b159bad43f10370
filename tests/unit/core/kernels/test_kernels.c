/* Every kernel that this processor supports gives the bits of the scalar form, for batches with all kinds of contacts:
 * sticking, sliding, at rest, nearly degenerate, of extreme size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/fric.h"
#include "tests/bench/mix.c"
#include "tests/share.h"

enum { N = 3000 };

static const char *const names[] = {"avx512", "avx2", "baseline"};

struct results {
	double potential, *gradient, *inner, *outputs;
	size_t n_outputs;
	enum fric_code code;
};

static struct results evaluate(const struct mix *m, const char *kernels, enum fric_projection projection, int n_threads)
{
	const struct fric_context context = {
		.n_threads = n_threads, .parallel_from = 1, .kernels = fric_kernels_find(kernels)};
	struct results r = {.gradient = calloc(3 * m->n_vertices, sizeof(double)),
	                    .inner = calloc(3 * N, sizeof(double)),
	                    .outputs = calloc((6 + 2 + 1 + 1) * N, sizeof(double))};
	const struct fric_query query = {.velocities = m->velocities};
	struct fric_contacts *contacts;
	struct fric_error error;
	assert_non_null(context.kernels);
	r.code = fric_prepare(&context, &m->batch, &contacts, &error);
	assert_int_equal(r.code, FRIC_OK);
	r.code = fric_evaluate(&context, contacts, &query, &r.potential, r.gradient, &error);
	if (r.code == FRIC_OK)
		r.code = fric_hessian_inner(&context, contacts, &query, projection, r.inner, &error);
	const enum fric_output wanted[] = {FRIC_OUT_TANGENT_BASIS, FRIC_OUT_CLOSEST_POINT, FRIC_OUT_DISTANCE,
	                                   FRIC_OUT_NORMAL_FORCE};
	const size_t rows[] = {6, 0, 1, 1};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		for (int o = 0; o < 4; o++) {
			const size_t row = rows[o] ? rows[o] : (size_t)fric_closest_point_size(type);
			fric_contact_output(&context, contacts, &query, type, wanted[o], r.outputs + r.n_outputs, &error);
			r.n_outputs += row * fric_group_size(contacts, type);
		}
	fric_contacts_free(contacts);
	return r;
}

static void free_results(struct results *r)
{
	free(r->gradient);
	free(r->inner);
	free(r->outputs);
}

/* With a sanitizer, three threads reach all that one thread does. */
static void assert_same(const struct mix *m, enum fric_projection projection)
{
	struct results plain = evaluate(m, "scalar", projection, 1);
	assert_int_equal(plain.code, FRIC_OK);
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		if (!fric_kernels_find(names[k]))
			continue;
		for (int n_threads = step_sanitized(3); n_threads <= 3; n_threads += 2) {
			struct results r = evaluate(m, names[k], projection, n_threads);
			assert_int_equal(r.code, FRIC_OK);
			assert_memory_equal(&r.potential, &plain.potential, sizeof(double));
			assert_memory_equal(r.gradient, plain.gradient, 3 * m->n_vertices * sizeof(double));
			assert_memory_equal(r.inner, plain.inner, 3 * N * sizeof(double));
			assert_int_equal(r.n_outputs, plain.n_outputs);
			assert_memory_equal(r.outputs, plain.outputs, r.n_outputs * sizeof(double));
			free_results(&r);
		}
	}
	free_results(&plain);
}

/* Speeds in the mix are up to a few times the law's. With a sanitizer, laws take turns with the projections, and so do
 * transitions. */
static void each_law(struct mix *m)
{
	static const double speeds[] = {0, 0.25e-3, 0.4e-3, 0.8e-3, 1.1e-3}, factors[] = {1, 0.5, 1.25, 0, 0.125};
	const unsigned step = (unsigned)step_sanitized(3);
	for (enum fric_law_type type = FRIC_STRIBECK; type <= FRIC_ADHESION; type++)
		for (enum fric_projection p = type % step; p <= FRIC_PROJECT_ABS; p += step) {
			m->batch.friction.law = (struct fric_law){
				.type = type, .stribeck_speed = 0.6e-3, .curve = {.n = 5, .speeds = speeds, .factors = factors}};
			assert_same(m, p);
		}
	m->batch.friction.law = (struct fric_law){.transition = FRIC_CUBIC};
}

static void each_projection_and_transition(struct mix *m)
{
	const unsigned step = (unsigned)step_sanitized(3);
	for (enum fric_transition t = FRIC_CUBIC; t <= FRIC_PEAK; t++)
		for (enum fric_projection p = t % step; p <= FRIC_PROJECT_ABS; p += step) {
			m->batch.friction.law.transition = t;
			assert_same(m, p);
		}
	each_law(m);
}

static void test_uniform_fields(void **unused)
{
	struct mix m;
	(void)unused;
	mix_make(N, MESH_MIX, &m);
	each_projection_and_transition(&m);
	mix_free(&m);
}

static double *random_rows(size_t n, double from, double to)
{
	double *rows = malloc(n * sizeof(*rows));
	for (size_t i = 0; i < n; i++)
		rows[i] = from + (to - from) * uniform();
	return rows;
}

static void test_fields_per_contact(void **unused)
{
	struct mix m;
	(void)unused;
	mix_make(N, MESH_MIX, &m);
	double *weight = random_rows(N, -1, 2), *eps_v = random_rows(N, 1e-4, 2e-3), *mu_s = random_rows(N, 0, 1),
		   *mu_k = random_rows(N, 0, 1), *aniso = random_rows(2 * N, 0.5, 2), *ellipse = random_rows(2 * N, 0, 1);
	for (enum fric_type type = 0; type < FRIC_PLANE_VERTEX; type++) {
		struct fric_group *g = &m.batch.groups[type];
		g->weight = (struct fric_values){weight, 1};
		g->eps_v = (struct fric_values){eps_v, 1};
		g->mu_s = (struct fric_values){mu_s, 1};
		g->mu_k = (struct fric_values){mu_k, 1};
		g->mu_aniso = (struct fric_values){aniso, 2};
		g->mu_s_aniso = (struct fric_values){ellipse, 2};
	}
	each_projection_and_transition(&m);
	free(weight);
	free(eps_v);
	free(mu_s);
	free(mu_k);
	free(aniso);
	free(ellipse);
	mix_free(&m);
}

/* Surface velocities, anchors and drags, with one row for all contacts or one row each. */
static void add_offsets(struct mix *m, const double *surface, const double *anchor, const double *viscous,
                        size_t one_each)
{
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		struct fric_group *g = &m->batch.groups[type];
		g->surface_velocity = (struct fric_values){surface, 3 * one_each};
		g->anchor = (struct fric_values){anchor, 3 * one_each};
		g->viscous = (struct fric_values){viscous, one_each};
	}
}

/* Some numbers need more precision than plain doubles have. */
static void make_some_extreme(double *surface, double *anchor, double *viscous)
{
	for (size_t i = 0; i < N; i++) {
		surface[3 * i] *= i % 13 == 0 ? 1e100 : 1;
		anchor[3 * i] *= i % 9 == 0 ? 1e-170 : i % 11 == 0 ? 1e100 : 1;
		viscous[i] *= i % 7 == 0 ? 1e80 : i % 5 == 0 ? 0 : 1;
	}
}

/* Each field alone, and all together. */
static void test_offsets(void **unused)
{
	struct mix m;
	(void)unused;
	mix_make(N, MESH_MIX, &m);
	double *surface = random_rows(3 * N, -2e-3, 2e-3), *anchor = random_rows(3 * N, -1e-3, 1e-3),
		   *viscous = random_rows(N, 0, 1000);
	add_offsets(&m, surface, anchor, viscous, 0);
	assert_same(&m, FRIC_PROJECT_CLAMP);
	for (int extreme = 0; extreme < 2; extreme++) {
		for (int which = 1; which < 8; which++) {
			add_offsets(&m, which & 1 ? surface : NULL, which & 2 ? anchor : NULL, which & 4 ? viscous : NULL, 1);
			assert_same(&m, (enum fric_projection)(which % 3));
		}
		make_some_extreme(surface, anchor, viscous);
	}
	free(surface);
	free(anchor);
	free(viscous);
	mix_free(&m);
}

static void test_barrier(void **unused)
{
	struct mix m;
	(void)unused;
	mix_make(N, MESH_MIX, &m);
	for (enum fric_type type = 0; type < FRIC_PLANE_VERTEX; type++)
		m.batch.groups[type].normal_force.data = NULL;
	each_projection_and_transition(&m);
	mix_free(&m);
}

/* Contacts at rest and with tiny or huge slips: spans with such contacts are not vectorised, and only these contacts
 * need more than doubles. */
static void test_extreme_velocities(void **unused)
{
	struct mix m;
	(void)unused;
	mix_make(N, MESH_MIX, &m);
	for (size_t v = 0; v < m.n_vertices; v++)
		for (size_t d = 0; d < 3; d++)
			m.velocities[3 * v + d] = v % 5 == 0   ? 0
			                          : v % 7 == 0 ? 1e-170 * uniform()
			                          : v % 9 == 0 ? 1e-320
			                                       : m.velocities[3 * v + d];
	m.velocities[300] = 1e150;
	m.batch.friction.mu_k = 1e-20;
	each_projection_and_transition(&m);
	mix_free(&m);
}

/* Slivers, parallel edges, coincident or very close vertices: double-double arithmetic takes over, contact by
 * contact. */
static void test_nearly_degenerate(void **unused)
{
	struct mix m;
	(void)unused;
	mix_make(N, MESH_MIX, &m);
	for (size_t v = 0; v < m.n_vertices; v++)
		for (size_t d = 0; d < 3; d++) {
			double *x = &m.positions[3 * v + d];
			*x = v % 3 == 0 ? (double)(v % 11) * (double)(d + 1) : v % 4 == 0 ? *x * 1e-9 : v % 13 == 0 ? 0 : *x;
		}
	each_projection_and_transition(&m);
	mix_free(&m);
}

static void test_extreme_forces(void **unused)
{
	struct mix m;
	(void)unused;
	mix_make(N, MESH_MIX, &m);
	for (size_t i = 0; i < N; i++)
		m.normal_force[i] *= i % 3 == 0 ? 1e-180 : i % 5 == 0 ? 1e140 : i % 7 == 0 ? 0 : 1;
	each_projection_and_transition(&m);
	mix_free(&m);
}

/* Laws that decay within a small part of eps_v. As eps_v varies, only some contacts need more than doubles. */
static void test_steep_decays(void **unused)
{
	struct mix m;
	(void)unused;
	mix_make(N, MESH_MIX, &m);
	double *eps_v = random_rows(N, 1e-4, 2e-4);
	for (size_t i = 5; i < N; i += 8)
		eps_v[i] *= 10;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		m.batch.groups[type].eps_v = (struct fric_values){eps_v, 1};
	for (enum fric_law_type type = FRIC_STRIBECK; type <= FRIC_EXPONENTIAL; type++) {
		m.batch.friction.law = (struct fric_law){.type = type, .stribeck_speed = 1e-8};
		assert_same(&m, FRIC_PROJECT_NONE);
	}
	free(eps_v);
	mix_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uniform_fields),
		cmocka_unit_test(test_fields_per_contact),
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_extreme_velocities),
		cmocka_unit_test(test_nearly_degenerate),
		cmocka_unit_test(test_extreme_forces),
		cmocka_unit_test(test_steep_decays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

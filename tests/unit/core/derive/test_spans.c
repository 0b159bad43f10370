/* Compares derivatives by kernels with the plain form, contact by contact: no two contacts share a vertex. */
#include <stdio.h>

#include "core/derive/spans.h"
#include "core/kernels/kernels.h"
#include "tests/property/differentials.h"
#include "tests/share.h"

/* Whether kernels compute derivatives with respect to this field. */
static bool is_known_field(const struct number_field *f, const struct options *o)
{
	if (f->type != FRIC_N_TYPES)
		return f->row <= FRIC_ROW_EPS_V &&
		       (!o->ellipses || (f->row != FRIC_ROW_MU_S && f->row != FRIC_ROW_MU_K && f->row != FRIC_ROW_EPS_V));
	return f->field == FRIC_WRT_VELOCITIES || f->field == FRIC_WRT_POSITIONS ||
	       (f->field >= FRIC_WRT_DHAT && f->field <= FRIC_WRT_DMIN) ||
	       (!o->ellipses && (f->field == FRIC_WRT_EPS_V || f->field == FRIC_WRT_MU_S || f->field == FRIC_WRT_MU_K));
}

struct trial {
	struct scene scene;
	struct fric_contacts *contacts;
	struct fric_query query;
	struct fric_derivation derivation;
	struct number_fields fields;
	size_t n_dofs;
};

/* Groups differ in which fields they have, and in whether these have one row per contact. */
static void vary_groups(struct scene *s, struct rng *rng)
{
	share_rows(s, rng);
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		if (below(rng, 4) == 0)
			s->batch.groups[type].eps_v = (struct fric_values){NULL, 0};
}

static void trial_create(struct trial *t, struct rng *rng, bool moves)
{
	struct options o = random_options(rng, 3);
	o.disjoint = true;
	o.n_each = 1 + below(rng, 150);
	o.grain &= !moves;
	o.source = moves ? FRIC_MU_SCALAR : o.source;
	scene_create(&t->scene, rng, o);
	vary_groups(&t->scene, rng);
	t->contacts = scene_contacts(&serial, &t->scene);
	t->query = *scene_query(t->contacts, t->scene.velocities);
	t->derivation = (struct fric_derivation){.batch = &t->scene.batch,
	                                         .contacts = t->contacts,
	                                         .query = &t->query,
	                                         .slip_velocities = t->query.state ? t->scene.lagged : NULL};
	t->n_dofs = scene_ndof(&t->scene);
	const struct number_fields all = scene_fields(&t->scene);
	t->fields.n = 0;
	for (size_t i = 0; i < all.n; i++)
		if (is_known_field(&all.of[i], &t->scene.options) && (moves || all.of[i].field != FRIC_WRT_POSITIONS))
			t->fields.of[t->fields.n++] = all.of[i];
}

static void trial_free(struct trial *t)
{
	scene_contacts_free(t->contacts);
	scene_free(&t->scene);
}

/* For each vertex, the largest number at the vertices of its contacts, [n_vertices]. It is at least a small fraction of
 * the largest number of all, in case numbers cancelled. */
static double *scales(const struct trial *t, const double *x)
{
	const struct fric_contacts *c = t->contacts;
	double *scale = calloc(c->n_vertices, sizeof(double));
	const double all = largest_of(x, t->n_dofs);
	assert_non_null(scale);
	for (size_t i = 0; i < c->n; i++) {
		const int size = fric_stencil_size(contact_type(c, i));
		double most = 1e-4 * all;
		for (int k = 0; k < size; k++)
			most = fmax(most, largest_of(x + 3 * c->vertices[k][i], 3));
		for (int k = 0; k < size; k++)
			scale[c->vertices[k][i]] = most;
	}
	return scale;
}

/* Kernels without any functions, so that everything takes the plain form. "scalar" stands for all others, which have
 * the same bits. */
static const struct fric_kernels plain = {.name = "plain"};
static const char *const names[] = {"baseline", "avx2", "avx512", "scalar"};

/* The baseline kernels, but memory for results that were not requested contains NaN: no result may depend on it. */
static struct fric_kernels frayed;

enum { PLAIN, NAMED, FRAYED = NAMED + sizeof(names) / sizeof(names[0]), N_WAYS };

static void fray(span_column *columns, size_t n, size_t from)
{
	for (size_t m = 0; m < n; m++)
		for (size_t j = from; j < FRIC_SPAN; j++)
			columns[m][j] = NAN;
}

static void frayed_cotangent(enum fric_type type, struct cotangent_workspace *w)
{
	const size_t n = w->of.at.n, size = w->moves ? (size_t)fric_stencil_size(type) : 0;
	fricp_kernels_baseline.derivatives->cotangent(type, w);
	fray(w->law, N_LAW_NUMBERS, w->by_law ? n : 0);
	fray(w->relative, 3, n);
	fray(&w->strength, 1, n);
	for (size_t k = 0; k < FRIC_MAX_STENCIL; k++)
		fray(w->position[k], 3, k < size ? n : 0);
}

static void frayed_tangent(enum fric_type type, struct tangent_workspace *w)
{
	fricp_kernels_baseline.derivatives->tangent(type, w);
	fray(w->change, N_CHANGES, w->moves ? w->of.at.n : 0);
	fray(&w->potential, 1, w->of.at.n);
	fray(w->force, 3, w->of.at.n);
}

static void make_frayed(void)
{
	static struct derivative_kernels derivatives;
	derivatives = *fricp_kernels_baseline.derivatives;
	derivatives.tangent = frayed_tangent;
	derivatives.cotangent = frayed_cotangent;
	frayed = fricp_kernels_baseline;
	frayed.derivatives = &derivatives;
}

/* Compares the first of the kernels with the plain form, and the others with the first. */
static void check_numbers(const struct trial *t, const double *of[N_WAYS], size_t n, size_t width, double tolerance)
{
	double *scale = width == 3 ? scales(t, of[0]) : NULL;
	const double all = largest_of(of[0], n);
	for (int k = 1; k < N_WAYS; k++) {
		if (!of[k])
			continue;
		for (size_t i = 0; i < n && k == 1; i++)
			assert_near(of[k][i], of[0][i], tolerance * (scale ? scale[i / 3] : all));
		assert_all_bits(of[k], of[1], n);
	}
	free(scale);
}

static struct fric_context context_of(int k, int n_threads)
{
	const struct fric_kernels *kernels = k == PLAIN    ? &plain
	                                     : k == FRAYED ? &frayed
	                                                   : fric_kernels_find(names[k - NAMED]);
	return (struct fric_context){.n_threads = n_threads, .parallel_from = 1, .kernels = kernels};
}

static void check_tangents(struct trial *t, struct rng *rng)
{
	struct fric_differential tangents = {.fields = {0}};
	const double *gradients[N_WAYS] = {0}, *potentials[N_WAYS] = {0};
	for (size_t i = 0; i < t->fields.n; i++)
		if (coin(rng))
			*place_in(&tangents, &t->fields.of[i]) = random_tangent(&t->scene, rng, &t->fields.of[i]);
	for (int k = 0; k < N_WAYS; k++) {
		const struct fric_context context = context_of(k, 1 + k % 2);
		struct fric_error error;
		if (!context.kernels)
			continue;
		double *gradient = scene_memory(&t->scene, 2 * t->n_dofs + 2, sizeof(double)), *tangent = gradient + t->n_dofs;
		assert_ok(fric_jvp(&context, &t->derivation, &tangents, tangent + t->n_dofs, gradient, tangent + t->n_dofs + 1,
		                   tangent, &error));
		gradients[k] = tangent;
		potentials[k] = tangent + t->n_dofs + 1;
	}
	check_numbers(t, gradients, t->n_dofs, 3, 5e-12);
	check_numbers(t, potentials, 1, 1, 1e-12);
}

static size_t width_of(const struct number_field *f)
{
	return f->type == FRIC_N_TYPES && (f->field == FRIC_WRT_VELOCITIES || f->field == FRIC_WRT_POSITIONS) ? 3 : 1;
}

static void check_cotangents(struct trial *t, struct rng *rng)
{
	struct fric_differential cotangents[N_WAYS] = {{.fields = {0}}};
	double *cotangent = random_reals(&t->scene, rng, t->n_dofs, -1, 1), psi = uniform(rng, -1, 1);
	bool wanted[MOST_FIELDS];
	for (size_t i = 0; i < t->fields.n; i++)
		wanted[i] = coin(rng);
	for (int k = 0; k < N_WAYS; k++) {
		const struct fric_context context = context_of(k, 1 + k % 2);
		struct fric_error error;
		double potential, *gradient = scene_memory(&t->scene, t->n_dofs, sizeof(double));
		for (size_t i = 0; i < t->fields.n; i++)
			if (wanted[i])
				*place_in(&cotangents[k], &t->fields.of[i]) =
					scene_memory(&t->scene, t->fields.of[i].n, sizeof(double));
		if (context.kernels)
			assert_ok(fric_vjp(&context, &t->derivation, psi, cotangent, &potential, gradient, &cotangents[k], &error));
	}
	for (size_t i = 0; i < t->fields.n; i++) {
		const double *of[N_WAYS] = {0};
		for (int k = 0; k < N_WAYS && wanted[i]; k++)
			of[k] = context_of(k, 1).kernels ? *place_in(&cotangents[k], &t->fields.of[i]) : NULL;
		if (wanted[i])
			check_numbers(t, of, t->fields.of[i].n, width_of(&t->fields.of[i]), 5e-12);
	}
}

static void test_kernels(void **state)
{
	(void)state;
	struct rng rng = {71};
	make_frayed();
	for (int i = 0; i < 150; i += step_sanitized(7)) {
		struct trial t;
		trial_create(&t, &rng, i % 3 != 0);
		check_tangents(&t, &rng);
		check_cotangents(&t, &rng);
		trial_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

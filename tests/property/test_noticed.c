/* The comparisons of gradcheck notice kernels that are wrong at a single contact, and blame that contact. Each result
 * of a contact in turn is falsified slightly, and then by so little that it must not be reported. */
#include "core/contacts/contacts.h"
#include "core/kernels/kernels.h"
#include "core/kernels/workspace.h"
#include "tests/property/differentials.h"

/* The falsified result of the kernels, and by how much it is off. */
static struct {
	const struct fric_kernels *sound;
	const double *weight; /* address of the contact's weight, which identifies it */
	enum fric_quantity quantity;
	int entry;
	double by;
} spoiler;

static void spoil(struct workspace *work, enum fric_quantity quantity, double *x)
{
	const ptrdiff_t j = spoiler.weight - work->weight;
	if (quantity == spoiler.quantity && j >= 0 && j < (ptrdiff_t)work->n)
		x[j] += spoiler.by;
}

static void spoiled_force(struct workspace *work, bool potentials)
{
	spoiler.sound->force(work, potentials);
	if (potentials)
		spoil(work, FRIC_POTENTIAL, work->potential);
	spoil(work, FRIC_GRADIENT, work->force[spoiler.entry % 3]);
}

static void spoiled_inner(struct workspace *work, enum fric_projection projection)
{
	spoiler.sound->inner(work, projection);
	spoil(work, FRIC_HESSIAN, work->inner[spoiler.entry % 3]);
}

/* The magnitude of a contact's result: at most its scale in the comparison. */
static double size_of(const struct fric_contacts *c, const struct fric_query *query, enum fric_type type, size_t i)
{
	const size_t at = c->start[type] + i;
	const double s = fabs(*column_at(c->weight, at) * *column_at(c->normal_force, at)),
				 eps_v = *column_at(c->eps_v, at);
	const struct coefficients *mu = coefficients_for(c, query);
	const double most = fmax(*column_at(mu->mu_s, at), *column_at(mu->mu_k, at));
	return spoiler.quantity == FRIC_POTENTIAL  ? s * most * eps_v
	       : spoiler.quantity == FRIC_GRADIENT ? s * most
	                                           : s * most / eps_v;
}

static struct fric_comparison compare(const struct fric_kernels *kernels, const struct fric_contacts *c,
                                      const struct fric_query *query)
{
	const struct fric_context context = {.n_threads = 1, .kernels = kernels};
	struct fric_comparison comparison;
	struct fric_error error;
	assert_ok(fric_compare(&context, c, query, &comparison, &error));
	return comparison;
}

static void try_contact(const struct scene *s, const struct fric_contacts *c, enum fric_type type, size_t i, int entry)
{
	struct fric_kernels spoiled = *fric_kernels_find("baseline");
	const struct fric_query *query = scene_query(c, s->velocities);
	spoiler.sound = fric_kernels_find("baseline");
	spoiler.weight = column_at(c->weight, c->start[type] + i);
	spoiler.quantity = (enum fric_quantity)(entry % FRIC_N_QUANTITIES);
	spoiler.entry = entry / FRIC_N_QUANTITIES;
	spoiled.force = spoiled_force;
	spoiled.inner = spoiled_inner;
	const double size = size_of(c, query, type, i);
	spoiler.by = 1e-6 * size;
	const struct fric_comparison noticed = compare(&spoiled, c, query);
	assert_false(noticed.agrees);
	assert_int_equal(noticed.quantity, spoiler.quantity);
	assert_int_equal(noticed.group, type);
	assert_int_equal(noticed.worst, i);
	spoiler.by = 1e-13 * size;
	assert_true(compare(&spoiled, c, query).agrees);
}

static void test_results(void **state)
{
	struct rng rng = {41};
	(void)state;
	for (int i = 0; i < 25; i++) {
		struct options o = random_options(&rng, 3);
		struct scene s;
		o.signed_weights = true;
		o.viscous = 0;
		o.own_viscous = o.mu_aniso = false; /* drag and velocity scaling would add to a result's scale */
		scene_create(&s, &rng, o);
		struct fric_contacts *c = scene_contacts(&serial, &s);
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES && c->ordinary; type++) {
			const size_t k = below(&rng, s.batch.groups[type].n), at = c->start[type] + k;
			if (!c->skipped[at] && *column_at(c->normal_force, at) > 1e-9)
				try_contact(&s, c, type, k, i + (int)type);
		}
		scene_contacts_free(c);
		scene_free(&s);
	}
}

/* Derivatives by kernels are wrong at one contact. */
static void test_derivatives(void **state)
{
	struct rng rng = {43};
	int n = 0;
	(void)state;
	for (int i = 0; i < 40; i++) {
		struct scene s = derivable_scene(&rng, 2 * i + 1); /* odd: in 3D */
		struct setting *t = setting_of(&s, i % 2);
		const struct number_fields fields = scene_fields(&s);
		struct fric_kernels spoiled = *fric_kernels_find("baseline");
		const struct fric_context context = {.n_threads = 1, .kernels = &spoiled};
		struct fric_derivative_agreement agreement;
		struct fric_error error;
		for (int pass = 0; pass < 2; pass++) {
			struct fric_differential direction = {.fields = {0}};
			for (size_t f = 0; f < fields.n; f++)
				if (f == 0 || f == (size_t)i % fields.n)
					*place_in(&direction, &fields.of[f]) = random_reals(&s, &rng, fields.of[f].n, 0.5, 1);
			const enum fric_type type = (enum fric_type)(i % FRIC_N_VERTEX_TYPES);
			const size_t at = t->contacts->start[type];
			spoiler.sound = fric_kernels_find("baseline");
			spoiler.weight = column_at(t->contacts->weight, at);
			spoiler.quantity = FRIC_HESSIAN;
			spoiler.entry = 0;
			spoiler.by = pass ? fabs(*column_at(t->contacts->normal_force, at)) * 1e3 : 0;
			spoiled.inner = spoiled_inner;
			assert_ok(fric_compare_derivative(&context, &t->derivation, &direction, &agreement, &error));
			if (pass == 0)
				assert_true(agreement.agrees);
			n += !agreement.agrees;
		}
		setting_free(t);
		scene_free(&s);
	}
	assert_true(n >= 25); /* no difference at contacts that are at rest or skipped */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_results), cmocka_unit_test(test_derivatives)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

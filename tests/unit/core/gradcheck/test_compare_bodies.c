/* The comparison with central differences for contacts of bodies: correct results agree, falsified ones do not. */
#include "core/gradcheck/results.h"
#include "tests/property/bodies.h"

enum { N_SCENES = 60, N_PAIRS = 6, N_WORLD = 5, WRONG = 2 };

static struct fric_comparison judged(const struct fric_contacts *c, const struct scene *s,
                                     const struct results *results)
{
	struct fric_comparison found;
	struct fric_error error;
	assert_ok(fricp_results_compare(&serial, c, scene_query(c, s->velocities), results, &found, &error));
	return found;
}

static void test_sound_answers_agree(void **state)
{
	struct rng rng = {401};
	struct fric_error error;
	(void)state;
	for (int i = 0; i < N_SCENES; i++) {
		struct scene s;
		struct fric_comparison found;
		scene_create(&s, &rng, random_options(&rng, i % 2 ? 2 : 3));
		if (coin(&rng))
			scene_without_vertices(&s);
		scene_add_bodies(&s, &rng, (struct body_options){5, N_PAIRS, N_WORLD, coin(&rng), i % 5 == 0});
		struct fric_contacts *c = scene_contacts(&serial, &s);
		assert_ok(fric_compare(&serial, c, scene_query(c, s.velocities), &found, &error));
		for (int q = 0; q < FRIC_N_QUANTITIES; q++)
			assert_true(found.of[q].contacts <= FRIC_TOLERANCE && found.of[q].assembled <= FRIC_TOLERANCE);
		assert_true(found.agrees);
		assert_true(found.of[FRIC_HESSIAN].largest_entry > 0);
		scene_contacts_free(c);
		scene_free(&s);
	}
}

static void expect_worst(const struct fric_comparison *found, enum fric_quantity quantity, const struct scene *s)
{
	const int32_t *bodies = s->batch.groups[FRIC_BODY_BODY].vertices + 2 * WRONG;
	assert_false(found->agrees);
	assert_int_equal(found->quantity, quantity);
	assert_int_equal(found->group, FRIC_BODY_BODY);
	assert_int_equal(found->worst, WRONG);
	assert_int_equal(found->vertices[0], bodies[0]);
	assert_int_equal(found->vertices[1], bodies[1]);
	assert_int_equal(found->vertices[2], 0);
}

/* Falsifies every number of one contact by a thousandth of the largest number of its kind, and every number of the sums
 * at its bodies. */
static void check_falsified(int dim)
{
	struct rng rng = {402 + (uint64_t)dim};
	struct options o = {.dim = dim, .n_each = 3, .n_vertices = 12, .source = FRIC_MU_SCALAR};
	struct scene s;
	struct results results;
	struct fric_error error;
	scene_create(&s, &rng, o);
	scene_add_bodies(&s, &rng, (struct body_options){9, N_PAIRS, N_WORLD, true, false});
	struct fric_contacts *c = scene_contacts(&serial, &s);
	assert_ok(fricp_results_make(&serial, c, scene_query(c, s.velocities), &results, &error));
	assert_true(judged(c, &s, &results).agrees);
	const size_t w = twist_size(&s), n_inner = (size_t)fric_body_inner_size(dim);
	double *potential = &results.potentials[fric_n_contacts(c) - N_PAIRS - N_WORLD + WRONG];
	double *wrench = results.wrenches + 2 * WRONG * w;
	double *inner = results.inner + fric_n_inner(c) - (N_PAIRS + N_WORLD - WRONG) * n_inner;
	const int64_t *indptr = fric_pattern_indptr(results.pattern);
	struct fric_comparison found;
	*potential *= 1.001;
	found = judged(c, &s, &results);
	expect_worst(&found, FRIC_POTENTIAL, &s);
	*potential /= 1.001;
	for (size_t e = 0; e < 2 * w; e++) {
		const double sound = wrench[e];
		wrench[e] += 1e-3 * (largest(wrench, 2 * w));
		found = judged(c, &s, &results);
		expect_worst(&found, FRIC_GRADIENT, &s);
		wrench[e] = sound;
	}
	for (size_t e = 0; e < n_inner; e++) {
		const double sound = inner[e];
		inner[e] += 1e-3 * largest(inner, n_inner);
		found = judged(c, &s, &results);
		expect_worst(&found, FRIC_HESSIAN, &s);
		inner[e] = sound;
	}
	for (size_t dof = first_twist(&s); dof < fric_n_dofs(c); dof++) {
		const double sound = results.gradient[dof];
		if (indptr[dof] == indptr[dof + 1])
			continue; /* a body without contacts */
		results.gradient[dof] += 1e-3 * largest(results.gradient, fric_n_dofs(c));
		found = judged(c, &s, &results);
		assert_false(found.agrees);
		assert_true(found.group >= FRIC_N_VERTEX_TYPES && found.quantity == FRIC_GRADIENT);
		results.gradient[dof] = sound;
	}
	for (int64_t e = indptr[first_twist(&s)]; e < indptr[fric_n_dofs(c)]; e += 7) {
		const double sound = results.csr[e];
		results.csr[e] += 1e-3 * largest(results.csr, (size_t)indptr[fric_n_dofs(c)]);
		found = judged(c, &s, &results);
		assert_false(found.agrees);
		assert_true(found.group >= FRIC_N_VERTEX_TYPES && found.quantity == FRIC_HESSIAN);
		results.csr[e] = sound;
	}
	assert_true(judged(c, &s, &results).agrees);
	fricp_results_free(&serial, &results);
	scene_contacts_free(c);
	scene_free(&s);
}

static void test_falsified_answers_are_noticed_in_3d(void **state)
{
	(void)state;
	check_falsified(3);
}

static void test_falsified_answers_are_noticed_in_2d(void **state)
{
	(void)state;
	check_falsified(2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound_answers_agree),
		cmocka_unit_test(test_falsified_answers_are_noticed_in_3d),
		cmocka_unit_test(test_falsified_answers_are_noticed_in_2d),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Compares second derivatives of the potential with differences of first ones, and with each other. */
#include <stdio.h>

#include "tests/property/differentials.h"
#include "tests/share.h"

enum { N_SCENES = 90 };

static bool is_second(const struct number_field *f)
{
	return f->type == FRIC_N_TYPES ? fric_has_second(f->field) : fric_row_has_second(f->row);
}

static struct number_fields second_fields(const struct scene *s)
{
	const struct number_fields all = scene_fields(s);
	struct number_fields some = {.n = 0};
	for (size_t f = 0; f < all.n; f++)
		if (is_second(&all.of[f]))
			some.of[some.n++] = all.of[f];
	return some;
}

/* If a law has one coefficient, both rows may be one array: moving one moves both. */
static bool moves_both(const struct scene *s, const struct number_field *f)
{
	const enum fric_field field = f->field;
	const bool kinetic = field == FRIC_WRT_MU_K || field == FRIC_WRT_VERTEX_MU_K || field == FRIC_WRT_MATERIAL_MU_K;
	return s->options.equal_mu && (f->type == FRIC_N_TYPES ? kinetic : f->row == FRIC_ROW_MU_K);
}

/* Room for all fields, filled with NaN and not owned by the scene. */
static struct fric_differential room_for(const struct number_fields *fields)
{
	struct fric_differential d = {.fields = {0}};
	for (size_t f = 0; f < fields->n; f++) {
		double *x = *place_in(&d, &fields->of[f]) = malloc(fields->of[f].n * sizeof(double));
		for (size_t i = 0; i < fields->of[f].n; i++)
			x[i] = NAN;
	}
	return d;
}

static void give_back(const struct number_fields *fields, struct fric_differential *d)
{
	for (size_t f = 0; f < fields->n; f++)
		free(*place_in(d, &fields->of[f]));
}

/* The gradient of the potential with respect to all these fields. */
static struct fric_differential gradient_by_all(const struct scene *s, const struct number_fields *fields)
{
	struct fric_differential out = room_for(fields);
	struct setting *t = setting_of(s, true);
	double *cotangents = calloc(1 + scene_ndof(s), sizeof(double));
	cotangents[0] = 1;
	vjp(&serial, t, cotangents, 1 + scene_ndof(s), &out);
	free(cotangents);
	setting_free(t);
	return out;
}

static void move(const struct number_field *f, const double *tangent, const double *from, double step)
{
	for (size_t i = 0; i < f->n; i++)
		f->numbers[i] = from[i] + step * tangent[i];
}

/* (gradient(h) - gradient(-h)) / 2h */
static struct fric_differential central(const struct scene *s, const struct number_fields *fields,
                                        const struct number_field *by, const double *tangent, double h)
{
	double *from = malloc(by->n * sizeof(double));
	memcpy(from, by->numbers, by->n * sizeof(double));
	move(by, tangent, from, h);
	struct fric_differential ahead = gradient_by_all(s, fields);
	move(by, tangent, from, -h);
	struct fric_differential behind = gradient_by_all(s, fields);
	move(by, tangent, from, 0);
	for (size_t f = 0; f < fields->n; f++)
		for (size_t i = 0; i < fields->of[f].n; i++) {
			double *x = &(*place_in(&ahead, &fields->of[f]))[i];
			*x = (*x - (*place_in(&behind, &fields->of[f]))[i]) / (2 * h);
		}
	give_back(fields, &behind);
	free(from);
	return ahead;
}

/* Error of a field's second derivatives, relative to the largest of these and of the first derivatives. */
static double off(const double *second, const double *coarse, const double *fine, const double *first, size_t n)
{
	double most = 1e-300, difference = 0;
	for (size_t i = 0; i < n; i++) {
		most = fmax(most, fmax(fabs(second[i]), 0.01 * fabs(first[i])));
		difference = fmax(difference, fabs(second[i] - (4 * fine[i] - coarse[i]) / 3));
	}
	return difference / most;
}

/* The smallest error so far for each field, with steps h and h/2: a step that crosses a knot proves nothing. */
static bool compare(const struct scene *s, const struct number_fields *fields, const struct number_field *by,
                    const double *tangent, double h, struct fric_differential *second, struct fric_differential *first,
                    double *best)
{
	struct fric_differential coarse = central(s, fields, by, tangent, h), fine = central(s, fields, by, tangent, h / 2);
	bool all = true;
	for (size_t f = 0; f < fields->n; f++) {
		const struct number_field *of = &fields->of[f];
		best[f] = fmin(best[f], off(*place_in(second, of), *place_in(&coarse, of), *place_in(&fine, of),
		                            *place_in(first, of), of->n));
		all &= best[f] < 1e-8;
	}
	give_back(fields, &coarse);
	give_back(fields, &fine);
	return all;
}

static void check_along(struct scene *s, const struct number_fields *fields, const struct number_field *by,
                        double *tangent)
{
	struct fric_differential tangents = {.fields = {0}}, second = room_for(fields), first = gradient_by_all(s, fields);
	struct setting *t = setting_of(s, true);
	struct fric_error error;
	double best[MOST_FIELDS];
	*place_in(&tangents, by) = tangent;
	assert_ok(fric_second_derivative_product(&serial, &t->derivation, &tangents, &second, &error));
	for (size_t f = 0; f < fields->n; f++)
		best[f] = INFINITY;
	for (double h = 1e-3; h > 1e-8; h /= 8)
		if (compare(s, fields, by, tangent, h, &second, &first, best))
			break;
	for (size_t f = 0; f < fields->n; f++)
		if (!(best[f] < 1e-6)) {
			print_error("%s ", field_name(by));
			print_error("by %s: off by %g; law %d transition %d blend %d\n", field_name(&fields->of[f]), best[f],
			            s->batch.friction.law.type, s->batch.friction.law.transition, s->batch.friction.blend);
			fail();
		}
	give_back(fields, &second);
	give_back(fields, &first);
	setting_free(t);
}

static void test_differences(void **state)
{
	(void)state;
	struct rng rng = {1521};
	for (int i = 0; i < N_SCENES; i += step_sanitized(5)) {
		struct scene scene = derivable_scene(&rng, i);
		const struct number_fields fields = second_fields(&scene);
		for (size_t f = 0; f < fields.n; f++)
			if (!moves_both(&scene, &fields.of[f]))
				check_along(&scene, &fields, &fields.of[f], random_tangent(&scene, &rng, &fields.of[f]));
		scene_free(&scene);
	}
}

static long double product(const struct number_fields *fields, struct fric_differential *x, struct fric_differential *y,
                           long double *size)
{
	long double sum = 0;
	for (size_t f = 0; f < fields->n; f++)
		for (size_t i = 0; i < fields->of[f].n; i++) {
			const long double term = (long double)(*place_in(x, &fields->of[f]))[i] * (*place_in(y, &fields->of[f]))[i];
			sum += term;
			*size += fabsl(term);
		}
	return sum;
}

/* Second derivatives are symmetric; with respect to velocities, along velocities, they are the Hessian. */
static void test_symmetric(void **state)
{
	(void)state;
	struct rng rng = {1522};
	for (int i = 0; i < 3 * N_SCENES; i += step_sanitized(7)) {
		struct scene scene = derivable_scene(&rng, i);
		const struct number_fields fields = second_fields(&scene);
		struct setting *t = setting_of(&scene, coin(&rng));
		struct fric_differential x = {.fields = {0}}, y = {.fields = {0}}, hx, hy;
		struct fric_error error;
		long double size = 0;
		for (size_t f = 0; f < fields.n; f++) {
			*place_in(&x, &fields.of[f]) = random_tangent(&scene, &rng, &fields.of[f]);
			*place_in(&y, &fields.of[f]) = random_tangent(&scene, &rng, &fields.of[f]);
		}
		allocate_all(&scene, &fields, &hx);
		allocate_all(&scene, &fields, &hy);
		assert_ok(fric_second_derivative_product(&serial, &t->derivation, &x, &hx, &error));
		assert_ok(fric_second_derivative_product(&serial, &t->derivation, &y, &hy, &error));
		const long double there = product(&fields, &x, &hy, &size), back = product(&fields, &y, &hx, &size);
		assert_near(there, back, 1e-12L * size);
		setting_free(t);
		scene_free(&scene);
	}
}

static void test_hessian(void **state)
{
	(void)state;
	struct rng rng = {1523};
	for (int i = 0; i < N_SCENES; i++) {
		struct scene scene = derivable_scene(&rng, i);
		struct setting *t = setting_of(&scene, true);
		const size_t n = scene_ndof(&scene);
		double *v = random_reals(&scene, &rng, n, -1, 1), *product = scene_memory(&scene, n, sizeof(double));
		double *second = scene_memory(&scene, n, sizeof(double));
		const struct fric_differential tangents = {.fields = {[FRIC_WRT_VELOCITIES] = v}};
		const struct fric_differential out = {.fields = {[FRIC_WRT_VELOCITIES] = second}};
		struct fric_error error;
		if (i % 3 == 0) /* some contacts are at rest */
			memset(scene.velocities, 0, n / 2 * sizeof(double));
		assert_ok(fric_second_derivative_product(&serial, &t->derivation, &tangents, &out, &error));
		assert_ok(fric_hessian_products(&serial, t->contacts, &t->query, FRIC_PROJECT_NONE, 1, v, product, &error));
		assert_all_near(second, product, n, 1e-13 * largest_of(product, n));
		setting_free(t);
		scene_free(&scene);
	}
}

static void test_threads(void **state)
{
	(void)state;
	struct rng rng = {1524};
	for (int i = 0; i < 12; i++) {
		struct scene scene = derivable_scene(&rng, i);
		const struct number_fields fields = second_fields(&scene);
		struct setting *t = setting_of(&scene, true);
		struct fric_differential x = {.fields = {0}}, alone, together;
		struct fric_error error;
		for (size_t f = 0; f < fields.n; f++)
			*place_in(&x, &fields.of[f]) = random_tangent(&scene, &rng, &fields.of[f]);
		allocate_all(&scene, &fields, &alone);
		assert_ok(fric_second_derivative_product(&serial, &t->derivation, &x, &alone, &error));
		for (int n = 2; n < 9; n += 2) {
			const struct fric_context several = {.n_threads = n, .parallel_from = 1};
			allocate_all(&scene, &fields, &together);
			assert_ok(fric_second_derivative_product(&several, &t->derivation, &x, &together, &error));
			for (size_t f = 0; f < fields.n; f++)
				assert_all_bits(*place_in(&together, &fields.of[f]), *place_in(&alone, &fields.of[f]), fields.of[f].n);
		}
		setting_free(t);
		scene_free(&scene);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_symmetric),
		cmocka_unit_test(test_hessian),
		cmocka_unit_test(test_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

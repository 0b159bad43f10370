/* Compares derivatives with respect to every field with differences of prepared and evaluated batches, and jvp with
 * vjp. */
#include <stdio.h>

#include "tests/property/differentials.h"
#include "tests/share.h"

enum { N_SCENES = 120 };

/* Potential and gradient, in one array. */
struct answer {
	size_t n;
	double *of; /* [n], the potential first */
};

static struct answer answer_of(const struct scene *s)
{
	struct answer a = {1 + scene_ndof(s), NULL};
	struct fric_contacts *c = scene_contacts(&serial, s);
	struct fric_error error;
	a.of = calloc(a.n, sizeof(double));
	assert_ok(fric_evaluate(&serial, c, scene_query(c, s->velocities), a.of, a.of + 1, &error));
	scene_contacts_free(c);
	return a;
}

static void move(const struct number_field *f, const double *tangent, const double *from, double step)
{
	for (size_t i = 0; i < f->n; i++)
		f->numbers[i] = from[i] + step * tangent[i];
}

/* (answer(h) - answer(-h)) / 2h */
static void central(const struct scene *s, const struct number_field *f, const double *tangent, const double *from,
                    double h, double *out)
{
	move(f, tangent, from, h);
	const struct answer ahead = answer_of(s);
	move(f, tangent, from, -h);
	const struct answer behind = answer_of(s);
	move(f, tangent, from, 0);
	for (size_t i = 0; i < ahead.n; i++)
		out[i] = (ahead.of[i] - behind.of[i]) / (2 * h);
	free(ahead.of);
	free(behind.of);
}

/* Richardson extrapolation: the error is of fourth order in h. */
static double *difference(const struct scene *s, const struct number_field *f, const double *tangent, double h)
{
	const size_t n = 1 + scene_ndof(s);
	double *coarse = calloc(n, sizeof(double)), *fine = calloc(n, sizeof(double));
	double *from = calloc(f->n, sizeof(double));
	memcpy(from, f->numbers, f->n * sizeof(double));
	central(s, f, tangent, from, h, coarse);
	central(s, f, tangent, from, h / 2, fine);
	for (size_t i = 0; i < n; i++)
		fine[i] = (4 * fine[i] - coarse[i]) / 3;
	free(coarse);
	free(from);
	return fine;
}

static double largest_difference(const double *x, const double *y, size_t n)
{
	double w = 0;
	for (size_t i = 0; i < n; i++)
		w = fmax(w, fabs(x[i] - y[i]));
	return w;
}

/* Error of a derivative, relative to the largest number. Tangents have the size of their fields, so derivatives have
 * about the size of the functions; much smaller numbers differ by rounding. */
static double off(const double *derivative, const double *difference, const double *answer, size_t n)
{
	const double size = fmax(largest_of(derivative, n), largest_of(difference, n));
	return largest_difference(derivative, difference, n) / fmax(size, 1e-3 * largest_of(answer, n) + 1e-300);
}

/* A step that crosses a knot or is too long for a steep barrier proves nothing, so it suffices that one of the steps
 * agrees. */
static void compare_with_differences(const struct scene *s, const struct number_field *f, const double *tangent,
                                     const double *derivative)
{
	const size_t n = 1 + scene_ndof(s);
	/* A viscous coefficient of 1 is small, and the law is linear in it. */
	const bool is_viscous = f->type == FRIC_N_TYPES && f->field == FRIC_WRT_VISCOUS;
	const double size = largest_of(f->numbers, f->n) > 0 || is_viscous ? 1 : 1e-3;
	const struct answer answer = answer_of(s);
	double potential = INFINITY, gradient = INFINITY;
	for (double h = 1e-3; h > 1e-9 && (gradient > 1e-7 || potential > 1e-7); h /= 8) {
		double *d = difference(s, f, tangent, h * size);
		potential = fmin(potential, off(derivative, d, answer.of, 1));
		gradient = fmin(gradient, off(derivative + 1, d + 1, answer.of + 1, n - 1));
		free(d);
	}
	free(answer.of);
	if (gradient > 1e-6 || potential > 1e-6) {
		print_error("%s: gradient off by %g, potential by %g\n", field_name(f), gradient, potential);
		fail();
	}
}

/* Moves both coefficients if a scene has one array for both, because its law has only one coefficient. */
static bool is_second_coefficient(const struct scene *s, const struct number_field *f)
{
	const bool row = f->type < FRIC_N_TYPES && f->row == FRIC_ROW_MU_K;
	const bool field = f->type == FRIC_N_TYPES &&
	                   (f->field == FRIC_WRT_VERTEX_MU_K || f->field == FRIC_WRT_MATERIAL_MU_K);
	return s->options.equal_mu && (row || field);
}

static void test_tangents_are_differences(void **state)
{
	(void)state;
	struct rng rng = {1501};
	for (int i = 0; i < N_SCENES; i += step_sanitized(5)) {
		struct scene scene = derivable_scene(&rng, i);
		if (i % 7 == 3) /* most contacts are at rest */
			memset(scene.velocities, 0, scene_ndof(&scene) * sizeof(double));
		struct setting *t = setting_of(&scene, true);
		const struct number_fields fields = scene_fields(&scene);
		for (size_t f = 0; f < fields.n; f++) {
			struct fric_differential tangents = {0};
			if (is_second_coefficient(&scene, &fields.of[f]))
				continue;
			*place_in(&tangents, &fields.of[f]) = random_tangent(&scene, &rng, &fields.of[f]);
			double *derivative = jvp(&serial, &scene, t, &tangents);
			compare_with_differences(&scene, &fields.of[f], *place_in(&tangents, &fields.of[f]), derivative);
			free(derivative);
		}
		setting_free(t);
		scene_free(&scene);
	}
}

struct product {
	long double sum, size, lost; /* lost: rounding of subnormal products */
};

/* Rounding errors that cancellation may leave in jvp: if only the grain changes and nothing depends on directions, all
 * terms cancel. (vjp leaves these terms out.) */
static long double rounding_of(const struct setting *t, const double *cotangents, size_t n)
{
	double *answer = calloc(n, sizeof(double));
	long double size = 0;
	struct fric_error error;
	assert_ok(fric_evaluate(&serial, t->contacts, &t->query, answer, answer + 1, &error));
	for (size_t i = 0; i < n; i++)
		size += fabsl((long double)answer[i] * cotangents[i]);
	free(answer);
	return size * 0x1p-52L;
}

static void add_product(const double *x, const double *y, size_t n, struct product *p)
{
	for (size_t i = 0; i < n; i++) {
		p->sum += (long double)x[i] * y[i];
		p->size += fabsl((long double)x[i] * y[i]);
		p->lost += (fabsl(x[i]) + fabsl(y[i])) * 0x1p-1074L;
	}
}

static void assert_agree(const char *what, const struct product *back, const struct product *forth,
                         long double rounding)
{
	const long double allowed = 1e-11L * (back->size + forth->size) + (back->lost + forth->lost) + rounding;
	if (fabsl(back->sum - forth->sum) <= allowed)
		return;
	print_error("%s: %.17Lg backwards, %.17Lg forwards; allowed %.3Lg\n", what, back->sum, forth->sum, allowed);
	fail();
}

static bool is_grain(const struct number_field *f)
{
	return f->type < FRIC_N_TYPES && f->row == FRIC_ROW_GRAIN;
}

/* Every field alone, and all at once. Cases without the potential show the gradient's contribution. */
static void check_transposed(struct scene *scene, struct rng *rng, bool with_potential)
{
	struct setting *t = setting_of(scene, coin(rng));
	const size_t n = 1 + scene_ndof(scene);
	const struct number_fields fields = scene_fields(scene);
	double *cotangents = random_cotangents(scene, rng);
	struct fric_differential all, tangents = {.fields = {0}};
	struct product everything[2] = {{0}};
	const long double rounding = rounding_of(t, cotangents, n);
	cotangents[0] *= with_potential;
	allocate_all(scene, &fields, &all);
	vjp(&serial, t, cotangents, n, &all);
	for (size_t f = 0; f < fields.n; f++) {
		const struct number_field *field = &fields.of[f];
		struct fric_differential one = {.fields = {0}};
		struct product back = {0}, forth = {0};
		*place_in(&one, field) = *place_in(&tangents, field) = random_tangent(scene, rng, field);
		double *derivative = jvp(&serial, scene, t, &one);
		add_product(derivative, cotangents, n, &forth);
		add_product(*place_in(&one, field), *place_in(&all, field), field->n, &back);
		add_product(*place_in(&one, field), *place_in(&all, field), field->n, &everything[0]);
		assert_agree(field_name(field), &back, &forth, is_grain(field) ? rounding : 0);
		free(derivative);
	}
	double *derivative = jvp(&serial, scene, t, &tangents);
	add_product(derivative, cotangents, n, &everything[1]);
	assert_agree("all", &everything[0], &everything[1], rounding);
	free(derivative);
	setting_free(t);
}

static void test_cotangents_are_transposed(void **state)
{
	(void)state;
	struct rng rng = {1502};
	for (int i = 0; i < 3 * N_SCENES; i += step_sanitized(7)) {
		struct scene scene = derivable_scene(&rng, i);
		check_transposed(&scene, &rng, true);
		scene_free(&scene);
	}
}

/* A scene with bodies, reduced to one contact. */
static struct scene lone_contact(struct rng *rng, int i)
{
	struct scene s = derivable_scene(rng, 3 * i + 2);
	enum fric_type left;
	do
		left = (enum fric_type)below(rng, FRIC_N_TYPES);
	while (s.batch.groups[left].n == 0);
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		if (type == left)
			s.batch.groups[type].n = 1;
		else
			s.batch.groups[type] = (struct fric_group){0};
	return s;
}

/* One component of every slip (spinning, rolling or sliding) exceeds the others by up to 1e9; or spin and roll radius
 * are equal. */
static void make_uneven(struct scene *s, struct rng *rng)
{
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		struct fric_group *g = &s->batch.groups[type];
		const struct fric_values *of[3] = {&g->spin_radius, &g->roll_radius, &g->mu_aniso};
		const struct fric_values *values = of[below(rng, 3)];
		if (g->n && values->data)
			*(double *)values->data *= pow(10, (double)below(rng, 10));
		if (g->n && g->spin_radius.data && g->roll_radius.data && below(rng, 4) == 0)
			*(double *)g->roll_radius.data = *g->spin_radius.data;
	}
}

static void test_transposed_where_slips_are_uneven(void **state)
{
	(void)state;
	struct rng rng = {1504};
	for (int i = 0; i < 10 * N_SCENES; i += step_sanitized(7)) {
		struct scene scene = lone_contact(&rng, i);
		make_uneven(&scene, &rng);
		check_transposed(&scene, &rng, i % 4 == 0);
		scene_free(&scene);
	}
}

/* The derivative with respect to velocities is the Hessian without a projection. */
static void test_velocities_are_the_hessian(void **state)
{
	(void)state;
	struct rng rng = {1503};
	for (int i = 0; i < N_SCENES; i++) {
		struct scene scene = derivable_scene(&rng, i);
		struct setting *t = setting_of(&scene, true);
		const size_t n = scene_ndof(&scene);
		double *v = random_reals(&scene, &rng, n, -1, 1), *product = scene_memory(&scene, n, sizeof(double));
		struct fric_differential tangents = {.fields = {[FRIC_WRT_VELOCITIES] = v}};
		struct fric_error error;
		if (i % 3 == 0) /* some contacts are at rest */
			memset(scene.velocities, 0, n / 2 * sizeof(double));
		double *derivative = jvp(&serial, &scene, t, &tangents);
		assert_ok(fric_hessian_products(&serial, t->contacts, &t->query, FRIC_PROJECT_NONE, 1, v, product, &error));
		assert_all_near(derivative + 1, product, n, 1e-14 * largest_of(product, n));
		free(derivative);
		setting_free(t);
		scene_free(&scene);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tangents_are_differences),
		cmocka_unit_test(test_cotangents_are_transposed),
		cmocka_unit_test(test_transposed_where_slips_are_uneven),
		cmocka_unit_test(test_velocities_are_the_hessian),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Derivatives of the laws with respect to their parameters: compared with multi-precision values, and by identities. */
#include "core/law/second_derivatives.h"

#include <stdio.h>

#include "tests/unit/core/check.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char reference[] = "tests/reference/derivatives_mp.txt";
static const char *const names[] = {"cubic", "quadratic", "peak", "stribeck", "exponential", "curve", "adhesion"};

/* The curve of make_laws.py. Its unit is 1. */
enum { N_POINTS = 5 };
static const double speeds[N_POINTS] = {0, 0.25, 0.375, 1.5, 1.75}, factors[N_POINTS] = {1, 0.5, 1.25, 0, 0.125};
static const struct fric_curve curve = {N_POINTS, speeds, factors, NULL};
static double table_speeds[N_POINTS];
static struct table_piece pieces[N_POINTS];
static struct table_piece_l pieces_l[N_POINTS];
static struct law_table table = {.speeds = table_speeds, .pieces = pieces, .pieces_l = pieces_l};

static int set_up(void **unused)
{
	(void)unused;
	fricp_table_fill(&table, &curve);
	assert_true(table.unit == 1);
	return 0;
}

/* ---- both forms ---- */

struct sample {
	enum law t;
	double mu_s, mu_k, z, q;
};

static struct law_point_l point_l(struct sample s)
{
	const long double r = 1 - (long double)s.z;
	return (struct law_point_l){
		s.mu_s,   s.mu_k,
		s.z,      r,
		s.z >= 1, law_has_tail(s.t) ? law_tail_l(s.t, &table, r, s.q, 1 / s.q) : law_shape_l(s.t, s.mu_s, s.mu_k),
		s.z >= 2};
}

static struct law_derivatives_l derivatives_l(struct sample s)
{
	const struct law_reach_l none = {0};
	return law_derivatives_l(s.t, point_l(s),
	                         law_has_tail(s.t) ? law_reach_l(s.t, &table, 1 - (long double)s.z, s.q, 1 / s.q) : none);
}

static struct law_point point(struct sample s)
{
	return (struct law_point){
		s.mu_s,   s.mu_k,
		s.z,      1 - s.z,
		s.z >= 1, law_has_tail(s.t) ? law_tail(s.t, &table, 1 - s.z, s.q, 1 / s.q) : law_shape(s.t, s.mu_s, s.mu_k),
		s.z >= 2};
}

/* In the order of the struct. These are derivatives of G1 itself, not of G1 / z. */
static void in_doubles(struct sample s, long double out[8])
{
	const struct law_reach none = {0};
	const struct law_point a = point(s);
	const struct law_derivatives d =
		law_derivatives(s.t, a, law_has_tail(s.t) ? law_reach(s.t, &table, 1 - s.z, s.q, 1 / s.q) : none);
	const double f = law_low(s.t, a) ? s.z : 1;
	const double all[8] = {d.s0, d.k0, d.e0, d.u0, d.s1 * f, d.k1 * f, d.e1 * f, d.u1 * f};
	for (int i = 0; i < 8; i++)
		out[i] = all[i];
}

static void in_long_doubles(struct sample s, long double out[8])
{
	const struct law_derivatives_l d = derivatives_l(s);
	const long double f = law_low_l(s.t, point_l(s)) ? s.z : 1;
	const long double all[8] = {d.s0, d.k0, d.e0, d.u0, d.s1 * f, d.k1 * f, d.e1 * f, d.u1 * f};
	memcpy(out, all, sizeof(all));
}

/* ---- against multi-precision values ---- */

/* Sizes of the terms that add up to each derivative, in the order of the struct. */
static void scales(struct sample s, long double scale[8])
{
	const long double top = fmaxl(s.mu_s, s.mu_k), z = fmaxl(s.z, 1), steep = law_has_tail(s.t) ? fmaxl(s.q, 1) : 1;
	const long double small = s.z < 1e-3 ? s.z : 1;
	const long double all[8] = {z, z, top, top, small, small, top * small * steep, top * steep};
	memcpy(scale, all, sizeof(all));
}

static bool near(struct sample s, const double expected[8], const long double actual[8], long double unit,
                 const char *form)
{
	long double scale[8];
	bool right = true;
	scales(s, scale);
	for (int i = 0; i < 8; i++) {
		const long double off = fabsl(actual[i] - expected[i]);
		if (off <= scale[i] * unit + fabs(expected[i]) * 0x1p-52 + 5e-324L)
			continue;
		right = false;
		print_error("%s %s mu %a %a z %a q %a: derivative %d is %.17Lg, not %.17g\n", form, names[s.t], s.mu_s, s.mu_k,
		            s.z, s.q, i, actual[i], expected[i]);
	}
	return right;
}

static enum law law_named(const char *name)
{
	size_t t = 0;
	while (strcmp(names[t], name) != 0)
		assert_true(++t < COUNT(names));
	return (enum law)t;
}

static void test_reference(void **unused)
{
	FILE *file = fopen(reference, "r");
	char name[64];
	int n = 0, n_wrong = 0;
	struct sample s;
	double v[8];
	(void)unused;
	if (!file)
		skip();
	while (fscanf(file, " law %63s %la %la %la %la", name, &s.mu_s, &s.mu_k, &s.z, &s.q) == 5) {
		long double actual[8];
		for (int i = 0; i < 8; i++)
			assert_int_equal(fscanf(file, "%la", &v[i]), 1);
		s.t = law_named(name);
		in_long_doubles(s, actual);
		n_wrong += !near(s, v, actual, 0x1p-56L, "long double");
		in_doubles(s, actual);
		n_wrong += !near(s, v, actual, 0x1p-49L, "double");
		n++;
	}
	fclose(file);
	assert_true(n > 2000);
	assert_int_equal(n_wrong, 0);
}

/* ---- properties of all laws ---- */

static void for_each(void (*check)(struct sample))
{
	static const double mus[][2] = {{1, 0.1}, {0.3, 0.6}, {0.5, 0.5}, {0, 0.4}, {0.7, 0}, {0, 0}, {1, 1 - 0x1p-40}};
	static const double qs[] = {1, 0.125, 32};
	for (int t = 0; t < (int)COUNT(names); t++)
		for (size_t m = 0; m < COUNT(mus); m++)
			for (size_t k = 0; k < (law_has_tail((enum law)t) ? COUNT(qs) : 1); k++)
				for (int i = 0; i <= 400; i++)
					check((struct sample){(enum law)t, mus[m][0], mus[m][law_has((enum law)t, LAW_ONE_MU) ? 0 : 1],
					                      i < 300 ? i / 100. : pow(2, i - 320), qs[k]});
}

/* Potential and force are proportional to the coefficients; the potential also to all speeds together. */
static void check_scaling(struct sample s)
{
	const struct law_point_l a = point_l(s);
	const struct law_derivatives_l d = derivatives_l(s);
	const long double top = fmaxl(s.mu_s, s.mu_k), f = law_low_l(s.t, a) ? a.z : 1, tolerance = 0x1p-54L * top;
	assert_near(a.mu_s * d.s0 + a.mu_k * d.k0, law_g0_l(s.t, a), tolerance * fmaxl(a.z, 1));
	assert_near(a.mu_s * d.s1 + a.mu_k * d.k1, law_g1_l(s.t, a), tolerance * 4);
	if (s.t == LAW_CURVE)
		return;
	assert_near(d.e0 + d.u0, law_g0_l(s.t, a) - a.z * f * law_g1_l(s.t, a), tolerance * fmaxl(a.z, 1) * 8);
	assert_near((d.e1 + d.u1) * f, -a.z * law_g2_l(s.t, a), tolerance * fmaxl(a.z, 1) * 64);
}

static void test_scaling(void **unused)
{
	(void)unused;
	for_each(check_scaling);
}

static void check_forms(struct sample s)
{
	long double one[8], other[8], scale[8];
	in_doubles(s, one);
	in_long_doubles(s, other);
	scales(s, scale);
	for (int i = 0; i < 8; i++)
		assert_near(one[i], other[i], scale[i] * 0x1p-49L);
}

static void test_forms(void **unused)
{
	(void)unused;
	for_each(check_forms);
}

/* Just beyond eps_v the loss is small, but all of its digits are right. */
static void test_digits(void **unused)
{
	(void)unused;
	for (int e = 1; e < 40; e++) {
		const long double x = ldexpl(1, -e);
		const struct law_reach_l s = stribeck_reach_l(x, 1), d = exponential_reach_l(x, 1);
		long double lost_s = 0, lost_d = 0, term_s = x, term_d = x;
		for (int n = 1; n < 30; n++) {
			term_s *= -x * x / n;
			lost_s -= term_s / (2 * n + 1);
			term_d *= -x / (n + 1);
			lost_d -= term_d;
		}
		assert_near(s.lost_integral / lost_s, 1, 0x1p-47L);
		assert_near(d.lost_integral / lost_d, 1, 0x1p-47L);
		assert_near((s.ahead + s.lost_integral) / (x * s.lost), 1, 0x1p-47L);
	}
}

/* ---- second derivatives ---- */

/* Derivatives at the speed z and eps_v = 1, with coefficients and eps_v changed by the given steps. */
static struct law_derivatives_l near_by(struct sample s, long double ds, long double dk, long double de)
{
	const struct law_reach_l none = {0};
	const long double e = 1 + de, z = s.z / e, r = (e - s.z) / e, q = s.q * e, mu_s = s.mu_s + ds, mu_k = s.mu_k + dk;
	const bool tail = law_has_tail(s.t);
	const struct law_point_l a = {
		mu_s, mu_k, z, r, r <= 0, tail ? law_tail_l(s.t, &table, r, q, 1 / q) : law_shape_l(s.t, mu_s, mu_k), s.z >= 2};
	return law_derivatives_l(s.t, a, tail ? law_reach_l(s.t, &table, r, q, 1 / q) : none);
}

/* Compares second derivatives with differences of first derivatives. These are unreliable at corners. */
static void check_second_derivatives(struct sample s)
{
	const struct law_reach_l none = {0};
	const struct law_second_derivatives_l d = law_second_derivatives_l(
		s.t, point_l(s), law_has_tail(s.t) ? law_reach_l(s.t, &table, 1 - (long double)s.z, s.q, 1 / s.q) : none);
	const long double h = 1e-7L, top = fmaxl(s.mu_s, s.mu_k), z = fmaxl(s.z, 1);
	const long double known = 1e-5L * z * fmaxl(s.q, 1) * fmaxl(s.q, 1);
	const struct law_derivatives_l up = near_by(s, h, 0, 0), down = near_by(s, -h, 0, 0), more = near_by(s, 0, h, 0),
								   less = near_by(s, 0, -h, 0);
	const struct law_derivatives_l fast = near_by(s, 0, 0, h), slow = near_by(s, 0, 0, -h);
	if (top == 0 || s.mu_s == 0 || s.mu_k == 0 || fabs(s.mu_s - s.mu_k) < 1e-3 * (s.t == LAW_PEAK))
		return;
	assert_near(d.ss, (up.s0 - down.s0) / (2 * h), known);
	assert_near(d.sk, (up.k0 - down.k0) / (2 * h), known);
	assert_near(d.sk, (more.s0 - less.s0) / (2 * h), known);
	assert_near(d.kk, (more.k0 - less.k0) / (2 * h), known);
	assert_near(d.es, (up.e0 - down.e0) / (2 * h), known);
	assert_near(d.ek, (more.e0 - less.e0) / (2 * h), known);
	if (s.z != 1 && s.z != 2) /* here the force of exponential has a kink, and bonds break */
		assert_near(d.ee, (fast.e0 - slow.e0) / (2 * h), known);
}

static void test_second_derivatives(void **unused)
{
	(void)unused;
	for_each(check_second_derivatives);
}

/* Identities of scaling, for zero or equal coefficients, where differences cannot be used. */
static void check_degree(struct sample s)
{
	const struct law_reach_l none = {0};
	const struct law_reach_l beyond = law_has_tail(s.t) ? law_reach_l(s.t, &table, 1 - (long double)s.z, s.q, 1 / s.q)
	                                                    : none;
	const struct law_second_derivatives_l d = law_second_derivatives_l(s.t, point_l(s), beyond);
	const long double e0 = law_derivatives_l(s.t, point_l(s), beyond).e0, tiny = 1e-17L * fmaxl(s.z, 1);
	assert_near(s.mu_s * d.ss + s.mu_k * d.sk, 0, tiny);
	assert_near(s.mu_s * d.sk + s.mu_k * d.kk, 0, tiny);
	assert_near(s.mu_s * d.es + s.mu_k * d.ek, e0, tiny);
}

static void test_degree(void **unused)
{
	(void)unused;
	for_each(check_degree);
}

/* ---- the factors of a curve ---- */

/* The value at x of the curve with changed factors. Monotone pieces stay monotone if changes are small. */
static struct law_shape_l changed_at(const double tangent[N_POINTS], double step, double x)
{
	double f[N_POINTS];
	const struct fric_curve changed = {N_POINTS, speeds, f, NULL};
	long double integral = 0;
	size_t k = 0;
	for (size_t i = 0; i < N_POINTS; i++)
		f[i] = factors[i] + step * tangent[i];
	for (; k + 1 < N_POINTS && speeds[k + 1] <= x; k++) {
		const struct table_piece_l before = fricp_table_piece(&changed, 1, k);
		integral += fricp_table_area(&before);
	}
	struct table_piece_l piece = fricp_table_piece(&changed, 1, k);
	piece.integral = integral;
	return piece_at_l(&piece, x);
}

static const double tangents[][N_POINTS] = {{0, 1, 0, 0, 0}, {1, 0, 0, 0, 0}, {0, 0, 0, 0, 1}, {0.5, -0.25, 2, 1, -1}};

/* The factors of another curve, without extremes, whose derivatives are nonzero. */
static const double falling[N_POINTS] = {1, 0.75, 0.5, 0.25, 0.1875};

static void test_curve_tangent(void **unused)
{
	(void)unused;
	const double h = 0x1p-24;
	for (size_t n = 0; n < COUNT(tangents); n++) {
		struct table_piece_l change[N_POINTS];
		fricp_table_tangent(&curve, &table, tangents[n], change);
		for (double x = 0; x < 2.5; x += 0x1p-5) {
			const struct law_shape_l up = changed_at(tangents[n], h, x), down = changed_at(tangents[n], -h, x);
			const struct law_shape_l at = table_change(&table, change, x);
			assert_near(at.a, (up.a - down.a) / (2 * h), 1e-10);
			assert_near(at.b, (up.b - down.b) / (2 * h), 1e-9);
			assert_near(at.c, (up.c - down.c) / (2 * h), 1e-10);
		}
	}
}

/* Points whose derivatives depend on the factors of their neighbours. */
static void test_derivative_tangent(void **unused)
{
	(void)unused;
	const double h = 0x1p-20;
	const struct fric_curve smooth = {N_POINTS, speeds, falling, NULL};
	for (size_t n = 0; n < COUNT(tangents); n++) {
		struct table_piece_l change[N_POINTS];
		double up[N_POINTS], down[N_POINTS];
		const struct fric_curve above = {N_POINTS, speeds, up, NULL}, below = {N_POINTS, speeds, down, NULL};
		for (size_t i = 0; i < N_POINTS; i++) {
			up[i] = falling[i] + h * tangents[n][i];
			down[i] = falling[i] - h * tangents[n][i];
		}
		fricp_table_tangent(&smooth, &table, tangents[n], change);
		for (size_t k = 0; k < N_POINTS; k++) {
			const struct table_piece_l p = fricp_table_piece(&above, 1, k), q = fricp_table_piece(&below, 1, k);
			assert_near(change[k].a, (p.a - q.a) / (2 * h), 1e-9);
			assert_near(change[k].b, (p.b - q.b) / (2 * h), 1e-9);
			assert_near(change[k].c, (p.c - q.c) / (2 * h), 1e-9);
		}
	}
}

/* The vjp is the transpose of the tangent. */
static void test_curve_cotangent(void **unused)
{
	(void)unused;
	static const double at[] = {0, 0.125, 0.25, 0.3, 0.375, 1, 1.6, 1.75, 40};
	const struct fric_curve curves[] = {curve, {N_POINTS, speeds, falling, NULL}};
	for (size_t c = 0; c < COUNT(curves); c++) {
		struct table_pull pulls[N_POINTS] = {{0}};
		long double back[N_POINTS];
		fricp_table_fill(&table, &curves[c]);
		for (size_t i = 0; i < COUNT(at); i++)
			table_collect(&table, at[i], 1 + (double)i, 2 - (double)i, pulls);
		fricp_table_cotangent(&curves[c], &table, pulls, back);
		for (size_t n = 0; n < COUNT(tangents); n++) {
			struct table_piece_l change[N_POINTS];
			long double forward = 0, backward = 0;
			fricp_table_tangent(&curves[c], &table, tangents[n], change);
			for (size_t i = 0; i < COUNT(at); i++) {
				const struct law_shape_l d = table_change(&table, change, at[i]);
				forward += (1 + (double)i) * d.a + (2 - (double)i) * d.c;
			}
			for (size_t k = 0; k < N_POINTS; k++)
				backward += back[k] * tangents[n][k];
			assert_near(backward, forward, 1e-15 * (1 + fabsl(forward)));
		}
	}
	fricp_table_fill(&table, &curve);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference),
		cmocka_unit_test(test_scaling),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_digits),
		cmocka_unit_test(test_second_derivatives),
		cmocka_unit_test(test_degree),
		cmocka_unit_test(test_curve_tangent),
		cmocka_unit_test(test_derivative_tangent),
		cmocka_unit_test(test_curve_cotangent),
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}

/* Compares both implementations of every law, and tests properties that all laws share. A law added to the table is
 * tested here without further code. */
#include "core/law/textbook.h"

#include "core/fric_mollifier.h"
#include "core/law/tail.h"
#include "tests/unit/core/check.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define AND_ONE(id, name, traits, more) +1
enum { N_LAWS = 0 FRIC_LAWS(AND_ONE, ) };

static const double mus[][2] = {{1, 0.1},  {0.3, 0.6},       {0.5, 0.5},         {0, 0.4},
                                {0.7, 0},  {0, 0},           {1, 0.9},           {1e-12, 1},
                                {1, 1e-9}, {1, 0.999999999}, {1 - 0x1p-53, 1.0}, {2, 2 - 0x1p-51}};

/* Ends and middle of [0, 1], places inside it where laws change, and beyond. */
static double nth_z(int i)
{
	static const double special[] = {0, 1e-300, 1e-20, 0.5, 0.55, 0.775, 0.75, 0.875, 1, 1.5, 2, 3, 1e10};
	return i < (int)COUNT(special) ? special[i] : (i - (int)COUNT(special)) / 500. + 1e-4;
}
enum { N_Z = 600 };

/* A curve with an extreme and a zero. Beyond eps_v a law depends on eps_v / decay; for a curve, decay is its unit. */
static const double speeds[] = {0, 0.25, 0.375, 1.5}, factors[] = {1, 0.5, 1.25, 0};
static const struct fric_curve curve = {COUNT(speeds), speeds, factors, NULL};
static quad areas[COUNT(speeds)];
static double decay_of_law = 1, table_speeds[COUNT(speeds)];
static struct table_piece pieces[COUNT(speeds)];
static struct table_piece_l pieces_l[COUNT(speeds)];
static struct law_table table = {.speeds = table_speeds, .pieces = pieces, .pieces_l = pieces_l};

static int set_up(void **unused)
{
	(void)unused;
	fricp_table_fill(&table, &curve);
	textbook_areas(&curve, areas);
	return 0;
}

/* A bound of the force at any speed. */
static double most_of(enum law t, const double mu[2])
{
	return fmax(mu[0], law_has(t, LAW_ONE_MU) ? 0 : mu[1]) * (t == LAW_CURVE ? 1.25 : 1);
}

static struct law_point point(enum law t, const double mu[2], double z)
{
	return (struct law_point){
		mu[0],
		mu[1],
		z,
		1 - z,
		z >= 1,
		law_has_tail(t) ? law_tail(t, &table, 1 - z, decay_of_law, 1 / decay_of_law) : law_shape(t, mu[0], mu[1]),
		z >= 2};
}

static struct law_point_l point_l(enum law t, const double mu[2], double z)
{
	const long double r = 1 - (long double)z;
	return (struct law_point_l){
		mu[0],
		mu[1],
		z,
		r,
		z >= 1,
		law_has_tail(t) ? law_tail_l(t, &table, r, decay_of_law, 1 / decay_of_law) : law_shape_l(t, mu[0], mu[1]),
		z >= 2};
}

static double force(enum law t, const double mu[2], double z)
{
	const struct law_point a = point(t, mu, z);
	return law_g1(t, a) * (law_low(t, a) ? z : 1);
}

static long double force_l(enum law t, const double mu[2], double z)
{
	const struct law_point_l a = point_l(t, mu, z);
	return law_g1_l(t, a) * (law_low_l(t, a) ? z : 1);
}

static void for_each_law(void (*check)(enum law t, const double mu[2], double z))
{
	static const double decays[] = {1, 0.25, 16, 0x1p-40};
	for (int t = 0; t < N_LAWS; t++)
		for (size_t m = 0; m < COUNT(mus); m++)
			for (size_t d = 0; d < (law_has_tail((enum law)t) ? COUNT(decays) : 1); d++)
				for (int i = 0; i < N_Z; i++) {
					decay_of_law = decays[d];
					check((enum law)t, mus[m], nth_z(i));
				}
}

/* ---- the two implementations ---- */

static quad textbook_less(enum law t, const double mu[2], quad z, quad subtracted)
{
	const quad q = t == LAW_CURVE ? decay_of_law * (quad)table.unit : decay_of_law;
	return law_textbook(t, mu[0], mu[1], z, textbook_tail(t, &curve, areas, z, q), subtracted);
}

static quad textbook(enum law t, const double mu[2], quad z)
{
	return textbook_less(t, mu, z < 0 ? -z : z, z > 1.1 ? 0 : law_textbook_rest(t, mu[0], mu[1]));
}

static quad blur_of(enum law t, const double mu[2], quad z, quad step)
{
	const quad q = t == LAW_CURVE ? decay_of_law * (quad)table.unit : decay_of_law;
	const quad d = law_has(t, LAW_ONE_MU) ? mu[0] : mu[0] - mu[1], known = 0x1p-50 * (z > 1 ? z : 1);
	return law_textbook_blur(t, mu[0], mu[1], z, step) + textbook_tail_blur(t, &curve, d, z, q, step, known);
}

static void check_potential(enum law t, const double mu[2], double z)
{
	const double top = most_of(t, mu) * fmax(z, 1);
	const long double expected = (long double)textbook_less(t, mu, z, 0);
	const bool by_series = t == LAW_STRIBECK || t == LAW_EXPONENTIAL; /* series in doubles */
	assert_near(law_g0_l(t, point_l(t, mu, z)), expected, (by_series ? 0x1p-54L : 8 * 0x1p-64L) * top);
	assert_near(law_g0(t, point(t, mu, z)), expected, 4 * ulp(top));
}

static void test_potential(void **unused)
{
	(void)unused;
	for_each_law(check_potential);
}

/* G1 is the derivative of the textbook's G0. */
static void check_force(enum law t, const double mu[2], double z)
{
	const quad h = z > 1 ? 0x1p-30 * (quad)z : 0x1p-30 * (z > 0 ? (quad)z : 1);
	const quad expected = (textbook(t, mu, z + h) - textbook(t, mu, z - h)) / (2 * h);
	const double top = most_of(t, mu), unit = z > 0 && z < 1e-3 ? z : 1;
	const double blur = (double)(h * blur_of(t, mu, z, h));
	const double bent = law_has_tail(t) ? 40 : 1; /* third derivatives are at least this much larger */
	assert_near(force_l(t, mu, z), (double)expected, 1e-15 * bent * top * unit + blur + 5e-324);
	assert_near(force(t, mu, z), (double)expected, 4e-15 * bent * top * unit + blur);
}

static void test_force(void **unused)
{
	(void)unused;
	for_each_law(check_force);
}

static void check_derivative(enum law t, const double mu[2], double z)
{
	const quad h = 0x1p-36 * (z > 1 ? (quad)z : 1);
	const quad expected = (textbook(t, mu, z + h) - 2 * textbook(t, mu, z) + textbook(t, mu, (quad)z - h)) / (h * h);
	const double top = most_of(t, mu), blur = (double)blur_of(t, mu, z, h);
	assert_near(law_g2_l(t, point_l(t, mu, z)), (double)expected, 2e-10 * top + blur);
	assert_near(law_g2(t, point(t, mu, z)), (double)expected, 2e-10 * top + blur);
	assert_true(blur <= 1e-8 * top || 1 - z < 0.5);
}

static void test_derivative(void **unused)
{
	(void)unused;
	for_each_law(check_derivative);
}

/* ---- properties of all laws ---- */

static void check_forms(enum law t, const double mu[2], double z)
{
	const double top = most_of(t, mu);
	assert_near(law_g0(t, point(t, mu, z)), law_g0_l(t, point_l(t, mu, z)), 4 * ulp(top * fmax(z, 1)));
	assert_near(force(t, mu, z), force_l(t, mu, z), 8 * ulp(top) * fmin(1, z) + 5e-324);
}

/* Doubles give the same results as long doubles. */
static void test_forms(void **unused)
{
	(void)unused;
	for_each_law(check_forms);
}

static void check_beyond(enum law t, const double mu[2], double z)
{
	if (z < 1 || t > LAW_PEAK)
		return;
	assert_bits(law_g0(t, point(t, mu, z)), mu[1] * z);
	assert_bits(law_g1(t, point(t, mu, z)), mu[1]);
	assert_bits(law_g2(t, point(t, mu, z)), 0);
}

/* From eps_v on there is kinetic friction, with each transition of the smooth law. */
static void test_beyond(void **unused)
{
	(void)unused;
	for_each_law(check_beyond);
}

/* The scalar functions compute the law in the caller's units, and are even or odd. */
static void check_functions(enum law t, const double mu[2], double z)
{
	const double eps_v = 0x1p-10, y = z * eps_v, s = mu[0], k = mu[1];
	const double unit = eps_v / decay_of_law;
	const double scaled[COUNT(speeds)] = {0, speeds[1] * unit, speeds[2] * unit,
	                                      speeds[3] * unit}; /* table.unit is 1 */
	const struct fric_law law = {.transition = t <= LAW_PEAK ? (enum fric_transition)t : FRIC_CUBIC,
	                             .type = t <= LAW_PEAK ? FRIC_SMOOTH : (enum fric_law_type)(t - LAW_PEAK),
	                             .stribeck_speed = unit,
	                             .curve = {COUNT(speeds), scaled, factors, NULL}};
	const struct law_point_l a = point_l(t, mu, z);
	const double potential = fric_law_potential(y, s, k, eps_v, &law), force = fric_law_force(y, s, k, eps_v, &law);
	const double over = fric_law_force_over_speed(y, s, k, eps_v, &law);
	const double derivative = fric_law_force_derivative(y, s, k, eps_v, &law);
	assert_bits(potential, (double)law_g0_l(t, a) * eps_v);
	assert_near(force, force_l(t, mu, z), ulp(force));
	assert_near(over, law_g1_l(t, a) / (eps_v * (law_low_l(t, a) ? 1 : z)), ulp(over));
	assert_true(derivative == (double)law_g2_l(t, a) / eps_v);
	assert_bits(fric_law_potential(-y, s, k, eps_v, &law), potential);
	assert_bits(fric_law_force(-y, s, k, eps_v, &law), -force);
	assert_bits(fric_law_force_over_speed(-y, s, k, eps_v, &law), over);
	assert_bits(fric_law_force_derivative(-y, s, k, eps_v, &law), derivative);
}

static void test_functions(void **unused)
{
	(void)unused;
	for_each_law(check_functions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_potential), cmocka_unit_test(test_force),  cmocka_unit_test(test_derivative),
		cmocka_unit_test(test_forms),     cmocka_unit_test(test_beyond), cmocka_unit_test(test_functions),
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}

#include "api/validate/law.h"

#include <stdio.h>

static const char *name_of(int law)
{
	return api_friction.rules[API_FRICTION_LAW].words[law];
}

static bool fault_law(struct api_check *check, const struct api_field *field, int law, const char *owners)
{
	return api_fault_at(check->fault, API_E_WITHOUT_EFFECT, &field->path,
	                    "\"%s\" belongs to the law %s: it has no effect with the law %s", field->path.key, owners,
	                    name_of(law));
}

void api_check_decays(struct api_check *check, const struct api_field *stribeck_speed, int law)
{
	if (stribeck_speed->node && law != API_UNKNOWN_LAW && !api_law_has(law, LAW_DECAYS))
		fault_law(check, stribeck_speed, law, "stribeck or exponential");
}

/* ---- the curve ---- */

static bool count_points(struct api_check *check, const struct api_field *speeds, size_t *n)
{
	if (!api_check_rows(check, speeds, 0, n))
		return false;
	return (*n >= API_LEAST_POINTS && *n <= API_MOST_POINTS) ||
	       api_fault_at(check->fault, API_E_WRONG_SHAPE, &speeds->path, "expected %d to %d points, got %zu",
	                    API_LEAST_POINTS, API_MOST_POINTS, *n);
}

static void check_ascending(struct api_check *check, const struct api_field *field, const double *speeds, size_t n)
{
	char here[API_VALUE_TEXT], before[API_VALUE_TEXT];
	if (speeds[0] != 0)
		api_fault_entry(check, API_E_OUT_OF_RANGE, field, 0,
		                "%s is out of range: the first speed of a curve must be 0, which stands for eps_v",
		                api_print_value(speeds[0], here));
	for (size_t i = 1; i < n && !api_fault_is_full(check->fault); i++)
		if (!(speeds[i] > speeds[i - 1]))
			api_fault_entry(check, API_E_OUT_OF_RANGE, field, i,
			                "%s is out of range: speeds must be strictly ascending, and the previous one is %s",
			                api_print_value(speeds[i], here), api_print_value(speeds[i - 1], before));
}

static void check_first_factor(struct api_check *check, const struct api_field *field, const double *factors)
{
	char text[API_VALUE_TEXT];
	if (factors[0] != 1)
		api_fault_entry(check, API_E_OUT_OF_RANGE, field, 0,
		                "%s is out of range: the first factor of a curve must be 1, as friction is continuous at eps_v",
		                api_print_value(factors[0], text));
}

static void check_points(struct api_check *check, const struct api_field *speeds, const struct api_field *factors,
                         struct fric_curve *out)
{
	struct fric_values x = {0}, y = {0};
	size_t n = API_UNKNOWN_LENGTH;
	const bool counted = api_check_present(check, speeds, "a curve needs its speeds, [m]") &&
	                     count_points(check, speeds, &n);
	const size_t lengths[API_N_LENGTHS] = {[API_N_POINTS] = counted ? n : API_UNKNOWN_LENGTH};
	const struct api_shape shape = api_shape_of(speeds->rule, lengths);
	if (counted && api_check_values(check, speeds, &shape, &x))
		check_ascending(check, speeds, x.data, n);
	if (api_check_present(check, factors, "a curve needs its factors, [m], one for each speed") &&
	    api_check_values(check, factors, &shape, &y) && y.data)
		check_first_factor(check, factors, y.data);
	if (x.data && y.data)
		*out = (struct fric_curve){n, x.data, y.data, NULL};
}

static void check_curve(struct api_check *check, struct api_field curve, struct fric_curve *out)
{
	if (!api_check_inner(check, &curve))
		return;
	const struct api_field speeds = api_ruled(&curve, &api_curve, API_CURVE_SPEEDS),
						   factors = api_ruled(&curve, &api_curve, API_CURVE_FACTORS);
	check_points(check, &speeds, &factors, out);
}

/* ---- the law ---- */

/* @return API_UNKNOWN_LAW if the name or the word is misspelt */
static int read_law(struct api_check *check, const struct api_law_fields *f)
{
	const struct api_field *field = &f->law;
	int law = FRIC_SMOOTH;
	check->other_words = f->transition.rule->words;
	check->other_field = "; that is a value of \"mu_transition\", with the law smooth";
	const bool ok = api_check_choice(check, field, field->rule->words, &law);
	check->other_words = NULL;
	return ok && (field->node || !api_is_given(check, field)) ? law : API_UNKNOWN_LAW;
}

int api_check_law(struct api_check *check, const struct api_law_fields *f, struct fric_law *out)
{
	const int law = read_law(check, f);
	int transition = FRIC_CUBIC;
	check->other_words = f->law.rule->words;
	check->other_field = "; that is a value of \"law\"";
	api_check_choice(check, &f->transition, f->transition.rule->words, &transition);
	check->other_words = NULL;
	if (f->transition.node && law > FRIC_SMOOTH)
		fault_law(check, &f->transition, law, "smooth");
	api_check_decays(check, &f->stribeck_speed, law);
	if (f->curve.node)
		check_curve(check, f->curve, &out->curve);
	if (f->curve.node && law != API_UNKNOWN_LAW && law != FRIC_CURVE)
		fault_law(check, &f->curve, law, "curve");
	else if (law == FRIC_CURVE)
		api_check_present(check, &f->curve, "the law curve needs its points");
	out->type = law == API_UNKNOWN_LAW ? FRIC_SMOOTH : (enum fric_law_type)law;
	out->transition = (enum fric_transition)transition;
	return law;
}

/* ---- one coefficient ---- */

static double value_at(const struct fric_values *values, size_t i, size_t j)
{
	return values->data ? values->data[i * values->stride + j] : 0;
}

static void fault_pair(struct api_check *check, int law, const struct api_field *mu_k, size_t flat, double s, double k)
{
	static const char format[] = "the law %s takes one coefficient, but the static one is %s and the kinetic one %s";
	char static_text[API_VALUE_TEXT], kinetic_text[API_VALUE_TEXT];
	api_print_value(s, static_text);
	api_print_value(k, kinetic_text);
	if (mu_k->node)
		api_fault_entry(check, API_E_CONFLICTING_FIELDS, mu_k, flat, format, name_of(law), static_text, kinetic_text);
	else
		api_fault_at(check->fault, API_E_CONFLICTING_FIELDS, &mu_k->path, format, name_of(law), static_text,
		             kinetic_text);
}

/* Compares a row of both coefficients. If one row of kinetic coefficients stands for all, its elements are reported
 * once. @return whether the rows are equal */
static bool check_row(struct api_check *check, int law, const struct api_field *mu_k, size_t i, size_t width,
                      const struct fric_values *s, const struct fric_values *k)
{
	bool same = true;
	for (size_t j = 0; j < width; j++) {
		if (value_at(s, i, j) == value_at(k, i, j))
			continue;
		if (same || mu_k->node)
			fault_pair(check, law, mu_k, k->stride ? i * width + j : j, value_at(s, i, j), value_at(k, i, j));
		same = false;
	}
	return same;
}

void api_check_one_coefficient(struct api_check *check, int law, const struct api_field *mu_k, size_t n, size_t width,
                               const struct fric_values *s, const struct fric_values *k)
{
	if (!api_law_has(law, LAW_ONE_MU) || s->data == k->data)
		return;
	const bool many = s->stride || k->stride;
	for (size_t i = 0; i < (many ? n : 1) && !api_fault_is_full(check->fault); i++) {
		if (i % API_SPAN == 0 && api_check_stopped(check))
			return;
		if (!check_row(check, law, mu_k, i, width, s, k) && !k->stride)
			return;
	}
}

/* Friction: laws and coefficients, and parameters of the scalar functions. */
#include "api/contract/rules.h"

/* clang-format off */
/* In the order of enum fric_law_type. */
static const char *const laws[] = {"smooth", "stribeck", "exponential", "curve", "adhesion", NULL};
static const char *const law_meanings[] = {
	"static friction turns into kinetic friction below eps_v; mu_transition selects how",
	"static up to eps_v, then mu_k + (mu_s - mu_k) exp(-x^2), x = (y - eps_v) / stribeck_speed",
	"as stribeck, with exp(-x)",
	"one coefficient, multiplied from eps_v on by the factor of a measured curve",
	"one coefficient; the force is largest at eps_v and zero from 2 eps_v on", NULL};
/* In the order of enum fric_transition. The smooth_mu functions accept those that are curves of mu. */
static const char *const transitions[] = {"cubic", "quadratic", "peak", NULL};
static const char *const transition_meanings[] = {
	"mu is one polynomial of degree 3 from rest to eps_v", "mu is two parabolas that meet at eps_v / 2",
	"the force is three parabolas: its peak is exactly mu_s, and it is mu_k from eps_v on", NULL};
static const char *const curves[] = {"cubic", "quadratic", NULL};
static const char *const curve_meanings[] = {
	"one polynomial of degree 3 from rest to eps_v", "two parabolas that meet at eps_v / 2", NULL};
static const char *const blends[] = {"mean", "min", "max", "product", "geometric_mean", "harmonic_mean", NULL};

static const struct api_rule materials_rules[API_N_MATERIALS] = {API_MATERIALS_FIELDS(RULE)};
const struct api_object api_materials = {
	"Materials", "Coefficients for pairs of materials.", materials_rules, API_N_MATERIALS, -1,
	"{'if': {'not': {'required': ['mu']}}, 'then': {'required': ['mu_s']},"
	" 'dependentRequired': {'mu_s': ['mu_k'], 'mu_k': ['mu_s']},"
	" 'dependentSchemas': {'mu': {'properties': {'mu_s': false, 'mu_k': false}}}}"};

/* validate/law.c checks this field, and counts and compares the points. */
const struct api_object api_curve = OBJECT(
	"Curve",
	"A measured curve: the change of the coefficient with the speed beyond eps_v. Interpolated by monotone cubics.",
	[API_CURVE_SPEEDS] = {.name = "speeds", .kind = API_REALS, .range = API_NON_NEGATIVE, .shape = {API_N_POINTS},
		.required = true, .unit = VELOCITY,
		.meaning = "speeds beyond eps_v, 2 to 4096 of them, strictly ascending from 0"},
	[API_CURVE_FACTORS] = {BY(CURVE_FACTORS), .name = "factors", .kind = API_REALS, .range = API_NON_NEGATIVE,
		.shape = {API_N_POINTS}, .required = true, .unit = DIMENSIONLESS,
		.meaning = "factor of the coefficient at each speed; the first is 1, the last applies to all higher speeds"});

/* The schema's constraints: the law that each field belongs to, and the fields that a law needs. */
#define LAW_OF_FIELDS \
	"'mu_transition': {'properties': {'law': {'const': 'smooth'}}}," \
	" 'stribeck_speed': {'required': ['law'], 'properties': {'law': {'enum': ['stribeck', 'exponential']}}}," \
	" 'curve': {'required': ['law'], 'properties': {'law': {'const': 'curve'}}}"
#define NEEDED_BY(law, field) \
	"{'if': {'required': ['law'], 'properties': {'law': " law "}}, 'then': {'required': ['" field "']}}"
#define CURVE_OF_LAW NEEDED_BY("{'const': 'curve'}", "curve")
#define SPEED_OF_LAW NEEDED_BY("{'enum': ['stribeck', 'exponential']}", "stribeck_speed")

static const struct api_rule friction_rules[API_N_FRICTION] = {API_FRICTION_FIELDS(RULE)};
const struct api_object api_friction = {
	"Friction",
	"eps_v and coefficients of groups without their own. Give coefficients in one way only: mu (or mu_s and mu_k),"
	" vertex_mu (or vertex_mu_s and vertex_mu_k), or materials.",
	friction_rules, API_N_FRICTION, -1,
	"{'dependentRequired': {'mu_s': ['mu_k'], 'mu_k': ['mu_s'], 'vertex_mu_s': ['vertex_mu_k'],"
	" 'vertex_mu_k': ['vertex_mu_s']},"
	" 'dependentSchemas': {"
	"'mu': {'properties': {'mu_s': false, 'mu_k': false, 'vertex_mu': false, 'vertex_mu_s': false,"
	" 'vertex_mu_k': false, 'materials': false}},"
	" 'mu_s': {'properties': {'vertex_mu': false, 'vertex_mu_s': false, 'vertex_mu_k': false, 'materials': false}},"
	" 'vertex_mu': {'properties': {'vertex_mu_s': false, 'vertex_mu_k': false, 'materials': false}},"
	" 'vertex_mu_s': {'properties': {'materials': false}},"
	" 'blend': {'anyOf': [{'required': ['vertex_mu']}, {'required': ['vertex_mu_s']}]},"
	" " LAW_OF_FIELDS "}, 'allOf': [" CURVE_OF_LAW "]}"};

#define SCALARS (BIT(API_SMOOTH_FRICTION) | BIT(API_SMOOTH_MU) | BIT(API_LAW))
#define COEFFICIENTS (BIT(API_SMOOTH_MU) | BIT(API_LAW) | BIT(API_EFFECTIVE))
#define ELLIPSES (BIT(API_ELLIPSE) | BIT(API_EFFECTIVE))
static const struct api_rule call_rules[API_N_CALL] = {API_CALL_FIELDS(RULE)};
#define CALL(is, called, means) [is] = {called, means, call_rules, API_N_CALL, is, NULL}
const struct api_object api_calls[API_N_FUNCTION_KINDS] = {
	CALL(API_SMOOTH_FRICTION, "SmoothFrictionCall", "Parameters of the smooth_friction functions."),
	CALL(API_SMOOTH_MU, "SmoothMuCall", "Parameters of the smooth_mu functions."),
	[API_LAW] = {"LawCall", "Parameters of the law functions.", call_rules, API_N_CALL, API_LAW,
		"{'dependentSchemas': {" LAW_OF_FIELDS "}, 'allOf': [" CURVE_OF_LAW ", " SPEED_OF_LAW "]}"},
	CALL(API_DIRECTION, "DirectionCall", "Parameters of anisotropic_x_from_tau_aniso."),
	CALL(API_ELLIPSE, "EllipseCall", "Parameters of anisotropic_mu_eff_f."),
	[API_EFFECTIVE] = {
		"EffectiveCall", "Parameters of anisotropic_mu_eff_from_tau_aniso.", call_rules, API_N_CALL, API_EFFECTIVE,
		"{'required': ['tau_aniso'], 'if': {'properties': {'no_mu': {'const': true}}, 'required': ['no_mu']},"
		" 'else': {'required': ['mu_s_aniso', 'mu_k_aniso', 'mu_s', 'mu_k']}}"},
};

const struct api_rule *api_call_first(enum api_function_kind kind)
{
	const struct api_rule *rule = call_rules;
	while (!api_rule_applies(rule, &api_calls[kind]))
		rule++;
	return rule;
}

const struct api_object api_function_answer = OBJECT("Values", "Values of a function.",
	TEXT("function", "name of the function"), REAL_ARRAY("values", "one value per entry", NULL, API_N_ENTRIES));
const struct api_object api_pairs_answer = OBJECT("Pairs", "Values of a function that returns pairs.",
	TEXT("function", "name of the function"),
	REAL_ARRAY("values", "one pair per entry", DIMENSIONLESS, API_N_ENTRIES, API_PAIR));

#define CALL_OF(place, called, kind_of, means) \
	[place] = {.name = called, .kind = API_OBJECT, .objects = ONE(api_calls[kind_of]), .meaning = means},
static const struct api_rule bundle_rules[] = {API_FUNCTIONS(CALL_OF)};
const struct api_object api_bundle_calls = {
	"CallsByFunction", "The parameters of each function.", bundle_rules, API_N_FUNCTIONS, -1, "{'minProperties': 1}"};
const struct api_object api_bundle = OBJECT("FunctionBundle", "Functions to evaluate, with their parameters.",
	[API_BUNDLE_FUNCTIONS] = {.name = "functions", .kind = API_OBJECT, .objects = ONE(api_bundle_calls),
		.required = true, .meaning = "parameters by name of the function; at least one function"});

static const struct api_object bundled_values = OBJECT("BundledValues", "Values of a function in a bundle.",
	REAL_ARRAY("values", "one value per entry", NULL, API_N_ENTRIES));
static const struct api_object bundled_pairs = OBJECT("BundledPairs", "Values of a function that returns pairs.",
	REAL_ARRAY("values", "one pair per entry", DIMENSIONLESS, API_N_ENTRIES, API_PAIR));
#define VALUES_OF(place, called, kind_of, means) \
	[place] = {.name = called, .kind = API_OBJECT, .meaning = means, \
		.objects = (kind_of) < API_DIRECTION ? ONE(bundled_values) : ONE(bundled_pairs)},
static const struct api_rule bundle_answer_rules[] = {API_FUNCTIONS(VALUES_OF)};
static const struct api_object bundled_answers =
	OBJECT_BY("ValuesByFunction", "The functions of the request, in its order.", bundle_answer_rules);
const struct api_object api_bundle_answer = OBJECT("FunctionBundleValues", "Values of several functions.",
	{.name = "functions", .kind = API_OBJECT, .objects = ONE(bundled_answers), .required = true,
		.meaning = "values by name of the function"});

static const struct api_object listed = OBJECT("Function", "A function of the friction law.",
	TEXT("name", "name in the path"),
	TEXT("meaning", "one-line description"),
	TEXTS("parameters", "names of the parameters; the first contains the points"));
const struct api_object api_function_list_answer = OBJECT("FunctionList", "The scalar functions of the friction law.",
	{.name = "functions", .kind = API_LIST, .objects = ONE(listed), .required = true, .meaning = "all functions"});

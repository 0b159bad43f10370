/* Friction: laws and coefficients, and parameters of the functions that laws consist of. */
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

static const struct api_rule materials_rules[API_N_MATERIALS] = {
	[API_MATERIALS_VERTEX] = {.name = "vertex_material", .kind = API_INDICES, .shape = {API_N_VERTICES},
		.meaning = "material of every vertex, numbered from 0; required unless all contacts are of bodies"},
	[API_MATERIALS_PLANE] = {.name = "plane_material", .kind = API_INDEX,
		.meaning = "material of planes and the world; required for plane_vertex and body_world"},
	[API_MATERIALS_BODY] = {.name = "body_material", .kind = API_INDICES, .shape = {API_N_BODIES},
		.meaning = "material of every body, numbered from 0; required for contacts of bodies"},
	[API_MATERIALS_MU] = {BY_BOTH(MATERIAL_MU_S, MATERIAL_MU_K), .name = "mu", .kind = API_REALS,
		.range = API_NON_NEGATIVE, .shape = {API_MATERIALS, API_MATERIALS}, .unit = DIMENSIONLESS,
		.meaning = "symmetric table of coefficients, both static and kinetic"},
	[API_MATERIALS_MU_S] = {BY(MATERIAL_MU_S), .name = "mu_s", .kind = API_REALS, .range = API_NON_NEGATIVE,
		.shape = {API_MATERIALS, API_MATERIALS}, .unit = DIMENSIONLESS,
		.meaning = "symmetric table of static coefficients; requires mu_k"},
	[API_MATERIALS_MU_K] = {BY(MATERIAL_MU_K), .name = "mu_k", .kind = API_REALS, .range = API_NON_NEGATIVE,
		.shape = {API_MATERIALS, API_MATERIALS}, .unit = DIMENSIONLESS,
		.meaning = "symmetric table of kinetic coefficients; requires mu_s"},
};
const struct api_object api_materials = {
	"Materials", "Coefficients for pairs of materials.", materials_rules, API_N_MATERIALS, -1,
	"{'if': {'not': {'required': ['mu']}}, 'then': {'required': ['mu_s']},"
	" 'dependentRequired': {'mu_s': ['mu_k'], 'mu_k': ['mu_s']},"
	" 'dependentSchemas': {'mu': {'properties': {'mu_s': false, 'mu_k': false}}}}"};

/* Checked by validate/law.c, which also counts and compares the points. */
static const struct api_rule curve_rules[API_N_CURVE] = {
	[API_CURVE_SPEEDS] = {.name = "speeds", .kind = API_REALS, .range = API_NON_NEGATIVE, .shape = {API_N_POINTS},
		.required = true, .unit = VELOCITY,
		.meaning = "speeds beyond eps_v, 2 to 4096 of them, strictly ascending from 0"},
	[API_CURVE_FACTORS] = {BY(CURVE_FACTORS), .name = "factors", .kind = API_REALS, .range = API_NON_NEGATIVE,
		.shape = {API_N_POINTS}, .required = true, .unit = DIMENSIONLESS,
		.meaning = "factor of the coefficient at each speed; the first is 1, the last applies to all higher speeds"},
};
const struct api_object api_curve = OBJECT(
	"Curve",
	"A measured curve: the change of the coefficient with the speed beyond eps_v. Interpolated by monotone cubics.",
	curve_rules);

/* Constraints of the schema: the law that each field belongs to, and the fields that a law needs. */
#define LAW_OF_FIELDS \
	"'mu_transition': {'properties': {'law': {'const': 'smooth'}}}," \
	" 'stribeck_speed': {'required': ['law'], 'properties': {'law': {'enum': ['stribeck', 'exponential']}}}," \
	" 'curve': {'required': ['law'], 'properties': {'law': {'const': 'curve'}}}"
#define NEEDED_BY(law, field) \
	"{'if': {'required': ['law'], 'properties': {'law': " law "}}, 'then': {'required': ['" field "']}}"
#define CURVE_OF_LAW NEEDED_BY("{'const': 'curve'}", "curve")
#define SPEED_OF_LAW NEEDED_BY("{'enum': ['stribeck', 'exponential']}", "stribeck_speed")

static const struct api_rule friction_rules[API_N_FRICTION] = {
	[API_FRICTION_EPS_V] = {BY(EPS_V), .name = "eps_v", .kind = API_NUMBER, .range = API_POSITIVE, .unit = VELOCITY,
		.meaning = "speed below which a contact sticks; required unless every group has its own"},
	[API_FRICTION_MU] = {BY_BOTH(MU_S, MU_K), .name = "mu", .kind = API_NUMBER, .range = API_NON_NEGATIVE,
		.unit = DIMENSIONLESS, .meaning = "one coefficient for all contacts, both static and kinetic"},
	[API_FRICTION_MU_S] = {BY(MU_S), .name = "mu_s", .kind = API_NUMBER, .range = API_NON_NEGATIVE,
		.unit = DIMENSIONLESS, .meaning = "static coefficient of all contacts; requires mu_k"},
	[API_FRICTION_MU_K] = {BY(MU_K), .name = "mu_k", .kind = API_NUMBER, .range = API_NON_NEGATIVE,
		.unit = DIMENSIONLESS, .meaning = "kinetic coefficient of all contacts; requires mu_s"},
	[API_FRICTION_VERTEX_MU] = {BY_BOTH(VERTEX_MU_S, VERTEX_MU_K), .name = "vertex_mu", .kind = API_REALS,
		.range = API_NON_NEGATIVE, .shape = {API_N_VERTICES}, .unit = DIMENSIONLESS,
		.meaning = "coefficient per vertex, both static and kinetic"},
	[API_FRICTION_VERTEX_MU_S] = {BY(VERTEX_MU_S), .name = "vertex_mu_s", .kind = API_REALS, .range = API_NON_NEGATIVE,
		.shape = {API_N_VERTICES}, .unit = DIMENSIONLESS,
		.meaning = "static coefficient per vertex; requires vertex_mu_k"},
	[API_FRICTION_VERTEX_MU_K] = {BY(VERTEX_MU_K), .name = "vertex_mu_k", .kind = API_REALS, .range = API_NON_NEGATIVE,
		.shape = {API_N_VERTICES}, .unit = DIMENSIONLESS,
		.meaning = "kinetic coefficient per vertex; requires vertex_mu_s"},
	[API_FRICTION_BLEND] = {.name = "blend", .kind = API_WORD, .words = blends,
		.meaning = "combines the coefficients of the two sides of a contact; only with coefficients per vertex"},
	[API_FRICTION_MATERIALS] = {.name = "materials", .kind = API_OBJECT, .objects = ONE(api_materials),
		.meaning = "coefficients for pairs of materials"},
	[API_FRICTION_LAW] = {.name = "law", .kind = API_WORD, .words = laws, .meanings = law_meanings,
		.meaning = "dependence of friction on the speed"},
	[API_FRICTION_TRANSITION] = {.name = "mu_transition", .kind = API_WORD, .words = transitions,
		.meanings = transition_meanings, .meaning = "transition from static to kinetic; only for the law smooth"},
	[API_FRICTION_STRIBECK_SPEED] = {BY(STRIBECK_SPEED), .name = "stribeck_speed", .kind = API_NUMBER,
		.range = API_POSITIVE, .unit = VELOCITY, .meaning = "speed over which friction decays beyond eps_v; only for"
			" the"
			" laws stribeck and exponential, which require it unless every group has its own"},
	[API_FRICTION_CURVE] = {.name = "curve", .kind = API_OBJECT, .objects = ONE(api_curve),
		.meaning = "only for the law curve, which requires it"},
	[API_FRICTION_VISCOUS] = {BY(VISCOUS), .name = "viscous", .kind = API_NUMBER, .range = API_NON_NEGATIVE,
		.fallback = "0", .unit = "1 / velocity", .meaning = "drag per normal force and slip velocity, added to any"
			" law"},
};
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
static const struct api_rule call_rules[API_N_CALL] = {
	[API_CALL_Y] = {.name = "y", .kind = API_REALS, .shape = {API_N_ENTRIES}, .one_for_all = true, .required = true,
		.types = SCALARS, .unit = VELOCITY, .meaning = "speeds at which to evaluate, of either sign; a single number"
			" is allowed"},
	[API_CALL_TAU_ANISO] = {.name = "tau_aniso", .kind = API_REALS, .shape = {API_N_ENTRIES, API_PAIR},
		.required = true, .types = BIT(API_DIRECTION) | BIT(API_EFFECTIVE), .unit = VELOCITY,
		.meaning = "scaled tangential velocities"},
	[API_CALL_TAU_DIR] = {.name = "tau_dir", .kind = API_REALS, .shape = {API_N_ENTRIES, API_PAIR}, .required = true,
		.types = BIT(API_ELLIPSE), .unit = DIMENSIONLESS, .meaning = "unit directions of slip"},
	[API_CALL_MU_S_ANISO] = {.name = "mu_s_aniso", .kind = API_REALS, .range = API_NON_NEGATIVE,
		.shape = {API_N_ENTRIES, API_PAIR}, .one_for_all = true, .required = true, .types = ELLIPSES,
		.unit = DIMENSIONLESS, .meaning = "static ellipse"},
	[API_CALL_MU_K_ANISO] = {.name = "mu_k_aniso", .kind = API_REALS, .range = API_NON_NEGATIVE,
		.shape = {API_N_ENTRIES, API_PAIR}, .one_for_all = true, .required = true, .types = ELLIPSES,
		.unit = DIMENSIONLESS, .meaning = "kinetic ellipse"},
	[API_CALL_MU_S] = {.name = "mu_s", .kind = API_REALS, .range = API_NON_NEGATIVE, .shape = {API_N_ENTRIES},
		.one_for_all = true, .required = true, .types = COEFFICIENTS, .unit = DIMENSIONLESS,
		.meaning = "static coefficient"},
	[API_CALL_MU_K] = {.name = "mu_k", .kind = API_REALS, .range = API_NON_NEGATIVE, .shape = {API_N_ENTRIES},
		.one_for_all = true, .required = true, .types = COEFFICIENTS, .unit = DIMENSIONLESS,
		.meaning = "kinetic coefficient"},
	[API_CALL_EPS_V] = {.name = "eps_v", .kind = API_REALS, .range = API_POSITIVE, .shape = {API_N_ENTRIES},
		.one_for_all = true, .required = true, .types = SCALARS, .unit = VELOCITY,
		.meaning = "speed below which a contact sticks"},
	[API_CALL_LAW] = {.name = "law", .kind = API_WORD, .words = laws, .meanings = law_meanings, .types = BIT(API_LAW),
		.meaning = "friction law"},
	[API_CALL_TRANSITION] = {.name = "mu_transition", .kind = API_WORD, .words = transitions,
		.meanings = transition_meanings, .types = BIT(API_LAW),
		.meaning = "transition from static to kinetic; only for the law smooth"},
	[API_CALL_MU_TRANSITION] = {.name = "mu_transition", .kind = API_WORD, .words = curves, .meanings = curve_meanings,
		.types = BIT(API_SMOOTH_MU), .meaning = "curve of mu from static to kinetic"},
	[API_CALL_STRIBECK_SPEED] = {.name = "stribeck_speed", .kind = API_REALS, .range = API_POSITIVE,
		.shape = {API_N_ENTRIES}, .one_for_all = true, .types = BIT(API_LAW), .unit = VELOCITY,
		.meaning = "speed over which friction decays beyond eps_v; only for the laws stribeck and exponential, which"
			" require it"},
	[API_CALL_CURVE] = {.name = "curve", .kind = API_OBJECT, .objects = ONE(api_curve), .types = BIT(API_LAW),
		.meaning = "only for the law curve, which requires it; only in a body"},
	[API_CALL_VISCOUS] = {.name = "viscous", .kind = API_REALS, .range = API_NON_NEGATIVE, .shape = {API_N_ENTRIES},
		.one_for_all = true, .types = BIT(API_LAW), .unit = "1 / velocity", .fallback = "0",
		.meaning = "drag per normal force and slip velocity, added to any law"},
	[API_CALL_NO_MU] = {.name = "no_mu", .kind = API_BOOL, .fallback = "false", .types = BIT(API_EFFECTIVE),
		.meaning = "true returns 1, 1 and requires only tau_aniso"},
};
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

static const struct api_rule function_rules[] = {
	TEXT("function", "name of the function"), REAL_ARRAY("values", "one value per entry", NULL, API_N_ENTRIES),
};
static const struct api_rule pair_rules[] = {
	TEXT("function", "name of the function"),
	REAL_ARRAY("values", "one pair per entry", DIMENSIONLESS, API_N_ENTRIES, API_PAIR),
};
const struct api_object
	api_function_answer = OBJECT("Values", "Values of a function.", function_rules),
	api_pairs_answer = OBJECT("Pairs", "Values of a function that returns pairs.", pair_rules);

static const struct api_rule listed_rules[] = {
	TEXT("name", "name in the path"),
	TEXT("meaning", "one-line description"),
	TEXTS("parameters", "names of the parameters; the first contains the points"),
};
static const struct api_object listed = OBJECT("Function", "A function of the friction law.", listed_rules);
static const struct api_rule list_rules[] = {
	{.name = "functions", .kind = API_LIST, .objects = ONE(listed), .required = true, .meaning = "all functions"},
};
const struct api_object api_function_list_answer = OBJECT(
	"FunctionList", "The scalar functions of the friction law.", list_rules);

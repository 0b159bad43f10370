#include "api/contract/fields.h"

#include "api/base/codes.h"

#define N_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define BIT(type) (1u << (type))
/* clang-format off */
#define ONE(object) (const struct api_object *const[]){&(object), NULL}

#define SPATIAL (BIT(FRIC_EDGE_EDGE) | BIT(FRIC_FACE_VERTEX))
#define WITH_POINT (BIT(FRIC_EDGE_VERTEX) | SPATIAL)
#define OF_BODIES (BIT(FRIC_BODY_BODY) | BIT(FRIC_BODY_WORLD))
#define OF_VERTICES (BIT(FRIC_VERTEX_VERTEX) | WITH_POINT | BIT(FRIC_PLANE_VERTEX))

#define DIMENSIONLESS "1"
#define VELOCITY "velocity"
#define LENGTH "length"
#define FORCE "force"

/* What a field is to the core. */
#define BY(field) .by = {1 + FRIC_BY_##field}
#define BY_BOTH(s, k) .by = {1 + FRIC_BY_##s, 1 + FRIC_BY_##k}
#define BY_ROW(row) .by = {1 + FRIC_ROW_##row}

/* ---- words ---- */

/* In the order of enum fric_law_type. */
static const char *const laws[] = {"smooth", "stribeck", "exponential", "curve", "adhesion", NULL};
static const char *const law_meanings[] = {
	"static friction below eps_v, kinetic above, as mu_transition says",
	"static up to eps_v, then mu_k + (mu_s - mu_k) exp(-x^2), x = (y - eps_v) / stribeck_speed", "the same with exp(-x)",
	"one coefficient, from eps_v on times the factor of a measured curve",
	"one coefficient; the force is highest at eps_v and gone from 2 eps_v on", NULL};
/* In the order of enum fric_transition. The smooth_mu functions take the curves of mu among them. */
static const char *const transitions[] = {"cubic", "quadratic", "peak", NULL};
static const char *const transition_meanings[] = {
	"mu is one polynomial of degree 3 from rest to eps_v", "mu is two parabolas that meet at eps_v / 2",
	"the force is three parabolas: it reaches mu_s exactly, and is mu_k from eps_v on", NULL};
static const char *const curves[] = {"cubic", "quadratic", NULL};
static const char *const curve_meanings[] = {
	"one polynomial of degree 3 from rest to eps_v", "two parabolas that meet at eps_v / 2", NULL};
static const char *const blends[] = {"mean", "min", "max", "product", "geometric_mean", "harmonic_mean", NULL};
/* In the order of enum fric_barrier_type. */
static const char *const barriers[] = {
	"clamped_log", "normalized_clamped_log", "clamped_log_squared", "cubic", "two_stage", NULL};
static const char *const barrier_meanings[] = {
	"-(D - E)^2 ln(D/E)", "the same over E^2", "(D - E)^2 ln(D/E)^2", "2/3 (E - D)^3 / E",
	"(E - D)^2 / 2 where D is at least E/2, else E^2/4 (1/2 - ln(2D/E))", NULL};
static const char *const scalings[] = {"none", "physical", NULL};
static const char *const scaling_meanings[] = {
	"as it is", "times dhat/E^2 (normalized_clamped_log: dhat), so that stiffness is a force", NULL};
static const char *const outputs[] = {
	"potential", "gradient", "hessian", "collisions", "line", "hessian_products", "position_jacobian", NULL};
static const char *const reactions[] = {"error", "skip", NULL};
static const char *const reaction_meanings[] = {
	"the first such contact is a 422", "such contacts are left out and listed", NULL};
static const char *const triangles[] = {"full", "upper", "lower", NULL};
static const char *const triangle_meanings[] = {"all entries", "row <= col", "row >= col", NULL};
static const char *const projections[] = {"none", "clamp", "abs", NULL};
static const char *const projection_meanings[] = {
	"as it is", "negative eigenvalues of each contact become 0", "they become positive", NULL};
const char *const api_hessian_formats[5] = {"triplets", "csr", "bsr", "factors", NULL};
static const char *const format_meanings[] = {
	"every contact's block, duplicates add up", "merged and sorted", "the same in blocks of dim x dim", "the factors of every contact's block", NULL};

const char *const api_jacobian_formats[3] = {"csr", "triplets", NULL};
static const char *const jacobian_format_meanings[] = {
	"merged and sorted", "every contact's block, duplicates add up", NULL};

/* ---- values per contact ---- */

/* X(place, name, kind, shape, range, types, unit, meaning) */
#define OUTPUT_FIELDS(X) \
	X(POTENTIAL, "potential", API_REALS, (API_N), API_ANY, 0, "force * velocity", "with weight and normal force") \
	X(TANGENTIAL_VELOCITY, "tangential_velocity", API_REALS, (API_N, API_TANGENTS), API_ANY, 0, VELOCITY, \
	  "slip in the tangent basis, before mu_aniso") \
	X(MU_S, "mu_s", API_REALS, (API_N), API_NON_NEGATIVE, 0, DIMENSIONLESS, \
	  "static coefficient used, ellipses included") \
	X(MU_K, "mu_k", API_REALS, (API_N), API_NON_NEGATIVE, 0, DIMENSIONLESS, \
	  "kinetic coefficient used, ellipses included") \
	X(NORMAL_FORCE, "normal_force", API_REALS, (API_N), API_NON_NEGATIVE, 0, FORCE, "without weight") \
	X(DISTANCE, "distance", API_REALS, (API_N), API_NON_NEGATIVE, 0, LENGTH, \
	  "left out of a group with given geometry, and of planes without plane_origin") \
	X(CLOSEST_POINT, "closest_point", API_REALS, (API_N, API_POINT), API_ANY, WITH_POINT, DIMENSIONLESS, \
	  "coordinates on edge or triangle") \
	X(TANGENT_BASIS, "tangent_basis", API_REALS, (API_N, API_DIM, API_TANGENTS), API_ANY, 0, DIMENSIONLESS, \
	  "columns are unit tangents") \
	X(STATUS, "status", API_INDICES, (API_N), API_ANY, 0, NULL, "0 sticks (y < eps_v), 1 slides, 2 skipped") \
	X(SLIP_RATIO, "slip_ratio", API_REALS, (API_N), API_NON_NEGATIVE, 0, DIMENSIONLESS, "y / eps_v, after mu_aniso") \
	X(FRICTION_FORCE, "friction_force", API_REALS, (API_N, API_DIM), API_ANY, 0, FORCE, \
	  "on the first side, with weight; stencil weights distribute it") \
	X(ANCHOR, "anchor", API_REALS, (API_N, API_DIM), API_ANY, 0, VELOCITY, "what to send as anchor with the next step") \
	X(SPIN, "spin", API_REALS, (API_N), API_ANY, OF_BODIES, "1 / time", \
	  "angular velocity about the normal, without spin_radius; 3D") \
	X(ROLLING, "rolling", API_REALS, (API_N, API_TANGENTS), API_ANY, OF_BODIES, "1 / time", \
	  "angular velocity in the tangent basis (2D: itself), without roll_radius")

#define LENGTHS(...) {__VA_ARGS__}
#define NAME_OF(place, called, ...) [FRIC_OUT_##place] = called,
#define MEANING_OF(place, called, is, lengths, from, of, in, means) [FRIC_OUT_##place] = means,
#define RULE_OF(place, called, is, lengths, from, of, in, means) \
	[FRIC_OUT_##place] = {.name = called, .kind = is, .shape = LENGTHS lengths, .range = from, .types = of, \
	                      .unit = in, .meaning = means, .most = (is) == API_INDICES ? 2 : 0},

const char *const api_collision_output_names[FRIC_N_OUTPUTS + 1] = {OUTPUT_FIELDS(NAME_OF) NULL};
static const char *const output_meanings[FRIC_N_OUTPUTS + 1] = {OUTPUT_FIELDS(MEANING_OF) NULL};
const struct api_rule api_output_rules[FRIC_N_OUTPUTS] = {OUTPUT_FIELDS(RULE_OF)};

/* ---- POST /v1/evaluate ---- */

static const char pairs_of_mu[] =
	"{'dependentRequired': {'mu_s': ['mu_k'], 'mu_k': ['mu_s'], 'closest_point': ['tangent_basis'],"
	" 'tangent_basis': ['closest_point']},"
	" 'dependentSchemas': {'mu': {'properties': {'mu_s': false, 'mu_k': false}},"
	" 'grain': {'properties': {'tangent_basis': false}}}}";
static const char pairs_of_mu_without_point[] =
	"{'dependentRequired': {'mu_s': ['mu_k'], 'mu_k': ['mu_s']},"
	" 'dependentSchemas': {'mu': {'properties': {'mu_s': false, 'mu_k': false}},"
	" 'grain': {'properties': {'tangent_basis': false}}}}";

/* An empty group needs no more than its stencils. */
static const char needs_of_bodies[] =
	"{'dependentRequired': {'mu_s': ['mu_k'], 'mu_k': ['mu_s']},"
	" 'dependentSchemas': {'mu': {'properties': {'mu_s': false, 'mu_k': false}},"
	" 'grain': {'properties': {'tangent_basis': false}}},"
	" 'if': {'properties': {'bodies': {'type': 'array', 'minItems': 1}}},"
	" 'then': {'required': ['point', 'normal', 'normal_force']}}";

static const struct api_rule barrier_rules[API_N_BARRIER] = {
	[API_BARRIER_DHAT] = {BY(DHAT), .name = "dhat", .kind = API_NUMBER, .range = API_POSITIVE, .required = true, .unit = LENGTH,
		.meaning = "reach of the barrier: from dmin + dhat on the force is 0"},
	[API_BARRIER_STIFFNESS] = {BY(STIFFNESS), .name = "stiffness", .kind = API_NUMBER, .range = API_POSITIVE, .required = true,
		.unit = "force / length^3",
		.meaning = "kappa. Of normalized_clamped_log in force * length, with physical scaling in force"},
	[API_BARRIER_DMIN] = {BY(DMIN), .name = "dmin", .kind = API_NUMBER, .range = API_NON_NEGATIVE, .fallback = "0",
		.unit = LENGTH, .meaning = "thickness: a distance not larger than this is a penetration"},
	[API_BARRIER_TYPE] = {.name = "type", .kind = API_WORD, .words = barriers, .meanings = barrier_meanings,
		.meaning = "function of D = distance^2 - dmin^2, which is 0 from E = (2 dmin + dhat) dhat on; the force is"
				   " -stiffness times its derivative times 2 distance"},
	[API_BARRIER_SCALING] = {.name = "scaling", .kind = API_WORD, .words = scalings, .meanings = scaling_meanings,
		.meaning = "of the force"},
};
const struct api_object api_barrier = {
	"Barrier", "Barrier on squared distances: the normal force of contacts that bring none.", barrier_rules,
	API_N_BARRIER, -1, NULL};

static const struct api_rule materials_rules[API_N_MATERIALS] = {
	[API_MATERIALS_VERTEX] = {.name = "vertex_material", .kind = API_INDICES, .shape = {API_N_VERTICES},
		.meaning = "material of every vertex, numbered from 0; needed unless there are bodies alone"},
	[API_MATERIALS_PLANE] = {.name = "plane_material", .kind = API_INDEX,
		.meaning = "material of planes and world; needed for plane_vertex and body_world"},
	[API_MATERIALS_BODY] = {.name = "body_material", .kind = API_INDICES, .shape = {API_N_BODIES},
		.meaning = "material of every body, numbered from 0; needed for contacts of bodies"},
	[API_MATERIALS_MU] = {BY_BOTH(MATERIAL_MU_S, MATERIAL_MU_K), .name = "mu", .kind = API_REALS, .range = API_NON_NEGATIVE,
		.shape = {API_MATERIALS, API_MATERIALS}, .unit = DIMENSIONLESS,
		.meaning = "symmetric table of coefficients, static and kinetic"},
	[API_MATERIALS_MU_S] = {BY(MATERIAL_MU_S), .name = "mu_s", .kind = API_REALS, .range = API_NON_NEGATIVE,
		.shape = {API_MATERIALS, API_MATERIALS}, .unit = DIMENSIONLESS,
		.meaning = "symmetric table of static coefficients; together with mu_k"},
	[API_MATERIALS_MU_K] = {BY(MATERIAL_MU_K), .name = "mu_k", .kind = API_REALS, .range = API_NON_NEGATIVE,
		.shape = {API_MATERIALS, API_MATERIALS}, .unit = DIMENSIONLESS,
		.meaning = "symmetric table of kinetic coefficients; together with mu_s"},
};
const struct api_object api_materials = {
	"Materials", "Coefficients by pairs of materials.", materials_rules, API_N_MATERIALS, -1,
	"{'if': {'not': {'required': ['mu']}}, 'then': {'required': ['mu_s']},"
	" 'dependentRequired': {'mu_s': ['mu_k'], 'mu_k': ['mu_s']},"
	" 'dependentSchemas': {'mu': {'properties': {'mu_s': false, 'mu_k': false}}}}"};

/* Counted and compared where they are read (validate/law.c). */
static const struct api_rule curve_rules[API_N_CURVE] = {
	[API_CURVE_SPEEDS] = {.name = "speeds", .kind = API_REALS, .range = API_NON_NEGATIVE, .shape = {API_N_POINTS},
		.required = true, .unit = VELOCITY,
		.meaning = "speeds beyond eps_v, 2 to 4096 of them, strictly ascending from 0"},
	[API_CURVE_FACTORS] = {BY(CURVE_FACTORS), .name = "factors", .kind = API_REALS, .range = API_NON_NEGATIVE, .shape = {API_N_POINTS},
		.required = true, .unit = DIMENSIONLESS,
		.meaning = "of the coefficient at each of them; the first is 1, the last holds for all higher speeds"},
};
const struct api_object api_curve = {
	"Curve", "A measured curve: how the coefficient changes with the speed beyond eps_v. Monotone cubics between the points.",
	curve_rules, API_N_CURVE, -1, NULL};

/* Which law a field belongs to, for dependentSchemas; what a law needs. */
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
		.meaning = "speed below which a contact sticks; needed if a group has none of its own"},
	[API_FRICTION_MU] = {BY_BOTH(MU_S, MU_K), .name = "mu", .kind = API_NUMBER, .range = API_NON_NEGATIVE, .unit = DIMENSIONLESS,
		.meaning = "one coefficient for all contacts, static and kinetic"},
	[API_FRICTION_MU_S] = {BY(MU_S), .name = "mu_s", .kind = API_NUMBER, .range = API_NON_NEGATIVE, .unit = DIMENSIONLESS,
		.meaning = "static coefficient of all contacts; together with mu_k"},
	[API_FRICTION_MU_K] = {BY(MU_K), .name = "mu_k", .kind = API_NUMBER, .range = API_NON_NEGATIVE, .unit = DIMENSIONLESS,
		.meaning = "kinetic coefficient of all contacts; together with mu_s"},
	[API_FRICTION_VERTEX_MU] = {BY_BOTH(VERTEX_MU_S, VERTEX_MU_K), .name = "vertex_mu", .kind = API_REALS, .range = API_NON_NEGATIVE,
		.shape = {API_N_VERTICES}, .unit = DIMENSIONLESS, .meaning = "coefficient per vertex, static and kinetic"},
	[API_FRICTION_VERTEX_MU_S] = {BY(VERTEX_MU_S), .name = "vertex_mu_s", .kind = API_REALS, .range = API_NON_NEGATIVE,
		.shape = {API_N_VERTICES}, .unit = DIMENSIONLESS,
		.meaning = "static coefficient per vertex; together with vertex_mu_k"},
	[API_FRICTION_VERTEX_MU_K] = {BY(VERTEX_MU_K), .name = "vertex_mu_k", .kind = API_REALS, .range = API_NON_NEGATIVE,
		.shape = {API_N_VERTICES}, .unit = DIMENSIONLESS,
		.meaning = "kinetic coefficient per vertex; together with vertex_mu_s"},
	[API_FRICTION_BLEND] = {.name = "blend", .kind = API_WORD, .words = blends,
		.meaning = "of the two sides of a contact, with coefficients per vertex; without them it is an error"},
	[API_FRICTION_MATERIALS] = {.name = "materials", .kind = API_OBJECT, .objects = ONE(api_materials),
		.meaning = "coefficients by pairs of materials"},
	[API_FRICTION_LAW] = {.name = "law", .kind = API_WORD, .words = laws, .meanings = law_meanings,
		.meaning = "how friction depends on the speed"},
	[API_FRICTION_TRANSITION] = {.name = "mu_transition", .kind = API_WORD, .words = transitions,
		.meanings = transition_meanings, .meaning = "transition from static to kinetic, of the law smooth alone"},
	[API_FRICTION_STRIBECK_SPEED] = {BY(STRIBECK_SPEED), .name = "stribeck_speed", .kind = API_NUMBER, .range = API_POSITIVE,
		.unit = VELOCITY, .meaning = "over which friction decays beyond eps_v; of the laws stribeck and exponential alone,"
			" needed there if a group has none of its own"},
	[API_FRICTION_CURVE] = {.name = "curve", .kind = API_OBJECT, .objects = ONE(api_curve),
		.meaning = "of the law curve alone, needed there"},
	[API_FRICTION_VISCOUS] = {BY(VISCOUS), .name = "viscous", .kind = API_NUMBER, .range = API_NON_NEGATIVE, .fallback = "0",
		.unit = "1 / velocity", .meaning = "drag per normal force and velocity of slip, added to any law"},
};
const struct api_object api_friction = {
	"Friction",
	"eps_v and coefficients of groups without their own. Coefficients come from one source: mu (or mu_s and mu_k),"
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

static const struct api_rule group_rules[API_N_GROUP] = {
	[API_GROUP_VERTICES] = {.name = "vertices", .kind = API_INDICES, .shape = {API_N, API_STENCIL}, .required = true,
		.types = OF_VERTICES, .meaning = "stencils; a vertex may be in a stencil once only"},
	[API_GROUP_BODIES] = {.name = "bodies", .kind = API_INDICES, .shape = {API_N, API_STENCIL}, .required = true,
		.types = OF_BODIES, .meaning = "stencils; a body may be in a stencil once only"},
	[API_GROUP_POINT] = {BY_ROW(POINT), .name = "point", .kind = API_REALS, .shape = {API_N, API_DIM}, .one_for_all = true,
		.types = OF_BODIES, .unit = LENGTH, .meaning = "where they touch, in space"},
	[API_GROUP_NORMAL] = {BY_ROW(NORMAL), .name = "normal", .kind = API_REALS, .shape = {API_N, API_DIM}, .one_for_all = true,
		.types = OF_BODIES, .unit = LENGTH, .meaning = "of the contact, of any length but 0"},
	[API_GROUP_NORMAL_FORCE] = {BY_ROW(NORMAL_FORCE), .name = "normal_force", .kind = API_REALS, .range = API_NON_NEGATIVE, .shape = {API_N},
		.one_for_all = true, .unit = FORCE, .meaning = "lambda; without it, from barrier, which contacts of vertices alone can have"},
	[API_GROUP_WEIGHT] = {BY_ROW(WEIGHT), .name = "weight", .kind = API_REALS, .shape = {API_N}, .one_for_all = true, .fallback = "1",
		.unit = DIMENSIONLESS,
		.meaning = "multiplies the contact's potential and all that follows from it; of any sign"},
	[API_GROUP_MU] = {.by = {1 + FRIC_ROW_MU_S, 1 + FRIC_ROW_MU_K}, .name = "mu", .kind = API_REALS, .range = API_NON_NEGATIVE, .shape = {API_N}, .one_for_all = true,
		.unit = DIMENSIONLESS, .meaning = "coefficient, static and kinetic; without any, from friction"},
	[API_GROUP_MU_S] = {BY_ROW(MU_S), .name = "mu_s", .kind = API_REALS, .range = API_NON_NEGATIVE, .shape = {API_N},
		.one_for_all = true, .unit = DIMENSIONLESS, .meaning = "static coefficient; together with mu_k"},
	[API_GROUP_MU_K] = {BY_ROW(MU_K), .name = "mu_k", .kind = API_REALS, .range = API_NON_NEGATIVE, .shape = {API_N},
		.one_for_all = true, .unit = DIMENSIONLESS, .meaning = "kinetic coefficient; together with mu_s"},
	[API_GROUP_EPS_V] = {BY_ROW(EPS_V), .name = "eps_v", .kind = API_REALS, .range = API_POSITIVE, .shape = {API_N},
		.one_for_all = true, .unit = VELOCITY,
		.meaning = "speed below which the contact sticks; without it, from friction"},
	[API_GROUP_MU_ANISO] = {BY_ROW(MU_ANISO), .name = "mu_aniso", .kind = API_REALS, .range = API_POSITIVE,
		.shape = {API_N, API_TANGENTS}, .one_for_all = true, .bare = true, .unit = DIMENSIONLESS,
		.meaning = "velocity scaling along the tangent directions; without it, ones; in 2D one number will do"},
	[API_GROUP_MU_S_ANISO] = {BY_ROW(MU_S_ANISO), .name = "mu_s_aniso", .kind = API_REALS, .range = API_NON_NEGATIVE,
		.shape = {API_N, API_TANGENTS}, .one_for_all = true, .only = 3, .unit = DIMENSIONLESS,
		.meaning = "matchstick ellipse of the static coefficient; zeros, as without it: use the scalar one"},
	[API_GROUP_MU_K_ANISO] = {BY_ROW(MU_K_ANISO), .name = "mu_k_aniso", .kind = API_REALS, .range = API_NON_NEGATIVE,
		.shape = {API_N, API_TANGENTS}, .one_for_all = true, .only = 3, .unit = DIMENSIONLESS,
		.meaning = "matchstick ellipse of the kinetic coefficient; zeros, as without it: use the scalar one"},
	[API_GROUP_STRIBECK_SPEED] = {BY_ROW(STRIBECK_SPEED), .name = "stribeck_speed", .kind = API_REALS, .range = API_POSITIVE, .shape = {API_N},
		.one_for_all = true, .unit = VELOCITY,
		.meaning = "over which friction decays beyond eps_v, with the laws stribeck and exponential; without it, from friction"},
	[API_GROUP_VISCOUS] = {BY_ROW(VISCOUS), .name = "viscous", .kind = API_REALS, .range = API_NON_NEGATIVE, .shape = {API_N},
		.one_for_all = true, .unit = "1 / velocity",
		.meaning = "drag per normal force and velocity of slip; without it, from friction"},
	[API_GROUP_SURFACE_VELOCITY] = {BY_ROW(SURFACE_VELOCITY), .name = "surface_velocity", .kind = API_REALS, .shape = {API_N, API_DIM},
		.one_for_all = true, .unit = VELOCITY,
		.meaning = "of the second side, beyond that of its vertices: a conveyor; without it, 0"},
	[API_GROUP_ANCHOR] = {BY_ROW(ANCHOR), .name = "anchor", .kind = API_REALS, .shape = {API_N, API_DIM}, .one_for_all = true,
		.unit = VELOCITY, .meaning = "elastic deflection that the contact carries from earlier steps; without it, 0"},
	[API_GROUP_CLOSEST_POINT] = {BY_ROW(CLOSEST_POINT), .name = "closest_point", .kind = API_REALS, .shape = {API_N, API_POINT},
		.one_for_all = true, .types = WITH_POINT, .unit = DIMENSIONLESS,
		.meaning = "given geometry: coordinates on edge or triangle; together with tangent_basis"},
	[API_GROUP_TANGENT_BASIS] = {BY_ROW(TANGENT_BASIS), .name = "tangent_basis", .kind = API_REALS, .shape = {API_N, API_DIM, API_TANGENTS},
		.one_for_all = true, .unit = DIMENSIONLESS,
		.meaning = "given geometry: the columns are unit tangents; positions are not needed then"},
	[API_GROUP_GRAIN] = {BY_ROW(GRAIN), .name = "grain", .kind = API_REALS, .shape = {API_N, API_DIM}, .one_for_all = true, .only = 3,
		.unit = DIMENSIONLESS, .meaning = "in space, of any length but 0: its projection is the first tangent; not with"
			" tangent_basis"},
	[API_GROUP_PLANE_NORMAL] = {BY_ROW(PLANE_NORMAL), .name = "plane_normal", .kind = API_REALS, .shape = {API_N, API_DIM},
		.one_for_all = true, .types = BIT(FRIC_PLANE_VERTEX), .unit = LENGTH,
		.meaning = "of any length but 0; needed unless tangent_basis is given"},
	[API_GROUP_PLANE_ORIGIN] = {BY_ROW(PLANE_ORIGIN), .name = "plane_origin", .kind = API_REALS, .shape = {API_N, API_DIM},
		.one_for_all = true, .types = BIT(FRIC_PLANE_VERTEX), .unit = LENGTH,
		.meaning = "any point of the plane; needed where a distance is (barrier, the output distance)"},
	[API_GROUP_SPIN_RADIUS] = {BY_ROW(SPIN_RADIUS), .name = "spin_radius", .kind = API_REALS, .range = API_NON_NEGATIVE, .shape = {API_N},
		.one_for_all = true, .types = OF_BODIES, .only = 3, .unit = LENGTH, .fallback = "0",
		.meaning = "torque that holds against spin about the normal, per friction force: 2/3 R for a disc under uniform"
			" pressure"},
	[API_GROUP_ROLL_RADIUS] = {BY_ROW(ROLL_RADIUS), .name = "roll_radius", .kind = API_REALS, .range = API_NON_NEGATIVE, .shape = {API_N},
		.one_for_all = true, .types = OF_BODIES, .unit = LENGTH, .fallback = "0",
		.meaning = "torque that holds against rolling, per friction force: the coefficient of rolling resistance, a length,"
			" over mu"},
};

#define GROUP(is, called, means, more) [is] = {called, means, group_rules, API_N_GROUP, is, more}
const struct api_object api_groups[FRIC_N_TYPES] = {
	GROUP(FRIC_VERTEX_VERTEX, "VertexVertex", "Contacts of two vertices: v0, v1.", pairs_of_mu_without_point),
	GROUP(FRIC_EDGE_VERTEX, "EdgeVertex", "Contacts of a vertex with an edge: v, e0, e1.", pairs_of_mu),
	GROUP(FRIC_EDGE_EDGE, "EdgeEdge", "Contacts of two edges: a0, a1, b0, b1. 3D only.", pairs_of_mu),
	GROUP(FRIC_FACE_VERTEX, "FaceVertex", "Contacts of a vertex with a triangle: v, t0, t1, t2. 3D only.", pairs_of_mu),
	GROUP(FRIC_PLANE_VERTEX, "PlaneVertex", "Contacts of a vertex with a plane: v.", pairs_of_mu_without_point),
	GROUP(FRIC_BODY_BODY, "BodyBody", "Contacts of two rigid bodies: a, b.", needs_of_bodies),
	GROUP(FRIC_BODY_WORLD, "BodyWorld", "Contacts of a rigid body with what is at rest: b.", needs_of_bodies),
};

#define GROUP_FIELD(is, called, dimension) \
	[is] = {.name = called, .kind = API_OBJECT, .objects = ONE(api_groups[is]), .only = dimension}
static const struct api_rule collisions_rules[FRIC_N_TYPES] = {
	GROUP_FIELD(FRIC_VERTEX_VERTEX, "vertex_vertex", 0), GROUP_FIELD(FRIC_EDGE_VERTEX, "edge_vertex", 0),
	GROUP_FIELD(FRIC_EDGE_EDGE, "edge_edge", 3), GROUP_FIELD(FRIC_FACE_VERTEX, "face_vertex", 3),
	GROUP_FIELD(FRIC_PLANE_VERTEX, "plane_vertex", 0), GROUP_FIELD(FRIC_BODY_BODY, "body_body", 0),
	GROUP_FIELD(FRIC_BODY_WORLD, "body_world", 0),
};
const struct api_object api_collisions = {
	"Collisions",
	"The contacts in groups by type, evaluated and listed in this order; at least one group, which may be empty.",
	collisions_rules, FRIC_N_TYPES, -1, "{'minProperties': 1}"};

static const struct api_rule hessian_rules[API_N_HESSIAN] = {
	[API_HESSIAN_FORMAT] = {.name = "format", .kind = API_WORD, .words = api_hessian_formats,
		.meanings = format_meanings, .meaning = "how the matrix is written"},
	[API_HESSIAN_TRIANGLE] = {.name = "triangle", .kind = API_WORD, .words = triangles, .meanings = triangle_meanings,
		.meaning = "which entries, of bsr which blocks; not with factors"},
	[API_HESSIAN_PROJECTION] = {.name = "projection", .kind = API_WORD, .words = projections,
		.meanings = projection_meanings, .meaning = "of every contact's block to a semidefinite one"},
	[API_HESSIAN_PATTERN] = {.name = "pattern", .kind = API_BOOL, .fallback = "true",
		.meaning = "false leaves out what depends on the stencils alone: rows and cols, indptr and indices; not with factors"},
};
const struct api_object api_hessian = {
	"HessianChoice", "How the Hessian is answered.", hessian_rules, API_N_HESSIAN, -1,
	"{'dependentSchemas': {'triangle': {'properties': {'format': {'enum': ['triplets', 'csr', 'bsr']}}}},"
	" 'if': {'properties': {'pattern': {'const': false}}, 'required': ['pattern']},"
	" 'then': {'properties': {'format': {'enum': ['triplets', 'csr', 'bsr']}}}}"};

static const struct api_rule line_rules[API_N_LINE] = {
	[API_LINE_DIRECTION] = {.name = "direction", .kind = API_REALS, .shape = {API_N_VERTICES, API_DIM},
		.meaning = "of the line, in any unit; needed unless there are bodies alone"},
	[API_LINE_BODY_DIRECTION] = {.name = "body_direction", .kind = API_REALS, .shape = {API_N_BODIES, API_TWIST},
		.meaning = "the same of the bodies; needed if there are any"},
	[API_LINE_STEPS] = {.name = "steps", .kind = API_REALS, .shape = {API_N_STEPS}, .required = true,
		.unit = "velocity / unit of the direction",
		.meaning = "every t, of any sign and in any order; at most 1024"},
};
const struct api_object api_line = {
	"LineChoice", "Which points of a line are evaluated: velocities + t * direction.", line_rules, API_N_LINE, -1,
	"{'if': {'not': {'required': ['direction']}}, 'then': {'required': ['body_direction']}}"};

static const struct api_rule jacobian_rules[API_N_JACOBIAN] = {
	[API_JACOBIAN_FORMAT] = {.name = "format", .kind = API_WORD, .words = api_jacobian_formats,
		.meanings = jacobian_format_meanings, .meaning = "how the matrix is written"},
	[API_JACOBIAN_PATTERN] = {.name = "pattern", .kind = API_BOOL, .fallback = "true",
		.meaning = "false leaves out what depends on the stencils alone: rows and cols, indptr and indices"},
};
const struct api_object api_position_jacobian = {
	"PositionJacobianChoice", "How the Jacobian by positions is answered.", jacobian_rules, API_N_JACOBIAN, -1, NULL};

static const struct api_rule cotangents_rules[API_N_COTANGENTS] = {
	[API_COTANGENT_POTENTIAL] = {.name = "potential", .kind = API_NUMBER, .fallback = "0", .meaning = "of the potential"},
	[API_COTANGENT_GRADIENT] = {.name = "gradient", .kind = API_REALS, .shape = {API_N_VERTICES, API_DIM},
		.meaning = "of the gradient; without it, 0"},
	[API_COTANGENT_BODY_GRADIENT] = {.name = "body_gradient", .kind = API_REALS, .shape = {API_N_BODIES, API_TWIST},
		.meaning = "of the body_gradient; without it, 0"},
};
const struct api_object api_cotangents = {
	"Cotangents", "What the answers are multiplied with: the sum of these products is differentiated.",
	cotangents_rules, API_N_COTANGENTS, -1, NULL};

/* Which part a field belongs to; a question may bring lagged_velocities of its own. */
#define FOR_JVP (BIT(API_JVP) | BIT(API_SET_JVP))
#define FOR_VJP (BIT(API_VJP) | BIT(API_SET_VJP))
#define LAGGED (BIT(API_WHOLE) | BIT(API_SET_DOCUMENT) | BIT(API_JVP) | BIT(API_VJP))
#define EVALUATED (BIT(API_WHOLE) | BIT(API_SET_QUESTION))
#define ASKED (EVALUATED | FOR_JVP | FOR_VJP)
static const struct api_rule request_rules[API_N_REQUEST] = {
	[API_REQUEST_DIM] = {.name = "dim", .kind = API_INTEGER, .least = 2, .most = 3, .required = true, .types = LAGGED,
		.meaning = "dimension"},
	[API_REQUEST_N_VERTICES] = {.name = "n_vertices", .kind = API_INTEGER, .types = BIT(API_SET_DOCUMENT),
		.meaning = "number of vertices; without it, rows of positions, else of the first field with a row for each"
			" vertex, else 0. It has to agree with them"},
	[API_REQUEST_VELOCITIES] = {BY(VELOCITIES), .name = "velocities", .kind = API_REALS, .shape = {API_N_VERTICES, API_DIM},
		.types = ASKED, .unit = VELOCITY, .meaning = "where to evaluate; also tells how many vertices there are; needed"
			" unless there are bodies alone"},
	[API_REQUEST_POSITIONS] = {BY(POSITIONS), .name = "positions", .kind = API_REALS, .types = LAGGED, .shape = {API_N_VERTICES, API_DIM},
		.unit = LENGTH, .meaning = "lagged; needed where geometry is derived"},
	[API_REQUEST_LAGGED_VELOCITIES] = {BY(LAGGED_VELOCITIES), .name = "lagged_velocities", .kind = API_REALS,
		.shape = {API_N_VERTICES, API_DIM}, .unit = VELOCITY,
		.meaning = "direction of slip for mu_s_aniso and mu_k_aniso; without them, velocities"},
	[API_REQUEST_BODY_POSITIONS] = {BY(BODY_POSITIONS), .name = "body_positions", .kind = API_REALS, .types = LAGGED,
		.shape = {API_N_BODIES, API_DIM}, .unit = LENGTH,
		.meaning = "of rigid bodies: the points that their twists refer to; also tells how many there are"},
	[API_REQUEST_BODY_VELOCITIES] = {BY(VELOCITIES), .name = "body_velocities", .kind = API_REALS, .types = ASKED,
		.shape = {API_N_BODIES, API_TWIST}, .unit = VELOCITY,
		.meaning = "twists: velocity of the point, then angular velocity (velocity / length; in 2D one number)"},
	[API_REQUEST_LAGGED_BODY_VELOCITIES] = {BY(LAGGED_VELOCITIES), .name = "lagged_body_velocities", .kind = API_REALS,
		.shape = {API_N_BODIES, API_TWIST}, .unit = VELOCITY,
		.meaning = "as lagged_velocities; without them, body_velocities"},
	[API_REQUEST_FRICTION] = {.name = "friction", .kind = API_OBJECT, .types = LAGGED, .objects = ONE(api_friction),
		.meaning = "coefficients and eps_v of groups without their own"},
	[API_REQUEST_BARRIER] = {.name = "barrier", .kind = API_OBJECT, .types = LAGGED, .objects = ONE(api_barrier),
		.meaning = "normal force of groups without their own"},
	[API_REQUEST_COLLISIONS] = {.name = "collisions", .kind = API_OBJECT, .types = LAGGED, .objects = ONE(api_collisions),
		.required = true, .meaning = "the contacts"},
	[API_REQUEST_OUTPUTS] = {.name = "outputs", .kind = API_WORDS, .types = EVALUATED, .words = outputs,
		.fallback = "['potential', 'gradient', 'hessian']", .meaning = "what the answer contains"},
	[API_REQUEST_HESSIAN] = {.name = "hessian", .kind = API_OBJECT, .types = EVALUATED, .objects = ONE(api_hessian),
		.meaning = "how the Hessian is answered"},
	[API_REQUEST_COLLISION_OUTPUTS] = {.name = "collision_outputs", .kind = API_WORDS, .types = EVALUATED,
		.words = api_collision_output_names, .meanings = output_meanings,
		.fallback = "['potential', 'tangential_velocity']",
		.meaning = "values per contact that the output collisions contains; refused without it"},
	[API_REQUEST_ON_DEGENERATE] = {.name = "on_degenerate", .kind = API_WORD, .types = LAGGED, .words = reactions,
		.meanings = reaction_meanings, .meaning = "degenerate geometry, penetration, a negative coefficient"},
	[API_REQUEST_LINE] = {.name = "line", .kind = API_OBJECT, .types = EVALUATED, .objects = ONE(api_line),
		.meaning = "the line that the output line is about; needed for it"},
	[API_REQUEST_VECTORS] = {.name = "vectors", .kind = API_REALS, .types = EVALUATED, .shape = {API_N_VECTORS, API_N_DOFS},
		.meaning = "what hessian_products multiplies; needed for it; at most 256"},
	[API_REQUEST_POSITION_JACOBIAN] = {.name = "position_jacobian", .kind = API_OBJECT, .types = EVALUATED,
		.objects = ONE(api_position_jacobian), .meaning = "how the output position_jacobian is answered"},
	[API_REQUEST_TANGENTS] = {.name = "tangents", .kind = API_BY_POINTER, .types = FOR_JVP, .required = true,
		.meaning = "the direction: for fields that JSON Pointers (RFC 6901) lead to, values of the field's shape; of all other"
			" fields 0"},
	[API_REQUEST_COTANGENTS] = {.name = "cotangents", .kind = API_OBJECT, .types = FOR_VJP, .required = true,
		.objects = ONE(api_cotangents), .meaning = "what the answers are multiplied with"},
	[API_REQUEST_WRT] = {.name = "wrt", .kind = API_POINTERS, .types = FOR_VJP, .required = true,
		.meaning = "JSON Pointers (RFC 6901) to the fields to differentiate by, none twice"},
};
#define NEEDS_VELOCITIES \
	"{'if': {'not': {'required': ['velocities']}}, 'then': {'required': ['body_positions']}, 'dependentRequired': {'body_positions':" \
	" ['body_velocities'], 'body_velocities': ['body_positions'], 'lagged_body_velocities': ['body_positions']}}"
#define NEEDS_VELOCITIES_OF_SET \
	"{'if': {'not': {'required': ['velocities']}}, 'then': {'required': ['body_velocities']}}"
const struct api_object api_request = {
	"EvaluateRequest",
	"A batch of contacts. Any consistent units. Arrays are nested or flat (row-major); a value per contact may be one"
	" for all. Indices start at 0 and are written without point or exponent (3.0 is refused, though JSON Schema counts"
	" it as an integer). All arrays over vertices have as many rows as velocities, those of a group as many as its"
	" vertices.",
	request_rules, API_N_REQUEST, API_WHOLE,
	NEEDS_VELOCITIES};
const struct api_object api_set_document = {
	"CollisionSet",
	"The lagged part of a batch, to be kept under a name: what EvaluateRequest has, but for the question. All arrays over"
	" vertices have n_vertices rows.",
	request_rules, API_N_REQUEST, API_SET_DOCUMENT,
	"{'dependentRequired': {'lagged_body_velocities': ['body_positions']}}"};
const struct api_object api_set_question = {
	"CollisionSetQuestion",
	"What is asked of a collision set: what EvaluateRequest has beyond the set's document. What is sent replaces what the"
	" set has.",
	request_rules, API_N_REQUEST, API_SET_QUESTION,
	NEEDS_VELOCITIES_OF_SET};
#define DIFFERENTIATED(is, called, means, needs) {called, means, request_rules, API_N_REQUEST, is, needs}
const struct api_object
	api_jvp_request = DIFFERENTIATED(API_JVP, "JvpRequest",
		"A batch of contacts and a direction in which its numbers change: as EvaluateRequest, without outputs and their options.",
		NEEDS_VELOCITIES),
	api_vjp_request = DIFFERENTIATED(API_VJP, "VjpRequest",
		"A batch of contacts, cotangents of its potential and gradient, and the fields to differentiate by: as EvaluateRequest,"
		" without outputs and their options.", NEEDS_VELOCITIES),
	api_set_jvp_question = DIFFERENTIATED(API_SET_JVP, "CollisionSetJvp",
		"A direction in which numbers of a collision set, or of this question, change.", NEEDS_VELOCITIES_OF_SET),
	api_set_vjp_question = DIFFERENTIATED(API_SET_VJP, "CollisionSetVjp",
		"Cotangents of a collision set's potential and gradient, and the fields of the set, or of this question, to differentiate"
		" by.", NEEDS_VELOCITIES_OF_SET);

/* ---- its answer ---- */

#define REAL_ARRAY(called, means, in, ...) \
	{.name = called, .kind = API_REALS, .shape = {__VA_ARGS__}, .required = true, .unit = in, .meaning = means}
#define INTEGER_ARRAY(called, means, ...) \
	{.name = called, .kind = API_INDICES, .shape = {__VA_ARGS__}, .required = true, .meaning = means}
#define PLACES(called, means) {.name = called, .kind = API_INDICES, .shape = {API_ANY_LENGTH}, \
	.meaning = means "; not there with pattern false"}
#define STIFFNESS "force / velocity"
#define FORMAT(i) {.name = "format", .kind = API_WORD, .words = (const char *const[]){i, NULL}, .required = true, \
	.meaning = "how the matrix is written"}
#define SHAPE INTEGER_ARRAY("shape", "[n_dof, n_dof]", API_PAIR)

static const struct api_rule triplets_rules[] = {
	FORMAT("triplets"), SHAPE, PLACES("rows", "row of every entry"),
	PLACES("cols", "column of every entry"),
	REAL_ARRAY("values", "entries; duplicates add up", STIFFNESS, API_ANY_LENGTH),
};
static const struct api_rule csr_rules[] = {
	FORMAT("csr"), SHAPE, PLACES("indptr", "[n_dof + 1], where every row begins"),
	PLACES("indices", "column of every entry, ascending in a row"),
	REAL_ARRAY("data", "entries", STIFFNESS, API_ANY_LENGTH),
};
static const struct api_rule bsr_rules[] = {
	FORMAT("bsr"), SHAPE, PLACES("indptr", "[n_vertices + 1], where every row of blocks begins"),
	PLACES("indices", "column of every block, ascending in a row"),
	REAL_ARRAY("data", "blocks", STIFFNESS, API_ANY_LENGTH, API_DIM, API_DIM),
};
static const struct api_rule factor_rules[] = {
	REAL_ARRAY("weights", "w, of the stencil's vertices", DIMENSIONLESS, API_N, API_STENCIL),
	REAL_ARRAY("tangent_basis", "P, columns are unit tangents", DIMENSIONLESS, API_N, API_DIM, API_TANGENTS),
	REAL_ARRAY("inner", "A: a00, a01, a11 in 3D, a00 in 2D", STIFFNESS, API_N, API_INNER),
};
static const struct api_rule body_factor_rules[] = {
	REAL_ARRAY("jacobian", "J: the slip's derivative by the twists of the stencil's bodies; mu_aniso and radii are in it",
	           NULL, API_N, API_SLIP, API_TWISTS),
	REAL_ARRAY("inner", "A: its upper triangle, row by row", STIFFNESS, API_N, API_SLIP_INNER),
};
#define FACTORS(is, called) [is] = {called "Factors", "Blocks (w x P) A (w x P)^T of the contacts, in their order.", \
	factor_rules, N_OF(factor_rules), is, NULL}
#define BODY_FACTORS(is, called) [is] = {called "Factors", "Blocks J^T A J of the contacts, in their order.", \
	body_factor_rules, N_OF(body_factor_rules), is, NULL}
static const struct api_object factor_groups[FRIC_N_TYPES] = {
	FACTORS(FRIC_VERTEX_VERTEX, "VertexVertex"), FACTORS(FRIC_EDGE_VERTEX, "EdgeVertex"),
	FACTORS(FRIC_EDGE_EDGE, "EdgeEdge"), FACTORS(FRIC_FACE_VERTEX, "FaceVertex"),
	FACTORS(FRIC_PLANE_VERTEX, "PlaneVertex"), BODY_FACTORS(FRIC_BODY_BODY, "BodyBody"),
	BODY_FACTORS(FRIC_BODY_WORLD, "BodyWorld"),
};
#define FACTOR_FIELD(is, called) {.name = called, .kind = API_OBJECT, .objects = ONE(factor_groups[is])}
static const struct api_rule factors_rules[] = {
	FORMAT("factors"), SHAPE, FACTOR_FIELD(FRIC_VERTEX_VERTEX, "vertex_vertex"),
	FACTOR_FIELD(FRIC_EDGE_VERTEX, "edge_vertex"), FACTOR_FIELD(FRIC_EDGE_EDGE, "edge_edge"),
	FACTOR_FIELD(FRIC_FACE_VERTEX, "face_vertex"), FACTOR_FIELD(FRIC_PLANE_VERTEX, "plane_vertex"),
	FACTOR_FIELD(FRIC_BODY_BODY, "body_body"), FACTOR_FIELD(FRIC_BODY_WORLD, "body_world"),
};
static const struct api_object
	triplets = {"Triplets", "Hessian as triplets: every contact's whole block, row-major, contacts in order.",
	            triplets_rules, N_OF(triplets_rules), -1, NULL},
	csr = {"Csr", "Hessian in compressed rows.", csr_rules, N_OF(csr_rules), -1, NULL},
	bsr = {"Bsr", "Hessian in compressed rows of blocks.", bsr_rules, N_OF(bsr_rules), -1, NULL},
	factors = {"Factors", "Hessian as the factors of every contact's block.",
	           factors_rules, N_OF(factors_rules), -1, NULL};

#define JACOBIAN_SHAPE INTEGER_ARRAY("shape", "[n_dof, n_vertices * dim]", API_PAIR)
static const struct api_rule jacobian_triplets_rules[] = {
	FORMAT("triplets"), JACOBIAN_SHAPE, PLACES("rows", "row of every entry: a velocity"),
	PLACES("cols", "column of every entry: a position"),
	REAL_ARRAY("values", "entries; duplicates add up", "force / length", API_ANY_LENGTH),
};
static const struct api_rule jacobian_csr_rules[] = {
	FORMAT("csr"), JACOBIAN_SHAPE, PLACES("indptr", "[n_dof + 1], where every row begins"),
	PLACES("indices", "column of every entry, ascending in a row"),
	REAL_ARRAY("data", "entries", "force / length", API_ANY_LENGTH),
};
static const struct api_object
	jacobian_triplets = {"JacobianTriplets", "Jacobian as triplets: every contact's whole block, row-major, contacts in order.",
	                     jacobian_triplets_rules, N_OF(jacobian_triplets_rules), -1, NULL},
	jacobian_csr = {"JacobianCsr", "Jacobian in compressed rows.", jacobian_csr_rules, N_OF(jacobian_csr_rules), -1, NULL};

#define VALUES(is, called) [is] = {called "Values", "What collision_outputs asks for, in the order of the contacts.", \
	api_output_rules, FRIC_N_OUTPUTS, is, NULL}
static const struct api_object value_groups[FRIC_N_TYPES] = {
	VALUES(FRIC_VERTEX_VERTEX, "VertexVertex"), VALUES(FRIC_EDGE_VERTEX, "EdgeVertex"),
	VALUES(FRIC_EDGE_EDGE, "EdgeEdge"), VALUES(FRIC_FACE_VERTEX, "FaceVertex"),
	VALUES(FRIC_PLANE_VERTEX, "PlaneVertex"), VALUES(FRIC_BODY_BODY, "BodyBody"), VALUES(FRIC_BODY_WORLD, "BodyWorld"),
};
#define VALUE_FIELD(is, called) {.name = called, .kind = API_OBJECT, .objects = ONE(value_groups[is])}
static const struct api_rule values_rules[] = {
	VALUE_FIELD(FRIC_VERTEX_VERTEX, "vertex_vertex"), VALUE_FIELD(FRIC_EDGE_VERTEX, "edge_vertex"),
	VALUE_FIELD(FRIC_EDGE_EDGE, "edge_edge"), VALUE_FIELD(FRIC_FACE_VERTEX, "face_vertex"),
	VALUE_FIELD(FRIC_PLANE_VERTEX, "plane_vertex"), VALUE_FIELD(FRIC_BODY_BODY, "body_body"),
	VALUE_FIELD(FRIC_BODY_WORLD, "body_world"),
};
static const struct api_object values = {
	"CollisionValues", "Values per contact, for every group of the request.",
	values_rules, N_OF(values_rules), -1, NULL};

static const char *const group_names[] = {
	"vertex_vertex", "edge_vertex", "edge_edge", "face_vertex", "plane_vertex", "body_body", "body_world", NULL};
static const char *const reasons[] = {
	"coincident_vertices", "zero_length_edge", "vertex_on_edge", "parallel_edges", "collapsed_triangle", "penetration",
	"negative_coefficient", "grain_along_normal", NULL};
static const char *const reason_meanings[] = {
	"the two vertices are at the same place", "the ends of an edge are at the same place",
	"3D: the vertex is on the line of its edge", "the closest points are not unique", "the triangle has no area",
	"the distance is not larger than the barrier's dmin", "the blended coefficient is below zero",
	"the grain has no direction in the tangent plane", NULL};
static const struct api_rule skipped_rules[] = {
	{.name = "group", .kind = API_WORD, .words = group_names, .required = true, .meaning = "where it was sent"},
	{.name = "index", .kind = API_INTEGER, .required = true, .meaning = "of the contact in its group"},
	{.name = "reason", .kind = API_WORD, .words = reasons, .meanings = reason_meanings, .required = true,
	 .meaning = "why it was skipped"},
};
static const struct api_object skipped = {
	"Skipped", "A contact that was skipped; its slots hold zeros.", skipped_rules, N_OF(skipped_rules), -1, NULL};

#define COUNT(called, means) {.name = called, .kind = API_INTEGER, .required = true, .meaning = means}
#define N_BODIES(means) {.name = "n_bodies", .kind = API_INTEGER, .meaning = means}
#define SKIPPED_AS(text) {.name = "skipped", .kind = API_LIST, .objects = ONE(skipped), .meaning = (text)}
#define SKIPPED SKIPPED_AS("contacts that were skipped; there, perhaps empty, if skipping was asked for")

static const struct api_rule line_values_rules[] = {
	REAL_ARRAY("potential", "at every step, the sum over the contacts", "force * velocity", API_N_STEPS),
	REAL_ARRAY("slope", "its derivative by t: the gradient there times the direction", "force * unit of the direction",
	           API_N_STEPS),
};
static const struct api_object line_values = {
	"LineValues", "Along a line, in the order of its steps.", line_values_rules, N_OF(line_values_rules), -1, NULL};

#define COUNTS \
	COUNT("n_vertices", "rows of velocities"), N_BODIES("rows of body_positions; there if those were sent"), \
	COUNT("n_collisions", "contacts of all groups, skipped ones too")
static const struct api_rule answer_rules[] = {
	COUNTS,
	{.name = "potential", .kind = API_NUMBER, .unit = "force * velocity", .meaning = "sum over the contacts"},
	{.name = "gradient", .kind = API_REALS, .shape = {API_N_DOF}, .unit = FORCE,
	 .meaning = "of the potential with respect to velocities; the friction force is its negative."
	            " Vertex i, axis a: i*dim + a"},
	{.name = "body_gradient", .kind = API_REALS, .shape = {API_N_BODIES, API_TWIST}, .unit = FORCE,
	 .meaning = "the same with respect to body_velocities: force, then torque about the body's point; there with gradient"
	            " if bodies were sent"},
	{.name = "hessian", .kind = API_ONE_OF,
	 .objects = (const struct api_object *const[]){&triplets, &csr, &bsr, &factors, NULL}, .unit = STIFFNESS,
	 .meaning = "in the format that was asked for"},
	{.name = "collisions", .kind = API_OBJECT, .objects = ONE(values), .meaning = "values per contact"},
	{.name = "line", .kind = API_OBJECT, .objects = ONE(line_values),
	 .meaning = "potential and slope at velocities + t * direction"},
	{.name = "hessian_products", .kind = API_REALS, .shape = {API_N_VECTORS, API_N_DOFS},
	 .unit = STIFFNESS " * unit of the vectors",
	 .meaning = "the Hessian, with its projection, times every vector"},
	{.name = "position_jacobian", .kind = API_ONE_OF,
	 .objects = (const struct api_object *const[]){&jacobian_csr, &jacobian_triplets, NULL}, .unit = "force / length",
	 .meaning = "derivative of gradient and body_gradient by positions, in the format that was asked for; not symmetric, rows of"
	            " bodies are empty"},
	SKIPPED,
};
const struct api_object api_answer = {
	"EvaluateAnswer", "What outputs asks for.", answer_rules, N_OF(answer_rules), -1, NULL};

/* ---- derivatives ---- */

#define POTENTIAL(means, in) {.name = "potential", .kind = API_NUMBER, .unit = in, .required = true, .meaning = means}
#define GRADIENT(means, in) \
	{.name = "gradient", .kind = API_REALS, .shape = {API_N_DOF}, .unit = in, .required = true, .meaning = means}
#define BODY_GRADIENT(means, in) \
	{.name = "body_gradient", .kind = API_REALS, .shape = {API_N_BODIES, API_TWIST}, .unit = in, .meaning = means}
#define SUMS \
	POTENTIAL("sum over the contacts", "force * velocity"), \
	GRADIENT("of the potential with respect to velocities; the friction force is its negative", FORCE), \
	BODY_GRADIENT("the same with respect to body_velocities; there if bodies were sent", FORCE)
static const struct api_rule tangents_rules[] = {
	POTENTIAL("of the potential", NULL), GRADIENT("of the gradient", NULL),
	BODY_GRADIENT("of the body_gradient; there if bodies were sent", NULL),
};
static const struct api_object tangents = {
	"TangentsOfAnswers", "Derivatives of potential and gradient along the direction of the tangents that were sent.",
	tangents_rules, N_OF(tangents_rules), -1, NULL};
static const struct api_rule jvp_rules[] = {
	COUNTS, SUMS,
	{.name = "tangents", .kind = API_OBJECT, .objects = ONE(tangents), .required = true, .meaning = "directional derivatives"},
	SKIPPED,
};
static const struct api_rule vjp_rules[] = {
	COUNTS, SUMS,
	{.name = "cotangents", .kind = API_BY_POINTER, .required = true,
	 .meaning = "for every pointer of wrt the derivative of the sum of cotangents times answers by each number of that field, in the shape in"
	            " which it was sent"},
	SKIPPED,
};
const struct api_object
	api_jvp_answer = {"JvpAnswer", "Potential, gradient and their directional derivatives.", jvp_rules, N_OF(jvp_rules), -1, NULL},
	api_vjp_answer = {"VjpAnswer", "Potential, gradient, and derivatives of their product with cotangents.",
	                  vjp_rules, N_OF(vjp_rules), -1, NULL};

/* ---- /v1/sets ---- */

#define GROUP_COUNT(called) {.name = called, .kind = API_INTEGER, .meaning = "contacts of this group, skipped ones too"}
static const struct api_rule group_counts_rules[FRIC_N_TYPES] = {
	[FRIC_VERTEX_VERTEX] = GROUP_COUNT("vertex_vertex"), [FRIC_EDGE_VERTEX] = GROUP_COUNT("edge_vertex"),
	[FRIC_EDGE_EDGE] = GROUP_COUNT("edge_edge"), [FRIC_FACE_VERTEX] = GROUP_COUNT("face_vertex"),
	[FRIC_PLANE_VERTEX] = GROUP_COUNT("plane_vertex"), [FRIC_BODY_BODY] = GROUP_COUNT("body_body"),
	[FRIC_BODY_WORLD] = GROUP_COUNT("body_world"),
};
static const struct api_object group_counts = {
	"GroupCounts", "The groups of the document, empty ones too.", group_counts_rules, FRIC_N_TYPES, -1, NULL};

const struct api_object api_set_patch = {
	"CollisionSetPatch",
	"A merge patch (RFC 7396) of a CollisionSet: objects are merged member by member, null takes a member away, anything"
	" else replaces what was there as a whole.",
	NULL, 0, -1, "{'additionalProperties': true}"};

enum { DESCRIBED, LISTED };
static const struct api_rule set_rules[] = {
	{.name = "name", .kind = API_TEXT, .required = true, .meaning = "as in the path"},
	{.name = "version", .kind = API_TEXT, .required = true,
	 .meaning = "32 hexadecimal digits that follow from what was sent; as in Collision-Set-Version"},
	COUNT("n_vertices", "rows of everything that has one for each vertex"),
	N_BODIES("rows of body_positions; there if those were sent"),
	COUNT("n_collisions", "contacts of all groups, skipped ones too"),
	{.name = "groups", .kind = API_OBJECT, .objects = ONE(group_counts), .required = true,
	 .meaning = "contacts by group"},
	{.name = "idle_seconds", .kind = API_INTEGER, .required = true,
	 .meaning = "the limit that it falls under: unused for longer, it is forgotten"},
	SKIPPED_AS("the first 16 contacts that are skipped; there, perhaps empty, if skipping was asked for"),
	{.name = "n_skipped", .kind = API_INTEGER, .meaning = "how many there are; beside skipped"},
	{.name = "bytes", .kind = API_INTEGER, .required = true, .types = BIT(LISTED), .meaning = "all that it takes"},
};
const struct api_object api_set_answer = {
	"CollisionSetDescription", "What a set is.", set_rules, N_OF(set_rules), DESCRIBED, NULL};
static const struct api_object listed_set = {
	"ListedCollisionSet", "What a set is, and what it takes.", set_rules, N_OF(set_rules), LISTED, NULL};
static const struct api_rule set_list_rules[] = {
	{.name = "sets", .kind = API_LIST, .objects = ONE(listed_set), .required = true,
	 .meaning = "the caller's own, by name in byte order"},
	{.name = "bytes", .kind = API_INTEGER, .required = true, .meaning = "that the caller's sets take"},
	{.name = "limit_bytes", .kind = API_INTEGER, .required = true, .meaning = "that they may take"},
};
const struct api_object api_set_list_answer = {
	"CollisionSetList", "The caller's sets.", set_list_rules, N_OF(set_list_rules), -1, NULL};

const char *const api_pattern_formats[4] = {"csr", "bsr", "triplets", NULL};
static const char *const pattern_format_meanings[] = {
	"merged and sorted", "the same in blocks of dim x dim", "every contact's block, in order", NULL};
static const struct api_rule pattern_query_rules[API_N_PATTERN] = {
	[API_PATTERN_FORMAT] = {.name = "format", .kind = API_WORD, .words = api_pattern_formats,
		.meanings = pattern_format_meanings, .meaning = "how the matrix is written"},
	[API_PATTERN_TRIANGLE] = {.name = "triangle", .kind = API_WORD, .words = triangles, .meanings = triangle_meanings,
		.meaning = "which entries; of bsr, which blocks"},
};
const struct api_object api_pattern_query = {
	"PatternQuery", "Which pattern.", pattern_query_rules, API_N_PATTERN, -1, NULL};

/* Numbers are the last member of each. */
#define PATTERN(called, rules) {called "Pattern", "The members of that Hessian without its numbers.", rules, \
	N_OF(rules) - 1, -1, NULL}
static const struct api_object csr_pattern = PATTERN("Csr", csr_rules), bsr_pattern = PATTERN("Bsr", bsr_rules),
							   triplets_pattern = PATTERN("Triplets", triplets_rules);
const struct api_object *const api_pattern_answers[4] = {&csr_pattern, &bsr_pattern, &triplets_pattern, NULL};

/* ---- POST /v1/check ---- */

static const char *const quantities[] = {"potential", "gradient", "hessian", NULL};
#define SIZE(called, means) \
	{.name = called, .kind = API_NUMBER, .range = API_NON_NEGATIVE, .required = true, .meaning = means}
static const struct api_rule agreement_rules[] = {
	SIZE("largest_difference",
	     "absolute: of the potential, of the gradient's entries, of the entries of all contacts' blocks"),
	SIZE("largest_entry", "largest absolute value among the numbers that are compared"),
	SIZE("relative_difference", "the larger of the two that follow"),
	SIZE("contacts", "largest relative difference of a single contact, in its own scale"),
	SIZE("assembled", "largest relative difference of what is added up over contacts"),
};
static const struct api_object agreement = {
	"Agreement", "How far one quantity agrees with its central differences.",
	agreement_rules, N_OF(agreement_rules), -1, NULL};
static const struct api_rule worst_rules[] = {
	{.name = "group", .kind = API_WORD, .words = group_names, .required = true, .meaning = "where it was sent"},
	{.name = "index", .kind = API_INTEGER, .required = true, .meaning = "of the contact in its group"},
	{.name = "vertices", .kind = API_INDICES, .shape = {API_ANY_LENGTH}, .meaning = "its stencil"},
	{.name = "bodies", .kind = API_INDICES, .shape = {API_ANY_LENGTH}, .meaning = "its stencil, of a contact of bodies"},
	{.name = "quantity", .kind = API_WORD, .words = quantities, .required = true, .meaning = "where it differs most"},
	SIZE("relative_difference", "how far"),
	{.name = "status", .kind = API_INTEGER, .most = 2, .required = true, .meaning = "0 sticks, 1 slides, 2 skipped"},
	SIZE("slip_ratio", "y / eps_v, after mu_aniso"),
};
static const struct api_object worst = {
	"WorstContact", "The contact that agrees least.", worst_rules, N_OF(worst_rules), -1,
	"{'if': {'required': ['vertices']}, 'then': {'not': {'required': ['bodies']}}, 'else': {'required': ['bodies']}}"};
static const struct api_object nothing = {"null", "There are no contacts.", NULL, 0, -1, NULL};
#define IF_FINITE(called, means) \
	{.name = called, .kind = API_NUMBER, .range = API_NON_NEGATIVE, .meaning = means "; not there where derivatives are infinite"}
static const struct api_rule field_comparison_rules[] = {
	{.name = "pointer", .kind = API_TEXT, .required = true, .meaning = "JSON Pointer of the field"},
	{.name = "agrees", .kind = API_BOOL, .required = true, .meaning = "all that follow are within their tolerances"},
	IF_FINITE("potential", "largest relative difference of the potential's derivative along a direction"),
	IF_FINITE("gradient", "the same of the gradient's entries"),
	IF_FINITE("transposed", "relative difference of vjp times the direction and of cotangents times jvp"),
};
static const struct api_object field_comparison = {
	"FieldComparison", "How far the derivatives by one field agree.",
	field_comparison_rules, N_OF(field_comparison_rules), -1, NULL};
static const struct api_rule worst_field_rules[] = {
	{.name = "pointer", .kind = API_TEXT, .required = true, .meaning = "JSON Pointer of the field"},
	{.name = "group", .kind = API_WORD, .words = group_names, .required = true, .meaning = "of the contact"},
	{.name = "index", .kind = API_INTEGER, .required = true, .meaning = "of the contact in its group"},
};
static const struct api_object worst_field = {
	"WorstField", "The field whose derivatives agree least, and the contact in which they do.",
	worst_field_rules, N_OF(worst_field_rules), -1, NULL};
static const struct api_rule derivative_comparison_rules[] = {
	SIZE("tolerance", "of potential and gradient"),
	SIZE("transpose_tolerance", "of vjp and jvp"),
	{.name = "fields", .kind = API_LIST, .objects = ONE(field_comparison), .required = true,
	 .meaning = "every field of the request that answers depend on"},
	{.name = "worst", .kind = API_ONE_OF, .objects = (const struct api_object *const[]){&worst_field, &nothing, NULL},
	 .required = true, .meaning = "null for no contacts"},
};
static const struct api_object derivative_comparison = {
	"DerivativeComparison", "Derivatives by every field against differences of answers.",
	derivative_comparison_rules, N_OF(derivative_comparison_rules), -1, NULL};
static const struct api_rule check_query_rules[] = {
	{.name = "derivatives", .kind = API_BOOL, .meaning = "whether derivatives by every field are compared, too; default false"},
};
const struct api_object api_check_query = {
	"CheckQuery", "What is compared.", check_query_rules, N_OF(check_query_rules), -1, NULL};
const char *const api_note_codes[] = {
	"holds_less_than_mu_s", "mu_k_above_mu_s", "large_coefficient", "speeds_far_below_eps_v",
	"viscous_outweighs_coulomb", "anchor_longer_than_eps_v", NULL};
static const struct api_rule note_rules[] = {
	{.name = "code", .kind = API_WORD, .words = api_note_codes, .required = true, .meaning = "what is noted, for programs"},
	{.name = "pointer", .kind = API_TEXT, .required = true,
	 .meaning = "JSON Pointer (RFC 6901) into the request, of a set into its document"},
	{.name = "detail", .kind = API_TEXT, .required = true, .meaning = "a sentence with the numbers"},
};
static const struct api_object note = {
	"Note", "Something that is right in form and seldom meant.", note_rules, N_OF(note_rules), -1, NULL};
#define AGREEMENT(called, means) \
	{.name = called, .kind = API_OBJECT, .objects = ONE(agreement), .required = true, .meaning = means}
static const struct api_rule check_rules[] = {
	COUNTS,
	{.name = "agrees", .kind = API_BOOL, .required = true,
	 .meaning = "all relative differences are within their tolerances"},
	{.name = "tolerance", .kind = API_NUMBER, .range = API_POSITIVE, .required = true,
	 .meaning = "of relative differences"},
	AGREEMENT("potential", "with its plain formula in more digits"),
	AGREEMENT("gradient", "with central differences of that potential"),
	AGREEMENT("hessian", "with second central differences of that potential; without projection"),
	{.name = "worst", .kind = API_ONE_OF, .objects = (const struct api_object *const[]){&worst, &nothing, NULL},
	 .required = true, .meaning = "the contact that agrees least; null for no contacts"},
	{.name = "derivatives", .kind = API_OBJECT, .objects = ONE(derivative_comparison), .meaning = "if they were asked for"},
	{.name = "notes", .kind = API_LIST, .objects = ONE(note), .required = true,
	 .meaning = "on coefficients, speeds and anchors that are seldom what was meant; at most 16"},
	SKIPPED,
};
const struct api_object api_check_answer = {
	"CheckAnswer", "How well gradient and Hessian agree with central differences.",
	check_rules, N_OF(check_rules), -1, NULL};

/* ---- /v1/functions ---- */

#define SCALARS (BIT(API_SMOOTH_FRICTION) | BIT(API_SMOOTH_MU) | BIT(API_LAW))
#define COEFFICIENTS (BIT(API_SMOOTH_MU) | BIT(API_LAW) | BIT(API_EFFECTIVE))
#define ELLIPSES (BIT(API_ELLIPSE) | BIT(API_EFFECTIVE))
static const struct api_rule call_rules[API_N_CALL] = {
	[API_CALL_Y] = {.name = "y", .kind = API_REALS, .shape = {API_N_ENTRIES}, .one_for_all = true, .required = true,
		.types = SCALARS, .unit = VELOCITY, .meaning = "speeds to evaluate at, of either sign; a number counts as one"},
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
		.meaning = "transition from static to kinetic, of the law smooth alone"},
	[API_CALL_MU_TRANSITION] = {.name = "mu_transition", .kind = API_WORD, .words = curves, .meanings = curve_meanings,
		.types = BIT(API_SMOOTH_MU), .meaning = "curve of mu from static to kinetic"},
	[API_CALL_STRIBECK_SPEED] = {.name = "stribeck_speed", .kind = API_REALS, .range = API_POSITIVE,
		.shape = {API_N_ENTRIES}, .one_for_all = true, .types = BIT(API_LAW), .unit = VELOCITY,
		.meaning = "over which friction decays beyond eps_v; needed for the laws stribeck and exponential, and for no other"},
	[API_CALL_CURVE] = {.name = "curve", .kind = API_OBJECT, .objects = ONE(api_curve), .types = BIT(API_LAW),
		.meaning = "needed for the law curve, and for no other; in a body only"},
	[API_CALL_VISCOUS] = {.name = "viscous", .kind = API_REALS, .range = API_NON_NEGATIVE, .shape = {API_N_ENTRIES},
		.one_for_all = true, .types = BIT(API_LAW), .unit = "1 / velocity", .fallback = "0",
		.meaning = "drag per normal force and velocity of slip, added to any law"},
	[API_CALL_NO_MU] = {.name = "no_mu", .kind = API_BOOL, .fallback = "false", .types = BIT(API_EFFECTIVE),
		.meaning = "true gives 1, 1, and only tau_aniso is needed"},
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

#define TEXT(called, means) {.name = called, .kind = API_TEXT, .required = true, .meaning = means}
static const struct api_rule function_rules[] = {
	TEXT("function", "its name"), REAL_ARRAY("values", "one for every entry", NULL, API_N_ENTRIES),
};
static const struct api_rule pair_rules[] = {
	TEXT("function", "its name"),
	REAL_ARRAY("values", "a pair for every entry", DIMENSIONLESS, API_N_ENTRIES, API_PAIR),
};
const struct api_object
	api_function_answer = {"Values", "Values of a function.", function_rules, N_OF(function_rules), -1, NULL},
	api_pairs_answer = {"Pairs", "Values of a function that gives pairs.", pair_rules, N_OF(pair_rules), -1, NULL};

#define TEXTS(called, means) {.name = called, .kind = API_LIST, .required = true, .meaning = means}
static const struct api_rule listed_rules[] = {
	TEXT("name", "as in the path"),
	TEXT("meaning", "in a line"),
	TEXTS("parameters", "names; the first gives the points"),
};
static const struct api_object listed = {
	"Function", "A function of the friction law.", listed_rules, N_OF(listed_rules), -1, NULL};
static const struct api_rule list_rules[] = {
	{.name = "functions", .kind = API_LIST, .objects = ONE(listed), .required = true, .meaning = "all there are"},
};
const struct api_object api_function_list_answer = {
	"FunctionList", "The scalar functions of the friction law.", list_rules, N_OF(list_rules), -1, NULL};

/* ---- the service ---- */

#define LIMIT(called, means, must) {.name = called, .kind = API_INTEGER, .least = 1, .required = must, .meaning = means}
static const struct api_rule limit_rules[] = {
	LIMIT("json_body_bytes", "longest JSON body", true), LIMIT("frame_body_bytes", "longest frame", true),
	LIMIT("answer_bytes", "longest answer", true), LIMIT("contacts", "most contacts of a request", false),
	LIMIT("vertices", "most vertices and bodies of a request", false),
	LIMIT("sets", "most collision sets of all callers; over it: 503", false),
	LIMIT("sets_per_caller", "most collision sets of the caller; over it: 503", false),
	LIMIT("set_bytes", "memory of all collision sets", false),
	LIMIT("set_bytes_per_caller", "memory of the caller's collision sets", false),
	LIMIT("set_idle_seconds", "after how long without use a set is forgotten", false),
};
static const struct api_object limits = {
	"Limits", "What a request may be; over it: 413.", limit_rules, N_OF(limit_rules), -1, NULL};
static const struct api_rule info_rules[] = {
	TEXT("name", "frictiond"), TEXT("version", "of the program"),
	LIMIT("threads", "of a large evaluation", true), TEXT("instruction_set", "of the inner loops"),
	TEXTS("formats", "media types of requests and answers"),
	{.name = "limits", .kind = API_OBJECT, .objects = ONE(limits), .required = true, .meaning = "of a request"},
};
const struct api_object api_info_answer = {
	"Info", "What this server is, and its limits.", info_rules, N_OF(info_rules), -1, NULL};

static const struct api_rule health_rules[] = {
	{.name = "status", .kind = API_WORD, .words = (const char *const[]){"ok", NULL}, .required = true,
	 .meaning = "there is no other: what is not well is no 200"},
};
const struct api_object api_health_answer = {
	"Health", "The server answers.", health_rules, N_OF(health_rules), -1, NULL};

static const struct api_rule culprit_rules[] = {
	TEXT("pointer",
	     "JSON Pointer (RFC 6901) into the request, to the field or its element; of a query: /NAME or /NAME/I"),
	TEXT("detail", "what is wrong there"),
};
static const struct api_object culprit = {
	"Culprit", "A place in the request and what is wrong there.", culprit_rules, N_OF(culprit_rules), -1, NULL};
static const struct api_rule problem_rules[] = {
	TEXT("type", "/errors/CODE: a page of this service that says what to do"),
	{.name = "code", .kind = API_WORD, .words = api_code_names, .required = true,
		.meaning = "what is wrong, for programs; of the first of errors"},
	TEXT("title", "of the status"),
	{.name = "status", .kind = API_INTEGER, .least = 400, .most = 599, .required = true,
	 .meaning = "as in the answer's first line"},
	TEXT("detail", "what is wrong, in a sentence"),
	{.name = "errors", .kind = API_LIST, .objects = ONE(culprit), .required = true,
	 .meaning = "the culprits, at most 16, in the order in which they were found; empty where nothing in the request is"
		" to be pointed at"},
	{.name = "request_id", .kind = API_TEXT, .meaning = "as in X-Request-Id; in answers of 500 and above"},
};
const struct api_object api_problem_document = {"Problem", "RFC 9457.", problem_rules, N_OF(problem_rules), -1, NULL};

/* ---- UM-Bridge ---- */

/* Clients of other models send what they like besides. */
#define OPEN "{'additionalProperties': true}"
#define MODEL TEXT("name", "of the model: friction or friction_gradient")
static const struct api_rule config_rules[] = {
	{.name = "set", .kind = API_TEXT, .meaning = "name of a collision set; without it, the scene of docs/um-bridge.md"},
	{.name = "inputs", .kind = API_LIST, .meaning = "JSON Pointers to fields of the set's document, or /velocities and"
		" /body_velocities: what the inputs are, in this order. Without it, those of /velocities, /body_velocities,"
		" /friction/mu_s, /friction/mu_k and /friction/mu that the set has"},
};
static const struct api_object model_config = {
	"ModelConfig", "What a model is about. Members for other programs are ignored.", config_rules, N_OF(config_rules), -1,
	OPEN};
static const struct api_object no_config = {"null", "Nothing is configured.", NULL, 0, -1, NULL};
#define CONFIG {.name = "config", .kind = API_ONE_OF, .objects = (const struct api_object *const[]){&model_config, &no_config, NULL}, \
	.meaning = "what the model is about; without it, the scene of docs/um-bridge.md"}
#define INPUT {.name = "input", .kind = API_ROWS, .required = true, \
	.meaning = "the numbers of each input, in the order in which the set has them"}
#define WHICH(called, means) {.name = called, .kind = API_INTEGER, .required = true, .meaning = means}
#define OUT_WRT {.name = "outWrt", .kind = API_INTEGER, .required = true, .meaning = "which output: 0, there is but one"}
#define SENS REAL_ARRAY("sens", "sensitivities: as many numbers as the output has", NULL, API_ANY_LENGTH)
#define VEC(of) REAL_ARRAY("vec", "direction: as many numbers as input " of " has", NULL, API_ANY_LENGTH)

static const struct api_rule name_rules[] = {MODEL};
static const struct api_rule sized_rules[] = {MODEL, CONFIG};
static const struct api_rule evaluation_rules[] = {MODEL, INPUT, CONFIG};
static const struct api_rule gradient_rules[] = {
	MODEL, INPUT, CONFIG, OUT_WRT, WHICH("inWrt", "which input, from 0"), SENS};
static const struct api_rule jacobian_call_rules[] = {
	MODEL, INPUT, CONFIG, OUT_WRT, WHICH("inWrt", "which input, from 0"), VEC("inWrt")};
static const struct api_rule hessian_call_rules[] = {
	MODEL, INPUT, CONFIG, OUT_WRT, WHICH("inWrt1", "the Gradient by which input, from 0"),
	WHICH("inWrt2", "along which input, from 0"), SENS, VEC("inWrt2")};
#define ASKED_OF_MODEL(called, means, rules) {called, means, rules, N_OF(rules), -1, OPEN}
const struct api_object
	api_bridge_name = ASKED_OF_MODEL("ModelName", "Which model.", name_rules),
	api_bridge_sized = ASKED_OF_MODEL("ModelSizesCall", "Which model, and what it is about.", sized_rules),
	api_bridge_evaluation = ASKED_OF_MODEL("ModelEvaluateCall", "Where to evaluate.", evaluation_rules),
	api_bridge_gradient_call = ASKED_OF_MODEL("ModelGradientCall", "What to differentiate, and by what.", gradient_rules),
	api_bridge_jacobian_call = ASKED_OF_MODEL("ModelJacobianCall", "What to differentiate, and along what.",
	                                          jacobian_call_rules),
	api_bridge_hessian_call = ASKED_OF_MODEL("ModelHessianCall", "What to differentiate, by what, and along what.",
	                                         hessian_call_rules);

static const struct api_rule bridge_info_rules[] = {
	{.name = "protocolVersion", .kind = API_NUMBER, .required = true, .meaning = "1.0"},
	TEXTS("models", "their names"),
};
#define SUPPORTS(called) {.name = called, .kind = API_BOOL, .required = true, .meaning = "whether /" called " answers"}
static const struct api_rule supported_rules[] = {
	SUPPORTS("Evaluate"), SUPPORTS("Gradient"), SUPPORTS("ApplyJacobian"), SUPPORTS("ApplyHessian")};
static const struct api_object supported = {
	"ModelSupport", "The calls that a model answers.", supported_rules, N_OF(supported_rules), -1, NULL};
static const struct api_rule support_rules[] = {
	{.name = "support", .kind = API_OBJECT, .objects = ONE(supported), .required = true, .meaning = "by call"}};
static const struct api_rule input_sizes_rules[] = {INTEGER_ARRAY("inputSizes", "numbers of each input", API_ANY_LENGTH)};
static const struct api_rule output_sizes_rules[] = {INTEGER_ARRAY("outputSizes", "numbers of each output", API_ANY_LENGTH)};
static const struct api_rule values_of_model_rules[] = {
	{.name = "output", .kind = API_ROWS, .required = true, .meaning = "the numbers of each output: there is but one"}};
static const struct api_rule vector_rules[] = {
	REAL_ARRAY("output", "one number for each of the input, or of the output", NULL, API_ANY_LENGTH)};
static const char *const failures[] = {"InvalidInput", "ModelNotFound", "UnsupportedFeature", "InvalidOutput", NULL};
static const char *const failure_meanings[] = {
	"malformed, missing, of the wrong length or out of range", "there is no model of this name",
	"the model has no such derivative", "a result does not fit a double", NULL};
static const struct api_rule error_rules[] = {
	{.name = "type", .kind = API_WORD, .words = failures, .meanings = failure_meanings, .required = true,
	 .meaning = "what is wrong, for programs; InvalidOutput with status 500, the others with 400"},
	TEXT("message", "what is wrong, in a sentence"),
};
static const struct api_object error_of_model = {
	"ModelErrorDetail", "Why a model did not answer.", error_rules, N_OF(error_rules), -1, NULL};
static const struct api_rule failure_rules[] = {
	{.name = "error", .kind = API_OBJECT, .objects = ONE(error_of_model), .required = true, .meaning = "why"}};
#define OF_MODEL(called, means, rules) {called, means, rules, N_OF(rules), -1, NULL}
const struct api_object
	api_bridge_info = OF_MODEL("ModelList", "The protocol's version, and the models.", bridge_info_rules),
	api_bridge_support = OF_MODEL("ModelInfo", "What a model supports.", support_rules),
	api_bridge_inputs = OF_MODEL("ModelInputSizes", "How long its inputs are.", input_sizes_rules),
	api_bridge_outputs = OF_MODEL("ModelOutputSizes", "How long its outputs are.", output_sizes_rules),
	api_bridge_values = OF_MODEL("ModelOutput", "What it gives.", values_of_model_rules),
	api_bridge_vector = OF_MODEL("ModelDerivative", "A derivative.", vector_rules),
	api_bridge_failure = OF_MODEL("ModelError", "Why a model did not answer.", failure_rules);

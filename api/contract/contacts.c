/* Contacts: groups and the barrier in requests, and values per contact in answers. */
#include <stddef.h>

#include "api/contract/rules.h"

/* clang-format off */
/* In the order of enum fric_barrier_type. */
static const char *const barriers[] = {
	"clamped_log", "normalized_clamped_log", "clamped_log_squared", "cubic", "two_stage", NULL};
static const char *const barrier_meanings[] = {
	"-(D - E)^2 ln(D/E)", "-(D - E)^2 ln(D/E) / E^2", "(D - E)^2 ln(D/E)^2", "2/3 (E - D)^3 / E",
	"(E - D)^2 / 2 where D is at least E/2, else E^2/4 (1/2 - ln(2D/E))", NULL};
static const char *const scalings[] = {"none", "physical", NULL};
static const char *const scaling_meanings[] = {
	"unscaled", "multiplied by dhat/E^2 (normalized_clamped_log: dhat), so that stiffness is a force", NULL};

/* ---- values per contact ---- */

/* X(place, name, kind, shape, range, types, unit, meaning) */
#define OUTPUT_FIELDS(X) \
	X(POTENTIAL, "potential", API_REALS, (API_N), API_ANY, 0, "force * velocity", \
	  "potential of the contact, including weight and normal force") \
	X(TANGENTIAL_VELOCITY, "tangential_velocity", API_REALS, (API_N, API_TANGENTS), API_ANY, 0, VELOCITY, \
	  "slip in the tangent basis, before mu_aniso") \
	X(MU_S, "mu_s", API_REALS, (API_N), API_NON_NEGATIVE, 0, DIMENSIONLESS, \
	  "static coefficient used, including ellipses") \
	X(MU_K, "mu_k", API_REALS, (API_N), API_NON_NEGATIVE, 0, DIMENSIONLESS, \
	  "kinetic coefficient used, including ellipses") \
	X(NORMAL_FORCE, "normal_force", API_REALS, (API_N), API_NON_NEGATIVE, 0, FORCE, "normal force used, without" \
		" weight") \
	X(DISTANCE, "distance", API_REALS, (API_N), API_NON_NEGATIVE, 0, LENGTH, \
	  "unsigned distance; absent for given geometry, and for planes without plane_origin") \
	X(CLOSEST_POINT, "closest_point", API_REALS, (API_N, API_POINT), API_ANY, WITH_POINT, DIMENSIONLESS, \
	  "coordinates on edge or triangle") \
	X(TANGENT_BASIS, "tangent_basis", API_REALS, (API_N, API_DIM, API_TANGENTS), API_ANY, 0, DIMENSIONLESS, \
	  "unit tangents as columns") \
	X(STATUS, "status", API_INDICES, (API_N), API_ANY, 0, NULL, "0 sticks (y < eps_v), 1 slides, 2 skipped," \
	  " 3 mollified: has no friction") \
	X(SLIP_RATIO, "slip_ratio", API_REALS, (API_N), API_NON_NEGATIVE, 0, DIMENSIONLESS, "y / eps_v, after mu_aniso") \
	X(FRICTION_FORCE, "friction_force", API_REALS, (API_N, API_DIM), API_ANY, 0, FORCE, \
	  "force on the first side, including weight; stencil weights distribute it") \
	X(ANCHOR, "anchor", API_REALS, (API_N, API_DIM), API_ANY, 0, VELOCITY, "value of anchor for the next step") \
	X(SPIN, "spin", API_REALS, (API_N), API_ANY, OF_BODIES, "1 / time", \
	  "angular velocity about the normal, without spin_radius; 3D") \
	X(ROLLING, "rolling", API_REALS, (API_N, API_TANGENTS), API_ANY, OF_BODIES, "1 / time", \
	  "angular velocity in the tangent basis (2D: itself), without roll_radius") \
	X(FEATURE, "feature", API_INDICES, (API_N), API_ANY, OF_VERTICES, NULL, \
	  "closest feature at positions: bit k (value 2^k) is set if member k of the stencil takes part") \
	X(CURRENT_FEATURE, "current_feature", API_INDICES, (API_N), API_ANY, OF_VERTICES, NULL, \
	  "as feature, at current_positions; with the term barrier") \
	X(CURRENT_DISTANCE, "current_distance", API_REALS, (API_N), API_NON_NEGATIVE, OF_VERTICES, LENGTH, \
	  "unsigned distance at current_positions; with the term barrier") \
	X(BARRIER_POTENTIAL, "barrier_potential", API_REALS, (API_N), API_ANY, OF_VERTICES, "force * velocity", \
	  "the contact's share of the barrier's potential, divided by time_step; with the term barrier") \
	X(BARRIER_FORCE, "barrier_force", API_REALS, (API_N, API_DIM), API_ANY, OF_VERTICES, FORCE, \
	  "the barrier's force on the first side, including weight; with the term barrier") \
	X(NORMAL, "normal", API_REALS, (API_N, API_DIM), API_ANY, 0, DIMENSIONLESS, \
	  "unit normal of the tangent basis, of a plane or a body the given one; absent for given geometry")

#define LENGTHS(...) {__VA_ARGS__}
#define NAME_OF(place, called, ...) [FRIC_OUT_##place] = called,
#define MEANING_OF(place, called, is, lengths, from, of, in, means) [FRIC_OUT_##place] = means,
#define RULE_OF(place, called, is, lengths, from, of, in, means) \
	[FRIC_OUT_##place] = {.name = called, .kind = is, .shape = LENGTHS lengths, .range = from, .types = of, \
	                      .unit = in, .meaning = means, \
	                      .most = FRIC_OUT_##place == FRIC_OUT_STATUS ? 3 : (is) == API_INDICES ? 15 : 0},

const char *const api_collision_output_names[FRIC_N_OUTPUTS + 1] = {OUTPUT_FIELDS(NAME_OF) NULL};
const char *const api_collision_output_meanings[FRIC_N_OUTPUTS + 1] = {
	OUTPUT_FIELDS(MEANING_OF) NULL}; /* NOLINT(bugprone-suspicious-missing-comma): texts of several lines */
const struct api_rule api_output_rules[FRIC_N_OUTPUTS] = {OUTPUT_FIELDS(RULE_OF)};

/* ---- groups ---- */

static const char pairs_of_mu[] =
	"{'dependentRequired': {'mu_s': ['mu_k'], 'mu_k': ['mu_s'], 'closest_point': ['tangent_basis'],"
	" 'tangent_basis': ['closest_point']},"
	" 'dependentSchemas': {'mu': {'properties': {'mu_s': false, 'mu_k': false}},"
	" 'grain': {'properties': {'tangent_basis': false}}}}";
static const char pairs_of_mu_without_point[] =
	"{'dependentRequired': {'mu_s': ['mu_k'], 'mu_k': ['mu_s']},"
	" 'dependentSchemas': {'mu': {'properties': {'mu_s': false, 'mu_k': false}},"
	" 'grain': {'properties': {'tangent_basis': false}}}}";

/* The members that are required unless the group is empty. */
static const char needs_of_bodies[] =
	"{'dependentRequired': {'mu_s': ['mu_k'], 'mu_k': ['mu_s']},"
	" 'dependentSchemas': {'mu': {'properties': {'mu_s': false, 'mu_k': false}},"
	" 'grain': {'properties': {'tangent_basis': false}}},"
	" 'if': {'properties': {'bodies': {'type': 'array', 'minItems': 1}}},"
	" 'then': {'required': ['point', 'normal', 'normal_force']}}";

static const struct api_rule barrier_rules[API_N_BARRIER] = {API_BARRIER_FIELDS(RULE)};
const struct api_object api_barrier = OBJECT_BY(
	"Barrier", "Barrier on squared distances, from which normal forces are derived if not given.", barrier_rules);

#define COLUMN(member) .kind = API_REALS, .one_for_all = true, .in_group = 1 + offsetof(struct fric_group, member)
#define ROW(place, member) BY_ROW(place), COLUMN(member)
static const struct api_rule group_rules[API_N_GROUP] = {API_GROUP_FIELDS(RULE)};

/* The schema's additional constraints depend on how the type gets its geometry. */
#define GROUP(is, schema, means) \
	[FRIC_##is] = {schema, means, group_rules, API_N_GROUP, FRIC_##is, OF_BODIES & BIT(FRIC_##is) ? needs_of_bodies : \
		WITH_POINT & BIT(FRIC_##is) ? pairs_of_mu : pairs_of_mu_without_point},
const struct api_object api_groups[FRIC_N_TYPES] = {API_GROUPS(GROUP)};

#define GROUP_FIELD(is, called, ...) \
	[FRIC_##is] = {.name = called, .kind = API_OBJECT, .objects = ONE(api_groups[FRIC_##is]), \
		.only = SPATIAL & BIT(FRIC_##is) ? 3 : 0},
static const struct api_rule collisions_rules[FRIC_N_TYPES] = {FRICP_TYPES(GROUP_FIELD)};
const struct api_object api_collisions = {
	"Collisions",
	"The contacts, grouped by type; evaluated and listed in this order. At least one group, which may be empty.",
	collisions_rules, FRIC_N_TYPES, -1, "{'minProperties': 1}"};

static const struct api_object next_group = OBJECT("NextGroup", "Values per contact, or one for all.",
	{.name = "surface_velocity", .kind = API_REALS, .one_for_all = true, .shape = {API_N, API_DIM}, .unit = VELOCITY,
	 .meaning = "surface_velocity in the next step"});
#define NEXT_GROUP(is, called, ...) [FRIC_##is] = {.name = called, .kind = API_OBJECT, .objects = ONE(next_group)},
static const struct api_rule next_rules[FRIC_N_TYPES] = {FRICP_TYPES(NEXT_GROUP)};
const struct api_object api_next_collisions = OBJECT_BY(
	"NextCollisions", "Groups of the set, with what changes in the next step.", next_rules);

/* ---- answers: one member per group ---- */

#define NAMED(is, called, ...) [FRIC_##is] = called,
const char *const api_group_names[FRIC_N_TYPES + 1] = {FRICP_TYPES(NAMED) NULL};

#define VALUES(is, schema, means) \
	[FRIC_##is] = {schema "Values", "The values selected by collision_outputs, in the order of the contacts.", \
		api_output_rules, FRIC_N_OUTPUTS, FRIC_##is, NULL},
#define VALUE_FIELD(is, called, ...) {.name = called, .kind = API_OBJECT, .objects = ONE(value_groups[FRIC_##is])},
static const struct api_object value_groups[FRIC_N_TYPES] = {API_GROUPS(VALUES)};
const struct api_object api_collision_values = OBJECT(
	"CollisionValues", "Values per contact, for every group of the request.",
	FRICP_TYPES(VALUE_FIELD));

#define GROUP_COUNT(is, called, ...) \
	{.name = called, .kind = API_INTEGER, .meaning = "number of contacts in this group, including skipped ones"},
const struct api_object api_group_counts = OBJECT("GroupCounts", "The groups of the document, including empty ones.",
	FRICP_TYPES(GROUP_COUNT));

static const char *const reasons[] = {
	"coincident_vertices", "zero_length_edge", "vertex_on_edge", "parallel_edges", "collapsed_triangle", "penetration",
	"negative_coefficient", "grain_along_normal", NULL};
static const char *const reason_meanings[] = {
	"the two vertices coincide", "the ends of an edge coincide",
	"3D: the vertex is on the line of its edge", "the closest points are not unique", "the triangle has no area",
	"the distance is not larger than the barrier's dmin", "the blended coefficient is negative",
	"the grain is parallel to the normal", NULL};
const struct api_object api_skipped_contact = OBJECT("Skipped", "A skipped contact; its values are zeros.",
	{.name = "group", .kind = API_WORD, .words = api_group_names, .required = true, .meaning = "group of the contact"},
	COUNT("index", "number of the contact within its group"),
	{.name = "reason", .kind = API_WORD, .words = reasons, .meanings = reason_meanings, .required = true,
	 .meaning = "reason for skipping it"});

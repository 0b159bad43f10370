/* Finding contacts: meshes, candidates, and the contacts that were found. */
#include "api/contract/rules.h"

/* clang-format off */
/* In the order of enum fric_weighting. */
static const char *const weightings[] = {"count", "area", NULL};
static const char *const weighting_meanings[] = {
	"1", "the share of the rest surface that it stands for; meshes without rods and particles only", NULL};
/* In the order of enum api_contacts_output. */
static const char *const found_outputs[] = {"collisions", "distances", "longest_step", NULL};

/* ---- meshes ---- */

const struct api_object api_planes = OBJECT("MeshPlanes", "Planes that do not move. They have two sides.",
	[API_PLANES_NORMAL] = {.name = "normal", .kind = API_REALS, .shape = {API_N_PLANES, API_DIM}, .required = true,
		.unit = LENGTH, .meaning = "normal of the plane, of any length but 0"},
	[API_PLANES_ORIGIN] = {.name = "origin", .kind = API_REALS, .shape = {API_N_PLANES, API_DIM}, .required = true,
		.unit = LENGTH, .meaning = "any point of the plane"});

static const struct api_rule mesh_rules[API_N_MESH] = {API_MESH_FIELDS(RULE)};
const struct api_object api_mesh = {
	"Mesh", "Primitives that may touch. Vertices that no member mentions touch nothing. Faces, edges and vertices that"
	" stand twice count once.", mesh_rules, API_N_MESH, -1, "{'dependentRequired': {'ignore': ['body']}}"};

/* ---- candidates and earlier contacts ---- */

/* The plane of candidates is required unless there are none. */
static const char needs_of_planes[] =
	"{'if': {'properties': {'vertices': {'type': 'array', 'minItems': 1}}},"
	" 'then': {'required': ['plane_normal', 'plane_origin']}}";
static const struct api_rule candidate_rules[API_N_CANDIDATE] = {
	[API_CANDIDATE_VERTICES] = {.name = "vertices", .kind = API_INDICES, .shape = {API_N, API_STENCIL}, .required = true,
		.meaning = "stencils of pairs; a vertex may appear only once in a stencil"},
	[API_CANDIDATE_PLANE_NORMAL] = {.name = "plane_normal", .kind = API_REALS, .shape = {API_N, API_DIM},
		.one_for_all = true, .types = BIT(FRIC_PLANE_VERTEX), .unit = LENGTH,
		.meaning = "normal of the plane, of any length but 0"},
	[API_CANDIDATE_PLANE_ORIGIN] = {.name = "plane_origin", .kind = API_REALS, .shape = {API_N, API_DIM},
		.one_for_all = true, .types = BIT(FRIC_PLANE_VERTEX), .unit = LENGTH, .meaning = "any point of the plane"},
};
#define CANDIDATES(is, schema, means) \
	[FRIC_##is] = {schema "Candidates", means, candidate_rules, API_N_CANDIDATE, FRIC_##is, \
		FRIC_##is == FRIC_PLANE_VERTEX ? needs_of_planes : NULL},
#define MEMBER(is, called, group) \
	{.name = called, .kind = API_OBJECT, .objects = ONE(group[FRIC_##is]), .only = SPATIAL & BIT(FRIC_##is) ? 3 : 0},
#define CANDIDATE_MEMBER(is, called, ...) [FRIC_##is] = MEMBER(is, called, api_candidate_groups)
#define PREVIOUS_MEMBER(is, called, ...) [FRIC_##is] = MEMBER(is, called, api_groups)
const struct api_object api_candidate_groups[FRIC_N_VERTEX_TYPES] = {API_VERTEX_GROUPS(CANDIDATES)};
const struct api_object api_candidates = OBJECT("Candidates",
	"Pairs of primitives in groups by type, such as a broad phase finds. Pairs that stand twice count once.",
	FRICP_VERTEX_TYPES(CANDIDATE_MEMBER));

const struct api_object api_previous_collisions = OBJECT("PreviousCollisions",
	"The contacts as they were evaluated. Only vertices, anchor and planes matter.", FRICP_VERTEX_TYPES(PREVIOUS_MEMBER));
const struct api_object api_previous = OBJECT(
	"PreviousContacts", "Earlier contacts of the same vertices.",
	[API_PREVIOUS_POSITIONS] = {.name = "positions", .kind = API_REALS, .shape = {API_N_VERTICES, API_DIM},
		.unit = LENGTH, .meaning = "positions at that time; not needed, as places are compared at the new ones"},
	[API_PREVIOUS_COLLISIONS] = {.name = "collisions", .kind = API_OBJECT, .objects = ONE(api_previous_collisions),
		.required = true, .meaning = "the contacts, with anchor; without it their anchors are 0"});

/* ---- the request ---- */

static const struct api_rule contacts_rules[API_N_CONTACTS] = {API_CONTACTS_FIELDS(RULE)};
const struct api_object api_contacts_request = {
	"ContactsRequest",
	"A mesh, or pairs of primitives, whose contacts are sought. Arrays are nested or flat (row-major). All arrays over"
	" vertices have as many rows as positions.",
	contacts_rules, API_N_CONTACTS, -1,
	"{'if': {'required': ['mesh']}, 'then': {'not': {'required': ['candidates']}}, 'else': {'required': ['candidates']},"
	" 'dependentSchemas': {'candidates': {'properties': {'weighting': {'const': 'count'}}}}}"};

/* ---- the answer ---- */

static const struct api_rule found_rules[] = {
	{.name = "vertices", .kind = API_INDICES, .shape = {API_N, API_STENCIL}, .required = true,
	 .meaning = "stencils in canonical order, sorted"},
	{.name = "weight", .kind = API_REALS, .shape = {API_N}, .range = API_NON_NEGATIVE, .required = true,
	 .unit = DIMENSIONLESS, .meaning = "of equal contacts the sum; with weighting area an area, in 2D a length"},
	{.name = "mollifier", .kind = API_REALS, .shape = {API_N}, .range = API_NON_NEGATIVE, .required = true,
	 .types = BIT(FRIC_EDGE_EDGE), .unit = "length^4",
	 .meaning = "10^-3 |a|^2 |b|^2 of the rest positions of nearly parallel edges, 0 of others; not merged: of all"},
	{.name = "plane_normal", .kind = API_REALS, .shape = {API_N, API_DIM}, .required = true,
	 .types = BIT(FRIC_PLANE_VERTEX), .unit = LENGTH, .meaning = "normal of the plane, as it was sent"},
	{.name = "plane_origin", .kind = API_REALS, .shape = {API_N, API_DIM}, .required = true,
	 .types = BIT(FRIC_PLANE_VERTEX), .unit = LENGTH, .meaning = "point of the plane, as it was sent"},
	{.name = "anchor", .kind = API_REALS, .shape = {API_N, API_DIM}, .unit = VELOCITY,
	 .meaning = "carried over from previous; present if that was sent"},
};
#define FOUND(is, schema, means) \
	[FRIC_##is] = {schema "Found", means, found_rules, N_OF(found_rules), FRIC_##is, NULL},
#define FOUND_MEMBER(is, called, ...) [FRIC_##is] = { \
	.name = called, .kind = API_OBJECT, .objects = ONE(found_groups[FRIC_##is]), .required = !(SPATIAL & BIT(FRIC_##is)), \
	.only = SPATIAL & BIT(FRIC_##is) ? 3 : 0},
#define DISTANCES(is, called, ...) [FRIC_##is] = { \
	.name = called, .kind = API_REALS, .shape = {API_N}, .range = API_NON_NEGATIVE, \
	.required = !(SPATIAL & BIT(FRIC_##is)), .unit = LENGTH, .only = SPATIAL & BIT(FRIC_##is) ? 3 : 0, \
	.meaning = "distances of the group's contacts"},
static const struct api_object found_groups[FRIC_N_VERTEX_TYPES] = {API_VERTEX_GROUPS(FOUND)};
static const struct api_object found_collisions = OBJECT("FoundCollisions",
	"Contacts as /v1/evaluate takes them: all groups of the dimension, perhaps empty.", FRICP_VERTEX_TYPES(FOUND_MEMBER)),
	found_distances = OBJECT("FoundDistances",
	"The distance of every contact's feature, without sign; of primitives if contacts are not merged, or mollified.",
	FRICP_VERTEX_TYPES(DISTANCES));

const struct api_object api_contacts_answer = OBJECT("ContactsAnswer", "The contacts that were found.",
	COUNT("n_vertices", "number of vertices"),
	COUNT("n_collisions", "number of contacts in all groups"),
	{.name = "min_distance", .kind = API_NUMBER, .range = API_NON_NEGATIVE, .or_null = true, .required = true,
	 .unit = LENGTH, .meaning = "the least distance found; null without contacts"},
	{.name = "collisions", .kind = API_OBJECT, .objects = ONE(found_collisions)},
	{.name = "distances", .kind = API_OBJECT, .objects = ONE(found_distances)},
	{.name = "longest_step", .kind = API_ONE_OF, .objects = api_step_answers,
	 .meaning = "how far all vertices can move along the direction before any pair comes too close"});

/* Requests about contacts, and answers to them. */
#include "api/contract/rules.h"

/* clang-format off */
static const char *const reactions[] = {"error", "skip", NULL};
static const char *const reaction_meanings[] = {
	"the first such contact causes a 422", "such contacts are skipped and listed", NULL};

/* In the order of enum api_term, and of enum fric_closest_features. */
static const char *const terms[] = {"friction", "barrier", NULL};
static const char *const term_meanings[] = {
	"the friction potential", "the energy whose derivative gives the normal forces, at current_positions", NULL};
static const char *const searches[] = {"given", "search", NULL};
static const char *const search_meanings[] = {
	"the stencil is the closest feature", "a stencil is a pair of primitives whose closest feature is found", NULL};

static const struct api_object line_values = OBJECT("LineValues", "Values along a line, in the order of its steps.",
	REAL_ARRAY("potential", "sum over the contacts at every step", "force * velocity", API_N_STEPS),
	REAL_ARRAY("slope", "its derivative with respect to t: the gradient at that step times the direction",
	           "force * unit of the direction", API_N_STEPS));

#define STEP(means) \
	{.name = "step", .kind = API_NUMBER, .range = API_NON_NEGATIVE, .required = true, .meaning = means}
static const struct api_object limited_step = OBJECT("LimitedStep", "A step that a contact limits.",
	STEP("multiple of the direction, less than 1"),
	{.name = "group", .kind = API_WORD, .words = api_group_names, .required = true,
	 .meaning = "group of the contact that limits the step"},
	INTEGER_ARRAY("vertices", "its stencil", API_ANY_LENGTH)),
	whole_step = OBJECT("WholeStep", "The step 1, which no contact limits.",
	STEP("1"),
	{.name = "group", .kind = API_NULL, .required = true, .meaning = "null"},
	{.name = "vertices", .kind = API_NULL, .required = true, .meaning = "null"});
const struct api_object *const api_step_answers[] = {&limited_step, &whole_step, NULL};

#define RULE_OF_OUTPUT(place, called, ...) {.name = called, __VA_ARGS__},
#define RULE_BESIDE(called, ...) {.name = called, __VA_ARGS__},
#define NAME_OF_OUTPUT(place, called, ...) [place] = called,
static const char *const outputs[API_N_EVALUATE_OUTPUTS + 1] = {
	API_EVALUATE_OUTPUTS(NAME_OF_OUTPUT, API_NO_PLACE) NULL};

const struct api_object api_line = OBJECT_WITH(
	"{'if': {'not': {'required': ['direction']}}, 'then': {'required': ['body_direction']}}",
	"LineChoice", "The points of a line to evaluate: velocities + t * direction.",
	[API_LINE_DIRECTION] = {.name = "direction", .kind = API_REALS, .shape = {API_N_VERTICES, API_DIM},
		.meaning = "direction of the line, in any unit; required unless there are only bodies"},
	[API_LINE_BODY_DIRECTION] = {.name = "body_direction", .kind = API_REALS, .shape = {API_N_BODIES, API_TWIST},
		.meaning = "direction of the bodies; required if there are any"},
	[API_LINE_STEPS] = {.name = "steps", .kind = API_REALS, .shape = {API_N_STEPS}, .required = true,
		.unit = "velocity / unit of the direction",
		.meaning = "values of t, of any sign and in any order; at most 1024"});

const struct api_object api_longest_step = OBJECT(
	"LongestStepChoice", "A motion of all vertices: current_positions + t * direction, t from 0 to 1.",
	[API_LONGEST_STEP_DIRECTION] = {.name = "direction", .kind = API_REALS, .shape = {API_N_VERTICES, API_DIM},
		.required = true, .unit = LENGTH, .meaning = "displacement of every vertex at t = 1"},
	[API_LONGEST_STEP_KEEP] = {.name = "keep", .kind = API_NUMBER, .range = API_POSITIVE, .fallback = "0.1",
		.meaning = "fraction, less than 1, of its distance beyond dmin that every contact keeps"});

const struct api_object api_cotangents = OBJECT(
	"Cotangents", "Factors of the results: the sum of the products is differentiated.",
	[API_COTANGENT_POTENTIAL] = {.name = "potential", .kind = API_NUMBER, .fallback = "0",
		.meaning = "cotangent of the potential"},
	[API_COTANGENT_GRADIENT] = {.name = "gradient", .kind = API_REALS, .shape = {API_N_VERTICES, API_DIM},
		.meaning = "cotangent of the gradient; by default 0"},
	[API_COTANGENT_BODY_GRADIENT] = {.name = "body_gradient", .kind = API_REALS, .shape = {API_N_BODIES, API_TWIST},
		.meaning = "cotangent of the body_gradient; by default 0"});

/* The kinds of requests that have a field, as bit sets. */
#define FOR_JVP (BIT(API_JVP) | BIT(API_SET_JVP))
#define FOR_VJP (BIT(API_VJP) | BIT(API_SET_VJP))
#define FOR_CHECK (BIT(API_CHECK) | BIT(API_SET_CHECK))
#define OF_MESH (BIT(API_SET_DOCUMENT) | BIT(API_MESH_DOCUMENT))
#define DOCUMENTS (OF_MESH | BIT(API_STENCIL_DOCUMENT))
#define LAGGED (BIT(API_WHOLE) | DOCUMENTS | BIT(API_CHECK) | BIT(API_JVP) | BIT(API_VJP))
#define EVALUATED (BIT(API_WHOLE) | BIT(API_SET_QUERY) | FOR_CHECK)
#define ADVANCED BIT(API_SET_ADVANCE)
#define ASKED (EVALUATED | FOR_JVP | FOR_VJP | ADVANCED)
static const struct api_rule request_rules[API_N_REQUEST] = {API_REQUEST_FIELDS(RULE)};
#define REQUEST(is, called, means, needs) {called, means, request_rules, API_N_REQUEST, is, needs}
/* Requests without velocities: the schema of those that are allowed, and the members of bodies that belong together. */
#define WITHOUT_VELOCITIES(allowed, bodies) \
	"{'if': {'not': {'required': ['velocities']}}, 'then': " allowed bodies "}"
#define ONE_OF_BODIES(name) "{'required': ['" name "']}"
#define OR_WITHOUT_FRICTION(allowed) \
	"{'anyOf': [" allowed ", {'required': ['terms'], 'properties': {'terms': {'not': {'contains': {'const': 'friction'}}}}}]}"
#define PAIRS_OF_BODIES \
	", 'dependentRequired': {'body_positions': ['body_velocities'], 'body_velocities': ['body_positions']," \
	" 'lagged_body_velocities': ['body_positions']}"
#define NEEDS_VELOCITIES WITHOUT_VELOCITIES(ONE_OF_BODIES("body_positions"), PAIRS_OF_BODIES)
#define NEEDS_VELOCITIES_OF_SET WITHOUT_VELOCITIES(ONE_OF_BODIES("body_velocities"), "")
#define NEEDS_VELOCITIES_OF_TERMS \
	WITHOUT_VELOCITIES(OR_WITHOUT_FRICTION(ONE_OF_BODIES("body_positions")), PAIRS_OF_BODIES)
#define NEEDS_VELOCITIES_OF_SET_AND_TERMS \
	WITHOUT_VELOCITIES(OR_WITHOUT_FRICTION(ONE_OF_BODIES("body_velocities")), "")
const struct api_object api_request = REQUEST(API_WHOLE,
	"EvaluateRequest",
	"A batch of contacts, in any consistent units. Arrays are nested or flat (row-major); where a field has a value per"
	" contact, one may be sent for all. Indices start at 0 and are written without point or exponent (3.0 is refused,"
	" although JSON Schema considers it an integer). All arrays over vertices have as many rows as velocities, and"
	" those of a group as many as its vertices.",
	NEEDS_VELOCITIES_OF_TERMS);
const struct api_object api_check_request_object = REQUEST(API_CHECK,
	"CheckRequest", "An EvaluateRequest, and perhaps claims: somebody else's results for it.",
	NEEDS_VELOCITIES_OF_TERMS);
const struct api_object api_set_document = REQUEST(API_SET_DOCUMENT,
	"AnyCollisionSet", "A document of either kind.", NULL);
const struct api_object api_stencil_document = REQUEST(API_STENCIL_DOCUMENT,
	"CollisionSet",
	"The lagged part of a batch, to be stored under a name: EvaluateRequest without velocities, outputs and their"
	" options. All arrays over vertices have n_vertices rows.",
	"{'dependentRequired': {'lagged_body_velocities': ['body_positions']}}");
const struct api_object api_mesh_document = REQUEST(API_MESH_DOCUMENT,
	"MeshSet",
	"As CollisionSet, with a mesh in place of contacts, which are found at positions.",
	"{'dependentRequired': {'lagged_body_velocities': ['body_positions'], 'previous': ['anchors'],"
	" 'mesh': ['positions', 'barrier', 'friction']}}");
const struct api_object api_set_query = REQUEST(API_SET_QUERY,
	"CollisionSetQuery",
	"The rest of an EvaluateRequest, for a collision set: velocities, outputs and their options. Fields that the set"
	" has, too, replace its own.",
	NEEDS_VELOCITIES_OF_SET_AND_TERMS);
const struct api_object api_set_check_query = REQUEST(API_SET_CHECK,
	"CollisionSetCheck", "A CollisionSetQuery, and perhaps claims: somebody else's results for it.",
	NEEDS_VELOCITIES_OF_SET_AND_TERMS);
const struct api_object
	api_jvp_request = REQUEST(API_JVP, "JvpRequest",
		"A batch of contacts and a direction in which its numbers change: an EvaluateRequest without outputs and their"
		" options, plus tangents.", NEEDS_VELOCITIES),
	api_vjp_request = REQUEST(API_VJP, "VjpRequest",
		"A batch of contacts, cotangents of its potential and gradient, and the fields to differentiate with respect"
		" to: an EvaluateRequest without outputs and their options, plus cotangents and wrt.", NEEDS_VELOCITIES),
	api_set_jvp_query = REQUEST(API_SET_JVP, "CollisionSetJvp",
		"A direction in which numbers of a collision set, or of this request, change.", NEEDS_VELOCITIES_OF_SET),
	api_set_vjp_query = REQUEST(API_SET_VJP, "CollisionSetVjp",
		"Cotangents of a collision set's potential and gradient, and the fields of the set, or of this request, to"
		" differentiate with respect to.", NEEDS_VELOCITIES_OF_SET);

const struct api_object api_set_advance = REQUEST(API_SET_ADVANCE,
	"CollisionSetAdvance",
	"The end of a time step: velocities at its end, and what the next step begins with, which replaces fields of the"
	" set. Arrays over vertices and bodies have as many rows as the set's.",
	WITHOUT_VELOCITIES(ONE_OF_BODIES("body_velocities"), ", 'dependentRequired': {'velocities': ['positions'],"
		" 'body_velocities': ['body_positions'], 'body_positions': ['body_velocities']}"));

/* ---- answers ---- */

const struct api_object api_answer = OBJECT("EvaluateAnswer", "The results selected by outputs.",
	COUNTS,
	API_EVALUATE_OUTPUTS(RULE_OF_OUTPUT, RULE_BESIDE)
	SKIPPED);

#define POTENTIAL(means, in) {.name = "potential", .kind = API_NUMBER, .unit = in, .required = true, .meaning = means}
#define GRADIENT(means, in) \
	{.name = "gradient", .kind = API_REALS, .shape = {API_N_DOF}, .unit = in, .required = true, .meaning = means}
#define BODY_GRADIENT(means, in) \
	{.name = "body_gradient", .kind = API_REALS, .shape = {API_N_BODIES, API_TWIST}, .unit = in, .meaning = means}
#define SUMS \
	POTENTIAL("sum over the contacts", "force * velocity"), \
	GRADIENT("gradient of the potential with respect to velocities, the negative friction force", FORCE), \
	BODY_GRADIENT("gradient with respect to body_velocities, if bodies were sent", FORCE)
static const struct api_object tangents = OBJECT(
	"TangentsOfAnswers", "Derivatives of potential and gradient along the direction given by the request's tangents.",
	POTENTIAL("derivative of the potential", NULL), GRADIENT("derivative of the gradient", NULL),
	BODY_GRADIENT("derivative of the body_gradient, if bodies were sent", NULL));
const struct api_object api_jvp_answer = OBJECT("JvpAnswer", "Potential, gradient and their directional derivatives.",
	COUNTS, SUMS,
	{.name = "tangents", .kind = API_OBJECT, .objects = ONE(tangents), .required = true,
	 .meaning = "directional derivatives"},
	SKIPPED);
const struct api_object api_vjp_answer = OBJECT(
	"VjpAnswer", "Potential, gradient, and the derivatives of their product with the cotangents.",
	COUNTS, SUMS,
	{.name = "cotangents", .kind = API_BY_POINTER, .required = true,
	 .meaning = "for every pointer of wrt, the derivative of the sum of cotangents times results with respect to each"
	 	" number of that field, in the shape in which it was sent"},
	SKIPPED);

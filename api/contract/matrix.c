/* Matrices: options in requests, and the members of each format. */
#include "api/contract/rules.h"

/* clang-format off */
static const char *const triangles[] = {"full", "upper", "lower", NULL};
static const char *const triangle_meanings[] = {"all entries", "row <= col", "row >= col", NULL};
static const char *const projections[] = {"none", "clamp", "abs", NULL};
static const char *const projection_meanings[] = {
	"unchanged", "negative eigenvalues become 0", "negative eigenvalues change their sign", NULL};
#define WORD_OF(place, word, ...) word,
#define MEANING_OF(place, word, means) means,
const char *const api_hessian_formats[] = {API_HESSIAN_FORMATS(WORD_OF) NULL};
static const char *const format_meanings[] = {API_HESSIAN_FORMATS(MEANING_OF) NULL};
const char *const api_jacobian_formats[] = {API_JACOBIAN_FORMATS(WORD_OF) NULL};
static const char *const jacobian_format_meanings[] = {API_JACOBIAN_FORMATS(MEANING_OF) NULL};

const struct api_object api_hessian = OBJECT_WITH(
	"{'dependentSchemas': {'triangle': {'properties': {'format': {'enum': ['triplets', 'csr', 'bsr']}}}},"
	" 'if': {'properties': {'pattern': {'const': false}}, 'required': ['pattern']},"
	" 'then': {'properties': {'format': {'enum': ['triplets', 'csr', 'bsr']}}}}",
	"HessianChoice", "Format of the returned Hessian.",
	[API_HESSIAN_FORMAT] = {.name = "format", .kind = API_WORD, .words = api_hessian_formats,
		.meanings = format_meanings, .meaning = "format of the matrix"},
	[API_HESSIAN_TRIANGLE] = {.name = "triangle", .kind = API_WORD, .words = triangles, .meanings = triangle_meanings,
		.meaning = "entries to return, with bsr blocks; not with factors"},
	[API_HESSIAN_PROJECTION] = {.name = "projection", .kind = API_WORD, .words = projections,
		.meanings = projection_meanings, .meaning = "projection of every contact's block to a positive semidefinite"
			" one"},
	[API_HESSIAN_PATTERN] = {.name = "pattern", .kind = API_BOOL, .fallback = "true",
		.meaning = "false leaves out the pattern, which depends on the stencils only: rows and cols, or indptr and"
			" indices; not with factors"});

/* Formats of claimed Hessians, which are sums of entries. */
static const char *const claimed_formats[] = {"triplets", "csr", "bsr", NULL};
const struct api_object api_claimed_hessian = OBJECT_WITH(
	"{'if': {'required': ['format'], 'properties': {'format': {'enum': ['csr', 'bsr']}}}," 
	" 'then': {'required': ['indptr', 'indices', 'data']}, 'else': {'required': ['rows', 'cols', 'values']}}",
	"ClaimedHessian", "A Hessian, as answers have it.",
	API_MATRIX_FIELDS(RULE));

const struct api_object api_position_jacobian = OBJECT(
	"PositionJacobianChoice", "Format of the returned Jacobian with respect to positions.",
	[API_JACOBIAN_FORMAT] = {.name = "format", .kind = API_WORD, .words = api_jacobian_formats,
		.meanings = jacobian_format_meanings, .meaning = "format of the matrix"},
	[API_JACOBIAN_PATTERN] = {.name = "pattern", .kind = API_BOOL, .fallback = "true",
		.meaning = "false leaves out the pattern, which depends on the stencils only: rows and cols, or indptr and"
			" indices"});

/* ---- answers ---- */

/* Members that make up the pattern: of a matrix, and of a pattern alone. */
#define PLACES(called, means) {.name = called, .kind = API_INDICES, .shape = {API_ANY_LENGTH}, \
	.meaning = means "; absent if pattern is false"}
#define ALWAYS(called, means) INTEGER_ARRAY(called, means, API_ANY_LENGTH)
#define FORMAT(i) {.name = "format", .kind = API_WORD, .words = (const char *const[]){i, NULL}, .required = true, \
	.meaning = "format of the matrix"}
#define SHAPE INTEGER_ARRAY("shape", "[n_dof, n_dof]", API_PAIR)

#define TRIPLETS_PLACES(X) X("rows", "row of every entry"), X("cols", "column of every entry")
#define CSR_PLACES(X) \
	X("indptr", "[n_dof + 1], start of every row"), X("indices", "column of every entry, ascending within a row")
#define BSR_PLACES(X) \
	X("indptr", "[n_vertices + 1], start of every row of blocks"), \
	X("indices", "column of every block, ascending within a row")

static const struct api_rule triplets_rules[] = {
	FORMAT("triplets"), SHAPE, TRIPLETS_PLACES(PLACES),
	REAL_ARRAY("values", "entries; duplicates add up", STIFFNESS, API_ANY_LENGTH),
};
static const struct api_rule csr_rules[] = {
	FORMAT("csr"), SHAPE, CSR_PLACES(PLACES),
	REAL_ARRAY("data", "entries", STIFFNESS, API_ANY_LENGTH),
};
static const struct api_rule bsr_rules[] = {
	FORMAT("bsr"), SHAPE, BSR_PLACES(PLACES),
	REAL_ARRAY("data", "blocks", STIFFNESS, API_ANY_LENGTH, API_DIM, API_DIM),
};
static const struct api_rule factor_rules[] = {
	REAL_ARRAY("weights", "w, stencil weights", DIMENSIONLESS, API_N, API_STENCIL),
	REAL_ARRAY("tangent_basis", "P, unit tangents as columns", DIMENSIONLESS, API_N, API_DIM, API_TANGENTS),
	REAL_ARRAY("inner", "A: a00, a01, a11 in 3D, a00 in 2D", STIFFNESS, API_N, API_INNER),
};
static const struct api_rule body_factor_rules[] = {
	REAL_ARRAY("jacobian",
	           "J: derivative of the slip with respect to the twists of the stencil's bodies, including mu_aniso and"
	           " radii",
	           NULL, API_N, API_SLIP, API_TWISTS),
	REAL_ARRAY("inner", "A: its upper triangle, row by row", STIFFNESS, API_N, API_SLIP_INNER),
};
#define EITHER(is, of_vertices, of_bodies) (FRIC_##is < FRIC_N_VERTEX_TYPES ? (of_vertices) : (of_bodies))
#define FACTORS(is, schema, means) \
	[FRIC_##is] = {schema "Factors", EITHER(is, "Blocks (w x P) A (w x P)^T of the contacts, in order.", \
	                                           "Blocks J^T A J of the contacts, in order."), \
	               EITHER(is, factor_rules, body_factor_rules), \
	               EITHER(is, N_OF(factor_rules), N_OF(body_factor_rules)), FRIC_##is, NULL},
static const struct api_object factor_groups[FRIC_N_TYPES] = {API_GROUPS(FACTORS)};
#define FACTOR_FIELD(is, called, ...) {.name = called, .kind = API_OBJECT, .objects = ONE(factor_groups[FRIC_##is])},
static const struct api_object triplets = OBJECT_BY(
	"Triplets", "Hessian as triplets: every contact's full block, row-major, in the order of the contacts.",
	triplets_rules);
static const struct api_object csr = OBJECT_BY("Csr", "Hessian in compressed rows.", csr_rules);
static const struct api_object bsr = OBJECT_BY("Bsr", "Hessian in compressed rows of blocks.", bsr_rules);
static const struct api_object factors = OBJECT("Factors", "Hessian as the factors of every contact's block.",
	FORMAT("factors"), SHAPE, FRICP_TYPES(FACTOR_FIELD));

#define JACOBIAN_SHAPE INTEGER_ARRAY("shape", "[n_dof, n_vertices * dim]", API_PAIR)
static const struct api_object jacobian_triplets = OBJECT(
	"JacobianTriplets", "Jacobian as triplets: every contact's full block, row-major, in the order of the contacts.",
	FORMAT("triplets"), JACOBIAN_SHAPE, PLACES("rows", "row of every entry: a velocity"),
	PLACES("cols", "column of every entry: a position"),
	REAL_ARRAY("values", "entries; duplicates add up", "force / length", API_ANY_LENGTH));
static const struct api_object jacobian_csr = OBJECT("JacobianCsr", "Jacobian in compressed rows.",
	FORMAT("csr"), JACOBIAN_SHAPE, CSR_PLACES(PLACES),
	REAL_ARRAY("data", "entries", "force / length", API_ANY_LENGTH));

const struct api_object *const api_hessian_answers[] = {&triplets, &csr, &bsr, &factors, NULL};
const struct api_object *const api_jacobian_answers[] = {&jacobian_csr, &jacobian_triplets, NULL};

#define PATTERN_WORD(word, ...) word,
#define PATTERN_MEANING(word, means, ...) means,
const char *const api_pattern_formats[] = {API_PATTERN_FORMATS(PATTERN_WORD) NULL};
static const char *const pattern_format_meanings[] = {API_PATTERN_FORMATS(PATTERN_MEANING) NULL};
const struct api_object api_pattern_url_query = OBJECT("PatternQuery", "Selects the pattern.",
	[API_PATTERN_FORMAT] = {.name = "format", .kind = API_WORD, .words = api_pattern_formats,
		.meanings = pattern_format_meanings, .meaning = "format of the matrix"},
	[API_PATTERN_TRIANGLE] = {.name = "triangle", .kind = API_WORD, .words = triangles, .meanings = triangle_meanings,
		.meaning = "entries to return, with bsr blocks"});

#define PATTERN(word, means, places, called) \
	&(const struct api_object)OBJECT(called, "The pattern of a Hessian in this format, without values.", \
		FORMAT(word), SHAPE, places(ALWAYS)),
const struct api_object *const api_pattern_answers[] = {API_PATTERN_FORMATS(PATTERN) NULL};

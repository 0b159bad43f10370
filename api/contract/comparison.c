/* The fields of /v1/check. */
#include "api/contract/rules.h"

/* clang-format off */
const char *const api_quantity_names[FRIC_N_QUANTITIES + 1] = {"potential", "gradient", "hessian", NULL};
#define SIZE(called, means) \
	{.name = called, .kind = API_NUMBER, .range = API_NON_NEGATIVE, .required = true, .meaning = means}
static const struct api_object agreement = OBJECT(
	"Agreement", "Agreement of one quantity with its central differences.",
	SIZE("largest_difference",
	     "largest absolute difference: of the potential, of the gradient's entries, or of entries of the contacts'"
	     " blocks"),
	SIZE("largest_entry", "largest absolute value among the compared numbers"),
	SIZE("relative_difference", "the larger of contacts and assembled"),
	SIZE("contacts", "largest relative difference of a single contact, relative to its own scale"),
	SIZE("assembled", "largest relative difference of the sums over contacts"));
#define PLACE_OF_CONTACT \
	{.name = "group", .kind = API_WORD, .words = api_group_names, .required = true, \
	 .meaning = "group of the contact"}, \
	COUNT("index", "number of the contact within its group")
#define STENCIL_OF_CONTACT \
	{.name = "vertices", .kind = API_INDICES, .shape = {API_ANY_LENGTH}, .meaning = "its stencil"}, \
	{.name = "bodies", .kind = API_INDICES, .shape = {API_ANY_LENGTH}, \
	 .meaning = "its stencil, for a contact of bodies"}
static const char either_stencil[] =
	"{'if': {'required': ['vertices']}, 'then': {'not': {'required': ['bodies']}}, 'else': {'required': ['bodies']}}";
static const struct api_object worst = OBJECT_WITH(either_stencil, "WorstContact", "The contact that agrees least.",
	PLACE_OF_CONTACT, STENCIL_OF_CONTACT,
	{.name = "quantity", .kind = API_WORD, .words = api_quantity_names, .required = true,
	 .meaning = "the quantity that differs most"},
	SIZE("relative_difference", "relative difference of that quantity"),
	{.name = "status", .kind = API_INTEGER, .most = 3, .required = true,
	 .meaning = "0 sticks, 1 slides, 2 skipped, 3 mollified"},
	SIZE("slip_ratio", "y / eps_v, after mu_aniso"));
static const struct api_object nothing = {"null", "There are no contacts.", NULL, 0, -1, NULL};
#define IF_FINITE(called, means) \
	{.name = called, .kind = API_NUMBER, .range = API_NON_NEGATIVE, \
	 .meaning = means "; absent if derivatives are infinite"}
static const struct api_object field_comparison = OBJECT(
	"FieldComparison", "Agreement of the derivatives with respect to one field.",
	TEXT("pointer", "JSON Pointer of the field"),
	{.name = "agrees", .kind = API_BOOL, .required = true, .meaning = "whether all differences below are within their"
		" tolerances"},
	IF_FINITE("potential", "largest relative difference of the potential's derivative along a direction"),
	IF_FINITE("gradient", "largest relative difference of the derivatives of the gradient's entries along a direction"),
	IF_FINITE("transposed", "relative difference between vjp times the direction and cotangents times jvp"));
static const struct api_object worst_field = OBJECT(
	"WorstField", "The field whose derivatives differ most, and the contact in which they do.",
	TEXT("pointer", "JSON Pointer of the field"),
	PLACE_OF_CONTACT);
static const struct api_object derivative_comparison = OBJECT(
	"DerivativeComparison", "Derivatives with respect to every field, compared with differences of results.",
	SIZE("tolerance", "for potential and gradient"),
	SIZE("transpose_tolerance", "for vjp and jvp"),
	{.name = "fields", .kind = API_LIST, .objects = ONE(field_comparison), .required = true,
	 .meaning = "every field of the request that results depend on"},
	{.name = "worst", .kind = API_ONE_OF, .objects = (const struct api_object *const[]){&worst_field, &nothing, NULL},
	 .required = true, .meaning = "null if there are no contacts"});
const struct api_object api_check_url_query = OBJECT("CheckQuery", "Selects the comparisons.",
	{.name = "derivatives", .kind = API_BOOL,
	 .meaning = "whether to compare derivatives with respect to every field as well; default false"});

/* Claims: in requests, and their comparison. */
#define WORD_OF(place, word, ...) word,
#define MEANING_OF(place, word, means) means,
const char *const api_mistake_codes[] = {API_MISTAKES(WORD_OF) NULL};
static const char *const mistake_meanings[] = {API_MISTAKES(MEANING_OF) NULL};
const struct api_object api_claims = OBJECT("Claims",
	"Somebody else's results for this request, of the same terms. At least one of potential, gradient, body_gradient and"
	" hessian.",
	API_CLAIMS_FIELDS(RULE));
static const struct api_object claimed_contact = OBJECT_WITH(either_stencil,
	"ClaimedContact", "The contact that explains the largest difference best.", PLACE_OF_CONTACT, STENCIL_OF_CONTACT);
#define LARGEST_OF_CLAIMS \
	SIZE("largest_difference", "absolute difference of the entry that differs most, relative to its scale"), \
	SIZE("scale", "scale of that entry: what contacts can contribute to it"), \
	SIZE("relative_difference", "largest_difference / scale; 1 if nothing can be contributed there"), \
	INTEGER_ARRAY("entry", "where: the DOF, of a Hessian row and column; empty for the potential", API_ANY_LENGTH), \
	{.name = "worst", .kind = API_ONE_OF, \
	 .objects = (const struct api_object *const[]){&claimed_contact, &nothing, NULL}, .required = true, \
	 .meaning = "the contact that explains it best; null if none does, or the quantity is the potential or agrees"}
#define LOOKS_LIKE(means) \
	{.name = "looks_like", .kind = API_WORDS, .words = api_mistake_codes, .meanings = mistake_meanings, .required = true, \
	 .meaning = means}
static const struct api_object claimed_quantity = OBJECT("ClaimedQuantity", "Comparison of one claimed quantity.",
	{.name = "agrees", .kind = API_BOOL, .required = true, .meaning = "whether it agrees within the tolerance"},
	LARGEST_OF_CLAIMS,
	LOOKS_LIKE("the mistake that explains the numbers; empty if they agree"),
	{.name = "factor", .kind = API_NUMBER,
	 .meaning = "of cone_scaled: how many times the right result; of displacement_for_velocity: the time step"},
	{.name = "detail", .kind = API_TEXT, .meaning = "description of the mistake, if one explains the numbers"});
#define CLAIMED_QUANTITY(called) \
	{.name = called, .kind = API_OBJECT, .objects = ONE(claimed_quantity), .meaning = "if it was claimed"}
static const struct api_object judgement = OBJECT("ClaimsComparison", "Claims, compared with the service's results.",
	{.name = "agrees", .kind = API_BOOL, .required = true, .meaning = "whether all that was claimed agrees"},
	{.name = "tolerance", .kind = API_NUMBER, .range = API_POSITIVE, .required = true,
	 .meaning = "for relative differences"},
	{.name = "quantity", .kind = API_WORD, .words = api_quantity_names, .required = true,
	 .meaning = "the quantity that differs most, to which the following members belong"},
	LARGEST_OF_CLAIMS,
	LOOKS_LIKE("the mistakes that explain the quantities; empty if they agree"),
	CLAIMED_QUANTITY("potential"), CLAIMED_QUANTITY("gradient"), CLAIMED_QUANTITY("hessian"));
#define CODE_OF(place, word) word,
const char *const api_note_codes[] = {API_NOTES(CODE_OF) NULL};
static const struct api_object note = OBJECT("Note", "A valid value that is probably a mistake.",
	{.name = "code", .kind = API_WORD, .words = api_note_codes, .required = true,
	 .meaning = "kind of note, for programs"},
	TEXT("pointer", "JSON Pointer (RFC 6901) into the request, for a set into its document"),
	TEXT("detail", "description with the numbers"));
#define AGREEMENT(called, means) \
	{.name = called, .kind = API_OBJECT, .objects = ONE(agreement), .required = true, .meaning = means}
const struct api_object api_check_answer = OBJECT(
	"CheckAnswer", "Agreement of gradient and Hessian with central differences.",
	COUNTS,
	{.name = "agrees", .kind = API_BOOL, .required = true,
	 .meaning = "whether all relative differences are within their tolerances"},
	{.name = "tolerance", .kind = API_NUMBER, .range = API_POSITIVE, .required = true,
	 .meaning = "for relative differences"},
	AGREEMENT("potential", "compared with its plain formula in higher precision"),
	AGREEMENT("gradient", "compared with central differences of that potential"),
	AGREEMENT("hessian", "compared with second central differences of that potential; without projection"),
	{.name = "worst", .kind = API_ONE_OF, .objects = (const struct api_object *const[]){&worst, &nothing, NULL},
	 .required = true, .meaning = "the contact that agrees least; null if there are no contacts"},
	{.name = "derivatives", .kind = API_OBJECT, .objects = ONE(derivative_comparison),
	 .meaning = "only with ?derivatives=true"},
	{.name = "claims", .kind = API_OBJECT, .objects = ONE(judgement), .meaning = "only if the request has claims"},
	{.name = "notes", .kind = API_LIST, .objects = ONE(note), .required = true,
	 .meaning = "coefficients, speeds and anchors that are probably mistakes; at most 16"},
	SKIPPED);

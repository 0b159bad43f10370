/* Fields of /v1/check. */
#include "api/contract/rules.h"

/* clang-format off */
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
static const struct api_object agreement = OBJECT(
	"Agreement", "How far one quantity agrees with its central differences.", agreement_rules);
static const struct api_rule worst_rules[] = {
	{.name = "group", .kind = API_WORD, .words = api_group_names, .required = true, .meaning = "where it was sent"},
	COUNT("index", "of the contact in its group"),
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
	TEXT("pointer", "JSON Pointer of the field"),
	{.name = "agrees", .kind = API_BOOL, .required = true, .meaning = "all that follow are within their tolerances"},
	IF_FINITE("potential", "largest relative difference of the potential's derivative along a direction"),
	IF_FINITE("gradient", "the same of the gradient's entries"),
	IF_FINITE("transposed", "relative difference of vjp times the direction and of cotangents times jvp"),
};
static const struct api_object field_comparison = OBJECT(
	"FieldComparison", "How far the derivatives by one field agree.", field_comparison_rules);
static const struct api_rule worst_field_rules[] = {
	TEXT("pointer", "JSON Pointer of the field"),
	{.name = "group", .kind = API_WORD, .words = api_group_names, .required = true, .meaning = "of the contact"},
	COUNT("index", "of the contact in its group"),
};
static const struct api_object worst_field = OBJECT(
	"WorstField", "The field whose derivatives agree least, and the contact in which they do.", worst_field_rules);
static const struct api_rule derivative_comparison_rules[] = {
	SIZE("tolerance", "of potential and gradient"),
	SIZE("transpose_tolerance", "of vjp and jvp"),
	{.name = "fields", .kind = API_LIST, .objects = ONE(field_comparison), .required = true,
	 .meaning = "every field of the request that answers depend on"},
	{.name = "worst", .kind = API_ONE_OF, .objects = (const struct api_object *const[]){&worst_field, &nothing, NULL},
	 .required = true, .meaning = "null for no contacts"},
};
static const struct api_object derivative_comparison = OBJECT(
	"DerivativeComparison", "Derivatives by every field against differences of answers.", derivative_comparison_rules);
static const struct api_rule check_query_rules[] = {
	{.name = "derivatives", .kind = API_BOOL, .meaning = "whether derivatives by every field are compared, too; default false"},
};
const struct api_object api_check_query = OBJECT("CheckQuery", "What is compared.", check_query_rules);
const char *const api_note_codes[] = {
	"holds_less_than_mu_s", "mu_k_above_mu_s", "large_coefficient", "speeds_far_below_eps_v",
	"viscous_outweighs_coulomb", "anchor_longer_than_eps_v", NULL};
static const struct api_rule note_rules[] = {
	{.name = "code", .kind = API_WORD, .words = api_note_codes, .required = true, .meaning = "what is noted, for programs"},
	TEXT("pointer", "JSON Pointer (RFC 6901) into the request, of a set into its document"),
	TEXT("detail", "a sentence with the numbers"),
};
static const struct api_object note = OBJECT("Note", "Something that is right in form and seldom meant.", note_rules);
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
const struct api_object api_check_answer = OBJECT(
	"CheckAnswer", "How well gradient and Hessian agree with central differences.", check_rules);

/* UM-Bridge. */
#include "api/contract/rules.h"

/* clang-format off */
/* Clients written for other models send additional members. */
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
static const struct api_object supported = OBJECT("ModelSupport", "The calls that a model answers.", supported_rules);
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
static const struct api_object error_of_model = OBJECT("ModelErrorDetail", "Why a model did not answer.", error_rules);
static const struct api_rule failure_rules[] = {
	{.name = "error", .kind = API_OBJECT, .objects = ONE(error_of_model), .required = true, .meaning = "why"}};
const struct api_object
	api_bridge_info = OBJECT("ModelList", "The protocol's version, and the models.", bridge_info_rules),
	api_bridge_support = OBJECT("ModelInfo", "What a model supports.", support_rules),
	api_bridge_inputs = OBJECT("ModelInputSizes", "How long its inputs are.", input_sizes_rules),
	api_bridge_outputs = OBJECT("ModelOutputSizes", "How long its outputs are.", output_sizes_rules),
	api_bridge_values = OBJECT("ModelOutput", "What it gives.", values_of_model_rules),
	api_bridge_vector = OBJECT("ModelDerivative", "A derivative.", vector_rules),
	api_bridge_failure = OBJECT("ModelError", "Why a model did not answer.", failure_rules);

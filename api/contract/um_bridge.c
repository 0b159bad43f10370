/* The objects of UM-Bridge. */
#include "api/contract/rules.h"

/* clang-format off */
/* Allows additional members, which clients written for other models send. */
#define OPEN "{'additionalProperties': true}"
#define MODEL TEXT("name", "name of the model: friction or friction_gradient")
static const struct api_object model_config = OBJECT_WITH(OPEN,
	"ModelConfig", "The contacts and inputs of a model. Members for other programs are ignored.",
	{.name = "set", .kind = API_TEXT, .meaning = "name of a collision set; by default the scene of docs/um-bridge.md"},
	{.name = "inputs", .kind = API_LIST, .meaning = "the inputs in order, as JSON Pointers to fields of the set's"
		" document, or /velocities and /body_velocities. By default those of /velocities, /body_velocities,"
		" /friction/mu_s, /friction/mu_k and /friction/mu that exist in the set"});
static const struct api_object no_config = {"null", "No configuration.", NULL, 0, -1, NULL};
#define CONFIG {.name = "config", .kind = API_ONE_OF, \
	.objects = (const struct api_object *const[]){&model_config, &no_config, NULL}, \
	.meaning = "contacts and inputs of the model; by default the scene of docs/um-bridge.md"}
#define INPUT {.name = "input", .kind = API_ROWS, .required = true, \
	.meaning = "the numbers of each input, in the order of the set's document"}
#define WHICH(called, means) {.name = called, .kind = API_INTEGER, .required = true, .meaning = means}
#define OUT_WRT {.name = "outWrt", .kind = API_INTEGER, .required = true, \
	.meaning = "number of the output: 0, as there is only one"}
#define SENS REAL_ARRAY("sens", "sensitivities: one per number of the output", NULL, API_ANY_LENGTH)
#define VEC(of) REAL_ARRAY("vec", "direction: one number per number of input " of, NULL, API_ANY_LENGTH)

#define ASKED_OF_MODEL(...) OBJECT_WITH(OPEN, __VA_ARGS__)
const struct api_object api_bridge_name = ASKED_OF_MODEL("ModelName", "A model.", MODEL);
const struct api_object api_bridge_sized = ASKED_OF_MODEL("ModelSizesCall", "A model and its configuration.",
	MODEL, CONFIG);
const struct api_object api_bridge_evaluation = ASKED_OF_MODEL("ModelEvaluateCall", "A model and its inputs.",
	MODEL, INPUT, CONFIG);
const struct api_object api_bridge_gradient_call = ASKED_OF_MODEL(
	"ModelGradientCall", "A model, its inputs, sensitivities, and the input to differentiate with respect to.",
	MODEL, INPUT, CONFIG, OUT_WRT, WHICH("inWrt", "number of the input, from 0"), SENS);
const struct api_object api_bridge_jacobian_call = ASKED_OF_MODEL(
	"ModelJacobianCall", "A model, its inputs, and a direction.",
	MODEL, INPUT, CONFIG, OUT_WRT, WHICH("inWrt", "number of the input, from 0"), VEC("inWrt"));
const struct api_object api_bridge_hessian_call = ASKED_OF_MODEL(
	"ModelHessianCall", "A model, its inputs, sensitivities, the input of the Gradient, and a direction.",
	MODEL, INPUT, CONFIG, OUT_WRT, WHICH("inWrt1", "number of the input of the Gradient, from 0"),
	WHICH("inWrt2", "number of the input that vec changes, from 0"), SENS, VEC("inWrt2"));

#define SUPPORTS(called) {.name = called, .kind = API_BOOL, .required = true, .meaning = "whether it supports /" called}
static const struct api_object supported = OBJECT("ModelSupport", "The calls that a model supports.",
	SUPPORTS("Evaluate"), SUPPORTS("Gradient"), SUPPORTS("ApplyJacobian"), SUPPORTS("ApplyHessian"));
static const char *const failures[] = {"InvalidInput", "ModelNotFound", "UnsupportedFeature", "InvalidOutput", NULL};
static const char *const failure_meanings[] = {
	"malformed, missing, of the wrong length or out of range", "no model has this name",
	"the model lacks this derivative", "a result overflows a double", NULL};
static const struct api_object error_of_model = OBJECT("ModelErrorDetail", "The reason of a failed call.",
	{.name = "type", .kind = API_WORD, .words = failures, .meanings = failure_meanings, .required = true,
	 .meaning = "kind of error, for programs; InvalidOutput has status 500, the others 400"},
	TEXT("message", "description of the error"));
const struct api_object api_bridge_info = OBJECT("ModelList", "The protocol's version, and the models.",
	{.name = "protocolVersion", .kind = API_NUMBER, .required = true, .meaning = "1.0"},
	TEXTS("models", "names of the models"));
const struct api_object api_bridge_support = OBJECT("ModelInfo", "The calls that a model supports.",
	{.name = "support", .kind = API_OBJECT, .objects = ONE(supported), .required = true, .meaning = "by call"});
const struct api_object api_bridge_inputs = OBJECT("ModelInputSizes", "Lengths of a model's inputs.",
	INTEGER_ARRAY("inputSizes", "length of each input", API_ANY_LENGTH));
const struct api_object api_bridge_outputs = OBJECT("ModelOutputSizes", "Lengths of a model's outputs.",
	INTEGER_ARRAY("outputSizes", "length of each output", API_ANY_LENGTH));
const struct api_object api_bridge_values = OBJECT("ModelOutput", "The output of a model.",
	{.name = "output", .kind = API_ROWS, .required = true, .meaning = "the numbers of the output, as a list of one"
		" row"});
const struct api_object api_bridge_vector = OBJECT("ModelDerivative", "A derivative of the output.",
	REAL_ARRAY("output", "one number per number of the input, or of the output", NULL, API_ANY_LENGTH));
const struct api_object api_bridge_failure = OBJECT("ModelError", "A failed call.",
	{.name = "error", .kind = API_OBJECT, .objects = ONE(error_of_model), .required = true, .meaning = "the reason"});

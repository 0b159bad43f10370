#include "api/umbridge/bridge.h"

#include <stdint.h>
#include <string.h>

#include "api/base/json_memory.h"
#include "api/compute/derivatives.h"
#include "api/compute/job.h"
#include "api/dispatch/answer.h"
#include "api/problem.h"
#include "api/umbridge/bridge_ask.h"

/* ---- errors ---- */

static const char *const refusals[] = {[API_BRIDGE_INVALID_INPUT] = "InvalidInput",
                                       [API_BRIDGE_MODEL_NOT_FOUND] = "ModelNotFound",
                                       [API_BRIDGE_UNSUPPORTED_FEATURE] = "UnsupportedFeature"};

static const char *message_of(const struct api_fault *fault)
{
	return *fault->detail ? fault->detail : fault->n_errors ? fault->errors[0].detail : "";
}

/* Writes an error in the protocol's form. @return false when out of memory */
static bool tell(int status, const char *type, const char *message, struct api_response *response)
{
	json_t *root = json_pack("{s:{s:s, s:s}}", "error", "type", type, "message", message);
	char *text = api_json_print(root, JSON_COMPACT, &response->body_bytes);
	json_decref(root);
	response->status = status;
	response->content_type = "application/json";
	response->body = text;
	return text;
}

/* Writes a fault. The protocol has names for faults of the input and the output; others are written as problems. */
void api_bridge_fail(const struct api_fault *fault, const char *request_id, struct api_response *response)
{
	const bool is_output = fault->code == API_E_RESULT_OVERFLOW,
			   is_input = fault->status == 400 || fault->status == 404 || fault->status == 422;
	struct api_fault no_room;
	if (!is_input) {
		api_fault_response(fault, request_id, response);
		return;
	}
	if (tell(is_output ? 500 : 400, is_output ? "InvalidOutput" : refusals[API_BRIDGE_INVALID_INPUT], message_of(fault),
	         response))
		return;
	api_fault_clear(&no_room);
	api_fault_no_memory(&no_room);
	api_fault_response(&no_room, request_id, response);
}

/* Writes a fault for which the protocol has a more specific name. @return whether it was written */
static bool tell_refusal(const struct api_bridge *bridge, struct api_response *response)
{
	if (!bridge->refusal)
		return false;
	if (tell(400, refusals[bridge->refusal], message_of(bridge->fault), response))
		return true;
	api_fault_clear(bridge->fault);
	return api_fault_no_memory(bridge->fault);
}

/* ---- operations without contacts ---- */

/* Variants of the operations. */
enum { MODEL_INFO, INPUT_SIZES, OUTPUT_SIZES };

static bool render_support(struct api_bridge *bridge, struct api_render *render)
{
	static const char *const calls[API_N_BRIDGE_CALLS] = {[API_BRIDGE_EVALUATE] = "Evaluate",
	                                                      [API_BRIDGE_VJP] = "Gradient",
	                                                      [API_BRIDGE_JVP] = "ApplyJacobian",
	                                                      [API_BRIDGE_SECOND] = "ApplyHessian"};
	json_t *support = api_render_add(render, render->document.root, "support", json_object());
	for (int call = 0; call < API_N_BRIDGE_CALLS; call++)
		api_render_add(render, support, calls[call],
		               json_boolean(api_bridge_supports(bridge->model, (enum api_bridge_call)call)));
	return true;
}

static bool render_sizes(struct api_bridge *bridge, struct api_render *render, bool of_inputs)
{
	if (!api_bridge_configure(bridge))
		return false;
	const size_t n = of_inputs ? bridge->n_inputs : 1;
	int64_t *sizes = api_arena_array(bridge->arena, n, sizeof(*sizes));
	if (!sizes)
		return api_fault_no_memory(bridge->fault);
	for (size_t i = 0; i < n; i++)
		sizes[i] = (int64_t)(of_inputs ? bridge->inputs[i].n : api_bridge_output_size(bridge));
	api_render_add(render, render->document.root, of_inputs ? "inputSizes" : "outputSizes",
	               api_render_array(render, API_I64, sizes, n, 0, 0));
	return true;
}

static bool describe(const struct api_call *call)
{
	struct api_arena arena = {.pool = call->service->pool};
	struct api_bridge bridge = {
		.service = call->service, .request = call->request, .arena = &arena, .fault = call->fault};
	struct api_render render;
	const int variant = call->operation->variant;
	bool ok = api_render_start(&render, &arena) || api_fault_no_memory(call->fault);
	ok = ok && api_bridge_begin(&bridge);
	ok = ok && (variant == MODEL_INFO ? render_support(&bridge, &render)
	                                  : render_sizes(&bridge, &render, variant == INPUT_SIZES));
	ok = api_answer_finish(call, &render, ok);
	api_bridge_end(&bridge);
	api_arena_free(&arena);
	return ok || tell_refusal(&bridge, call->response);
}

static bool get_info(const struct api_call *call)
{
	struct api_arena arena = {.pool = call->service->pool};
	struct api_render render;
	bool ok = api_render_start(&render, &arena);
	json_t *root = render.document.root;
	api_render_number(&render, root, "protocolVersion", 1);
	json_t *models = api_render_add(&render, root, "models", json_array());
	for (int i = 0; i < API_N_BRIDGE_MODELS; i++)
		api_render_append(&render, models, json_string(api_bridge_models[i]));
	ok = api_answer_finish(call, &render, ok);
	api_arena_free(&arena);
	return ok;
}

/* ---- operations with contacts ---- */

static enum api_bridge_call which(const struct api_job *job)
{
	return (enum api_bridge_call)job->call->operation->variant;
}

static bool decode(struct api_job *job)
{
	struct api_bridge *bridge = job->more;
	bridge->arena = &job->arena;
	return api_bridge_begin(bridge) && api_bridge_ask(bridge, which(job)) &&
	       api_bridge_apply(bridge, &job->lagged, &job->query, &job->set_velocities);
}

/* Renders rows of numbers, or a single row. */
static bool render_output(struct api_job *job, const double *values, size_t n, bool in_list)
{
	struct api_render *r = &job->render;
	json_t *output = api_render_array(r, API_F64, values, n, 0, 0);
	if (in_list)
		api_render_append(r, api_render_add(r, r->document.root, "output", json_array()), output);
	else
		api_render_add(r, r->document.root, "output", output);
	return true;
}

static bool evaluate(struct api_job *job)
{
	const struct api_bridge *bridge = job->more;
	const bool is_gradient = bridge->model == API_BRIDGE_GRADIENT;
	const size_t n = api_bridge_output_size(bridge);
	double *output = api_job_array(job, n, sizeof(*output));
	return output &&
	       api_job_core(job, fric_evaluate(&job->context, job->contacts, &job->asked, is_gradient ? NULL : output,
	                                       is_gradient ? output : NULL, &job->error)) &&
	       render_output(job, output, n, true);
}

/* ---- derivatives ---- */

/* Lists velocities as a query does, because they are not part of a set's document. */
static bool list_velocities(struct api_job *job, struct api_variables *variables)
{
	const struct api_query *q = &job->query;
	const struct api_set_facts *f = &job->facts;
	struct api_array arrays[] = {
		{.rank = 2, .shape = {f->n_vertices, f->dim}, .n = f->n_vertices * f->dim, .data = q->velocities},
		{.rank = 2,
	     .shape = {f->n_bodies, api_twist(f->dim)},
	     .n = f->n_bodies * api_twist(f->dim),
	     .data = q->body_velocities}};
	const struct api_document document = {.root = f->has_bodies
	                                                  ? json_pack("{s:i, s:i}", "velocities", 0, "body_velocities", 1)
	                                                  : json_pack("{s:i}", "velocities", 0),
	                                      .arrays = arrays,
	                                      .n_arrays = 2};
	const bool ok = document.root && api_variables_list(&document, &job->lagged.batch, f, &job->arena, variables);
	json_decref(document.root);
	return ok || api_fault_no_memory(job->fault);
}

static bool begin(struct api_job *job, struct api_derivation *derivation)
{
	const struct api_bridge *bridge = job->more;
	*derivation = (struct api_derivation){0};
	if (!api_variables_list(&bridge->document, &job->lagged.batch, &job->facts, &job->arena, &derivation->variables))
		return api_fault_no_memory(job->fault);
	return list_velocities(job, &derivation->variables) && api_derivation_begin(job, derivation);
}

static const struct api_variable *variable_of(const struct api_bridge *bridge, const struct api_derivation *derivation,
                                              size_t input)
{
	return api_variable_find(&derivation->variables, bridge->inputs[input].pointer);
}

static struct api_variations along(const struct api_bridge *bridge, const struct api_derivation *derivation,
                                   size_t input)
{
	return (struct api_variations){.n = 1, .by = {variable_of(bridge, derivation, input)}, .values = {bridge->vec}};
}

static struct api_variations by(const struct api_bridge *bridge, const struct api_derivation *derivation)
{
	return (struct api_variations){.n = 1, .by = {variable_of(bridge, derivation, bridge->in_wrt)}};
}

static bool gradient(struct api_job *job)
{
	const struct api_bridge *bridge = job->more;
	const double *sens = bridge->sens;
	struct api_derivation derivation;
	struct api_sums answers, cotangents = {0};
	if (bridge->model == API_BRIDGE_FRICTION)
		cotangents.potential = *sens;
	else
		cotangents.gradient = (double *)(uintptr_t)sens; /* only read, although the type is not const */
	if (!begin(job, &derivation))
		return false;
	struct api_variations wanted = by(bridge, &derivation);
	return api_derive_vjp(job, &derivation, &cotangents, &wanted, &answers) &&
	       render_output(job, wanted.values[0], wanted.by[0]->n, false);
}

static bool apply_jacobian(struct api_job *job)
{
	const struct api_bridge *bridge = job->more;
	struct api_derivation derivation;
	struct api_sums answers, tangents;
	if (!begin(job, &derivation))
		return false;
	const struct api_variations direction = along(bridge, &derivation, bridge->in_wrt);
	if (!api_derive_jvp(job, &derivation, &direction, &answers, &tangents))
		return false;
	double *potential = api_job_array(job, 1, sizeof(*potential));
	if (!potential)
		return false;
	*potential = tangents.potential;
	const bool of_potential = bridge->model == API_BRIDGE_FRICTION;
	return render_output(job, of_potential ? potential : tangents.gradient, api_bridge_output_size(bridge), false);
}

/* Multiplies values by the sensitivity of the single output. */
static bool scale(struct api_job *job, const double *values, size_t n, double factor, double **out)
{
	const struct fric_error overflow = {.code = FRIC_E_NOT_FINITE, .contact = -1};
	*out = api_job_array(job, n, sizeof(**out));
	if (!*out)
		return false;
	for (size_t i = 0; i < n; i++)
		(*out)[i] = factor * values[i];
	return api_reals_are_finite(*out, n) || api_fault_core(job->fault, &overflow);
}

static bool apply_hessian(struct api_job *job)
{
	const struct api_bridge *bridge = job->more;
	struct api_derivation derivation;
	if (!begin(job, &derivation))
		return false;
	const struct api_variations direction = along(bridge, &derivation, bridge->in_wrt_2);
	struct api_variations wanted = by(bridge, &derivation);
	double *output;
	return api_derive_second(job, &derivation, &direction, &wanted) &&
	       scale(job, wanted.values[0], wanted.by[0]->n, *bridge->sens, &output) &&
	       render_output(job, output, wanted.by[0]->n, false);
}

/* ---- the routes ---- */

static void weigh(const struct api_job *job, struct api_work *work)
{
	api_job_weigh(job, work);
	work->contact_ns += which(job) == API_BRIDGE_EVALUATE ? 0 : API_COST_DERIVATIVES;
}

static bool compute(struct api_job *job)
{
	static bool (*const calls[API_N_BRIDGE_CALLS])(struct api_job *) = {[API_BRIDGE_EVALUATE] = evaluate,
	                                                                    [API_BRIDGE_VJP] = gradient,
	                                                                    [API_BRIDGE_JVP] = apply_jacobian,
	                                                                    [API_BRIDGE_SECOND] = apply_hessian};
	return calls[which(job)](job);
}

static bool answer(const struct api_call *call)
{
	static const struct api_steps steps = {decode, api_job_prepare, compute, weigh, true};
	struct api_bridge bridge = {.service = call->service, .request = call->request, .fault = call->fault};
	const bool ok = api_job_run(call, &steps, NULL, &bridge);
	api_bridge_end(&bridge);
	return ok || tell_refusal(&bridge, call->response);
}

/* clang-format off */
#define AT_REST "'config': {'inputs': ['/friction/mu_s', '/friction/mu_k']}, 'input': [[0.5], [0.3]]"

const struct api_operation api_bridge_get_info = {
	.handler = get_info, .answers = API_OBJECTS(&api_bridge_info), .id = "bridgeInfo", .tag = "um-bridge",
	.summary = "Lists the models", .description = "Version of the protocol, and names of the models.",
	.examples = API_EXAMPLES(
		{"models", "All models", NULL, "{'protocolVersion': 1.0, 'models': ['friction', 'friction_gradient']}", 200}),
};
const struct api_operation api_bridge_model_info = {
	.handler = describe, .variant = MODEL_INFO, .is_large = api_cost_of_body, .requests = API_OBJECTS(&api_bridge_name),
	.answers = API_OBJECTS(&api_bridge_support), .id = "bridgeModelInfo", .tag = "um-bridge",
	.summary = "The calls that a model supports", .description = "Whether it supports each of the calls below.",
	.examples = API_EXAMPLES(
		{"support", "The calls that friction supports", "{'name': 'friction'}",
		 "{'support': {'Evaluate': true, 'Gradient': true, 'ApplyJacobian': true, 'ApplyHessian': true}}", 200}),
};
const struct api_operation api_bridge_input_sizes = {
	.handler = describe, .variant = INPUT_SIZES, .is_large = api_cost_of_body,
	.requests = API_OBJECTS(&api_bridge_sized), .answers = API_OBJECTS(&api_bridge_inputs), .id = "bridgeInputSizes",
	.tag = "um-bridge", .summary = "Lengths of a model's inputs", .description = "One number per input.",
	.examples = API_EXAMPLES(
		{"scene_inputs", "Inputs of the built-in scene", "{'name': 'friction'}",
		 "{'inputSizes': [48, 12, 1, 1]}", 200}),
};
const struct api_operation api_bridge_output_sizes = {
	.handler = describe, .variant = OUTPUT_SIZES, .is_large = api_cost_of_body,
	.requests = API_OBJECTS(&api_bridge_sized), .answers = API_OBJECTS(&api_bridge_outputs), .id = "bridgeOutputSizes",
	.tag = "um-bridge", .summary = "Length of a model's output",
	.description = "friction has one number, friction_gradient one per degree of freedom.",
	.examples = API_EXAMPLES(
		{"scene_outputs", "Output of the built-in scene", "{'name': 'friction_gradient', 'config': {}}",
		 "{'outputSizes': [60]}", 200}),
};
const struct api_operation api_bridge_evaluate = {
	.handler = answer, .variant = API_BRIDGE_EVALUATE, .is_large = api_cost_of_body,
	.requests = API_OBJECTS(&api_bridge_evaluation), .answers = API_OBJECTS(&api_bridge_values), .is_timed = true,
	.id = "bridgeEvaluate", .tag = "um-bridge", .summary = "A model's output",
	.description = "friction: the potential. friction_gradient: its gradient, the negative friction force.",
	.examples = API_EXAMPLES(
		{"scene_at_rest", "Coefficients as inputs, which leaves velocities zero",
		 "{'name': 'friction', " AT_REST "}", "{'output': [[0.04761317227873352]]}", 200}),
};
const struct api_operation api_bridge_gradient = {
	.handler = answer, .variant = API_BRIDGE_VJP, .is_large = api_cost_of_body,
	.requests = API_OBJECTS(&api_bridge_gradient_call), .answers = API_OBJECTS(&api_bridge_vector), .is_timed = true,
	.id = "bridgeGradient", .tag = "um-bridge", .summary = "Derivatives with respect to all numbers of an input",
	.description = "Differentiates the product of sens with the output.",
	.examples = API_EXAMPLES(
		{"scene_at_rest", "With respect to mu_k",
		 "{'name': 'friction', " AT_REST ", 'outWrt': 0, 'inWrt': 1, 'sens': [1]}",
		 "{'output': [0.505889955461544]}", 200}),
};
const struct api_operation api_bridge_apply_jacobian = {
	.handler = answer, .variant = API_BRIDGE_JVP, .is_large = api_cost_of_body,
	.requests = API_OBJECTS(&api_bridge_jacobian_call), .answers = API_OBJECTS(&api_bridge_vector), .is_timed = true,
	.id = "bridgeApplyJacobian", .tag = "um-bridge", .summary = "The output's derivative along a direction",
	.description = "The direction is vec, a change of one input.",
	.examples = API_EXAMPLES(
		{"scene_at_rest", "Along mu_k", "{'name': 'friction', " AT_REST ", 'outWrt': 0, 'inWrt': 1, 'vec': [1]}",
		 "{'output': [0.505889955461544]}", 200}),
};
const struct api_operation api_bridge_apply_hessian = {
	.handler = answer, .variant = API_BRIDGE_SECOND, .is_large = api_cost_of_body,
	.requests = API_OBJECTS(&api_bridge_hessian_call), .answers = API_OBJECTS(&api_bridge_vector), .is_timed = true,
	.id = "bridgeApplyHessian", .tag = "um-bridge", .summary = "The derivative of a Gradient along a direction",
	.description = "Differentiates the Gradient with respect to input inWrt1 along vec, a change of input inWrt2. Only"
		" for the model friction, and for velocities, coefficients, eps_v, normal forces and weights.",
	.examples = API_EXAMPLES(
		{"scene_at_rest", "Gradient with respect to mu_s, along mu_k",
		 "{'name': 'friction', " AT_REST ", 'outWrt': 0, 'inWrt1': 0, 'inWrt2': 1, 'sens': [1], 'vec': [1]}",
		 "{'output': [0.0]}", 200}),
};
/* clang-format on */

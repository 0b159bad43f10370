/* The operations of /v1/functions. */
#include "api/compute/functions.h"

#include <string.h>

#include "api/dispatch/answer.h"
#include "api/dispatch/format.h"
#include "api/routes/operations.h"
#include "api/validate/url_query.h"

enum { MAX_QUERY = 65536 };

bool api_function_exists(const struct api_match *match)
{
	return api_function_find(match->names[0]);
}

static bool get_functions(const struct api_call *call)
{
	struct api_arena arena = {.pool = call->service->pool};
	struct api_render render;
	const bool ok = api_render_start(&render, &arena);
	api_function_list(&render);
	return api_answer_finish(call, &render, ok);
}

/* Evaluates one function, or a bundle if `function` is NULL. */
static bool evaluate_function(const struct api_call *call, const struct api_function *function,
                              const struct api_document *document, struct api_arena *arena)
{
	struct api_render render;
	bool ok = api_render_start(&render, arena);
	render.document.n_threads = call->service->n_threads;
	ok = ok && (function ? api_function_evaluate(function, document, arena, &render, call->fault)
	                     : api_function_bundle(document, arena, &render, call->fault));
	return api_answer_finish(call, &render, ok);
}

static bool get_function(const struct api_call *call)
{
	struct api_arena arena = {.pool = call->service->pool};
	struct api_document document = {0};
	const struct api_function *function = api_function_find(call->request->match->names[0]);
	const char *url_query = call->request->match->url_query;
	bool ok = strlen(url_query) < MAX_QUERY ||
	          api_fault_set(call->fault, API_E_TARGET_TOO_LONG, "the URL's query is too long; use POST");
	ok = ok && api_url_query_document(url_query, api_function_parameters(function), &arena, &document, call->fault);
	ok = ok && evaluate_function(call, function, &document, &arena);
	json_decref(document.root);
	api_arena_free(&arena);
	return ok;
}

static bool post(const struct api_call *call, const struct api_function *function)
{
	struct api_arena arena = {.pool = call->service->pool};
	struct api_document document = {0};
	const bool ok = api_format_read(call->service, call->request, &arena, &document, call->fault) &&
	                evaluate_function(call, function, &document, &arena);
	api_document_free(&document);
	api_arena_free(&arena);
	return ok;
}

static bool post_function(const struct api_call *call)
{
	return post(call, api_function_find(call->request->match->names[0]));
}

static bool post_functions(const struct api_call *call)
{
	return post(call, NULL);
}

/* Whether evaluating the entries may take long, at a tenth of a microsecond per byte. */
static bool takes_many_values(const struct api_service *service, const struct api_request *request)
{
	enum { MANY_BYTES = 2 << 10 };
	(void)service;
	return request->body_bytes > MANY_BYTES * (request->formats->body == API_JSON ? 1 : 8);
}

/* clang-format off */
const struct api_operation api_get_functions = {
	.handler = get_functions, .answers = API_OBJECTS(&api_function_list_answer), .id = "listFunctions",
	.tag = "functions", .summary = "Lists the scalar functions of the friction law",
	.description = "Names, parameters and meanings.",
};
const struct api_operation api_post_functions = {
	.handler = post_functions, .refuses_url_query = true, .is_large = takes_many_values,
	.requests = API_OBJECTS(&api_bundle), .answers = API_OBJECTS(&api_bundle_answer), .id = "postFunctions",
	.tag = "functions", .summary = "Evaluates several functions in one request",
	.description =
		"Each function has its own parameters, as in a request of its own, which would return the same bits. Values are"
		" in the order of the request. If one function is refused, so are all.",
	.examples = API_EXAMPLES(
		{"curves", "Coefficient and friction force at three speeds",
		 "{'functions': {'smooth_mu': {'y': [0, 0.25, 0.5], 'mu_s': 1, 'mu_k': 0.5, 'eps_v': 0.5},"
		 " 'smooth_mu_f1': {'y': [0, 0.25, 0.5], 'mu_s': 1, 'mu_k': 0.5, 'eps_v': 0.5}}}",
		 "{'functions': {'smooth_mu': {'values': [1.0, 0.75, 0.5]}, 'smooth_mu_f1': {'values': [0.0, 0.5625, 0.5]}}}",
		 200},
		{"three_for_two", "Three values for two points",
		 "{'functions': {'smooth_friction_f1': {'y': [0.5, 1], 'eps_v': [1, 2, 3]}}}",
		 "{'type': '/errors/wrong_shape', 'code': 'wrong_shape', 'title': 'Unprocessable Content', 'status': 422,"
		 " 'detail': 'expected shape [2] or one value for all, got [3]', 'errors':"
		 " [{'pointer': '/functions/smooth_friction_f1/eps_v',"
		 " 'detail': 'expected shape [2] or one value for all, got [3]'}]}", 422}),
};
const struct api_operation api_get_function = {
	.handler = get_function, .url_query = &api_calls[0], .answers = API_OBJECTS(&api_function_answer, &api_pairs_answer),
	.id = "getFunction", .tag = "functions", .summary = "Evaluates a function, with parameters in the URL",
	.description =
		"/v1/functions lists the parameters of each function; others are refused. Parameters after the first have"
		" one value (or pair) for all entries, or one per entry.",
	.examples = API_EXAMPLES(
		{"transition", "From static to kinetic",
		 "{'name': 'smooth_mu', 'y': [0, 0.25, 0.5], 'mu_s': [1], 'mu_k': [0.5], 'eps_v': [0.5]}",
		 "{'function': 'smooth_mu', 'values': [1.0, 0.75, 0.5]}", 200},
		{"peak", "The force with the transition peak, whose maximum is exactly mu_s",
		 "{'name': 'law_force', 'y': [0.25, 0.5, 0.75, 1], 'mu_s': [1], 'mu_k': [0], 'eps_v': [1],"
		 " 'mu_transition': 'peak'}",
		 "{'function': 'law_force', 'values': [0.75, 1.0, 0.5, 0.0]}", 200},
		{"direction", "Pairs are sent flat", "{'name': 'anisotropic_x_from_tau_aniso', 'tau_aniso': [3, 4, 0, -2]}",
		 "{'function': 'anisotropic_x_from_tau_aniso', 'values': [[0.6, 0.8], [0.0, -1.0]]}", 200}),
};
const struct api_operation api_post_function = {
	.handler = post_function, .refuses_url_query = true, .is_large = takes_many_values,
	.requests = API_OBJECTS(&api_calls[API_SMOOTH_FRICTION], &api_calls[API_SMOOTH_MU], &api_calls[API_LAW],
	                        &api_calls[API_DIRECTION], &api_calls[API_ELLIPSE], &api_calls[API_EFFECTIVE]),
	.answers = API_OBJECTS(&api_function_answer, &api_pairs_answer), .id = "postFunction", .tag = "functions",
	.summary = "Evaluates a function at many points, with parameters in the body",
	.description = "Parameters after the first have one value (or pair) for all entries, or one per entry.",
	.examples = API_EXAMPLES(
		{"smooth_mu_f1", "Friction force per normal force",
		 "{'y': [0.25, 0.5, 2], 'mu_s': 1, 'mu_k': [0.1, 0.2, 0.3], 'eps_v': 1, 'mu_transition': 'quadratic'}",
		 "{'function': 'smooth_mu_f1', 'values': [0.38828125, 0.45, 0.3]}", 200},
		{"law_force_derivative", "Slope of the friction force, with the transition peak",
		 "{'y': [0, 0.5, 0.75, 1.5], 'mu_s': 1, 'mu_k': 0, 'eps_v': 1, 'law': 'smooth', 'mu_transition': 'peak'}",
		 "{'function': 'law_force_derivative', 'values': [4.0, 0.0, -4.0, 0.0]}", 200},
		{"anisotropic_mu_eff_f", "Matchstick coefficients along two directions",
		 "{'tau_dir': [[1, 0], [0, 1]], 'mu_s_aniso': [0.5, 0.25], 'mu_k_aniso': [0.25, 0.125]}",
		 "{'function': 'anisotropic_mu_eff_f', 'values': [[0.5, 0.25], [0.25, 0.125]]}", 200}),
};
/* clang-format on */

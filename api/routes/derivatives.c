/* The operations of /v1/jvp and /v1/vjp, also for a set. */
#include "api/compute/derivatives.h"

#include "api/dispatch/cost.h"
#include "api/routes/operations.h"
#include "api/routes/sets.h"

static bool differentiate(const struct api_call *call)
{
	struct api_asked asked = {.kind = (enum api_request_kind)call->operation->variant};
	return api_run(call, &api_derive, &asked);
}

static bool is_large_of_set(const struct api_service *service, const struct api_request *request)
{
	return api_cost_of_body(service, request) ||
	       api_set_is_large(service, request, API_COST_SUMS + API_COST_DERIVATIVES);
}

/* ---- the operations ---- */

/* clang-format off */
const struct api_operation api_post_jvp = {
	.handler = differentiate, .refuses_url_query = true, .variant = API_JVP, .is_large = api_cost_of_body,
	.requests = API_OBJECTS(&api_jvp_request), .answers = API_OBJECTS(&api_jvp_answer), .is_timed = true, .id = "jvp",
	.tag = "derivatives", .summary = "Derivatives of potential and gradient along a direction",
	.description = "The direction may change any numbers of the request: positions, forces, coefficients, speeds. At"
	               " the knots of piecewise functions the right-hand branch is used; skipped contacts have zero"
	               " derivatives.",
	.examples = API_EXAMPLES(
		{"more_force", "Change of potential and gradient with the normal force",
		 "{" API_ONE_VERTEX ", 'tangents': {'/collisions/plane_vertex/normal_force': 1}}",
		 "{'n_vertices': 1, 'n_collisions': 1, 'potential': 1.08333333333333, 'gradient': [3.0, 0.0, 0.0],"
		 " 'tangents': {'potential': 0.135416666666667, 'gradient': [0.375, 0.0, 0.0]}}", 200}),
};
const struct api_operation api_post_vjp = {
	.handler = differentiate, .refuses_url_query = true, .variant = API_VJP, .is_large = api_cost_of_body,
	.requests = API_OBJECTS(&api_vjp_request), .answers = API_OBJECTS(&api_vjp_answer), .is_timed = true, .id = "vjp",
	.tag = "derivatives", .summary = "Derivatives of potential and gradient with respect to any fields, times"
		" cotangents",
	.description = "One pass computes the derivatives with respect to every number of every field in wrt. At the knots"
		" of piecewise functions the right-hand branch is used; skipped contacts have zero derivatives.",
	.examples = API_EXAMPLES(
		{"by_coefficient", "Derivatives of the potential: with respect to velocities the gradient, to mu the potential"
			" / mu",
		 "{" API_ONE_VERTEX ", 'cotangents': {'potential': 1}, 'wrt': ['/velocities', '/friction/mu']}",
		 "{'n_vertices': 1, 'n_collisions': 1, 'potential': 1.08333333333333, 'gradient': [3.0, 0.0, 0.0],"
		 " 'cotangents': {'/velocities': [[3.0, 0.0, 0.0]], '/friction/mu': 2.16666666666667}}", 200}),
};
const struct api_operation api_post_set_jvp = {
	.handler = differentiate, .refuses_url_query = true, .variant = API_SET_JVP, .is_large = is_large_of_set,
	.requests = API_OBJECTS(&api_set_jvp_query), .answers = API_OBJECTS(&api_jvp_answer), .is_timed = true,
	.id = "jvpSet", .tag = "sets", .summary = "Derivatives along a direction, for a set",
	.description = "Returns the same bytes as /v1/jvp for the set's document and this request combined.",
	.examples = API_EXAMPLES(
		{"along_velocities", "The Hessian times a direction",
		 "{'velocities': [[0.25, 0, 0]], 'tangents': {'/velocities': [[1, 0, 0]]}}", NULL, 200}),
};
const struct api_operation api_post_set_vjp = {
	.handler = differentiate, .refuses_url_query = true, .variant = API_SET_VJP, .is_large = is_large_of_set,
	.requests = API_OBJECTS(&api_set_vjp_query), .answers = API_OBJECTS(&api_vjp_answer), .is_timed = true,
	.id = "vjpSet", .tag = "sets", .summary = "Derivatives with respect to any fields, for a set",
	.description = "Returns the same bytes as /v1/vjp for the set's document and this request combined.",
	.examples = API_EXAMPLES(
		{"by_coefficient", "Fields of the set's document, and of this request",
		 "{'velocities': [[0.25, 0, 0]], 'cotangents': {'potential': 1}, 'wrt': ['/velocities', '/friction/mu']}", NULL,
		 200}),
};
/* clang-format on */

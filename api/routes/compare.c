/* The operations of /v1/check, also for a set. */
#include "api/compute/compare.h"

#include "api/dispatch/cost.h"
#include "api/routes/operations.h"
#include "api/routes/sets.h"

static bool check(const struct api_call *call)
{
	struct api_comparison comparison = {.wants_derivatives = false};
	return api_run(call, &api_comparing, &comparison);
}

/* clang-format off */
const struct api_operation api_post_check = {
	.handler = check, .is_large = api_cost_always, .url_query = &api_check_url_query,
	.requests = API_OBJECTS(&api_check_request_object), .answers = API_OBJECTS(&api_check_answer),
	.is_timed = true, .id = "check", .tag = "evaluation", .summary = "Compares gradient and Hessian of a batch with central differences",
	.description = "Takes the request of /v1/evaluate; outputs, collision_outputs, hessian, line and vectors are"
	               " validated and otherwise ignored. With ?derivatives=true, derivatives with respect to every field"
	               " are compared as well; with claims, somebody else's results too.",
	.examples = API_EXAMPLES({"sliding_vertex", "A vertex on a floor", "{" API_ONE_VERTEX "}", NULL, 200}),
};
const struct api_operation api_post_set_check = {
	.handler = check, .is_large = api_cost_always, .url_query = &api_check_url_query,
	.requests = API_OBJECTS(&api_set_check_query), .answers = API_OBJECTS(&api_check_answer), .is_timed = true,
	.id = "checkSet", .tag = "sets", .summary = "Compares gradient and Hessian of a set with central differences",
	.description = "As /v1/check, also with claims; outputs and their options are validated and otherwise ignored.",
};
/* clang-format on */

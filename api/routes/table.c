#include "api/routes/table.h"

#include "api/compute/functions.h"
#include "api/contract/openapi.h"
#include "api/dispatch/match.h"
#include "api/pages/pages.h"
#include "api/routes/operations.h"
#include "api/umbridge/bridge.h"

/* clang-format off */
static const struct api_operation get_metrics = {
	.content = "{'text/plain': {'schema': {'type': 'string'}}}",
	.id = "metrics", .tag = "service", .summary = "Counters and gauges for Prometheus",
	.description = "Text exposition format 0.0.4.",
};
/* clang-format on */

#define SET_NAME "^(?![.]{1,2}$)[A-Za-z0-9._~-]{1,64}$"

/* Routes of UM-Bridge report faults in the protocol's form. */
#define FAILS .fail = api_bridge_fail, .failure = &api_bridge_failure

/* The first matching row is used, and the OpenAPI description has the same order. Open routes are probes, whose senders
 * have no token and learn only that the server runs, and content that is the same for everybody: the page and the
 * description. */
/* clang-format off */
static const struct api_route rows[] = {
	{"/v1/evaluate", .methods[API_POST] = &api_post_evaluate, .negotiates = true},
	{"/v1/jvp", .methods[API_POST] = &api_post_jvp, .negotiates = true},
	{"/v1/vjp", .methods[API_POST] = &api_post_vjp, .negotiates = true},
	{"/v1/contacts", .methods[API_POST] = &api_post_contacts, .negotiates = true},
	{"/v1/check", .methods[API_POST] = &api_post_check, .negotiates = true},
	{"/v1/sets", .methods[API_GET] = &api_get_sets},
	{"/v1/sets/{name}", .methods = {[API_GET] = &api_get_set, [API_PUT] = &api_put_set, [API_PATCH] = &api_patch_set,
	 [API_DELETE] = &api_delete_set}, .negotiates = true, .pattern = SET_NAME, .is_conditional = true},
	{"/v1/sets/{name}/evaluate", .methods[API_POST] = &api_post_set_evaluate, .negotiates = true, .pattern = SET_NAME,
	 .is_conditional = true},
	{"/v1/sets/{name}/jvp", .methods[API_POST] = &api_post_set_jvp, .negotiates = true, .pattern = SET_NAME,
	 .is_conditional = true},
	{"/v1/sets/{name}/vjp", .methods[API_POST] = &api_post_set_vjp, .negotiates = true, .pattern = SET_NAME,
	 .is_conditional = true},
	{"/v1/sets/{name}/check", .methods[API_POST] = &api_post_set_check, .negotiates = true, .pattern = SET_NAME,
	 .is_conditional = true},
	{"/v1/sets/{name}/advance", .methods[API_POST] = &api_advance_set, .negotiates = true, .pattern = SET_NAME,
	 .is_conditional = true},
	{"/v1/sets/{name}/contacts", .methods[API_GET] = &api_get_contacts, .negotiates = true, .pattern = SET_NAME,
	 .is_conditional = true},
	{"/v1/sets/{name}/pattern", .methods[API_GET] = &api_get_pattern, .negotiates = true, .pattern = SET_NAME,
	 .is_conditional = true},
	{"/v1/functions", .methods = {[API_GET] = &api_get_functions, [API_POST] = &api_post_functions},
	 .negotiates = true},
	{"/v1/functions/{name}", .methods = {[API_GET] = &api_get_function, [API_POST] = &api_post_function},
	 .negotiates = true, .exists = api_function_exists, .names = api_function_describe},
	{"/v1/info", .methods[API_GET] = &api_get_info, .negotiates = true},
	{"/healthz", .methods[API_GET] = &api_get_health, .is_open = true, .is_probe = true},
	{"/readyz", .methods[API_GET] = &api_get_readiness, .is_open = true, .is_probe = true, .is_readiness = true},
	{"/metrics", .methods[API_GET] = &get_metrics, .is_servers = true},
	{"/openapi.json", .methods[API_GET] = &api_get_description, .is_open = true},
	{"/Info", .methods[API_GET] = &api_bridge_get_info},
	{"/ModelInfo", .methods[API_POST] = &api_bridge_model_info, FAILS},
	{"/InputSizes", .methods[API_POST] = &api_bridge_input_sizes, FAILS},
	{"/OutputSizes", .methods[API_POST] = &api_bridge_output_sizes, FAILS},
	{"/Evaluate", .methods[API_POST] = &api_bridge_evaluate, FAILS},
	{"/Gradient", .methods[API_POST] = &api_bridge_gradient, FAILS},
	{"/ApplyJacobian", .methods[API_POST] = &api_bridge_apply_jacobian, FAILS},
	{"/ApplyHessian", .methods[API_POST] = &api_bridge_apply_hessian, FAILS},
	{"/", .methods[API_GET] = &api_get_page, .is_open = true, .is_page = true},
	{"/errors/{code}", .methods[API_GET] = &api_get_error, .is_open = true, .is_page = true, .exists = api_error_exists},
	{"/explorer/{file}", .methods[API_GET] = &api_get_file, .is_open = true, .is_folder = true, .exists = api_page_exists},
	{"/docs", .methods[API_GET] = &api_get_docs, .is_open = true, .is_page = true},
	{"/docs/{file}", .methods[API_GET] = &api_get_doc, .is_open = true, .is_page = true, .is_folder = true,
	 .exists = api_doc_exists, .files = api_doc_name},
};
/* clang-format on */

const struct api_table api_routes = {rows, sizeof(rows) / sizeof(rows[0])};

void api_match(const char *target, struct api_match *match)
{
	api_match_in(&api_routes, target, match);
}

char *api_describe(const struct api_service *service, size_t *bytes)
{
	return api_openapi_print(service, &api_routes, bytes);
}

_Static_assert(sizeof(rows) / sizeof(rows[0]) <= API_MAX_ROUTES, "metrics have a place for each");

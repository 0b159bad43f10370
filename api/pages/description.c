#include "api/pages/pages.h"

#include <stdlib.h>
#include <string.h>

#include "api/base/json_memory.h"
#include "api/codec/media.h"
#include "api/contract/openapi.h"
#include "api/dispatch/answer.h"

/* The text that the service keeps, printed if this is the first request for it. If several first requests print it at
 * the same time, one text is kept. NULL when out of memory: then the next request prints it. */
static const char *kept_description(const struct api_service *service, const struct api_table *table)
{
	char *kept = atomic_load(service->description), *text;
	struct api_json_memory *of_request;
	size_t bytes;
	if (kept)
		return kept;
	of_request = api_json_memory_pause(); /* what the service keeps does not count as the request's */
	text = api_openapi_print(service, table, &bytes);
	api_json_memory_resume(of_request);
	if (!text || atomic_compare_exchange_strong(service->description, &kept, text))
		return text;
	free(text);
	return kept;
}

static bool hand_out_description(const struct api_call *call, const struct api_table *table)
{
	struct api_response *response = call->response;
	const char *text;
	if (!call->service->description) {
		response->body = api_openapi_print(call->service, table, &response->body_bytes);
		return response->body;
	}
	text = kept_description(call->service, table);
	response->parts = text ? malloc(sizeof(*response->parts)) : NULL;
	if (!response->parts)
		return false;
	response->body_bytes = strlen(text);
	*response->parts = (struct api_part){text, response->body_bytes};
	response->n_parts = 1;
	return true;
}

static bool get_openapi(const struct api_call *call)
{
	struct api_response *response = call->response;
	if (!hand_out_description(call, call->request->match->table))
		return false;
	if (response->body_bytes > call->service->max_answer_bytes) {
		api_response_free(response);
		return api_fault_too_long(call->fault, call->service->max_answer_bytes);
	}
	response->content_type = api_media_json;
	response->status = 200;
	return true;
}

/* clang-format off */
const struct api_operation api_get_description = {
	.handler = get_openapi,
	.content = "{'application/json': {'schema': {'type': 'object', 'required': ['openapi', 'info', 'paths']}}}",
	.id = "openapi", .tag = "service", .summary = "This description",
	.description = "With the limits of this server. Requires no token.",
};
/* clang-format on */

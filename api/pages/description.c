#include "api/pages/pages.h"

#include <stdlib.h>

#include "api/codec/media.h"
#include "api/contract/openapi.h"
#include "api/dispatch/answer.h"

/* Responds with the text that api_describe has printed, or with a new one. */
static bool hand_out_description(const struct api_call *call, const struct api_table *table)
{
	struct api_response *response = call->response;
	const struct api_service *service = call->service;
	if (!service->description) {
		response->body = api_openapi_print(service, table, &response->body_bytes);
		return response->body;
	}
	response->parts = malloc(sizeof(*response->parts));
	if (!response->parts)
		return false;
	*response->parts = (struct api_part){service->description, service->description_bytes};
	response->n_parts = 1;
	response->body_bytes = service->description_bytes;
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

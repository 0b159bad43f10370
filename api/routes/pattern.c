/* The operation of /v1/sets/{name}/pattern. */
#include "api/compute/steps.h"

#include "api/dispatch/answer.h"
#include "api/routes/operations.h"
#include "api/routes/sets.h"

static bool get_pattern(const struct api_call *call)
{
	struct api_response *response = call->response;
	char tag[API_TAG_BYTES];
	if (!api_run(call, &api_pattern_steps, tag))
		return false;
	api_response_add_header(response, "ETag", tag);
	api_response_add_header(response, "Vary", "Accept");
	if (!api_tag_is_known(call->request->if_none_match, tag))
		return true;
	api_response_free(response);
	response->status = 304;
	response->content_type = NULL;
	response->body_bytes = 0;
	return true;
}

/* clang-format off */
const struct api_operation api_get_pattern = {
	.handler = get_pattern, .is_large = api_set_query_is_large, .url_query = &api_pattern_url_query,
	.answers = api_pattern_answers, .is_timed = true, .has_tag = true, .id = "setPattern", .tag = "sets",
	.summary = "The sparsity pattern of a set's Hessian",
	.description = "The Hessian without its values. The ETag depends only on the stencils and the numbers of vertices"
		" and bodies.",
};
/* clang-format on */

#include "api/routes/answer.h"

bool api_answer_finish(const struct api_service *service, const struct api_request *request, struct api_render *render, bool ok,
                struct api_fault *fault, struct api_response *response)
{
	if (ok)
		return api_render_finish(render, request->formats->answer, service->max_answer_bytes, fault, response);
	api_render_abandon(render);
	return false;
}

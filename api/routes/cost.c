#include "api/routes/cost.h"

#include <string.h>

/* Which of three words appear in quotes. Only what follows a quote is looked at: most of a body is numbers. */
struct mentioned {
	bool factors, outputs, hessian;
};

static struct mentioned mentioned_in(const char *at, const char *end)
{
	struct mentioned found = {0};
	enum { BYTES = sizeof("hessian\"") - 1 };
	while ((at = memchr(at, '"', (size_t)(end - at))) && end - ++at >= BYTES) {
		found.factors |= !memcmp(at, "factors\"", BYTES);
		found.outputs |= !memcmp(at, "outputs\"", BYTES);
		found.hessian |= !memcmp(at, "hessian\"", BYTES);
	}
	return found;
}

/* Ten bytes of text may be a contact whose triplets take four kilobytes of text and eight microseconds; in a frame, a tenth
 * of that. The Hessian is among the default outputs. A word in the wrong place makes the estimate wrong, and no more. */
bool api_cost_may_be_heavy(const struct api_request *request)
{
	const struct mentioned found = mentioned_in(request->body, request->body + request->body_bytes);
	return !found.factors && (!found.outputs || found.hessian);
}

bool api_cost_of_body(const struct api_service *service, const struct api_request *request)
{
	(void)service;
	enum { SURELY_SMALL = 2 << 10, SMALL_TEXT = 24 << 10, LARGE = 64 << 10 };
	const bool text = request->formats->body == API_JSON;
	if (request->body_bytes <= SURELY_SMALL)
		return false;
	if (request->body_bytes >= (text ? SMALL_TEXT : LARGE))
		return true;
	return request->body_bytes > SURELY_SMALL * (text ? 1 : 8) && api_cost_may_be_heavy(request);
}

bool api_cost_always(const struct api_service *service, const struct api_request *request)
{
	(void)service;
	(void)request;
	return true;
}

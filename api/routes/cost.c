#include "api/routes/cost.h"

#include <string.h>

/* Which of some words appear in quotes. Only what follows a quote is looked at: most of a body is numbers. */
struct mentioned {
	bool factors, outputs, hessian, many, bodies;
};

static struct mentioned mentioned_in(const char *at, const char *end)
{
	struct mentioned found = {0};
	enum {
		BYTES = sizeof("hessian\"") - 1,
		LINE = sizeof("line\"") - 1,
		BODIES = sizeof("bodies\"") - 1,
		JACOBIAN = sizeof("position_jacobian\"") - 1
	};
	while ((at = memchr(at, '"', (size_t)(end - at))) && end - ++at >= LINE) {
		found.many |= !memcmp(at, "line\"", LINE);
		found.bodies |= end - at >= BODIES && !memcmp(at, "bodies\"", BODIES);
		if (end - at < BYTES)
			continue;
		found.many |= !memcmp(at, "vectors\"", BYTES);
		found.factors |= !memcmp(at, "factors\"", BYTES);
		found.outputs |= !memcmp(at, "outputs\"", BYTES);
		found.hessian |= !memcmp(at, "hessian\"", BYTES) ||
		                 (end - at >= JACOBIAN && !memcmp(at, "position_jacobian\"", JACOBIAN));
	}
	return found;
}

/* Ten bytes of text may be a contact whose triplets take four kilobytes of text and eight microseconds; in a frame, a tenth
 * of that. The Hessian is among the default outputs. A word in the wrong place makes the estimate wrong, and no more. */
static bool may_ask_for_blocks(const struct mentioned *found)
{
	return !found->factors && (!found->outputs || found->hessian);
}

bool api_cost_may_be_heavy(const struct api_request *request)
{
	const struct mentioned found = mentioned_in(request->body, request->body + request->body_bytes);
	return found.many || may_ask_for_blocks(&found);
}

/* Two bytes may be a step of a line, at which every contact is evaluated, and few more a vector. Contacts of bodies take
 * several times as long as others. */
bool api_cost_of_body(const struct api_service *service, const struct api_request *request)
{
	(void)service;
	enum { CERTAINLY_SMALL = 512, SMALL_UNLESS_MANY = 2 << 10, SMALL_TEXT = 24 << 10, LARGE = 64 << 10 };
	const bool text = request->formats->body == API_JSON;
	if (request->body_bytes <= CERTAINLY_SMALL)
		return false;
	if (request->body_bytes >= (text ? SMALL_TEXT : LARGE))
		return true;
	const struct mentioned found = mentioned_in(request->body, request->body + request->body_bytes);
	const size_t n = request->body_bytes, blocks = n * (found.bodies ? 2 : 1), sums = n * (found.bodies ? 8 : 1);
	return found.many || sums >= (text ? SMALL_TEXT : LARGE) ||
	       (blocks > SMALL_UNLESS_MANY * (text ? 1 : 8) && may_ask_for_blocks(&found));
}

bool api_cost_always(const struct api_service *service, const struct api_request *request)
{
	(void)service;
	(void)request;
	return true;
}

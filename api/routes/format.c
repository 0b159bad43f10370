#include "api/routes/format.h"

#include <string.h>

#include "api/codec/frame.h"
#include "api/codec/media.h"

const char *api_format_type(enum api_format format)
{
	return format == API_FRAME ? api_media_frame : api_media_json;
}

bool api_format_of_request(const struct api_request *request, enum api_format *format, struct api_fault *fault)
{
	const char *type = strcmp(request->method, "POST") ? NULL : request->content_type;
	*format = api_media_is(type, api_media_frame) ? API_FRAME : API_JSON;
	if (!type || api_media_is(type, api_format_type(*format)))
		return true;
	return api_fault_set(fault, 415, "\"%.100s\" is not a type this service reads; send %s (curl: -H 'Content-Type: "
	                     "application/json') or %s", type, api_media_json, api_media_frame);
}

bool api_format_of_answer(const struct api_request *request, enum api_format *format, struct api_fault *fault)
{
	if (!api_format_of_request(request, format, fault))
		return false;
	if (!request->accept)
		return true;
	const double json = api_media_quality(request->accept, api_media_json),
	             frame = api_media_quality(request->accept, api_media_frame);
	if (json != frame)
		*format = frame > json ? API_FRAME : API_JSON;
	return json > 0 || frame > 0 ||
	       api_fault_set(fault, 406, "no type in \"%.100s\" is one this service writes; it writes %s and %s",
	                     request->accept, api_media_json, api_media_frame);
}

size_t api_format_limit(const struct api_service *service, enum api_format format)
{
	return format == API_FRAME ? service->max_frame_bytes : service->max_json_bytes;
}

bool api_format_read(const struct api_service *service, const struct api_request *request, struct api_arena *arena,
                     struct api_document *document, struct api_fault *fault)
{
	struct api_text_fault text;
	enum api_format format;
	if (!api_format_of_request(request, &format, fault))
		return false;
	if (format == API_FRAME)
		return api_frame_read(request->body, request->body_bytes, service->max_json_bytes, arena, document, fault);
	return api_document_read_pooled(arena->pool, request->body, request->body_bytes, document, &text) ||
	       api_fault_text(fault, &text);
}

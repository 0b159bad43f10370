#include "api/dispatch/format.h"

#include "api/codec/frame.h"
#include "api/codec/media.h"

const char *api_format_type(enum api_format format)
{
	return format == API_FRAME ? api_media_frame : api_media_json;
}

const char api_patch_types[] = "application/merge-patch+json, application/json, application/vnd.frictiond.frame";

static bool judge_body(const char *type, bool merges, enum api_format *format, struct api_fault *fault)
{
	*format = api_media_is(type, api_media_frame) ? API_FRAME : API_JSON;
	if (!type || api_media_is(type, api_format_type(*format)) || (merges && api_media_is(type, api_media_merge)))
		return true;
	if (merges)
		return api_fault_set(fault, API_E_UNSUPPORTED_MEDIA_TYPE,
		                     "\"%.100s\" is not a media type for patches; send one of %s", type, api_patch_types);
	return api_fault_set(fault, API_E_UNSUPPORTED_MEDIA_TYPE,
	                     "\"%.100s\" is not a media type that this service reads; send %s (curl: -H 'Content-Type: "
	                     "application/json') or %s",
	                     type, api_media_json, api_media_frame);
}

static bool judge_answer(const char *accept, enum api_format *format, struct api_fault *fault)
{
	if (!accept)
		return true;
	const double json = api_media_quality(accept, api_media_json), frame = api_media_quality(accept, api_media_frame);
	if (json != frame)
		*format = frame > json ? API_FRAME : API_JSON;
	return json > 0 || frame > 0 ||
	       api_fault_set(fault, API_E_NOT_ACCEPTABLE,
	                     "no type in \"%.100s\" can be returned by this service; it returns %s and %s", accept,
	                     api_media_json, api_media_frame);
}

bool api_formats_judge(const struct api_request *request, const struct api_operation *operation,
                       struct api_formats *formats, struct api_fault *fault)
{
	const char *type = operation->requests ? request->content_type : NULL;
	if (!judge_body(type, operation->merges, &formats->body, fault))
		return false;
	formats->answer = operation->answers_json ? API_JSON : formats->body;
	return operation->answers_json || judge_answer(request->accept, &formats->answer, fault);
}

const struct api_part *api_body_parts(const struct api_request *request, struct api_part *whole, size_t *n_parts)
{
	*whole = (struct api_part){request->body, request->body_bytes};
	*n_parts = request->parts ? request->n_parts : 1;
	return request->parts ? request->parts : whole;
}

bool api_format_needs_whole(const struct api_request *request)
{
	return request->parts && (request->formats->body == API_JSON || !api_frame_begins_whole(request->parts));
}

size_t api_format_limit(const struct api_service *service, enum api_format format)
{
	return format == API_FRAME ? service->max_frame_bytes : service->max_json_bytes;
}

bool api_format_read(const struct api_service *service, const struct api_request *request, struct api_arena *arena,
                     struct api_document *document, struct api_fault *fault)
{
	struct api_text_fault text;
	struct api_part whole;
	size_t n_parts;
	const struct api_part *parts = api_body_parts(request, &whole, &n_parts);
	if (request->formats->body == API_FRAME)
		return api_frame_read(parts, n_parts, service->max_json_bytes, arena, document, fault);
	return api_document_read_pooled(arena->pool, request->body, request->body_bytes, document, &text) ||
	       api_fault_text(fault, &text);
}

#include "api/dispatch/answer.h"

#include <stdlib.h>
#include <string.h>

#include "api/base/pool.h"
#include "api/codec/document_write.h"
#include "api/codec/frame_write.h"
#include "api/dispatch/format.h"

enum { LONGEST_JOINED = 64 << 10 };

void api_answer_take(struct api_response *response, const struct api_buffer *text)
{
	response->body = text->data;
	response->body_bytes = text->bytes;
	response->body_capacity = text->capacity;
	response->pool = text->pool;
}

bool api_fault_too_long(struct api_fault *fault, size_t max_bytes)
{
	return api_fault_set(fault, API_E_ANSWER_TOO_LONG, "the answer would be longer than the limit of %zu bytes",
	                     max_bytes);
}

/* Explains why a body could not be written. */
static bool refuse(enum api_written why, size_t max_bytes, struct api_fault *fault)
{
	if (why == API_TOO_LONG)
		return api_fault_too_long(fault, max_bytes);
	if (why == API_NOT_FINITE)
		return api_fault_set(fault, API_E_INTERNAL_ERROR,
		                     "a number in the answer is not finite; please report this with the request id");
	return api_fault_no_memory(fault);
}

static bool print_json(struct api_render *render, size_t max_bytes, struct api_fault *fault,
                       struct api_response *response)
{
	struct api_buffer text = {.pool = render->arena->pool};
	enum api_written written = api_document_write_json(&render->document, max_bytes, &text);
	if (written != API_WRITTEN)
		return refuse(written, max_bytes, fault);
	api_buffer_trim(&text); /* releases unused memory, because the response may wait for a slow client */
	api_answer_take(response, &text);
	return true;
}

/* Memory that the parts of a response point into. */
struct kept {
	struct api_arena arena;
	struct api_lent lent[API_MOST_LENT];
};

static void release(void *owner)
{
	struct kept *kept = owner;
	api_arena_free(&kept->arena);
	api_lent_return(kept->lent);
	free(kept);
}

/* Whether part of a frame lies in the block. */
static bool holds_part(const void *of, const void *block, size_t n)
{
	const struct api_frame *frame = of;
	const char *begin = block;
	for (size_t i = 0; i < frame->n_parts; i++) {
		const char *part = frame->parts[i].bytes;
		if (part >= begin && part < begin + n)
			return true;
	}
	return false;
}

static bool keep_parts(struct api_render *render, const struct api_frame *frame, struct api_response *response)
{
	struct kept *kept = malloc(sizeof(*kept));
	if (!kept)
		return false;
	api_arena_drop(render->arena, holds_part, frame);
	kept->arena = *render->arena;
	memcpy(kept->lent, render->lent, sizeof(kept->lent));
	*render->arena = (struct api_arena){.pool = kept->arena.pool};
	memset(render->lent, 0, sizeof(render->lent));
	response->owner = kept;
	response->release = release;
	response->body = frame->head;
	response->body_capacity = frame->head_bytes;
	response->pool = kept->arena.pool;
	response->parts = frame->parts;
	response->n_parts = (int)frame->n_parts;
	return true;
}

static bool join_parts(struct api_render *render, struct api_frame *frame, struct api_response *response)
{
	char *end = api_pool_take(render->arena->pool, frame->bytes);
	if (!end)
		return false;
	response->body = end;
	response->body_capacity = frame->bytes;
	response->pool = render->arena->pool;
	for (size_t i = 0; i < frame->n_parts; end += frame->parts[i++].n)
		memcpy(end, frame->parts[i].bytes, frame->parts[i].n);
	api_frame_free(render, frame);
	return true;
}

/* A short frame is sent in one piece: it fits one packet, and the arrays can be freed at once. */
static bool print_frame(struct api_render *render, size_t max_bytes, struct api_fault *fault,
                        struct api_response *response)
{
	struct api_frame frame;
	const enum api_written written = api_frame_write(render, max_bytes, &frame);
	if (written != API_WRITTEN)
		return refuse(written, max_bytes, fault);
	const size_t bytes = frame.bytes;
	const bool whole = bytes <= LONGEST_JOINED || frame.n_parts > API_MAX_PARTS;
	if (whole ? join_parts(render, &frame, response) : keep_parts(render, &frame, response)) {
		response->body_bytes = bytes;
		return true;
	}
	api_frame_free(render, &frame);
	return api_fault_no_memory(fault);
}

bool api_answer_print(struct api_render *render, enum api_format format, size_t max_bytes, struct api_fault *fault,
                      struct api_response *response)
{
	bool ok = !render->failed || api_fault_no_memory(fault);
	ok = ok && (format == API_FRAME ? print_frame : print_json)(render, max_bytes, fault, response);
	if (ok) {
		response->status = 200;
		response->content_type = api_format_type(format);
	}
	api_render_abandon(render);
	return ok;
}

bool api_answer_finish(const struct api_call *call, struct api_render *render, bool ok)
{
	if (ok)
		return api_answer_print(render, call->request->formats->answer, call->service->max_answer_bytes, call->fault,
		                        call->response);
	api_render_abandon(render);
	return false;
}

bool api_tag_is_known(const char *if_none_match, const char *tag)
{
	if (!if_none_match)
		return false;
	return strstr(if_none_match, tag) || !strcmp(if_none_match + strspn(if_none_match, " \t"), "*");
}

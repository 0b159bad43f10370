#include "api/codec/text.h"

#include <stdio.h>
#include <string.h>

#include "api/base/account.h"

bool api_fault_text(struct api_fault *fault, const struct api_text_fault *text)
{
	const struct api_path root = {0};
	if (text->status == 503)
		return api_fault_no_memory(fault);
	if (text->status != 400)
		return api_fault_set(fault, text->code, "line %zu, column %zu: %s", text->line, text->column, text->detail);
	api_fault_at(fault, text->code, &root, "line %zu, column %zu: %s", text->line, text->column, text->detail);
	if (!*text->pointer)
		return false;
	/* The first error points to the text as a whole, the second one to a place in it. */
	fault->errors[1] = fault->errors[0];
	fault->n_errors = 2;
	memcpy(fault->errors[1].pointer, text->pointer, sizeof(text->pointer));
	return false;
}

bool api_text_fail(struct api_text *text, enum api_code code, const char *at, const char *detail)
{
	if (text->fault->status == 503)
		return false;
	text->fault->code = code;
	text->fault->status = api_code_status(code);
	text->fault->offset = at ? (size_t)(at - text->begin) : 0;
	snprintf(text->fault->detail, sizeof text->fault->detail, "%s", detail);
	return false;
}

bool api_text_refuse(struct api_text *text, enum api_code code, const char *at, const char *format, int limit)
{
	char detail[sizeof text->fault->detail];
	snprintf(detail, sizeof detail, format, limit);
	return api_text_fail(text, code, at, detail);
}

bool api_text_look(struct api_text *text, const char *p)
{
	const size_t left = (size_t)(text->end - p), reach = 2 * API_LOOK_BYTES + API_MAX_TOKEN;
	text->look = p + (left < API_LOOK_BYTES ? left : API_LOOK_BYTES);
	text->reach = p + (left < reach ? left : reach);
	return !api_account_is_stopped() || api_text_fail(text, API_E_STOPPED, NULL, "stopped");
}

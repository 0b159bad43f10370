#include "api/codec/text.h"

bool api_fault_text(struct api_fault *fault, const struct api_text_fault *text)
{
	const struct api_path root = {0};
	if (text->status == 503)
		return api_fault_no_memory(fault);
	if (text->status != 400)
		return api_fault_set(fault, text->status, "line %zu, column %zu: %s", text->line, text->column, text->detail);
	return api_fault_at(fault, 400, &root, "line %zu, column %zu: %s", text->line, text->column, text->detail);
}

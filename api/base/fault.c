#include "api/base/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/base/utf8.h"

void api_fault_clear(struct api_fault *fault)
{
	fault->code = API_NO_CODE;
	fault->status = fault->n_errors = 0;
	fault->detail[0] = '\0';
	fault->deferred = false;
}

/* Appends to a pointer. @return false, with nothing appended, if it does not fit */
static bool append(char *out, size_t *at, const char *text, size_t bytes)
{
	if (*at + bytes >= API_MAX_POINTER)
		return false;
	memcpy(out + *at, text, bytes);
	*at += bytes;
	out[*at] = '\0';
	return true;
}

static bool append_key(char *out, size_t *at, const char *key)
{
	for (; *key; key++) {
		const char *text = *key == '~' ? "~0" : *key == '/' ? "~1" : key;
		if (!append(out, at, text, *key == '~' || *key == '/' ? 2 : 1))
			return false;
	}
	return true;
}

/* Prints the path as RFC 6901 prescribes. A key that does not fit is left out, so that the pointer names its parent. */
static bool render_pointer(const struct api_path *path, char *out, size_t *at)
{
	char number[24];
	if (!path || (!path->up && !path->key))
		return true;
	if (!render_pointer(path->up, out, at))
		return false;
	const size_t start = *at;
	snprintf(number, sizeof(number), "%zu", path->index);
	if (append(out, at, "/", 1) && append_key(out, at, path->key ? path->key : number))
		return true;
	*at = start;
	out[start] = '\0';
	return false;
}

static void print_detail(char *detail, const char *format, va_list arguments)
{
	vsnprintf(detail, API_MAX_DETAIL, format, arguments);
	api_mend_utf8(detail);
}

bool api_fault_is_full(const struct api_fault *fault)
{
	return fault->n_errors == API_MAX_ERRORS || (fault->status && fault->status != 422);
}

bool api_fault_at(struct api_fault *fault, enum api_code code, const struct api_path *path, const char *format, ...)
{
	const int status = api_code_status(code), n = fault->n_errors;
	size_t at = 0;
	va_list arguments;
	if (n == API_MAX_ERRORS || (fault->status && fault->status != status))
		return false;
	va_start(arguments, format);
	if (!fault->status)
		fault->code = code;
	fault->status = status;
	print_detail(fault->errors[n].detail, format, arguments);
	fault->errors[n].pointer[0] = '\0';
	render_pointer(path, fault->errors[n].pointer, &at);
	api_mend_utf8(fault->errors[n].pointer);
	fault->n_errors++;
	va_end(arguments);
	return false;
}

bool api_fault_set(struct api_fault *fault, enum api_code code, const char *format, ...)
{
	va_list arguments;
	if (fault->n_errors)
		return false;
	va_start(arguments, format);
	fault->code = code;
	fault->status = api_code_status(code);
	print_detail(fault->detail, format, arguments);
	va_end(arguments);
	return false;
}

bool api_fault_stopped(struct api_fault *fault)
{
	return api_fault_set(fault, API_E_STOPPED, "the evaluation was stopped");
}

bool api_fault_no_memory(struct api_fault *fault)
{
	return api_fault_set(fault, API_E_OUT_OF_MEMORY, "not enough memory for this request now");
}

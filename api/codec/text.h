/**
 * A JSON text under reading: why it may be refused.
 */
#ifndef API_TEXT_H
#define API_TEXT_H

#include <stddef.h>

#include "api/base/fault.h"

/* Why a text was refused. */
struct api_text_fault {
	int status;          /* 400 malformed, 413 over API_MAX_VALUES or API_MAX_TOKEN, 503 out of memory or stopped */
	size_t offset;       /* byte offset of the fault in the text; where the text ends too soon, its length. 503: 0 */
	size_t line, column; /* the same, from 1, the column in characters */
	char detail[200];    /* a clause in plain words, without the position */
};

/* A text that could not be read, as a fault. @return false */
bool api_fault_text(struct api_fault *fault, const struct api_text_fault *text);

#endif

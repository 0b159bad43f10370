/**
 * What is wrong with a request: a code, a sentence, and the places in the document that are at fault.
 */
#ifndef API_FAULT_H
#define API_FAULT_H

#include <stdbool.h>
#include <stddef.h>

#include "api/base/codes.h"

enum { API_MAX_POINTER = 1024, API_MAX_DETAIL = 512, API_MAX_ERRORS = 16 };

/* status 0: no fault. errors are the culprits in the order in which they were found; more than there is room for are
 * dropped, as are those of another status than the first. */
struct api_fault {
	enum api_code code;          /* of the first culprit */
	int status;                  /* of that code */
	char detail[API_MAX_DETAIL]; /* of the problem as a whole; empty: that of errors[0] */
	bool deferred;               /* nothing is wrong: the request is only too large for where it was handled */
	int n_errors;
	struct {
		char pointer[API_MAX_POINTER];
		char detail[API_MAX_DETAIL];
	} errors[API_MAX_ERRORS];
};

/* A place in a document: a chain on the caller's stack, rendered as a JSON Pointer only when something is wrong there. */
struct api_path {
	const struct api_path *up; /* NULL: the root */
	const char *key;           /* or, if NULL: */
	size_t index;
};

/* No fault. The errors themselves are left as they are: they are large. */
void api_fault_clear(struct api_fault *fault);

/* Adds a culprit. The message is as for printf. @return false */
__attribute__((format(printf, 4, 5))) bool api_fault_at(struct api_fault *fault, enum api_code code,
                                                        const struct api_path *path, const char *format, ...);
/* A fault without a place; one that has culprits stays as it is. @return false */
__attribute__((format(printf, 3, 4))) bool api_fault_set(struct api_fault *fault, enum api_code code,
                                                         const char *format, ...);
/* Whether there is no use in looking for more culprits: there is no room for them, or the fault is not one of the
 * request's fields. */
bool api_fault_is_full(const struct api_fault *fault);

/* The request is no longer wanted. @return false */
bool api_fault_stopped(struct api_fault *fault);

/* There is no memory for the request, now. @return false */
bool api_fault_no_memory(struct api_fault *fault);

#endif

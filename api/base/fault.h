/**
 * The errors of a request: a code, a sentence, and the places in the document that are at fault.
 */
#ifndef API_FAULT_H
#define API_FAULT_H

#include <stdbool.h>
#include <stddef.h>

#include "api/base/codes.h"

enum { API_MAX_POINTER = 1024, API_MAX_DETAIL = 512, API_MAX_ERRORS = 16 };

/* status 0: no fault. errors lists the culprits in the order in which they were found. Further ones are dropped if
 * there is no room, or if their status differs from the status of the first. */
struct api_fault {
	enum api_code code;          /* code of the first culprit */
	int status;                  /* status of that code */
	char detail[API_MAX_DETAIL]; /* describes the problem as a whole; empty: use errors[0] */
	bool deferred;               /* not an error: the request is too large for this service and must be handled by
	                              * one that does not defer */
	int n_errors;
	struct {
		char pointer[API_MAX_POINTER];
		char detail[API_MAX_DETAIL];
	} errors[API_MAX_ERRORS];
};

/* A place in a document: a chain on the caller's stack, which is rendered as a JSON Pointer only on a fault. */
struct api_path {
	const struct api_path *up; /* NULL: the root */
	const char *key;           /* NULL: an array index follows */
	size_t index;
};

/* Resets *fault to no fault. Leaves the array of errors as it is, because clearing it would take time. */
void api_fault_clear(struct api_fault *fault);

/* Adds a culprit. Arguments as for printf. @return false */
__attribute__((format(printf, 4, 5))) bool api_fault_at(struct api_fault *fault, enum api_code code,
                                                        const struct api_path *path, const char *format, ...);
/* Sets a fault without a place, unless there is a fault with culprits already. @return false */
__attribute__((format(printf, 3, 4))) bool api_fault_set(struct api_fault *fault, enum api_code code,
                                                         const char *format, ...);
/* Whether looking for more culprits is useless, because there is no room for them or the fault is not about a field. */
bool api_fault_is_full(const struct api_fault *fault);

/* Sets the fault of a request whose client no longer waits. @return false */
bool api_fault_stopped(struct api_fault *fault);

/* Sets the fault of a request for which there is no memory at the moment. @return false */
bool api_fault_no_memory(struct api_fault *fault);

#endif

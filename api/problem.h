/**
 * What is wrong with a request, and its rendering as problem+json (RFC 9457). The only place where faults become HTTP.
 */
#ifndef API_PROBLEM_H
#define API_PROBLEM_H

#include "api/api.h"
#include "api/codec/document.h"
#include "core/fric.h"

enum { API_MAX_POINTER = 1024, API_MAX_DETAIL = 512, API_MAX_ERRORS = 2 };

/* status 0: no fault. errors[0] is the first culprit; a second one is named where two fields contradict each other. */
struct api_fault {
	int status;
	char detail[API_MAX_DETAIL]; /* of the problem as a whole; empty: that of errors[0] */
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

/* No fault. What lies beyond is left as it is: it is large. */
void api_fault_clear(struct api_fault *fault);

/* Sets the first fault, or adds a second error to one of the same kind. A message in printf's form. @return false */
__attribute__((format(printf, 4, 5))) bool api_fault_at(struct api_fault *fault, int status,
                                                        const struct api_path *path, const char *format, ...);
/* A fault without a place. @return false */
__attribute__((format(printf, 3, 4))) bool api_fault_set(struct api_fault *fault, int status, const char *format, ...);

/* The request is no longer wanted. @return false */
bool api_fault_stopped(struct api_fault *fault);

/* There is no memory for the request, now. @return false */
bool api_fault_no_memory(struct api_fault *fault);

/* A text that could not be read. @return false */
bool api_fault_text(struct api_fault *fault, const struct api_text_fault *text);

/* A failure of the core as a fault: a pointer to the contact, or none. @return false */
bool api_fault_core(struct api_fault *fault, const struct fric_error *error);

/* The fault's response. @param request_id named in 500s; may be NULL */
void api_fault_response(const struct api_fault *fault, const char *request_id, struct api_response *response);

/* Which resources answer with a status; bits. None: a proxy may, we never do. */
enum {
	API_ANYWHERE = 1,
	API_WHERE_GATED = 2,      /* it needs a token where there are tokens */
	API_WHERE_NAMED = 4,      /* a name is part of the path */
	API_WHERE_NEGOTIATED = 8, /* it looks at Accept */
	API_WHERE_POSTED = 16,
	API_WHERE_CHECKED = 32,   /* it takes fields or parameters */
};

struct api_status {
	int status;
	const char *title;
	unsigned where;
	const char *meaning; /* and what to do */
};

/* Number i of all statuses but 200, ascending; NULL if there are fewer. */
const struct api_status *api_status_at(int i);
const char *api_status_title(int status);

/* RFC 3629; what jansson takes for a string. */
bool api_is_utf8(const char *text);

#endif

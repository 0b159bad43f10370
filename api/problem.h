/**
 * Faults as problem+json (RFC 9457): the only place where they become HTTP.
 */
#ifndef API_PROBLEM_H
#define API_PROBLEM_H

#include "api/api.h"
#include "api/base/fault.h"
#include "core/fric.h"

/* A failure of the core as a fault: a pointer to the contact, or none. @return false */
bool api_fault_core(struct api_fault *fault, const struct fric_error *error);

/* FRIC_E_NOT_FINITE at a contact, of a derivative with respect to the field that a pointer names. @return false */
bool api_fault_slope(struct api_fault *fault, const struct fric_error *error, const char *pointer);

/* The fault's response. @param request_id named in 500s; may be NULL */
void api_fault_response(const struct api_fault *fault, const char *request_id, struct api_response *response);

/* On which routes a status occurs; bits. None: it may come from a proxy, never from here. */
enum {
	API_ANYWHERE = 1,
	API_WHERE_GATED = 2,      /* it needs a token where there are tokens */
	API_WHERE_NAMED = 4,      /* a name is part of the path */
	API_WHERE_NEGOTIATED = 8, /* it looks at Accept */
	API_WHERE_POSTED = 16,
	API_WHERE_CONDITIONAL = 64, /* it is about something that may have changed */
	API_WHERE_CHECKED = 32,     /* it takes fields or parameters */
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

#endif

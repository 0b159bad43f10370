/**
 * Writes faults as problem+json (RFC 9457). Nothing else turns faults into HTTP.
 */
#ifndef API_PROBLEM_H
#define API_PROBLEM_H

#include "api/api.h"
#include "api/base/fault.h"
#include "core/fric.h"

/* Converts an error of the core to a fault, with a pointer to the contact if it has one. @return false */
bool api_fault_core(struct api_fault *fault, const struct fric_error *error);
/* As api_fault_core, for an error at a contact that was found in a mesh: points to the first of its vertices. */
bool api_fault_in_mesh(struct api_fault *fault, const struct fric_error *error, const int32_t *vertices);
/* As api_fault_core, for a call that finds contacts. */
bool api_fault_finding(struct api_fault *fault, const struct fric_error *error, size_t most);

/* Sets the fault FRIC_E_NOT_FINITE at a contact, in a derivative with respect to the field at a pointer. @return
 * false */
bool api_fault_slope(struct api_fault *fault, const struct fric_error *error, const char *pointer);

/* Writes a fault as a problem. @param request_id  quoted in 500s; may be NULL */
void api_fault_response(const struct api_fault *fault, const char *request_id, struct api_response *response);

/* The routes on which a status occurs, as bits. No bits: the service never sends it, but a proxy may. */
enum {
	API_ANYWHERE = 1,
	API_WHERE_GATED = 2,      /* routes that need a token, if tokens are configured */
	API_WHERE_NAMED = 4,      /* the path has a name */
	API_WHERE_NEGOTIATED = 8, /* the route honours Accept */
	API_WHERE_POSTED = 16,
	API_WHERE_CONDITIONAL = 64, /* the route is about a resource that may have changed */
	API_WHERE_CHECKED = 32,     /* the route has fields or parameters */
};

struct api_status {
	int status;
	const char *title;
	unsigned where;
	const char *meaning; /* meaning of the status, and what to do about it */
};

/* Status number i, in ascending order and without 200; NULL if there are fewer. */
const struct api_status *api_status_at(int i);
const char *api_status_title(int status);

#endif

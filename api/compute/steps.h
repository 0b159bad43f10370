/**
 * Steps of jobs that need no other declarations: /v1/evaluate, also for a set, the pattern of a set's Hessian, and
 * finding contacts.
 */
#ifndef API_STEPS_H
#define API_STEPS_H

#include "api/compute/job.h"
#include "api/sets/identity.h"
#include "api/validate/contacts.h"

extern const struct api_steps api_evaluate;

/* The entity tag of a pattern names its stencils, format, triangle and media type. The steps find it in job->more. */
enum { API_TAG_BYTES = API_VERSION_BYTES + 32 };
/* The answer is empty if the client already has the pattern with this tag. */
extern const struct api_steps api_pattern_steps;

/* A request for contacts, and what is made of it. It is all zero before api_finding_steps, which find it in job->more;
 * release it afterwards. */
struct api_finding {
	struct api_contacts_request request;
	struct fric_mesh *mesh;
	struct fric_found *found;    /* until it is lent to the answer */
	struct fric_contacts *pairs; /* candidates, for the longest step */
};
extern const struct api_steps api_finding_steps;
void api_finding_release(struct api_finding *finding);

#endif

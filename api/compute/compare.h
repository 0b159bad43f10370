/**
 * The results of a batch against central differences (docs/check.md).
 */
#ifndef API_COMPARE_H
#define API_COMPARE_H

#include "api/compute/job.h"
#include "api/compute/notes.h"
#include "api/validate/variables.h"

/* As in the answer: "potential", "gradient", "hessian". */
extern const char *const api_quantity_names[FRIC_N_QUANTITIES + 1];

/* The larger of that of single contacts and that of what is added up. */
double api_relative_difference(const struct fric_agreement *agreement);

/* One field's derivatives against differences, or the contact in which they differ most. */
struct api_field_comparison {
	char pointer[API_POINTER_BYTES];
	struct fric_derivative_agreement numbers;
};

struct api_comparison {
	bool wants_derivatives; /* set by the caller of api_compare; by a route, from its query */
	bool agrees;            /* in everything that was compared */
	size_t n_fields;
	struct api_field_comparison fields[API_MOST_VARIABLES]; /* [n_fields] in the order of the contract */
	int worst_field;                                        /* < 0: there are no fields, or no contacts */
	size_t n_vertices, n_bodies, n_contacts, n_skipped;
	struct fric_comparison numbers;
	struct api_notes notes;
};

/* The comparison of a set's contacts, into the struct api_comparison that is handed to the job. */
extern const struct api_steps api_compare_set;

/**
 * The comparison itself, for a caller that has a body but no route. Of the request it uses the body, the formats and
 * stop.
 * @param comparison  wants_derivatives is read; the rest is filled in if true is returned: the answer's numbers, for
 *                    callers that do not read JSON
 * @return false with *fault set
 */
bool api_compare(const struct api_service *service, const struct api_request *request, struct api_fault *fault,
                 struct api_response *response, struct api_comparison *comparison);

#endif

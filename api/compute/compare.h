/**
 * Comparison of a batch's results with central differences (docs/check.md).
 */
#ifndef API_COMPARE_H
#define API_COMPARE_H

#include "api/compute/claims.h"
#include "api/compute/job.h"
#include "api/compute/notes.h"
#include "api/validate/variables.h"

/* The larger of two differences, of single contacts and of the sums. */
double api_relative_difference(const struct fric_agreement *agreement);

/* The comparison of one field's derivatives, or of the contact in which they differ most. */
struct api_field_comparison {
	char pointer[API_POINTER_BYTES];
	struct fric_derivative_agreement numbers;
};

struct api_comparison {
	bool wants_derivatives; /* set by the caller of api_compare; routes read it from the query */
	/* Set by the caller of api_compare: body and formats of a document with claims, or of an answer of /v1/evaluate, in
	 * place of the request's member claims; NULL: none. */
	const struct api_request *claimed;
	bool is_claim_malformed;       /* the fault is one of reading that document */
	struct api_document claims_of; /* that document */
	bool agrees;                   /* whether every compared quantity agrees */
	size_t n_fields;
	struct api_field_comparison fields[API_MOST_VARIABLES]; /* [n_fields] in the order of the contract */
	int worst_field;                                        /* < 0: there are no fields, or no contacts */
	size_t n_vertices, n_bodies, n_contacts, n_skipped;
	struct fric_comparison numbers;
	struct api_judgement claims;
	struct api_notes notes;
};

/* Their job's `more` is a struct api_comparison. */
extern const struct api_steps api_comparing;

/**
 * The comparison without a route. It uses only the request's body, formats and stop flag.
 * @param comparison  wants_derivatives and claimed are read. If true is returned, the rest contains the numbers of the
 *                    answer, for callers that do not read JSON
 * @return false with *fault set
 */
bool api_compare(const struct api_service *service, const struct api_request *request, struct api_fault *fault,
                 struct api_response *response, struct api_comparison *comparison);

#endif

/**
 * POST /v1/check from body to answer: the results of a batch against central differences (docs/check.md).
 */
#ifndef API_COMPARE_H
#define API_COMPARE_H

#include "api/contract/route.h"
#include "api/routes/notes.h"

extern const struct api_operation api_post_check;

/* As in the answer: "potential", "gradient", "hessian". */
extern const char *const api_quantity_names[FRIC_N_QUANTITIES + 1];

/* The larger of that of single contacts and that of what is added up. */
double api_relative_difference(const struct fric_agreement *agreement);

struct api_comparison {
	size_t n_vertices, n_bodies, n_contacts, n_skipped;
	struct fric_comparison numbers;
	struct api_notes notes;
};

struct api_job;

/**
 * The comparison of whatever contacts, and notes on what they were made from, into the struct api_comparison at
 * job->more: most of a step of a job (job.h).
 * @param document, batch  as for api_notes_take
 */
bool api_compare_contacts(struct api_job *job, const struct api_document *document, const struct fric_batch *batch);

/**
 * The comparison itself, for a caller that has a body but no route. Of the request it uses the body, the formats and
 * stop.
 * @param comparison  NULL, or filled in if true is returned: the answer's numbers, for callers that do not read JSON
 * @return false with *fault set
 */
bool api_compare(const struct api_service *service, const struct api_request *request, struct api_fault *fault,
                 struct api_response *response, struct api_comparison *comparison);

#endif

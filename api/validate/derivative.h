/**
 * Which derivatives a request asks for: along tangents, or with cotangents by some of its fields. The rest of it is a
 * lagged part and a question as elsewhere.
 */
#ifndef API_DERIVATIVE_H
#define API_DERIVATIVE_H

#include "api/validate/variables.h"

/* All arrays are borrowed from the document and from the check's arena. */
struct api_derivative {
	struct api_variables variables;
	struct api_variations by;               /* with values: tangents. Else what to differentiate by */
	double potential;                       /* cotangents */
	const double *gradient, *body_gradient; /* [n_vertices, dim], [n_bodies, 6 or 3]; NULL: zeros */
};

/**
 * A request that brings everything.
 * @param kind  API_JVP or API_VJP
 * @return false with check->fault filled in
 */
bool api_check_derivative(struct api_check *check, enum api_request_kind kind, struct api_lagged *lagged,
                          struct api_question *question, struct api_derivative *derivative);

/**
 * One about a set.
 * @param batch       of its document
 * @param derivative  its variables are those of the set's document
 */
bool api_check_set_derivative(struct api_check *check, enum api_request_kind kind, const struct api_set_facts *facts,
                              const struct fric_batch *batch, struct api_question *question,
                              struct api_derivative *derivative);

#endif

/**
 * Checks of requests for derivatives: along tangents, or with cotangents, with respect to some of the request's fields.
 * The other fields are a lagged part and a query, as in other requests.
 */
#ifndef API_DERIVATIVE_H
#define API_DERIVATIVE_H

#include "api/validate/variables.h"

/* All arrays are borrowed from the document and from the check's arena. */
struct api_derivative {
	struct api_variables variables;
	struct api_variations by; /* jvp: fields with tangents as values; vjp: fields to differentiate with respect to */
	double potential;         /* cotangent of the potential */
	const double *gradient, *body_gradient; /* cotangents [n_vertices, dim], [n_bodies, 6 or 3]; NULL: zeros */
};

/**
 * @param kind        API_JVP or API_VJP for a whole request, API_SET_JVP or API_SET_VJP for a query to a set
 * @param facts       as for api_check_request
 * @param lagged      filled in without facts; otherwise the lagged part of the set's document
 * @param derivative  overwritten without facts; otherwise the variables of the set's document are listed already
 * @return false with check->fault filled in
 */
bool api_check_derivative(struct api_check *check, enum api_request_kind kind, const struct api_set_facts *facts,
                          struct api_lagged *lagged, struct api_query *query, struct api_derivative *derivative);

#endif

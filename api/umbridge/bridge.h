/**
 * UM-Bridge 1.0, a protocol between models and programs for uncertainty quantification. frictiond offers two models.
 * The routes have an error format of their own. Requests that fail before a route is found, or for lack of room, get a
 * problem as on other routes.
 */
#ifndef API_BRIDGE_H
#define API_BRIDGE_H

#include "api/contract/route.h"

extern const struct api_operation api_bridge_get_info, api_bridge_model_info, api_bridge_input_sizes,
	api_bridge_output_sizes, api_bridge_evaluate, api_bridge_gradient, api_bridge_apply_jacobian,
	api_bridge_apply_hessian;

/* Reports faults on these routes. The schema of a failure is api_bridge_failure (contract/fields.h). */
api_fail api_bridge_fail;

#endif

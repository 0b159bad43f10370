/**
 * UM-Bridge 1.0, the protocol between programs that quantify uncertainty and models: frictiond as two models. Its routes
 * have errors of their own; what is refused before a route is found, or for lack of room, is a problem as everywhere.
 */
#ifndef API_BRIDGE_H
#define API_BRIDGE_H

#include "api/contract/route.h"

extern const struct api_operation api_bridge_get_info, api_bridge_model_info, api_bridge_input_sizes,
	api_bridge_output_sizes, api_bridge_evaluate, api_bridge_gradient, api_bridge_apply_jacobian,
	api_bridge_apply_hessian;

/* Of their rows; a failure is api_bridge_failure (contract/fields.h). */
api_fail api_bridge_fail;

#endif

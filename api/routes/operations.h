/**
 * The operations of the table, by the files that define them.
 */
#ifndef API_OPERATIONS_H
#define API_OPERATIONS_H

#include "api/contract/route.h"

extern const struct api_operation api_post_evaluate, api_post_set_evaluate;
extern const struct api_operation api_post_contacts;
extern const struct api_operation api_post_check, api_post_set_check;
extern const struct api_operation api_post_jvp, api_post_vjp, api_post_set_jvp, api_post_set_vjp;
extern const struct api_operation api_get_sets, api_get_set, api_put_set, api_patch_set, api_delete_set,
	api_advance_set, api_get_contacts;
extern const struct api_operation api_get_pattern;

extern const struct api_operation api_get_functions, api_post_functions, api_get_function, api_post_function;
bool api_function_exists(const struct api_match *match);

#endif

/**
 * The scalar functions by name, and the list of them.
 */
#ifndef API_FUNCTIONS_H
#define API_FUNCTIONS_H

#include "api/base/fault.h"
#include "api/codec/render.h"
#include "api/contract/fields.h"

struct api_function;

/* @return NULL if no function has that name */
const struct api_function *api_function_find(const char *name);
const struct api_object *api_function_parameters(const struct api_function *function);
/* Describes function number i. @return false if there are fewer */
bool api_function_describe(int i, const char **name, enum api_function_kind *kind);

/* Checks the parameters, evaluates, and adds "function" and "values" to the answer. */
bool api_function_evaluate(const struct api_function *function, const struct api_document *request,
                           struct api_arena *arena, struct api_render *render, struct api_fault *fault);
/* As api_function_evaluate, for all functions of a bundle: checks all, then adds "functions" with the values of each. */
bool api_function_bundle(const struct api_document *request, struct api_arena *arena, struct api_render *render,
                         struct api_fault *fault);
/* Adds "functions" to the answer. */
void api_function_list(struct api_render *render);

#endif

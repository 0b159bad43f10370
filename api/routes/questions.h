/**
 * What is asked of a collision set: /v1/sets/{name}/evaluate, check and pattern.
 */
#ifndef API_QUESTIONS_H
#define API_QUESTIONS_H

#include "api/contract/route.h"

extern const struct api_operation api_evaluate_set, api_check_set_contacts, api_get_pattern;

#endif

/**
 * Variables: the fields of a request with respect to which there are derivatives, the shapes in which they were sent,
 * and the corresponding fields of the core. The tables of fields mark such fields (api_rule.by); those that were sent
 * are variables.
 */
#ifndef API_VARIABLES_H
#define API_VARIABLES_H

#include "api/validate/query.h"

enum { API_POINTER_BYTES = 64, API_VARIABLE_RANK = 3, API_MOST_VARIABLES = 192 };

struct api_variable {
	char pointer[API_POINTER_BYTES]; /* JSON Pointer, e.g. "/collisions/edge_edge/normal_force" */
	const struct api_rule *rule;
	int type;      /* enum fric_type of its group; -1: not in a group */
	bool is_empty; /* it has no numbers, or its group has no contacts: no result depends on it, and the core has no
	                * field for it */
	size_t n;      /* number of entries */
	int rank;      /* as sent, nested or flat; 0: a number */
	size_t shape[API_VARIABLE_RANK];
	struct api_shape expected; /* shape of tangents, nested or flat; unused if the rule is a number */
	size_t first_dof;          /* for velocities: index of the first among all DOFs */
};

struct api_variables {
	size_t n, capacity;
	struct api_variable *list; /* [n]; it moves when variables are added */
};

/* Some of the variables, each at most once, with numbers of [variable->n], row-major. */
struct api_variations {
	size_t n;
	const struct api_variable *by[API_MOST_VARIABLES];
	const double *values[API_MOST_VARIABLES];
};

/**
 * Lists the variables of a document that has passed the checks.
 * @param batch, facts  results of the checks; for a query alone, the results for its set
 * @param variables     the document's variables are added, or replace those with the same pointer; the list is in the
 *                      arena
 * @return false when out of memory
 */
bool api_variables_list(const struct api_document *document, const struct fric_batch *batch,
                        const struct api_set_facts *facts, struct api_arena *arena, struct api_variables *variables);
/* The variable at this pointer; NULL if there is none. */
const struct api_variable *api_variable_find(const struct api_variables *variables, const char *pointer);

/* Whether any request could have a variable at this pointer. */
bool api_may_be_variable(const char *pointer);

#endif

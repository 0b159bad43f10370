/**
 * Fields of a request that its answers may be differentiated by: which of them are there, in which shape they were sent,
 * and what they are to the core. A table of fields says which those are (api_rule.by); a variable is one that was sent.
 */
#ifndef API_VARIABLES_H
#define API_VARIABLES_H

#include "api/validate/question.h"

enum { API_POINTER_BYTES = 64, API_VARIABLE_RANK = 3, API_MOST_VARIABLES = 192 };

struct api_variable {
	char pointer[API_POINTER_BYTES]; /* JSON Pointer, e.g. "/collisions/edge_edge/normal_force" */
	const struct api_rule *rule;
	int type;      /* enum fric_type of the group that it is a field of; -1: of none */
	bool is_empty; /* of a group without contacts, or of no numbers: nothing depends on it, the core does not know it */
	size_t n;      /* numbers */
	int rank;      /* as it was sent, nested or flat; 0: a number */
	size_t shape[API_VARIABLE_RANK];
	struct api_shape expected; /* of tangents, nested or flat; of a rule that is a number: none */
	size_t first_dof;          /* of velocities: where they begin among those of all DOFs */
};

struct api_variables {
	size_t n, capacity;
	struct api_variable *list; /* [n]; moves while variables are added */
};

/* Some of them, none twice, each with [variable->n] numbers, row-major. */
struct api_variations {
	size_t n;
	const struct api_variable *by[API_MOST_VARIABLES];
	const double *values[API_MOST_VARIABLES];
};

/**
 * Those of a document that has passed the checks.
 * @param batch, facts  what the checks found; of a question alone, those of its set
 * @param variables     those of the document are added, or replace what was there under the same pointer; the list is in
 *                      the arena
 * @return false when out of memory
 */
bool api_variables_list(const struct api_document *document, const struct fric_batch *batch,
                        const struct api_set_facts *facts, struct api_arena *arena, struct api_variables *variables);
/* The one of this pointer; NULL: there is none. */
const struct api_variable *api_variable_find(const struct api_variables *variables, const char *pointer);

/* Whether requests may have a variable of this pointer. */
bool api_may_be_variable(const char *pointer);

#endif

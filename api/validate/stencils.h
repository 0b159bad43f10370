/**
 * Checks that groups of contacts, candidates and meshes share: rows of indices, and directions.
 */
#ifndef API_VALIDATE_STENCILS_H
#define API_VALIDATE_STENCILS_H

#include "api/validate/check.h"

/* Rows of k different members, and how messages name them. */
struct api_stencils {
	size_t k, members;         /* indices in a row, and their limit; or API_UNKNOWN_LENGTH */
	const char *what, *member; /* a member in messages about its range, and about repetition */
	const char *noun, *group;  /* a row: "contact", and its group or NULL */
	enum api_code code;        /* of a repetition */
};

/* Reads stencils: indices in range, and no member twice in a row. Sets NULL if there are none, or after a fault.
 * @param n  their number, from api_check_rows */
void api_check_stencils(struct api_check *check, const struct api_field *field, const struct api_stencils *stencils,
                        size_t n, const int32_t **out);

/* Checks that no row of a field, which has been read, is zero. @param n  rows that the values stand for */
void api_check_directions(struct api_check *check, const struct api_field *field, const struct fric_values *values,
                          size_t n, size_t dim, enum api_code code, const char *detail);

/* Checks that a field that was sent exists in this dimension, if that is known. */
bool api_check_exists(struct api_check *check, const struct api_field *field, size_t dim);

#endif

/**
 * The lagged part of a request: everything but the question (question.h), to be prepared as contacts.
 */
#ifndef API_LAGGED_H
#define API_LAGGED_H

#include "api/validate/check.h"

/* DOFs of a body. @param dim  or API_UNKNOWN_LENGTH, which is what it is then */
static inline size_t api_twist(size_t dim)
{
	return dim == API_UNKNOWN_LENGTH ? dim : 3 * (dim - 1);
}

/* DOFs of all vertices and bodies. */
static inline size_t api_n_dofs(size_t dim, size_t n_vertices, size_t n_bodies)
{
	return n_vertices * dim + n_bodies * api_twist(dim);
}

/* All arrays are borrowed from the document and from the check's arena. */
struct api_lagged {
	struct fric_batch batch;
	bool has_group[FRIC_N_TYPES];
	bool has_bodies; /* they were sent, perhaps none */
};

/* Of a field with a twist for each body: as api_check_per_vertex. */
void api_check_per_body(struct api_check *check, const struct api_field *field, size_t n_bodies, size_t dim,
                        const double **out);
/* A Hessian in blocks of vertices is asked for although there are bodies. @return false */
bool api_check_without_bodies(struct api_check *check, const struct api_field *format);

#endif

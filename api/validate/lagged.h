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

/* What is known of it on the way through the checks. A fault leaves lengths unknown; what needs them is judged as far as it
 * can be without. Whether there was any fault is asked once, at the end. */
struct api_lagged_check {
	struct api_check *check;
	struct api_lagged *lagged;
	struct api_field root, friction, materials, collisions, groups[FRIC_N_TYPES];
	size_t dim, n_vertices, n_bodies, n_materials, n[FRIC_N_TYPES]; /* or API_UNKNOWN_LENGTH */
	int law;                                                        /* enum fric_law_type, or API_UNKNOWN_LAW */
	bool counts_nothing;                                            /* nothing tells how many vertices there are: 0 */
	bool bodies_alone;                                              /* no vertex is in contact, and bodies were sent */
	bool told_barrier;                                              /* that there is none */
	bool needs_distance;                                            /* the question asks for distances */
};

/* The steps of the check, to be called in this order. The first returns false if there is nothing to check; whole and
 * elsewhere are as for api_check_root. */
bool api_lagged_begin(struct api_lagged_check *w, struct api_check *check, const struct api_object *whole,
                      const struct api_object *elsewhere, struct api_lagged *lagged);
void api_lagged_dim(struct api_lagged_check *lagged);
void api_lagged_positions(struct api_lagged_check *lagged, size_t n_vertices);
void api_lagged_bodies(struct api_lagged_check *lagged);
void api_lagged_contacts(struct api_lagged_check *lagged); /* friction, barrier, groups */
void api_lagged_on_degenerate(struct api_lagged_check *lagged);
/* What groups need from elsewhere in the request. */
void api_lagged_needs(struct api_lagged_check *lagged, bool needs_distance);

#endif

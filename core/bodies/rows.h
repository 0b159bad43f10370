/**
 * The bodies' part of a CSR matrix: which bodies share contacts, and the sum of the contacts' blocks in rows. These rows
 * and columns follow those of the vertices, with which they have no entry in common.
 */
#ifndef FRIC_BODIES_ROWS_H
#define FRIC_BODIES_ROWS_H

#include "core/bodies/hessian.h"

/* One body of one contact, and where the blocks of the contact's bodies are among those of its row. */
struct meeting {
	uint32_t contact, corner;
	uint32_t place[2]; /* BODY_NOWHERE: outside the triangle, or no second body */
};
#define BODY_NOWHERE UINT32_MAX

struct body_pattern {
	const struct fric_memory *memory;
	size_t n_bodies, n_meetings, n_neighbours, first_dof;
	int dim;
	enum fric_triangle triangle;
	size_t *first_meeting;    /* [n_bodies + 1] into meetings */
	size_t *first_neighbour;  /* [n_bodies + 1] into neighbours */
	struct meeting *meetings; /* by body, in contact order */
	int32_t *neighbours;      /* the bodies of each block row, ascending */
	void *arrays;             /* [arrays_bytes] what these lie in, room for 2 n_meetings neighbours included */
	size_t arrays_bytes;
};

/* @return to be freed with fricp_body_pattern_free; NULL when out of memory */
struct body_pattern *fricp_body_pattern_create(const struct fric_memory *memory, const struct fric_contacts *b,
                                               enum fric_triangle triangle);
void fricp_body_pattern_free(struct body_pattern *pattern);

size_t fricp_body_pattern_n_rows(const struct body_pattern *pattern);
size_t fricp_body_pattern_n_entries(const struct body_pattern *pattern);

/* @param indptr  [n_rows + 1] at the first of these rows; its first entry is read, the others are overwritten
 * @param indices  of the whole matrix */
void fricp_body_pattern_write(const struct body_pattern *pattern, int64_t *indptr, int32_t *indices);

/**
 * @param inner   of the contacts of bodies
 * @param indptr  [n_rows + 1] at the first of these rows
 * @param data    of the whole matrix; the entries of these rows are overwritten
 */
enum fric_code fricp_body_rows(const struct fric_context *context, const struct fric_contacts *b, const double *inner,
                               const struct body_pattern *pattern, const int64_t *indptr, double *data,
                               struct fric_error *error);

#endif

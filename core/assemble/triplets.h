/**
 * Triplets of Hessians. The position of a contact's triplets depends only on the stencils, so threads write them
 * independently.
 */
#ifndef FRIC_TRIPLETS_H
#define FRIC_TRIPLETS_H

#include "core/contacts/contacts.h"
#include "core/motion/dofs.h"

/* The maximum number of triplets of one contact. */
enum { TRIPLETS_MOST = MOST_BLOCK * MOST_BLOCK };

/* The number of triplets before contact i of these contacts. */
size_t fricp_triplets_before(const struct fric_contacts *c, size_t i, enum fric_triangle triangle);

/**
 * Writes the entries of contact i's local block that lie in the triangle, row-major. This is the plain form against
 * which the fast one is tested. rows, cols: NULL if only values are wanted.
 * @param contacts  of vertices or of bodies, with their inner matrices
 * @return the number of entries
 */
size_t fricp_triplets_plain(const struct fric_contacts *contacts, const double *inner, size_t i,
                            enum fric_triangle triangle, int32_t *rows, int32_t *cols, double *values);

/**
 * Writes the whole blocks of contacts [begin, end), like fric_hessian_triplets.
 * @param contacts            of vertices or of bodies, with their inner matrices
 * @param rows, cols, values  [(end - begin) * TRIPLETS_MOST]; overwritten
 * @return the first contact whose block is not finite, or end
 */
size_t fricp_triplets_of(const struct fric_contacts *contacts, const double *inner, size_t begin, size_t end,
                         int32_t *rows, int32_t *cols, double *values);

#endif

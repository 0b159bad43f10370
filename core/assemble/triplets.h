/**
 * Triplets of contacts. Where those of a contact begin depends on the stencils alone, so all can be written at once.
 */
#ifndef FRIC_TRIPLETS_H
#define FRIC_TRIPLETS_H

#include "core/contacts/contacts.h"
#include "core/motion/dofs.h"

/* Triplets of one contact. */
enum { TRIPLETS_MOST = MOST_BLOCK * MOST_BLOCK };

/* The number of triplets before contact i, of these contacts alone. */
size_t fricp_triplets_before(const struct fric_contacts *c, size_t i, enum fric_triangle triangle);

/**
 * Writes the entries of contact i's local block that lie in the triangle, row-major: the plain form that the fast one is
 * tested against. rows, cols NULL: values alone are wanted.
 * @param contacts  of vertices or of bodies, with their inner matrices
 * @return their number
 */
size_t fricp_triplets_plain(const struct fric_contacts *contacts, const double *inner, size_t i,
                            enum fric_triangle triangle, int32_t *rows, int32_t *cols, double *values);

/**
 * Whole blocks of contacts [begin, end), as fric_hessian_triplets writes them.
 * @param contacts            of vertices or of bodies, with their inner matrices
 * @param rows, cols, values  [(end - begin) * TRIPLETS_MOST]; overwritten
 * @return the first contact whose block is not finite, or end
 */
size_t fricp_triplets_of(const struct fric_contacts *contacts, const double *inner, size_t begin, size_t end,
                         int32_t *rows, int32_t *cols, double *values);

#endif

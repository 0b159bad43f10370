/**
 * Triplets of a few contacts, and of one contact in the plain form that the fast one is tested against.
 */
#ifndef FRIC_TRIPLETS_H
#define FRIC_TRIPLETS_H

#include "core/contacts/contacts.h"
#include "core/motion/dofs.h"

/* Writes the entries of contact i's local block that lie in the triangle, row-major. @return their number */
size_t fricp_triplets_plain(const struct fric_contacts *contacts, const double *inner, size_t i,
                            enum fric_triangle triangle, int32_t *rows, int32_t *cols, double *values);

/* Triplets of one contact. */
enum { TRIPLETS_MOST = FRIC_MAX_STENCIL * MOST_MEMBER_DOFS * FRIC_MAX_STENCIL * MOST_MEMBER_DOFS };

/**
 * Whole blocks of contacts [begin, end), as fric_hessian_triplets writes them.
 * @param rows, cols, values  [(end - begin) * TRIPLETS_MOST]; overwritten
 * @return the first contact whose block is not finite, or end
 */
size_t fricp_triplets_of(const struct fric_contacts *contacts, const double *inner, size_t begin, size_t end,
                         int32_t *rows, int32_t *cols, double *values);

#endif

/**
 * Triplets: the plain form of one contact's block, against which the fast one is judged.
 */
#ifndef FRIC_TRIPLETS_H
#define FRIC_TRIPLETS_H

#include "contacts.h"

/* Writes the entries of contact i's local block that lie in the triangle, row-major. @return their number */
size_t triplets_plain_block(const struct fric_contacts *contacts, const double *inner, size_t i,
                            enum fric_triangle triangle, int32_t *rows, int32_t *cols, double *values);

#endif

/**
 * Allocates lagged contacts: all their arrays lie in one block.
 */
#ifndef FRIC_LAYOUT_H
#define FRIC_LAYOUT_H

#include "core/contacts/contacts.h"

/**
 * Allocates contacts for a batch that has either no bodies or only contacts of bodies, where bodies take the place of
 * vertices. Fields that have one value for all contacts are filled in; fric_prepare fills in the rest.
 * @return to be freed with fric_contacts_free; NULL when out of memory
 */
struct fric_contacts *fricp_contacts_create(const struct fric_memory *memory, const struct fric_batch *batch);

#endif

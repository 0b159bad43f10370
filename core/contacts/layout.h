/**
 * The one block of memory in which all arrays of lagged contacts lie.
 */
#ifndef FRIC_LAYOUT_H
#define FRIC_LAYOUT_H

#include "core/contacts/contacts.h"

/**
 * Contacts with room for a batch: fields that are the same for all contacts are filled in, everything else is to be.
 * @return to be freed with fric_contacts_free; NULL when out of memory
 */
struct fric_contacts *fricp_contacts_create(const struct fric_memory *memory, const struct fric_batch *batch);

#endif

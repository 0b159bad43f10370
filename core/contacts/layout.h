/**
 * Allocates lagged contacts: all their arrays lie in one piece of memory.
 */
#ifndef FRIC_LAYOUT_H
#define FRIC_LAYOUT_H

#include "core/contacts/contacts.h"

/**
 * Contacts with room for a batch: one whose contacts are all of vertices, without bodies, or one whose contacts are all
 * of bodies, which are then its vertices, too. Fields that have one value for all contacts are filled in; fric_prepare fills in the
 * rest.
 * @return to be freed with fric_contacts_free; NULL when out of memory
 */
struct fric_contacts *fricp_contacts_create(const struct fric_memory *memory, const struct fric_batch *batch);

#endif

/**
 * The order in which chunks of contacts are prepared. When the vertices do not fit into the caches, all groups advance
 * together: they are usually in the order of the mesh, so that a vertex fetched for one group is there for the next.
 */
#ifndef FRIC_GROUPS_H
#define FRIC_GROUPS_H

#include "core/base/parallel.h"
#include "core/contacts/contacts.h"

/* fricp_parallel_chunks over all contacts, in that order. */
struct fault fricp_parallel_contacts(const struct fric_context *context, const struct fric_contacts *contacts,
                                     chunk_work *work, void *task);

#endif

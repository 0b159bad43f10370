/**
 * The order in which chunks of contacts are prepared. With so many vertices that caches do not hold them, all groups advance
 * together: they are usually in the order of the mesh, and what one has just fetched serves the next.
 */
#ifndef FRIC_GROUPS_H
#define FRIC_GROUPS_H

#include "core/base/parallel.h"
#include "core/contacts/contacts.h"

/* As fricp_parallel_chunks, over all contacts. */
struct fault fricp_parallel_contacts(const struct fric_context *context, const struct fric_contacts *contacts, chunk_work *work,
                               void *task);

#endif

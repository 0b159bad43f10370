/**
 * The mesh of a set, and the pairs of it that were found at the set's positions: a neighbour list, from which the
 * groups of the set's batch are made. Immutable once the anchors are set; shared by versions of a set that differ in
 * nothing that finding depends on.
 */
#ifndef API_NEIGHBOURS_H
#define API_NEIGHBOURS_H

#include "api/base/arena.h"
#include "api/base/fault.h"
#include "api/sets/counted.h"
#include "api/validate/query.h"

struct api_neighbours {
	atomic_size_t n_holders;
	struct api_counted counted;
	struct fric_mesh *mesh;
	struct fric_found *found;
	size_t dim, n_vertices, n_planes, n_primitives;
	double dhat, dmin, margin;
	double *positions;                    /* [n_vertices, dim] */
	unsigned char *is_in_mesh;            /* [n_vertices] whether the vertex belongs to the mesh */
	double *normals, *origins;            /* [n_planes, dim] */
	bool has_anchors;                     /* [n, dim] per group: */
	double *anchors[FRIC_N_VERTEX_TYPES]; /* NULL if the group is empty */
};

/**
 * Finds the pairs that come as close as the barrier reaches, plus the margin.
 * @param lagged  of a document with a mesh
 * @param most    pairs
 * @return held, to be released; NULL with *fault: 413, 422, 503
 */
struct api_neighbours *api_neighbours_create(const struct fric_context *context, struct api_pool *pool,
                                             const struct api_lagged *lagged, size_t most, struct api_fault *fault);
/* Allocates anchors, zeros. @return false with *fault */
bool api_neighbours_anchor(struct api_neighbours *neighbours, struct api_fault *fault);
/* Holds what was found once more. @return neighbours */
struct api_neighbours *api_neighbours_hold(struct api_neighbours *neighbours);
void api_neighbours_release(struct api_neighbours *neighbours);
/* Whether finding would use the same numbers for this document, provided that its mesh and positions are the same. */
bool api_neighbours_suit(const struct api_neighbours *neighbours, const struct api_lagged *lagged);
size_t api_neighbours_bytes(struct api_neighbours *neighbours);
/* The number of contacts. */
size_t api_neighbours_n(const struct api_neighbours *neighbours);
/* Sets the fault of a failed call into the core. With neighbours, it points to a vertex in place of a contact.
 * @return false */
bool api_neighbours_fault(const struct api_neighbours *neighbours, const struct fric_error *error,
                          struct api_fault *fault);

/* ---- what was found, as groups of a batch ---- */

/* The planes to which found contacts refer: of a mesh, or of a group of candidates. */
struct api_found_planes {
	struct fric_values normals, origins;
};

/* Makes groups that borrow the arrays of found contacts. Rows of planes are copied into the arena. @return false with
 * *fault */
bool api_found_groups(struct api_arena *arena, size_t dim, const struct fric_found *found,
                      const struct api_found_planes *planes, struct fric_group groups[FRIC_N_VERTEX_TYPES],
                      struct api_fault *fault);
/* As api_found_groups, with anchors if the set has them. */
bool api_neighbour_groups(struct api_arena *arena, const struct api_neighbours *neighbours,
                          struct fric_group groups[FRIC_N_VERTEX_TYPES], struct api_fault *fault);
/* Completes a lagged part with these groups. */
bool api_fill_groups(struct api_arena *arena, const struct api_neighbours *neighbours, struct api_lagged *lagged,
                     struct api_fault *fault);

#endif

/**
 * Contacts that were found, as part of an answer.
 */
#ifndef API_FINDING_H
#define API_FINDING_H

#include "api/compute/job.h"

/* Adds n_vertices, n_collisions and min_distance to the answer. */
void api_render_found_counts(struct api_job *job, size_t n_vertices, const struct fric_found *found);
/* Adds collisions: all groups of the dimension. Anchors are added where a group has them. */
void api_render_found(struct api_job *job, size_t dim, const struct fric_group groups[FRIC_N_VERTEX_TYPES],
                      bool has_anchors);
/* Adds distances. They belong to `found`. */
void api_render_found_distances(struct api_job *job, size_t dim, const struct fric_found *found);
/* Hands the contacts over to the answer, which frees them, and sets *found to NULL. */
void api_render_lend_found(struct api_job *job, struct fric_found **found);
/* Adds longest_step. @param vertices  [k] of the pair that limits it, in the arena; NULL: nothing does */
void api_render_step(struct api_job *job, double step, enum fric_type type, const int32_t *vertices);
/* Computes longest_step over all pairs of a mesh, and adds it. */
bool api_step_of_mesh(struct api_job *job, const struct fric_mesh *mesh, const double *positions,
                      const double *direction, double min_distance, double keep);

#endif

/**
 * Checks a mesh: faces, edges, particles, planes, and which of them may touch.
 */
#ifndef API_VALIDATE_MESH_H
#define API_VALIDATE_MESH_H

#include "api/validate/check.h"

/**
 * Reads "mesh", an object that is present.
 * @param n_vertices, dim  or API_UNKNOWN_LENGTH
 * @param surface          filled in, except dim and n_vertices
 */
void api_check_mesh(struct api_check *check, struct api_field *mesh, size_t n_vertices, size_t dim,
                    struct fric_surface *surface);

#endif

/**
 * The request that finds contacts: a mesh, or candidates.
 */
#ifndef API_VALIDATE_CONTACTS_H
#define API_VALIDATE_CONTACTS_H

#include "api/validate/check.h"

/* All arrays are borrowed from the document and from the check's arena. */
struct api_contacts_request {
	size_t dim, n_vertices;
	const double *positions; /* [n_vertices, dim] */
	struct fric_finding finding;
	bool has_mesh; /* otherwise candidates */
	struct fric_surface surface;
	struct fric_group candidates[FRIC_N_VERTEX_TYPES];
	bool has_previous;
	struct fric_group previous[FRIC_N_VERTEX_TYPES];
	bool outputs[API_N_FOUND_OUTPUTS];
	const double *step_direction; /* [n_vertices, dim]; NULL: none */
	double keep;
};

/**
 * Checks a request for contacts. Nothing else leads from a mesh to the core: if it returns true, every index is in
 * range, no primitive repeats a vertex, and every number has its sign.
 * @return false with check->fault filled in
 */
bool api_check_contacts(struct api_check *check, struct api_contacts_request *out);

/* Reads earlier contacts as groups of a request for evaluation. @param groups  set if there is no fault */
void api_check_previous(struct api_check *check, struct api_field *previous, size_t n_vertices, size_t dim,
                        struct fric_group groups[FRIC_N_VERTEX_TYPES]);

#endif

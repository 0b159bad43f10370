/**
 * The two parts of requests about contacts: a lagged part, from which contacts are prepared, and a query, which has the
 * velocities and selects the outputs. A collision set consists of the first; requests about it consist of the second.
 */
#ifndef API_QUERY_H
#define API_QUERY_H

#include "api/validate/check.h"

/* The number of DOFs of a body. @param dim  or API_UNKNOWN_LENGTH, which is then returned */
static inline size_t api_twist(size_t dim)
{
	return dim == API_UNKNOWN_LENGTH ? dim : 3 * (dim - 1);
}

/* The number of DOFs of all vertices and bodies. */
static inline size_t api_n_dofs(size_t dim, size_t n_vertices, size_t n_bodies)
{
	return n_vertices * dim + n_bodies * api_twist(dim);
}

/* Fields of a group, given or missing, that rule out a barrier or a longest step; bits. */
enum api_obstacle {
	API_GIVES_FORCE = 1,
	API_GIVES_POINT = 2,
	API_GIVES_BASIS = 4,
	API_IS_OF_BODIES = 8,
	API_LACKS_NORMAL = 16, /* planes */
	API_LACKS_ORIGIN = 32
};

struct api_obstacles {
	bool has_barrier, bodies; /* were sent */
	unsigned groups[FRIC_N_TYPES];
};

/* Whether the barrier's energy can be asked for. */
static inline bool api_allows_barrier(const struct api_obstacles *obstacles)
{
	unsigned all = !obstacles->has_barrier || obstacles->bodies;
	for (int type = 0; type < FRIC_N_TYPES; type++)
		all |= obstacles->groups[type];
	return !all;
}

/* All arrays are borrowed from the document and from the check's arena. */
struct api_lagged {
	struct fric_batch batch;
	struct api_obstacles obstacles;
	bool has_group[FRIC_N_TYPES];
	bool has_bodies; /* bodies were sent, even if there are none */
	/* A set's mesh in place of contacts, which are found in it later. */
	bool has_mesh, anchors;
	struct fric_surface surface;
	double margin;
	const struct fric_group *previous; /* [FRIC_N_VERTEX_TYPES] whose anchors its contacts take over; NULL: none */
};

/* As api_check_per_vertex, for a field with a twist per body. */
void api_check_per_body(struct api_check *check, const struct api_field *field, size_t n_bodies, size_t dim,
                        const double **out);
/* Reports a Hessian in blocks of vertices if there are bodies, which it would leave out. @return false */
bool api_check_without_bodies(struct api_check *check, const struct api_field *format);

/* Somebody else's results. What is not claimed is NULL. All arrays are borrowed, as in struct api_query. */
struct api_claims {
	bool given, has_potential;
	double potential, tolerance;
	const double *gradient;         /* [n_vertices, dim] */
	const double *body_gradient;    /* [n_bodies, 6], [n_bodies, 3] in 2D */
	enum api_hessian_format format; /* not API_FACTORS */
	size_t n;                       /* entries; with bsr blocks */
	const int32_t *rows, *cols;     /* [n] triplets */
	const int32_t *indptr;          /* [n_dof + 1], with bsr [n_vertices + 1], ascending from 0 to n */
	const int32_t *indices;         /* [n] columns */
	const double *values;           /* [n], with bsr [n, dim, dim]; NULL: no Hessian */
};

/* All arrays are borrowed from the document and from the check's arena. */
struct api_query {
	const double *velocities;             /* [n_vertices, dim] */
	const double *lagged_velocities;      /* equal to velocities if not sent */
	const double *body_velocities;        /* [n_bodies, 6], [n_bodies, 3] in 2D; NULL without bodies */
	const double *lagged_body_velocities; /* equal to body_velocities if not sent */
	bool outputs[API_N_EVALUATE_OUTPUTS];
	bool collision_outputs[FRIC_N_OUTPUTS];
	int format, triangle, projection; /* enums API_... and FRIC_... */
	bool without_pattern;             /* only values of the Hessian */
	const double *direction;          /* [n_vertices, dim] direction of the line; NULL: no line */
	const double *body_direction;     /* direction of the bodies, shaped like body_velocities */
	const double *steps;              /* [n_steps] */
	size_t n_steps;
	const double *vectors; /* [n_vectors, n_dof]; NULL: none */
	size_t n_vectors;
	bool sent_lagged_velocities, sent_lagged_body_velocities;
	int jacobian_format;             /* enum api_jacobian_format */
	bool jacobian_without_pattern;   /* only values of the Jacobian */
	unsigned terms;                  /* FRIC_TERM_..., at least one */
	const double *current_positions; /* [n_vertices, dim]; NULL if not sent */
	double time_step;
	const double *step_direction; /* [n_vertices, dim] direction of the longest step; NULL: none */
	double keep;
	struct api_claims claims;
};

/* The facts about a set against which queries are checked (set.h). */
struct api_set_facts {
	size_t dim, n_vertices, n_bodies;
	bool has_bodies; /* bodies were sent, even if there are none */
	bool has_group[FRIC_N_TYPES];
	bool skip_degenerate;
	bool lacks_positions; /* planes have an origin but there are no positions of vertices, so there are no distances */
	bool has_positions;   /* positions of vertices were sent */
	bool has_contacts;    /* there are contacts at vertices */
	unsigned without_anchor; /* bits of enum fric_type: groups that have contacts, but no anchors */
	struct api_obstacles obstacles;
	/* Sets from meshes only: the margin, and the positions at which contacts were found. */
	bool has_mesh, anchors;
	double margin;
	const double *positions;         /* [n_vertices, dim], borrowed from the set */
	const unsigned char *is_in_mesh; /* [n_vertices] */
};

/* Derives the facts from a checked lagged part. */
void api_state_facts(const struct api_lagged *lagged, struct api_set_facts *facts);

/* Lagged velocities of a set's document; NULL if not sent, or if there are no vertices or bodies. */
struct api_lagged_velocities {
	const double *vertices; /* [n_vertices, dim] */
	const double *bodies;   /* [n_bodies, 6], [n_bodies, 3] in 2D */
};

/**
 * Checks a lagged part without a query. The number of vertices is the number of rows of positions, else of the fields
 * per vertex, else the member n_vertices, else 0. If the member was sent, it must agree.
 * @return false with check->fault filled in
 */
bool api_check_set(struct api_check *check, struct api_lagged *lagged, struct api_lagged_velocities *velocities,
                   struct api_set_facts *facts);

/**
 * Checks a request of any kind. This is the only way into the core: if it returns true, every index is in range and
 * every number has its sign.
 * @param facts   of the set that the query is about; NULL: the request has a lagged part
 * @param lagged  filled in without facts; otherwise it may be NULL, except for the end of a step, which has positions
 * @param query   for a set's document, only lagged velocities. With facts, lagged_velocities is NULL unless sent; then
 *                the set's are used or, if it has none, the velocities
 * @param root    set to the request, for further fields of its kind; root->node is not an object if nothing more can be
 *                checked. NULL: not needed
 * @return false with check->fault filled in
 */
bool api_check_request(struct api_check *check, enum api_request_kind kind, const struct api_set_facts *facts,
                       struct api_lagged *lagged, struct api_query *query, struct api_field *root);

#endif

/**
 * What requests about contacts are: a lagged part, which is prepared, and a question, which is at which velocities contacts are
 * evaluated, and what goes into the answer. A collision set has the first, requests about it the second.
 */
#ifndef API_QUESTION_H
#define API_QUESTION_H

#include "api/validate/check.h"

/* DOFs of a body. @param dim  or API_UNKNOWN_LENGTH, which is what it is then */
static inline size_t api_twist(size_t dim)
{
	return dim == API_UNKNOWN_LENGTH ? dim : 3 * (dim - 1);
}

/* DOFs of all vertices and bodies. */
static inline size_t api_n_dofs(size_t dim, size_t n_vertices, size_t n_bodies)
{
	return n_vertices * dim + n_bodies * api_twist(dim);
}

/* All arrays are borrowed from the document and from the check's arena. */
struct api_lagged {
	struct fric_batch batch;
	bool has_group[FRIC_N_TYPES];
	bool has_bodies; /* they were sent, perhaps none */
};

/* Of a field with a twist for each body: as api_check_per_vertex. */
void api_check_per_body(struct api_check *check, const struct api_field *field, size_t n_bodies, size_t dim,
                        const double **out);
/* A Hessian in blocks of vertices is asked for although there are bodies. @return false */
bool api_check_without_bodies(struct api_check *check, const struct api_field *format);

enum api_hessian_format { API_TRIPLETS, API_CSR, API_BSR, API_FACTORS };
enum api_jacobian_format { API_JACOBIAN_CSR, API_JACOBIAN_TRIPLETS };

/* All arrays are borrowed from the document and from the check's arena. */
struct api_question {
	const double *velocities;             /* [n_vertices, dim] */
	const double *lagged_velocities;      /* the velocities, unless sent */
	const double *body_velocities;        /* [n_bodies, 6], [n_bodies, 3] in 2D; NULL without bodies */
	const double *lagged_body_velocities; /* the same, unless sent */
	bool outputs[API_N_EVALUATE_OUTPUTS];
	bool collision_outputs[FRIC_N_OUTPUTS];
	int format, triangle, projection; /* enums of API_… and FRIC_… */
	bool without_pattern;             /* of the Hessian: values alone */
	const double *direction;          /* [n_vertices, dim] of the line; NULL: there is none */
	const double *body_direction;     /* the same of the bodies, as body_velocities */
	const double *steps;              /* [n_steps] */
	size_t n_steps;
	const double *vectors; /* [n_vectors, n_dof]; NULL: there are none */
	size_t n_vectors;
	bool sent_lagged_velocities, sent_lagged_body_velocities;
	int jacobian_format;           /* enum api_jacobian_format */
	bool jacobian_without_pattern; /* values alone */
};

/**
 * A request of POST /v1/evaluate, which has both: the only door to the core. After true, every index is in range and every
 * number has its sign.
 * @return false with check->fault filled in
 */
bool api_check_evaluation(struct api_check *check, struct api_lagged *lagged, struct api_question *question);

/* What a question has to know of the set that it is asked about (set.h). */
struct api_set_facts {
	size_t dim, n_vertices, n_bodies;
	bool has_bodies; /* they were sent, perhaps none */
	bool has_group[FRIC_N_TYPES];
	bool skip_degenerate;
	bool lacks_positions; /* planes have an origin but vertices no positions: there can be no distances */
	bool has_positions;   /* of vertices */
};

/* Of what was checked. */
void api_state_facts(const struct api_lagged *lagged, struct api_set_facts *facts);

/**
 * The question alone.
 * @param question  lagged_velocities is NULL unless sent: then the set's apply or, if it has none, velocities
 * @return false with check->fault filled in
 */
bool api_check_set_question(struct api_check *check, const struct api_set_facts *facts, struct api_question *question);

/* Those of the document; NULL: it has none, or there is nothing to have any. */
struct api_lagged_velocities {
	const double *vertices; /* [n_vertices, dim] */
	const double *bodies;   /* [n_bodies, 6], [n_bodies, 3] in 2D */
};

/**
 * The lagged part alone. n_vertices: rows of positions, else of the fields per vertex, else the member n_vertices, else 0;
 * the member must agree.
 * @return false with check->fault filled in
 */
bool api_check_set(struct api_check *check, struct api_lagged *lagged, struct api_lagged_velocities *velocities,
                   struct api_set_facts *facts);

/**
 * A request of any kind.
 * @param facts     of the set that it is asked about; NULL: it has a lagged part
 * @param lagged    filled in without facts; else it may be NULL
 * @param question  of a set's document: lagged velocities alone
 * @param root      set to the request, for the fields that its kind has besides; root->node is no object if there is nothing more
 *                  to check
 */
bool api_check_request(struct api_check *check, enum api_request_kind kind, const struct api_set_facts *facts,
                       struct api_lagged *lagged, struct api_question *question, struct api_field *root);

#endif

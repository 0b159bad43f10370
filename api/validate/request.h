/**
 * A request on its way through the checks, whichever of its kinds it is. Its fields are checked one after the other, in the
 * order in which faults are listed (request.c has the table).
 */
#ifndef API_VALIDATE_REQUEST_H
#define API_VALIDATE_REQUEST_H

#include "api/validate/question.h"

/* What is known of it so far. A fault leaves lengths unknown; what needs them is judged as far as it can be without. Whether
 * there was any fault is asked once, at the end. */
struct api_request_check {
	struct api_check *check;
	const struct api_set_facts *facts; /* of the set that it is asked about; NULL: it has a lagged part */
	struct api_lagged *lagged;         /* that part */
	struct api_question *question;
	struct api_field root, friction, materials, collisions, groups[FRIC_N_TYPES];
	size_t dim, n_vertices, n_bodies, n_materials, n[FRIC_N_TYPES]; /* or API_UNKNOWN_LENGTH */
	size_t n_twists;     /* the bodies, of velocities; unknown also where there are none that they could be of */
	int law;             /* enum fric_law_type, or API_UNKNOWN_LAW */
	bool has_bodies;     /* they were sent, perhaps none */
	bool counts_nothing; /* nothing tells how many vertices there are: 0 */
	bool bodies_alone;   /* no vertex is in contact, and bodies were sent: no velocities of vertices are needed */
	bool told_barrier;   /* that there is none */
};

/* Fields, or several that belong together. */
void api_check_dim(struct api_request_check *w);
void api_check_n_vertices(struct api_request_check *w);
void api_check_velocities(struct api_request_check *w);
void api_check_positions(struct api_request_check *w);
void api_check_lagged_velocities(struct api_request_check *w);
void api_check_bodies(struct api_request_check *w);
void api_check_bodies_sent(struct api_request_check *w);
void api_check_body_velocities(struct api_request_check *w);
void api_check_lagged_body_velocities(struct api_request_check *w);
void api_check_friction(struct api_request_check *w);
void api_check_barrier(struct api_request_check *w);
void api_check_collisions(struct api_request_check *w);
void api_check_outputs(struct api_request_check *w);
void api_check_on_degenerate(struct api_request_check *w);
void api_check_hessian(struct api_request_check *w);
void api_check_line(struct api_request_check *w);
void api_check_vectors(struct api_request_check *w);
void api_check_position_jacobian(struct api_request_check *w);
/* What groups need from elsewhere in the request; after all fields. */
void api_check_needs(struct api_request_check *w);

/* ---- what they share ---- */

/* How many vertices there are. @param n  or API_UNKNOWN_LENGTH */
void api_count_vertices(struct api_request_check *w, size_t n);
/* Whether distances of all groups are asked for. */
bool api_needs_distance(const struct api_question *question);

/* A coefficient is given as `mu`, or as `mu_s` and `mu_k`: consecutive rules, which differ from place to place. */
struct api_mu_rules {
	const struct api_object *object;
	int mu;
};
extern const struct api_mu_rules api_mu_of_friction, api_mu_of_vertices;
bool api_gives_mu(const struct api_check *check, const struct api_field *object, const struct api_mu_rules *rules);
/* Both coefficients of a place; data NULL if it has none. */
void api_check_mu(struct api_check *check, const struct api_field *object, const struct api_mu_rules *rules,
                  const struct api_shape *shape, struct fric_values *mu_s, struct fric_values *mu_k);

static inline bool api_is_of_bodies(enum fric_type type)
{
	return type >= FRIC_N_VERTEX_TYPES;
}

/* A member of the request. */
static inline struct api_field api_request_field(const struct api_request_check *w, int rule)
{
	return api_ruled(&w->root, &api_request, rule);
}

/* A number, or a word, as the field's rule has it. */
static inline bool api_check_real(struct api_check *check, const struct api_field *field, double *out)
{
	return api_check_number(check, field, field->rule->range, out);
}

static inline bool api_check_word(struct api_check *check, const struct api_field *field, int *out)
{
	return api_check_choice(check, field, field->rule->words, out);
}

#endif

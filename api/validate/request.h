/**
 * Checks of a request, shared by all kinds of requests. Fields are checked one after the other, in the order in which
 * faults are listed (the table in request.c).
 */
#ifndef API_VALIDATE_REQUEST_H
#define API_VALIDATE_REQUEST_H

#include "api/validate/query.h"

/* The state of the checks. After a fault lengths are unknown, and fields that need them are checked as far as
 * possible. Whether there was any fault is tested once, at the end. */
struct api_request_check {
	struct api_check *check;
	const struct api_set_facts *facts; /* of the set that the query is about; NULL: the request has a lagged part */
	struct api_lagged *lagged;         /* filled in without facts */
	struct api_query *query;
	struct api_field root, friction, materials, collisions, groups[FRIC_N_TYPES];
	size_t dim, n_vertices, n_bodies, n_materials, n[FRIC_N_TYPES]; /* or API_UNKNOWN_LENGTH */
	size_t n_twists;     /* bodies that velocities are expected for; also unknown if no bodies can be counted */
	int law;             /* enum fric_law_type, or API_UNKNOWN_LAW */
	bool has_bodies;     /* bodies were sent, even if empty */
	bool counts_nothing; /* no field determines the number of vertices, so it is 0 */
	bool bodies_alone;   /* no vertex is in contact, and bodies were sent: velocities of vertices are optional */
	bool told_barrier;   /* the missing barrier has been reported */
};

/* Each checks one field, or several that belong together. */
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
/* Checks what groups need from elsewhere in the request; call it after all fields. */
void api_check_needs(struct api_request_check *w);

/* ---- shared helpers ---- */

/* Sets the number of vertices. @param n  or API_UNKNOWN_LENGTH */
void api_count_vertices(struct api_request_check *w, size_t n);
/* Whether the outputs include distances, which all groups must then have. */
bool api_needs_distance(const struct api_query *query);

/* A coefficient is given as `mu`, or as `mu_s` and `mu_k`: consecutive rules, whose first number depends on the
 * place. */
struct api_mu_rules {
	const struct api_object *object;
	int mu;
};
extern const struct api_mu_rules api_mu_of_friction, api_mu_of_vertices;
bool api_gives_mu(const struct api_check *check, const struct api_field *object, const struct api_mu_rules *rules);
/* Reads both coefficients of a place; data NULL if it has none. */
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

/* Reads a number, or a word, by the field's rule. */
static inline bool api_check_real(struct api_check *check, const struct api_field *field, double *out)
{
	return api_check_number(check, field, field->rule->range, out);
}

static inline bool api_check_word(struct api_check *check, const struct api_field *field, int *out)
{
	return api_check_choice(check, field, field->rule->words, out);
}

#endif

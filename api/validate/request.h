/**
 * Checks that all kinds of requests share. Fields are checked one after the other, in the order in which faults are
 * listed (API_CHECKS).
 */
#ifndef API_VALIDATE_REQUEST_H
#define API_VALIDATE_REQUEST_H

#include "api/validate/query.h"
#include "core/base/types.h"

/* The state of the checks. A fault can leave lengths unknown; fields that depend on them are then checked as far as
 * possible. Whether there was any fault is tested once, at the end. */
struct api_request_check {
	struct api_check *check;
	const struct api_set_facts *facts; /* facts of the queried set; NULL: the request has a lagged part */
	struct api_lagged *lagged;         /* filled in if facts is NULL */
	struct api_query *query;
	struct api_field root, friction, materials, collisions, groups[FRIC_N_TYPES];
	size_t dim, n_vertices, n_bodies, n_materials, n[FRIC_N_TYPES]; /* each may be API_UNKNOWN_LENGTH */
	size_t n_twists;     /* number of bodies that need velocities; unknown also if bodies cannot be counted */
	int law;             /* enum fric_law_type, or API_UNKNOWN_LAW */
	bool has_bodies;     /* bodies were sent, even if there are none */
	bool counts_nothing; /* no field determines the number of vertices, so it is 0 */
	bool bodies_alone;   /* bodies were sent and no vertex is in contact: velocities of vertices are optional */
	bool told_barrier;   /* the missing barrier has been reported */
	int miscounted;      /* rule of the field whose rows could not be counted, which has been reported; or 0 */
};

/* Checks of fields in the order in which their faults are listed: X(rule, check). A check reads one field, or several
 * that belong together; the rule determines the kinds of requests that have them. */
#define API_CHECKS(X) \
	X(API_REQUEST_DIM, api_check_dim) \
	X(API_REQUEST_TERMS, api_check_terms) \
	X(API_REQUEST_N_VERTICES, api_check_n_vertices) \
	X(API_REQUEST_VELOCITIES, api_check_velocities) \
	X(API_REQUEST_POSITIONS, api_check_positions) \
	X(API_REQUEST_CURRENT_POSITIONS, api_check_current_positions) \
	X(API_REQUEST_TIME_STEP, api_check_time_step) \
	X(API_REQUEST_LAGGED_VELOCITIES, api_check_lagged_velocities) \
	X(API_REQUEST_BODY_POSITIONS, api_check_bodies) \
	X(API_REQUEST_LAGGED_BODY_VELOCITIES, api_check_bodies_sent) \
	X(API_REQUEST_BODY_VELOCITIES, api_check_body_velocities) \
	X(API_REQUEST_LAGGED_BODY_VELOCITIES, api_check_lagged_body_velocities) \
	X(API_REQUEST_FRICTION, api_check_friction) \
	X(API_REQUEST_BARRIER, api_check_barrier) \
	X(API_REQUEST_CLOSEST_FEATURES, api_check_closest_features) \
	X(API_REQUEST_COLLISIONS, api_check_collisions) \
	X(API_REQUEST_MESH, api_check_set_mesh) \
	X(API_REQUEST_NEXT_COLLISIONS, api_check_next_collisions) \
	X(API_REQUEST_OUTPUTS, api_check_outputs) \
	X(API_REQUEST_ON_DEGENERATE, api_check_on_degenerate) \
	X(API_REQUEST_HESSIAN, api_check_hessian) \
	X(API_REQUEST_LINE, api_check_line) \
	X(API_REQUEST_VECTORS, api_check_vectors) \
	X(API_REQUEST_POSITION_JACOBIAN, api_check_position_jacobian) \
	X(API_REQUEST_LONGEST_STEP, api_check_longest_step) \
	X(API_REQUEST_CLAIMS, api_check_claims)

#define API_DECLARE_CHECK(rule, check) void check(struct api_request_check *w);
API_CHECKS(API_DECLARE_CHECK)
/* Checks that other parts of the request have the fields that groups need. Call it after all fields. */
void api_check_needs(struct api_request_check *w);

/* Finds what excludes a barrier or a longest step in the lagged part. Call it after all fields. */
void api_find_obstacles(const struct api_request_check *w, struct api_obstacles *out);
/* Reports the obstacles to the terms and outputs that the query asks for. */
void api_check_obstacles(struct api_request_check *w, const struct api_obstacles *obstacles);

/* ---- shared helpers ---- */

/* Whether the query asks for a term, FRIC_TERM_... */
bool api_has_term(const struct api_request_check *w, unsigned term);
/* Whether the group has contacts, before it is checked; its faults are reported later. */
bool api_has_contacts(const struct api_request_check *w, enum fric_type type);

/* Checks groups 0 to n_types - 1 of w->collisions, whose members have been looked up. */
void api_check_groups(struct api_request_check *w, int n_types);
/* Reads a dimension: 2, 3 or API_UNKNOWN_LENGTH, with the fault set. */
size_t api_check_dimension(struct api_check *check, const struct api_field *field);
/* Reads the object of the output longest_step. @param wanted  whether the output was requested, which makes the object required */
void api_check_step(struct api_check *check, struct api_field *step, bool wanted, size_t n_vertices, size_t dim,
                    const double **direction, double *keep);

/* Sets the number of vertices. @param n  or API_UNKNOWN_LENGTH */
void api_count_vertices(struct api_request_check *w, size_t n);
/* Whether the outputs include distances, which all groups must then have. */
bool api_needs_distance(const struct api_query *query);

/* Coefficients are given as `mu`, or as `mu_s` and `mu_k`. These are consecutive rules, whose numbers depend on the
 * place. */
struct api_mu_rules {
	const struct api_object *object;
	int mu;
};
extern const struct api_mu_rules api_mu_of_friction, api_mu_of_vertices;
bool api_gives_mu(const struct api_check *check, const struct api_field *object, const struct api_mu_rules *rules);
/* Reads both coefficients of a place. Sets data to NULL if it has none. */
void api_check_mu(struct api_check *check, const struct api_field *object, const struct api_mu_rules *rules,
                  const struct api_shape *shape, struct fric_values *mu_s, struct fric_values *mu_k);

/* A member of the request. */
static inline struct api_field api_request_field(const struct api_request_check *w, int rule)
{
	return api_ruled(&w->root, &api_request, rule);
}

/* A member of a group. */
static inline struct api_field api_group_field(const struct api_request_check *w, enum fric_type type, int rule)
{
	return api_ruled(&w->groups[type], &api_groups[type], rule);
}

/* Whether a member of a group is given. */
static inline bool api_group_gives(const struct api_request_check *w, enum fric_type type, int rule)
{
	const struct api_field field = api_group_field(w, type, rule);
	return api_is_given(w->check, &field);
}

/* Reads a number, or a word, as the field's rule prescribes. */
static inline bool api_check_real(struct api_check *check, const struct api_field *field, double *out)
{
	return api_check_number(check, field, field->rule->range, out);
}

static inline bool api_check_word(struct api_check *check, const struct api_field *field, int *out)
{
	return api_check_choice(check, field, field->rule->words, out);
}

#endif

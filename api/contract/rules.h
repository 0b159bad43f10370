/**
 * Macros and names shared by the tables of fields.
 */
#ifndef API_RULES_H
#define API_RULES_H

#include "api/contract/fields.h"
#include "core/base/types.h"

/* clang-format off */
#define N_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define BIT(type) (1u << (type))
#define ONE(object) (const struct api_object *const[]){&(object), NULL}
/* An object with its rules. more: constraints of the schema in addition to the fields */
#define RULES(...) ((const struct api_rule[]){__VA_ARGS__})
#define OBJECT_WITH(more, called, means, ...) {called, means, RULES(__VA_ARGS__), N_OF(RULES(__VA_ARGS__)), -1, more}
#define OBJECT(...) OBJECT_WITH(NULL, __VA_ARGS__)
#define OBJECT_BY(called, means, rules) {called, means, rules, N_OF(rules), -1, NULL}

#define DIMENSIONLESS "1"
#define VELOCITY "velocity"
#define LENGTH "length"
#define FORCE "force"
#define STIFFNESS "force / velocity"

/* The row of a table for a field of lists.h. */
#define RULE(place, called, ...) [place] = {.name = called, __VA_ARGS__},
#define COEFFICIENT .range = API_NON_NEGATIVE, .unit = DIMENSIONLESS

/* The core's field with respect to which there are derivatives. */
#define BY(field) .by = {1 + FRIC_WRT_##field}
#define BY_BOTH(s, k) .by = {1 + FRIC_WRT_##s, 1 + FRIC_WRT_##k}
#define BY_ROW(row) .by = {1 + FRIC_ROW_##row}

/* Rules of fields in answers. */
#define REAL_ARRAY(called, means, in, ...) \
	{.name = called, .kind = API_REALS, .shape = {__VA_ARGS__}, .required = true, .unit = in, .meaning = means}
#define INTEGER_ARRAY(called, means, ...) \
	{.name = called, .kind = API_INDICES, .shape = {__VA_ARGS__}, .required = true, .meaning = means}
#define TEXT(called, means) {.name = called, .kind = API_TEXT, .required = true, .meaning = means}
#define TEXTS(called, means) {.name = called, .kind = API_LIST, .required = true, .meaning = means}
#define COUNT(called, means) {.name = called, .kind = API_INTEGER, .required = true, .meaning = means}
#define N_BODIES(means) {.name = "n_bodies", .kind = API_INTEGER, .meaning = means}
#define SKIPPED_AS(text) {.name = "skipped", .kind = API_LIST, .objects = ONE(api_skipped_contact), .meaning = (text)}
#define SKIPPED SKIPPED_AS("skipped contacts; present, possibly empty, with on_degenerate skip")

#define COUNTS \
	COUNT("n_vertices", "number of vertices"), N_BODIES("number of bodies, if body_positions were sent"), \
	COUNT("n_collisions", "number of contacts in all groups, including skipped ones")

/* Sets of contact types. */
#define IS_SPATIAL(is, called, geometry, size) | ((geometry) == TWO_LINES || (geometry) == POINT_TRIANGLE) << FRIC_##is
#define HAS_POINT(is, called, geometry, size) | ((geometry) != TWO_POINTS && (geometry) != POINT_PLANE) << FRIC_##is
enum {
	OF_VERTICES = BIT(FRIC_N_VERTEX_TYPES) - 1,
	OF_BODIES = BIT(FRIC_N_TYPES) - 1 - OF_VERTICES,
	SPATIAL = 0 FRICP_TYPES(IS_SPATIAL),
	WITH_POINT = 0 FRICP_TYPES(HAS_POINT)
};

/* Words used by several fields. */
extern const char *const api_group_names[FRIC_N_TYPES + 1], *const api_collision_output_meanings[FRIC_N_OUTPUTS + 1];

/* Objects used by several fields. */
extern const struct api_object api_skipped_contact, api_collision_values, api_group_counts;
extern const struct api_object *const api_hessian_answers[], *const api_jacobian_answers[]; /* indexed by format */

/* clang-format on */
#endif

/**
 * The fields of requests and answers as data. Requests are validated by these tables, answers take names and shapes
 * from them, and the OpenAPI description (openapi.h) is printed from them. In these texts JSON is written with '
 * instead of ".
 */
#ifndef API_FIELDS_H
#define API_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "api/contract/lists.h"
#include "core/fric.h"

struct api_service;

enum api_range { API_ANY, API_NON_NEGATIVE, API_POSITIVE };

enum api_field_kind {
	API_NUMBER,
	API_INTEGER, /* written without point or exponent, such as indices */
	API_INDEX,
	API_REALS,
	API_ROWS,    /* arrays of numbers, whose lengths may differ */
	API_INDICES, /* an array of indices */
	API_WORD,
	API_WORDS, /* a list of any of the words; may be empty */
	API_BOOL,
	API_TEXT,
	API_OBJECT,
	API_LIST,       /* a list of objects */
	API_ONE_OF,     /* an object of one of several kinds */
	API_BY_POINTER, /* an object whose keys are JSON Pointers to fields, with numbers as values */
	API_POINTERS,   /* a list of JSON Pointers to fields */
	API_NULL,
};

/* clang-format off */
/* Lengths of arrays: X(length, name in shapes). A length whose name is NULL is printed as a number. Some lengths depend
 * on the dimension or on the type of contact. */
#define API_LENGTHS(X) \
	X(API_NO_LENGTH, NULL) \
	X(API_N, "n") /* contacts of a group */ \
	X(API_N_ENTRIES, "n") /* entries of a call */ \
	X(API_N_VERTICES, "n_vertices") \
	X(API_N_DOF, "n_vertices*dim") /* DOFs of the vertices */ \
	X(API_N_DOFS, "n_dof") /* DOFs of vertices and bodies */ \
	X(API_N_BODIES, "n_bodies") \
	X(API_ANY_LENGTH, "entries") \
	X(API_N_STEPS, "m") /* steps of a line */ \
	X(API_N_VECTORS, "m") /* vectors to multiply */ \
	X(API_DIM, "dim") \
	X(API_TANGENTS, "dim-1") /* dim - 1 */ \
	X(API_PAIR, NULL) /* 2 */ \
	X(API_STENCIL, NULL) /* vertices or bodies of a contact */ \
	X(API_POINT, NULL) /* coordinates of a closest point */ \
	X(API_INNER, "3 (2D: 1)") /* entries of a symmetric matrix of tangents */ \
	X(API_TWIST, "6 (2D: 3)") /* DOFs of a body: 6, 3 in 2D */ \
	X(API_SLIP, "5 (2D: 2)") /* components of the slip of bodies: 5, 2 in 2D */ \
	X(API_TWISTS, NULL) /* DOFs of all bodies of a contact */ \
	X(API_SLIP_INNER, "15 (2D: 3)") /* entries of a symmetric matrix of such slips */ \
	X(API_MATERIALS, "m") \
	X(API_N_POINTS, "m") /* points of a curve */ \
	X(API_N_ROWS, "m") /* primitives of a mesh */ \
	X(API_N_PLANES, "p") /* planes of a mesh */ \
	X(API_THREE, NULL) /* vertices of a triangle: 3 */
enum api_length { API_LENGTHS(API_PLACE) API_N_LENGTHS };
/* clang-format on */

enum { API_MAX_SHAPE = 3 };

/* A field: its name, its range of values and its meaning. */
struct api_rule {
	const char *name;
	enum api_field_kind kind;
	enum api_range range;
	enum api_length shape[API_MAX_SHAPE]; /* for arrays */
	bool required;
	bool one_for_all;                           /* one row may be sent for all; a row of length 1 is then a number */
	bool bare;                                  /* the single row of one_for_all may be a number if its length is 1 */
	int only;                                   /* the only dimension in which the field exists; 0: both */
	unsigned types;                             /* bit set of the object types that have the field; 0: all */
	int least, most;                            /* for integers; most 0: no upper bound */
	bool or_null;                               /* of answers: null is allowed in place of a number */
	const char *const *words, *const *meanings; /* NULL-terminated; the first word is the default of an API_WORD */
	const struct api_object *const *objects;    /* NULL-terminated: one kind of object, or alternatives */
	const char *fallback;                       /* the default as JSON; NULL: no default, or the first word */
	/* The core's field, if there are derivatives with respect to it: 1 + enum fric_field, in a group 1 + enum fric_row;
	 * 0: none. There are two if one number sets both coefficients. */
	int by[2];
	size_t in_group;  /* for values that are stored unchanged: 1 + offset in struct fric_group; 0: none */
	const char *unit; /* NULL: none */
	const char *meaning;
};

struct api_object {
	const char *name; /* name of its schema */
	const char *meaning;
	const struct api_rule *rules;
	int n_rules;
	int type;          /* index into the rules' type sets; -1 if the rules have none */
	const char *extra; /* constraints of JSON Schema beyond the fields; NULL: none */
};

/* Whether objects of this type have the field. */
static inline bool api_rule_applies(const struct api_rule *rule, const struct api_object *object)
{
	return !rule->types || rule->types >> object->type & 1;
}

/* The number of the rule with this name that applies, or -1. */
static inline int api_rule_named(const struct api_object *object, const char *name, size_t bytes)
{
	for (int i = 0; i < object->n_rules; i++)
		if (*name == *object->rules[i].name && !strncmp(object->rules[i].name, name, bytes) &&
		    !object->rules[i].name[bytes] && api_rule_applies(&object->rules[i], object))
			return i;
	return -1;
}

/* ---- POST /v1/evaluate and its parts: a set's document, and a query about a set ---- */

/* Kinds of objects that share the rules of requests: whole requests or parts of them, and the end of a set's time
 * step. */
enum api_request_kind {
	API_WHOLE,
	API_SET_DOCUMENT,
	API_SET_QUERY,
	API_JVP,
	API_SET_JVP,
	API_VJP,
	API_SET_VJP,
	API_SET_ADVANCE,
	API_CHECK,
	API_SET_CHECK,
	API_STENCIL_DOCUMENT, /* these two only in descriptions: a set's document with contacts, and with a mesh */
	API_MESH_DOCUMENT,
	API_N_REQUEST_KINDS
};

enum { API_REQUEST_FIELDS(API_PLACE) API_N_REQUEST };
enum { API_FRICTION_FIELDS(API_PLACE) API_N_FRICTION };
enum { API_CURVE_SPEEDS, API_CURVE_FACTORS, API_N_CURVE };
enum { API_LEAST_POINTS = 2, API_MOST_POINTS = 4096 };
enum { API_MATERIALS_FIELDS(API_PLACE) API_N_MATERIALS };
enum { API_BARRIER_FIELDS(API_PLACE) API_N_BARRIER };
enum { API_GROUP_FIELDS(API_PLACE) API_N_GROUP };
/* The number of the rule for a group's stencils. */
static inline int api_stencil_rule(enum fric_type type)
{
	return type < FRIC_N_VERTEX_TYPES ? API_GROUP_VERTICES : API_GROUP_BODIES;
}
enum { API_HESSIAN_FORMAT, API_HESSIAN_TRIANGLE, API_HESSIAN_PROJECTION, API_HESSIAN_PATTERN, API_N_HESSIAN };
enum { API_CLAIMS_FIELDS(API_PLACE) API_N_CLAIMS };
enum { API_MATRIX_FIELDS(API_PLACE) API_N_MATRIX };
enum { API_LINE_DIRECTION, API_LINE_BODY_DIRECTION, API_LINE_STEPS, API_N_LINE };
enum { API_MAX_STEPS = 1024, API_MAX_VECTORS = 256 };
enum { API_LONGEST_STEP_DIRECTION, API_LONGEST_STEP_KEEP, API_N_LONGEST_STEP };
enum { API_JACOBIAN_FORMAT, API_JACOBIAN_PATTERN, API_N_JACOBIAN };
enum { API_COTANGENT_POTENTIAL, API_COTANGENT_GRADIENT, API_COTANGENT_BODY_GRADIENT, API_N_COTANGENTS };

/* The values of `terms`. */
enum api_term { API_FRICTION_TERM, API_BARRIER_TERM, API_N_TERMS };

/* The values of `outputs`. */
enum api_evaluate_output { API_EVALUATE_OUTPUTS(API_PLACE, API_NO_PLACE) API_N_EVALUATE_OUTPUTS };

extern const struct api_object api_request, api_set_document, api_set_query, api_friction, api_curve, api_materials,
	api_barrier, api_collisions, api_groups[FRIC_N_TYPES], api_hessian, api_line, api_longest_step,
	api_position_jacobian, api_claims, api_claimed_hessian, api_check_request_object, api_set_check_query,
	api_jvp_request, api_set_jvp_query, api_vjp_request, api_set_vjp_query, api_cotangents, api_set_advance,
	api_next_collisions, api_stencil_document, api_mesh_document;

/* Whether contacts of a type exist in a dimension. */
static inline bool api_type_exists(enum fric_type type, size_t dim)
{
	const int only = api_collisions.rules[type].only;
	return !only || (size_t)only == dim;
}

/* Names of values per contact, and formats of matrices. */
extern const char *const api_collision_output_names[FRIC_N_OUTPUTS + 1];
enum api_hessian_format { API_HESSIAN_FORMATS(API_PLACE) };
enum api_jacobian_format { API_JACOBIAN_FORMATS(API_PLACE) };
extern const char *const api_hessian_formats[], *const api_jacobian_formats[];
extern const struct api_rule api_output_rules[FRIC_N_OUTPUTS]; /* indexed by enum fric_output */
extern const struct api_object api_answer, api_jvp_answer, api_vjp_answer;

/* ---- /v1/contacts ---- */

enum { API_CONTACTS_FIELDS(API_PLACE) API_N_CONTACTS };
enum { API_MESH_FIELDS(API_PLACE) API_N_MESH };
enum { API_PLANES_NORMAL, API_PLANES_ORIGIN, API_N_PLANES_FIELDS };
enum { API_CANDIDATE_VERTICES, API_CANDIDATE_PLANE_NORMAL, API_CANDIDATE_PLANE_ORIGIN, API_N_CANDIDATE };
enum { API_PREVIOUS_POSITIONS, API_PREVIOUS_COLLISIONS, API_N_PREVIOUS };

/* The values of `outputs`. */
enum api_contacts_output { API_FOUND_COLLISIONS, API_FOUND_DISTANCES, API_FOUND_LONGEST_STEP, API_N_FOUND_OUTPUTS };

extern const struct api_object api_contacts_request, api_mesh, api_planes, api_candidates,
	api_candidate_groups[FRIC_N_VERTEX_TYPES], api_previous, api_previous_collisions, api_contacts_answer;
extern const struct api_object *const api_step_answers[]; /* of the output longest_step */

/* ---- /v1/sets ---- */

enum { API_PATTERN_FORMAT, API_PATTERN_TRIANGLE, API_N_PATTERN };
extern const char *const api_pattern_formats[];
extern const struct api_object api_set_patch, api_set_answer, api_set_list_answer, api_pattern_url_query,
	api_check_url_query, api_contacts_url_query;
/* Indexed by format, in the order of api_pattern_formats; NULL-terminated. */
extern const struct api_object *const api_pattern_answers[];

/* ---- /v1/functions ---- */

/* Kinds of functions, which differ in their parameters. */
enum api_function_kind { API_SMOOTH_FRICTION, API_SMOOTH_MU, API_LAW, API_DIRECTION, API_ELLIPSE, API_EFFECTIVE };
#define API_N_FUNCTION_KINDS 6

enum { API_FUNCTIONS(API_PLACE) API_N_FUNCTIONS };
enum { API_CALL_FIELDS(API_PLACE) API_N_CALL };
enum { API_BUNDLE_FUNCTIONS };

extern const struct api_object api_calls[API_N_FUNCTION_KINDS];
/* A bundle of calls, and the calls in it, one rule per function. */
extern const struct api_object api_bundle, api_bundle_calls;
/* The rule of the first parameter of a kind. */
const struct api_rule *api_call_first(enum api_function_kind kind);

/* ---- UM-Bridge ---- */

extern const struct api_object api_bridge_info, api_bridge_name, api_bridge_support, api_bridge_sized,
	api_bridge_inputs, api_bridge_outputs, api_bridge_evaluation, api_bridge_gradient_call, api_bridge_jacobian_call,
	api_bridge_hessian_call, api_bridge_values, api_bridge_vector, api_bridge_failure;

/* ---- other answers ---- */

/* A limit of requests: its name in /v1/info, the offset of its number in struct api_service (0: unlimited, unless the
 * limit is required), and the words around the number in the description. */
struct api_limit {
	const char *name;
	bool required;
	size_t in_service;
	const char *before, *after;
};
extern const struct api_limit api_limits[];
extern const int api_n_limits;
static inline size_t api_limit_number(const struct api_limit *limit, const struct api_service *service)
{
	return *(const size_t *)(const void *)((const char *)service + limit->in_service);
}

/* Indexed by enum api_note (compute/notes.h). */
extern const char *const api_note_codes[];
extern const char *const api_quantity_names[FRIC_N_QUANTITIES + 1];
/* Indexed by enum api_mistake (compute/claims.h). */
extern const char *const api_mistake_codes[];

extern const struct api_object api_function_answer, api_pairs_answer, api_bundle_answer, api_function_list_answer,
	api_info_answer, api_health_answer, api_check_answer, api_problem_document;

#endif

/**
 * Reads fields of a document into numbers that the core may trust. Each function reads one field. On a fault it records
 * the culprit, or all culprits in an array, and returns false. The caller continues with everything that does not
 * depend on that field, so that a client learns of all mistakes at once, as far as there is room for them.
 */
#ifndef API_CHECK_H
#define API_CHECK_H

#include "api/api.h"
#include "api/base/arena.h"
#include "api/base/fault.h"
#include "api/codec/document.h"
#include "api/contract/fields.h"

/* A place for each member of a request. */
enum {
	API_MAX_MEMBERS = API_N_REQUEST + API_N_FRICTION + API_N_CURVE + API_N_MATERIALS + API_N_BARRIER + API_N_HESSIAN +
	                  API_N_LINE + API_N_CLAIMS + API_N_MATRIX + API_N_JACOBIAN + API_N_LONGEST_STEP + API_N_MESH +
	                  API_N_PLANES_FIELDS + FRIC_N_TYPES * (1 + API_N_GROUP)
};

struct api_check {
	const struct api_document *document;
	struct api_arena *arena; /* for converted numbers */
	struct api_fault *fault;
	const struct api_object *whole;     /* rules of the whole document, to suggest where a misplaced field belongs;
	                                     * or NULL */
	const struct api_object *elsewhere; /* rules of the other part of a request, where it may belong instead; or NULL */
	const char *misplaced[API_MAX_ERRORS]; /* names found in the wrong object */
	int n_misplaced;
	const json_t *patch; /* the patch that was merged into the document; or NULL */
	/* Words that are values of another field, and the end of a message that names that field; or NULL */
	const char *const *other_words;
	const char *other_field;
	const struct api_service *service; /* limits for requests; NULL: unlimited */
	int n_members;                     /* used entries of `members`; initially 0 */
	const json_t *members[API_MAX_MEMBERS];
};

/* A member of an object, present or not. */
struct api_field {
	const json_t *node; /* NULL: absent */
	struct api_path path;
	const struct api_rule *rule;  /* the field's rule; NULL: unknown */
	const json_t *const *members; /* for a checked object, its members by rule; NULL: look them up by name */
	unsigned excused; /* for a checked object, bits by rule: members that are not reported as missing, because
	                   * a misspelt name was meant for them or they have been reported */
	bool is_excused;  /* likewise, for the field itself */
};

enum { API_MOST_RULES = 32 }; /* bits of `excused` */

/* A length that is unknown because of another fault. Shapes and indices that depend on it are not checked. */
#define API_UNKNOWN_LENGTH ((size_t)-1)

/* The expected shape: [n, inner[0], inner[1]], sent nested or flat. */
struct api_shape {
	size_t n;
	int n_inner;
	size_t inner[2];
	bool one_for_all; /* one row may be sent for all n */
	bool number_row;  /* that row may be a bare number although n_inner > 0, if its length is 1 */
	enum api_range range;
};

struct api_field api_member(const struct api_field *object, const char *name);
/* The member described by rule number i of the object. If the object was checked, it must have been checked by the same
 * rules. Inline: a request asks for a few hundred members. */
static inline struct api_field api_ruled(const struct api_field *field, const struct api_object *object, int i)
{
	const struct api_rule *rule = &object->rules[i];
	struct api_field member = {.path = {&field->path, rule->name, 0}};
	if (field->members)
		member.node = field->members[i];
	else
		member = api_member(field, rule->name);
	member.rule = rule;
	member.is_excused = field->excused >> i & 1;
	return member;
}

/* The shape that a rule describes, with the lengths of this request. */
struct api_shape api_shape_of(const struct api_rule *rule, const size_t lengths[API_N_LENGTHS]);

/* Numbers that are read between two checks of the stop flag. */
enum { API_SPAN = 1 << 18 };

/* @return true with the fault set if the request was stopped */
bool api_check_stopped(struct api_check *check);

/* Reports a value of the wrong kind; expected: such as "a number". @return false */
bool api_fault_kind(struct api_check *check, const struct api_field *field, const char *expected);
/* Names the kind of a node for messages: "an object", "a string", "an array of numbers" ... */
const char *api_kind(const struct api_check *check, const json_t *node);

/**
 * Begins with the root of the document.
 * @param whole, elsewhere  as in struct api_check
 * @return false if it is not an object: then there is nothing to check
 */
bool api_check_root(struct api_check *check, const struct api_object *whole, const struct api_object *elsewhere,
                    struct api_field *root);
/* Requires an object without unknown members. Afterwards api_ruled finds its members without a lookup. */
bool api_check_object(struct api_check *check, struct api_field *field, const struct api_object *object);
/* As api_check_object, for an optional member. @return whether there is an object with members to check */
bool api_check_inner(struct api_check *check, struct api_field *field);
/* Whether the field was sent, possibly under a similar name or in another place. */
bool api_is_given(const struct api_check *check, const struct api_field *field);
/* Requires the field; the fault states what needs it. */
bool api_check_present(struct api_check *check, const struct api_field *field, const char *why);

/* Reads a string as its index in `names`; *out unchanged if the field is absent. */
bool api_check_choice(struct api_check *check, const struct api_field *field, const char *const names[], int *out);
/* Reads a list of strings: sets flags[i] for every names[i]. Unchanged if the field is absent. */
bool api_check_choices(struct api_check *check, const struct api_field *field, const char *const names[], bool *flags);
/* Reads true or false; unchanged if the field is absent. */
bool api_check_bool(struct api_check *check, const struct api_field *field, bool *out);

/* Reads a single number in range; *out unchanged if the field is absent. */
bool api_check_number(struct api_check *check, const struct api_field *field, enum api_range range, double *out);
/* Reads a single integer in [0, limit); *out unchanged if the field is absent. */
bool api_check_index(struct api_check *check, const struct api_field *field, size_t limit, const char *what,
                     int32_t *out);

/* Reads a single integer, limited like a number of rows; *out unchanged if the field is absent. */
bool api_check_count(struct api_check *check, const struct api_field *field, size_t *out);

/* Counts rows of `row` numbers in an array, nested or flat; row 0: rows are bare numbers.
 * @return false if it has another shape */
bool api_count_rows(const struct api_array *array, size_t row, size_t *n);
/* As api_count_rows, for a field. Another shape is a fault. */
bool api_check_rows(struct api_check *check, const struct api_field *field, size_t row, size_t *n);
/* Reads finite numbers of a given shape; these are in the document, the frame or the arena. If the field is absent or
 * the shape unknown, data is set to NULL. */
bool api_check_values(struct api_check *check, const struct api_field *field, const struct api_shape *shape,
                      struct fric_values *out);
/* As api_check_values, by the field's rule; *out is unchanged if there are no numbers. */
void api_check_reals(struct api_check *check, const struct api_field *field, const size_t lengths[API_N_LENGTHS],
                     const double **out);
/* As api_check_reals, for a row of `dim` numbers per vertex; *out is unchanged if there are no numbers. */
void api_check_per_vertex(struct api_check *check, const struct api_field *field, size_t n_vertices, size_t dim,
                          const double **out);
/* Reads integers in [0, limit), limit at most INT32_MAX, of shape [n, row] (row 0: [n]); these are in the frame or in
 * the arena. Sets NULL if the field is absent, or if n or limit is unknown. */
bool api_check_indices(struct api_check *check, const struct api_field *field, size_t n, size_t row, size_t limit,
                       const char *what, const int32_t **out);

/* Requires a pair table [m, m] to be symmetric, after it has been read. */
void api_check_symmetric(struct api_check *check, const struct api_field *field, size_t m, const double *table);

/* The service's limits for requests. */
const struct api_service *api_check_limits(const struct api_check *check);
/* Requires that the count n, which the field determines, does not exceed the limit. most 0: unlimited */
bool api_check_at_most(struct api_check *check, const struct api_field *field, const char *what, size_t n, size_t most);

/* Reports the wrong shape of an array field; expected: such as "[n, 3]"; help: the end of the message. @return false */
bool api_fault_shape(struct api_check *check, const struct api_field *field, const char *expected, const char *help);

/* Prints a number for a message: the shortest decimal, "3" for 3. */
enum { API_VALUE_TEXT = 48 };
const char *api_print_value(double value, char text[API_VALUE_TEXT]);

/* Reports entry `flat` of an array field, with the path in the form in which the array was sent. @return false */
__attribute__((format(printf, 5, 6))) bool api_fault_entry(struct api_check *check, enum api_code code,
                                                           const struct api_field *field, size_t flat,
                                                           const char *format, ...);

#endif

/**
 * From fields of a document to numbers the core may trust. Each function reads one field; on a fault it records the
 * culprit (all of them, where an array has several) and returns false. The caller goes on with what does not depend on
 * that field, so that a client learns of all its mistakes at once, as far as there is room for them in the fault.
 */
#ifndef API_CHECK_H
#define API_CHECK_H

#include "api/api.h"
#include "api/base/arena.h"
#include "api/base/fault.h"
#include "api/codec/document.h"
#include "api/contract/fields.h"

enum { API_MAX_MEMBERS = 256 };

struct api_check {
	const struct api_document *document;
	struct api_arena *arena; /* of numbers that had to be converted */
	struct api_fault *fault;
	const struct api_object *whole; /* what the document is as a whole: where a misplaced field may belong; or NULL */
	const struct api_object *elsewhere;    /* what comes in another request, where it may belong, too; or NULL */
	const char *misplaced[API_MAX_ERRORS]; /* names that were found where they do not belong */
	int n_misplaced;
	const json_t *patch; /* that was merged into the document; or NULL */
	/* Words that belong to another field, and how a message goes on that names it; or NULL */
	const char *const *other_words;
	const char *other_field;
	const struct api_service *service; /* the limits of requests; NULL: there are none */
	int n_members;                     /* entries of members that objects have taken so far; 0 at the start */
	const json_t *members[API_MAX_MEMBERS];
};

/* A member of an object, present or not. */
struct api_field {
	const json_t *node; /* NULL: absent */
	struct api_path path;
	const struct api_rule *rule;  /* what it may be; NULL: unknown */
	const json_t *const *members; /* of a checked object, by rule; NULL: to be looked up */
	unsigned excused;             /* of a checked object, bits by rule: members whose absence need not be told, since an
	                               * unknown name was meant for them or it has been told */
	bool is_excused;              /* of a member, the same */
};

enum { API_MOST_RULES = 32 }; /* of an object: bits of excused */

/* A length that cannot be known because of another fault: shapes with it, and indices below it, are not judged. */
#define API_UNKNOWN_LENGTH ((size_t)-1)

/* Expected shape: [n, inner[0], inner[1]], sent nested or flat. */
struct api_shape {
	size_t n;
	int n_inner;
	size_t inner[2];
	bool one_for_all; /* one row may stand for all n */
	bool number_row;  /* that row may be a bare number though n_inner > 0 (its size must be 1) */
	enum api_range range;
};

struct api_field api_member(const struct api_field *object, const char *name);
/* The member that rule number i of the object describes; of a checked object, one that was checked by the same rules. */
struct api_field api_ruled(const struct api_field *field, const struct api_object *object, int i);
/* The shape that a rule describes, given the lengths of this request. */
struct api_shape api_shape_of(const struct api_rule *rule, const size_t lengths[API_N_LENGTHS]);

/* How many numbers are read before asking again whether the request is still wanted. */
enum { API_SPAN = 1 << 18 };

/* True if it is not, with the fault set. */
bool api_check_stopped(struct api_check *check);

/* A field is something else than what was expected, "a number". @return false */
bool api_fault_kind(struct api_check *check, const struct api_field *field, const char *expected);
/* "an object", "a string", "an array of numbers" ...: what a node is, for messages. */
const char *api_kind(const struct api_check *check, const json_t *node);

/**
 * Begins with the root of the document.
 * @param whole, elsewhere  as in struct api_check
 * @return false if it is no object: then there is nothing to check
 */
bool api_check_root(struct api_check *check, const struct api_object *whole, const struct api_object *elsewhere,
                    struct api_field *root);
/* Is an object with no other members than the rules know; from then on api_ruled has those that it knows at hand. */
bool api_check_object(struct api_check *check, struct api_field *field, const struct api_object *object);
/* The same of a member that need not be there. @return whether there is an object to look into */
bool api_check_inner(struct api_check *check, struct api_field *field);
/* Is there, or was meant to be: under a name near to its own, or in another place. */
bool api_is_given(const struct api_check *check, const struct api_field *field);
/* Is there at all; the fault says what needs it. */
bool api_check_present(struct api_check *check, const struct api_field *field, const char *why);

/* Index of a string among `names`; *out untouched if the field is absent. */
bool api_check_choice(struct api_check *check, const struct api_field *field, const char *const names[], int *out);
/* Sets flags[i] for every names[i] in a list of strings; untouched if the field is absent. */
bool api_check_choices(struct api_check *check, const struct api_field *field, const char *const names[], bool *flags);
/* true or false; untouched if the field is absent. */
bool api_check_bool(struct api_check *check, const struct api_field *field, bool *out);

/* A single number in range; *out untouched if the field is absent. */
bool api_check_number(struct api_check *check, const struct api_field *field, enum api_range range, double *out);
/* A single integer in [0, limit); *out untouched if absent. */
bool api_check_index(struct api_check *check, const struct api_field *field, size_t limit, const char *what,
                     int32_t *out);

/* A single integer, as large as a number of rows may be; *out untouched if absent. */
bool api_check_count(struct api_check *check, const struct api_field *field, size_t *out);

/* Number of rows of `row` numbers in an array, nested or flat; row 0: rows are bare numbers. @return false if it has
 * another shape */
bool api_count_rows(const struct api_array *array, size_t row, size_t *n);
/* The same of a field; another shape is a fault. */
bool api_check_rows(struct api_check *check, const struct api_field *field, size_t row, size_t *n);
/* Finite numbers of a given shape, in the document, the frame or the arena. Absent, or of unknown shape: data is set to
 * NULL. */
bool api_check_values(struct api_check *check, const struct api_field *field, const struct api_shape *shape,
                      struct fric_values *out);
/* The same by the field's rule; *out untouched if there are none. */
void api_check_reals(struct api_check *check, const struct api_field *field, const size_t lengths[API_N_LENGTHS],
                     const double **out);
/* The same for a row of `dim` numbers for each vertex; *out untouched if there are none. */
void api_check_per_vertex(struct api_check *check, const struct api_field *field, size_t n_vertices, size_t dim,
                          const double **out);
/* Integers in [0, limit) of shape [n, row] (row 0: [n]), in the frame or in the arena. Absent, or n or limit unknown: NULL. */
bool api_check_indices(struct api_check *check, const struct api_field *field, size_t n, size_t row, size_t limit,
                       const char *what, const int32_t **out);

/* Of a pair table [m, m] that was read: entries that differ from those of the same materials in the other order. */
void api_check_symmetric(struct api_check *check, const struct api_field *field, size_t m, const double *table);

/* The service's limits of requests. */
const struct api_service *api_check_limits(const struct api_check *check);
/* n of them, which the field brings, are not too many; most 0: there is no limit. */
bool api_check_at_most(struct api_check *check, const struct api_field *field, const char *what, size_t n, size_t most);

/* Of an array field: its shape is not the expected one, "[n, 3]"; help is what the message ends with. @return false */
bool api_fault_shape(struct api_check *check, const struct api_field *field, const char *expected, const char *help);

/* A number for a message: the shortest decimal, "3" for 3. */
enum { API_VALUE_TEXT = 48 };
const char *api_print_value(double value, char text[API_VALUE_TEXT]);

/* A fault at entry `flat` of an array field, with the path in the form in which it was sent. @return false */
__attribute__((format(printf, 5, 6))) bool api_fault_entry(struct api_check *check, enum api_code code,
                                                           const struct api_field *field, size_t flat,
                                                           const char *format, ...);

#endif

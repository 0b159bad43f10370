/**
 * Error codes: the closed list of the codes of problems, each with its HTTP status. docs/troubleshooting.md has a
 * section for each code, which /errors/CODE shows.
 */
#ifndef API_CODES_H
#define API_CODES_H

/* The codes: X(constant, name, status), ascending by status. The first one of each status is its default code. */
#define API_CODES(X) \
	X(MALFORMED_HTTP, "malformed_http", 400) \
	X(HTTPS_TO_HTTP, "https_to_http", 400) \
	X(EMPTY_BODY, "empty_body", 400) \
	X(MALFORMED_JSON, "malformed_json", 400) \
	X(NAN_IN_JSON, "nan_in_json", 400) \
	X(NOT_JSON, "not_json", 400) \
	X(MALFORMED_FRAME, "malformed_frame", 400) \
	X(NOT_A_FRAME, "not_a_frame", 400) \
	X(MALFORMED_QUERY, "malformed_query", 400) \
	X(MISSING_TOKEN, "missing_token", 401) \
	X(UNKNOWN_TOKEN, "unknown_token", 401) \
	X(FOREIGN_ORIGIN, "foreign_origin", 403) \
	X(UNKNOWN_PATH, "unknown_path", 404) \
	X(UNKNOWN_FUNCTION, "unknown_function", 404) \
	X(UNKNOWN_SET, "unknown_set", 404) \
	X(METHOD_NOT_ALLOWED, "method_not_allowed", 405) \
	X(NOT_ACCEPTABLE, "not_acceptable", 406) \
	X(REQUEST_TIMEOUT, "request_timeout", 408) \
	X(LENGTH_REQUIRED, "length_required", 411) \
	X(SET_CHANGED, "set_changed", 412) \
	X(SET_EXISTS, "set_exists", 412) \
	X(BODY_TOO_LONG, "body_too_long", 413) \
	X(TOO_MANY_ENTRIES, "too_many_entries", 413) \
	X(TOO_MANY_VALUES, "too_many_values", 413) \
	X(TOKEN_TOO_LONG, "token_too_long", 413) \
	X(ANSWER_TOO_LONG, "answer_too_long", 413) \
	X(EXCEEDS_MEMORY, "exceeds_memory", 413) \
	X(SET_TOO_LARGE, "set_too_large", 413) \
	X(TARGET_TOO_LONG, "target_too_long", 414) \
	X(UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", 415) \
	X(UNSUPPORTED_ENCODING, "unsupported_encoding", 415) \
	X(EXPECTATION_FAILED, "expectation_failed", 417) \
	X(UNKNOWN_HOST, "unknown_host", 421) \
	X(UNKNOWN_FIELD, "unknown_field", 422) \
	X(MISSING_FIELD, "missing_field", 422) \
	X(CONFLICTING_FIELDS, "conflicting_fields", 422) \
	X(WITHOUT_EFFECT, "without_effect", 422) \
	X(WRONG_DIMENSION, "wrong_dimension", 422) \
	X(UNEXPECTED_QUERY, "unexpected_query", 422) \
	X(UNKNOWN_WORD, "unknown_word", 422) \
	X(WRONG_TYPE, "wrong_type", 422) \
	X(WRONG_SHAPE, "wrong_shape", 422) \
	X(NOT_FINITE, "not_finite", 422) \
	X(OUT_OF_RANGE, "out_of_range", 422) \
	X(NOT_AN_INTEGER, "not_an_integer", 422) \
	X(INDEX_OUT_OF_RANGE, "index_out_of_range", 422) \
	X(REPEATED_VERTEX, "repeated_vertex", 422) \
	X(REPEATED_BODY, "repeated_body", 422) \
	X(ASYMMETRIC_TABLE, "asymmetric_table", 422) \
	X(ZERO_NORMAL, "zero_normal", 422) \
	X(ZERO_GRAIN, "zero_grain", 422) \
	X(COINCIDENT_VERTICES, "coincident_vertices", 422) \
	X(ZERO_LENGTH_EDGE, "zero_length_edge", 422) \
	X(VERTEX_ON_EDGE, "vertex_on_edge", 422) \
	X(PARALLEL_EDGES, "parallel_edges", 422) \
	X(COLLAPSED_TRIANGLE, "collapsed_triangle", 422) \
	X(PENETRATION, "penetration", 422) \
	X(NEGATIVE_COEFFICIENT, "negative_coefficient", 422) \
	X(GRAIN_ALONG_NORMAL, "grain_along_normal", 422) \
	X(UNKNOWN_POINTER, "unknown_pointer", 422) \
	X(REPEATED_POINTER, "repeated_pointer", 422) \
	X(MALFORMED_NAME, "malformed_name", 422) \
	X(RESULT_OVERFLOW, "overflow", 422) \
	X(MOVED_TOO_FAR, "moved_too_far", 422) \
	X(ADDRESS_HAS_TOO_MANY_CONNECTIONS, "address_has_too_many_connections", 429) \
	X(HEAD_TOO_LONG, "head_too_long", 431) \
	X(INTERNAL_ERROR, "internal_error", 500) \
	X(OUT_OF_MEMORY, "out_of_memory", 503) \
	X(QUEUE_FULL, "queue_full", 503) \
	X(SETS_FULL, "sets_full", 503) \
	X(TOO_MANY_CONNECTIONS, "too_many_connections", 503) \
	X(DRAINING, "draining", 503) \
	X(DEADLINE_PASSED, "deadline_passed", 503) \
	X(STOPPED, "stopped", 503) \
	X(HTTP_VERSION, "http_version", 505)

/* clang-format off */
enum api_code {
	API_NO_CODE, /* no error */
#define API_CODE_CONSTANT(constant, name, status) API_E_##constant,
	API_CODES(API_CODE_CONSTANT)
#undef API_CODE_CONSTANT
	API_N_CODES
};
/* clang-format on */

/* The name of a code, such as "unknown_field", and its status, such as 422. An invalid value gives internal_error. */
const char *api_code_name(enum api_code code);
int api_code_status(enum api_code code);

/* The default code of a status; API_NO_CODE if there is none. */
enum api_code api_code_of_status(int status);

/* All names in the order of the codes, NULL-terminated. */
extern const char *const api_code_names[API_N_CODES];

#endif

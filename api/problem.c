#include "api/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/base/json_memory.h"
#include "api/base/pool.h"

/* A static problem, which needs no memory. */
static char no_memory[] =
	"{\"type\":\"/errors/out_of_memory\",\"code\":\"out_of_memory\",\"title\":\"Service Unavailable\",\"status\":503,"
	"\"detail\":\"not enough memory for this request now\",\"errors\":[]}";

/* clang-format off */
static const struct api_status statuses[] = {
	{400, "Bad Request", API_ANYWHERE,
	 "Not valid HTTP, not valid JSON (which includes duplicate keys, trailing bytes, numbers beyond a double's range"
	 " and nesting over 2048), or not a valid frame. detail states line and column."},
	{401, "Unauthorized", API_WHERE_GATED, "The server has tokens, and the request carries none of them."},
	{403, "Forbidden", API_ANYWHERE,
	 "A web page of another origin sent the request; --allow-origin permits origins."},
	{404, "Not Found", API_WHERE_NAMED,
	 "Nothing has that name. A collision set may have been forgotten (unknown_set): PUT it again."},
	{405, "Method Not Allowed", API_ANYWHERE, "The path does not have this method; Allow lists its methods."},
	{406, "Not Acceptable", API_WHERE_NEGOTIATED,
		"Accept admits neither application/json nor application/vnd.frictiond.frame."},
	{408, "Request Timeout", API_ANYWHERE, "The request stopped arriving, or arrived too slowly."},
	{411, "Length Required", API_WHERE_POSTED, "The request has no length: send Content-Length, or chunked."},
	{412, "Precondition Failed", API_WHERE_CONDITIONAL,
	 "The set has another version than If-Collision-Set-Version, or exists in spite of If-None-Match: *."},
	{413, "Content Too Large", API_ANYWHERE,
	 "The body, a count in it, the answer, or the memory that the request needs exceeds a limit, which detail names. "
	 "Send fewer contacts per request, or request the Hessian as factors."},
	{414, "URI Too Long", API_ANYWHERE, "The request line is too long, or the URL's query has too many parameters: use POST."},
	{415, "Unsupported Media Type", API_ANYWHERE,
	 "Content-Type is neither application/json (the default) nor application/vnd.frictiond.frame (nor, for a PATCH, "
	 "application/merge-patch+json), or the body is compressed."},
	{417, "Expectation Failed", API_ANYWHERE, "The only supported expectation is 100-continue."},
	{421, "Misdirected Request", API_ANYWHERE,
	 "Host is not a name of this service: localhost, a loopback address, or one of --allow-host."},
	{422, "Unprocessable Content", API_WHERE_CHECKED,
	 "Well-formed, but wrong: unknown field, shape, range, sign, missing field, degenerate contact, overflow. "
	 "errors has pointers to the culprits."},
	{429, "Too Many Requests", API_ANYWHERE,
	 "This address has as many connections as the server allows."},
	{431, "Request Header Fields Too Large", API_ANYWHERE,
	 "The head of the request, or a Cookie line, is too long, or it has too many lines or arguments."},
	{500, "Internal Server Error", API_ANYWHERE,
	 "A fault of the service, never of the request; report it with the request id."},
	{501, "Not Implemented", 0, ""},
	{503, "Service Unavailable", API_ANYWHERE,
	 "The queue or the memory is full, the deadline has passed, or the server is draining. Repeat after "
	 "Retry-After seconds, which is safe."},
	{505, "HTTP Version Not Supported", API_ANYWHERE, "The version is neither HTTP/1.1 nor HTTP/1.0."},
};
/* clang-format on */

const struct api_status *api_status_at(int i)
{
	return i < (int)(sizeof(statuses) / sizeof(statuses[0])) ? &statuses[i] : NULL;
}

const char *api_status_title(int status)
{
	const struct api_status *row;
	for (int i = 0; (row = api_status_at(i)); i++)
		if (row->status == status)
			return row->title;
	return "Error";
}

/* The codes for faults that the core finds in a contact. */
/* clang-format off */
static const struct {
	enum api_code code;
	const char *words;
} reasons[] = {
	[FRIC_E_NOT_FINITE] = {API_E_RESULT_OVERFLOW, "a result does not fit a double"},
	[FRIC_E_COINCIDENT_VERTICES] = {API_E_COINCIDENT_VERTICES,
		"coincident_vertices: the two vertices coincide, so the contact has no tangent plane"},
	[FRIC_E_ZERO_LENGTH_EDGE] = {API_E_ZERO_LENGTH_EDGE, "zero_length_edge: the ends of an edge coincide"},
	[FRIC_E_VERTEX_ON_EDGE] = {API_E_VERTEX_ON_EDGE,
		"vertex_on_edge: the vertex is on the edge's line, so the contact has no tangent plane"},
	[FRIC_E_PARALLEL_EDGES] = {API_E_PARALLEL_EDGES,
		"parallel_edges: the edges are parallel, so their closest points are not unique"},
	[FRIC_E_COLLAPSED_TRIANGLE] = {API_E_COLLAPSED_TRIANGLE, "collapsed_triangle: the triangle has no area"},
	[FRIC_E_PENETRATION] = {API_E_PENETRATION, "penetration: the distance is not larger than the barrier's dmin"},
	[FRIC_E_NEGATIVE_COEFFICIENT] = {API_E_NEGATIVE_COEFFICIENT,
		"negative_coefficient: the blended coefficient is negative (closest point outside its primitive)"},
	[FRIC_E_GRAIN_ALONG_NORMAL] = {API_E_GRAIN_ALONG_NORMAL,
		"grain_along_normal: the grain is parallel to the contact's normal, so it has no direction in the tangent plane"},
};
/* clang-format on */

/* @param words  description of the fault */
static bool fault_contact(struct api_fault *fault, const struct fric_error *error, const char *words)
{
	const struct api_path root = {0}, collisions = {&root, "collisions", 0};
	if (error->contact < 0)
		return api_fault_at(fault, API_E_RESULT_OVERFLOW, &collisions, "a sum over the contacts does not fit a double");
	const bool is_of_vertices = error->group < FRIC_N_VERTEX_TYPES;
	const struct api_path group = {&collisions, fric_type_name(error->group), 0},
						  field = {&group, is_of_vertices ? "vertices" : "bodies", 0};
	const struct api_path contact = {&field, NULL, (size_t)error->contact};
	return api_fault_at(fault, reasons[error->code].code, &contact, "contact %lld of %s: %s", (long long)error->contact,
	                    fric_type_name(error->group), words);
}

bool api_fault_core(struct api_fault *fault, const struct fric_error *error)
{
	if (error->code == FRIC_E_MEMORY)
		return api_fault_no_memory(fault);
	if (error->code == FRIC_E_STOPPED)
		return api_fault_stopped(fault);
	return fault_contact(fault, error, reasons[error->code].words);
}

bool api_fault_in_mesh(struct api_fault *fault, const struct fric_error *error, const int32_t *vertices)
{
	const struct api_path root = {0}, positions = {&root, "positions", 0}, at = {&positions, NULL, (size_t)vertices[0]};
	char stencil[64] = "";
	int end = 0;
	for (int v = 0; v < fric_stencil_size(error->group); v++)
		end += snprintf(stencil + end, sizeof(stencil) - (size_t)end, "%s%d", v ? ", " : "", vertices[v]);
	return api_fault_at(fault, reasons[error->code].code, &at, "%s of vertices %s: %s", fric_type_name(error->group),
	                    stencil, reasons[error->code].words);
}

bool api_fault_finding(struct api_fault *fault, const struct fric_error *error, size_t most)
{
	const struct api_path root = {0}, positions = {&root, "positions", 0}, mesh = {&root, "mesh", 0};
	if (error->code == FRIC_E_TOO_MANY)
		return api_fault_at(fault, API_E_TOO_MANY_ENTRIES, &mesh,
		                    "more pairs lie within reach than the limit of %zu contacts", most);
	if (error->code == FRIC_E_NOT_FINITE)
		return api_fault_at(fault, API_E_RESULT_OVERFLOW, &positions,
		                    "a distance, an area or a mollifier does not fit a double");
	return api_fault_core(fault, error);
}

bool api_fault_slope(struct api_fault *fault, const struct fric_error *error, const char *pointer)
{
	char words[API_MAX_DETAIL];
	snprintf(words, sizeof words, "the derivative with respect to \"%s\" is infinite, or too large for a double",
	         pointer);
	return fault_contact(fault, error, words);
}

void api_response_add_header(struct api_response *response, const char *name, const char *value)
{
	if (response->n_headers == API_MAX_HEADERS)
		return;
	char *copy = response->headers[response->n_headers].value;
	const size_t bytes = strnlen(value, sizeof(response->headers[0].value) - 1);
	memcpy(copy, value, bytes);
	copy[bytes] = '\0';
	response->headers[response->n_headers++].name = name;
}

static void forget_body(struct api_response *response)
{
	response->body = NULL;
	response->body_bytes = response->body_capacity = 0;
	response->pool = NULL;
	response->parts = NULL;
	response->n_parts = 0;
	response->release = NULL;
}

/* Sets members one by one, because the headers' values take two kilobytes. */
void api_response_clear(struct api_response *response)
{
	response->status = 0;
	response->content_type = NULL;
	response->n_headers = 0;
	forget_body(response);
	response->measure = (struct api_measure){0};
}

void api_response_free(struct api_response *response)
{
	if (response->release)
		response->release(response->owner);
	free(response->parts);
	if (response->body != no_memory)
		api_pool_give(response->pool, response->body, response->body_capacity);
	forget_body(response);
}

/* The functions below return false or NULL when out of memory, because half a problem is worse than none. */
static bool add_errors(const struct api_fault *fault, json_t *root)
{
	json_t *list = json_array();
	if (json_object_set_new(root, "errors", list))
		return false;
	for (int i = 0; i < fault->n_errors; i++)
		if (json_array_append_new(
				list, json_pack("{s:s, s:s}", "pointer", fault->errors[i].pointer, "detail", fault->errors[i].detail)))
			return false;
	return true;
}

static char *print_fault(const struct api_fault *fault, const char *request_id)
{
	const char *detail = *fault->detail ? fault->detail : fault->n_errors ? fault->errors[0].detail : "";
	const char *name = api_code_name(fault->code);
	char type[64];
	size_t bytes;
	snprintf(type, sizeof(type), "/errors/%s", name);
	json_t *root = json_pack("{s:s, s:s, s:s, s:i, s:s}", "type", type, "code", name, "title",
	                         api_status_title(fault->status), "status", fault->status, "detail", detail);
	bool ok = root;
	if (ok && fault->status >= 500 && request_id)
		ok = !json_object_set_new(root, "request_id", json_string(request_id));
	ok = ok && add_errors(fault, root);
	char *text = api_json_print(ok ? root : NULL, JSON_COMPACT, &bytes);
	json_decref(root);
	return text;
}

void api_fault_response(const struct api_fault *fault, const char *request_id, struct api_response *response)
{
	char *text = print_fault(fault, request_id);
	response->status = text ? fault->status : 503;
	response->content_type = "application/problem+json";
	response->body = text ? text : no_memory;
	response->body_bytes = strlen(response->body);
	if (response->status == 503)
		api_response_add_header(response, "Retry-After", "1");
}

void api_problem(enum api_code code, const char *detail, struct api_response *response)
{
	struct api_fault fault;
	api_fault_clear(&fault);
	api_fault_set(&fault, code, "%s", detail ? detail : api_status_title(api_code_status(code)));
	api_response_clear(response);
	api_fault_response(&fault, NULL, response);
}

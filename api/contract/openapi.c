#include "api/contract/openapi.h"

#include <stdio.h>
#include <string.h>

#include "api/base/json_memory.h"
#include "api/codec/media.h"
#include "api/codec/skeleton.h"
#include "api/contract/schema.h"
#include "api/problem.h"

/* The operation being described: a route and one of its methods. */
struct described {
	const struct api_route *route;
	const struct api_operation *operation;
	const char *method; /* "get" */
};

/* ---- parts ---- */

#define set api_schema_set
#define append api_schema_append
#define quoted api_quoted_read

/* References to several objects as anyOf, or to a single one. */
static json_t *any_of(struct api_schemas *s, const struct api_object *const *objects)
{
	json_t *forms = json_array();
	for (int i = 0; objects[i]; i++)
		append(s, forms, api_schema_of(s, objects[i]));
	return api_schema_any_of(s, forms);
}

static json_t *add_example(struct api_schemas *s, json_t *examples, const struct api_example *e, json_t *value)
{
	json_t *example = set(s, examples, e->name, json_object());
	if (e->summary)
		set(s, example, "summary", json_string(e->summary));
	return set(s, example, "value", value);
}

/* Collects examples of requests (status 0), or of answers with the given status. */
static void collect_examples(struct api_schemas *s, json_t *examples, const struct api_example *e, int status)
{
	for (; e && e->name; e++) {
		const char *text = status ? e->answer : e->request;
		if (text && (!status || status == e->status))
			add_example(s, examples, e, quoted(text));
	}
}

/* Adds nothing if there are no examples. */
static void set_examples(struct api_schemas *s, json_t *owner, json_t *examples)
{
	if (json_object_size(examples))
		set(s, owner, "examples", examples);
	else
		json_decref(examples);
}

static void add_examples(struct api_schemas *s, json_t *content, const struct api_example *e, int status)
{
	json_t *examples = json_object();
	collect_examples(s, examples, e, status);
	set_examples(s, content, examples);
}

static const char frame_description[] =
	"Binary: the length of the document in 8 bytes (unsigned, little-endian), the document, padded with spaces to a"
	" multiple of 64 bytes in total, and the bytes of the arrays.";

/* A frame is binary, so its schema describes the document inside. */
static void add_frame(struct api_schemas *s, json_t *content, const struct api_object *const *objects)
{
	json_t *frame = set(s, content, api_media_frame, json_object()), *schema = set(s, frame, "schema", json_object());
	set(s, schema, "type", json_string("string"));
	set(s, schema, "description", json_string(frame_description));
	set(s, schema, "contentMediaType", json_string(api_media_frame));
	s->in_frame = true;
	set(s, schema, "contentSchema", any_of(s, objects));
	s->in_frame = false;
}

/* Adds the contents of a response with this status, or of the request if status is 0. */
static void add_contents(struct api_schemas *s, const struct described *d, json_t *owner, int status)
{
	const struct api_object *const *objects = status ? d->operation->answers : d->operation->requests;
	json_t *content = set(s, owner, "content", json_object()), *json = set(s, content, api_media_json, json_object());
	s->is_request = !status;
	set(s, json, "schema", any_of(s, objects));
	add_examples(s, json, d->operation->examples, status);
	if (!status && d->operation->merges)
		set(s, content, api_media_merge, json_incref(json));
	if (d->route->negotiates && !(status && d->operation->answers_json))
		add_frame(s, content, objects);
}

/* ---- responses ---- */

static void add_header(struct api_schemas *s, json_t *headers, const char *name)
{
	set(s, headers, name, api_schema_ref("headers", name));
}

static json_t *add_headers(struct api_schemas *s, json_t *response)
{
	json_t *headers = set(s, response, "headers", json_object());
	add_header(s, headers, "X-Request-Id");
	add_header(s, headers, "traceresponse");
	return headers;
}

enum { NAME_BYTES = 20 }; /* enough for "Failure" and any int */

static const char *name_status(int status, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "%d", status);
	return name;
}

/* Adds the parts that all successful answers of an operation share. */
static json_t *add_answer(struct api_schemas *s, const struct described *d, int status, const char *meaning,
                          json_t *responses)
{
	const struct api_operation *o = d->operation;
	json_t *response = set(s, responses, name_status(status, (char[NAME_BYTES]){0}), json_object());
	set(s, response, "description", json_string(meaning));
	json_t *headers = add_headers(s, response);
	if (d->route->is_conditional)
		add_header(s, headers, "Collision-Set-Version");
	if (o->has_tag)
		add_header(s, headers, "ETag");
	if (o->has_tag && d->route->negotiates)
		add_header(s, headers, "Vary");
	return response;
}

static void add_success(struct api_schemas *s, const struct described *d, int status, const char *meaning,
                        json_t *responses)
{
	const struct api_operation *o = d->operation;
	json_t *response = add_answer(s, d, status, meaning, responses), *headers = json_object_get(response, "headers");
	if (o->is_timed)
		add_header(s, headers, "Server-Timing");
	if (status == 201)
		add_header(s, headers, "Location");
	if (o->answers)
		add_contents(s, d, response, status);
	else if (o->content)
		set(s, response, "content", quoted(o->content));
}

static void add_successes(struct api_schemas *s, const struct described *d, json_t *responses)
{
	const struct api_operation *o = d->operation;
	add_success(s, d, o->status ? o->status : 200, o->answers ? o->answers[0]->meaning : o->summary, responses);
	if (o->has_location)
		add_success(s, d, 201, "The name was free.", responses);
	if (o->has_tag)
		add_answer(s, d, 304, "The client's copy is current: If-None-Match has its ETag.", responses);
}

/* The kinds of routes (problem.h) to which an operation belongs, as bits. */
static unsigned where(const struct described *d)
{
	const struct api_operation *o = d->operation;
	unsigned bits = API_ANYWHERE;
	bits |= d->route->is_open ? 0 : API_WHERE_GATED;
	bits |= d->route->negotiates ? API_WHERE_NEGOTIATED : 0;
	bits |= strchr(d->route->path, '{') ? API_WHERE_NAMED : 0;
	bits |= d->route->is_conditional ? API_WHERE_CONDITIONAL : 0;
	bits |= o->requests ? API_WHERE_POSTED : 0;
	bits |= (o->requests || o->url_query || d->route->is_conditional) && !d->route->failure ? API_WHERE_CHECKED : 0;
	return bits;
}

/* Whether a route reports failures with this status in its own form. */
static bool has_failure(const struct api_route *route, int status)
{
	return route->failure && (status == 400 || status == 500);
}

/* The component name of a response that several routes share. fails: routes with their own form of failures */
static const char *name_response(int status, bool fails, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "%s%d", fails ? "Failure" : "", status);
	return name;
}

static void add_responses(struct api_schemas *s, const struct described *d, json_t *operation)
{
	json_t *responses = set(s, operation, "responses", json_object());
	const struct api_status *status;
	char code[NAME_BYTES];
	add_successes(s, d, responses);
	for (int i = 0; (status = api_status_at(i)); i++)
		if (status->where & where(d)) {
			char name[NAME_BYTES];
			name_response(status->status, has_failure(d->route, status->status), name);
			set(s, responses, name_status(status->status, code), api_schema_ref("responses", name));
		}
}

/* Lists the codes that a status may have. */
static json_t *codes_of(struct api_schemas *s, int status)
{
	json_t *schema = json_object(), *codes;
	set(s, schema, "type", json_string("string"));
	codes = set(s, schema, "enum", json_array());
	for (enum api_code code = API_NO_CODE + 1; code < API_N_CODES; code++)
		if (api_code_status(code) == status)
			append(s, codes, json_string(api_code_name(code)));
	return schema;
}

/* Collects the examples of all operations. */
static void add_problem_examples(struct api_schemas *s, const struct api_table *table, json_t *problem, int status)
{
	json_t *examples = json_object();
	for (int i = 0; i < table->n; i++)
		for (int m = 0; m < API_N_METHODS; m++)
			if (table->rows[i].methods[m])
				collect_examples(s, examples, table->rows[i].methods[m]->examples, status);
	set_examples(s, problem, examples);
}

static void add_problem(struct api_schemas *s, const struct api_table *table, const struct api_status *status,
                        json_t *responses)
{
	static const struct {
		int status;
		const char *header;
	} more[] = {{401, "WWW-Authenticate"},
	            {405, "Allow"},
	            {412, "Collision-Set-Version"},
	            {415, "Accept-Patch"},
	            {503, "Retry-After"}};
	char code[NAME_BYTES];
	json_t *response = set(s, responses, name_status(status->status, code), json_object());
	set(s, response, "description", api_schema_text("%s. %s", status->title, status->meaning));
	json_t *headers = add_headers(s, response);
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if (status->status == more[i].status)
			add_header(s, headers, more[i].header);
	json_t *content = set(s, response, "content", json_object());
	json_t *problem = set(s, content, "application/problem+json", json_object());
	json_t *schema = set(s, problem, "schema", json_object()), *all = set(s, schema, "allOf", json_array());
	s->is_request = false;
	append(s, all, api_schema_of(s, &api_problem_document));
	append(s, all,
	       json_pack("{s:{s:{s:i}, s:{s:s}, s:o}}", "properties", "status", "const", status->status, "title", "const",
	                 status->title, "code", codes_of(s, status->status)));
	add_problem_examples(s, table, problem, status->status);
}

/* Adds failures in a route's own form. */
static void add_failures(struct api_schemas *s, const struct api_route *route, json_t *responses)
{
	for (int status = 400; status <= 500; status += 100) {
		char code[NAME_BYTES], name[NAME_BYTES];
		json_t *problem = json_object_get(responses, name_response(status, false, code));
		if (!route->failure || json_object_get(responses, name_response(status, true, name)))
			continue;
		json_t *response = set(s, responses, name, json_deep_copy(problem)),
			   *json = set(s, json_object_get(response, "content"), api_media_json, json_object());
		set(s, json, "schema", api_schema_of(s, route->failure));
	}
}

/* ---- requests ---- */

static json_t *add_parameter(struct api_schemas *s, json_t *parameters, json_t *name, const char *in)
{
	json_t *parameter = append(s, parameters, json_object());
	set(s, parameter, "name", name);
	set(s, parameter, "in", json_string(in));
	return parameter;
}

static void add_parameter_examples(struct api_schemas *s, json_t *parameter, const char *name,
                                   const struct api_example *e)
{
	json_t *examples = json_object();
	for (; e && e->name; e++) {
		if (!e->request)
			continue;
		json_t *request = quoted(e->request), *value = json_object_get(request, name);
		s->failed |= !request;
		if (value)
			add_example(s, examples, e, json_incref(value));
		json_decref(request);
	}
	set_examples(s, parameter, examples);
}

static json_t *url_query_schema(struct api_schemas *s, const struct api_rule *rule)
{
	if (rule->kind != API_REALS)
		return api_schema_field(s, rule, 0);
	json_t *schema = quoted("{'type': 'array', 'minItems': 1, 'items': {'type': 'number'}}");
	json_t *items = json_object_get(schema, "items");
	if (rule->range != API_ANY)
		set(s, items, rule->range == API_POSITIVE ? "exclusiveMinimum" : "minimum", json_integer(0));
	return schema;
}

static bool is_named_before(const struct api_object *object, int i)
{
	for (int j = 0; j < i; j++)
		if (!strcmp(object->rules[j].name, object->rules[i].name))
			return true;
	return false;
}

/* Lists all rules of the object, for all types, because a path cannot express which function has which parameters. Of
 * two with the same name, the first accepts the most. */
static void add_url_query(struct api_schemas *s, const struct api_operation *o, json_t *parameters)
{
	s->is_request = true;
	for (int i = 0; o->url_query && i < o->url_query->n_rules; i++) {
		const struct api_rule *rule = &o->url_query->rules[i];
		if (is_named_before(o->url_query, i))
			continue;
		json_t *parameter = add_parameter(s, parameters, json_string(rule->name), "query");
		set(s, parameter, "description",
		    api_schema_text("%s%s%s", rule->meaning, rule->unit ? "; unit: " : "", rule->unit ? rule->unit : ""));
		if (rule->kind == API_REALS) {
			set(s, parameter, "style", json_string("form"));
			set(s, parameter, "explode", json_false());
		}
		set(s, parameter, "schema", url_query_schema(s, rule));
		add_parameter_examples(s, parameter, rule->name, o->examples);
	}
}

static void add_names(struct api_schemas *s, api_lister *list, json_t *schema)
{
	json_t *names = set(s, schema, "enum", json_array());
	enum api_function_kind kind;
	const char *name;
	for (int i = 0; list(i, &name, &kind); i++)
		append(s, names, json_string(name));
}

/* Adds the path parameter that begins at `open`. */
static void add_path_parameter(struct api_schemas *s, const struct described *d, const char *open, json_t *parameters)
{
	char name[API_NAME_BYTES];
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(open + 1, "}"), open + 1);
	json_t *parameter = add_parameter(s, parameters, json_string(name), "path");
	set(s, parameter, "required", json_true());
	json_t *schema = set(s, parameter, "schema", quoted("{'type': 'string'}"));
	if (d->route->names)
		add_names(s, d->route->names, schema);
	if (d->route->pattern)
		set(s, schema, "pattern", json_string(d->route->pattern));
	add_parameter_examples(s, parameter, name, d->operation->examples);
}

static void add_parameters(struct api_schemas *s, const struct described *d, json_t *operation)
{
	json_t *parameters = set(s, operation, "parameters", json_array());
	append(s, parameters, api_schema_ref("parameters", "RequestId"));
	append(s, parameters, api_schema_ref("parameters", "Traceparent"));
	if (d->route->is_conditional)
		append(s, parameters, api_schema_ref("parameters", "IfCollisionSetVersion"));
	if (d->operation->has_tag || d->operation->has_location)
		append(s, parameters, api_schema_ref("parameters", "IfNoneMatch"));
	for (const char *open = strchr(d->route->path, '{'); open; open = strchr(open + 1, '{'))
		add_path_parameter(s, d, open, parameters);
	add_url_query(s, d->operation, parameters);
}

static void add_body(struct api_schemas *s, const struct described *d, json_t *operation)
{
	if (!d->operation->requests)
		return;
	json_t *body = set(s, operation, "requestBody", json_object());
	set(s, body, "required", json_true());
	add_contents(s, d, body, 0);
}

/* ---- paths ---- */

/* The members that the descriptions of GET and HEAD share. */
static json_t *begin_operation(struct api_schemas *s, const struct described *d, json_t *path, const char *method,
                               const char *suffix, const char *summary)
{
	const struct api_operation *o = d->operation;
	json_t *operation = set(s, path, method, json_object()), *tags = set(s, operation, "tags", json_array());
	append(s, tags, json_string(o->tag));
	set(s, operation, "operationId", api_schema_text("%s%s", o->id, suffix));
	set(s, operation, "summary", json_string(summary));
	return operation;
}

static void add_open(struct api_schemas *s, const struct described *d, json_t *operation)
{
	if (d->route->is_open)
		set(s, operation, "security", json_array());
}

static void add_operation(struct api_schemas *s, const struct described *d, json_t *path)
{
	json_t *operation = begin_operation(s, d, path, d->method, "", d->operation->summary);
	set(s, operation, "description", json_string(d->operation->description));
	add_open(s, d, operation);
	add_parameters(s, d, operation);
	add_body(s, d, operation);
	add_responses(s, d, operation);
}

static void add_head(struct api_schemas *s, const struct described *d, json_t *path)
{
	json_t *operation = begin_operation(s, d, path, "head", "Head", "As GET, without the body");
	add_open(s, d, operation);
	json_t *parameters = json_copy(json_object_get(json_object_get(path, "get"), "parameters"));
	set(s, operation, "parameters", parameters);
	set(s, operation, "responses",
	    quoted("{'200': {'description': 'The headers of the answer to GET.'},"
	           " 'default': {'description': 'The headers of the problem that GET would return.'}}"));
}

static void add_path(struct api_schemas *s, const struct api_route *route, json_t *paths)
{
	static const char *const methods[API_N_METHODS] = {"get", "post", "put", "patch", "delete"};
	json_t *path = set(s, paths, route->path, json_object());
	for (enum api_method m = 0; m < API_N_METHODS; m++) {
		const struct described d = {route, route->methods[m], methods[m]};
		if (!d.operation)
			continue;
		add_operation(s, &d, path);
		if (m == API_GET)
			add_head(s, &d, path);
	}
}

/* ---- the document ---- */

static const char description[] =
	"Evaluates the friction terms of Incremental Potential Contact: smooth Coulomb friction with static and kinetic"
	" coefficients.\n\n"
	"Units may be any consistent ones; nothing is converted. The friction force is the negative gradient. Large arrays"
	" may"
	" be sent in binary frames instead of JSON. Errors are RFC 9457 problems with JSON Pointers to the culprits."
	" Unknown"
	" fields are errors.\n\n"
	"Limits of this server: %s.";

static void print_limits(const struct api_service *service, char *out, size_t bytes)
{
	int at = 0;
	for (const struct api_limit *limit = api_limits; limit < api_limits + api_n_limits; limit++)
		if (limit->required || api_limit_number(limit, service))
			at += snprintf(out + at, bytes - (size_t)at, "%s%s%zu%s", at ? ", " : "", limit->before,
			               api_limit_number(limit, service), limit->after);
}

static void add_info(struct api_schemas *s, json_t *root)
{
	char limits[512];
	print_limits(s->service, limits, sizeof(limits));
	set(s, root, "openapi", json_string("3.1.0"));
	json_t *info = set(s, root, "info", json_object());
	set(s, info, "title", json_string("frictiond"));
	set(s, info, "version", json_string(FRIC_VERSION));
	set(s, info, "summary", json_string("Contact friction over HTTP"));
	set(s, info, "description", api_schema_text(description, limits));
	set(s, info, "license", quoted("{'name': 'MIT', 'identifier': 'MIT'}"));
	set(s, root, "servers", quoted("[{'url': '/'}]"));
	set(s, root, "security", quoted("[{'token': []}, {}]"));
	set(s, root, "tags",
	    quoted("[{'name': 'evaluation', 'description': 'Batches of contacts'},"
	           " {'name': 'contacts', 'description': 'Contacts found in meshes'},"
	           " {'name': 'derivatives', 'description': 'Derivatives with respect to any numbers of a batch'},"
	           " {'name': 'sets', 'description': 'Prepared contacts that the service keeps under a name'},"
	           " {'name': 'um-bridge', 'description': 'The models of the protocol UM-Bridge 1.0'},"
	           " {'name': 'functions', 'description': 'The functions of the friction law'},"
	           " {'name': 'service', 'description': 'The server itself'}]"));
}

/* Lists the functions of each kind of parameters. */
static void add_calls(struct api_schemas *s, api_lister *list)
{
	enum api_function_kind kind;
	const char *name;
	for (int i = 0; list(i, &name, &kind); i++) {
		json_t *call = json_object_get(s->components, api_calls[kind].name),
			   *names = json_object_get(call, "x-functions");
		append(s, names ? names : set(s, call, "x-functions", json_array()), json_string(name));
	}
}

/* Adds the constraints of a dimension, for JSON or for a frame's document. */
static void add_dimensions(struct api_schemas *s, const char *request, bool in_frame)
{
	json_t *all = set(s, json_object_get(s->components, request), "allOf", json_array());
	s->is_request = true;
	s->in_frame = in_frame;
	for (int dim = 2; dim <= 3; dim++) {
		char name[32];
		snprintf(name, sizeof(name), "In%dD%s", dim, in_frame ? "Frame" : "");
		json_t *schema = api_schema_of_dimension(s, &api_request, dim);
		set(s, schema, "description", api_schema_text("Constraints of dim %d on %s.", dim, request));
		set(s, s->components, name, schema);
		append(s, all,
		       json_pack("{s:{s:{s:{s:i}}, s:[s]}, s:o}", "if", "properties", "dim", "const", dim, "required", "dim",
		                 "then", api_schema_ref("schemas", name)));
	}
	s->in_frame = false;
}

static const char headers[] =
	"{'X-Request-Id': {'description': 'The id that the request sent, if it has 1 to 128 characters out of"
	" A-Za-z0-9._-:/+=@, or a new one; also in the log.', 'required': true, 'schema': {'type': 'string', 'pattern':"
	" '^[A-Za-z0-9._:/+=@-]{1,128}$'}}, 'traceresponse': {'description': 'If the request had a valid traceparent: its"
	" trace and the span of this service.', 'schema': {'type': 'string', 'pattern':"
	" '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'}}, 'Server-Timing': {'description': 'Milliseconds spent in decode,"
	" prepare, evaluate, encode.', 'schema': {'type': 'string', 'pattern': '^[a-z]+;dur=[0-9]+[.][0-9]{3}(,"
	" [a-z]+;dur=[0-9]+[.][0-9]{3})*$'}}, 'Retry-After': {'description': 'Seconds to wait before repeating the"
	" request.', 'required': true, 'schema': {'type': 'integer', 'minimum': 0}}, 'Allow': {'description': 'The methods"
	" of this path.', 'required': true, 'schema': {'type': 'string'}}, 'Collision-Set-Version': {'description':"
	" 'Version of the set that the request is about; also with errors.', 'schema': {'type': 'string', 'pattern':"
	" '^[0-9a-f]{32}$'}}, 'Location': {'description': 'The path of the created set.', 'required': true, 'schema':"
	" {'type': 'string', 'pattern': '^/v1/sets/'}}, 'ETag': {'description': 'For If-None-Match.', 'required': true,"
	" 'schema': {'type': 'string', 'pattern': '^\"[!#-~]+\"$'}}, 'Vary': {'description': 'The answer depends on"
	" Accept.', 'required': true, 'schema': {'type': 'string', 'pattern': 'Accept'}}, 'Accept-Patch': {'description':"
	" 'The media types that PATCH accepts.', 'schema': {'type': 'string'}}, 'WWW-Authenticate': {'description':"
	" 'Bearer, with error=invalid_token if the request had a token.', 'required': true, 'schema': {'type': 'string'}}}";
static const char parameters[] =
	"{'RequestId': {'name': 'X-Request-Id', 'in': 'header', 'description': 'Id for the answer and the log; an invalid"
	" one is replaced.', 'schema': {'type': 'string'}}, 'IfCollisionSetVersion': {'name': 'If-Collision-Set-Version',"
	" 'in': 'header', 'description': 'Expected version of the set: 412 if it is another one.', 'schema': {'type':"
	" 'string'}}, 'IfNoneMatch': {'name': 'If-None-Match', 'in': 'header', 'description': 'With PUT, *: 412 if the name"
	" is taken. With GET, the ETag of the copy that the client has: 304 if it is current.', 'schema': {'type':"
	" 'string'}}, 'Traceparent': {'name': 'traceparent', 'in': 'header', 'description': 'W3C Trace Context.', 'schema':"
	" {'type': 'string'}}}";
static const char security[] =
	"{'token': {'type': 'http', 'scheme': 'bearer', 'description': 'Required if the server has tokens.'}}";

static void add_routes(struct api_schemas *s, const struct api_table *table, json_t *root)
{
	json_t *paths = set(s, root, "paths", json_object());
	for (int i = 0; i < table->n; i++)
		add_path(s, &table->rows[i], paths);
}

static void add_problems(struct api_schemas *s, const struct api_table *table, json_t *responses)
{
	const struct api_status *status;
	for (int i = 0; (status = api_status_at(i)); i++)
		if (status->where)
			add_problem(s, table, status, responses);
	for (int i = 0; i < table->n; i++)
		add_failures(s, &table->rows[i], responses);
}

static json_t *document(struct api_schemas *s, const struct api_table *table)
{
	json_t *root = json_object();
	add_info(s, root);
	json_t *components = json_object(), *responses = set(s, components, "responses", json_object());
	s->components = set(s, components, "schemas", json_object());
	set(s, s->components, "FrameArray", api_schema_reference());
	add_routes(s, table, root);
	add_problems(s, table, responses);
	for (int i = 0; i < table->n; i++)
		if (table->rows[i].names)
			add_calls(s, table->rows[i].names);
	add_dimensions(s, api_request.name, false);
	add_dimensions(s, "EvaluateRequestFrame", true);
	set(s, components, "headers", quoted(headers));
	set(s, components, "parameters", quoted(parameters));
	set(s, components, "securitySchemes", quoted(security));
	set(s, root, "components", components);
	return root;
}

char *api_openapi_print(const struct api_service *service, const struct api_table *table, size_t *bytes)
{
	const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(15);
	struct api_schemas schemas = {.service = service};
	json_t *root = document(&schemas, table);
	char *text = api_json_print(schemas.failed ? NULL : root, flags, bytes);
	json_decref(root);
	return text;
}

#include "api/contract/openapi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/routes/functions.h"
#include "api/codec/media.h"
#include "api/problem.h"
#include "api/contract/schema.h"

/* ---- operations ---- */

/* One that the tests send; both in JSON with ' for ". Of a GET: its parameters. */
struct example {
	const char *name, *summary, *request, *answer;
	int status;
};

/* What an answer is other than JSON and frames. */
enum medium { JSON_OR_FRAME, JSON_ONLY, OPENAPI, METRICS, PAGE, ASSET };

struct operation {
	const char *path, *method, *id, *tag, *summary, *description;
	const char *probe;  /* a path that is there if this operation is; NULL: always */
	const struct api_object *const *requests, *const *answers; /* NULL-terminated; NULL: none */
	enum medium medium;
	unsigned where;
	const struct example *examples; /* ended by one without a name */
};

#define OBJECTS(...) (const struct api_object *const[]){__VA_ARGS__, NULL}
#define ONE_VERTEX "'dim': 3, 'velocities': [[0.25, 0, 0]], 'friction': {'eps_v': 0.5, 'mu': 0.5}, " \
	"'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 0, 1], 'normal_force': 8}}"

static const struct example evaluate_examples[] = {
	{"sliding_vertex", "A vertex on a floor, at half of eps_v",
		"{" ONE_VERTEX ", 'outputs': ['potential', 'gradient', 'collisions'],"
	 " 'collision_outputs': ['status', 'slip_ratio', 'tangential_velocity']}",
	 "{'n_vertices': 1, 'n_collisions': 1, 'potential': 1.08333333333333, 'gradient': [3.0, 0.0, 0.0], 'collisions':"
	 " {'plane_vertex': {'tangential_velocity': [[0.25, 0.0]], 'status': [0], 'slip_ratio': [0.5]}}}", 200},
	{"hessian_in_rows", "2D, a vertex on an edge with given geometry; the Hessian's upper triangle in compressed rows",
	 "{'dim': 2, 'velocities': [[0.5, 0], [0, 0], [0, 0]], 'friction': {'eps_v': 1, 'mu_s': 0.5, 'mu_k': 0.25},"
	 " 'collisions': {'edge_vertex': {'vertices': [[0, 1, 2]], 'normal_force': 8, 'closest_point': [0.5],"
	 " 'tangent_basis': [[1], [0]]}}, 'outputs': ['hessian'], 'hessian': {'format': 'csr', 'triangle': 'upper'}}",
	 "{'n_vertices': 3, 'n_collisions': 1, 'hessian': {'format': 'csr', 'shape': [6, 6], 'indptr': [0, 6, 11, 15, 18,"
	" 20,"
	 " 21], 'indices': [0, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 2, 3, 4, 5, 3, 4, 5, 4, 5, 5], 'data': [0.75, 0.0, -0.375,"
	" 0.0,"
	 " -0.375, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1875, 0.0, 0.1875, 0.0, 0.0, 0.0, 0.0, 0.1875, 0.0, 0.0]}}", 200},
	{"no_such_vertex", "An index that is out of range",
	 "{'dim': 3, 'velocities': [[0, 0, 0], [0, 0, 0]], 'friction': {'eps_v': 0.001, 'mu': 0.5}, 'collisions':"
	 " {'plane_vertex': {'vertices': [0, 912], 'plane_normal': [0, 0, 1], 'normal_force': 9.81}}}",
	 "{'type': 'about:blank', 'title': 'Unprocessable Content', 'status': 422, 'detail': '912 is not a vertex: there"
	" are 2',"
	 " 'errors': [{'pointer': '/collisions/plane_vertex/vertices/1', 'detail': '912 is not a vertex: there are 2'}]}",
	422},
	{0},
};
static const struct example check_examples[] = {
	{"sliding_vertex", "A vertex on a floor", "{" ONE_VERTEX "}", NULL, 200}, {0},
};
static const struct example get_function_examples[] = {
	{"transition", "From static to kinetic",
	 "{'name': 'smooth_mu', 'y': [0, 0.25, 0.5], 'mu_s': [1], 'mu_k': [0.5], 'eps_v': [0.5]}",
	 "{'function': 'smooth_mu', 'values': [1.0, 0.75, 0.5]}", 200},
	{"direction", "Pairs are sent flat", "{'name': 'anisotropic_x_from_tau_aniso', 'tau_aniso': [3, 4, 0, -2]}",
	 "{'function': 'anisotropic_x_from_tau_aniso', 'values': [[0.6, 0.8], [0.0, -1.0]]}", 200},
	{0},
};
static const struct example post_function_examples[] = {
	{"smooth_mu_f1", "Friction force per normal force",
	 "{'y': [0.25, 0.5, 2], 'mu_s': 1, 'mu_k': [0.1, 0.2, 0.3], 'eps_v': 1, 'mu_transition': 'quadratic'}",
	 "{'function': 'smooth_mu_f1', 'values': [0.38828125, 0.45, 0.3]}", 200},
	{"anisotropic_mu_eff_f", "Matchstick coefficients along two directions",
	 "{'tau_dir': [[1, 0], [0, 1]], 'mu_s_aniso': [0.5, 0.25], 'mu_k_aniso': [0.25, 0.125]}",
	 "{'function': 'anisotropic_mu_eff_f', 'values': [[0.5, 0.25], [0.25, 0.125]]}", 200},
	{0},
};
static const struct example health_examples[] = {{"ok", "It answers", NULL, "{'status': 'ok'}", 200}, {0}};

static const struct operation operations[] = {
	{"/v1/evaluate", "post", "evaluate", "evaluation", "Potential, gradient, Hessian and values per contact of a batch",
	 "Pure: the same request gives the same bytes, at any load and number of threads. Repeating it is safe. Beyond"
	" this schema:"
	 " a group that derives geometry needs positions, one without normal_force needs barrier, one without"
	" coefficients or eps_v"
	 " needs them in friction.",
	 "/v1/evaluate", OBJECTS(&api_request), OBJECTS(&api_answer), JSON_OR_FRAME,
	 API_WHERE_GATED | API_WHERE_NEGOTIATED | API_WHERE_POSTED | API_WHERE_CHECKED, evaluate_examples},
	{"/v1/check", "post", "check", "evaluation", "Compares gradient and Hessian of a batch with central differences",
	 "The request of /v1/evaluate; outputs, collision_outputs and hessian are checked and otherwise ignored.",
	 "/v1/check", OBJECTS(&api_request), OBJECTS(&api_check_answer), JSON_OR_FRAME,
	 API_WHERE_GATED | API_WHERE_NEGOTIATED | API_WHERE_POSTED | API_WHERE_CHECKED, check_examples},
	{"/v1/functions", "get", "listFunctions", "functions", "The scalar functions of the friction law",
	 "Their names, parameters and meaning.", "/v1/functions", NULL, OBJECTS(&api_function_list_answer), JSON_OR_FRAME,
	 API_WHERE_GATED | API_WHERE_NEGOTIATED, NULL},
	{"/v1/functions/{name}", "get", "getFunction", "functions", "One of them at some points, parameters in the query",
	 "Which parameters a function takes tells /v1/functions; others are refused. Those after the first are one value"
	" (or pair)"
	 " for all, or one per entry.",
	 "/v1/functions/smooth_mu", NULL, OBJECTS(&api_function_answer, &api_pairs_answer), JSON_OR_FRAME,
	 API_WHERE_GATED | API_WHERE_NEGOTIATED | API_WHERE_NAMED | API_WHERE_CHECKED, get_function_examples},
	{"/v1/functions/{name}", "post", "postFunction", "functions", "One of them at many points, parameters in the body",
	 "Parameters after the first are one value (or pair) for all, or one per entry.", "/v1/functions/smooth_mu",
	 OBJECTS(&api_calls[API_SMOOTH_FRICTION], &api_calls[API_SMOOTH_MU], &api_calls[API_DIRECTION],
	         &api_calls[API_ELLIPSE],
	         &api_calls[API_EFFECTIVE]),
	 OBJECTS(&api_function_answer, &api_pairs_answer), JSON_OR_FRAME,
	 API_WHERE_GATED | API_WHERE_NEGOTIATED | API_WHERE_NAMED | API_WHERE_POSTED | API_WHERE_CHECKED,
	 post_function_examples},
	{"/v1/info", "get", "info", "service", "Version, limits, threads", "What this server is.", "/v1/info", NULL,
	 OBJECTS(&api_info_answer), JSON_OR_FRAME, API_WHERE_GATED | API_WHERE_NEGOTIATED, NULL},
	{"/healthz", "get", "health", "service", "Whether the process answers", "For probes; needs no token.", "/healthz",
		NULL,
	 OBJECTS(&api_health_answer), JSON_ONLY, 0, health_examples},
	{"/readyz", "get", "ready", "service", "Whether requests are taken", "503 while the server drains; needs no token.",
	 "/readyz", NULL, OBJECTS(&api_health_answer), JSON_ONLY, 0, health_examples},
	{"/metrics", "get", "metrics", "service", "Counters and states for Prometheus", "Text exposition format 0.0.4.",
		NULL, NULL,
	 NULL, METRICS, API_WHERE_GATED, NULL},
	{"/openapi.json", "get", "openapi", "service", "This description",
		"With the limits of this server; needs no token.",
	 "/openapi.json", NULL, NULL, OPENAPI, 0, NULL},
	{"/", "get", "explorer", "service", "The explorer, a page to try the service with",
	 "With an ETag; needs no token.", "/", NULL,
		NULL, PAGE,
	 0, NULL},
	{"/explorer/{file}", "get", "explorerFile", "service", "The page's scripts and styles",
	 "With an ETag; needs no token.", "/",
		NULL, NULL,
	 ASSET, API_WHERE_NAMED, NULL},
};

/* ---- parts ---- */

#define set api_schema_set
#define append api_schema_append
#define quoted api_schema_quoted

static json_t *ref(const char *where, const char *name)
{
	char text[128];
	snprintf(text, sizeof(text), "#/components/%s/%s", where, name);
	return json_pack("{s:s}", "$ref", text);
}

/* References to the objects, or the only one. */
static json_t *any_of(struct api_schemas *s, const struct api_object *const *objects)
{
	if (!objects[1])
		return api_schema_of(s, objects[0]);
	json_t *schema = json_object(), *forms = set(s, schema, "anyOf", json_array());
	for (int i = 0; objects[i]; i++)
		append(s, forms, api_schema_of(s, objects[i]));
	return schema;
}

static json_t *add_example(struct api_schemas *s, json_t *examples, const struct example *e, json_t *value)
{
	json_t *example = set(s, examples, e->name, json_object());
	if (e->summary)
		set(s, example, "summary", json_string(e->summary));
	return set(s, example, "value", value);
}

/* The requests, or the answers with a status. */
static void add_examples(struct api_schemas *s, json_t *content, const struct example *e, int status)
{
	json_t *examples = json_object();
	for (; e && e->name; e++) {
		const char *text = status ? e->answer : e->request;
		if (text && (!status || status == e->status))
			add_example(s, examples, e, quoted(text));
	}
	if (json_object_size(examples))
		set(s, content, "examples", examples);
	else
		json_decref(examples);
}

/* A frame is binary: its schema is that of the document inside. */
static void add_contents(struct api_schemas *s, json_t *owner, const struct api_object *const *objects, bool is_request,
                         bool frames, const struct example *examples, int status)
{
	json_t *content = set(s, owner, "content", json_object()), *json = set(s, content, api_media_json, json_object());
	s->is_request = is_request;
	set(s, json, "schema", any_of(s, objects));
	add_examples(s, json, examples, status);
	if (!frames)
		return;
	json_t *frame = set(s, content, api_media_frame, json_object()), *schema = set(s, frame, "schema", json_object());
	set(s, schema, "description", json_string("Binary: 8 bytes length of the document (unsigned, little-endian); the"
		" document,"
	                                          " padded with spaces to a multiple of 64 bytes in all; the arrays'"
	" bytes."));
	set(s, schema, "contentMediaType", json_string(api_media_frame));
	s->in_frame = true;
	set(s, schema, "contentSchema", any_of(s, objects));
	s->in_frame = false;
}

/* ---- responses ---- */

static void add_header(struct api_schemas *s, json_t *headers, const char *name)
{
	set(s, headers, name, ref("headers", name));
}

static json_t *add_headers(struct api_schemas *s, json_t *response)
{
	json_t *headers = set(s, response, "headers", json_object());
	add_header(s, headers, "X-Request-Id");
	add_header(s, headers, "traceresponse");
	return headers;
}

static void add_response(struct api_schemas *s, const struct operation *o, json_t *responses)
{
	json_t *response = set(s, responses, "200", json_object());
	set(s, response, "description", json_string(o->answers ? o->answers[0]->meaning : o->summary));
	json_t *headers = add_headers(s, response);
	if (!strcmp(o->id, "evaluate") || !strcmp(o->id, "check"))
		add_header(s, headers, "Server-Timing");
	if (o->answers)
		add_contents(s, response, o->answers, false, o->medium == JSON_OR_FRAME, o->examples, 200);
	else if (o->medium == OPENAPI)
		set(s, response, "content", quoted("{'application/json': {'schema': {'type': 'object', 'required':"
			" ['openapi', 'info', 'paths']}}}"));
	else if (o->medium == METRICS)
		set(s, response, "content", quoted("{'text/plain': {'schema': {'type': 'string'}}}"));
	else if (o->medium == PAGE)
		set(s, response, "content", quoted("{'text/html': {'schema': {'type': 'string'}}}"));
	else
		set(s, response, "content", quoted("{'text/javascript': {'schema': {'type': 'string'}}, 'text/css':"
			" {'schema': {'type':"
		                                   " 'string'}}, '*/*': {'schema': {}}}"));
}

static void add_responses(struct api_schemas *s, const struct operation *o, json_t *operation)
{
	json_t *responses = set(s, operation, "responses", json_object());
	const struct api_status *status;
	char code[16];
	add_response(s, o, responses);
	if (o->medium == PAGE || o->medium == ASSET)
		set(s, responses, "304", quoted("{'description': 'If-None-Match names what is there.'}"));
	for (int i = 0; (status = api_status_at(i)); i++)
		if (status->where & (API_ANYWHERE | o->where)) {
			snprintf(code, sizeof(code), "%d", status->status);
			set(s, responses, code, ref("responses", code));
		}
}

static void add_problem(struct api_schemas *s, const struct api_status *status, json_t *responses)
{
	char code[16];
	snprintf(code, sizeof(code), "%d", status->status);
	json_t *response = set(s, responses, code, json_object());
	set(s, response, "description", api_schema_text("%s. %s", status->title, status->meaning));
	json_t *headers = add_headers(s, response);
	if (status->status == 401)
		add_header(s, headers, "WWW-Authenticate");
	if (status->status == 405)
		add_header(s, headers, "Allow");
	if (status->status == 503)
		add_header(s, headers, "Retry-After");
	json_t *content = set(s, response, "content", json_object());
	json_t *problem = set(s, content, "application/problem+json", json_object());
	json_t *schema = set(s, problem, "schema", json_object()), *all = set(s, schema, "allOf", json_array());
	s->is_request = false;
	append(s, all, api_schema_of(s, &api_problem_document));
	append(s, all, json_pack("{s:{s:{s:i}, s:{s:s}}}", "properties", "status", "const", status->status, "title",
		"const",
	                         status->title));
	if (status->status == 422)
		add_examples(s, problem, evaluate_examples, 422);
}

/* ---- requests ---- */

static void add_names(struct api_schemas *s, json_t *schema)
{
	json_t *names = set(s, schema, "enum", json_array());
	enum api_function_kind kind;
	const char *name;
	for (int i = 0; api_function_describe(i, &name, &kind); i++)
		append(s, names, json_string(name));
}

static json_t *add_parameter(struct api_schemas *s, json_t *parameters, const char *name, const char *in)
{
	json_t *parameter = append(s, parameters, json_object());
	set(s, parameter, "name", json_string(name));
	set(s, parameter, "in", json_string(in));
	return parameter;
}

static void add_parameter_examples(struct api_schemas *s, json_t *parameter, const char *name, const struct example *e)
{
	json_t *examples = json_object();
	for (; e && e->name; e++) {
		json_t *request = quoted(e->request), *value = json_object_get(request, name);
		s->failed |= !request;
		if (value)
			add_example(s, examples, e, json_incref(value));
		json_decref(request);
	}
	if (json_object_size(examples))
		set(s, parameter, "examples", examples);
	else
		json_decref(examples);
}

static json_t *query_schema(struct api_schemas *s, const struct api_rule *rule)
{
	if (rule->kind != API_REALS)
		return api_schema_field(s, rule, 0);
	json_t *schema = quoted("{'type': 'array', 'minItems': 1, 'items': {'type': 'number'}}");
	json_t *items = json_object_get(schema, "items");
	if (rule->range != API_ANY)
		set(s, items, rule->range == API_POSITIVE ? "exclusiveMinimum" : "minimum", json_integer(0));
	return schema;
}

/* Of all functions together: a path cannot say which takes which. */
static void add_query(struct api_schemas *s, const struct operation *o, json_t *parameters)
{
	const struct api_object *call = &api_calls[0];
	s->is_request = true;
	for (int i = 0; i < call->n_rules; i++) {
		const struct api_rule *rule = &call->rules[i];
		json_t *parameter = add_parameter(s, parameters, rule->name, "query");
		set(s, parameter, "description", api_schema_text("%s%s%s", rule->meaning, rule->unit ? "; unit: " : "",
		                                                 rule->unit ? rule->unit : ""));
		if (rule->kind == API_REALS) {
			set(s, parameter, "style", json_string("form"));
			set(s, parameter, "explode", json_false());
		}
		set(s, parameter, "schema", query_schema(s, rule));
		add_parameter_examples(s, parameter, rule->name, o->examples);
	}
}

static void add_parameters(struct api_schemas *s, const struct operation *o, json_t *operation)
{
	json_t *parameters = set(s, operation, "parameters", json_array());
	append(s, parameters, ref("parameters", "RequestId"));
	append(s, parameters, ref("parameters", "Traceparent"));
	if (!(o->where & API_WHERE_NAMED))
		return;
	json_t *name = add_parameter(s, parameters, o->medium == ASSET ? "file" : "name", "path"), *schema;
	set(s, name, "required", json_true());
	set(s, name, "schema", schema = quoted("{'type': 'string'}"));
	if (o->medium == ASSET)
		return;
	add_names(s, schema);
	if (strcmp(o->method, "get") != 0)
		return;
	add_parameter_examples(s, name, "name", o->examples);
	add_query(s, o, parameters);
}

static void add_body(struct api_schemas *s, const struct operation *o, json_t *operation)
{
	if (!o->requests)
		return;
	json_t *body = set(s, operation, "requestBody", json_object());
	set(s, body, "required", json_true());
	add_contents(s, body, o->requests, true, true, o->examples, 0);
}

/* ---- paths ---- */

static void add_open(struct api_schemas *s, const struct operation *o, json_t *operation)
{
	if (!(o->where & API_WHERE_GATED))
		set(s, operation, "security", json_array());
}

static void add_operation(struct api_schemas *s, const struct operation *o, json_t *path)
{
	json_t *operation = set(s, path, o->method, json_object()), *tags = set(s, operation, "tags", json_array());
	append(s, tags, json_string(o->tag));
	set(s, operation, "operationId", json_string(o->id));
	set(s, operation, "summary", json_string(o->summary));
	set(s, operation, "description", json_string(o->description));
	add_open(s, o, operation);
	add_parameters(s, o, operation);
	add_body(s, o, operation);
	add_responses(s, o, operation);
}

static void add_head(struct api_schemas *s, const struct operation *o, json_t *path)
{
	json_t *operation = set(s, path, "head", json_object()), *tags = set(s, operation, "tags", json_array());
	append(s, tags, json_string(o->tag));
	set(s, operation, "operationId", api_schema_text("%sHead", o->id));
	set(s, operation, "summary", json_string("As GET, without the body"));
	add_open(s, o, operation);
	json_t *parameters = json_copy(json_object_get(json_object_get(path, "get"), "parameters"));
	set(s, operation, "parameters", parameters);
	set(s, operation, "responses", quoted("{'200': {'description': 'The headers of the answer to GET.'}, 'default':"
		" {'description':"
	                                      " 'The headers of the problem that GET would get.'}}"));
}

static void add_paths(struct api_schemas *s, json_t *root)
{
	json_t *paths = set(s, root, "paths", json_object());
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		const struct operation *o = &operations[i];
		json_t *path = json_object_get(paths, o->path);
		if (o->probe && !api_has_path(o->probe))
			continue;
		if (!path)
			path = set(s, paths, o->path, json_object());
		add_operation(s, o, path);
		if (!strcmp(o->method, "get"))
			add_head(s, o, path);
	}
}

/* ---- the document ---- */

static const char description[] =
	"Evaluates the friction terms of Incremental Potential Contact: smooth Coulomb friction with static and kinetic"
	" coefficients.\n\nUnits are any consistent ones, nothing is converted. The friction force is the negative"
	" gradient."
	" Large arrays may travel as binary frames in place of JSON. Errors are RFC 9457 problems with JSON Pointers to the"
	" culprits. Unknown fields are errors.\n\nLimits of this server: JSON bodies %zu bytes, frames %zu bytes, answers"
	" %zu"
	" bytes%s.";

static void print_counts(const struct api_service *service, char *out, size_t bytes)
{
	int at = 0;
	out[0] = '\0';
	if (service->max_contacts)
		at = snprintf(out, bytes, ", %zu contacts", service->max_contacts);
	if (service->max_vertices)
		snprintf(out + at, bytes - (size_t)at, ", %zu vertices", service->max_vertices);
}

static void add_info(struct api_schemas *s, json_t *root)
{
	const struct api_service *service = s->service;
	char counts[96];
	print_counts(service, counts, sizeof(counts));
	set(s, root, "openapi", json_string("3.1.0"));
	json_t *info = set(s, root, "info", json_object());
	set(s, info, "title", json_string("frictiond"));
	set(s, info, "version", json_string(FRIC_VERSION));
	set(s, info, "summary", json_string("Contact friction over HTTP"));
	set(s, info, "description", api_schema_text(description, service->max_json_bytes, service->max_frame_bytes,
	                                            service->max_answer_bytes, counts));
	set(s, info, "license", quoted("{'name': 'MIT', 'identifier': 'MIT'}"));
	set(s, root, "servers", quoted("[{'url': '/'}]"));
	set(s, root, "security", quoted("[{'token': []}, {}]"));
	set(s, root, "tags", quoted("[{'name': 'evaluation', 'description': 'Batches of contacts'}, {'name': 'functions',"
	                            " 'description': 'The friction law, one function at a time'}, {'name': 'service',"
	                            " 'description': 'The server itself'}]"));
}

static void add_calls(struct api_schemas *s)
{
	enum api_function_kind kind;
	const char *name;
	for (int i = 0; api_function_describe(i, &name, &kind); i++) {
		json_t *call = json_object_get(s->components, api_calls[kind].name), *names = json_object_get(call,
			"x-functions");
		append(s, names ? names : set(s, call, "x-functions", json_array()), json_string(name));
	}
}

/* What a dimension adds, for JSON or for a frame's document. */
static void add_dimensions(struct api_schemas *s, const char *request, bool in_frame)
{
	json_t *all = set(s, json_object_get(s->components, request), "allOf", json_array());
	s->is_request = true;
	s->in_frame = in_frame;
	for (int dim = 2; dim <= 3; dim++) {
		char name[32];
		snprintf(name, sizeof(name), "In%dD%s", dim, in_frame ? "Frame" : "");
		json_t *schema = api_schema_of_dimension(s, &api_request, dim);
		set(s, schema, "description", api_schema_text("What dim %d adds to %s.", dim, request));
		set(s, s->components, name, schema);
		append(s, all, json_pack("{s:{s:{s:{s:i}}, s:[s]}, s:o}", "if", "properties", "dim", "const", dim, "required",
			"dim",
		                         "then", ref("schemas", name)));
	}
	s->in_frame = false;
}

static const char headers[] =
	"{'X-Request-Id': {'description': 'Of the request, if it sent one of 1 to 128 characters out of"
	" A-Za-z0-9._-:/+=@, else a new"
	" one; also in the log.', 'required': true, 'schema': {'type': 'string', 'pattern':"
	" '^[A-Za-z0-9._:/+=@-]{1,128}$'}},"
	" 'traceresponse': {'description': 'Where the request had a valid traceparent: its trace and the span of this"
	" service.',"
	" 'schema': {'type': 'string', 'pattern': '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'}},"
	" 'Server-Timing': {'description': 'Milliseconds spent in decode, prepare, evaluate, encode.', 'schema': {'type':"
	" 'string',"
	" 'pattern': '^[a-z]+;dur=[0-9]+[.][0-9]{3}(, [a-z]+;dur=[0-9]+[.][0-9]{3})*$'}},"
	" 'Retry-After': {'description': 'Seconds.', 'required': true, 'schema': {'type': 'integer', 'minimum': 0}},"
	" 'Allow': {'description': 'The methods of this path.', 'required': true, 'schema': {'type': 'string'}},"
	" 'WWW-Authenticate': {'description': 'Bearer, with error=invalid_token where there was a token.', 'required':"
	" true, 'schema':"
	" {'type': 'string'}}}";
static const char parameters[] =
	"{'RequestId': {'name': 'X-Request-Id', 'in': 'header', 'description': 'For the answer and the log; one that is"
	" not sane is"
	" replaced.', 'schema': {'type': 'string'}},"
	" 'Traceparent': {'name': 'traceparent', 'in': 'header', 'description': 'W3C Trace Context.', 'schema': {'type':"
	" 'string'}}}";
static const char security[] =
	"{'token': {'type': 'http', 'scheme': 'bearer', 'description': 'Needed where the server has tokens.'}}";

static json_t *document(struct api_schemas *s)
{
	json_t *root = json_object();
	const struct api_status *status;
	add_info(s, root);
	json_t *components = json_object(), *responses = set(s, components, "responses", json_object());
	s->components = set(s, components, "schemas", json_object());
	set(s, s->components, "FrameArray", api_schema_reference());
	add_paths(s, root);
	for (int i = 0; (status = api_status_at(i)); i++)
		if (status->where)
			add_problem(s, status, responses);
	add_calls(s);
	add_dimensions(s, api_request.name, false);
	add_dimensions(s, "EvaluateRequestFrame", true);
	set(s, components, "headers", quoted(headers));
	set(s, components, "parameters", quoted(parameters));
	set(s, components, "securitySchemes", quoted(security));
	set(s, root, "components", components);
	return root;
}

char *api_openapi_print(const struct api_service *service, size_t *bytes)
{
	const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(15);
	struct api_schemas schemas = {.service = service};
	json_t *root = document(&schemas);
	*bytes = schemas.failed ? 0 : json_dumpb(root, NULL, 0, flags);
	char *text = *bytes ? malloc(*bytes + 1) : NULL;
	if (text && json_dumpb(root, text, *bytes, flags) != *bytes) {
		free(text);
		text = NULL;
	}
	if (text)
		text[*bytes] = '\0';
	json_decref(root);
	return text;
}

/**
 * A row of the table of routes: everything that admission, the gate, metrics, the log and the description of the service
 * have to know of a resource. The table is in routes/table.c; this wing receives it as an argument.
 */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "api/api.h"
#include "api/contract/fields.h"

struct api_fault;

/* HEAD goes wherever GET does. In the order in which Allow lists them. */
enum api_method { API_GET, API_POST, API_PUT, API_PATCH, API_DELETE, API_N_METHODS };

enum { API_MAX_ROUTES = 32, API_ALLOW_BYTES = 48 };

/* A request that the tests send, and its answer; both in JSON with ' for ". Of a GET: its parameters. */
struct api_example {
	const char *name, *summary, *request, *answer;
	int status;
};

/* A request on its way to its answer. */
struct api_call {
	const struct api_service *service;
	const struct api_request *request;
	const struct api_operation *operation; /* of its row */
	struct api_fault *fault;
	struct api_response *response;
};

/* @return false with *call->fault set; the response then has no body yet */
typedef bool api_handler(const struct api_call *call);
/* A fault as the answer. @param request_id  named in 500s; may be NULL */
typedef void api_fail(const struct api_fault *fault, const char *request_id, struct api_response *response);
/* Number i of the values that a name may have, and the kind of their parameters. @return false if there are fewer */
typedef bool api_lister(int i, const char **name, enum api_function_kind *kind);

/* A list of objects. */
#define API_OBJECTS(...) ((const struct api_object *const[]){__VA_ARGS__, NULL})

/* One method of a route. */
struct api_operation {
	api_handler *handler;
	int variant; /* which of the operations that have one handler */
	/* What it costs: whether a request, body and all, will take longer than a thread that serves connections should be
	 * busy. An estimate, before anything is decoded. NULL: it is answered at once, whatever comes. */
	bool (*is_large)(const struct api_service *service, const struct api_request *request);
	const struct api_object *const *requests; /* of the body, NULL-terminated; NULL: none is read */
	const struct api_object *const *answers;  /* NULL-terminated; NULL: see content */
	const struct api_object *query;           /* parameters in the query; NULL: none */
	bool refuses_query;                       /* with any; else what is not known is ignored */
	int status;                               /* of success; 0 stands for 200 */
	bool answers_json;                        /* whatever Accept says */
	bool merges;                              /* the body is a merge patch: it may come as such a type, too */

	/* In OpenAPI. */
	const char *id, *tag, *summary, *description;
	const char *content; /* of an answer that is no document, in JSON with ' for "; NULL: it has no body */
	bool is_timed;       /* answers have Server-Timing */
	bool has_tag;        /* answers have an ETag, so that there may be a 304 */
	bool has_location;   /* so has the answer to what was created: 201 in place of 200 */
	const struct api_example *examples; /* ended by one without a name; NULL: none */
};

struct api_route {
	/* "/v1/sets/{id}"; also the label of metrics and log. A name is one segment of the path, and not empty. */
	const char *path;
	const struct api_operation *methods[API_N_METHODS];
	bool negotiates;   /* looks at Content-Type and Accept, and knows frames; else all is JSON, or what content says */
	bool is_open;      /* needs no token */
	bool is_probe;     /* may be asked from the pages of any site: learns nothing but that the server is there */
	bool is_page;      /* links of other sites may lead to it */
	bool is_readiness; /* 503 as soon as the server drains */
	const char *pattern; /* of {name}, which the handlers judge, however long it is; NULL: no handler does */
	bool is_conditional; /* about a set: names its version, and there may be a 412 */
	bool is_folder;      /* everything below it is its own: the last name may be empty, or hold slashes */
	bool is_servers;     /* the server answers it, api_handle does not know it */
	bool (*exists)(const struct api_match *match); /* whether there is something of these names; NULL: handlers look */
	api_lister *names;                             /* what {name} may be; NULL: anything */
	api_fail *fail;                                /* how faults are told; NULL: as problem+json */
	const struct api_object *failure;              /* what fail tells with status 400 or 500, in place of a problem */
};

struct api_table {
	const struct api_route *rows;
	int n;
};

/* NULL: not a method of the route. */
const struct api_operation *api_operation_of(const struct api_route *route, const char *method);
/* "GET, HEAD, POST": the methods of one route, or of any in the table. */
void api_route_allow(const struct api_route *route, char allow[API_ALLOW_BYTES]);
void api_table_allow(const struct api_table *table, char allow[API_ALLOW_BYTES]);

#endif

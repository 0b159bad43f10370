/**
 * A row of the table of routes: everything about a resource that admission, the gate, metrics, the log and the OpenAPI
 * description need. The table is in routes/table.c; this wing receives it as an argument.
 */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "api/api.h"
#include "api/contract/fields.h"

struct api_fault;

/* In the order of the Allow header. GET includes HEAD. */
enum api_method { API_GET, API_POST, API_PUT, API_PATCH, API_DELETE, API_N_METHODS };

enum { API_MAX_ROUTES = 32, API_ALLOW_BYTES = 48 };

/* A request that the tests send, and its answer; both in JSON with ' instead of ". For a GET: its parameters. */
struct api_example {
	const char *name, *summary, *request, *answer;
	int status;
};

/* A list of examples. */
#define API_EXAMPLES(...) ((const struct api_example[]){__VA_ARGS__, {0}})

/* A request being handled. */
struct api_call {
	const struct api_service *service;
	const struct api_request *request;
	const struct api_operation *operation; /* from the route's row */
	struct api_fault *fault;
	struct api_response *response;
};

/* @return false with *call->fault set; the response must not have a body then */
typedef bool api_handler(const struct api_call *call);
/* Writes a fault as the response. @param request_id  quoted in 500s; may be NULL */
typedef void api_fail(const struct api_fault *fault, const char *request_id, struct api_response *response);
/* Enumerates the values of a name: value i, and the kind of its parameters. @return false if there are fewer */
typedef bool api_lister(int i, const char **name, enum api_function_kind *kind);

/* A list of objects. */
#define API_OBJECTS(...) ((const struct api_object *const[]){__VA_ARGS__, NULL})

/* One method of a route. */
struct api_operation {
	api_handler *handler;
	int variant; /* distinguishes operations with the same handler */
	/* Whether the whole request will take longer than a thread that serves connections should be busy. An estimate
	 * before anything is decoded. NULL: the request is always small. */
	bool (*is_large)(const struct api_service *service, const struct api_request *request);
	const struct api_object *const *requests; /* schemas of the body, NULL-terminated; NULL: no body is read */
	const struct api_object *const *answers;  /* schemas of the answer, NULL-terminated; NULL: see content */
	const struct api_object *url_query;       /* parameters of the query; NULL: none */
	bool refuses_url_query;                   /* any query is an error; otherwise unknown parameters are ignored */
	int status;                               /* on success; 0 means 200 */
	bool answers_json;                        /* ignores Accept */
	bool merges;                              /* the body is a merge patch, and may have that media type */

	/* For OpenAPI. */
	const char *id, *tag, *summary, *description;
	const char *content; /* content of an answer that is not a document, in JSON with ' instead of "; NULL: it has no
	                      * body */
	bool is_timed;       /* the response has Server-Timing */
	bool has_tag;        /* the response has an ETag, and may be a 304 */
	bool has_location;   /* a created resource gets 201 and Location instead of 200 */
	const struct api_example *examples; /* ended by one without a name; NULL: none */
};

struct api_route {
	/* "/v1/sets/{id}"; also the label in metrics and log. A name matches one non-empty segment of the path. */
	const char *path;
	const struct api_operation *methods[API_N_METHODS];
	bool negotiates;     /* honours Content-Type and Accept, and accepts frames; otherwise everything is JSON, or as
	                    * content says */
	bool is_open;        /* no token required */
	bool is_probe;       /* pages of any site may request it: it reveals nothing but that the server runs */
	bool is_page;        /* links on other sites may lead to it */
	bool is_readiness;   /* 503 as soon as the server drains */
	const char *pattern; /* of {name}; handlers check it, whatever its length; NULL: no check */
	bool is_conditional; /* about a set: responses state its version, and may be 412 */
	bool is_folder;      /* owns everything below it: the last name may be empty or contain slashes */
	bool is_servers;     /* handled by the server, not by api_handle */
	bool (*exists)(const struct api_match *match); /* whether these names exist; NULL: the handler finds out */
	api_lister *names;                             /* the possible values of {name}; NULL: any */
	api_fail *fail;                                /* writes faults; NULL: as problem+json */
	const struct api_object *failure;              /* schema of what fail writes with status 400 or 500 instead of a
	                                                * problem */
};

struct api_table {
	const struct api_route *rows;
	int n;
};

/* NULL if the route does not have the method. */
const struct api_operation *api_operation_of(const struct api_route *route, const char *method);
/* "GET, HEAD, POST": the methods of one route, or of any route of the table. */
void api_route_allow(const struct api_route *route, char allow[API_ALLOW_BYTES]);
void api_table_allow(const struct api_table *table, char allow[API_ALLOW_BYTES]);

#endif

/**
 * The type of a row in the table of routes, with all properties of a resource that admission, the gate, metrics, the
 * log and the OpenAPI description need. The table itself is in routes/table.c; functions of this wing receive it as an
 * argument.
 */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "api/api.h"
#include "api/contract/fields.h"

struct api_fault;

/* In the order of the Allow header. API_GET includes HEAD. */
enum api_method { API_GET, API_POST, API_PUT, API_PATCH, API_DELETE, API_N_METHODS };

enum { API_MAX_ROUTES = 40, API_ALLOW_BYTES = 48 };

/* An example in the description, which the tests also send: a request and its answer in JSON with ' instead of ". A GET
 * has parameters instead of a body. */
struct api_example {
	const char *name, *summary, *request, *answer;
	int status;
};

/* A list of examples, with the empty one that ends it. */
#define API_EXAMPLES(...) ((const struct api_example[]){__VA_ARGS__, {0}})

/* A request being handled. */
struct api_call {
	const struct api_service *service;
	const struct api_request *request;
	const struct api_operation *operation; /* from the route's row */
	struct api_fault *fault;
	struct api_response *response;
};

/* @return false with *call->fault set; the response must then have no body */
typedef bool api_handler(const struct api_call *call);
/* Writes a fault as the response. @param request_id  quoted in 500s; may be NULL */
typedef void api_fail(const struct api_fault *fault, const char *request_id, struct api_response *response);
/* Enumerates the values of a name. Sets value i and the kind of its parameters. @return false if there are fewer */
typedef bool api_lister(int i, const char **name, enum api_function_kind *kind);

/* A NULL-terminated list of objects. */
#define API_OBJECTS(...) ((const struct api_object *const[]){__VA_ARGS__, NULL})

/* One method of a route. */
struct api_operation {
	api_handler *handler;
	int variant; /* distinguishes operations with the same handler */
	/* Whether the request is too long for a thread that serves connections; estimated before anything is decoded. NULL:
	 * the request is always small. */
	bool (*is_large)(const struct api_service *service, const struct api_request *request);
	const struct api_object *const *requests; /* schemas of the body, NULL-terminated; NULL: no body is read */
	const struct api_object *const *answers;  /* schemas of the answer, NULL-terminated; NULL: see content */
	const struct api_object *url_query;       /* parameters of the URL query; NULL: none */
	bool refuses_url_query;                   /* any URL query is an error; otherwise unknown parameters are ignored */
	int status;                               /* on success; 0 means 200 */
	bool answers_json;                        /* the answer is JSON whatever Accept prefers */
	bool merges;                              /* the body is a merge patch, and may have that media type */

	/* The members below are used in OpenAPI only. */
	const char *id, *tag, *summary, *description;
	const char *content; /* OpenAPI content of an answer that is not a document, as JSON with ' for "; NULL: no body */
	bool is_timed;       /* the response has Server-Timing */
	bool has_tag;        /* the response has an ETag, and may be a 304 */
	bool has_location;   /* a created resource gets 201 and Location instead of 200 */
	const struct api_example *examples; /* ended by one without a name; NULL: none */
};

struct api_route {
	/* The path, such as "/v1/sets/{name}"; also the label in metrics and the log. A {name} matches one non-empty
	 * segment. */
	const char *path;
	const struct api_operation *methods[API_N_METHODS];
	bool negotiates;   /* honours Content-Type and Accept, and accepts frames; otherwise JSON, or as `content` states */
	bool is_open;      /* needs no token */
	bool is_probe;     /* pages of any site may request it, because it reveals only that the server runs */
	bool is_page;      /* links on other sites may lead to it */
	bool is_readiness; /* responds with 503 as soon as the server drains */
	const char *pattern; /* regular expression for {name}, which handlers check; NULL: no check */
	bool is_conditional; /* is about a set: responses state its version, and may be 412 */
	bool is_folder;      /* owns everything below it: the last name may be empty or contain slashes */
	bool is_servers;     /* handled by the server instead of api_handle */
	bool (*exists)(const struct api_match *match); /* whether these names exist; NULL: the handler finds out */
	api_lister *names;                             /* lists the possible values of {name}; NULL: any value */
	api_lister *files; /* lists what there is below a folder, for suggestions; NULL: nothing is suggested */
	api_fail *fail;    /* writes faults; NULL: they are written as problem+json */
	const struct api_object *failure; /* schema of the body that `fail` writes with status 400 or 500
	                                                * instead of a problem */
};

struct api_table {
	const struct api_route *rows;
	int n;
};

/* @return NULL if the route lacks the method */
const struct api_operation *api_operation_of(const struct api_route *route, const char *method);
/* Prints the methods of one route, or of any route of the table: "GET, HEAD, POST". */
void api_route_allow(const struct api_route *route, char allow[API_ALLOW_BYTES]);
void api_table_allow(const struct api_table *table, char allow[API_ALLOW_BYTES]);

#endif

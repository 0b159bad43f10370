/* Information about the service, and problems. */
#include <stddef.h>

#include "api/api.h"
#include "api/base/codes.h"
#include "api/contract/rules.h"

/* clang-format off */
/* Limits of requests: X(member of struct api_service, name, meaning, required, words before and after the number). */
#define REQUEST_LIMITS(X) \
	X(max_json_bytes, "json_body_bytes", "longest JSON body", true, "JSON bodies ", " bytes") \
	X(max_frame_bytes, "frame_body_bytes", "longest frame", true, "frames ", " bytes") \
	X(max_answer_bytes, "answer_bytes", "longest answer", true, "answers ", " bytes") \
	X(max_contacts, "contacts", "largest number of contacts in a request", false, "", " contacts") \
	X(max_vertices, "vertices", "largest number of vertices and bodies in a request", false, "", " vertices")
#define LIMIT_OF(member, called, means, must, ...) {called, must, offsetof(struct api_service, member), __VA_ARGS__},
const struct api_limit api_limits[] = {REQUEST_LIMITS(LIMIT_OF)};
const int api_n_limits = N_OF(api_limits);

#define LIMIT(called, means, must) {.name = called, .kind = API_INTEGER, .least = 1, .required = must, .meaning = means}
#define RULE_OF_LIMIT(member, called, means, must, ...) LIMIT(called, means, must),
static const struct api_object limits = OBJECT("Limits", "Limits of requests and sets; a request beyond them gets 413.",
	REQUEST_LIMITS(RULE_OF_LIMIT)
	LIMIT("sets", "largest number of collision sets of all callers; beyond it 503", false),
	LIMIT("sets_per_caller", "largest number of collision sets of the caller; beyond it 503", false),
	LIMIT("set_bytes", "memory of all collision sets", false),
	LIMIT("set_bytes_per_caller", "memory of the caller's collision sets", false),
	LIMIT("set_idle_seconds", "time without use after which a set is forgotten", false));
const struct api_object api_info_answer = OBJECT("Info", "The server's version, settings and limits.",
	TEXT("name", "frictiond"), TEXT("version", "version of the program"),
	LIMIT("threads", "number of threads for a large evaluation", true),
	TEXT("instruction_set", "instruction set of the inner loops"),
	TEXTS("formats", "media types of requests and answers"),
	{.name = "limits", .kind = API_OBJECT, .objects = ONE(limits), .required = true, .meaning = "limits of requests"});

const struct api_object api_health_answer = OBJECT("Health", "The server is running.",
	{.name = "status", .kind = API_WORD, .words = (const char *const[]){"ok", NULL}, .required = true,
	 .meaning = "always ok; otherwise the status is not 200"});

static const struct api_object culprit = OBJECT("Culprit", "A place in the request, and the error there.",
	TEXT("pointer",
	     "JSON Pointer (RFC 6901) into the request, to the field or its element; in the URL's query: /NAME or /NAME/I"),
	TEXT("detail", "description of the error"));
const struct api_object api_problem_document = OBJECT("Problem", "An error (RFC 9457).",
	TEXT("type", "/errors/CODE: a page of this service that explains the error and its remedy"),
	{.name = "code", .kind = API_WORD, .words = api_code_names, .required = true,
		.meaning = "kind of error, for programs; belongs to the first of errors"},
	TEXT("title", "title of the status"),
	{.name = "status", .kind = API_INTEGER, .least = 400, .most = 599, .required = true,
	 .meaning = "the HTTP status"},
	TEXT("detail", "description of the error"),
	{.name = "errors", .kind = API_LIST, .objects = ONE(culprit), .required = true,
	 .meaning = "the culprits, at most 16, in the order in which they were found; empty if no part of the request is at"
		" fault"},
	{.name = "request_id", .kind = API_TEXT, .meaning = "as in X-Request-Id; in answers with status 500 and above"});

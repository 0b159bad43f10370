/* Information about the service, and problems. */
#include "api/base/codes.h"
#include "api/contract/rules.h"

/* clang-format off */
#define LIMIT(called, means, must) {.name = called, .kind = API_INTEGER, .least = 1, .required = must, .meaning = means}
static const struct api_rule limit_rules[] = {
	LIMIT("json_body_bytes", "longest JSON body", true), LIMIT("frame_body_bytes", "longest frame", true),
	LIMIT("answer_bytes", "longest answer", true), LIMIT("contacts", "most contacts of a request", false),
	LIMIT("vertices", "most vertices and bodies of a request", false),
	LIMIT("sets", "most collision sets of all callers; over it: 503", false),
	LIMIT("sets_per_caller", "most collision sets of the caller; over it: 503", false),
	LIMIT("set_bytes", "memory of all collision sets", false),
	LIMIT("set_bytes_per_caller", "memory of the caller's collision sets", false),
	LIMIT("set_idle_seconds", "after how long without use a set is forgotten", false),
};
static const struct api_object limits = OBJECT("Limits", "What a request may be; over it: 413.", limit_rules);
static const struct api_rule info_rules[] = {
	TEXT("name", "frictiond"), TEXT("version", "of the program"),
	LIMIT("threads", "of a large evaluation", true), TEXT("instruction_set", "of the inner loops"),
	TEXTS("formats", "media types of requests and answers"),
	{.name = "limits", .kind = API_OBJECT, .objects = ONE(limits), .required = true, .meaning = "of a request"},
};
const struct api_object api_info_answer = OBJECT("Info", "What this server is, and its limits.", info_rules);

static const struct api_rule health_rules[] = {
	{.name = "status", .kind = API_WORD, .words = (const char *const[]){"ok", NULL}, .required = true,
	 .meaning = "there is no other: what is not well is no 200"},
};
const struct api_object api_health_answer = OBJECT("Health", "The server answers.", health_rules);

static const struct api_rule culprit_rules[] = {
	TEXT("pointer",
	     "JSON Pointer (RFC 6901) into the request, to the field or its element; of a query: /NAME or /NAME/I"),
	TEXT("detail", "what is wrong there"),
};
static const struct api_object culprit = OBJECT(
	"Culprit", "A place in the request and what is wrong there.", culprit_rules);
static const struct api_rule problem_rules[] = {
	TEXT("type", "/errors/CODE: a page of this service that says what to do"),
	{.name = "code", .kind = API_WORD, .words = api_code_names, .required = true,
		.meaning = "what is wrong, for programs; of the first of errors"},
	TEXT("title", "of the status"),
	{.name = "status", .kind = API_INTEGER, .least = 400, .most = 599, .required = true,
	 .meaning = "as in the answer's first line"},
	TEXT("detail", "what is wrong, in a sentence"),
	{.name = "errors", .kind = API_LIST, .objects = ONE(culprit), .required = true,
	 .meaning = "the culprits, at most 16, in the order in which they were found; empty where nothing in the request is"
		" to be pointed at"},
	{.name = "request_id", .kind = API_TEXT, .meaning = "as in X-Request-Id; in answers of 500 and above"},
};
const struct api_object api_problem_document = OBJECT("Problem", "RFC 9457.", problem_rules);

/* The documentation at /docs/. Without python3-markdown, a build has no pages, and one page says so. */
#include "api/pages/docs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST
#include <zlib.h>

#include "api/dispatch/answer.h"
#include "api/pages/assets.h"
#include "api/pages/pages.h"

/* The strings of all files, path, type, length and compressed length, each with its NUL; an empty one; then the files,
 * compressed with gzip, in the same order. The Makefile defines FRIC_DOCS. */
#ifndef FRIC_DOCS
#define FRIC_DOCS "build/docs.pack"
#endif
__asm__(".pushsection .rodata\n"
        ".globl api_docs\n.hidden api_docs\napi_docs:\n"
        ".incbin \"" FRIC_DOCS "\"\n"
        ".byte 0\n.popsection\n");
extern const char api_docs[];

static const char nothing[] =
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>frictiond: documentation</title>\n"
	"<link rel=\"stylesheet\" href=\"/explorer/explorer.css\">\n</head>\n<body class=\"error\">\n<main>\n"
	"<h1>Documentation</h1>\n<p>This program was built without python3-markdown, so it has no pages here. The same pages "
	"are in the source, in the folder docs.</p>\n<p><a href=\"/\">The explorer</a></p>\n</main>\n</body>\n</html>\n";

static const char *after(const char *text)
{
	return text + strlen(text) + 1;
}

/* Reads the row at `at`. @return the next row */
static const char *read_row(const char *at, struct api_doc *doc)
{
	doc->path = at;
	doc->type = at = after(at);
	doc->bytes = strtoul(at = after(at), NULL, 10);
	doc->n_gzip = strtoul(at = after(at), NULL, 10);
	return after(at);
}

static const char *first_file(void)
{
	const char *at = api_docs;
	struct api_doc doc;
	while (*at)
		at = read_row(at, &doc);
	return at + 1;
}

bool api_doc_at(int i, struct api_doc *doc)
{
	const char *at = api_docs, *gzip = first_file();
	for (; *at; i--, gzip += doc->n_gzip) {
		at = read_row(at, doc);
		doc->gzip = gzip;
		if (i == 0)
			return true;
	}
	return false;
}

/* A folder is its page index.html. */
static bool find(const char *path, struct api_doc *doc)
{
	char page[API_NAME_BYTES + sizeof "index.html"];
	const size_t n = strlen(path);
	snprintf(page, sizeof page, "%s%s", path, !n || path[n - 1] == '/' ? "index.html" : "");
	for (int i = 0; api_doc_at(i, doc); i++)
		if (!strcmp(page, doc->path))
			return true;
	return false;
}

bool api_doc_exists(const struct api_match *match)
{
	struct api_doc doc;
	return find(match->names[0], &doc) || (!*api_docs && !*match->names[0]);
}

bool api_doc_name(int i, const char **name, enum api_function_kind *kind)
{
	struct api_doc doc;
	(void)kind;
	if (!api_doc_at(i, &doc))
		return false;
	*name = doc.path;
	return true;
}

/* Whether a value of Accept-Encoding allows gzip. */
static bool accepts_gzip(const char *value)
{
	const char *at = value ? strcasestr(value, "gzip") : NULL;
	if (!at)
		return false;
	at += strlen("gzip");
	at += strspn(at, " \t");
	if (*at != ';')
		return true;
	at = strcasestr(at, "q=");
	return !at || strtod(at + 2, NULL) > 0;
}

static bool send_gzip(const struct api_doc *doc, struct api_response *response)
{
	response->parts = malloc(sizeof *response->parts);
	if (!response->parts)
		return false;
	response->parts[0] = (struct api_part){doc->gzip, doc->n_gzip};
	response->n_parts = 1;
	response->body_bytes = doc->n_gzip;
	api_response_add_header(response, "Content-Encoding", "gzip");
	return true;
}

bool api_doc_decompress(const struct api_doc *doc, char *text)
{
	z_stream stream = {.next_in = (const unsigned char *)doc->gzip,
	                   .avail_in = (unsigned)doc->n_gzip,
	                   .next_out = (unsigned char *)text,
	                   .avail_out = (unsigned)doc->bytes};
	if (inflateInit2(&stream, MAX_WBITS + 16) != Z_OK) /* 16: gzip */
		return false;
	const bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
	inflateEnd(&stream);
	return whole;
}

static bool send_text(const struct api_call *call, const struct api_doc *doc)
{
	struct api_buffer text = {.limit = SIZE_MAX, .pool = call->service->pool};
	if (doc->bytes > call->service->max_answer_bytes)
		return api_fault_too_long(call->fault, call->service->max_answer_bytes);
	if (!api_buffer_reserve(&text, doc->bytes) || !api_doc_decompress(doc, text.data)) {
		api_buffer_free(&text);
		return api_fault_no_memory(call->fault);
	}
	text.bytes = doc->bytes;
	api_answer_take(call->response, &text);
	return true;
}

static bool send_nothing(const struct api_call *call)
{
	struct api_buffer text = {.limit = SIZE_MAX, .pool = call->service->pool};
	if (!api_buffer_append(&text, nothing, strlen(nothing)))
		return api_fault_no_memory(call->fault);
	api_page_headers(call->response);
	call->response->status = 200;
	call->response->content_type = "text/html; charset=utf-8";
	api_answer_take(call->response, &text);
	return true;
}

/* Both forms have tags of their own, as strong tags must. */
static void print_tag(const struct api_doc *doc, bool compressed, char tag[API_ETAG])
{
	api_asset_tag(&(struct api_asset){.bytes = doc->gzip, .end = doc->gzip + doc->n_gzip}, tag);
	if (compressed)
		memcpy(tag + strlen(tag) - 1, "z\"", sizeof "z\"");
}

static bool get_doc(const struct api_call *call)
{
	struct api_response *response = call->response;
	struct api_doc doc;
	char tag[API_ETAG];
	if (!find(call->request->match->names[0], &doc))
		return send_nothing(call);
	const bool compressed = accepts_gzip(call->request->accept_encoding);
	print_tag(&doc, compressed, tag);
	if (api_tag_is_known(call->request->if_none_match, tag))
		response->status = 304;
	else if (compressed ? send_gzip(&doc, response) : send_text(call, &doc)) {
		response->status = 200;
		response->content_type = doc.type;
	} else
		return false;
	api_page_headers(response);
	api_response_add_header(response, "ETag", tag);
	api_response_add_header(response, "Vary", "Accept-Encoding");
	return true;
}

/* Links on the pages are relative, so the folder's name needs its slash. */
static bool go_to_docs(const struct api_call *call)
{
	call->response->status = 308;
	api_response_add_header(call->response, "Location", "/docs/");
	return true;
}

/* clang-format off */
const struct api_operation api_get_docs = {
	.handler = go_to_docs, .status = 308, .id = "docs", .tag = "service", .summary = "Leads to the documentation, /docs/",
	.description = "Requires no token.",
};
const struct api_operation api_get_doc = {
	.handler = get_doc, .has_tag = true,
	.content = "{'text/html': {'schema': {'type': 'string'}}, 'text/javascript': {'schema': {'type': 'string'}}, 'text/css':"
	           " {'schema': {'type': 'string'}}, '*/*': {'schema': {}}}",
	.id = "docsFile", .tag = "service", .summary = "The documentation: a page, or a file of it",
	.description = "Without a file, the first page. Compressed with gzip if Accept-Encoding has it. With an ETag. Requires"
	               " no token.",
};
/* clang-format on */

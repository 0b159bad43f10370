#include "api/pages/pages.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/base/buffer.h"
#include "api/base/codes.h"
#include "api/base/fault.h"
#include "api/dispatch/answer.h"
#include "api/problem.h"

/* Includes the file in the same way as assets.c. */
__asm__(".pushsection .rodata\n"
        ".globl api_troubleshooting\n.hidden api_troubleshooting\napi_troubleshooting:\n"
        ".incbin \"docs/troubleshooting.md\"\n"
        ".byte 0\n.popsection\n");
extern const char api_troubleshooting[];

/* A range of the page. */
struct text {
	const char *at, *end;
};

/* The page under construction. Text that does not fit is dropped, which is detected at the end. */
struct page {
	struct api_buffer buffer;
	bool failed;
};

static enum api_code code_of(const char *name)
{
	enum api_code code = API_NO_CODE;
	while (++code < API_N_CODES)
		if (!strcmp(name, api_code_name(code)))
			return code;
	return API_NO_CODE;
}

bool api_error_exists(const struct api_match *match)
{
	return code_of(match->names[0]) != API_NO_CODE;
}

/* The text between the code's heading and the next heading. */
static struct text section_of(const char *code)
{
	char heading[64];
	snprintf(heading, sizeof(heading), "\n### %s\n", code);
	const char *at = strstr(api_troubleshooting, heading);
	if (!at) /* impossible, as the tests check */
		return (struct text){api_troubleshooting, api_troubleshooting};
	at += strlen(heading);
	const char *end = strstr(at, "\n##");
	return (struct text){at, end ? end : at + strlen(at)};
}

/* ---- the subset of Markdown that the sections use: paragraphs, tables, code, links, bold ---- */

static void add_bytes(struct page *out, const char *bytes, size_t n)
{
	out->failed |= !api_buffer_append(&out->buffer, bytes, n);
}

static void add(struct page *out, const char *text)
{
	add_bytes(out, text, strlen(text));
}

static void add_plain(struct page *out, struct text text)
{
	for (const char *c = text.at; c < text.end; c++) {
		const char *name = *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : *c == '&' ? "&amp;" : *c == '"' ? "&quot;" : NULL;
		add_bytes(out, name ? name : c, name ? strlen(name) : 1);
	}
}

static const char *find(struct text text, const char *word)
{
	return memmem(text.at, (size_t)(text.end - text.at), word, strlen(word));
}

/* Prints only the words of links to other pages of docs/, which do not exist here. */
static void add_link(struct page *out, struct text words, struct text target)
{
	char code[64] = "";
	const size_t n = (size_t)(target.end - target.at);
	if (n > 1 && n < sizeof(code) && *target.at == '#')
		memcpy(code, target.at + 1, n - 1);
	const bool is_code = code_of(code) != API_NO_CODE, is_far = n > 8 && !memcmp(target.at, "https://", 8);
	if (is_code || is_far) {
		add(out, "<a href=\"");
		add_plain(out, is_code ? (struct text){target.at + 1, target.end} : target);
		add(out, "\">");
	}
	add_plain(out, words);
	add(out, is_code || is_far ? "</a>" : "");
}

/* Prints the text between two marks as an element. @return the end of the second one; NULL if there is none */
static const char *add_marked(struct page *out, struct text text, const char *mark, const char *open, const char *close)
{
	const struct text rest = {text.at + strlen(mark), text.end};
	const char *end = find(rest, mark);
	if (!end)
		return NULL;
	add(out, open);
	add_plain(out, (struct text){rest.at, end});
	add(out, close);
	return end + strlen(mark);
}

static const char *add_linked(struct page *out, struct text text)
{
	const char *middle = find(text, "]("), *end = middle ? find((struct text){middle, text.end}, ")") : NULL;
	if (!end)
		return NULL;
	add_link(out, (struct text){text.at + 1, middle}, (struct text){middle + 2, end});
	return end + 1;
}

static const char *add_span(struct page *out, struct text text)
{
	const char *after = NULL;
	if (*text.at == '`')
		after = add_marked(out, text, "`", "<code>", "</code>");
	else if (*text.at == '[')
		after = add_linked(out, text);
	else if (text.end - text.at > 1 && text.at[0] == '*' && text.at[1] == '*')
		after = add_marked(out, text, "**", "<strong>", "</strong>");
	if (after)
		return after;
	add_plain(out, (struct text){text.at, text.at + 1});
	return text.at + 1;
}

static void add_inline(struct page *out, struct text text)
{
	while (text.at < text.end)
		text.at = add_span(out, text);
}

/* Prints a row of a table, "| a | b |". */
static void add_row(struct page *out, struct text line, const char *cell)
{
	add(out, "<tr>");
	for (const char *c = line.at + 1, *end; c < line.end && (end = memchr(c, '|', (size_t)(line.end - c)));
	     c = end + 1) {
		add(out, "<");
		add(out, cell);
		add(out, ">");
		add_inline(out, (struct text){c, end});
		add(out, "</");
		add(out, cell);
		add(out, ">");
	}
	add(out, "</tr>\n");
}

enum block { NOTHING, PARAGRAPH, TABLE };

static void change(struct page *out, enum block *block, enum block next)
{
	static const char *const opens[] = {"", "<p>", "<table>\n"}, *const closes[] = {"", "</p>\n", "</table>\n"};
	if (*block == next)
		return;
	add(out, closes[*block]);
	add(out, opens[next]);
	*block = next;
}

static void add_line(struct page *out, struct text line, enum block *block)
{
	const bool is_row = line.at < line.end && *line.at == '|', is_first = is_row && *block != TABLE;
	change(out, block, is_row ? TABLE : line.at < line.end ? PARAGRAPH : NOTHING);
	if (is_row && line.end - line.at > 1 && line.at[1] == '-')
		return;
	if (is_row)
		add_row(out, line, is_first ? "th" : "td");
	else if (line.at < line.end) {
		add_inline(out, line);
		add(out, "\n");
	}
}

static const char *end_of_line(struct text text)
{
	const char *end = memchr(text.at, '\n', (size_t)(text.end - text.at));
	return end ? end : text.end;
}

/* The end of a paragraph, whose lines are joined because a link may be split across two. */
static const char *end_of_block(struct text text)
{
	const char *end = end_of_line(text);
	while (end > text.at && *text.at != '|' && end + 1 < text.end && end[1] != '\n' && end[1] != '|')
		end = end_of_line((struct text){end + 1, text.end});
	return end;
}

static void add_section(struct page *out, struct text section)
{
	enum block block = NOTHING;
	while (section.at < section.end) {
		const char *end = end_of_block(section);
		add_line(out, (struct text){section.at, end}, &block);
		section.at = end + (end < section.end);
	}
	change(out, &block, NOTHING);
}

/* ---- the page ---- */

static void print_page(enum api_code code, struct page *out)
{
	const char *name = api_code_name(code);
	char heading[128];
	snprintf(heading, sizeof(heading), "<h1>%s <span>%d %s</span></h1>\n", name, api_code_status(code),
	         api_status_title(api_code_status(code)));
	add(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>frictiond: ");
	add(out, name);
	add(out, "</title>\n<link rel=\"icon\" href=\"/explorer/icon.svg\" type=\"image/svg+xml\">\n"
	         "<link rel=\"stylesheet\" href=\"/explorer/explorer.css\">\n</head>\n<body class=\"error\">\n<main>\n");
	add(out, heading);
	add_section(out, section_of(name));
	add(out, "<p><a href=\"/\">The explorer</a>, <a href=\"/openapi.json\">the description of the interface</a></p>\n"
	         "</main>\n</body>\n</html>\n");
}

static bool get_error(const struct api_call *call)
{
	struct api_response *response = call->response;
	struct page page = {.buffer = {.limit = SIZE_MAX, .pool = call->service->pool}};
	print_page(code_of(call->request->match->names[0]), &page);
	if (page.failed || page.buffer.bytes > call->service->max_answer_bytes) {
		api_buffer_free(&page.buffer);
		return page.failed ? api_fault_no_memory(call->fault)
		                   : api_fault_too_long(call->fault, call->service->max_answer_bytes);
	}
	api_page_headers(response);
	response->status = 200;
	response->content_type = "text/html; charset=utf-8";
	api_answer_take(response, &page.buffer);
	return true;
}

/* clang-format off */
const struct api_operation api_get_error = {
	.handler = get_error, .content = "{'text/html': {'schema': {'type': 'string'}}}", .id = "error", .tag = "service",
	.summary = "Explains an error and its remedy: the page that a problem's type refers to",
	.description = "The section of docs/troubleshooting.md on this code. Requires no token.",
};
/* clang-format on */

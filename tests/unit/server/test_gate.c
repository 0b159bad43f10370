#include "server/gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TOKEN "0123456789abcdef"

static char path[] = "/tmp/gate-XXXXXX";

struct visit {
	struct srv_options options;
	struct srv_gate gate;
	struct srv_head head;
	struct srv_entry entry;
	struct srv_gate_header headers[SRV_GATE_HEADERS];
	int n;
};

/* Names and values of headers in turn, ended by NULL. */
static struct visit visit(const char *tokens, const char *origins, const char *method, const char *target, ...)
{
	struct visit visit = {.options = {.tokens = tokens, .allow_origin = origins},
	                      .head = {.method = method, .target = target}};
	va_list rest;
	va_start(rest, target);
	for (const char *name; (name = va_arg(rest, const char *));)
		srv_head_add(&visit.head, name, va_arg(rest, const char *));
	va_end(rest);
	assert_true(srv_gate_open(&visit.gate, &visit.options, stderr));
	srv_gate_judge(&visit.gate, &visit.head, &visit.entry);
	visit.n = srv_gate_headers(&visit.gate, &visit.head, &visit.entry, visit.headers);
	srv_gate_close(&visit.gate);
	return visit;
}

static const char *header_of(const struct visit *visit, const char *name)
{
	for (int i = 0; i < visit->n; i++)
		if (strcmp(visit->headers[i].name, name) == 0)
			return visit->headers[i].value;
	return "";
}

static void status_is(struct visit visit, int status, const char *challenge)
{
	assert_int_equal(visit.entry.status, status);
	assert_string_equal(header_of(&visit, "WWW-Authenticate"), challenge);
	assert_true((status == 401) == (visit.entry.detail != NULL));
}

static void test_tokens(void **state)
{
	(void)state;
	const char *const asks = "Bearer realm=\"frictiond\"";
	const char *const wrong = "Bearer realm=\"frictiond\", error=\"invalid_token\"";
	status_is(visit(NULL, NULL, "GET", "/v1/info", NULL), 0, "");
	status_is(visit(NULL, NULL, "GET", "/v1/info", "Authorization", "Bearer x", NULL), 0, "");
	status_is(visit(path, NULL, "GET", "/v1/info", NULL), 401, asks);
	status_is(visit(path, NULL, "POST", "/v1/evaluate", "Authorization", "Basic abc", NULL), 401, asks);
	status_is(visit(path, NULL, "POST", "/v1/evaluate", "authorization", "Bearer nonsense", NULL), 401, wrong);
	status_is(visit(path, NULL, "POST", "/v1/evaluate", "authorization", "bearer " TOKEN, NULL), 0, "");
	assert_string_equal(visit(path, NULL, "GET", "/v1/info", "Authorization", "Bearer " TOKEN, NULL).entry.token, "lab");
	assert_string_equal(visit(path, NULL, "GET", "/v1/info", "Authorization", "Bearer x" TOKEN, NULL).entry.token, "");
}

static void test_open_paths(void **state)
{
	(void)state;
	static const char *const open[] = {
		"/healthz", "/readyz", "/healthz?x=1", "/", "/?x", "/explorer/explorer.js", "/explorer/nothing", "/openapi.json",
	};
	static const char *const closed[] = {
		"/metrics", "//", "/explorer", "/explorerx", "/v1/info", "/healthz/", "/healthzz", "//healthz", "/%68ealthz", "*", "", "/v1/../healthz",
		"/v1/info?/healthz", "/healthz;/v1/info", "/openapi.json/", "/%65xplorer/explorer.js",
	};
	for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
		status_is(visit(path, NULL, "GET", open[i], NULL), 0, "");
	for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++)
		status_is(visit(path, NULL, "GET", closed[i], NULL), 401, "Bearer realm=\"frictiond\"");
	status_is(visit(path, NULL, "GET", "/healthz", "Authorization", "Bearer wrong", NULL), 0, "");
}

static void allows(struct visit visit, const char *origin, const char *vary)
{
	assert_string_equal(header_of(&visit, "Access-Control-Allow-Origin"), origin);
	assert_string_equal(header_of(&visit, "Vary"), vary);
	const bool exposes = *header_of(&visit, "Access-Control-Expose-Headers");
	assert_int_equal(exposes, *origin && visit.entry.status != 204);
	assert_true((visit.entry.status == 204) == (*header_of(&visit, "Access-Control-Max-Age") != '\0'));
}

static void test_pages(void **state)
{
	(void)state;
	const char *const a = "https://a.example", *const list = "https://b.example, https://a.example";
	allows(visit(NULL, NULL, "GET", "/", "Origin", a, NULL), "", "");
	allows(visit(NULL, list, "GET", "/", NULL), "", "Origin");
	allows(visit(NULL, list, "GET", "/", "Origin", a, NULL), a, "Origin");
	allows(visit(NULL, list, "GET", "/", "Origin", "https://evil.example", NULL), "", "Origin");
	allows(visit(NULL, list, "GET", "/", "Origin", a, "Origin", "https://evil.example", NULL), "", "Origin");
	allows(visit(NULL, "*", "GET", "/", "Origin", a, NULL), "*", "");
	allows(visit(NULL, "*", "GET", "/", NULL), "", "");
	allows(visit(path, list, "GET", "/v1/info", "Origin", a, NULL), a, "Origin"); /* a page may read the 401 */
}

static void test_preflights(void **state)
{
	(void)state;
	const char *const a = "https://a.example", *const asks = "Access-Control-Request-Method";
	struct visit preflight = visit(path, a, "OPTIONS", "/v1/evaluate", "Origin", a, asks, "POST", NULL);
	status_is(preflight, 204, "");
	allows(preflight, a, "Origin");
	assert_non_null(strstr(header_of(&preflight, "Access-Control-Allow-Methods"), "POST"));
	assert_non_null(strstr(header_of(&preflight, "Access-Control-Allow-Headers"), "Authorization"));
	allows(visit(NULL, "*", "OPTIONS", "/v1/evaluate", "Origin", "null", asks, "POST", NULL), "*", "");
	status_is(visit(NULL, NULL, "OPTIONS", "/v1/evaluate", "Origin", a, asks, "POST", NULL), 0, "");
	status_is(visit(NULL, a, "OPTIONS", "/v1/evaluate", "Origin", a, NULL), 0, "");
	status_is(visit(NULL, a, "OPTIONS", "/v1/evaluate", "Origin", "https://b", asks, "POST", NULL), 0, "");
	status_is(visit(NULL, a, "POST", "/v1/evaluate", "Origin", a, asks, "POST", NULL), 0, "");
}

static void refuses(const struct srv_options *options, const char *culprit)
{
	struct srv_gate gate;
	char *text;
	size_t n;
	FILE *err = open_memstream(&text, &n);
	assert_false(srv_gate_open(&gate, options, err));
	fclose(err);
	assert_non_null(strstr(text, culprit));
	free(text);
}

static void test_faults(void **state)
{
	(void)state;
	refuses(&(struct srv_options){.tokens = "/nowhere"}, "frictiond: --tokens: /nowhere: No such file");
	refuses(&(struct srv_options){.tokens = path, .tls_cert = path, .tls_key = path}, path);
}

static void suits(const char *tokens, long long anonymous, bool on_loopback, bool expected)
{
	const struct srv_options options = {.host = "192.0.2.1", .tokens = tokens, .anonymous = anonymous};
	struct srv_gate gate;
	char *text;
	size_t n;
	FILE *err = open_memstream(&text, &n);
	assert_true(srv_gate_open(&gate, &options, err));
	assert_int_equal(srv_gate_suits(&gate, on_loopback, err), expected);
	fclose(err);
	if (expected)
		assert_int_equal(n, 0);
	else
		assert_true(strstr(text, "192.0.2.1") && strstr(text, "--tokens") && strstr(text, "--anonymous yes"));
	free(text);
	srv_gate_close(&gate);
}

static void test_addresses(void **state)
{
	(void)state;
	suits(NULL, 0, true, true);
	suits(NULL, 0, false, false);
	suits(NULL, 1, false, true);
	suits(path, 0, false, true);
	suits(path, 1, false, true);
}

static int make_file(void **state)
{
	(void)state;
	const int fd = mkstemp(path);
	static const char text[] = "lab " TOKEN "\n";
	if (fd < 0 || write(fd, text, sizeof text - 1) < 0)
		return -1;
	return close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tokens),     cmocka_unit_test(test_open_paths), cmocka_unit_test(test_pages),
		cmocka_unit_test(test_preflights), cmocka_unit_test(test_faults), cmocka_unit_test(test_addresses),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}

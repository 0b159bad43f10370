#include "server/access/gate.h"

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

static const char *listens = "127.0.0.1"; /* the address of the service */
static const struct srv_peer *peer;       /* address of the client; NULL: unknown */

struct visit {
	struct srv_gate_settings settings;
	struct srv_gate gate;
	struct srv_head head;
	struct api_match match;
	struct srv_entry entry;
	struct srv_gate_header headers[SRV_GATE_HEADERS];
	int n;
	char text[SRV_GATE_TEXT];
};

static struct visit visit_with(const struct srv_gate_settings *settings, bool on_loopback, const char *method,
                               const char *target, va_list headers)
{
	struct visit visit = {.settings = *settings, .head = {.method = method, .target = srv_origin_form(target)}};
	for (const char *name; (name = va_arg(headers, const char *));)
		srv_head_add(&visit.head, name, va_arg(headers, const char *));
	assert_true(srv_gate_open(&visit.gate, &visit.settings, stderr));
	visit.gate.host = listens;
	visit.gate.on_loopback = on_loopback;
	api_match(visit.head.target, &visit.match);
	srv_gate_judge(&visit.gate, peer, &visit.head, target, &visit.match, &visit.entry);
	visit.n = srv_gate_headers(&visit.gate, &visit.head, &visit.entry, visit.headers);
	if (visit.entry.detail)
		srv_gate_explain(&visit.entry, visit.text);
	srv_gate_close(&visit.gate);
	return visit;
}

/* The variable arguments are names and values of headers in turn, ended by NULL. */
static struct visit visit(const char *tokens, const char *origins, const char *method, const char *target, ...)
{
	const struct srv_gate_settings settings = {.tokens = tokens, .allow_origin = origins};
	va_list headers;
	va_start(headers, target);
	const struct visit visit = visit_with(&settings, false, method, target, headers);
	va_end(headers);
	return visit;
}

/* As visit, without tokens and on loopback unless `settings` say otherwise. */
static struct visit local(const struct srv_gate_settings *settings, const char *method, const char *target, ...)
{
	const struct srv_gate_settings none = {0};
	va_list headers;
	va_start(headers, target);
	const struct visit visit = visit_with(settings ? settings : &none, true, method, target, headers);
	va_end(headers);
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
	const enum srv_rejection rejection = status == 401   ? SRV_REJECTED_UNAUTHORIZED
	                                     : status == 403 ? SRV_REJECTED_FORBIDDEN
	                                     : status == 421 ? SRV_REJECTED_MISDIRECTED
	                                                     : SRV_NOT_REJECTED;
	assert_int_equal(visit.entry.rejection, rejection);
	assert_true((rejection != SRV_NOT_REJECTED) == (visit.entry.detail != NULL));
	if (status == 403 || status == 421)
		assert_string_equal(header_of(&visit, "Access-Control-Allow-Origin"), "");
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
	assert_string_equal(visit(path, NULL, "GET", "/v1/info", "Authorization", "Bearer " TOKEN, NULL).entry.token,
	                    "lab");
	assert_string_equal(visit(path, NULL, "GET", "/v1/info", "Authorization", "Bearer x" TOKEN, NULL).entry.token, "");
}

static void test_open_paths(void **state)
{
	(void)state;
	static const char *const open[] = {
		"/healthz",          "/readyz",       "/healthz?x=1", "/", "/?x", "/explorer/explorer.js",
		"/explorer/nothing", "/openapi.json",
	};
	static const char *const closed[] = {
		"/metrics",
		"//",
		"/explorer",
		"/explorerx",
		"/v1/info",
		"/healthz/",
		"/healthzz",
		"//healthz",
		"/%68ealthz",
		"*",
		"",
		"/v1/../healthz",
		"/v1/info?/healthz",
		"/healthz;/v1/info",
		"/openapi.json/",
		"/%65xplorer/explorer.js",
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
	allows(visit(path, list, "GET", "/v1/info", "Origin", a, NULL), a, "Origin"); /* the page may read the 401 */
	status_is(visit(NULL, list, "GET", "/", "Origin", a, NULL), 0, "");
	status_is(visit(NULL, list, "GET", "/", "Origin", "https://evil.example", NULL), 403, "");
	status_is(visit(NULL, list, "GET", "/", "Origin", a, "Origin", "https://evil.example", NULL), 403, "");
	status_is(visit(NULL, list, "GET", "/", "Origin", a, "Origin", a, NULL), 403, "");
	status_is(visit(NULL, list, "GET", "/", "Origin", "null", NULL), 403, "");
	status_is(visit(NULL, "*", "GET", "/", "Origin", "null", NULL), 0, "");
}

static void test_preflights(void **state)
{
	(void)state;
	const char *const a = "https://a.example", *const asks = "Access-Control-Request-Method";
	struct visit preflight = visit(path, a, "OPTIONS", "/v1/evaluate", "Origin", a, asks, "POST", NULL);
	status_is(preflight, 204, "");
	allows(preflight, a, "Origin");
	assert_non_null(strstr(header_of(&preflight, "Access-Control-Allow-Methods"), "POST"));
	static const char *const sent[] = {"Authorization", "Content-Type", "If-None-Match", "If-Collision-Set-Version"};
	for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++)
		assert_non_null(strstr(header_of(&preflight, "Access-Control-Allow-Headers"), sent[i]));
	const struct visit answered = visit(NULL, a, "GET", "/v1/info", "Origin", a, NULL);
	static const char *const read[] = {"Server-Timing", "Collision-Set-Version", "ETag", "Location", "Accept-Patch"};
	for (size_t i = 0; i < sizeof read / sizeof read[0]; i++)
		assert_non_null(strstr(header_of(&answered, "Access-Control-Expose-Headers"), read[i]));
	allows(visit(NULL, "*", "OPTIONS", "/v1/evaluate", "Origin", "null", asks, "POST", NULL), "*", "");
	status_is(visit(NULL, NULL, "OPTIONS", "/v1/evaluate", "Origin", a, asks, "POST", NULL), 403, "");
	status_is(visit(NULL, a, "OPTIONS", "/v1/evaluate", "Origin", a, NULL), 0, "");
	status_is(visit(NULL, a, "OPTIONS", "/v1/evaluate", "Origin", "https://b", asks, "POST", NULL), 403, "");
	status_is(visit(path, a, "OPTIONS", "/v1/evaluate", "Origin", "https://b", asks, "POST", NULL), 403, "");
	status_is(local(&(struct srv_gate_settings){.allow_origin = a}, "OPTIONS", "/v1/evaluate", "Host", "evil.example",
	                "Origin", a, asks, "POST", NULL),
	          421, "");
	status_is(visit(NULL, a, "POST", "/v1/evaluate", "Origin", a, asks, "POST", NULL), 0, "");
}

static void test_hosts_on_loopback(void **state)
{
	(void)state;
	static const char *const passes[] = {
		"localhost", "LOCALHOST:8080", "localhost.", "127.0.0.1:1",
		"127.1.2.3", "[::1]",          "[::1]:8080", "[::ffff:127.0.0.1]",
	};
	static const char *const others[] = {
		"",
		"evil.example",
		"evil.example:8080",
		"localhost.evil.example",
		"127.0.0.1.evil.example",
		"127.1",
		"0x7f.1",
		"2130706433",
		"0.0.0.0",
		"10.0.0.1",
		"[::2]",
		"user@localhost",
		"localhost:x",
		"localhost,evil.example",
		"localhost evil",
	};
	static const char *const targets[] = {"/v1/evaluate", "/", "/healthz", "/nowhere", "*"};
	for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
		for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++)
			status_is(local(NULL, "GET", targets[t], "Host", passes[i], NULL), 0, "");
		for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
			status_is(local(NULL, "GET", targets[t], "host", others[i], NULL), 421, "");
	}
	status_is(local(NULL, "GET", "/", NULL), 0, ""); /* HTTP/1.0 may omit Host */
	struct visit refused = local(NULL, "POST", "/v1/evaluate", "Host", "evil.example:8080", NULL);
	assert_string_equal(refused.text, "\"evil.example:8080\" is not a host name of this service: localhost, "
	                                  "127.0.0.1, and those of --allow-host.");
	char name[1001];
	memset(name, 'a', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	refused = local(NULL, "GET", "/", "Host", name, NULL);
	assert_true(strncmp(refused.text, "\"aaa", 4) == 0 && strstr(refused.text, "aa\" is not") &&
	            strstr(refused.text, "--allow-host."));
}

/* RFC 9112, 3.2.2: an absolute target overrides Host. */
static void test_absolute_targets(void **state)
{
	(void)state;
	status_is(local(NULL, "GET", "http://localhost:8080/v1/info", "Host", "evil.example", NULL), 0, "");
	status_is(local(NULL, "GET", "HTTPS://[::1]?x", "Host", "evil.example", NULL), 0, "");
	status_is(local(NULL, "GET", "http://127.0.0.1", NULL), 0, "");
	status_is(local(NULL, "GET", "http://evil.example/", "Host", "localhost", NULL), 421, "");
	status_is(local(NULL, "GET", "http://evil.example?localhost", "Host", "localhost", NULL), 421, "");
	status_is(local(NULL, "GET", "http://localhost@evil.example/", "Host", "localhost", NULL), 421, "");
	status_is(local(NULL, "GET", "http://evil.example", NULL), 421, "");
	status_is(local(NULL, "GET", "http:///v1/info", "Host", "localhost", NULL), 421, "");
	status_is(local(NULL, "GET", "/http://evil.example/", "Host", "localhost", NULL), 0, "");
	status_is(local(NULL, "GET", "http://localhost:8080/", "Host", "a", "Origin", "http://localhost:8080", NULL), 0,
	          "");
	status_is(local(NULL, "GET", "http://localhost:8080/", "Host", "a", "Origin", "http://a", NULL), 403, "");
}

static void test_named_hosts(void **state)
{
	(void)state;
	const struct srv_gate_settings proxied = {.allow_host = "a.example,b.example:8443"};
	status_is(local(&proxied, "GET", "/", "Host", "a.example:8080", NULL), 0, "");
	status_is(local(&proxied, "GET", "/", "Host", "b.example:8443", NULL), 0, "");
	status_is(local(&proxied, "GET", "/", "Host", "localhost", NULL), 0, "");
	status_is(local(&proxied, "GET", "/", "Host", "b.example", NULL), 421, "");
	status_is(local(&proxied, "GET", "/", "Host", "evil.example", NULL), 421, "");
	listens = "myself";
	status_is(local(NULL, "GET", "/", "Host", "myself:8080", NULL), 0, "");
	status_is(local(NULL, "GET", "/", "Host", "localhost", NULL), 0, "");
	status_is(local(NULL, "GET", "/", "Host", "yourself:8080", NULL), 421, "");
	listens = "127.0.0.1";
}

/* On other addresses, and with tokens, the name matters only if a list is given. */
static void test_hosts_elsewhere(void **state)
{
	(void)state;
	status_is(visit(NULL, NULL, "GET", "/", "Host", "evil.example", NULL), 0, "");
	status_is(visit(path, NULL, "GET", "/v1/info", "Host", "evil.example", NULL), 401, "Bearer realm=\"frictiond\"");
	struct srv_gate_settings settings = {.tokens = path};
	status_is(local(&settings, "GET", "/", "Host", "evil.example", NULL), 0, "");
	settings.allow_host = "a.example";
	status_is(local(&settings, "GET", "/v1/info", "Host", "evil.example", "Authorization", "Bearer " TOKEN, NULL), 421,
	          "");
	status_is(local(&settings, "GET", "/v1/info", "Host", "a.example", NULL), 401, "Bearer realm=\"frictiond\"");
	status_is(local(&settings, "GET", "/v1/info", "Host", "a.example", "Authorization", "Bearer " TOKEN, NULL), 0, "");
	status_is(local(&settings, "GET", "/healthz", "Host", "10.0.0.7:8080", NULL), 421, "");
	status_is(local(&settings, "GET", "/healthz", "Host", "127.0.0.1:8080", NULL), 0, "");
}

static void test_own_pages(void **state)
{
	(void)state;
	status_is(local(NULL, "POST", "/v1/evaluate", "Host", "localhost:8080", "Origin", "http://localhost:8080", NULL), 0,
	          "");
	status_is(local(NULL, "POST", "/v1/evaluate", "Host", "[::1]:80", "Origin", "http://[::1]", NULL), 0, "");
	static const char *const others[] = {
		"http://localhost:3000",
		"https://localhost:8080",
		"http://127.0.0.1:8080",
		"http://evil.example:8080",
		"null",
		"",
	};
	static const char *const targets[] = {"/v1/evaluate",          "/",       "/healthz", "/readyz",
	                                      "/explorer/explorer.js", "/nowhere"};
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
			status_is(local(NULL, "GET", targets[t], "Host", "localhost:8080", "Origin", others[i], NULL), 403, "");
			status_is(local(NULL, "GET", targets[t], "Host", "localhost:8080", "Origin", others[i], "Sec-Fetch-Site",
			                "same-origin", NULL),
			          403, "");
			status_is(visit(path, NULL, "GET", targets[t], "Host", "a.example:8080", "Origin", others[i],
			                "Authorization", "Bearer " TOKEN, NULL),
			          403, "");
		}
	status_is(local(NULL, "GET", "/", "Host", "evil.example", "Origin", "http://evil.example", NULL), 421, "");
	status_is(local(NULL, "GET", "/", "Origin", "http://localhost", NULL), 403, ""); /* HTTP/1.0 may omit Host */
	struct visit refused = local(NULL, "GET", "/", "Host", "localhost", "Origin", "http://evil.example", NULL);
	assert_string_equal(refused.text,
	                    "\"http://evil.example\" is not an origin whose pages may use this service: its own, "
	                    "and those of --allow-origin.");
}

/* The proxy serves the page by https, but the service receives http. */
static void test_own_pages_behind_proxies(void **state)
{
	(void)state;
	const struct srv_gate_settings proxied = {.allow_host = "a.example"};
	const char *const a = "https://a.example";
	status_is(local(&proxied, "POST", "/v1/check", "Host", "a.example", "Origin", a, NULL), 0, "");
	status_is(local(&proxied, "POST", "/v1/check", "Host", "a.example", "Origin", "http://a.example", NULL), 0, "");
	status_is(local(&proxied, "POST", "/v1/check", "Host", "a.example:8443", "Origin", "https://a.example:8443", NULL),
	          0, "");
	status_is(local(&proxied, "POST", "/v1/check", "Host", "a.example:8443", "Origin", a, NULL), 403, "");
	status_is(local(&proxied, "POST", "/v1/check", "Host", "localhost", "Origin", "https://localhost", NULL), 403, "");
	status_is(local(&proxied, "POST", "/v1/check", "Host", "localhost", "Origin", a, NULL), 403, "");
	status_is(visit(NULL, NULL, "POST", "/v1/check", "Host", "a.example", "Origin", a, NULL), 0, "");
	status_is(visit(NULL, NULL, "POST", "/v1/check", "Host", "b.example", "Origin", a, NULL), 403, "");
}

static void test_pages_without_origin(void **state)
{
	(void)state;
	static const char *const site = "Sec-Fetch-Site", *const mode = "Sec-Fetch-Mode", *const dest = "Sec-Fetch-Dest";
	static const char *const foreign[] = {"cross-site", "same-site", "", "none, none", "Same-Origin", "anything"};
	status_is(local(NULL, "GET", "/v1/info", site, "same-origin", mode, "cors", dest, "empty", NULL), 0, "");
	status_is(local(NULL, "GET", "/v1/info", site, "none", mode, "navigate", dest, "document", NULL), 0, "");
	for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
		const char *const f = foreign[i];
		status_is(local(NULL, "GET", "/", site, f, mode, "navigate", dest, "document", NULL), 0, "");
		status_is(local(NULL, "HEAD", "/?x", "sec-fetch-site", f, mode, "navigate", dest, "document", NULL), 0, "");
		status_is(local(NULL, "GET", "/healthz", site, f, mode, "no-cors", dest, "image", NULL), 0, "");
		status_is(local(NULL, "GET", "/readyz", site, f, NULL), 0, "");
		status_is(local(NULL, "GET", "/", site, f, mode, "navigate", dest, "iframe", NULL), 403, "");
		status_is(local(NULL, "GET", "/", site, f, mode, "no-cors", dest, "document", NULL), 403, "");
		status_is(local(NULL, "GET", "/", site, f, mode, "navigate", NULL), 403, "");
		status_is(local(NULL, "GET", "/", site, f, dest, "document", NULL), 403, "");
		status_is(local(NULL, "POST", "/", site, f, mode, "navigate", dest, "document", NULL), 403, "");
		status_is(local(NULL, "GET", "/v1/info", site, f, mode, "navigate", dest, "document", NULL), 403, "");
		status_is(local(NULL, "GET", "/explorer/explorer.js", site, f, mode, "no-cors", dest, "script", NULL), 403, "");
		status_is(local(NULL, "POST", "/v1/evaluate", site, f, mode, "no-cors", dest, "empty", NULL), 403, "");
		status_is(local(NULL, "GET", "/metrics", site, f, NULL), 403, "");
		status_is(visit(path, "*", "GET", "/v1/info", site, f, "Authorization", "Bearer " TOKEN, NULL), 403, "");
	}
	status_is(visit(NULL, "*", "GET", "/v1/info", site, "cross-site", "Origin", "https://a.example", NULL), 0, "");
	struct visit refused = local(NULL, "GET", "/v1/info", site, "cross-site", NULL);
	assert_string_equal(refused.text,
	                    "\"cross-site\" in Sec-Fetch-Site: the request comes from a page of another origin. "
	                    "Only origins of --allow-origin may use this service, by CORS.");
}

static void refuses(const struct srv_gate_settings *settings, const char *culprit)
{
	struct srv_gate gate;
	char *text;
	size_t n;
	FILE *err = open_memstream(&text, &n);
	assert_false(srv_gate_open(&gate, settings, err));
	fclose(err);
	assert_non_null(strstr(text, culprit));
	free(text);
}

static void test_faults(void **state)
{
	(void)state;
	refuses(&(struct srv_gate_settings){.tokens = "/nowhere"}, "frictiond: --tokens: /nowhere: No such file");
	refuses(&(struct srv_gate_settings){.tokens = path, .tls_cert = path, .tls_key = path}, path);
}

static void suits(const char *tokens, long long anonymous, bool on_loopback, bool expected)
{
	const struct srv_gate_settings settings = {.tokens = tokens, .anonymous = anonymous};
	struct srv_gate gate;
	char *text;
	size_t n;
	FILE *err = open_memstream(&text, &n);
	assert_true(srv_gate_open(&gate, &settings, err));
	assert_int_equal(srv_gate_suits(&gate, "192.0.2.1", on_loopback, err), expected);
	assert_int_equal(gate.on_loopback, on_loopback);
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

/* Neither host, page nor token matters on these sockets, except that a client must not pass for another one. */
static void test_unix_domain_sockets(void **state)
{
	(void)state;
	const struct srv_peer user = {.address.ss_family = AF_UNIX, .uid = 1000};
	const struct srv_gate_settings settings = {.allow_host = "a.example", .allow_origin = "https://a.example"};
	peer = &user;
	struct visit v = visit(path, NULL, "GET", "/v1/info", NULL);
	assert_int_equal(v.entry.status, 0);
	assert_string_equal(v.entry.token, "uid:1000");
	v = visit(path, NULL, "GET", "/healthz", "Authorization", "Bearer " TOKEN, NULL);
	assert_string_equal(v.entry.token, "uid:1000");
	v = visit(path, NULL, "GET", "/v1/info", "Authorization", "Bearer wrong", NULL);
	assert_int_equal(v.entry.status, 0);
	v = local(&settings, "POST", "/v1/evaluate", "Host", "b.example", "Origin", "https://b.example", NULL);
	assert_int_equal(v.entry.status, 0);
	assert_string_equal(v.entry.token, "");
	v = local(&settings, "GET", "/v1/info", "Host", "b.example", "Sec-Fetch-Site", "cross-site", NULL);
	assert_int_equal(v.entry.status, 0);
	/* A proxy may forward a page's preflight. */
	v = visit(path, "https://a.example", "OPTIONS", "/v1/evaluate", "Origin", "https://a.example",
	          "Access-Control-Request-Method", "POST", NULL);
	assert_int_equal(v.entry.status, 204);
	peer = NULL;
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
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_open_paths),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_preflights),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_hosts_on_loopback),
		cmocka_unit_test(test_absolute_targets),
		cmocka_unit_test(test_named_hosts),
		cmocka_unit_test(test_hosts_elsewhere),
		cmocka_unit_test(test_own_pages),
		cmocka_unit_test(test_own_pages_behind_proxies),
		cmocka_unit_test(test_pages_without_origin),
		cmocka_unit_test(test_unix_domain_sockets),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}

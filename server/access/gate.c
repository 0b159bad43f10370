#include "server/access/gate.h"

#include "api/routes/table.h"
#include "server/access/certificate.h"
#include "server/access/cors.h"
#include "server/access/hosts.h"
#include "server/observe/log.h"

#include <string.h>

#define REALM "Bearer realm=\"frictiond\""

/* ---- settings ---- */

static bool is_pair(const struct srv_gate_settings *settings, FILE *err)
{
	const bool pair = !settings->tls_cert == !settings->tls_key;
	if (!pair)
		fprintf(err, "frictiond: --%s needs --%s\n", settings->tls_cert ? "tls-cert" : "tls-key",
		        settings->tls_cert ? "tls-key" : "tls-cert");
	return pair;
}

typedef bool is_list(const char *list, const char **culprit, int *n);

static bool check_list(const char *option, const char *list, is_list *is, const char *expected, FILE *err)
{
	const char *culprit;
	int n;
	if (!list || is(list, &culprit, &n))
		return true;
	fprintf(err, "frictiond: --%s: '%.*s' is not %s\n", option, n, culprit, expected);
	return false;
}

bool srv_gate_settings_are_sound(const struct srv_gate_settings *settings, FILE *err)
{
	return is_pair(settings, err) &&
	       check_list(
			   "allow-origin", settings->allow_origin, srv_cors_is_list,
			   "an origin as browsers send it, such as https://a.example: scheme and host in lower case, no path,"
			   " no default port",
			   err) &&
	       check_list(
			   "allow-host", settings->allow_host, srv_hosts_is_list,
			   "a name or an address, such as a.example, a.example:8443 or [2001:db8::1]: no scheme, no path, no *",
			   err);
}

/* ---- files ---- */

_Static_assert((int)SRV_TOKENS_MESSAGE == (int)SRV_CERTIFICATE_MESSAGE, "one message for both");

static bool refuse(const char *option, const char *message, FILE *err)
{
	fprintf(err, "frictiond: --%s: %s\n", option, message);
	return false;
}

static void tell(const char *what, const char *warning)
{
	srv_log(SRV_INFO, "%s", what);
	if (*warning)
		srv_log(SRV_WARNING, "%s", warning);
}

static void tell_tokens(const struct srv_gate *gate, const char *warning)
{
	char what[64];
	snprintf(what, sizeof what, "tokens read: %zu", srv_tokens_count(gate->tokens));
	tell(what, warning);
}

static bool open_tokens(struct srv_gate *gate, FILE *err)
{
	char message[SRV_TOKENS_MESSAGE];
	if (!gate->settings->tokens)
		return true;
	gate->tokens = srv_tokens_open(gate->settings->tokens, message);
	if (!gate->tokens)
		return refuse("tokens", message, err);
	tell_tokens(gate, message);
	return true;
}

static bool open_certificate(const struct srv_gate_settings *settings, FILE *err)
{
	char message[SRV_CERTIFICATE_MESSAGE];
	if (!settings->tls_cert)
		return true;
	if (!srv_certificate_read(settings->tls_cert, settings->tls_key, message))
		return refuse("tls-cert, --tls-key", message, err);
	tell("certificate and key read", message);
	return true;
}

bool srv_gate_open(struct srv_gate *gate, const struct srv_gate_settings *settings, FILE *err)
{
	*gate = (struct srv_gate){.settings = settings};
	api_table_allow(&api_routes, gate->methods);
	if (open_tokens(gate, err) && open_certificate(settings, err))
		return true;
	srv_gate_close(gate);
	return false;
}

/* Without tokens any client that reaches the port can make the server work, so listening beyond loopback must be
 * explicit. */
bool srv_gate_suits(struct srv_gate *gate, const char *host, bool on_loopback, FILE *err)
{
	gate->host = host;
	gate->on_loopback = on_loopback;
	if (on_loopback)
		return true;
	if (!gate->tokens && !gate->settings->anonymous) {
		fprintf(err,
		        "frictiond: without --tokens anybody who can reach %s may use the service; give --tokens FILE, or "
		        "--anonymous yes if that is intended\n",
		        host);
		return false;
	}
	if (!gate->tokens)
		srv_log(SRV_WARNING, "no tokens: anybody who can reach %s may use the service", host);
	else if (!gate->settings->tls_cert)
		srv_log(SRV_WARNING, "no TLS: tokens can be read on the way to %s, unless a proxy in front encrypts", host);
	return true;
}

void srv_gate_reload(const struct srv_gate *gate)
{
	const struct srv_gate_settings *settings = gate->settings;
	char message[SRV_TOKENS_MESSAGE];
	if (!gate->tokens && !settings->tls_cert)
		srv_log(SRV_INFO, "SIGHUP: there are no tokens and no certificate to be read again");
	if (gate->tokens && srv_tokens_reload(gate->tokens, message))
		tell_tokens(gate, message);
	else if (gate->tokens)
		srv_log(SRV_ERROR, "tokens are unchanged: %s", message);
	if (settings->tls_cert && srv_certificate_read(settings->tls_cert, settings->tls_key, message))
		tell("certificate and key read", message);
	else if (settings->tls_cert)
		srv_log(SRV_ERROR, "certificate and key are unchanged: %s", message);
}

void srv_gate_close(struct srv_gate *gate)
{
	srv_tokens_close(gate->tokens);
	srv_certificate_forget();
	gate->tokens = NULL;
}

/* ---- the name by which the service is called ---- */

/* The host that the client addressed. */
struct call {
	const char *authority; /* [bytes]; NULL: absent, which only HTTP/1.0 allows */
	size_t bytes;
	struct srv_host read;
	const struct srv_host *host; /* &read; NULL: the authority is not a valid host */
};

static void read_call(const struct srv_head *head, const char *target, struct call *call)
{
	call->authority = srv_head_authority(head, target, &call->bytes);
	call->host = call->authority && srv_host_read(call->authority, call->bytes, &call->read) ? &call->read : NULL;
}

/* DNS rebinding is a threat only on loopback without tokens: a page without a token is refused anyway, and a public
 * service may have any name. */
static bool judges_hosts(const struct srv_gate *gate)
{
	return gate->settings->allow_host || (gate->on_loopback && !gate->tokens);
}

static bool is_named(const struct srv_gate *gate, const struct srv_host *host)
{
	const struct srv_gate_settings *settings = gate->settings;
	return settings->allow_host && srv_hosts_allow(settings->allow_host, host, settings->tls_cert != NULL);
}

/* --host may be a private name for a loopback address. */
static bool is_where_it_listens(const struct srv_gate *gate, const struct srv_host *host)
{
	const char *own = gate->host;
	struct srv_host listens;
	return gate->on_loopback && own && srv_host_read(own, strlen(own), &listens) && srv_hosts_are_same(&listens, host);
}

static bool may_be_called(const struct srv_gate *gate, const struct call *call)
{
	if (!call->authority || !judges_hosts(gate))
		return true;
	return call->host &&
	       (srv_host_is_loopback(call->host) || is_named(gate, call->host) || is_where_it_listens(gate, call->host));
}

/* ---- web pages ---- */

static bool is_from_allowed_page(const struct srv_gate *gate, const struct srv_head *head)
{
	const char *origins = gate->settings->allow_origin;
	return origins && head->n_origin == 1 && srv_cors_allows(origins, head->origin);
}

/* Behind a proxy that ends TLS the page's origin is https although requests arrive by http. */
static bool is_from_own_page(const struct srv_gate *gate, const struct call *call, const struct srv_head *head)
{
	const bool tls = gate->settings->tls_cert;
	if (!call->host || head->n_origin != 1)
		return false;
	if (srv_cors_is_own(head->origin, call->host, tls))
		return true;
	const bool proxied = !judges_hosts(gate) || is_named(gate, call->host);
	return !tls && proxied && srv_cors_is_own(head->origin, call->host, true);
}

static bool is(const char *value, const char *word)
{
	return value && strcmp(value, word) == 0;
}

/* The matched row. A path with needless escapes gets an empty row, and so no exemptions. */
static const struct api_route *route_of(const struct api_match *match)
{
	static const struct api_route nothing = {0};
	return match->is_plain ? match->route : &nothing;
}

/* A link on another site may open the explorer: as a top-level page it is out of that site's reach. */
static bool leads_to_page(const struct srv_head *head, const struct api_match *match)
{
	return (strcmp(head->method, "GET") == 0 || strcmp(head->method, "HEAD") == 0) && route_of(match)->is_page &&
	       is(head->fetch_mode, "navigate") && is(head->fetch_dest, "document");
}

/* Browsers send Origin on requests whose responses a page could read and on requests that could change something;
 * browsers that support Sec-Fetch-Site always send it, with "none" for a typed address. */
static bool may_come_without_origin(const struct srv_head *head, const struct api_match *match)
{
	return !head->fetch_site || is(head->fetch_site, "same-origin") || is(head->fetch_site, "none") ||
	       route_of(match)->is_probe || leads_to_page(head, match);
}

/* ---- tokens ---- */

/* Browsers send a preflight, without credentials, before any request that a form could not make. */
static bool is_preflight(const struct srv_gate *gate, const struct srv_head *head)
{
	return strcmp(head->method, "OPTIONS") == 0 && head->preflight && is_from_allowed_page(gate, head);
}

static void ask_for_token(const struct srv_gate *gate, const struct srv_head *head, struct srv_entry *entry)
{
	const enum srv_bearer bearer = srv_tokens_check(gate->tokens, head->authorization, entry->token);
	if (bearer == SRV_BEARER_KNOWN)
		return;
	entry->status = 401;
	entry->rejection = SRV_REJECTED_UNAUTHORIZED;
	entry->tried = bearer == SRV_BEARER_WRONG;
	entry->detail = entry->tried ? "The bearer token is unknown."
	                             : "This needs a bearer token: Authorization: Bearer TOKEN.";
}

/* ---- a request ---- */

static void refuse_host(const struct call *call, struct srv_entry *entry)
{
	entry->status = 421;
	entry->rejection = SRV_REJECTED_MISDIRECTED;
	entry->culprit = call->authority;
	entry->culprit_bytes = call->bytes;
	entry->detail = "is not a host name of this service: localhost, 127.0.0.1, and those of --allow-host.";
}

static void refuse_page(const char *culprit, const char *detail, struct srv_entry *entry)
{
	entry->status = 403;
	entry->rejection = SRV_REJECTED_FORBIDDEN;
	entry->culprit = culprit;
	entry->culprit_bytes = strlen(culprit);
	entry->detail = detail;
}

static void judge_page(const struct srv_gate *gate, const struct srv_head *head, const struct api_match *match,
                       const struct call *call, struct srv_entry *entry)
{
	if (head->origin) {
		if (!is_from_own_page(gate, call, head) && !is_from_allowed_page(gate, head))
			refuse_page(head->origin,
			            "is not an origin whose pages may use this service: its own, and those of --allow-origin.",
			            entry);
	} else if (!may_come_without_origin(head, match)) {
		refuse_page(head->fetch_site,
		            "in Sec-Fetch-Site: the request comes from a page of another origin. Only origins of "
		            "--allow-origin may use this service, by CORS.",
		            entry);
	}
}

static void judge_network(const struct srv_gate *gate, const struct srv_head *head, const char *target,
                          const struct api_match *match, struct srv_entry *entry)
{
	struct call call;
	read_call(head, target, &call);
	if (!may_be_called(gate, &call))
		refuse_host(&call, entry);
	else
		judge_page(gate, head, match, &call, entry);
	if (!entry->status && gate->tokens && !route_of(match)->is_open && !is_preflight(gate, head))
		ask_for_token(gate, head, entry);
}

_Static_assert((int)SRV_PEER <= (int)SRV_TOKEN_NAME, "a user's name fits where a token's does");

/* Names the user of a Unix-domain socket if there are tokens. Without tokens all callers share one identity. */
static void name_user(const struct srv_gate *gate, const struct srv_peer *peer, struct srv_entry *entry)
{
	if (gate->tokens)
		srv_peer_print(peer, entry->token);
}

void srv_gate_judge(const struct srv_gate *gate, const struct srv_peer *peer, const struct srv_head *head,
                    const char *target, const struct api_match *match, struct srv_entry *entry)
{
	*entry = (struct srv_entry){0};
	if (srv_peer_is_unix(peer))
		name_user(gate, peer, entry);
	else
		judge_network(gate, head, target, match, entry);
	if (!entry->status && is_preflight(gate, head))
		entry->status = 204;
}

void srv_gate_explain(const struct srv_entry *entry, char text[SRV_GATE_TEXT])
{
	enum { MOST = 200 };
	const int n = entry->culprit_bytes < MOST ? (int)entry->culprit_bytes : MOST;
	if (entry->culprit)
		snprintf(text, SRV_GATE_TEXT, "\"%.*s\" %s", n, entry->culprit, entry->detail);
	else
		snprintf(text, SRV_GATE_TEXT, "%s", entry->detail);
}

/* ---- response headers ---- */

static bool may_be_read(const struct srv_gate *gate, const struct srv_head *head, const struct srv_entry *entry)
{
	return entry->status != 421 && entry->status != 403 && is_from_allowed_page(gate, head);
}

static void add(struct srv_gate_header *headers, int *n, const char *name, const char *value)
{
	headers[(*n)++] = (struct srv_gate_header){name, value};
}

int srv_gate_headers(const struct srv_gate *gate, const struct srv_head *head, const struct srv_entry *entry,
                     struct srv_gate_header headers[SRV_GATE_HEADERS])
{
	const char *origins = gate->settings->allow_origin;
	int n = 0;
	if (entry->status == 401)
		add(headers, &n, "WWW-Authenticate", entry->tried ? REALM ", error=\"invalid_token\"" : REALM);
	if (origins && !srv_cors_allows_all(origins))
		add(headers, &n, "Vary", "Origin"); /* always, or a cache could mix up the responses to two pages */
	if (!may_be_read(gate, head, entry))
		return n;
	add(headers, &n, "Access-Control-Allow-Origin", srv_cors_allows_all(origins) ? "*" : head->origin);
	if (entry->status == 204) {
		add(headers, &n, "Access-Control-Allow-Methods", gate->methods);
		add(headers, &n, "Access-Control-Allow-Headers",
		    "Authorization, Content-Type, Accept, X-Request-Id, traceparent, If-None-Match, If-Collision-Set-Version");
		add(headers, &n, "Access-Control-Max-Age", "3600");
	} else {
		add(headers, &n, "Access-Control-Expose-Headers",
		    "X-Request-Id, Server-Timing, Retry-After, traceresponse, Collision-Set-Version, ETag, Location, Accept-Patch");
	}
	return n;
}

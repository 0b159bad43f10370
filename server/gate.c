#include "gate.h"

#include "certificate.h"
#include "cors.h"
#include "log.h"

#include <string.h>

#define REALM "Bearer realm=\"frictiond\""

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
	if (!gate->options->tokens)
		return true;
	gate->tokens = srv_tokens_open(gate->options->tokens, message);
	if (!gate->tokens)
		return refuse("tokens", message, err);
	tell_tokens(gate, message);
	return true;
}

static bool open_certificate(const struct srv_options *options, FILE *err)
{
	char message[SRV_CERTIFICATE_MESSAGE];
	if (!options->tls_cert)
		return true;
	if (!srv_certificate_read(options->tls_cert, options->tls_key, message))
		return refuse("tls-cert, --tls-key", message, err);
	tell("certificate and key read", message);
	return true;
}

bool srv_gate_open(struct srv_gate *gate, const struct srv_options *options, FILE *err)
{
	*gate = (struct srv_gate){.options = options};
	if (open_tokens(gate, err) && open_certificate(options, err))
		return true;
	srv_gate_close(gate);
	return false;
}

/* Whoever reaches the port may have work done: on other addresses than loopback that has to be meant. */
bool srv_gate_suits(const struct srv_gate *gate, bool on_loopback, FILE *err)
{
	const char *host = gate->options->host;
	if (on_loopback)
		return true;
	if (!gate->tokens && !gate->options->anonymous) {
		fprintf(err, "frictiond: without --tokens everybody who can reach %s may ask; give --tokens FILE, or "
		             "--anonymous yes if that is meant\n", host);
		return false;
	}
	if (!gate->tokens)
		srv_log(SRV_WARNING, "no tokens: everybody who can reach %s may ask", host);
	else if (!gate->options->tls_cert)
		srv_log(SRV_WARNING, "no TLS: tokens can be read on the way to %s, unless a proxy in front encrypts", host);
	return true;
}

void srv_gate_reload(const struct srv_gate *gate)
{
	const struct srv_options *options = gate->options;
	char message[SRV_TOKENS_MESSAGE];
	if (!gate->tokens && !options->tls_cert)
		srv_log(SRV_INFO, "SIGHUP: there are no tokens and no certificate to be read again");
	if (gate->tokens && srv_tokens_reload(gate->tokens, message))
		tell_tokens(gate, message);
	else if (gate->tokens)
		srv_log(SRV_ERROR, "tokens stay as they were: %s", message);
	if (options->tls_cert && srv_certificate_read(options->tls_cert, options->tls_key, message))
		tell("certificate and key read", message);
	else if (options->tls_cert)
		srv_log(SRV_ERROR, "certificate and key stay as they were: %s", message);
}

void srv_gate_close(struct srv_gate *gate)
{
	srv_tokens_close(gate->tokens);
	srv_certificate_forget();
	gate->tokens = NULL;
}

/* ---- a request ---- */

/* Probes come from programs that have no token; they learn nothing but that the server is there. The page and the
 * description of the interface are the same for everybody. */
static bool is_open(const struct srv_head *head)
{
	return srv_head_is_for(head, "/healthz") || srv_head_is_for(head, "/readyz") || srv_head_is_for(head, "/") ||
	       srv_head_is_for(head, "/openapi.json") || strncmp(head->target, "/explorer/", strlen("/explorer/")) == 0;
}

static bool is_from_allowed_page(const struct srv_gate *gate, const struct srv_head *head)
{
	const char *origins = gate->options->allow_origin;
	return origins && head->n_origin == 1 && srv_cors_allows(origins, head->origin);
}

/* Browsers ask before they send what a form could not, and never show a token then. */
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
	entry->tried = bearer == SRV_BEARER_WRONG;
	entry->detail = entry->tried ? "The bearer token is not known here."
	                             : "This needs a bearer token: Authorization: Bearer TOKEN.";
}

void srv_gate_judge(const struct srv_gate *gate, const struct srv_head *head, struct srv_entry *entry)
{
	*entry = (struct srv_entry){0};
	if (is_preflight(gate, head))
		entry->status = 204;
	else if (gate->tokens && !is_open(head))
		ask_for_token(gate, head, entry);
}

static void add(struct srv_gate_header *headers, int *n, const char *name, const char *value)
{
	headers[(*n)++] = (struct srv_gate_header){name, value};
}

int srv_gate_headers(const struct srv_gate *gate, const struct srv_head *head, const struct srv_entry *entry,
                     struct srv_gate_header headers[SRV_GATE_HEADERS])
{
	const char *origins = gate->options->allow_origin;
	int n = 0;
	if (entry->status == 401)
		add(headers, &n, "WWW-Authenticate", entry->tried ? REALM ", error=\"invalid_token\"" : REALM);
	if (origins && !srv_cors_allows_all(origins))
		add(headers, &n, "Vary", "Origin"); /* on all answers: a cache must not give one page's to another */
	if (!is_from_allowed_page(gate, head))
		return n;
	add(headers, &n, "Access-Control-Allow-Origin", srv_cors_allows_all(origins) ? "*" : head->origin);
	if (entry->status == 204) {
		add(headers, &n, "Access-Control-Allow-Methods", "GET, HEAD, POST");
		add(headers, &n, "Access-Control-Allow-Headers",
		    "Authorization, Content-Type, Accept, X-Request-Id, traceparent");
		add(headers, &n, "Access-Control-Max-Age", "3600");
	} else {
		add(headers, &n, "Access-Control-Expose-Headers", "X-Request-Id, Server-Timing, Retry-After, traceresponse");
	}
	return n;
}

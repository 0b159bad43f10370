#include "server/settings/print.h"

#include "core/fric.h"
#include "server/settings/table.h"

#include <stdlib.h>
#include <string.h>

/* ---- flags that print ---- */

static void print_option(const struct srv_option *option, FILE *out)
{
	char left[SRV_OPTION_NAME], variable[SRV_OPTION_NAME], range[SRV_OPTION_RANGE];
	const bool number = option->kind != SRV_TEXT && option->kind != SRV_WORD;
	snprintf(left, sizeof left, "--%s %s", option->name, option->argument);
	srv_option_variable(option, variable);
	srv_option_range(option, range);
	fprintf(out, "  %-26s %s\n%29sdefault %s%s%s; %s\n", left, option->help, "", srv_option_default(option),
	        number ? "; " : "", number ? range : "", variable);
}

static void print_check_help(FILE *out)
{
	fputs("Usage: frictiond check [OPTION]... FILE\n"
	      "Evaluates the request in FILE (JSON or a frame; - is standard input) and compares potential, gradient and\n"
	      "Hessian with central differences. Needs no server.\n\n"
	      "  --claims CLAIMS            also compare somebody else's results: CLAIMS holds an answer of /v1/evaluate,\n"
	      "                             or potential, gradient, body_gradient and hessian alone\n"
	      "  --derivatives              also compare derivatives with respect to every field of the request\n"
	      "  --json                     print the answer of POST /v1/check instead of a report\n"
	      "  --help                     this text\n\n"
	      "Also takes the options of the server (frictiond --help), of which --threads, --kernels, --memory-bytes,\n"
	      "--max-json-bytes, --max-frame-bytes, --max-contacts and --max-vertices matter.\n"
	      "Exit codes: 0 all agrees, claims included; 1 does not agree; 2 could not be checked: the command line, a\n"
	      "file or the request is wrong, or memory ran out.\n",
	      out);
}

static void print_health_help(FILE *out)
{
	fputs("Usage: frictiond health [OPTION]...\n"
	      "Contacts the server that has the same options, at --unix or on its own host and port, over TLS if it has\n"
	      "--tls-cert, and prints in one line whether it is healthy. For HEALTHCHECK and exec probes.\n\n",
	      out);
	fprintf(out,
	        "  --ready                    use /readyz, which fails while the server drains, instead of /healthz\n"
	        "  --%s %s        %s; default %s; %lld to %lld\n"
	        "  --help                     this text\n\n",
	        srv_patience.name, srv_patience.argument, srv_patience.help, srv_patience.fallback, srv_patience.least,
	        srv_patience.most);
	fputs("Also takes the options of the server (frictiond --help), as flags, from the environment or from a file, of\n"
	      "which --config and --unix matter, or else --host, --port and --tls-cert. The certificate is not verified:\n"
	      "the server contacts itself, and no token is sent.\n"
	      "Exit codes: 0 healthy; 1 not, or an option is wrong (Docker reserves 2).\n",
	      out);
}

static void print_help(FILE *out)
{
	fputs("Usage: frictiond [OPTION]...\n"
	      "       frictiond check [OPTION]... FILE\n"
	      "       frictiond health [OPTION]...\n"
	      "Evaluates contact friction over HTTP: POST /v1/evaluate takes a batch of contacts. With check: compares\n"
	      "the results for the request in FILE with central differences (frictiond check --help). With health: checks\n"
	      "whether the server with these options is healthy (frictiond health --help).\n\n"
	      "Every option may also be set in the environment or in a file, as port = 80; flags take precedence over\n"
	      "the environment, and the environment over the file. Write --port 80 or --port=80. Sizes take K, M or G\n"
	      "(binary).\n\n",
	      out);
	for (int i = 0; i < srv_n_options; i++)
		print_option(&srv_options_table[i], out);
	fputs("  --print-config             the options in effect and where they come from, as a file for --config\n"
	      "  --print-openapi            the description that GET /openapi.json returns, with these options\n"
	      "  --help                     this text\n"
	      "  --version                  the version\n\n"
	      "Once ready it prints \"frictiond listening on http://HOST:PORT\" (https:// with --tls-cert) and, with\n"
	      "--unix, \"frictiond listening on http+unix://PATH\"; the log goes to standard error. Addresses other than\n"
	      "loopback need --tokens, or --anonymous yes. Sockets that are passed in (LISTEN_FDS) replace the default\n"
	      "port. In a browser, / is the explorer and /docs/ the documentation.\n"
	      "SIGTERM and SIGINT drain: /readyz returns 503, requests under way are completed, exit 0; a second signal\n"
	      "ends the wait. SIGHUP reads tokens, certificate and key again.\n"
	      "Exit codes: 0 stopped by a signal, or printed what was requested; 1 cannot run (the address is taken,\n"
	      "no memory, no threads); 2 an option is wrong (as a flag, in the environment or in the file), or the\n"
	      "tokens, certificate or key that it names.\n",
	      out);
}

static void print_markdown(FILE *out)
{
	fputs("| option | environment | default | range | meaning |\n|---|---|---|---|---|\n", out);
	for (int i = 0; i < srv_n_options; i++) {
		const struct srv_option *option = &srv_options_table[i];
		char variable[SRV_OPTION_NAME], range[SRV_OPTION_RANGE];
		srv_option_variable(option, variable);
		srv_option_range(option, range);
		fprintf(out, "| `--%s %s` | `%s` | %s | %s | %s |\n", option->name, option->argument, variable,
		        srv_option_default(option), range, option->help);
	}
}

bool srv_answer_query(const char *argument, enum srv_command command, FILE *out)
{
	static void (*const helps[])(FILE *) = {
		[SRV_SERVE] = print_help, [SRV_CHECK] = print_check_help, [SRV_HEALTH] = print_health_help};
	if (strcmp(argument, "--help") == 0)
		helps[command](out);
	else if (strcmp(argument, "--version") == 0)
		fputs("frictiond " FRIC_VERSION "\n", out);
	else if (strcmp(argument, "--print-options-markdown") == 0)
		print_markdown(out);
	else
		return false;
	return true;
}

/* ---- the options in effect ---- */

static void print_value(const struct srv_option *option, const struct srv_options *options, FILE *out)
{
	struct srv_options copy = *options;
	const long long number = option->kind == SRV_TEXT ? 0 : *srv_option_number(option, &copy);
	const char *words = option->words;
	char text[SRV_BYTES_TEXT];
	for (long long i = 0; option->kind == SRV_WORD && i < number; i++)
		words += strcspn(words, " ") + 1;
	srv_option_print(option->kind, number, text);
	if (option->kind == SRV_WORD)
		fprintf(out, "%s = %.*s\n", option->name, (int)strcspn(words, ","), words);
	else
		fprintf(out, "%s = %s\n", option->name, option->kind == SRV_TEXT ? *srv_option_text(option, &copy) : text);
}

static void print_source(int i, const struct srv_options *options, const struct srv_sources *sources, FILE *out)
{
	char variable[SRV_OPTION_NAME];
	srv_option_variable(&srv_options_table[i], variable);
	switch (sources->kind[i]) {
	case SRV_FROM_FLAG: fprintf(out, "--%s", srv_options_table[i].name); break;
	case SRV_FROM_ENVIRONMENT: fputs(variable, out); break;
	case SRV_FROM_FILE: fprintf(out, "%s, line %d", options->config, sources->line[i]); break;
	case SRV_FROM_DEFAULT: fputs(srv_options_table[i].fallback ? "default" : "automatic", out); break;
	}
}

/* A file may not name another file, so --config is printed as a comment, as are options without a value. */
void srv_print_config(const struct srv_options *options, const struct srv_sources *sources, FILE *out)
{
	fputs("# The options of frictiond " FRIC_VERSION " that are in effect, and where they come from.\n", out);
	for (int i = 0; i < srv_n_options; i++) {
		struct srv_options copy = *options;
		const bool none = srv_options_table[i].kind == SRV_TEXT && !*srv_option_text(&srv_options_table[i], &copy);
		fprintf(out, "\n# %s\n# from: ", srv_options_table[i].help);
		if (none)
			fputs("nowhere", out);
		else
			print_source(i, options, sources, out);
		fputs(none || srv_option_is_config(&srv_options_table[i]) ? "\n# " : "\n", out);
		if (none)
			fprintf(out, "%s =\n", srv_options_table[i].name);
		else
			print_value(&srv_options_table[i], options, out);
	}
}

bool srv_print_openapi(const struct srv_options *options, FILE *out, FILE *err)
{
	const struct api_service service = srv_service(options);
	size_t bytes;
	char *text = api_describe(&service, &bytes);
	const bool ok = text;
	if (ok)
		fprintf(out, "%s\n", text);
	else
		fputs("frictiond: not enough memory\n", err);
	free(text);
	return ok;
}

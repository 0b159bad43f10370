#include "server/access/cors.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

static size_t host_bytes(const char *host)
{
	if (*host != '[')
		return strspn(host, LETTERS DIGITS ".-_");
	const size_t n = 1 + strspn(host + 1, "abcdef" DIGITS ":.");
	return host[n] == ']' ? n + 1 : 0;
}

/* Browsers omit the default port, so an origin that names it would never match. */
static bool is_default_port(const char *scheme, const char *port, size_t n)
{
	return (n == 3 && strncmp(port, "443", n) == 0 && strncmp(scheme, "https:", 6) == 0) ||
	       (n == 2 && strncmp(port, "80", n) == 0 && strncmp(scheme, "http:", 5) == 0);
}

/* Accepts scheme://host and scheme://host:port, in lower case. Browsers send "null" for opaque origins, so it is not
 * accepted. */
static bool is_origin(const char *origin, size_t n)
{
	const char *end = origin + n, *host = origin + strspn(origin, LETTERS DIGITS "+.-");
	if (host == origin || strncmp(host, "://", 3) != 0)
		return false;
	host += 3;
	const char *port = host + host_bytes(host);
	if (port == host || port >= end)
		return port == end && port > host;
	const size_t digits = strspn(port + 1, DIGITS);
	return *port == ':' && digits > 0 && digits <= 5 && port + 1 + digits == end && port[1] != '0' &&
	       !is_default_port(origin, port + 1, digits);
}

bool srv_cors_allows_all(const char *origins)
{
	return strcmp(origins, "*") == 0;
}

bool srv_cors_is_list(const char *origins, const char **culprit, int *n)
{
	return srv_cors_allows_all(origins) || srv_list_is_of(is_origin, origins, culprit, n);
}

bool srv_cors_allows(const char *origins, const char *origin)
{
	const char *entry;
	size_t n;
	if (!origin)
		return false;
	if (srv_cors_allows_all(origins))
		return true;
	while (srv_list_next(&origins, &entry, &n))
		if (strncmp(entry, origin, n) == 0 && origin[n] == '\0')
			return true;
	return false;
}

bool srv_cors_is_own(const char *origin, const struct srv_host *host, bool tls)
{
	const char *scheme = tls ? "https://" : "http://";
	const int usual = tls ? 443 : 80;
	const size_t n = strlen(scheme);
	struct srv_host page;
	return strncmp(origin, scheme, n) == 0 && srv_host_read(origin + n, strlen(origin + n), &page) &&
	       srv_hosts_are_same(&page, host) &&
	       (page.port < 0 ? usual : page.port) == (host->port < 0 ? usual : host->port);
}

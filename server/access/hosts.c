#include "server/access/hosts.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define SPACE ", \t"

enum { HTTP_PORT = 80, HTTPS_PORT = 443, MOST_PORT = 65535 };

bool srv_list_next(const char **list, const char **entry, size_t *n)
{
	*entry = *list + strspn(*list, SPACE);
	*n = strcspn(*entry, SPACE);
	*list = *entry + *n;
	return *n > 0;
}

bool srv_list_is_of(bool (*is_entry)(const char *text, size_t n), const char *list, const char **culprit, int *n)
{
	const char *rest = list;
	size_t bytes;
	while (srv_list_next(&rest, culprit, &bytes))
		if (!is_entry(*culprit, bytes)) {
			*n = (int)(bytes < 200 ? bytes : 200);
			return false;
		}
	*culprit = list;
	*n = 0;
	return list[strspn(list, SPACE)] != '\0';
}

/* ---- one host ---- */

static size_t span(const char *text, size_t n, const char *characters)
{
	size_t i = 0;
	while (i < n && text[i] && strchr(characters, text[i]))
		i++;
	return i;
}

/* @return length of the name, 0 if there is none */
static size_t name_bytes(const char *text, size_t n)
{
	if (n == 0 || text[0] != '[')
		return span(text, n, LETTERS DIGITS ".-_");
	const size_t end = 1 + span(text + 1, n - 1, "abcdefABCDEF" DIGITS ":.");
	return end < n && text[end] == ']' ? end + 1 : 0;
}

/* Reads "", ":" or ":80". RFC 3986 allows an empty port. */
static bool read_port(const char *text, size_t n, int *port)
{
	*port = -1;
	if (n == 0 || text[0] != ':' || n > 6 || span(text + 1, n - 1, DIGITS) != n - 1)
		return n == 0;
	for (size_t i = 1; i < n; i++)
		*port = 10 * (*port < 0 ? 0 : *port) + (text[i] - '0');
	return *port <= MOST_PORT;
}

/* @param name  [n] */
static bool read_address(int family, const char *name, size_t n, void *address)
{
	char text[INET6_ADDRSTRLEN];
	if (n >= sizeof text)
		return false;
	memcpy(text, name, n);
	text[n] = '\0';
	return inet_pton(family, text, address) == 1;
}

/* Reads an IPv6 address in brackets. */
static bool read_v6(const struct srv_host *host, struct in6_addr *address)
{
	return host->name[0] == '[' && read_address(AF_INET6, host->name + 1, host->bytes - 2, address);
}

bool srv_host_read(const char *text, size_t n, struct srv_host *host)
{
	struct in6_addr address;
	*host = (struct srv_host){.name = text, .bytes = name_bytes(text, n)};
	return host->bytes > 0 && read_port(text + host->bytes, n - host->bytes, &host->port) &&
	       (text[0] != '[' || read_v6(host, &address));
}

/* A final dot denotes the DNS root and changes nothing. */
static size_t plain_bytes(const struct srv_host *host)
{
	return host->bytes > 1 && host->name[host->bytes - 1] == '.' ? host->bytes - 1 : host->bytes;
}

bool srv_hosts_are_same(const struct srv_host *a, const struct srv_host *b)
{
	struct in6_addr x, y;
	const size_t n = plain_bytes(a);
	if (read_v6(a, &x) && read_v6(b, &y))
		return memcmp(&x, &y, sizeof x) == 0;
	return n == plain_bytes(b) && strncasecmp(a->name, b->name, n) == 0;
}

/* Accepts four decimal numbers, as browsers write IPv4 addresses. Programs disagree on whether other spellings (127.1,
 * 0x7f.1, 2130706433) are addresses. */
static bool is_loopback_v4(const struct srv_host *host)
{
	struct in_addr address;
	return read_address(AF_INET, host->name, host->bytes, &address) && ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET;
}

static bool is_loopback_v6(const struct srv_host *host)
{
	struct in6_addr address;
	return read_v6(host, &address) && (IN6_IS_ADDR_LOOPBACK(&address) ||
	                                   (IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == IN_LOOPBACKNET));
}

bool srv_host_is_loopback(const struct srv_host *host)
{
	static const struct srv_host localhost = {"localhost", sizeof "localhost" - 1, -1};
	return is_loopback_v4(host) || srv_hosts_are_same(host, &localhost) || is_loopback_v6(host);
}

/* ---- a list ---- */

static bool is_host(const char *text, size_t n)
{
	struct srv_host host;
	return srv_host_read(text, n, &host) && host.port != 0 && text[n - 1] != ':';
}

bool srv_hosts_is_list(const char *hosts, const char **culprit, int *n)
{
	return srv_list_is_of(is_host, hosts, culprit, n);
}

static bool has_port(const struct srv_host *host, int port, bool tls)
{
	if (port < 0 || host->port >= 0)
		return port < 0 || host->port == port;
	return port == HTTPS_PORT || (port == HTTP_PORT && !tls);
}

bool srv_hosts_allow(const char *hosts, const struct srv_host *host, bool tls)
{
	const char *entry;
	struct srv_host allowed;
	size_t n;
	while (srv_list_next(&hosts, &entry, &n))
		if (srv_host_read(entry, n, &allowed) && srv_hosts_are_same(&allowed, host) &&
		    has_port(host, allowed.port, tls))
			return true;
	return false;
}

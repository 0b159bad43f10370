#include "server/base/head.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char **value_of(struct srv_head *head, const char *name, int **count)
{
	static const struct {
		const char *name;
		size_t value, count;
	} known[] = {
#define KNOWN(member, name) {name, offsetof(struct srv_head, member), offsetof(struct srv_head, n_##member)},
		SRV_HEADERS(KNOWN)
#undef KNOWN
	};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		if ((name[0] | 0x20) != (known[i].name[0] | 0x20) || strcasecmp(known[i].name, name) != 0)
			continue;
		*count = (int *)(void *)((char *)head + known[i].count);
		return (const char **)(void *)((char *)head + known[i].value);
	}
	return NULL;
}

/* Several lines of a list form one list (RFC 9110, 5.3). A line longer than any real client's is ignored. */
static void join_accept(struct srv_head *head, const char *value)
{
	const size_t used = strlen(head->accept), room = sizeof head->accepts;
	if (used + strlen(value) + 3 > room)
		return;
	if (head->accept != head->accepts)
		memcpy(head->accepts, head->accept, used + 1);
	memcpy(head->accepts + used, ", ", 2);
	memcpy(head->accepts + used + 2, value, strlen(value) + 1);
	head->accept = head->accepts;
}

/* A value too long for the buffer stays untrimmed: it matches no version anyway. */
static void trim_version(struct srv_head *head, const char *value)
{
	size_t n = strlen(value);
	while (n > 0 && (value[n - 1] == ' ' || value[n - 1] == '\t'))
		n--;
	if (n >= sizeof head->version)
		return;
	memcpy(head->version, value, n);
	head->version[n] = '\0';
	head->if_version = head->version;
}

void srv_head_add(struct srv_head *head, const char *name, const char *value)
{
	int *count = NULL;
	const char **known = value_of(head, name, &count);
	if (!known)
		return;
	const bool is_first = (*count)++ == 0;
	if (is_first)
		*known = value;
	if (is_first && known == &head->if_version)
		trim_version(head, value);
	else if (!is_first && known == &head->accept)
		join_accept(head, value);
}

/* Trailing spaces do not belong to a value, but the HTTP library keeps them. */
static bool equals(const char *value, const char *word)
{
	size_t n = strlen(word);
	return strncasecmp(value, word, n) == 0 && value[n + strspn(value + n, " \t")] == '\0';
}

static const char *what_is_there_twice(const struct srv_head *head)
{
	if (head->n_content_type > 1)
		return "There is more than one Content-Type.";
	if (head->n_authorization > 1)
		return "There is more than one Authorization.";
	if (head->n_if_version > 1)
		return "There is more than one If-Collision-Set-Version.";
	if (head->n_host > 1)
		return "There is more than one Host.";
	if (head->n_origin > 1)
		return "There is more than one Origin.";
	if (head->n_fetch_site > 1 || head->n_fetch_mode > 1 || head->n_fetch_dest > 1)
		return "There is more than one Sec-Fetch-Site, Sec-Fetch-Mode or Sec-Fetch-Dest.";
	return NULL;
}

enum api_code srv_head_fault(const struct srv_head *head, const char **detail)
{
	*detail = what_is_there_twice(head);
	if (*detail)
		return API_E_MALFORMED_HTTP;
	if (head->n_content_encoding > 1 || (head->content_encoding && !equals(head->content_encoding, "identity"))) {
		*detail = "Content-Encoding can only be identity: send the body as it is.";
		return API_E_UNSUPPORTED_ENCODING;
	}
	return API_NO_CODE;
}

long long srv_head_announced(const struct srv_head *head)
{
	if (!head->content_length)
		return -1;
	errno = 0;
	long long bytes = strtoll(head->content_length, NULL, 10);
	return bytes < 0 || errno == ERANGE ? LLONG_MAX : bytes;
}

bool srv_head_chunked(const struct srv_head *head)
{
	return head->n_transfer_encoding > 0;
}

bool srv_head_expects_continue(const struct srv_head *head)
{
	return head->expect && equals(head->expect, "100-continue");
}

/* @return length of an absolute target's scheme; 0 if the target is not absolute */
static size_t scheme_bytes(const char *target)
{
	return strncasecmp(target, "http://", 7) == 0 ? 7 : strncasecmp(target, "https://", 8) == 0 ? 8 : 0;
}

static const char *authority_end(const char *authority)
{
	return authority + strcspn(authority, "/?");
}

const char *srv_origin_form(const char *target)
{
	const size_t n = scheme_bytes(target);
	if (n == 0)
		return target;
	const char *path = authority_end(target + n);
	return *path == '/' ? path : "/";
}

const char *srv_head_authority(const struct srv_head *head, const char *target, size_t *n)
{
	const size_t scheme = scheme_bytes(target);
	const char *authority = scheme ? target + scheme : head->host;
	*n = scheme ? (size_t)(authority_end(authority) - authority) : authority ? strlen(authority) : 0;
	return authority;
}

#include "head.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

#define LETTERS_AND_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
#define TOKEN_CHARACTERS LETTERS_AND_DIGITS "!#$%&'*+-.^_`|~"

static bool is_token(const char *text)
{
	return *text != '\0' && text[strspn(text, TOKEN_CHARACTERS)] == '\0';
}

/* Several lines of a list are one list (RFC 9110, 5.3). What is too long for any real client is left out. */
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

void srv_head_add(struct srv_head *head, const char *name, const char *value)
{
	const struct {
		const char *name, **value;
		int *count;
	} known[] = {
		{"Content-Length", &head->content_length, &head->n_content_length},
		{"Transfer-Encoding", &head->transfer_encoding, &head->n_transfer_encoding},
		{"Content-Encoding", &head->content_encoding, &head->n_content_encoding},
		{"Content-Type", &head->content_type, &head->n_content_type},
		{"Accept", &head->accept, &head->n_accept},
		{"Host", &head->host, &head->n_host},
		{"Expect", &head->expect, &head->n_expect},
		{"X-Request-Id", &head->request_id, &head->n_request_id},
	};
	head->malformed_name |= !is_token(name);
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcasecmp(known[i].name, name) == 0 && (*known[i].count)++ == 0)
			*known[i].value = value;
		else if (strcasecmp(name, "Accept") == 0 && known[i].value == &head->accept)
			join_accept(head, value);
}

/* Spaces around a value are not part of it, but the HTTP library leaves those at the end. */
static bool equals(const char *value, const char *word)
{
	size_t n = strlen(word);
	return strncasecmp(value, word, n) == 0 && value[n + strspn(value + n, " \t")] == '\0';
}

static bool is_printable(const char *target)
{
	for (const unsigned char *c = (const unsigned char *)target; *c; c++)
		if (*c <= 0x20 || *c == 0x7f)
			return false;
	return true;
}

static const char *framing_fault(const struct srv_head *head)
{
	if (head->n_content_length > 1)
		return "There is more than one Content-Length.";
	if (head->n_transfer_encoding > 0 && head->n_content_length > 0)
		return "There are both Content-Length and Transfer-Encoding.";
	if (head->n_transfer_encoding > 1 || (head->n_transfer_encoding && !equals(head->transfer_encoding, "chunked")))
		return "Transfer-Encoding can only be chunked.";
	if (head->n_transfer_encoding && strcmp(head->version, "HTTP/1.0") == 0)
		return "HTTP/1.0 has no Transfer-Encoding.";
	return NULL;
}

static const char *fault(const struct srv_head *head)
{
	const char *detail = framing_fault(head);
	if (detail)
		return detail;
	if (head->malformed_name)
		return "The name of a header contains a character that it must not contain.";
	if (!is_token(head->method))
		return "The method contains a character that it must not contain.";
	if (!is_printable(head->target))
		return "The target contains a space or a control character; write %20 for a space.";
	if (head->n_host > 1)
		return "There is more than one Host.";
	if (head->n_host == 0 && strcmp(head->version, "HTTP/1.0") != 0)
		return "There is no Host.";
	if (head->n_content_type > 1)
		return "There is more than one Content-Type.";
	return NULL;
}

int srv_head_fault(const struct srv_head *head, const char **detail)
{
	*detail = fault(head);
	if (*detail)
		return 400;
	if (head->n_content_encoding > 1 || (head->content_encoding && !equals(head->content_encoding, "identity"))) {
		*detail = "Content-Encoding can only be identity: send the body as it is.";
		return 415;
	}
	return 0;
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

bool srv_sane_id(const char *id)
{
	size_t n = strspn(id, LETTERS_AND_DIGITS "._-:/+=@");
	return n > 0 && n <= SRV_MAX_ID && id[n] == '\0';
}

void srv_new_id(char id[SRV_MAX_ID + 1])
{
	unsigned char bytes[16];
	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
		/* Only kernels without getrandom: an id that repeats is an annoyance in a log, no more. */
		struct timespec now;
		clock_gettime(CLOCK_REALTIME, &now);
		memset(bytes, 0, sizeof bytes);
		memcpy(bytes, &now, sizeof now < sizeof bytes ? sizeof now : sizeof bytes);
	}
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(id + 2 * i, 3, "%02x", bytes[i]);
}

const char *srv_origin_form(const char *target)
{
	if (strncasecmp(target, "http://", 7) != 0)
		return target;
	const char *path = target + 7 + strcspn(target + 7, "/?");
	return *path == '/' ? path : "/";
}

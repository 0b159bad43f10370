#include "tests/simulator/client.h"

#include "tests/simulator/service.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void client_connect(struct client *client, struct link *link)
{
	client->link = link;
	client->n_sent = client->n_heard = client->n_judged = client->n_answered = 0;
	client->continues = client->has_ended = client->has_left = client->is_told_close = client->hears_end = false;
	client->drips = client->sips = false;
	client->excuses = 0;
	*client->fault = '\0';
}

/* Records the client's first fault; later ones are ignored. */
static void blame(struct client *client, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void blame(struct client *client, const char *format, ...)
{
	va_list arguments;
	if (*client->fault)
		return;
	va_start(arguments, format);
	vsnprintf(client->fault, sizeof client->fault, format, arguments);
	va_end(arguments);
}

/* ---- sending ---- */

/* Stops at the end of a head that waits for 100 Continue, unless more was sent already. */
size_t client_may_say(const struct client *client)
{
	const struct script *script = &client->script;
	size_t until = script->n;
	if (!client->link || client->link->client < 0 || client->has_ended)
		return 0;
	for (size_t i = 0; i < script->n_asked && until == script->n; i++) {
		const struct asked *asked = &script->asked[i];
		const bool may_go_on = client->continues && client->n_answered == i;
		if (asked->waits && client->n_sent <= asked->head_end && !may_go_on)
			until = asked->head_end;
	}
	return until - client->n_sent;
}

void client_say(struct client *client, size_t most)
{
	size_t n = client_may_say(client);
	n = n < most ? n : most;
	if (n == 0)
		return;
	const ssize_t sent = sockets_client_send(client->link, client->script.bytes + client->n_sent, n);
	if (sent > 0)
		client->n_sent += (size_t)sent;
}

void client_end(struct client *client)
{
	if (!client->link || client->link->client < 0 || client->has_ended)
		return;
	client->has_ended = true;
	sockets_client_end(client->link);
}

void client_leave(struct client *client, bool abruptly)
{
	if (!client->link || client->link->client < 0)
		return;
	client->has_left = client->has_ended = true;
	sockets_client_close(client->link, abruptly);
}

/* ---- parsing a response ---- */

struct answer {
	const char *head;
	size_t head_bytes, body_bytes; /* body_bytes: from Content-Length */
	int status;
	bool has_length;
};

/* The value of a header line, [*n]; NULL if absent. */
static const char *header(const struct answer *answer, const char *name, size_t *n)
{
	const size_t length = strlen(name);
	const char *at = answer->head, *end = answer->head + answer->head_bytes;
	while ((at = memchr(at, '\n', (size_t)(end - at))) && ++at + length + 2 < end) {
		if (strncasecmp(at, name, length) != 0 || at[length] != ':')
			continue;
		const char *value = at + length + 1 + strspn(at + length + 1, " ");
		*n = strcspn(value, "\r");
		return value;
	}
	return NULL;
}

static bool header_is(const struct answer *answer, const char *name, const char *wanted)
{
	size_t n;
	const char *value = header(answer, name, &n);
	return value && n == strlen(wanted) && strncmp(value, wanted, n) == 0;
}

/* @return false if the head is incomplete */
static bool read_head(struct client *client, struct answer *answer)
{
	const char *at = client->heard + client->n_judged;
	const size_t n = client->n_heard - client->n_judged;
	const char *end = n ? memmem(at, n, "\r\n\r\n", 4) : NULL;
	if (!end)
		return false;
	*answer = (struct answer){.head = at, .head_bytes = (size_t)(end + 4 - at)};
	if (strncmp(at, "HTTP/1.1 ", 9) != 0 && strncmp(at, "HTTP/1.0 ", 9) != 0)
		blame(client, "an answer that begins with \"%.20s\"", at);
	answer->status = atoi(at + 9);
	size_t value_bytes;
	const char *length = header(answer, "Content-Length", &value_bytes);
	answer->has_length = length;
	answer->body_bytes = length ? (size_t)strtoull(length, NULL, 10) : 0;
	return true;
}

static bool is_excused(const struct client *client, const struct asked *asked, int status)
{
	const unsigned excuses = client->excuses;
	if (status == 503)
		return (excuses & (NO_MEMORY | TIME_PASSED | LIMITED | STOPPED)) || (asked->traits & ANY_STATUS) ||
		       ((excuses & DRAINED) && (client->script.bytes[asked->at] == 'P' || (asked->traits & NOT_DRAINING)));
	if (status == 408)
		return excuses & (TIME_PASSED | SECOND_PASSED);
	if (status == 413)
		return asked->traits & ANY_STATUS;
	if (status == asked->also[0] || status == asked->also[1])
		return true;
	if (status == 429)
		return excuses & (LIMITED | NO_MEMORY);
	return status == 500 && (excuses & NO_MEMORY);
}

/* Whether the response may concern the connection rather than a request. */
static bool is_for_connection(const struct client *client, const struct answer *answer)
{
	return client->n_answered == 0 && (answer->status == 503 || answer->status == 429 || answer->status == 408);
}

/* Whether this responds to a head that the service could read, rather than to half a head that was late. A late head
 * gets a 503 instead of a 408 if memory runs out for the response. */
static bool is_to_head(const struct client *client, const struct asked *asked, const struct answer *answer)
{
	const bool late = answer->status == 408 ||
	                  (answer->status == 503 && (client->excuses & TIME_PASSED) && (client->excuses & NO_MEMORY));
	return !late && !(asked->traits & NAMELESS) && !is_for_connection(client, answer);
}

static void judge_name(struct client *client, const struct asked *asked, const struct answer *answer)
{
	size_t n;
	const char *id = header(answer, "X-Request-Id", &n);
	const bool same = id && n == strlen(asked->id) && strncmp(id, asked->id, n) == 0;
	if (!id)
		blame(client, "an answer without an id to \"%s\"", asked->name);
	else if (!same && is_to_head(client, asked, answer))
		blame(client, "the answer to \"%s\" (%s) is for %.*s", asked->name, asked->id, (int)n, id);
	struct client_answer *on_record = &client->answers[client->n_answered];
	snprintf(on_record->id, sizeof on_record->id, "%.*s", id ? (int)n : 0, id ? id : "");
	on_record->status = answer->status;
}

static void judge_headers(struct client *client, const struct asked *asked, const struct answer *answer)
{
	size_t n;
	const bool readable = is_to_head(client, asked, answer);
	const bool is_allowed = header_is(answer, "Access-Control-Allow-Origin", "https://a.example");
	if (header_is(answer, "Content-Type", "(null)"))
		blame(client, "Content-Type: (null) for \"%s\"", asked->name);
	if (answer->status >= 400 && !header_is(answer, "Content-Type", "application/problem+json"))
		blame(client, "%d to \"%s\" is no problem", answer->status, asked->name);
	if (readable && (asked->traits & HAS_ORIGIN) && !is_allowed)
		blame(client, "%d to \"%s\" is not for the page that asked", answer->status, asked->name);
	if (readable && (asked->traits & HAS_TRACE) && !header(answer, "traceresponse", &n))
		blame(client, "%d to \"%s\" has lost its trace", answer->status, asked->name);
	if (answer->status == 204 && answer->has_length)
		blame(client, "204 to \"%s\" has a length", asked->name);
}

/* A response to HEAD has a body if the service could not read the head, and so not the method. */
static bool is_bare(const struct asked *asked, const struct answer *answer)
{
	return ((asked->traits & BARE) && header_is(answer, "X-Request-Id", asked->id)) || answer->status == 204;
}

/* Concurrent changes to the set are allowed, but the whole response must belong to one version. */
static void judge_version(struct client *client, const struct asked *asked, const struct answer *answer,
                          const char *body, size_t n)
{
	char member[64];
	size_t version_bytes = 0, expected_bytes = 0;
	const char *version = header(answer, "Collision-Set-Version", &version_bytes);
	const char *expected = version ? script_answer_of(asked->asks, version, version_bytes, &expected_bytes) : NULL;
	const int member_bytes =
		snprintf(member, sizeof member, "\"version\":\"%.*s\"", (int)version_bytes, version ? version : "");
	if (!expected)
		blame(client, "\"%s\" is answered by a version that nobody made: %.*s", asked->name, (int)version_bytes,
		      version ? version : "");
	else if (asked->asks == SCRIPT_DESCRIPTION ? !memmem(body, n, member, (size_t)member_bytes)
	                                           : n != expected_bytes || memcmp(body, expected, n) != 0)
		blame(client, "the answer to \"%s\" is not that of version %.*s: %.*s", asked->name, (int)version_bytes,
		      version, n < 100 ? (int)n : 100, body);
}

static void judge_body(struct client *client, const struct asked *asked, const struct answer *answer, const char *body,
                       size_t n)
{
	char status[32];
	const bool bare = is_bare(asked, answer);
	if (answer->status == asked->status && asked->body && bare && answer->body_bytes != asked->body_bytes)
		blame(client, "HEAD tells %zu bytes instead of %zu", answer->body_bytes, asked->body_bytes);
	else if (answer->status == asked->status && asked->body && !bare &&
	         (n != asked->body_bytes || memcmp(body, asked->body, n) != 0))
		blame(client, "the answer to \"%s\" (%d) has another body: %.*s", asked->name, answer->status,
		      n < 100 ? (int)n : 100, body);
	if ((asked->traits & TELLS_VERSION) && answer->status / 100 == 2 && !bare)
		judge_version(client, asked, answer, body, n);
	snprintf(status, sizeof status, "\"status\":%d", answer->status);
	if (answer->status >= 400 && !bare && !memmem(body, n, status, strlen(status)))
		blame(client, "a problem that does not tell its status %d: %.*s", answer->status, n < 100 ? (int)n : 100, body);
}

static void judge_end(struct client *client, const struct asked *asked, const struct answer *answer)
{
	const bool says_close = header_is(answer, "Connection", "close");
	const unsigned may = CLOSES | MAY_CLOSE;
	client->is_told_close = says_close;
	if ((asked->traits & CLOSES) && answer->status == asked->status && !says_close)
		blame(client, "%d to \"%s\" does not say that the connection closes", answer->status, asked->name);
	if (says_close && !(asked->traits & may) && !client->excuses && !client->has_ended)
		blame(client, "%d to \"%s\" closes the connection", answer->status, asked->name);
}

/* Judges the next response. @return false if it is still incomplete */
static bool judge_one(struct client *client)
{
	struct answer answer;
	const size_t n_left = client->n_heard - client->n_judged;
	if (n_left == 0)
		return false;
	if (client->is_told_close || client->n_answered >= client->script.n_asked) {
		blame(client, "more after the last answer: %.*s", n_left < 40 ? (int)n_left : 40,
		      client->heard + client->n_judged);
		return false;
	}
	if (!read_head(client, &answer))
		return false;
	const struct asked *asked = &client->script.asked[client->n_answered];
	if (answer.status == 100) {
		if (!asked->waits || client->continues)
			blame(client, "100 Continue to \"%s\", which does not wait", asked->name);
		client->continues = true;
		client->n_judged += answer.head_bytes;
		return true;
	}
	const size_t n = is_bare(asked, &answer) ? 0 : answer.body_bytes;
	if (client->n_heard - client->n_judged - answer.head_bytes < n)
		return false;
	if (client->n_sent <= asked->at && !is_for_connection(client, &answer))
		blame(client, "%d before \"%s\" was asked", answer.status, asked->name);
	if (answer.status != asked->status && !is_excused(client, asked, answer.status))
		blame(client, "%d instead of %d to \"%s\": %.*s", answer.status, asked->status, asked->name,
		      n < 160 ? (int)n : 160, answer.head + answer.head_bytes);
	judge_name(client, asked, &answer);
	judge_headers(client, asked, &answer);
	judge_body(client, asked, &answer, answer.head + answer.head_bytes, n);
	judge_end(client, asked, &answer);
	client->n_judged += answer.head_bytes + n;
	client->n_answered++;
	client->continues = false;
	return true;
}

/* ---- receiving ---- */

void client_hear(struct client *client, size_t most)
{
	const size_t left = CLIENT_HEARS - client->n_heard;
	if (!client->link || client->link->client < 0 || client->hears_end)
		return;
	const ssize_t got =
		sockets_client_receive(client->link, client->heard + client->n_heard, most < left ? most : left);
	if (got == 0 || (got < 0 && errno != EAGAIN))
		client->hears_end = true;
	if (got <= 0)
		return;
	client->n_heard += (size_t)got;
	while (!*client->fault && judge_one(client))
		;
}

bool client_is_served(const struct client *client)
{
	return !client->link || client->has_left || client->hears_end || client->n_answered == client->script.n_asked;
}

/* ---- the end ---- */

void client_check_records(struct client *client)
{
	for (size_t i = 0; client->link && i < client->n_answered; i++) {
		const size_t n = service_n_recorded(client->answers[i].id, client->answers[i].status);
		if (n != 1)
			blame(client, "the answer %d to \"%s\" (%s) is %zu times on record", client->answers[i].status,
			      client->script.asked[i].name, client->answers[i].id, n);
	}
}

/* Every complete request must have a response, unless an earlier response closed the connection. */
void client_conclude(struct client *client)
{
	const struct script *script = &client->script;
	if (!client->link || *client->fault || client->has_left || client->is_told_close)
		return;
	if (client->excuses || client->link->clipped)
		return;
	for (size_t i = client->n_answered; i < script->n_asked; i++) {
		const struct asked *asked = &script->asked[i];
		if (client->n_sent < asked->end || (asked->traits & UNFINISHED))
			break;
		blame(client, "\"%s\" (%s) has no answer", asked->name, asked->id);
	}
}

#include "server/observe/trace.h"

#include "server/base/id.h"

#include <string.h>

enum { AT_TRACE = 3, AT_PARENT = 36, AT_FLAGS = 53 };

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_hex(const char *text, int n)
{
	for (int i = 0; i < n; i++)
		if (digit(text[i]) < 0)
			return false;
	return true;
}

static bool is_id(const char *text, int n)
{
	return is_hex(text, n) && (int)strspn(text, "0") < n;
}

/* A later version may append fields after a dash; version ff is invalid. */
static bool ends_well(const char *value)
{
	if (strncmp(value, "00", 2) == 0)
		return value[SRV_TRACEPARENT] == '\0';
	return strncmp(value, "ff", 2) != 0 && (value[SRV_TRACEPARENT] == '\0' || value[SRV_TRACEPARENT] == '-');
}

static bool is_valid(const char *value)
{
	return strnlen(value, SRV_TRACEPARENT) == SRV_TRACEPARENT && is_hex(value, 2) && value[AT_TRACE - 1] == '-' &&
	       is_id(value + AT_TRACE, SRV_TRACE_ID) && value[AT_PARENT - 1] == '-' &&
	       is_id(value + AT_PARENT, SRV_SPAN_ID) && value[AT_FLAGS - 1] == '-' && is_hex(value + AT_FLAGS, 2) &&
	       ends_well(value);
}

static void make_span(char span[SRV_SPAN_ID + 1])
{
	char id[SRV_MAX_ID + 1];
	do {
		srv_new_id(id);
		memcpy(span, id, SRV_SPAN_ID);
	} while (!is_id(span, SRV_SPAN_ID));
}

bool srv_trace_read(const char *value, struct srv_trace *trace)
{
	memset(trace, 0, sizeof *trace);
	if (!value || !is_valid(value))
		return false;
	memcpy(trace->trace_id, value + AT_TRACE, SRV_TRACE_ID);
	memcpy(trace->parent_id, value + AT_PARENT, SRV_SPAN_ID);
	make_span(trace->span_id);
	trace->sampled = digit(value[AT_FLAGS + 1]) & 1;
	return true;
}

void srv_trace_write(const struct srv_trace *trace, char text[SRV_TRACEPARENT + 1])
{
	char *end = stpcpy(stpcpy(text, "00-"), trace->trace_id);
	end = stpcpy(stpcpy(end, "-"), trace->span_id);
	stpcpy(end, trace->sampled ? "-01" : "-00");
}

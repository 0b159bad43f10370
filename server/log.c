#include "log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LINE = 2048, MAX_VALUE = 512 };

static enum srv_level highest = SRV_INFO;
static const char *const level_names[] = {"error", "warning", "info", "debug"};

struct line {
	char text[MAX_LINE];
	size_t n;
};

/* A line is written for every request: printf would take longer than everything else in it. */
static void add_bytes(struct line *line, const char *bytes, size_t n)
{
	const size_t room = sizeof line->text - 1 - line->n; /* one is kept for the newline */
	const size_t fits = n < room ? n : room;
	memcpy(line->text + line->n, bytes, fits);
	line->n += fits;
}

static void add_text(struct line *line, const char *text)
{
	add_bytes(line, text, strlen(text));
}

/* At least n_digits, with zeros in front. */
static void add_number(struct line *line, unsigned long long number, int n_digits)
{
	char text[24], *begin = text + sizeof text;
	for (; number > 0 || n_digits > 0; number /= 10, n_digits--)
		*--begin = (char)('0' + number % 10);
	add_bytes(line, begin, (size_t)(text + sizeof text - begin));
}

static void add_count(struct line *line, const char *key, unsigned long long count)
{
	add_text(line, key);
	add_number(line, count, 1);
}

static bool is_plain(char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void add_escaped(struct line *line, char c)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char byte = (unsigned char)c;
	if (c == '"' || c == '\\')
		add_bytes(line, (const char[]){'\\', c}, 2);
	else
		add_bytes(line, (const char[]){'\\', 'x', digits[byte >> 4], digits[byte & 15]}, 4);
}

/* A client chooses these bytes: whatever could end the value, the line or confuse a terminal is escaped. */
static void add_value(struct line *line, const char *key, const char *value)
{
	const char *end = value + strnlen(value, MAX_VALUE);
	add_text(line, " ");
	add_text(line, key);
	add_text(line, "=\"");
	while (value < end) {
		const char *plain = value;
		while (value < end && is_plain(*value))
			value++;
		add_bytes(line, plain, (size_t)(value - plain));
		if (value < end)
			add_escaped(line, *value++);
	}
	add_text(line, "\"");
}

static void begin(struct line *line, enum srv_level level)
{
	static _Thread_local time_t second;
	static _Thread_local char date[40]; /* of that second */
	struct timespec now;
	struct tm utc;
	clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec != second || !date[0]) {
		second = now.tv_sec;
		strftime(date, sizeof date, "time=%Y-%m-%dT%H:%M:%S.", gmtime_r(&second, &utc));
	}
	line->n = 0;
	add_text(line, date);
	add_number(line, (unsigned long long)now.tv_nsec / 1000000, 3);
	add_text(line, "Z level=");
	add_text(line, level_names[level]);
}

static void end(struct line *line)
{
	line->text[line->n++] = '\n';
	ssize_t written = write(STDERR_FILENO, line->text, line->n); /* a log that cannot be written has no better place */
	(void)written;
}

void srv_log_set_level(enum srv_level level)
{
	highest = level;
}

void srv_log(enum srv_level level, const char *format, ...)
{
	if (level > highest)
		return;
	char message[MAX_VALUE];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	struct line line;
	begin(&line, level);
	add_value(&line, "msg", message);
	end(&line);
}

void srv_log_access(const struct srv_access *access)
{
	enum srv_level level = access->status >= 500 ? SRV_ERROR : SRV_INFO;
	if (level > highest)
		return;
	struct line line;
	begin(&line, level);
	add_value(&line, "request_id", access->request_id ? access->request_id : "-");
	add_value(&line, "method", access->method ? access->method : "-");
	add_value(&line, "path", access->path ? access->path : "-");
	add_count(&line, " status=", (unsigned long long)access->status);
	add_count(&line, " bytes_in=", access->bytes_in);
	add_count(&line, " bytes_out=", access->bytes_out);
	add_count(&line, " ms=", (unsigned long long)access->microseconds / 1000);
	add_text(&line, ".");
	add_number(&line, (unsigned long long)access->microseconds % 1000, 3);
	if (access->token && *access->token)
		add_value(&line, "token", access->token);
	if (access->aborted)
		add_value(&line, "aborted", access->aborted);
	end(&line);
}

#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LINE = 2048, MAX_VALUE = 512 };

static enum srv_level highest = SRV_INFO;
static const char *const level_names[] = {"error", "info", "debug"};

struct line {
	char text[MAX_LINE];
	size_t n;
};

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct line *line, const char *format, ...)
{
	size_t room = sizeof line->text - 1 - line->n; /* one is kept for the newline */
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(line->text + line->n, room, format, arguments);
	va_end(arguments);
	if (n > 0)
		line->n += (size_t)n < room ? (size_t)n : room - 1;
}

/* A client chooses these bytes: whatever could end the value, the line or confuse a terminal is escaped. */
static void add_value(struct line *line, const char *key, const char *value)
{
	add(line, " %s=\"", key);
	for (size_t i = 0; i < MAX_VALUE && value[i]; i++) {
		unsigned char c = (unsigned char)value[i];
		if (c < 0x20 || c > 0x7e)
			add(line, "\\x%02x", c);
		else if (c == '"' || c == '\\')
			add(line, "\\%c", c);
		else
			add(line, "%c", c);
	}
	add(line, "\"");
}

static void begin(struct line *line, enum srv_level level)
{
	struct timespec now;
	struct tm utc;
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	line->n = strftime(line->text, sizeof line->text, "time=%Y-%m-%dT%H:%M:%S", &utc);
	add(line, ".%03ldZ level=%s", now.tv_nsec / 1000000, level_names[level]);
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
	add(&line, " status=%d bytes_in=%zu bytes_out=%zu ms=%.3f", access->status, access->bytes_in, access->bytes_out,
	    access->milliseconds);
	if (access->aborted)
		add_value(&line, "aborted", access->aborted);
	end(&line);
}

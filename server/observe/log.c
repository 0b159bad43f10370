#include "server/observe/log.h"

#include "server/observe/trace.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A write of up to PIPE_BUF bytes to a pipe is atomic. The longest values leave room for everything else. */
enum { MAX_LINE = PIPE_BUF, MAX_LONG = 2048, MAX_VALUE = 256, MAX_ESCAPE = 6 };

static enum srv_level highest = SRV_INFO;
static enum srv_log_format log_format = SRV_LOGFMT;
static const char *const level_names[] = {"error", "warning", "info", "debug"};

/* Ways to write without blocking. */
static enum { PLAIN, NON_BLOCKING, SOCKET, POLLED } way = PLAIN;
static int log_fd = STDERR_FILENO;
static atomic_ullong n_dropped, n_unreported;

struct line {
	char text[MAX_LINE];
	size_t n;
};

/* ---- values: written for every request, so without printf, which would dominate the cost of a line ---- */

static void add_bytes(struct line *line, const char *bytes, size_t n)
{
	if (n > sizeof line->text - 2 - line->n) /* two bytes are for the end; never true, because values are capped */
		return;
	memcpy(line->text + line->n, bytes, n);
	line->n += n;
}

static void add_text(struct line *line, const char *text)
{
	add_bytes(line, text, strlen(text));
}

/* Text before a value and its length, by format. */
struct key {
	const char *text[2];
	size_t n[2];
};
#define KEY(name) (&(const struct key){{" " name "=", ",\"" name "\":"}, {sizeof name + 1, sizeof name + 3}})

static void add_key(struct line *line, const struct key *key)
{
	add_bytes(line, key->text[log_format], key->n[log_format]);
}

/* Adds a number, padded with leading zeros to n_digits. */
static void add_digits(struct line *line, unsigned long long number, int n_digits)
{
	char text[24], *begin = text + sizeof text;
	for (; number > 0 || n_digits > 0; number /= 10, n_digits--)
		*--begin = (char)('0' + number % 10);
	add_bytes(line, begin, (size_t)(text + sizeof text - begin));
}

static void add_number(struct line *line, const struct key *key, unsigned long long number)
{
	add_key(line, key);
	add_digits(line, number, 1);
}

/* Adds a value that needs no escaping. */
static void add_word(struct line *line, const struct key *key, const char *word)
{
	if (!word)
		return;
	add_key(line, key);
	add_bytes(line, "\"", 1);
	add_text(line, word);
	add_bytes(line, "\"", 1);
}

static void add_milliseconds(struct line *line, const struct key *key, long long microseconds)
{
	const unsigned long long value = microseconds > 0 ? (unsigned long long)microseconds : 0;
	add_number(line, key, value / 1000);
	add_bytes(line, ".", 1);
	add_digits(line, value % 1000, 3);
}

static bool is_plain(char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* In JSON a byte outside ASCII becomes the code point of the same number, whether or not the text is UTF-8, so that the
 * bytes can be recovered. */
static void add_escaped(struct line *line, char c)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char byte = (unsigned char)c;
	if (c == '"' || c == '\\')
		add_bytes(line, (const char[]){'\\', c}, 2);
	else if (log_format == SRV_JSON)
		add_bytes(line, (const char[]){'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]}, 6);
	else
		add_bytes(line, (const char[]){'\\', 'x', digits[byte >> 4], digits[byte & 15]}, 4);
}

/* Escapes whatever could end the value or the line, or disturb a terminal, because clients choose these bytes.
 * @param most  longest value in the line, in bytes; a longer one is cut off and ends in three dots */
static void add_value(struct line *line, const struct key *key, const char *value, size_t n, size_t most)
{
	add_key(line, key);
	add_bytes(line, "\"", 1);
	const char *const end = value + n;
	const size_t last = line->n + most - MAX_ESCAPE;
	while (value < end && line->n < last) {
		const size_t room = last - line->n;
		const char *const plain = value, *const until = (size_t)(end - value) < room ? end : value + room;
		while (value < until && is_plain(*value))
			value++;
		add_bytes(line, plain, (size_t)(value - plain));
		if (value < until)
			add_escaped(line, *value++);
	}
	add_text(line, value < end ? "...\"" : "\"");
}

static void add_string(struct line *line, const struct key *key, const char *value)
{
	if (value)
		add_value(line, key, value, strlen(value), MAX_VALUE);
}

static void begin(struct line *line, enum srv_level level)
{
	static _Thread_local time_t second;
	static _Thread_local char date[24]; /* text of `second` */
	struct timespec now;
	struct tm utc;
	const bool json = log_format == SRV_JSON;
	clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec != second || !date[0]) {
		second = now.tv_sec;
		strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S.", gmtime_r(&second, &utc));
	}
	line->n = 0;
	add_text(line, json ? "{\"time\":\"" : "time=");
	add_text(line, date);
	add_digits(line, (unsigned long long)now.tv_nsec / 1000000, 3);
	add_text(line, json ? "Z\",\"level\":\"" : "Z level=");
	add_text(line, level_names[level]);
	if (json)
		add_bytes(line, "\"", 1);
}

/* ---- writing ---- */

/* Used for pipes that this process cannot reopen. poll's result holds only while no other thread writes. */
static ssize_t write_polled(const struct line *line)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct pollfd poll_fd = {.fd = log_fd, .events = POLLOUT};
	pthread_mutex_lock(&lock);
	const bool ready = poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLOUT);
	const ssize_t n = ready ? write(log_fd, line->text, line->n) : -1;
	pthread_mutex_unlock(&lock);
	return n;
}

static bool put(const struct line *line)
{
	ssize_t n;
	switch (way) {
	case SOCKET: n = send(log_fd, line->text, line->n, MSG_DONTWAIT | MSG_NOSIGNAL); break;
	case POLLED: n = write_polled(line); break;
	default: n = write(log_fd, line->text, line->n);
	}
	return n == (ssize_t)line->n;
}

static void finish(struct line *line)
{
	if (log_format == SRV_JSON)
		line->text[line->n++] = '}';
	line->text[line->n++] = '\n';
}

static void confess(unsigned long long n)
{
	struct line line;
	begin(&line, SRV_ERROR);
	add_string(&line, KEY("msg"), "lines of the log were dropped: they could not be written at once");
	add_number(&line, KEY("lines"), n);
	finish(&line);
	if (!put(&line))
		atomic_fetch_add(&n_unreported, n);
}

static void end(struct line *line)
{
	const unsigned long long missing = atomic_load(&n_unreported) ? atomic_exchange(&n_unreported, 0) : 0;
	if (missing)
		confess(missing);
	finish(line);
	if (put(line))
		return;
	atomic_fetch_add(&n_dropped, 1);
	atomic_fetch_add(&n_unreported, 1);
}

/* Non-blocking mode applies to the open file description, which other programs may share. A pipe or a terminal is
 * therefore opened again; in a container it may belong to another user, and then poll must do. */
static void choose_way(void)
{
	struct stat status;
	if (log_fd != STDERR_FILENO)
		close(log_fd);
	log_fd = STDERR_FILENO;
	way = PLAIN;
	if (fstat(STDERR_FILENO, &status) != 0 || S_ISREG(status.st_mode))
		return;
	if (S_ISSOCK(status.st_mode)) {
		way = SOCKET;
		return;
	}
	const int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	way = fd < 0 ? POLLED : NON_BLOCKING;
	log_fd = fd < 0 ? STDERR_FILENO : fd;
}

void srv_log_start(enum srv_level level, enum srv_log_format format)
{
	highest = level;
	log_format = format;
	choose_way();
}

unsigned long long srv_log_dropped(void)
{
	return atomic_load(&n_dropped);
}

/* ---- lines ---- */

void srv_log(enum srv_level level, const char *format, ...)
{
	if (level > highest)
		return;
	char message[512];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	struct line line;
	begin(&line, level);
	add_value(&line, KEY("msg"), message, strlen(message), MAX_LONG);
	end(&line);
}

static void add_measure(struct line *line, const struct api_measure *measure)
{
	const struct key *const keys[API_N_PHASES] = {KEY("decode_ms"), KEY("prepare_ms"), KEY("evaluate_ms"),
	                                              KEY("encode_ms")};
	for (int phase = 0; phase < measure->n_phases; phase++)
		add_milliseconds(line, keys[phase], (measure->phase_nanoseconds[phase] + 500) / 1000);
	if (measure->n_phases > 0)
		add_number(line, KEY("contacts"), measure->n_contacts);
}

static void add_trace(struct line *line, const struct srv_trace *trace)
{
	add_word(line, KEY("trace_id"), trace->trace_id);
	add_word(line, KEY("span_id"), trace->span_id);
	add_word(line, KEY("parent_id"), trace->parent_id);
}

static void add_request(struct line *line, const struct srv_access *access)
{
	const char *target = access->target ? access->target : "-";
	add_string(line, KEY("request_id"), access->request_id ? access->request_id : "-");
	add_string(line, KEY("method"), access->method ? access->method : "-");
	add_value(line, KEY("path"), target, strcspn(target, "?"), MAX_LONG);
	add_number(line, KEY("status"), (unsigned long long)access->outcome.status);
	add_number(line, KEY("bytes_in"), access->outcome.bytes_in);
	add_number(line, KEY("bytes_out"), access->outcome.bytes_out);
	add_milliseconds(line, KEY("ms"), access->outcome.nanoseconds / 1000);
}

void srv_log_access(const struct srv_access *access)
{
	enum srv_level level = access->outcome.status >= 500 ? SRV_ERROR : SRV_INFO;
	if (level > highest)
		return;
	struct line line;
	begin(&line, level);
	add_request(&line, access);
	add_word(&line, KEY("route"), access->route);
	add_word(&line, KEY("client"), access->client);
	if (access->outcome.waited_nanoseconds >= 0)
		add_milliseconds(&line, KEY("waited_ms"), access->outcome.waited_nanoseconds / 1000);
	if (access->outcome.measure)
		add_measure(&line, access->outcome.measure);
	if (access->trace)
		add_trace(&line, access->trace);
	add_string(&line, KEY("token"), access->token);
	add_word(&line, KEY("rejected"), access->rejected);
	add_word(&line, KEY("aborted"), access->aborted);
	end(&line);
}

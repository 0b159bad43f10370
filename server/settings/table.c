#include "server/settings/table.h"

#include "server/settings/list.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define K 1024LL
#define M (1024 * K)
#define G (1024 * M)

#define AT(member) offsetof(struct srv_options, member)

/* clang-format off */
#define ROW(member, kind, name, argument, fallback, words, least, most, help) \
	{name, argument, kind, fallback, words, least, most, AT(member), help},
const struct srv_option srv_options_table[] = {
	SRV_OPTIONS(ROW) SRV_GATE_OPTIONS(ROW)
	ROW(config, SRV_TEXT, "config", "FILE", NULL, "none", 0, 0, "file with more options, lines of the form name = value")
};
/* clang-format on */
enum { N_OPTIONS = sizeof srv_options_table / sizeof srv_options_table[0] };
_Static_assert((int)N_OPTIONS <= (int)SRV_MOST_OPTIONS, "there is room for the sources of all");
const int srv_n_options = N_OPTIONS;

/* clang-format off */
const struct srv_option srv_patience = {
	"timeout-seconds", "N", SRV_COUNT, "4", NULL, 1, 3600, AT(timeout_seconds), "how long to wait for an answer"};
const struct srv_option srv_claims = {
	"claims", "CLAIMS", SRV_TEXT, NULL, NULL, 0, 0, AT(claims), "a document with somebody else's results"};

void srv_option_variable(const struct srv_option *option, char name[SRV_OPTION_NAME])
{
	int n = snprintf(name, SRV_OPTION_NAME, "FRICTIOND_%s", option->name);
	for (int i = 0; i < n; i++)
		name[i] = name[i] == '-' ? '_' : (char)toupper((unsigned char)name[i]);
}

long long *srv_option_number(const struct srv_option *option, struct srv_options *options)
{
	return (long long *)(void *)((char *)options + option->offset);
}

bool srv_option_is_config(const struct srv_option *option)
{
	return option->offset == AT(config);
}

const char **srv_option_text(const struct srv_option *option, struct srv_options *options)
{
	return (const char **)(void *)((char *)options + option->offset);
}

/* Accepts digits, and for bytes a suffix K, M or G (binary). @return -1 if malformed or too large */
static long long read_number(const char *text, bool bytes)
{
	long long value = 0, unit = 1;
	size_t n = strspn(text, "0123456789");
	if (n == 0 || n > 18)
		return -1;
	for (size_t i = 0; i < n; i++)
		value = 10 * value + (text[i] - '0');
	if (bytes && text[n]) {
		char suffix = (char)toupper((unsigned char)text[n++]);
		unit = suffix == 'K' ? K : suffix == 'M' ? M : suffix == 'G' ? G : 0;
	}
	if (text[n] || unit == 0 || value > (1LL << 62) / unit)
		return -1;
	return value * unit;
}

/* Prints 1536 as 1536, 268435456 as 256M. */
static void print_bytes(long long value, char text[SRV_BYTES_TEXT])
{
	const char *units = "\0KMG";
	int unit = 0;
	for (; unit < 3 && value >= 1024 && value % 1024 == 0; unit++)
		value /= 1024;
	snprintf(text, SRV_BYTES_TEXT, "%lld%.1s", value, &units[unit]);
}

void srv_option_print(enum srv_option_kind kind, long long value, char text[SRV_BYTES_TEXT])
{
	if (kind == SRV_BYTES)
		print_bytes(value, text);
	else if (kind == SRV_PORT && value < 0)
		strcpy(text, "none");
	else
		snprintf(text, SRV_BYTES_TEXT, kind == SRV_MODE ? "%04llo" : "%lld", value);
}

void srv_option_range(const struct srv_option *option, char text[SRV_OPTION_RANGE])
{
	char most[SRV_BYTES_TEXT];
	if (option->kind == SRV_TEXT || option->kind == SRV_WORD) {
		snprintf(text, SRV_OPTION_RANGE, "%s", option->kind == SRV_WORD ? option->words : "");
		return;
	}
	srv_option_print(option->kind, option->most, most);
	snprintf(text, SRV_OPTION_RANGE, "%lld to %s%s", option->least, most, option->kind == SRV_PORT ? ", or none" : "");
}

const char *srv_option_default(const struct srv_option *option)
{
	return option->fallback ? option->fallback : option->words;
}

/* Accepts an octal mode, as chmod does. @return -1 if malformed */
static long long read_mode(const char *text)
{
	const size_t n = strspn(text, "01234567");
	return n > 0 && n <= 8 && !text[n] ? strtoll(text, NULL, 8) : -1;
}

static long long read_value(enum srv_option_kind kind, const char *text)
{
	return kind == SRV_MODE ? read_mode(text) : read_number(text, kind == SRV_BYTES);
}

/* Finds the position of a word in "a, b, c". */
static bool set_word(const char *words, const char *text, long long *position)
{
	const size_t n = strlen(text);
	for (*position = 0; *words; ++*position) {
		const size_t length = strcspn(words, ",");
		if (length == n && strncmp(words, text, n) == 0)
			return true;
		words += length + strspn(words + length, ", ");
	}
	return false;
}

/* Accepts only text that a line of a file can hold as well. */
static bool is_text(const char *text)
{
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return false;
	return *text && *text != ' ' && text[strlen(text) - 1] != ' ';
}

bool srv_option_set(const struct srv_option *option, const char *text, struct srv_options *options)
{
	if (option->kind == SRV_TEXT) {
		*srv_option_text(option, options) = text;
		return is_text(text);
	}
	if (option->kind == SRV_WORD)
		return set_word(option->words, text, srv_option_number(option, options));
	const bool none = option->kind == SRV_PORT && strcmp(text, "none") == 0;
	const long long value = none ? -1 : read_value(option->kind, text);
	*srv_option_number(option, options) = value;
	return none || (value >= option->least && value <= option->most);
}

int srv_option_find(const char *name, size_t n)
{
	for (int i = 0; i < srv_n_options; i++)
		if (n == strlen(srv_options_table[i].name) && strncmp(name, srv_options_table[i].name, n) == 0)
			return i;
	return -1;
}

/* clang-format on */

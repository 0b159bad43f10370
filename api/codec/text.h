/**
 * A JSON text being read, and why it is refused.
 */
#ifndef API_TEXT_H
#define API_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "api/base/fault.h"

enum {
	API_MAX_VALUES = 2000000,  /* values and keys of a text, where a lifted array counts as one; more get 413 */
	API_MAX_TOKEN = 1 << 20,   /* bytes of a string, a key or a number as written, without quotes; more get 413 */
	API_LOOK_BYTES = 64 << 10, /* bytes between two checks of the stop flag */
};

/* Why a text is refused. */
struct api_text_fault {
	enum api_code code;
	int status;          /* 400 malformed, 413 over API_MAX_VALUES or API_MAX_TOKEN, 503 out of memory or stopped */
	size_t offset;       /* byte offset of the fault; the length of a text that ends too soon. 503: 0 */
	size_t line, column; /* the same place, counted from 1; the column counts characters */
	char detail[256];    /* a clause that explains the fault, without its position */
	char pointer[256];   /* JSON Pointer to the value at fault if the text determines it; or empty */
};

/* Sets a fault from the reason for refusing a text. @return false */
bool api_fault_text(struct api_fault *fault, const struct api_text_fault *text);

struct api_text {
	const char *begin, *end;      /* borrowed */
	const char *look;             /* position of the next check of the stop flag */
	const char *reach;            /* nothing is read beyond this without a check; tokens that begin before `look` end
	                               * before this */
	struct api_text_fault *fault; /* everything except line and column, which are determined at the end */
};

/* Fills in *fault, unless it already has a 503. at: NULL if there is no place. @return false */
bool api_text_fail(struct api_text *text, enum api_code code, const char *at, const char *detail);
/* Refuses a text because of a limit, the format's only argument. @return false */
bool api_text_refuse(struct api_text *text, enum api_code code, const char *at, const char *format, int limit);
/* Checks the stop flag at p, and advances `look` and `reach`. @return false with *fault filled in if the request was
 * stopped */
bool api_text_look(struct api_text *text, const char *p);

/* JSON allows only these four blanks. */
static inline bool api_is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline const char *api_skip_blanks(const char *p, const char *end)
{
	while (p < end && api_is_blank(*p))
		p++;
	return p;
}

/* Accepts ASCII letters only, in any locale. */
static inline bool api_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* True for '-' and digits, without a branch between them, because signs are unpredictable. */
static inline bool api_starts_number(char c)
{
	const unsigned place = (unsigned)(unsigned char)c - '-';
	return place < 13 && (0x1FF9u >> place & 1);
}

#endif

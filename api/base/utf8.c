#include "api/base/utf8.h"

#include <stddef.h>

/* Length of the character at text (RFC 3629); 0 if it is invalid. */
static size_t character_bytes(const char *text)
{
	static const struct {
		unsigned char first, last, low, high; /* range of the first byte, and of the second one */
		size_t bytes;
	} forms[] = {
		{0x01, 0x7F, 0x00, 0xFF, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
		{0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
		{0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
	};
	const unsigned char *p = (const unsigned char *)text;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t n = 1;
		if (*p < forms[i].first || *p > forms[i].last)
			continue;
		if (forms[i].bytes > 1 && (p[1] < forms[i].low || p[1] > forms[i].high))
			return 0;
		while (n < forms[i].bytes && (p[n] & 0xC0) == 0x80)
			n++;
		return n == forms[i].bytes ? n : 0;
	}
	return 0;
}

bool api_is_utf8(const char *text)
{
	for (size_t n; *text; text += n) {
		n = character_bytes(text);
		if (!n)
			return false;
	}
	return true;
}

void api_mend_utf8(char *text)
{
	char *out = text;
	while (*text) {
		size_t n = character_bytes(text);
		for (size_t i = 0; i < n; i++)
			*out++ = *text++;
		if (n)
			continue;
		*out++ = '?';
		do
			text++;
		while (((unsigned char)*text & 0xC0) == 0x80);
	}
	*out = '\0';
}

#include "api/codec/media.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char api_media_json[] = "application/json";
const char api_media_merge[] = "application/merge-patch+json";
const char api_media_frame[] = "application/vnd.frictiond.frame";

static const char space[] = " \t";

/* The text [begin, end), without white space at its ends. */
struct span {
	const char *begin, *end;
};

static struct span trim(const char *begin, const char *end)
{
	while (begin < end && strchr(space, *begin))
		begin++;
	while (begin < end && strchr(space, end[-1]))
		end--;
	return (struct span){begin, end};
}

static bool span_is(struct span s, const char *text, size_t bytes)
{
	return (size_t)(s.end - s.begin) == bytes && !strncasecmp(s.begin, text, bytes);
}

bool api_media_is(const char *content_type, const char *type)
{
	if (!content_type)
		return false;
	return span_is(trim(content_type, content_type + strcspn(content_type, ";")), type, strlen(type));
}

/* How specifically a range matches a type. 3: the type itself, 2: "type/" and an asterisk, 1: any type, 0: no match */
static int specificity(struct span range, const char *type)
{
	const size_t slash = (size_t)(strchr(type, '/') - type) + 1;
	if (span_is(range, type, strlen(type)))
		return 3;
	if (range.end - range.begin == (long)slash + 1 && range.end[-1] == '*' && !strncasecmp(range.begin, type, slash))
		return 2;
	return span_is(range, "*/*", 3);
}

/* Limits q to 0..1; a q that is not a number counts as 0. */
static double clamp(double q)
{
	return q >= 0 ? q < 1 ? q : 1 : 0;
}

/* The q parameter of one range, 1 if there is none. */
static double quality(const char *begin, const char *end)
{
	while (begin < end) {
		const char *stop = memchr(begin, ';', (size_t)(end - begin));
		const struct span parameter = trim(begin, stop ? stop : end);
		if (parameter.end - parameter.begin > 2 && !strncasecmp(parameter.begin, "q=", 2))
			return clamp(strtod(parameter.begin + 2, NULL));
		begin = stop ? stop + 1 : end;
	}
	return 1;
}

double api_media_quality(const char *accept, const char *type)
{
	int best = 0;
	double found = 0;
	while (*accept) {
		const char *end = accept + strcspn(accept, ","), *semicolon = memchr(accept, ';', (size_t)(end - accept));
		const char *stop = semicolon ? semicolon : end;
		const int specific = specificity(trim(accept, stop), type);
		if (specific > best) {
			best = specific;
			found = semicolon ? quality(semicolon + 1, end) : 1;
		}
		accept = *end ? end + 1 : end;
	}
	return found;
}

/**
 * Suggestions for misspelt names. Case, separators, camel case, plurals and the order of words are ignored;
 * abbreviations and typing errors are tolerated. Among names that differ in a digit, the one with the nearest digit is
 * suggested. If two names are equally near, there is no suggestion.
 */
#ifndef API_SUGGEST_H
#define API_SUGGEST_H

#include <stdbool.h>

enum { API_SUGGEST_BYTES = 64 }; /* longer names match nothing */

struct api_suggestion {
	char words[2 * API_SUGGEST_BYTES + 2]; /* words of the unknown name, folded */
	char letters[API_SUGGEST_BYTES + 1];
	int distance; /* distance of the nearest candidate */
	int gap;      /* difference between its digit and the unknown name's, if the names first differ there */
	bool tied;
	const char *nearest;
};

/* Begins with an unknown name, which may contain any bytes. Offer the candidates one by one afterwards. */
void api_suggest_start(struct api_suggestion *near, const char *name);
/* @param candidate  borrowed until the result is used */
void api_suggest_offer(struct api_suggestion *near, const char *candidate);
/* The best candidate, or NULL. */
const char *api_suggest_found(const struct api_suggestion *near);

/* Prints the end of a message: "; did you mean \"mu_s\"?", or `otherwise` if there is no suggestion. @return out */
enum { API_SUGGESTION_SIZE = 2 * API_SUGGEST_BYTES };
const char *api_suggest_text(const struct api_suggestion *near, const char *otherwise, char out[API_SUGGESTION_SIZE]);

#endif

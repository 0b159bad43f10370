/**
 * Suggestions for misspelt names. Case, separators, camel case, plurals and the order of words are ignored;
 * abbreviations and typing errors are tolerated. Among names that differ in a digit, the one with the nearest digit is
 * suggested. If two names are equally near, there is no suggestion.
 */
#ifndef API_NEAR_H
#define API_NEAR_H

#include <stdbool.h>

enum { API_NEAR_BYTES = 64 }; /* longer names match nothing */

struct api_near {
	char words[2 * API_NEAR_BYTES + 2]; /* of the unknown name, folded */
	char letters[API_NEAR_BYTES + 1];
	int distance; /* of the nearest candidate */
	int gap;      /* between its digit and that of the unknown name, if these are where they first differ */
	bool tied;
	const char *nearest;
};

/* Begins with an unknown name, which may contain any bytes. Then offer the candidates one by one. */
void api_near_start(struct api_near *near, const char *name);
/* @param candidate  borrowed until the result is used */
void api_near_offer(struct api_near *near, const char *candidate);
/* The best candidate, or NULL. */
const char *api_near_found(const struct api_near *near);

/* Ends a message: "; did you mean \"mu_s\"?", or `otherwise` if there is no suggestion. @return out */
enum { API_NEAR_QUESTION = 2 * API_NEAR_BYTES };
const char *api_near_ask(const struct api_near *near, const char *otherwise, char out[API_NEAR_QUESTION]);

#endif

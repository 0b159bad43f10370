/**
 * Which of the known names was probably meant by an unknown one. Case, separators, camel case, plurals and the order of
 * words do not count; abbreviations and slips of the keyboard are forgiven. Of names that differ in a digit, the one
 * with the next digit counts as nearest. Two names that are as near as each other are no help: then there is none.
 */
#ifndef API_NEAR_H
#define API_NEAR_H

#include <stdbool.h>

enum { API_NEAR_BYTES = 64 }; /* a longer name is near to nothing */

struct api_near {
	char words[2 * API_NEAR_BYTES + 2]; /* of the unknown name */
	char letters[API_NEAR_BYTES + 1];
	int distance; /* of the nearest */
	int gap;      /* between its digit and that of the unknown name, if they first differ there */
	bool tied;
	const char *nearest;
};

/* name: any bytes. Afterwards candidates are offered one by one. */
void api_near_start(struct api_near *near, const char *name);
/* @param candidate  borrowed until the answer is used */
void api_near_offer(struct api_near *near, const char *candidate);
/* The candidate that was meant, or NULL. */
const char *api_near_found(const struct api_near *near);

/* How a message goes on: "; did you mean \"mu_s\"?", or otherwise, if it is not known what was meant. @return out */
enum { API_NEAR_QUESTION = 2 * API_NEAR_BYTES };
const char *api_near_ask(const struct api_near *near, const char *otherwise, char out[API_NEAR_QUESTION]);

#endif

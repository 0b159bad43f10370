/**
 * Reads numbers from decimal text, exactly and without a locale. Allocates nothing, safe to call from several threads.
 */
#ifndef API_NUMBERS_H
#define API_NUMBERS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum api_number_status {
	API_NUMBER_OK,
	API_NUMBER_MALFORMED, /* violates JSON's grammar */
	API_NUMBER_OVERFLOW,  /* beyond a double's range */
};

struct api_number {
	double value;
	bool integer;    /* written without '.', 'e' and 'E' */
	const char *end; /* one past the number; malformed: where the grammar is violated */
};

/**
 * Reads the longest JSON number at the start of [text, end). The caller checks what follows: "01" is 0, then "1". The
 * value has the bits of strtod: nearest, ties to even; underflow becomes a zero of the same sign.
 * @param number  value and integer only if API_NUMBER_OK, end unless API_NUMBER_OVERFLOW
 */
enum api_number_status api_number_read(const char *text, const char *end, struct api_number *number);

#ifdef __cplusplus
}
#endif

#endif

/**
 * Decimal text <-> numbers, exactly and without locale. Allocates nothing, safe to call from several threads.
 */
#ifndef API_NUMBERS_H
#define API_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum api_number_status {
	API_NUMBER_OK,
	API_NUMBER_MALFORMED, /* not JSON's grammar */
	API_NUMBER_OVERFLOW,  /* beyond a double's range */
};

struct api_number {
	double value;
	bool integer;     /* written without '.', 'e' and 'E' */
	const char *end;  /* one past the number; malformed: where the grammar breaks */
};

/* Room for any number that is written: all of it may be, although the longest is shorter by a few bytes. */
enum { API_NUMBER_BYTES = 40 };

/**
 * Reads the longest JSON number at the start of [text, end). What may follow is up to the caller: "01" is 0, then "1".
 * The value has the bits that strtod gives: nearest, ties to even; too small becomes a zero of the same sign.
 * @param number  value and integer only if API_NUMBER_OK, end unless API_NUMBER_OVERFLOW
 */
enum api_number_status api_number_read(const char *text, const char *end, struct api_number *number);

/**
 * The shortest decimal that reads back to the same bits, and the nearest to the value among those, with a '.' or an 'e' in
 * it: in the form of C++'s std::to_chars ("0.001", "1e+05", "1.5e-05"), and with ".0" behind whole numbers ("1.0", "-0.0").
 * @param text   [API_NUMBER_BYTES], not terminated
 * @return bytes written; 0 for a value that is not finite
 */
size_t api_real_write(double value, char *text);

/* The same for integers: digits, with a '-' if need be. */
size_t api_integer_write(int64_t value, char *text);

#ifdef __cplusplus
}
#endif

#endif

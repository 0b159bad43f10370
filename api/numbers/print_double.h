/**
 * Prints numbers as decimal text, exactly and without a locale. Allocates nothing, safe to call from several threads.
 */
#ifndef API_PRINT_DOUBLE_H
#define API_PRINT_DOUBLE_H

#include <stddef.h>
#include <stdint.h>

/* Room for any number. All of these bytes may be written, although the longest number is a few bytes shorter. */
enum { API_NUMBER_BYTES = 40 };

/**
 * Writes the shortest decimal that reads back to the same bits; if there are several, the nearest to the value. It
 * always has a '.' or an 'e'. The form is as from C++'s std::to_chars ("0.001", "1e+05", "1.5e-05"), with ".0" after
 * whole numbers ("1.0", "-0.0").
 * @param text   [API_NUMBER_BYTES], not terminated
 * @return bytes written; 0 for a value that is not finite
 */
size_t api_real_write(double value, char *text);

/* Writes an integer: digits, after a '-' if negative. Parameters as for api_real_write. */
size_t api_integer_write(int64_t value, char *text);

#endif

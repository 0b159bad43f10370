/**
 * Powers of ten to 128 bits. scripts/powers_of_ten checks the table.
 */
#ifndef API_POWERS_OF_TEN_H
#define API_POWERS_OF_TEN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { API_LEAST_POWER = -348, API_MOST_POWER = 324 };

/* m = high * 2^64 + low, the least integer in [2^127, 2^128) with m * 2^(e - 127) >= 10^p, e = api_log2_of_ten(p).
 * Exact for p from 0 to 55, otherwise less than 1 too large. */
struct api_power_of_ten {
	uint64_t high, low;
};

extern const struct api_power_table {
	struct api_power_of_ten of_ten[API_MOST_POWER - API_LEAST_POWER + 1]; /* [p - API_LEAST_POWER] */
} api_powers;

/* floor(log2(10^p)) for the table's p */
static inline int api_log2_of_ten(int p)
{
	return p * 1741647 >> 19;
}

#ifdef __cplusplus
}
#endif

#endif

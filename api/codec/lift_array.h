/**
 * Lifts numbers and regular arrays of numbers out of a text, one after the other, into one block of doubles.
 */
#ifndef API_LIFT_ARRAY_H
#define API_LIFT_ARRAY_H

#include "api/codec/array.h"
#include "api/codec/text.h"

struct api_pool;

struct api_values {
	struct api_text text;
	struct api_pool *pool; /* source of data, or NULL */
	double *data;          /* 64-byte aligned */
	size_t n, capacity;
	int most_rank; /* deeper arrays are not lifted; 0: API_MAX_RANK */
};

enum api_lifted {
	API_LIFTED,
	API_NOT_LIFTED, /* contains something other than numbers, or is too deep: it must be read element by element */
	API_FAULTY,     /* malformed; *fault is filled in */
};

/**
 * Lifts one array by appending its numbers. Appends nothing unless it returns API_LIFTED.
 * @param begin  its '['
 * @param array  filled in except data
 * @param end    one past its ']'
 */
enum api_lifted api_lift_array(struct api_values *values, const char *begin, struct api_array *array, const char **end);

/**
 * Appends the number at p.
 * @return one past it, or NULL with *fault filled in
 */
const char *api_lift_number(struct api_values *values, const char *p, bool *integer);

#endif

/**
 * Sorts in place, without memory of its own. Functions are inlined with the size of an item and with its order.
 */
#ifndef FRIC_SORT_H
#define FRIC_SORT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/base/inline.h"

enum { SORT_MOST_BYTES = 64 }; /* of an item */

/* Whether item a comes before item b. @param list  as given to the sort */
typedef bool item_order(const void *list, const void *a, const void *b);

/* Insertion: stable, and the fastest for a few items. @param items  [n] of `size` bytes, at most SORT_MOST_BYTES */
INLINE void sort_few(void *items, size_t n, size_t size, item_order *before, const void *list)
{
	_Alignas(16) char moved[SORT_MOST_BYTES];
	char *first = items;
	for (size_t i = 1; i < n; i++) {
		char *at = first + i * size;
		memcpy(moved, at, size);
		for (; at > first && before(list, moved, at - size); at -= size)
			memcpy(at, at - size, size);
		memcpy(at, moved, size);
	}
}

/* Sifts down a heap: not stable, n log n at worst. Parameters as for sort_few. */
INLINE void sort_many(void *items, size_t n, size_t size, item_order *before, const void *list)
{
	_Alignas(16) char moved[SORT_MOST_BYTES];
	char *x = items;
	for (size_t start = n / 2, end = n; end > 1;) {
		if (start > 0) {
			memcpy(moved, x + --start * size, size);
		} else {
			memcpy(moved, x + --end * size, size);
			memcpy(x + end * size, x, size);
		}
		size_t at = start;
		for (size_t child = 2 * at + 1; child < end; child = 2 * at + 1) {
			child += child + 1 < end && before(list, x + child * size, x + (child + 1) * size);
			if (!before(list, moved, x + child * size))
				break;
			memcpy(x + at * size, x + child * size, size);
			at = child;
		}
		memcpy(x + at * size, moved, size);
	}
}

/* The order of uint64_t. */
static inline bool number_before(const void *unused, const void *a, const void *b)
{
	(void)unused;
	return *(const uint64_t *)a < *(const uint64_t *)b;
}

static inline void sort_two(int32_t *a, int32_t *b)
{
	const int32_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
	*a = low;
	*b = high;
}

static inline void sort_three(int32_t v[3])
{
	sort_two(&v[0], &v[1]);
	sort_two(&v[1], &v[2]);
	sort_two(&v[0], &v[1]);
}

#endif

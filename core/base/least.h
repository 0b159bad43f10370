/**
 * The least of some numbers >= 0, which several threads lower.
 */
#ifndef FRIC_LEAST_H
#define FRIC_LEAST_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

/* Its bits, which are in the order of the numbers. */
struct least {
	_Atomic(uint64_t) bits;
};

static inline uint64_t bits_of_least(double x)
{
	uint64_t bits;
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline void least_start(struct least *least, double x)
{
	atomic_init(&least->bits, bits_of_least(x));
}

static inline double least_now(const struct least *least)
{
	const uint64_t bits = atomic_load_explicit(&((struct least *)least)->bits, memory_order_relaxed);
	double x;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

static inline void least_lower(struct least *least, double x)
{
	uint64_t now = atomic_load_explicit(&least->bits, memory_order_relaxed);
	const uint64_t bits = bits_of_least(x);
	while (bits < now &&
	       !atomic_compare_exchange_weak_explicit(&least->bits, &now, bits, memory_order_relaxed, memory_order_relaxed))
		;
}

#endif

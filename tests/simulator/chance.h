/** Random numbers determined by a seed alone. */
#ifndef SIMULATOR_CHANCE_H
#define SIMULATOR_CHANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chance {
	uint64_t state;
};

/* splitmix64 */
static inline uint64_t chance_bits(struct chance *chance)
{
	uint64_t z = chance->state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* 0 to n - 1; n > 0 */
static inline size_t chance_below(struct chance *chance, size_t n)
{
	return (size_t)((chance_bits(chance) >> 32) * (uint64_t)n >> 32);
}

static inline bool chance_one_in(struct chance *chance, size_t n)
{
	return chance_below(chance, n) == 0;
}

#endif

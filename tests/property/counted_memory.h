/**
 * Memory that counts what is taken and given back, by sizes that it records itself. Fresh blocks are filled with NaN,
 * and marks around them reveal writes beyond their ends.
 */
#ifndef TESTS_COUNTED_MEMORY_H
#define TESTS_COUNTED_MEMORY_H

#include "tests/unit/core/check.h"

struct counted_memory {
	_Atomic(size_t) blocks, bytes, taken;
	_Atomic(long) left;       /* allocations that succeed; < 0: all */
	_Atomic(size_t) failures; /* blocks that came back with another size or with overwritten marks */
	fric_flag *raised_by;     /* NULL, or the flag that the allocation after `left` others raises instead of failing */
};

enum { MARK = 64, MARK_BYTE = 0xa7 };

static inline void *counted_take(void *pool, size_t bytes)
{
	struct counted_memory *m = pool;
	if (m->left >= 0 && atomic_fetch_sub(&m->left, 1) == 0) {
		if (!m->raised_by)
			return NULL;
		atomic_store(m->raised_by, true);
	}
	unsigned char *block = aligned_alloc(MARK, MARK + (bytes + MARK) / MARK * MARK + MARK);
	assert_non_null(block);
	memset(block, MARK_BYTE, MARK);
	memcpy(block, &bytes, sizeof(bytes));
	memset(block + MARK, 0xff, bytes);
	memset(block + MARK + bytes, MARK_BYTE, MARK);
	m->blocks++;
	m->taken++;
	m->bytes += bytes;
	return block + MARK;
}

static inline void counted_give(void *pool, void *data, size_t bytes)
{
	struct counted_memory *m = pool;
	unsigned char *block = (unsigned char *)data - MARK;
	size_t noted;
	memcpy(&noted, block, sizeof(noted));
	bool good = noted == bytes;
	for (size_t i = sizeof(noted); i < MARK; i++)
		good &= block[i] == MARK_BYTE && block[MARK + noted + i] == MARK_BYTE;
	for (size_t i = 0; i < sizeof(noted); i++)
		good &= block[MARK + noted + i] == MARK_BYTE;
	m->failures += !good;
	m->blocks--;
	m->bytes -= noted;
	free(block);
}

static inline struct fric_memory memory_of(struct counted_memory *m)
{
	return (struct fric_memory){counted_take, counted_give, m};
}

static inline void assert_all_given_back(const struct counted_memory *m)
{
	assert_int_equal(m->failures, 0);
	assert_int_equal(m->blocks, 0);
	assert_int_equal(m->bytes, 0);
}

#endif

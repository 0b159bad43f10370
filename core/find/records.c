#include "core/find/records.h"

#include "core/base/memory.h"

/* Counts a block that is full. @return whether there may be more */
static bool rise(struct ceiling *ceiling)
{
	const size_t n = RECORDS_AT_A_TIME;
	return !ceiling || atomic_fetch_add_explicit(&ceiling->n, n, memory_order_relaxed) + n <= ceiling->most;
}

static enum fric_code add_block(struct records *records, enum fric_type type)
{
	struct record_block *full = records->blocks[type];
	if (full && !rise(records->ceiling))
		return FRIC_E_TOO_MANY;
	struct record_block *block = memory_take(records->memory, sizeof(*block));
	if (!block)
		return FRIC_E_MEMORY;
	block->next = full;
	block->n = 0;
	records->blocks[type] = block;
	return FRIC_OK;
}

enum fric_code fricp_records_add(struct records *records, enum fric_type type, struct record record)
{
	const struct record_block *block = records->blocks[type];
	const enum fric_code code = block && block->n < RECORDS_AT_A_TIME ? FRIC_OK : add_block(records, type);
	if (code != FRIC_OK)
		return code;
	records->n[type]++;
	records->blocks[type]->records[records->blocks[type]->n++] = record;
	return FRIC_OK;
}

void fricp_records_clear(struct records *records, enum fric_type type)
{
	while (records->blocks[type]) {
		struct record_block *block = records->blocks[type];
		records->blocks[type] = block->next;
		memory_give(records->memory, block, sizeof(*block));
	}
	records->n[type] = 0;
}

void fricp_records_free(struct records *records)
{
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		fricp_records_clear(records, type);
}

#include "core/find/records.h"

#include "core/base/memory.h"

struct record *fricp_records_add(struct records *records, enum fric_type type)
{
	struct record_block *block = records->blocks[type];
	if (!block || block->n == RECORDS_AT_A_TIME) {
		block = memory_take(records->memory, sizeof(*block));
		if (!block)
			return NULL;
		block->next = records->blocks[type];
		block->n = 0;
		records->blocks[type] = block;
	}
	records->n[type]++;
	return &block->records[block->n++];
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

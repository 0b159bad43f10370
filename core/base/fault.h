/**
 * A failure and its contact, before conversion to a struct fric_error.
 */
#ifndef FRIC_FAULT_H
#define FRIC_FAULT_H

#include "core/fric.h"

struct fault {
	enum fric_code code;
	size_t position; /* position of the contact, counted over all groups */
};

/* Fills in *error for a failure that no single contact causes. @return code */
static inline enum fric_code report_code(enum fric_code code, struct fric_error *error)
{
	if (code != FRIC_OK)
		*error = (struct fric_error){code, FRIC_VERTEX_VERTEX, -1};
	return code;
}

#endif

/* Where the barrier acts. */
#include "core/contacts/contacts.h"

enum fric_code fric_current_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                   const double *positions, struct fric_current **current, struct fric_error *error)
{
	(void)context, (void)contacts, (void)positions;
	*current = NULL;
	return report_code(FRIC_E_MEMORY, error);
}

void fric_current_free(struct fric_current *current)
{
	(void)current;
}

enum fric_code fric_current_skipped(const struct fric_current *current, enum fric_type type, size_t contact)
{
	(void)current, (void)type, (void)contact;
	return FRIC_OK;
}

size_t fric_current_n_skipped(const struct fric_current *current)
{
	(void)current;
	return 0;
}

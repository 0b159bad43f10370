#include "core/contacts/contacts.h"

#include <stdlib.h>

#include "core/base/memory.h"

void fric_contacts_free(struct fric_contacts *contacts)
{
	if (!contacts)
		return;
	fric_contacts_free(contacts->bodies);
	memory_give(contacts->memory, contacts->arrays, contacts->arrays_bytes);
	free(contacts);
}

void fric_state_free(struct fric_state *state)
{
	if (!state)
		return;
	fric_state_free(state->bodies);
	memory_give(state->memory, state->arrays, state->arrays_bytes);
	free(state);
}

enum fric_code fricp_report_fault(const struct fric_contacts *contacts, struct fault fault, struct fric_error *error)
{
	if (fault.code == FRIC_OK || fault.position >= contacts->n)
		return report_code(fault.code, error);
	const enum fric_type type = contact_type(contacts, fault.position);
	*error = (struct fric_error){fault.code, type, (int64_t)(fault.position - contacts->start[type])};
	return fault.code;
}

int fric_dim(const struct fric_contacts *contacts)
{
	return contacts->dim;
}

size_t fric_n_vertices(const struct fric_contacts *contacts)
{
	return contacts->n_vertices;
}

size_t fric_n_bodies(const struct fric_contacts *contacts)
{
	return contacts->bodies ? contacts->bodies->n_vertices : 0;
}

size_t fric_n_contacts(const struct fric_contacts *contacts)
{
	return contacts->n + (contacts->bodies ? contacts->bodies->n : 0);
}

/* The structure that contains a type's contacts, or NULL for body types if there are no bodies. */
static const struct fric_contacts *with_type(const struct fric_contacts *contacts, enum fric_type type)
{
	return is_of_bodies(type) ? contacts->bodies : contacts;
}

size_t fric_group_size(const struct fric_contacts *contacts, enum fric_type type)
{
	const struct fric_contacts *c = with_type(contacts, type);
	return c ? group_size(c, type) : 0;
}

enum fric_code fric_skipped(const struct fric_contacts *contacts, enum fric_type type, size_t contact)
{
	const struct fric_contacts *c = with_type(contacts, type);
	return skip_reason(c, c->start[type] + contact);
}

const struct fric_contacts *fric_friction_contacts(const struct fric_contacts *contacts)
{
	return contacts->terms == (FRIC_TERM_FRICTION | FRIC_TERM_BARRIER) ? contacts + 1 : contacts;
}

size_t fric_n_skipped(const struct fric_contacts *contacts)
{
	return contacts->n_skipped + (contacts->bodies ? contacts->bodies->n_skipped : 0);
}

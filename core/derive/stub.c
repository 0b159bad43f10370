/* What is not there yet. */
#include "core/contacts/contacts.h"

#define MISSING(...) \
	{ \
		(void)context; \
		return report_code(FRIC_E_MEMORY, error); \
	}

bool fric_has_second(enum fric_field field)
{
	return field == FRIC_BY_VELOCITIES || (field >= FRIC_BY_EPS_V && field <= FRIC_BY_MATERIAL_MU_K);
}

bool fric_row_has_second(enum fric_row row)
{
	return row <= FRIC_ROW_EPS_V;
}

enum fric_code fric_second(const struct fric_context *context, const struct fric_derivation *derivation,
                           const struct fric_differential *tangents, const struct fric_differential *cotangents,
                           struct fric_error *error)
{
	(void)derivation, (void)tangents, (void)cotangents;
	MISSING()
}

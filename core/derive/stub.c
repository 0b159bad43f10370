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

size_t fric_n_jacobian_triplets(const struct fric_contacts *contacts)
{
	(void)contacts;
	return 0;
}

enum fric_code fric_position_jacobian_triplets(const struct fric_context *context,
                                               const struct fric_derivation *derivation, int32_t *rows, int32_t *cols,
                                               double *values, struct fric_error *error)
{
	(void)derivation, (void)rows, (void)cols, (void)values;
	MISSING()
}

enum fric_code fric_jacobian_pattern_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                            struct fric_pattern **pattern, struct fric_error *error)
{
	(void)contacts, (void)pattern;
	MISSING()
}

enum fric_code fric_position_jacobian_csr(const struct fric_context *context, const struct fric_derivation *derivation,
                                          const struct fric_pattern *pattern, double *data, struct fric_error *error)
{
	(void)derivation, (void)pattern, (void)data;
	MISSING()
}

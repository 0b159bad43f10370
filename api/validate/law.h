/**
 * Checks the friction law, whose fields occur both in `friction` and in calls of law functions. Some fields belong to
 * one or two laws, and some laws have a single coefficient.
 */
#ifndef API_VALIDATE_LAW_H
#define API_VALIDATE_LAW_H

#include "api/validate/check.h"
#include "core/law/law.h"

struct api_law_fields {
	struct api_field law, transition, stribeck_speed, curve;
};

/* The law is unknown because of another fault. Everything that depends on it is not checked. */
enum { API_UNKNOWN_LAW = -1 };

/**
 * Reads law, transition and curve, and checks that each field belongs to the law. stribeck_speed is left to the caller.
 * @param out  type, transition and curve are filled in
 * @return enum fric_law_type, or API_UNKNOWN_LAW
 */
int api_check_law(struct api_check *check, const struct api_law_fields *fields, struct fric_law *out);

/* Whether the law's row in the core has this enum law_trait; false for API_UNKNOWN_LAW. A law with LAW_DECAYS needs a
 * stribeck_speed. */
static inline bool api_law_has(int law, int trait)
{
	const struct fric_law of_type = {.type = (enum fric_law_type)law};
	return law != API_UNKNOWN_LAW && law_has(law_of(&of_type), trait);
}

/* Checks that stribeck_speed, if present, belongs to the law. */
void api_check_decays(struct api_check *check, const struct api_field *stribeck_speed, int law);

/**
 * Requires both coefficients of a law with a single one to be equal. The fault points to the kinetic one, in an array
 * to its element.
 * @param mu_k  the field; zeros if absent
 * @param n, width  number of rows of the longer one, and length of a row
 * @param s, k      both coefficients; data NULL: zeros
 */
void api_check_one_coefficient(struct api_check *check, int law, const struct api_field *mu_k, size_t n, size_t width,
                               const struct fric_values *s, const struct fric_values *k);

#endif

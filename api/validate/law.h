/**
 * Which friction law acts: fields that `friction` has, and a call of the law functions, too. Some belong to one law or
 * two; some laws take one coefficient only.
 */
#ifndef API_VALIDATE_LAW_H
#define API_VALIDATE_LAW_H

#include "api/validate/check.h"

struct api_law_fields {
	struct api_field law, transition, stribeck_speed, curve;
};

/* A law that is not known because of another fault: what depends on it is not judged. */
enum { API_UNKNOWN_LAW = -1 };

/**
 * Law, transition and curve, and whether each field is one of the law's. What stribeck_speed is remains to be read.
 * @param out  type, transition and curve are filled in
 * @return enum fric_law_type, or API_UNKNOWN_LAW
 */
int api_check_law(struct api_check *check, const struct api_law_fields *fields, struct fric_law *out);

/* Whether the law has a stribeck_speed, and needs one. */
bool api_law_decays(int law);
/* A stribeck_speed, if it is there, is one of the law's. */
void api_check_decays(struct api_check *check, const struct api_field *stribeck_speed, int law);

/**
 * Both coefficients of a law that takes one are the same; the fault is at the kinetic one, at its element in an array.
 * @param mu_k  the field; absent: of zeros
 * @param n, width  rows of the larger of both, and numbers in a row
 * @param s, k  data NULL: zeros
 */
void api_check_one_coefficient(struct api_check *check, int law, const struct api_field *mu_k, size_t n, size_t width,
                               const struct fric_values *s, const struct fric_values *k);

#endif

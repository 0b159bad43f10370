/**
 * The two halves of fric_compare: one computes the library's results (claims), the other compares them with central
 * differences. They are separate so that a test can falsify claims and check that the comparison detects it.
 */
#ifndef FRIC_COMPARE_H
#define FRIC_COMPARE_H

#include "core/gradcheck/claims.h"

enum fric_code fricp_claims_compare(const struct fric_context *context, const struct fric_contacts *contacts,
                                    const struct fric_question *question, const struct claims *claims,
                                    struct fric_comparison *comparison, struct fric_error *error);

#endif

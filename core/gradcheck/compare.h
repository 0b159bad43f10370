/**
 * The two halves of fric_compare: one computes the library's results (results), the other compares them with central
 * differences. They are separate so that a test can falsify results and check that the comparison detects it.
 */
#ifndef FRIC_COMPARE_H
#define FRIC_COMPARE_H

#include "core/gradcheck/results.h"

enum fric_code fricp_results_compare(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const struct fric_query *query, const struct results *results,
                                     struct fric_comparison *comparison, struct fric_error *error);

#endif

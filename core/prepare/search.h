/**
 * Searched features: the geometry of a contact is the geometry of its closest feature as a contact of its own, with the
 * closest point as coordinates of the stencil (geometry/features.h).
 */
#ifndef FRIC_SEARCH_H
#define FRIC_SEARCH_H

#include "core/prepare/drafts.h"

/* Computes features and geometry of a span of a searched type. Sets d->code. */
void fricp_search_geometries(struct drafts *d);

/* Sets d->code to MOLLIFIED for mollified contacts of such a span that have no fault. */
void fricp_mark_mollified(struct drafts *d);

/* As fricp_stencil_grain, for contact j of such a span. */
enum fric_code fricp_searched_grain(const struct drafts *d, size_t j, const double grain[3], double tangent_basis[6]);

/* As fricp_derived_uncertainty, for contact j of such a span. */
void fricp_searched_uncertainty(const struct drafts *d, size_t j, double uncertainty[2]);

#endif

/**
 * The closest features of a span's contacts at vertices, and the positions they are found from.
 */
#ifndef FRIC_SPAN_FEATURES_H
#define FRIC_SPAN_FEATURES_H

#include "core/contacts/span.h"
#include "core/geometry/features.h"
#include "core/kernels/kernels.h"

/* The features of all types that a batch has, made once per batch. */
struct feature_tables {
	struct feature_table of[FRIC_N_VERTEX_TYPES];
};

void fricp_list_all_features(const struct fric_contacts *contacts, struct feature_tables *tables);

/* Below, j counts the contacts of a span. */
struct span_features {
	double position[FRIC_MAX_STENCIL][3][FRIC_SPAN]; /* of the points of the stencils; in 2D z is 0 */
	uint8_t searched[FRIC_SPAN];                     /* 1: the feature is searched; 0: it is the whole stencil */
	uint8_t members[FRIC_SPAN];                      /* bits of searched features (geometry/features.h); else 0 */
	const struct feature *of[FRIC_SPAN];             /* without a feature, the whole stencil */
};

/* Whether a number of a span is not 0. */
static inline bool some_bits(const uint8_t *of, size_t n)
{
	uint8_t bits = 0;
	for (size_t j = 0; j < n; j++)
		bits |= of[j];
	return bits;
}

/* Copies the position of point k of contact j to p [3]. */
static inline void copy_position(const struct span_features *s, int k, size_t j, double p[3])
{
	for (int a = 0; a < 3; a++)
		p[a] = s->position[k][a][j];
}

/**
 * Finds members and features from positions and `searched`.
 * @param kernels  may lack kernels of features
 */
void fricp_find_features(const struct fric_kernels *kernels, const struct feature_tables *tables,
                         const struct fric_contacts *contacts, struct span span, struct span_features *s);

/* Contacts of a span whose features have something in common. */
struct alike {
	size_t n;
	uint8_t at[FRIC_SPAN];
};

/* Copies the positions of the features' points [n_points], whose places are those of `alike`. */
void fricp_gather_positions(const struct span_features *s, const struct alike *alike, int n_points,
                            double position[FRIC_MAX_STENCIL][3][FRIC_SPAN]);

#endif

/**
 * A batch and its query with some values moved along a direction, and the library's results there: fric_prepare,
 * fric_state_create, fric_evaluate.
 */
#ifndef FRIC_MOVED_H
#define FRIC_MOVED_H

#include "core/gradcheck/contribution.h"

/* A move; only the fields in `direction` change. */
struct move {
	const struct fric_context *context;
	const struct fric_derivation *derivation;
	const struct fric_differential *direction;
	double *room;    /* [fricp_n_moved] the moved values */
	double *weights; /* [fric_n_contacts] NULL: no contact is skipped */
};

/* The number of values that a direction changes. */
size_t fricp_n_moved(const struct fric_derivation *derivation, const struct fric_differential *direction);

/* Multiplies the factors in `direction` by pseudorandom entries, in place (fric_compare_derivative). */
void fricp_fill_direction(const struct fric_derivation *derivation, const struct fric_differential *direction);

/* The size of changes of velocities: the largest speed in the query, or eps_v if all are 0. */
double fricp_speed(const struct fric_derivation *derivation);

/* The strongest effect of the fields in a direction. */
enum effect fricp_effect_of(const struct fric_derivation *derivation, const struct fric_differential *direction);

/**
 * Potential and gradient after a move by `step` times the direction. The directions of effective coefficients do not
 * change unless they follow the slip; contacts that were skipped before the move stay without effect.
 * @param answer  [1 + n_dofs]
 * @return FRIC_OK, FRIC_E_MEMORY, FRIC_E_STOPPED, or any other code if there is no result, or if more contacts are
 *         skipped
 */
enum fric_code fricp_answer_moved(const struct move *move, double step, double *answer);

/* ---- values of a differential, in the order of fields and rows ---- */

/* One field of a direction: its values in the unchanged batch or query, and its identity. */
struct moved_part {
	enum fric_field field; /* FRIC_N_FIELDS: a row */
	enum fric_type type;
	enum fric_row row;
	const double *numbers;
	double *direction;
	size_t n;
};

typedef void visit_part(void *data, const struct moved_part *part);

/* Calls `visit` for every field that is set. */
void fricp_each_moved(const struct fric_derivation *derivation, const struct fric_differential *direction,
                      visit_part *visit, void *data);

#endif

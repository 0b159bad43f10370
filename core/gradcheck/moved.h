/**
 * A batch and its question with some numbers moved along a direction, and what the library answers there: fric_prepare,
 * fric_state_create, fric_evaluate.
 */
#ifndef FRIC_MOVED_H
#define FRIC_MOVED_H

#include "core/contacts/contacts.h"

/* What is moved; the fields in `direction` are. */
struct move {
	const struct fric_context *context;
	const struct fric_derivation *derivation;
	const struct fric_differential *direction;
	double *room;    /* [fricp_n_moved] the moved numbers */
	double *weights; /* [fric_n_contacts] NULL: no contact is skipped */
};

/* How many numbers a direction changes. */
size_t fricp_n_moved(const struct fric_derivation *derivation, const struct fric_differential *direction);

/* Replaces what the direction is multiplied by with the direction itself (fric_compare_derivative). */
void fricp_fill_direction(const struct fric_derivation *derivation, const struct fric_differential *direction);

/**
 * Potential and gradient of what is moved by `step` times the direction. The directions of effective coefficients are those
 * of the contacts as they are, unless they follow; contacts that are skipped as they are stay without an effect.
 * @param answer  [1 + n_dofs]
 * @return FRIC_OK, FRIC_E_MEMORY, FRIC_E_STOPPED, or any other code if there is no such answer, or one in which more
 *         contacts are skipped
 */
enum fric_code fricp_answer_moved(const struct move *move, double step, double *answer);

/* ---- numbers of a differential, in the order of fields and rows ---- */

/* Calls `visit` for the numbers of every field that is there. @param numbers  in the batch or in the question */
typedef void visit_numbers(void *data, const double *numbers, double *direction, size_t n);
void fricp_each_moved(const struct fric_derivation *derivation, const struct fric_differential *direction,
                      visit_numbers *visit, void *data);

#endif

/**
 * Guesses about claims that differ from our results: a mistake is tried by computing our own results as it would have made
 * them. It explains a quantity if these are the claimed ones within the tolerance.
 */
#ifndef API_GUESS_H
#define API_GUESS_H

#include <stdio.h>

#include "api/compute/judging.h"

/* A mistake that is tried, and the quantities that it gives within the tolerance, whether they agree with ours or
 * not. */
struct api_guess {
	struct api_explanation explanation;
	bool fits[FRIC_N_QUANTITIES];
};

struct api_explaining {
	struct api_judging *j;
	int scores[FRIC_N_QUANTITIES];          /* of the explanations so far; 0: none */
	double *rest, *multiple, *gradients[3]; /* [n_dofs] zeros, and room for fits of displacements */
};

#define API_DETAIL(guess, ...) \
	((void)snprintf((guess)->explanation.detail, sizeof((guess)->explanation.detail), __VA_ARGS__))

struct api_guess api_guess_begin(enum api_mistake mistake, double factor);
/* Keeps the guess for the quantities that it explains better than earlier ones. */
void api_guess_take(struct api_explaining *x, const struct api_guess *guess);

/* Whether a quantity is claimed and does not agree. */
bool api_guess_differs(const struct api_explaining *x, int quantity);
/* Whether `factor` times the results are what is claimed; always for what is not claimed. */
bool api_guess_is_claimed(const struct api_explaining *x, int quantity, const struct api_results *results,
                          double factor);
/* Sets that the mistake leaves a quantity as it is. */
void api_guess_keep(const struct api_explaining *x, int quantity, struct api_guess *guess);
/* The factor by which the claimed entries best fit ours, by their scales; 0: none. */
double api_guess_ratio(const struct api_explaining *x, int quantity);

/* Whether to go on after a core's call. A failure under a hypothesis only rules the hypothesis out, unless nothing more
 * can be computed: then there is a fault. */
bool api_guess_goes_on(const struct api_explaining *x, enum fric_code code);

/* A request that somebody may have evaluated instead. All pointers are borrowed. */
struct api_scene {
	struct fric_batch batch;
	const double *velocities, *slip_velocities, *current_positions; /* NULL: none */
};

/* The request itself. @return false with a fault */
bool api_scene_begin(struct api_explaining *x, struct api_scene *scene);
/* Evaluates a scene into `other`. @return FRIC_OK, or a code for api_guess_goes_on */
enum fric_code api_scene_evaluate(struct api_explaining *x, const struct api_scene *scene);
/* Tries a scene whose results are claimed as they are. @return false with a fault */
bool api_scene_try(struct api_explaining *x, const struct api_scene *scene, struct api_guess *guess);

/* Groups of mistakes. @return false with a fault */
bool api_try_signs(struct api_explaining *x);
bool api_try_displacements(struct api_explaining *x, const struct api_scene *base);
bool api_try_cone(struct api_explaining *x);

#endif

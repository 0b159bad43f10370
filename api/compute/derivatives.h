/**
 * Derivatives of potential and gradient with respect to the fields of a request: the steps of jvp and vjp, and the
 * functions that these and other routes use.
 */
#ifndef API_DERIVATIVES_H
#define API_DERIVATIVES_H

#include "api/compute/job.h"
#include "api/validate/derivative.h"

/* The state of a jvp or vjp request: these steps use it as job->more. */
struct api_asked {
	enum api_request_kind kind;
	struct api_derivative derivative;
};
extern const struct api_steps api_derive;

/* The results to differentiate, and the variables. */
struct api_derivation {
	struct fric_derivation core;
	struct api_variables variables; /* all variables, in the order of the contract */
};

/* Fills in the core's description of a derivation, except for the variables. */
bool api_derivation_of(struct api_job *job, struct fric_derivation *core);

/* Potential and gradient, or their tangents or cotangents. */
struct api_sums {
	double potential;
	double *gradient; /* [n_dofs]; NULL: zeros, for cotangents only */
};

/**
 * Begins the derivation of a job with prepared contacts: job->lagged, job->contacts and job->asked are set by
 * api_job_prepare, for a set after api_job_open_set. Borrows from the job.
 * @param derivation  its variables are listed unless they are listed already
 * @return false with job->fault, as all functions here
 */
bool api_derivation_begin(struct api_job *job, struct api_derivation *derivation);

/**
 * Computes derivatives along tangents. No variable may appear twice.
 * @param answers, tangents  gradients set to [n_dofs] in the arena
 */
bool api_derive_jvp(struct api_job *job, const struct api_derivation *derivation, const struct api_variations *along,
                    struct api_sums *answers, struct api_sums *tangents);

/**
 * Computes the derivatives of <cotangents, answers>.
 * @param by       its values are set to [n] in the arena
 * @param answers  its gradient is set to [n_dofs] in the arena
 * A sum that overflows is a fault at "/wrt/k", where k is the number of the variable.
 */
bool api_derive_vjp(struct api_job *job, const struct api_derivation *derivation, const struct api_sums *cotangents,
                    struct api_variations *by, struct api_sums *answers);

/* Differentiates the potential's derivatives along tangents, which gives a product with its second derivatives. */
bool api_derive_second(struct api_job *job, const struct api_derivation *derivation, const struct api_variations *along,
                       struct api_variations *by);

/* Whether any result depends on the variable: it has numbers, and contacts that use them. */
bool api_is_derivable(const struct api_derivation *derivation, const struct api_variable *variable);
/* Compares the derivatives with respect to a variable with differences along a pseudorandom direction
 * (fric_compare_derivative). */
bool api_derive_compare(struct api_job *job, const struct api_derivation *derivation,
                        const struct api_variable *variable, struct fric_derivative_agreement *agreement);

#endif

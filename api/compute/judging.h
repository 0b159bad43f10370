/**
 * Claims while they are judged: the claimed results, ours and the results of hypotheses in one form, and differences.
 */
#ifndef API_JUDGING_H
#define API_JUDGING_H

#include "api/base/account.h"
#include "api/compute/claims.h"

/* Results of the job's terms, with its triangle, or those that a mistake would give. What is not claimed is not
 * computed. */
struct api_results {
	double potential;
	double *gradient; /* [n_dofs] */
	double *hessian;  /* [n_entries] in the pattern */
};

struct api_judging {
	struct api_job *job;
	const struct api_claims *claims;
	double tolerance;
	size_t n_dofs, n_entries;
	struct fric_pattern *pattern; /* all entries, whatever the triangle; NULL: no Hessian is claimed */
	const int64_t *indptr;
	const int32_t *indices;
	/* What contacts can contribute: to the potential, to DOFs of the gradient, and to rows of the Hessian, whose entries
	 * have the geometric mean of row and column. */
	double size;
	double *force, *stiffness; /* [n_dofs] */
	struct api_results claimed, ours, other;
	/* A claimed entry where ours has none, and which is not 0. */
	bool is_outside;
	size_t outside[2];
	double outside_value;
	double *inner; /* [n_inner] */
	size_t n_inner;
	struct api_judgement *out;
};

/* A difference and its place. */
struct api_gap {
	double difference, scale, relative;
	size_t places[2];
};

/* Whether the loop's position calls for a look at the stop flag, and that is set. */
static inline bool api_judging_stops(size_t i)
{
	return i % API_SPAN == 0 && api_account_is_stopped();
}

bool api_claims_quantity(const struct api_judging *j, int quantity);
/* Whether a DOF's gradient is claimed. */
bool api_claims_dof(const struct api_judging *j, size_t dof);
/* The largest difference between a claimed quantity and `factor` times the same quantity of other results. */
struct api_gap api_judging_gap(const struct api_judging *j, int quantity, const struct api_results *results,
                               double factor);
/* Scale of entry e of the Hessian in a row. */
double api_judging_scale(const struct api_judging *j, size_t row, size_t e);

/* Evaluates contacts at a query into `to`; its Hessian with a projection.
 * @return FRIC_OK, or the core's code with job->error */
enum fric_code api_judging_evaluate(struct api_judging *j, const struct fric_contacts *contacts,
                                    const struct fric_query *query, int projection, struct api_results *to);
/* The Hessian from inner matrices in j->inner, in the job's triangle. */
enum fric_code api_judging_assemble(struct api_judging *j, const struct fric_contacts *contacts, double *hessian);

/* Compares the claims of job->query. Call it after api_job_prepare and, for a set, api_job_open_set.
 * @return false with the job's fault */
bool api_claims_judge(struct api_job *job, struct api_judgement *judgement);

/* Tries all mistakes, and fills in the explanations of quantities that do not agree. @return false with a fault */
bool api_explain(struct api_judging *j);

#endif

/**
 * Comparison of somebody else's results with ours (docs/check.md): whether they agree, where they differ most, and what
 * mistake explains it.
 */
#ifndef API_CLAIMS_H
#define API_CLAIMS_H

#include "api/compute/job.h"

enum api_mistake { API_MISTAKES(API_PLACE) API_N_MISTAKES };

enum { API_MISTAKE_DETAIL = 192 };

/* A mistake that explains a quantity. */
struct api_explanation {
	enum api_mistake mistake;
	double factor; /* 0: none */
	char detail[API_MISTAKE_DETAIL];
};

/* The comparison of one quantity. The numbers describe the entry that differs most, relative to its scale. */
struct api_verdict {
	bool claimed, agrees;
	double difference, scale, relative;
	int n_places; /* DOFs of that entry: 1 for a gradient, 2 for a Hessian, 0 for a potential */
	size_t places[2];
	int64_t worst; /* the contact that explains the difference best; < 0: none */
	enum fric_type group;
	int32_t members[FRIC_MAX_STENCIL];
	bool is_explained;
	struct api_explanation explanation;
};

struct api_judgement {
	bool wanted; /* false: nothing was claimed, and the rest is not set */
	bool agrees;
	double tolerance;
	struct api_verdict of[FRIC_N_QUANTITIES];
	int worst; /* the quantity that differs most */
	bool mistakes[API_N_MISTAKES];
};

/* Adds "claims" to the answer, if anything was claimed. @return false with the job's fault */
bool api_claims_render(struct api_job *job, const struct api_judgement *judgement);

#endif

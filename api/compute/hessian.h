/**
 * The output hessian in all formats, and where its entries are.
 */
#ifndef API_HESSIAN_H
#define API_HESSIAN_H

#include "api/compute/matrix.h"

/* @return false with job->fault */
bool api_evaluate_hessian(struct api_job *job);
/* The same without numbers, by job->question.triangle. @param format  triplets, csr or bsr */
bool api_render_hessian_places(struct api_job *job, const char *format, json_t *object);

#endif

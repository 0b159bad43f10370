/**
 * Notes on a request that passed the checks: coefficients, speeds and anchors that are probably mistakes
 * (docs/check.md). There is one note per code and place.
 */
#ifndef API_NOTES_H
#define API_NOTES_H

#include "api/base/fault.h"
#include "api/codec/document.h"
#include "api/contract/fields.h"
#include "core/fric.h"

enum api_note { API_NOTES(API_PLACE) API_N_NOTES };

/* Pointers and sentences are stored as errors in `texts`. */
struct api_notes {
	enum api_note codes[API_MAX_ERRORS];
	struct api_fault texts;
};

struct api_job;

/**
 * @param notes     overwritten
 * @param document  the document that pointers refer to
 * @param batch     read from the document; job->contacts were prepared from it
 * @return false with the job's fault
 */
bool api_notes_take(struct api_job *job, const struct api_document *document, const struct fric_batch *batch,
                    struct api_notes *notes);
/* Adds "notes" to the answer. */
void api_notes_render(struct api_job *job, const struct api_notes *notes);

#endif

/**
 * The lifting pass: text -> skeleton + arrays of doubles. The skeleton is the text with a mark (the array's number,
 * with blanks around it) in place of each number and each array of numbers; everything else is copied verbatim, and
 * jansson judges it.
 */
#ifndef API_LIFT_H
#define API_LIFT_H

#include "api/base/buffer.h"
#include "api/codec/lift_array.h"

/* The position of a mark, and the text that it replaces. */
struct api_mark {
	size_t skeleton_begin, skeleton_end;
	size_t text_begin, text_end;
	size_t first_value; /* index into values, because a pointer would become invalid when they grow */
};

struct api_lift {
	struct api_values values; /* text, fault and pool set by the caller */
	const char *copied;       /* end of what has been copied to the skeleton */
	struct api_buffer skeleton;
	struct api_array *arrays; /* data is set at the end of the pass */
	struct api_mark *marks;   /* [n_arrays] */
	size_t n_arrays, arrays_capacity, marks_capacity;
	size_t n_outside; /* values outside lifted arrays */
	size_t depth;     /* open brackets outside lifted arrays */
};

/**
 * Runs the pass.
 * @param lift  set begin, end and fault of values.text, optionally values.pool, and all else to zero; to be freed with
 *              api_lift_free in any case
 * @return false with *fault filled in except for line and column; the skeleton then ends before the fault
 */
bool api_lift_text(struct api_lift *lift);

/* The offset in the text that corresponds to an offset in the skeleton. */
size_t api_lift_text_offset(const struct api_lift *lift, size_t skeleton_offset);

void api_lift_free(struct api_lift *lift);

#endif

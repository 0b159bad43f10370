/**
 * The lifting pass, behind document.h: text -> skeleton + arrays of doubles. The skeleton is the text with a mark (the
 * array's number, blanks around it) in the place of each number and each array of numbers; all else is copied verbatim,
 * for jansson to judge.
 */
#ifndef API_LIFT_H
#define API_LIFT_H

#include "api/base/buffer.h"
#include "api/codec/document.h"

/* Where a mark stands and what it stands for. */
struct api_mark {
	size_t skeleton_begin, skeleton_end;
	size_t text_begin, text_end;
	size_t first_value;   /* index into values; a pointer would not survive growth */
};

struct api_lift {
	const char *text, *end;    /* borrowed */
	const char *copied;        /* how far the skeleton is written */
	const char *look;          /* from here on it is time to ask whether the request is still wanted */
	const char *reach;         /* no further without having asked: no token that begins before look is as long as that */
	struct api_pool *pool;     /* where skeleton and values come from, or NULL */
	struct api_buffer skeleton;
	double *values;            /* 64-byte aligned */
	size_t n_values, values_capacity;
	struct api_array *arrays;  /* data is set at the end of the pass */
	struct api_mark *marks;    /* [n_arrays] */
	size_t n_arrays, arrays_capacity, marks_capacity;
	size_t n_outside;          /* values outside lifted arrays */
	size_t depth;              /* open brackets outside lifted arrays */
	struct api_text_fault *fault;
};

/**
 * Runs the pass.
 * @param lift  text, end, fault and perhaps pool set, all else zero; to be freed with api_lift_free either way
 * @return false with *fault filled in except for line and column; the skeleton then ends before the fault
 */
bool api_lift_text(struct api_lift *lift);

enum api_lifted {
	API_LIFTED,
	API_NOT_LIFTED, /* holds other things than numbers, or is too deep: to be read element by element */
	API_FAULTY,     /* *fault is filled in */
};

/**
 * Lifts one array: its numbers are appended to values. Nothing is appended unless API_LIFTED.
 * @param begin  its '['
 * @param array  all but data
 * @param end    one past its ']'
 */
enum api_lifted api_lift_array(struct api_lift *lift, const char *begin, struct api_array *array, const char **end);

/**
 * Appends the number at p to values.
 * @return one past it, or NULL with *fault filled in
 */
const char *api_lift_number(struct api_lift *lift, const char *p, bool *integer);

/* The offset in the text of what stands at an offset in the skeleton. */
size_t api_lift_text_offset(const struct api_lift *lift, size_t skeleton_offset);

/* Fills in *fault except for line and column; at may be NULL if there is no place. A 503 stays. Returns false. */
bool api_lift_fail(struct api_lift *lift, int status, const char *at, const char *detail);

/* Refuses a text for a ceiling, the format's only argument. Returns false. */
bool api_lift_refuse(struct api_lift *lift, const char *at, const char *format, int limit);

enum { API_LOOK_BYTES = 64 << 10 }; /* of a text, between two looks at whether it is still wanted */

/* Asks, at p, and moves look and reach on. @return false with *fault filled in if it is no longer wanted */
bool api_lift_look(struct api_lift *lift, const char *p);

void api_lift_free(struct api_lift *lift);

/* JSON's four blanks only. */
static inline bool api_is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline const char *api_skip_blanks(const char *p, const char *end)
{
	while (p < end && api_is_blank(*p))
		p++;
	return p;
}

/* '-' and the digits, without a branch between them: signs come as they like. */
static inline bool api_starts_number(char c)
{
	const unsigned place = (unsigned)(unsigned char)c - '-';
	return place < 13 && (0x1FF9u >> place & 1);
}

#endif

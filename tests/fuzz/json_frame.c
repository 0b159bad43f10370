#include "tests/fuzz/json_frame.h"

#include "tests/fuzz/fuzz.h"

enum { STEP = 64, ALIGNMENT = 8 };

static void append(struct api_buffer *buffer, const char *text)
{
	FUZZ_CHECK(api_buffer_append(buffer, text, strlen(text)), "out of memory");
}

static void append_both(struct fuzz_json_frame *d, const char *text)
{
	append(&d->json, text);
	append(&d->head, text);
}

void fuzz_json_frame_start(struct fuzz_json_frame *d)
{
	*d = (struct fuzz_json_frame){0};
	d->json.limit = d->head.limit = d->tail.limit = SIZE_MAX / 4;
	append_both(d, "{");
}

static void put_key(struct fuzz_json_frame *d, const char *key)
{
	append_both(d, d->comma ? ",\"" : "\"");
	append_both(d, key);
	append_both(d, "\":");
	d->comma = true;
}

void fuzz_open(struct fuzz_json_frame *d, const char *key)
{
	put_key(d, key);
	append_both(d, "{");
	d->comma = false;
}

void fuzz_close(struct fuzz_json_frame *d)
{
	append_both(d, "}");
	d->comma = true;
}

void fuzz_put(struct fuzz_json_frame *d, const char *key, const char *text)
{
	put_key(d, key);
	append_both(d, text);
}

/* ---- arrays ---- */

/* Writes the values below one element of a level. @return the values that follow */
static const double *put_text(struct api_buffer *out, bool integral, int rank, const size_t *shape,
                              const double *values)
{
	char number[32];
	if (rank == 0) {
		snprintf(number, sizeof(number), integral ? "%.0f" : "%.17g", *values);
		append(out, number);
		return values + 1;
	}
	append(out, "[");
	for (size_t i = 0; i < *shape; i++) {
		append(out, i ? "," : "");
		values = put_text(out, integral, rank - 1, shape + 1, values);
	}
	append(out, "]");
	return values;
}

static void put_bytes(struct api_buffer *out, enum api_dtype dtype, double value)
{
	const float single = dtype == API_F32 ? (float)value : 0;
	const int32_t i32 = dtype == API_I32 ? (int32_t)value : 0;
	const uint32_t u32 = dtype == API_U32 ? (uint32_t)value : 0;
	const int64_t i64 = dtype == API_I64 ? (int64_t)value : 0;
	const void *const bytes[] = {
		[API_F64] = &value, [API_F32] = &single, [API_I32] = &i32, [API_U32] = &u32, [API_I64] = &i64};
	FUZZ_CHECK(api_buffer_append(out, bytes[dtype], api_dtype_bytes(dtype)), "out of memory");
}

static void put_reference(struct fuzz_json_frame *d, enum api_dtype dtype, int rank, const size_t *shape,
                          const double *values)
{
	static const char zeros[ALIGNMENT];
	char text[64];
	size_t n = 1;
	api_buffer_append(&d->tail, zeros, (ALIGNMENT - d->tail.bytes % ALIGNMENT) % ALIGNMENT);
	snprintf(text, sizeof(text), "{\"dtype\":\"%s\",\"offset\":%zu,\"shape\":[", api_dtype_name(dtype), d->tail.bytes);
	append(&d->head, text);
	for (int i = 0; i < rank; i++) {
		snprintf(text, sizeof(text), "%s%zu", i ? "," : "", shape[i]);
		append(&d->head, text);
		n *= shape[i];
	}
	append(&d->head, "]}");
	for (size_t i = 0; i < n; i++)
		put_bytes(&d->tail, dtype, values[i]);
}

void fuzz_put_array(struct fuzz_json_frame *d, const char *key, bool binary, enum api_dtype dtype, bool integral,
                    int rank, const size_t *shape, const double *values)
{
	put_key(d, key);
	put_text(&d->json, integral, rank, shape, values);
	if (binary)
		put_reference(d, dtype, rank, shape, values);
	else
		put_text(&d->head, integral, rank, shape, values);
}

char *fuzz_frame(const struct fuzz_json_frame *d, size_t *bytes)
{
	const size_t head = (8 + d->head.bytes + STEP - 1) / STEP * STEP;
	const uint64_t length = head - 8;
	char *frame = malloc(head + d->tail.bytes);
	FUZZ_CHECK(frame, "out of memory");
	memset(frame, ' ', head);
	memcpy(frame, &length, 8);
	memcpy(frame + 8, d->head.data, d->head.bytes);
	if (d->tail.bytes)
		memcpy(frame + head, d->tail.data, d->tail.bytes);
	*bytes = head + d->tail.bytes;
	return frame;
}

void fuzz_json_frame_free(struct fuzz_json_frame *d)
{
	api_buffer_free(&d->json);
	api_buffer_free(&d->head);
	api_buffer_free(&d->tail);
}

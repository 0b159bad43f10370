/* A client of frictiond in C: documents as jansson values, long arrays as frames. Copy frictiond.h and frictiond.c into
 * your program; it then needs -lcurl -ljansson. */
#ifndef FRICTIOND_H
#define FRICTIOND_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What went wrong. status: that of HTTP; 0: no answer came, or this program is at fault (detail tells).
 * pointer: JSON Pointer to the culprit in the request, empty where there is none. Texts that are too long are cut. */
struct frictiond_error {
	long status;
	char detail[512], pointer[256], request_id[136];
};

/* A service, with a connection that is kept. For one thread at a time; call curl_global_init() before threads. */
struct frictiond;

/* url such as "http://127.0.0.1:8080"; token NULL where the service has none. NULL: no memory. */
struct frictiond *frictiond_open(const char *url, const char *token);
void frictiond_close(struct frictiond *service);

/* How often a request is repeated when the service is busy (429, 502, 503, 504) or the connection fails (5), and
 * seconds until a try is given up (300). */
void frictiond_set(struct frictiond *service, int retries, long timeout);

/* These return the answer, to be given to json_decref, or NULL with the reason in *error.
 * batch, parameters: documents of docs/api.md, borrowed. path: "/v1/info", "/v1/functions". */
json_t *frictiond_evaluate(struct frictiond *service, const json_t *batch, struct frictiond_error *error);
json_t *frictiond_check(struct frictiond *service, const json_t *batch, struct frictiond_error *error);
json_t *frictiond_function(struct frictiond *service, const char *name, const json_t *parameters,
			   struct frictiond_error *error);
json_t *frictiond_get(struct frictiond *service, const char *path, struct frictiond_error *error);

/* Arrays in binary. A frame being written: start with {0}, end with frictiond_frame_free. */
struct frictiond_frame {
	unsigned char *tail;
	size_t n_bytes, capacity;
};

/* Copies rows x columns numbers (columns 0: a list of rows numbers) into the tail. Returns a new value to stand in
 * the document in the place of the array, NULL: no memory. */
json_t *frictiond_frame_f64(struct frictiond_frame *frame, const double *numbers, size_t rows, size_t columns);
json_t *frictiond_frame_i32(struct frictiond_frame *frame, const int32_t *numbers, size_t rows, size_t columns);
void frictiond_frame_free(struct frictiond_frame *frame);

/* An answer that came as a frame: long arrays of its document lie in body. */
struct frictiond_answer {
	json_t *document;
	char *body;
	size_t n_bytes;
};

/* document: a batch with references into frame; borrowed. Returns 0, and an answer to be freed, or -1 and *error. */
int frictiond_evaluate_frame(struct frictiond *service, const json_t *document, const struct frictiond_frame *frame,
			     struct frictiond_answer *answer, struct frictiond_error *error);
void frictiond_answer_free(struct frictiond_answer *answer);

/* Numbers in an array of an answer, nested or not, in the text or in the tail; 0 for anything else. */
size_t frictiond_count(const json_t *array);

/* Copies them, row by row; answer: NULL for an array of a JSON answer. Returns 0, or -1 if there are not n of them
 * or if they are of the other kind (f64: reals; i32: indices, status). */
int frictiond_read_f64(const struct frictiond_answer *answer, const json_t *array, double *numbers, size_t n);
int frictiond_read_i32(const struct frictiond_answer *answer, const json_t *array, int32_t *numbers, size_t n);

#ifdef __cplusplus
}
#endif
#endif

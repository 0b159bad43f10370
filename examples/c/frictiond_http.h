/* SPDX-License-Identifier: MIT */
/* A client of frictiond in C: documents as jansson values, long arrays as frames. Copy frictiond_http.h and
 * frictiond_http.c into your program; it then needs -lcurl -ljansson. */
#ifndef FRICTIOND_HTTP_H
#define FRICTIOND_HTTP_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* The version of frictiond that this file comes with. */
#define FRICTIOND_HTTP_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* An error. status: the HTTP status, or 0 if no answer came or the client itself failed (see detail).
 * pointer: JSON Pointer to the culprit in the request, or empty. code: for programs ("unknown_set"), or empty. Texts
 * that are too long are truncated. */
struct frictiond_http_error {
	long status;
	char detail[512], pointer[256], request_id[136], code[64];
};

/* A service, with a connection that is kept open. For one thread at a time; call curl_global_init() before starting
 * threads. */
struct frictiond_http;

/* url such as "http://127.0.0.1:8080", or "http+unix:///run/frictiond/socket" for a Unix-domain socket; token NULL if
 * the service has none. NULL: out of memory. */
struct frictiond_http *frictiond_http_open(const char *url, const char *token);
void frictiond_http_close(struct frictiond_http *service);

/* retries: number of times that a request is repeated if the service is busy (429, 502, 503, 504) or the connection
 * fails; default 5. timeout: seconds allowed for each try; default 300. */
void frictiond_http_set(struct frictiond_http *service, int retries, long timeout);

/* These return the answer, which the caller releases with json_decref, or NULL with the reason in *error.
 * batch, parameters: documents of docs/api.md, borrowed. path: "/v1/info", "/v1/functions". */
json_t *frictiond_http_evaluate(struct frictiond_http *service, const json_t *batch,
                                struct frictiond_http_error *error);
json_t *frictiond_http_check(struct frictiond_http *service, const json_t *batch, struct frictiond_http_error *error);
json_t *frictiond_http_function(struct frictiond_http *service, const char *name, const json_t *parameters,
                                struct frictiond_http_error *error);
json_t *frictiond_http_get(struct frictiond_http *service, const char *path, struct frictiond_http_error *error);

/* Derivatives (docs/derivatives.md). batch: without outputs and their options, but with "tangents" for a jvp,
 * {"/velocities": [..], ..}, or "cotangents", {"potential": 1, "gradient": [..]}, and "wrt", ["/positions", ..], for a
 * vjp. The answer's "tangents" has the members potential and gradient, its "cotangents" one for each pointer of wrt:
 * json_object_get(json_object_get(answer, "cotangents"), "/positions"). */
json_t *frictiond_http_jvp(struct frictiond_http *service, const json_t *batch, struct frictiond_http_error *error);
json_t *frictiond_http_vjp(struct frictiond_http *service, const json_t *batch, struct frictiond_http_error *error);

/* Arrays in binary. A frame to be written: initialize it with {0}, release it with frictiond_http_frame_free. */
struct frictiond_http_frame {
	unsigned char *tail;
	size_t n_bytes, capacity;
};

/* Copies rows x columns numbers (columns 0: a list of rows numbers) into the tail. Returns a new value that takes the
 * place of the array in the document; NULL: out of memory. */
json_t *frictiond_http_frame_f64(struct frictiond_http_frame *frame, const double *numbers, size_t rows,
                                 size_t columns);
json_t *frictiond_http_frame_i32(struct frictiond_http_frame *frame, const int32_t *numbers, size_t rows,
                                 size_t columns);
void frictiond_http_frame_free(struct frictiond_http_frame *frame);

/* An answer that came as a frame: the long arrays of its document are in body. */
struct frictiond_http_answer {
	json_t *document;
	char *body;
	size_t n_bytes;
};

/* document: a batch with references into frame; borrowed. Returns 0 and an answer that the caller frees, or -1 and
 * *error. */
int frictiond_http_evaluate_frame(struct frictiond_http *service, const json_t *document,
                                  const struct frictiond_http_frame *frame, struct frictiond_http_answer *answer,
                                  struct frictiond_http_error *error);
int frictiond_http_jvp_frame(struct frictiond_http *service, const json_t *document,
                             const struct frictiond_http_frame *frame, struct frictiond_http_answer *answer,
                             struct frictiond_http_error *error);
int frictiond_http_vjp_frame(struct frictiond_http *service, const json_t *document,
                             const struct frictiond_http_frame *frame, struct frictiond_http_answer *answer,
                             struct frictiond_http_error *error);
void frictiond_http_answer_free(struct frictiond_http_answer *answer);

/* Collision sets: contacts that the service keeps prepared for many evaluations. The service may forget a set, or be
 * replaced by one that does not have it. The client then PUTs it again, with all patches. Every request states the
 * version of the set, so no response is about contacts that somebody else has put under the name. A set uses the
 * connection of its service; close the set first. */
struct frictiond_http_set;

/* Puts a set. document: a batch without velocities, outputs and their options, with references into frame; both are
 * copied. frame: NULL if there are no references. name: NULL for a random one. NULL: see *error. */
struct frictiond_http_set *frictiond_http_set_open(struct frictiond_http *service, const char *name,
                                                   const json_t *document, const struct frictiond_http_frame *frame,
                                                   struct frictiond_http_error *error);

/* Deletes the set; if that fails, the service forgets it later. */
void frictiond_http_set_close(struct frictiond_http_set *set);
const char *frictiond_http_set_name(const struct frictiond_http_set *set);

/* The answer to a query: velocities, body_velocities, outputs ... (frame: NULL if it has no references), as from
 * frictiond_http_evaluate_frame. Returns 0, or -1 and *error. */
int frictiond_http_set_evaluate(struct frictiond_http_set *set, const json_t *query,
                                const struct frictiond_http_frame *frame, struct frictiond_http_answer *answer,
                                struct frictiond_http_error *error);
int frictiond_http_set_check(struct frictiond_http_set *set, const json_t *query,
                             const struct frictiond_http_frame *frame, struct frictiond_http_answer *answer,
                             struct frictiond_http_error *error);

/* Derivatives with respect to fields of the set or of the query. The query has tangents, or cotangents and wrt, as a
 * batch does. */
int frictiond_http_set_jvp(struct frictiond_http_set *set, const json_t *query,
                           const struct frictiond_http_frame *frame, struct frictiond_http_answer *answer,
                           struct frictiond_http_error *error);
int frictiond_http_set_vjp(struct frictiond_http_set *set, const json_t *query,
                           const struct frictiond_http_frame *frame, struct frictiond_http_answer *answer,
                           struct frictiond_http_error *error);

/* The sparsity of the Hessian. format: csr, bsr, triplets; triangle: full, upper, lower. Returns 0, or -1 and
 * *error. */
int frictiond_http_set_pattern(struct frictiond_http_set *set, const char *format, const char *triangle,
                               struct frictiond_http_answer *answer, struct frictiond_http_error *error);

/* Changes the members of the set's document that are in fields; null removes one (JSON Merge Patch). frame: as above.
 * If it is refused, the set does not change. Returns 0, or -1 and *error. */
int frictiond_http_set_patch(struct frictiond_http_set *set, const json_t *fields,
                             const struct frictiond_http_frame *frame, struct frictiond_http_error *error);

/* Patches the anchors with those of an answer (outputs: collisions, collision_outputs: anchor), for the next step.
 * ratio: this step's length divided by the next one's, if velocities are velocities, otherwise 1. The next step must
 * have the same contacts; otherwise match anchors yourself. Returns 0, or -1 and *error. */
int frictiond_http_set_carry(struct frictiond_http_set *set, const struct frictiond_http_answer *answer, double ratio,
                             struct frictiond_http_error *error);

/* Number of numbers in an array of an answer, nested or not, in the text or in the tail; 0 if it is not an array. */
size_t frictiond_http_count(const json_t *array);

/* Copies them, row by row; answer: NULL for an array of a JSON answer. Returns 0, or -1 if there are not n of them
 * or they are of the other kind (f64: reals; i32: indices, status). */
int frictiond_http_read_f64(const struct frictiond_http_answer *answer, const json_t *array, double *numbers, size_t n);
int frictiond_http_read_i32(const struct frictiond_http_answer *answer, const json_t *array, int32_t *numbers,
                            size_t n);

#ifdef __cplusplus
}
#endif
#endif

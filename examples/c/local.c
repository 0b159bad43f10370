/* SPDX-License-Identifier: MIT */
/* The service without a server: puts the contacts of 1000 masses on a floor, and asks for their friction step by step.
 *
 * cc examples/c/local.c $(pkg-config --cflags --libs frictiond) -o build/local && build/local
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <frictiond.h>

enum { N = 1000, HEAD = 512 };

static const char lagged[] =
	"{\"dim\": 2, \"friction\": {\"eps_v\": 1e-3, \"mu_s\": 0.5, \"mu_k\": 0.3}, \"n_vertices\": 1000, \"collisions\":"
	" {\"plane_vertex\": {\"vertices\": {\"dtype\": \"i32\", \"shape\": [1000], \"offset\": 0},"
	" \"plane_normal\": [0, 1], \"normal_force\": 9.81}}}";

static const char query[] =
	"{\"velocities\": {\"dtype\": \"f64\", \"shape\": [1000, 2], \"offset\": 0}, \"outputs\": [\"gradient\"]}";

/* The beginning of a frame: the length of the document, and the document, padded to a multiple of 64 bytes. */
static struct frictiond_piece head_of(const char *document, char head[HEAD])
{
	const size_t bytes = (8 + strlen(document) + 63) / 64 * 64;
	const uint64_t length = bytes - 8;
	memset(head, ' ', bytes);
	memcpy(head, &length, 8);
	memcpy(head + 8, document, strlen(document));
	return (struct frictiond_piece){head, bytes};
}

/* Sends a document and the array that it refers to, which stays where it is. */
static struct frictiond_answer *ask(struct frictiond *service, const char *method, const char *target,
                                    const char *document, const void *array, size_t bytes)
{
	char head[HEAD];
	const struct frictiond_piece pieces[] = {head_of(document, head), {array, bytes}};
	const struct frictiond_request request = {.size = sizeof request,
	                                          .method = method,
	                                          .target = target,
	                                          .content_type = "application/vnd.frictiond.frame",
	                                          .pieces = pieces,
	                                          .n_pieces = 2};
	struct frictiond_answer *answer;
	const enum frictiond_code code = frictiond_call(service, &request, &answer);
	if (code == FRICTIOND_OK && answer->status < 300)
		return answer;
	fprintf(stderr, "%s\n", code ? frictiond_reason(code) : (const char *)answer->pieces[0].bytes);
	exit(1);
}

/* The only array of an answer: it begins behind the document, in the same piece or in the next one. */
static const double *array_of(const struct frictiond_answer *answer)
{
	const char *head = answer->pieces[0].bytes;
	uint64_t length;
	memcpy(&length, head, 8);
	return (const double *)(const void *)(8 + length < answer->pieces[0].n ? head + 8 + length
	                                                                       : answer->pieces[1].bytes);
}

int main(void)
{
	static int32_t vertices[N];
	static double velocities[N][2]; /* m/s */
	const double mass = 1, step = 1e-3;
	struct frictiond *service;
	if (frictiond_create(NULL, &service) != FRICTIOND_OK)
		return 1;
	for (int i = 0; i < N; i++) {
		vertices[i] = i;
		velocities[i][0] = 0.02;
	}
	frictiond_answer_free(ask(service, "PUT", "/v1/sets/floor", lagged, vertices, sizeof vertices));
	for (int t = 1; t <= 5; t++) {
		struct frictiond_answer *answer =
			ask(service, "POST", "/v1/sets/floor/evaluate", query, velocities, sizeof velocities);
		const double *gradient = array_of(answer);
		for (int i = 0; i < 2 * N; i++)
			velocities[i / 2][i % 2] -= step / mass * gradient[i];
		printf("%d ms: %.5f m/s, %d bytes copied\n", t, velocities[N - 1][0], (int)answer->copied_bytes);
		frictiond_answer_free(answer);
	}
	frictiond_destroy(service);
	return 0;
}

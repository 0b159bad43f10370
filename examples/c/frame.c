/* SPDX-License-Identifier: MIT */
/* A thousand tiles with a pin each, at growing speeds, posted as a frame: doubles are sent from memory and received
 * into memory without ever becoming text.
 *
 * cc examples/c/frame.c examples/c/frictiond_http.c $(pkg-config --cflags --libs libcurl jansson) -o build/frame &&
 *     build/frame [URL]
 *
 * URL of the service, default http://127.0.0.1:8080. Debian: libcurl4-gnutls-dev (or -openssl-dev) libjansson-dev */
#include "frictiond_http.h"
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

static double positions[4 * N][3], velocities[4 * N][3], normal_force[3 * N], gradient[12 * N];
static int32_t corners[3 * N], pins[N][4]; /* pin, then the corners of its tile */

static void make_scene(void)
{
	static const double at[4][3] = {{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}, {0.025, 0.05, 0.001}};
	for (int i = 0; i < N; i++) {
		for (int k = 0; k < 4; k++) {
			positions[4 * i + k][0] = at[k][0] + 0.2 * i;
			positions[4 * i + k][1] = at[k][1];
			positions[4 * i + k][2] = at[k][2];
			velocities[4 * i + k][0] = k == 3 ? 0.01 : 1e-5 * i;
		}
		for (int k = 0; k < 3; k++) {
			corners[3 * i + k] = 4 * i + k;
			normal_force[3 * i + k] = 2 + k;
			pins[i][k + 1] = 4 * i + k;
		}
		pins[i][0] = 4 * i + 3;
	}
}

static json_t *make_batch(struct frictiond_http_frame *frame)
{
	json_t *friction = json_pack("{s:f, s:f, s:f}", "eps_v", 1e-3, "mu_s", 0.5, "mu_k", 0.3);
	json_t *floor = json_pack("{s:o, s:[f,f,f], s:o}", "vertices", frictiond_http_frame_i32(frame, corners, 3 * N, 0),
	                          "plane_normal", 0., 0., 1., "normal_force",
	                          frictiond_http_frame_f64(frame, normal_force, 3 * N, 0));
	json_t *pin = json_pack("{s:o, s:f}", "vertices", frictiond_http_frame_i32(frame, *pins, N, 4), "normal_force", 2.);
	return json_pack("{s:i, s:o, s:o, s:o, s:{s:o, s:o}, s:{s:s, s:s}}", "dim", 3, "positions",
	                 frictiond_http_frame_f64(frame, *positions, 4 * N, 3), "velocities",
	                 frictiond_http_frame_f64(frame, *velocities, 4 * N, 3), "friction", friction, "collisions",
	                 "plane_vertex", floor, "face_vertex", pin, "hessian", "format", "csr", "projection", "clamp");
}

/* Memory for all numbers of the array, at least for one. */
static void *room(const json_t *array, size_t size)
{
	return calloc(frictiond_http_count(array) + 1, size);
}

static int print(const struct frictiond_http_answer *answer)
{
	const json_t *hessian = json_object_get(answer->document, "hessian"), *data = json_object_get(hessian, "data");
	const json_t *indices = json_object_get(hessian, "indices");
	const size_t n = frictiond_http_count(data);
	double *values = room(data, sizeof *values), force[3] = {0, 0, 0}, trace = 0;
	int32_t *columns = room(indices, sizeof *columns), indptr[12 * N + 1];
	const int bad = !values || !columns ||
	                frictiond_http_read_f64(answer, json_object_get(answer->document, "gradient"), gradient, 12 * N) ||
	                frictiond_http_read_i32(answer, json_object_get(hessian, "indptr"), indptr, 12 * N + 1) ||
	                frictiond_http_read_i32(answer, indices, columns, n) ||
	                frictiond_http_read_f64(answer, data, values, n);
	for (int i = 0; !bad && i < 12 * N; i++) {
		force[i % 3] -= gradient[i];
		for (int32_t k = indptr[i]; k < indptr[i + 1]; k++)
			trace += columns[k] == i ? values[k] : 0;
	}
	free(values);
	free(columns);
	if (bad)
		return 1;
	printf("%d contacts, potential %.6f N m/s\n",
	       (int)json_integer_value(json_object_get(answer->document, "n_collisions")),
	       json_number_value(json_object_get(answer->document, "potential")));
	printf("friction on all vertices %.5f %.5f %.5f N\n", force[0], force[1], force[2] + 0);
	printf("Hessian %d x %d, %zu entries, trace %.4f N s/m\n", 12 * N, 12 * N, n, trace);
	return 0;
}

int main(int argc, char **argv)
{
	struct frictiond_http_error error = {.detail = "out of memory"};
	struct frictiond_http_frame frame = {0};
	struct frictiond_http_answer answer = {0};
	struct frictiond_http *service = frictiond_http_open(argc > 1 ? argv[1] : "http://127.0.0.1:8080", NULL);
	make_scene();
	json_t *batch = make_batch(&frame);
	int bad = !service || !batch || frictiond_http_evaluate_frame(service, batch, &frame, &answer, &error);
	if (bad && error.status)
		fprintf(stderr, "%ld: %s %s\n", error.status, error.detail, error.pointer);
	else if (bad)
		fprintf(stderr, "%s\n", error.detail);
	else
		bad = print(&answer);
	frictiond_http_answer_free(&answer);
	frictiond_http_frame_free(&frame);
	frictiond_http_close(service);
	json_decref(batch);
	return bad;
}

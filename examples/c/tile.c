/* SPDX-License-Identifier: MIT */
/* A tile on the floor with a pin on top: friction of the contacts, and the Hessian in csr.
 *
 * cc examples/c/tile.c examples/c/frictiond_http.c $(pkg-config --cflags --libs libcurl jansson) -o build/tile &&
 *     build/tile [URL]
 *
 * URL of the service, default http://127.0.0.1:8080. Debian: libcurl4-gnutls-dev (or -openssl-dev) libjansson-dev */
#include "frictiond_http.h"
#include <stdio.h>
#include <stdlib.h>

/* The values for f must be doubles: 0., not 0. */
static json_t *tile_batch(void)
{
	json_t *positions = json_pack("[[f,f,f],[f,f,f],[f,f,f],[f,f,f]]", /* m; three corners, a pin */
	                              0., 0., 0., 0.1, 0., 0., 0., 0.1, 0., 0.025, 0.05, 0.001);
	json_t *velocities = json_pack("[[f,f,f],[f,f,f],[f,f,f],[f,f,f]]", /* m/s */
	                               0.002, 0., 0., 0.002, 0., 0., 0.002, 0.0004, 0., 0.01, 0., 0.);
	json_t *friction = json_pack("{s:f, s:f, s:f}", "eps_v", 1e-3, "mu_s", 0.5, "mu_k", 0.3);    /* eps_v in m/s */
	json_t *pin = json_pack("{s:[[i,i,i,i]], s:f}", "vertices", 3, 0, 1, 2, "normal_force", 2.); /* N */
	json_t *floor = json_pack("{s:[i,i,i], s:[f,f,f], s:[f,f,f]}", "vertices", 0, 1, 2, "plane_normal", 0., 0., 1.,
	                          "normal_force", 3., 2.5, 4.);
	return json_pack("{s:i, s:o, s:o, s:o, s:{s:o, s:o}, s:{s:s, s:s}}", "dim", 3, "positions", positions, "velocities",
	                 velocities, "friction", friction, "collisions", "face_vertex", pin, "plane_vertex", floor,
	                 "hessian", "format", "csr", "projection", "clamp");
}

static double entry(const int32_t *indptr, const int32_t *indices, const double *data, int row, int column)
{
	for (int32_t k = indptr[row]; k < indptr[row + 1]; k++)
		if (indices[k] == column)
			return data[k];
	return 0;
}

static double larger(double size, double difference)
{
	difference = difference < 0 ? -difference : difference;
	return difference > size ? difference : size;
}

static void print_hessian(const json_t *hessian, int n_dofs)
{
	const size_t n = frictiond_http_count(json_object_get(hessian, "data"));
	int32_t *indptr = calloc((size_t)n_dofs + 1, sizeof *indptr), *indices = calloc(n + 1, sizeof *indices);
	double *data = calloc(n + 1, sizeof *data), asymmetry = 0;
	if (!indptr || !indices || !data ||
	    frictiond_http_read_i32(NULL, json_object_get(hessian, "indptr"), indptr, (size_t)n_dofs + 1) ||
	    frictiond_http_read_i32(NULL, json_object_get(hessian, "indices"), indices, n) ||
	    frictiond_http_read_f64(NULL, json_object_get(hessian, "data"), data, n)) {
		fputs("not a csr matrix, or out of memory\n", stderr);
		exit(1);
	}
	for (int i = 0; i < n_dofs; i++)
		for (int j = 0; j < i; j++)
			asymmetry = larger(asymmetry, entry(indptr, indices, data, i, j) - entry(indptr, indices, data, j, i));
	printf("Hessian %d x %d, %zu entries, asymmetry %.1e N s/m\n", n_dofs, n_dofs, n, asymmetry);
	printf("H[4, 4] = %.4f N s/m\n", entry(indptr, indices, data, 4, 4));
	free(indptr);
	free(indices);
	free(data);
}

static void print(const json_t *answer)
{
	const json_t *gradient = json_object_get(answer, "gradient");
	const int n_vertices = (int)json_integer_value(json_object_get(answer, "n_vertices"));
	printf("%d contacts, potential %.6f N m/s\n", (int)json_integer_value(json_object_get(answer, "n_collisions")),
	       json_number_value(json_object_get(answer, "potential")));
	for (int i = 0; i < n_vertices; i++) {
		printf("friction on vertex %d", i);
		for (int a = 0; a < 3; a++)
			printf(" %9.5f", 0 - json_number_value(json_array_get(gradient, (size_t)(3 * i + a))));
		puts(" N");
	}
	print_hessian(json_object_get(answer, "hessian"), 3 * n_vertices);
}

int main(int argc, char **argv)
{
	struct frictiond_http_error error = {.detail = "out of memory"};
	struct frictiond_http *service = frictiond_http_open(argc > 1 ? argv[1] : "http://127.0.0.1:8080", NULL);
	json_t *batch = tile_batch();
	json_t *answer = service && batch ? frictiond_http_evaluate(service, batch, &error) : NULL;
	if (answer)
		print(answer);
	else if (error.status)
		fprintf(stderr, "%ld: %s %s\n", error.status, error.detail, error.pointer);
	else
		fprintf(stderr, "%s\n", error.detail);
	json_decref(answer);
	json_decref(batch);
	frictiond_http_close(service);
	return answer ? 0 : 1;
}

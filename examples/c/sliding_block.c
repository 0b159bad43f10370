/* SPDX-License-Identifier: MIT */
/* One vertex sliding on the floor z = 0: potential, gradient and Hessian of its friction.
 * cc sliding_block.c $(pkg-config --cflags --libs fric) -o sliding_block && ./sliding_block
 * (if the library is installed under a PREFIX other than /usr/local, first
 * export PKG_CONFIG_PATH=PREFIX/lib/pkgconfig LD_LIBRARY_PATH=PREFIX/lib) */
#include <fric.h>
#include <stdio.h>

int main(void)
{
	const double normal[3] = {0, 0, 1}, force = 9.81, mu_s = 0.5, mu_k = 0.3;
	const double velocities[3] = {0.02, 0.01, 0}; /* m/s */
	const int32_t vertex = 0;

	struct fric_batch batch = {.dim = 3, .n_vertices = 1};
	batch.friction.eps_v = 1e-3; /* m/s: below this speed the contact sticks */
	batch.groups[FRIC_PLANE_VERTEX] = (struct fric_group){
		.n = 1,
		.vertices = &vertex,
		.plane_normal = {normal, 0},
		.normal_force = {&force, 0}, /* N */
		.mu_s = {&mu_s, 0},
		.mu_k = {&mu_k, 0},
	};

	const struct fric_context context = {.n_threads = 1};
	const struct fric_query query = {.velocities = velocities};
	struct fric_contacts *contacts;
	struct fric_error error;
	double potential, gradient[3], inner[3], values[9];
	int32_t rows[9], cols[9];
	if (fric_prepare(&context, &batch, &contacts, &error) ||
	    fric_evaluate(&context, contacts, &query, &potential, gradient, &error) ||
	    fric_hessian_inner(&context, contacts, &query, FRIC_PROJECT_CLAMP, inner, &error) ||
	    fric_hessian_triplets(&context, contacts, inner, FRIC_FULL, rows, cols, values, &error)) {
		fprintf(stderr, "error %d at contact %lld\n", (int)error.code, (long long)error.contact);
		return 1;
	}
	printf("potential %.6g\ngradient %.6g %.6g %.6g\n", potential, gradient[0], gradient[1], gradient[2]);
	for (size_t i = 0; i < fric_n_triplets(contacts, FRIC_FULL); i++)
		printf("H[%d][%d] = %.6g\n", rows[i], cols[i], values[i]);
	fric_contacts_free(contacts);
	return 0;
}

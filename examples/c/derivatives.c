/* SPDX-License-Identifier: MIT */
/* A pin slides on a triangle, pressed by a barrier. Prints how its friction changes with the position and with the law.
 * cc derivatives.c $(pkg-config --cflags --libs fric) -o derivatives && ./derivatives */
#include <fric.h>
#include <stdio.h>
#include <stdlib.h>

static const int32_t vertices[4] = {0, 1, 2, 3};
static const double velocities[12] = {0.02, 0.01}; /* m/s, velocities of the pin */
static const struct fric_context context = {.n_threads = 1};
static const struct fric_query query = {.velocities = velocities};

static void must(enum fric_code code, const struct fric_error *error)
{
	if (code == FRIC_OK)
		return;
	fprintf(stderr, "%s at contact %lld\n", fric_reason(code), (long long)error->contact);
	exit(1);
}

static struct fric_contacts *prepare(struct fric_batch *batch, const double *positions)
{
	struct fric_contacts *contacts;
	struct fric_error error;
	*batch = (struct fric_batch){.dim = 3, .n_vertices = 4, .positions = positions};
	batch->friction = (struct fric_friction){.source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.3, .eps_v = 1e-3};
	batch->barrier = (struct fric_barrier){.dhat = 1e-3, .stiffness = 1e10};
	batch->groups[FRIC_FACE_VERTEX] = (struct fric_group){.n = 1, .vertices = vertices};
	must(fric_prepare(&context, batch, &contacts, &error), &error);
	return contacts;
}

/* The x component of the pin's gradient. */
static double pull(const double *positions)
{
	struct fric_batch batch;
	struct fric_contacts *contacts = prepare(&batch, positions);
	struct fric_error error;
	double potential, gradient[12];
	must(fric_evaluate(&context, contacts, &query, &potential, gradient, &error), &error);
	fric_contacts_free(contacts);
	return gradient[0];
}

int main(void)
{
	double positions[12] = {0.25, 0.5, 5e-4, 0, 0, 0, 1, 0, 0, 0, 1, 0}; /* m: the pin, then the triangle */
	double by_position[12], by_mu_k, by_dhat, potential, gradient[12];
	const double one[12] = {1}; /* the cotangent of the gradient: selects its first number */
	struct fric_differential cotangents = {0};
	cotangents.fields[FRIC_WRT_POSITIONS] = by_position;
	cotangents.fields[FRIC_WRT_MU_K] = &by_mu_k;
	cotangents.fields[FRIC_WRT_DHAT] = &by_dhat;

	struct fric_batch batch;
	struct fric_error error;
	struct fric_contacts *contacts = prepare(&batch, positions);
	const struct fric_derivation derivation = {.batch = &batch, .contacts = contacts, .query = &query};
	must(fric_vjp(&context, &derivation, 0, one, &potential, gradient, &cotangents, &error), &error);
	fric_contacts_free(contacts);

	printf("friction on the pin %.4f N, and its derivatives with respect to\n", -gradient[0]);
	printf("%12.6g N       mu_k\n%12.6g N/m     dhat\n", -by_mu_k, -by_dhat);
	for (int vertex = 0; vertex < 4; vertex++) {
		double *z = &positions[3 * vertex + 2];
		const double here = *z, h = 1e-7;
		*z = here + h;
		const double ahead = pull(positions);
		*z = here - h;
		const double difference = (ahead - pull(positions)) / (2 * h);
		*z = here;
		printf("%12.6g N/m     the height of vertex %d; by differences %.6g\n", -by_position[3 * vertex + 2], vertex,
		       -difference);
	}
	return 0;
}

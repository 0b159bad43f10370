/* Two blocks on inclines, at 0.5 and 0.95 of the friction cone: with anchors they come to rest and stay.
 * cc rest.c $(pkg-config --cflags --libs fric) -lm -o rest && ./rest [STEPS]
 * Implicit Euler and Newton's method; the planes are turned instead of gravity, so blocks move along x. */
#include <fric.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 2, DIM = 2 };
static const double mass = 2, gravity = 9.81, mu = 0.5, eps_v = 1e-3, h = 1e-3; /* kg, m/s^2, -, m/s, s */
static const double slopes[BLOCKS] = {0.5, 0.95};                               /* tan(angle) / mu */
static const struct fric_context context = {.n_threads = 1};

struct blocks {
	double load[BLOCKS], normal_force[BLOCKS], anchor[BLOCKS * DIM]; /* N, N, m/s */
	double v[BLOCKS * DIM], x[BLOCKS];                               /* m/s, m */
};

static struct fric_contacts *prepare(const struct blocks *at)
{
	static const int32_t vertices[BLOCKS] = {0, 1};
	static const double up[DIM] = {0, 1};
	struct fric_batch batch = {.dim = DIM, .n_vertices = BLOCKS};
	struct fric_contacts *contacts;
	struct fric_error error;
	batch.friction.eps_v = eps_v;
	batch.groups[FRIC_PLANE_VERTEX] = (struct fric_group){
		.n = BLOCKS,
		.vertices = vertices,
		.plane_normal = {up, 0},
		.normal_force = {at->normal_force, 1},
		.mu_s = {&mu, 0},
		.mu_k = {&mu, 0},
		.anchor = {at->anchor, DIM},
	};
	return fric_prepare(&context, &batch, &contacts, &error) ? NULL : contacts;
}

/* One step of Newton's method for all blocks, from their speeds before; whether every force balances to rounding. */
static bool newton(const struct blocks *at, const struct fric_contacts *contacts, double *v)
{
	const struct fric_question question = {.velocities = v};
	double gradient[BLOCKS * DIM], stiffness[BLOCKS];
	struct fric_error error;
	bool balanced = true;
	fric_evaluate(&context, contacts, &question, NULL, gradient, &error);
	fric_hessian_inner(&context, contacts, &question, FRIC_PROJECT_CLAMP, stiffness, &error);
	for (int i = 0; i < BLOCKS; i++) {
		const double residual = mass / h * (v[i * DIM] - at->v[i * DIM]) + gradient[i * DIM] - at->load[i];
		if (fabs(residual) <= 1e-15 * at->load[i])
			continue;
		balanced = false;
		v[i * DIM] -= residual / (mass / h + stiffness[i]);
	}
	return balanced;
}

/* A time step; with anchors, what the contacts remember is kept for the next. */
static bool step(struct blocks *at, bool anchored)
{
	struct fric_contacts *contacts = prepare(at);
	double v[BLOCKS * DIM] = {at->v[0], 0, at->v[DIM], 0};
	const struct fric_question question = {.velocities = v};
	struct fric_error error;
	if (!contacts)
		return false;
	for (int i = 0; i < 10 && !newton(at, contacts, v); i++)
		;
	if (anchored)
		fric_contact_output(&context, contacts, &question, FRIC_PLANE_VERTEX, FRIC_OUT_ANCHOR, at->anchor, &error);
	for (int i = 0; i < BLOCKS; i++) {
		at->v[i * DIM] = v[i * DIM];
		at->x[i] += h * v[i * DIM];
	}
	fric_contacts_free(contacts);
	return true;
}

int main(int argc, char **argv)
{
	const long steps = argc > 1 ? atol(argv[1]) : 1000000;
	printf("%ld steps; moved in the last half, and all the way, in m\n", steps);
	for (int anchored = 1; anchored >= 0; anchored--) {
		struct blocks at = {.load = {0}};
		double half[BLOCKS] = {0};
		for (int i = 0; i < BLOCKS; i++) {
			at.load[i] = mass * gravity * sin(atan(mu * slopes[i]));
			at.normal_force[i] = mass * gravity * cos(atan(mu * slopes[i]));
		}
		for (long n = 0; n < steps; n++) {
			for (int i = 0; i < BLOCKS && n == steps / 2; i++)
				half[i] = at.x[i];
			if (!step(&at, anchored))
				return 1;
		}
		for (int i = 0; i < BLOCKS; i++)
			printf("%.2f of the cone, %s anchors: %.6g %.6g\n", slopes[i], anchored ? "with" : "without",
			       at.x[i] - half[i], at.x[i]);
	}
	return 0;
}

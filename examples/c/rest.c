/* SPDX-License-Identifier: MIT */
/* Blocks on inclines, by default at 0.5 and 0.95 of the friction cone: with anchors they come to rest and stay.
 * cc rest.c $(pkg-config --cflags --libs fric) -lm -o rest && ./rest [STEPS [MU_S MU_K H DEGREES...]]
 * Implicit Euler and Newton's method; the planes are turned instead of gravity, so blocks move along x. */
#include <fric.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64, DIM = 2 };
static const double mass = 2, gravity = 9.81, eps_v = 1e-3; /* kg, m/s^2, m/s */
static const struct fric_context context = {.n_threads = 1};

struct blocks {
	int n;
	double mu_s, mu_k, h;                                      /* -, -, s */
	double load[MOST], normal_force[MOST], anchor[MOST * DIM]; /* N, N, m/s */
	double v[MOST * DIM], x[MOST];                             /* m/s, m */
};

static struct fric_contacts *prepare(const struct blocks *at)
{
	int32_t vertices[MOST];
	static const double up[DIM] = {0, 1};
	struct fric_batch batch = {.dim = DIM, .n_vertices = (size_t)at->n};
	struct fric_contacts *contacts;
	struct fric_error error;
	for (int i = 0; i < at->n; i++)
		vertices[i] = i;
	batch.friction.eps_v = eps_v;
	batch.friction.law.transition = FRIC_PEAK;
	batch.groups[FRIC_PLANE_VERTEX] = (struct fric_group){
		.n = (size_t)at->n,
		.vertices = vertices,
		.plane_normal = {up, 0},
		.normal_force = {at->normal_force, 1},
		.mu_s = {&at->mu_s, 0},
		.mu_k = {&at->mu_k, 0},
		.anchor = {at->anchor, DIM},
	};
	return fric_prepare(&context, &batch, &contacts, &error) ? NULL : contacts;
}

struct state {
	double energy, terms, residual[MOST], stiffness[MOST]; /* N m/s; sum of the energy's absolute terms; N, N s/m */
	double balance;                                        /* the largest imbalance of any block */
};

/* The function that a time step minimises, (v - before)^2 mass / 2h - load v + D(v), and its derivatives. */
static bool evaluate(const struct blocks *at, const struct fric_contacts *contacts, const double *v, struct state *out)
{
	const struct fric_query query = {.velocities = v};
	double gradient[MOST * DIM];
	struct fric_error error;
	if (fric_evaluate(&context, contacts, &query, &out->energy, gradient, &error) ||
	    fric_hessian_inner(&context, contacts, &query, FRIC_PROJECT_NONE, out->stiffness, &error))
		return false;
	out->terms = fabs(out->energy);
	out->balance = 0;
	for (int i = 0; i < at->n; i++) {
		const double away = v[i * DIM] - at->v[i * DIM], push = mass / at->h * at->v[i * DIM];
		const double kinetic = mass / (2 * at->h) * away * away, work = at->load[i] * v[i * DIM];
		out->energy += kinetic - work;
		out->terms += kinetic + fabs(work);
		out->residual[i] = mass / at->h * away + gradient[i * DIM] - at->load[i];
		out->stiffness[i] = fmax(out->stiffness[i], -0.9 * mass / at->h) +
		                    mass / at->h; /* positive, so that steps go downhill */
		out->balance = fmax(out->balance, fabs(out->residual[i]) / fmax(at->normal_force[i], fabs(push)));
	}
	return true;
}

/* Moves v along Newton's direction as far as the energy decreases. If energies differ only by rounding, the imbalance
 * of the forces decides. */
static bool downhill(const struct blocks *at, const struct fric_contacts *contacts, double *v, struct state *state)
{
	double tried[MOST * DIM] = {0}, slope = 0;
	struct state next;
	for (int i = 0; i < at->n; i++)
		slope -= state->residual[i] * state->residual[i] / state->stiffness[i];
	for (double length = 1; length > 1e-12; length /= 2) {
		for (int i = 0; i < at->n; i++)
			tried[i * DIM] = v[i * DIM] - length * state->residual[i] / state->stiffness[i];
		if (!evaluate(at, contacts, tried, &next))
			return false;
		if (next.energy > state->energy + 1e-4 * length * slope &&
		    (next.energy > state->energy + 1e-14 * state->terms || next.balance >= state->balance))
			continue;
		for (int i = 0; i < at->n; i++)
			v[i * DIM] = tried[i * DIM];
		*state = next;
		return true;
	}
	return false;
}

/* Newton's method for all blocks, starting without slip: from the last velocity it might find a solution that slides
 * although there is one that sticks. @return false if the forces do not balance */
static bool newton(const struct blocks *at, const struct fric_contacts *contacts, double *v)
{
	struct state state;
	if (!evaluate(at, contacts, v, &state))
		return false;
	for (int i = 0; i < 100 && state.balance > 1e-13; i++)
		if (!downhill(at, contacts, v, &state))
			break;
	if (state.balance <= 1e-13)
		return true;
	fprintf(stderr, "no convergence: %g of the largest force is out of balance\n", state.balance);
	return false;
}

/* A time step. With anchors, the deflection of the contacts is kept for the next step. */
static bool step(struct blocks *at, bool anchored)
{
	struct fric_contacts *contacts = prepare(at);
	double v[MOST * DIM] = {0};
	const struct fric_query query = {.velocities = v};
	struct fric_error error;
	bool done = contacts && newton(at, contacts, v);
	if (done && anchored)
		done = !fric_contact_output(&context, contacts, &query, FRIC_PLANE_VERTEX, FRIC_OUT_ANCHOR, at->anchor, &error);
	for (int i = 0; i < at->n && done; i++) {
		at->v[i * DIM] = v[i * DIM];
		at->x[i] += at->h * v[i * DIM];
	}
	fric_contacts_free(contacts);
	return done;
}

static void incline(struct blocks *at, double angle)
{
	at->load[at->n] = mass * gravity * sin(angle);
	at->normal_force[at->n++] = mass * gravity * cos(angle);
}

int main(int argc, char **argv)
{
	const long steps = argc > 1 ? atol(argv[1]) : 1000000;
	printf("%ld steps; moved in the last half, and all the way, in m\n", steps);
	for (int anchored = 1; anchored >= 0; anchored--) {
		struct blocks at = {.mu_s = argc > 3 ? atof(argv[2]) : 0.5,
		                    .mu_k = argc > 3 ? atof(argv[3]) : 0.5,
		                    .h = argc > 4 ? atof(argv[4]) : 1e-3};
		double half[MOST] = {0};
		for (int i = 5; i < argc && at.n < MOST; i++)
			incline(&at, atof(argv[i]) * acos(-1) / 180);
		if (!at.n) {
			incline(&at, atan(0.5 * at.mu_s));
			incline(&at, atan(0.95 * at.mu_s));
		}
		for (long n = 0; n < steps; n++) {
			for (int i = 0; i < at.n && n == steps / 2; i++)
				half[i] = at.x[i];
			if (!step(&at, anchored))
				return 1;
		}
		for (int i = 0; i < at.n; i++)
			printf("%.2f of the cone, %s anchors: %.6g %.6g\n", at.load[i] / at.normal_force[i] / at.mu_s,
			       anchored ? "with" : "without", at.x[i] - half[i], at.x[i]);
	}
	return 0;
}

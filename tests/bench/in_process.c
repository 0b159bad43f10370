/* The reference for tests/bench/in_process.py: the same evaluations through fric.h. Contacts of vertices and faces. */
#include "core/fric.h"

struct scene {
	struct fric_context context;
	struct fric_batch batch;
	struct fric_contacts *contacts;
	struct fric_schedule *schedule;
	double mu_s, mu_k;
};

static struct scene scene;

static enum fric_code prepare(void)
{
	struct fric_error error;
	return fric_prepare(&scene.context, &scene.batch, &scene.contacts, &error);
}

/* Prepares contacts that stay, as those of a set; arrays are borrowed. */
int bench_set(int n_threads, size_t n_vertices, const double *positions, size_t n, const int32_t *stencils,
              const double *normal_force)
{
	struct fric_error error;
	scene = (struct scene){.context.n_threads = n_threads, .mu_s = 0.5, .mu_k = 0.3};
	scene.batch = (struct fric_batch){.dim = 3, .n_vertices = n_vertices, .positions = positions};
	scene.batch.friction.eps_v = 1e-3;
	scene.batch.groups[FRIC_FACE_VERTEX] = (struct fric_group){
		.n = n,
		.vertices = stencils,
		.normal_force = {normal_force, 1},
		.mu_s = {&scene.mu_s, 0},
		.mu_k = {&scene.mu_k, 0},
	};
	const enum fric_code code = prepare();
	return (int)(code ? code : fric_schedule_create(&scene.context, scene.contacts, &scene.schedule, &error));
}

static int evaluate(const struct fric_contacts *contacts, const struct fric_schedule *schedule,
                    const double *velocities, double *potential, double *gradient)
{
	struct fric_error error;
	const struct fric_query query = {.velocities = velocities, .schedule = schedule};
	return (int)fric_evaluate(&scene.context, contacts, &query, potential, gradient, &error);
}

int bench_evaluate_set(const double *velocities, double *potential, double *gradient)
{
	return evaluate(scene.contacts, scene.schedule, velocities, potential, gradient);
}

int bench_evaluate(const double *velocities, double *potential, double *gradient)
{
	struct fric_contacts *const kept = scene.contacts;
	int code = (int)prepare();
	if (code == 0) {
		code = evaluate(scene.contacts, NULL, velocities, potential, gradient);
		fric_contacts_free(scene.contacts);
	}
	scene.contacts = kept;
	return code;
}

/**
 * Batches for the tests of triplets and csr, and their inner matrices.
 */
#ifndef TESTS_ASSEMBLY_H
#define TESTS_ASSEMBLY_H

#include "tests/property/scene.h"

static const enum fric_triangle triangles[3] = {FRIC_FULL, FRIC_UPPER, FRIC_LOWER};

struct assembly {
	struct scene scene;
	struct fric_contacts *contacts;
	double *inner;
};

static inline void assembly_create(struct assembly *a, struct rng *rng, struct options options)
{
	struct fric_error error;
	scene_create(&a->scene, rng, options);
	a->contacts = scene_contacts(&serial, &a->scene);
	a->inner = calloc(fric_n_contacts(a->contacts) * 3 + 1, sizeof(double));
	assert_non_null(a->inner);
	assert_ok(fric_hessian_inner(&serial, a->contacts, scene_query(a->contacts, a->scene.velocities), FRIC_PROJECT_NONE,
	                             a->inner, &error));
}

static inline void assembly_free(struct assembly *a)
{
	free(a->inner);
	scene_contacts_free(a->contacts);
	scene_free(&a->scene);
}

struct triplets {
	size_t n;
	int32_t *rows, *cols;
	double *values;
};

/* Room for n triplets, in separate blocks so that sanitizers see overruns. */
static inline struct triplets triplets_create(size_t n)
{
	struct triplets t = {n, malloc(n * sizeof(int32_t)), malloc(n * sizeof(int32_t)), malloc(n * sizeof(double))};
	assert_true(n == 0 || (t.rows && t.cols && t.values));
	return t;
}

static inline void triplets_free(struct triplets *t)
{
	free(t->rows);
	free(t->cols);
	free(t->values);
}

#endif

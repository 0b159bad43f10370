/* SPDX-License-Identifier: MIT */
/* Runs the conformance vectors of frictiond against your implementation, the function `evaluate` of conformance.h.
 *
 *     cc check.c friction.c -ljansson -lm -o check && ./check conformance.json
 *
 * Exit codes: 0 no case differs, 1 some do, 2 none was supported or the vectors cannot be read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

enum { DIFFERS, AGREES, UNSUPPORTED };

static double number(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

/* Reads numbers, nested or flat. @return how many */
static int numbers(const json_t *value, double *out)
{
	int n = 0;
	if (!json_is_array(value)) {
		*out = json_number_value(value);
		return 1;
	}
	for (size_t i = 0; i < json_array_size(value); i++)
		n += numbers(json_array_get(value, i), out + n);
	return n;
}

bool needs(const struct problem *problem, const char *feature)
{
	for (size_t i = 0; i < json_array_size(problem->features); i++)
		if (strcmp(json_string_value(json_array_get(problem->features, i)), feature) == 0)
			return true;
	return false;
}

static void read_contact(const json_t *from, struct contact *c)
{
	const json_t *vertices = json_object_get(from, "vertices");
	*c = (struct contact){.type = json_string_value(json_object_get(from, "type")),
	                      .n = (int)json_array_size(vertices),
	                      .normal_force = number(from, "normal_force"),
	                      .weight = number(from, "weight"),
	                      .mu_s = number(from, "mu_s"),
	                      .mu_k = number(from, "mu_k"),
	                      .eps_v = number(from, "eps_v"),
	                      .viscous = number(from, "viscous"),
	                      .stribeck_speed = number(from, "stribeck_speed")};
	for (int k = 0; k < c->n; k++)
		c->vertices[k] = (int)json_integer_value(json_array_get(vertices, (size_t)k));
	numbers(json_object_get(from, "weights"), c->weights);
	numbers(json_object_get(from, "tangent_basis"), c->tangent_basis);
	numbers(json_object_get(from, "mu_aniso"), c->mu_aniso);
	numbers(json_object_get(from, "offset"), c->offset);
}

/* Compares one number. @return whether it agrees */
static bool compare(const json_t *test, const char *what, int row, int col, double got, double value, double scale,
                    double tolerance)
{
	const double difference = fabs(got - value);
	if (difference <= tolerance * scale)
		return true;
	printf("case %d, %s: %s", (int)json_integer_value(json_object_get(test, "id")),
	       json_string_value(json_object_get(test, "name")), what);
	if (row >= 0)
		printf(col >= 0 ? "[%d, %d]" : "[%d]", row, col);
	printf(" is %.12g, expected %.12g, relative difference %.2g\n", got, value, scale > 0 ? difference / scale : 1);
	return false;
}

static bool compare_hessian(const json_t *test, const json_t *expected, int n, double *got, double tolerance)
{
	const json_t *rows = json_object_get(expected, "rows"), *cols = json_object_get(expected, "cols"),
				 *values = json_object_get(expected, "values");
	double *scales = calloc((size_t)n, sizeof(double)), *right = calloc((size_t)n * (size_t)n, sizeof(double));
	bool agrees = scales && right;
	numbers(json_object_get(expected, "scales"), scales);
	for (size_t i = 0; i < json_array_size(values); i++)
		right[json_integer_value(json_array_get(rows, i)) * n + json_integer_value(json_array_get(cols, i))] =
			json_number_value(json_array_get(values, i));
	for (int row = 0; agrees && row < n; row++)
		for (int col = 0; agrees && col < n; col++)
			agrees = compare(test, "hessian", row, col, got[row * n + col], right[row * n + col],
			                 sqrt(scales[row] * scales[col]), tolerance);
	free(scales);
	free(right);
	return agrees;
}

static bool compare_all(const json_t *test, const struct problem *p, double potential, double *gradient,
                        double *hessian, double tolerance)
{
	const json_t *expected = json_object_get(test, "expected"), *sum = json_object_get(expected, "potential"),
				 *forces = json_object_get(expected, "gradient");
	bool agrees = compare(test, "potential", -1, -1, potential, number(sum, "value"), number(sum, "scale"), tolerance);
	for (int i = 0; i < p->n_dofs && agrees; i++)
		agrees = compare(test, "gradient", i, -1, gradient[i],
		                 json_number_value(json_array_get(json_object_get(forces, "values"), (size_t)i)),
		                 json_number_value(json_array_get(json_object_get(forces, "scales"), (size_t)i)), tolerance);
	return agrees && compare_hessian(test, json_object_get(expected, "hessian"), p->n_dofs, hessian, tolerance);
}

static int check(const json_t *test, double tolerance)
{
	const json_t *request = json_object_get(test, "request"), *contacts = json_object_get(test, "contacts"),
				 *moving = json_object_get(request, "velocities"),
				 *projection = json_object_get(json_object_get(request, "hessian"), "projection");
	const size_t n_contacts = json_array_size(contacts);
	struct problem p = {.dim = (int)number(request, "dim"),
	                    .n_vertices = (int)json_array_size(moving),
	                    .n_contacts = (int)n_contacts,
	                    .projection = projection ? json_string_value(projection) : "none",
	                    .request = request,
	                    .features = json_object_get(test, "features")};
	p.n_dofs = p.dim * p.n_vertices;
	const size_t n = (size_t)p.n_dofs;
	struct contact *list = calloc(n_contacts + 1, sizeof(*list));
	double potential = 0, *velocities = calloc(n + 1, sizeof(double)), *gradient = calloc(n + 1, sizeof(double)),
		   *hessian = calloc(n * n + 1, sizeof(double));
	int result = UNSUPPORTED;
	for (size_t i = 0; i < n_contacts; i++)
		read_contact(json_array_get(contacts, i), &list[i]);
	p.contacts = list;
	p.velocities = velocities;
	if (moving)
		numbers(moving, velocities);
	if (!needs(&p, "bodies") && evaluate(&p, &potential, gradient, hessian))
		result = compare_all(test, &p, potential, gradient, hessian, tolerance) ? AGREES : DIFFERS;
	free(list);
	free(velocities);
	free(gradient);
	free(hessian);
	return result;
}

int main(int argc, char **argv)
{
	json_error_t error;
	json_t *document = argc > 1 ? json_load_file(argv[1], 0, &error) : NULL;
	const json_t *tests = json_object_get(document, "cases");
	int counts[3] = {0};
	if (!tests) {
		fprintf(stderr, "%s\n", argc > 1 ? error.text : "usage: check VECTORS");
		return 2;
	}
	for (size_t i = 0; i < json_array_size(tests); i++)
		counts[check(json_array_get(tests, i), number(document, "tolerance"))]++;
	printf("%d agree, %d differ, %d not supported\n", counts[AGREES], counts[DIFFERS], counts[UNSUPPORTED]);
	json_decref(document);
	return counts[DIFFERS] ? 1 : counts[AGREES] ? 0 : 2;
}

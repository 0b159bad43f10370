/* See tests/examples/native.py. */
#include "../../../examples/c/frictiond.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_all(const json_t *array)
{
	const size_t n = frictiond_count(array);
	double *numbers = calloc(n + 1, sizeof *numbers);
	if (!numbers || frictiond_read_f64(NULL, array, numbers, n))
		exit(2);
	for (size_t i = 0; i < n; i++)
		printf("%.17g\n", numbers[i]);
	free(numbers);
}

static json_t *contacts(struct frictiond *service, json_t *vertices, struct frictiond_error *error)
{
	json_t *forces = json_array_size(vertices) ? json_pack("[f]", 9.81) : json_array();
	json_t *batch = json_pack("{s:i, s:[[f,f,f]], s:{s:f, s:f}, s:{s:{s:o, s:[f,f,f], s:o}}, s:[s,s,s], s:[s]}", "dim",
	                          3, "velocities", 0.02, 0.01, 0., "friction", "eps_v", 1e-3, "mu", 0.3, "collisions",
	                          "plane_vertex", "vertices", vertices, "plane_normal", 0., 0., 1., "normal_force", forces,
	                          "outputs", "potential", "gradient", "collisions", "collision_outputs", "potential");
	json_t *answer = frictiond_evaluate(service, batch, error);
	json_decref(batch);
	if (answer) {
		const json_t *values = json_object_get(json_object_get(answer, "collisions"), "plane_vertex");
		print_all(json_object_get(answer, "gradient"));
		printf("%.17g\n", json_real_value(json_object_get(answer, "potential")));
		print_all(json_object_get(values, "potential"));
	}
	return answer;
}

static json_t *exact(struct frictiond *service, const char *name, struct frictiond_error *error)
{
	FILE *file = fopen(name, "r");
	json_t *y = json_array();
	double number;
	while (file && fscanf(file, "%lf", &number) == 1)
		json_array_append_new(y, json_real(number));
	fclose(file);
	json_t *parameters = json_pack("{s:o, s:f}", "y", y, "eps_v", 1e-300);
	json_t *answer = frictiond_function(service, "smooth_friction_f0", parameters, error);
	json_decref(parameters);
	print_all(json_object_get(answer, "values"));
	return answer;
}

static json_t *ask(struct frictiond *service, char **words, struct frictiond_error *error)
{
	json_t *answer;
	if (!strcmp(words[2], "exact"))
		return exact(service, words[3], error);
	if (!strcmp(words[2], "token")) {
		answer = frictiond_get(service, "/v1/info", error);
		puts(answer ? json_string_value(json_object_get(answer, "name")) : "");
		return answer;
	}
	if (!strcmp(words[2], "functions")) {
		answer = frictiond_get(service, "/v1/functions", error);
		printf("%zu\n", json_array_size(json_object_get(answer, "functions")));
		return answer;
	}
	if (!strcmp(words[2], "none"))
		return contacts(service, json_array(), error);
	return contacts(service, json_pack("[i]", strcmp(words[2], "wrong") ? 0 : 912), error);
}

int main(int argc, char **argv)
{
	struct frictiond_error error = {0};
	struct frictiond *service = frictiond_open(argv[1], argc > 3 && !strcmp(argv[2], "token") ? argv[3] : NULL);
	json_t *answer = ask(service, argv, &error);
	if (!answer)
		fprintf(stderr, "%ld: %s %s\n", error.status, error.detail, error.pointer);
	json_decref(answer);
	frictiond_close(service);
	return answer ? 0 : 1;
}

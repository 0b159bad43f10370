/* Calls the C client as its tests ask (tests/examples/test_c.py):  probe URL WHAT [ARGUMENT]
 *   exact FILE      reads numbers from a file, sends them through smooth_friction_f0, prints the results
 *   one, none       a vertex on a floor with one contact or none: prints gradient, potential, the potential per contact
 *   wrong           a contact of a vertex that does not exist
 *   token TOKEN     prints the name of a service that needs a token
 *   functions       prints how many scalar functions there are
 *   law FILE        FILE: {"name", "parameters"} of a scalar function. Prints its values
 *   set FILE        FILE: {"name" or none, "lagged": the set, "query": {"velocities", "outputs"}, "patch"}. Prints the
 *                   gradient; after the patch, again, the indices of the pattern (csr, upper), and 1 if check agrees
 *   carry FILE      FILE: {"set", "query", "ratio", "read": JSON Pointers}. Evaluates the set, prints the arrays that
 *                   the pointers lead to; carries the anchors of the answer; evaluates and prints again
 *   derive FILE     FILE: {"set", "query", "along": JSON Pointers, "values": {"v0", "v1", ..} for them, "cotangents",
 *                   "wrt"}. Prints all numbers of the tangents (of potential, gradient, body_gradient) and of the
 *                   cotangents, in the order of wrt: of the whole batch as JSON and as a frame, and of the set
 * Numbers are printed one per line, with as many digits as a double needs. */
#include "../../../examples/c/frictiond_http.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_all(const json_t *array)
{
	const size_t n = frictiond_http_count(array);
	double *numbers = calloc(n + 1, sizeof *numbers);
	if (!numbers || frictiond_http_read_f64(NULL, array, numbers, n))
		exit(2);
	for (size_t i = 0; i < n; i++)
		printf("%.17g\n", numbers[i]);
	free(numbers);
}

static json_t *contacts(struct frictiond_http *service, json_t *vertices, struct frictiond_http_error *error)
{
	json_t *forces = json_array_size(vertices) ? json_pack("[f]", 9.81) : json_array();
	json_t *batch = json_pack("{s:i, s:[[f,f,f]], s:{s:f, s:f}, s:{s:{s:o, s:[f,f,f], s:o}}, s:[s,s,s], s:[s]}", "dim",
	                          3, "velocities", 0.02, 0.01, 0., "friction", "eps_v", 1e-3, "mu", 0.3, "collisions",
	                          "plane_vertex", "vertices", vertices, "plane_normal", 0., 0., 1., "normal_force", forces,
	                          "outputs", "potential", "gradient", "collisions", "collision_outputs", "potential");
	json_t *answer = frictiond_http_evaluate(service, batch, error);
	json_decref(batch);
	if (answer) {
		const json_t *values = json_object_get(json_object_get(answer, "collisions"), "plane_vertex");
		print_all(json_object_get(answer, "gradient"));
		printf("%.17g\n", json_real_value(json_object_get(answer, "potential")));
		print_all(json_object_get(values, "potential"));
	}
	return answer;
}

static json_t *exact(struct frictiond_http *service, const char *name, struct frictiond_http_error *error)
{
	FILE *file = fopen(name, "r");
	json_t *y = json_array();
	double number;
	while (file && fscanf(file, "%lf", &number) == 1)
		json_array_append_new(y, json_real(number));
	fclose(file);
	json_t *parameters = json_pack("{s:o, s:f}", "y", y, "eps_v", 1e-300);
	json_t *answer = frictiond_http_function(service, "smooth_friction_f0", parameters, error);
	json_decref(parameters);
	print_all(json_object_get(answer, "values"));
	return answer;
}

static void print_array(const struct frictiond_http_answer *answer, const json_t *array, int integers)
{
	const size_t n = frictiond_http_count(array);
	double *numbers = calloc(n + 1, sizeof *numbers);
	int32_t *indices = calloc(n + 1, sizeof *indices);
	if (!numbers || !indices ||
	    (integers ? frictiond_http_read_i32(answer, array, indices, n)
	              : frictiond_http_read_f64(answer, array, numbers, n)))
		exit(2);
	for (size_t i = 0; i < n; i++)
		printf("%.17g\n", integers ? indices[i] : numbers[i]);
	free(numbers);
	free(indices);
}

static void print_answer(struct frictiond_http_answer *answer, const char *name, int integers)
{
	print_array(answer, json_object_get(answer->document, name), integers);
	frictiond_http_answer_free(answer);
}

/* A member that is a list of lists of three, as an array in binary. */
static void to_frame(json_t *object, const char *name, struct frictiond_http_frame *frame)
{
	const json_t *rows = json_object_get(object, name);
	const size_t n = json_array_size(rows);
	double *numbers = calloc(3 * n + 1, sizeof *numbers);
	for (size_t i = 0; numbers && i < 3 * n; i++)
		numbers[i] = json_number_value(json_array_get(json_array_get(rows, i / 3), i % 3));
	json_object_set_new(object, name, frictiond_http_frame_f64(frame, numbers, n, 3));
	free(numbers);
}

static json_t *sets(struct frictiond_http *service, const char *name, struct frictiond_http_error *error)
{
	struct frictiond_http_frame lagged = {0}, query = {0}, patch = {0};
	struct frictiond_http_answer answer = {0};
	json_t *file = json_load_file(name, 0, NULL), *done = NULL;
	json_t *asked = json_object_get(file, "query");
	const char *called = json_string_value(json_object_get(file, "name"));
	to_frame(json_object_get(file, "lagged"), "positions", &lagged);
	to_frame(json_object_get(file, "patch"), "positions", &patch);
	to_frame(asked, "velocities", &query);
	struct frictiond_http_set *set =
		frictiond_http_set_open(service, called, json_object_get(file, "lagged"), &lagged, error);
	frictiond_http_frame_free(&lagged);
	if (!set)
		goto end;
	fprintf(stderr, "%s\n", frictiond_http_set_name(set));
	if (frictiond_http_set_evaluate(set, asked, &query, &answer, error))
		goto end;
	print_answer(&answer, "gradient", 0);
	if (frictiond_http_set_patch(set, json_object_get(file, "patch"), &patch, error))
		goto end;
	frictiond_http_frame_free(&patch);
	if (frictiond_http_set_evaluate(set, asked, &query, &answer, error))
		goto end;
	print_answer(&answer, "gradient", 0);
	if (frictiond_http_set_pattern(set, "csr", "upper", &answer, error))
		goto end;
	print_answer(&answer, "indices", 1);
	json_object_del(asked, "outputs");
	if (frictiond_http_set_check(set, asked, &query, &answer, error))
		goto end;
	printf("%d\n", json_is_true(json_object_get(answer.document, "agrees")));
	done = answer.document;
	json_incref(done);
end:
	frictiond_http_answer_free(&answer);
	frictiond_http_set_close(set);
	frictiond_http_frame_free(&query);
	frictiond_http_frame_free(&patch);
	json_decref(file);
	return done;
}

static const json_t *at(const json_t *value, const char *pointer)
{
	char names[256];
	snprintf(names, sizeof names, "%s", pointer);
	for (char *name = strtok(names, "/"); name; name = strtok(NULL, "/"))
		value = json_object_get(value, name);
	return value;
}

/* One time step; the caller frees the response. */
static int step(struct frictiond_http_set *set, const json_t *file, struct frictiond_http_answer *answer,
                struct frictiond_http_error *error)
{
	const json_t *read = json_object_get(file, "read");
	if (frictiond_http_set_evaluate(set, json_object_get(file, "query"), NULL, answer, error))
		return -1;
	for (size_t i = 0; i < json_array_size(read); i++)
		print_array(answer, at(answer->document, json_string_value(json_array_get(read, i))), 0);
	return 0;
}

static json_t *carry(struct frictiond_http *service, const char *name, struct frictiond_http_error *error)
{
	struct frictiond_http_answer answer = {0};
	json_t *file = json_load_file(name, 0, NULL), *done = NULL;
	struct frictiond_http_set *set = frictiond_http_set_open(service, NULL, json_object_get(file, "set"), NULL, error);
	if (set && step(set, file, &answer, error) == 0 &&
	    frictiond_http_set_carry(set, &answer, json_number_value(json_object_get(file, "ratio")), error) == 0) {
		frictiond_http_answer_free(&answer);
		if (step(set, file, &answer, error) == 0)
			done = json_incref(answer.document);
	}
	frictiond_http_answer_free(&answer);
	frictiond_http_set_close(set);
	json_decref(file);
	return done;
}

/* The values of fields, by pointer. */
static json_t *tangents_of(const json_t *file)
{
	const json_t *along = json_object_get(file, "along"), *values = json_object_get(file, "values");
	json_t *tangents = json_object();
	for (size_t i = 0; i < json_array_size(along); i++) {
		char name[32];
		snprintf(name, sizeof name, "v%zu", i);
		json_object_set(tangents, json_string_value(json_array_get(along, i)), json_object_get(values, name));
	}
	return tangents;
}

static void print_number_or_array(const struct frictiond_http_answer *answer, const json_t *value)
{
	if (json_is_number(value))
		printf("%.17g\n", json_number_value(value));
	else
		print_array(answer, value, 0);
}

static void print_tangents(const struct frictiond_http_answer *answer, const json_t *document)
{
	const json_t *tangents = json_object_get(document, "tangents");
	const char *names[] = {"potential", "gradient", "body_gradient"};
	for (int i = 0; i < 3; i++)
		if (json_object_get(tangents, names[i]))
			print_number_or_array(answer, json_object_get(tangents, names[i]));
}

static void print_cotangents(const struct frictiond_http_answer *answer, const json_t *document, const json_t *wrt)
{
	for (size_t i = 0; i < json_array_size(wrt); i++)
		print_number_or_array(answer, json_object_get(json_object_get(document, "cotangents"),
		                                              json_string_value(json_array_get(wrt, i))));
}

/* Sends the same request as JSON, as a frame, and to a set; prints the numbers of each response. */
static json_t *derive(struct frictiond_http *service, const char *name, struct frictiond_http_error *error)
{
	const struct frictiond_http_frame none = {0};
	struct frictiond_http_answer forward = {0}, backward = {0};
	json_t *file = json_load_file(name, 0, NULL), *wrt = json_object_get(file, "wrt"), *done = NULL;
	json_t *query = json_object_get(file, "query"), *batch = json_deep_copy(json_object_get(file, "set"));
	json_object_update(batch, query);
	json_t *tangents = json_pack("{s:o}", "tangents", tangents_of(file));
	json_t *cotangents = json_pack("{s:O, s:O}", "cotangents", json_object_get(file, "cotangents"), "wrt", wrt);
	json_t *down = json_copy(batch), *up = json_copy(batch), *first = NULL, *second = NULL;
	json_object_update(down, tangents);
	json_object_update(up, cotangents);
	struct frictiond_http_set *set = frictiond_http_set_open(service, NULL, json_object_get(file, "set"), NULL, error);
	if (!set || !(first = frictiond_http_jvp(service, down, error)) ||
	    !(second = frictiond_http_vjp(service, up, error)))
		goto end;
	print_tangents(NULL, first);
	print_cotangents(NULL, second, wrt);
	if (frictiond_http_jvp_frame(service, down, &none, &forward, error) ||
	    frictiond_http_vjp_frame(service, up, &none, &backward, error))
		goto end;
	print_tangents(&forward, forward.document);
	print_cotangents(&backward, backward.document, wrt);
	frictiond_http_answer_free(&forward);
	frictiond_http_answer_free(&backward);
	json_object_update(tangents, query);
	json_object_update(cotangents, query);
	if (frictiond_http_set_jvp(set, tangents, NULL, &forward, error) ||
	    frictiond_http_set_vjp(set, cotangents, NULL, &backward, error))
		goto end;
	print_tangents(&forward, forward.document);
	print_cotangents(&backward, backward.document, wrt);
	done = json_incref(first);
end:
	frictiond_http_answer_free(&forward);
	frictiond_http_answer_free(&backward);
	frictiond_http_set_close(set);
	json_decref(first);
	json_decref(second);
	json_decref(down);
	json_decref(up);
	json_decref(tangents);
	json_decref(cotangents);
	json_decref(batch);
	json_decref(file);
	return done;
}

static json_t *law(struct frictiond_http *service, const char *name, struct frictiond_http_error *error)
{
	json_t *file = json_load_file(name, 0, NULL);
	json_t *answer = frictiond_http_function(service, json_string_value(json_object_get(file, "name")),
	                                         json_object_get(file, "parameters"), error);
	print_all(json_object_get(answer, "values"));
	json_decref(file);
	return answer;
}

static json_t *ask(struct frictiond_http *service, char **words, struct frictiond_http_error *error)
{
	json_t *answer;
	if (!strcmp(words[2], "exact"))
		return exact(service, words[3], error);
	if (!strcmp(words[2], "set"))
		return sets(service, words[3], error);
	if (!strcmp(words[2], "carry"))
		return carry(service, words[3], error);
	if (!strcmp(words[2], "derive"))
		return derive(service, words[3], error);
	if (!strcmp(words[2], "law"))
		return law(service, words[3], error);
	if (!strcmp(words[2], "token")) {
		answer = frictiond_http_get(service, "/v1/info", error);
		puts(answer ? json_string_value(json_object_get(answer, "name")) : "");
		return answer;
	}
	if (!strcmp(words[2], "functions")) {
		answer = frictiond_http_get(service, "/v1/functions", error);
		printf("%zu\n", json_array_size(json_object_get(answer, "functions")));
		return answer;
	}
	if (!strcmp(words[2], "none"))
		return contacts(service, json_array(), error);
	return contacts(service, json_pack("[i]", strcmp(words[2], "wrong") ? 0 : 912), error);
}

int main(int argc, char **argv)
{
	struct frictiond_http_error error = {0};
	struct frictiond_http *service =
		frictiond_http_open(argv[1], argc > 3 && !strcmp(argv[2], "token") ? argv[3] : NULL);
	json_t *answer = ask(service, argv, &error);
	if (!answer)
		fprintf(stderr, "%ld: %s %s\n", error.status, error.detail, error.pointer);
	json_decref(answer);
	frictiond_http_close(service);
	return answer ? 0 : 1;
}

/* Variables of a request, their shapes, and checks of requests for derivatives. */
#include "api/validate/derivative.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/validate/query.h"

/* A request under validation. */
struct subject {
	struct api_document document;
	struct api_arena arena;
	struct api_fault fault;
	struct api_check check;
	struct api_lagged lagged;
	struct api_query query;
	struct api_derivative derivative;
};

/* Texts are written with ' instead of ". */
static void begin(struct subject *s, const char *text)
{
	struct api_text_fault fault;
	char *copy = strdup(text);
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	*s = (struct subject){0};
	if (!api_document_read_pooled(NULL, copy, strlen(copy), &s->document, &fault))
		fail_msg("%s: %s", text, fault.detail);
	s->check = (struct api_check){.document = &s->document, .arena = &s->arena, .fault = &s->fault};
	free(copy);
}

static void end(struct subject *s)
{
	api_document_free(&s->document);
	api_arena_free(&s->arena);
}

static bool check(struct subject *s, enum api_request_kind kind)
{
	return api_check_derivative(&s->check, kind, NULL, &s->lagged, &s->query, &s->derivative);
}

static void expect(struct subject *s, const char *text, bool ok)
{
	if (ok != !s->fault.status)
		fail_msg("%s: %d %s %s", text, s->fault.status, s->fault.errors[0].pointer, s->fault.errors[0].detail);
}

#define VERTICES(more) \
	"{'dim': 3, 'velocities': [1, 2, 3, 4, 5, 6], 'positions': [[1, 2, 3], [4, 5, 6]]," \
	" 'friction': {'eps_v': 1, 'vertex_mu': [1, 2], 'blend': 'min'}, 'barrier': {'dhat': 1, 'stiffness': 1}," \
	" 'collisions': {'edge_edge': {'vertices': [], 'normal_force': 1, 'mu_aniso': [1, 2]}," \
	" 'plane_vertex': {'vertices': [0, 1], 'plane_normal': [0, 0, 1], 'normal_force': [2, 3], 'weight': 2," \
	" 'grain': [1, 0, 0, 0, 1, 0], 'anchor': [[1, 2, 3]]}}, " more "}"
#define VJP(wrt) VERTICES("'cotangents': {'potential': 2, 'gradient': [[1, 2, 3], [4, 5, 6]]}, 'wrt': [" wrt "]")

/* Prints names and shapes of all variables, separated by blanks. */
static void print_variables(const struct api_variables *variables, char *out, size_t bytes)
{
	size_t at = 0;
	out[0] = '\0';
	for (size_t i = 0; i < variables->n; i++) {
		const struct api_variable *v = &variables->list[i];
		at += (size_t)snprintf(out + at, bytes - at, "%s%s", i ? " " : "", v->pointer);
		for (int k = 0; k < v->rank; k++)
			at += (size_t)snprintf(out + at, bytes - at, "%c%zu", k ? ',' : ':', v->shape[k]);
	}
}

static void the_variables_of_a_request(void **unused)
{
	static const char all[] =
		"/velocities:6 /positions:2,3 /friction/eps_v /friction/vertex_mu:2 /barrier/dhat /barrier/stiffness"
		" /collisions/edge_edge/normal_force /collisions/edge_edge/mu_aniso:2 /collisions/plane_vertex/normal_force:2"
		" /collisions/plane_vertex/weight /collisions/plane_vertex/anchor:1,3 /collisions/plane_vertex/grain:6"
		" /collisions/plane_vertex/plane_normal:3";
	char text[1024];
	struct subject s;
	(void)unused;
	begin(&s, VJP(""));
	check(&s, API_VJP);
	expect(&s, VJP(""), true);
	print_variables(&s.derivative.variables, text, sizeof(text));
	assert_string_equal(text, all);
	for (size_t i = 0; i < s.derivative.variables.n; i++) {
		const struct api_variable *v = &s.derivative.variables.list[i];
		assert_int_equal(v->is_empty, v->type == FRIC_EDGE_EDGE);
		assert_true(api_may_be_variable(v->pointer));
		assert_ptr_equal(api_variable_find(&s.derivative.variables, v->pointer), v);
	}
	assert_true(s.derivative.potential == 2 && s.derivative.gradient[5] == 6 && !s.derivative.body_gradient);
	assert_true(s.query.outputs[API_GRADIENT] && s.query.outputs[API_POTENTIAL] && !s.query.outputs[API_HESSIAN]);
	end(&s);
}

static void velocities_of_bodies_follow_those_of_vertices(void **unused)
{
	static const char text[] =
		"{'dim': 2, 'velocities': [[1, 2], [3, 4], [5, 6]], 'body_positions': [[0, 0]], 'body_velocities': [[1, 2, 3]],"
		" 'lagged_body_velocities': [1, 2, 3], 'collisions': {'body_world': {'bodies': []}},"
		" 'cotangents': {'body_gradient': [7, 8, 9]}, 'wrt': ['/body_velocities', '/lagged_body_velocities']}";
	struct subject s;
	(void)unused;
	begin(&s, text);
	check(&s, API_VJP);
	expect(&s, text, true);
	assert_int_equal(s.derivative.by.n, 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(s.derivative.by.by[i]->first_dof, 6);
	assert_int_equal(api_variable_find(&s.derivative.variables, "/velocities")->first_dof, 0);
	assert_true(!s.derivative.gradient && s.derivative.body_gradient[2] == 9);
	assert_true(s.query.sent_lagged_body_velocities && !s.query.sent_lagged_velocities);
	end(&s);
}

static void pointers(void **unused)
{
	static const char *const good[] = {"/velocities",
	                                   "/body_positions",
	                                   "/friction/mu",
	                                   "/friction/materials/mu_k",
	                                   "/friction/curve/factors",
	                                   "/barrier/dmin",
	                                   "/collisions/body_body/spin_radius",
	                                   "/collisions/plane_vertex/plane_origin",
	                                   "/collisions/edge_edge/closest_point"};
	static const char *const bad[] = {"",
	                                  "/",
	                                  "//",
	                                  "velocities",
	                                  "/velocities/",
	                                  "/velocities/0",
	                                  "/Velocities",
	                                  "/dim",
	                                  "/friction",
	                                  "/friction/",
	                                  "/friction/blend",
	                                  "/friction/materials",
	                                  "/friction/materials/plane_material",
	                                  "/friction/curve/speeds",
	                                  "/barrier/type",
	                                  "/collisions/edge_edge/vertices",
	                                  "/collisions/edge_edge/plane_normal",
	                                  "/collisions/plane_vertex/closest_point",
	                                  "/collisions/body_world/vertices",
	                                  "/line/direction",
	                                  "/line/steps",
	                                  "/vectors",
	                                  "/hessian/format",
	                                  "/tangents",
	                                  "/cotangents/potential",
	                                  "/cotangents/gradient",
	                                  "/wrt",
	                                  "/friction~1mu",
	                                  "/friction/mu~0"};
	(void)unused;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(api_may_be_variable(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (api_may_be_variable(bad[i]))
			fail_msg("%s", bad[i]);
}

/* The longest pointer fits, and so does every other one. */
static void there_is_room_for_every_pointer(void **unused)
{
	size_t n = 0, longest = 0;
	(void)unused;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		for (int i = 0; i < api_groups[type].n_rules; i++) {
			const struct api_rule *rule = &api_groups[type].rules[i];
			const size_t bytes = strlen("/collisions//") + strlen(fric_type_name(type)) + strlen(rule->name) + 1;
			n += rule->by[0] && api_rule_applies(rule, &api_groups[type]);
			longest = bytes > longest ? bytes : longest;
		}
	assert_true(longest <= API_POINTER_BYTES);
	assert_true(n + 6 + FRIC_N_FIELDS + 3 <= API_MOST_VARIABLES);
}

static void tangents(void **unused)
{
	static const struct {
		const char *text, *pointer;
	} cases[] = {
		{VERTICES("'tangents': {'/velocities': [[1, 2, 3], [4, 5, 6]], '/positions': [1, 2, 3, 4, 5, 6]}"), NULL},
		{VERTICES("'tangents': {'/collisions/plane_vertex/weight': 1}"), NULL},
		{VERTICES("'tangents': {'/collisions/plane_vertex/weight': [1]}"), NULL},
		{VERTICES("'tangents': {'/collisions/plane_vertex/anchor': [1, 2, 3]}"), NULL},
		{VERTICES("'tangents': {'/collisions/plane_vertex/plane_normal': [[1, 2, 3]]}"), NULL},
		{VERTICES("'tangents': {'/collisions/plane_vertex/grain': [[1, 2, 3], [1, 2, 3]]}"), NULL},
		{VERTICES("'tangents': {'/collisions/edge_edge/normal_force': 1}"), NULL},
		{VERTICES("'tangents': {'/collisions/plane_vertex/weight': [1, 2]}"),
	     "/tangents/~1collisions~1plane_vertex~1weight"},
		{VERTICES("'tangents': {'/collisions/plane_vertex/normal_force': 1}"),
	     "/tangents/~1collisions~1plane_vertex~1normal_force"},
		{VERTICES("'tangents': {'/collisions/plane_vertex/grain': [1, 2, 3]}"),
	     "/tangents/~1collisions~1plane_vertex~1grain"},
		{VERTICES("'tangents': {'/collisions/edge_edge/normal_force': []}"),
	     "/tangents/~1collisions~1edge_edge~1normal_force"},
		{VERTICES("'tangents': {'/velocities': [[1, 2, 3]]}"), "/tangents/~1velocities"},
		{VERTICES("'tangents': {'/friction/eps_v': [1]}"), "/tangents/~1friction~1eps_v"},
		{VERTICES("'tangents': {'/a~b': 1}"), "/tangents/~1a~0b"},
	};
	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;
		begin(&s, cases[i].text);
		assert_int_equal(check(&s, API_JVP), !cases[i].pointer);
		expect(&s, cases[i].text, !cases[i].pointer);
		if (cases[i].pointer)
			assert_string_equal(s.fault.errors[0].pointer, cases[i].pointer);
		for (size_t k = 0; k < s.derivative.by.n && !cases[i].pointer; k++)
			assert_true(s.derivative.by.values[k][s.derivative.by.by[k]->n - 1] > 0);
		end(&s);
	}
}

static void which_fields(void **unused)
{
	struct subject s;
	(void)unused;
	begin(&s, VJP("'/positions', '/friction/vertex_mu', '/velocities'"));
	assert_true(check(&s, API_VJP));
	assert_int_equal(s.derivative.by.n, 3);
	assert_string_equal(s.derivative.by.by[1]->pointer, "/friction/vertex_mu");
	end(&s);
	begin(&s, VJP("'/positions', '/positions', '/dmin', '/barrier/dmin', 1, '/velocities'"));
	assert_false(check(&s, API_VJP));
	assert_int_equal(s.fault.n_errors, 4);
	assert_int_equal(s.fault.code, API_E_REPEATED_POINTER);
	static const char *const pointers_of_faults[] = {"/wrt/1", "/wrt/2", "/wrt/3", "/wrt/4"};
	for (int i = 0; i < 4; i++)
		assert_string_equal(s.fault.errors[i].pointer, pointers_of_faults[i]);
	end(&s);
}

/* A query's own fields replace those of the set. */
static void of_a_set(void **unused)
{
	static const char
		set[] = "{'dim': 3, 'lagged_velocities': [[1, 2, 3], [4, 5, 6]], 'friction': {'eps_v': 1, 'mu': 1},"
				" 'collisions': {'plane_vertex': {'vertices': [1], 'plane_normal': [0, 0, 1],"
				" 'normal_force': 1}}}",
		asked[] = "{'velocities': [1, 2, 3, 4, 5, 6], 'lagged_velocities': [6, 5, 4, 3, 2, 1],"
				  " 'tangents': {'/lagged_velocities': [[1, 2, 3], [4, 5, 6]], '/velocities': [1, 2, 3, 4, 5, 6],"
				  " '/friction/mu': 1}}",
		all[] = "/lagged_velocities:6 /friction/eps_v /friction/mu /collisions/plane_vertex/normal_force"
				" /collisions/plane_vertex/plane_normal:3 /velocities:6";
	struct api_lagged_velocities lagged_velocities;
	struct api_set_facts facts;
	struct subject of_document, s;
	char text[1024];
	(void)unused;
	begin(&of_document, set);
	assert_true(api_check_set(&of_document.check, &of_document.lagged, &lagged_velocities, &facts));
	begin(&s, asked);
	assert_true(api_variables_list(&of_document.document, &of_document.lagged.batch, &facts, &s.arena,
	                               &s.derivative.variables));
	api_check_derivative(&s.check, API_SET_JVP, &facts, &of_document.lagged, &s.query, &s.derivative);
	expect(&s, asked, true);
	print_variables(&s.derivative.variables, text, sizeof(text));
	assert_string_equal(text, all);
	assert_int_equal(s.derivative.by.n, 3);
	assert_true(s.derivative.by.values[2][0] == 1 && s.query.sent_lagged_velocities);
	end(&s);
	end(&of_document);
}

static void what_is_no_object(void **unused)
{
	static const char *const texts[] = {"[]", "'x'", "3"};
	const struct api_set_facts facts = {.dim = 3, .n_vertices = 2};
	struct api_lagged lagged = {.batch = {.dim = 3}};
	(void)unused;
	for (size_t i = 0; i < 2 * sizeof(texts) / sizeof(texts[0]); i++) {
		struct subject s;
		begin(&s, texts[i / 2]);
		if (i % 2)
			assert_false(check(&s, API_VJP));
		else
			assert_false(api_check_derivative(&s.check, API_SET_JVP, &facts, &lagged, &s.query, &s.derivative));
		expect(&s, texts[i / 2], false);
		assert_string_equal(s.fault.errors[0].pointer, "");
		end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_variables_of_a_request),
		cmocka_unit_test(velocities_of_bodies_follow_those_of_vertices),
		cmocka_unit_test(pointers),
		cmocka_unit_test(there_is_room_for_every_pointer),
		cmocka_unit_test(tangents),
		cmocka_unit_test(which_fields),
		cmocka_unit_test(of_a_set),
		cmocka_unit_test(what_is_no_object),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A set's document and a query about it: the fields of each, and that together they are a whole request. */
#include "api/validate/query.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/fuzz/parts.h"

/* A document under validation. */
struct subject {
	struct api_document document;
	struct api_arena arena;
	struct api_fault fault;
	struct api_check check;
	struct api_lagged lagged;
	struct api_lagged_velocities lagged_velocities;
	struct api_set_facts facts;
	struct api_query query;
};

/* Texts are written with ' instead of ". */
static void begin(struct subject *s, const char *text, const struct api_service *service)
{
	struct api_text_fault fault;
	char *copy = strdup(text);
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	*s = (struct subject){0};
	if (!api_document_read_pooled(NULL, copy, strlen(copy), &s->document, &fault))
		fail_msg("%s: %s", text, fault.detail);
	s->check = (struct api_check){.document = &s->document, .arena = &s->arena, .fault = &s->fault, .service = service};
	free(copy);
}

static void end(struct subject *s)
{
	api_document_free(&s->document);
	api_arena_free(&s->arena);
}

static bool check_set(struct subject *s)
{
	return api_check_set(&s->check, &s->lagged, &s->lagged_velocities, &s->facts);
}

/* pointers: the pointers of all faults, separated by blanks; NULL: none. words: in the first message; may be NULL */
static void judge(const struct subject *s, const char *text, bool ok, const char *pointers, const char *words)
{
	char all[16 * 64] = "";
	for (int i = 0; i < s->fault.n_errors && s->fault.status; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? " " : "", s->fault.errors[i].pointer);
	if (ok != !pointers || ok != !s->fault.status || (pointers && strcmp(pointers, all) != 0))
		fail_msg("%s: %s \"%s\": %s", text, ok ? "accepted" : "refused", all, ok ? "" : s->fault.errors[0].detail);
	if (pointers && words && !strstr(s->fault.errors[0].detail, words))
		fail_msg("%s: \"%s\" is not in \"%s\"", text, words, s->fault.errors[0].detail);
}

#define PLANE "'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 0, 1], 'normal_force': 1}}"
#define FRICTION "'friction': {'eps_v': 1, 'mu': 1}"
#define SET(more) "{'dim': 3, " FRICTION ", " PLANE ", " more "}"
#define EMPTY(more) "{'dim': 3, 'collisions': {'plane_vertex': {'vertices': []}}, " more "}"
#define FRICTION_OF(more) "{'dim': 3, 'n_vertices': 2, 'friction': {'eps_v': 1, 'blend': 'mean', " more "}, " PLANE "}"

static void what_tells_how_many_vertices_there_are(void **unused)
{
	static const struct {
		const char *text;
		size_t n;
	} cases[] = {
		{EMPTY("'on_degenerate': 'skip'"), 0},
		{EMPTY("'n_vertices': 0"), 0},
		{EMPTY("'n_vertices': -0"), 0},
		{EMPTY("'n_vertices': 7"), 7},
		{EMPTY("'n_vertices': 536870911"), 536870911},
		{EMPTY("'positions': []"), 0},
		{SET("'n_vertices': 4"), 4},
		{SET("'positions': [1, 2, 3, 4, 5, 6]"), 2},
		{SET("'positions': [[1, 2, 3], [4, 5, 6]], 'n_vertices': 2"), 2},
		{SET("'lagged_velocities': [[1, 2, 3]]"), 1},
		{SET("'lagged_velocities': [1, 2, 3, 4, 5, 6], 'n_vertices': 2"), 2},
		{SET("'lagged_velocities': [[1, 2, 3]], 'positions': [1, 2, 3]"), 1},
		{FRICTION_OF("'vertex_mu': [1, 2]"), 2},
		{FRICTION_OF("'vertex_mu_s': [1, 2], 'vertex_mu_k': [1, 2]"), 2},
		{"{'dim': 3, 'friction': {'eps_v': 1, 'vertex_mu': [1, 2, 3]}, " PLANE "}", 3},
		{"{'dim': 3, 'friction': {'eps_v': 1, 'vertex_mu_s': [1, 2, 3], 'vertex_mu_k': [1, 2, 3]}, " PLANE "}", 3},
		{"{'dim': 3, 'friction': {'eps_v': 1, 'materials': {'vertex_material': [0, 0, 0, 0, 0], 'mu': [[1]],"
	     " 'plane_material': 0}}, " PLANE "}",
	     5},
	};
	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;
		begin(&s, cases[i].text, NULL);
		judge(&s, cases[i].text, check_set(&s), NULL, NULL);
		assert_int_equal(s.facts.n_vertices, cases[i].n);
		assert_int_equal(s.lagged.batch.n_vertices, cases[i].n);
		end(&s);
	}
}

static void documents_that_are_refused(void **unused)
{
	static const struct {
		const char *text, *pointers, *words;
	} cases[] = {
		{"[]", "", "expected an object"},
		{"'{}'", "", "encoded twice"},
		{"{}", "/dim /collisions", NULL},
		{EMPTY("'n_vertices': 3.0"), "/n_vertices", "without point or exponent"},
		{EMPTY("'n_vertices': 3e0"), "/n_vertices", "without point or exponent"},
		{EMPTY("'n_vertices': -1"), "/n_vertices", ">= 0"},
		{EMPTY("'n_vertices': 536870912"), "/n_vertices", "more than"},
		{EMPTY("'n_vertices': 1000000000000000000000000"), "/n_vertices", "more than"},
		{EMPTY("'n_vertices': [3]"), "/n_vertices", "expected an integer"},
		{EMPTY("'n_vertices': '3'"), "/n_vertices", "expected an integer"},
		{EMPTY("'n_vertices': null"), "/n_vertices", "expected an integer"},
		{EMPTY("'n_vertices': [[3], 4]"), "/n_vertices/1", "ragged"},
		{SET("'positions': [1, 2, 3], 'n_vertices': 2"), "/n_vertices", "is 2, but \"positions\" has 1 rows"},
		{SET("'lagged_velocities': [1, 2, 3], 'n_vertices': 2"), "/n_vertices", "but \"lagged_velocities\" has 1"},
		{"{'dim': 3, 'n_vertices': 4, 'friction': {'eps_v': 1, 'vertex_mu': [1, 2, 3]}, " PLANE "}", "/n_vertices",
	     "is 4, but \"vertex_mu\" has 3"},
		{SET("'positions': [1, 2, 3], 'lagged_velocities': [[1, 2, 3], [1, 2, 3]]"), "/lagged_velocities", "[1, 3]"},
		{SET("'positions': [1, 2]"), "/positions", "[n, 3]"},
		{SET("'positions': [1, 2], 'n_vertices': 1"), "/positions", "[1, 3]"},
		{SET("'positions': [1, 2, 3], 'n_vertices': 0.5"), "/n_vertices", "without point"},
		{SET("'positions': [[1, 2], [3, 4]]"), "/positions", "[n, 3]"},
		{EMPTY("'positions': [[]]"), "/positions", "[1, 0]"},
		{SET("'positions': 1"), "/positions", "got a number"},
		{SET("'positions': null"), "/positions", "got null"},
		{SET("'positions': 'x', 'n_vertices': 3"), "/positions", "got a string"},
		{SET("'positions': [[1, 2, 3], [1]]"), "/positions/1", "ragged"},
		{SET("'positions': [1, 2, 3], 'n_vertices': 1.5"), "/n_vertices", "without point"},
		{"{'dim': 3, 'friction': {'eps_v': 1, 'vertex_mu': 1}, " PLANE "}", "/friction/vertex_mu", "[n]"},
		{SET("'n_vertices': 0"), "/collisions/plane_vertex/vertices/0", "there are 0, and"},
		{SET("'on_degenerate': 'skip'"), "/collisions/plane_vertex/vertices/0",
	     "(\"positions\" or \"n_vertices\" determines their number)"},
		{"{'dim': 4, 'positions': [1], " FRICTION ", " PLANE "}", "/dim", NULL},
		{"{'dim': 3, 'n_vertices': 1, 'friction': 1, " PLANE "}", "/friction", NULL},
		{"{'dim': 3, 'n_vertices': 1, " PLANE "}", "/friction", NULL},
		{"{'dim': 3, 'n_vertices': 3, " FRICTION ", 'collisions': {'edge_vertex': {'vertices': [0, 1, 2],"
	     " 'normal_force': 1}}}",
	     "/positions", NULL},
		{SET("'positions': [[1, 2, 3]], 'velocities': [[1, 2, 3]]"), "/velocities",
	     "of requests about a set: POST it to evaluate"},
		{SET("'n_vertices': 1, 'outputs': []"), "/outputs", "of requests about a set"},
		{SET("'n_vertices': 1, 'hessian': {}, 'collision_outputs': []"), "/hessian /collision_outputs",
	     "of requests about a set"},
		{SET("'n_vertices': 1, 'triangle': 'full'"), "/triangle", "of requests about a set"},
		{SET("'n_vertices': 1, 'mu': 1"), "/mu", "it is a field of \"friction\"."},
		{"{'dim': 3, 'n_vertices': 1, 'friction': {'eps_v': 1, 'mu': 1, 'dim': 3}, " PLANE "}", "/friction/dim",
	     "it is a field of the set's document itself."},
		{SET("'n_vertice': 1, 'n_vertices': 1"), "/n_vertice", "did you mean \"n_vertices\"?"},
	};
	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;
		begin(&s, cases[i].text, NULL);
		judge(&s, cases[i].text, check_set(&s), cases[i].pointers, cases[i].words);
		end(&s);
	}
}

static void limits_of_vertices(void **unused)
{
	static const struct api_service service = {.max_vertices = 2};
	static const struct {
		const char *text, *pointers;
	} cases[] = {
		{EMPTY("'n_vertices': 2"), NULL},
		{EMPTY("'n_vertices': 3"), "/n_vertices"},
		{EMPTY("'positions': [1, 2, 3, 1, 2, 3]"), NULL},
		{EMPTY("'positions': [1, 2, 3, 1, 2, 3, 1, 2, 3]"), "/positions"},
	};
	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;
		begin(&s, cases[i].text, &service);
		judge(&s, cases[i].text, check_set(&s), cases[i].pointers, "limit of 2");
		assert_int_equal(s.fault.status, cases[i].pointers ? 413 : 0);
		end(&s);
	}
}

/* Counts sent as integers of a frame. */
static void counts_in_a_tail(void **unused)
{
	static const struct {
		enum api_dtype dtype;
		int rank;
		const char *pointers;
	} cases[] = {{API_I32, 0, NULL}, {API_F64, 0, "/n_vertices"}, {API_I32, 1, "/n_vertices"}};
	static const int32_t two = 2;
	static const double also_two = 2;
	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const bool is_real = cases[i].dtype == API_F64;
		struct subject s;
		begin(&s, EMPTY("'n_vertices': 1"), NULL);
		const struct api_array *array = api_document_array(&s.document, json_object_get(s.document.root, "n_vertices"));
		*(struct api_array *)(uintptr_t)array = (struct api_array){.dtype = cases[i].dtype,
		                                                           .rank = cases[i].rank,
		                                                           .shape = {1},
		                                                           .n = 1,
		                                                           .data = is_real ? (const void *)&also_two : &two,
		                                                           .binary = true,
		                                                           .first_non_integer = !is_real};
		judge(&s, "a frame", check_set(&s), cases[i].pointers, NULL);
		assert_true(cases[i].pointers || s.facts.n_vertices == 2);
		end(&s);
	}
}

static void what_a_query_has_to_know(void **unused)
{
	static const struct {
		const char *text;
		bool lacks_positions;
	} cases[] = {
		{"{'dim': 3, 'n_vertices': 1, 'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 0, 1],"
	     " 'plane_origin': [0, 0, 0], 'normal_force': 1, 'mu': 1, 'eps_v': 1}}}",
	     true},
		{"{'dim': 3, 'positions': [1, 1, 1], 'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 0, 1],"
	     " 'plane_origin': [0, 0, 0], 'normal_force': 1, 'mu': 1, 'eps_v': 1}}}",
	     false},
		{"{'dim': 3, 'n_vertices': 1, 'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 0, 1],"
	     " 'normal_force': 1, 'mu': 1, 'eps_v': 1}}}",
	     false},
		{"{'dim': 3, 'n_vertices': 1, 'collisions': {'plane_vertex': {'vertices': [0], 'plane_origin': [0, 0, 0],"
	     " 'tangent_basis': [1, 0, 0, 1, 0, 0], 'normal_force': 1, 'mu': 1, 'eps_v': 1}}}",
	     false},
		{"{'dim': 3, 'n_vertices': 1, 'collisions': {'plane_vertex': {'vertices': [],"
	     " 'plane_origin': [0, 0, 0]}}}",
	     false},
	};
	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;
		begin(&s, cases[i].text, NULL);
		judge(&s, cases[i].text, check_set(&s), NULL, NULL);
		assert_int_equal(s.facts.lacks_positions, cases[i].lacks_positions);
		assert_true(s.facts.dim == 3 && s.facts.n_vertices == 1 && !s.facts.skip_degenerate);
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
			assert_int_equal(s.facts.has_group[type], type == FRIC_PLANE_VERTEX);
		end(&s);
	}
	struct subject s;
	begin(&s, EMPTY("'on_degenerate': 'skip'"), NULL);
	assert_true(check_set(&s) && s.facts.skip_degenerate && !s.lagged_velocities.vertices);
	end(&s);
}

static void queries(void **unused)
{
	static const struct {
		const char *text, *pointers, *words;
		bool lacks_positions;
	} cases[] = {
		{"{'velocities': [1, 2, 3, 4, 5, 6]}", NULL, NULL, true},
		{"{'velocities': [[1, 2, 3], [4, 5, 6]], 'outputs': ['hessian'], 'hessian': {'format': 'csr'}}", NULL, NULL,
	     false},
		{"{'velocities': [1, 2, 3, 4, 5, 6], 'outputs': ['collisions'], 'collision_outputs': ['distance']}", NULL, NULL,
	     false},
		{"{'velocities': [1, 2, 3, 4, 5, 6], 'outputs': ['collisions']}", NULL, NULL, true},
		{"{'velocities': [1, 2, 3, 4, 5, 6], 'collision_outputs': ['distance']}", "/collision_outputs",
	     "without \"collisions\" in \"outputs\"", true},
		{"{'velocities': [1, 2, 3, 4, 5, 6], 'collision_outputs': ['status'], 'outputs': []}", "/collision_outputs",
	     "without \"collisions\" in \"outputs\"", false},
		{"{'velocities': [1, 2, 3, 4, 5, 6], 'outputs': ['collisions'], 'collision_outputs': ['distance']}",
	     "/positions", "set's document", true},
		{"{'velocities': [1, 2, 3, 4, 5, 6], 'outputs': ['position_jacobian']}", "/positions",
	     "the output \"position_jacobian\" needs it", true},
		{"{'velocities': [1, 2, 3, 4, 5, 6], 'outputs': ['position_jacobian']}", NULL, NULL, false},
		{"{}", "/velocities", "at which to evaluate", false},
		{"[1]", "", "expected an object", false},
		{"'x'", "", "encoded twice", false},
		{"{'velocities': [1, 2, 3]}", "/velocities", "[2, 3]", false},
		{"{'velocities': [[1, 2, 3], [1, 2, 3], [1, 2, 3]]}", "/velocities", "[2, 3]", false},
		{"{'velocities': null}", "/velocities", "got null", false},
		{"{'velocities': [1, 2, 3, 4, 5, 6], 'lagged_velocities': [1, 2, 3]}", "/lagged_velocities", "[2, 3]", false},
		{"{'velocities': [1, 2, 3, 4, 5, 6], 'positions': [1, 2, 3, 4, 5, 6]}", "/positions",
	     "it is a field of the set's document: PATCH it. Fields here: velocities, lagged_velocities, body_velocities, lagged_body_velocities, outputs",
	     false},
		{"{'velocities': [1, 2, 3, 4, 5, 6], 'dim': 3}", "/dim", "PATCH it", false},
		{"{'velocities': [1, 2, 3, 4, 5, 6], 'n_vertices': 2}", "/n_vertices", "PATCH it", false},
		{"{'velocities': [1, 2, 3, 4, 5, 6], 'friction': {}, 'barrier': {}, 'collisions': {}, 'on_degenerate': 'skip'}",
	     "/friction /barrier /collisions /on_degenerate", "PATCH it", false},
		{"{'velocities': [1, 2, 3, 4, 5, 6], 'normal_force': 1}", "/normal_force", "PATCH it", false},
		{"{'velocities': [1, 2, 3, 4, 5, 6], 'format': 'csr'}", "/format", "it is a field of \"hessian\".", false},
		{"{'velocities': [1, 2, 3, 4, 5, 6], 'hessian': {'outputs': []}}", "/hessian/outputs", "of the request itself.",
	     false},
		{"{'velocites': [1, 2, 3, 4, 5, 6]}", "/velocites", "did you mean \"velocities\"?", false},
		{"{'hessian': {'format': 'x', 'projection': 1}, 'collision_outputs': [1], 'outputs': ['y'],"
	     " 'lagged_velocities': 'x', 'velocities': [1]}",
	     "/velocities /lagged_velocities /outputs/0 /collision_outputs/0 /hessian/format /hessian/projection", NULL,
	     true},
	};
	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct api_set_facts facts = {.dim = 3,
		                                    .n_vertices = 2,
		                                    .lacks_positions = cases[i].lacks_positions,
		                                    .has_positions = !cases[i].lacks_positions};
		struct subject s;
		begin(&s, cases[i].text, NULL);
		judge(&s, cases[i].text, api_check_request(&s.check, API_SET_QUERY, &facts, NULL, &s.query, NULL),
		      cases[i].pointers, cases[i].words);
		end(&s);
	}
}

static void lagged_velocities_of_both(void **unused)
{
	const struct api_set_facts facts = {.dim = 2, .n_vertices = 1};
	struct subject s;
	(void)unused;
	begin(&s, "{'dim': 2, 'lagged_velocities': [5, 6], 'collisions': {'vertex_vertex': {'vertices': []}}}", NULL);
	assert_true(check_set(&s) && s.lagged_velocities.vertices[1] == 6);
	end(&s);
	begin(&s, "{'velocities': [1, 2]}", NULL);
	assert_true(api_check_request(&s.check, API_SET_QUERY, &facts, NULL, &s.query, NULL));
	assert_true(s.query.velocities[1] == 2 && !s.query.lagged_velocities);
	end(&s);
	begin(&s, "{'velocities': [1, 2], 'lagged_velocities': [[3, 4]]}", NULL);
	assert_true(api_check_request(&s.check, API_SET_QUERY, &facts, NULL, &s.query, NULL));
	assert_true(s.query.velocities[1] == 2 && s.query.lagged_velocities[1] == 4);
	end(&s);
}

/* ---- the requests of tests/cases ---- */

static int n_requests;

static void check_parts_of(const char *text, size_t bytes)
{
	struct api_document document;
	struct api_text_fault fault;
	if (!api_document_read_pooled(NULL, text, bytes, &document, &fault))
		return;
	fuzz_check_parts(&document);
	api_document_free(&document);
	n_requests++;
}

static int visit(const char *path, const struct stat *about, int type, struct FTW *where)
{
	const char *name = path + where->base;
	if (type != FTW_F || strncmp(name, "request.", 8) != 0)
		return 0;
	char *text = malloc((size_t)about->st_size + 1);
	FILE *file = fopen(path, "rb");
	assert_true(text && file && fread(text, 1, (size_t)about->st_size, file) == (size_t)about->st_size);
	fclose(file);
	check_parts_of(text, (size_t)about->st_size);
	free(text);
	return 0;
}

static void parts_are_the_whole(void **unused)
{
	(void)unused;
	assert_int_equal(nftw("tests/cases", visit, 16, 0), 0);
	assert_true(n_requests > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_tells_how_many_vertices_there_are),
		cmocka_unit_test(documents_that_are_refused),
		cmocka_unit_test(limits_of_vertices),
		cmocka_unit_test(counts_in_a_tail),
		cmocka_unit_test(what_a_query_has_to_know),
		cmocka_unit_test(queries),
		cmocka_unit_test(lagged_velocities_of_both),
		cmocka_unit_test(parts_are_the_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

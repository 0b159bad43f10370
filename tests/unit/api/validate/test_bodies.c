/* Rigid bodies in requests, in documents of sets and in queries: required fields and their lengths. */
#include "api/validate/query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A request under validation. */
struct subject {
	struct api_document document;
	struct api_arena arena;
	struct api_fault fault;
	struct api_check check;
	struct api_lagged lagged;
	struct api_query query;
	struct api_lagged_velocities velocities;
	struct api_set_facts facts;
};

static const struct api_service service = {.max_vertices = 6, .max_contacts = 5};

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
	free(copy);
	s->check =
		(struct api_check){.document = &s->document, .arena = &s->arena, .fault = &s->fault, .service = &service};
}

static bool check_whole(struct subject *s, const char *text)
{
	begin(s, text);
	return api_check_request(&s->check, API_WHOLE, NULL, &s->lagged, &s->query, NULL);
}

static bool check_set(struct subject *s, const char *text)
{
	begin(s, text);
	return api_check_set(&s->check, &s->lagged, &s->velocities, &s->facts);
}

static void end(struct subject *s)
{
	api_document_free(&s->document);
	api_arena_free(&s->arena);
}

#define TWO "'body_positions': [[0, 0, 0], [0, 0, 1]]"
#define TWISTS "'body_velocities': [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]"
#define TOUCH "'point': [0, 0, 0.5], 'normal': [0, 0, 1], 'normal_force': 1"
#define PAIR(more) "'body_body': {'bodies': [[0, 1]], " TOUCH more "}"
#define WORLD(more) "'body_world': {'bodies': [1, 0], " TOUCH more "}"
#define PLANE "'plane_vertex': {'vertices': [0], 'normal_force': 1, 'plane_normal': [0, 0, 1]}"
#define MU "'friction': {'eps_v': 1, 'mu': 1}"
#define REQUEST(groups, more) "{'dim': 3, " MU ", 'collisions': {" groups "}" more "}"
#define BODIES(groups, more) REQUEST(groups, ", " TWO ", " TWISTS more)
#define FRICTION(friction, groups) \
	"{'dim': 3, 'friction': {'eps_v': 1, " friction "}, 'collisions': {" groups "}, " TWO ", " TWISTS "}"
#define FLAT(more) \
	"{'dim': 2, " MU ", 'body_positions': [[0, 0]], 'body_velocities': [[1, 2, 3]], 'collisions': {'body_world':" \
	" {'bodies': [0], 'point': [0, 1], 'normal': [0, 1], 'normal_force': 1" more "}}}"
#define LINE(more) BODIES(PAIR(""), ", 'outputs': ['line'], 'line': {'steps': [0]" more "}")
#define DIRECTION "'body_direction': [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]"
#define IN "/collisions/body_body/"
#define SEVEN(x) x ", " x ", " x ", " x ", " x ", " x ", " x
#define NONE "'body_body': {'bodies': []}"
#define NOBODY ", 'body_positions': [], 'body_velocities': []"

/* pointers: the pointers of all faults, separated by blanks; NULL: none */
static const struct case_of {
	const char *text, *pointers;
	enum api_code code;
} wholes[] = {
	{BODIES(PAIR(""), ""), NULL, 0},
	{BODIES(WORLD(""), ""), NULL, 0},
	{BODIES(PAIR("") ", " WORLD("") ", " PLANE, ", 'velocities': [[0, 0, 0]]"), NULL, 0},
	{BODIES(PAIR(""), ", 'velocities': []"), NULL, 0},
	{BODIES(
		 PAIR(", 'spin_radius': 1, 'roll_radius': [0], 'mu_aniso': [1, 2], 'mu_s_aniso': [1, 1], 'anchor': [1, 2, 3],"
              " 'surface_velocity': [1, 2, 3], 'grain': [1, 0, 0], 'viscous': 1, 'weight': -1, 'eps_v': 2"),
		 ""),
     NULL, 0},
	{BODIES(PAIR(", 'tangent_basis': [[1, 0], [0, 1], [0, 0]]"), ""), NULL, 0},
	{FLAT(""), NULL, 0},
	{FLAT(", 'roll_radius': 1, 'mu_aniso': 2"), NULL, 0},
	{REQUEST("'body_body': {'bodies': []}", ", 'velocities': []"), NULL, 0},
	{REQUEST("'body_body': {'bodies': []}, 'vertex_vertex': {'vertices': []}", ", 'body_positions': [],"
                                                                               " 'body_velocities': []"),
     NULL, 0},
	{BODIES("'plane_vertex': {'vertices': []}, " PAIR(""), ""), NULL, 0},
	{BODIES("'plane_vertex': {}, " PAIR(""), ""), "/velocities /collisions/plane_vertex/vertices", API_E_MISSING_FIELD},
	{REQUEST(NONE,
             ", 'body_positions': [" SEVEN("[0, 0, 0]") "], 'body_velocities': [" SEVEN("[0, 0, 0, 0, 0, 0]") "]"),
     "/body_positions", API_E_TOO_MANY_ENTRIES},
	{BODIES(PAIR(""), ", 'outputs': ['hessian'], 'hessian': {'format': 'bsr'}"), "/hessian/format",
     API_E_CONFLICTING_FIELDS},
	{REQUEST(PAIR(""), ", " TWISTS ", 'body_positions': 3, 'outputs': ['hessian'], 'hessian': {'format': 'bsr'}"),
     "/body_positions", API_E_WRONG_SHAPE},
	{REQUEST(NONE,
             ", 'body_positions': [], 'body_velocities': [], 'outputs': ['hessian'], 'hessian': {'format': 'bsr'}"),
     NULL, 0},
	/* lines and vectors without bodies, or without contacts */
	{REQUEST(NONE, NOBODY ", 'outputs': ['line'], 'line': {'steps': [0]}"), "/line/body_direction",
     API_E_MISSING_FIELD},
	{REQUEST(NONE, NOBODY ", 'outputs': ['line'], 'line': {'steps': [0], 'direction': []}"), NULL, 0},
	{REQUEST(NONE, NOBODY ", 'outputs': ['line'], 'line': {'steps': [0], 'body_direction': []}"), NULL, 0},
	{REQUEST(NONE, NOBODY ", 'outputs': ['hessian_products'], 'vectors': [[], []]"), NULL, 0},
	{REQUEST(NONE, NOBODY ", 'outputs': ['hessian_products'], 'vectors': []"), NULL, 0},
	{REQUEST(NONE, NOBODY ", 'outputs': ['hessian_products'], 'vectors': 'x'"), "/vectors", API_E_WRONG_TYPE},
	{"{'dim': 5, " MU ", 'collisions': {" NONE "}, 'outputs': ['hessian_products'], 'vectors': [[]]}",
     "/dim /velocities", API_E_OUT_OF_RANGE},
	{REQUEST(NONE, NOBODY ", 'outputs': ['hessian_products'], 'vectors': 3"), "/vectors", API_E_WRONG_SHAPE},
	{REQUEST(NONE, NOBODY ", 'outputs': ['hessian_products'], 'vectors': [[], [1]]"), "/vectors/1", API_E_WRONG_SHAPE},
	{REQUEST(NONE, NOBODY ", 'outputs': ['hessian_products'], 'vectors': [[1]]"), "/vectors", API_E_WRONG_SHAPE},
	{REQUEST(NONE, NOBODY ", 'outputs': ['hessian_products'], 'vectors': [[[]]]"), "/vectors", API_E_WRONG_SHAPE},
	{"{'dim': 5, " MU ", 'collisions': {" NONE "}" NOBODY ", 'outputs': ['hessian_products'], 'vectors': [[]]}", "/dim",
     API_E_OUT_OF_RANGE},
	/* fields that determine the number of bodies */
	{REQUEST(PAIR(""), ", " TWISTS), "/body_positions", API_E_MISSING_FIELD},
	{REQUEST(PAIR(""), ", 'velocities': [], " TWISTS), "/body_positions", API_E_MISSING_FIELD},
	{REQUEST(PAIR(""), ", 'velocities': []"), "/body_positions", API_E_MISSING_FIELD},
	{REQUEST(PLANE, ", 'velocities': [0, 0, 0], 'lagged_body_velocities': []"), "/body_positions", API_E_MISSING_FIELD},
	{REQUEST(PAIR(""), ", " TWO), "/body_velocities", API_E_MISSING_FIELD},
	{REQUEST(PAIR(""), ", " TWO ", 'body_velocity': []"), "/body_velocity", API_E_UNKNOWN_FIELD},
	{REQUEST(PAIR(""), ", 'body_position': [[0, 0, 0], [0, 0, 0]], 'velocities': [], " TWISTS), "/body_position",
     API_E_UNKNOWN_FIELD},
	{BODIES(PLANE, ""), "/velocities", API_E_MISSING_FIELD},
	{BODIES(PAIR("") ", " PLANE, ""), "/velocities", API_E_MISSING_FIELD},
	{REQUEST(PAIR(""), ", 'body_positions': [[0, 0]], " TWISTS), "/body_positions", API_E_WRONG_SHAPE},
	{REQUEST(PAIR(""), ", " TWO ", 'body_velocities': [[1, 2, 3], [1, 2, 3]]"), "/body_velocities", API_E_WRONG_SHAPE},
	{REQUEST(PAIR(""), ", " TWO ", 'body_velocities': [[1, 2, 3, 4, 5, 6]]"), "/body_velocities", API_E_WRONG_SHAPE},
	{BODIES(PAIR(""), ", 'lagged_body_velocities': [1, 2, 3]"), "/lagged_body_velocities", API_E_WRONG_SHAPE},
	{REQUEST(PAIR(""), ", " TWO ", 'body_velocities': [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, null]"),
     "/body_velocities/11", API_E_WRONG_TYPE},
	{REQUEST("'body_body': {'bodies': []}",
             ", 'velocities': [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], " TWO ", " TWISTS),
     "/body_positions", API_E_TOO_MANY_ENTRIES},
	/* stencils */
	{BODIES("'body_body': {'bodies': [[0, 2], [-1, 1]], " TOUCH "}", ""), IN "bodies/0/1 " IN "bodies/1/0",
     API_E_INDEX_OUT_OF_RANGE},
	{BODIES("'body_body': {'bodies': [[0, 1], [1, 1]], " TOUCH "}", ""), IN "bodies/1", API_E_REPEATED_BODY},
	{BODIES("'body_body': {'bodies': [0], " TOUCH "}", ""), IN "bodies", API_E_WRONG_SHAPE},
	{BODIES("'body_world': {'bodies': [[0, 1]], " TOUCH "}", ""), "/collisions/body_world/bodies", API_E_WRONG_SHAPE},
	{BODIES("'body_world': {'bodies': [0.5], " TOUCH "}", ""), "/collisions/body_world/bodies/0", API_E_NOT_AN_INTEGER},
	{BODIES("'body_world': {'vertices': [0], " TOUCH "}", ""),
     "/collisions/body_world/vertices /collisions/body_world/bodies", API_E_UNKNOWN_FIELD},
	{BODIES("'body_world': {'bodies': [0, 0, 0, 0, 0, 0], " TOUCH "}", ""), "/collisions/body_world/bodies",
     API_E_TOO_MANY_ENTRIES},
	/* fields of a group */
	{BODIES("'body_body': {'bodies': [[0, 1]]}", ""), IN "point " IN "normal " IN "normal_force", API_E_MISSING_FIELD},
	{BODIES("'body_body': {'bodies': [[0, 1]], 'point': [1, 2, 3], 'normal_force': 1}", ", 'barrier': {'dhat': 1,"
                                                                                        " 'stiffness': 1}"),
     IN "normal", API_E_MISSING_FIELD},
	{BODIES("'body_body': {'bodies': [[0, 1]], 'point': [1, 2, 3], 'normal': [1, 2, 3]}", ", 'barrier': {'dhat': 1,"
                                                                                          " 'stiffness': 1}"),
     IN "normal_force", API_E_MISSING_FIELD},
	{BODIES("'body_body': {'bodies': [[0, 1]], 'point': [1, 2], 'normal': [0, 0, 0], 'normal_force': -1}", ""),
     IN "point " IN "normal_force " IN "normal", API_E_WRONG_SHAPE},
	{BODIES(PAIR(", 'spin_radius': -1, 'roll_radius': [-1]"), ""), IN "spin_radius " IN "roll_radius/0",
     API_E_OUT_OF_RANGE},
	{BODIES(PAIR(", 'plane_normal': [0, 0, 1]"), ""), IN "plane_normal", API_E_UNKNOWN_FIELD},
	{BODIES(PAIR(", 'closest_point': [0]"), ""), IN "closest_point", API_E_UNKNOWN_FIELD},
	{BODIES(PLANE, ", 'velocities': [0, 0, 0], 'point': [0, 0, 0]"), "/point", API_E_UNKNOWN_FIELD},
	{FLAT(", 'spin_radius': 1"), "/collisions/body_world/spin_radius", API_E_WRONG_DIMENSION},
	{FLAT(", 'grain': [0, 1]"), "/collisions/body_world/grain", API_E_WRONG_DIMENSION},
	/* sources of coefficients */
	{FRICTION("'materials': {'body_material': [0, 1], 'mu': [[1, 2], [2, 3]]}", PAIR("")), NULL, 0},
	{FRICTION("'materials': {'body_material': [0, 1], 'plane_material': 1, 'mu': [[1, 2], [2, 3]]}", WORLD("")), NULL,
     0},
	{FRICTION("'materials': {'mu': [[1, 2], [2, 3]]}", PAIR(", 'mu': 1")), NULL, 0},
	{FRICTION("'materials': {'body_material': [0, 1], 'mu': [[1, 2], [2, 3]]}", WORLD("")),
     "/friction/materials/plane_material", API_E_MISSING_FIELD},
	{FRICTION("'materials': {'mu': [[1, 2], [2, 3]]}", PAIR("") ", " WORLD("")),
     "/friction/materials/body_material /friction/materials/plane_material", API_E_MISSING_FIELD},
	{FRICTION("'materials': {'body_material': [0, 2], 'mu': [[1, 2], [2, 3]]}", PAIR("")),
     "/friction/materials/body_material/1", API_E_INDEX_OUT_OF_RANGE},
	{FRICTION("'materials': {'body_material': [0], 'mu': [[1, 2], [2, 3]]}", PAIR("")),
     "/friction/materials/body_material", API_E_WRONG_SHAPE},
	{FRICTION("'materials': {'body_material': [0, 1], 'mu': [[1]]}, 'viscous': 0", PAIR("") ", " PLANE),
     "/velocities /friction/materials/vertex_material /friction/materials/body_material/1"
     " /friction/materials/plane_material",
     API_E_MISSING_FIELD},
	{FRICTION("'vertex_mu': []", PAIR("")), IN "mu", API_E_MISSING_FIELD},
	{FRICTION("'vertex_mu': []", PAIR(", 'mu': 1")), NULL, 0},
	{FRICTION("'viscous': 1", PAIR("")), "/friction/mu", API_E_MISSING_FIELD},
	{FRICTION("'mu': 1, 'law': 'stribeck'", PAIR("")), "/friction/stribeck_speed", API_E_MISSING_FIELD},
	{FRICTION("'mu': 1, 'law': 'adhesion'", PAIR(", 'mu_s': 1, 'mu_k': 2")), IN "mu_k", API_E_CONFLICTING_FIELDS},
	/* outputs */
	{BODIES(PAIR(""), ", 'hessian': {'format': 'bsr'}"), "/hessian/format", API_E_CONFLICTING_FIELDS},
	{REQUEST("'body_body': {'bodies': []}",
             ", 'body_positions': [], 'body_velocities': [], 'hessian': {'format': 'bsr'}"),
     NULL, 0},
	{LINE(", " DIRECTION), NULL, 0},
	{LINE(", 'direction': [], " DIRECTION), NULL, 0},
	{LINE(", 'direction': []"), "/line/body_direction", API_E_MISSING_FIELD},
	{LINE(""), "/line/body_direction", API_E_MISSING_FIELD},
	{LINE(", 'body_direction': [1, 2, 3]"), "/line/body_direction", API_E_WRONG_SHAPE},
	{BODIES(PLANE, ", 'velocities': [0, 0, 0], 'line': {'steps': [0], " DIRECTION "}"), "/line/direction",
     API_E_MISSING_FIELD},
	{REQUEST(PLANE, ", 'velocities': [0, 0, 0], 'line': {'steps': [0], 'direction': [1, 2, 3], 'body_direction': [1]}"),
     "/line/body_direction", API_E_WRONG_SHAPE},
	{BODIES(PAIR(""), ", 'vectors': [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]]"), NULL, 0},
	{BODIES(PAIR(""), ", 'vectors': [[1, 2, 3, 4, 5, 6]]"), "/vectors", API_E_WRONG_SHAPE},
	{BODIES(PLANE, ", 'velocities': [0, 0, 0], 'vectors': [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]]"), NULL,
     0},
};

static void judge(struct subject *s, const struct case_of *c, bool ok)
{
	char all[16 * 64] = "";
	for (int k = 0; k < s->fault.n_errors; k++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", k ? " " : "", s->fault.errors[k].pointer);
	if (ok != !c->pointers || (c->pointers && strcmp(all, c->pointers) != 0) || s->fault.code != c->code)
		fail_msg("%s: %s \"%s\": %s", c->text, ok ? "accepted" : api_code_name(s->fault.code), all,
		         ok ? "" : s->fault.errors[0].detail);
}

static void requests(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++) {
		struct subject s;
		const bool ok = check_whole(&s, wholes[i].text);
		judge(&s, &wholes[i], ok);
		end(&s);
	}
}

static void the_batch_has_them(void **unused)
{
	(void)unused;
	struct subject s;
	assert_true(check_whole(&s, BODIES(PAIR(", 'spin_radius': 2, 'roll_radius': [3]") ", " WORLD(""),
	                                   ", 'lagged_body_velocities': [13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 14],"
	                                   " 'line': {'steps': [0], " DIRECTION "}")));
	const struct fric_batch *b = &s.lagged.batch;
	const struct fric_group *pair = &b->groups[FRIC_BODY_BODY], *world = &b->groups[FRIC_BODY_WORLD];
	assert_true(b->n_vertices == 0 && b->n_bodies == 2 && b->body_positions[5] == 1);
	assert_true(pair->n == 1 && pair->vertices[1] == 1 && world->n == 2 && world->vertices[0] == 1);
	assert_true(pair->point.data[2] == 0.5 && pair->normal.data[2] == 1 && pair->normal_force.data[0] == 1);
	assert_true(pair->spin_radius.data[0] == 2 && pair->roll_radius.data[0] == 3 && !world->spin_radius.data);
	assert_true(s.lagged.has_group[FRIC_BODY_BODY] && s.lagged.has_group[FRIC_BODY_WORLD]);
	assert_true(s.query.body_velocities[11] == 12 && s.query.lagged_body_velocities[11] == 14);
	assert_true(s.query.body_direction[11] == 12 && !s.query.direction && !s.query.velocities);
	end(&s);
	assert_true(check_whole(&s, FRICTION("'materials': {'body_material': [0, 1], 'mu': [[1, 2], [2, 3]]}", PAIR(""))));
	assert_true(s.lagged.batch.friction.body_material[1] == 1 && !s.lagged.batch.friction.vertex_material);
	assert_true(s.query.lagged_body_velocities == s.query.body_velocities);
	end(&s);
}

#define SET(groups, more) REQUEST(groups, ", " TWO more)
static const struct {
	struct case_of set, query; /* query.text NULL: the set has a fault */
} parts[] = {
	{{SET(PAIR(""), ""), NULL, 0}, {"{" TWISTS "}", NULL, 0}},
	{{SET(PAIR(""), ""), NULL, 0}, {"{" TWISTS ", 'velocities': []}", NULL, 0}},
	{{SET(PAIR(""), ", 'lagged_body_velocities': [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]"), NULL, 0},
     {"{" TWISTS ", 'lagged_body_velocities': [[1, 2, 3, 4, 5, 6]]}", "/lagged_body_velocities", API_E_WRONG_SHAPE}},
	{{SET(PAIR(""), ""), NULL, 0}, {"{'velocities': []}", "/body_velocities", API_E_MISSING_FIELD}},
	{{SET(PAIR(""), ""), NULL, 0},
     {"{'body_velocities': [[1, 2, 3, 4, 5, 6]]}", "/body_velocities", API_E_WRONG_SHAPE}},
	{{SET(PAIR(""), ""), NULL, 0}, {"{" TWISTS ", 'body_positions': []}", "/body_positions", API_E_UNKNOWN_FIELD}},
	{{SET(PAIR(""), ""), NULL, 0},
     {"{" TWISTS ", 'hessian': {'format': 'bsr'}}", "/hessian/format", API_E_CONFLICTING_FIELDS}},
	{{SET(PAIR("") ", " PLANE, ", 'n_vertices': 1"), NULL, 0}, {"{" TWISTS "}", "/velocities", API_E_MISSING_FIELD}},
	{{SET(PAIR("") ", " PLANE, ", 'n_vertices': 1"), NULL, 0}, {"{" TWISTS ", 'velocities': [1, 2, 3]}", NULL, 0}},
	{{SET(PAIR(""), ", " TWISTS), "/body_velocities", API_E_UNKNOWN_FIELD}, {0}},
	{{REQUEST(PAIR(""), ""), "/body_positions", API_E_MISSING_FIELD}, {0}},
	{{REQUEST(PLANE, ", 'n_vertices': 1, 'lagged_body_velocities': []"), "/body_positions", API_E_MISSING_FIELD}, {0}},
	{{SET(PAIR(""), ", 'n_vertices': 5"), "/body_positions", API_E_TOO_MANY_ENTRIES}, {0}},
	{{REQUEST(PLANE, ", 'n_vertices': 1"), NULL, 0},
     {"{'velocities': [1, 2, 3], 'body_velocities': []}", "/body_positions", API_E_MISSING_FIELD}},
};

static void sets_and_queries(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct subject s, asked;
		const bool ok = check_set(&s, parts[i].set.text);
		judge(&s, &parts[i].set, ok);
		if (parts[i].query.text) {
			begin(&asked, parts[i].query.text);
			const bool fine = api_check_request(&asked.check, API_SET_QUERY, &s.facts, NULL, &asked.query, NULL);
			judge(&asked, &parts[i].query, fine);
			end(&asked);
		}
		end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),
		cmocka_unit_test(the_batch_has_them),
		cmocka_unit_test(sets_and_queries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Laws and their additions: which fields go together, and the place of the fault if they do not. */
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
};

/* Texts are written with ' instead of ". */
static bool begin(struct subject *s, const char *text)
{
	struct api_text_fault fault;
	char *copy = strdup(text);
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	*s = (struct subject){0};
	if (!api_document_read_pooled(NULL, copy, strlen(copy), &s->document, &fault))
		fail_msg("%s: %s", text, fault.detail);
	free(copy);
	s->check = (struct api_check){.document = &s->document, .arena = &s->arena, .fault = &s->fault};
	return api_check_request(&s->check, API_WHOLE, NULL, &s->lagged, &s->query, NULL);
}

static void end(struct subject *s)
{
	api_document_free(&s->document);
	api_arena_free(&s->arena);
}

/* Two vertices on a floor. */
#define PLANE(more) "'plane_vertex': {'vertices': [0, 1], 'normal_force': 1, 'plane_normal': [0, 0, 1]" more "}"
#define BATCH(friction, groups) \
	"{'dim': 3, 'velocities': [[0, 0, 0], [0, 0, 0]], 'friction': {'eps_v': 1" friction "}, 'collisions': {" groups "}}"
#define LAW(friction) BATCH(", 'mu': 1" friction, PLANE(""))
#define GROUP(friction, more) BATCH(", 'mu': 1" friction, PLANE(more))
#define CURVE(points) LAW(", 'law': 'curve', 'curve': " points)
#define C3 "{'speeds': [0, 1, 2], 'factors': [1, 0.5, 0.75]}"
#define BASIS "'tangent_basis': [[1, 0], [0, 1], [0, 0]]"
#define TABLES(s, k) \
	BATCH(", 'law': 'adhesion', 'materials': {'vertex_material': [0, 1], 'plane_material': 0, 'mu_s': " s \
	      ", 'mu_k': " k "}", \
	      PLANE(""))

/* The same row twenty times, and the pointers of the first sixteen faults; the others are not reported. */
#define FIVE(x) x ", " x ", " x ", " x ", " x
#define TWENTY(x) FIVE(x) ", " FIVE(x) ", " FIVE(x) ", " FIVE(x)
#define TWENTY_CONTACTS "'plane_vertex': {'vertices': [" TWENTY("0") "], 'normal_force': 1, 'plane_normal': [0, 0, 1]"
#define SIXTEEN(array, from) SIXTEEN_FROM_##from(array)
#define SIXTEEN_FROM_0(a) \
	a "0 " a "1 " a "2 " a "3 " a "4 " a "5 " a "6 " a "7 " a "8 " a "9 " a "10 " a "11 " a "12 " a "13 " a "14 " a "15"
#define SIXTEEN_FROM_1(a) \
	a "1 " a "2 " a "3 " a "4 " a "5 " a "6 " a "7 " a "8 " a "9 " a "10 " a "11 " a "12 " a "13 " a "14 " a "15 " a \
	  "16"

/* pointers: the pointers of all faults, separated by blanks; NULL: none */
static const struct {
	const char *text, *pointers;
	enum api_code code;
} cases[] = {
	{LAW(", 'law': 'smooth', 'mu_transition': 'peak'"), NULL, 0},
	{LAW(", 'law': 'adhesion'"), NULL, 0},
	{LAW(", 'law': 'stribeck', 'stribeck_speed': 2"), NULL, 0},
	{LAW(", 'law': 'exponential', 'stribeck_speed': 2"), NULL, 0},
	{GROUP(", 'law': 'stribeck'", ", 'stribeck_speed': [1, 2]"), NULL, 0},
	{GROUP(", 'law': 'exponential', 'stribeck_speed': 1", ", 'stribeck_speed': 2"), NULL, 0},
	{LAW(", 'law': 'curve', 'curve': " C3), NULL, 0},
	{LAW(", 'viscous': 0"), NULL, 0},
	{GROUP(", 'viscous': 2", ", 'viscous': [0, 3]"), NULL, 0},
	{GROUP("", ", 'surface_velocity': [1, 2, 3], 'anchor': [1, 2, 3, 4, 5, 6], 'grain': [[0, 0, 1], [1, 0, 0]]"), NULL,
     0},
	/* a group without contacts needs no speed */
	{BATCH(", 'mu': 1, 'law': 'stribeck'", "'plane_vertex': {'vertices': []}"), NULL, 0},
	/* words and kinds */
	{LAW(", 'law': 'coulomb'"), "/friction/law", API_E_UNKNOWN_WORD},
	{LAW(", 'law': null"), "/friction/law", API_E_WRONG_TYPE},
	{LAW(", 'law': 1"), "/friction/law", API_E_WRONG_TYPE},
	{LAW(", 'laws': 'stribeck'"), "/friction/laws", API_E_UNKNOWN_FIELD},
	{LAW(", 'laws': 'curve', 'curve': " C3), "/friction/laws", API_E_UNKNOWN_FIELD},
	{LAW(", 'law': 'coulomb', 'stribeck_speed': 1, 'mu_transition': 'peak'"), "/friction/law", API_E_UNKNOWN_WORD},
	{LAW(", 'viscous': -1"), "/friction/viscous", API_E_OUT_OF_RANGE},
	{LAW(", 'viscous': [1]"), "/friction/viscous", API_E_WRONG_TYPE},
	{LAW(", 'viscous': null"), "/friction/viscous", API_E_WRONG_TYPE},
	{GROUP("", ", 'viscous': [0, -1]"), "/collisions/plane_vertex/viscous/1", API_E_OUT_OF_RANGE},
	{GROUP("", ", 'viscous': [1, 2, 3]"), "/collisions/plane_vertex/viscous", API_E_WRONG_SHAPE},
	/* fields of other laws */
	{LAW(", 'stribeck_speed': 1"), "/friction/stribeck_speed", API_E_WITHOUT_EFFECT},
	{LAW(", 'law': 'adhesion', 'stribeck_speed': 1"), "/friction/stribeck_speed", API_E_WITHOUT_EFFECT},
	{LAW(", 'law': 'curve', 'curve': " C3 ", 'stribeck_speed': 1"), "/friction/stribeck_speed", API_E_WITHOUT_EFFECT},
	{GROUP("", ", 'stribeck_speed': 1"), "/collisions/plane_vertex/stribeck_speed", API_E_WITHOUT_EFFECT},
	{LAW(", 'curve': " C3), "/friction/curve", API_E_WITHOUT_EFFECT},
	{LAW(", 'law': 'stribeck', 'stribeck_speed': 1, 'curve': " C3), "/friction/curve", API_E_WITHOUT_EFFECT},
	{LAW(", 'law': 'adhesion', 'mu_transition': 'cubic'"), "/friction/mu_transition", API_E_WITHOUT_EFFECT},
	{LAW(", 'law': 'curve', 'curve': " C3 ", 'mu_transition': 'peak'"), "/friction/mu_transition",
     API_E_WITHOUT_EFFECT},
	/* fields that a law needs */
	{LAW(", 'law': 'stribeck'"), "/friction/stribeck_speed", API_E_MISSING_FIELD},
	{LAW(", 'law': 'exponential', 'stribeck_speed': 0"), "/friction/stribeck_speed", API_E_OUT_OF_RANGE},
	{LAW(", 'law': 'exponential', 'stribeck_speed': [1]"), "/friction/stribeck_speed", API_E_WRONG_TYPE},
	{GROUP(", 'law': 'stribeck'", ", 'stribeck_speed': [1, 0]"), "/collisions/plane_vertex/stribeck_speed/1",
     API_E_OUT_OF_RANGE},
	{BATCH(", 'mu': 1, 'law': 'stribeck'",
           "'vertex_vertex': {'vertices': [[0, 1]], 'normal_force': 1,"
           " 'tangent_basis': [[1, 0], [0, 1], [0, 0]], 'stribeck_speed': 1}, " PLANE("")),
     "/friction/stribeck_speed", API_E_MISSING_FIELD},
	{LAW(", 'law': 'curve'"), "/friction/curve", API_E_MISSING_FIELD},
	/* points of a curve */
	{CURVE("3"), "/friction/curve", API_E_WRONG_TYPE},
	{CURVE("[[0, 1], [1, 1]]"), "/friction/curve", API_E_WRONG_TYPE},
	{CURVE("{}"), "/friction/curve/speeds /friction/curve/factors", API_E_MISSING_FIELD},
	{CURVE("{'speeds': [0, 1]}"), "/friction/curve/factors", API_E_MISSING_FIELD},
	{CURVE("{'factors': [1, 1]}"), "/friction/curve/speeds", API_E_MISSING_FIELD},
	{CURVE("{'speeds': [0, 1], 'factors': [1, 1], 'slopes': [0, 0]}"), "/friction/curve/slopes", API_E_UNKNOWN_FIELD},
	{CURVE("{'speeds': [0], 'factors': [1]}"), "/friction/curve/speeds", API_E_WRONG_SHAPE},
	{CURVE("{'speeds': [], 'factors': []}"), "/friction/curve/speeds", API_E_WRONG_SHAPE},
	{CURVE("{'speeds': [[0, 1]], 'factors': [1, 1]}"), "/friction/curve/speeds", API_E_WRONG_SHAPE},
	{CURVE("{'speeds': 0, 'factors': [1, 1]}"), "/friction/curve/speeds", API_E_WRONG_SHAPE},
	{CURVE("{'speeds': [0, 1, 2], 'factors': [1, 1]}"), "/friction/curve/factors", API_E_WRONG_SHAPE},
	{CURVE("{'speeds': [0, 1], 'factors': 1}"), "/friction/curve/factors", API_E_WRONG_SHAPE},
	{CURVE("{'speeds': [1e-9, 1], 'factors': [1, 1]}"), "/friction/curve/speeds/0", API_E_OUT_OF_RANGE},
	{CURVE("{'speeds': [-1, 1], 'factors': [1, 1]}"), "/friction/curve/speeds/0", API_E_OUT_OF_RANGE},
	{CURVE("{'speeds': [0, 1, 1, 2, 1.5], 'factors': [1, 1, 1, 1, 1]}"),
     "/friction/curve/speeds/2 /friction/curve/speeds/4", API_E_OUT_OF_RANGE},
	{CURVE("{'speeds': [0, 0], 'factors': [1, 1]}"), "/friction/curve/speeds/1", API_E_OUT_OF_RANGE},
	{CURVE("{'speeds': [0, 1], 'factors': [0.5, 1]}"), "/friction/curve/factors/0", API_E_OUT_OF_RANGE},
	{CURVE("{'speeds': [" TWENTY("0") "], 'factors': [" TWENTY("1") "]}"), SIXTEEN("/friction/curve/speeds/", 1),
     API_E_OUT_OF_RANGE},
	{CURVE("{'speeds': [0, 1], 'factors': [1, -1]}"), "/friction/curve/factors/1", API_E_OUT_OF_RANGE},
	{CURVE("{'speeds': [0, 'x'], 'factors': [1, null]}"), "/friction/curve/speeds/1 /friction/curve/factors/1",
     API_E_WRONG_TYPE},
	/* one coefficient */
	{BATCH(", 'mu_s': 1, 'mu_k': 1, 'law': 'adhesion'", PLANE("")), NULL, 0},
	{BATCH(", 'mu_s': 1, 'mu_k': 0.5, 'law': 'adhesion'", PLANE("")), "/friction/mu_k", API_E_CONFLICTING_FIELDS},
	{BATCH(", 'mu_s': 0.5, 'mu_k': 1, 'law': 'curve', 'curve': " C3, PLANE("")), "/friction/mu_k",
     API_E_CONFLICTING_FIELDS},
	{BATCH(", 'mu_s': 1, 'mu_k': -1, 'law': 'adhesion'", PLANE("")), "/friction/mu_k", API_E_OUT_OF_RANGE},
	{BATCH(", 'mu_s': 1, 'mu_k': [1], 'law': 'adhesion'", PLANE("")), "/friction/mu_k", API_E_WRONG_TYPE},
	{BATCH(", 'mu_s': 1, 'law': 'adhesion'", PLANE("")), "/friction/mu_k", API_E_MISSING_FIELD},
	{BATCH(", 'vertex_mu_s': [1, 2], 'vertex_mu_k': [1, 2], 'law': 'adhesion'", PLANE("")), NULL, 0},
	{BATCH(", 'vertex_mu_s': [1, 2], 'vertex_mu_k': [2, 1], 'law': 'adhesion'", PLANE("")),
     "/friction/vertex_mu_k/0 /friction/vertex_mu_k/1", API_E_CONFLICTING_FIELDS},
	{TABLES("[[1, 2], [2, 3]]", "[1, 2, 2, 3]"), NULL, 0},
	{TABLES("[[1, 2], [2, 3]]", "[[1, 2], [2, 1]]"), "/friction/materials/mu_k/1/1", API_E_CONFLICTING_FIELDS},
	{TABLES("[[1, 2], [2, 3]]", "[1, 1, 1, 3]"), "/friction/materials/mu_k/1 /friction/materials/mu_k/2",
     API_E_CONFLICTING_FIELDS},
	{GROUP(", 'law': 'adhesion'", ", 'mu_s': [1, 2], 'mu_k': [1, 2]"), NULL, 0},
	{GROUP(", 'law': 'adhesion'", ", 'mu_s': 1, 'mu_k': [1, 1]"), NULL, 0},
	{GROUP(", 'law': 'adhesion'", ", 'mu_s': 1, 'mu_k': [1, 2]"), "/collisions/plane_vertex/mu_k/1",
     API_E_CONFLICTING_FIELDS},
	{GROUP(", 'law': 'adhesion'", ", 'mu_s': [2, 2], 'mu_k': 1"), "/collisions/plane_vertex/mu_k",
     API_E_CONFLICTING_FIELDS},
	{GROUP(", 'law': 'adhesion'", ", 'mu_s': [1, 2], 'mu_k': [1]"), "/collisions/plane_vertex/mu_k/0",
     API_E_CONFLICTING_FIELDS},
	{GROUP(", 'law': 'adhesion'", ", 'mu_s_aniso': [1, 2], 'mu_k_aniso': [[1, 2], [1, 2]]"), NULL, 0},
	{GROUP(", 'law': 'adhesion'", ", 'mu_s_aniso': [0, 0]"), NULL, 0},
	{GROUP(", 'law': 'adhesion'", ", 'mu_s_aniso': [1, 2], 'mu_k_aniso': [[1, 2], [1, 3]]"),
     "/collisions/plane_vertex/mu_k_aniso/1/1", API_E_CONFLICTING_FIELDS},
	{GROUP(", 'law': 'adhesion'", ", 'mu_s_aniso': [1, 2], 'mu_k_aniso': [3, 4]"),
     "/collisions/plane_vertex/mu_k_aniso/0 /collisions/plane_vertex/mu_k_aniso/1", API_E_CONFLICTING_FIELDS},
	{BATCH(", 'law': 'adhesion'", TWENTY_CONTACTS ", 'mu_s': [" TWENTY("1") "], 'mu_k': [" TWENTY("2") "]}"),
     SIXTEEN("/collisions/plane_vertex/mu_k/", 0), API_E_CONFLICTING_FIELDS},
	{GROUP(", 'law': 'adhesion'", ", 'mu_k_aniso': [0, 1]"), "/collisions/plane_vertex/mu_k_aniso/1",
     API_E_CONFLICTING_FIELDS},
	{GROUP(", 'law': 'adhesion'", ", 'mu_s_aniso': [1, 1]"), "/collisions/plane_vertex/mu_k_aniso",
     API_E_CONFLICTING_FIELDS},
	{GROUP(", 'law': 'stribeck', 'stribeck_speed': 1", ", 'mu_s': 1, 'mu_k': 2, 'mu_s_aniso': [1, 1]"), NULL, 0},
	/* surface velocity, anchor and grain */
	{GROUP("", ", 'surface_velocity': [1, 2]"), "/collisions/plane_vertex/surface_velocity", API_E_WRONG_SHAPE},
	{GROUP("", ", 'surface_velocity': 1"), "/collisions/plane_vertex/surface_velocity", API_E_WRONG_SHAPE},
	{GROUP("", ", 'anchor': [[1, 2, 3], [1, 2, null]]"), "/collisions/plane_vertex/anchor/1/2", API_E_WRONG_TYPE},
	{GROUP("", ", 'grain': [1, 0]"), "/collisions/plane_vertex/grain", API_E_WRONG_SHAPE},
	{GROUP("", ", 'grain': [[1, 0, 0], [0, 0, 0]]"), "/collisions/plane_vertex/grain/1", API_E_ZERO_GRAIN},
	{GROUP("", ", 'grain': [0, -0.0, 0]"), "/collisions/plane_vertex/grain", API_E_ZERO_GRAIN},
	{GROUP("", ", 'grain': [1, 0, 0], " BASIS), "/collisions/plane_vertex/grain /collisions/plane_vertex/tangent_basis",
     API_E_CONFLICTING_FIELDS},
	{"{'dim': 2, 'velocities': [[0, 0]], 'friction': {'eps_v': 1, 'mu': 1}, 'collisions': {'plane_vertex': {'vertices':"
     " [0], 'normal_force': 1, 'plane_normal': [0, 1], 'grain': [1, 0], 'anchor': [1, 2], 'surface_velocity': [[1, 2]]}}}",
     "/collisions/plane_vertex/grain", API_E_WRONG_DIMENSION},
};

static void fields_go_with_laws(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char all[16 * 64] = "";
		struct subject s;
		const bool ok = begin(&s, cases[i].text);
		for (int k = 0; k < s.fault.n_errors; k++)
			snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", k ? " " : "", s.fault.errors[k].pointer);
		if (ok != !cases[i].pointers || (cases[i].pointers && strcmp(all, cases[i].pointers) != 0) ||
		    s.fault.code != cases[i].code)
			fail_msg("%s: %s \"%s\": %s", cases[i].text, ok ? "accepted" : api_code_name(s.fault.code), all,
			         ok ? "" : s.fault.errors[0].detail);
		end(&s);
	}
}

static void the_batch_has_them(void **unused)
{
	(void)unused;
	struct subject s;
	assert_true(begin(&s, GROUP(", 'law': 'stribeck', 'stribeck_speed': 3, 'viscous': 4",
	                            ", 'stribeck_speed': [5, 6], 'viscous': 7, 'anchor': [1, 2, 3, 4, 5, 6],"
	                            " 'surface_velocity': [7, 8, 9], 'grain': [[0, 1, 2], [3, 4, 5]]")));
	const struct fric_law *law = &s.lagged.batch.friction.law;
	const struct fric_group *g = &s.lagged.batch.groups[FRIC_PLANE_VERTEX];
	assert_int_equal(law->type, FRIC_STRIBECK);
	assert_true(law->stribeck_speed == 3 && law->viscous == 4);
	assert_true(g->stribeck_speed.stride == 1 && g->stribeck_speed.data[1] == 6);
	assert_true(g->viscous.stride == 0 && g->viscous.data[0] == 7);
	assert_true(g->anchor.stride == 3 && g->anchor.data[5] == 6);
	assert_true(g->surface_velocity.stride == 0 && g->surface_velocity.data[2] == 9);
	assert_true(g->grain.stride == 3 && g->grain.data[5] == 5);
	end(&s);
	assert_true(begin(&s, LAW(", 'law': 'curve', 'curve': " C3)));
	assert_int_equal(s.lagged.batch.friction.law.type, FRIC_CURVE);
	assert_int_equal(s.lagged.batch.friction.law.curve.n, 3);
	assert_true(s.lagged.batch.friction.law.curve.speeds[2] == 2 &&
	            s.lagged.batch.friction.law.curve.factors[1] == 0.5);
	end(&s);
	assert_true(begin(&s, LAW("")));
	const struct fric_law none = {0};
	assert_memory_equal(&s.lagged.batch.friction.law, &none, sizeof(none));
	end(&s);
}

/* 2 to 4096 points. */
static void a_curve_has_so_many_points(void **unused)
{
	(void)unused;
	for (int n = API_MOST_POINTS; n <= API_MOST_POINTS + 1; n++) {
		char *text = malloc(100000), *at = text;
		struct subject s;
		at += sprintf(at, "{'dim': 2, 'velocities': [], 'collisions': {'plane_vertex': {'vertices': []}},"
		                  " 'friction': {'law': 'curve', 'curve': {'speeds': [0");
		for (int i = 1; i < n; i++)
			at += sprintf(at, ",%d", i);
		at += sprintf(at, "], 'factors': [1");
		for (int i = 1; i < n; i++)
			at += sprintf(at, ",%d", i);
		sprintf(at, "]}}}");
		assert_true(begin(&s, text) == (n == API_MOST_POINTS));
		assert_int_equal(s.fault.n_errors, n - API_MOST_POINTS);
		if (n > API_MOST_POINTS)
			assert_string_equal(s.fault.errors[0].pointer, "/friction/curve/speeds");
		end(&s);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_go_with_laws),
		cmocka_unit_test(the_batch_has_them),
		cmocka_unit_test(a_curve_has_so_many_points),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

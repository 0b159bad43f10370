/* Reading fields of a document, one reader at a time. Tests of whole requests cover their combination. */
#include "api/validate/query.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/base/account.h"

/* A document {"f": ...} under validation. */
struct subject {
	struct api_document document;
	struct api_arena arena;
	struct api_fault fault;
	struct api_check check;
	struct api_field root, field;
};

static void begin(struct subject *s, const char *text)
{
	struct api_text_fault fault;
	*s = (struct subject){0};
	if (!api_document_read_pooled(NULL, text, strlen(text), &s->document, &fault))
		fail_msg("%s: %s", text, fault.detail);
	s->check = (struct api_check){.document = &s->document, .arena = &s->arena, .fault = &s->fault};
	s->root = (struct api_field){.node = s->document.root};
	s->field = api_member(&s->root, "f");
}

static void end(struct subject *s)
{
	api_document_free(&s->document);
	api_arena_free(&s->arena);
}

/* pointer NULL: accepted */
static void judge(const struct subject *s, const char *text, bool ok, const char *pointer)
{
	if (ok != !pointer || ok != !s->fault.status)
		fail_msg("%s: %s %s", text, ok ? "accepted" : "refused", s->fault.errors[0].detail);
	if (pointer && (s->fault.status != 422 || strcmp(s->fault.errors[0].pointer, pointer) != 0))
		fail_msg("%s: %d \"%s\", not \"%s\"", text, s->fault.status, s->fault.errors[0].pointer, pointer);
}

static void objects(void **unused)
{
	(void)unused;
	static const struct api_rule known[] = {
		{.name = "a"}, {.name = "b", .types = 2}, {.name = "of others", .types = 5}};
	static const struct api_object object = {.rules = known, .n_rules = 3, .type = 1};
	static const struct {
		const char *text, *pointer;
	} cases[] = {
		{"{\"f\":{\"of others\":1}}", "/f/of others"},
		{"{\"f\":{}}", NULL},
		{"{\"f\":{\"b\":1,\"a\":null}}", NULL},
		{"{\"f\":{\"a\":1,\"c\":1}}", "/f/c"},
		{"{\"f\":{\"aa\":1}}", "/f/aa"},
		{"{\"f\":{\"\":1}}", "/f/"},
		{"{\"f\":{\"a/~\":1}}", "/f/a~1~0"},
		{"{\"f\":{\"d\":1,\"c\":1}}", "/f/d"},
		{"{\"f\":[]}", "/f"},
		{"{\"f\":[{}]}", "/f"},
		{"{\"f\":3}", "/f"},
		{"{\"f\":\"a\"}", "/f"},
		{"{\"f\":null}", "/f"},
		{"{\"f\":true}", "/f"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;
		begin(&s, cases[i].text);
		judge(&s, cases[i].text, api_check_object(&s.check, &s.field, &object), cases[i].pointer);
		end(&s);
	}
}

/* Members of a validated object are found by rule. Before validation, and when no places are left, they are looked
 * up by name, with the same result. */
static void members_by_rule(void **unused)
{
	(void)unused;
	static const struct api_rule known[] = {
		{.name = "a"}, {.name = "b", .types = 2}, {.name = "of others", .types = 5}, {.name = "ab"}};
	static const struct api_object object = {.rules = known, .n_rules = 4, .type = 1};
	static const int taken[] = {-1, 0, API_MAX_MEMBERS - 4, API_MAX_MEMBERS - 3, API_MAX_MEMBERS};
	for (size_t t = 0; t < sizeof(taken) / sizeof(taken[0]); t++) {
		struct subject s;
		begin(&s, "{\"f\":{\"ab\":null,\"b\":\"x\"}}");
		s.check.n_members = taken[t] < 0 ? 0 : taken[t];
		assert_true(taken[t] < 0 || api_check_object(&s.check, &s.field, &object));
		assert_true((s.field.members != NULL) == (taken[t] >= 0 && taken[t] + 4 <= API_MAX_MEMBERS));
		assert_true(s.check.n_members <= API_MAX_MEMBERS);
		for (int i = 0; i < 4; i++) {
			const struct api_field member = api_ruled(&s.field, &object, i);
			assert_ptr_equal(member.rule, &known[i]);
			assert_string_equal(member.path.key, known[i].name);
			assert_ptr_equal(member.path.up, &s.field.path);
			assert_ptr_equal(member.node, json_object_get(s.field.node, known[i].name));
			assert_null(member.members);
		}
		end(&s);
	}
}

static void members(void **unused)
{
	(void)unused;
	struct subject s;
	begin(&s, "{\"f\":[1,2],\"n\":null}");
	const struct api_field null = api_member(&s.root, "n"), absent = api_member(&s.root, "x"),
						   below = api_member(&s.field, "y");
	assert_non_null(null.node);
	assert_null(absent.node);
	assert_null(below.node);
	assert_true(api_check_present(&s.check, &null, "why"));
	assert_false(api_check_present(&s.check, &absent, "a reason"));
	assert_string_equal(s.fault.errors[0].pointer, "/x");
	assert_non_null(strstr(s.fault.errors[0].detail, "a reason"));
	end(&s);
}

static void kinds(void **unused)
{
	(void)unused;
	static const struct {
		const char *text, *kind;
	} cases[] = {
		{"{\"f\":1}", "a number"},          {"{\"f\":[1]}", "an array of numbers"}, {"{\"f\":[\"a\"]}", "an array"},
		{"{\"f\":{}}", "an object"},        {"{\"f\":\"a\"}", "a string"},          {"{\"f\":null}", "null"},
		{"{\"f\":false}", "true or false"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;
		begin(&s, cases[i].text);
		assert_string_equal(api_kind(&s.check, s.field.node), cases[i].kind);
		end(&s);
	}
}

static void choices_of_one(void **unused)
{
	(void)unused;
	static const char *const names[] = {"error", "skip", "stop", NULL};
	static const struct {
		const char *text, *pointer;
		int choice;
	} cases[] = {
		{"{}", NULL, 7},
		{"{\"f\":\"error\"}", NULL, 0},
		{"{\"f\":\"stop\"}", NULL, 2},
		{"{\"f\":\"\"}", "/f", 7},
		{"{\"f\":\"Error\"}", "/f", 7},
		{"{\"f\":\"error \"}", "/f", 7},
		{"{\"f\":\"err\"}", "/f", 7},
		{"{\"f\":[\"error\"]}", "/f", 7},
		{"{\"f\":0}", "/f", 7},
		{"{\"f\":null}", "/f", 7},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;
		int choice = 7;
		begin(&s, cases[i].text);
		judge(&s, cases[i].text, api_check_choice(&s.check, &s.field, names, &choice), cases[i].pointer);
		assert_int_equal(choice, cases[i].choice);
		end(&s);
	}
}

static void choices_of_many(void **unused)
{
	(void)unused;
	static const char *const names[] = {"a", "b", "c", NULL};
	static const struct {
		const char *text, *pointer, *flags;
	} cases[] = {
		{"{}", NULL, "101"},
		{"{\"f\":[]}", NULL, "000"},
		{"{\"f\":[\"b\"]}", NULL, "010"},
		{"{\"f\":[\"c\",\"a\",\"c\"]}", NULL, "101"},
		{"{\"f\":\"a\"}", "/f", NULL},
		{"{\"f\":[\"a\",\"d\"]}", "/f/1", NULL},
		{"{\"f\":[1]}", "/f/0", NULL},
		{"{\"f\":[\"a\",1]}", "/f/1", NULL},
		{"{\"f\":[[]]}", "/f/0", NULL},
		{"{\"f\":[\"a\",[\"b\"]]}", "/f/1", NULL},
		{"{\"f\":[null]}", "/f/0", NULL},
		{"{\"f\":{}}", "/f", NULL},
		{"{\"f\":null}", "/f", NULL},
		{"{\"f\":3}", "/f", NULL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;
		bool flags[] = {true, false, true};
		begin(&s, cases[i].text);
		judge(&s, cases[i].text, api_check_choices(&s.check, &s.field, names, flags), cases[i].pointer);
		for (int k = 0; k < 3 && cases[i].flags; k++)
			assert_int_equal(flags[k], cases[i].flags[k] == '1');
		end(&s);
	}
}

static void booleans(void **unused)
{
	(void)unused;
	static const struct {
		const char *text, *pointer;
		bool value;
	} cases[] = {
		{"{}", NULL, true},        {"{\"f\":true}", NULL, true},     {"{\"f\":false}", NULL, false},
		{"{\"f\":1}", "/f", true}, {"{\"f\":\"true\"}", "/f", true}, {"{\"f\":null}", "/f", true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;
		bool value = true;
		begin(&s, cases[i].text);
		judge(&s, cases[i].text, api_check_bool(&s.check, &s.field, &value), cases[i].pointer);
		assert_int_equal(value, cases[i].value);
		end(&s);
	}
}

static void numbers_in_range(void **unused)
{
	(void)unused;
	static const struct {
		const char *text;
		enum api_range range;
		const char *pointer;
		double value;
	} cases[] = {
		{"{}", API_POSITIVE, NULL, 7},
		{"{\"f\":-3.5}", API_ANY, NULL, -3.5},
		{"{\"f\":0}", API_NON_NEGATIVE, NULL, 0},
		{"{\"f\":-0.0}", API_NON_NEGATIVE, NULL, -0.0},
		{"{\"f\":5e-324}", API_POSITIVE, NULL, 5e-324},
		{"{\"f\":0}", API_POSITIVE, "/f", 7},
		{"{\"f\":-0.0}", API_POSITIVE, "/f", 7},
		{"{\"f\":1e-400}", API_POSITIVE, "/f", 7},
		{"{\"f\":-5e-324}", API_NON_NEGATIVE, "/f", 7},
		{"{\"f\":[1]}", API_ANY, "/f", 7},
		{"{\"f\":[]}", API_ANY, "/f", 7},
		{"{\"f\":\"1\"}", API_ANY, "/f", 7},
		{"{\"f\":null}", API_ANY, "/f", 7},
		{"{\"f\":false}", API_ANY, "/f", 7},
		{"{\"f\":{}}", API_ANY, "/f", 7},
		{"{\"f\":[\"1\"]}", API_ANY, "/f/0", 7},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;
		double value = 7;
		begin(&s, cases[i].text);
		judge(&s, cases[i].text, api_check_number(&s.check, &s.field, cases[i].range, &value), cases[i].pointer);
		assert_true(value == cases[i].value);
		end(&s);
	}
}

static void single_indices(void **unused)
{
	(void)unused;
	static const struct {
		const char *text, *pointer;
		int32_t value;
	} cases[] = {
		{"{}", NULL, 9},
		{"{\"f\":0}", NULL, 0},
		{"{\"f\":4}", NULL, 4},
		{"{\"f\":-0}", NULL, 0},
		{"{\"f\":5}", "/f", 9},
		{"{\"f\":-1}", "/f", 9},
		{"{\"f\":4.0}", "/f", 9},
		{"{\"f\":4e0}", "/f", 9},
		{"{\"f\":4294967296}", "/f", 9},
		{"{\"f\":18446744073709551616}", "/f", 9},
		{"{\"f\":[4]}", "/f", 9},
		{"{\"f\":\"4\"}", "/f", 9},
		{"{\"f\":null}", "/f", 9},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;
		int32_t value = 9;
		begin(&s, cases[i].text);
		judge(&s, cases[i].text, api_check_index(&s.check, &s.field, 5, "vertex", &value), cases[i].pointer);
		if (!cases[i].pointer)
			assert_int_equal(value, cases[i].value);
		end(&s);
	}
}

static void counts_of_rows(void **unused)
{
	(void)unused;
	static const struct {
		const char *text;
		size_t row;
		const char *pointer;
		size_t n;
	} cases[] = {
		{"{\"f\":[]}", 0, NULL, 0},
		{"{\"f\":[]}", 3, NULL, 0},
		{"{\"f\":[1,2,3]}", 0, NULL, 3},
		{"{\"f\":[1,2,3]}", 3, NULL, 1},
		{"{\"f\":[1,2,3,4,5,6]}", 3, NULL, 2},
		{"{\"f\":[[1,2,3],[4,5,6]]}", 3, NULL, 2},
		{"{\"f\":[[1],[2]]}", 1, NULL, 2},
		{"{\"f\":[1,2]}", 3, "/f", 0},
		{"{\"f\":[[1,2]]}", 3, "/f", 0},
		{"{\"f\":[[1,2,3]]}", 0, "/f", 0},
		{"{\"f\":[[]]}", 3, "/f", 0},
		{"{\"f\":[[],[]]}", 3, "/f", 0},
		{"{\"f\":[[[1,2,3]]]}", 3, "/f", 0},
		{"{\"f\":1}", 0, "/f", 0},
		{"{\"f\":[[1,2,3],[1,2]]}", 3, "/f/1", 0},
		{"{\"f\":[[1,2,3],[1,null,3]]}", 3, "/f/1/1", 0},
		{"{\"f\":\"a\"}", 3, "/f", 0},
		{"{\"f\":[[[[[1]]]]]}", 3, "/f", 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;
		size_t n = 99;
		begin(&s, cases[i].text);
		judge(&s, cases[i].text, api_check_rows(&s.check, &s.field, cases[i].row, &n), cases[i].pointer);
		if (!cases[i].pointer)
			assert_int_equal(n, cases[i].n);
		end(&s);
	}
}

/* stride 99: refused; data absent: 98 */
static void forms_of_values(void **unused)
{
	(void)unused;
	static const struct api_shape number = {.n = 3, .one_for_all = true}, none = {.n = 0, .one_for_all = true},
								  one = {.n = 1, .one_for_all = true}, strict = {.n = 3}, strict_one = {.n = 1},
								  vertices = {.n = 2, .n_inner = 1, .inner = {2}},
								  pairs = {.n = 3, .n_inner = 1, .inner = {2}, .one_for_all = true},
								  no_pairs = {.n = 0, .n_inner = 1, .inner = {2}, .one_for_all = true},
								  two_pairs = {.n = 2, .n_inner = 1, .inner = {2}, .one_for_all = true},
								  single = {.n = 3,
	                                        .n_inner = 1,
	                                        .inner = {1},
	                                        .one_for_all = true,
	                                        .number_row = true},
								  columns = {.n = 3, .n_inner = 1, .inner = {1}, .one_for_all = true},
								  basis = {.n = 3, .n_inner = 2, .inner = {3, 2}, .one_for_all = true},
								  basis_2d = {.n = 2, .n_inner = 2, .inner = {2, 1}, .one_for_all = true};
	static const struct {
		const struct api_shape *shape;
		const char *text;
		size_t stride;
	} cases[] = {
		{&number, "{}", 98},
		{&number, "{\"f\":5}", 0},
		{&number, "{\"f\":[5]}", 0},
		{&number, "{\"f\":[5,6,7]}", 1},
		{&number, "{\"f\":[5,6]}", 99},
		{&number, "{\"f\":[5,6,7,8]}", 99},
		{&number, "{\"f\":[]}", 99},
		{&number, "{\"f\":[[5]]}", 99},
		{&number, "{\"f\":[[5],[6],[7]]}", 99},
		{&number, "{\"f\":[[5,6,7]]}", 99},
		{&none, "{\"f\":5}", 0},
		{&none, "{\"f\":[5]}", 0},
		{&none, "{\"f\":[]}", 1},
		{&none, "{\"f\":[5,6]}", 99},
		{&one, "{\"f\":5}", 0},
		{&one, "{\"f\":[5]}", 1},
		{&one, "{\"f\":[[5]]}", 99},
		{&strict, "{\"f\":5}", 99},
		{&strict, "{\"f\":[5]}", 99},
		{&strict, "{\"f\":[5,6,7]}", 1},
		{&strict_one, "{\"f\":5}", 99},
		{&strict_one, "{\"f\":[5]}", 1},
		{&pairs, "{\"f\":[[5,6],[7,8],[9,0]]}", 2},
		{&pairs, "{\"f\":[5,6,7,8,9,0]}", 2},
		{&pairs, "{\"f\":[5,6]}", 0},
		{&pairs, "{\"f\":[[5,6]]}", 0},
		{&pairs, "{\"f\":5}", 99},
		{&pairs, "{\"f\":[5]}", 99},
		{&pairs, "{\"f\":[5,6,7]}", 99},
		{&pairs, "{\"f\":[[5],[6]]}", 99},
		{&pairs, "{\"f\":[[5,6],[7,8]]}", 99},
		{&pairs, "{\"f\":[[5,6,7],[8,9,0]]}", 99},
		{&pairs, "{\"f\":[[[5,6]]]}", 99},
		{&pairs, "{\"f\":[[],[],[]]}", 99},
		{&no_pairs, "{\"f\":[]}", 2},
		{&no_pairs, "{\"f\":[5,6]}", 0},
		{&no_pairs, "{\"f\":[[5,6]]}", 0},
		{&no_pairs, "{\"f\":[[]]}", 99},
		{&no_pairs, "{\"f\":5}", 99},
		{&two_pairs, "{\"f\":[5,6]}", 0},
		{&two_pairs, "{\"f\":[5,6,7,8]}", 2},
		{&two_pairs, "{\"f\":[[5,6,7,8]]}", 99},
		{&single, "{\"f\":5}", 0},
		{&single, "{\"f\":[5]}", 0},
		{&single, "{\"f\":[[5]]}", 0},
		{&single, "{\"f\":[5,6,7]}", 1},
		{&single, "{\"f\":[[5],[6],[7]]}", 1},
		{&columns, "{\"f\":5}", 99},
		{&columns, "{\"f\":[5]}", 0},
		{&basis, "{\"f\":[[1,0],[0,1],[0,0]]}", 0},
		{&basis, "{\"f\":[[[1,0],[0,1],[0,0]]]}", 0},
		{&basis, "{\"f\":[1,0,0,1,0,0]}", 0},
		{&basis, "{\"f\":[[1,0,0],[0,1,0]]}", 99},
		{&basis, "{\"f\":[[1,0,0,1,0,0]]}", 99},
		{&basis, "{\"f\":[[1,0,0,1,0,0],[1,0,0,1,0,0],[1,0,0,1,0,0]]}", 99},
		{&basis, "{\"f\":[1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0]}", 6},
		{&basis_2d, "{\"f\":[[1],[0]]}", 0},
		{&basis_2d, "{\"f\":[1,0]}", 0},
		{&basis_2d, "{\"f\":[1,0,0,1]}", 2},
		{&basis_2d, "{\"f\":[[1,0],[0,1]]}", 99},
		{&basis_2d, "{\"f\":[[[1],[0]],[[0],[1]]]}", 2},
		{&vertices, "{\"f\":[5,6]}", 99},
		{&vertices, "{\"f\":[[5,6]]}", 99},
		{&vertices, "{\"f\":[5,6,7,8]}", 2},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;
		struct fric_values values = {NULL, 77};
		begin(&s, cases[i].text);
		judge(&s, cases[i].text, api_check_values(&s.check, &s.field, cases[i].shape, &values),
		      cases[i].stride == 99 ? "/f" : NULL);
		if (cases[i].stride < 98 && (values.stride != cases[i].stride || !values.data))
			fail_msg("%s: stride %zu", cases[i].text, values.stride);
		if (cases[i].stride == 98)
			assert_null(values.data);
		end(&s);
	}
}

static void values_out_of_range(void **unused)
{
	(void)unused;
	static const struct api_shape number = {.n = 3, .one_for_all = true, .range = API_POSITIVE},
								  pairs = {.n = 2,
	                                       .n_inner = 1,
	                                       .inner = {2},
	                                       .one_for_all = true,
	                                       .range = API_NON_NEGATIVE};
	static const struct {
		const struct api_shape *shape;
		const char *text, *pointer;
	} cases[] = {
		{&number, "{\"f\":[1,2,3]}", NULL},
		{&number, "{\"f\":[1,0,-1]}", "/f/1"},
		{&number, "{\"f\":[1,2,-1]}", "/f/2"},
		{&number, "{\"f\":0}", "/f"},
		{&number, "{\"f\":[0]}", "/f/0"},
		{&pairs, "{\"f\":[[0,0],[0,0]]}", NULL},
		{&pairs, "{\"f\":[[0,0],[0,-1]]}", "/f/1/1"},
		{&pairs, "{\"f\":[0,0,0,-1]}", "/f/3"},
		{&pairs, "{\"f\":[[-1,0]]}", "/f/0/0"},
		{&pairs, "{\"f\":[0,-1]}", "/f/1"},
		{&pairs, "{\"f\":[[0,0],[0]]}", "/f/1"},
		{&pairs, "{\"f\":[[0,0],0]}", "/f/1"},
		{&pairs, "{\"f\":[0,[0,0]]}", "/f/1"},
		{&pairs, "{\"f\":[[0,\"0\"]]}", "/f/0/1"},
		{&pairs, "{\"f\":[{\"x\":1}]}", "/f/0"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;
		struct fric_values values;
		begin(&s, cases[i].text);
		judge(&s, cases[i].text, api_check_values(&s.check, &s.field, cases[i].shape, &values), cases[i].pointer);
		end(&s);
	}
}

static void arrays_of_indices(void **unused)
{
	(void)unused;
	static const struct {
		const char *text, *pointer;
	} cases[] = {
		{"{}", NULL},
		{"{\"f\":[[0,1],[2,3]]}", NULL},
		{"{\"f\":[0,1,2,3]}", NULL},
		{"{\"f\":[[0,1],[2,4]]}", "/f/1/1"},
		{"{\"f\":[[0,-1],[2,4]]}", "/f/0/1"},
		{"{\"f\":[0,1,2,4]}", "/f/3"},
		{"{\"f\":[[0,1],[2.0,3]]}", "/f/1/0"},
		{"{\"f\":[[0,9],[2.0,3]]}", "/f/0/1"},
		{"{\"f\":[[0,1],[2,3e0]]}", "/f/1/1"},
		{"{\"f\":[[0,1]]}", "/f"},
		{"{\"f\":[0,1]}", "/f"},
		{"{\"f\":0}", "/f"},
		{"{\"f\":[[0,1],[2]]}", "/f/1"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s;
		const int32_t *indices;
		begin(&s, cases[i].text);
		judge(&s, cases[i].text, api_check_indices(&s.check, &s.field, 2, 2, 4, "vertex", &indices), cases[i].pointer);
		if (s.field.node && !cases[i].pointer)
			assert_memory_equal(indices, ((const int32_t[]){0, 1, 2, 3}), 4 * sizeof(int32_t));
		end(&s);
	}
}

/* The culprit is searched for span by span, and lies beyond the first span. */
static void an_index_past_the_first_span(void **unused)
{
	(void)unused;
	enum { N = API_SPAN + 3 };
	char *text = malloc(2 * N + 16), pointer[32];
	char *at = text + sprintf(text, "{\"f\":[");
	for (size_t i = 0; i < N; i++)
		at += sprintf(at, "%c%s", i + 1 < N ? '1' : '4', i + 1 < N ? "," : "]}");
	struct subject s;
	const int32_t *indices;
	begin(&s, text);
	snprintf(pointer, sizeof pointer, "/f/%d", N - 1);
	judge(&s, "many", api_check_indices(&s.check, &s.field, N, 0, 4, "vertex", &indices), pointer);
	end(&s);
	free(text);
}

/* Faults fill up in the first of two spans, and the second one is not read. */
static void faults_that_fill_up_in_the_first_span(void **unused)
{
	(void)unused;
	enum { N = API_SPAN + 1 };
	double *data = calloc(N, sizeof *data);
	const struct api_shape shape = {.n = N, .range = API_POSITIVE};
	struct fric_values values;
	struct subject s;
	begin(&s, "{\"f\":[0]}");
	((struct api_array *)(uintptr_t)s.document.arrays)[0] = (struct api_array){
		.rank = 1, .shape = {N}, .n = N, .dtype = API_F64, .data = data, .binary = true, .first_non_integer = N};
	assert_false(api_check_values(&s.check, &s.field, &shape, &values));
	assert_int_equal(s.fault.n_errors, API_MAX_ERRORS);
	assert_string_equal(s.fault.errors[API_MAX_ERRORS - 1].pointer, "/f/15");
	end(&s);
	free(data);
}

/* An array of a frame, with a shape too large for any text. */
static void begin_with_shape(struct subject *s, struct api_array array)
{
	begin(s, "{\"f\":[0]}");
	array.binary = true;
	((struct api_array *)(uintptr_t)s->document.arrays)[0] = array;
}

static void more_rows_than_there_can_be(void **unused)
{
	(void)unused;
	struct subject s;
	size_t n;
	const size_t most = INT32_MAX / 4;
	begin_with_shape(&s, (struct api_array){.rank = 1, .shape = {most}, .n = most});
	assert_true(api_check_rows(&s.check, &s.field, 0, &n));
	end(&s);
	begin_with_shape(&s, (struct api_array){.rank = 1, .shape = {most + 1}, .n = most + 1});
	assert_false(api_check_rows(&s.check, &s.field, 0, &n));
	assert_int_equal(s.fault.status, 413);
	assert_string_equal(s.fault.errors[0].pointer, "/f");
	end(&s);
}

static void no_rows_of_any_length(void **unused)
{
	(void)unused;
	struct subject s;
	size_t n = 99;
	begin_with_shape(&s, (struct api_array){.rank = 2, .shape = {0, 7}});
	assert_true(api_check_rows(&s.check, &s.field, 3, &n));
	assert_int_equal(n, 0);
	end(&s);
}

/* Shapes whose text is longer than its buffer, truncated at every possible length. */
static void shapes_that_are_long_to_print(void **unused)
{
	(void)unused;
	for (size_t first = 1; first < SIZE_MAX / 10; first *= 10)
		for (int rank = 2; rank <= API_MAX_RANK + 1; rank++) {
			struct subject s;
			size_t n;
			begin_with_shape(&s,
			                 (struct api_array){.rank = rank, .shape = {first, SIZE_MAX, SIZE_MAX, SIZE_MAX}, .n = 1});
			assert_false(api_check_rows(&s.check, &s.field, 2, &n));
			assert_non_null(strstr(s.fault.errors[0].detail, "expected shape [n, 2] (nested or flat), got [1"));
			assert_true(strlen(s.fault.errors[0].detail) < 120);
			end(&s);
		}
}

/* For an array with more levels than are recorded, the fault points to the field. None of its lengths shows that it
 * has too many. */
static void entries_of_arrays_that_are_too_deep(void **unused)
{
	(void)unused;
	static const double bad[2] = {1, NAN};
	static const int32_t below[2] = {0, -1};
	const struct api_shape shape = {.n = API_UNKNOWN_LENGTH};
	struct subject s;
	struct fric_values values;
	const int32_t *indices;
	begin_with_shape(&s, (struct api_array){.rank = API_MAX_RANK + 1, .shape = {2, 1, 1, 1}, .n = 2, .data = bad});
	judge(&s, "values", api_check_values(&s.check, &s.field, &shape, &values), "/f");
	end(&s);
	begin_with_shape(&s, (struct api_array){.dtype = API_I32,
	                                        .rank = API_MAX_RANK + 1,
	                                        .shape = {2, 1, 1, 1},
	                                        .n = 2,
	                                        .data = below,
	                                        .first_non_integer = 2});
	judge(&s, "indices", api_check_indices(&s.check, &s.field, API_UNKNOWN_LENGTH, 0, 4, "vertex", &indices), "/f");
	end(&s);
}

/* A frame's array without numbers may have any number of rows, which is then the number of materials. */
static void indices_below_more_than_they_can_count(void **unused)
{
	(void)unused;
	struct subject s;
	const int32_t *indices;
	begin(&s, "{\"f\":[2147483648]}");
	assert_false(api_check_indices(&s.check, &s.field, 1, 0, (size_t)INT32_MAX + 2, "material", &indices));
	assert_null(indices);
	end(&s);
}

/* Every loop over input checks the flag: a stopped request is reported as stopped, whatever else is wrong with it. */
static void a_raised_flag_ends_loops(void **unused)
{
	(void)unused;
	static const char *const words[] = {"a", "b", NULL};
	static const double one[] = {1};
	static const int64_t seven[] = {7};
	const struct api_shape shape = {.n = 1};
	const atomic_bool stop = true;
	struct api_account account;
	struct subject s;
	bool flags[2];
	struct fric_values values;
	const int32_t *indices;
	for (int i = 0; i < 4; i++) {
		begin(&s, i == 0 ? "{\"f\":[\"c\"]}" : "{\"f\":[0]}");
		if (i > 0)
			((struct api_array *)(uintptr_t)s.document.arrays)[0] =
				(struct api_array){.dtype = i == 1 ? API_F64 : API_I64,
			                       .binary = true,
			                       .rank = 1,
			                       .shape = {1},
			                       .n = 1,
			                       .first_non_integer = 1,
			                       .data = i == 1 ? (const void *)one : seven};
		api_account_open(&account, NULL, &stop, 0);
		assert_false(i == 0   ? api_check_choices(&s.check, &s.field, words, flags)
		             : i == 3 ? api_check_indices(&s.check, &s.field, 1, 0, 4, "vertex", &indices)
		                      : api_check_values(&s.check, &s.field, &shape, &values));
		assert_int_equal(s.fault.status, 503);
		api_account_close(&account);
		end(&s);
	}
}

/* A whole request, and the batch made from it. */
static void a_request_becomes_a_batch(void **unused)
{
	(void)unused;
	struct subject s;
	struct api_lagged l;
	struct api_query q;
	begin(&s, "{\"dim\":2,\"velocities\":[1,2,3,4,5,6],\"positions\":[[0,0],[1,0],[0,1]],"
	          "\"friction\":{\"mu_s\":0.5,\"mu_k\":0.25,\"eps_v\":0.1,\"mu_transition\":\"quadratic\"},"
	          "\"collisions\":{\"edge_vertex\":{\"vertices\":[[2,0,1],[0,1,2]],\"normal_force\":[3,4],\"mu_aniso\":2,"
	          "\"eps_v\":[0.5,0.25]},\"plane_vertex\":{\"vertices\":[]}},\"outputs\":[\"hessian\",\"collisions\"],"
	          "\"hessian\":{\"format\":\"csr\",\"triangle\":\"lower\",\"projection\":\"abs\"},"
	          "\"collision_outputs\":[\"status\"],\"on_degenerate\":\"skip\"}");
	assert_true(api_check_request(&s.check, API_WHOLE, NULL, &l, &q, NULL));
	const struct fric_batch *b = &l.batch;
	const struct fric_friction *f = &b->friction;
	const struct fric_group *g = &b->groups[FRIC_EDGE_VERTEX];
	assert_true(b->dim == 2 && b->n_vertices == 3 && b->positions[5] == 1 && b->skip_degenerate);
	assert_true(q.velocities[5] == 6 && q.lagged_velocities == q.velocities);
	assert_true(f->source == FRIC_MU_SCALAR && f->mu_s == 0.5 && f->mu_k == 0.25 && f->eps_v == 0.1);
	assert_int_equal(f->law.transition, FRIC_QUADRATIC);
	assert_true(g->n == 2 && g->vertices[0] == 2 && g->vertices[5] == 2);
	assert_true(g->normal_force.stride == 1 && g->normal_force.data[1] == 4 && g->eps_v.data[1] == 0.25);
	assert_true(g->mu_aniso.stride == 0 && *g->mu_aniso.data == 2);
	assert_true(!g->mu_s.data && !g->weight.data && !g->tangent_basis.data && !g->closest_point.data);
	assert_true(l.has_group[FRIC_EDGE_VERTEX] && l.has_group[FRIC_PLANE_VERTEX] && !l.has_group[FRIC_EDGE_EDGE]);
	for (int o = 0; o < API_N_EVALUATE_OUTPUTS; o++)
		assert_int_equal(q.outputs[o], o == API_HESSIAN || o == API_COLLISIONS);
	assert_true(q.format == API_CSR && q.triangle == FRIC_LOWER && q.projection == FRIC_PROJECT_ABS);
	for (int o = 0; o < FRIC_N_OUTPUTS; o++)
		assert_int_equal(q.collision_outputs[o], o == FRIC_OUT_STATUS);
	end(&s);
}

static void a_small_request_has_the_defaults(void **unused)
{
	(void)unused;
	struct subject s;
	struct api_lagged l;
	struct api_query q;
	begin(&s, "{\"dim\":3,\"velocities\":[],\"collisions\":{\"edge_edge\":{\"vertices\":[]}}}");
	assert_true(api_check_request(&s.check, API_WHOLE, NULL, &l, &q, NULL));
	for (int o = 0; o < API_N_EVALUATE_OUTPUTS; o++)
		assert_int_equal(q.outputs[o], o == API_POTENTIAL || o == API_GRADIENT || o == API_HESSIAN);
	assert_true(q.format == API_TRIPLETS && q.triangle == FRIC_FULL && q.projection == FRIC_PROJECT_NONE);
	assert_true(l.batch.friction.law.transition == FRIC_CUBIC && !l.batch.skip_degenerate);
	for (int o = 0; o < FRIC_N_OUTPUTS; o++)
		assert_int_equal(q.collision_outputs[o], o == FRIC_OUT_POTENTIAL || o == FRIC_OUT_TANGENTIAL_VELOCITY);
	end(&s);
}

static void words_become_a_barrier(void **unused)
{
	(void)unused;
	static const struct {
		const char *barrier;
		enum fric_barrier_type type;
		enum fric_barrier_scaling scaling;
	} cases[] = {
		{"{\"dhat\":1,\"stiffness\":2}", FRIC_CLAMPED_LOG, FRIC_SCALING_NONE},
		{"{\"dhat\":1,\"stiffness\":2,\"type\":\"clamped_log\",\"scaling\":\"none\"}", FRIC_CLAMPED_LOG,
	     FRIC_SCALING_NONE},
		{"{\"dhat\":1,\"stiffness\":2,\"type\":\"normalized_clamped_log\"}", FRIC_NORMALIZED_CLAMPED_LOG,
	     FRIC_SCALING_NONE},
		{"{\"dhat\":1,\"stiffness\":2,\"type\":\"clamped_log_squared\"}", FRIC_CLAMPED_LOG_SQUARED, FRIC_SCALING_NONE},
		{"{\"dhat\":1,\"stiffness\":2,\"type\":\"cubic\",\"scaling\":\"physical\"}", FRIC_CUBIC_BARRIER,
	     FRIC_SCALING_PHYSICAL},
		{"{\"dhat\":1,\"stiffness\":2,\"type\":\"two_stage\"}", FRIC_TWO_STAGE, FRIC_SCALING_NONE},
		{"{\"dhat\":1,\"stiffness\":2,\"scaling\":\"physical\"}", FRIC_CLAMPED_LOG, FRIC_SCALING_PHYSICAL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];
		struct subject s;
		struct api_lagged l;
		struct api_query q;
		snprintf(text, sizeof(text),
		         "{\"dim\":3,\"velocities\":[],\"barrier\":%s,\"collisions\":{\"edge_edge\":{\"vertices\":[]}}}",
		         cases[i].barrier);
		begin(&s, text);
		assert_true(api_check_request(&s.check, API_WHOLE, NULL, &l, &q, NULL));
		const struct fric_barrier *b = &l.batch.barrier;
		assert_true(b->dhat == 1 && b->stiffness == 2 && b->dmin == 0);
		assert_int_equal(b->type, cases[i].type);
		assert_int_equal(b->scaling, cases[i].scaling);
		end(&s);
	}
}

static void materials_become_a_table(void **unused)
{
	(void)unused;
	struct subject s;
	struct api_lagged l;
	struct api_query q;
	begin(&s, "{\"dim\":2,\"velocities\":[[0,0],[0,0]],\"friction\":{\"eps_v\":1,\"materials\":{"
	          "\"vertex_material\":[1,0],\"plane_material\":1,\"mu_s\":[1,2,2,3],\"mu_k\":[[0,1],[1,0]]}},"
	          "\"collisions\":{\"plane_vertex\":{\"vertices\":[1],\"normal_force\":0,\"plane_normal\":[1,0]}}}");
	assert_true(api_check_request(&s.check, API_WHOLE, NULL, &l, &q, NULL));
	const struct fric_friction *f = &l.batch.friction;
	assert_true(f->source == FRIC_MU_TABLE && f->n_materials == 2 && f->plane_material == 1);
	assert_true(f->vertex_material[0] == 1 && f->vertex_material[1] == 0);
	assert_true(f->material_mu_s[3] == 3 && f->material_mu_k[1] == 1);
	end(&s);
}

/* Regardless of the part of the request that they belong to. */
static void faults_come_in_the_order_of_the_contract(void **unused)
{
	(void)unused;
	static const char *const expected[] = {
		"/positions",           "/lagged_velocities", "/friction/eps_v", "/outputs/0",
		"/collision_outputs/0", "/on_degenerate",     "/hessian/format", "/collisions/plane_vertex/normal_force"};
	struct subject s;
	struct api_lagged l;
	struct api_query q;
	begin(
		&s,
		"{\"hessian\":{\"format\":\"x\"},\"on_degenerate\":\"x\",\"collision_outputs\":[\"x\"],\"outputs\":[\"x\"],"
		"\"friction\":{\"mu\":1,\"eps_v\":0},\"lagged_velocities\":[1],\"positions\":[1],\"velocities\":[[0,0]],"
		"\"collisions\":{\"plane_vertex\":{\"vertices\":[0],\"plane_normal\":[0,1],\"tangent_basis\":[1,0]}},\"dim\":2}");
	assert_false(api_check_request(&s.check, API_WHOLE, NULL, &l, &q, NULL));
	assert_int_equal(s.fault.n_errors, 8);
	for (int i = 0; i < 8; i++)
		assert_string_equal(s.fault.errors[i].pointer, expected[i]);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects),
		cmocka_unit_test(members_by_rule),
		cmocka_unit_test(members),
		cmocka_unit_test(kinds),
		cmocka_unit_test(choices_of_one),
		cmocka_unit_test(choices_of_many),
		cmocka_unit_test(booleans),
		cmocka_unit_test(numbers_in_range),
		cmocka_unit_test(single_indices),
		cmocka_unit_test(counts_of_rows),
		cmocka_unit_test(forms_of_values),
		cmocka_unit_test(values_out_of_range),
		cmocka_unit_test(arrays_of_indices),
		cmocka_unit_test(an_index_past_the_first_span),
		cmocka_unit_test(faults_that_fill_up_in_the_first_span),
		cmocka_unit_test(more_rows_than_there_can_be),
		cmocka_unit_test(no_rows_of_any_length),
		cmocka_unit_test(shapes_that_are_long_to_print),
		cmocka_unit_test(entries_of_arrays_that_are_too_deep),
		cmocka_unit_test(indices_below_more_than_they_can_count),
		cmocka_unit_test(a_raised_flag_ends_loops),
		cmocka_unit_test(a_request_becomes_a_batch),
		cmocka_unit_test(a_small_request_has_the_defaults),
		cmocka_unit_test(words_become_a_barrier),
		cmocka_unit_test(materials_become_a_table),
		cmocka_unit_test(faults_come_in_the_order_of_the_contract),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

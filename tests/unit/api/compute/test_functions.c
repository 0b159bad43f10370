/* The scalar functions by name: parameters, forms of values, errors. Their accuracy is tested elsewhere. */
#include "api/compute/functions.h"
#include "api/dispatch/answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* All names in the contract. */
static const char *const names[] = {"smooth_friction_f0",
                                    "smooth_friction_f1",
                                    "smooth_friction_f2",
                                    "smooth_friction_f1_over_x",
                                    "smooth_friction_f2_x_minus_f1_over_x3",
                                    "smooth_mu",
                                    "smooth_mu_derivative",
                                    "smooth_mu_f0",
                                    "smooth_mu_f1",
                                    "smooth_mu_f2",
                                    "smooth_mu_f1_over_x",
                                    "smooth_mu_f2_x_minus_mu_f1_over_x3",
                                    "law_potential",
                                    "law_force",
                                    "law_force_over_speed",
                                    "law_force_derivative",
                                    "anisotropic_x_from_tau_aniso",
                                    "anisotropic_mu_eff_f",
                                    "anisotropic_mu_eff_from_tau_aniso"};
enum { N_NAMES = sizeof(names) / sizeof(names[0]) };

/* One call: takes the text of a request, returns the text of the answer or a fault. */
struct call {
	char *answer;
	struct api_fault fault;
};

static struct call call(const char *name, const char *request)
{
	struct call c = {0};
	struct api_arena arena = {0};
	struct api_render render;
	struct api_document document;
	struct api_text_fault text;
	struct api_response response = {0};
	const struct api_function *function = api_function_find(name);
	assert_non_null(function);
	assert_true(api_document_read_pooled(NULL, request, strlen(request), &document, &text));
	assert_true(api_render_start(&render, &arena));
	if (api_function_evaluate(function, &document, &arena, &render, &c.fault))
		assert_true(api_answer_print(&render, API_JSON, 1 << 20, &c.fault, &response));
	else
		api_render_abandon(&render);
	assert_int_equal(c.fault.status == 0, response.body != NULL);
	c.answer = response.body;
	api_document_free(&document);
	api_arena_free(&arena);
	return c;
}

static void gives(const char *name, const char *request, const char *values)
{
	char expected[512];
	struct call c = call(name, request);
	if (c.fault.status)
		fail_msg("%s: %s", request, c.fault.errors[0].detail);
	snprintf(expected, sizeof(expected), "{\"function\":\"%s\",\"values\":%s}", name, values);
	assert_string_equal(c.answer, expected);
	free(c.answer);
}

static void refuses(const char *name, const char *request, const char *pointer)
{
	struct call c = call(name, request);
	if (!c.fault.status)
		fail_msg("%s: %s", request, c.answer);
	assert_int_equal(c.fault.status, 422);
	if (strcmp(c.fault.errors[0].pointer, pointer) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", request, c.fault.errors[0].pointer, pointer);
}

static void finds_every_name_and_no_other(void **unused)
{
	(void)unused;
	static const char *const others[] = {"",           "smooth",      "smooth_mu_", "Smooth_mu",
	                                     "smooth_mu/", "smooth_muf0", " smooth_mu", "y"};
	for (size_t i = 0; i < N_NAMES; i++)
		assert_non_null(api_function_find(names[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_null(api_function_find(others[i]));
}

static void lists_every_name_with_its_parameters(void **unused)
{
	(void)unused;
	struct api_arena arena = {0};
	struct api_render render;
	struct api_fault fault = {0};
	struct api_response response = {0};
	assert_true(api_render_start(&render, &arena));
	api_function_list(&render);
	assert_true(api_answer_print(&render, API_JSON, 1 << 20, &fault, &response));
	json_t *answer = json_loadb(response.body, response.body_bytes, 0, NULL),
		   *list = json_object_get(answer, "functions");
	assert_int_equal(json_array_size(list), N_NAMES);
	for (size_t i = 0; i < N_NAMES; i++) {
		const json_t *entry = json_array_get(list, i);
		assert_string_equal(json_string_value(json_object_get(entry, "name")), names[i]);
		assert_true(json_string_length(json_object_get(entry, "meaning")) > 0);
		const struct api_object *all = api_function_parameters(api_function_find(names[i]));
		const json_t *parameters = json_object_get(entry, "parameters");
		size_t p = 0;
		for (int r = 0; r < all->n_rules; r++)
			if (api_rule_applies(&all->rules[r], all))
				assert_string_equal(json_string_value(json_array_get(parameters, p++)), all->rules[r].name);
		assert_int_equal(p, json_array_size(parameters));
	}
	json_decref(answer);
	api_response_free(&response);
	api_arena_free(&arena);
}

static void takes_one_value_or_one_per_entry(void **unused)
{
	(void)unused;
	gives("smooth_friction_f1", "{\"y\":0.5,\"eps_v\":1}", "[0.75]");
	gives("smooth_friction_f1", "{\"y\":[0.5],\"eps_v\":[1]}", "[0.75]");
	gives("smooth_friction_f1", "{\"y\":[0.5,-0.5,2],\"eps_v\":1}", "[0.75,-0.75,1.0]");
	gives("smooth_friction_f1", "{\"y\":[0.5,1,2],\"eps_v\":[1,2,4]}", "[0.75,0.75,0.75]");
	gives("smooth_friction_f1", "{\"y\":[0.5,2],\"eps_v\":[1]}", "[0.75,1.0]");
	gives("smooth_friction_f1", "{\"y\":[],\"eps_v\":1}", "[]");
	gives("smooth_friction_f1", "{\"y\":[],\"eps_v\":[]}", "[]");
	gives("smooth_mu", "{\"y\":[0,9],\"mu_s\":[1,2],\"mu_k\":0.5,\"eps_v\":1}", "[1.0,0.5]");
	gives("smooth_mu", "{\"y\":0.25,\"mu_s\":1,\"mu_k\":0,\"eps_v\":1,\"mu_transition\":\"quadratic\"}", "[0.875]");
	gives("smooth_mu", "{\"y\":0.25,\"mu_s\":1,\"mu_k\":0,\"eps_v\":1,\"mu_transition\":\"cubic\"}", "[0.84375]");
}

/* With mu_s = 1 and mu_k = 0, the parabolas of peak meet at 1/2 and 3/4 of eps_v. */
static void takes_a_law_and_its_transition(void **unused)
{
	(void)unused;
	const char with_peak[] = "{\"y\":[0.25,0.5,-0.875,2],\"mu_s\":1,\"mu_k\":0,\"eps_v\":1,\"mu_transition\":\"peak\"}";
	gives("law_force", with_peak, "[0.75,1.0,-0.125,0.0]");
	gives("law_force_derivative", with_peak, "[2.0,0.0,-2.0,0.0]");
	gives("law_force_over_speed", "{\"y\":[0,0.5],\"mu_s\":1,\"mu_k\":0,\"eps_v\":1,\"mu_transition\":\"peak\"}",
	      "[4.0,2.0]");
	gives("law_potential", "{\"y\":[1,-3],\"mu_s\":7,\"mu_k\":[0.5,2],\"eps_v\":1,\"mu_transition\":\"peak\"}",
	      "[0.5,6.0]");
	gives("law_force", "{\"y\":0.25,\"mu_s\":1,\"mu_k\":0,\"eps_v\":1,\"law\":\"smooth\"}", "[0.369140625]");
	gives("law_force", "{\"y\":0.25,\"mu_s\":1,\"mu_k\":0,\"eps_v\":1,\"mu_transition\":\"quadratic\"}", "[0.3828125]");
}

static void says_what_takes_peak(void **unused)
{
	(void)unused;
	static const char *const takers[] = {"law_potential", "law_force", "law_force_over_speed", "law_force_derivative"};
	struct call c = call("smooth_mu", "{\"y\":1,\"eps_v\":1,\"mu_s\":1,\"mu_k\":1,\"mu_transition\":\"peak\"}");
	assert_int_equal(c.fault.status, 422);
	assert_string_equal(c.fault.errors[0].pointer, "/mu_transition");
	for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++)
		assert_non_null(strstr(c.fault.errors[0].detail, takers[i]));
}

static void takes_pairs(void **unused)
{
	(void)unused;
	gives("anisotropic_x_from_tau_aniso", "{\"tau_aniso\":[[0,2],[0,0],[-3,0]]}", "[[0.0,1.0],[1.0,0.0],[-1.0,0.0]]");
	gives("anisotropic_x_from_tau_aniso", "{\"tau_aniso\":[0,2,0,0]}", "[[0.0,1.0],[1.0,0.0]]");
	gives("anisotropic_x_from_tau_aniso", "{\"tau_aniso\":[0,2]}", "[[0.0,1.0]]");
	gives("anisotropic_x_from_tau_aniso", "{\"tau_aniso\":[]}", "[]");
	gives("anisotropic_mu_eff_f", "{\"tau_dir\":[[1,0],[0,1]],\"mu_s_aniso\":[0.5,0.25],\"mu_k_aniso\":[[1,2],[3,4]]}",
	      "[[0.5,1.0],[0.25,4.0]]");
	gives("anisotropic_mu_eff_from_tau_aniso",
	      "{\"tau_aniso\":[0,5],\"mu_s_aniso\":[0,0],\"mu_k_aniso\":[[1,2]],\"mu_s\":7,\"mu_k\":[8]}", "[[7.0,2.0]]");
	gives("anisotropic_mu_eff_from_tau_aniso",
	      "{\"tau_aniso\":[[0,5]],\"mu_s_aniso\":[3,0],\"mu_k_aniso\":[0,0],\"mu_s\":7,\"mu_k\":8}", "[[0.0,8.0]]");
	gives("anisotropic_mu_eff_from_tau_aniso", "{\"tau_aniso\":[[0,5],[1,1]],\"no_mu\":true}", "[[1.0,1.0],[1.0,1.0]]");
}

static void names_the_parameter_at_fault(void **unused)
{
	(void)unused;
	static const struct {
		const char *name, *request, *pointer;
	} cases[] = {
		{"smooth_friction_f0", "[]", ""},
		{"smooth_friction_f0", "3", ""},
		{"smooth_friction_f0", "null", ""},
		{"smooth_friction_f0", "{}", "/y"},
		{"smooth_friction_f0", "{\"y\":1}", "/eps_v"},
		{"smooth_friction_f0", "{\"y\":1,\"eps_v\":1,\"mu_s\":1}", "/mu_s"},
		{"smooth_friction_f0", "{\"y\":1,\"eps_v\":1,\"mu_transition\":\"cubic\"}", "/mu_transition"},
		{"smooth_friction_f0", "{\"y\":1,\"eps_v\":0}", "/eps_v"},
		{"smooth_friction_f0", "{\"y\":1,\"eps_v\":[1,2]}", "/eps_v"},
		{"smooth_friction_f0", "{\"y\":[1,2],\"eps_v\":[1,-2]}", "/eps_v/1"},
		{"smooth_friction_f0", "{\"y\":[[1,2]],\"eps_v\":1}", "/y"},
		{"smooth_friction_f0", "{\"y\":\"1\",\"eps_v\":1}", "/y"},
		{"smooth_friction_f0", "{\"y\":[1,\"2\"],\"eps_v\":1}", "/y/1"},
		{"smooth_friction_f0", "{\"y\":[1,2],\"eps_v\":[1,[2]]}", "/eps_v/1"},
		{"smooth_friction_f0", "{\"y\":[1,2],\"eps_v\":[]}", "/eps_v"},
		{"smooth_friction_f0", "{\"y\":null,\"eps_v\":1}", "/y"},
		{"smooth_mu", "{\"y\":1,\"eps_v\":1,\"mu_k\":1}", "/mu_s"},
		{"smooth_mu", "{\"y\":1,\"eps_v\":1,\"mu_s\":1}", "/mu_k"},
		{"smooth_mu", "{\"y\":1,\"eps_v\":1,\"mu_s\":-1,\"mu_k\":1}", "/mu_s"},
		{"smooth_mu", "{\"y\":1,\"eps_v\":1,\"mu_s\":1,\"mu_k\":1,\"mu_transition\":\"x\"}", "/mu_transition"},
		{"smooth_mu", "{\"y\":1,\"eps_v\":1,\"mu_s\":1,\"mu_k\":1,\"mu_transition\":null}", "/mu_transition"},
		{"smooth_mu", "{\"y\":1,\"eps_v\":1,\"mu\":1}", "/mu"},
		{"smooth_mu", "{\"y\":1,\"eps_v\":1,\"mu_s\":1,\"mu_k\":1,\"law\":\"smooth\"}", "/law"},
		{"smooth_friction_f0", "{\"y\":1,\"eps_v\":1,\"law\":\"smooth\"}", "/law"},
		{"law_force", "{\"y\":1,\"eps_v\":1,\"mu_s\":1}", "/mu_k"},
		{"law_force", "{\"y\":1,\"eps_v\":1,\"mu_s\":1,\"mu_k\":[1,1]}", "/mu_k"},
		{"law_force", "{\"y\":1,\"eps_v\":0,\"mu_s\":1,\"mu_k\":1}", "/eps_v"},
		{"law_force", "{\"y\":1,\"eps_v\":1,\"mu_s\":1,\"mu_k\":1,\"law\":\"peak\"}", "/law"},
		{"law_force", "{\"y\":1,\"eps_v\":1,\"mu_s\":1,\"mu_k\":1,\"law\":null}", "/law"},
		{"law_force", "{\"y\":1,\"eps_v\":1,\"mu_s\":1,\"mu_k\":1,\"mu_transition\":\"smooth\"}", "/mu_transition"},
		{"law_force", "{\"y\":1,\"eps_v\":1,\"mu_s\":1,\"mu_k\":1,\"no_mu\":false}", "/no_mu"},
		{"anisotropic_x_from_tau_aniso", "{\"tau_aniso\":1}", "/tau_aniso"},
		{"anisotropic_x_from_tau_aniso", "{\"tau_aniso\":[1,2,3]}", "/tau_aniso"},
		{"anisotropic_x_from_tau_aniso", "{\"tau_aniso\":[[1],[2]]}", "/tau_aniso"},
		{"anisotropic_x_from_tau_aniso", "{\"tau_aniso\":[[1,2],[3]]}", "/tau_aniso/1"},
		{"anisotropic_x_from_tau_aniso", "{\"tau_aniso\":[1,2],\"y\":1}", "/y"},
		{"anisotropic_mu_eff_f", "{\"tau_dir\":[1,0]}", "/mu_s_aniso"},
		{"anisotropic_mu_eff_f", "{\"tau_dir\":[1,0],\"mu_s_aniso\":[1,-1],\"mu_k_aniso\":[1,1]}", "/mu_s_aniso/1"},
		{"anisotropic_mu_eff_f", "{\"tau_dir\":[1,0],\"mu_s_aniso\":1,\"mu_k_aniso\":[1,1]}", "/mu_s_aniso"},
		{"anisotropic_mu_eff_f", "{\"tau_dir\":[1,0],\"mu_s_aniso\":[1,1],\"mu_k_aniso\":[[1,1],[1,1]]}",
	     "/mu_k_aniso"},
		{"anisotropic_mu_eff_from_tau_aniso", "{\"tau_aniso\":[1,0],\"no_mu\":1}", "/no_mu"},
		{"anisotropic_mu_eff_from_tau_aniso", "{\"tau_aniso\":[1,0],\"no_mu\":true,\"mu_k\":-1}", "/mu_k"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refuses(cases[i].name, cases[i].request, cases[i].pointer);
}

static void names_the_entry_that_does_not_fit_a_double(void **unused)
{
	(void)unused;
	const char pole[] = "smooth_friction_f2_x_minus_f1_over_x3", ellipse[] = "anisotropic_mu_eff_f";
	refuses(pole, "{\"y\":0,\"eps_v\":1}", "/y");
	refuses(pole, "{\"y\":[0],\"eps_v\":1}", "/y/0");
	refuses(pole, "{\"y\":[1,2,-0.0,0],\"eps_v\":1}", "/y/2");
	refuses("smooth_friction_f1_over_x", "{\"y\":[1,0],\"eps_v\":[1,1e-308]}", "/y/1");
	refuses("law_force_derivative", "{\"y\":[1,0],\"mu_s\":1,\"mu_k\":1,\"eps_v\":[1,1e-308]}", "/y/1");
	refuses(ellipse, "{\"tau_dir\":[[1,0],[1e200,0]],\"mu_s_aniso\":[1e200,1],\"mu_k_aniso\":[1,1]}", "/tau_dir/1");
	refuses(ellipse, "{\"tau_dir\":[[1,0],[1e200,0]],\"mu_s_aniso\":[1,1],\"mu_k_aniso\":[1e200,1]}", "/tau_dir/1");
	/* In a flat array, an entry begins at its first number. */
	refuses(ellipse, "{\"tau_dir\":[1,0,1e200,0],\"mu_s_aniso\":[1e200,1],\"mu_k_aniso\":[1,1]}", "/tau_dir/2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_every_name_and_no_other),
		cmocka_unit_test(lists_every_name_with_its_parameters),
		cmocka_unit_test(takes_one_value_or_one_per_entry),
		cmocka_unit_test(takes_a_law_and_its_transition),
		cmocka_unit_test(says_what_takes_peak),
		cmocka_unit_test(takes_pairs),
		cmocka_unit_test(names_the_parameter_at_fault),
		cmocka_unit_test(names_the_entry_that_does_not_fit_a_double),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The tables of fields, and the description made from them. Its contents are tested with the server. */
#include "api/contract/openapi.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "api/compute/functions.h"
#include "api/contract/fields.h"
#include "api/base/budget.h"
#include "api/base/pool.h"
#include "api/codec/skeleton.h"
#include "api/contract/schema.h"
#include "api/problem.h"
#include "tests/share.h"

static const struct api_service service = {.n_threads = 1,
                                           .max_json_bytes = 1001,
                                           .max_frame_bytes = 1002,
                                           .max_answer_bytes = 1000003,
                                           .max_contacts = 1004,
                                           .max_vertices = 1005};

static void check_rule(const struct api_object *object, const struct api_rule *rule);

static void check_object(const struct api_object *object)
{
	assert_true(object->name && object->meaning && *object->meaning);
	for (int i = 0; i < object->n_rules; i++)
		check_rule(object, &object->rules[i]);
}

static void check_rule(const struct api_object *object, const struct api_rule *rule)
{
	const bool is_array = rule->kind == API_REALS || rule->kind == API_INDICES;
	if (!rule->name)
		fail_msg("%s: a field without a name", object->name);
	if (!rule->meaning && !rule->objects)
		fail_msg("%s.%s means nothing", object->name, rule->name);
	if (is_array != (rule->shape[0] != API_NO_LENGTH))
		fail_msg("%s.%s: shapes are those of arrays", object->name, rule->name);
	if ((rule->kind == API_WORD || rule->kind == API_WORDS) != (rule->words != NULL))
		fail_msg("%s.%s: choices are words", object->name, rule->name);
	json_t *fallback = rule->fallback ? api_quoted_read(rule->fallback) : json_null();
	if (!fallback)
		fail_msg("%s.%s: its default is not JSON", object->name, rule->name);
	json_decref(fallback);
	for (int i = 0; rule->words && rule->meanings && rule->words[i]; i++)
		assert_true(rule->meanings[i] && !rule->meanings[i + 1] == !rule->words[i + 1]);
	for (int i = 0; rule->objects && rule->objects[i]; i++)
		check_object(rule->objects[i]);
}

static void tables_are_whole(void **unused)
{
	(void)unused;
	const struct api_object *const roots[] = {&api_request,          &api_answer,
	                                          &api_check_answer,     &api_function_answer,
	                                          &api_pairs_answer,     &api_function_list_answer,
	                                          &api_info_answer,      &api_health_answer,
	                                          &api_problem_document, &api_stencil_document,
	                                          &api_set_query,        &api_set_answer,
	                                          &api_set_list_answer,  &api_pattern_url_query,
	                                          &api_jvp_request,      &api_vjp_request,
	                                          &api_set_jvp_query,    &api_set_vjp_query,
	                                          &api_set_advance,      &api_jvp_answer,
	                                          &api_vjp_answer,       &api_bundle,
	                                          &api_bundle_answer};
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		check_object(roots[i]);
	for (int kind = 0; kind < API_N_FUNCTION_KINDS; kind++)
		check_object(&api_calls[kind]);
	for (int i = 0; api_pattern_answers[i]; i++)
		check_object(api_pattern_answers[i]);
}

/* Fields that only requests for derivatives have. */
static bool is_of_derivatives(int rule)
{
	return rule == API_REQUEST_TANGENTS || rule == API_REQUEST_COTANGENTS || rule == API_REQUEST_WRT;
}

/* Tables of UM-Bridge, whose field names the protocol defines. */
static void tables_of_models_are_whole(void **unused)
{
	(void)unused;
	const struct api_object *const roots[] = {
		&api_bridge_info,    &api_bridge_name,    &api_bridge_support,       &api_bridge_sized,
		&api_bridge_inputs,  &api_bridge_outputs, &api_bridge_evaluation,    &api_bridge_gradient_call,
		&api_bridge_values,  &api_bridge_vector,  &api_bridge_jacobian_call, &api_bridge_hessian_call,
		&api_bridge_failure,
	};
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		check_object(roots[i]);
}

/* Fields of sets' documents that whole requests lack. */
static bool is_of_documents(int field)
{
	return field == API_REQUEST_N_VERTICES || field == API_REQUEST_MESH || field == API_REQUEST_MARGIN ||
	       field == API_REQUEST_ANCHORS || field == API_REQUEST_PREVIOUS;
}

/* Each field of a request belongs to the set's document, to the query, or to both (lagged velocities); n_vertices and
 * meshes to the document only. The end of a step has fields of both, and groups of its own. */
static void every_field_has_a_part(void **unused)
{
	(void)unused;
	assert_ptr_equal(api_set_document.rules, api_request.rules);
	assert_ptr_equal(api_set_query.rules, api_request.rules);
	for (int i = 0; i < api_request.n_rules; i++) {
		const struct api_rule *rule = &api_request.rules[i];
		const bool whole = api_rule_applies(rule, &api_request), document = api_rule_applies(rule, &api_set_document),
				   query = api_rule_applies(rule, &api_set_query);
		assert_int_equal(document && query,
		                 i == API_REQUEST_LAGGED_VELOCITIES || i == API_REQUEST_LAGGED_BODY_VELOCITIES);
		const bool claims = i == API_REQUEST_CLAIMS;
		const bool of_others = is_of_derivatives(i) || i == API_REQUEST_NEXT_COLLISIONS || claims;
		assert_int_equal(whole, !is_of_documents(i) && !of_others);
		assert_int_equal(document || query, !of_others);
		assert_true(!api_rule_applies(rule, &api_set_advance) || document || query || i == API_REQUEST_NEXT_COLLISIONS);
		assert_int_equal(api_rule_applies(rule, &api_check_request_object), whole || claims);
		assert_int_equal(api_rule_applies(rule, &api_set_check_query), query || claims);
	}
}

/* A request for derivatives has a lagged part, velocities, and the fields to differentiate with respect to, but no
 * outputs or options. */
static void every_field_of_derivatives_has_a_part(void **unused)
{
	static const struct api_object *const whole[] = {&api_jvp_request, &api_vjp_request}, *const of_set[] = {
																							  &api_set_jvp_query,
																							  &api_set_vjp_query};
	(void)unused;
	for (int kind = 0; kind < 2; kind++)
		for (int i = 0; i < api_request.n_rules; i++) {
			const struct api_rule *rule = &api_request.rules[i];
			const bool lagged = api_rule_applies(rule, &api_set_document) && !is_of_documents(i),
					   velocities = i == API_REQUEST_VELOCITIES || i == API_REQUEST_LAGGED_VELOCITIES ||
			                        i == API_REQUEST_BODY_VELOCITIES || i == API_REQUEST_LAGGED_BODY_VELOCITIES,
					   own = kind == 0 ? i == API_REQUEST_TANGENTS
			                           : i == API_REQUEST_COTANGENTS || i == API_REQUEST_WRT;
			assert_ptr_equal(whole[kind]->rules, api_request.rules);
			assert_ptr_equal(of_set[kind]->rules, api_request.rules);
			assert_int_equal(api_rule_applies(rule, whole[kind]), lagged || velocities || own);
			assert_int_equal(api_rule_applies(rule, of_set[kind]), velocities || own);
		}
}

/* Derivatives exist with respect to every real number except those that state where to evaluate: speeds of a curve,
 * options; and except mollifiers, which no friction depends on. */
static void every_real_number_has_its_field_of_the_core(void **unused)
{
	unsigned fields = 0, rows[FRIC_N_TYPES] = {0};
	(void)unused;
	const struct api_object *const objects[] = {&api_friction, &api_barrier, &api_materials, &api_curve};
	for (size_t k = 0; k < sizeof(objects) / sizeof(objects[0]); k++)
		for (int i = 0; i < objects[k]->n_rules; i++) {
			const struct api_rule *rule = &objects[k]->rules[i];
			const bool real = rule->kind == API_NUMBER || rule->kind == API_REALS;
			assert_int_equal(rule->by[0] != 0, real && !(objects[k] == &api_curve && i == API_CURVE_SPEEDS));
			for (int j = 0; j < 2 && rule->by[j]; j++)
				fields |= 1u << (rule->by[j] - 1);
		}
	for (int i = 0; i < api_request.n_rules; i++)
		if (api_request.rules[i].by[0])
			fields |= 1u << (api_request.rules[i].by[0] - 1);
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		for (int i = 0; i < api_groups[type].n_rules; i++) {
			const struct api_rule *rule = &api_groups[type].rules[i];
			assert_int_equal(rule->by[0] != 0, rule->kind == API_REALS && i != API_GROUP_MOLLIFIER);
			for (int j = 0; j < 2 && rule->by[j]; j++)
				rows[type] |= 1u << (rule->by[j] - 1);
		}
	assert_int_equal(fields, (1u << FRIC_N_FIELDS) - 1);
	assert_int_equal(rows[FRIC_BODY_WORLD], (1u << FRIC_N_ROWS) - 1);
}

/* A pattern has all members of the Hessian except the last, which contains the numbers. */
static void patterns_have_indices_alone(void **unused)
{
	(void)unused;
	int i = 0;
	for (; api_pattern_answers[i]; i++) {
		const struct api_object *pattern = api_pattern_answers[i];
		assert_string_equal(pattern->rules[0].words[0], api_pattern_formats[i]);
		assert_int_equal(pattern->n_rules, 4);
		for (int k = 1; k < pattern->n_rules; k++)
			assert_true(pattern->rules[k].kind == API_INDICES && pattern->rules[k].required);
	}
	assert_null(api_pattern_formats[i]);
	assert_true(i >= 3);
}

static void fields_have_the_names_of_the_core(void **unused)
{
	(void)unused;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		assert_string_equal(api_collisions.rules[type].name, fric_type_name(type));
		assert_int_equal(api_groups[type].type, type);
	}
	for (int i = 0; i < FRIC_N_OUTPUTS; i++)
		assert_string_equal(api_output_rules[i].name, api_collision_output_names[i]);
	for (int i = 0; i < API_N_FUNCTION_KINDS; i++)
		assert_true(api_call_first((enum api_function_kind)i)->required);
}

static void it_has_the_limits_of_its_service(void **unused)
{
	(void)unused;
	size_t bytes;
	char *text = api_describe(&service, &bytes);
	assert_non_null(text);
	assert_int_equal(strlen(text), bytes);
	static const char *const words[] = {"JSON bodies 1001 bytes", "frames 1002 bytes", "answers 1000003 bytes",
	                                    "1004 contacts",          "1005 vertices",     "\"maxItems\":1004",
	                                    "\"maxItems\":1005"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strstr(text, words[i]))
			fail_msg("%s is not there", words[i]);
	free(text);
}

static void absent_limits_are_not_described(void **unused)
{
	(void)unused;
	const struct api_service unlimited = {
		.n_threads = 1, .max_json_bytes = 1, .max_frame_bytes = 1, .max_answer_bytes = 1};
	size_t bytes;
	char *text = api_describe(&unlimited, &bytes);
	assert_non_null(text);
	assert_null(strstr(text, "\"maxItems\":0"));
	assert_non_null(strstr(text, "answers 1 bytes.\""));
	free(text);
}

static void handed_out(const struct api_service *of, char **body, size_t *bytes)
{
	const struct api_request request = {.method = "GET", .target = "/openapi.json?x", .request_id = "id"};
	struct api_response response;
	api_handle(of, &request, &response);
	assert_int_equal(response.status, 200);
	assert_string_equal(response.content_type, "application/json");
	*bytes = response.body_bytes;
	*body = malloc(*bytes);
	memcpy(*body, response.parts ? response.parts[0].bytes : response.body, *bytes);
	api_response_free(&response);
}

static void the_same_whether_kept_or_printed_for_each(void **unused)
{
	(void)unused;
	_Atomic(char *) kept = NULL;
	struct api_service keeps = service;
	char *text, *bodies[3];
	size_t bytes, n[3];
	keeps.description = &kept;
	text = api_describe(&service, &bytes);
	assert_null(atomic_load(&kept));
	handed_out(&service, &bodies[0], &n[0]);
	handed_out(&keeps, &bodies[1], &n[1]);
	assert_string_equal(atomic_load(&kept), text);
	atomic_load(&kept)[bytes - 2] = '!'; /* shows that it is not printed again */
	handed_out(&keeps, &bodies[2], &n[2]);
	assert_int_equal(bodies[2][bytes - 2], '!');
	bodies[2][bytes - 2] = text[bytes - 2];
	for (int i = 0; i < 3; i++) {
		assert_int_equal(n[i], bytes);
		assert_memory_equal(bodies[i], text, bytes);
		free(bodies[i]);
	}
	free(text);
	free(atomic_load(&kept));
}

/* It takes more than this, but the service keeps it. */
static void memory_for_it_is_not_the_requests(void **unused)
{
	(void)unused;
	_Atomic(char *) kept = NULL;
	struct api_budget budget = {.most_bytes = 64 << 10};
	struct api_service keeps = service;
	char *body;
	size_t bytes;
	keeps.description = &kept;
	keeps.pool = api_pool_create(0, &budget);
	handed_out(&keeps, &body, &bytes);
	assert_memory_equal(body, atomic_load(&kept), bytes);
	assert_int_equal(atomic_load(&budget.used_bytes), 0);
	api_pool_free(keeps.pool);
	free(body);
	free(atomic_load(&kept));
}

static void *hand_out_in_a_thread(void *keeps)
{
	char *body;
	size_t bytes;
	handed_out(keeps, &body, &bytes);
	return body;
}

static void first_requests_at_the_same_time_keep_one(void **unused)
{
	(void)unused;
	enum { N = 8 };
	_Atomic(char *) kept = NULL;
	struct api_service keeps = service;
	pthread_t threads[N];
	keeps.description = &kept;
	for (int i = 0; i < N; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hand_out_in_a_thread, &keeps), 0);
	for (int i = 0; i < N; i++) {
		void *body;
		assert_int_equal(pthread_join(threads[i], &body), 0);
		assert_memory_equal(body, atomic_load(&kept), strlen(atomic_load(&kept)));
		free(body);
	}
	free(atomic_load(&kept));
}

static void longer_than_answers_may_be(void **unused)
{
	(void)unused;
	struct api_service of[2] = {service, service};
	_Atomic(char *) kept = NULL;
	const struct api_request request = {.method = "GET", .target = "/openapi.json", .request_id = "id"};
	of[0].description = &kept;
	for (int i = 0; i < 2; i++) {
		struct api_response response;
		of[i].max_answer_bytes = 1000;
		api_handle(&of[i], &request, &response);
		assert_int_equal(response.status, 413);
		assert_string_equal(response.content_type, "application/problem+json");
		assert_null(response.parts);
		api_response_free(&response);
	}
	free(atomic_load(&kept));
}

static void statuses_ascend(void **unused)
{
	(void)unused;
	const struct api_status *status;
	int last = 399, n = 0;
	for (; (status = api_status_at(n)); last = status->status, n++) {
		assert_true(status->status > last && *status->title);
		assert_string_equal(api_status_title(status->status), status->title);
		assert_true(!status->where == !*status->meaning);
	}
	assert_true(n > 15);
}

/* ---- without memory ---- */

static long allocations_left;

static void *allocate(size_t bytes)
{
	return allocations_left-- > 0 ? malloc(bytes) : NULL;
}

/* Only fields that exist in one dimension may lack a schema in the other; a schema lost for lack of memory would
 * look the same. */
static void no_field_of_a_dimension_is_lost(void **unused)
{
	(void)unused;
	bool failed = true;
	for (long n = 0; failed; n += step_in_share(3, 7)) {
		struct api_schemas schemas = {.service = &service, .is_request = true};
		allocations_left = n;
		json_set_alloc_funcs(allocate, free);
		json_t *schema = api_schema_of_dimension(&schemas, &api_request, 3);
		json_set_alloc_funcs(malloc, free);
		if (!schemas.failed && allocations_left < 0)
			fail_msg("allocation %ld has failed without a fault", n);
		failed = schemas.failed;
		json_decref(schema);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_whole),
		cmocka_unit_test(tables_of_models_are_whole),
		cmocka_unit_test(every_field_has_a_part),
		cmocka_unit_test(every_field_of_derivatives_has_a_part),
		cmocka_unit_test(every_real_number_has_its_field_of_the_core),
		cmocka_unit_test(patterns_have_indices_alone),
		cmocka_unit_test(fields_have_the_names_of_the_core),
		cmocka_unit_test(it_has_the_limits_of_its_service),
		cmocka_unit_test(absent_limits_are_not_described),
		cmocka_unit_test(the_same_whether_kept_or_printed_for_each),
		cmocka_unit_test(memory_for_it_is_not_the_requests),
		cmocka_unit_test(first_requests_at_the_same_time_keep_one),
		cmocka_unit_test(longer_than_answers_may_be),
		cmocka_unit_test(statuses_ascend),
		cmocka_unit_test(no_field_of_a_dimension_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
